"""Tells members, once for each outage, of a machine that went with tasks of theirs.

Their last word of a task was “sent to dev-1”, or that it runs or waits there: it must not stay the
last while nobody takes the task in, or can say what comes of it.  What was asked for during the
outage was answered with it (`replies.QUEUED`).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo
from itertools import groupby
from typing import Final

from common.clock import Instant
from common.sentences import Sentence
from gateway.flow.outbox import OFFLINE, tell
from gateway.flow.replies import Speaker, as_list
from gateway.store import Connection, outbox, tasks
from gateway.store.tasks import Stranded

GRACE_MS: Final = 30_000  # who is back so soon is not missed …
LONG_MS: Final = 600_000  # … nor, for so long, what goes on there without us
AGAIN_MS: Final = 3_600_000  # until a machine that comes and goes is told of with the same tasks
SETTLE_S: Final = 75.0  # after a start: machines try again within a minute

SINCE = Sentence(en="{machine} has been offline since {since}.", zh="{machine} 自 {since} 起离线。")
KEPT = Sentence(
    en="It has not received {ids} yet: kept until {until} and sent when it is back.\n"
    "To take back: {prefix} cancel {id}",
    zh="它还没有收到 {ids}：保留到 {until}，上线后即发送。\n撤回：{prefix} 取消 {id}",
)
ANY_ID = Sentence(en="ID", zh="编号")
OUT_OF_REACH = Sentence(
    en="Already there: {ids}. You will get the outcome here when the machine is back.",
    zh="已在该开发机上：{ids}。上线后在这里告知结果。",
)


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
        speaker = Speaker(newest.lang, zone, at.wall_ms)
        tell(conn, newest, key, render(group, speaker, prefix=prefix), at=at)
    return len(due)


def render(gone: Sequence[Stranded], speaker: Speaker, *, prefix: str) -> str:
    """Say that a machine is gone, and what that means for tasks of one member."""
    say, first = speaker.say, gone[0]
    lines = [say(SINCE, machine=first.machine, since=speaker.hour(first.since_at))]
    if waits := [one.task for one in gone if one.waits]:
        ids = tuple(task.short_id for task in waits)
        until = speaker.hour(min(task.expires_at for task in waits))
        which = ids[0] if len(ids) == 1 else say(ANY_ID)
        lines.append(say(KEPT, ids=ids, until=until, prefix=prefix, id=which))
    if there := tuple(one.task.short_id for one in gone if not one.waits):
        lines.append(say(OUT_OF_REACH, ids=there))
    return as_list(lines)


def _key(one: Stranded) -> str:
    task = one.task
    return f"{OFFLINE}:{task.agent_id}:{one.epoch}:{task.app}:{task.user_id}:{task.chat}"


def _is_due(conn: Connection, key: str, group: list[Stranded], now_ms: int) -> bool:
    if not any(one.waits for one in group) and now_ms - group[0].since_at < LONG_MS:
        return False
    # In their order, so the last one is the newest.
    told_at = outbox.told_at(conn, group[-1].task.task_id, key, prefix=OFFLINE)
    return now_ms - told_at >= AGAIN_MS
