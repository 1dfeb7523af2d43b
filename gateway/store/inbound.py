"""Store functions that recognise a chat message which was delivered before (WeCom page 90238)."""

from __future__ import annotations

from typing import Final

from gateway.base.messages import Person
from gateway.store import Connection

# A message that comes again has its own time again, and is found for as long as it is kept.  Should
# WeCom date a redelivery anew, it is found for so long; redeliveries come within a minute.  One row
# for both keys, beside the sender's others, is two pages less to write than two by their hashes.
DATED_ANEW_S: Final = 600
_REMEMBER = """
    INSERT INTO inbound (app, user_id, created_s, dedupe_key, replay_key, received_at, is_event)
    SELECT :app, :user_id, :created_s, :dedupe_key, :replay_key, :at, :is_event WHERE NOT EXISTS (
        SELECT 1 FROM inbound
        WHERE app = :app AND user_id = :user_id AND created_s >= :earliest
        AND (dedupe_key = :dedupe_key OR replay_key = :replay_key)
    ) ON CONFLICT DO NOTHING"""
# Read from the newest on; with the plus not all of the app's, by their key.
_HEARD = """
    SELECT received_at AS at FROM inbound WHERE +app = :app ORDER BY received_at DESC LIMIT 1"""
_PURGE = "DELETE FROM inbound WHERE received_at < :before"


def remember(
    conn: Connection,
    *,
    person: Person,
    created_s: int,
    dedupe_key: str,
    replay_key: bytes,
    at_ms: int,
    is_event: bool = False,
) -> bool:
    """Note a message by both of its keys; tell whether it is new.

    Args:
        conn: The transaction in which the message is also dealt with: when that fails, the message
            is forgotten again, and its next delivery counts as the first.
        person: Who is said to have written it.
        created_s: WeCom's own time of it, in seconds since the epoch.
        dedupe_key: What names the message to WeCom, through all of its deliveries.
        replay_key: Hash of the ciphertext: what names this one delivery.
        at_ms: When it came, in milliseconds since the epoch.
        is_event: Nobody wrote it, so it counts for no limit.
    """
    added = conn.run(
        _REMEMBER,
        app=person.app,
        user_id=person.user,
        created_s=created_s,
        earliest=created_s - DATED_ANEW_S,
        dedupe_key=dedupe_key,
        replay_key=replay_key,
        at=at_ms,
        is_event=int(is_event),
    )
    return added == 1


def last_heard(conn: Connection, app: str) -> int:
    """Return when something of an app came last, in milliseconds since the epoch; 0 for never."""
    row = conn.one(_HEARD, app=app)
    return int(row["at"]) if row else 0


def purge(conn: Connection, *, before_ms: int) -> int:
    """Forget what came before ``before_ms``; WeCom redelivers within a minute."""
    return conn.run(_PURGE, before=before_ms)
