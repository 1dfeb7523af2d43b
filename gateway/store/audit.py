"""Store functions of the audit log: one hash chain (R58), written in the caller's transaction."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from common.audit import GENESIS, Fact, Head, base_of, entry_body, entry_hash, verify_chain
from gateway.store.port import Connection

WINDOW_MS: Final = 600_000
MAX_NAMES: Final = 10_000
NEWEST: Final = 1000  # entries that are looked at when a server starts; `audit verify` reads all

_NEWEST = "SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1"
_APPEND = "INSERT INTO audit (seq, prev, body, hash) VALUES (:seq, :prev, :body, :hash)"
_HASH_AT = "SELECT hash FROM audit WHERE seq = :seq"
_AFTER = "SELECT seq, prev, body, hash FROM audit WHERE seq > :after ORDER BY seq LIMIT :limit"


def append(conn: Connection, event: str, at_ms: int, **facts: Fact) -> int:
    """Chain one entry and return its number.

    Args:
        conn: A writing transaction; what is recorded and its record stand or fall together.
        event: Dotted name of what happened, such as ``task.accepted``.
        at_ms: When, in milliseconds since the epoch.
        facts: Ids, names and codes; never a secret or a message.

    Raises:
        StoreError: ``audit.too-large``.
    """
    newest = conn.one(_NEWEST)
    seq, prev = (newest["seq"] + 1, newest["hash"]) if newest else (1, GENESIS)
    body = entry_body(event, at_ms, facts)
    conn.run(_APPEND, seq=seq, prev=prev, body=body, hash=entry_hash(prev, body))
    return int(seq)


def newest(conn: Connection) -> Head:
    """Return the end of the log."""
    row = conn.one(_NEWEST)
    return Head(row["seq"], row["hash"]) if row else Head()


def hash_at(conn: Connection, seq: int) -> bytes | None:
    """Return the hash of an entry, or None when there is none of that number."""
    row = conn.one(_HASH_AT, seq=seq)
    return row["hash"] if row else None


def entries(
    conn: Connection, *, after: int = 0, limit: int = 1000
) -> list[tuple[int, bytes, bytes, bytes]]:
    """Return up to ``limit`` entries above number ``after``, as `verify_chain` takes them."""
    rows = conn.all(_AFTER, after=after, limit=limit)
    return [(row["seq"], row["prev"], row["body"], row["hash"]) for row in rows]


def check_newest(conn: Connection, *, count: int = NEWEST) -> None:
    """Check the chain of the newest entries, so that nothing is added to what does not hold.

    Raises:
        AuthError: ``audit.broken`` (seq, what).
    """
    found = entries(conn, after=newest(conn).seq - count, limit=count)
    if found:
        verify_chain(found, after=base_of(found[0]))


class Allowance:
    """How often the same may be recorded of one machine, so that none can fill the disk.

    Belongs to one thread.  What is beyond it is not recorded, but for the moment that it began.

    Args:
        entries: In one window.
        window_ms: How long a window is, in milliseconds.
    """

    def __init__(self, entries: int, *, window_ms: int = WINDOW_MS) -> None:
        self._entries = entries
        self._window_ms = window_ms
        self._spent: OrderedDict[str, tuple[int, int]] = OrderedDict()

    def take(self, name: str, at_ms: int) -> int:
        """Count one more, and return how many are left, itself included; below 1 for none."""
        since, spent = self._spent.get(name, (at_ms, 0))
        if not since <= at_ms < since + self._window_ms:
            since, spent = at_ms, 0
        self._spent[name] = (since, min(spent + 1, self._entries + 1))
        self._spent.move_to_end(name)
        if len(self._spent) > MAX_NAMES:
            self._spent.popitem(last=False)
        return self._entries - spent
