"""Store functions of the outbox: chat messages on their way to people, in order for each of them.

A row is ``queued``, then ``sending``, then ``sent``, ``failed`` or ``dropped``.  A crash while one
is ``sending`` leaves it unknown whether it arrived: it is sent again, marked ``repeated``, and
WeCom drops the copy of what it has seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from gateway.store.port import Connection, as_record

Kind = Literal["reply", "progress"]

PROGRESS_MS: Final = 15_000  # between two progress lines of one task
# A task that was taken is usually waiting for approval or answered by then, and that says more.
RECEIPT_MS: Final = 2_000

_PUT = """
    INSERT INTO outbox (key, channel, user_id, kind, task_id, text, state, created_at, due_at)
    VALUES (:key, :channel, :user_id, :kind, :task_id, :text, 'queued', :at, :due_at)
    ON CONFLICT (key) DO NOTHING"""
_MERGE = """
    UPDATE outbox SET text = :text,
    due_at = CASE WHEN due_at > :due_at THEN :due_at ELSE due_at END
    WHERE task_id = :task_id AND kind = 'progress' AND state = 'queued'"""
_LAST_PROGRESS = """
    SELECT MAX(ended_at) AS at FROM outbox
    WHERE task_id = :task_id AND kind = 'progress' AND state <> 'dropped'"""
_DROP_PROGRESS = """
    UPDATE outbox SET state = 'dropped', ended_at = :at
    WHERE task_id = :task_id AND kind = 'progress' AND state = 'queued' AND key LIKE :keys"""
_NEXT_PROGRESS = """
    SELECT due_at FROM outbox WHERE state = 'queued' AND kind = 'progress' AND due_at > :now
    ORDER BY due_at LIMIT 1"""
# The oldest open row of each person; a progress line whose time has not come holds nobody up.  By
# due time, so that with thousands waiting only the first few are looked at.
_HEADS = """
    SELECT o.* FROM outbox o
    WHERE o.state = 'queued' AND (o.kind <> 'progress' OR o.due_at <= :now) AND NOT EXISTS (
        SELECT 1 FROM outbox p WHERE p.user_id = o.user_id AND p.id < o.id
        AND p.state IN ('queued', 'sending') AND (p.kind <> 'progress' OR p.due_at <= :now)
    ) ORDER BY o.due_at, o.id LIMIT :limit"""
_CLAIM = "UPDATE outbox SET state = 'sending', attempts = attempts + 1 WHERE id = :id"
_END = "UPDATE outbox SET state = :state, code = :code, ended_at = :at WHERE id = :id"
_QUEUED = "SELECT 1 FROM outbox WHERE state = 'queued' LIMIT 1"
_PUT_BACK = """
    UPDATE outbox SET state = 'queued', code = :code, due_at = :due_at,
    attempts = attempts - :uncounted,
    repeated = CASE WHEN :repeated = 1 THEN 1 ELSE repeated END WHERE id = :id"""
_RECOVER = "UPDATE outbox SET state = 'queued', repeated = 1 WHERE state = 'sending'"
_PURGE = "DELETE FROM outbox WHERE ended_at < :before"


@dataclass(frozen=True, slots=True)
class Message:
    """One message to a person.

    Attributes:
        key: Idempotency key: the same occasion never makes two messages.
        attempts: Tries before this one.
        repeated: Whether an earlier try may have arrived.
        created_at: Milliseconds since the epoch.
        due_at: Not to be sent before, milliseconds since the epoch.
    """

    id: int
    key: str
    channel: str
    user_id: str
    kind: Kind
    task_id: str | None
    text: str
    attempts: int
    repeated: int
    created_at: int
    due_at: int


@dataclass(frozen=True, slots=True)
class Claim:
    """What is to be sent now, and when to look again; None when nothing waits for its time."""

    messages: tuple[Message, ...]
    next_due_at: int | None


def put(
    conn: Connection,
    key: str,
    text: str,
    *,
    channel: str,
    user_id: str,
    at_ms: int,
    task_id: str | None = None,
    kind: Kind = "reply",
    due_at: int | None = None,
) -> bool:
    """Queue a message; False when there was one of that key."""
    added = conn.run(
        _PUT,
        key=key,
        channel=channel,
        user_id=user_id,
        kind=kind,
        task_id=task_id,
        text=text,
        at=at_ms,
        due_at=at_ms if due_at is None else due_at,
    )
    return added == 1


def put_progress(
    conn: Connection,
    key: str,
    text: str,
    *,
    channel: str,
    user_id: str,
    task_id: str,
    at_ms: int,
    after_ms: int = 0,
) -> None:
    """Queue a progress line, in the place of one that still waits, and not too soon after one.

    Args:
        conn: A writing transaction.
        key: Idempotency key.
        text: The line.
        channel: Where to.
        user_id: To whom.
        task_id: Of what; what is told of its end takes the line back.
        at_ms: The moment, milliseconds since the epoch.
        after_ms: How long it waits for something truer.
    """
    row = conn.one(_LAST_PROGRESS, task_id=task_id)
    last = row["at"] if row else None
    due_at = at_ms + after_ms
    if last is not None:
        due_at = max(due_at, last + PROGRESS_MS)
    if conn.run(_MERGE, task_id=task_id, text=text, due_at=due_at):
        return
    put(
        conn,
        f"progress:{key}",
        text,
        channel=channel,
        user_id=user_id,
        at_ms=at_ms,
        task_id=task_id,
        kind="progress",
        due_at=due_at,
    )


def drop_progress(conn: Connection, task_id: str, *, at_ms: int, told: bool) -> None:
    """Take back a progress line that newer news has overtaken.

    Args:
        conn: A writing transaction.
        task_id: Of what.
        at_ms: The moment, milliseconds since the epoch.
        told: Whether the news are told: then nobody needs to hear that the task was taken.
    """
    conn.run(_DROP_PROGRESS, task_id=task_id, at=at_ms, keys="%" if told else "progress:%")


def claim(conn: Connection, *, now_ms: int, limit: int) -> Claim:
    """Take up to ``limit`` messages that are due, at most one of each person: the oldest."""
    heads = [as_record(Message, row) for row in conn.all(_HEADS, now=now_ms, limit=limit)]
    due = tuple(message for message in heads if message.due_at <= now_ms)
    for message in due:
        conn.run(_CLAIM, id=message.id)
    later = [message.due_at for message in heads if message.due_at > now_ms]
    if progress := conn.one(_NEXT_PROGRESS, now=now_ms):
        later.append(progress["due_at"])
    return Claim(due, min(later, default=None))


def end(
    conn: Connection, message_id: int, state: Literal["sent", "failed"], *, code: str, at_ms: int
) -> bool:
    """Note that a message was sent, or never can be; False when nothing else is queued."""
    conn.run(_END, id=message_id, state=state, code=code, at=at_ms)
    return conn.one(_QUEUED) is not None


def put_back(
    conn: Connection, message_id: int, *, due_at: int, code: str, repeated: bool, counted: bool
) -> None:
    """Queue a claimed message again.

    Args:
        conn: A writing transaction.
        message_id: The message.
        due_at: Not to be sent before, milliseconds since the epoch.
        code: Why, for an admin.
        repeated: Whether the try may have arrived.
        counted: Whether it was a try at all.
    """
    conn.run(
        _PUT_BACK,
        id=message_id,
        due_at=due_at,
        code=code,
        repeated=int(repeated),
        uncounted=int(not counted),
    )


def recover(conn: Connection) -> int:
    """Queue again, at the start of the server, what a crash left half sent."""
    return conn.run(_RECOVER)


def purge(conn: Connection, *, before_ms: int) -> int:
    """Forget messages that ended before ``before_ms``."""
    return conn.run(_PURGE, before=before_ms)
