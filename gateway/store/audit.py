"""Store functions of the audit log: one hash chain (R58), and the heads that are signed of it.

An entry is written in the caller's transaction.  The head that this gateway signed last is one row,
and each agent's newest head is one, with the signed frame as proof.  What heads mean is told in
`common.heads`; who may have one replaced, in `gateway.flow.countersigning`.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, Final

from common.audit import (
    GENESIS,
    Fact,
    Head,
    SignedHead,
    base_of,
    broken,
    entry_body,
    entry_hash,
    sign_head,
    verify_chain,
    verify_head,
)
from common.audit_check import RENEWED, STARTED
from common.errors import AuthError
from common.heads import KeptHead
from common.signing import SigningKey
from gateway.store import Connection, Row, as_record

WINDOW_MS: Final = 600_000
MAX_NAMES: Final = 10_000
NEWEST: Final = 1000  # entries that are looked at when a server starts; `audit verify` reads all

_NEWEST = "SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1"
_APPEND = "INSERT INTO audit (seq, prev, body, hash) VALUES (:seq, :prev, :body, :hash)"
_HASH_AT = "SELECT hash FROM audit WHERE seq = :seq"
_AFTER = "SELECT seq, prev, body, hash FROM audit WHERE seq > :after ORDER BY seq LIMIT :limit"
_STARTED: Final = f'"event":"{STARTED}"'.encode()
_OF_AGENT = "SELECT * FROM heads WHERE agent_id = :agent_id"
_KEEP = """
    INSERT INTO heads (agent_id, seq, hash, own_seq, own_hash, public_key, frame, at)
    VALUES (:agent_id, :seq, :hash, :own_seq, :own_hash, :public_key, :frame, :at)
    ON CONFLICT (agent_id) DO UPDATE SET seq = excluded.seq, hash = excluded.hash,
    own_seq = excluded.own_seq, own_hash = excluded.own_hash, public_key = excluded.public_key,
    frame = excluded.frame, at = excluded.at"""
_SIGNED = "SELECT seq, hash, at, public_key, signature FROM signed_heads"
_FORGET_SIGNED = "DELETE FROM signed_heads"
_SIGN = """
    INSERT INTO signed_heads (seq, hash, at, public_key, signature)
    VALUES (:seq, :hash, :at, :public_key, :signature)"""


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


def newest_events(
    conn: Connection, *, count: int = NEWEST, app: str | None = None
) -> list[tuple[str, int]]:
    """Return the newest events and their moments, the newest first; but those of other apps.

    What came again and again was counted, and its entry may be ten minutes late.
    """
    return [(entry["event"], entry["at"]) for entry in _newest_of(conn, count, app)]


def newest_facts(conn: Connection, event: str, *, app: str) -> dict[str, Any]:
    """Return the facts of the newest such entry of an app; none where it is too long ago."""
    found = _newest_of(conn, NEWEST, app)
    return next((entry["facts"] for entry in found if entry["event"] == event), {})


def _newest_of(conn: Connection, count: int, app: str | None) -> Iterator[dict[str, Any]]:
    found = entries(conn, after=newest(conn).seq - count, limit=count)
    read = (json.loads(body) for _, _, body, _ in reversed(found))
    return (entry for entry in read if app is None or entry["facts"].get("app", app) == app)


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


def kept_head(conn: Connection, agent_id: str) -> KeptHead | None:
    """Return the newest head that an agent signed."""
    row = conn.one(_OF_AGENT, agent_id=agent_id)
    return _kept(row) if row else None


def keep_head(conn: Connection, kept: KeptHead) -> None:
    """Keep an agent's head in place of its last one."""
    conn.run(
        _KEEP,
        agent_id=kept.peer,
        seq=kept.seq,
        hash=kept.hash,
        own_seq=kept.own_seq,
        own_hash=kept.own_hash,
        public_key=kept.public_key,
        frame=kept.frame,
        at=kept.at,
    )


def signed_head(conn: Connection) -> SignedHead | None:
    """Return the head that was signed last."""
    row = conn.one(_SIGNED)
    return as_record(SignedHead, row) if row else None


def sign(
    conn: Connection, key: SigningKey, *, at_ms: int, is_ours: Callable[[bytes], bool]
) -> Head:
    """Sign the end of the audit log, unless that is signed already; returns the end.

    A log that ought to be signed and is not, or by a key that nobody knows, first gets an entry
    that says so for ever: whoever can change the store but has no key may have cut it or written it
    anew.

    Raises:
        AuthError: ``audit.broken``: the log no longer holds what was signed before.  Signing what
            is left would hide it.
    """
    signed = signed_head(conn)
    if signed is not None:
        _check(conn, signed)
    if not is_ours(signed.public_key) if signed else _was_served(conn):
        append(conn, RENEWED, at_ms)
    head = newest(conn)
    if signed and (signed.seq, signed.public_key) == (head.seq, key.public.raw):
        return head
    _replace(conn, sign_head(key, head, at_ms))
    return head


def _check(conn: Connection, signed: SignedHead) -> None:
    end = newest(conn).seq
    try:
        verify_head(signed)
    except AuthError:
        raise broken(end, "head") from None
    if signed.seq and hash_at(conn, signed.seq) != signed.hash:
        raise broken(signed.seq, "end" if signed.seq > end else "head")


def _was_served(conn: Connection) -> bool:
    # Asked while there is no signature alone: at the very first start, and never again.
    after = 0
    while found := entries(conn, after=after):
        if any(_STARTED in body for _, _, body, _ in found):
            return True
        after = found[-1][0]
    return False


def _replace(conn: Connection, signed: SignedHead) -> None:
    conn.run(_FORGET_SIGNED)
    conn.run(
        _SIGN,
        seq=signed.seq,
        hash=signed.hash,
        at=signed.at,
        public_key=signed.public_key,
        signature=signed.signature,
    )


def _kept(row: Row) -> KeptHead:
    return KeptHead(
        row["agent_id"],
        row["seq"],
        row["hash"],
        row["own_seq"],
        row["own_hash"],
        row["public_key"],
        row["frame"],
        row["at"],
    )
