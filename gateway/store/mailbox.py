"""Store functions of the mailbox: signed frames on their way to an agent, numbered without a hole.

A frame is signed inside the transaction that gives it its number, so a changed database cannot
forge one.  What expires unsent is replaced, under its number, by a signed tombstone: to the agent a
missing number is always an alarm.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from common.clock import Instant
from common.errors import StoreError
from common.ids import new_uuid
from common.protocol.envelope import MAX_LIFE_S, CancelBody, Envelope, TombstoneBody
from common.protocol.frames import EnvelopeType
from gateway.store import agents
from gateway.store.port import Connection, as_record

TOMBSTONE_S: Final = MAX_LIFE_S["tombstone"]

_ADD = """
    INSERT INTO mailbox (agent_id, seq, jti, typ, task_id, frame, expires_at)
    VALUES (:agent_id, :seq, :jti, :typ, :task_id, :frame, :expires_at)"""
_AFTER = """
    SELECT seq, frame, acked_at FROM mailbox WHERE agent_id = :agent_id AND seq > :after
    ORDER BY seq LIMIT :limit"""
_ACK = """
    UPDATE mailbox SET acked_at = :at
    WHERE agent_id = :agent_id AND seq <= :seq AND acked_at IS NULL"""
_WAITING = "SELECT DISTINCT agent_id FROM mailbox WHERE acked_at IS NULL"
_EXPIRED = """
    SELECT agent_id, seq, typ, task_id FROM mailbox
    WHERE acked_at IS NULL AND typ <> 'tombstone' AND expires_at <= :before
    ORDER BY expires_at LIMIT :limit"""
_BURY = """
    UPDATE mailbox SET jti = :jti, typ = 'tombstone', frame = :frame, expires_at = :expires_at
    WHERE agent_id = :agent_id AND seq = :seq"""
_CANCELS = """
    SELECT 1 AS one FROM mailbox WHERE task_id = :task_id AND typ = 'cancel'
    AND acked_at IS NULL AND expires_at > :at"""
_PURGE = "DELETE FROM mailbox WHERE acked_at < :before"


class Seal(Protocol):
    """Signs an envelope of this gateway for an agent."""

    def __call__(
        self,
        typ: EnvelopeType,
        agent_id: str,
        *,
        seq: int,
        jti: str,
        iat: int,
        exp: int,
        body: Mapping[str, Any],
    ) -> Envelope:
        """Return the envelope; times in seconds since the epoch."""
        ...


@dataclass(frozen=True, slots=True)
class Entry:
    """One frame that waits, without its bytes."""

    agent_id: str
    seq: int
    typ: EnvelopeType
    task_id: str


def enqueue(
    conn: Connection,
    seal: Seal,
    typ: EnvelopeType,
    *,
    agent_id: str,
    task_id: str,
    body: Mapping[str, Any],
    at: Instant,
    life_s: int,
) -> Envelope:
    """Number, sign and store a frame for an agent.

    Args:
        conn: A writing transaction; a rollback gives the number back.
        seal: Signs.
        typ: Kind of the body.
        agent_id: For whom.
        task_id: What it is about.
        body: The record.
        at: Now.
        life_s: For how long it may be acted upon, in seconds.
    """
    seq = agents.next_seq(conn, agent_id)
    exp = at.wall_s + life_s
    jti = new_uuid()
    envelope = seal(typ, agent_id, seq=seq, jti=jti, iat=at.wall_s, exp=exp, body=body)
    conn.run(
        _ADD,
        agent_id=agent_id,
        seq=seq,
        jti=jti,
        typ=typ,
        task_id=task_id,
        frame=envelope.frame,
        expires_at=exp * 1000,
    )
    return envelope


def enqueue_cancel(
    conn: Connection, seal: Seal, *, agent_id: str, task_id: str, claimed_user: str, at: Instant
) -> bool:
    """Tell the agent to stop a task; False when it is being told already."""
    if conn.one(_CANCELS, task_id=task_id, at=at.wall_ms):
        return False
    body = CancelBody(task_id=task_id, claimed_user=claimed_user).to_dict()
    enqueue(
        conn,
        seal,
        "cancel",
        agent_id=agent_id,
        task_id=task_id,
        body=body,
        at=at,
        life_s=MAX_LIFE_S["cancel"],
    )
    return True


def pending(
    conn: Connection, agent_id: str, *, after_seq: int, limit: int
) -> list[tuple[int, bytes]]:
    """Return up to ``limit`` (seq, frame) above ``after_seq``, in order, without a hole.

    Raises:
        StoreError: ``mailbox.agent-behind``: the agent once acknowledged what it now does not know,
            so its memory was put back in time.  It must be paired again: what it forgot may have
            been executed.
    """
    rows = conn.all(_AFTER, agent_id=agent_id, after=after_seq, limit=limit)
    if rows and (rows[0]["seq"] != after_seq + 1 or rows[0]["acked_at"] is not None):
        raise StoreError("mailbox.agent-behind", agent_id=agent_id, seq=after_seq)
    return [(row["seq"], row["frame"]) for row in rows]


def ack(conn: Connection, agent_id: str, *, epoch: int, seq: int, at_ms: int) -> bool:
    """Note that the agent keeps everything up to ``seq``; False when the epoch is over.

    Raises:
        StoreError: ``mailbox.agent-ahead``: it acknowledges what was never sent, so this store was
            put back in time (or the agent lies); numbers would be used twice.
    """
    sent = agents.sent_up_to(conn, agent_id, epoch=epoch)
    if sent is None:
        return False
    if seq > sent:
        raise StoreError("mailbox.agent-ahead", agent_id=agent_id, seq=seq, sent=sent)
    conn.run(_ACK, agent_id=agent_id, seq=seq, at=at_ms)
    return True


def waiting(conn: Connection) -> list[str]:
    """Return the agents that have not acknowledged everything."""
    return [row["agent_id"] for row in conn.all(_WAITING)]


def expired(conn: Connection, *, before_ms: int, limit: int) -> list[Entry]:
    """Return what was to be delivered by ``before_ms`` and never was acknowledged."""
    rows = conn.all(_EXPIRED, before=before_ms, limit=limit)
    return [as_record(Entry, row) for row in rows]


def bury(conn: Connection, seal: Seal, entry: Entry, *, at: Instant) -> None:
    """Replace an expired frame by a signed tombstone of the same number."""
    exp = at.wall_s + TOMBSTONE_S
    jti = new_uuid()
    body = TombstoneBody(task_id=entry.task_id).to_dict()
    envelope = seal(
        "tombstone", entry.agent_id, seq=entry.seq, jti=jti, iat=at.wall_s, exp=exp, body=body
    )
    conn.run(
        _BURY,
        agent_id=entry.agent_id,
        seq=entry.seq,
        jti=jti,
        frame=envelope.frame,
        expires_at=exp * 1000,
    )


def purge(conn: Connection, *, before_ms: int) -> int:
    """Forget frames that were acknowledged before ``before_ms``."""
    return conn.run(_PURGE, before=before_ms)
