"""What the chat hears of a run is sealed with each of its questions, and nothing more is told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from common.model.state import FINAL
from common.terminal import Ink
from local_agent.cards.question import read_question
from local_agent.faces.page.rendered import Asked
from local_agent.faces.telling import Teller
from local_agent.faces.terminal.page import render
from local_agent.faces.window.page import Row, page_of
from local_agent.flow.approvals import PendingApproval
from local_agent.models.backend import Chosen, Reply
from local_agent.views import to_json
from local_agent.views.question import ApprovalView
from local_agent.workspace.registry import DisclosureLevel
from tests.playing import (
    Carried,
    PlayingDesk,
    agent,
    command,
    from_chat,
    gate,
    playing,
    step,
    write,
)
from tests.scripted_model import ScriptedModel

pytestmark = [pytest.mark.heavy, pytest.mark.requirement("P2", "P6")]

NOTHING: Final = "nothing; it was asked at this machine"
OUTPUT: Final = "4711 is what it printed"
SAID: Final = "The model wrote 0815."
FAILS: Final = command("fails", "sh", "-c", f"echo {OUTPUT}; exit 3")
# What a text in the chat holds, and under which name that is sealed.
NAMED: Final = {OUTPUT: "output-tail", "sh -c": "why-failed", SAID: "last-answer"}
COMMANDS: Final = ("outcome-of-run", "why-failed", "output-tail")


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[PlayingDesk]:
    async with playing(tmp_path) as opened:
        yield opened


def set_level(desk: PlayingDesk, level: DisclosureLevel) -> None:
    desk.shelf.entries[0] = replace(desk.shelf.entries[0], disclosure=level)


async def shown(desk: PlayingDesk, asked: PendingApproval) -> str:
    """Return what goes to the chat as terminal, window and page show it; they say the same."""
    told = await Teller(desk.db, desk.gate, machine="dev-1", workspaces=dict).tell(
        asked.approval_id
    )
    return await asyncio.to_thread(_shown, desk, asked, told)


def _shown(desk: PlayingDesk, asked: PendingApproval, told: ApprovalView) -> str:
    diff = b"".join(desk.blobs.get(key) for key in _diffs(asked)) or None
    question = read_question(told, diff=diff)
    page = to_json(Asked(told, diff).question())["afterwards"]["en"]
    assert (("To the chat", ("", page))) in [
        (row.label, row.values[0]) for row in page_of(question, "en").facts if isinstance(row, Row)
    ]
    lines = render(question, lang="en", width=100, ink=Ink(on=False), now_ms=0)
    assert " ".join(page.split()) in " ".join(" ".join(lines).split())
    return str(page)


def _diffs(asked: PendingApproval) -> list[str]:
    parts = asked.seal.payload.get("steps", [{"payload": asked.seal.payload}])
    return [one["payload"]["diff_sha256"] for one in parts if "diff_sha256" in one["payload"]]


async def chat(desk: PlayingDesk) -> str:
    return json.dumps(await desk.reports(), ensure_ascii=False)


async def sealed(desk: PlayingDesk, carried: Carried, *, answers: int) -> list[tuple[str, ...]]:
    """Approve so many questions of a run, and return what was sealed to go to the chat."""
    found = []
    for nth in range(answers):
        asked = await desk.asked(carried, nth=nth)
        assert (NOTHING in await shown(desk, asked)) == (not asked.seal.discloses)
        found.append(asked.seal.discloses)
        await desk.decide(asked)
    await desk.until(carried.task_id, *FINAL)
    return found


async def test_each_kind_of_question_is_sealed_with_what_the_chat_then_hears(
    desk: PlayingDesk,
) -> None:
    await asyncio.to_thread(desk.hook, "ready", write("ready", "r"))
    desk.chosen = Chosen(ScriptedModel([Reply(SAID)], [Reply(SAID)]))
    run = await from_chat(
        desk, agent("say"), gate(), write("a", "1"),
        step("depends", "write_file", path="b", args_from={"content": "say.result.text"}),
        gate("nothing"), agent("say-again"), FAILS, hooks={"pre": "ready"},
    )  # fmt: skip
    found = await sealed(desk, run, answers=4)
    assert found == [(*COMMANDS, "last-answer")] * 4, "hook, gate, empty gate, step"


@pytest.mark.parametrize("level", ["summary", "ask", "full"])
async def test_the_end_tells_no_more_than_was_sealed(
    desk: PlayingDesk, level: DisclosureLevel
) -> None:
    set_level(desk, level)
    run = await from_chat(desk, gate(), write("a", "1"), FAILS)
    names = {*(await sealed(desk, run, answers=1))[0]}
    told = await chat(desk)
    assert "outcome-of-run" in names and "Playbook demo failed" in told  # noqa: PT018
    assert (OUTPUT in told) == (level != "ask"), told
    for text, name in NAMED.items():
        assert text not in told or name in names


async def test_a_run_begun_here_tells_the_chat_nothing_and_says_so(desk: PlayingDesk) -> None:
    run = await desk.run_of(gate(), write("a", "1"), FAILS)
    assert await sealed(desk, run, answers=1) == [()]
    assert await desk.reports() == []


async def test_who_hears_is_whoever_had_it_carried(desk: PlayingDesk) -> None:
    begun = await from_chat(desk, gate(), write("a", "1"), FAILS)
    await desk.answer(begun, "reject")
    await desk.until(begun.task_id, *FINAL)
    told = await chat(desk)
    here = await desk.resume(begun)
    for nth in (1,):
        asked = await desk.asked(here, nth=nth)
        assert (asked.seal.discloses, NOTHING in await shown(desk, asked)) == ((), True)
        await desk.decide(asked)
    await desk.over(here)
    assert await chat(desk) == told, "it was resumed here, and the chat hears no more of it"

    new = replace(desk._new("playbook rollback"), source="wecom", channel="wecom_app")
    new = replace(new, gateway_key_id="gateway-1", envelope_sha256="0" * 64)
    back = Carried(await desk.engine.roll_back(begun.run.run_id, new), new.task_id)
    asked = await desk.asked(back, nth=2)
    assert asked.seal.discloses == ("outcome-of-run", "why-failed")
    assert "how it ended" in await shown(desk, asked)
    await asyncio.to_thread(desk.write, "a.txt", "mine\n")
    await desk.decide(asked)
    await desk.over(back)
    assert "demo" in (await chat(desk)).removeprefix(told[:-1]), "it is told how that ended"


async def test_a_level_that_is_raised_meanwhile_lets_no_more_out(desk: PlayingDesk) -> None:
    set_level(desk, "ask")
    desk.chosen = Chosen(ScriptedModel([Reply(SAID)]))
    run = await from_chat(desk, agent("say"), gate(), write("a", "1"))
    asked = await desk.asked(run)
    assert asked.seal.discloses == ("outcome-of-run",)
    set_level(desk, "full")
    await desk.decide(asked)
    release = await desk.waiting(run.task_id)
    assert release.seal.action == "disclose"
    assert SAID not in await chat(desk)
