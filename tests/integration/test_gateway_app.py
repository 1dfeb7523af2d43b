"""The whole gateway as one real process on loopback, between a scripted WeCom and a scripted agent.

The callback is encrypted by another implementation (wechatpy), the agent is a `Link` on a plain
WebSocket, and WeCom's API is a small server that remembers what it was sent.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from wechatpy.enterprise.crypto import WeChatCrypto

from common import strict_json
from common.clock import SystemClock
from common.ids import new_uuid
from common.protocol.envelope import Envelope, agent_name, gateway_name, seal_envelope
from common.protocol.frames import EnvelopeType
from common.protocol.link import Acked, Closed, Link, LinkEvent, Ready, Received
from common.protocol.pairing import Paired, agent_request, check_answer, check_words, parse_code
from common.signing import SigningKey
from gateway.base.addresses import FAILURES
from gateway.base.messages import FIRST_APP, Conversation, SendOutcome
from gateway.channels.wecom_app import NAME
from gateway.link.pairing import PAIR_PATH
from gateway.store import Connection, audit, outbox
from gateway.store.runner import open_admin
from tests import forks

TOKEN = "callbackToken"
AES_KEY = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG"
CORP, APP, USER = "ww0123456789", 1000002, "zhangwei"
CALLBACK = "/wecom/app"
# The gateway, whose writing thread meets a fault of our own once there is a file named “fault”.
FAULTY = """
import os, pathlib, sys, codexbridge
from gateway.store import runner
commit, fault = runner.commit_group, pathlib.Path(os.environ["CODEXBRIDGE_HOME"], "fault")
def commit_or_fail(driver, jobs):
    if fault.exists():
        raise RuntimeError("unforeseen")
    commit(driver, jobs)
