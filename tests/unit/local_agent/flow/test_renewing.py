"""A proposal that the files have moved on from says what to do next, in the chat and here."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from common import dsl
from common.errors import InputError
from common.model.state import Reason, TaskState
from common.sentences import LANGS, say
from local_agent.actions.changes.settle import ChangeOutcome
from local_agent.flow import words as flow_words
from local_agent.models.backend import Chosen, Reply
from local_agent.store.endings import read_ending
from local_agent.store.tasks import Task
from tests.desk import Desk
from tests.scripted_model import ScriptedModel, writes

ASKED = "@dev change the retry in login.py to 5"
HERE = {"source": "local_ui", "channel": "terminal", "claimed_user": "zhang"}
PATCH = b"--- a/login.py\n+++ b/login.py\n@@ -1 +1 @@\n-retry = 3\n+retry = 4\n"
STALE = InputError("diff.context", path="login.py", block=1, line=1)
DRIFTED = ChangeOutcome(reason=Reason.DRIFTED, drift=("base",))


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "login.py").write_text("retry = 3\n", encoding="utf-8")
    async with Desk(folder) as desk:
        script = [writes("login.py", "retry = 5\n"), Reply("Raised it.")]
        desk.chosen = Chosen(ScriptedModel(script))
        yield desk


def said_here(task: Task) -> dict[str, str]:
    said: dict[str, str] = read_ending(task.ending_json)["said"]
    return said


def in_chat(task: Task) -> str:
    return say(flow_words.TO_REVISE, task.lang, task=task.short_id, prefix="@dev")


async def drifted(desk: Desk, how: str, **changes: Any) -> Task:
    """Return a model's change that no longer fits: found when looked at anew, or when run."""
    task_id = await desk.ask(ASKED, **changes)
    waiting = await desk.waiting(task_id)
    if how == "looked at":
        desk.applier.refusal = STALE
        await desk.engine.refresh(task_id)
    else:
        desk.applier.outcome = DRIFTED
        await desk.decide(waiting, "approve")
    return await desk.until(task_id, TaskState.FAILED)


@pytest.mark.parametrize("how", ["looked at", "run"])
@pytest.mark.parametrize("lang", LANGS)
async def test_the_chat_and_the_machine_are_each_told_how_to_have_it_made_anew(
    desk: Desk, how: str, lang: str
) -> None:
    task = await drifted(desk, how, lang=lang)
    assert task.reason is Reason.DRIFTED
    assert (task.summary or "").endswith(in_chat(task))
    for one in LANGS:
        way = say(flow_words.TO_REVISE_HERE, one, task=task.short_id)
        assert said_here(task)[one].endswith(way)


async def test_what_rests_and_no_longer_fits_says_how_to_have_it_made_anew(desk: Desk) -> None:
    task_id = await desk.ask(ASKED, **HERE)
    await desk.until(task_id, TaskState.PROPOSAL_READY)
    desk.applier.refusal = STALE
    await desk.engine.apply(task_id)
    task = await desk.until(task_id, TaskState.REJECTED)
    assert task.reason is Reason.REFUSED
    way = say(flow_words.TO_REVISE_HERE, task.lang, task=task.short_id)
    assert (task.summary or "").endswith(way), "nobody in the chat has this task"
    assert said_here(task)["zh"].endswith(say(flow_words.TO_REVISE_HERE, "zh", task=task.short_id))


@pytest.mark.parametrize("lang", LANGS)
def test_what_is_said_is_understood_as_it_stands(lang: str) -> None:
    sentence = flow_words.TO_REVISE.zh if lang == "zh" else flow_words.TO_REVISE.en
    order = sentence.format(task="T-7K3F", prefix="@dev")
    said = dsl.parse(order[order.index("@dev") :])
    assert isinstance(said, dsl.Command)
    assert (said.name, said.task_id) == ("revise", "T-7K3F")
    assert said.args


async def test_a_persons_own_patch_is_asked_once_more_and_not_revised(desk: Desk) -> None:
    task_id = await desk.apply(PATCH)
    waiting = await desk.waiting(task_id)
    desk.applier.outcome = DRIFTED
    await desk.decide(waiting, "approve")
    task = await desk.until(task_id, TaskState.FAILED)
    assert said_here(task)["en"].endswith(say(flow_words.TO_ASK_AGAIN, "en", task=task.short_id))
    assert "revise" not in (task.summary or "")


async def test_a_patch_that_does_not_fit_says_that_alone(desk: Desk) -> None:
    desk.applier.refusal = STALE
    task = await desk.until(await desk.apply(PATCH), TaskState.REJECTED)
    assert task.reason is Reason.REFUSED
    assert "revise" not in said_here(task)["en"]
