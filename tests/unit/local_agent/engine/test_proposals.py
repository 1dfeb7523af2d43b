"""A model's proposal through the engine: untouched before approval, resting, shown again, told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from common.model.events import TaskStreamChunk
from common.model.state import Reason, TaskState
from local_agent.approval.records import Choice
from local_agent.errors import ModelError
from local_agent.proposers.coding import Chosen
from local_agent.proposers.model import Reply, Usage
from local_agent.store.tasks import Task
from local_agent.workspace.registry import Workspace
from tests.desk import Desk
from tests.scripted_model import ScriptedModel, Step, writes

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
    shown = json.loads(task.context_json or "{}")
    assert [one["path"] for one in shown["used"] if one["kind"] == "file"] == ["login.py"]
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
    assert (await desk.until(task_id, TaskState.REJECTED)).reason is Reason.CANCELLED


async def test_a_models_words_reach_this_machine_as_they_come(desk: Desk) -> None:
    model = answers(desk, [Reply("because the retry is three")])
    model.may_answer.clear()
    with desk.bus.read() as events:
        await desk.ask("@dev explain why login.py retries", **HERE)
        await asyncio.wait_for(model.asked.wait(), 5)
        model.may_answer.set()
        heard = ""
        async with asyncio.timeout(5):
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
    await asyncio.wait_for(model.asked.wait(), 5)
    await desk.engine.cancel(task_id)
    assert (await desk.until(task_id, TaskState.REJECTED)).reason is Reason.CANCELLED
    (turn,) = await desk.db.run(desk.db.journal.turns.of_task, task_id)
    assert turn.outcome == "cancelled"


async def test_a_model_is_asked_again_after_a_kill_and_nothing_is_lost(desk: Desk) -> None:
    model = answers(desk, FIX)
    model.may_answer.clear()
    task_id = await desk.ask(ASKED)
    await asyncio.wait_for(model.asked.wait(), 5)
    answers(desk, FIX)
    await desk.restart()
    assert (await desk.waiting(task_id)).seal.action == "apply_diff"


async def test_others_are_answered_while_models_work(desk: Desk) -> None:
    model = answers(desk, *[FIX] * 6)
    model.may_answer.clear()
    for number in range(6):
        await desk.ask(f"{ASKED} or {number}", claimed_user=f"user{number}")
    await asyncio.wait_for(model.asked.wait(), 5)
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
    assert (await desk.task(second_id)).short_id in (first.summary or "")
    found = result(await desk.task(second_id))
    assert (found["revises"], found["version"]) == (short_id, 2)
    assert "retry = 5" in model.turns[1].prompt
    assert "say why" in model.turns[1].prompt


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


@pytest.mark.parametrize("words", ["revise", "revise T-7K01", "revise T-9999 say why"])
async def test_what_cannot_be_revised_is_told(desk: Desk, words: str) -> None:
    answers(desk, [Reply("an answer")])
    await desk.done("@dev explain login.py")
    assert (await desk.done(f"@dev {words}")).reason is Reason.REFUSED
