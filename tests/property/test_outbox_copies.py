"""What counts as sent was shown, whatever WeCom's duplicate check drops; and hardly ever twice.

The outbox, the channel and the client are the real ones; WeCom is the simulator's, whose check
compares what it is asked to check with all that it was ever given (page 90236).
"""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.clock import ManualClock
from common.model.state import Reason, TaskState
from common.text import CHAT_BYTES
from gateway.base.messages import Conversation, Outgoing, SendOutcome
from gateway.channels.wecom_app import _send
from gateway.flow.outbox import Outbox
from gateway.flow.replies import Speaker
from gateway.simulator.api import SimulatedApp
from gateway.simulator.config import AppConfig
from gateway.simulator.feed import Feed
from gateway.store import Connection, members, outbox, outbox_admin
from gateway.store.runner import SqliteRunner, open_store
from gateway.store.tasks import Task
from gateway.wecom.client import WeComClient, _FailedError, _Token, unreachable
from tests.gateway_desk import AGENT, MACHINE, NOON_MS, USER, ZONE, fresh_store, logger
from tests.people import alone, someone

pytestmark = [pytest.mark.requirement("P3", "P7")]

ANSWER = "The cache is read first. 先读缓存，再读文件。" * 70  # three messages
SPEAKER = Speaker("en", ZONE, NOON_MS)
# A short answer that may be the same as another one, a progress line, the end of a task.
ASKED = st.sampled_from(["help", "progress", "end"])
FATES = st.lists(st.sampled_from(["busy", "lost", "unanswered", "killed", "arrives"]), max_size=14)


class Line(WeComClient):
    """The client, with the simulated WeCom in the place of the network."""

    def __init__(self, clock: ManualClock, fates: list[str]) -> None:
        """Make both; what happens to a call is given in turn."""
        corp: Any = {"corp_id": "ww1", "agent_id": 7, "corp_secret": "s", "session": None}
        super().__init__(api_base="http://127.0.0.1:1", clock=clock, **corp)
        config = AppConfig("main", "ww1", 7, "http://127.0.0.1:1/", "", "", "")
        self.feed = Feed()
        self.wecom = SimulatedApp(config, self.feed, clock=clock)
        self.fates = fates
        self.checked = False

    def bubbles(self) -> list[str]:
        """Return what the member sees."""
        return [message.text for message in self.feed.messages(0)]

    async def _valid_token(self, *, dead: _Token | None) -> _Token:
        return _Token("t", float("inf"))

    async def _post(self, token: _Token, name: str, message: dict[str, object]) -> dict[str, Any]:
        self.checked = message.get("enable_duplicate_check") == 1
        fate = self.fates.pop(0) if self.fates else "arrives"
        if fate == "busy":
            return {"errcode": -1, "errmsg": "system busy"}
        answer = self.wecom.send(message) if fate != "lost" else {}
        if fate == "killed":
            raise asyncio.CancelledError
        if fate != "arrives":
            raise _FailedError(unreachable(maybe_sent=True))
        return answer


@dataclass
class Shown:
    """What became of each message."""

    times: Counter[int] = field(default_factory=Counter)
    unsure: set[int] = field(default_factory=set)  # an earlier try may have arrived
    asked_anew: Counter[int] = field(default_factory=Counter)
    wanted: set[int] = field(default_factory=set)  # asked anew, and not tried since


