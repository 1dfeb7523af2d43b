"""The state machine: every pair of states, every reason."""

from __future__ import annotations

from itertools import product

import pytest

from common.errors import StateError
from common.model.state import (
    FINAL,
    TRANSITIONS,
    Reason,
    TaskState,
    final_of,
    may_follow,
    next_state,
)
from tests.each import each

ALLOWED = {
    "RECEIVED": "ROUTED FAILED REJECTED",
    "ROUTED": "CONTEXT_COLLECTED FAILED REJECTED",
    "CONTEXT_COLLECTED": "PROPOSING FAILED REJECTED",
    "PROPOSING": "PROPOSAL_READY FAILED REJECTED",
    "PROPOSAL_READY": "WAITING_APPROVAL COMPLETED FAILED REJECTED",
    "WAITING_APPROVAL": "EXECUTING FAILED REJECTED",
    "EXECUTING": "COMPLETED FAILED REJECTED",
    "COMPLETED": "",
    "FAILED": "",
    "REJECTED": "",
}


@each("current, wanted", list(product(TaskState, TaskState)))
def test_every_pair_of_states_is_allowed_or_raises(current: TaskState, wanted: TaskState) -> None:
    if wanted in ALLOWED[current].split():
        assert next_state(current, wanted) is wanted
        return
    with pytest.raises(StateError) as caught:
        next_state(current, wanted)
    assert caught.value.code == "task.illegal-transition"
    assert caught.value.facts == {"current": current.value, "wanted": wanted.value}


@each("current, told", list(product(TaskState, TaskState)))
def test_an_event_may_repeat_an_open_state_and_nothing_else(
    current: TaskState, told: TaskState
) -> None:
    repeated = current is told and current not in FINAL
    assert may_follow(current, told) == (repeated or told in TRANSITIONS[current])


@pytest.mark.requirement("NL-6")
def test_the_table_holds_the_ten_states_of_the_seed() -> None:
    assert set(TRANSITIONS) == set(TaskState)
    assert len(TaskState) == 10
    assert {state.value for state in FINAL} == {"COMPLETED", "FAILED", "REJECTED"}


@pytest.mark.requirement("P1")
def test_execution_is_reached_from_waiting_for_approval_alone() -> None:
    before = [state for state, following in TRANSITIONS.items() if TaskState.EXECUTING in following]
    assert before == [TaskState.WAITING_APPROVAL]


@pytest.mark.requirement("P7")
@pytest.mark.parametrize(
    ("reasons", "ending"),
    [
        ("completed", (TaskState.COMPLETED, "ok")),
        ("failed drifted unknown", (TaskState.FAILED, "error")),
        ("rejected expired refused cancelled", (TaskState.REJECTED, "rejected")),
    ],
)
def test_a_reason_decides_the_final_state(reasons: str, ending: tuple[TaskState, str]) -> None:
    for reason in reasons.split():
        assert final_of(Reason(reason)) == ending


def test_every_reason_leads_to_a_final_state() -> None:
    assert {final_of(reason)[0] for reason in Reason} == FINAL