runner.commit_group = commit_or_fail
sys.exit(codexbridge.main())
"""


# A folder on a file system of its own that holds 4 MB, with what was in another.
TMPFS = """
mkdir -m 700 {state}
mount -t tmpfs -o size=4m,mode=700 tmpfs {state}
cp -a {before}/. {state}
"""


class WeCom:
    """What the gateway calls: it hands out a token and remembers every message."""

    def __init__(self) -> None:
        self.sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        app = web.Application()
        app.router.add_get("/cgi-bin/gettoken", self._token)
        app.router.add_post("/cgi-bin/message/send", self._send)
        self.server = TestServer(app)

    async def next_text(self) -> str:
        """Return the next text that a member would read."""
        async with asyncio.timeout(30):
            return str((await self.sent.get())["text"]["content"])

    async def _token(self, _request: web.Request) -> web.Response:
        return web.json_response(
            {"errcode": 0, "errmsg": "ok", "access_token": "t" * 20, "expires_in": 7200}
        )

    async def _send(self, request: web.Request) -> web.Response:
        self.sent.put_nowait(await request.json())
        return web.json_response({"errcode": 0, "errmsg": "ok", "msgid": "1"})


class Process:
    """One run of ``codexbridge gateway``.

    Attributes:
        said: What it writes to the stream that is read.
        base: Where it listens, once that is known.
    """

    def __init__(self, child: forks.Fork | subprocess.Popen[bytes], said: BinaryIO) -> None:
        self.child = child
        self.said = said
        self.base = ""

    async def line(self) -> bytes:
        """Return the next line that it writes."""
        async with asyncio.timeout(30):
            return await asyncio.to_thread(self.said.readline)

    async def rest(self) -> bytes:
        """Return all that it writes from now on."""
        async with asyncio.timeout(30):
            return await asyncio.to_thread(self.said.read)

    async def wait(self) -> int:
        """Wait for its end and return its exit code."""
        return await asyncio.to_thread(self.child.wait, 30)

    async def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """End it and return its exit code."""
        os.kill(self.child.pid, number)
        return await self.wait()


class Place:
    """One installation: its files, its gateway, one paired machine."""

    def __init__(self, root: Path, wecom: WeCom, http: aiohttp.ClientSession) -> None:
        self.root = root
        self.wecom = wecom
        self.http = http
        self.environ = {
            "PATH": os.environ["PATH"],
            "CODEXBRIDGE_HOME": str(root),
            "CODEXBRIDGE_LANG": "en",
        }
        self.key = SigningKey.generate()
        self.paired: Paired | None = None
        self.kept = 0
        self.sent = 0
        self.crypto = WeChatCrypto(TOKEN, AES_KEY, CORP)
        self.clock = SystemClock()
        self._children: list[Process] = []

    def write(self) -> None:
        """Write the settings and the secrets."""
        config = self.root / "config"
        (config / "secrets").mkdir(parents=True)
        (config / "gateway.toml").write_text(
            f'language = "en"\n[listen]\nport = 0\n[wecom]\ncorp_id = "{CORP}"\nagent_id = {APP}\n'
            f'api_base = "{str(self.wecom.server.make_url("")).rstrip("/")}"\n',
            encoding="utf-8",
        )
        for name, value in (
            ("wecom__token", TOKEN),
            ("wecom__encoding_aes_key", AES_KEY),
            ("wecom__corp_secret", "secret"),
        ):
            secret = config / "secrets" / name
            secret.write_text(value, encoding="utf-8")
            secret.chmod(0o600)

    async def call(self, *arguments: str) -> tuple[int, str, str]:
        """Run a command to its end; return exit code, output and errors."""
        done = await asyncio.to_thread(
            partial(forks.run, "gateway", *arguments, environ=self.environ)
        )
        return done.returncode, done.stdout, done.stderr

    async def start(
        self, program: Sequence[str] | None = None, apart: forks.Apart | None = None
    ) -> Process:
        """Start the gateway, forked or as a program, and return once it says that it listens."""
        arguments = (
            *("gateway", "--secrets-dir", str(self.root / "config" / "secrets")),
            *("--port-file", str(self.root / "port")),
        )
        environ = self.environ | {"CODEXBRIDGE_GATEWAY__LOG_FORMAT": "json"}
        process = await asyncio.to_thread(self.run, arguments, 2, environ, program, apart)
        while line := await process.line():
            record = strict_json.loads(line, max_bytes=8192)
            if record["event"] == "listening":
                process.base = f"http://127.0.0.1:{record['port']}"
                return process
        raise AssertionError("the gateway ended before it listened")

    def run(
        self,
        arguments: Sequence[str],
        stream: int,
        environ: dict[str, str],
        program: Sequence[str] | None = None,
        apart: forks.Apart | None = None,
    ) -> Process:
        """Start ``codexbridge ARGUMENTS`` and read its output (stream 1) or errors (2)."""
        ours, theirs = os.pipe()
        nothing = os.open(os.devnull, os.O_RDWR)
        out, err = (theirs if number == stream else nothing for number in (1, 2))
        child: forks.Fork | subprocess.Popen[bytes]
        if program is None:
            child = forks.shared_zygote().start(
                arguments, environ=environ, streams=[nothing, out, err], apart=apart
            )
        else:
            child = subprocess.Popen(
                [*program, *arguments], env=environ, stdin=nothing, stdout=out, stderr=err
            )
        os.close(theirs)
        os.close(nothing)
        self._children.append(Process(child, os.fdopen(ours, "rb")))
        return self._children[-1]

    async def say(self, process: Process, text: str, *, msg_id: int) -> int:
        """Send a member's message as WeCom would, and return the status."""
        now = self.clock.now().wall_s
        inner = (
            f"<xml><ToUserName><![CDATA[{CORP}]]></ToUserName><FromUserName><![CDATA[{USER}]]>"
            f"</FromUserName><CreateTime>{now}</CreateTime><MsgType><![CDATA[text]]></MsgType>"
            f"<Content><![CDATA[{text}]]></Content><MsgId>{msg_id}</MsgId><AgentID>{APP}</AgentID>"
            "</xml>"
        )
        sealed = self.crypto.encrypt_message(inner, f"nonce{msg_id}", str(now))
        encrypted = re.search(r"<Encrypt><!\[CDATA\[(.+?)\]\]>", sealed)
        signature = re.search(r"<MsgSignature><!\[CDATA\[(.+?)\]\]>", sealed)
        assert encrypted is not None
        assert signature is not None
        async with self.http.post(
            process.base + CALLBACK,
            params={
                "msg_signature": signature[1],
                "timestamp": str(now),
                "nonce": f"nonce{msg_id}",
            },
            data=f"<xml><ToUserName><![CDATA[{CORP}]]></ToUserName><AgentID><![CDATA[{APP}]]>"
            f"</AgentID><Encrypt><![CDATA[{encrypted[1]}]]></Encrypt></xml>",
        ) as answer:
            return answer.status

    async def pair(self, process: Process) -> str:
        """Pair the machine with a code of the admin's command; return what the command said."""
        code, said, errors = await self.call("pair", "--machine", "dev-1", "--member", USER)
        assert code == 0, errors
        found = re.search(r"CB1-[A-Z2-7]{26}", said)
        assert found is not None
        await self.use_code(process, found[0])
        return said

    async def use_code(self, process: Process, code: str) -> None:
        """Enrol the machine's key."""
        secret = parse_code(code)
        request = agent_request(secret, key=self.key, nonce=os.urandom(32), url=process.base)
        async with self.http.post(process.base + "/agent/v1/pair", json=request) as answer:
            assert answer.status == 200
            self.paired = check_answer(secret, request, await answer.json())

    async def connect(self, process: Process) -> Machine:
        """Dial in as the paired machine and finish the handshake."""
        machine = await self.dial(process)
        await machine.next(Ready)
        return machine

    async def dial(self, process: Process) -> Machine:
        """Dial in as the paired machine."""
        assert self.paired is not None
        socket = await self.http.ws_connect(f"{process.base}/agent/v1/link")
        link = Link.for_agent(
            self.key,
            agent_id=self.paired.agent_id,
            gateway_key=self.paired.gateway_key,
            url=process.base,
            last_seq=self.kept,
            nonce=os.urandom(32),
            at=self.clock.now(),
        )
        return Machine(self, socket, link)

    def audited(self) -> list[str]:
        """Return the names of all audited events."""
        with open_admin(self.root / "state" / "gateway" / "gateway.db") as store:
            entries = store.read(audit.entries)
        return [strict_json.loads(body, max_bytes=16384)["event"] for _, _, body, _ in entries]

    def has_sent_often(self) -> None:
        """Note thirty messages to the member as sent."""
        with open_admin(self.root / "state" / "gateway" / "gateway.db") as store:
            store.write(_sent_often, at_ms=self.clock.now().wall_ms)

    async def close(self) -> None:
        """Leave no process behind."""
        for process in self._children:
            process.child.kill()
            await process.wait()
            process.said.close()


