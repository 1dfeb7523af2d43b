"""`control.operations`: what can be asked, over a real journal and a real gate."""

from __future__ import annotations

import asyncio
import base64
import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from common.errors import CodexBridgeError, InputError, RemoteProtocolError, StateError
from common.ids import minted_by
from common.model.state import Reason, TaskState
from common.seal import digest
from common.sentences import same
from local_agent.faces.control import wire
from local_agent.faces.control.asking import MAX_TEXT_BYTES
from local_agent.faces.control.operations import MAX_LISTED
from local_agent.faces.control.wire import REQUEST_BYTES, encode_event
from local_agent.propose.context.collected import Collected
from local_agent.store.endings import write_ending
from local_agent.store.tasks import NAME_FREE_AFTER_MS
from local_agent.store.turns import StoredTurn
from local_agent.views import from_json
from local_agent.views.task import Run, TouchedFiles
from tests.asked import whole_task
from tests.sealed import LINE, Step, Wish, ending
from tests.unit.local_agent.faces.control.conftest import PATIENCE, Desk

pytestmark = pytest.mark.heavy

TURN = StoredTurn(
    task_id="task-1",
    model="mock",
    at=1,
    duration_ms=4200,
    input_tokens=7,
    output_tokens=3,
    calls=1,
    outcome="ok",
)


async def test_status_tells_the_surroundings_and_what_waits(desk: Desk) -> None:
    await desk.waiting()
    status = await desk.ask("status")
    assert (status["machine"], status["open_tasks"]) == ("build-1", 1)
    assert status["audit"]["entries"] > 0
    assert (status["audit"]["gateway_keeps"], status["audit"]["forked_at"]) == (0, None)
    (approval,) = status["approvals"]
    assert (approval["short_id"], approval["risk"]) == ("T-7K3F", "normal")
    assert approval["workspace"] == "shop"  # of which the request said nothing
    assert approval["expires_at"] > desk.clock.now().wall_ms


async def test_tasks_lists_open_ones_newest_first_and_all_when_asked(desk: Desk) -> None:
    create = desk.db.journal.tasks.create
    for number in (1, 2, 3):
        wish = Wish(task_id=f"task-{number}", short_id=f"T-000{number}")
        await desk.db.run(create, wish, number)
    await desk.change(
        ending(Reason.CANCELLED, TaskState.RECEIVED, TaskState.REJECTED, task_id="task-2")
    )
    opened = (await desk.ask("tasks", all=False, limit=50))["tasks"]
    assert [task["short_id"] for task in opened] == ["T-0003", "T-0001"]
    everything = (await desk.ask("tasks", all=True, limit=50))["tasks"]
    assert [task["reason"] for task in everything] == [None, "cancelled", None]
    assert len((await desk.ask("tasks", all=True, limit=1))["tasks"]) == 1


@pytest.mark.parametrize("all_of_them", [True, False])
async def test_a_list_that_is_cut_says_so(desk: Desk, *, all_of_them: bool) -> None:
    create = desk.db.journal.tasks.create
    for number in (1, 2, 3):
        wish = Wish(task_id=f"task-{number}", short_id=f"T-000{number}")
        await desk.db.run(create, wish, number)
    cut = await desk.ask("tasks", all=all_of_them, limit=2)
    assert ([task["short_id"] for task in cut["tasks"]], cut["more"]) == (
        ["T-0003", "T-0002"],
        True,
    )
    assert (await desk.ask("tasks", all=all_of_them, limit=3))["more"] is False


async def test_long_requests_leave_room_for_the_whole_list(desk: Desk) -> None:
    create = desk.db.journal.tasks.create
    for number in range(MAX_LISTED):
        wish = Wish(task_id=f"t{number}", short_id=f"T-{number:04}", text="\x01" * 30_000)
        await desk.db.run(create, wish, number)
    listed = await desk.ask("tasks", all=True, limit=MAX_LISTED)
    assert len(listed["tasks"]) == MAX_LISTED
    assert b'"error"' not in wire.encode_ok(listed)
    shown = await desk.ask("show", task="T-0042")
    assert len(shown["task"]["text"]) == 30_000


