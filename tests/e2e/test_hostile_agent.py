"""Hostile machines against a real gateway: refused, told without content, and others unharmed.

All machines here are made by hand (`tests.hostile`), paired as real ones are.  One of them is
honest and stays connected all the time: it must get its tasks in time, whatever the others do.
"""

from __future__ import annotations

import asyncio
import hashlib
import http.client
import json
import secrets
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from common.clock import SystemClock
from common.home import private_dir
from common.ids import new_uuid
from common.protocol import frames
from common.protocol.envelope import MAX_LIFE_S, agent_name, gateway_name
from common.protocol.flow_control import FRAMES
from common.protocol.link import Link
from common.protocol.link_events import code_of
from common.protocol.pairing import new_code
from common.records import encode_bytes
from common.signing import AGENT_AUTH, AUDIT, GATEWAY_AUTH, SigningKey
from gateway.base.identity import open_identity
from gateway.base.settings import STORE_FILE
from gateway.store import agents, members
from gateway.store.runner import open_admin
from local_agent.link.pairing import LINK_PATH, PAIR_PATH, Pairing
from tests.e2e.place import Place
from tests.hostile import (
    BINARY,
    CANARY,
    PING,
    SHAPES,
    TEXT,
    Ended,
    Forge,
    Line,
    Talk,
    dial,
    hang_up_all,
    misshapen,
    packet,
    request,
)
from tests.people import someone

CLOCK = SystemClock()
STRANGER = SigningKey(b"\x31" * 32)
IN_TIME_S = 8.0  # for a task to reach an honest machine; who held it up would hold it for 10 s
MEMBERS = ("zhangwei", "wangfang", "chenjie")  # of the honest machine: each may ask so often
HOSTILE = 5  # machines: each key may come back only so often


@dataclass
class Machine:
    """One paired machine, with nothing but its key."""

    pairing: Pairing
    key: SigningKey
    port: int
    kept: int = 0

    @property
    def forge(self) -> Forge:
        """Signs as this machine."""
        iss, aud = agent_name(self.pairing.agent_id), gateway_name(self.pairing.gateway_key)
        return Forge(key=self.key, iss=iss, aud=aud)

    def link(self, *, key: SigningKey | None = None, agent_id: str | None = None) -> Link:
        """Return its end of a link; or the end of who says to be it."""
        return Link.for_agent(
            key or self.key,
            agent_id=agent_id or self.pairing.agent_id,
            gateway_key=self.pairing.gateway_key,
            url=self.pairing.url,
            last_seq=self.kept,
            nonce=secrets.token_bytes(32),
            at=CLOCK.now(),
        )

    async def line(self, *, source: str = "127.0.0.1") -> Line:
        """Dial; prove nothing yet."""
        return await dial(self.port, LINK_PATH, source=source)

    async def talk(self, *, source: str = "127.0.0.1") -> Talk:
        """Return a connection on which both sides are proven."""
        talk = Talk(await self.line(source=source), self.link())
        talk.kept = self.kept
        ready = await talk.ready()
        talk.next_seq = ready.peer_last_seq + 1
        assert await talk.is_healthy()
        self.kept = talk.kept
        return talk


@dataclass
class Town:
    """A real gateway and the machines around it.

    Attributes:
        honest: Works for `MEMBERS` and keeps every rule.
        hostile: Work for one other member each.
        revoked: Was removed by the admin.
    """

    place: Place
    honest: Machine
    hostile: list[Machine]
    revoked: Machine
    others: Iterator[Machine] = field(init=False)
    members: Iterator[str] = field(init=False)

    def __post_init__(self) -> None:
        """Take turns."""
        self.others = cycle(self.hostile)
        self.members = cycle(MEMBERS)

    def rows(self) -> dict[str, int]:
        """Return how many rows each table has that an agent could make grow."""
        tables = ("tasks", "task_events", "mailbox", "outbox", "bindings", "agents", "heads")
        counted = {name: self.ask(f"SELECT count(*) FROM {name}") for name in tables}  # noqa: S608 - our own names
        return {name: int(found[0][0]) for name, found in counted.items()}

    def ask(self, sql: str, *values: object) -> list[Any]:
        """Look into the gateway's store."""
        path = next(self.place.root.rglob("gateway.db"))
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as store:
            return store.execute(sql, values).fetchall()

    def task(self, task_id: str) -> tuple[str, str | None]:
        """Return state and reason of a task."""
        ((state, reason),) = self.ask("SELECT state, reason FROM tasks WHERE task_id = ?", task_id)
        return state, reason

    def audited(self, event: str) -> list[dict[str, Any]]:
        """Return the facts of all audit entries of this name."""
        entries = [json.loads(body) for (body,) in self.ask("SELECT body FROM audit ORDER BY seq")]
        return [entry["facts"] for entry in entries if entry["event"] == event]

    def memory(self, what: str = "VmRSS") -> int:
        """Return the gateway's memory in KiB."""
        pid = self.place.processes["gateway"].pid
        for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith(what):
                return int(line.split()[1])
        raise AssertionError(what)


