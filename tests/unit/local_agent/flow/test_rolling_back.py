"""Taking a run back: checked whole, in reverse, through undo, under own questions (AC 21)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from common.errors import StateError
from common.model.state import FINAL, Reason, TaskState
from local_agent.playbooks.runs import Place, result_path
from tests.playing import Carried, PlayingDesk, command, gate, kinds, playing, step, write
from tests.stepping import added

pytestmark = [pytest.mark.heavy, pytest.mark.requirement("P5")]


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[PlayingDesk]:
    async with playing(tmp_path) as opened:
        yield opened


async def ran(desk: PlayingDesk, *steps: Any, questions: int = 1, **fields: Any) -> Carried:
    """Carry out a run whose questions are all approved."""
    carried = await desk.run_of(*steps, **fields)
    for nth in range(questions):
        await desk.answer(carried, nth=nth)
    await desk.over(carried)
    return carried


async def rolled(
    desk: PlayingDesk, back: Carried, *, first: int, questions: int = 1
) -> dict[str, Any]:
    """Approve what a rollback asks, and return its result."""
    for nth in range(first, first + questions):
        await desk.answer(back, nth=nth)
    await desk.over(back)
    found = (await desk.told(back))[-1]
    assert found["type"] == "rollback_result"
    return found


async def refused(desk: PlayingDesk, carried: Carried) -> str:
    """Ask for a rollback that is refused before anything is asked; return why."""
    before, asked = await desk.files(), len(await desk.steps_of(carried))
    status = (await desk.stored(carried)).status
    back = await desk.roll_back(carried)
    task = await desk.over(back)
    result = (await desk.told(back))[-1]
    assert (task.state, result["status"]) == (TaskState.FAILED, "failed")
    assert await desk.files() == before
    assert len(await desk.steps_of(carried)) == asked, "nobody was asked"
    assert (await desk.stored(carried)).status == status
    assert (await desk.state(carried))["status"] == status
    return str(result["rollback_results"][-1].get("error"))


async def test_files_are_taken_back_last_first_under_one_question(desk: PlayingDesk) -> None:
    await asyncio.to_thread(desk.write, "a.txt", "old\n")
    carried = await ran(desk, gate(), write("a", "new\n"), write("b", "added\n"))
    assert await desk.files() == {"a.txt": "new\n", "b.txt": "added\n"}
    back = await desk.roll_back(carried)
    asked = await desk.asked(back, nth=1)
    assert await desk.files() == {"a.txt": "new\n", "b.txt": "added\n"}, "it asks before it acts"
    assert asked.seal.action in ("steps", "undo")
    result = await rolled(desk, back, first=1)
    assert await desk.files() == {"a.txt": "old\n"}
    assert result == {
        "type": "rollback_result",
        "task_id": carried.run.run_id,
        "status": "rolled_back",
        "rollback_results": [
            {"action": "write_file", "resource_id": "b.txt", "success": True},
            {"action": "write_file", "resource_id": "a.txt", "success": True},
        ],
    }
    assert (await desk.stored(carried)).status == "rolled_back"
    assert (await desk.state(carried))["status"] == "rolled_back"
    for again in (desk.roll_back, desk.resume):
        with pytest.raises(StateError, match=r"run\.not-re"):
            await again(carried)


async def test_a_file_that_two_steps_changed_comes_back_as_before_both(desk: PlayingDesk) -> None:
    await asyncio.to_thread(desk.write, "a.txt", "0\n")
    carried = await ran(
        desk, write("one", "1\n", path="a.txt"), write("two", "2\n", path="a.txt"), questions=2
    )
    back = await desk.roll_back(carried)
    await desk.answer(back, nth=2)
    result = await rolled(desk, back, first=3)
    assert (result["status"], await desk.files()) == ("rolled_back", {"a.txt": "0\n"})


async def test_a_command_is_named_and_the_files_are_restored(desk: PlayingDesk) -> None:
    carried = await ran(desk, gate(), write("a", "x\n"), command("run", "true"))
    back = await desk.roll_back(carried)
    result = await rolled(desk, back, first=1)
    assert (result["status"], await desk.files()) == ("rolled_back", {})
    first, second = result["rollback_results"]
    assert (first["action"], first["resource_id"], first["success"]) == (
        "run_command",
        "true",
        False,
    )
    assert first["error"]
    assert second == {"action": "write_file", "resource_id": "a.txt", "success": True}


async def test_a_failed_run_is_taken_back_as_far_as_it_came(desk: PlayingDesk) -> None:
    carried = await ran(desk, gate(), write("a", "x\n"), command("no", "false"))
    before = (await desk.state(carried))["steps_completed"]
    back = await desk.roll_back(carried)
    result = await rolled(desk, back, first=1)
    assert (result["status"], await desk.files()) == ("rolled_back", {})
    assert (await desk.state(carried))["steps_completed"] == before


async def test_a_run_that_changed_nothing_asks_nobody(desk: PlayingDesk) -> None:
    carried = await ran(desk, step("read", "list_files", glob="*"), questions=0)
    result = await rolled(desk, await desk.roll_back(carried), first=0, questions=0)
    assert (result["status"], result["rollback_results"]) == ("rolled_back", [])


async def test_changes_of_hooks_and_diffs_are_taken_back(desk: PlayingDesk) -> None:
    await asyncio.to_thread(desk.hook, "before", write("p", "pre\n"))
    diff = (added("new/a.txt", "one") + added("b.txt", "two")).decode()
    carried = await ran(
        desk, step("apply", "apply_diff", diff=diff), questions=2, hooks={"pre": "before"}
    )
    assert set(await desk.files()) == {"p.txt", "new/a.txt", "b.txt"}
    result = await rolled(desk, await desk.roll_back(carried), first=2, questions=2)
    assert (result["status"], await desk.files()) == ("rolled_back", {})


# --- refused: nothing is asked, and nothing touched ------------------------------------------


async def two_files(desk: PlayingDesk) -> Carried:
    await asyncio.to_thread(desk.write, "d/a.txt", "old\n")
    return await ran(desk, gate(), write("a", "new\n", path="d/a.txt"), write("b", "added\n"))


async def test_a_file_that_was_changed_since_is_not_touched(desk: PlayingDesk) -> None:
    carried = await two_files(desk)
    await asyncio.to_thread(desk.write, "d/a.txt", "by hand\n")
    assert "d/a.txt" in await refused(desk, carried)


async def test_a_file_that_is_gone_is_not_brought_back(desk: PlayingDesk) -> None:
    carried = await two_files(desk)
    await asyncio.to_thread((desk.place / "b.txt").unlink)
    assert "b.txt" in await refused(desk, carried)


async def test_a_file_that_became_a_program_since_is_not_touched(desk: PlayingDesk) -> None:
    carried = await two_files(desk)
    await asyncio.to_thread((desk.place / "b.txt").chmod, 0o755)
    assert "b.txt" in await refused(desk, carried)


async def test_what_undo_would_read_is_looked_at_before(desk: PlayingDesk) -> None:
    carried = await two_files(desk)
    backup = Path((await desk.state(carried))["change_log"][0]["backup_path"])
    (blob,) = (desk.places.state / "blobs").rglob(backup.name)
    await asyncio.to_thread(blob.unlink)
    assert "d/a.txt" in await refused(desk, carried)


async def test_a_result_that_is_gone_keeps_nothing_from_being_taken_back(
    desk: PlayingDesk,
) -> None:
    await asyncio.to_thread(desk.write, "big.txt", "x" * 100_000)
    look = step("look", "read_file", path="big.txt")
    carried = await ran(desk, look, gate(), write("a", "new\n"))
    result = result_path(desk.places.state, "default", carried.run.run_id, Place("main", 0))
    await asyncio.to_thread(result.unlink)
    found = await rolled(desk, await desk.roll_back(carried), first=1)
    assert (found["status"], await desk.files()) == ("rolled_back", {"big.txt": "x" * 100_000})


@pytest.mark.parametrize("content", [None, b"forged\n"])
async def test_a_backup_that_is_gone_or_altered_is_not_used(
    desk: PlayingDesk, content: bytes | None
) -> None:
    carried = await two_files(desk)
    entries = (await desk.state(carried))["change_log"]
    backup = Path(entries[0]["backup_path"])
    await asyncio.to_thread(backup.unlink)
    if content is not None:
        await asyncio.to_thread(backup.write_bytes, content)
        await asyncio.to_thread(backup.chmod, 0o600)
    assert "d/a.txt" in await refused(desk, carried)


async def test_a_folder_that_became_a_link_is_not_followed(desk: PlayingDesk) -> None:
    carried = await two_files(desk)
    elsewhere = desk.folder / "elsewhere"

    def swap() -> None:
        (desk.place / "d").rename(elsewhere)
        (desk.place / "d").symlink_to(elsewhere)

    await asyncio.to_thread(swap)
    await refused(desk, carried)
    assert await asyncio.to_thread((elsewhere / "a.txt").read_text, "utf-8") == "new\n"


async def test_what_is_changed_while_it_is_asked_about_is_not_touched(desk: PlayingDesk) -> None:
    carried = await two_files(desk)
    back = await desk.roll_back(carried)
    asked = await desk.asked(back, nth=1)
    await asyncio.to_thread(desk.write, "d/a.txt", "by hand\n")
    await desk.decide(asked)
    task = await desk.over(back)
    result = (await desk.told(back))[-1]
    assert (task.state, result["status"]) == (TaskState.FAILED, "failed")
    assert (await desk.files())["d/a.txt"] == "by hand\n"
    assert (await desk.stored(carried)).status == "completed"


async def test_a_run_that_is_carried_is_not_taken_back(desk: PlayingDesk) -> None:
    carried = await desk.run_of(write("a", "x\n"), gate())
    await desk.answer(carried)
    await desk.asked(carried, nth=1)
    with pytest.raises(StateError, match=r"run\.not-reversible"):
        await desk.roll_back(carried)
    await desk.answer(carried, nth=1)
    await desk.over(carried)


async def test_a_run_that_is_being_taken_back_is_neither_resumed_nor_taken_back(
    desk: PlayingDesk,
) -> None:
    carried = await ran(desk, gate(), write("a", "x\n"), command("no", "false"))
    back = await desk.roll_back(carried)
    await desk.asked(back, nth=1)
    for again in (desk.roll_back, desk.resume):
        with pytest.raises(StateError, match=r"run\.not-re"):
            await again(carried)
    await rolled(desk, back, first=1)


# --- as far as it came -----------------------------------------------------------------------


async def test_what_was_undone_by_hand_before_is_not_undone_again(desk: PlayingDesk) -> None:
    carried = await ran(desk, write("a", "x\n"), write("b", "y\n"), questions=2)
    second = (await desk.steps_of(carried))[1]
    undo = await desk.ask(f"@dev undo {second.short_id}", source="local_ui", workspace="shop")
    await desk.decide(await desk.waiting(undo))
    await desk.until(undo, *FINAL)
    assert await desk.files() == {"a.txt": "x\n"}
    back = await desk.roll_back(carried)
    await desk.answer(back, nth=2)
    await desk.over(back)
    result = (await desk.told(back))[-1]
    assert (result["status"], await desk.files()) == ("rolled_back", {})
    assert [one["success"] for one in result["rollback_results"]] == [True, True]


@pytest.mark.requirement("P1")
async def test_a_denied_rollback_changes_nothing_and_may_be_asked_for_again(
    desk: PlayingDesk,
) -> None:
    carried = await two_files(desk)
    files = await desk.files()
    back = await desk.roll_back(carried)
    await desk.answer(back, "reject", nth=1)
    await desk.over(back)
    result = (await desk.told(back))[-1]
    assert (result["status"], await desk.files()) == ("failed", files)
    assert [one["error"] for one in result["rollback_results"]] == ["denied", "denied"]
    assert (await desk.stored(carried)).status == "completed"
    result = await rolled(desk, await desk.roll_back(carried), first=2)
    assert result["status"] == "rolled_back"


@pytest.mark.requirement("P1")
async def test_cancelling_a_rollback_takes_its_question_back(desk: PlayingDesk) -> None:
    carried = await two_files(desk)
    files = await desk.files()
    back = await desk.roll_back(carried)
    asked = await desk.asked(back, nth=1)
    assert await desk.engine.cancel(back.task_id)
    task = await desk.over(back)
    assert task.reason is Reason.CANCELLED
    with pytest.raises(StateError, match="approval"):
        await desk.decide(asked)
    assert all(one.state in FINAL for one in await desk.steps_of(carried))
    assert (await desk.files(), (await desk.stored(carried)).status) == (files, "completed")
    assert kinds(await desk.told(back)).count("task_complete") == 1, "of the run itself"


@pytest.mark.requirement("R68")
async def test_a_rollback_that_a_restart_cut_off_stands_still(desk: PlayingDesk) -> None:
    carried = await two_files(desk)
    back = await desk.roll_back(carried)
    asked = await desk.asked(back, nth=1)
    await desk.restart()
    assert (await desk.over(back)).state is TaskState.FAILED
    with pytest.raises(StateError, match="approval"):
        await desk.decide(asked)
    assert (await desk.stored(carried)).status == "completed"
    assert (await desk.state(carried))["status"] == "completed"
    result = await rolled(desk, await desk.roll_back(carried), first=2)
    assert result["status"] == "rolled_back"


FORMAT = "printf 'x = 1\\n' > a.txt; chmod 755 a.txt"


@pytest.mark.parametrize("old", [None, "x=0\n"])
@pytest.mark.parametrize("again", [False, True])
async def test_a_file_that_the_run_formatted_itself_is_taken_back_through_that(
    desk: PlayingDesk, old: str | None, *, again: bool
) -> None:
    if old is not None:
        await asyncio.to_thread(desk.write, "a.txt", old)
    formats = command("format", "sh", "-c", FORMAT)
    more = [gate("more"), write("a2", "x = 2\n", path="a.txt")] if again else []
    carried = await ran(desk, gate(), write("a", "x=1\n"), formats, *more, questions=1 + again)
    assert await desk.files() == {"a.txt": "x = 2\n" if again else "x = 1\n"}
    back = await desk.roll_back(carried)
    result = await rolled(desk, back, first=1 + again, questions=1 + again)
    assert result["status"] == "rolled_back", result
    assert await desk.files() == ({} if old is None else {"a.txt": old})
    told = [(one["action"], one["success"]) for one in result["rollback_results"]]
    assert told[-2:] == [("run_command", False), ("write_file", True)]


async def test_what_a_person_changed_after_the_command_is_not_taken_back(
    desk: PlayingDesk,
) -> None:
    formats = command("format", "sh", "-c", FORMAT)
    carried = await ran(desk, gate(), write("a", "x=1\n"), formats)
    await asyncio.to_thread(desk.write, "a.txt", "mine\n")
    assert "a.txt" in await refused(desk, carried)
