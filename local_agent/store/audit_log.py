"""The audit chain as a table, its end always signed; `common.audit` tells how it is chained.

`AuditLog` writes it; `read_audit` opens it past the journal, beside a running agent or without one.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import quote

from common.audit import (
    GENESIS,
    MAX_ENTRY_BYTES,
    Fact,
    Head,
    SignedHead,
    broken,
    entry_body,
    entry_hash,
    sign_head,
    verify_chain,
    verify_head,
)
from common.audit_check import RENEWED
from common.audit_reader import AuditReader, one_view
from common.clock import Clock
from common.errors import AuthError, ConfigError
from common.signing import SigningKey
from common.strict_json import canonical
from local_agent.store.database import Database, newest_version

_PAGE = 500
_TAIL = 256
_LAST = 2**63 - 1  # the largest integer of SQLite
_FROM_OUTSIDE = b'"event":"inbox.'


class AuditLog:
    """Appends within the caller's transaction, so that a deed and its entry are one.

    Args:
        db: The connection.
        clock: Stamps the entries.
        key: Gives this machine's present key; it signs the end with every entry.

    Attributes:
        on_append: Told of each new end, within the same transaction.
    """

    def __init__(self, db: Database, clock: Clock, key: Callable[[], SigningKey]) -> None:
        self._db = db
        self._clock = clock
        self._key = key
        self.on_append: Callable[[Head], None] = lambda _head: None

    def append(self, event: str, **facts: Fact) -> Head:
        """Add one entry and return the new head.

        Raises:
            StoreError: ``audit.too-large``; the whole transaction must fail with it (R4).
            AuthError: ``audit.broken``: the end is not as this machine signed it.
        """
        return self.append_at(self._clock.now().wall_ms, event, **facts)

    def append_at(self, at_ms: int, event: str, **facts: Fact) -> Head:
        """Add one entry of a given moment, in milliseconds since the epoch; see `append`."""
        with self._db.transaction():
            head = self.head()
            # The end that was read may be anybody's; to sign on would make it this machine's.
            self._check_end(head)
            return self._append(head, event, at_ms, facts)

    def _append(self, head: Head, event: str, at_ms: int, facts: Mapping[str, Fact]) -> Head:
        with self._db.transaction():
            body = entry_body(event, at_ms, facts)
            new = Head(head.seq + 1, entry_hash(head.hash, body))
            self._db.run(
                "INSERT INTO audit (seq, prev, body, hash) VALUES (?, ?, ?, ?)",
                new.seq,
                head.hash,
                body,
                new.hash,
            )
            self._sign(new, self._key())
            self.on_append(new)
        return new

    def sign_end(self, *, is_ours: Callable[[bytes], bool]) -> None:
        """Have the end signed with the present key, once `verify_tail` has found it whole.

        Where no key of this machine has signed it, it gets an entry that says so: a chain of before
        ends were signed has none, and one of another pairing has one that is gone.  Should somebody
        have taken a signature away, or put his own in its place, that entry shows it for ever.

        Args:
            is_ours: Tells whether a public key is one of this machine's.
        """
        head, signed = self.head(), self.signed_head()
        if signed is not None and signed.public_key == self._key().public.raw:
            return
        if signed is not None and is_ours(signed.public_key):
            self.sign_by(self._key())
        elif head.seq:
            self._append(head, RENEWED, self._clock.now().wall_ms, {})

    def sign_by(self, key: SigningKey) -> None:
        """Have the end signed with a key, the present one from then on."""
        with self._db.transaction():
            self._sign(self.head(), key)

    def stamp(self) -> None:
        """Have the end signed anew with the present moment: a restart knows that it was reached.

        Raises:
            AuthError: ``audit.broken``: the end is not as this machine signed it.
        """
        with self._db.transaction():
            head = self.head()
            self._check_end(head)
            self._sign(head, self._key())

    def signed_at(self) -> int:
        """Return when the end was signed, in milliseconds since the epoch; 0 for an empty chain."""
        signed = self.signed_head()
        return signed.at if signed else 0

    def signed_head(self) -> SignedHead | None:
        """Return the end as it was signed, or None for an empty chain."""
        row = self._db.one("SELECT seq, hash, at, public_key, signature FROM signed_heads")
        return SignedHead(*row) if row else None

    def head(self) -> Head:
        """Return the newest entry's number and hash."""
        row = self._db.one("SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1")
        return Head(*row) if row else Head()

    def hash_at(self, seq: int) -> bytes | None:
        """Return the hash of an entry, or None when there is none of that number."""
        row = self._db.one("SELECT hash FROM audit WHERE seq = ?", seq)
        return bytes(row[0]) if row else None

    def short_ids(self, ids: Collection[str]) -> Mapping[str, str]:
        """Return the short id of each task, by its own id or that of an approval of it."""
        listed = json.dumps(sorted(ids))
        rows = self._db.all(
            "SELECT task_id, short_id FROM tasks"
            " WHERE task_id IN (SELECT value FROM json_each(?))"
            " UNION ALL SELECT approval_id, short_id FROM approvals JOIN tasks USING (task_id)"
            " WHERE approval_id IN (SELECT value FROM json_each(?))",
            listed,
            listed,
        )
        return {own: short_id for own, short_id in rows}  # noqa: C416  rows are tuples of any length

    def newest(
        self, limit: int, *, before: int | None = None
    ) -> Sequence[tuple[int, bytes | None]]:
        """Return ``(seq, body)`` of the newest entries, the newest first.

        A body that is longer than any entry stands as None, and is not read.

        Args:
            limit: At most as many.
            before: Only entries of a lower number.
        """
        rows = self._db.all(
            "SELECT seq, CASE WHEN length(body) <= ? THEN body END FROM audit"
            " WHERE seq < ? ORDER BY seq DESC LIMIT ?",
            MAX_ENTRY_BYTES,
            _LAST if before is None else min(max(before, 0), _LAST),
            limit,
        )
        return [(seq, body) for seq, body in rows]

    def stating(
        self, facts: Sequence[tuple[str, str]], *, limit: int
    ) -> Sequence[tuple[int, bytes, bytes]]:
        """Return ``(seq, body, hash)`` of the entries with one of these facts, in order.

        Beyond the limit it leaves out what came from outside first: a gateway may repeat itself,
        and must not push out what this machine did.
        """
        # As every body has it; inside a text each of these quotes would be escaped.
        marks = [canonical({name: value})[1:-1] for name, value in facts]
        condition = " OR ".join("instr(body, ?) > 0" for _ in marks)
        rows = self._db.all(
            f"SELECT seq, body, hash FROM audit WHERE {condition}"  # noqa: S608  # as many marks as facts
            " ORDER BY instr(body, ?) > 0, seq LIMIT ?",
            *marks,
            _FROM_OUTSIDE,
            limit,
        )
        return sorted((seq, body, found) for seq, body, found in rows)

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
        """Check the newest 256 entries and the signed end: cheap enough for every start.

        Raises:
            AuthError: ``audit.broken`` with ``seq``.
        """
        start = max(self.head().seq - _TAIL, 0)
        after = Head(start, self.hash_at(start) or GENESIS)
        head = verify_chain(self.entries(start), after=after)
        check_signed(self.signed_head(), head)
        return head

    def _check_end(self, head: Head) -> None:
        signed = self.signed_head()
        if signed is None and head.seq:
            raise broken(head.seq + 1, "unsigned")
        if signed is not None and signed.public_key != self._key().public.raw:
            raise broken(head.seq, "key")
        check_signed(signed, head)

    def _sign(self, head: Head, key: SigningKey) -> None:
        signed = sign_head(key, head, self._clock.now().wall_ms)
        self._db.run("DELETE FROM signed_heads")
        self._db.run(
            "INSERT INTO signed_heads (seq, hash, at, public_key, signature)"
            " VALUES (?, ?, ?, ?, ?)",
            signed.seq,
            signed.hash,
            signed.at,
            signed.public_key,
            signed.signature,
        )