@settings(max_examples=max(30, settings().max_examples // 5))
@given(st.lists(ASKED, min_size=2, max_size=6), FATES, st.sets(st.integers(0, 20), max_size=3))
def test_what_counts_as_sent_was_shown_once_or_as_a_copy_once_more(
    asked: list[str], fates: list[str], retries: set[int]
) -> None:
    _play(asked, fates, retries)


def test_the_same_answer_twice_arrives_twice_though_a_try_is_lost() -> None:
    for fates in (["arrives"] * 3 + ["arrives", "lost"], ["arrives"] * 4 + ["lost", "unanswered"]):
        _play(["end", "end"], fates)


def test_two_short_answers_that_say_the_same_both_arrive_after_a_retry() -> None:
    fates = ["lost", "unanswered", "arrives", "lost", "arrives"]
    _play(["help", "help", "help"], fates)


def _play(asked: list[str], fates: list[str], retries: Collection[int] = ()) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(fresh_store(Path(folder)))
        asyncio.run(_send_all(store, asked, list(fates), retries))


async def _send_all(
    store: SqliteRunner, asked: list[str], fates: list[str], retries: Collection[int]
) -> None:
    clock = ManualClock(NOON_MS)
    line = Line(clock, fates)
    shown, current = Shown(), 0

    async def deliver(to: Conversation, what: Outgoing) -> SendOutcome:
        line.checked, before = False, len(line.bubbles())
        try:
            outcome = await _send(line, to.user, what)
            shown.unsure |= {current} if outcome.maybe_sent else set()
        except asyncio.CancelledError:
            shown.unsure.add(current)
            raise
        finally:
            assert not line.checked or current in unsure, "checked, and no copy"
            assert not line.checked or current not in shown.wanted, "an admin wants it sent"
            shown.wanted.discard(current)
            shown.times[current] += len(line.bubbles()) - before
        return outcome

    try:
        await store.write(members.add, someone(USER), lang=None, role=None, at_ms=NOON_MS)
        for number, kind in enumerate(asked):
            await store.write(_put, kind, number)
        sender = Outbox(store, deliver, clock=clock, log=logger())
        for step in range(80):
            if step in retries:
                await _ask_anew(store, shown, clock)
            for message in (await sender._claim(8)).messages:
                current, unsure = message.id, {*shown.unsure}
                try:
                    await sender._deliver(message)
                except asyncio.CancelledError:
                    await store.write(outbox.recover)
                    sender = Outbox(store, deliver, clock=clock, log=logger())
                    break
            states = await store.read(_states)
            if not line.fates and {*states.values()} == {"sent"}:
                break
            clock.advance(20.0)
    finally:
        await store.close()
    assert {*states.values()} == {"sent"}
    for one in states:
        assert shown.times[one] >= 1, f"{one} counts as sent and was never shown"
        assert shown.times[one] <= 2 + shown.asked_anew[one]
    copies = [text for text in line.bubbles() if "perhaps a copy" in text]
    assert len({*copies}) == len(copies), "no two marked copies are the same"
    assert len(copies) <= sum(shown.times[one] for one in shown.unsure)
    assert all(len(text.encode()) < CHAT_BYTES for text in line.bubbles()), "and nothing is cut off"


async def _ask_anew(store: SqliteRunner, shown: Shown, clock: ManualClock) -> None:
    for one, state in (await store.read(_states)).items():
        if state == "queued":
            assert await store.write(outbox_admin.retry, one, at_ms=clock.now().wall_ms)
            shown.asked_anew[one] += 1
            shown.wanted.add(one)
            return


def _states(conn: Connection) -> dict[int, str]:
    return {row["id"]: row["state"] for row in conn.all("SELECT id, state FROM outbox")}


def _put(conn: Connection, kind: str, number: int) -> None:
    to, at_ms = alone(USER), NOON_MS
    if kind == "help":
        outbox.put(conn, f"help:{number}", "Send @dev help.", to=to, at_ms=at_ms)
    elif kind == "progress":
        where: Any = {"to": to, "task_id": f"p-{number}", "at_ms": at_ms}
        outbox.put_progress(conn, str(number), "T-7K3F on dev-1: running", **where)
    else:
        task = _task(number)
        for part, text in enumerate(SPEAKER.final(task, MACHINE, Reason.COMPLETED, ANSWER)):
            key = f"final:{number}:{part}"
            outbox.put(conn, key, text, to=to, at_ms=at_ms, task_id=task.task_id)


def _task(number: int) -> Task:
    return Task(
        task_id=f"t-{number}",
        short_id=f"T-7K3{number}",
        agent_id=AGENT,
        app="main",
        user_id=USER,
        chat="",
        channel="wecom_app",
        text="@dev why",
        lang="en",
        state=TaskState.PROPOSING,
        envelope_sha256="0" * 64,
        created_at=NOON_MS,
        updated_at=NOON_MS,
        expires_at=NOON_MS,
    )
