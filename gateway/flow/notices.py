"""What a member is told of a task, in the conversation in which they asked for it."""

from __future__ import annotations

from common.clock import Instant
from gateway.store import Connection, agents, members, outbox
from gateway.store.tasks import Task


def tell(conn: Connection, task: Task, key: str, text: str, *, at: Instant) -> None:
    """Queue what came of a task; whoever was removed from the members is told nothing more.

    Args:
        conn: A writing transaction.
        task: Of what.
        key: Idempotency key: the same occasion is told once.
        text: Within the size of one message.
        at: Now.
    """
    if members.look_up(conn, task.user_id) is not None:
        outbox.put(
            conn,
            key,
            text,
            channel=task.channel,
            user_id=task.user_id,
            at_ms=at.wall_ms,
            task_id=task.task_id,
        )


def tell_progress(
    conn: Connection, task: Task, key: str, line: str, *, at: Instant, after_ms: int = 0
) -> None:
    """Queue a progress line, in the place of one that still waits.

    Args:
        conn: A writing transaction.
        task: Of what.
        key: Idempotency key.
        line: The line.
        at: Now.
        after_ms: How long it waits for something truer.
    """
    if members.look_up(conn, task.user_id) is not None:
        outbox.put_progress(
            conn,
            key,
            line,
            channel=task.channel,
            user_id=task.user_id,
            task_id=task.task_id,
            at_ms=at.wall_ms,
            after_ms=after_ms,
        )


def machine_of(conn: Connection, task: Task) -> str:
    """Return the name of the machine that a task went to."""
    agent = agents.find(conn, task.agent_id)
    return agent.machine if agent else ""