async def test_what_a_model_said_at_length_leaves_room_for_its_task(desk: Desk) -> None:
    create = desk.db.journal.tasks.create
    task = await desk.db.run(create, Wish(task_id="t1", short_id="T-0042", text="\x01" * 30_000), 1)
    speech = {"model": "m", "text": "\x01" * 3_000_000, "commands": ["\x01" * 300] * 100}
    said = json.dumps({"summary": "x", "details": "\x01" * 3_000_000, "speech": speech})
    told = whole_task(replace(task, proposal_json=said), ())
    assert b'"error"' not in wire.encode_ok({"task": told, "approval": None})
    assert len(told["details"]) > 100_000
    assert len(told["speech"]["text"]) > 90_000
    assert len(told["speech"]["commands"]) == 50


async def test_a_proposal_is_told_with_its_files_its_turns_and_what_was_shown(desk: Desk) -> None:
    create = desk.db.journal.tasks.create
    await desk.db.run(create, Wish(task_id="task-1"), 1)
    await desk.db.run(desk.db.journal.turns.begin, TURN)
    files = [{"path": f"{number}.py", "additions": 1, "deletions": 2} for number in range(120)]
    result = {
        "summary": "Proposed.",
        "details": "The model says: …",
        "own": "Two files.",
        "speech": {"model": "mock", "text": "Done.", "noEdits": True, "notTaken": ["a: no"]},
        "rests": True,
        "version": 2,
        "revises": "T-0001",
        "requires": {"mode": "local_approval"},
        "proposal": {"type": "diff", "files": files},
    }
    for expected, state in pairwise(LINE):
        context = json.dumps(Collected().explained())
        await desk.change(
            Step(
                expected=expected,
                state=state,
                proposal_json=json.dumps(result),
                context_json=context,
            )
        )
        if state is TaskState.PROPOSAL_READY:
            break
    told = (await desk.ask("show", task="T-7K3F"))["task"]
    assert (told["rests"], told["version"], told["revises"]) == (True, 2, "T-0001")
    shown = [{**file, "encoding": None} for file in files[:100]]
    assert (told["proposal"], told["files"], told["files_more"]) == ("diff", shown, 20)
    assert told["shown"] == {"files": 0, "bytes": 0}
    assert told["own"] == "Two files."
    assert told["speech"] == {
        "model": "mock",
        "text": "Done.",
        "no_edits": True,
        "not_taken": ["a: no"],
        "commands": [],
    }
    (turn,) = told["turns"]
    assert (turn["model"], turn["input_tokens"], turn["outcome"]) == ("mock", 7, "ok")
    assert "task_id" not in turn
    (row,) = (await desk.ask("tasks", all=False, limit=5))["tasks"]
    assert (row["rests"], row["version"]) == (True, 2)
    await desk.change(Step(expected=TaskState.PROPOSAL_READY, state=TaskState.WAITING_APPROVAL))
    (row,) = (await desk.ask("tasks", all=False, limit=5))["tasks"]
    assert (row["rests"], row["version"]) == (False, 2)


async def test_files_with_long_names_leave_room_for_their_task(desk: Desk) -> None:
    create = desk.db.journal.tasks.create
    task = await desk.db.run(create, Wish(text="\x01" * 20_000), 1)
    files = [{"path": "\x01" * 4000, "additions": 1, "deletions": 2}] * 500
    said = json.dumps({"details": "\x01" * 200_000, "proposal": {"type": "diff", "files": files}})
    told = whole_task(replace(task, proposal_json=said), [TURN] * 20)
    assert b'"error"' not in wire.encode_ok({"task": told, "approval": None})


async def test_an_ending_is_told_as_it_was_kept_by_whichever_version(desk: Desk) -> None:
    task = await desk.db.run(desk.db.journal.tasks.create, Wish(), 1)
    kept = {"run": {"started": True, "files": {"new": 1, "later": 2}}, "later": {"a": [1]}}
    told = whole_task(replace(task, ending_json=json.dumps(kept)), ())
    assert {name: told[name] for name in kept} == kept
    assert (told["said"], told["change"], told["sync"]) == (None, None, None)


