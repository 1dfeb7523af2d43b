"""A desk at which playbooks are run: real files, commands, questions and records; no model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common.model.state import FINAL, TaskState
from local_agent.faces.control.asking import new_task
from local_agent.flow.approvals import Choice, PendingApproval
from local_agent.flow.ports import RunWish
from local_agent.flow.run_log import events_path
from local_agent.playbooks.library import Found, read_playbook
from local_agent.playbooks.runs import state_path
from local_agent.store.runs import StoredRun
from local_agent.store.tasks import NewTask, Task
from tests.desk import WITHIN_S
from tests.stepping import SteppingDesk

Step = dict[str, Any]
Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Carried:
    """A run, and the task that carries it now."""

    run: StoredRun
    task_id: str


class PlayingDesk(SteppingDesk):
    """One agent whose person has playbooks."""

    def playbook(self, *steps: Step, name: str = "demo", **fields: Any) -> Found:
        """Write a playbook and return it as it is found."""
        return read_playbook(self._write_playbook(f"{name}.md", name, steps, fields))

    def hook(self, name: str, *steps: Step) -> None:
        """Write a hook."""
        self._write_playbook(f"hooks/{name}.md", name, steps, {})

    def _write_playbook(
        self, file: str, name: str, steps: Sequence[Step], fields: dict[str, Any]
    ) -> Path:
        path = self.places.config / "playbooks" / file
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        front = json.dumps({"name": name, "steps": steps, **fields}, ensure_ascii=False)
        path.write_text(f"---\n{front}\n---\nA playbook.\n", "utf-8")
        path.chmod(0o600)
        return path

    async def play(
        self, found: Found, *, message: str = "", timeout_s: float = 300.0, client: str = "default"
    ) -> Carried:
        """Begin a run at this machine."""
        wish = RunWish(found=found, message=message, client=client, gate_timeout_s=timeout_s)
        new = self._new(f"playbook {found.definition.name}")
        return Carried(await self.engine.play(wish, new), new.task_id)

    async def run_of(self, *steps: Step, **fields: Any) -> Carried:
        """Write a playbook of these steps and begin it."""
        timeout_s = fields.pop("timeout_s", 300.0)
        found = await asyncio.to_thread(lambda: self.playbook(*steps, **fields))
        return await self.play(found, timeout_s=timeout_s)

    async def resume(self, carried: Carried, *, timeout_s: float | None = None) -> Carried:
        """Have a new task carry a run on."""
        new = self._new("playbook resume")
        run = await self.engine.resume(carried.run.run_id, new, gate_timeout_s=timeout_s)
        return Carried(run, new.task_id)

    async def roll_back(self, carried: Carried) -> Carried:
        """Have a new task take a run back."""
        new = self._new("playbook rollback")
        return Carried(await self.engine.roll_back(carried.run.run_id, new), new.task_id)

    def _new(self, words: str) -> NewTask:
        return new_task(f"@dev {words}", lang="en", workspace="shop", user="mei")

    async def over(self, carried: Carried) -> Task:
        """Return the task that carries a run once it has ended."""
        return await self.until(carried.task_id, *FINAL)

    async def asked(self, carried: Carried, *, nth: int = 0) -> PendingApproval:
        """Return the n-th question of a run once it waits."""
        async with asyncio.timeout(WITHIN_S):
            with self.bus.read() as events:
                while True:
                    steps = await self.steps_of(carried)
                    if len(steps) > nth and steps[nth].state is TaskState.WAITING_APPROVAL:
                        return await self.waiting(steps[nth].task_id)
                    task = await self.task(carried.task_id)
                    assert task.state not in FINAL, (task.summary, self.failures.events)
                    await anext(events)

    async def answer(
        self, carried: Carried, decision: Choice = "approve", *, nth: int = 0
    ) -> PendingApproval:
        """Decide on the n-th question of a run, as a person would, and return it."""
        asked = await self.asked(carried, nth=nth)
        await self.decide(asked, decision)
        return asked

    async def steps_of(self, carried: Carried) -> list[Task]:
        """Return the tasks of what a run asked, oldest first."""
        found = await self.db.run(self.db.journal.tasks.of_run, carried.run.run_id)
        return [task for task in found if task.step is not None]

    async def stored(self, carried: Carried) -> StoredRun:
        """Return a run as the journal has it."""
        return await self.db.run(self.db.journal.runs.get, carried.run.run_id)

    async def told(self, carried: Carried) -> list[Event]:
        """Return what a run has told by now."""
        path = events_path(self.places.state, carried.run)
        text = await asyncio.to_thread(path.read_text, "utf-8")
        return [json.loads(line) for line in text.splitlines()]

    async def state(self, carried: Carried) -> dict[str, Any]:
        """Return the state file of a run."""
        path = state_path(self.places.state, carried.run.client, carried.run.run_id)
        found: dict[str, Any] = json.loads(await asyncio.to_thread(path.read_text, "utf-8"))
        return found

    async def until_state(self, carried: Carried, status: str) -> None:
        """Wait until the state file says so: after a restart it is written once the task ended."""
        async with asyncio.timeout(WITHIN_S):
            while (await self.state(carried))["status"] != status:  # noqa: ASYNC110  # a file
                await asyncio.sleep(0.01)


async def from_chat(
    desk: PlayingDesk, *steps: Step, words: str = "", lang: str = "en", **fields: Any
) -> Carried:
    """Let a member begin a run of these steps."""
    await asyncio.to_thread(lambda: desk.playbook(*steps, **fields))
    task_id = await desk.ask(f"@dev playbook demo {words}".rstrip(), lang=lang)
    async with asyncio.timeout(WITHIN_S):
        while (run := (await desk.task(task_id)).run) is None:  # noqa: ASYNC110  # nothing tells of it
            await asyncio.sleep(0.01)
    return Carried(await desk.db.run(desk.db.journal.runs.get, run), task_id)


@asynccontextmanager
async def playing(folder: Path) -> AsyncIterator[PlayingDesk]:
    """Open a desk while a test lasts."""
    await asyncio.to_thread((folder / "project").mkdir)
    async with await asyncio.to_thread(PlayingDesk, folder) as desk:
        yield desk


def step(name: str, tool: str, **fields: Any) -> Step:
    """Return a tool step; arguments under their names, everything else under `fields`."""
    own: Step = {key: fields.pop(key) for key in ("condition", "args_from") if key in fields}
    return {"name": name, "type": "tool", "tool": tool, "args": fields, **own}


def write(name: str, content: str, *, path: str = "", **fields: Any) -> Step:
    """Return a step that writes a file named after it."""
    return step(name, "write_file", path=path or f"{name}.txt", content=content, **fields)


def command(name: str, *argv: str, **fields: Any) -> Step:
    """Return a step that runs a command."""
    return step(name, "run_command", argv=list(argv), **fields)


def gate(name: str = "gate", message: str = "Go on?", **fields: Any) -> Step:
    """Return a gate."""
    return {"name": name, "type": "gate", "message_template": message, **fields}


def agent(name: str, prompt: str = "Say it.", **fields: Any) -> Step:
    """Return a step of the model."""
    return {"name": name, "type": "agent", "message_template": prompt, **fields}


def kinds(events: Sequence[Event]) -> list[str]:
    """Return the types of events."""
    return [event["type"] for event in events]


def results(events: Sequence[Event]) -> dict[str, Any]:
    """Return the result that was told of each tool step."""
    return {one["step"]: one["result"] for one in events if one["type"] == "function_result"}