def enrol(place: Place, machines: Mapping[str, Sequence[str]]) -> dict[str, Machine]:
    """Join machines to the gateway and to their members, in its store and all at once."""
    state = place.root / "state" / "gateway"
    gateway_key, at_ms = open_identity(state).current.public, CLOCK.now().wall_ms
    made = {}
    with open_admin(state / STORE_FILE) as store:
        for member in {member for members_of in machines.values() for member in members_of}:
            store.write(members.add, someone(member), lang=None, at_ms=at_ms)
        for name, members_of in machines.items():
            key, agent_id = SigningKey.generate(), new_uuid()
            arguments: dict[str, Any] = {"machine": name, "public_key": key.public, "at_ms": at_ms}
            store.write(agents.enrol, agent_id, **arguments)
            for member in members_of:
                store.write(members.bind, someone(member), agent_id, at_ms=at_ms)
            pairing = Pairing(place.base, agent_id, name, gateway_key, key.public.key_id, at_ms)
            made[name] = Machine(pairing, key, place.gateway_port)
    return made


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    """One gateway for all tests of this file: that it outlives them is what is shown."""
    place = Place.at(tmp_path_factory.mktemp("hostile") / "home")
    private_dir(place.root / "state" / "gateway")
    made = enrol(
        place, {"dev-1": MEMBERS} | {f"dev-{n}": [f"lisi-{n}"] for n in range(2, HOSTILE + 3)}
    )
    honest, *hostile, revoked = made.values()
    try:
        place.start_simulator()
        place.start_gateway()
        place.admin("revoke", revoked.pairing.machine)
        yield Town(place, honest, hostile, revoked)
        assert CANARY not in place.log("gateway"), "what was refused is in no log"
        assert "Traceback" not in place.log("gateway")
        assert place.processes["gateway"].poll() is None, "it is still the same process"
    finally:
        place.stop()


@pytest.fixture(autouse=True)
async def nothing_is_left_open() -> AsyncIterator[None]:
    """Hang up whatever a test did not."""
    yield
    hang_up_all()


@dataclass
class Witness:
    """The honest machine, connected: tells when its tasks came."""

    town: Town
    talk: Talk
    came: dict[str, tuple[str, str]] = field(default_factory=dict)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    async def listen(self) -> None:
        """Take in and acknowledge whatever comes."""
        while True:
            text = await self.talk.line.receive(patience_s=60)
            record = json.loads(text)
            if record["t"] == "task":
                body = json.loads(record["body"])
                self.came[body["text"]] = body["task_id"], _sha256(record)
                self.news.set()
            self.talk.link.receive(text, CLOCK.now())
            self.talk.take_events()
            await self.talk.flush()

    async def gets_a_task(self, *, within_s: float = IN_TIME_S) -> tuple[str, str]:
        """Let its member ask for something; return the task's id and hash, once it came."""
        text = f"@dev test {secrets.token_hex(4)}"
        began = time.monotonic()
        async with asyncio.timeout(within_s):
            post, user = self.town.place.callback, next(self.town.members)
            assert await asyncio.to_thread(post, text, user=user) == 200
            while not (found := next((v for k, v in self.came.items() if k in text), None)):
                self.news.clear()
                await self.news.wait()
        assert time.monotonic() - began <= within_s
        return found

    async def says(self, typ: str, **body: Any) -> None:
        """Send an envelope of its own, under its next number."""
        frame = _seal(self.town.honest, typ, self.talk.next_seq, body=BODIES[typ] | body)
        self.talk.next_seq += 1
        await self.talk.line.send(frame)

    async def refuses(self, task_id: str, sha256: str) -> None:
        """End a task as a machine does that cannot do it."""
        ended = {"state": "REJECTED", "reason": "refused", "summary": "no"}
        await self.says("result", task_id=task_id, task_sha256=sha256, **ended)
        await self.until(lambda: self.town.task(task_id) == ("REJECTED", "refused"))

    async def until(self, condition: Callable[[], bool]) -> None:
        """Look into the store until it is so."""
        async with asyncio.timeout(30):
            while not await asyncio.to_thread(condition):  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.02)


