"""What a run of a playbook costs beside a plain loop that calls the same functions.

    python -m bench.playbook [--quick] [--rounds N]

- *steps*: 200 reading steps through the executor with its real record: journal, state file and
  events.  The peer is a plain loop that calls the same functions and is as durable: after each step
  one transaction, and one file written whole, flushed and renamed.  Its file has the last step
  alone; a second peer's has all steps so far, as a state file must.
- *a large result*: 8 MiB between two steps, in time and memory, beside writing and reading it once.
- *memory*: what 10,000 events more leave behind.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from pathlib import Path
from statistics import median
from typing import Any, Final

from bench.aims import Aim, judged
from codexbridge import COLLECT_AFTER
from common.clock import SystemClock
from common.home import write_private
from common.ids import new_uuid
from local_agent.flow.run_log import RunRecord
from local_agent.playbooks.definition import StepDefinition, TaskDefinition
from local_agent.playbooks.executor import TaskExecutor
from local_agent.playbooks.runs import Place
from local_agent.playbooks.session import Arguments, ExecutorSettings, SessionContext
from local_agent.store.journal import JournalThread
from local_agent.store.runs import StoredRun, StoredStep
from tests.scripted_run import ScriptedAuthority, ScriptedModel
from tests.sealed import AGENT

STEPS: Final = 200
CONTENT: Final = "a line of a file\n" * 60  # 1 KB
LARGE: Final = 8 * 1024 * 1024
EVENTS: Final = 10_000
AIMS: Final = {
    "200 steps / plain loop": Aim(1.5),
    "8 MiB between two steps / written and read once": Aim(2),
    "memory of 10,000 events, KiB": Aim(256),
}

Tool = Callable[[Arguments], Awaitable[Mapping[str, Any]]]


class FileTools:
    """One tool: it reads a file, beside the event loop."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def read(self, tool: str, arguments: Arguments) -> Mapping[str, Any]:
        """Return what the file holds."""
        del tool
        content = await asyncio.to_thread(self._path.read_text, "utf-8")
        return {"path": arguments["path"], "content": content, "size": len(content)}


async def opened(folder: Path) -> JournalThread:
    """Return a journal of its own."""
    return await JournalThread.open(
        folder / new_uuid() / "journal.db", clock=SystemClock(), key=lambda: AGENT
    )


async def begun(db: JournalThread) -> StoredRun:
    """Write a run."""
    run = StoredRun(
        run_id=new_uuid(),
        task_id=new_uuid(),
        name="bench",
        definition="0" * 64,
        client="default",
        workspace="/work",
        folder="/work",
        message="",
        gate_ms=300_000,
        answers=None,
        started_at=SystemClock().now().wall_ms,
    )
    await db.run(db.journal.runs.add, run)
    return run


async def carried(
    folder: Path, db: JournalThread, definition: TaskDefinition, tools: FileTools
) -> int:
    """Carry out a playbook as the agent does, and return how many events it told."""
    run = await begun(db)
    clock = SystemClock()
    record = RunRecord(
        db,
        run,
        state=folder,
        clock=clock,
        steps=[],
        changes=list,
        publish=lambda _event: None,
    )
    context = SessionContext(
        run_id=run.run_id,
        short_id="T-1",
        workdir=run.folder,
        lang="en",
        explain=str,
        hooks={},
        tools=tools,
        authority=ScriptedAuthority(),
        log=record,
    )
    executor = TaskExecutor(ScriptedModel(), ExecutorSettings(clock=clock))
    count = 0
    async with aclosing(executor.execute(definition, "", context, run.client)) as events:
        async for event in events:
            await record.tell(event)
            count += 1
    assert event["status"] == "completed", event
    return count


async def looped(
    folder: Path, db: JournalThread, definition: TaskDefinition, tools: FileTools, *, whole: bool
) -> None:
    """Call the same functions one after the other, as durably.

    Args:
        whole: The file has all steps so far.
    """
    run = await begun(db)
    state = folder / f"{run.run_id}.json"
    texts: list[str] = []
    for index, step in enumerate(definition.steps):
        now = time.time_ns() // 1_000_000
        result = await tools.read(step.tool or "", step.args)
        text = json.dumps(result)
        stored = StoredStep(
            place=str(Place("main", index)),
            step_name=step.name,
            type=step.type,
            status="completed",
            result=text,
            stored=None,
            error=None,
            started_at=now,
            completed_at=now,
        )
        await db.run(db.journal.runs.end_step, run.run_id, stored, current_step=index)
        texts = [*texts, text] if whole else [text]
        await asyncio.to_thread(write_private, state, "\n".join(texts).encode())


