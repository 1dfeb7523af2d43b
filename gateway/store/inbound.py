"""Store functions that recognise a chat message which was delivered before (WeCom page 90238)."""

from __future__ import annotations

from gateway.store.port import Connection

_REMEMBER = """
    INSERT INTO inbound (key, user_id, received_at)
    VALUES (:dedupe, :user_id, :at), (:replay, NULL, :at)
    ON CONFLICT (key) DO NOTHING"""
_PURGE = "DELETE FROM inbound WHERE received_at < :before"


def remember(
    conn: Connection, *, dedupe_key: str, replay_key: bytes, user_id: str, at_ms: int
) -> bool:
    """Note a message by both of its keys; tell whether it is new.

    Args:
        conn: The transaction in which the message is also dealt with: when that fails, the message
            is forgotten again, and its next delivery counts as the first.
        dedupe_key: What names the message to WeCom, through all of its deliveries.
        replay_key: Hash of the ciphertext: what names this one delivery.
        user_id: Who is said to have written it.
        at_ms: When, in milliseconds since the epoch.
    """
    added = conn.run(
        _REMEMBER,
        dedupe=f"message:{dedupe_key}",
        replay=f"cipher:{replay_key.hex()}",
        user_id=user_id,
        at=at_ms,
    )
    return added == 2


def purge(conn: Connection, *, before_ms: int) -> int:
    """Forget what came before ``before_ms``; WeCom redelivers within a minute."""
    return conn.run(_PURGE, before=before_ms)