def _sha256(record: dict[str, str]) -> str:
    parts = (record["header"].encode(), record["body"].encode())
    joined = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return hashlib.sha256(joined).hexdigest()


@pytest.fixture
async def witness(town: Town) -> AsyncIterator[Witness]:
    """The honest machine is there for the length of one test, and unharmed at its end."""
    there = Witness(town, await town.honest.talk(source="127.0.1.1"))
    listening = asyncio.create_task(there.listen())
    try:
        yield there
        assert not listening.done(), "its connection was never disturbed"
        await there.refuses(*await there.gets_a_task())
    finally:
        town.honest.kept = there.talk.kept
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)
        there.talk.line.hang_up()


@asynccontextmanager
async def nothing_changes(town: Town) -> AsyncIterator[None]:
    """Check that the store is the same afterwards."""
    before = await asyncio.to_thread(town.rows)
    yield
    assert await asyncio.to_thread(town.rows) == before


ZEROS = "0" * 64
BODIES: dict[str, dict[str, Any]] = {
    "event": {"task_id": "t", "state": "ROUTED", "message": CANARY, "waiting": None, "at": 0},
    "result": {
        "task_id": "t",
        "task_sha256": ZEROS,
        "state": "COMPLETED",
        "reason": "completed",
        "summary": CANARY,
        "at": 0,
    },
    "head": {"seq": 1, "hash": ZEROS, "peer_seq": 0, "peer_hash": ZEROS, "at": 0},
    "rekey": {"public_key": encode_bytes(STRANGER.public.raw), "proof": encode_bytes(bytes(64))},
    "task": {
        "task_id": "t",
        "short_id": "T-0001",
        "thread_id": "t",
        "channel": "wecom_app",
        "claimed_user": "zhang",
        "text": CANARY,
        "lang": "en",
        "received_at": 0,
    },
    "cancel": {"task_id": "t", "claimed_user": CANARY},
    "tombstone": {"task_id": "t"},
}
TAKEN = ("event", "result", "head", "rekey")  # from an agent

Spoil = Callable[[Machine, str, int], str]


def _seal(machine: Machine, typ: str, seq: int, **changed: Any) -> str:
    return machine.forge.seal(typ, seq, changed.pop("body", BODIES[typ]), **changed)


SPOILT: dict[str, tuple[str, Spoil]] = {
    "forged": ("auth", lambda m, t, n: _seal(m, t, n, key=STRANGER)),
    "signed as a handshake": ("auth", lambda m, t, n: _seal(m, t, n, label=AGENT_AUTH)),
    "signed as a gateway": ("auth", lambda m, t, n: _seal(m, t, n, label=GATEWAY_AUTH)),
    "signed as an audit head": ("auth", lambda m, t, n: _seal(m, t, n, label=AUDIT)),
    "changed after it was signed": ("auth", lambda m, t, n: _seal(m, t, n, spoil_body=True)),
    "for another gateway": (
        "auth",
        lambda m, t, n: _seal(m, t, n, aud=gateway_name(STRANGER.public)),
    ),
    "from another machine": ("auth", lambda m, t, n: _seal(m, t, n, iss=agent_name("another"))),
    "under another key id": ("auth", lambda m, t, n: _seal(m, t, n, kid="0" * 16)),
    "dressed as another kind": (
        "auth",
        lambda m, t, n: _seal(m, t, n, t="head" if t == "event" else "event"),
    ),
    "after a gap": ("sequence-gap", lambda m, t, n: _seal(m, t, n + 1)),
    "far ahead": ("sequence-gap", lambda m, t, n: _seal(m, t, 2**53 - 1)),
    "as number zero": ("protocol", lambda m, t, n: _seal(m, t, 0)),
    "from the future": (
        "clock-skew",
        lambda m, t, n: _seal(
            m, t, n, iat=CLOCK.now().wall_s + 3600, exp=CLOCK.now().wall_s + 3700
        ),
    ),
    "with too long a life": (
        "protocol",
        lambda m, t, n: _seal(m, t, n, exp=CLOCK.now().wall_s + MAX_LIFE_S[t] + 9),
    ),
    "with a field more in its header": ("protocol", lambda m, t, n: _seal(m, t, n, alg="none")),
    "with a field more in its body": (
        "protocol",
        lambda m, t, n: _seal(m, t, n, body=BODIES[t] | {"admin": CANARY}),
    ),
    "with an empty body": ("protocol", lambda m, t, n: _seal(m, t, n, body={})),
    "with a body that is no JSON": ("protocol", lambda m, t, n: _seal(m, t, n, body=CANARY)),
    "with a body nested deeply": (
        "protocol",
        lambda m, t, n: _seal(m, t, n, body="[" * 100_000 + "]" * 100_000),
    ),
    "with a body of lone surrogates": (
        "protocol",
        lambda m, t, n: _seal(m, t, n, body='{"x":"\\ud800"}'),
    ),
}