async def test_who_watches_hears_which_task_it_is(desk: Desk) -> None:
    await desk.db.run(desk.db.journal.tasks.create, Wish(), 1)
    watching = asyncio.create_task(desk.steps("follow", task="T-7K3F"))
    await desk.bus.read_by_someone(PATIENCE)
    await desk.change(Step())
    await desk.change(ending(Reason.CANCELLED, TaskState.ROUTED, TaskState.REJECTED))
    steps = await watching
    assert steps
    assert all(value["short_id"] == "T-7K3F" for last, value in steps if not last)


async def test_status_tells_that_no_model_is_asked(desk: Desk) -> None:
    assert (await desk.ask("status"))["model"] is None


@pytest.mark.requirement("R25")
async def test_show_gives_the_sealed_bytes_themselves(desk: Desk) -> None:
    told = await desk.waiting()
    shown = (await desk.ask("show", task="T-7K3F"))["approval"]
    assert digest(shown["seal"].encode()) == told == shown["digest"]
    assert (shown["state"], shown["workspace"], shown["text"]) == ("pending", "shop", "@dev test")


async def test_a_task_without_an_approval_is_shown_as_it_stands(desk: Desk) -> None:
    await desk.db.run(desk.db.journal.tasks.create, Wish(), 1)
    shown = await desk.ask("show", task="T-7K3F")
    assert shown["approval"] is None
    assert shown["task"]["state"] == "RECEIVED"
    with pytest.raises(StateError):
        await desk.ask("show", task="T-0000")


async def test_what_was_collected_for_a_task_is_told(desk: Desk) -> None:
    tasks = desk.db.journal.tasks
    await desk.db.run(tasks.create, Wish(), 1)
    with pytest.raises(StateError) as caught:
        await desk.ask("context", task="T-7K3F")
    assert caught.value.code == "context.none"
    account = Collected().explained()
    await desk.db.run(tasks.change, Step(Wish().task_id, context_json=json.dumps(account)))
    assert await desk.ask("context", task="T-7K3F") == {"context": account, "asked": False}
    await desk.db.run(desk.db.journal.turns.begin, TURN)
    assert (await desk.ask("context", task="T-7K3F"))["asked"] is True


async def test_a_version_that_another_replaced_names_it_in_list_and_whole(desk: Desk) -> None:
    await desk.db.run(desk.db.journal.tasks.create, Wish(), 1)
    told = write_ending(same("replaced"), {"replaced_by": "T-9999"})
    over = (Reason.CANCELLED, TaskState.RECEIVED, TaskState.REJECTED)
    await desk.change(ending(*over, ending_json=told))
    (row,) = (await desk.ask("tasks", all=True, limit=5))["tasks"]
    whole = (await desk.ask("show", task="T-7K3F"))["task"]
    assert row["replaced_by"] == whole["replaced_by"] == "T-9999"


async def decide(desk: Desk, told: str, typed: str, **changes: str) -> None:
    shown = (await desk.ask("show", task="T-7K3F"))["approval"]
    args = {
        "approval_id": shown["approval_id"],
        "digest": told,
        "decision": "approve",
        "typed": typed,
        "reason": "",
    }
    await desk.ask("decide", **args | changes)


async def state_of(desk: Desk) -> str:
    return str((await desk.ask("show", task="T-7K3F"))["approval"]["state"])


@pytest.mark.requirement("P1")
@pytest.mark.parametrize("typed", ["", "yes", "T-7K3F", "0000-0000"])
async def test_the_gate_checks_the_code_whatever_the_command_line_says(
    desk: Desk, typed: str
) -> None:
    told = await desk.waiting()
    with pytest.raises(InputError):
        await decide(desk, told, typed)
    assert await state_of(desk) == "pending"


@pytest.mark.requirement("R23")
async def test_a_decision_names_the_digest_that_was_shown(desk: Desk) -> None:
    told = await desk.waiting()
    code = (await desk.gate.pending())[0].code
    with pytest.raises(CodexBridgeError):
        await decide(desk, "0" * 64, code)
    await decide(desk, told, code)
    assert await state_of(desk) == "approved"


