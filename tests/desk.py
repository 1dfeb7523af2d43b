"""An engine over a real journal and a real gate, with scripted hands: nothing is run or written."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from common.clock import ManualClock
from common.diff.model import DiffModel, FileDiff
from common.diff.parse import parse_diff
from common.diff.patching import reverse, select
from common.diff.render import render
from common.errors import InputError
from common.home import Home
from common.ids import new_uuid
from common.model.proposal import GitSync
from common.model.state import FINAL, Reason, TaskState
from common.seal import Place, Seal, SealedChange, read_changes
from local_agent.actions.changes.payload import change_payload, undo_payload
from local_agent.actions.changes.perform import PreparedChange
from local_agent.actions.changes.settle import ChangeOutcome
from local_agent.actions.git_sync.payload import SyncStep, sync_payload
from local_agent.actions.git_sync.perform import PreparedSync, SyncOutcome
from local_agent.actions.operation import Executors
from local_agent.actions.run_command.command_line import of_argv, read_command_line
from local_agent.actions.run_command.payload import SealedCopy
from local_agent.actions.run_command.perform import Outcome, Progress
from local_agent.actions.run_command.prepare import Copy, Prepared
from local_agent.flow.approvals import Choice, PendingApproval
from local_agent.flow.assembly import build_engine
from local_agent.flow.bus import Bus
from local_agent.flow.disclosing import Disclosure
from local_agent.flow.engine import Engine
from local_agent.flow.gate import Gate
from local_agent.flow.ports import Mind, Site
from local_agent.models.backend import Chosen
from local_agent.propose.scratch import Scratches
from local_agent.safety.grant import Grant
from local_agent.safety.policy import Policy
from local_agent.settings import AgentSettings
from local_agent.store.blobs import Blobs
from local_agent.store.journal import JournalThread
from local_agent.store.tasks import Task
from local_agent.workspace.dry_runs import DryRuns
from local_agent.workspace.git.preflight import SyncPlan, Upstream
from local_agent.workspace.git.remote_url import read_url
from local_agent.workspace.registry import Workspace
from tests.sealed import AGENT, AGENT_ID, ZEROS, Wish, a_payload, a_peer, fresh_journal

WITHIN_S = 30.0


class ScriptedExecutor:
    """Describes every command the same way, and "runs" it until it is let go."""

    def __init__(self) -> None:
        self.outcome = Outcome(
            reason=Reason.COMPLETED,
            exit_code=0,
            duration_ms=1500,
            tail="3 passed",
            brief="3 passed",
        )
        self.level = "bubblewrap"
        self.base: dict[str, str] = {}
        self.error: Exception | None = None
        self.refusal: Exception | None = None
        self.ran: list[Grant] = []
        self.started = asyncio.Event()
        self.may_end = asyncio.Event()
        self.may_end.set()
        self.on_progress: Callable[[Progress], None] | None = None
        self.at_once = 0
        self.most_at_once = 0

    async def base_after(
        self, workspace: Workspace, changes: Sequence[SealedChange], base: Mapping[str, str]
    ) -> Mapping[str, str]:
        """Return the same base as ever."""
        return self.base

    async def prepare(
        self,
        workspace: Workspace,
        command: str | Sequence[str],
        *,
        cwd: str | None = None,
        timeout_s: int | None = None,
        copy: Copy | None = None,
        stdin: str | None = None,
    ) -> Prepared:
        """Return what would run."""
        if self.refusal is not None:
            raise self.refusal
        line = read_command_line(command) if isinstance(command, str) else of_argv(command)
        argv, text = line.argv, line.display
        what: dict[str, Any] = {"sandbox_level": self.level, "copy": copy.of if copy else None}
        what |= {"argv": argv} if argv else {"script": text}
        what |= {"cwd": cwd} if cwd else {}
        what |= {"timeout_s": timeout_s} if timeout_s else {}
        return Prepared(
            payload=a_payload(**what),
            workspace=Place(str(workspace.path), 2049, 7),
            git_head=None,
            base=dict(self.base),
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
        streams: bool = False,
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


class ScriptedCopies:
    """Notes which copies there are, and makes none."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.made: set[str] = set()
        self.refusal: Exception | None = None

    async def make(self, task_id: str, workspace: Workspace, seal: Seal) -> Copy:
        """Note one."""
        if self.refusal is not None:
            raise self.refusal
        self.made.add(task_id)
        sha256 = seal.payload["diff_sha256"]
        return Copy(self.folder / task_id, SealedCopy(seal.approval_id, seal.short_id, sha256))

    async def remove(self, task_id: str) -> None:
        """Note that it is gone."""
        self.made.discard(task_id)

    async def clear(self, *, keep: Collection[str]) -> None:
        """Keep these alone."""
        self.made &= set(keep)


