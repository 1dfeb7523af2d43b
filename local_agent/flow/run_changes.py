"""What a run has changed: read from its approvals and their effects, with where backups lie (AC 5).

A backup is the very file that an undo reads, under a second name below the client's folder; it is
there before anything is written, or nothing is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from common.errors import CodexBridgeError, StoreError
from common.home import Home, private_dir
from common.seal import Seal, SealedChange, read_changes
from local_agent.actions.operation import Blobs
from local_agent.actions.registry import ACTIONS
from local_agent.flow.approvals import question
from local_agent.playbooks.runs import CLIENTS, ChangeEntry, Place
from local_agent.safety.action_facts import parts_of
from local_agent.store.journal import Journal, JournalThread
from local_agent.store.runs import StoredRun
from local_agent.store.tasks import Task
from local_agent.workspace import paths

BACKUPS: Final = "backups"


@dataclass(frozen=True, slots=True)
class Done:
    """A part of a question that was carried out.

    Attributes:
        place: The step that it belongs to.
        at: When it was begun, in milliseconds since the epoch.
    """

    task: Task
    place: Place
    seal: Seal
    at: int


class Changes:
    """The changes of one run.

    Args:
        tools: The tool of each step, by its place.
    """

    def __init__(
        self,
        db: JournalThread,
        blobs: Blobs,
        places: Home,
        run: StoredRun,
        tools: dict[Place, str],
    ) -> None:
        self._db = db
        self._blobs = blobs
        self._folder = places.state / CLIENTS / run.client / BACKUPS
        self._run = run
        self._tools = tools
        self._entries: list[ChangeEntry] = []

    def __call__(self) -> list[ChangeEntry]:
        """Return the entries as of the last look."""
        return list(self._entries)

    async def look(self) -> None:
        """Look again what has been carried out."""
        found = await self._db.run(done_of, self._db.journal, self._run.run_id)
        self._entries = [entry for done in found for entry in self._entries_of(done)]

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
                if self._blobs.put(content) == change.old_sha256:  # else it drifted, and is told so
                    self._blobs.link(change.old_sha256, private_dir(self._folder))
            except (CodexBridgeError, OSError):
                raise StoreError("run.backup", path=change.old_path) from None

    def _entries_of(self, done: Done) -> Iterator[ChangeEntry]:
        tool = self._tools.get(done.place, done.seal.action)
        if not ACTIONS[done.seal.action].undoable:
            argv = done.seal.payload.get("argv") or [done.seal.action]
            yield self._entry(tool, "command", " ".join(argv), None, done.at)
            return
        for change in read_changes(done.seal.payload):
            yield self._entry(tool, "file", change.path, self._backup(change), done.at)

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
    """Return what was carried out for a run, in that order; on the journal's thread."""
    found: list[Done] = []
    for task in journal.tasks.of_run(run_id):
        approval = journal.approvals.newest_of(task.task_id)
        if approval is None or approval.state != "consumed" or task.step is None:
            continue
        seal = question(approval).seal
        parts = parts_of(seal, ACTIONS)
        for effect in journal.effects.of_approval(approval.approval_id):
            if effect.outcome != "completed" or effect.part >= len(parts):
                continue
            place = Place.parse(task.step)
            if seal.action == "steps" and seal.payload["steps"]:
                place = Place(place.phase, seal.payload["steps"][effect.part]["index"])
            found.append(Done(task, place, parts[effect.part], effect.opened_at))
    return found


def _part(journal: Journal, task_id: str, part: int) -> Seal | None:
    approval = journal.approvals.newest_of(task_id)
    if approval is None:
        return None
    parts = parts_of(question(approval).seal, ACTIONS)
    return parts[part] if part < len(parts) else None
