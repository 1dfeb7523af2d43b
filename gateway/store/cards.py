"""Store functions of cards: which were put up for a task, and what each can still be changed with.

A handle changes its card once, while it lasts; each click on the card brings a new one.
"""

from __future__ import annotations

from gateway.base.messages import Handle
from gateway.store import Connection

_PUT = "INSERT INTO cards (card_id, task_id) VALUES (:card_id, :task_id) ON CONFLICT DO NOTHING"
_GIVE = "UPDATE cards SET handle = :handle, handle_until = :until WHERE card_id = :card_id"
_HANDLE = "SELECT handle FROM cards WHERE card_id = :card_id AND handle_until >= :now"
_END = """
    UPDATE cards SET over = 1 WHERE task_id = :task_id AND over = 0 RETURNING card_id"""
_UP = "SELECT card_id FROM cards WHERE task_id = :task_id AND over = 0"
_TASK = "SELECT task_id FROM cards WHERE card_id = :card_id"


def put(conn: Connection, card_id: str, *, task_id: str) -> None:
    """Note that a card is put up for a task."""
    conn.run(_PUT, card_id=card_id, task_id=task_id)


def give(conn: Connection, card_id: str, handle: Handle | None, *, at_ms: int) -> None:
    """Note with what a card can be changed from now on; None when it was."""
    until = at_ms + handle.lasts_s * 1000 if handle else None
    conn.run(_GIVE, card_id=card_id, handle=handle.value if handle else None, until=until)


def handle(conn: Connection, card_id: str, *, now_ms: int) -> str | None:
    """Return what a card can be changed with now."""
    row = conn.one(_HANDLE, card_id=card_id, now=now_ms)
    return row["handle"] if row else None


def end(conn: Connection, task_id: str) -> list[str]:
    """Return the cards of a task that still say that it waits; each once."""
    return [row["card_id"] for row in conn.all(_END, task_id=task_id)]


def up(conn: Connection, task_id: str) -> list[str]:
    """Return the cards of a task that say that it waits, and go on doing so for now."""
    return [row["card_id"] for row in conn.all(_UP, task_id=task_id)]


def task_of(conn: Connection, card_id: str) -> str | None:
    """Return the task that a card was put up for."""
    row = conn.one(_TASK, card_id=card_id)
    return row["task_id"] if row else None
