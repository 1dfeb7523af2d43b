"""What the agent tells of its models over the control socket."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from common.clock import ManualClock
from common.errors import RemoteProtocolError, StateError
from local_agent.errors import ModelError
from local_agent.faces.control.modelling import DAYS, Modelling
from local_agent.faces.control.wire import Arguments
from local_agent.models.backend import Health
from local_agent.models.registry import Configured
from local_agent.store.turns import StoredTurn
from local_agent.views import to_json
from tests.unit.local_agent.faces.control.conftest import Desk

NONE = Arguments({})
DEEPSEEK = Configured(
    name="deepseek",
    kind="http",
    provided="deepseek-chat",
    is_asked=True,
    key="file",
    needs_key=True,
    price_input=0.5,
    price_output=2.0,
    currency="USD",
)


class Two:
    """Two models, of which one answers."""

    def name(self) -> str:
        """Return the one that is asked."""
        return DEEPSEEK.name

    def configured(self) -> Sequence[Configured]:
        """Return both."""
        codex = Configured(
            name="codex",
            kind="codex",
            provided="gpt-5.5",
            is_asked=False,
            key=None,
            needs_key=False,
            price_input=None,
            price_output=None,
            currency="USD",
        )
        return [DEEPSEEK, codex]

    async def check(self, name: str) -> tuple[str, Health]:
        """Answer for one."""
        if name == "codex":
            raise ModelError("model.program", why="missing", wanted="0.169.0")
        return "deepseek", Health("deepseek-chat", "chat", 12)


def turn(at: int, **facts: Any) -> StoredTurn:
    known: dict[str, Any] = {
        "task_id": "t",
        "model": "deepseek",
        "duration_ms": 1,
        "input_tokens": 1_000_000,
        "output_tokens": 500_000,
        "calls": 1,
        "outcome": "ok",
    }
    return StoredTurn(at=at, **(known | facts))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


async def told(desk: Desk, clock: ManualClock, *turns: StoredTurn) -> Sequence[Mapping[str, Any]]:
    for one in turns:
        await desk.db.run(desk.db.journal.turns.begin, one)
    answer = await Modelling(desk.db, Two(), clock).told(NONE)
    assert answer.days == DAYS
    return to_json(answer)["models"]  # type: ignore[no-any-return]  # as a program reads it


async def test_each_model_is_told_with_what_it_has_used_and_cost(
    desk: Desk, clock: ManualClock
) -> None:
    now = clock.now().wall_ms
    rows = [turn(now - DAYS * 86_400_000 - 1), turn(now), turn(now, outcome="model.busy")]
    deepseek, codex = await told(desk, clock, *rows)
    assert deepseek == {
        "name": "deepseek",
        "kind": "http",
        "model": "deepseek-chat",
        "asked": True,
        "key": "file",
        "needs_key": True,
        "used": {
            "turns": 2,
            "failed": 1,
            "input_tokens": 2_000_000,
            "output_tokens": 1_000_000,
            "cost": 3.0,
            "currency": "USD",
        },
        "last_failure": {"at": now, "code": "model.busy"},
    }
    assert (codex["used"]["turns"], codex["used"]["cost"]) == (0, None)
    assert codex["last_failure"] is None


async def test_a_test_tells_what_answered(desk: Desk) -> None:
    modelling = Modelling(desk.db, Two())
    assert to_json(await modelling.test(Arguments({"name": ""}))) == {
        "name": "deepseek",
        "model": "deepseek-chat",
        "version": "chat",
        "latency_ms": 12,
    }
    with pytest.raises(ModelError):
        await modelling.test(Arguments({"name": "codex"}))
    with pytest.raises(RemoteProtocolError):
        await modelling.test(Arguments({"name": 3}))


async def test_an_agent_without_models_says_so(desk: Desk) -> None:
    assert (await desk.ask("models"))["models"] == []
    with pytest.raises(StateError) as refused:
        await desk.ask("models_test", name="")
    assert refused.value.code == "models.none"
