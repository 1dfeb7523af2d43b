"""What is told of the last days, with what models cost."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from common.errors import LocalProtocolError
from local_agent.faces.control.statistics import read_statistics
from local_agent.models.backend import Health
from local_agent.models.registry import Configured
from local_agent.store.turns import StoredTurn
from local_agent.views import from_json, to_json
from local_agent.views.statistics import StatisticsView
from tests.filled_journal import NOW_MS, fill
from tests.unit.local_agent.faces.control.conftest import Desk


class One:
    """One model, with its prices."""

    def name(self) -> str:
        """Return its name."""
        return "deepseek"

    def configured(self) -> Sequence[Configured]:
        """Return it."""
        return [
            Configured(
                name="deepseek",
                kind="http",
                provided="deepseek-chat",
                is_asked=True,
                key="file",
                needs_key=True,
                price_input=0.5,
                price_output=2.0,
                currency="CNY",
            )
        ]

    async def check(self, name: str) -> tuple[str, Health]:
        """Answer nothing: nobody asks here."""
        raise LocalProtocolError("models.none", name=name)


async def test_the_last_days_are_told_whole(desk: Desk) -> None:
    await desk.db.run(fill, desk.db.journal._db, tasks=200, events_per_task=10, seed=2)
    told = await read_statistics(desk.db, One(), now_ms=NOW_MS, days=90, utc_offset_minutes=480)
    assert from_json(StatisticsView, json.loads(json.dumps(to_json(told)))) == told
    assert len(told.days) == len(told.outcomes) == 90
    assert told.days[-1] == "2025-10-09"
    assert [day.day for day in told.outcomes] == list(told.days)
    assert sum(day.completed for day in told.outcomes) > 100
    assert {one.state for one in told.states} >= {"WAITING_APPROVAL", "EXECUTING"}
    assert told.approvals.approved.count > told.approvals.rejected.count > 0
    assert [(one.day, one.model) for one in told.models] == sorted(
        (one.day, one.model) for one in told.models
    )
    assert {one.model for one in told.models} == {"deepseek", "codex", "local"}


async def test_a_model_costs_what_is_configured_and_nothing_is_known_of_others(desk: Desk) -> None:
    for model in ("deepseek", "removed"):
        turn = StoredTurn(
            task_id="task-1",
            model=model,
            at=NOW_MS,
            duration_ms=1,
            input_tokens=1_000_000,
            output_tokens=500_000,
            calls=1,
            outcome="ok",
        )
        await desk.db.run(desk.db.journal.turns.begin, turn)
    told = await read_statistics(desk.db, One(), now_ms=NOW_MS, days=1, utc_offset_minutes=0)
    assert [(one.model, one.used.cost, one.used.currency) for one in told.models] == [
        ("deepseek", 1.5, "CNY"),
        ("removed", None, ""),
    ]


async def test_more_days_than_are_kept_are_refused(desk: Desk) -> None:
    with pytest.raises(ValueError, match="91"):
        await read_statistics(desk.db, One(), now_ms=NOW_MS, days=91, utc_offset_minutes=0)
