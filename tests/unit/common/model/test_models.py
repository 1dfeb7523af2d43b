"""The seed's shapes: its names outside, closed, frozen."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from common.model.intent import IntentParams, TaskIntent, TaskKind, UserRequest
from common.model.proposal import (
    CommandProposal,
    LocalApproval,
    NoRequirement,
    Plan,
    TaskEnd,
    TaskProposed,
    TaskResult,
    TaskStart,
    TaskStateChanged,
    TaskStreamChunk,
    parse_event,
)
from common.model.state import Reason, TaskState
from common.protocol.bodies import TASK_TEXT_BYTES
from tests.each import each

INTENT: dict[str, Any] = {
    "kind": "run",
    "confidence": 0.9,
    "summary": "run the tests",
    "params": {"cmd": "pytest -q"},
}
RESULT: dict[str, Any] = {
    "taskId": "t-1",
    "intent": INTENT,
    "proposal": {"type": "command", "cmd": "pytest -q", "argv": ["pytest", "-q"]},
    "requires": {"mode": "local_approval", "action": "run_command"},
    "summary": "pytest -q",
}
OF_TASK = {"threadId": "th", "taskId": "t-1"}


@each(
    "event",
    [
        {"type": "task_start", **OF_TASK, "intent": INTENT},
        {"type": "task_state", **OF_TASK, "state": "ROUTED", "message": "m"},
        {"type": "task_stream_chunk", **OF_TASK, "messageId": "m-1", "chunk": "字"},
        {"type": "task_proposal", **OF_TASK, "result": RESULT},
        {"type": "task_end", **OF_TASK, "status": "rejected", "reason": "expired"},
    ],
)
def test_each_event_of_the_seed_reads_and_writes_itself(event: dict[str, Any]) -> None:
    read = parse_event(json.dumps(event))
    assert read.to_dict() == event
    assert json.loads(read.to_json()) == event


@each(
    "event",
    [
        {"type": "task_done", **OF_TASK},
        {"type": "task_end", **OF_TASK, "status": "fine"},
        {"type": "task_state", **OF_TASK, "state": "SLEEPING"},
        {"type": "task_state", **OF_TASK, "state": "ROUTED", "extra": 1},
    ],
)
def test_anything_else_is_no_event(event: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        parse_event(json.dumps(event))


@pytest.mark.requirement("NL-4.2")
@each("kind", ["deploy", "RUN", ""])
def test_a_kind_outside_the_allowed_ones_cannot_be_built(kind: str) -> None:
    with pytest.raises(ValidationError):
        TaskIntent.model_validate({**INTENT, "kind": kind})


@pytest.mark.parametrize("confidence", [-0.1, 1.1])
def test_a_confidence_lies_between_nought_and_one(confidence: float) -> None:
    with pytest.raises(ValidationError):
        TaskIntent.model_validate({**INTENT, "confidence": confidence})


def test_an_intent_names_at_most_ten_files() -> None:
    assert IntentParams(files=("a.py",) * 10).files is not None
    with pytest.raises(ValidationError):
        IntentParams(files=("a.py",) * 11)


@each("name", ["git_sync", "help", "status", "explain", "change", "run"])
def test_the_kinds_are_those_of_the_seed(name: str) -> None:
    assert TaskKind(name).value == name


def test_models_are_frozen_and_built_by_their_python_names() -> None:
    end = TaskEnd(thread_id="th", task_id="t-1", status="ok", reason=Reason.COMPLETED)
    with pytest.raises(ValidationError):
        end.status = "error"  # type: ignore[misc]  # the point of the test


def test_a_request_is_bounded_and_closed() -> None:
    given = {"source": "wecom", "threadId": "th", "fromUser": "zhang", "text": "测试"}
    assert UserRequest.model_validate(given).to_dict() == given
    for wrong in ({"source": "mail"}, {"text": "x" * (TASK_TEXT_BYTES + 1)}, {"approved": True}):
        with pytest.raises(ValidationError):
            UserRequest.model_validate(given | wrong)


def test_a_proposal_is_told_by_its_type() -> None:
    result = TaskResult.model_validate(RESULT)
    assert isinstance(result.proposal, CommandProposal)
    assert isinstance(result.requires, LocalApproval)
    plan = TaskResult(
        task_id="t-1",
        intent=result.intent,
        proposal=Plan(text="look"),
        requires=NoRequirement(),
        summary="look",
    )
    assert TaskResult.model_validate_json(plan.to_json()) == plan


def test_a_wrong_value_is_not_printed_in_the_error() -> None:
    with pytest.raises(ValidationError) as caught:
        UserRequest.model_validate({"source": "wecom", "threadId": "th", "text": ["hunter2"]})
    assert "hunter2" not in str(caught.value)


def test_events_name_their_task() -> None:
    events = [
        TaskStart(thread_id="th", task_id="t", intent=TaskIntent.model_validate(INTENT)),
        TaskStateChanged(thread_id="th", task_id="t", state=TaskState.ROUTED),
        TaskStreamChunk(thread_id="th", task_id="t", message_id="m", chunk="c"),
        TaskProposed(thread_id="th", task_id="t", result=TaskResult.model_validate(RESULT)),
    ]
    assert {event.task_id for event in events} == {"t"}
    assert "message" not in events[1].to_dict()
