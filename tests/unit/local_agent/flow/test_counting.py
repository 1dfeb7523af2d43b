"""Every turn of a model is written down, however it ended."""

from __future__ import annotations

import asyncio

import pytest

from common.clock import ManualClock
from local_agent.errors import ModelError
from local_agent.flow.counting import CountedBackend
from local_agent.models.backend import ModelEvent, Reply, Turn, Usage
from local_agent.store.turns import BEGUN, StoredTurn
from tests.scripted_model import ScriptedModel, Step

TURN = Turn(task_id="task-1", instructions="be short", prompt="why?")


class Account:
    """Keeps what is written down: how each turn stands, and how it stood when it began."""

    def __init__(self, *answers: list[Step]) -> None:
        self.rows: list[StoredTurn] = []
        self.begun: list[str] = []
        self.may_write = asyncio.Event()
        self.may_write.set()
        self.clock = ManualClock()
        self.inner = ScriptedModel(*answers)
        self.backend = CountedBackend(self.inner, account=self, clock=self.clock)

    async def begin_turn(self, turn: StoredTurn) -> int:
        await self.may_write.wait()
        self.begun.append(turn.outcome)
        self.rows.append(turn)
        return len(self.rows)

    async def end_turn(self, number: int, turn: StoredTurn) -> None:
        self.rows[number - 1] = turn


def unheard(_event: ModelEvent) -> None:
    pass


async def test_a_turn_that_went_well_is_written_with_what_it_used() -> None:
    account = Account([Reply("because", usage=Usage(120, 30, 2))])
    assert (await account.backend.ask(TURN, unheard)).text == "because"
    (row,) = account.rows
    assert (row.task_id, row.model, row.outcome) == ("task-1", "scripted", "ok")
    assert (row.input_tokens, row.output_tokens, row.calls) == (120, 30, 2)


@pytest.mark.parametrize(
    ("step", "outcome"),
    [(ModelError("model.busy"), "model.busy"), (RuntimeError("ours"), "failed")],
)
async def test_a_turn_that_failed_is_written_with_its_code(step: Exception, outcome: str) -> None:
    account = Account([step])
    with pytest.raises(type(step)):
        await account.backend.ask(TURN, unheard)
    assert [row.outcome for row in account.rows] == [outcome]


async def test_a_turn_is_written_before_the_model_is_asked() -> None:
    account = Account([Reply("because")])
    account.may_write.clear()
    asking = asyncio.create_task(account.backend.ask(TURN, unheard))
    await asyncio.sleep(0)
    assert account.inner.turns == []
    account.may_write.set()
    await asyncio.wait_for(asking, 30)
    assert account.begun == [BEGUN]
    assert [row.outcome for row in account.rows] == ["ok"]


async def test_a_turn_that_is_cancelled_while_it_is_written_down_gets_its_end() -> None:
    account = Account([Reply("because")])
    account.may_write.clear()
    asking = asyncio.create_task(account.backend.ask(TURN, unheard))
    await asyncio.sleep(0)
    asking.cancel()
    await asyncio.sleep(0)
    account.may_write.set()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(asking, 30)
    assert [row.outcome for row in account.rows] == ["cancelled"]
    assert account.inner.turns == []


async def test_a_cancelled_turn_is_written_too() -> None:
    account = Account([])
    account.inner.may_answer.clear()
    asking = asyncio.create_task(account.backend.ask(TURN, unheard))
    await asyncio.wait_for(account.inner.asked.wait(), 30)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert [row.outcome for row in account.rows] == ["cancelled"]


async def test_asking_how_it_is_costs_nothing_and_closing_is_passed_on() -> None:
    account = Account()
    assert (await account.backend.check()).model == "scripted-1"
    await account.backend.aclose()
    assert account.inner.closed
    assert account.rows == []
