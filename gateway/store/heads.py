"""Store functions of audit heads: the one this gateway signed, and those it keeps of its agents.

Each agent's newest head is one row, with the signed frame as proof.  What they mean is told in
`common.heads`; who may have one replaced, in `gateway.countersigning`.
"""

from __future__ import annotations

from common.audit import Head, SignedHead, broken, sign_head
from common.heads import KeptHead
from common.signing import SigningKey
from gateway.store import audit
from gateway.store.port import Connection, Row

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


def sign(conn: Connection, key: SigningKey, *, at_ms: int) -> Head:
    """Sign the end of the audit log, unless that is signed already; returns the end.

    Raises:
        AuthError: ``audit.broken``: the log no longer holds what was signed before.  Signing what
            is left would hide it.
    """
    head = audit.newest(conn)
    row = conn.one(_SIGNED)
    if row and audit.hash_at(conn, row["seq"]) != row["hash"]:
        raise broken(row["seq"], "end" if row["seq"] > head.seq else "head")
    if row and (row["seq"], row["public_key"]) == (head.seq, key.public.raw):
        return head
    signed: SignedHead = sign_head(key, head, at_ms)
    conn.run(_FORGET_SIGNED)
    conn.run(
        _SIGN,
        seq=signed.seq,
        hash=signed.hash,
        at=signed.at,
        public_key=signed.public_key,
        signature=signed.signature,
    )
    return head


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
