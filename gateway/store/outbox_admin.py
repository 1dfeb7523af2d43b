"""What an admin sees of the outbox, and changes in it."""

from __future__ import annotations

from dataclasses import dataclass

from common.errors import InputError
from gateway.base.messages import Person
from gateway.store import Connection, Row, as_record, audit, members
from gateway.store.outbox import PASSIVE, Hold, Kind, holds, reckon_each

_STANDING = ("app", "waiting", "failed", "heard_at", "sent_at")
_STANDINGS = """
    SELECT app, SUM(waiting) AS waiting, SUM(failed) AS failed, MAX(heard_at) AS heard_at,
    MAX(sent_at) AS sent_at FROM (
        SELECT app, CASE WHEN state IN ('queued', 'sending') THEN 1 ELSE 0 END AS waiting,
        CASE WHEN state = 'failed' THEN 1 ELSE 0 END AS failed, NULL AS heard_at,
        CASE WHEN state = 'sent' AND code <> :passive THEN ended_at END AS sent_at
        FROM outbox
        UNION ALL SELECT app, 0, 0, received_at, NULL FROM inbound
        UNION ALL SELECT app, 0, 0, NULL, NULL FROM holds
    ) AS known GROUP BY app ORDER BY app"""
_LISTED = """
    SELECT * FROM outbox WHERE state IN ('queued', 'sending')
    UNION ALL SELECT * FROM outbox WHERE ended_at IS NOT NULL AND state = 'failed'
    ORDER BY id LIMIT :limit"""
_RETRY = """
    UPDATE outbox SET state = 'queued', due_at = :at, ended_at = NULL, attempts = 0,
    created_at = CASE WHEN state = 'failed' THEN :at ELSE created_at END,
    repeated = CASE repeated WHEN 0 THEN 0 ELSE repeated + 1 END
    WHERE id = :id AND state IN ('queued', 'failed') RETURNING *"""
_HOLD_OF = """
    SELECT h.* FROM outbox o JOIN holds h ON h.app = o.app WHERE o.id = :id AND h.until_at > :at"""
_TAKE_BACK = """
    UPDATE outbox SET state = 'dropped', ended_at = :at WHERE id = :id AND state = 'queued'
    RETURNING *"""


@dataclass(frozen=True, slots=True)
class Listed:
    """One message as an admin sees it: what it says is the member's."""

    id: int
    channel: str
    app: str
    user_id: str
    chat: str
    kind: Kind
    task_id: str | None
    state: str
    attempts: int
    repeated: int
    code: str | None
    errcode: int | None
    errmsg: str | None
    created_at: int
    due_at: int


@dataclass(frozen=True, slots=True)
class Standing:
    """How one app stands.

    Attributes:
        waiting: Messages that wait or are being sent.
        failed: Messages that could not be sent, as far as they are kept.
        heard_at: When the last message came; milliseconds since the epoch.
        sent_at: When the last one went.
        hold: What keeps it from sending.
    """

    app: str
    waiting: int
    failed: int
    heard_at: int | None
    sent_at: int | None
    hold: Hold | None


def standings(conn: Connection) -> list[Standing]:
    """Return how each app stands of which anything was heard or said."""
    holding = {hold.app: hold for hold in holds(conn)}
    return [
        Standing(hold=holding.get(row["app"]), **{name: row[name] for name in _STANDING})
        for row in conn.all(_STANDINGS, passive=PASSIVE)
    ]


def listed(conn: Connection, *, limit: int) -> list[Listed]:
    """Return what waits, is being sent, or could not be, the oldest first."""
    return [as_record(Listed, row) for row in conn.all(_LISTED, limit=limit)]


def retry(conn: Connection, message_id: int, *, at_ms: int) -> bool:
    """Have a message sent that failed, or that waits for its time; False for others.

    Where an earlier try may have arrived, it says so, in words that none before it had.

    Raises:
        InputError: ``outbox.no-member`` (user): whoever was removed is told nothing more.
    """
    found = conn.all(_RETRY, id=message_id, at=at_ms)
    for row in found:
        person = Person(row["app"], row["user_id"])
        if members.look_up(conn, person) is None:
            raise InputError("outbox.no-member", user=str(person))
    return _changed(conn, "outbox.retried", found, at_ms)


def hold_of(conn: Connection, message_id: int, *, at_ms: int) -> Hold | None:
    """Return what keeps a message from being tried now."""
    row = conn.one(_HOLD_OF, id=message_id, at=at_ms)
    return as_record(Hold, row) if row else None


def take_back(conn: Connection, message_id: int, *, at_ms: int) -> bool:
    """Take a message back that waits; False where none does."""
    return _changed(conn, "outbox.dropped", conn.all(_TAKE_BACK, id=message_id, at=at_ms), at_ms)


def _changed(conn: Connection, event: str, rows: list[Row], at_ms: int) -> bool:
    for row in rows:
        audit.append(
            conn,
            event,
            at_ms,
            app=row["app"],
            user=row["user_id"],
            key=row["key"],
            task=row["task_id"],
        )
    reckon_each(conn, rows)
    return bool(rows)