class ScriptedApplier:
    """Describes changes from their diff alone, and "writes" them by saying so."""

    def __init__(self) -> None:
        self.outcome = ChangeOutcome(reason=Reason.COMPLETED)
        self.settled = ChangeOutcome(reason=Reason.FAILED, code="change.not-written")
        self.refusal: Exception | None = None
        self.git_head: str | None = "a" * 40
        self.ran: list[Grant] = []
        self.whole = True  # whether the last undo was to be of a whole change
        self.models: dict[str, DiffModel] = {}

    async def prepare(self, workspace: Workspace, diff: bytes) -> PreparedChange:
        """Return what would be written."""
        model = parse_diff(diff)
        changes = tuple(map(a_change, model.files))
        name = hashlib.sha256(diff).hexdigest()
        self.models[name] = model
        payload = change_payload(name, changes)
        return self._prepared(workspace, diff, model, changes, payload)

    async def prepare_undo(
        self,
        workspace: Workspace,
        seal: Seal,
        *,
        paths: tuple[str, ...] | None,
        short_id: str,
        whole: bool = True,
        through: Mapping[str, str] | None = None,
    ) -> PreparedChange:
        """Return the same files again, as if that took them back."""
        self.whole = whole
        back = reverse(self.models[seal.payload["diff_sha256"]])
        model = back if paths is None else select(back, paths)
        changes = tuple(map(a_change, model.files))
        payload = undo_payload(ZEROS, changes, approval_id=seal.approval_id, short_id=short_id)
        return self._prepared(workspace, render(model), model, changes, payload)

    def _prepared(
        self,
        workspace: Workspace,
        diff: bytes,
        model: DiffModel,
        changes: tuple[SealedChange, ...],
        payload: dict[str, Any],
    ) -> PreparedChange:
        if self.refusal is not None:
            raise self.refusal
        return PreparedChange(
            payload=payload,
            changes=changes,
            base={change.path: change.old_sha256 or "absent" for change in changes},
            workspace=Place(str(workspace.path), 2049, 7),
            git_head=self.git_head,
            diff=diff,
            model=model,
            moved=0,
        )

    async def run(self, grant: Grant, *, workspace: Workspace) -> ChangeOutcome:
        """Spend the grant."""
        self.ran.append(grant)
        return replace(self.outcome, files=read_changes(grant.spend().payload))

    async def settle(self, seal: Seal, workspace: Workspace) -> ChangeOutcome:
        """Say what was scripted."""
        return self.settled


class ScriptedSyncer:
    """Describes one push, and "pushes" it by saying so."""

    def __init__(self) -> None:
        self.outcome = SyncOutcome(reason=Reason.COMPLETED, committed="c" * 40, pushed=True)
        self.settled = SyncOutcome(reason=Reason.UNKNOWN, code="sync.unknown")
        self.refusal: Exception | None = None
        self.ran: list[Grant] = []

    async def plan(self, workspace: Workspace, message: str | None) -> SyncPlan:
        """Return a push of one commit."""
        if self.refusal is not None:
            raise self.refusal
        url = read_url("https://git.example/shop.git")
        upstream = Upstream("origin", url, "refs/heads/main", "refs/remotes/origin/main", "b" * 40)
        return SyncPlan(branch="main", head="a" * 40, upstream=upstream, ahead=1)

    async def prepare(self, workspace: Workspace, proposal: GitSync) -> PreparedSync:
        """Return what would be pushed."""
        return PreparedSync(
            payload=a_sync(),
            base={},
            workspace=Place(str(workspace.path), 2049, 7),
            git_head="a" * 40,
            diff=None,
            model=None,
        )

    async def run(
        self, grant: Grant, *, workspace: Workspace, cancel: asyncio.Event | None = None
    ) -> SyncOutcome:
        """Spend the grant."""
        grant.spend()
        self.ran.append(grant)
        return self.outcome

    async def settle(self, seal: Seal, workspace: Workspace) -> SyncOutcome:
        """Say what was scripted."""
        return self.settled