async def ends_with(line: Line) -> str | None:
    """Read to the end; return the code that it was ended with."""
    code = await line.end()
    said = [json.loads(text).get("code") for text in line.said if '"error"' in text]
    word = code_of(code)
    assert not said or said[-1] == word, "frame and WebSocket say the same"
    return word


def test_every_type_of_frame_is_attacked() -> None:
    assert SHAPES.keys() == frames._KINDS.keys()  # a new one must fail here
    assert BODIES.keys() == {name for name, shape in SHAPES.items() if "header" in shape}


@pytest.mark.requirement("R16")
@pytest.mark.parametrize("typ", TAKEN)
async def test_a_spoilt_envelope_ends_the_link_and_changes_nothing(
    town: Town, witness: Witness, typ: str
) -> None:
    async with nothing_changes(town):
        for name, (code, spoil) in SPOILT.items():
            machine = next(town.others)
            talk = await machine.talk()
            await talk.line.send(spoil(machine, typ, talk.next_seq))
            assert await ends_with(talk.line) == code, (typ, name)


@pytest.mark.requirement("R19")
@pytest.mark.parametrize("name", SHAPES)
async def test_a_misshapen_frame_ends_the_link_whenever_it_comes(town: Town, name: str) -> None:
    async with nothing_changes(town):
        for fault, text in misshapen(name).items():
            line = await next(town.others).line()
            await line.send(text)
            assert await ends_with(line) == "auth", (name, fault, "before anybody is proven")
            talk = await next(town.others).talk()
            await talk.line.send(text)
            assert await ends_with(talk.line) == "protocol", (name, fault)


@pytest.mark.requirement("R2")
@pytest.mark.parametrize("name", [*SHAPES, "approve", "exec", "config", "__proto__"])
async def test_a_frame_that_is_not_due_is_refused(town: Town, name: str) -> None:
    frame = json.dumps({"t": name, **SHAPES.get(name, {"body": CANARY})})
    async with nothing_changes(town):
        line = await next(town.others).line()
        await line.send(frame)
        if name == "error":  # anybody may say that it goes
            assert await line.end() == 1000
        else:
            assert await ends_with(line) == "auth", "before anybody is proven"
        talk = await next(town.others).talk()
        await talk.line.send(frame)
        if name in ("ping", "pong"):
            assert await talk.is_healthy()
            talk.line.hang_up()
        elif name == "error":
            assert await talk.line.end() == 1000
        else:
            expected = "auth" if name in (*TAKEN, "ack") else "protocol"
            assert await ends_with(talk.line) == expected


@pytest.mark.requirement("R2")
@pytest.mark.parametrize("typ", ["task", "cancel", "tombstone"])
async def test_what_only_a_gateway_may_say_is_refused_though_it_is_signed(
    town: Town, typ: str
) -> None:
    async with nothing_changes(town):
        machine = next(town.others)
        talk = await machine.talk()
        await talk.line.send(_seal(machine, typ, talk.next_seq))
        assert await ends_with(talk.line) == "protocol"


