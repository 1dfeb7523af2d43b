"""Delivery over real sockets that fail: the real gateway relay, the real agent client, both stores.

Between the two stands `tests.faults`.  Schedules are drawn by hypothesis; deadlines are a second,
so that a partition past all of them fits into a test.  What must hold is `tests.truth`, and that
nothing is left on its way.
"""

from __future__ import annotations

import asyncio
import io
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from common.audit import Fact
from common.clock import ManualClock, SystemClock
from common.keystore import FileKeystore
from common.logs import open_log
from common.model.state import Reason, TaskState
from common.protocol.flow_control import Deadlines
from gateway.flow.access import Limits
from gateway.link.endpoint import AgentEndpoint, PreauthPool
from gateway.link.hub import Hub
from gateway.store import Connection
from gateway.store.runner import open_store
from local_agent.link.client import GatewayClient
from local_agent.link.condition import Backoff, Ended
from local_agent.link.journal import JournalInbound, JournalOutbound, gateway_peer
from local_agent.link.keys import AgentKeys
from local_agent.link.pairing import Pairing
from local_agent.link.rotation import Rotation
from local_agent.store.journal import JournalThread
from tests import truth
from tests.carrier import Carrier
from tests.faults import WAYS, FaultProxy, FrameFault, Way
from tests.gateway_desk import AGENT, MACHINE, Desk, fresh_store

DEADLINES = Deadlines(opening_s=1.0, ping_s=0.5, dead_s=1.0)
BEYOND_S = 1.3  # every deadline
SETTLED_S = 20.0  # once the faults have stopped
LOOK_S = 0.05
LIMITS = Limits(messages_per_minute=1_000, open_tasks=1_000)


class Soon(Backoff):
    """Tries again almost at once."""

    def next_delay(self, ended: Ended) -> float:
        """Return the seconds to wait."""
        return 0.1


@dataclass
class Gateway:
    """A running gateway on its store."""

    desk: Desk
    hub: Hub
    runner: web.AppRunner
    sweeping: asyncio.Task[None]


@dataclass
class Agent:
    """A running agent on its journal."""

    db: JournalThread
    engine: Carrier
    client: GatewayClient
    running: asyncio.Task[None]


