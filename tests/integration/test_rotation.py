"""Keys are rotated on either side while the other is there, and after a crash at any step (P3).

Both halves are whole but for their processes: the gateway's endpoint, hub and store on loopback,
the agent's client and journal.  A crash is an exception at a step, after which both are started
anew from what is on the disk.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from common.audit import Fact
from common.clock import SystemClock
from common.keystore import FileKeystore
from common.protocol.envelope import CancelBody, EventBody
from common.signing import SigningKey
from gateway.base.identity import KeyRing, open_identity, sealer
from gateway.flow import rotation as gateway_rotation
from gateway.link.endpoint import AgentEndpoint, PreauthPool
from gateway.link.hub import Hub
from gateway.store import Store, agents, mailbox
from gateway.store.agents import Agent
from gateway.store.runner import open_store
from local_agent.link.client import GatewayClient
from local_agent.link.condition import Backoff, Ended
from local_agent.link.journal import JournalInbound, JournalOutbound, gateway_peer
from local_agent.link.keys import AgentKeys
from local_agent.link.pairing import Pairing, key_name
from local_agent.link.rotation import Rotation
from local_agent.store.journal import JournalThread
from local_agent.store.peers import KeysInUse
from tests.gateway_desk import Desk, fresh_store, logger

AGENT_ID = "agent-1"
PATIENCE = 30.0


class CrashError(Exception):
    """The process is gone."""


class Steps:
    """Counts the steps of both halves, and ends a process at one of them."""

    def __init__(self) -> None:
        self.crash_at = 0
        self.names: list[str] = []
        self.counting = False
        self.crashed = asyncio.Event()

    def take(self, name: str) -> None:
        """Note a step."""
        if not self.counting:
            return
        self.names.append(name)
        if len(self.names) == self.crash_at:
            self.crashed.set()
            raise CrashError(name)


class Stepwise:
    """Something whose named methods are a step before and a step after."""

    def __init__(self, inner: Any, steps: Steps, *names: str) -> None:
        self._inner = inner
        self._steps = steps
        self._names = names

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._inner, name)
        if name not in self._names:
            return method
        if asyncio.iscoroutinefunction(method):

            async def step(*args: Any, **facts: Any) -> Any:
                self._steps.take(f"before {name}")
                found = await method(*args, **facts)
                self._steps.take(f"after {name}")
                return found

            return step

        def plain(*args: Any, **facts: Any) -> Any:
            self._steps.take(f"before {name}")
            found = method(*args, **facts)
            self._steps.take(f"after {name}")
            return found

        return plain


class AtOnce(Backoff):
    """Waits for next to nothing, however often it failed."""

    def next_delay(self, ended: Ended) -> float:
        return min(super().next_delay(ended), 0.01)


class NoEngine:
    """Begins nothing."""

    def begin(self, task_id: str) -> None:
        """Do nothing."""

    def stop(self, task_id: str) -> None:
        """Do nothing."""


class GatewayHalf:
    """A gateway that runs."""

    def __init__(self, store: Store, ring: KeyRing, url: str, steps: Steps) -> None:
        clock = SystemClock()
        desk = Desk(store, clock, ring=ring)  # type: ignore[arg-type]  # a real clock, a real store
        deliveries: Any = Stepwise(desk.mailbox, steps, "connect", "received", "acked", "pending")
        self.hub = Hub(deliveries, clock=clock, log=logger(), note=_no_alarm, sweep_seconds=0.05)
        self.endpoint = AgentEndpoint(
            ring.offered,
            url,
            hub=self.hub,
            preauth=PreauthPool(),
            deliveries=deliveries,
            clock=clock,
            log=logger(),
        )


def _no_alarm(event: str, **_facts: Fact) -> None:
    """Take a wrong key in: a rotation that crashed tries two."""


class AgentHalf:
    """An agent that runs."""

    def __init__(self, db: JournalThread, keys: AgentKeys, pairing: Pairing, steps: Steps) -> None:
        clock = SystemClock()
        self.db = db
        self.keys = keys
        self.rotation = Rotation(db, keys, clock=clock, log=logger())
        inbound: Any = Stepwise(JournalInbound(db, NoEngine()), steps, "keep")
        outbound: Any = Stepwise(JournalOutbound(db, self.rotation), steps, "acked", "unsent")
        self.client = GatewayClient(
            pairing,
            self.rotation.link_keys,
            inbound=inbound,
            outbound=outbound,
            clock=clock,
            log=logger(),
            backoff=AtOnce(),
        )

    async def in_use(self) -> KeysInUse:
        """Return which keys are in use."""
        return await self.db.run(self.db.journal.peers.in_use)


class World:
    """What is on the two disks, and how the halves are started on it."""

    def __init__(self, folder: Path, store: Store, pairing: Pairing) -> None:
        self.folder = folder
        self.store = store
        self.pairing = pairing
        self.steps = Steps()
        self.reports = 0

    @asynccontextmanager
    async def gateway(self) -> AsyncIterator[GatewayHalf]:
        """Start the gateway."""
        ring = await asyncio.to_thread(open_identity, self.folder / "gateway")
        half = GatewayHalf(self.store, ring, self.pairing.url, self.steps)
        app = web.Application()
        app.add_routes(half.endpoint.routes())
        server = TestServer(app, port=int(self.pairing.url.rpartition(":")[2]))
        await server.start_server()
        sweeping = asyncio.create_task(half.hub.run())
        try:
            yield half
        finally:
            sweeping.cancel()
            half.hub.close()
            await server.close()

    @asynccontextmanager
    async def agent(self) -> AsyncIterator[AgentHalf]:
        """Start the agent."""
        keystore: Any = Stepwise(FileKeystore(self.folder / "keys"), self.steps, "put", "delete")
        keys = AgentKeys(keystore, self.pairing)
        db = await JournalThread.open(
            self.folder / "journal.db",
            clock=SystemClock(),
            key=keys.present,
            peer=gateway_peer(self.pairing, keys, SystemClock()),
        )
        half = AgentHalf(db, keys, self.pairing, self.steps)
        await half.rotation.settle()
        running = asyncio.create_task(half.client.run())
        try:
            yield half
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            await db.close()

    async def record(self) -> Agent:
        """Return what the gateway has on record."""
        found = await self.store.read(agents.find, AGENT_ID)
        assert found is not None
        return found

    async def works(self, cloud: GatewayHalf, machine: AgentHalf) -> None:
        """Check that the line carries a message each way, with the same keys at both ends."""
        ring = await asyncio.to_thread(open_identity, self.folder / "gateway")
        body = CancelBody(task_id="task-1", claimed_user="zhangwei").to_dict()
        sent = await self.store.write(
            mailbox.enqueue,
            sealer(ring.signing),
            "cancel",
            agent_id=AGENT_ID,
            task_id="task-1",
            body=body,
            at=SystemClock().now(),
            life_s=300,
        )
        cloud.hub.wake(AGENT_ID)
        said = await machine.db.run(_report, machine.db)
        machine.client.wake()
        inbox = machine.db.journal.inbox

        async def arrived() -> bool:
            both = await machine.db.run(inbox.last_seq), (await self.record()).recv_seq
            return both[0] >= sent.header.seq and both[1] >= said

        await until(arrived)
        record, used = await self.record(), await machine.in_use()
        pinned = machine.keys.gateway(used.gateway)
        assert record.public_key == machine.keys.present().public.raw
        assert record.pinned_key_id == record.sealing_key_id == pinned.key_id
        assert (used.handing_over, used.old) == (False, None)
        await machine.db.run(machine.db.journal.audit.verify)


def _report(db: JournalThread) -> int:
    body = EventBody(task_id="task-1", state="ROUTED", message="", waiting=None, at=1).to_dict()
    return db.journal.outbox.put("event", "task-1", body)


async def until(wanted: Callable[[], Awaitable[object]]) -> None:
    """Wait until it is so."""
    async with asyncio.timeout(PATIENCE):
        while not await wanted():  # noqa: ASYNC110 - two stores have no event in common
            await asyncio.sleep(0.01)


@asynccontextmanager
async def world(folder: Path) -> AsyncIterator[World]:
    """Pair an agent with a gateway."""
    key = SigningKey.generate()

    def prepare() -> tuple[Any, SigningKey, int]:
        folder.mkdir()
        store = open_store(fresh_store(folder))
        FileKeystore(folder / "keys").put(key_name(key.public.key_id), key.private_bytes())
        return store, open_identity(folder / "gateway").current, _free_port()

    store, own, port = await asyncio.to_thread(prepare)
    await store.write(
        agents.enrol,
        AGENT_ID,
        machine="dev-1",
        public_key=key.public,
        at_ms=1,
        gateway_key_id=own.public.key_id,
    )
    pairing = Pairing(
        url=f"http://127.0.0.1:{port}",
        agent_id=AGENT_ID,
        machine="dev-1",
        gateway_key=own.public,
        agent_key_id=key.public.key_id,
        paired_at=1,
    )
    try:
        yield World(folder, store, pairing)
    finally:
        await store.close()


def _free_port() -> int:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


async def rotate_gateway(place: World, cloud: GatewayHalf, _machine: AgentHalf) -> None:
    """As `codexbridge gateway rotate` does, in a process of its own."""
    ring = await asyncio.to_thread(open_identity, place.folder / "gateway")
    await place.store.write(gateway_rotation.begin, ring, SystemClock().now(), at_once=False)
    cloud.hub.wake(AGENT_ID)


async def rotate_agent(_place: World, _cloud: GatewayHalf, machine: AgentHalf) -> None:
    """As `codexbridge rotate` does."""
    await machine.rotation.rotate()
    machine.client.wake()


async def rotate_both(place: World, cloud: GatewayHalf, machine: AgentHalf) -> None:
    """Both at one time: what waits for the gateway is addressed to its new key."""
    await rotate_gateway(place, cloud, machine)
    await rotate_agent(place, cloud, machine)


Rotate = Callable[[World, GatewayHalf, AgentHalf], Awaitable[None]]
ROTATIONS = pytest.mark.parametrize("rotate", [rotate_gateway, rotate_agent, rotate_both])


async def rotated(place: World, machine: AgentHalf, before: tuple[bytes, str | None]) -> bool:
    """Tell whether what was begun is over and nothing of it is left to do."""
    record, used = await place.record(), await machine.in_use()
    return (
        (record.public_key, record.sealing_key_id) != before
        and record.pinned_key_id == record.sealing_key_id
        and record.public_key == machine.keys.present().public.raw
        and used.old is None
    )


async def run(place: World, rotate: Rotate) -> bool:
    """Rotate while both are connected; return whether a process was lost on the way."""
    async with place.gateway() as cloud, place.agent() as machine:
        async with asyncio.timeout(PATIENCE):
            await machine.client.wait_until(lambda now: now.state == "connected")
        record = await place.record()
        place.steps.counting = True
        try:
            await rotate(place, cloud, machine)
            await until(lambda: over(place, machine, (record.public_key, record.sealing_key_id)))
        except CrashError:
            pass
        place.steps.counting = False
        if not place.steps.crashed.is_set():
            await place.works(cloud, machine)
    return place.steps.crashed.is_set()


async def over(place: World, machine: AgentHalf, before: tuple[bytes, str | None]) -> bool:
    """Tell whether the rotation is over, by its end or by a crash."""
    return place.steps.crashed.is_set() or await rotated(place, machine, before)


@pytest.mark.requirement("P3")
@ROTATIONS
async def test_a_rotation_leaves_a_line_that_works(tmp_path: Path, rotate: Rotate) -> None:
    async with world(tmp_path / "world") as place:
        assert not await run(place, rotate)


@pytest.mark.thorough
@pytest.mark.requirement("P3")
@ROTATIONS
async def test_a_crash_at_any_step_of_a_rotation_leaves_a_line_that_works(
    tmp_path: Path, rotate: Rotate
) -> None:
    point, lost = 0, True
    while lost:
        point += 1
        async with world(tmp_path / f"world-{point}") as place:
            place.steps.crash_at = point
            lost = await run(place, rotate)
            async with place.gateway() as cloud, place.agent() as machine:
                await place.works(cloud, machine)
    assert point > 8
