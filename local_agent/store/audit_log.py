"""The audit chain as a table.  How it is chained is told in `common.audit`."""

from __future__ import annotations

from collections.abc import Iterator

from common.audit import GENESIS, Fact, Head, entry_body, entry_hash, verify_chain
from common.clock import Clock
from local_agent.store.database import Database

_PAGE = 500
_TAIL = 256


class AuditLog:
    """Appends within the caller's transaction, so that a deed and its entry are one."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    def append(self, event: str, **facts: Fact) -> Head:
        """Add one entry and return the new head.

        Raises:
            StoreError: ``audit.too-large``; the whole transaction must fail with it (R4).
        """
        with self._db.transaction():
            head = self.head()
            body = entry_body(event, self._clock.now().wall_ms, facts)
            new = Head(head.seq + 1, entry_hash(head.hash, body))
            self._db.run(
                "INSERT INTO audit (seq, prev, body, hash) VALUES (?, ?, ?, ?)",
                new.seq,
                head.hash,
                body,
                new.hash,
            )
        return new

    def head(self) -> Head:
        """Return the newest entry's number and hash."""
        row = self._db.one("SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1")
        return Head(*row) if row else Head()

    def entries(self, after: int = 0) -> Iterator[tuple[int, bytes, bytes, bytes]]:
        """Yield ``(seq, prev, body, hash)`` in order, a page at a time."""
        while rows := self._db.all(
            "SELECT seq, prev, body, hash FROM audit WHERE seq > ? ORDER BY seq LIMIT ?",
            after,
            _PAGE,
        ):
            for seq, prev, body, found in rows:
                yield seq, prev, body, found
                after = seq

    def verify(self) -> Head:
        """Check the whole chain and return its head.

        Raises:
            AuthError: ``audit.broken`` with ``seq``.
        """
        return verify_chain(self.entries())

    def verify_tail(self) -> Head:
        """Check the newest 256 entries: cheap enough for every start.

        Raises:
            AuthError: ``audit.broken`` with ``seq``.
        """
        start = max(self.head().seq - _TAIL, 0)
        row = self._db.one("SELECT hash FROM audit WHERE seq = ?", start)
        return verify_chain(self.entries(start), after=Head(start, row[0] if row else GENESIS))