@pytest.mark.requirement("R13")
async def test_every_failed_handshake_looks_the_same(town: Town, witness: Witness) -> None:
    mine, other = town.hostile[0], town.hostile[1]

    async def answer_to(link: Link, *, instead: str | None = None) -> tuple[list[str], int]:
        line = await mine.line()
        link.receive(await line.receive(), CLOCK.now())
        for text in link.data_to_send():
            await line.send(instead or text)
        del line.said[0]
        return line.said, await line.end()

    async def replayed() -> tuple[list[str], int]:
        line, link = await mine.line(), mine.link()
        link.receive(await line.receive(), CLOCK.now())
        (hello,) = link.data_to_send()
        line.hang_up()
        return await answer_to(mine.link(), instead=hello)

    def changed(**changes: Any) -> Awaitable[tuple[list[str], int]]:
        async def spoil() -> tuple[list[str], int]:
            line, link = await mine.line(), mine.link()
            link.receive(await line.receive(), CLOCK.now())
            record = json.loads(link.data_to_send()[0])
            record["body"] = json.dumps(json.loads(record["body"]) | changes)
            del line.said[0]
            await line.send(json.dumps(record))
            return line.said, await line.end()

        return spoil()

    async with nothing_changes(town):
        answers = {
            "a wrong key": await answer_to(mine.link(key=STRANGER)),
            "a machine that never was": await answer_to(mine.link(agent_id="nobody")),
            "another machine's name": await answer_to(mine.link(agent_id=other.pairing.agent_id)),
            "a revoked machine": await answer_to(town.revoked.link()),
            "a replayed hello": await replayed(),
            "a hello with its number changed": await changed(last_seq=7),
            "a hello with its version lowered": await changed(v_max=1, v_min=1, v=1, ts=1),
            "a hello for another address": await changed(url="https://elsewhere.example"),
            "a hello with a field more": await changed(admin=CANARY),
            "a hello from long ago": await changed(ts=0),
        }
    assert len({json.dumps(answer) for answer in answers.values()}) == 1, answers
    assert next(iter(answers.values())) == (['{"code":"auth","t":"error"}'], 4401)
    alarms = [facts["agent"] for facts in town.audited("agent.wrong-key")]
    assert alarms.count(mine.pairing.agent_id) == 1, "recorded, once in a while"


@pytest.mark.requirement("R18")
async def test_a_machine_reports_of_its_own_tasks_and_only_what_may_follow(
    town: Town, witness: Witness
) -> None:
    task_id, sha256 = await witness.gets_a_task()
    lie = BODIES["result"] | {"task_id": task_id, "task_sha256": sha256}
    thief = next(town.others)
    talk = await thief.talk()
    for number, (typ, body) in enumerate(
        (
            ("result", lie),
            ("event", BODIES["event"] | {"task_id": task_id}),
            ("event", BODIES["event"] | {"task_id": task_id, "state": "EXECUTING"}),
            ("result", lie | {"task_id": "task-that-never-was"}),
        )
    ):
        await talk.line.send(_seal(thief, typ, talk.next_seq + number, body=body))
    assert await talk.is_healthy(), "refused, and acknowledged all the same"
    talk.line.hang_up()
    assert town.task(task_id)[1] is None
    assert len(town.audited("result.refused")) >= 4

    refusals = len(town.audited("result.refused"))
    await witness.says("result", **lie | {"task_sha256": "f" * 64})
    await witness.says("result", **lie)  # completed, though it never ran
    await witness.until(lambda: len(town.audited("result.refused")) == refusals + 2)
    assert town.task(task_id)[1] is None

    await witness.refuses(task_id, sha256)
    replayed = _seal(
        town.honest, "result", witness.talk.next_seq - 1, body=lie | {"summary": "another end"}
    )
    await witness.talk.line.send(replayed)  # under a number that was taken
    await witness.says("result", **lie)  # and under a new one
    await witness.until(lambda: len(town.audited("result.refused")) == refusals + 3)
    assert town.task(task_id) == ("REJECTED", "refused")


