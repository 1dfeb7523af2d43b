from __future__ import annotations

import base64
from typing import Any

import pytest

from common.clock import ManualClock
from common.errors import RemoteProtocolError
from common.model.state import Reason, final_of
from common.protocol import bodies
from common.protocol.frames import FRAME_BYTES
from tests.each import each
from tests.unit.common.protocol.wire import event_body, result, result_body, task, task_body

VALID: dict[str, dict[str, Any]] = {
    "task": task_body(),
    "cancel": {"task_id": "task-1", "claimed_user": "zhang.san"},
    "tombstone": {"task_id": "task-1"},
    "event": event_body(),
    "result": result_body(),
    "head": {"seq": 7, "hash": "0" * 64, "peer_seq": 0, "peer_hash": "0" * 64, "at": 1_000},
    "rekey": {
        "public_key": base64.b64encode(bytes(32)).decode(),
        "proof": base64.b64encode(bytes(64)).decode(),
    },
}


def is_refused(kind: str, record: dict[str, Any]) -> bool:
    """Tell whether a body is refused, which must be said as a protocol error."""
    try:
        bodies.BODIES[kind].from_dict(record)
    except RemoteProtocolError:
        return True
    return False


def test_every_kind_of_body_is_tried_here() -> None:
    assert bodies.BODIES.keys() == VALID.keys()


@each("kind", VALID)
def test_a_body_reads_back_as_it_was_written(kind: str) -> None:
    body = bodies.BODIES[kind].from_dict(VALID[kind])
    assert body.to_dict() == VALID[kind]


@pytest.mark.requirement("R2")
@each("kind", VALID)
def test_a_body_is_closed_and_each_field_typed(kind: str) -> None:
    valid = VALID[kind]
    assert is_refused(kind, valid | {"approve": True})
    for name in valid:
        assert is_refused(kind, {k: v for k, v in valid.items() if k != name})
        assert is_refused(kind, valid | {name: 1.5})


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        ("task", "text", "x" * (bodies.TASK_TEXT_BYTES + 1)),
        ("task", "text", "\ud800"),
        ("task", "lang", "de"),
        ("task", "short_id", "7K3F"),
        ("task", "claimed_user", ""),
        ("task", "task_id", "../x"),
        ("task", "received_at", -1),
        ("event", "state", "APPROVED"),
        ("event", "message", "x" * (bodies.MESSAGE_BYTES + 1)),
        ("event", "waiting", {}),
        ("event", "waiting", {"seal_code": "7K3F", "expires_at": 1, "machine": "dev-1"}),
        ("event", "waiting", {"seal_code": "7K3F-9Q2M", "expires_at": 1, "machine": "Dev 1"}),
        ("result", "task_sha256", "AB" * 32),
        ("result", "reason", "approved"),
        ("result", "summary", "x" * (bodies.SUMMARY_BYTES + 1)),
    ],
)
def test_a_value_out_of_bounds_is_refused(kind: str, name: str, value: object) -> None:
    assert is_refused(kind, VALID[kind] | {name: value})


def test_an_event_may_wait_for_nobody() -> None:
    assert not is_refused("event", event_body(waiting=None))


@pytest.mark.requirement("P7")
@each("reason", Reason)
def test_a_result_has_the_state_that_its_reason_leads_to(reason: Reason) -> None:
    right = final_of(reason)[0]
    assert not is_refused("result", result_body(reason=reason.value, state=right.value))
    assert is_refused("result", result_body(reason=reason.value, state="EXECUTING"))


@each("worst", ["\x00", '"', "\\", "\x7f", "é", "测", "\U0001f600"])
def test_every_valid_body_fits_in_a_frame(worst: str) -> None:
    def full(limit: int) -> str:
        return worst * (limit // len(worst.encode()))

    at = ManualClock().now()
    long_task = task(
        1,
        at,
        body=task_body(
            text=full(bodies.TASK_TEXT_BYTES), thread_id=full(256), claimed_user=full(128)
        ),
    )
    long_result = result(1, at, body=result_body(summary=full(bodies.SUMMARY_BYTES)))
    assert max(len(long_task.frame), len(long_result.frame)) <= FRAME_BYTES
