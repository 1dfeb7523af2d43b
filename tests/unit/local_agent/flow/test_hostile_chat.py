"""A hostile gateway, and hostile members: what they may learn, cost, end or keep waiting."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from common.ids import new_uuid
from common.model.state import FINAL, Reason, TaskState
from local_agent.errors import ModelError
from local_agent.models.backend import Chosen, Reply
from local_agent.workspace.registry import DisclosureLevel
from tests.desk import Desk
from tests.scripted_model import ScriptedModel, Step, writes

pytestmark = pytest.mark.heavy

HERE: dict[str, Any] = {"source": "local_ui", "channel": "terminal", "gateway_key_id": None}
ASKED = "@dev explain cart.py"
# Of more words than an item of a listing: only a comparison finds that it was copied.
LINES = [f"total_{n:02} = add(total, price_{n:02}, tax, user_{n:02}, a, b)" for n in range(60)]
SECRET = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
UNSURE = '{"kind": "help", "confidence": 0.9, "explanation": "nothing of these"}'


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "cart.py").write_text("total = 1\n", encoding="utf-8")
    async with Desk(folder) as desk:
        yield desk


def model(desk: Desk, *scripts: Iterable[Step]) -> ScriptedModel:
    scripted = ScriptedModel(*scripts)
    desk.chosen = Chosen(scripted)
    return scripted


def configure(desk: Desk, level: DisclosureLevel = "summary", *, daily_reads: int = 50) -> None:
    desk.shelf.entries[0] = replace(
        desk.shelf.entries[0], disclosure=level, daily_reads=daily_reads
    )


async def told(desk: Desk) -> str:
    return json.dumps(await desk.reports(), ensure_ascii=False)


async def asked_of(scripted: ScriptedModel, count: int) -> None:
    async with asyncio.timeout(30):
        while len(scripted.turns) < count:
            scripted.asked.clear()
            await scripted.asked.wait()


# --- what may be learned --------------------------------------------------------------------


@pytest.mark.requirement("R53")
async def test_what_an_earlier_version_held_is_no_way_around_the_level(desk: Desk) -> None:
    (desk.folder / "zz.txt").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    shorter = "\n".join(LINES[1:]) + "\n"
    model(desk, [writes("zz.txt", shorter), Reply("Done.")], [Reply("\n".join(LINES[1:28]))])
    first = await desk.ask("@dev patch make it shorter")
    await desk.waiting(first)
    short_id = (await desk.task(first)).short_id
    task = await desk.done(f"@dev revise {short_id} say it in words instead")
    assert "total_" not in (task.summary or "")


@pytest.mark.requirement("R53")
async def test_what_a_person_sets_while_a_model_works_counts_for_its_answer(desk: Desk) -> None:
    configure(desk, "full")
    scripted = model(desk, [Reply("It adds the prices up.")])
    scripted.may_answer.clear()
    task_id = await desk.ask(ASKED)
    await asked_of(scripted, 1)
    configure(desk, "ask")
    scripted.may_answer.set()
    assert (await desk.waiting(task_id)).seal.action == "disclose"
    assert "adds the prices" not in await told(desk)


@pytest.mark.requirement("R53")
async def test_nothing_is_told_of_a_workspace_that_was_taken_away_meanwhile(desk: Desk) -> None:
    scripted = model(desk, [Reply("It adds the prices up.")])
    scripted.may_answer.clear()
    task_id = await desk.ask(ASKED)
    await asked_of(scripted, 1)
    desk.shelf.entries.clear()
    scripted.may_answer.set()
    assert (await desk.until(task_id, *FINAL)).reason is Reason.FAILED
    assert "adds the prices" not in await told(desk)


@pytest.mark.requirement("R54")
@pytest.mark.parametrize("pad", range(0, 120, 7))
async def test_no_part_of_a_secret_comes_back_to_the_chat(desk: Desk, pad: int) -> None:
    scripted = model(desk, [Reply("ok")])
    scripted.may_answer.clear()
    hidden = "x" * pad + f" {SECRET}"
    await desk.ask(f"@dev explain {hidden}")
    await desk.done("@dev status")
    await desk.done(f"@dev search {hidden} and then run the tests")
    await desk.waiting(await desk.ask(f'@dev test --cmd="echo {hidden}"'))
    assert SECRET[:8] not in await told(desk)


@pytest.mark.requirement("R54")
async def test_no_part_of_a_secret_goes_to_a_model_that_sorts_requests(desk: Desk) -> None:
    await switch_on_second_readings(desk)
    scripted = model(desk, [Reply(UNSURE)])
    await desk.done("@dev " + "zzz qqq " * 248 + SECRET)
    assert scripted.turns[0].want == "json"
    assert SECRET[:8] not in scripted.turns[0].prompt


async def test_words_under_a_name_that_another_has_by_now_are_not_told(desk: Desk) -> None:
    plan: list[Step] = [Reply("I would add them up.")]
    scripted = model(desk, plan, plan, plan)
    first = await desk.done("@dev plan version one", claimed_user="wang")
    second = await desk.done(f"@dev revise {first.short_id} version two", claimed_user="wang")

    def rename() -> None:
        database = desk.db.journal.tasks._db
        database.run("UPDATE tasks SET named = 0 WHERE task_id = ?", first.task_id)
        database.run("UPDATE tasks SET proposal_json = json_set(proposal_json, '$.revises', ?)"
                     " WHERE task_id = ?", first.short_id, second.task_id)  # fmt: skip

    await desk.db.run(rename)
    await desk.done("@dev search lis-own-words", claimed_user="li", short_id=first.short_id)
    await desk.done(f"@dev revise {second.short_id} version three", claimed_user="wang")
    assert len(scripted.turns) == 3
    assert "lis-own-words" not in scripted.turns[2].prompt


# --- what it may cost -----------------------------------------------------------------------


async def switch_on_second_readings(desk: Desk) -> None:
    nl = desk.settings.nl.model_copy(update={"use_model_router": True})
    desk.settings = desk.settings.model_copy(update={"nl": nl})
    await desk.restart()


@pytest.mark.requirement("R53")
async def test_a_model_that_sorts_requests_is_asked_within_the_day_alone(desk: Desk) -> None:
    await switch_on_second_readings(desk)
    configure(desk, daily_reads=2)
    scripted = model(desk, *[[Reply(UNSURE)] for _ in range(6)])
    for _ in range(6):
        await desk.done("@dev zzz qqq")
    assert len(scripted.turns) == 2
    await desk.done("@dev zzz qqq", **HERE)
    assert len(scripted.turns) == 3


@pytest.mark.requirement("R53")
async def test_without_a_workspace_no_model_works_for_the_chat(desk: Desk) -> None:
    desk.shelf.entries.clear()
    scripted = model(desk, [Reply("A monoid.")])
    task = await desk.done("@dev explain what a monad is")
    assert (task.reason, scripted.turns) == (Reason.REFUSED, [])
    await desk.done("@dev explain what a monad is", **HERE)
    assert len(scripted.turns) == 1


@pytest.mark.requirement("R53")
@pytest.mark.parametrize("asked", ["@dev explain what a monad is", "@dev fix it", "@dev plan it"])
async def test_a_model_that_is_shown_nothing_is_asked_within_the_day_alone(
    desk: Desk, tmp_path: Path, asked: str
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    desk.shelf.entries[0] = replace(desk.shelf.entries[0], path=empty, daily_reads=1)
    failure: list[Step] = [ModelError("model.server")]
    scripted = model(desk, failure, failure)
    assert (await desk.done(asked)).reason is Reason.FAILED
    assert (await desk.done(asked)).reason is Reason.REFUSED
    assert len(scripted.turns) == 1


# --- what it may end or keep waiting --------------------------------------------------------


@pytest.mark.requirement("P4")
async def test_a_member_ends_no_version_that_was_asked_for_at_this_machine(desk: Desk) -> None:
    edits: list[list[Step]] = [
        [writes("cart.py", f"total = {number}\n"), Reply("Done.")] for number in (2, 3, 4)
    ]
    model(desk, *edits)
    first = await desk.ask("@dev change cart.py")
    await desk.waiting(first)
    short_id = (await desk.task(first)).short_id
    here = await desk.ask(f"@dev revise {short_id} three", task_id=new_uuid(), **HERE)
    await desk.until(here, TaskState.PROPOSAL_READY)
    desk.clock.advance(1)
    await desk.waiting(await desk.ask(f"@dev revise {short_id} four"))
    assert (await desk.task(here)).reason is None


async def test_questions_of_the_chat_do_not_keep_this_machine_waiting(desk: Desk) -> None:
    scripted = model(desk, *[[Reply("ok")] for _ in range(12)])
    scripted.may_answer.clear()
    for number in range(8):
        await desk.ask(ASKED, claimed_user=f"member-{number}")
    await asked_of(scripted, 4)
    here = await desk.ask(ASKED, **HERE)
    await asked_of(scripted, 5)
    assert scripted.turns[-1].task_id == here
    scripted.may_answer.set()
    assert (await desk.until(here, *FINAL)).reason is Reason.COMPLETED
