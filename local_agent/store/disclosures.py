"""What was read for whom of which workspace, counted by the day, with its audit entries (R53).

A gateway names whom it likes, so what all members together are told is bounded as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from common.audit import MAX_VALUE_BYTES, Fact
from common.seal import ReadFile
from common.strict_json import canonical
from common.text import clip_bytes
from local_agent.store.audit_log import AuditLog
from local_agent.store.database import Database

FOR_ALL: Final = 10  # times what one member may; for all of a workspace together
MAX_LISTED: Final = 100  # files in one audit entry
MAX_LISTED_BYTES: Final = 12 * 1024  # of their names there; the entry has 16 KiB (R58)

Exhausted = Literal["reads", "bytes", "reads-of-all", "bytes-of-all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Somebody who is told something of a workspace on a day.

    Attributes:
        workspace: Real path of the folder.
        day: By the local clock, such as ``2026-05-04``.
        reads: Questions that may be answered to one member that day.
        bytes: Bytes that the answers may have together.
    """

    workspace: str
    channel: str
    claimed_user: str
    day: str
    reads: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What was read for a task, for its audit entries.

    Attributes:
        level: What of it may leave (`local_agent.workspace.registry.Disclosure`).
        files: What was read.
        answer_sha256: Of what is told, or waits to be released; None while there is no answer.
        bytes: Its size.
    """

    task_id: str
    level: str
    files: Sequence[ReadFile]
    answer_sha256: str | None = None
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class _Spent:
    reads: int
    bytes: int


class Disclosures:
    """One row for each task of the chat that something was read for.  On the journal's thread."""

    def __init__(self, db: Database, audit: AuditLog) -> None:
        self._db = db
        self._audit = audit

    def exhausted(self, reader: Reader, *, task_id: str, size: int = 0) -> Exhausted | None:
        """Return what is used up for a reader; None when the task may be told ``size`` bytes.

        Args:
            reader: Who asks, of what, on which day.
            task_id: The task that asks; what it was charged before is not counted against it.
            size: Bytes that it would be told.
        """
        own, whole = self._spent(reader, task_id, own=True), self._spent(reader, task_id, own=False)
        if own.reads >= reader.reads:
            return "reads"
        if whole.reads >= FOR_ALL * reader.reads:
            return "reads-of-all"
        if own.bytes + size > reader.bytes:
            return "bytes"
        if whole.bytes + size > FOR_ALL * reader.bytes:
            return "bytes-of-all"
        return None

    def charge(self, reader: Reader, task_id: str) -> Exhausted | None:
        """Count a request that nothing is read for yet; or return what is used up.

        What is read for the same task afterwards counts as one with it.
        """
        with self._db.transaction():
            if over := self.exhausted(reader, task_id=task_id):
                return over
            self._keep(reader, task_id, 0)
            return None

    def begin(self, reader: Reader, reading: Reading) -> Exhausted | None:
        """Count a read before it is made, and audit it; or return what is used up.

        Done again for the same task, as after a crash, it is counted once.
        """
        with self._db.transaction():
            if over := self.exhausted(reader, task_id=reading.task_id):
                return over
            self._keep(reader, reading.task_id, 0)
            facts = _facts(reading)
            self._audit.append("disclosure.read", task_id=reading.task_id, **facts)
            return None

    def answer(self, reader: Reader, reading: Reading) -> Exhausted | None:
        """Count what an answer tells and audit it; or return what would be more than is left.

        What is too much is not told, and counts as a read all the same.
        """
        with self._db.transaction():
            over = self.exhausted(reader, task_id=reading.task_id, size=reading.bytes)
            told = replace(reading, bytes=0, answer_sha256=None) if over else reading
            self._keep(reader, reading.task_id, told.bytes)
            facts = _facts(told)
            self._audit.append("disclosure.answered", task_id=told.task_id, **facts)
            return over

    def _keep(self, reader: Reader, task_id: str, told: int) -> None:
        self._db.run("DELETE FROM disclosures WHERE day < ?", reader.day)
        self._db.run(
            "INSERT OR REPLACE INTO disclosures"
            " (task_id, workspace, channel, claimed_user, day, bytes) VALUES (?, ?, ?, ?, ?, ?)",
            task_id,
            reader.workspace,
            reader.channel,
            reader.claimed_user,
            reader.day,
            told,
        )

    def _spent(self, reader: Reader, task_id: str, *, own: bool) -> _Spent:
        row = self._db.one(
            "SELECT count(*), COALESCE(sum(bytes), 0) FROM disclosures"
            " WHERE workspace = ? AND day = ? AND task_id <> ?"
            " AND (? OR (channel = ? AND claimed_user = ?))",
            reader.workspace,
            reader.day,
            task_id,
            int(not own),
            reader.channel,
            reader.claimed_user,
        )
        return _Spent(*row) if row else _Spent(0, 0)


def _facts(reading: Reading) -> dict[str, Fact]:
    """Return what an entry says: the files by name and hash, as many as fit, and how many not."""
    facts: dict[str, Fact] = {
        "level": reading.level,
        "answer_sha256": reading.answer_sha256,
        "bytes": reading.bytes,
    }
    room = MAX_LISTED_BYTES
    listed = 0
    for file in reading.files[:MAX_LISTED]:
        said = clip_bytes(f"{file.sha256 or '-'} {file.path}", MAX_VALUE_BYTES)
        room -= len(canonical(said))
        if room < 0:
            break
        facts[f"file_{listed:03}"] = said
        listed += 1
    return facts | {"files": len(reading.files), "more": len(reading.files) - listed}
