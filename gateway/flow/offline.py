"""Tells members, once for each outage, of a machine that went with tasks of theirs.

Their last word of a task was “sent to dev-1”, or that it runs or waits there: it must not stay the
last while nobody takes the task in, or can say what comes of it.  What was asked for during the
outage was answered with it (`replies.QUEUED`).
"""

from __future__ import annotations

from datetime import tzinfo
from itertools import groupby
from typing import Final

from common.clock import Instant
from gateway.flow.outbox import OFFLINE, tell
from gateway.flow.replies import Speaker
from gateway.store import Connection, outbox, tasks
from gateway.store.tasks import Stranded

GRACE_MS: Final = 30_000  # who is back so soon is not missed …
LONG_MS: Final = 600_000  # … nor, for so long, what goes on there without us
AGAIN_MS: Final = 3_600_000  # until a machine that comes and goes is told of with the same tasks
SETTLE_S: Final = 75.0  # after a start: machines try again within a minute


def find(conn: Connection, at: Instant) -> dict[str, list[Stranded]]:
    """Return by its key what is to be told; of each outage and member all in one."""
    found = tasks.stranded(conn, before_ms=at.wall_ms - GRACE_MS)
    groups = groupby(sorted(found, key=_key), key=_key)
    return {
        key: group for key, those in groups if _is_due(conn, key, group := [*those], at.wall_ms)
    }


def tell_members(conn: Connection, at: Instant, *, zone: tzinfo, prefix: str) -> int:
    """Queue what is to be told; returns how many messages that makes."""
    due = find(conn, at)
    for key, group in due.items():
        newest = group[-1].task
        text = Speaker(newest.lang, zone, at.wall_ms).offline(group, prefix=prefix)
        tell(conn, newest, key, text, at=at)
    return len(due)


def _key(one: Stranded) -> str:
    task = one.task
    return f"{OFFLINE}:{task.agent_id}:{one.epoch}:{task.app}:{task.user_id}:{task.chat}"


def _is_due(conn: Connection, key: str, group: list[Stranded], now_ms: int) -> bool:
    if not any(one.waits for one in group) and now_ms - group[0].since_at < LONG_MS:
        return False
    # In their order, so the last one is the newest.
    told_at = outbox.told_at(conn, group[-1].task.task_id, key, prefix=OFFLINE)
    return now_ms - told_at >= AGAIN_MS
