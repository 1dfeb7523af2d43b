"""The account of what models use: a backend that writes each turn down, however it ends."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Final, Protocol

from common.clock import Clock
from local_agent.errors import ModelError
from local_agent.models.backend import Backend, Emit, Health, Reply, Turn, Usage
from local_agent.store.turns import BEGUN, CANCELLED, OK, StoredTurn

FAILED: Final = "failed"


class Account(Protocol):
    """Where turns are written down."""

    async def begin_turn(self, turn: StoredTurn) -> int:
        """Write a turn that begins, and return its number."""
        ...

    async def end_turn(self, number: int, turn: StoredTurn) -> None:
        """Write how it ended."""
        ...


class CountedBackend:
    """A backend with its account.

    Args:
        inner: The backend that does the work.
        account: Keeps the turns.
        clock: Times them.
    """

    def __init__(self, inner: Backend, *, account: Account, clock: Clock) -> None:
        self._inner = inner
        self._account = account
        self._clock = clock

    @property
    def name(self) -> str:
        """What the person calls it in the settings."""
        return self._inner.name

    async def ask(self, turn: Turn, emit: Emit) -> Reply:
        """Put one question and write down what it used.

        Raises:
            ModelError: as the backend's own.
            StoreError: it could not be written down, so nothing was asked.
        """
        began = self._clock.now()
        row = _begun(turn, self.name, began.wall_ms)
        writing = asyncio.ensure_future(self._account.begin_turn(row))
        outcome, usage = FAILED, Usage()
        try:
            await asyncio.shield(writing)  # what is written must get its end, too
            reply = await self._inner.ask(turn, emit)
            outcome, usage = OK, reply.usage
        except ModelError as error:
            outcome = error.code
            raise
        except asyncio.CancelledError:
            outcome = CANCELLED
            raise
        else:
            return reply
        finally:
            now = self._clock.now()
            ended = replace(
                row,
                at=now.wall_ms,
                duration_ms=round((now.mono - began.mono) * 1000),
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                calls=usage.calls,
                outcome=outcome,
            )
            await self._account.end_turn(await writing, ended)

    async def check(self) -> Health:
        """Ask the smallest question; it is no task's, so it is not counted.

        Raises:
            ModelError: as the backend's own.
        """
        return await self._inner.check()

    async def aclose(self) -> None:
        """End what it has running."""
        await self._inner.aclose()


def _begun(turn: Turn, model: str, at_ms: int) -> StoredTurn:
    return StoredTurn(
        task_id=turn.task_id,
        model=model,
        at=at_ms,
        duration_ms=0,
        input_tokens=0,
        output_tokens=0,
        calls=0,
        outcome=BEGUN,
    )