@dataclass
class Installation:
    """Gateway, proxy and agent; either end can die and come back."""

    folder: Path
    proxy: FaultProxy
    port: int
    desk: Desk
    gateway: Gateway | None = None
    agent: Agent | None = None
    asked: list[str] = field(default_factory=list)

    @property
    def database(self) -> Path:
        """The gateway's store."""
        return self.folder / "state" / "gateway.db"

    @property
    def journal(self) -> Path:
        """The agent's."""
        return self.folder / "agent" / "journal.db"

    async def start_gateway(self) -> None:
        """Start it on what its store has."""
        if self.gateway is not None:
            return
        store = await asyncio.to_thread(open_store, self.database)
        old = self.desk
        desk = self.desk = Desk(
            store,
            old.clock,
            limits=LIMITS,
            gateway_key=old.gateway_key,
            agent_key=old.agent_key,
            number=old.number,
        )
        await desk.upkeep.begin()
        clock, log = SystemClock(), open_log("gateway", stream=io.StringIO())
        hub = Hub(desk.mailbox, clock=clock, log=log, note=_unheard, sweep_seconds=0.2)
        endpoint = AgentEndpoint(
            lambda: (desk.gateway_key,),
            f"http://127.0.0.1:{self.proxy.port}",
            hub=hub,
            preauth=PreauthPool(),
            deliveries=desk.mailbox,
            clock=clock,
            log=log,
            deadlines=DEADLINES,
        )
        app = web.Application()
        app.add_routes(endpoint.routes())
        runner = web.AppRunner(app, shutdown_timeout=0.5, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", self.port).start()
        self.gateway = Gateway(desk, hub, runner, asyncio.create_task(hub.run()))

    async def kill_gateway(self) -> None:
        """End it without a word; its store is all that is left."""
        if self.gateway is None:
            return
        gone, self.gateway = self.gateway, None
        self.proxy.cut(reset=True)
        gone.hub.close()
        await gone.runner.cleanup()
        await _ended(gone.sweeping)
        await gone.desk.store.close()

    async def start_agent(self) -> None:
        """Start it on what its journal has."""
        if self.agent is not None:
            return
        key, clock = self.desk.agent_key, SystemClock()
        pairing = Pairing(
            url=f"http://127.0.0.1:{self.proxy.port}",
            agent_id=AGENT,
            machine=MACHINE,
            gateway_key=self.desk.gateway_key.public,
            agent_key_id=key.public.key_id,
            paired_at=0,
        )
        keystore = FileKeystore(self.folder / "keys")
        await asyncio.to_thread(keystore.put, pairing.key_name, key.private_bytes())
        keys, log = AgentKeys(keystore, pairing), open_log("agent", stream=io.StringIO())
        peer = gateway_peer(pairing, keys, clock)
        db = await JournalThread.open(self.journal, clock=clock, peer=peer, key=keys.present)
        engine, rotation = Carrier(db, clock), Rotation(db, keys, clock=clock, log=log)
        inbound, outbound = JournalInbound(db, engine), JournalOutbound(db, rotation)
        client = GatewayClient(
            pairing,
            rotation.link_keys,
            inbound=inbound,
            outbound=outbound,
            clock=clock,
            log=log,
            backoff=Soon(),
            deadlines=DEADLINES,
        )
        db.on_report = client.wake
        await engine.start()
        self.agent = Agent(db, engine, client, asyncio.create_task(client.run()))

    async def kill_agent(self) -> None:
        """End it without a word; its journal is all that is left."""
        if self.agent is None:
            return
        gone, self.agent = self.agent, None
        self.proxy.lose_agent()
        await gone.engine.kill()
        await _ended(gone.running)
        await gone.db.close()

    async def hear(self, text: str) -> None:
        """Let the member write; while there is no gateway nobody hears it."""
        if self.gateway is not None:
            self.desk.newest = None
            await self.desk.hear(text)
            self.gateway.hub.wake(AGENT, self.desk.newest)

    async def ask(self, kind: str) -> None:
        """Let the member ask for something new, by a text used once."""
        if self.gateway is not None:
            text = f"@dev {kind} number {len(self.asked)}"
            self.asked.append(text)
            await self.hear(text)

    async def cancel(self) -> None:
        """Let the member stop the newest task that is open."""
        if self.gateway is not None:
            found = [task for task in await self.desk.tasks() if task.reason is None]
            if found:
                await self.hear(f"@dev cancel {found[0].short_id}")

    async def settle(self) -> None:
        """Let the faults stop, and wait until nothing is on its way."""
        self.proxy.heal()
        await self.start_gateway()
        await self.start_agent()
        assert self.agent is not None
        self.agent.engine.released.set()
        await until(self._is_idle)

    async def _is_idle(self) -> bool:
        # No chat is connected here: what is said to members counts as said.
        await self.desk.write(_say_everything)
        return await asyncio.to_thread(truth.is_idle, self.journal, self.database)

    async def check(self) -> None:
        """Check that both halves say the same, and that nothing came twice."""
        evidence = truth.Evidence(
            journals=[self.journal], gateway=self.database, accepted=self.asked
        )
        await asyncio.to_thread(truth.assert_true, evidence)
        await asyncio.to_thread(self._check_numbers)

    def _check_numbers(self) -> None:
        (peer,) = truth.rows(self.journal, "SELECT sent_seq, received_seq FROM peers") or [
            {"sent_seq": 0, "received_seq": 0}
        ]
        (row,) = truth.rows(self.database, "SELECT next_seq, recv_seq FROM agents")
        assert peer["received_seq"] == row["next_seq"] - 1
        assert peer["sent_seq"] == row["recv_seq"]
        taken = truth.rows(self.journal, "SELECT seq FROM inbox ORDER BY seq")
        assert [one["seq"] for one in taken] == list(range(1, peer["received_seq"] + 1))
        for database, event in (
            (self.database, "result.refused"),
            (self.journal, "inbox.repeated-id"),
            (self.journal, "inbox.task-again"),
        ):
            like = f'%"{event}"%'
            assert not truth.rows(
                database, "SELECT body FROM audit WHERE CAST(body AS TEXT) LIKE ?", like
            )


async def until(look: Callable[[], Awaitable[bool]]) -> None:
    """Wait until it is so: in files, which tell nobody when they change."""
    async with asyncio.timeout(SETTLED_S):
        while not await look():  # noqa: ASYNC110
            await asyncio.sleep(LOOK_S)


def _unheard(event: str, **_facts: Fact) -> None:
    """Take an alarm in; the tests look at what is left of it."""


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError, Exception):
        await task


def _say_everything(conn: Connection) -> None:
    conn.run("UPDATE outbox SET state = 'sent' WHERE state = 'queued'")


async def _free_port() -> int:
    server = await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", 0)
    async with server:
        return int(server.sockets[0].getsockname()[1])


@asynccontextmanager
async def installed(folder: Path) -> AsyncIterator[Installation]:
    """Everything running and connected, with one member and one machine."""
    await asyncio.to_thread(fresh_store, folder)
    async with AsyncExitStack() as closing:
        port = await _free_port()
        proxy = await closing.enter_async_context(FaultProxy(port).listening())
        store = await asyncio.to_thread(open_store, folder / "state" / "gateway.db")
        desk = Desk(store, ManualClock(SystemClock().now().wall_ms), limits=LIMITS)
        await desk.add_member()
        await desk.add_machine()
        await store.close()
        place = Installation(folder, proxy, port, desk)
        closing.push_async_callback(place.kill_gateway)
        closing.push_async_callback(place.kill_agent)
        await place.start_gateway()
        await place.start_agent()
        yield place


async def pause(place: Installation, seconds: float) -> None:
    """Let things take their course."""
    await asyncio.sleep(seconds)


async def ask(place: Installation, kind: str, count: int) -> None:
    """The member asks."""
    for _ in range(count):
        await place.ask(kind)


async def cancel(place: Installation) -> None:
    """The member changes their mind."""
    await place.cancel()


