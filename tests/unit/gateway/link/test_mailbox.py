"""The relay's port on a real store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from common.errors import StoreError
from common.protocol.envelope import agent_name, gateway_name
from gateway.link import Departure, Sweep
from gateway.link.mailbox import CONNECTIONS
from gateway.store import agents
from tests.gateway_desk import AGENT, MACHINE, NOON_MS, Desk, open_desk

KEY_ID = "0123456789abcdef"


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


@pytest.mark.requirement("P3")
async def test_whoever_knocks_is_told_nothing_that_is_not_on_the_disk(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await desk.connect()
    store, order = desk.mailbox._store, list[str]()
    read, sync = store.read, store.sync

    async def noted_read(*args: Any, **kwargs: Any) -> Any:
        order.append("read")
        return await read(*args, **kwargs)

    async def noted_sync() -> None:
        order.append("sync")
        await sync()

    monkeypatch.setattr(store, "read", noted_read)
    monkeypatch.setattr(store, "sync", noted_sync)
    await desk.mailbox.lookup(AGENT)
    assert order == ["read", "sync"]


@pytest.mark.requirement("R11")
async def test_what_a_connection_may_comes_from_its_record(desk: Desk) -> None:
    await desk.ask()
    connected = await desk.mailbox.connect(AGENT, gateway_key_id=KEY_ID, last_seq=0)
    assert connected is not None
    assert (connected.epoch, connected.recv_seq, connected.waits) == (1, 0, True)
    assert connected.public_key == desk.agent_key.public
    assert any("agent.connected" in body for body in await desk.audited())


async def test_what_a_returning_machine_holds_is_delivered_and_need_not_be_looked_for(
    desk: Desk,
) -> None:
    await desk.ask()
    back = await desk.mailbox.connect(AGENT, gateway_key_id=KEY_ID, last_seq=1)
    assert back is not None
    assert not back.waits
    assert (await desk.mailbox.sweep()).waiting == []


@pytest.mark.requirement("R17")
async def test_a_machine_that_holds_what_was_never_sent_takes_nothing_over(desk: Desk) -> None:
    with pytest.raises(StoreError) as caught:
        await desk.mailbox.connect(AGENT, gateway_key_id=KEY_ID, last_seq=1)
    assert caught.value.code == "mailbox.agent-ahead"
    agent = await desk.store.read(agents.find, AGENT)
    assert agent is not None
    assert (agent.epoch, agent.online) == (0, False)


@pytest.mark.requirement("R17")
@pytest.mark.requirement("P3")
async def test_a_machine_that_forgot_what_it_acknowledged_takes_nothing_over(desk: Desk) -> None:
    await desk.connect()
    await desk.ask()
    await desk.mailbox.acked(AGENT, epoch=desk.epoch, seq=1)
    desk.clock.advance(8 * 86_400)
    await desk.upkeep.round()  # what it acknowledged is forgotten here as well
    with pytest.raises(StoreError) as caught:
        await desk.mailbox.connect(AGENT, gateway_key_id=KEY_ID, last_seq=0)
    assert caught.value.code == "mailbox.agent-behind"
    agent = await desk.store.read(agents.find, AGENT)
    assert agent is not None
    assert (agent.epoch, agent.online) == (desk.epoch, True), "the other copy stays connected"


@pytest.mark.requirement("P3")
async def test_what_a_clock_dated_ahead_holds_nobody_up_once_the_clock_was_put_back(
    desk: Desk,
) -> None:
    right_ms = desk.clock.now().wall_ms
    await desk.ask()
    desk.clock.jump_wall(8 * 3600 + 61)
    await desk.upkeep.round()
    desk.clock.jump_wall(-8 * 3600 - 61)
    await desk.connect()
    (tombstone,) = await desk.mail()
    assert (tombstone.header.typ, tombstone.header.iat) == ("tombstone", right_ms // 1000)


@pytest.mark.requirement("P3")
async def test_a_cancel_that_is_told_anew_waits_for_the_machine_that_comes_back(
    desk: Desk,
) -> None:
    task = await desk.ask()
    await desk.connect()
    await desk.hear(f"@dev cancel {task.short_id}")
    desk.clock.advance(301)
    await desk.disconnect()
    back = await desk.mailbox.connect(AGENT, gateway_key_id=KEY_ID, last_seq=2)
    assert back is not None
    assert back.waits


async def test_a_revoked_agent_is_unknown_cannot_connect_and_is_found_by_the_sweep(
    desk: Desk,
) -> None:
    await desk.connect()
    await desk.ask()
    assert await desk.mailbox.sweep() == Sweep([AGENT], [])
    await desk.write(agents.revoke, MACHINE, at_ms=NOON_MS)
    assert await desk.mailbox.lookup(AGENT) is None
    assert await desk.mailbox.connect(AGENT, gateway_key_id=KEY_ID, last_seq=0) is None
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
