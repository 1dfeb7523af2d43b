"""What a run has changed: read from its approvals and their effects, with where backups lie (AC 5).

A backup is the very file that an undo reads, under a second name below the client's folder; it is
there before anything is written, or nothing is.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from common.errors import CodexBridgeError, InputError, StateError, StoreError
from common.home import Home, private_dir, read_private
from common.model.state import Reason
from common.seal import Seal, SealedChange, read_changes
from local_agent.actions.registry import ACTIONS
from local_agent.flow.approvals import question
from local_agent.playbooks.definition import StepDefinition
from local_agent.playbooks.runs import (
    CLIENTS,
    ChangeEntry,
    Place,
    Result,
    StepResult,
    finished,
)
from local_agent.safety.action_facts import parts_of
from local_agent.safety.authority import left_to_undo
from local_agent.store.blobs import MAX_BLOB_BYTES, Blobs
from local_agent.store.endings import read_ending
from local_agent.store.journal import Journal, JournalThread
from local_agent.store.runs import StoredRun
from local_agent.store.tasks import Task
from local_agent.workspace import paths
from local_agent.workspace.registry import Workspace
from local_agent.workspace.tree import open_tree
from local_agent.workspace.tree import parts_of as parts_of_path

if TYPE_CHECKING:  # where a run stands is told without what its tools need
    from local_agent.playbooks.toolbox import Toolbox

BACKUPS: Final = "backups"


@dataclass(frozen=True, slots=True)
class Done:
    """A part of a question that was begun: a change that completed, or a command in any case.

    Attributes:
        part: Which of the operations of its task, from 0; None where it had one.
        place: The step that it belongs to.
        at: When it was begun, in milliseconds since the epoch.
        outcome: How it ended; None where nobody knows.
    """

    task: Task
    part: int | None
    place: Place
    seal: Seal
    at: int
    outcome: str | None


class Changes:
    """The changes of one run.

    Args:
        steps: The steps of the playbook and of its hooks, by their places.
    """

    def __init__(
        self,
        db: JournalThread,
        blobs: Blobs,
        places: Home,
        run: StoredRun,
        steps: Mapping[Place, StepDefinition],
    ) -> None:
        self._db = db
        self._blobs = blobs
        self._folder = places.state / CLIENTS / run.client / BACKUPS
        self._run = run
        self._steps = steps
        self._entries: list[ChangeEntry] = []

    def __call__(self) -> list[ChangeEntry]:
        """Return the entries as of the last look."""
        return list(self._entries)

    async def look(self) -> Sequence[Done]:
        """Look again what has been carried out, and return it."""
        found = await self._db.run(done_of, self._db.journal, self._run.run_id)
        self._entries = [entry for done in found for entry in self.entries_of(done)]
        return found

    async def proved(
        self, known: Mapping[Place, StepResult], tools: Toolbox
    ) -> list[tuple[Place, StepResult]]:
        """Return the steps that were carried out and whose end was not recorded any more.

        What came of a command stands with the end of its task alone; where it does not, the step
        is in doubt, and asks once more.
        """
        found: list[tuple[Place, StepResult]] = []
        everything = await self.look()
        # The streams of a task are those of the last command that it ran.
        last = {one.task.task_id: one for one in everything if _is_command(one)}
        for done in everything:
            step = self._steps.get(done.place)
            if step is None or done.place in known or done.outcome != Reason.COMPLETED:
                continue
            if _is_command(done) and last[done.task.task_id] is not done:
                continue
            result = await self._result(done, step, tools)
            if result is not None:
                ended = finished(
                    step, "completed", result=result, started_at=done.at, completed_at=done.at
                )
                found.append((done.place, ended))
        return found

    async def _result(self, done: Done, step: StepDefinition, tools: Toolbox) -> Result | None:
        if not ACTIONS[done.seal.action].undoable:
            did = read_ending(done.task.ending_json)
            if done.task.reason is not Reason.COMPLETED or not did.get("streams"):
                return None
            return await tools.result(step.tool or "", {}, did)
        changes = read_changes(done.seal.payload)
        if step.tool == "write_file":
            one = changes[0]
            return {"path": one.path, "size": one.size, "sha256": one.new_sha256}
        names = {name for one in changes for name in (one.path, one.old_path) if name}
        return {"files": sorted(names)}

    async def note_left(self, workspace: Workspace) -> None:
        """Keep how a command has left the files that were changed before it."""
        paths = {one.resource_id for one in self._entries if one.resource_type == "file"}
        found = await asyncio.to_thread(_hashes, workspace, paths)
        await self._db.run(self._db.journal.runs.leave, self._run.run_id, found)

    async def through(self) -> Mapping[str, str]:
        """Return how commands have left files that were changed before them."""
        return await self._db.run(self._db.journal.runs.left, self._run.run_id)

    async def left(self, done: Done) -> tuple[str, ...]:
        """Return what of a part no undo has taken back."""
        return await self._db.run(left_to_undo, self._db.journal, done.seal, ACTIONS)

    def tool(self, done: Done) -> str:
        """Return the tool of the step that a part belongs to."""
        step = self._steps.get(done.place)
        return (step.tool if step else None) or done.seal.action

    def step_name(self, done: Done) -> str:
        """Return the name of the step that a part belongs to."""
        step = self._steps.get(done.place)
        return step.name if step else str(done.place)

    def check_backup(self, change: SealedChange) -> None:
        """Require the backup of what a change replaced, under both its names.  Blocking.

        Raises:
            StateError: ``run.no-backup`` (path): it is gone, or not what it was.
        """
        if change.old_sha256 is None:
            return
        try:
            kept = read_private(self._folder / change.old_sha256, max_bytes=MAX_BLOB_BYTES)
            self._blobs.get(change.old_sha256)  # this name is the one that undo reads
        except (OSError, CodexBridgeError):
            kept = b""
        if hashlib.sha256(kept).hexdigest() != change.old_sha256:
            raise StateError("run.no-backup", path=change.path)

    async def back_up(self, task_id: str, part: int) -> None:
        """Keep what a part is about to replace.

        Raises:
            StoreError: ``run.backup`` (path): it cannot be kept, so nothing may be written.
        """
        seal = await self._db.run(_part, self._db.journal, task_id, part)
        if seal is not None and ACTIONS[seal.action].undoable:
            await asyncio.to_thread(self._keep, seal)

    def _keep(self, seal: Seal) -> None:
        for change in read_changes(seal.payload):
            if change.old_sha256 is None or change.old_path is None:
                continue
            try:
                with paths.open_root(Path(seal.workspace.path)) as root:
                    parts = paths.check_relative(change.old_path)
                    content = paths.read_bytes(root, parts, max_bytes=paths.MAX_FILE_BYTES)
                with self._blobs.putting([content]):  # a blob that was altered is made anew
                    name = hashlib.sha256(content).hexdigest()
                if name == change.old_sha256:  # else it drifted, and is told so
                    self._blobs.link(change.old_sha256, private_dir(self._folder))
            except (CodexBridgeError, OSError):
                raise StoreError("run.backup", path=change.old_path) from None

    def entries_of(self, done: Done) -> list[ChangeEntry]:
        """Return the entries of the change log for a part."""
        tool = self.tool(done)
        if not ACTIONS[done.seal.action].undoable:
            payload = done.seal.payload
            line = payload.get("script") or " ".join(payload.get("argv", (done.seal.action,)))
            return [self._entry(tool, "command", line, None, done.at)]
        return [
            self._entry(tool, "file", change.path, self._backup(change), done.at)
            for change in read_changes(done.seal.payload)
        ]

    def _backup(self, change: SealedChange) -> str | None:
        return None if change.old_sha256 is None else str(self._folder / change.old_sha256)

    @staticmethod
    def _entry(tool: str, kind: str, name: str, backup: str | None, at: int) -> ChangeEntry:
        return ChangeEntry(
            action=tool,
            resource_type="command" if kind == "command" else "file",
            resource_id=name,
            backup_path=backup,
            timestamp=at,
        )


def done_of(journal: Journal, run_id: str) -> Sequence[Done]:
    """Return what was begun for a run, in that order; on the journal's thread."""
    found: list[Done] = []
    for task in journal.tasks.of_run(run_id):
        approval = journal.approvals.newest_of(task.task_id)
        if approval is None or approval.state != "consumed" or task.step in (None, "rollback"):
            continue
        seal = question(approval).seal
        if seal.action == "steps" and not seal.payload["steps"]:
            continue  # a gate that covered nothing has done nothing
        parts = parts_of(seal, ACTIONS)
        for effect in journal.effects.of_approval(approval.approval_id):
            if effect.part >= len(parts) or not _counts(effect.outcome, parts[effect.part]):
                continue
            place = Place.parse(task.step or "")
            if seal.action == "steps":
                place = Place(place.phase, seal.payload["steps"][effect.part]["index"])
            part = effect.part if len(parts) > 1 else None
            seal_of = parts[effect.part]
            found.append(Done(task, part, place, seal_of, effect.opened_at, effect.outcome))
    return found


def _counts(outcome: str | None, seal: Seal) -> bool:
    """Tell whether something may have come of a part; what had drifted was never begun."""
    if ACTIONS[seal.action].undoable:  # files are changed all or none
        return outcome == Reason.COMPLETED
    return outcome not in (Reason.DRIFTED, Reason.REFUSED)


def _hashes(workspace: Workspace, paths: Iterable[str]) -> dict[str, str]:
    found = {}
    with open_tree(workspace.path) as tree:
        for path in paths:
            with suppress(InputError):  # something else stands in its place
                if (file := tree.find(parts_of_path(path))) is not None:
                    found[path] = hashlib.sha256(file.data).hexdigest()
    return found


def _is_command(done: Done) -> bool:
    return done.seal.action == "run_command"


def _part(journal: Journal, task_id: str, part: int) -> Seal | None:
    approval = journal.approvals.newest_of(task_id)
    if approval is None:
        return None
    parts = parts_of(question(approval).seal, ACTIONS)
    return parts[part] if part < len(parts) else None
