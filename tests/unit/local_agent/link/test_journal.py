"""`link.journal`: messages into the journal, reports out of it, over the real one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from common.clock import ManualClock
from common.errors import RemoteProtocolError
from common.keystore import FileKeystore
from common.protocol.envelope import agent_name, gateway_name, open_envelope
from local_agent.link.journal import JournalInbound, JournalOutbound, gateway_peer
from local_agent.link.keys import AgentKeys
from local_agent.link.pairing import Pairing
from local_agent.store.heads import EVERY
from local_agent.store.journal import JournalThread
from tests.sealed import AGENT, AGENT_ID, GATEWAY, from_gateway


class RecordingEngine:
    def __init__(self) -> None:
        self.begun: list[str] = []
        self.stopped: list[str] = []

    def begin(self, task_id: str) -> None:
        self.begun.append(task_id)

    def stop(self, task_id: str) -> None:
        self.stopped.append(task_id)


class Desk:
    def __init__(self, db: JournalThread, clock: ManualClock) -> None:
        self.db = db
        self.clock = clock
        self.engine = RecordingEngine()
        self.inbound = JournalInbound(db, self.engine)
        self.outbound = JournalOutbound(db, self)
        self.rung = asyncio.Event()
        self.settled = 0
        db.on_report = self.rung.set

    async def acked(self) -> None:
        self.settled += 1


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    clock = ManualClock()
    pairing = Pairing(
        url="https://gw.example",
        agent_id=AGENT_ID,
        machine="m",
        gateway_key=GATEWAY.public,
        agent_key_id=AGENT.public.key_id,
        paired_at=0,
    )
    keystore = FileKeystore(tmp_path / "keys")
    await asyncio.to_thread(keystore.put, pairing.key_name, AGENT.private_bytes())
    keys = AgentKeys(keystore, pairing)
    peer = gateway_peer(pairing, keys, clock)
    db = await JournalThread.open(tmp_path / "j.db", clock=clock, key=keys.present, peer=peer)
    yield Desk(db, clock)
    await db.close()


@pytest.mark.requirement("P3")
async def test_a_cancel_ahead_of_its_turn_stops_its_task_and_nothing_else(desk: Desk) -> None:
    await desk.inbound.keep(from_gateway(desk.clock, 1))
    await desk.inbound.obey_ahead(from_gateway(desk.clock, 3))
    await desk.inbound.obey_ahead(from_gateway(desk.clock, 4, typ="cancel", task_id="task-2"))
    assert desk.engine.stopped == []
    await desk.inbound.obey_ahead(from_gateway(desk.clock, 5, typ="cancel", task_id="task-1"))
    assert desk.engine.stopped == ["task-1"]
    assert await desk.inbound.last_seq() == 1


async def test_a_task_is_kept_before_it_is_begun(desk: Desk) -> None:
    assert await desk.inbound.last_seq() == 0
    envelope = from_gateway(desk.clock, 1)
    await desk.inbound.keep(envelope)
    assert desk.engine.begun == []
    assert await desk.inbound.last_seq() == 1
    await desk.inbound.begin(envelope)
    assert desk.engine.begun == ["task-1"]


async def test_whatever_leaves_a_report_rings_also_when_nobody_waits_for_it(desk: Desk) -> None:
    begun, left = threading.Event(), threading.Event()

    def fill() -> None:
        begun.set()
        left.wait(5)
        for _ in range(EVERY):
            desk.db.journal.audit.append("test.entry")

    waiting = asyncio.ensure_future(desk.db.run(fill))
    await asyncio.to_thread(begun.wait, 5)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    left.set()
    await asyncio.wait_for(desk.rung.wait(), 30)
    ((_, frame),) = await desk.outbound.unsent(0, 10)
    assert b'"head"' in frame


async def test_what_leaves_no_report_does_not_ring(desk: Desk) -> None:
    await desk.db.run(desk.db.journal.tasks.recent)
    await asyncio.sleep(0)
    assert not desk.rung.is_set()


@pytest.mark.requirement("P3")
async def test_a_task_that_was_kept_before_is_not_begun_again(desk: Desk) -> None:
    envelope = from_gateway(desk.clock, 1)
    for _ in range(2):
        await desk.inbound.keep(envelope)
        await desk.inbound.begin(envelope)
    assert desk.engine.begun == ["task-1"]


async def test_a_task_that_came_too_late_is_reported_and_never_begun(desk: Desk) -> None:
    envelope = from_gateway(desk.clock, 1, expired=True)
    await desk.inbound.keep(envelope)
    await desk.inbound.begin(envelope)
    await asyncio.wait_for(desk.rung.wait(), 30)
    assert desk.engine.begun == []
    ((seq, frame),) = await desk.outbound.unsent(0, 10)
    report = open_envelope(
        frame,
        key=AGENT.public,
        iss=agent_name(AGENT_ID),
        aud=gateway_name(GATEWAY.public),
        at=desk.clock.now(),
    )
    assert (seq, report.header.seq, report.body["reason"]) == (1, 1, "expired")


async def test_a_cancel_reaches_the_engine_and_a_tombstone_only_the_count(desk: Desk) -> None:
    await desk.inbound.keep(from_gateway(desk.clock, 1))
    for envelope in (
        from_gateway(desk.clock, 2, typ="cancel", task_id="task-1"),
        from_gateway(desk.clock, 3, typ="tombstone", task_id="task-9"),
    ):
        await desk.inbound.keep(envelope)
        await desk.inbound.begin(envelope)
    assert desk.engine.stopped == ["task-1"]
    assert await desk.inbound.last_seq() == 3


@pytest.mark.requirement("P3")
async def test_a_cancel_that_was_kept_needs_nothing_more_of_the_journal_to_take_effect(
    desk: Desk,
) -> None:
    await desk.inbound.keep(from_gateway(desk.clock, 1))
    cancel = from_gateway(desk.clock, 2, typ="cancel", task_id="task-1")
    await desk.inbound.keep(cancel)
    await desk.db.run(desk.db.journal._db.run, "PRAGMA query_only = ON")  # as a full disk
    await desk.inbound.begin(cancel)
    assert desk.engine.stopped == ["task-1"]


async def test_reports_are_forgotten_once_acknowledged(desk: Desk) -> None:
    for seq in (1, 2):
        envelope = from_gateway(desk.clock, seq, expired=True)
        await desk.inbound.keep(envelope)
    assert [seq for seq, _ in await desk.outbound.unsent(0, 1)] == [1]
    await desk.outbound.acked(1)
    assert [seq for seq, _ in await desk.outbound.unsent(0, 10)] == [2]
    with pytest.raises(RemoteProtocolError):
        await desk.outbound.acked(9)