class Machine:
    """The scripted agent."""

    def __init__(
        self, place: Place, socket: aiohttp.ClientWebSocketResponse[Any], link: Link
    ) -> None:
        self.place = place
        self.socket = socket
        self.link = link
        self._events: list[LinkEvent] = []

    async def next(self, kind: type[LinkEvent], *, seconds: float = 5) -> Any:
        """Pump until an event of ``kind``."""
        async with asyncio.timeout(seconds):
            while True:
                await self.flush()
                self._events += self.link.events()
                while self._events:
                    if isinstance(event := self._events.pop(0), kind):
                        return event
                self.link.receive(await self.socket.receive_str(), self.place.clock.now())

    async def flush(self) -> None:
        """Send what the link has to send."""
        for text in self.link.data_to_send():
            await self.socket.send_str(text)

    async def take(self) -> Envelope:
        """Take one envelope in and acknowledge it."""
        envelope: Envelope = (await self.next(Received)).envelope
        self.place.kept = envelope.header.seq
        self.link.ack(envelope.header.seq)
        await self.flush()
        return envelope

    async def walk(self, task: Envelope, summary: str) -> None:
        """Take a task that needs no approval through its states to its end."""
        for state in ("ROUTED", "CONTEXT_COLLECTED", "PROPOSING", "PROPOSAL_READY"):
            await self.send("event", task, {"state": state, "message": "", "waiting": None})
        end = {"state": "COMPLETED", "reason": "completed", "summary": summary}
        await self.send("result", task, end | {"task_sha256": task.sha256})

    async def send(self, typ: EnvelopeType, task: Envelope, body: dict[str, Any]) -> None:
        """Send one envelope and wait until the gateway keeps it."""
        assert self.place.paired is not None
        self.place.sent += 1
        now = self.place.clock.now()
        envelope = seal_envelope(
            self.place.key,
            typ=typ,
            iss=agent_name(self.place.paired.agent_id),
            aud=gateway_name(self.place.paired.gateway_key),
            jti=new_uuid(),
            seq=self.place.sent,
            iat=now.wall_s,
            exp=now.wall_s + 600,
            body=body | {"task_id": task.body["task_id"], "at": now.wall_ms},
        )
        self.link.send(envelope.frame)
        await self.next(Acked)


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    wecom = WeCom()
    async with wecom.server, aiohttp.ClientSession() as http:
        place = Place(tmp_path, wecom, http)
        await asyncio.to_thread(place.write)
        await asyncio.to_thread(new_uuid)
        yield place
        await place.close()


