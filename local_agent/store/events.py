"""Events of tasks: what happened, in its order, for whoever reads on from where they were.

They are only added; with the words of a task that ended long ago its events go as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from local_agent.store.database import Database

_CHANGED: Final = "SELECT rowid, task_id FROM events WHERE rowid > ? ORDER BY rowid LIMIT ?"
_LAST: Final = "SELECT max(rowid) FROM events"
_LAST_OF_TASK: Final = "SELECT max(seq) FROM events WHERE task_id = ?"
_TIMELINE: Final = (
    "SELECT seq, at, body FROM events WHERE task_id = ? AND seq > ? ORDER BY seq LIMIT ?"
)
_ADD: Final = "INSERT INTO events (task_id, seq, at, body) VALUES (?, ?, ?, ?)"


class Events:
    """The events of all tasks."""

    def __init__(self, db: Database) -> None:
        self._db = db
        # How far the cursors are ahead of the rows: SQLite numbers anew from where the newest rows
        # were removed, and a cursor must never go back.
        self._ahead = 0

    def events_cursor(self) -> int:
        """Return where `changed_since` goes on after all that there is now; 0 where nothing was.

        Take it before the tasks are read.  It never goes back, and holds while this process lives.
        """
        return self._last_event() + self._ahead

    def changed_since(self, cursor: int, *, limit: int) -> tuple[int, Sequence[str]] | None:
        """Return the next cursor and the tasks that something was told of since then.

        Where the cursor has not moved there is nothing more.  Of a task that is as it was received
        nothing was told yet.

        Args:
            cursor: As `events_cursor` or this gave it.
            limit: How many events are looked at.

        Returns:
            None where the cursor is from ahead of all events, as after the journal was restored
            from a copy: everything is to be read anew.
        """
        if cursor > self.events_cursor():
            return None
        # From before a removal it reads some once more rather than miss one.
        rows = self._db.all(_CHANGED, max(cursor - self._ahead, 0), limit)
        if not rows:
            return cursor, ()
        return int(rows[-1][0]) + self._ahead, [*dict.fromkeys(str(row[1]) for row in rows)]

    def _last_event(self) -> int:
        row = self._db.one(_LAST)
        return int(row[0] or 0) if row else 0

    def events(
        self, task_id: str, *, after: int = 0, limit: int = 500
    ) -> Sequence[tuple[int, dict[str, Any]]]:
        """Return ``(seq, event)`` of a task in order, from after a number: a resume cursor."""
        return [(seq, event) for seq, _, event in self.timeline(task_id, after=after, limit=limit)]

    def timeline(
        self, task_id: str, *, after: int = 0, limit: int = 500
    ) -> Sequence[tuple[int, int, dict[str, Any]]]:
        """Return the same with the moment of each, in milliseconds: ``(seq, at, event)``.

        It begins after RECEIVED, in which a task is from ``created_at`` on.
        """
        rows = self._db.all(_TIMELINE, task_id, after, limit)
        return [(int(seq), int(at), json.loads(body)) for seq, at, body in rows]

    def _add_events(self, task_id: str, at_ms: int, events: Sequence[Mapping[str, Any]]) -> None:
        row = self._db.one(_LAST_OF_TASK, task_id)
        last = int(row[0] or 0) if row else 0
        for seq, event in enumerate(events, start=last + 1):
            self._db.run(_ADD, task_id, seq, at_ms, json.dumps(event, separators=(",", ":")))

    @contextmanager
    def _removing_events(self) -> Iterator[None]:
        """Give a transaction in which events may be removed."""
        last = self._last_event()
        with self._db.transaction():
            yield
        self._ahead += last - self._last_event()