async def release(place: Installation) -> None:
    """A person approves everything that waits."""
    if place.agent is not None:
        place.agent.engine.released.set()


async def fail(place: Installation, way: Way, fault: FrameFault) -> None:
    """Something happens to one frame; another one follows, so that there is one."""
    place.proxy.fail_next(way, fault)
    await place.ask("plan")
    await asyncio.sleep(LOOK_S)


async def delay(place: Installation, seconds: float) -> None:
    """Every frame takes longer from now on."""
    place.proxy.delay_s = seconds


async def stall(place: Installation, way: Way) -> None:
    """Half-open."""
    place.proxy.stall(way)
    await place.ask("plan")


async def cut(place: Installation, reset: bool) -> None:
    """The connection ends."""
    place.proxy.cut(reset=reset)


async def partition(place: Installation) -> None:
    """Nothing passes until every deadline is over."""
    place.proxy.partition()
    await place.ask("plan")
    await asyncio.sleep(BEYOND_S)
    place.proxy.heal()


async def kill_agent(place: Installation) -> None:
    """The machine goes down and comes back."""
    await place.kill_agent()
    await place.ask("plan")
    await place.start_agent()


async def kill_gateway(place: Installation, seconds: float) -> None:
    """The gateway goes down and comes back."""
    await place.kill_gateway()
    await release(place)
    await asyncio.sleep(seconds)
    await place.start_gateway()


Step = tuple[Callable[..., Any], tuple[Any, ...]]
WAY: st.SearchStrategy[Way] = st.sampled_from(WAYS)
FRAME_FAULT: st.SearchStrategy[FrameFault] = st.sampled_from(
    ["duplicate", "swap", "truncate", "drop"]
)


def step(what: Callable[..., Any], *facts: st.SearchStrategy[Any]) -> st.SearchStrategy[Step]:
    """Return a strategy for one thing that happens."""
    return st.tuples(st.just(what), st.tuples(*facts))


WORK = st.one_of(
    step(ask, st.sampled_from(["plan", "hold"]), st.integers(1, 3)),
    step(cancel),
    step(release),
    step(pause, st.sampled_from([0.02, 0.1])),
)
TROUBLE = st.one_of(
    step(fail, WAY, FRAME_FAULT),
    step(fail, WAY, FRAME_FAULT),
    step(delay, st.sampled_from([0.0, 0.03])),
    step(stall, WAY),
    step(cut, st.booleans()),
    step(partition),
    step(kill_agent),
    step(kill_gateway, st.sampled_from([0.0, 0.2])),
)
SCHEDULE = st.lists(st.one_of(WORK, TROUBLE, TROUBLE), min_size=5, max_size=9)


async def go_through(schedule: list[Step]) -> None:
    """Let it all happen to a new installation, and check what is left."""
    with tempfile.TemporaryDirectory(prefix="codexbridge-faults-") as folder:
        async with installed(Path(folder)) as place:
            await place.ask("plan")
            for what, facts in schedule:
                await what(place, *facts)
            await place.settle()
            await place.check()


@pytest.mark.requirement("P3", "P7", "R16", "R17")
@settings(
    max_examples=10,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(SCHEDULE)
@pytest.mark.thorough
def test_whatever_the_sockets_do_both_halves_end_up_with_the_same_story(
    schedule: list[Step],
) -> None:
    asyncio.run(go_through(schedule))


@pytest.mark.requirement("R13", "P7")
@pytest.mark.parametrize("way", WAYS)
async def test_a_half_open_connection_is_left_in_time_by_both_and_made_again(
    tmp_path: Path, way: Way
) -> None:
    async with installed(tmp_path) as place:
        assert place.agent is not None
        client = place.agent.client
        async with asyncio.timeout(SETTLED_S):
            await client.wait_until(lambda now: now.state == "connected")
            place.proxy.stall(way)
            await place.ask("plan")
            await client.wait_until(lambda now: now.state == "waiting")
            await client.wait_until(lambda now: now.state == "connected")
        await place.settle()
        await place.check()
        (task,) = await place.desk.tasks()
        assert task.reason is Reason.COMPLETED


@pytest.mark.requirement("P3", "P7")
async def test_what_happens_while_the_gateway_is_away_is_told_in_few_words_and_in_order(
    tmp_path: Path,
) -> None:
    async with installed(tmp_path) as place:
        assert place.agent is not None
        await place.ask("hold")
        await until(lambda: _waits(place))
        await place.kill_gateway()
        place.agent.engine.released.set()
        db = place.agent.db
        await until(lambda: _has_ended(db))
        waiting = await db.run(db.journal.outbox.unsent)
        # Its entry into EXECUTING with the last line of progress, and how it ended.
        assert len(waiting) == 2
        await place.settle()
        await place.check()
        (task,) = await place.desk.tasks()
        assert task.reason is Reason.COMPLETED


async def _waits(place: Installation) -> bool:
    return (await place.desk.tasks())[0].state is TaskState.WAITING_APPROVAL


async def _has_ended(db: JournalThread) -> bool:
    return not await db.run(db.journal.tasks.open_tasks)