@pytest.fixture
async def gateway(place: Place) -> Process:
    code, _, errors = await place.call("member", "add", USER)
    assert code == 0, errors
    return await place.start()


async def test_a_message_reaches_the_machine_and_its_result_the_chat(
    place: Place, gateway: Process
) -> None:
    await place.pair(gateway)
    machine = await place.connect(gateway)
    assert await place.say(gateway, "@dev test", msg_id=1) == 200
    task = await machine.take()
    short_id = task.body["short_id"]
    assert short_id in await place.wecom.next_text()
    await machine.walk(task, "3 passed")
    told = await place.wecom.next_text()
    assert short_id in told
    assert "dev-1" in told
    assert "3 passed" in told
    code, listed, _ = await place.call("tasks", "--json")
    assert code == 0
    (row,) = strict_json.loads(listed, max_bytes=10_000)
    assert (row["short_id"], row["machine"], row["user"]) == (short_id, "dev-1", USER)
    assert (row["state"], row["reason"]) == ("COMPLETED", "completed")
    assert await gateway.stop() == 0


@pytest.mark.requirement("P3")
async def test_whoever_forges_callbacks_keeps_no_machine_of_their_office_out(
    place: Place, gateway: Process
) -> None:
    for number in range(FAILURES + 5):
        async with place.http.post(gateway.base + CALLBACK, data=b"<xml/>") as answer:
            assert answer.status == (400 if number < FAILURES else 429)
    await place.pair(gateway)
    for _ in range(FAILURES + 5):
        async with place.http.post(gateway.base + PAIR_PATH, json={"pairing": "none"}) as answer:
            assert answer.status in (403, 429)
    forger = SigningKey.generate()
    for _ in range(12):
        honest, place.key = place.key, forger
        machine = await place.dial(gateway)
        assert (await machine.next(Closed)).code == "auth"
        await machine.socket.close()
        place.key = honest
    assert place.paired is not None
    machine = await place.connect(gateway)
    assert await place.say(gateway, "@dev test", msg_id=1) == 200
    assert (await machine.take()).header.typ == "task"
    assert await gateway.stop() == 0
    assert (await gateway.rest()).count(b"pairing.refused") == FAILURES, "and fills no log"


@pytest.mark.requirement("P3")
async def test_a_gateway_killed_after_its_200_still_delivers_the_task_once(
    place: Place, gateway: Process
) -> None:
    await place.pair(gateway)
    assert await place.say(gateway, "@dev test", msg_id=1) == 200
    await gateway.stop(signal.SIGKILL)
    again = await place.start()
    assert await place.say(again, "@dev test", msg_id=1) == 200, "WeCom delivers it again"
    machine = await place.connect(again)
    task = await machine.take()
    assert task.body["text"] == "@dev test"
    assert await place.say(again, "@dev search x", msg_id=2) == 200
    assert (await machine.take()).header.seq == 2, "there was one task, not two"
    assert await again.stop() == 0


@pytest.mark.requirement("P7")
async def test_a_gateway_that_starts_anew_still_counts_what_it_has_sent(
    place: Place, gateway: Process
) -> None:
    """What comes after thirty in a minute WeCom drops without a word."""
    assert await place.say(gateway, "@dev help", msg_id=1) == 200
    await place.wecom.next_text()
    await gateway.stop(signal.SIGKILL)
    await asyncio.to_thread(place.has_sent_often)
    again = await place.start()
    assert await place.say(again, "@dev help", msg_id=2) == 200
    async with asyncio.timeout(30):
        listed = ""
        while "wecom.pace" not in listed:
            _, listed, _ = await place.call("outbox", "--json")
    assert place.wecom.sent.empty()


@pytest.mark.requirement("P7")
async def test_the_chat_is_told_since_when_a_machine_is_away_and_until_when_the_task_waits(
    place: Place, gateway: Process
) -> None:
    await place.pair(gateway)
    machine = await place.connect(gateway)
    await machine.socket.close()
    assert await place.say(gateway, "@dev test", msg_id=1) == 200
    told = await place.wecom.next_text()
    assert re.search(r"T-\w{4}", told)
    assert len(re.findall(r"\d\d:\d\d", told)) >= 2