def reading(count: int) -> TaskDefinition:
    """Return a playbook of so many reading steps."""
    steps = (
        StepDefinition(name=f"step {number}", type="tool", tool="read_file", args={"path": "a"})
        for number in range(count)
    )
    return TaskDefinition(name="bench", steps=tuple(steps))


async def steps(folder: Path, *, rounds: int, count: int) -> dict[str, float]:
    """Return the ratios of many small steps."""
    tools, definition = await made(folder, CONTENT), reading(count)
    db = await opened(folder)
    try:
        times: list[tuple[float, float, float]] = []
        for _ in range(rounds + 1):  # the first is not counted
            ours = await timed(carried(folder, db, definition, tools))
            one = await timed(looped(folder, db, definition, tools, whole=False))
            all_ = await timed(looped(folder, db, definition, tools, whole=True))
            times.append((ours, one, all_))
    finally:
        await db.close()
    del times[0]
    print(f"{count} steps, ms each: ours, plain loop, plain loop with all steps in its file:")
    print("   ", *(f"{median(column) / count * 1000:.2f}" for column in zip(*times, strict=True)))
    return {
        f"{STEPS} steps / plain loop": median(ours / one for ours, one, _ in times),
        f"{STEPS} steps / plain loop, all in its file": median(o / a for o, _, a in times),
    }


async def large(folder: Path, *, rounds: int) -> dict[str, float]:
    """Return the ratios of a large result that a step hands to a later one."""
    tools, definition = await made(folder, "x" * (LARGE - 1) + "\n"), reading(2)
    db = await opened(folder)
    try:
        times: list[tuple[float, float]] = []
        for _ in range(rounds + 1):
            ours = await timed(carried(folder, db, definition, tools))
            times.append((ours / 2, await timed(once(folder, tools))))
        tracemalloc.start()
        await carried(folder, db, definition, tools)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    finally:
        await db.close()
    del times[0]
    print("a step of 8 MiB, ms: ours, read and written once:")
    print("   ", *(f"{median(column) * 1000:.0f}" for column in zip(*times, strict=True)))
    return {
        "8 MiB between two steps / written and read once": median(o / a for o, a in times),
        "peak of two results of 8 MiB / one": most / LARGE,
    }


async def once(folder: Path, tools: FileTools) -> None:
    """Read a result and keep it as JSON."""
    result = await tools.read("read_file", {"path": "a"})
    path = folder / "once.json"
    await asyncio.to_thread(lambda: write_private(path, json.dumps(result).encode()))


async def memory(folder: Path, *, events: int) -> dict[str, float]:
    """Return what many events leave in memory: one agent step that says much."""
    db = await opened(folder)
    run = await begun(db)
    record = RunRecord(
        db,
        run,
        state=folder,
        clock=SystemClock(),
        steps=[],
        changes=list,
        publish=lambda _event: None,
    )
    event = {"type": "stream", "chunk": "some words of a model"}
    try:
        for _ in range(200):
            await record.tell(event)
        gc.collect()
        tracemalloc.start()
        before, _ = tracemalloc.get_traced_memory()
        seconds = time.perf_counter()
        for _ in range(events):
            await record.tell(event)
        seconds = time.perf_counter() - seconds
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    finally:
        await db.close()
    print(f"an event, us, with memory traced: {seconds / events * 1e6:.0f}")
    return {"memory of 10,000 events, KiB": (after - before) / 1024}


async def made(folder: Path, content: str) -> FileTools:
    """Return a tool that reads this."""
    path = folder / "content.txt"
    await asyncio.to_thread(path.write_text, content, "utf-8")
    return FileTools(path)


async def timed(work: Awaitable[object]) -> float:
    """Return how long it takes."""
    start = time.perf_counter()
    await work
    return time.perf_counter() - start


async def measure(folder: Path, *, quick: bool, rounds: int) -> dict[str, float]:
    """Return all figures of one run."""
    return {
        **await steps(folder, rounds=rounds, count=STEPS),
        **await large(folder, rounds=rounds),
        **await memory(folder, events=EVENTS // 10 if quick else EVENTS),
    }


def main() -> int:
    """Measure, print, and return 0: a figure is a report, not a verdict."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--quick", action="store_true", help="three rounds")
    options = parser.parse_args()
    gc.set_threshold(COLLECT_AFTER)
    rounds = 3 if options.quick else options.rounds
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(measure(Path(folder), quick=options.quick, rounds=rounds))
    figures = {name: round(figure, 2) for name, figure in found.items()}
    for name, figure in figures.items():
        print(f"{name}: {figure:g}")
    print(*judged(figures, AIMS), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
