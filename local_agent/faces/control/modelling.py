"""What can be asked about models: what is configured and what it has used, and whether it answers.

A test goes through the running agent, so that its key, its program and its network are tested.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Final, Protocol

from common.clock import Clock, SystemClock
from local_agent.faces.control.wire import Arguments
from local_agent.models.backend import Health
from local_agent.models.registry import Configured
from local_agent.store.journal import Journal, JournalThread
from local_agent.store.turns import Used
from local_agent.views.status import ModelAnswer, ModelFailure, ModelList, ModelUse, ModelView

DAYS: Final = 30  # that are accounted for
_DAY_MS: Final = 86_400_000


class Models(Protocol):
    """The models that are configured (`local_agent.models.registry`)."""

    def name(self) -> str:
        """Return the name of the one that is asked; empty where none is configured."""
        ...

    def configured(self) -> Sequence[Configured]:
        """Return all of them; blocks."""
        ...

    async def check(self, name: str) -> tuple[str, Health]:
        """Ask the smallest question; return its name and what it is."""
        ...


class Modelling:
    """Answers about models.

    Args:
        db: The journal's thread.
        models: What is configured.
        clock: For the days that are accounted for.
    """

    def __init__(self, db: JournalThread, models: Models, clock: Clock | None = None) -> None:
        self._db = db
        self._models = models
        self._clock = clock or SystemClock()

    def asked(self) -> str | None:
        """Return the name of the model that is asked, None where none is configured."""
        return self._models.name() or None

    async def told(self, _args: Arguments) -> ModelList:
        """Return each model with what it has used, and how it last failed."""
        since = self._clock.now().wall_ms - DAYS * _DAY_MS
        configured = await asyncio.to_thread(self._models.configured)
        used, failed = await self._db.run(_account, self._db.journal, since)
        models = (_view(one, used.get(one.name), failed.get(one.name)) for one in configured)
        return ModelList(days=DAYS, models=tuple(models))

    async def test(self, args: Arguments) -> ModelAnswer:
        """Ask the smallest question of one.

        Raises:
            StateError: ``models.none``.
            InputError: ``models.unknown``.
            ModelError: ``model.*``: it does not answer.
        """
        name, health = await self._models.check(args.text("name"))
        return ModelAnswer(name=name, **asdict(health))


def _account(
    journal: Journal, since_ms: int
) -> tuple[Mapping[str, Used], Mapping[str, ModelFailure]]:
    used = {row.model: row for row in journal.turns.used_since(since_ms)}
    failed = {
        row.model: ModelFailure(at=row.at, code=row.outcome)
        for row in journal.turns.failed_since(since_ms)
    }
    return used, failed


def _view(one: Configured, used: Used | None, failed: ModelFailure | None) -> ModelView:
    return ModelView(
        name=one.name,
        kind=one.kind,
        model=one.provided,
        asked=one.is_asked,
        key=one.key,
        needs_key=one.needs_key,
        used=model_use(one, used or Used(one.name, 0, 0, 0, 0)),
        last_failure=failed,
    )


def model_use(one: Configured | None, used: Used) -> ModelUse:
    """Return what a model used, with its cost at the prices that are configured now.

    Args:
        one: None where it is not configured any more.
        used: In some time.
    """
    return ModelUse(
        turns=used.turns,
        failed=used.failed,
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cost=_cost(one, used) if one else None,
        currency=one.currency if one else "",
    )


def _cost(one: Configured, used: Used) -> float | None:
    if one.price_input is None and one.price_output is None:
        return None
    cost = used.input_tokens * (one.price_input or 0)
    cost += used.output_tokens * (one.price_output or 0)
    return round(cost / 1_000_000, 4)