@pytest.mark.requirement("R14")
async def test_replacing_a_machine_closes_its_session_and_refuses_its_old_key(
    place: Place, gateway: Process
) -> None:
    await place.pair(gateway)
    old = await place.connect(gateway)
    code, _, errors = await place.call("pair", "--machine", "dev-1", "--member", USER)
    assert code == 1
    assert "--replace" in errors
    code, said, _ = await place.call("pair", "--machine", "dev-1", "--member", USER, "--replace")
    assert code == 0
    assert (await old.next(Closed, seconds=8)).code == "revoked"
    assert (await (await place.dial(gateway)).next(Closed)).code == "auth"
    place.key, place.kept, place.sent = SigningKey.generate(), 0, 0
    found = re.search(r"CB1-[A-Z2-7]{26}", said)
    assert found is not None
    await place.use_code(gateway, found[0])
    await place.connect(gateway)
    events = await asyncio.to_thread(place.audited)
    assert events.count("agent.enrolled") == 2
    assert "agent.revoked" in events


@pytest.mark.requirement("R10")
async def test_the_admin_sees_the_words_that_the_machine_shows(
    place: Place, gateway: Process
) -> None:
    words = ("gateway", "pair", "--machine", "dev-1", "--member", USER, "--wait")
    admin = await asyncio.to_thread(place.run, words, 1, place.environ)
    while not (found := re.search(rb"CB1-[A-Z2-7]{26}", await admin.line())):
        pass
    await place.use_code(gateway, found[0].decode())
    rest = (await admin.rest()).decode()
    assert await admin.wait() == 0
    assert place.paired is not None
    assert "  ".join(check_words(place.key.public, place.paired.gateway_key)) in rest


@pytest.mark.requirement("P3")
async def test_a_fault_in_the_stores_thread_ends_the_process_and_not_in_silence(
    place: Place,
) -> None:
    await place.call("member", "add", USER)
    gateway = await place.start((sys.executable, "-c", FAULTY))
    await asyncio.to_thread((place.root / "fault").touch)
    # Its own rounds may meet the fault first, and then nobody answers any more.
    with contextlib.suppress(aiohttp.ClientError):
        async with place.http.get(gateway.base + "/health/ready") as answer:
            assert answer.status == 503
    said = (await gateway.rest()).splitlines()
    assert await gateway.wait() == 1
    records = [strict_json.loads(line, max_bytes=8192) for line in said[:-1]]
    (ended,) = [record for record in records if record["event"] == "part.ended"]
    assert (ended["part"], ended["error"]) == ("store", "RuntimeError: unforeseen")
    assert said[-1].startswith(b"codexbridge: ")


@pytest.mark.requirement("P3")
@pytest.mark.needs("a small tmpfs (root, unshare)")
async def test_a_full_disk_is_answered_503_and_told_and_passes_without_a_restart(
    place: Place, gateway: Process
) -> None:
    # The machine is paired before, and away: what is accepted has to wait in the store.
    await place.pair(gateway)
    assert await gateway.stop() == 0
    state = place.root / "state" / "gateway"
    await asyncio.to_thread(shutil.move, state, place.root / "before")
    place.environ["CODEXBRIDGE_GATEWAY__ADMINS"] = '["boss"]'
    script = TMPFS.format(state=state, before=place.root / "before")
    gateway = await place.start(apart=forks.Apart(script))
    inside = Path(f"/proc/{gateway.child.pid}/root{state}")

    async def parts() -> dict[str, bool]:
        async with place.http.get(gateway.base + "/health/ready") as answer:
            return dict((await answer.json())["parts"])

    assert (await parts())["disk"]
    assert await place.say(gateway, "@dev explain before", msg_id=98) == 200
    filler = inside / "filler"
    await asyncio.to_thread(_fill, filler)
    accepted, refused = 1, 0
    while refused < 3:  # what room the log had is used up first
        number = 100 + accepted + refused
        status = await place.say(gateway, f"@dev explain {'x' * 2000} {number}", msg_id=number)
        accepted, refused = accepted + (status == 200), refused + (status == 503)
    assert not (await parts())["disk"]
    async with asyncio.timeout(30):
        while (sent := await place.wecom.sent.get())["touser"] != "boss":
            pass
    assert "disk of the gateway is full" in sent["text"]["content"]
    code, shown = await asyncio.to_thread(_status, place, gateway)
    assert code == 1
    assert f"✗ Nothing can be stored: {state} cannot be written: No space left" in shown
    assert "no message is taken in" in shown
    assert "free some space" in shown

    await asyncio.to_thread(filler.unlink)
    async with asyncio.timeout(30):
        while not (await parts())["disk"]:  # noqa: ASYNC110  it is asked, it does not tell
            await asyncio.sleep(0.05)
    assert await place.say(gateway, "@dev explain now", msg_id=99) == 200
    machine = await place.connect(gateway)
    texts = [(await machine.take()).body["text"] for _ in range(accepted + 1)]
    assert len(set(texts)) == accepted + 1
    assert await gateway.stop() == 0