@pytest.mark.requirement("P1")
async def test_no_request_says_who_decides(desk: Desk) -> None:
    told = await desk.waiting()
    with pytest.raises(InputError) as refused:
        await decide(desk, told, "", approver="desktop")  # where no code would be needed
    assert refused.value.code == "approval.code-mismatch"
    await decide(desk, told, (await desk.gate.pending())[0].code, approver="desktop")
    stored = await desk.db.run(desk.db.journal.approvals.newest_of, "task-1")
    assert stored is not None
    assert (stored.state, stored.approver) == ("approved", "terminal")


async def test_a_rejection_needs_no_code_and_keeps_its_reason(desk: Desk) -> None:
    told = await desk.waiting()
    await decide(desk, told, "", decision="reject", reason="明天再跑")
    (approval,) = [await desk.db.run(desk.db.journal.approvals.newest_of, "task-1")]
    assert approval
    assert (approval.state, approval.decision_reason) == ("rejected", "明天再跑")
    assert approval.approver == "terminal"


async def test_cancel_is_durable_and_says_when_there_is_nothing_to_stop(desk: Desk) -> None:
    await desk.db.run(desk.db.journal.tasks.create, Wish(), 1)
    await desk.ask("cancel", task="T-7K3F")
    assert (await desk.db.run(desk.db.journal.tasks.get, "task-1")).cancel_requested
    await desk.change(ending(Reason.CANCELLED, TaskState.RECEIVED, TaskState.REJECTED))
    with pytest.raises(StateError) as refused:
        await desk.ask("cancel", task="T-7K3F")
    assert refused.value.code == "task.over"


async def test_what_is_kept_of_closed_workspaces_is_removed_when_that_is_told(desk: Desk) -> None:
    assert await desk.ask("workspaces_changed") == {}
    assert desk.forgotten == 1


async def test_a_key_is_rotated_and_its_name_told(desk: Desk) -> None:
    assert await desk.ask("rotate") == {"key_id": "0123456789abcdef"}
    assert desk.rotations == 1


async def carried(desk: Desk, steps: int) -> None:
    """Carry the asked task some way, once it is there."""
    async with asyncio.timeout(PATIENCE):
        await desk.engine.written.wait()
    task_id = desk.engine.submitted[0].task_id
    for expected, state in pairwise(LINE[: steps + 1]):
        await desk.change(Step(task_id=task_id, expected=expected, state=state))


async def test_ask_tells_each_state_until_a_person_is_needed(desk: Desk) -> None:
    asking = asyncio.create_task(desk.steps("ask", text="跑测试", lang="zh", workspace="shop"))
    await carried(desk, 5)
    *events, (last, value) = await asking
    assert last
    assert value["task"]["state"] == "WAITING_APPROVAL"
    assert all(event["type"] == "task_state" for _, event in events)
    (new,) = desk.engine.submitted
    assert (new.source, new.channel, new.claimed_user) == ("local_ui", "terminal", "zhang")
    assert (new.text, new.lang, new.workspace) == ("@dev 跑测试", "zh", "shop")
    assert minted_by(new.short_id) == "agent"
    assert new.envelope_sha256 is None


async def test_a_request_that_names_the_bot_is_not_addressed_twice(desk: Desk) -> None:
    asking = asyncio.create_task(desk.steps("ask", text=" ＠dev help", lang="en", workspace=""))
    await carried(desk, 5)
    await asking
    assert desk.engine.submitted[0].text == "＠dev help"


async def test_a_short_id_that_is_taken_is_minted_again(desk: Desk) -> None:
    desk.engine.taken = 2
    asking = asyncio.create_task(desk.steps("ask", text="help", lang="en", workspace=""))
    await carried(desk, 5)
    await asking
    assert len(desk.engine.submitted) == 1


@pytest.mark.parametrize(
    ("text", "code"), [("  ", "ask.empty"), ("x" * (MAX_TEXT_BYTES + 1), "ask.too-long")]
)
async def test_an_empty_or_endless_request_is_refused(desk: Desk, text: str, code: str) -> None:
    with pytest.raises(InputError) as refused:
        await desk.ask("ask", text=text, lang="en", workspace="")
    assert refused.value.code == code
    assert desk.engine.submitted == []