@pytest.mark.requirement("R13")
async def test_no_kind_of_message_but_a_plain_short_text_is_taken(
    town: Town, witness: Witness
) -> None:
    ping = json.dumps({"t": "ping", "n": 4242})
    huge = bytes([0x80 | TEXT, 0x80 | 127]) + (64 * 2**20).to_bytes(8, "big") + bytes(4)
    wrong: dict[str, tuple[int, bytes]] = {
        "binary": (1003, packet(ping, opcode=BINARY, masked=True)),
        "a ping below the link": (1003, packet(b"", opcode=PING, masked=True)),
        "compressed": (1002, packet(ping, rsv=4, masked=True)),
        "of no known kind": (1002, packet(ping, opcode=5, masked=True)),
        "not UTF-8": (1007, packet(b"\xff\xfe", masked=True)),
        "a fragment without a beginning": (1002, packet(ping, opcode=0, masked=True)),
        "64 MB": (1009, huge),
        "one byte too long": (1009, packet(" " * (frames.FRAME_BYTES + 1), masked=True)),
        "the longest there may be": (1002, packet(" " * frames.FRAME_BYTES, masked=True)),
        "100,000 brackets": (1002, packet("[" * 100_000 + "]" * 100_000, masked=True)),
        "100,000 objects": (1002, packet('{"t":' * 40_000, masked=True)),
        "100,000 escaped quotes": (1002, packet('"' + '\\"' * 100_000, masked=True)),
    }
    async with nothing_changes(town):
        for name, (code, data) in wrong.items():
            talk = await next(town.others).talk()
            await talk.line.send_raw(data)
            assert await talk.line.end() == code, name


async def _flood(line: Line, data: bytes, *, times: int) -> None:
    for _ in range(times):
        if line.writer.transport.is_closing():
            return
        await line.send_raw(data)


@pytest.mark.requirement("R13")
@pytest.mark.thorough
async def test_floods_are_cut_off_while_others_get_their_tasks(
    town: Town, witness: Witness
) -> None:
    before = town.memory()
    many = {
        "pings": packet('{"n":1,"t":"ping"}', masked=True) * 1000,
        "pongs": packet('{"n":1,"t":"pong"}', masked=True) * 1000,
        "empty pings below the link": packet(b"", opcode=PING, masked=True) * 20_000,
        "empty fragments": packet("{", fin=False, masked=True)
        + packet(b"", opcode=0, fin=False, masked=True) * 20_000,
        "empty messages": packet("", masked=True) * 20_000,
    }
    for (name, data), machine in zip(many.items(), town.hostile, strict=True):
        talk = await machine.talk()
        flood = asyncio.create_task(_flood(talk.line, data, times=300))
        await witness.refuses(*await witness.gets_a_task())
        async with asyncio.timeout(20):
            if name == "empty fragments":  # one message that never comes to its end: 40 s of it
                talk.line.hang_up()
                await flood
                continue
            code = await talk.line.end()
            await flood
        assert code in (4429, 1002, 1003, 1006), (name, code)
    assert town.memory("VmHWM") - before < 64 * 1024
    too_fast = [facts["agent"] for facts in town.audited("agent.too-fast")]
    assert len(too_fast) == len(set(too_fast)) >= 1, "recorded once each"
    assert FRAMES < 300 * 1000


@pytest.mark.requirement("R13")
async def test_a_key_that_comes_back_too_often_is_sent_away_and_no_other(
    town: Town, witness: Witness
) -> None:
    restless = town.hostile[-1]

    async def comes_and_goes() -> None:
        while True:
            talk = Talk(await restless.line(), restless.link())
            await talk.ready()
            await talk.is_healthy()
            talk.line.hang_up()

    with pytest.raises(Ended) as ended:
        async with asyncio.timeout(30):
            await comes_and_goes()
    assert code_of(ended.value.code) == "too-fast"
    assert await town.hostile[0].talk()


@pytest.mark.requirement("R13")
async def test_sixty_four_sockets_that_prove_nothing_keep_nobody_out(
    town: Town, witness: Witness
) -> None:
    held: list[Line] = []
    over = asyncio.Event()

    async def hold(source: str) -> None:
        while not over.is_set():
            with suppress(Ended, OSError):
                held.append(await town.honest.line(source=source))
                await asyncio.sleep(0.02)

    holding = [asyncio.create_task(hold(f"127.0.2.{number}")) for number in range(8)]
    async with asyncio.timeout(30):
        while len(held) < 64:  # noqa: ASYNC110 - they come by themselves
            await asyncio.sleep(0.01)
        for machine in town.hostile[:3]:
            began = time.monotonic()
            talk = await machine.talk(source="127.0.3.1")
            assert time.monotonic() - began < IN_TIME_S
            talk.line.hang_up()
        await witness.refuses(*await witness.gets_a_task())
    over.set()
    await asyncio.gather(*holding)
    for line in held:
        line.hang_up()


