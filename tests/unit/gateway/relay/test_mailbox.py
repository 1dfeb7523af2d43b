"""The relay's port on a real store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from common.protocol.envelope import agent_name, gateway_name
from gateway.relay.mailbox import CONNECTIONS
from gateway.relay.ports import Departure, Sweep
from gateway.store import agents
from tests.gateway_desk import AGENT, MACHINE, NOON_MS, Desk, open_desk


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with open_desk(tmp_path) as desk:
        yield desk


async def test_whoever_knocks_changes_nothing(desk: Desk) -> None:
    await desk.connect()
    known = await desk.mailbox.lookup(AGENT)
    assert known is not None
    assert known.public_key == desk.agent_key.public
    assert await desk.mailbox.acked(AGENT, epoch=desk.epoch, seq=0)
    assert await desk.mailbox.lookup("nobody") is None


@pytest.mark.requirement("R11")
async def test_what_a_connection_may_comes_from_its_record(desk: Desk) -> None:
    await desk.ask()
    connected = await desk.mailbox.connect(AGENT)
    assert connected is not None
    assert (connected.epoch, connected.recv_seq, connected.assigned_seq) == (1, 0, 1)
    assert connected.public_key == desk.agent_key.public
    assert any("agent.connected" in body for body in await desk.audited())


async def test_a_revoked_agent_is_unknown_cannot_connect_and_is_found_by_the_sweep(
    desk: Desk,
) -> None:
    await desk.connect()
    await desk.ask()
    assert await desk.mailbox.sweep() == Sweep([AGENT], [])
    await desk.write(agents.revoke, MACHINE, at_ms=NOON_MS)
    assert await desk.mailbox.lookup(AGENT) is None
    assert await desk.mailbox.connect(AGENT) is None
    assert (await desk.mailbox.sweep()).revoked == [AGENT]


async def test_a_connection_that_was_taken_over_can_neither_ack_nor_say_goodbye(
    desk: Desk,
) -> None:
    await desk.ask()
    await desk.connect()
    old = desk.epoch
    await desk.connect()
    assert not await desk.mailbox.acked(AGENT, epoch=old, seq=1)
    await desk.mailbox.disconnected(Departure(AGENT, old, NOON_MS))
    agent = await desk.store.read(agents.find, AGENT)
    assert agent is not None
    assert agent.online
    assert await desk.mailbox.acked(AGENT, epoch=desk.epoch, seq=1)


@pytest.mark.requirement("R16")
async def test_frames_are_signed_by_this_gateway_for_this_agent(desk: Desk) -> None:
    await desk.ask()
    (envelope,) = await desk.mail()
    assert envelope.header.iss == gateway_name(desk.gateway_key.public)
    assert envelope.header.aud == agent_name(AGENT)
    assert envelope.header.exp - envelope.header.iat == 8 * 3600


async def test_a_machine_that_comes_and_goes_cannot_fill_the_audit_log(desk: Desk) -> None:
    for _ in range(CONNECTIONS + 20):
        await desk.connect()
    told = [body for body in await desk.audited() if "agent.connected" in body]
    assert len(told) == CONNECTIONS
