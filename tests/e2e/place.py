"""A whole installation in a folder: simulator, gateway and agent as real processes on loopback.

Parts and commands are forked from a process that has imported the product once (`tests.forks`);
tests of the start itself run the program (`COMMAND`).  What a test looks at again and again is
asked over the control socket, as the command line does.

Callbacks are made by an independent implementation (wechatpy), never by our own; approvals are made
by a person's hands: a pseudo-terminal in which the code shown on the screen is typed.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import secrets
import select
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.parse import urlencode

from wechatpy.enterprise.crypto import WeChatCrypto

from common.errors import UnavailableError
from common.home import find_home
from gateway.simulator.config import Installation, write_installation
from local_agent.faces.control.client import call
from tests import forks, truth
from tests.forks import Fork, Zygote, shared_zygote

T = TypeVar("T")
_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_ROW = range(11_000 + 2_000 * (_WORKER % 10), 13_000 + 2_000 * (_WORKER % 10))
_FIRST = os.getpid() * 37 % len(_ROW)
_PORTS = itertools.cycle([*_ROW[_FIRST:], *_ROW[:_FIRST]])
COMMAND = (sys.executable, "-I", "-m", "codexbridge")
PATIENCE = 25.0
# Standing alone: two groups of digits in a UUID look like one.
CODE = re.compile(r"(?<![\w-])([0-9A-HJKMNP-TV-Z]{4})-([0-9A-HJKMNP-TV-Z]{4})(?![\w-])")
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def wait_until(look: Callable[[], T], *, seconds: float = PATIENCE) -> T:
    """Return the first truthy answer, or fail."""
    until = time.monotonic() + seconds
    while True:
        if found := look():
            return found
        assert time.monotonic() < until, f"not within {seconds} s; last answer: {found!r}"
        time.sleep(0.05)


@dataclass
class Place:
    """One installation below one folder.

    Attributes:
        root: ``CODEXBRIDGE_HOME``.
        made: What simulator and gateway agree on.
        cwd: Where commands and parts are started; the folder of the tests when it is None.
        forked: Whether parts are forked; else each is the program itself, as people start it.  In
            surroundings like the test's own a forked agent tries no sandbox anew (`forks.sandbox`).
    """

    root: Path
    made: Installation
    gateway_port: int
    extra: Mapping[str, str] = field(default_factory=dict)
    cwd: Path | None = None
    forked: bool = True
    processes: dict[str, subprocess.Popen[bytes] | Fork] = field(default_factory=dict)

    @classmethod
    def at(cls, root: Path, **extra: str) -> Place:
        """Write the configuration; start nothing."""
        api_port, page_port, gateway_port = free_ports(3)
        made = write_installation(
            root / "config", ports=(api_port, page_port, gateway_port), lang="en"
        )
        return cls(root, made, gateway_port, extra)

    # commands and parts

    @property
    def environ(self) -> dict[str, str]:
        """The environment of every command: this installation and nothing of the machine's."""
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME")}
        return kept | {"CODEXBRIDGE_HOME": str(self.root), "LANG": "C.UTF-8", **self.extra}

    def run(
        self, *arguments: str, stdin: str = "", check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run ``codexbridge`` to its end."""
        done = forks.run(*arguments, environ=self.environ, stdin=stdin, cwd=self.cwd)
        if check:
            assert done.returncode == 0, (arguments, done)
        return done

    def admin(self, *arguments: str) -> str:
        """Run ``codexbridge gateway …`` as the admin does."""
        return self.run("gateway", "--config", str(self.made.gateway), *arguments).stdout

    def start(self, name: str, *arguments: str) -> None:
        """Start a part in a process group of its own; its output goes to ``NAME.log``."""
        with (self.root / f"{name}.log").open("ab") as log, Path(os.devnull).open("rb") as nothing:
            streams = [nothing.fileno(), log.fileno(), log.fileno()]
            if self.forked:
                self.processes[name] = shared_zygote().start(
                    arguments,
                    environ=self.environ,
                    streams=streams,
                    cwd=self.cwd,
                    tries_sandbox=self.cwd is not None
                    or not {"PATH", "HOME"}.isdisjoint(self.extra),
                )
                return
            self.processes[name] = subprocess.Popen(
                [*COMMAND, *arguments],
                env=self.environ,
                cwd=self.cwd,
                stdin=nothing,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self, name: str) -> None:
        """``kill -9`` a part and wait until it is gone."""
        process = self.processes.pop(name)
        os.kill(process.pid, signal.SIGKILL)
        process.wait(10)

    def stop(self) -> None:
        """End all parts."""
        for process in reversed(self.processes.values()):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
        for process in self.processes.values():
            try:
                process.wait(8)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(8)
        self.processes.clear()

    def log(self, name: str) -> str:
        """Return a part's output so far."""
        return (self.root / f"{name}.log").read_text(encoding="utf-8", errors="replace")

    def start_simulator(self) -> None:
        """Start the simulated WeCom and wait until it listens."""
        self.start("simulator", "sim")
        wait_until(lambda: listens(self.made.config.port))

    def start_gateway(self) -> None:
        """Start the gateway and wait until it is ready."""
        self.start(
            "gateway",
            *("gateway", "--config", str(self.made.gateway)),
            *("--secrets-dir", str(self.made.secrets)),
        )
        wait_until(self.gateway_is_ready)

    def gateway_is_ready(self) -> bool:
        """Tell whether the gateway answers that it is ready."""
        assert self.processes["gateway"].poll() is None, self.log("gateway")
        try:
            with urllib.request.urlopen(f"{self.base}/health/ready", timeout=2) as answer:
                return bool(answer.status == 200)
        except (OSError, urllib.error.HTTPError):
            return False

    def start_agent(self, *, connected: bool = True) -> None:
        """Start the agent and wait until it is there, and connected unless told otherwise."""
        self.start("agent", "agent")
        wait_until(self.status)  # empty until the agent answers
        if connected:
            wait_until(lambda: self.status().get("connected"))

    def pair(self, machine: str = "dev-1", member: str = "zhangwei") -> None:
        """Pair this machine as the admin and the person do."""
        said = self.admin("pair", "--machine", machine, "--member", member)
        code = re.search(r"CB1-[A-Z2-7]{26}", said)
        assert code, said
        self.run("pair", "--gateway", self.base, stdin=code[0] + "\n")

    def start_all(self, workspace: Path, test_command: str) -> None:
        """Everything from nothing to a connected agent with one workspace."""
        self.admin("member", "add", "zhangwei")
        self.start_simulator()
        self.start_gateway()
        self.pair()
        self.run("workspace", "add", str(workspace), "--test", test_command, "--toolchains", "none")
        self.start_agent()

    # WeCom

    @property
    def base(self) -> str:
        """Where the gateway listens."""
        return f"http://127.0.0.1:{self.gateway_port}"

    def callback(self, text: str, *, user: str = "zhangwei", msg_id: str | None = None) -> int:
        """Deliver a member's message, encrypted by an independent implementation."""
        return self.post(self.encrypted(text, user=user, msg_id=msg_id))

    def encrypted(
        self, text: str, *, user: str = "zhangwei", msg_id: str | None = None
    ) -> tuple[dict[str, str], bytes]:
        """Return query and body of a callback, made by wechatpy."""
        config = self.made.config.first
        crypto = WeChatCrypto(config.token, config.encoding_aes_key, config.corp_id)
        plain = (
            f"<xml><ToUserName><![CDATA[{config.corp_id}]]></ToUserName>"
            f"<FromUserName><![CDATA[{user}]]></FromUserName>"
            f"<CreateTime>{int(time.time())}</CreateTime><MsgType><![CDATA[text]]></MsgType>"
            f"<Content><![CDATA[{text}]]></Content>"
            f"<MsgId>{msg_id or secrets.randbits(60)}</MsgId>"
            f"<AgentID>{config.app_id}</AgentID></xml>"
        )
        timestamp, nonce = str(int(time.time())), secrets.token_hex(8)
        sealed = crypto.encrypt_message(plain, nonce, timestamp)
        encrypt = re.search(r"<Encrypt><!\[CDATA\[(.*?)\]\]>", sealed)
        signature = re.search(r"<MsgSignature><!\[CDATA\[(.*?)\]\]>", sealed)
        assert encrypt
        assert signature
        query = {"msg_signature": signature[1], "timestamp": timestamp, "nonce": nonce}
        body = (
            f"<xml><ToUserName><![CDATA[{config.corp_id}]]></ToUserName>"
            f"<AgentID><![CDATA[{config.app_id}]]></AgentID>"
            f"<Encrypt><![CDATA[{encrypt[1]}]]></Encrypt></xml>"
        )
        return query, body.encode()

    def post(self, made: tuple[dict[str, str], bytes]) -> int:
        """Post a callback and return the HTTP status."""
        query, body = made
        request = urllib.request.Request(
            f"{self.made.config.first.callback_url}?{urlencode(query)}", data=body, method="POST"
        )
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as refusal:
            return refusal.code

    def chat(self, user: str = "zhangwei") -> list[str]:
        """Return what the app said to a member, as the simulator decoded it."""
        return [_words_of(bubble) for bubble in self._bubbles() if _is_said_to(user, bubble)]

    def hears(self, *words: str, user: str = "zhangwei", seconds: float = PATIENCE) -> str:
        """Wait for a chat message with all the words and return it."""
        return self.hears_that(lambda text: all(word in text for word in words), user, seconds)

    def hears_end(self, short_id: str, user: str = "zhangwei") -> str:
        """Wait for what a member hears of the end of a task; it is told once."""
        self.hears_that(lambda text: truth.is_end(text, short_id), user)
        (told,) = [text for text in self.chat(user) if truth.is_end(text, short_id)]
        return told

    def hears_that(
        self, fits: Callable[[str], bool], user: str = "zhangwei", seconds: float = PATIENCE
    ) -> str:
        """Wait for a chat message that fits and return it; the simulator tells what is new."""
        until, last, fresh = time.monotonic() + seconds, 0, self._bubbles()
        while True:
            for bubble in fresh:
                last = bubble["number"]
                if _is_said_to(user, bubble) and fits(text := _words_of(bubble)):
                    return text
            assert time.monotonic() < until, f"not within {seconds} s: {self.chat(user)}"
            with contextlib.suppress(TimeoutError):
                fresh = self._bubbles(last, wait_s=until - time.monotonic())

    def _bubbles(self, after: int = 0, wait_s: float = 0.0) -> list[dict[str, Any]]:
        """Return what came or changed after a number; with a time, wait for the first."""
        page = f"http://127.0.0.1:{self.made.config.page_port}"
        url = f"{page}/api/messages?after={after}&wait={int(wait_s > 0)}"
        with urllib.request.urlopen(url, timeout=max(wait_s, 5)) as answer:
            return list(json.loads(answer.read()))

    # the machine

    def status(self) -> dict[str, Any]:
        """Return how the agent is doing, or nothing while there is none."""
        try:
            found = self._call("status")
        except UnavailableError:
            return {}
        gateway = found["gateway"]
        connected = gateway["state"] == "connected"
        return {**found, "connected": connected, "clock_skew_seconds": gateway.get("skew_s")}

    def tasks(self) -> list[dict[str, Any]]:
        """Return all tasks of the agent."""
        return list(self._call("tasks", all=True, limit=200)["tasks"])

    def _call(self, op: str, **args: object) -> Mapping[str, Any]:
        return call(find_home(self.environ), self.environ, op, **args)

    def gateway_tasks(self) -> list[dict[str, Any]]:
        """Return what ``codexbridge gateway tasks --json`` says."""
        return list(json.loads(self.admin("tasks", "--all", "--json")))

    def waiting(self) -> dict[str, Any]:
        """Wait for a task that waits for approval and return it."""

        def look() -> dict[str, Any]:
            found = (task for task in self.tasks() if task["state"] == "WAITING_APPROVAL")
            return next(found, {})

        return wait_until(look)

    def final(self, short_id: str) -> dict[str, Any]:
        """Wait until a task has ended and return it."""

        def look() -> dict[str, Any]:
            found = (task for task in self.tasks() if task["short_id"] == short_id)
            return next((task for task in found if task["reason"]), {})

        return wait_until(look)

    def approve(self, short_id: str) -> str:
        """Approve as a person does and return all that the screen showed."""
        with Terminal(self.environ, "approve", short_id) as terminal:
            shown = terminal.read_until(":", "：", after=CODE)
            code = CODE.search(shown)
            assert code, shown
            whole = "NOT SANDBOXED" in shown or "both groups" in shown or "whole" in shown
            terminal.type(code[0] if whole else code[1])
            return shown + terminal.read_to_end()


def _is_said_to(user: str, bubble: Mapping[str, Any]) -> bool:
    return bool(bubble["sender"] == "app" and bubble["user"] == user)


def _words_of(bubble: Mapping[str, Any]) -> str:
    """Return what a member reads in a bubble: its text, or all words of its card."""
    card = bubble["card"]
    if card is None:
        return str(bubble["text"])
    rows = (f"{row['keyname']} {row['value']}" for row in card["horizontal_content_list"])
    return "\n".join((*card["main_title"].values(), card.get("sub_title_text", ""), *rows))


class Terminal:
    """A pseudo-terminal with ``codexbridge`` in it."""

    def __init__(self, environ: Mapping[str, str], *arguments: str) -> None:
        self._arguments = arguments
        self._environ = dict(environ) | {"TERM": "xterm-256color", "COLUMNS": "80", "LINES": "40"}
        self.shown = ""

    def __enter__(self) -> Self:
        self.fork, self._fd = self._zygote().start_at_terminal(
            self._arguments, environ=self._environ
        )
        return self

    def __exit__(self, *_: object) -> None:
        self.fork.kill()
        self.fork.wait(PATIENCE)
        os.close(self._fd)

    def _zygote(self) -> Zygote:
        return shared_zygote()

    def type(self, text: str) -> None:
        """Type a line."""
        os.write(self._fd, text.encode() + b"\n")

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        os.write(self._fd, b"\x03")

    def read_until(self, *ends: str, after: re.Pattern[str], seconds: float = PATIENCE) -> str:
        """Read until the screen has matched ``after`` and rests at one of the ``ends``."""
        for _ in self._chunks(seconds):
            rest = self.shown.rstrip()
            if after.search(self.shown) and rest.endswith(ends):
                return self.shown
        raise AssertionError(f"the terminal never asked: {self.shown}")

    def read_to_end(self, seconds: float = PATIENCE) -> str:
        """Read until the command ends and return what came since."""
        before = len(self.shown)
        for _ in self._chunks(seconds):
            pass
        return self.shown[before:]

    def _chunks(self, seconds: float) -> Iterator[None]:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if select.select([self._fd], [], [], 0.2)[0]:
                try:
                    data = os.read(self._fd, 65536)
                except OSError:  # the child has closed its side
                    return
                if not data:
                    return
                self.shown += CONTROL.sub("", data.decode("utf-8", "replace"))
            yield
        raise AssertionError(f"nothing more within {seconds} s: {self.shown}")


def free_ports(count: int) -> list[int]:
    """Return ports that nobody listens on at this moment, and nobody is given by chance.

    They lie below those that the kernel hands out (ip_local_port_range), where another process
    could get one before it is used.  Each worker counts on in a row of its own, from a place of
    its own, since other tests may run beside these.
    """
    found: list[int] = []
    while len(found) < count:
        port = next(_PORTS)
        with contextlib.suppress(OSError):
            socket.create_server(("127.0.0.1", port)).close()
            found.append(port)
    return found


def listens(port: int) -> bool:
    """Tell whether somebody listens on a port of loopback."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def sample(root: Path, files: Sequence[tuple[str, str]]) -> Path:
    """Write a workspace with these files and return it."""
    for name, text in files:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root
