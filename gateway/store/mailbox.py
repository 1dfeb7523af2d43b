"""Store functions of the mailbox: signed frames on their way to an agent, numbered without a hole.

A frame is signed inside the transaction that gives it its number, so a changed database cannot
forge one.  What expires unsent or is taken back is replaced, under its number, by a signed
tombstone: to the agent a missing number is always an alarm.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from common.clock import Instant
from common.errors import StoreError
from common.ids import new_uuid
from common.protocol.envelope import (
    MAX_LIFE_S,
    CancelBody,
    Envelope,
    TombstoneBody,
    signer_of,
)
from common.protocol.frames import EnvelopeType
from gateway.base.identity import Seal
from gateway.store import Connection, agents, as_record
from gateway.store.agents import Agent

TOMBSTONE_S: Final = MAX_LIFE_S["tombstone"]
_AHEAD_MS: Final = 30_000  # half of what the agent lets our clock be ahead of its own

_ADD = """
    INSERT INTO mailbox (agent_id, seq, jti, typ, task_id, frame, expires_at, away_epoch)
    VALUES (:agent_id, :seq, :jti, :typ, :task_id, :frame, :expires_at, :away_epoch)"""
_AFTER = """
    SELECT seq, frame, acked_at FROM mailbox WHERE agent_id = :agent_id AND seq > :after
    ORDER BY seq LIMIT :limit"""
# What is acknowledged stays for days and lies below what is not: it is met once, from above.
_ACK = """
    UPDATE mailbox SET acked_at = :at
    WHERE agent_id = :agent_id AND seq <= :seq AND acked_at IS NULL AND seq > COALESCE((
        SELECT seq FROM mailbox
        WHERE agent_id = :agent_id AND seq <= :seq AND acked_at IS NOT NULL
        ORDER BY seq DESC LIMIT 1
    ), 0)"""
# With the plus it reads the few that wait, by their index, and not all that is kept by its number.
_OLDEST = """
    SELECT MIN(+seq) AS seq FROM mailbox WHERE agent_id = :agent_id AND acked_at IS NULL"""
# Tasks are not among them: they come with WeCom's time, and are refused when ours is another.
_AHEAD = """
    SELECT agent_id, seq, typ, task_id FROM mailbox
    WHERE agent_id = :agent_id AND acked_at IS NULL AND expires_at > CASE typ
    WHEN 'cancel' THEN :cancel WHEN 'tombstone' THEN :tombstone WHEN 'head' THEN :head
    ELSE expires_at END"""
_UNHEARD_HEADS = """
    SELECT COUNT(*) AS found FROM mailbox
    WHERE agent_id = :agent_id AND acked_at IS NULL AND typ = 'head'"""
_DEPTHS = """
    SELECT agent_id, COUNT(*) AS found FROM mailbox
    WHERE acked_at IS NULL AND typ <> 'tombstone'
    AND agent_id IN (SELECT agent_id FROM agents WHERE revoked_at IS NULL)
    GROUP BY agent_id"""
_UNDELIVERED = """
    SELECT m.agent_id, m.seq, m.typ, m.task_id,
    CASE WHEN a.connected_at IS NULL AND a.epoch = m.away_epoch THEN 1 ELSE 0 END AS unsent
    FROM tasks t JOIN mailbox m ON m.agent_id = t.agent_id AND m.task_id = t.task_id
    JOIN agents a ON a.agent_id = m.agent_id
    WHERE t.task_id = :task_id AND m.typ = 'task' AND m.acked_at IS NULL"""
_WAITING = "SELECT DISTINCT agent_id FROM mailbox WHERE acked_at IS NULL"
_EXPIRED = """
    SELECT agent_id, seq, typ, task_id FROM mailbox
    WHERE acked_at IS NULL AND typ <> 'tombstone' AND expires_at <= :before
    ORDER BY expires_at LIMIT :limit"""
_FRAME = "SELECT frame FROM mailbox WHERE agent_id = :agent_id AND seq = :seq"
_BURY = """
    UPDATE mailbox SET jti = :jti, typ = 'tombstone', frame = :frame, expires_at = :expires_at
    WHERE agent_id = :agent_id AND seq = :seq"""
_CANCELS = """
    SELECT 1 AS one FROM mailbox WHERE agent_id = :agent_id AND task_id = :task_id
    AND typ = 'cancel' AND acked_at IS NULL AND expires_at > :at"""
_PURGE = "DELETE FROM mailbox WHERE acked_at < :before"


@dataclass(frozen=True, slots=True)
class Entry:
    """One frame that waits, without its bytes."""

    agent_id: str
    seq: int
    typ: EnvelopeType
    task_id: str


@dataclass(frozen=True, slots=True)
class Undelivered:
    """A task's frame that its agent has not acknowledged.

    Attributes:
        unsent: It cannot have been sent: its agent has been away ever since it was queued.  Without
            it the frame may be on its way, or have been taken in and not yet acknowledged.
    """

    entry: Entry
    unsent: bool


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
    turn = agents.next_turn(conn, agent_id)
    exp = at.wall_s + life_s
    jti = new_uuid()
    envelope = seal(
        typ,
        agent_id,
        key_id=turn.sealing_key_id,
        seq=turn.seq,
        jti=jti,
        iat=at.wall_s,
        exp=exp,
        body=body,
    )
    conn.run(
        _ADD,
        agent_id=agent_id,
        seq=turn.seq,
        jti=jti,
        typ=typ,
        task_id=task_id,
        frame=envelope.frame,
        expires_at=exp * 1000,
        away_epoch=turn.away_epoch,
    )
    return envelope


def enqueue_cancel(
    conn: Connection, seal: Seal, *, agent_id: str, task_id: str, claimed_user: str, at: Instant
) -> bool:
    """Tell the agent to stop a task; False when it is being told already."""
    if conn.one(_CANCELS, agent_id=agent_id, task_id=task_id, at=at.wall_ms):
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


def resume(conn: Connection, agent: Agent, *, seq: int, at_ms: int) -> None:
    """Note up to where an agent keeps what it was sent, as a connection begins.

    Raises:
        StoreError: ``mailbox.agent-ahead`` as `ack`; ``mailbox.agent-behind``: it acknowledged more
            before, so its memory was put back in time, or is another's.
    """
    oldest = conn.one(_OLDEST, agent_id=agent.agent_id)
    acked = ((oldest and oldest["seq"]) or agent.next_seq) - 1
    if seq < acked:
        raise StoreError("mailbox.agent-behind", agent_id=agent.agent_id, seq=seq, acked=acked)
    if seq > acked:  # most come back with nothing new, thousands of them at one time
        ack(conn, agent.agent_id, epoch=agent.epoch, seq=seq, at_ms=at_ms)


def bury_ahead(conn: Connection, seal: Seal, agent_id: str, *, at: Instant) -> None:
    """Replace what was dated ahead of our clock, before that was put back.

    The agent would take it, and all that comes after it, only when that moment has come.
    """
    latest = {
        typ: at.wall_ms + MAX_LIFE_S[typ] * 1000 + _AHEAD_MS
        for typ in ("cancel", "tombstone", "head")
    }
    for row in conn.all(_AHEAD, agent_id=agent_id, **latest):
        bury(conn, seal, as_record(Entry, row), at=at)


def unheard_heads(conn: Connection, agent_id: str) -> int:
    """Return how many answers to its heads an agent has not acknowledged."""
    row = conn.one(_UNHEARD_HEADS, agent_id=agent_id)
    return int(row["found"]) if row else 0


def depths(conn: Connection) -> dict[str, int]:
    """Return how many messages wait for each agent; what was taken back is none."""
    return {row["agent_id"]: int(row["found"]) for row in conn.all(_DEPTHS)}


def undelivered(conn: Connection, task_id: str) -> Undelivered | None:
    """Return the frame of a task that its agent has not acknowledged; None when it has."""
    row = conn.one(_UNDELIVERED, task_id=task_id)
    return Undelivered(as_record(Entry, row), bool(row["unsent"])) if row else None


def waiting(conn: Connection) -> list[str]:
    """Return the agents that have not acknowledged everything."""
    return [row["agent_id"] for row in conn.all(_WAITING)]


def expired(conn: Connection, *, before_ms: int, limit: int) -> list[Entry]:
    """Return what was to be delivered by ``before_ms`` and never was acknowledged."""
    rows = conn.all(_EXPIRED, before=before_ms, limit=limit)
    return [as_record(Entry, row) for row in rows]


def bury(conn: Connection, seal: Seal, entry: Entry, *, at: Instant) -> None:
    """Replace a frame that must not be delivered by a signed tombstone of the same number.

    It is signed with the key of what it replaces: that one the agent expects at this number.
    """
    row = conn.one(_FRAME, agent_id=entry.agent_id, seq=entry.seq)
    exp = at.wall_s + TOMBSTONE_S
    jti = new_uuid()
    body = TombstoneBody(task_id=entry.task_id).to_dict()
    envelope = seal(
        "tombstone",
        entry.agent_id,
        key_id=signer_of(row["frame"]) if row else None,
        seq=entry.seq,
        jti=jti,
        iat=at.wall_s,
        exp=exp,
        body=body,
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
