"""The hub: who is here, the slow poll behind the hints, and the bounds before authentication."""

from __future__ import annotations

import asyncio

import pytest

from common.errors import StoreError
from common.protocol.link import Received
from gateway.relay.hub import Hub, Lobby
from tests.unit.gateway.relay.doubles import AGENT_ID, Scene, silent_log


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
    await agent.next(Received)


@pytest.mark.requirement("R14")
async def test_the_session_of_a_revoked_agent_is_closed_by_the_sweep(scene: Scene) -> None:
    agent = await scene.connect()
    scene.record.revoked = True
    await scene.hub.sweep()
    assert await agent.closed_with() == "revoked"
    assert not scene.hub.online(AGENT_ID)


async def test_nobody_here_means_no_question_to_the_store(scene: Scene) -> None:
    scene.store.failing = True
    await scene.hub.sweep()


async def test_the_sweeps_go_on_after_a_store_error(scene: Scene) -> None:
    hub = Hub(scene.store, log=silent_log(), wrong_key=scene._note_wrong_key, sweep_seconds=0.001)
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
    scene.hub.wake("nobody")
    scene.hub.dismiss("nobody", "revoked")


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
    second = scene.dial()
    assert await second.closed_with() == "taken-over"
    scene.store.put()
    scene.hub.wake(AGENT_ID)
    await first.next(Received)


@pytest.mark.requirement("R13")
def test_one_address_gets_eight_places() -> None:
    lobby = Lobby()
    places = [lobby.enter("192.0.2.1") for _ in range(8)]
    assert all(places)
    assert lobby.enter("192.0.2.1") is None
    assert lobby.enter("192.0.2.2") is not None


@pytest.mark.requirement("R13")
def test_all_addresses_together_get_sixty_four_places() -> None:
    lobby = Lobby()
    assert all(lobby.enter(f"192.0.2.{number // 8}") for number in range(64))
    assert lobby.enter("198.51.100.1") is None


def test_a_place_is_given_back_once_however_often_it_is_left() -> None:
    lobby = Lobby(total=2, per_address=1)
    leave = lobby.enter("a")
    assert leave is not None
    assert lobby.enter("b") is not None
    leave()
    leave()
    assert lobby.enter("a") is not None
    assert lobby.enter("c") is None