async def _trickle(line: Line, data: bytes) -> float:
    """Send a byte a second until the other side has enough; return how long that took."""
    began = time.monotonic()
    for byte in data:
        await line.send_raw(bytes([byte]))
        with suppress(TimeoutError, Ended, OSError):
            async with asyncio.timeout(1.0):
                if await line.reader.read(4096) == b"":
                    break
        if line.writer.transport.is_closing():
            break
    line.hang_up()
    return time.monotonic() - began


@pytest.mark.thorough
@pytest.mark.requirement("R13")
async def test_who_is_too_slow_is_shown_out_and_holds_nobody_up(
    town: Town, witness: Witness
) -> None:
    before = town.memory()

    async def before_the_upgrade() -> float:
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", town.place.gateway_port, local_addr=("127.0.4.1", 0)
        )
        return await _trickle(Line(reader, writer), request(town.place.gateway_port, LINK_PATH))

    async def after_the_upgrade() -> float:
        line = await town.hostile[0].line(source="127.0.4.2")
        return await _trickle(line, packet(json.dumps({"t": "hello"}) * 9, masked=True))

    async def never_reads() -> float:
        talk = await town.hostile[1].talk(source="127.0.4.3")
        talk.line.stop_reading()
        began = time.monotonic()
        data = packet('{"n":1,"t":"ping"}', masked=True) * 100
        while not talk.line.writer.transport.is_closing() and time.monotonic() - began < 40:
            with suppress(TimeoutError):
                async with asyncio.timeout(1):
                    await talk.line.send_raw(data)
        talk.line.hang_up()
        return time.monotonic() - began

    async def never_acknowledges() -> float:
        talk = await town.hostile[2].talk(source="127.0.4.4")
        for number in range(10):
            text = f"@dev test {number}"
            await asyncio.to_thread(town.place.callback, text, user="lisi-4")
            await witness.refuses(*await witness.gets_a_task())
        waiting = "SELECT count(*) FROM mailbox WHERE agent_id = ? AND acked_at IS NULL"
        ((count,),) = town.ask(waiting, town.hostile[2].pairing.agent_id)
        assert count >= 10
        talk.line.hang_up()
        return 0.0

    seconds = await asyncio.gather(
        before_the_upgrade(), after_the_upgrade(), never_reads(), never_acknowledges()
    )
    assert max(seconds) < 30, seconds
    assert town.memory() - before < 48 * 1024


@pytest.mark.requirement("R9")
async def test_guessing_at_pairing_codes_is_refused_and_slowed_down(
    town: Town, witness: Witness
) -> None:
    def guess(body: bytes) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(
            "127.0.0.1", town.place.gateway_port, timeout=5, source_address=("127.0.5.1", 0)
        )
        # Where a guess says that it comes from counts for nothing here.
        headers = {"X-Forwarded-For": f"192.0.2.{secrets.randbelow(250)}"}
        with closing(connection):
            connection.request("POST", PAIR_PATH, body=body, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read()

    def guesses() -> list[tuple[int, bytes]]:
        wrong = {
            "v": 1,
            "pairing": "0" * 16,
            "url": town.place.base,
            "key": encode_bytes(STRANGER.public.raw),
            "nonce": encode_bytes(bytes(32)),
            "mac": encode_bytes(bytes(32)),
            "sig": encode_bytes(bytes(64)),
        }
        bodies = [
            json.dumps(wrong | {"pairing": secrets.token_hex(8)}).encode(),
            json.dumps(wrong | {"v": 2}).encode(),
            json.dumps(wrong | {"admin": CANARY}).encode(),
            b"[" * 2000,
            b"x" * 5000,
            CANARY.encode(),
            new_code().encode(),
        ]
        return [guess(bodies[number % len(bodies)]) for number in range(60)]

    async with nothing_changes(town):
        answers = await asyncio.to_thread(guesses)
    assert {status for status, _ in answers} <= {403, 413, 429}
    assert answers[-1][0] == 429, "whoever guesses on is not listened to"
    assert len({body for status, body in answers if status == 403}) == 1, "every failure is alike"
