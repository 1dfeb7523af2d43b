"""An engine over a real journal and a real gate, with a scripted executor: no child is started."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from common.clock import ManualClock
from common.errors import InputError
from common.ids import new_uuid
from common.model.state import FINAL, Reason, TaskState
from common.seal_payloads import Place
from local_agent.approval.gate import Gate
from local_agent.approval.records import Choice, PendingApproval
from local_agent.engine.assembly import build_engine, read_argv
from local_agent.engine.bus import Bus
from local_agent.engine.engine import Engine
from local_agent.execution.command import Outcome, Progress
from local_agent.execution.description import Prepared
from local_agent.grant import Grant
from local_agent.settings import AgentSettings
from local_agent.store.runner import JournalThread
from local_agent.store.tasks import Task
from local_agent.workspace.registry import Workspace
from tests.sealed import AGENT, AGENT_ID, Wish, a_payload, a_peer

WITHIN_S = 5.0


class ScriptedExecutor:
    """Describes every command the same way, and "runs" it until it is let go."""

    def __init__(self) -> None:
        self.outcome = Outcome(
            reason=Reason.COMPLETED, exit_code=0, duration_ms=1500, tail="3 passed"
        )
        self.level = "bubblewrap"
        self.error: Exception | None = None
        self.refusal: Exception | None = None
        self.ran: list[Grant] = []
        self.started = asyncio.Event()
        self.may_end = asyncio.Event()
        self.may_end.set()
        self.on_progress: Callable[[Progress], None] | None = None
        self.at_once = 0
        self.most_at_once = 0

    async def prepare(self, workspace: Workspace, text: str) -> Prepared:
        """Return what would run."""
        if self.refusal is not None:
            raise self.refusal
        argv = read_argv(text)
        what: dict[str, Any] = {"sandbox_level": self.level}
        what |= {"argv": argv} if argv else {"script": text}
        return Prepared(
            payload=a_payload(**what),
            workspace=Place(str(workspace.path), 2049, 7),
            git_head=None,
            display=text,
            env={},
            argv=argv or ("/bin/sh", "-c", text),
            cwd=workspace.path,
        )

    async def run(
        self,
        grant: Grant,
        *,
        workspace: Workspace,
        on_progress: Callable[[Progress], None] | None = None,
        cancel: asyncio.Event | None = None,
    ) -> Outcome:
        """Spend the grant and wait to be let go or cancelled."""
        grant.spend()
        self.ran.append(grant)
        self.on_progress = on_progress
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.started.set()
        try:
            return await self._end(cancel or asyncio.Event())
        finally:
            self.at_once -= 1

    async def _end(self, cancel: asyncio.Event) -> Outcome:
        ends = {asyncio.ensure_future(event.wait()) for event in (self.may_end, cancel)}
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for waiting in ends:
                waiting.cancel()
            await asyncio.gather(*ends, return_exceptions=True)
        if self.error is not None:
            raise self.error
        if cancel.is_set():
            return replace(self.outcome, reason=Reason.CANCELLED, exit_code=None, signal=15)
        return self.outcome


@dataclass
class Shelf:
    """The workspaces of a test."""

    entries: list[Workspace] = field(default_factory=list)

    def find(self, name: str | None = None) -> Workspace:
        """Return the named one, or the first."""
        for entry in self.entries:
            if name in (None, entry.name):
                return entry
        raise InputError("workspace.unknown" if name else "workspace.none", name=name)


class Failures:
    """A logger that keeps what failed."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def exception(self, event: str, *args: Any, **facts: Any) -> None:
        """Keep the event."""
        self.events.append(event)


