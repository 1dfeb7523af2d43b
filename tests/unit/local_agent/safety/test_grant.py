"""The Grant: never constructed, spent once."""

from __future__ import annotations

import ast
import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from common.clock import ManualClock
from common.errors import RemoteProtocolError, StateError
from common.seal import digest
from local_agent.actions.registry import ACTIONS, seal_bytes
from local_agent.safety.grant import Grant, _mint
from tests.each import each
from tests.sealed import a_seal
from tests.three import COUNT, a_seal_of_three, register

pytestmark = pytest.mark.heavy


def a_grant() -> Grant:
    return _mint(seal_bytes(a_seal(ManualClock(), approval_id="approval-1")), ACTIONS)


@pytest.mark.requirement("R1")
def test_nobody_constructs_a_grant() -> None:
    with pytest.raises(TypeError):
        Grant()


def test_a_grant_says_what_its_bytes_say() -> None:
    seal = a_seal(ManualClock(), approval_id="approval-1")
    grant = _mint(seal_bytes(seal), ACTIONS)
    assert grant.seal == seal
    assert grant.digest == digest(seal_bytes(seal))
    assert (grant.approval_id, grant.task_id) == ("approval-1", "task-1")


def test_bytes_that_are_no_seal_make_no_grant() -> None:
    with pytest.raises(RemoteProtocolError):
        _mint(b"{}", ACTIONS)


def test_a_grant_does_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        a_grant().digest = "other"  # type: ignore[misc]  # that is what is tried


@pytest.mark.requirement("P3")
def test_a_grant_is_spent_once() -> None:
    grant = a_grant()
    assert grant.spend() == grant.seal
    with pytest.raises(StateError) as caught:
        grant.spend()
    assert caught.value.code == "grant.spent"


def test_a_copy_of_a_spent_grant_is_spent() -> None:
    grant = a_grant()
    twin = copy.copy(grant)
    grant.spend()
    with pytest.raises(StateError):
        twin.spend()


def test_a_grant_leaves_the_process_by_no_way() -> None:
    with pytest.raises(TypeError):
        pickle.dumps(a_grant())
    with pytest.raises(TypeError):
        copy.deepcopy(a_grant())


def test_of_many_threads_one_spends_it() -> None:
    grant = a_grant()

    def tries(_: int) -> bool:
        try:
            grant.spend()
        except StateError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(tries, range(64))) == 1


@pytest.mark.requirement("P2")
def test_a_grant_of_a_part_covers_that_part_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch)
    raw = seal_bytes(a_seal_of_three(ManualClock(), approval_id="approval-1"))
    grants = [_mint(raw, ACTIONS, part) for part in range(COUNT)]
    assert [grant.spend().payload["argv"] for grant in grants] == [["first"], ["second"], ["third"]]
    assert [(grant.part, grant.is_last) for grant in grants] == [(0, False), (1, False), (2, True)]
    assert {(grant.approval_id, grant.digest) for grant in grants} == {("approval-1", digest(raw))}


def test_a_grant_of_a_single_operation_is_the_last() -> None:
    grant = a_grant()
    assert (grant.part, grant.parts, grant.is_last) == (0, 1, True)


ROOT = Path(__file__).parents[4]
LEADS_TO_EXECUTION = {
    "_mint": {"safety/grant.py", "flow/gate.py"},
    "before_operation": {"safety/authority.py", "flow/gate.py"},
    "open_effect": {"store/effects.py", "safety/authority.py"},
}


def names_in(text: str) -> set[str]:
    """Return every name that the code of a module uses, defines or imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.Constant(value=str(text)):
                found.add(text)
    return found


@pytest.mark.requirement("R1")
@pytest.mark.requirement("P1")
@each("name", LEADS_TO_EXECUTION)
def test_one_way_leads_to_a_grant(name: str) -> None:
    agent = ROOT / "local_agent"
    users = {
        path.relative_to(agent).as_posix()
        for path in agent.rglob("*.py")
        if name in (text := path.read_text(encoding="utf-8")) and name in names_in(text)
    }
    assert users == LEADS_TO_EXECUTION[name]


@pytest.mark.requirement("P1")
def test_one_place_writes_decisions_and_one_uses_them_up() -> None:
    agent = ROOT / "local_agent"
    writers = {
        path.relative_to(agent).as_posix()
        for path in agent.rglob("*.py")
        if "UPDATE approvals" in path.read_text(encoding="utf-8")
    }
    assert writers == {"store/approvals.py"}
    assert callers_of("approvals.decide(") == {"flow/gate_steps.py"}
    assert callers_of("approvals.consume(") == {"safety/authority.py"}


def callers_of(call: str) -> set[str]:
    agent = ROOT / "local_agent"
    return {
        path.relative_to(agent).as_posix()
        for path in agent.rglob("*.py")
        if call in path.read_text(encoding="utf-8")
    }
