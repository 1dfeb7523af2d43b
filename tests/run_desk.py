"""A desk at which playbooks are run, with files that change and commands that run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from common.ids import new_uuid
from common.model.state import FINAL
from local_agent.flow.approvals import Choice, PendingApproval
from local_agent.flow.ports import RunWish
from local_agent.flow.run_log import events_path
from local_agent.playbooks.library import read_playbook
from local_agent.playbooks.runs import state_path
from local_agent.store.runs import StoredRun, StoredStep
from local_agent.store.tasks import NewTask, Task
from tests.desk import WITHIN_S
from tests.stepping import SteppingDesk


class RunDesk(SteppingDesk):
    """One agent whose playbooks are files of its test.  `restart` is a kill -9."""

    def playbook(self, steps: str, *, more: str = "", **hooks: str) -> Path:
        """Write a playbook with hooks by their names, and return its file."""
        folder = self.folder / "playbooks"
        (folder / "hooks").mkdir(parents=True, exist_ok=True)
        for name, of_hook in hooks.items():
            (folder / "hooks" / f"{name}.md").write_text(_front(name, of_hook), "utf-8")
        path = folder / "demo.md"
        path.write_text(_front("demo", steps, more), "utf-8")
        return path

    async def play(self, path: Path) -> StoredRun:
        """Begin a run of a playbook."""
        found = await asyncio.to_thread(read_playbook, path)
        wish = RunWish(found=found, message="", client="default", gate_timeout_s=300)
        return await self.engine.play(wish, self.wish())

    async def resume(self, run: StoredRun) -> StoredRun:
        """Carry a run on."""
        return await self.engine.resume(run.run_id, self.wish(), gate_timeout_s=None)

    async def roll_back(self, run: StoredRun) -> StoredRun:
        """Take a run back."""
        return await self.engine.roll_back(run.run_id, self.wish())

    def wish(self) -> NewTask:
        """Return a task to carry a run."""
        self._named += 1
        return NewTask(
            task_id=new_uuid(),
            short_id=f"T-7K{self._named:02}",
            source="local_ui",
            channel="terminal",
            claimed_user="li",
            thread_id=new_uuid(),
            text="@dev playbook demo",
            lang="en",
            workspace="shop",
        )

    async def run_of(self, run: StoredRun) -> StoredRun:
        """Return a run as it stands."""
        return await self.db.run(self.db.journal.runs.get, run.run_id)

    async def steps_of(self, run: StoredRun) -> dict[str, StoredStep]:
        """Return its steps that have ended, by their places."""
        steps = await self.db.run(self.db.journal.runs.steps, run.run_id)
        return {step.place: step for step in steps}

    async def over(self, run: StoredRun) -> Task:
        """Return the task that carries a run, once it has ended."""
        task = await self.until((await self.run_of(run)).task_id, *FINAL)
        async with asyncio.timeout(WITHIN_S):
            while task.task_id in self.engine._runs:  # noqa: ASYNC110  # nothing tells of it
                await asyncio.sleep(0.01)
        return task

    async def asked(self) -> PendingApproval:
        """Return the one question that waits, once it does."""
        async with asyncio.timeout(WITHIN_S):
            while True:
                for one in await self.gate.pending():
                    if (await self.task(one.task_id)).state == "WAITING_APPROVAL":
                        return one
                await asyncio.sleep(0.01)

    async def answer(self, *decisions: Choice) -> None:
        """Decide on one question after another, as each comes."""
        for decision in decisions:
            asked = await self.asked()
            await self.decide(asked, decision)
            async with asyncio.timeout(WITHIN_S):
                while asked in await self.gate.pending():  # noqa: ASYNC110  # nothing tells of it
                    await asyncio.sleep(0.01)

    async def approve_all(self, count: int) -> None:
        """Approve so many questions, one after another."""
        for _ in range(count):
            await self.answer("approve")

    def told(self, run: StoredRun) -> Mapping[str, Any]:
        """Return what the state file of a run says."""
        path = state_path(self.places.state, run.client, run.run_id)
        told: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return told

    def events_file(self, run: StoredRun) -> Path:
        """Return where the events of a run lie."""
        return events_path(self.places.state, run)

    async def kill(self) -> None:
        """End as by kill -9: what runs is cut off, and writes nothing any more."""
        await self.db.close()
        carried = list(self.engine._carried.values())
        for task in carried:
            task.cancel()
        await asyncio.gather(*carried, return_exceptions=True)


def _front(name: str, steps: str, more: str = "") -> str:
    lines = "\n".join(f"  - {{{line}}}" for line in steps.strip().splitlines())
    return f"---\nname: {name}\n{more}steps:\n{lines}\n---\n"


def write(path: str, content: str, name: str = "") -> str:
    """Return a step that writes a file."""
    args = f"path: {path}, content: {content}"
    return f"name: {name or path}, type: tool, tool: write_file, args: {{{args}}}"


GATE = "name: gate, type: gate, message_template: Go on"


def command(*argv: str, name: str = "command") -> str:
    """Return a step that runs a command."""
    return f"name: {name}, type: tool, tool: run_command, args: {{argv: {json.dumps([*argv])}}}"


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[RunDesk]:
    """Open a desk while a test lasts."""
    await asyncio.to_thread((folder / "project").mkdir)
    async with await asyncio.to_thread(RunDesk, folder) as desk:
        yield desk