def a_change(file: FileDiff) -> SealedChange:
    """Return what a file's diff would be sealed as."""
    return SealedChange(
        op=file.op,
        path=file.path,
        old_path=file.old_path,
        old_sha256=None if file.op == "add" else ZEROS,
        old_mode=None if file.op == "add" else file.old_mode or "100644",
        new_sha256=None if file.op == "delete" else ZEROS,
        new_mode=None if file.op == "delete" else file.new_mode or "100644",
        size=7,
    )


def a_sync() -> dict[str, Any]:
    """Return the sealed form of a push without a commit."""
    return sync_payload(
        branch="main",
        remote="origin",
        url="https://git.example/shop.git",
        ref="refs/heads/main",
        remote_oid="b" * 40,
        head="a" * 40,
        ahead=1,
        behind=0,
        commit=None,
        steps=[SyncStep("check", "read-only"), SyncStep("push", "remote-write")],
        timeout_s=120,
    )


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

    def at(self, path: str) -> Workspace | None:
        """Return the one of this path."""
        return next((entry for entry in self.entries if str(entry.path) == path), None)

    def copy(self, run_id: str, name: str) -> Workspace:
        """Return the copy for a dry run; a test that has one gives it."""
        raise InputError("copy.gone", workspace=name)


class Failures:
    """A logger that keeps what failed."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def exception(self, event: str, *args: Any, **facts: Any) -> None:
        """Keep the event."""
        self.events.append(event)


class Notices:
    """Keeps what the person is told of reads."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []

    def tell(self, **facts: Any) -> None:
        """Take one."""
        self.told.append(facts)


class Desk:
    """One agent without its faces.  `restart` is a kill -9: nothing is closed in an orderly way."""

    def __init__(self, folder: Path, *, test_command: str | None = "pytest -q") -> None:
        self.folder = folder
        self.clock = ManualClock()
        self.settings = AgentSettings()
        self.shelf = Shelf([Workspace(name="shop", path=folder, test_command=test_command)])
        self.failures = Failures()
        self.executor = ScriptedExecutor()
        self.applier = ScriptedApplier()
        self.syncer = ScriptedSyncer()
        self.copies = ScriptedCopies(folder)
        self.blobs = Blobs(folder / "state" / "blobs")
        self.policy = Policy()
        self.places = Home(folder / "config", folder / "state", folder / "run")
        self.chosen: Chosen | None = None
        self.notices = Notices()
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

    async def open_journal(self) -> None:
        """Open the journal alone."""
        self.db = await JournalThread.open(
            fresh_journal(self.folder / "state" / "journal.db"),
            clock=self.clock,
            key=lambda: AGENT,
            peer=a_peer(self.clock),
        )

    async def open(self) -> None:
        """Open the parts as `app` does, in its order."""
        await self.open_journal()
        self.gate = Gate(
            self.db,
            clock=self.clock,
            key=lambda: AGENT,
            dry_runs=lambda: DryRuns(self.places).folder,
        )
        self.bus = Bus()
        self.engine = build_engine(
            db=self.db,
            gate=self.gate,
            executors=lambda: Executors(
                executor=self.executor,
                applier=self.applier,
                syncer=self.syncer,
            ),
            copies=self.copies,
            mind=Mind(choose=lambda: self.chosen, lend=Scratches(self.places).lend),
            disclosure=Disclosure(self.db, notice=self.notices, clock=self.clock),
            blobs=self.blobs,
            workspaces=self.shelf,
            policy_of=lambda workspace: self.policy,
            bus=self.bus,
            settings=self.settings,
            clock=self.clock,
            log=self.failures,
            answering=self.gate.entrance("dry-run"),
            site=Site(
                machine="dev-machine-1",
                agent_id=AGENT_ID,
                sandbox=self.executor.level,
                places=self.places,
            ),
        )
        self.wrap(self.engine)
        await self.gate.start()
        await self.engine.start()

    async def apply(self, diff: bytes, **changes: Any) -> str:
        """Let a person at the machine bring a diff, and return the task's id."""
        name = await asyncio.to_thread(self.blobs.put, diff)
        local = {"source": "local_ui", "channel": "terminal", "gateway_key_id": None}
        return await self.ask("apply", **local, attachment=name, **changes)

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
        self.executor.base = old.base
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
        await self.gate.entrance("terminal").decide(
            asked.approval_id,
            asked.digest,
            decision=decision,
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
