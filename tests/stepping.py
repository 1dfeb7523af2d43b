"""A desk whose files are changed and whose commands are run for real, and steps to ask it for."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from common.home import Home
from common.ids import new_uuid
from common.model.intent import TaskIntent, TaskKind
from common.model.proposal import (
    CommandProposal,
    Diff,
    LocalApproval,
    StepPart,
    Steps,
    TaskResult,
    Undo,
)
from common.model.state import TaskState
from local_agent.actions.changes.perform import Applier
from local_agent.actions.run_command.perform import Executor
from local_agent.actions.run_command.prepare import Surroundings
from local_agent.workspace.registry import Workspace
from tests.desk import Desk, Shelf
from tests.sealed import Step, Wish, walk

What = str | bytes | Undo  # a command line, a diff, an undo
Word = Literal["run_command", "apply_diff", "undo"]


class RealExecutor(Executor):
    """Runs commands without a sandbox."""

    level = "none"


class SteppingDesk(Desk):
    """One agent with a workspace beside its state, and nothing scripted in what it carries out."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.place = folder / "project"
        self.shelf = Shelf([Workspace(name="shop", path=self.place.resolve())])
        self._revive()

    def _revive(self) -> None:
        home = Home(self.folder / "config", self.folder / "state", self.folder / "run")
        around = Surroundings(home, home=self.folder, environ={}, level="none")
        self.executor: Any = RealExecutor(around, blobs=self.blobs, clock=self.clock)
        self.applier: Any = Applier(blobs=self.blobs, clock=self.clock)

    async def restart(self) -> None:
        """Kill the agent and start it again."""
        await self.kill()
        await self.restart_killed()

    async def restart_killed(self) -> None:
        """Start the agent again that was killed."""
        await asyncio.to_thread(self._revive)
        await self.open()

    def _part(self, index: int, what: What) -> StepPart:
        action: Word
        if isinstance(what, str):
            action = "run_command"
            proposal: Any = CommandProposal(cmd=what, argv=tuple(what.split()))
        elif isinstance(what, bytes):
            action = "apply_diff"
            proposal = Diff(diff_id=self.blobs.put(what), unified_diff=what.decode(), files=())
        else:
            action, proposal = "undo", what
        return StepPart(index=index, name=f"step {index}", action=action, proposal=proposal)

    async def propose(self, steps_: Mapping[int, What]) -> str:
        """Let a task propose steps, each under its number in the playbook, and return its id."""
        parts = [await asyncio.to_thread(self._part, *step) for step in steps_.items()]
        steps = Steps(
            run="run-1",
            definition_sha256=hashlib.sha256(b"playbook").hexdigest(),
            playbook="fix-login",
            total=9,
            message="Write both?",
            parts=tuple(parts),
        )
        return await self.propose_result(
            proposal=steps, requires=LocalApproval(action="steps"), summary="Two steps."
        )

    async def propose_result(self, **facts: Any) -> str:
        """Let a task propose something, and return its id."""
        self._named += 1
        wish = replace(
            Wish(), task_id=new_uuid(), short_id=f"T-7K{self._named:02}", workspace="shop"
        )
        intent = TaskIntent(kind=TaskKind.CHANGE, confidence=1, summary="")
        result = TaskResult(task_id=wish.task_id, intent=intent, **facts)

        def proposed() -> None:
            tasks = self.db.journal.tasks
            tasks.create(wish, self.clock.now().wall_ms)
            walk(self.db.journal, wish.task_id, TaskState.PROPOSING)
            tasks.change(
                Step(
                    task_id=wish.task_id,
                    expected=TaskState.PROPOSING,
                    state=TaskState.PROPOSAL_READY,
                    proposal_json=result.to_json(),
                )
            )

        await self.db.run(proposed)
        self.engine.begin(wish.task_id)
        return wish.task_id

    async def approve(self, task_id: str) -> None:
        """Approve what a task asks."""
        task = await self.until(task_id, TaskState.WAITING_APPROVAL, TaskState.FAILED,
                                TaskState.REJECTED)  # fmt: skip
        assert task.state is TaskState.WAITING_APPROVAL, (task.summary, self.failures.events)
        await self.decide(await self.waiting(task_id))

    async def files(self) -> dict[str, str]:
        """Return the files of the workspace."""
        return await asyncio.to_thread(self._files)

    def _files(self) -> dict[str, str]:
        found = (path for path in sorted(self.place.rglob("*")) if path.is_file())
        return {str(path.relative_to(self.place)): path.read_text("utf-8") for path in found}

    def write(self, path: str, text: str) -> None:
        """Write a file, as a person would."""
        (self.place / path).parent.mkdir(parents=True, exist_ok=True)
        (self.place / path).write_text(text, "utf-8")


@asynccontextmanager
async def stepping(folder: Path) -> AsyncIterator[SteppingDesk]:
    """Open a desk while a test lasts."""
    await asyncio.to_thread((folder / "project").mkdir)
    async with await asyncio.to_thread(SteppingDesk, folder) as desk:
        yield desk


def added(path: str, *lines: str) -> bytes:
    """Return the diff that adds a file."""
    body = "".join(f"+{line}\n" for line in lines)
    return (
        f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
        f"@@ -0,0 +1,{len(lines)} @@\n{body}"
    ).encode()


def outcomes(effects: Sequence[Any]) -> list[tuple[int, str | None]]:
    """Return how the parts of a task ended."""
    return [(effect.part, effect.outcome) for effect in effects]