@pytest.mark.requirement("P3")
async def test_what_was_asked_is_carried_out_although_the_asker_hung_up(desk: Desk) -> None:
    desk.engine.slow.clear()
    asking = asyncio.create_task(desk.steps("ask", text="help", lang="en", workspace=""))
    async with asyncio.timeout(PATIENCE):
        await desk.engine.arrived.wait()
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    desk.engine.slow.set()
    await carried(desk, 1)
    (submitted,) = desk.engine.submitted
    task = await desk.db.run(desk.db.journal.tasks.get, submitted.task_id)
    assert task.state is LINE[1]


async def test_follow_goes_on_through_the_approval_to_the_end(desk: Desk) -> None:
    await desk.db.run(desk.db.journal.tasks.create, Wish(), 1)
    await desk.walk(TaskState.WAITING_APPROVAL)
    following = asyncio.create_task(desk.steps("follow", task="T-7K3F"))
    await desk.bus.read_by_someone(PATIENCE)
    executing = TaskState.EXECUTING
    await desk.change(Step(expected=TaskState.WAITING_APPROVAL, state=executing))
    await desk.change(ending(Reason.COMPLETED, executing, TaskState.COMPLETED, summary="done"))
    *events, (_, value) = await following
    assert [event["state"] for _, event in events][:1] == ["EXECUTING"]
    assert (value["task"]["reason"], value["task"]["summary"]) == ("completed", "done")


async def test_a_task_that_has_ended_is_told_at_once(desk: Desk) -> None:
    await desk.db.run(desk.db.journal.tasks.create, Wish(), 1)
    await desk.change(ending(Reason.FAILED, TaskState.RECEIVED, TaskState.FAILED))
    assert len(await desk.steps("follow", task="T-7K3F")) == 1


async def ended(desk: Desk, run: dict[str, Any] | None) -> None:
    await desk.db.run(desk.db.journal.tasks.create, Wish(), 1)
    told = write_ending(lambda lang: f"ended in {lang}", {"run": run})
    await desk.change(
        ending(Reason.CANCELLED, TaskState.RECEIVED, TaskState.REJECTED, ending_json=told)
    )


async def test_what_a_command_did_is_shown_in_full_and_left_out_of_lists(desk: Desk) -> None:
    await ended(desk, {"files": {"new": 2}})
    shown = (await desk.ask("show", task="T-7K3F"))["task"]
    assert shown["said"] == {"en": "ended in en", "zh": "ended in zh"}
    assert from_json(Run, shown["run"]) == Run(files=TouchedFiles(new=2))
    assert (await desk.ask("follow", task="T-7K3F"))["task"]["run"] == shown["run"]
    (row,) = (await desk.ask("tasks", all=True, limit=5))["tasks"]
    assert not {"said", "run"} & set(row)


@pytest.mark.requirement("R46")
async def test_the_kept_log_comes_in_bounded_pieces(desk: Desk) -> None:
    desk.shelf.kept["ab"] = log = bytes(range(256)) * 2000
    await ended(desk, {"output": {"log_sha256": "ab"}})
    *pieces, (last, value) = await desk.steps("log", task="T-7K3F")
    assert (last, value) == (True, {"bytes": len(log)})
    assert b"".join(base64.b64decode(piece["log"]) for _, piece in pieces) == log
    assert len(pieces) == 3
    assert all(len(encode_event(piece)) <= REQUEST_BYTES * 5 for _, piece in pieces)


@pytest.mark.parametrize("run", [None, {"output": {"log_sha256": None}}])
async def test_without_a_log_that_is_said(desk: Desk, run: dict[str, Any] | None) -> None:
    await ended(desk, run)
    with pytest.raises(StateError) as caught:
        await desk.ask("log", task="T-7K3F")
    assert caught.value.code == "log.none"


