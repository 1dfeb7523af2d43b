"""Questions from the chat through the whole engine: what the chat hears, at each level."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from common.errors import InputError
from common.model.proposal import TaskResult
from common.model.state import FINAL, Reason
from common.sentences import say
from local_agent.errors import ModelError, RefusedError
from local_agent.flow import words as flow_words
from local_agent.models.backend import Chosen, Reply
from local_agent.propose import words as proposal_words
from local_agent.safety.policy import Policy
from local_agent.workspace.registry import DisclosureLevel
from tests.desk import Desk
from tests.scripted_model import ScriptedModel, Step, writes

pytestmark = pytest.mark.heavy

CART = "\n".join(f"total_{number} = add(total_{number - 1}, price)" for number in range(40))
ASKED = "@dev explain cart.py"
BRIEFLY = "It adds the prices up."
HERE: dict[str, Any] = {"source": "local_ui", "channel": "terminal", "gateway_key_id": None}


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "cart.py").write_text(f"{CART}\n", encoding="utf-8")
    async with Desk(folder) as desk:
        yield desk


def answers(desk: Desk, *said: str, level: DisclosureLevel = "summary", **budget: int) -> None:
    scripts: list[list[Step]] = [[Reply(text)] for text in said]
    desk.chosen = Chosen(ScriptedModel(*scripts))
    changed = replace(desk.shelf.entries[0], disclosure=level, **budget)  # type: ignore[arg-type]  # counts
    desk.shelf.entries[0] = changed


async def told(desk: Desk) -> str:
    return json.dumps(await desk.reports(), ensure_ascii=False)


async def audited(desk: Desk) -> list[str]:
    def read() -> list[str]:
        bodies = [json.loads(body) for _, _, body, _ in desk.db.journal.audit.entries()]
        return [one["event"] for one in bodies if one["event"].startswith("disclosure.")]

    return await desk.db.run(read)


@pytest.mark.requirement("R53")
async def test_the_chat_hears_an_answer_without_what_was_copied(desk: Desk) -> None:
    answers(desk, f"{BRIEFLY}\n```\n{CART}\n```")
    task = await desk.done(ASKED)
    assert task.reason is Reason.COMPLETED
    assert BRIEFLY in await told(desk)
    assert "total_7" not in await told(desk)
    assert "total_7" in json.loads(task.proposal_json or "")["details"]
    assert await audited(desk) == ["disclosure.read", "disclosure.answered"]


@pytest.mark.requirement("R53")
@pytest.mark.requirement("P1")
async def test_at_ask_the_chat_hears_nothing_until_a_person_has_released_it(desk: Desk) -> None:
    answers(desk, BRIEFLY, level="ask")
    task_id = await desk.ask(ASKED)
    asked = await desk.waiting(task_id)
    assert BRIEFLY not in await told(desk)
    assert say(flow_words.KEPT_THERE, "en") in await told(desk)
    await desk.decide(asked)
    assert (await desk.until(task_id, *FINAL)).reason is Reason.COMPLETED
    label = say(proposal_words.MODEL_SAYS, "en", model="scripted")
    assert (await desk.reports())[-1]["summary"] == f"{label}\n{BRIEFLY}"


@pytest.mark.requirement("R53")
async def test_at_ask_a_rejected_answer_is_never_told(desk: Desk) -> None:
    answers(desk, BRIEFLY, level="ask")
    task_id = await desk.ask(ASKED)
    await desk.decide(await desk.waiting(task_id), "reject")
    assert (await desk.until(task_id, *FINAL)).reason is Reason.REJECTED
    assert BRIEFLY not in await told(desk)


@pytest.mark.requirement("R53")
async def test_over_the_budget_no_model_is_asked(desk: Desk) -> None:
    answers(desk, BRIEFLY, BRIEFLY, daily_reads=1)
    assert (await desk.done(ASKED)).reason is Reason.COMPLETED
    refused = await desk.done(ASKED)
    assert refused.reason is Reason.REFUSED
    assert "00:00" in (refused.summary or "")
    assert await audited(desk) == ["disclosure.read", "disclosure.answered"]


async def test_a_question_that_its_model_failed_to_answer_counts(desk: Desk) -> None:
    answers(desk, daily_reads=1)
    desk.chosen = Chosen(ScriptedModel([ModelError("model.server")]))
    assert (await desk.done(ASKED)).reason is Reason.FAILED
    assert await audited(desk) == ["disclosure.read"]
    assert (await desk.done(ASKED)).reason is Reason.REFUSED


async def test_who_asks_here_hears_everything_and_it_costs_nothing(desk: Desk) -> None:
    answers(desk, f"{BRIEFLY}\n{CART}", level="ask", daily_reads=0)
    task = await desk.done(ASKED, **HERE)
    assert task.reason is Reason.COMPLETED
    assert await audited(desk) == []
    assert await told(desk) == "[]"


@pytest.mark.parametrize(
    ("asked", "files"), [("@dev search total_7", ["cart.py"]), ("@dev review", [])]
)
async def test_a_search_and_a_review_are_reads_as_well(
    desk: Desk, asked: str, files: list[str]
) -> None:
    answers(desk, level="ask")
    desk.chosen = None
    waiting = await desk.waiting(await desk.ask(asked))
    assert waiting.seal.action == "disclose"
    assert [file["path"] for file in waiting.seal.payload["files"]] == files
    assert (await audited(desk))[-1] == "disclosure.answered"


@pytest.mark.requirement("R53")
async def test_at_ask_a_proposed_change_is_told_without_its_files(desk: Desk) -> None:
    answers(desk, level="ask")
    desk.chosen = Chosen(ScriptedModel([writes("cart.py", "total = 0\n"), Reply("Done.")]))
    asked = await desk.waiting(await desk.ask("@dev change cart.py to add nothing"))
    assert asked.seal.action == "apply_diff"
    assert "cart.py" not in await told(desk)
    assert say(flow_words.KEPT_THERE, "en") in await told(desk)


SECRET = "cart.py"
MISSING = InputError("command.not-found", program=f"./{SECRET}")
CHANGES_IT = f"@dev change {SECRET} to add nothing"


async def heard(desk: Desk, text: str) -> tuple[str, str]:
    """Return what is asked at the machine, and what the gateway was told of it until then."""
    task_id = await desk.ask(text)
    asked = await desk.waiting(task_id)
    told = [one for one in await desk.reports() if one["task_id"] == task_id]
    for one in told:
        one |= {"task_id": "", "at": 0}
        one["waiting"] = one["waiting"] and one["waiting"]["machine"]
    return asked.seal.action, json.dumps(told)


@pytest.mark.requirement("R53")
@pytest.mark.parametrize(
    ("text", "refusal", "action"),
    [
        ("@dev test", MISSING, "disclose"),
        ("@dev test", InputError("sandbox.link", path=SECRET), "disclose"),
        ("@dev run the tests of cart", None, "run_command"),
        ("@dev lint", None, "disclose"),  # nothing tells how
        (f'@dev test --cmd="./{SECRET}"', MISSING, "disclose"),
        ("@dev sync", None, "git_sync"),
        ("@dev sync", InputError("sync.nothing-to-do"), "disclose"),
        ("@dev sync", InputError("sync.secret", path=SECRET), "disclose"),
        (CHANGES_IT, None, "apply_diff"),
        (CHANGES_IT, InputError("diff.context", path=SECRET, hunk=1), "disclose"),
        (CHANGES_IT, RefusedError(["policy-path"], path=SECRET), "disclose"),
    ],
)
async def test_at_ask_the_chat_cannot_tell_what_a_wish_came_to(
    desk: Desk, text: str, refusal: Exception | None, action: str
) -> None:
    answers(desk, level="ask")
    desk.shelf.entries[0] = replace(desk.shelf.entries[0], test_command=f"./{SECRET}")
    desk.chosen = Chosen(ScriptedModel([writes(SECRET, "total = 0\n"), Reply("Done.")]))
    usual = await heard(desk, "@dev test")
    desk.executor.refusal = desk.applier.refusal = desk.syncer.refusal = refusal
    if isinstance(refusal, RefusedError):
        desk.applier.refusal, desk.policy = None, Policy(refuse_paths=(SECRET,))
    assert await heard(desk, text) == (action, usual[1])
    assert SECRET not in await told(desk)


@pytest.mark.requirement("R53")
async def test_at_ask_nothing_waits_for_a_release_that_no_day_allows(desk: Desk) -> None:
    answers(desk, level="ask", daily_reads=0)
    task_id = await desk.ask(f'@dev test --cmd="./{SECRET}"')
    await desk.waiting(task_id)
    desk.executor.refusal = MISSING
    await desk.engine.refresh(task_id)
    assert (await desk.until(task_id, *FINAL)).reason is Reason.REFUSED
    assert SECRET not in await told(desk)


@pytest.mark.requirement("R53")
async def test_at_ask_a_release_that_cannot_be_sealed_ends_the_task(
    desk: Desk, tmp_path: Path
) -> None:
    answers(desk, level="ask")
    gone = tmp_path / "gone"
    desk.shelf.entries[0] = replace(desk.shelf.entries[0], path=gone)
    desk.executor.refusal = InputError("workspace.gone", path=gone)
    task_id = await desk.ask(f'@dev test --cmd="./{SECRET}"')
    assert (await desk.until(task_id, *FINAL)).reason is Reason.FAILED


@pytest.mark.requirement("R53")
async def test_at_ask_the_person_is_shown_why_and_lets_it_go(desk: Desk) -> None:
    answers(desk, level="ask")
    desk.executor.refusal = MISSING
    task_id = await desk.ask(f'@dev test --cmd="./{SECRET}"')
    await desk.decide(await desk.waiting(task_id))
    task = await desk.until(task_id, *FINAL)
    assert SECRET in (task.summary or "")
    assert SECRET in TaskResult.model_validate_json(task.proposal_json or "").to_json()
    desk.shelf.entries[0] = replace(desk.shelf.entries[0], disclosure="summary")
    assert (await desk.done(f'@dev test --cmd="./{SECRET}"')).reason is Reason.FAILED
