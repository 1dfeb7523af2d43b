"""Looking at an approval and deciding on it, with the code that a person typed at a terminal.

Nothing here decides: the gate does, and it checks all of it again.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterator,
    Mapping,
    Sequence,
)
from typing import Any, Final, Protocol, cast

from common.diff.model import MAX_FILES
from common.diff.patching import ALL_HUNKS, Hunks
from common.errors import StateError
from common.model.state import FINAL
from local_agent.cards.question import diff_names, joined
from local_agent.faces.control.tasks import Answer, Watching, shown_task
from local_agent.faces.control.wire import Arguments
from local_agent.flow.approvals import Choice, left_to_undo, question
from local_agent.flow.gate import Entrance
from local_agent.flow.standing import RunStanding
from local_agent.store.approvals import StoredApproval
from local_agent.store.endings import read_ending
from local_agent.store.journal import Journal, JournalThread
from local_agent.store.tasks import Task
from local_agent.views.question import ApprovalView, Shown

PIECE: Final = 192 * 1024  # bytes of a log or a diff in one line of the answer

Tell = Callable[[str], Coroutine[Any, Any, ApprovalView]]


class Engine(Protocol):
    """What deciding needs of the engine."""

    async def refresh(self, task_id: str) -> None:
        """Ask anew where what waits is no longer what would be done now."""
        ...

    async def narrow(
        self, approval_id: str, digest: str, keep: tuple[str, ...], hunks: Hunks
    ) -> None:
        """Ask for these files, or some of their hunks, alone, under a new seal."""
        ...

    async def check(self, approval_id: str, digest: str) -> Task:
        """Begin to try a change out on a copy."""
        ...


class Deciding:
    """Shows approvals with all that belongs to them, and passes decisions on.

    Args:
        db: The journal's thread.
        entrance: Where decisions at a terminal enter.
        engine: Asks anew.
        watching: Tells when it has.
        tell: Tells an approval as dialogs read it (`local_agent.faces.telling`).
        read_blob: Gives kept bytes by their hash; blocks.
    """

    def __init__(
        self,
        *,
        db: JournalThread,
        entrance: Entrance,
        engine: Engine,
        watching: Watching,
        tell: Tell,
        read_blob: Callable[[str], bytes],
        standing: Callable[[str], Awaitable[RunStanding | None]],
    ) -> None:
        self._db = db
        self._entrance = entrance
        self._engine = engine
        self._watching = watching
        self._tell = tell
        self._read_blob = read_blob
        self._standing = standing

    async def show(self, args: Arguments) -> Shown:
        """Return a task and its newest approval as they stand.

        Raises:
            StateError: ``task.unknown``.
        """
        task = await self._named(args)
        return await self._shown(task, await self._newest(task))

    async def refresh(self, args: Arguments) -> Shown:
        """Return the same, once it is asked anew where what waits would not be done any more.

        Raises:
            StateError: ``task.unknown``.
        """
        task = await self._named(args)
        stored = await self._watching.standing(
            task.task_id, begin=self._engine.refresh(task.task_id)
        )
        return await self._shown(await self._named(args), stored)

    async def narrow(self, args: Arguments) -> Shown:
        """Have some of the files, or of their hunks, asked for alone, and return that question.

        ``hunks`` names hunks by the paths of their files; without it, each file is kept whole.

        Raises:
            StateError: ``approval.unknown``, ``approval.not-pending``.
            InputError: ``approval.digest-mismatch``, ``approval.narrow``.
        """
        approval_id, digest = args.text("approval_id"), args.text("digest")
        older = await self._db.run(self._journal.approvals.get, approval_id)
        keep = tuple(args.texts("keep", MAX_FILES))
        hunks = args.hunks("hunks") if args.has("hunks") else ALL_HUNKS
        stored = await self._watching.standing(
            older.task_id, begin=self._engine.narrow(approval_id, digest, keep, hunks)
        )
        return await self._shown(await self._db.run(self._journal.tasks.get, older.task_id), stored)

    async def check(self, args: Arguments) -> Shown:
        """Begin to try a change out, and return the question whether that may run.

        Raises:
            StateError: ``approval.unknown``, ``approval.not-pending``, ``check.*``.
            InputError: ``approval.digest-mismatch``.
        """
        task = await self._engine.check(args.text("approval_id"), args.text("digest"))
        stored = await self._watching.asked(task.task_id)
        return await self._shown(await self._db.run(self._journal.tasks.get, task.task_id), stored)

    async def decide(self, args: Arguments) -> Mapping[str, Any]:
        """Pass a decision on to the gate, which raises where it does not count."""
        await self._entrance.decide(
            args.text("approval_id"),
            args.text("digest"),
            decision=cast("Choice", args.text("decision")),
            typed=args.text("typed"),
            reason=args.text("reason") or None,
        )
        return {}

    async def log(self, args: Arguments, _body: bytes) -> AsyncIterator[Answer]:
        """Give the kept output of a task's command, in pieces.

        Raises:
            StateError: ``log.none``, ``task.unknown``.
            StoreError: ``blob.missing``.
        """
        task = await self._named(args)
        run = read_ending(task.ending_json)["run"]
        name = run["output"]["log_sha256"] if run else None
        if name is None:
            raise StateError("log.none", task=task.short_id)
        log = await asyncio.to_thread(self._read_blob, name)
        for piece in _pieces(log):
            yield False, {"log": piece}
        yield True, {"bytes": len(log)}

    async def diff(self, args: Arguments, _body: bytes) -> AsyncIterator[Answer]:
        """Give the exact diff that a task proposes or has applied, in pieces; several as one.

        Raises:
            StateError: ``diff.none``, ``task.unknown``.
            StoreError: ``blob.missing``.
        """
        task = await self._named(args)
        stored = await self._newest(task)
        names = diff_names(question(stored).seal) if stored else _proposed_diffs(task)
        if not names:
            raise StateError("diff.none", task=task.short_id)
        diff = joined([await asyncio.to_thread(self._read_blob, name) for name in names])
        for piece in _pieces(diff):
            yield False, {"diff": piece}
        sha256 = hashlib.sha256(diff).hexdigest()
        yield True, {"bytes": len(diff), "sha256": sha256, "ended": task.state in FINAL}

    async def _shown(self, task: Task, stored: StoredApproval | None) -> Shown:
        tasks = self._journal.tasks
        first = await self._db.run(tasks.find, task.retry_of) if task.retry_of else None
        approval = await self._tell(stored.approval_id) if stored else None
        left = await self._db.run(_left_to_undo, self._journal, stored)
        turns = await self._db.run(self._journal.turns.of_task, task.task_id)
        # A short ID that was given up may name another task by now.
        again = first.short_id if first and first.named else None
        standing = await self._standing(task.run) if task.run is not None else None
        told = shown_task(
            task, turns, retry_of_short_id=again, left_to_undo=left, standing=standing
        )
        return Shown(task=told, approval=approval)

    async def _named(self, args: Arguments) -> Task:
        return await self._db.run(self._journal.tasks.named, args.text("task"))

    async def _newest(self, task: Task) -> StoredApproval | None:
        return await self._db.run(self._journal.approvals.newest_of, task.task_id)

    @property
    def _journal(self) -> Journal:
        return self._db.journal


def _left_to_undo(journal: Journal, stored: StoredApproval | None) -> tuple[str, ...] | None:
    """Return what no undo has taken back of a change that was applied; None where none was."""
    return left_to_undo(journal, question(stored).seal) if stored else None


def _proposed_diffs(task: Task) -> Sequence[str]:
    proposal = json.loads(task.proposal_json)["proposal"] if task.proposal_json else {}
    several = [one["proposal"] for one in proposal.get("parts", ())]
    return [one["diffId"] for one in (proposal, *several) if "diffId" in one]


def _pieces(data: bytes) -> Iterator[str]:
    for start in range(0, len(data), PIECE):
        yield base64.b64encode(data[start : start + PIECE]).decode()