def check_signed(signed: SignedHead | None, head: Head) -> None:
    """Require that what was signed, if anything was, is this head.

    Raises:
        AuthError: ``audit.broken`` with ``seq``.
    """
    if signed is None:
        return
    if (signed.seq, signed.hash) != (head.seq, head.hash):
        raise broken(min(signed.seq, head.seq) + 1, "end" if signed.seq > head.seq else "head")
    try:
        verify_head(signed)
    except AuthError:
        raise broken(head.seq, "head") from None


# --- past the journal: for a check, beside a running agent or without one --------------------

_KEPT: Final = "SELECT peer, seq, hash, own_seq, own_hash, public_key, frame, at FROM heads"


@contextmanager
def read_audit(path: Path) -> Iterator[AuditReader]:
    """Open the journal for reading.

    Raises:
        ConfigError: ``audit.none``, ``config.store-newer`` or ``audit.store-older``.
        StoreError: ``audit.unreadable``: the file is damaged.
    """
    if not path.is_file():
        raise ConfigError("audit.none", path=path)
    address = f"file:{quote(str(path.absolute()))}?mode=ro"
    connect = partial(sqlite3.connect, address, uri=True, isolation_level=None)
    with one_view(connect, path, kept=_KEPT) as log:
        _check_version(log.version(), path)
        yield log


def _check_version(found: int, path: Path) -> None:
    known = newest_version()
    if found > known:
        raise ConfigError("config.store-newer", path=path, found=found, known=known)
    if found < known:
        raise ConfigError("audit.store-older", path=path)