@pytest.mark.requirement("R19")
@pytest.mark.parametrize(
    ("op", "args"),
    [
        ("show", {}),
        ("log", {"task": None}),
        ("show", {"task": 5}),
        ("tasks", {"all": "yes", "limit": 5}),
        ("tasks", {"all": False, "limit": 10**6}),
        ("tasks", {"all": False, "limit": True}),
        ("decide", {"approval_id": "x"}),
        ("ask", {"text": ["x"], "lang": "en", "workspace": ""}),
    ],
)
async def test_arguments_of_another_type_are_refused(
    desk: Desk, op: str, args: dict[str, Any]
) -> None:
    with pytest.raises(RemoteProtocolError):
        await desk.steps(op, **args)


# -- retry -----------------------------------------------------------------------------------


async def ended_as(desk: Desk, reason: Reason, **wish: Any) -> None:
    """Leave a task that ended so."""
    await desk.db.run(desk.db.journal.tasks.create, Wish(**wish), desk.clock.now().wall_ms)
    final = TaskState.FAILED if reason is Reason.UNKNOWN else TaskState.REJECTED
    await desk.change(ending(reason, TaskState.RECEIVED, final))


@pytest.mark.requirement("P3")
async def test_what_has_ended_is_asked_again_as_a_new_task_that_needs_its_own_approval(
    desk: Desk,
) -> None:
    await ended_as(desk, Reason.CANCELLED, text="@dev 跑测试", lang="zh", workspace="shop")
    retrying = asyncio.create_task(desk.steps("retry", task="T-7K3F", may_have_run=False))
    await carried(desk, 5)
    *_, (last, value) = await retrying
    assert last
    assert value["task"]["state"] == "WAITING_APPROVAL"
    (new,) = desk.engine.submitted
    assert (new.text, new.lang, new.workspace) == ("@dev 跑测试", "zh", "shop")
    assert (new.source, new.claimed_user, new.retry_of) == ("local_ui", "zhang", "task-1")
    assert (new.envelope_sha256, new.gateway_key_id) == (None, None)
    assert minted_by(new.short_id) == "agent"
    shown = await desk.ask("show", task=new.short_id)
    assert shown["task"]["retry_of_short_id"] == "T-7K3F"
    first = await desk.ask("show", task="T-7K3F")
    assert (first["task"]["reason"], first["task"]["retry_of_short_id"]) == ("cancelled", None)


async def test_a_name_that_was_given_up_is_not_told_as_what_was_asked_before(desk: Desk) -> None:
    await ended_as(desk, Reason.CANCELLED)
    retrying = asyncio.create_task(desk.steps("retry", task="T-7K3F", may_have_run=False))
    await carried(desk, 5)
    await retrying
    (new,) = desk.engine.submitted
    later = desk.clock.now().wall_ms + 2 * NAME_FREE_AFTER_MS
    assert await desk.db.run(desk.db.journal.tasks.name_is_free, "T-7K3F", later)
    assert (await desk.ask("show", task=new.short_id))["task"]["retry_of_short_id"] is None


async def test_an_open_task_is_not_asked_again(desk: Desk) -> None:
    await desk.waiting()
    with pytest.raises(StateError) as caught:
        await desk.steps("retry", task="T-7K3F", may_have_run=True)
    assert caught.value.code == "retry.open"
    assert desk.engine.submitted == []


@pytest.mark.requirement("P3")
async def test_what_may_have_taken_effect_is_asked_again_only_by_who_knows_it(desk: Desk) -> None:
    await ended_as(desk, Reason.UNKNOWN)
    with pytest.raises(StateError) as caught:
        await desk.steps("retry", task="T-7K3F", may_have_run=False)
    assert caught.value.code == "retry.unknown"
    assert desk.engine.submitted == []
    retrying = asyncio.create_task(desk.steps("retry", task="T-7K3F", may_have_run=True))
    await carried(desk, 5)
    await retrying
    assert [new.retry_of for new in desk.engine.submitted] == ["task-1"]


async def test_the_page_is_opened_by_a_link_of_its_own_each_time_and_shut(desk: Desk) -> None:
    urls = [(await desk.ask("open_page"))["url"] for _ in range(2)]
    assert urls == ["http://localhost:1/launch#1", "http://localhost:1/launch#2"]
    assert await desk.ask("shut_page") == {}
    assert desk.page.opened == 0
