"""An agent's store that a release left is taken up by this one: what waits, and what has ended."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any, Final, get_args

import pytest

from common.clock import ManualClock
from common.errors import InputError, StateError
from common.model.state import Reason, TaskState
from common.seal import Action
from local_agent.flow.approvals import PendingApproval
from local_agent.flow.gate import Gate
from local_agent.store.database import newest_version
from tests.golden_stores.installation import (
    WRITTEN,
    as_then,
    asked,
    expected,
    number_of,
    opened,
    restore,
    settled,
    shop_with,
    stores,
    told_of_tasks,
)

THEN: Final[dict[str, Any]] = expected("agent")
NEWEST: Final = "v5"  # of the release that wrote them
LATER: Final = {"steps"}  # actions that it did not know
SCHEMAS: Final = sorted(stores("agent"), key=number_of)
ALL_THERE: Final = SCHEMAS[SCHEMAS.index(NEWEST) :]  # with all columns that it had


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(THEN["at"])


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("version", ALL_THERE)
async def test_tasks_of_every_state_and_end_are_listed_and_shown_as_before(
    version: str, tmp_path: Path, clock: ManualClock
) -> None:
    home = restore("agent", version, tmp_path / "home")
    async with opened(home, clock):
        told = await told_of_tasks(home)
    assert as_then(told, THEN) == {key: THEN[key] for key in told}
    assert {one["state"] for one in told["listed"]} == set(TaskState)
    assert {one["reason"] for one in told["listed"]} == {None, *Reason}


@pytest.mark.requirement("P6")
def test_the_audit_log_holds_as_before(tmp_path: Path) -> None:
    home = restore("agent", ALL_THERE[-1], tmp_path / "home")
    told = asked(home, "audit", "verify")
    assert as_then(told, THEN["audit"]) == THEN["audit"]
    assert told["ok"]


@pytest.mark.requirement("P2")
@pytest.mark.requirement("P3")
@pytest.mark.parametrize("version", SCHEMAS)
async def test_what_waits_is_approved_with_the_code_that_was_shown_before(
    version: str, tmp_path: Path, clock: ManualClock
) -> None:
    home = restore("agent", version, tmp_path / "home")
    async with opened(home, clock) as agent:
        pending = {one.approval_id: one for one in await agent.gate.pending()}
        assert [_told(one) for one in pending.values()] == THEN["waiting"]
        for then in THEN["waiting"]:
            await _approve(agent.gate, then)
            grant = await agent.gate.take_grant(then["approval_id"], then["digest"])
            assert grant.digest == then["digest"]
            assert grant.spend() == pending[then["approval_id"]].seal
        await _expired(agent.gate, THEN["approved"])
    assert {then["action"] for then in THEN["waiting"]} == set(get_args(Action)) - LATER
    assert (await asyncio.to_thread(asked, home, "audit", "verify"))["ok"]


def _told(asked_for: PendingApproval) -> dict[str, Any]:
    named = {key: getattr(asked_for, key) for key in ("approval_id", "digest", "code")}
    return named | {"action": asked_for.seal.action, "both_groups": asked_for.both_groups}


def test_there_is_a_store_of_each_schema() -> None:
    assert [f"v{one + 1}" for one in range(newest_version())] == SCHEMAS


async def _expired(gate: Gate, approval_id: str) -> None:
    """What was approved before, and not begun, gives leave to nobody any more."""
    shown = await gate.show(approval_id)
    assert (shown.state, shown.approver) == ("expired", "terminal")
    with pytest.raises(StateError) as caught:
        await gate.take_grant(approval_id, shown.approval.digest)
    assert caught.value.code == "approval.not-approved"


async def _approve(gate: Gate, then: dict[str, Any]) -> None:
    """Type the first group alone; where the risk is high, that is not enough."""
    decide = partial(
        gate.entrance("terminal").decide,
        then["approval_id"],
        then["digest"],
        decision="approve",
    )
    if then["both_groups"]:
        with pytest.raises(InputError) as caught:
            await decide(typed=then["code"][:4])
        assert caught.value.code == "approval.code-mismatch"
    await decide(typed=then["code"] if then["both_groups"] else then["code"][:4])


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("version", ALL_THERE)
@pytest.mark.parametrize("number", range(len(WRITTEN)))
async def test_what_was_cut_off_is_settled_and_what_had_begun_goes_on_as_before(
    number: int, version: str, tmp_path: Path, clock: ManualClock
) -> None:
    home = restore("agent", version, tmp_path / "home")
    place = shop_with(tmp_path / "shop", WRITTEN[number])
    async with opened(home, clock) as agent:
        assert await settled(agent, THEN["cut_off"], place) == THEN["ends"][number]
