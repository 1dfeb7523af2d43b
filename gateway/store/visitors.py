"""Store function of the first question about a message: who is it, and what have they asked for.

One statement, because it is asked for each message that comes in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

from common.sentences import Lang
from gateway.store.agents import Agent
from gateway.store.port import Connection, as_record

# How long WeCom may take to deliver a message that still counts, in seconds: what is older need not
# be looked through at every message.
_DELIVERY_S: Final = 3600
_FIND = """
    SELECT m.lang, m.chosen_agent_id, a.*,
    (SELECT COUNT(*) FROM (
        SELECT 1 FROM inbound
        WHERE user_id = :user_id AND created_s > :written_since AND received_at > :since
        ORDER BY created_s DESC LIMIT :messages
    ) AS recent) AS messages,
    (SELECT COUNT(*) FROM tasks WHERE user_id = :user_id AND reason IS NULL) AS open_tasks,
    (SELECT COUNT(*) FROM (
        SELECT 1 FROM mailbox q WHERE q.agent_id = a.agent_id AND q.acked_at IS NULL LIMIT :queued
    ) AS waiting) AS queued
    FROM members m LEFT JOIN bindings b ON b.user_id = m.user_id
    LEFT JOIN agents a ON a.agent_id = b.agent_id AND a.revoked_at IS NULL
    WHERE m.user_id = :user_id"""


@dataclass(frozen=True, slots=True)
class Visitor:
    """A member, as the store knows them at this moment.

    Attributes:
        lang: The language set for them; None to answer in the language of the message.
        machines: The agents that work for them, by name of the machine.
        chosen_agent_id: The one that they chose, which may not be among them any more.
        messages: How many came from them lately.
        open_tasks: How many tasks of theirs have not ended.
        queued: How many frames wait for each of their agents, whoever asked for them.
    """

    user_id: str
    lang: Lang | None
    machines: tuple[Agent, ...]
    chosen_agent_id: str | None
    messages: int
    open_tasks: int
    queued: Mapping[str, int]


def look_up(
    conn: Connection, user_id: str, *, since_ms: int, messages: int, queued: int
) -> Visitor | None:
    """Return a member; None for everyone else.

    Args:
        conn: A transaction.
        user_id: Exactly as the channel delivers it.
        since_ms: Messages that came later are counted.
        messages: Count so many at most.
        queued: Count so many frames of one agent at most.
    """
    rows = conn.all(
        _FIND,
        user_id=user_id,
        since=since_ms,
        written_since=since_ms // 1000 - _DELIVERY_S,
        messages=messages,
        queued=queued,
    )
    if not rows:
        return None
    # Sorted here: for the one row that there mostly is, a statement would sort as for a thousand.
    mine = sorted((row for row in rows if row["agent_id"] is not None), key=itemgetter("machine"))
    return Visitor(
        user_id,
        rows[0]["lang"],
        tuple(as_record(Agent, row) for row in mine),
        rows[0]["chosen_agent_id"],
        rows[0]["messages"],
        rows[0]["open_tasks"],
        {row["agent_id"]: row["queued"] for row in mine},
    )
