"""The hub: who is here, the sweep behind the hints, the one timer, and the bounds before proof."""

from __future__ import annotations

import asyncio

import pytest

from common.clock import ManualClock, SystemClock
from common.errors import StoreError
from common.protocol.flow_control import CONNECTION, FRAMES, FRAMES_PER_SECOND
from common.protocol.link import Closed, Received
from common.protocol.link_events import websocket_code
from common.signing import SigningKey
from gateway.link.hub import GRAIN_S, SWEEP_SECONDS, DeadlineTimer, Hub
from tests.unit.gateway.link.doubles import ADDRESS, AGENT_ID, Scene, silent_log


@pytest.fixture
async def scene() -> Scene:
    return Scene()


async def test_an_agent_is_online_from_its_proof_to_its_end(scene: Scene) -> None:
    assert not scene.hub.online(AGENT_ID)
    agent = await scene.connect()
    assert scene.hub.online(AGENT_ID)
    agent.wire.to_gateway.put_nowait(None)
    await scene.settle()
    assert not scene.hub.online(AGENT_ID)
    assert scene.proved == 1


@pytest.mark.requirement("P3")
async def test_a_lost_hint_costs_one_sweep_and_no_message(scene: Scene) -> None:
    agent = await scene.connect()
    scene.store.put()
    await scene.hub.sweep()
    assert (await agent.next(Received)).envelope.header.seq == 1


@pytest.mark.requirement("R14")
async def test_the_session_of_a_revoked_agent_is_closed_by_the_sweep(scene: Scene) -> None:
    agent = await scene.connect()
    scene.record.revoked = True
    await scene.hub.sweep()
    assert await agent.closed_with() == "revoked"
    assert not scene.hub.online(AGENT_ID)
    assert SWEEP_SECONDS <= 5


async def test_nobody_here_means_no_question_to_the_store(scene: Scene) -> None:
    scene.store.failing = True
    await scene.hub.sweep()  # it would raise
    assert not scene.hub.online(AGENT_ID)


async def test_the_sweeps_go_on_after_a_store_error(scene: Scene) -> None:
    hub = Hub(
        scene.store,
        clock=scene.clock,
        log=silent_log(),
        note=scene.note_alarm,
        sweep_seconds=0.001,
    )
    scene.hub = hub
    agent = await scene.connect()
    scene.store.failing = True
    sweeps = asyncio.create_task(hub.run())
    for _ in range(20):
        await asyncio.sleep(0.001)
    scene.store.put()
    scene.store.failing = False
    await agent.next(Received)
    sweeps.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sweeps


@pytest.mark.requirement("P7")
async def test_an_end_that_the_store_did_not_take_is_recorded_by_a_later_sweep(
    scene: Scene,
) -> None:
    agent = await scene.connect()
    left_at_ms = scene.clock.now().wall_ms
    scene.store.failing = True
    agent.wire.to_gateway.put_nowait(None)
    await scene.settle()
    scene.clock.advance(30)
    with pytest.raises(StoreError):
        await scene.hub.sweep()
    assert scene.record.online
    scene.store.failing = False
    await scene.hub.sweep()
    assert (scene.record.online, scene.record.left_at_ms) == (False, left_at_ms)
    goodbyes = scene.store.goodbyes
    await scene.hub.sweep()
    assert scene.store.goodbyes == goodbyes


async def test_an_end_that_is_recorded_late_spoils_no_newer_connection(scene: Scene) -> None:
    agent = await scene.connect()
    scene.store.failing = True
    agent.wire.to_gateway.put_nowait(None)
    await scene.settle()
    scene.store.failing = False
    await scene.connect()
    await scene.hub.sweep()
    assert scene.record.online


async def test_waking_or_dismissing_someone_who_is_not_here_does_nothing(scene: Scene) -> None:
    agent = await scene.connect()
    scene.hub.wake("nobody")
    scene.hub.dismiss("nobody", "revoked")
    scene.store.put()
    scene.hub.wake(AGENT_ID)
    assert (await agent.next(Received)).envelope.header.seq == 1
    assert not [event for event in agent.events if isinstance(event, Closed)]


async def test_everyone_is_told_when_the_gateway_goes(scene: Scene) -> None:
    proved = await scene.connect()
    knocking = scene.dial()
    await knocking.read_one()
    scene.hub.close()
    assert await proved.closed_with() == "shutdown"
    assert '"shutdown"' in (await knocking.end())[-1]
    await scene.settle()


async def test_of_two_connections_the_later_epoch_stays_whatever_came_first(scene: Scene) -> None:
    first = await scene.connect()
    scene.sessions[0].epoch = 9
    second = scene.dial(address="192.0.2.2")
    assert await second.closed_with() == "taken-over"
    told = {"agent": AGENT_ID, "address": ADDRESS, "before": "192.0.2.2"}
    assert scene.alarms == [("agent.taken-over", told)]
    scene.store.put()
    scene.hub.wake(AGENT_ID)
    await first.next(Received)


@pytest.mark.requirement("R13")
async def test_a_key_that_sends_too_much_is_sent_away_and_the_alarm_raised(scene: Scene) -> None:
    agent = await scene.connect()
    for number in range(FRAMES):
        agent.say({"t": "ping", "n": number})
    assert await agent.closed_with() == "too-fast"
    await scene.settle()
    assert scene.alarms == [("agent.too-fast", {"agent": AGENT_ID, "address": ADDRESS})]
    assert agent.wire.code == websocket_code("too-fast")


