"""What a seal covers: itself, or several operations of other actions, each checked like its own."""

from __future__ import annotations

from typing import Any

import pytest

from common.clock import ManualClock
from common.errors import RemoteProtocolError
from common.seal import Seal, SealedChange
from local_agent.actions.registry import ACTIONS, read_seal, seal_bytes
from local_agent.safety.action_facts import parts_of
from tests.sealed import ZEROS, a_payload, a_seal
from tests.three import COUNT, WORD, a_seal_of_three, change, command, commands, register

NEW = SealedChange(
    op="add",
    path="b.py",
    old_path=None,
    old_sha256=None,
    old_mode=None,
    new_sha256=ZEROS,
    new_mode="100644",
    size=1,
)


@pytest.fixture(autouse=True)
def _three(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch)


def of(*steps: Any) -> Seal:
    return a_seal_of_three(ManualClock(), approval_id="approval-1", payload={"steps": [*steps]})


def test_a_single_operation_is_its_own_only_part() -> None:
    seal = a_seal(ManualClock())
    assert parts_of(seal, ACTIONS) == (seal,)


@pytest.mark.requirement("P2")
def test_each_part_is_the_whole_with_its_own_action_payload_and_base() -> None:
    whole = of(command("first"), change(NEW), command("third"))
    parts = parts_of(read_seal(seal_bytes(whole)), ACTIONS)
    assert [part.action for part in parts] == ["run_command", "apply_diff", "run_command"]
    assert parts[0].payload == a_payload(argv=["first"])
    assert [dict(part.base) for part in parts] == [{}, {"a.py": ZEROS, "b.py": "absent"}, {}]
    assert {(part.task_id, part.nonce, part.created_at) for part in parts} == {
        (whole.task_id, whole.nonce, whole.created_at)
    }


def test_the_first_part_bears_the_name_of_the_approval_and_the_others_their_index() -> None:
    names = [part.approval_id for part in parts_of(of(*commands()["steps"]), ACTIONS)]
    assert names == ["approval-1", "approval-1/1", "approval-1/2"]
    assert len(names) == COUNT


@pytest.mark.requirement("P2")
@pytest.mark.parametrize(
    ("steps", "field"),
    [
        ([{**command("first"), "action": "format_disk"}], "parts.action"),
        ([{**command("first"), "action": WORD}], "parts.action"),
        ([command("first"), {**command("second"), "payload": {}}], "payload"),
        ([{**change(NEW), "payload": a_payload()}], "payload"),
        ([{**command("first"), "base": {"a.py": "new"}}], "parts.base"),
    ],
)
def test_a_seal_with_a_part_that_was_not_checked_is_neither_written_nor_read(
    steps: list[Any], field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        seal_bytes(of(*steps))
    assert (caught.value.code, caught.value.facts["field"]) == ("seal.malformed", field)
    with monkeypatch.context() as unchecked:
        unchecked.setattr("local_agent.actions.registry.parts_of", lambda *_: ())
        raw = seal_bytes(of(*steps))
    with pytest.raises(RemoteProtocolError):
        read_seal(raw)


def test_a_seal_that_covers_no_operation_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.three.filled", lambda check: check)
    seal = of()
    assert parts_of(seal, ACTIONS) == (seal,)
