"""A hostile gateway against a real agent: refused, told without content, and nothing changed.

The agent is the product's own process; only its waits between two tries are cut short, from
outside.  The gateway is made by hand (`tests.hostile`) and holds the true key where that helps it:
so it stands for a gateway that an attacker controls as well as for one that is merely broken.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from common.clock import SystemClock
from common.home import Home
from common.protocol import frames
from common.protocol.envelope import MAX_LIFE_S, agent_name, gateway_name
from common.protocol.link import Link
from common.protocol.link_events import ENDINGS, code_of, websocket_code
from common.records import encode_bytes
from common.signing import AGENT_AUTH, AUDIT, GATEWAY_AUTH, SigningKey
from local_agent.cli import status
from local_agent.flow.gate_checks import Limits
from local_agent.link.pairing import Pairing, open_keys, save_pairing
from tests.e2e.place import Place, free_ports, sample, wait_until
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
    hang_up_all,
    misshapen,
    packet,
    upgrade,
)
from tests.unit.common.protocol.wire import ack_text

HASTY = (
    "import sys\n"
    "from local_agent.link import condition\n"
    "condition.Backoff.next_delay = lambda self, ended: 0.02\n"
    "import codexbridge\n"
    "sys.exit(codexbridge.main(['agent']))\n"
)
AGENT_ID = "0199c0de-0000-7000-8000-00000000000a"
KEY, STRANGER = SigningKey(b"\x21" * 32), SigningKey(b"\x22" * 32)
AGENT_KEY = SigningKey(b"\x23" * 32)
REST_LOOKS = 2
LONGEST = 64 * 1024 * 1024
CLOCK = SystemClock()


@dataclass
class Machine:
    """A real agent, paired with whoever listens on ``port``."""

    place: Place
    port: int

    def rows(self) -> dict[str, int]:
        """Return how many rows each table has that a gateway could make grow."""
        tables = ("tasks", "approvals", "inbox", "events", "effects", "outbox")
        with self._journal() as journal:
            counted = {name: journal.execute(f"SELECT count(*) FROM {name}") for name in tables}  # noqa: S608 - our own names
            return {name: int(found.fetchone()[0]) for name, found in counted.items()}

    def received(self) -> int:
        """Return the last number that the journal holds."""
        with self._journal() as journal:
            found = journal.execute("SELECT max(received_seq) FROM peers").fetchone()
            return int(found[0] or 0)

    def task(self, task_id: str) -> tuple[str, str | None] | None:
        """Return state and reason of a task."""
        with self._journal() as journal:
            found = journal.execute(
                "SELECT state, reason FROM tasks WHERE task_id = ?", (task_id,)
            ).fetchone()
            return (found[0], found[1]) if found else None

    def memory(self, what: str = "VmRSS") -> int:
        """Return the agent's memory in KiB."""
        pid = self.place.processes["agent"].pid
        for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith(what):
                return int(line.split()[1])
        raise AssertionError(what)

    def _journal(self) -> closing[sqlite3.Connection]:
        path = self.place.root / "state" / "journal.db"
        return closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True))


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """One agent for all tests of this file: that it outlives them is what is shown."""
    root = tmp_path_factory.mktemp("hostile")
    place = Place.at(root / "home")
    workspace = sample(root / "shop-api", [("count.sh", "echo run >> ran.txt\n")])
    (port,) = free_ports(1)
    home = Home(place.root / "config", place.root / "state", place.root / "run")
    open_keys(home).put(f"agent-{AGENT_KEY.public.key_id}", AGENT_KEY.private_bytes())
    save_pairing(
        home,
        Pairing(
            url=f"http://127.0.0.1:{port}",
            agent_id=AGENT_ID,
            machine="dev-1",
            gateway_key=KEY.public,
            agent_key_id=AGENT_KEY.public.key_id,
            paired_at=0,
        ),
    )
    add = ("workspace", "add", str(workspace), "--test", "sh count.sh", "--toolchains", "none")
    place.run(*add)
    with (place.root / "agent.log").open("ab") as log:
        place.processes["agent"] = subprocess.Popen(
            [sys.executable, "-I", "-c", HASTY],
            env=place.environ,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        wait_until(place.status)
        yield Machine(place, port)
        assert CANARY not in place.log("agent"), "what was refused is in no log"
        assert "Traceback" not in place.log("agent")
        assert place.processes["agent"].poll() is None, "it is still the same process"
    finally:
        place.stop()


@dataclass
class Hostile:
    """The gateway's side, for one test.

    Attributes:
        forge: Signs as the gateway.
    """

    machine: Machine
    forge: Forge
    lines: asyncio.Queue[Line] = field(default_factory=asyncio.Queue)
    kept: int = 0
    latest: Talk | None = None

    async def line(self) -> Line:
        """Return the agent's next connection, before the upgrade."""
        async with asyncio.timeout(30):
            return await self.lines.get()

    async def opened(self) -> Line:
        """Return the agent's next connection, after the upgrade."""
        while True:
            line = await self.line()
            with suppress(asyncio.IncompleteReadError, OSError):
                await upgrade(line)
                return line

    def link(self, key: SigningKey = KEY) -> Link:
        """Return the gateway's end of a link."""
        url = f"http://127.0.0.1:{self.machine.port}"
        return Link.for_gateway(key, url, nonce=b"n" * 32, session_id="s-1", at=CLOCK.now())

    async def talk(self) -> Talk:
        """Return a connection on which both sides are proven, and what came with it."""
        if self.latest is not None:  # what it acknowledged the agent does not say again
            self.kept = max(self.kept, self.latest.kept)
        talk = Talk(await self.opened(), self.link(), admits=(AGENT_KEY.public, self.kept))
        ready = await talk.ready()
        assert ready.peer_last_seq == self.machine.received()
        assert await talk.is_healthy()
        self.latest, self.kept = talk, talk.kept
        return talk

    @property
    def next_seq(self) -> int:
        """The number that the agent waits for."""
        return self.machine.received() + 1


@pytest.fixture
async def hostile(machine: Machine) -> AsyncIterator[Hostile]:
    """Listen for the length of one test."""
    iss, aud = gateway_name(KEY.public), agent_name(AGENT_ID)
    side = Hostile(machine, Forge(key=KEY, iss=iss, aud=aud))
    with closing(sqlite3.connect(machine.place.root / "state" / "journal.db")) as journal:
        # What the agent said to the test before, and that test kept; it may still be reading that.
        await asyncio.to_thread(_come_to_rest, machine)
        found = journal.execute("SELECT max(sent_seq) FROM peers").fetchone()
        waiting = journal.execute("SELECT count(*) FROM outbox").fetchone()
        side.kept = int(found[0] or 0) - int(waiting[0])
    server = await asyncio.start_server(
        lambda reader, writer: side.lines.put_nowait(Line(reader, writer)),
        "127.0.0.1",
        machine.port,
        limit=2**20,
    )
    try:
        yield side
    finally:
        server.close()
        hang_up_all()


def _come_to_rest(machine: Machine) -> None:
    """Wait until nothing has changed in the journal for a moment."""
    seen: list[dict[str, int]] = []

    def rests() -> bool:
        seen.append(machine.rows())
        return len(seen) > REST_LOOKS and all(rows == seen[-1] for rows in seen[-REST_LOOKS:])

    wait_until(rests)


@asynccontextmanager
async def nothing_changes(machine: Machine) -> AsyncIterator[None]:
    """Check that the journal is the same afterwards; what was said earlier may be taken in."""
    before = await asyncio.to_thread(machine.rows), await asyncio.to_thread(machine.received)
    yield
    after = await asyncio.to_thread(machine.rows), await asyncio.to_thread(machine.received)
    waited, waits = before[0].pop("outbox"), after[0].pop("outbox")
    assert waits <= waited
    assert before == after


def task_body(number: int, **changed: Any) -> dict[str, Any]:
    """Return what a member could have asked."""
    return {
        "task_id": f"task-{number}",
        "short_id": f"T-{number:04d}",
        "thread_id": "wecom:zhang",
        "channel": "wecom_app",
        "claimed_user": "zhang",
        "text": CANARY,
        "lang": "en",
        "received_at": 0,
    } | changed


ZEROS = "0" * 64
BODIES: dict[str, dict[str, Any]] = {
    "task": task_body(1),
    "cancel": {"task_id": "task-1", "claimed_user": CANARY},
    "tombstone": {"task_id": "task-1"},
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
    "rekey": {
        "public_key": encode_bytes(STRANGER.public.raw),
        "proof": encode_bytes(bytes(64)),
    },
}
TAKEN = ("task", "cancel", "tombstone", "head", "rekey")  # from a gateway

# What is done to an envelope that would otherwise be taken, and how the link must end.
Spoil = Callable[[Forge, str, int], str]
SPOILT: dict[str, tuple[str, Spoil]] = {
    "forged": ("auth", lambda f, t, n: f.seal(t, n, BODIES[t], key=STRANGER)),
    "forged, with its own key named": (
        "auth",
        lambda f, t, n: f.seal(t, n, BODIES[t], key=STRANGER, kid=STRANGER.public.key_id),
    ),
    "signed as a gateway's handshake": (
        "auth",
        lambda f, t, n: f.seal(t, n, BODIES[t], label=GATEWAY_AUTH),
    ),
    "signed as an agent's handshake": (
        "auth",
        lambda f, t, n: f.seal(t, n, BODIES[t], label=AGENT_AUTH),
    ),
    "signed as an audit head": ("auth", lambda f, t, n: f.seal(t, n, BODIES[t], label=AUDIT)),
    "changed after it was signed": (
        "auth",
        lambda f, t, n: f.seal(t, n, BODIES[t], spoil_body=True),
    ),
    "for another machine": (
        "auth",
        lambda f, t, n: f.seal(t, n, BODIES[t], aud=agent_name("another")),
    ),
    "from another gateway": (
        "auth",
        lambda f, t, n: f.seal(t, n, BODIES[t], iss=gateway_name(STRANGER.public)),
    ),
    "from an agent": ("auth", lambda f, t, n: f.seal(t, n, BODIES[t], iss=agent_name(AGENT_ID))),
    "under another key id": ("auth", lambda f, t, n: f.seal(t, n, BODIES[t], kid="0" * 16)),
    "dressed as another kind": (
        "auth",
        lambda f, t, n: f.seal(t, n, BODIES[t], t="cancel" if t == "task" else "task"),
    ),
    "after a gap": ("sequence-gap", lambda f, t, n: f.seal(t, n + 1, BODIES[t])),
    "far ahead": ("sequence-gap", lambda f, t, n: f.seal(t, 2**53 - 1, BODIES[t])),
    "without a name": ("protocol", lambda f, t, n: f.seal(t, n, BODIES[t], jti=None)),
    "as number zero": ("protocol", lambda f, t, n: f.seal(t, 0, BODIES[t])),
    "from the future": (
        "clock-skew",
        lambda f, t, n: f.seal(
            t, n, BODIES[t], iat=CLOCK.now().wall_s + 3600, exp=CLOCK.now().wall_s + 3700
        ),
    ),
    "with too long a life": (
        "protocol",
        lambda f, t, n: f.seal(t, n, BODIES[t], exp=CLOCK.now().wall_s + MAX_LIFE_S[t] + 9),
    ),
    "with a life that ended before it began": (
        "protocol",
        lambda f, t, n: f.seal(t, n, BODIES[t], exp=CLOCK.now().wall_s - 9),
    ),
    "with a field more in its header": (
        "protocol",
        lambda f, t, n: f.seal(t, n, BODIES[t], alg="none"),
    ),
    "with a field more in its body": (
        "protocol",
        lambda f, t, n: f.seal(t, n, BODIES[t] | {"approved": CANARY}),
    ),
    "with an empty body": ("protocol", lambda f, t, n: f.seal(t, n, {})),
    "with a body that is no JSON": ("protocol", lambda f, t, n: f.seal(t, n, CANARY)),
    "with a body nested deeply": (
        "protocol",
        lambda f, t, n: f.seal(t, n, "[" * 100_000 + "]" * 100_000),
    ),
    "with a body of lone surrogates": ("protocol", lambda f, t, n: f.seal(t, n, '{"x":"\\ud800"}')),
    "with a body of NaN": ("protocol", lambda f, t, n: f.seal(t, n, '{"x":NaN}')),
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
    assert set(TAKEN) | {"event", "result"} == BODIES.keys()
    assert BODIES.keys() == {name for name, shape in SHAPES.items() if "header" in shape}


@pytest.mark.thorough
@pytest.mark.requirement("R16")
@pytest.mark.parametrize("typ", TAKEN)
async def test_a_spoilt_envelope_ends_the_link_and_changes_nothing(
    hostile: Hostile, typ: str
) -> None:
    async with nothing_changes(hostile.machine):
        seq = hostile.next_seq
        for name, (code, spoil) in SPOILT.items():
            talk = await hostile.talk()
            await talk.line.send(spoil(hostile.forge, typ, seq))
            assert await ends_with(talk.line) == code, (typ, name)
        assert await hostile.talk()


@pytest.mark.thorough
@pytest.mark.requirement("R19")
@pytest.mark.parametrize("name", SHAPES)
async def test_a_misshapen_frame_ends_the_link_whenever_it_comes(
    hostile: Hostile, name: str
) -> None:
    async with nothing_changes(hostile.machine):
        for fault, text in misshapen(name).items():
            line = await hostile.opened()
            await line.send(text)
            assert await ends_with(line) == "auth", (name, fault, "before anybody is proven")
            talk = await hostile.talk()
            await talk.line.send(text)
            assert await ends_with(talk.line) == "protocol", (name, fault)


@pytest.mark.requirement("R2")
@pytest.mark.parametrize("name", [*SHAPES, "approve", "exec", "config", "__proto__"])
async def test_a_frame_that_is_not_due_is_refused(hostile: Hostile, name: str) -> None:
    frame = json.dumps({"t": name, **SHAPES.get(name, {"body": CANARY})})
    async with nothing_changes(hostile.machine):
        line = await hostile.opened()
        await line.send(frame)
        if name == "error":  # anybody may say that it goes
            assert await line.end() == 1000
        else:
            assert await ends_with(line) == "auth", "before the challenge"
        talk = await hostile.talk()
        await talk.line.send(frame)
        if name in ("ping", "pong"):
            assert await talk.is_healthy()
        elif name == "error":
            assert await talk.line.end() == 1000
        else:
            expected = "auth" if name in (*TAKEN, "ack") else "protocol"
            assert await ends_with(talk.line) == expected


@pytest.mark.requirement("R2")
@pytest.mark.parametrize("typ", ["event", "result"])
async def test_what_only_an_agent_may_say_is_refused_though_it_is_signed(
    hostile: Hostile, typ: str
) -> None:
    async with nothing_changes(hostile.machine):
        talk = await hostile.talk()
        await talk.line.send(hostile.forge.seal(typ, hostile.next_seq, BODIES[typ]))
        assert await ends_with(talk.line) == "protocol"


@pytest.mark.requirement("R17")
async def test_what_comes_twice_or_too_late_is_taken_once_and_never_run(hostile: Hostile) -> None:
    talk = await hostile.talk()
    seq, now = hostile.next_seq, CLOCK.now().wall_s
    late: dict[str, Any] = {"iat": now - 900, "exp": now - 600}
    expired = hostile.forge.seal("task", seq, task_body(2), **late)
    await talk.line.send(expired)
    assert await talk.is_healthy()
    assert hostile.machine.task("task-2") == ("REJECTED", "expired")
    rows = hostile.machine.rows()
    same_name = hostile.forge.seal("task", seq + 1, task_body(2), **late)
    for frame in (expired, expired, same_name, expired):
        await talk.line.send(frame)
    assert await talk.is_healthy()
    assert hostile.machine.rows()["tasks"] == rows["tasks"]
    talk.line.hang_up()
    talk = await hostile.talk()
    await talk.line.send(expired)
    assert await talk.is_healthy(), "nor on another connection"
    assert hostile.machine.rows()["tasks"] == rows["tasks"]


async def test_an_ack_of_what_was_never_sent_ends_the_link(hostile: Hostile) -> None:
    async with nothing_changes(hostile.machine):
        for seq in (10_000, 2**53):
            talk = await hostile.talk()
            names = {"iss": hostile.forge.iss, "aud": hostile.forge.aud}
            await talk.line.send(ack_text(KEY, seq, **names, session_id="s-1"))
            assert await ends_with(talk.line) == "protocol"
        kept, hostile.kept = hostile.kept, 10_000
        line = await hostile.opened()
        talk = Talk(line, hostile.link(), admits=(AGENT_KEY.public, hostile.kept))
        await talk.ready()
        assert await ends_with(line) == "sequence-gap", "nor in the handshake"
        hostile.kept = kept
        assert await hostile.talk()


@pytest.mark.requirement("R12")
async def test_no_part_of_the_handshake_can_be_forged_replayed_or_lowered(
    hostile: Hostile,
) -> None:
    honest = json.loads(hostile.link().data_to_send()[0])
    body = json.loads(honest["body"])
    now = body["ts"]
    spoilt: dict[str, tuple[str, dict[str, Any]]] = {
        "another key": ("auth", {"gw_key_ids": [STRANGER.public.key_id]}),
        "no key": ("auth", {"gw_key_ids": []}),
        "newer versions only": ("version", {"v_min": 2, "v_max": 9}),
        "versions turned round": ("version", {"v_min": 9, "v_max": 0 + 1}),
        "no version": ("auth", {"v_min": 0, "v_max": 0}),
        "a clock behind": ("clock-skew", {"ts": now - 3600}),
        "a clock ahead": ("clock-skew", {"ts": now + 3600}),
        "a short nonce": ("auth", {"nonce_g": "AAAA"}),
        "a field more": ("auth", {"approve": CANARY}),
    }
    async with nothing_changes(hostile.machine):
        for name, (code, changes) in spoilt.items():
            line = await hostile.opened()
            await line.send(json.dumps({"t": "challenge", "body": json.dumps(body | changes)}))
            assert await ends_with(line) == code, name
        for name in body:
            line = await hostile.opened()
            less = {key: value for key, value in body.items() if key != name}
            await line.send(json.dumps({"t": "challenge", "body": json.dumps(less)}))
            assert await ends_with(line) == "auth", name
        assert await hostile.talk()


@pytest.mark.requirement("R12")
async def test_a_ready_that_the_pinned_key_did_not_sign_for_this_hello_is_refused(
    hostile: Hostile,
) -> None:
    async def answered(key: SigningKey, *, challenge: dict[str, Any] | None = None) -> Talk:
        """Send a challenge that the agent answers, and let ``key`` answer the hello."""
        link = hostile.link(key)
        (said,) = link.data_to_send()
        line = await hostile.opened()
        pinned = {"gw_key_ids": [KEY.public.key_id]}
        told = json.loads(json.loads(said)["body"]) | pinned | (challenge or {})
        await line.send(json.dumps({"t": "challenge", "body": json.dumps(told)}))
        return Talk(line, link, admits=(AGENT_KEY.public, 0))

    async with nothing_changes(hostile.machine):
        # A relay without the key, which names the pinned one: the hello does not fit its own words.
        talk = await answered(STRANGER)
        hello = await talk.line.receive()
        await talk.line.send(json.dumps({"t": "ready", **SHAPES["ready"]}))
        assert await ends_with(talk.line) == "auth"
        # The true gateway's ready, made for another connection.
        first = await hostile.talk()
        ready = next(text for text in first.sent if '"t":"ready"' in text)
        first.line.hang_up()
        talk = await answered(KEY)
        assert await talk.line.receive() != hello
        await talk.line.send(ready)
        assert await ends_with(talk.line) == "auth"
        # Twice a challenge; a ready before it.
        talk = await answered(KEY)
        await talk.line.receive()
        await talk.line.send(hostile.link().data_to_send()[0])
        assert await ends_with(talk.line) == "auth"
        line = await hostile.opened()
        await line.send(ready)
        assert await ends_with(line) == "auth"
        assert await hostile.talk()


@pytest.mark.requirement("R13")
async def test_no_kind_of_message_but_a_plain_short_text_is_taken(hostile: Hostile) -> None:
    ping = json.dumps({"t": "ping", "n": 4242})
    huge = packet(b"", opcode=TEXT)[:1] + bytes([127]) + LONGEST.to_bytes(8, "big")
    wrong: dict[str, tuple[set[int], bytes]] = {
        "binary": ({1002}, packet(ping, opcode=BINARY)),
        "compressed": ({1002}, packet(ping, rsv=4)),
        "of no known kind": ({1002}, packet(ping, opcode=5)),
        "masked": ({1002}, packet(ping, masked=True)),
        "not UTF-8": ({1007}, packet(b"\xff\xfe")),
        "a fragment without a beginning": ({1002}, packet(ping, opcode=0)),
        "a fragment that never ends": ({1002}, packet("{", fin=False) + packet(ping)),
        "64 MB": ({1009}, huge),
        "one byte too long": ({1009}, packet(" " * (frames.FRAME_BYTES + 1))),
        "the longest there may be": ({1002}, packet(" " * frames.FRAME_BYTES)),
        "a long ping": ({1002}, packet(b"x" * 126, opcode=PING)),
        "100,000 brackets": ({1002}, packet("[" * 100_000 + "]" * 100_000)),
        "100,000 objects": ({1002}, packet('{"t":' * 40_000)),
        "100,000 escaped quotes": ({1002}, packet('"' + '\\"' * 100_000)),
    }
    async with nothing_changes(hostile.machine):
        for name, (codes, data) in wrong.items():
            talk = await hostile.talk()
            await talk.line.send_raw(data)
            assert await talk.line.end() in codes, name
        talk = await hostile.talk()
        halves = packet(ping[:5], fin=False) + packet(b"", opcode=PING)
        await talk.line.send_raw(halves + packet(ping[5:], opcode=0))
        assert json.loads(await talk.line.receive())["t"] == "pong", "but fragments may be"


async def _flood(line: Line, data: bytes, *, times: int) -> None:
    for _ in range(times):
        if line.writer.transport.is_closing():
            return
        await line.send_raw(data)


@pytest.mark.requirement("R13")
@pytest.mark.thorough
async def test_floods_are_cut_off_and_fill_no_memory(hostile: Hostile) -> None:
    body = BODIES["head"]
    seq = hostile.next_seq
    many = {
        "pings": packet('{"n":1,"t":"ping"}') * 1000,
        "pongs": packet('{"n":1,"t":"pong"}') * 1000,
        "the same head": packet(hostile.forge.seal("head", seq, body)) * 100,
        "pings below the link": packet(b"x" * 125, opcode=PING) * 1000,
        "empty pings below the link": packet(b"", opcode=PING) * 20_000,
        "empty fragments": packet("{", fin=False) + packet(b"", opcode=0, fin=False) * 20_000,
        "empty messages": packet("") * 20_000,
    }
    before = await asyncio.to_thread(hostile.machine.memory)
    rows = await asyncio.to_thread(hostile.machine.rows)
    for name, data in many.items():
        talk = await hostile.talk()
        async with asyncio.timeout(30):
            flood = asyncio.create_task(_flood(talk.line, data, times=400))
            code = await talk.line.end()
            await flood
        expected = {4429, 1006} if "messages" not in name and "fragments" not in name else None
        assert expected is None or code in expected, (name, code)
        assert code != 1000, name
    assert (await hostile.talk()).link.state
    grown = await asyncio.to_thread(hostile.machine.memory, "VmHWM") - before
    assert grown < 48 * 1024, f"{grown} KiB"
    after = await asyncio.to_thread(hostile.machine.rows)
    assert {name: after[name] - rows[name] for name in ("tasks", "approvals", "effects")} == {
        "tasks": 0,
        "approvals": 0,
        "effects": 0,
    }


@pytest.mark.requirement("R13")
async def test_a_gateway_that_asks_and_never_reads_is_given_up(hostile: Hostile) -> None:
    before = await asyncio.to_thread(hostile.machine.memory)
    talk = await hostile.talk()
    data = packet(b"x" * 125, opcode=PING) * 1000
    async with asyncio.timeout(30):
        # Whatever it is asked for, it stops: its answers are read by nobody.
        await _flood(talk.line, data, times=4000)
        assert talk.line.writer.transport.is_closing()
        assert await hostile.talk()
    assert await asyncio.to_thread(hostile.machine.memory) - before < 32 * 1024


@pytest.mark.requirement("P4")
@pytest.mark.thorough
async def test_a_flood_of_tasks_opens_no_more_than_its_limit_of_approvals(
    hostile: Hostile,
) -> None:
    before = await asyncio.to_thread(hostile.machine.rows)
    talk = await hostile.talk()
    seq, count = hostile.next_seq, 3 * Limits().hourly_gateway
    texts = [
        hostile.forge.seal(
            "task",
            seq + number,
            # Whoever controls a gateway may name whom it likes.
            task_body(1000 + number, text="@dev test", claimed_user=f"user-{number}"),
        )
        for number in range(count)
    ]
    await talk.line.send(*texts)
    with suppress(Ended, TimeoutError):
        async with asyncio.timeout(6):
            while hostile.machine.received() < seq + count - 1:
                talk.link.receive(await talk.line.receive(), CLOCK.now())
                talk.take_events()
                await talk.flush()
    hostile.kept = talk.kept
    talk.line.hang_up()
    again = await hostile.talk()
    after = await asyncio.to_thread(hostile.machine.rows)
    hostile.kept = again.kept
    assert 0 < after["approvals"] - before["approvals"] <= Limits().hourly_gateway
    assert after["effects"] == before["effects"]
    status = await asyncio.to_thread(hostile.machine.place.status)
    assert 0 < len(status["approvals"]) <= Limits().pending


@pytest.mark.requirement("R15")
async def test_nothing_but_a_websocket_at_this_very_address_is_taken(hostile: Hostile) -> None:
    dialled: list[str] = []

    async def elsewhere(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        dialled.append("elsewhere")
        writer.close()

    server = await asyncio.start_server(elsewhere, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    answers: list[bytes] = [
        *(
            f"HTTP/1.1 {status} X\r\nLocation: ws://127.0.0.1:{port}/\r\n\r\n".encode()
            for status in (301, 302, 303, 307, 308)
        ),
        b"HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n" + CANARY.encode(),
        b"HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n",
        b"HTTP/9.9 " + CANARY.encode() + b"\r\n\r\n",
        b"X: " + b"y" * 2**20 + b"\r\n\r\n",
        b"HTTP/1.1 503 " + CANARY.encode() + b"\r\n" + b"A: b\r\n" * 1000 + b"\r\n",
        bytes(range(256)) * 64,
    ]
    async with nothing_changes(hostile.machine):
        for answer in answers:
            line = await hostile.line()
            await line.reader.readuntil(b"\r\n\r\n")
            await line.send_raw(answer)
            with suppress(OSError):
                line.writer.write_eof()  # a body without a length ends there
            async with asyncio.timeout(30):
                with suppress(OSError):
                    assert await line.reader.read() == b"", answer[:40]
            line.hang_up()
        assert await hostile.talk()
    server.close()
    assert dialled == []


async def _trickle(line: Line, data: bytes, *, every_s: float) -> None:
    for byte in data:
        if line.writer.transport.is_closing():
            return
        await line.send_raw(bytes([byte]))
        await asyncio.sleep(every_s)


@pytest.mark.thorough
@pytest.mark.requirement("R13")
@pytest.mark.parametrize("moment", ["http", "challenge", "ready"])
async def test_a_gateway_that_never_gets_to_the_point_is_given_up(
    hostile: Hostile, moment: str
) -> None:
    line = await (hostile.line() if moment == "http" else hostile.opened())
    slow: bytes = b"HTTP/1.1 101 Switching Protocols\r\n"
    if moment == "challenge":
        slow = packet(hostile.link().data_to_send()[0])
    elif moment == "ready":
        await line.send(hostile.link().data_to_send()[0])
        await line.receive()
        slow = packet(json.dumps({"t": "ready", **SHAPES["ready"]}))
    else:
        await line.reader.readuntil(b"\r\n\r\n")
    trickle: Awaitable[None] = _trickle(line, slow, every_s=0.5)
    async with asyncio.timeout(14):
        trickling = asyncio.ensure_future(trickle)
        if moment == "http":
            with suppress(OSError):
                assert await line.reader.read() == b""
        else:
            assert await line.end(patience_s=13) == websocket_code("timeout")
        line.hang_up()
        trickling.cancel()
        assert await hostile.talk()


@pytest.mark.requirement("P7")
async def test_the_person_is_told_why_and_what_to_do(hostile: Hostile) -> None:
    async def turned_away(code: str) -> None:
        line = await hostile.opened()
        await line.send(json.dumps({"t": "error", "code": code}))
        await line.end()

    for code in ENDINGS:
        for _ in range(2):
            await turned_away(code)
        asked = asyncio.create_task(asyncio.to_thread(hostile.machine.place.run, "status"))
        while not asked.done():
            await turned_away(code)
        shown = " ".join((await asked).stdout.split())
        assert "not connected since" in shown
        assert status.LINK_WHY[code].en in shown