class Desk:
    """One agent without its faces.  `restart` is a kill -9: nothing is closed in an orderly way."""

    def __init__(self, folder: Path, *, test_command: str | None = "pytest -q") -> None:
        self.folder = folder
        self.clock = ManualClock()
        self.settings = AgentSettings()
        self.shelf = Shelf([Workspace(name="shop", path=folder, test_command=test_command)])
        self.failures = Failures()
        self.executor = ScriptedExecutor()
        self.wrap: Callable[[Engine], None] = lambda engine: None
        self._named = 0

    async def __aenter__(self) -> Self:
        """Start."""
        await self.open()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        """End in an orderly way."""
        await self.engine.close()
        await self.db.close()

    async def open(self) -> None:
        """Open the parts as `app` does, in its order."""
        self.db = await JournalThread.open(
            self.folder / "state" / "journal.db",
            clock=self.clock,
            key=lambda: AGENT,
            peer=a_peer(self.clock),
        )
        self.gate = Gate(self.db, clock=self.clock, key=lambda: AGENT)
        self.bus = Bus()
        self.engine = build_engine(
            db=self.db,
            gate=self.gate,
            executor=self.executor,
            workspaces=self.shelf,
            bus=self.bus,
            settings=self.settings,
            clock=self.clock,
            log=self.failures,
            machine="dev-machine-1",
            agent_id=AGENT_ID,
            sandbox=self.executor.level,
        )
        self.wrap(self.engine)
        await self.gate.start()
        await self.engine.start()

    async def kill(self) -> None:
        """End as by kill -9: what runs is cut off, what is in the journal stays."""
        carried = list(self.engine._carried.values())
        for task in carried:
            task.cancel()
        await asyncio.gather(*carried, return_exceptions=True)
        await self.db.close()

    async def restart(self) -> None:
        """Kill the agent and start it again; the executor of the old process is gone."""
        await self.kill()
        old, self.executor = self.executor, ScriptedExecutor()
        self.executor.ran = old.ran
        await self.open()

    async def ask(self, text: str, **changes: Any) -> str:
        """Let a message from the chat arrive, and return its task id."""
        self._named += 1
        wish = Wish(
            task_id=new_uuid(), short_id=f"T-7K{self._named:02}", text=text, thread_id="thread-1"
        )
        task = await self.db.run(
            self.db.journal.tasks.create, replace(wish, **changes), self.clock.now().wall_ms
        )
        self.engine.begin(task.task_id)
        return task.task_id

    async def done(self, text: str, **changes: Any) -> Task:
        """Let a message arrive, and return its task when it has ended."""
        return await self.until(await self.ask(text, **changes), *FINAL)

    async def until(self, task_id: str, *states: TaskState) -> Task:
        """Return the task when it is in one of the states; bounded."""
        async with asyncio.timeout(WITHIN_S):
            with self.bus.read(task_id=task_id) as events:
                while (task := await self.task(task_id)).state not in states:
                    await anext(events)
                return task

    async def task(self, task_id: str) -> Task:
        """Return the task as it stands."""
        return await self.db.run(self.db.journal.tasks.get, task_id)

    async def waiting(self, task_id: str, *, older: str = "") -> PendingApproval:
        """Return the approval of a task once it waits; another one than ``older``."""
        async with asyncio.timeout(WITHIN_S):
            with self.bus.read(task_id=task_id) as events:
                while True:
                    for asked in await self.gate.pending():
                        told = (await self.task(task_id)).state is TaskState.WAITING_APPROVAL
                        if asked.task_id == task_id and asked.approval_id != older and told:
                            return asked
                    await anext(events)

    async def decide(
        self, asked: PendingApproval, decision: Choice = "approve", *, reason: str | None = None
    ) -> None:
        """Decide as a person at the terminal would."""
        await self.gate.decide(
            asked.approval_id,
            asked.digest,
            decision=decision,
            approver="terminal",
            typed=asked.code,
            reason=reason,
        )

    async def approval_states(self, task_id: str) -> list[str]:
        """Return the states of a task's approvals, oldest first."""

        def read() -> list[str]:
            rows = self.db.journal.approvals._db.all(
                "SELECT state FROM approvals WHERE task_id = ? ORDER BY rowid", task_id
            )
            return [str(row[0]) for row in rows]

        return await self.db.run(read)

    async def events(self, task_id: str) -> list[dict[str, Any]]:
        """Return the events of a task as the journal has them."""
        rows = await self.db.run(self.db.journal.tasks.events, task_id)
        return [event for _, event in rows]

    async def reports(self) -> list[dict[str, Any]]:
        """Return what the gateway is told, in order: the bodies of the signed frames."""
        import json

        def read() -> list[dict[str, Any]]:
            rows = self.db.journal.approvals._db.all(
                "SELECT body FROM outbox WHERE typ <> 'head' ORDER BY seq"
            )
            return [json.loads(row[0]) for row in rows]

        return await self.db.run(read)
