"""What a run is given: sealed as it is used, and never read as a program."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from common.errors import InputError
from common.model.state import FINAL, Reason
from common.terminal import Ink
from local_agent.cards.question import read_question
from local_agent.faces.telling import Teller
from local_agent.faces.terminal.page import render
from local_agent.flow.ports import RunWish
from local_agent.safety.risk import Circumstances
from local_agent.safety.risk_commands import judge_command
from tests.playing import (
    Carried,
    PlayingDesk,
    command,
    from_chat,
    gate,
    playing,
    step,
    write,
)

pytestmark = [pytest.mark.heavy, pytest.mark.requirement("P2")]

INPUTS: dict[str, Any] = {"name": {"type": "text"}, "days": {"type": "integer", "default": 7}}


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[PlayingDesk]:
    async with playing(tmp_path) as opened:
        yield opened


async def begun(desk: PlayingDesk, *steps: Any, given: tuple[str, ...], **fields: Any) -> Carried:
    found = await asyncio.to_thread(lambda: desk.playbook(*steps, **fields))
    wish = RunWish(found=found, message="words", client="default", gate_timeout_s=300, inputs=given)
    new = desk._new("playbook demo")
    return Carried(await desk.engine.play(wish, new), new.task_id)


async def test_a_value_is_one_entry_of_argv_and_what_is_sealed_is_what_runs(
    desk: PlayingDesk,
) -> None:
    hostile = "a b; touch owned $(touch owned) {message} {inputs.days}"
    run = await begun(
        desk,
        gate("ask", "Send {inputs.name}?"),
        command("say", "printf", "%s", "<{inputs.name}>"),
        step("in", "run_command", argv=["cat"], stdin="{message}, {inputs.days}: {inputs.name}"),
        given=(f"name={hostile}",),
        inputs=INPUTS,
    )  # fmt: skip
    asked = await desk.asked(run)
    parts = asked.seal.payload["steps"]
    assert parts[0]["payload"]["argv"] == ["printf", "%s", f"<{hostile}>"]
    assert parts[1]["payload"]["stdin"] == f"words, 7: {hostile}"
    await desk.decide(asked)
    task = await desk.over(run)
    assert task.reason is Reason.COMPLETED, task.summary
    results = {one["step"]: one["result"] for one in await desk.told(run) if "function" in one}
    assert results["say"]["stdout"] == f"<{hostile}>"
    assert results["in"]["stdout"] == f"words, 7: {hostile}"
    assert await desk.files() == {}


async def test_what_a_command_reads_is_on_its_card_line_by_line(desk: PlayingDesk) -> None:
    run = await desk.run_of(step("in", "run_command", argv=["cat"], stdin="one\n\u202etwo\n"))
    asked = await desk.asked(run)
    told = await Teller(desk.db, desk.gate, machine="dev-1", workspaces=dict).tell(
        asked.approval_id
    )
    shown = render(read_question(told), lang="en", width=90, ink=Ink(on=False), now_ms=0)
    text = "\n".join(shown)
    assert "Input" in text
    assert "1 │ one" in text
    assert "2 │ ⟨U+202E⟩two" in text
    await desk.answer(run, "reject")
    await desk.over(run)


def test_a_shell_that_reads_its_lines_from_stdin_is_one_that_runs_them() -> None:
    payload: dict[str, Any] = {
        "argv": ["sh"],
        "cwd": ".",
        "executable": {"path": "/bin/sh"},
        "sandbox": {"level": "bubblewrap"},
        "network": False,
    }

    def codes(**more: Any) -> set[str]:
        around = Circumstances(allowed=[("sh",), ("cat",)])
        return {code for _, code in judge_command(payload | more, around)}

    assert codes() == set()
    assert codes(stdin="rm -rf .") >= {"shell", "not-the-test-command"}
    cat = {"argv": ["cat"], "executable": {"path": "/bin/cat"}}
    assert "shell" not in codes(stdin="x", **cat)
    assert "hidden-characters" in codes(stdin="a\u200bb", **cat)


async def test_from_the_chat_they_stand_behind_the_name(desk: PlayingDesk) -> None:
    note = write("note", "{inputs.name}/{inputs.days}/{message}")
    run = await from_chat(desk, note, words='name="v 1" days=3 for all', inputs=INPUTS)
    await desk.answer(run)
    task = await desk.until(run.task_id, *FINAL)
    assert task.reason is Reason.COMPLETED, task.summary
    assert await desk.files() == {"note.txt": "v 1/3/for all"}
    missing = await desk.done("@dev playbook demo days=3")
    assert missing.reason is Reason.FAILED
    assert "needs name (text)" in (missing.summary or "")
    assert len(await desk.db.run(desk.db.journal.runs.recent)) == 1, "nothing ran"


async def test_one_that_is_missing_or_wrong_begins_nothing(desk: PlayingDesk) -> None:
    for given in ((), ("name=x", "days=soon"), ("name=x", "other=1")):
        with pytest.raises(InputError, match=r"playbook\.input"):
            await begun(desk, write("a", "1"), given=given, inputs=INPUTS)
    assert await desk.db.run(desk.db.journal.runs.recent) == []


async def test_a_resumed_run_has_them_still(desk: PlayingDesk) -> None:
    run = await begun(desk, write("a", "{inputs.name}"), given=("name=kept",), inputs=INPUTS)
    await desk.answer(run, "reject")
    await desk.over(run)
    again = await desk.resume(run)
    await desk.answer(again, nth=1)
    await desk.over(again)
    assert await desk.files() == {"a.txt": "kept"}


async def test_a_gate_covers_only_what_is_determined(desk: PlayingDesk) -> None:
    run = await desk.run_of(
        gate(), command("say", "echo", "hi"), write("note", "{say.result.stdout}", path="n.txt")
    )
    await desk.answer(run)
    await desk.answer(run, nth=1)
    task = await desk.over(run)
    assert task.reason is Reason.COMPLETED, task.summary
    assert await desk.files() == {"n.txt": "hi\n"}
    required = [one for one in await desk.told(run) if one["type"] == "confirmation_required"]
    assert [len(one.get("covers", ())) for one in required] == [1, 0]
