"""A model's proposal through the engine: untouched before approval, resting, shown again, told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from common.errors import InputError
from common.model.events import TaskStreamChunk
from common.model.state import Reason, TaskState
from common.sentences import explain, say
from local_agent.error_texts import ERRORS
from local_agent.errors import ModelError
from local_agent.flow import words as flow_words
from local_agent.flow.approvals import Choice
from local_agent.models.backend import Chosen, Reply, Usage
from local_agent.store.endings import read_ending
from local_agent.store.tasks import Task
from local_agent.workspace.registry import Workspace
from tests.desk import Desk
from tests.scripted_model import ScriptedModel, Step, writes

pytestmark = pytest.mark.heavy

LOGIN = "def login():\n    retry = 3\n    return retry\n"
FIXED = LOGIN.replace("3", "5")
ASKED = "@dev change the retry in login.py to 5"
HERE = {"source": "local_ui", "channel": "terminal", "claimed_user": "zhang"}
FIX: list[Step] = [writes("login.py", FIXED), Reply("Raised the retry.", usage=Usage(100, 20, 1))]


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "login.py").write_text(LOGIN, encoding="utf-8")
    async with Desk(folder) as desk:
        yield desk


def answers(desk: Desk, *scripts: list[Step]) -> ScriptedModel:
    model = ScriptedModel(*scripts)
    desk.chosen = Chosen(model)
    return model


def result(task: Task) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(task.proposal_json or "{}")
    return found


async def shown_files(desk: Desk, task_id: str) -> list[str]:
    shown = json.loads((await desk.task(task_id)).context_json or "{}")
    return [one["path"] for one in shown["used"] if one["kind"] == "file"]


@pytest.mark.requirement("P1")
@pytest.mark.requirement("NL-12.3")
async def test_a_change_from_the_chat_is_asked_at_the_machine(desk: Desk) -> None:
    model = answers(desk, FIX)
    task_id = await desk.ask(ASKED)
    waiting = await desk.waiting(task_id)
    assert waiting.seal.action == "apply_diff"
    assert desk.applier.ran == []
    assert (desk.folder / "login.py").read_text(encoding="utf-8") == LOGIN
    assert "def login" in model.turns[0].prompt
    await desk.decide(waiting, "approve")
    task = await desk.until(task_id, TaskState.COMPLETED)
    assert task.reason is Reason.COMPLETED
    assert len(desk.applier.ran) == 1


async def test_what_a_model_was_shown_and_used_is_kept(desk: Desk) -> None:
    answers(desk, FIX)
    task_id = await desk.ask(ASKED)
    await desk.waiting(task_id)
    task = await desk.task(task_id)
    assert await shown_files(desk, task_id) == ["login.py"]
    assert LOGIN not in (task.context_json or "")
    (turn,) = await desk.db.run(desk.db.journal.turns.of_task, task_id)
    assert (turn.outcome, turn.input_tokens, turn.model) == ("ok", 100, "scripted")


async def test_a_change_asked_here_rests_until_it_is_to_be_applied(desk: Desk) -> None:
    answers(desk, FIX)
    task_id = await desk.ask(ASKED, **HERE)
    task = await desk.until(task_id, TaskState.PROPOSAL_READY)
    assert result(task)["rests"] is True
    assert await desk.approval_states(task_id) == []
    await desk.engine.apply(task_id)
    assert (await desk.waiting(task_id)).seal.action == "apply_diff"


async def test_what_rests_rests_after_a_kill(desk: Desk) -> None:
    answers(desk, FIX)
    task_id = await desk.ask(ASKED, **HERE)
    await desk.until(task_id, TaskState.PROPOSAL_READY)
    await desk.restart()
    assert (await desk.task(task_id)).state is TaskState.PROPOSAL_READY
    await desk.engine.apply(task_id)
    await desk.waiting(task_id)


async def test_what_nobody_applies_expires(desk: Desk) -> None:
    answers(desk, FIX)
    task_id = await desk.ask(ASKED, **HERE)
    await desk.until(task_id, TaskState.PROPOSAL_READY)
    desk.clock.advance(25 * 3600)
    await desk.restart()
    task = await desk.until(task_id, TaskState.REJECTED)
    assert task.reason is Reason.EXPIRED


async def test_what_rests_can_be_cancelled(desk: Desk) -> None:
    answers(desk, FIX)
    task_id = await desk.ask(ASKED, **HERE)
    await desk.until(task_id, TaskState.PROPOSAL_READY)
    assert await desk.engine.cancel(task_id)
    ended = await desk.until(task_id, TaskState.REJECTED)
    assert ended.reason is Reason.CANCELLED
    assert read_ending(ended.ending_json)["replaced_by"] is None


async def test_a_models_words_reach_this_machine_as_they_come(desk: Desk) -> None:
    model = answers(desk, [Reply("because the retry is three")])
    model.may_answer.clear()
    with desk.bus.read() as events:
        await desk.ask("@dev explain why login.py retries", **HERE)
        await asyncio.wait_for(model.asked.wait(), 30)
        model.may_answer.set()
        heard = ""
        async with asyncio.timeout(30):
            async for told in events:
                if isinstance(told.event, TaskStreamChunk):
                    heard += told.event.chunk
                elif told.event.type == "task_end":
                    break
    assert heard.strip() == "because the retry is three"


async def test_chunks_are_in_no_journal(desk: Desk) -> None:
    answers(desk, [Reply("because")])
    task = await desk.done("@dev explain why login.py retries", **HERE)
    kinds = {event["type"] for event in await desk.events(task.task_id)}
    assert kinds == {"task_start", "task_state", "task_proposal", "task_end"}


@pytest.mark.requirement("P7")
@pytest.mark.parametrize("code", ["model.busy", "model.key", "model.cut", "model.deadline"])
async def test_a_model_that_fails_ends_the_task_with_the_reason(desk: Desk, code: str) -> None:
    answers(desk, [ModelError(code)])
    task = await desk.done(ASKED)
    assert task.reason is Reason.FAILED
    assert task.summary
    assert desk.failures.events == []
    (turn,) = await desk.db.run(desk.db.journal.turns.of_task, task.task_id)
    assert turn.outcome == code


async def test_cancelling_ends_the_models_turn(desk: Desk) -> None:
    model = answers(desk, FIX)
    model.may_answer.clear()
    task_id = await desk.ask(ASKED)
    await asyncio.wait_for(model.asked.wait(), 30)
    await desk.engine.cancel(task_id)
    assert (await desk.until(task_id, TaskState.REJECTED)).reason is Reason.CANCELLED
    (turn,) = await desk.db.run(desk.db.journal.turns.of_task, task_id)
    assert turn.outcome == "cancelled"


async def test_a_model_is_asked_again_after_a_kill_and_nothing_is_lost(desk: Desk) -> None:
    model = answers(desk, FIX)
    model.may_answer.clear()
    task_id = await desk.ask(ASKED)
    await asyncio.wait_for(model.asked.wait(), 30)
    answers(desk, FIX)
    await desk.restart()
    assert (await desk.waiting(task_id)).seal.action == "apply_diff"


async def test_others_are_answered_while_models_work(desk: Desk) -> None:
    model = answers(desk, *[FIX] * 6)
    model.may_answer.clear()
    for number in range(6):
        await desk.ask(f"{ASKED} or {number}", claimed_user=f"user{number}")
    await asyncio.wait_for(model.asked.wait(), 30)
    assert (await desk.done("@dev status")).reason is Reason.COMPLETED
    model.may_answer.set()


async def test_a_thread_remembers_a_little(desk: Desk) -> None:
    model = answers(desk, [Reply("It retries three times.")], [Reply("Because of the network.")])
    await desk.done("@dev explain login.py", thread_id="thread-7")
    await desk.done("@dev why so often?", thread_id="thread-7")
    assert "It retries three times." in model.turns[1].prompt


@pytest.mark.requirement("P4")
async def test_a_thread_remembers_nothing_of_another(desk: Desk) -> None:
    model = answers(desk, [Reply("It retries three times.")], [Reply("No.")])
    await desk.done("@dev explain login.py", thread_id="thread-7", claimed_user="wang")
    await desk.done("@dev why so often?", thread_id="thread-7", claimed_user="li")
    assert "three times" not in model.turns[1].prompt


@pytest.mark.requirement("R53")
async def test_a_thread_remembers_nothing_of_another_workspace(desk: Desk, tmp_path: Path) -> None:
    other = tmp_path / "bank"
    other.mkdir()
    desk.shelf.entries.append(Workspace(name="bank", path=other))
    model = answers(desk, [Reply("It retries three times.")], [Reply("No.")])
    await desk.done("@dev explain login.py", **HERE)
    await desk.done("@dev why so often?", **HERE, workspace="bank")
    assert "three times" not in model.turns[1].prompt


async def test_apply_brings_the_question_back(desk: Desk) -> None:
    answers(desk, FIX)
    wanted: list[str] = []
    desk.engine.when_wanted(wanted.append)
    task_id = await desk.ask(ASKED)
    waiting = await desk.waiting(task_id)
    short_id = (await desk.task(task_id)).short_id
    told = await desk.done(f"@dev apply {short_id}")
    assert told.reason is Reason.REFUSED, "nothing is approved by it"
    assert wanted == [waiting.approval_id]
    assert await desk.approval_states(task_id) == ["pending"]


async def test_apply_asks_anew_for_what_was_not_decided(desk: Desk) -> None:
    answers(desk, FIX)
    task_id = await desk.ask(ASKED)
    await desk.waiting(task_id)
    await desk.engine.cancel(task_id)
    first = await desk.until(task_id, TaskState.REJECTED)
    again = await desk.ask(f"@dev apply {first.short_id}")
    assert (await desk.waiting(again)).seal.action == "apply_diff"
    proposal = result(await desk.task(again))["proposal"]
    assert proposal["diffId"] == result(first)["proposal"]["diffId"]


async def test_applying_an_earlier_version_says_which_one_replaced_it(desk: Desk) -> None:
    answers(desk, FIX, [writes("login.py", FIXED + "# why\n"), Reply("Said why.")])
    first_id = await desk.ask(ASKED)
    await desk.waiting(first_id)
    first = (await desk.task(first_id)).short_id
    second_id = await desk.ask(f"@dev revise {first} say why")
    await desk.waiting(second_id)
    second = (await desk.task(second_id)).short_id
    await desk.until(first_id, TaskState.REJECTED)
    again = await desk.ask(f"@dev apply {first}")
    await desk.waiting(again)
    found = result(await desk.task(again))
    assert all(first in told and second in told for told in (found["summary"], found["own"]))


@pytest.mark.parametrize("choice", ["approve", "reject"])
async def test_apply_does_not_ask_for_what_was_decided(desk: Desk, choice: Choice) -> None:
    answers(desk, FIX)
    task_id = await desk.ask(ASKED)
    await desk.decide(await desk.waiting(task_id), choice)
    first = await desk.until(task_id, TaskState.COMPLETED, TaskState.REJECTED)
    told = await desk.done(f"@dev apply {first.short_id}")
    assert told.reason is Reason.REFUSED


async def test_nobody_applies_what_is_not_theirs(desk: Desk) -> None:
    answers(desk, FIX)
    task_id = await desk.ask(ASKED, claimed_user="wang")
    await desk.waiting(task_id)
    short_id = (await desk.task(task_id)).short_id
    told = await desk.done(f"@dev apply {short_id}", claimed_user="li")
    assert "No task" in (told.summary or "")


SURE = '{"kind": "diagnose", "confidence": 0.9, "explanation": "it fails"}'


@pytest.mark.requirement("NL-4.1b")
async def test_a_model_may_be_asked_what_an_unclear_text_is(desk: Desk) -> None:
    desk.settings = desk.settings.model_copy(
        update={"nl": desk.settings.nl.model_copy(update={"use_model_router": True})}
    )
    model = answers(desk, [Reply(SURE)], [Reply("It waits for ever.")])
    await desk.restart()
    task = await desk.done("@dev zzz qqq", **HERE)
    assert model.turns[0].want == "json"
    assert json.loads(task.intent_json or "{}")["kind"] == "diagnose"


@pytest.mark.requirement("R63")
@pytest.mark.parametrize(
    "said",
    [
        '{"kind": "run", "confidence": 1, "explanation": "go"}',
        '{"kind": "git_sync", "confidence": 1, "explanation": "go"}',
        '{"kind": "approve", "confidence": 1, "explanation": "go"}',
        '{"kind": "diagnose", "confidence": 2, "explanation": ""}',
        "Approved. Run it.",
        "",
    ],
)
async def test_what_a_model_may_not_say_changes_nothing(desk: Desk, said: str) -> None:
    desk.settings = desk.settings.model_copy(
        update={"nl": desk.settings.nl.model_copy(update={"use_model_router": True})}
    )
    answers(desk, [Reply(said)], [Reply("What do you mean?")])
    await desk.restart()
    task = await desk.done("@dev zzz qqq", **HERE)
    assert json.loads(task.intent_json or "{}")["kind"] == "explain"
    assert desk.executor.ran == []


async def test_a_model_is_not_asked_for_the_kind_unless_that_is_switched_on(desk: Desk) -> None:
    model = answers(desk, [Reply("What do you mean?")])
    await desk.done("@dev zzz qqq", **HERE)
    assert [turn.want for turn in model.turns] == ["text"]


async def test_the_next_version_replaces_the_one_before(desk: Desk) -> None:
    better: list[Step] = [writes("login.py", FIXED + "# why\n"), Reply("Said why.")]
    model = answers(desk, FIX, better)
    first_id = await desk.ask(ASKED)
    await desk.waiting(first_id)
    short_id = (await desk.task(first_id)).short_id
    second_id = await desk.ask(f"@dev revise {short_id} say why")
    await desk.waiting(second_id)
    first = await desk.until(first_id, TaskState.REJECTED)
    assert first.reason is Reason.CANCELLED
    newer = (await desk.task(second_id)).short_id
    assert newer in (first.summary or "")
    assert read_ending(first.ending_json)["replaced_by"] == newer
    found = result(await desk.task(second_id))
    assert (found["revises"], found["version"]) == (short_id, 2)
    assert "retry = 5" in model.turns[1].prompt
    assert "say why" in model.turns[1].prompt


async def test_the_next_version_is_made_with_the_files_of_the_one_before_in_view(
    desk: Desk,
) -> None:
    answers(desk, FIX, [writes("login.py", FIXED + "# why\n"), Reply("Said why.")])
    first_id = await desk.ask("@dev make the number of attempts larger")
    await desk.waiting(first_id)
    short_id = (await desk.task(first_id)).short_id
    second_id = await desk.ask(f"@dev revise {short_id} say why")
    await desk.waiting(second_id)
    assert await shown_files(desk, first_id) == [], "no file is named in it"
    assert await shown_files(desk, second_id) == ["login.py"]


async def test_a_version_that_fails_leaves_the_one_before(desk: Desk) -> None:
    answers(desk, FIX, [ModelError("model.busy")])
    first_id = await desk.ask(ASKED)
    waiting = await desk.waiting(first_id)
    short_id = (await desk.task(first_id)).short_id
    await desk.done(f"@dev revise {short_id} say why")
    assert await desk.approval_states(first_id) == ["pending"]
    await desk.decide(waiting, "approve")
    assert (await desk.until(first_id, TaskState.COMPLETED)).reason is Reason.COMPLETED


async def test_nobody_revises_what_is_not_theirs(desk: Desk) -> None:
    answers(desk, FIX, FIX)
    first_id = await desk.ask(ASKED, claimed_user="wang")
    await desk.waiting(first_id)
    short_id = (await desk.task(first_id)).short_id
    told = await desk.done(f"@dev revise {short_id} say why", claimed_user="li")
    assert "No task" in (told.summary or "")
    assert await desk.approval_states(first_id) == ["pending"]


@pytest.fixture
def bank(desk: Desk, tmp_path: Path) -> Workspace:
    """Another workspace, with a file of the same name; nobody has opened it yet."""
    folder = tmp_path / "bank"
    folder.mkdir()
    (folder / "login.py").write_text("other = 1\n", encoding="utf-8")
    return Workspace(name="bank", path=folder)


@pytest.mark.requirement("P2")
@pytest.mark.parametrize("words", ["apply", "revise"])
async def test_a_proposal_is_gone_on_with_where_it_was_made(
    desk: Desk, bank: Workspace, words: str
) -> None:
    model = answers(desk, FIX, [writes("login.py", FIXED + "# why\n"), Reply("Said why.")])
    first_id = await desk.ask(ASKED)
    await desk.waiting(first_id)
    await desk.engine.cancel(first_id)
    first = await desk.until(first_id, TaskState.REJECTED)
    desk.shelf.entries.insert(0, bank)  # the default by now
    wish = " say why" if words == "revise" else ""
    next_id = await desk.ask(f"@dev {words} {first.short_id}{wish}")
    assert (await desk.waiting(next_id)).seal.workspace.path == str(desk.folder)
    assert all("other = 1" not in turn.prompt for turn in model.turns)


@pytest.mark.requirement("P2")
async def test_what_rests_is_applied_where_it_was_made(desk: Desk, bank: Workspace) -> None:
    answers(desk, FIX)
    task_id = await desk.ask(ASKED, **HERE)
    await desk.until(task_id, TaskState.PROPOSAL_READY)
    desk.shelf.entries.insert(0, bank)
    await desk.engine.apply(task_id)
    assert (await desk.waiting(task_id)).seal.workspace.path == str(desk.folder)


@pytest.mark.requirement("P7")
@pytest.mark.parametrize("words", ["apply", "revise"])
async def test_a_workspace_that_was_closed_is_told_and_no_other_taken(
    desk: Desk, bank: Workspace, words: str
) -> None:
    model = answers(desk, FIX, FIX)
    first_id = await desk.ask(ASKED)
    await desk.waiting(first_id)
    await desk.engine.cancel(first_id)
    first = await desk.until(first_id, TaskState.REJECTED)
    desk.shelf.entries[:] = [bank]
    wish = " say why" if words == "revise" else ""
    task = await desk.done(f"@dev {words} {first.short_id}{wish}", lang="zh")
    closed = explain(InputError("workspace.closed", task=first.short_id), ERRORS, "zh")
    assert (task.reason, task.summary) == (Reason.FAILED, closed)
    assert len(model.turns) == 1


async def test_what_rests_of_a_closed_workspace_is_not_applied_elsewhere(
    desk: Desk, bank: Workspace
) -> None:
    answers(desk, FIX)
    task_id = await desk.ask(ASKED, **HERE)
    await desk.until(task_id, TaskState.PROPOSAL_READY)
    desk.shelf.entries[:] = [bank]
    await desk.engine.apply(task_id)
    task = await desk.until(task_id, TaskState.FAILED)
    assert "workspace add" in (task.summary or "")
    assert await desk.approval_states(task_id) == []


@pytest.mark.requirement("R53")
async def test_the_default_may_change_while_a_request_is_looked_into(
    desk: Desk, bank: Workspace
) -> None:
    model = answers(desk, [Reply("It retries three times.")])
    understanding = (await desk.engine.load()).understanding
    wrapped = understanding.begin_proposing

    async def begin(task: Task) -> Task:
        desk.shelf.entries.insert(0, bank)
        return await wrapped(task)

    understanding.begin_proposing = begin  # type: ignore[method-assign]  # the moment
    task = await desk.done("@dev explain login.py")
    assert result(task)["workspace"] == str(desk.folder)
    assert "other = 1" not in model.turns[0].prompt
    assert [told["workspace"] for told in desk.notices.told] == ["shop"]


@pytest.mark.requirement("R53")
async def test_a_thread_remembers_nothing_of_what_was_the_default_before(
    desk: Desk, bank: Workspace
) -> None:
    model = answers(desk, [Reply("It retries three times.")], [Reply("No.")])
    await desk.done("@dev explain login.py")
    desk.shelf.entries.insert(0, bank)
    await desk.done("@dev why so often?")
    assert "three times" not in model.turns[1].prompt


# -- a revision that names no proposal -------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        "revise say why",
        "revise: use longer names",
        "revise raise the delay",
        "revise do not touch the tests",
        "修订 写明原因",
        "修订 名字 改长一点",
        "修订把名字改长一点",
    ],
)
async def test_the_only_proposal_is_meant_where_none_is_named(desk: Desk, words: str) -> None:
    model = answers(desk, FIX, [writes("login.py", FIXED + "# why\n"), Reply("Said why.")])
    first_id = await desk.ask(ASKED)
    await desk.waiting(first_id)
    short_id = (await desk.task(first_id)).short_id
    second_id = await desk.ask(f"@dev {words}")
    await desk.waiting(second_id)
    found = result(await desk.task(second_id))
    assert (found["revises"], found["version"]) == (short_id, 2)
    assert found["summary"].startswith(say(flow_words.REVISE_TAKEN, "en", task=short_id))
    assert "retry = 5" in model.turns[1].prompt


async def test_what_was_meant_stays_so_after_a_kill(desk: Desk) -> None:
    model = answers(desk, FIX, FIX)
    first_id = await desk.ask(ASKED)
    await desk.waiting(first_id)
    model.asked.clear()
    model.may_answer.clear()
    second_id = await desk.ask("@dev revise say why")
    await asyncio.wait_for(model.asked.wait(), 30)
    answers(desk, [writes("login.py", FIXED + "# why\n"), Reply("Said why.")])
    await desk.engine.cancel(first_id)  # it could not be meant any more
    await desk.until(first_id, TaskState.REJECTED)
    await desk.restart()
    await desk.waiting(second_id)
    assert result(await desk.task(second_id))["revises"] == (await desk.task(first_id)).short_id


@pytest.mark.parametrize(
    "words",
    ["revise say why", "revise raise the delay", "修订 写明原因", "revise T-7K say why", "revise"],
)
async def test_of_several_proposals_none_is_taken_and_all_are_told(desk: Desk, words: str) -> None:
    model = answers(desk, FIX, FIX, FIX)
    ids = [await desk.ask(ASKED), await desk.ask("@dev change login.py, and retry 5 times")]
    for task_id in ids:
        await desk.waiting(task_id)
    told = await desk.done(f"@dev {words}")
    assert told.reason is Reason.REFUSED
    for task_id in ids:
        assert (await desk.task(task_id)).short_id in (told.summary or "")
    assert len(model.turns) == 2


@pytest.mark.parametrize(
    "words",
    [
        "revise T-7K0 say why",
        "revise 7K0X9A say why",
        "revise T 7K3FX say why",
        "revise «7K3F» say why",
        "revise \u200b7K3F9 say why",
        "revise 7K3F9\u200b say why",
        "revise \u0422-7K3F9 say why",
        "revise task-7K3F9 say why",
        "revise \u202eT-7K3F9 say why",
    ],
)
async def test_nothing_is_taken_for_an_id_that_was_mistyped(desk: Desk, words: str) -> None:
    model = answers(desk, FIX, FIX)
    first_id = await desk.ask(ASKED)
    await desk.waiting(first_id)
    told = await desk.done(f"@dev {words}")
    assert told.reason is Reason.REFUSED
    assert len(model.turns) == 1
    assert await desk.approval_states(first_id) == ["pending"]


@pytest.mark.requirement("P4")
@pytest.mark.parametrize("other", [{"claimed_user": "li"}, {"thread_id": "thread-2"}])
async def test_a_proposal_of_another_or_elsewhere_is_never_meant(
    desk: Desk, other: dict[str, str]
) -> None:
    answers(desk, FIX, [writes("login.py", "x = 1\n"), Reply("Made it new.")])
    first_id = await desk.ask(ASKED)
    await desk.waiting(first_id)
    told = await desk.done("@dev 修订 写明原因", **other)
    assert told.summary == say(flow_words.REVISE_WHICH, "en", prefix="@dev")
    second_id = await desk.ask("@dev revise the retry in login.py to 5", **other)
    await desk.waiting(second_id)
    assert "revises" not in result(await desk.task(second_id))
    assert await desk.approval_states(first_id) == ["pending"]


async def test_what_was_applied_dropped_or_is_old_is_not_meant(desk: Desk) -> None:
    answers(desk, FIX, FIX, FIX)
    applied = await desk.ask(ASKED)
    await desk.decide(await desk.waiting(applied), "approve")
    await desk.until(applied, TaskState.COMPLETED)
    dropped = await desk.ask(ASKED)
    await desk.waiting(dropped)
    await desk.engine.cancel(dropped)
    await desk.until(dropped, TaskState.REJECTED)
    waits = await desk.ask(ASKED)
    await desk.waiting(waits)
    desk.clock.advance(3 * 3600)
    told = await desk.done("@dev 修订 写明原因")
    assert told.summary == say(flow_words.REVISE_WHICH, "en", prefix="@dev")


async def test_at_a_terminal_the_only_proposal_of_the_person_is_meant(desk: Desk) -> None:
    answers(desk, FIX, [writes("login.py", FIXED + "# why\n"), Reply("Said why.")])
    first_id = await desk.ask(ASKED, **HERE, thread_id="one")
    first = await desk.until(first_id, TaskState.PROPOSAL_READY)
    second_id = await desk.ask("@dev revise say why", **HERE, thread_id="two")
    second = await desk.until(second_id, TaskState.PROPOSAL_READY)
    assert result(second)["revises"] == first.short_id


async def test_the_newest_of_versions_is_meant(desk: Desk) -> None:
    steps = [[writes("login.py", f"{FIXED}# {n}\n"), Reply("Made it.")] for n in range(3)]
    answers(desk, *steps)
    names = []
    for words in ("change the retry in login.py", "revise say why", "revise say more"):
        task_id = await desk.ask(f"@dev {words}")
        await desk.waiting(task_id)
        names.append(await desk.task(task_id))
    assert [result(task).get("revises") for task in names] == [
        None,
        names[0].short_id,
        names[1].short_id,
    ]


@pytest.mark.parametrize("words", ["revise raise the delay", "revise find a better name"])
async def test_a_word_is_no_id_of_an_unknown_task(desk: Desk, words: str) -> None:
    told = await desk.done(f"@dev {words}")
    assert told.summary == say(flow_words.REVISE_WHICH, "en", prefix="@dev")


async def test_a_word_that_is_the_id_of_a_task_names_that(desk: Desk) -> None:
    answers(desk, FIX, FIX, [writes("login.py", "x = 1\n"), Reply("Made it new.")])
    first_id = await desk.ask(ASKED, short_id="T-MAKE")
    await desk.waiting(first_id)
    await desk.waiting(await desk.ask(ASKED))
    second_id = await desk.ask("@dev revise make it short")
    await desk.waiting(second_id)
    assert result(await desk.task(second_id))["revises"] == "T-MAKE"


async def test_what_forbids_a_revision_is_none(desk: Desk) -> None:
    answers(desk, FIX, [Reply("It retries.")])
    first_id = await desk.ask(ASKED)
    await desk.waiting(first_id)
    await desk.done("@dev revise nothing, just explain login.py")
    assert await desk.approval_states(first_id) == ["pending"]


@pytest.mark.parametrize("words", ["revise", "revise T-7K01", "revise T-9999 say why"])
async def test_what_cannot_be_revised_is_told(desk: Desk, words: str) -> None:
    answers(desk, [Reply("an answer")])
    await desk.done("@dev explain login.py")
    assert (await desk.done(f"@dev {words}")).reason is Reason.REFUSED
