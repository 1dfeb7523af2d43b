"""What is sealed of several steps, and what is refused as such."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from common.clock import ManualClock
from common.errors import RemoteProtocolError
from common.seal import SealedChange, seal_bytes
from local_agent.actions.changes.payload import change_payload, undo_payload
from local_agent.actions.registry import ACTIONS, read_seal
from local_agent.actions.run_command.payload import SealedCopy
from local_agent.actions.steps.payload import MAX_PARTS, check_steps, find_conflict, steps_payload
from local_agent.safety.action_facts import SealedPart, parts_of
from tests.sealed import ZEROS, a_payload, a_seal

pytestmark = pytest.mark.requirement("P2")

COMMAND = SealedPart("run_command", a_payload(), {".": ZEROS})


def one(path: str, *, op: Any = "modify", old: str | None = None) -> SealedChange:
    added, deleted = op == "add", op == "delete"
    return SealedChange(
        op=op,
        path=path,
        old_path=None if added else old or path,
        old_sha256=None if added else ZEROS,
        old_mode=None if added else "100644",
        new_sha256=None if deleted else ZEROS,
        new_mode=None if deleted else "100644",
        size=1,
    )


def change(*changes: SealedChange, folders: Sequence[str] = ()) -> SealedPart:
    base = {f"{folder}/": ZEROS for folder in folders}
    return SealedPart("apply_diff", change_payload(ZEROS, changes), base)


def undo(path: str) -> SealedPart:
    payload = undo_payload(ZEROS, [one(path)], approval_id="approval-0", short_id="T-7K3F")
    return SealedPart("undo", payload, {})


def payload(*parts: SealedPart, indexes: Sequence[int] | None = None) -> dict[str, Any]:
    numbers = indexes or range(len(parts))
    return steps_payload(run="run-1", definition_sha256=ZEROS, indexes=numbers, parts=parts)


def refusal(value: dict[str, Any]) -> object:
    """Return the field over which a stored seal of these steps is refused."""
    seal = a_seal(ManualClock(), action="steps", payload=value)
    raw = seal_bytes(seal, dict.fromkeys(ACTIONS, lambda _payload: None))
    with pytest.raises(RemoteProtocolError) as caught:
        read_seal(raw)
    assert caught.value.code == "seal.malformed"
    return caught.value.facts["field"]


def test_each_step_is_a_seal_of_its_own_action() -> None:
    value = payload(COMMAND, change(one("a")), change(one("b")), indexes=[1, 4, 5])
    check_steps(value)
    seal = a_seal(ManualClock(), action="steps", payload=value)
    parts = parts_of(seal, ACTIONS)
    assert [part.action for part in parts] == ["run_command", "apply_diff", "apply_diff"]
    assert [part.approval_id for part in parts][1:] == [f"{seal.approval_id}/{n}" for n in (1, 2)]


@pytest.mark.parametrize("action", ["steps", "git_sync", "disclose", "format_disk", 7])
def test_a_step_of_another_action_is_refused(action: object) -> None:
    value = payload(COMMAND)
    value["steps"][0]["action"] = action
    assert refusal(value) == "steps.action"


def test_steps_within_a_step_are_refused() -> None:
    value = payload(COMMAND)
    value["steps"][0] |= {"action": "steps", "payload": payload(COMMAND)}
    assert refusal(value) == "steps.action"
    value["steps"][0] |= {"action": "run_command"}
    assert refusal(value) == "payload"


@pytest.mark.parametrize("indexes", [[1, 1], [2, 1], [0, 2, 1], [0, 1, 1]])
def test_a_step_twice_or_out_of_order_is_refused(indexes: list[int]) -> None:
    parts = [change(one(f"file-{number}")) for number in range(len(indexes))]
    assert refusal(payload(*parts, indexes=indexes)) == "steps.index"


def test_undoing_may_go_backwards() -> None:
    check_steps(payload(undo("a"), undo("b"), indexes=[5, 2]))
    assert refusal(payload(undo("a"), undo("b"), indexes=[2, 2])) == "steps.index"
    assert refusal(payload(undo("a"), change(one("b")), indexes=[5, 2])) == "steps.index"


def test_a_base_that_is_no_hash_is_refused() -> None:
    value = payload(change(one("a")))
    value["steps"][0]["base"] = {"a": "here"}
    assert refusal(value) == "parts.base"


def test_a_command_on_a_copy_is_no_step() -> None:
    copied = a_payload(copy=SealedCopy("approval-9", "T-9Z2K", ZEROS))
    assert refusal(payload(SealedPart("run_command", copied, {}))) == "steps.copy"


def test_too_many_steps_are_refused() -> None:
    check_steps(payload(*[COMMAND] * MAX_PARTS))
    assert refusal(payload(*[COMMAND] * (MAX_PARTS + 1))) == "steps"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (change(one("a")), change(one("a"))),
        (change(one("a"), one("b")), change(one("c"), one("B"))),
        (change(one("a")), undo("a")),
        (change(one("b", op="rename", old="a")), change(one("a", op="add"))),
        (change(one("a")), change(one("c", op="copy", old="a"))),
        (change(one("n/a", op="add")), change(one("n/b", op="add"))),
        (change(one("n", op="add")), change(one("n/b", op="add"))),
        (change(one("n/b", op="add")), change(one("n", op="add"))),
        (change(one("d/a", op="delete"), folders=["d"]), change(one("d/b", op="add"))),
        (change(one("usr/bin/pytest")), COMMAND),
        (change(one("d/.gitignore", op="add"), folders=["d"]), COMMAND),
    ],
)
def test_what_depends_on_an_earlier_step_is_not_sealed_with_it(
    first: SealedPart, second: SealedPart
) -> None:
    assert refusal(payload(first, second)) == "steps.together"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (change(one("a")), change(one("b"))),
        (COMMAND, COMMAND),
        (change(one("a")), COMMAND),
        (change(one("pytest.ini")), COMMAND),
        (COMMAND, change(one("a"))),
        (change(one("d/a", op="add"), folders=["d"]), change(one("d/b", op="add"), folders=["d"])),
        (change(one("d/a", op="delete"), folders=["d"]), change(one("d/b"), folders=["d"])),
        (change(one("a", op="delete")), change(one("b", op="add"))),
    ],
)
def test_what_does_not_is(first: SealedPart, second: SealedPart) -> None:
    assert find_conflict([first, second]) is None
