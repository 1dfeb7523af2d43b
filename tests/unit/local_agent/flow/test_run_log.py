"""The record of a run: events of bounded lines, results kept whole, files written again."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.clock import ManualClock
from common.errors import AuthError, StoreError
from local_agent.flow.run_log import (
    KEPT_INLINE,
    LINE_BYTES,
    RunRecord,
    as_shown,
    bounded,
    events_path,
    read_step,
)
from local_agent.playbooks.runs import Place, StepResult, finished, result_path, state_path
from local_agent.store.journal import JournalThread
from tests.scripted_run import tool
from tests.sealed import AGENT
from tests.unit.local_agent.store.test_runs import RUN

PLACE = Place("main", 0)


@pytest.fixture
async def db(tmp_path: Path) -> AsyncIterator[JournalThread]:
    opened = await JournalThread.open(
        tmp_path / "journal.db", clock=ManualClock(), key=lambda: AGENT
    )
    await opened.run(opened.journal.runs.add, RUN)
    yield opened
    await opened.close()


class Heard:
    def __init__(self) -> None:
        self.events: list[Any] = []


def record_of(
    db: JournalThread, folder: Path, heard: Heard, steps: Sequence[StepResult] = ()
) -> RunRecord:
    return RunRecord(
        db,
        RUN,
        state=folder,
        clock=ManualClock(),
        steps=steps,
        changes=list,
        publish=heard.events.append,
    )


def a_result(result: Any) -> StepResult:
    return finished(tool("read"), "completed", result=result, started_at=1, completed_at=2)


async def state_of(folder: Path) -> dict[str, Any]:
    path = state_path(folder, RUN.client, RUN.run_id)
    found: dict[str, Any] = json.loads(await asyncio.to_thread(path.read_text, "utf-8"))
    return found


RESULTS = [
    {"content": "x" * 100_000, "size": 100_000},
    {"content": "\x01" * 40_000},
    {"content": "文" * 40_000},
    {"text": "half \ud800" * 6_000},
    {"files": [f"f{number}" for number in range(20_000)]},
    {"commits": [{"subject": "s" * 60_000} for _ in range(20)]},
]


@pytest.mark.parametrize("result", RESULTS)
async def test_a_large_result_is_shown_short_and_kept_whole(
    db: JournalThread, tmp_path: Path, result: dict[str, Any]
) -> None:
    record = record_of(db, tmp_path, Heard())
    shown = await record.step_ended(PLACE, a_result(result))
    path = result_path(tmp_path, RUN.client, RUN.run_id, PLACE)
    assert shown is not None
    assert (shown["truncated"], shown["result_path"]) == (True, str(path))
    (stored,) = await db.run(db.journal.runs.steps, RUN.run_id)
    ended = await asyncio.to_thread(read_step, tmp_path, RUN, stored)
    assert ended.result == result
    assert as_shown(tmp_path, RUN, PLACE, ended).result == shown
    event = {"type": "function_result", "result": shown}
    assert (
        len(json.dumps(bounded(event), ensure_ascii=False).encode("utf-8", "replace")) < LINE_BYTES
    )


async def test_a_small_result_is_in_the_journal(db: JournalThread, tmp_path: Path) -> None:
    record = record_of(db, tmp_path, Heard())
    result = {"content": "x" * (KEPT_INLINE - 100)}
    assert await record.step_ended(PLACE, a_result(result)) == result
    (stored,) = await db.run(db.journal.runs.steps, RUN.run_id)
    assert (stored.stored, json.loads(stored.result or "")) == (None, result)
    assert as_shown(tmp_path, RUN, PLACE, a_result(result)).result == result


@pytest.mark.parametrize("content", [None, b"{}"])
async def test_a_result_that_is_gone_or_altered_is_not_used(
    db: JournalThread, tmp_path: Path, content: bytes | None
) -> None:
    await record_of(db, tmp_path, Heard()).step_ended(PLACE, a_result(RESULTS[0]))
    path = result_path(tmp_path, RUN.client, RUN.run_id, PLACE)
    await asyncio.to_thread(path.unlink if content is None else lambda: path.write_bytes(content))
    (stored,) = await db.run(db.journal.runs.steps, RUN.run_id)
    with pytest.raises((StoreError, AuthError), match=r"run\.result-gone"):
        await asyncio.to_thread(read_step, tmp_path, RUN, stored)


async def test_the_state_is_on_disk_after_each_step(db: JournalThread, tmp_path: Path) -> None:
    """AC 18-20."""
    record = record_of(db, tmp_path, Heard())
    await record.begun()
    assert (await state_of(tmp_path))["status"] == "running"
    for index in range(3):
        await record.at(Place("main", index))
        await record.step_ended(Place("main", index), a_result({"n": index}))
        state = await state_of(tmp_path)
        assert (state["current_step"], len(state["steps_completed"])) == (index + 1, index + 1)
    await record.ended("failed", 2)
    state = await state_of(tmp_path)
    assert (state["status"], state["current_step"]) == ("failed", 2)
    run = await db.run(db.journal.runs.get, RUN.run_id)
    assert (run.status, run.current_step) == ("failed", 2)


async def test_a_damaged_state_file_is_written_again(db: JournalThread, tmp_path: Path) -> None:
    record = record_of(db, tmp_path, Heard())
    await record.step_ended(PLACE, a_result({"n": 1}))
    path = state_path(tmp_path, RUN.client, RUN.run_id)
    await asyncio.to_thread(path.write_bytes, b"{ damaged")
    again = record_of(db, tmp_path, Heard(), [a_result({"n": 1})])
    await again.begun()
    assert [one["result"] for one in (await state_of(tmp_path))["steps_completed"]] == [{"n": 1}]


async def test_events_are_told_as_they_are_in_the_file(db: JournalThread, tmp_path: Path) -> None:
    heard = Heard()
    record = record_of(db, tmp_path, heard)
    events: list[dict[str, Any]] = [
        {"type": "confirmation_required", "_event": asyncio.Event(), "message": "去？"},
        {"type": "stream", "chunk": "half \ud800\nof"},
        {"type": "task_complete", "summary": "文" * 50_000},
    ]
    for event in events:
        await record.tell(event)
    raw = await asyncio.to_thread(events_path(tmp_path, RUN).read_bytes)
    lines = [json.loads(line) for line in raw.splitlines()]
    assert [one["type"] for one in lines] == [one["type"] for one in events]
    assert lines[0] == {"type": "confirmation_required", "message": "去？"}
    assert lines[2]["truncated"] is True
    assert all(len(line) <= LINE_BYTES for line in raw.splitlines(keepends=True))
    assert [set(one) for one in heard.events] == [set(one) for one in lines]
    mode = (await asyncio.to_thread(events_path(tmp_path, RUN).stat)).st_mode
    assert mode & 0o777 == 0o600


async def test_a_run_that_is_cut_off_ends_once(db: JournalThread, tmp_path: Path) -> None:
    heard = Heard()
    record = record_of(db, tmp_path, heard)
    await record.begun()
    await record.cut_off("aborted", "cancelled")
    await record.cut_off("failed", "again")
    assert [one["summary"] for one in heard.events] == ["cancelled"]
    assert (await state_of(tmp_path))["status"] == "failed"
    ended = record_of(db, tmp_path, heard)
    await ended.begun()
    await ended.ended("completed", 1)
    await ended.cut_off("aborted", "late")
    assert (await state_of(tmp_path))["status"] == "completed"
    assert len(heard.events) == 1


texts = st.text(st.characters(codec=None), max_size=30)
values = st.recursive(
    texts | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["message", "_event", "result"]), values), st.integers(1, 9))
@settings(max_examples=100, deadline=None)
def test_every_event_fits_a_line(event: dict[str, Any], times: int) -> None:
    event |= {"type": "x", "summary": "\x00" * 20_000 * times}
    found = bounded(event)
    line = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    assert len(line.encode("utf-8", "replace")) < LINE_BYTES
    assert not [key for key in found if key.startswith("_")]
    small = {key: value for key, value in event.items() if key != "summary"}
    assert bounded(small) == {key: value for key, value in small.items() if key != "_event"}


@pytest.mark.parametrize("kind", ["link", "hard link", "FIFO"])
async def test_events_are_written_into_no_file_but_their_own(
    db: JournalThread, tmp_path: Path, kind: str
) -> None:
    victim = tmp_path / "victim"
    record = record_of(db, tmp_path, Heard())
    await record.tell({"type": "stream", "chunk": "first"})
    events = events_path(tmp_path, RUN)

    def swap() -> None:
        victim.write_text("theirs", encoding="utf-8")
        events.unlink()
        if kind == "link":
            events.symlink_to(victim)
        elif kind == "hard link":
            os.link(victim, events)
        else:
            os.mkfifo(events)

    await asyncio.to_thread(swap)
    with pytest.raises((StoreError, OSError)):
        await record.tell({"type": "stream", "chunk": "second"})
    assert await asyncio.to_thread(victim.read_text, "utf-8") == "theirs"
