"""The account of what models use: a backend that writes each turn down, however it ended."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from common.clock import Clock
from local_agent.errors import ModelError
from local_agent.proposers.model import Backend, Emit, Health, Reply, Turn, Usage
from local_agent.store.turns import StoredTurn

OK: Final = "ok"
CANCELLED: Final = "cancelled"
FAILED: Final = "failed"

Record = Callable[[StoredTurn], Awaitable[None]]


class CountedBackend:
    """A backend with its account.

    Args:
        inner: The backend that does the work.
        record: Writes a turn.
        clock: Times it.
    """

    def __init__(self, inner: Backend, *, record: Record, clock: Clock) -> None:
        self._inner = inner
        self._record = record
        self._clock = clock

    @property
    def name(self) -> str:
        """What the person calls it in the settings."""
        return self._inner.name

    async def ask(self, turn: Turn, emit: Emit) -> Reply:
        """Put one question and write down what it used.

        Raises:
            ModelError: as the backend's own.
        """
        began = self._clock.now().mono
        outcome, usage = FAILED, Usage()
        try:
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
            await self._record(
                StoredTurn(
                    task_id=turn.task_id,
                    model=self.name,
                    at=now.wall_ms,
                    duration_ms=round((now.mono - began) * 1000),
                    input_tokens=usage.input_tokens,
                    output_tokens=usage.output_tokens,
                    calls=usage.calls,
                    outcome=outcome,
                )
            )

    async def check(self) -> Health:
        """Ask the smallest question; it is no task's, so it is not counted.

        Raises:
            ModelError: as the backend's own.
        """
        return await self._inner.check()

    async def aclose(self) -> None:
        """End what it has running."""
        await self._inner.aclose()