@pytest.mark.requirement("R13")
async def test_hanging_up_does_not_empty_what_a_key_has_spent(scene: Scene) -> None:
    agent = await scene.connect()
    for number in range(FRAMES - 2 * CONNECTION):
        agent.say({"t": "ping", "n": number})
    agent.wire.to_gateway.put_nowait(None)
    await scene.settle()
    await scene.hub.sweep()
    await scene.connect()
    assert await scene.dial().closed_with() == "too-fast"
    assert scene.record.epoch == 2, "who comes back too often costs the store nothing"


@pytest.mark.requirement("R13")
async def test_after_a_while_a_key_may_do_all_again(scene: Scene) -> None:
    agent = await scene.connect()
    for number in range(FRAMES):
        agent.say({"t": "ping", "n": number})
    await agent.closed_with()
    await scene.settle()
    scene.clock.advance(FRAMES / FRAMES_PER_SECOND)
    await scene.hub.sweep()
    again = await scene.connect()
    for number in range(FRAMES - 2 * CONNECTION):
        again.say({"t": "ping", "n": number})
    scene.store.put()
    scene.hub.wake(AGENT_ID)
    assert (await again.next(Received)).envelope.header.seq == 1


@pytest.mark.requirement("R13")
async def test_an_impostor_spends_nothing_of_the_key_it_claims(scene: Scene) -> None:
    for _ in range(FRAMES // CONNECTION + 1):
        impostor = scene.dial(key=SigningKey.generate())
        await impostor.read_one()
        await impostor.end()
    await scene.settle()
    await scene.connect()
    assert scene.record.epoch == 1


class Peer:
    """A session that only has a deadline."""

    def __init__(self, deadline: float | None) -> None:
        self.round = 0
        self.deadline = deadline
        self.rings = 0
        self.rung = asyncio.Event()

    def next_deadline(self) -> float | None:
        """Return what the test set."""
        return self.deadline

    def ring(self) -> None:
        """Count."""
        self.rings += 1
        self.rung.set()


def start(*after: float) -> tuple[ManualClock, DeadlineTimer[Peer], list[Peer]]:
    """Return a watch over peers whose deadlines are so many seconds away."""
    clock = ManualClock()
    watch: DeadlineTimer[Peer] = DeadlineTimer(clock)
    peers = [Peer(clock.now().mono + seconds) for seconds in after]
    for peer in peers:
        watch.add(peer)
    return clock, watch, peers


async def test_a_session_is_rung_when_its_deadline_has_come_and_not_before() -> None:
    clock, watch, (soon, later) = start(10.0, 20.0)
    clock.advance(9.9)
    watch.look()
    assert (soon.rings, later.rings) == (0, 0)
    clock.advance(0.1 + 2 * GRAIN_S)
    watch.look()
    assert (soon.rings, later.rings) == (1, 0)


async def test_a_deadline_that_moved_on_rings_nobody_until_it_comes() -> None:
    clock, watch, (peer,) = start(20.0)
    peer.deadline = clock.now().mono + 35.0
    clock.advance(20.0 + 2 * GRAIN_S)
    watch.look()
    assert peer.rings == 0
    clock.advance(15.0)
    watch.look()
    assert peer.rings == 1


async def test_who_does_not_move_on_is_rung_again() -> None:
    clock, watch, (peer,) = start(20.0)
    clock.advance(20.0 + 2 * GRAIN_S)
    watch.look()
    clock.advance(2 * GRAIN_S)
    watch.look()
    assert peer.rings == 2


async def test_a_link_that_closed_is_let_go_when_it_is_looked_at() -> None:
    clock, watch, (closed, open_still) = start(10.0, 20.0)
    closed.deadline = None
    assert set(watch) == {closed, open_still}
    clock.advance(10.0 + 2 * GRAIN_S)
    watch.look()
    assert (closed.rings, set(watch)) == (0, {open_still})


async def test_a_session_that_ended_is_forgotten_at_once_and_once_is_enough() -> None:
    clock, watch, (peer, other) = start(10.0, 10.0)
    watch.discard(peer)
    watch.discard(peer)
    assert set(watch) == {other}
    clock.advance(10.0 + 2 * GRAIN_S)
    watch.look()
    assert (peer.rings, other.rings) == (0, 1)


async def test_the_timer_strikes_by_itself_for_the_earliest_whoever_came_first() -> None:
    clock = SystemClock()
    watch: DeadlineTimer[Peer] = DeadlineTimer(clock)
    late, early = Peer(clock.now().mono + 60.0), Peer(clock.now().mono + 0.01)
    watch.add(late)
    watch.add(early)
    async with asyncio.timeout(30):
        await early.rung.wait()
    assert late.rings == 0
    watch.discard(early)
    watch.discard(late)


async def test_the_timer_is_wound_again_after_it_struck() -> None:
    clock = SystemClock()
    watch: DeadlineTimer[Peer] = DeadlineTimer(clock)
    peer = Peer(clock.now().mono)
    watch.add(peer)
    async with asyncio.timeout(30):
        await peer.rung.wait()
        peer.rung.clear()
        assert await peer.rung.wait(), "a second time"
    watch.discard(peer)