def _status(place: Place, gateway: Process) -> tuple[int, str]:
    """Run ``gateway status`` where the gateway's disk is."""
    port = {"CODEXBRIDGE_GATEWAY__LISTEN__PORT": gateway.base.rpartition(":")[2]}
    launcher = str(Path(forks.__file__).parents[1] / "codexbridge.py")
    done = subprocess.run(
        [
            "nsenter",
            "-t",
            str(gateway.child.pid),
            "-m",
            "--",
            sys.executable,
            launcher,
            "gateway",
            "status",
            "--secrets-dir",
            str(place.root / "config" / "secrets"),
        ],
        env=place.environ | port,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout + done.stderr


def _sent_often(conn: Connection, *, at_ms: int) -> None:
    to = Conversation(NAME, FIRST_APP, USER, "")
    for number in range(30):
        outbox.put(conn, f"sent-{number}", "…", to=to, at_ms=at_ms)
    for message in conn.all("SELECT id FROM outbox WHERE state = 'queued'"):
        sent = SendOutcome("sent", 0, "ok", 0.0, "wecom.sent")
        outbox.end(conn, message["id"], "sent", sent, at_ms=at_ms)


def _fill(filler: Path) -> None:
    """Take all the room that there is."""
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        for size in (65536, 1024, 1):
            with contextlib.suppress(OSError):
                while file.write(bytes(size)) == size:
                    pass


async def test_it_says_when_it_is_ready_and_where(place: Place, gateway: Process) -> None:
    port = (await asyncio.to_thread((place.root / "port").read_bytes)).decode()
    assert gateway.base == f"http://127.0.0.1:{port.strip()}"
    async with place.http.get(gateway.base + "/health/ready") as answer:
        assert answer.status == 200
        assert (await answer.json())["parts"] == {"store": True, "disk": True}


@pytest.mark.requirement("P8")
async def test_without_members_it_does_not_start(place: Place) -> None:
    code, output, errors = await place.call("--secrets-dir", str(place.root / "config/secrets"))
    assert (code, output) == (2, "")
    assert errors.count("\n") == 1
    assert "member add" in errors


@pytest.mark.requirement("P8")
async def test_without_a_secret_it_does_not_start(place: Place) -> None:
    code, _, errors = await place.call()
    assert code == 2
    assert errors.count("\n") == 1
    assert "CODEXBRIDGE_GATEWAY__WECOM__TOKEN" in errors


async def test_a_second_gateway_on_the_same_store_does_not_start(
    place: Place, gateway: Process
) -> None:
    code, _, errors = await place.call("--secrets-dir", str(place.root / "config/secrets"))
    assert gateway.child.poll() is None
    assert code == 2
    assert errors.count("\n") == 1
    assert "gateway.db" in errors


async def test_a_port_in_use_is_told_in_one_line(place: Place, gateway: Process) -> None:
    port = gateway.base.rpartition(":")[2]
    place.environ["CODEXBRIDGE_GATEWAY__LISTEN__PORT"] = port
    code, _, errors = await place.call("--secrets-dir", str(place.root / "config/secrets"))
    assert code == 2
    assert errors.count("\n") == 1
    assert port in errors


async def test_broken_settings_are_told_in_one_line(place: Place) -> None:
    def break_it() -> None:
        (place.root / "config" / "gateway.toml").write_text("[listen\n", encoding="utf-8")

    await asyncio.to_thread(break_it)
    code, _, errors = await place.call("tasks")
    assert code == 2
    assert errors.count("\n") == 1
    assert "1" in errors
