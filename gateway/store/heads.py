"""Store functions of audit heads: the one this gateway signed, and those it keeps of its agents.

Each agent's newest head is one row, with the signed frame as proof.  What they mean is told in
`common.heads`; who may have one replaced, in `gateway.flow.countersigning`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from common.audit import Head, SignedHead, broken, sign_head, verify_head
from common.audit_check import RENEWED, STARTED
from common.errors import AuthError
from common.heads import KeptHead
from common.signing import SigningKey
from gateway.store import audit
from gateway.store.port import Connection, Row, as_record

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


def kept_of(conn: Connection, agent_id: str) -> KeptHead | None:
    """Return the newest head that an agent signed."""
    row = conn.one(_OF_AGENT, agent_id=agent_id)
    return _kept(row) if row else None


def keep(conn: Connection, kept: KeptHead) -> None:
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
        audit.append(conn, RENEWED, at_ms)
    head = audit.newest(conn)
    if signed and (signed.seq, signed.public_key) == (head.seq, key.public.raw):
        return head
    _replace(conn, sign_head(key, head, at_ms))
    return head


def _check(conn: Connection, signed: SignedHead) -> None:
    end = audit.newest(conn).seq
    try:
        verify_head(signed)
    except AuthError:
        raise broken(end, "head") from None
    if signed.seq and audit.hash_at(conn, signed.seq) != signed.hash:
        raise broken(signed.seq, "end" if signed.seq > end else "head")


def _was_served(conn: Connection) -> bool:
    # Asked while there is no signature alone: at the very first start, and never again.
    after = 0
    while found := audit.entries(conn, after=after):
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
