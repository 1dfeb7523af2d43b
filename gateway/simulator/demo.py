"""``codexbridge demo``: the main job on one machine, with separate processes and the real approver.

It does what a member, an admin and a person at the dev machine would do, with the same commands:
it writes to the chat, pairs, adds a workspace.  It never approves: it only puts the approver in
front of the person.
"""

from __future__ import annotations

import json
import os
import queue
import re
import select
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from common.clock import SystemClock
from common.errors import CodexBridgeError, UnavailableError
from common.home import find_home
from common.sentences import Lang, say
from gateway.simulator import sentences as S  # noqa: N812 - a table of constants
from gateway.simulator.children import Child, Children
from gateway.simulator.client import SimulatorClient
from gateway.simulator.sample import TEST_COMMAND, write_sample
from gateway.simulator.screen import DemoScreen
from gateway.simulator.setup import Installation, write_installation

MEMBER: Final = "zhangwei"
MACHINE: Final = "demo-machine"
FIRST_MESSAGE: Final = "@dev test"
READY_SECONDS: Final = 30.0
LOOK_SECONDS: Final = 0.2
_CODE: Final = re.compile(r"CB1-[A-Z2-7]{26}")
_WAITING: Final = "WAITING_APPROVAL"


def run_demo(
    lang: Lang, environ: Mapping[str, str], *, script: Path | None, keep: Path | None
) -> int:
    """Run the demo until the person ends it, and return the exit code.

    Raises:
        UnavailableError: ``demo.…`` when a part could not be started.
    """
    lines = script.read_text(encoding="utf-8").splitlines() if script else [FIRST_MESSAGE]
    home = _new_home(keep)
    children = Children(_environment(environ, home, lang), home)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        demo = Demo(lang, home, children, [line for line in lines if line.strip()])
        demo.prepare()
        demo.follow()
    except KeyboardInterrupt:
        pass
    finally:
        children.stop()
        if keep is None:
            shutil.rmtree(home, ignore_errors=True)
    screen = DemoScreen(lang, terminal=sys.stdout.isatty())
    screen.gap()
    screen.tell(S.DEMO_END)
    if keep is not None:
        screen.tell(S.DEMO_KEPT, home=home)
    return 0


class Demo:
    """One run: set up, then follow chat and keyboard until the end."""

    def __init__(self, lang: Lang, home: Path, children: Children, lines: list[str]) -> None:
        self._lang = lang
        self._home = home
        self._children = children
        self._lines = lines
        self._heard: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._offered: set[str] = set()
        self._terminal = sys.stdin.isatty() and sys.stdout.isatty()
        self._screen = DemoScreen(lang, terminal=self._terminal)

    # setting up

    def prepare(self) -> None:
        """Start all parts and join them."""
        self._screen.title(S.DEMO_TITLE)
        project = write_sample(self._home / "shop-api")
        self._screen.done(S.DEMO_PROJECT, project)
        made = self._start_simulator()
        base = self._start_gateway(made)
        self._pair(made, base)
        self._start_agent(project)

    def _start_simulator(self) -> Installation:
        ports = _free_ports(2)
        made = write_installation(
            find_home({"CODEXBRIDGE_HOME": str(self._home)}).config,
            simulator_port=ports[0],
            gateway_port=ports[1],
            lang=self._lang,
        )
        child = self._children.start("simulator", ["sim"])
        self._chat = SimulatorClient(made.config.port)
        self._until(child, lambda: _answers(made.config.port))
        url = f"http://127.0.0.1:{made.config.port}/"
        self._screen.done(S.DEMO_SIM, url)
        if self._terminal and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
            import webbrowser

            webbrowser.open(url)
        return made

    def _start_gateway(self, made: Installation) -> str:
        gateway = ["gateway", "--config", str(made.gateway)]
        self._children.call([*gateway, "member", "add", MEMBER])
        child = self._children.start("gateway", [*gateway, "--secrets-dir", str(made.secrets)])
        base = made.config.callback_url.rsplit("/wecom", 1)[0]
        self._until(child, lambda: _answers(int(base.rsplit(":", 1)[1])))
        self._screen.done(S.DEMO_GATEWAY, base)
        return base

    def _pair(self, made: Installation, base: str) -> None:
        gateway = ["gateway", "--config", str(made.gateway)]
        said = self._children.call([*gateway, "pair", "--machine", MACHINE, "--member", MEMBER])
        code = _CODE.search(said)
        if code is None:
            raise UnavailableError("demo.step-failed", step="gateway pair", why="no code")
        self._children.call(["pair", "--gateway", base], stdin=code[0] + "\n")
        self._screen.done(S.DEMO_PAIRED, "")

    def _start_agent(self, project: Path) -> None:
        self._children.call(
            ["workspace", "add", str(project), "--test", TEST_COMMAND, "--toolchains", "none"]
        )
        child = self._children.start("agent", ["agent"])
        self._until(child, lambda: bool(self._status().get("connected")))
        level = str(self._status().get("sandbox", ""))
        boxed = S.DEMO_BOXED if level.startswith("bubblewrap") else S.DEMO_UNBOXED
        self._screen.done(S.DEMO_AGENT, say(boxed, self._lang))

    # following

    def follow(self) -> None:
        """Send the lines, tell what the chat hears, put the approver in front when it is needed."""
        threading.Thread(target=self._listen, daemon=True).start()
        typed = _lines_of(sys.stdin) if self._terminal else iter(lambda: None, "")
        self._screen.gap()
        while True:
            self._check_children()
            for bubble in _drain(self._heard):
                self._screen.bubble(bubble)
                if bubble["sender"] == "app":
                    self._offer_approval()
            if self._lines and not self._open_tasks():
                self._write(self._lines.pop(0))
            line = next(typed)
            if line is None:
                if not self._terminal:
                    time.sleep(LOOK_SECONDS)
            elif not self._typed(line.strip()):
                return

    def _typed(self, line: str) -> bool:
        if line in ("q", "quit", "exit"):
            return False
        if line == "approve":
            self._offered.clear()
            if not self._offer_approval():
                self._screen.tell(S.DEMO_NOTHING_WAITS)
        elif line.lower().startswith(("@dev", "＠dev")):
            self._write(line)
        elif line:
            self._screen.tell(S.DEMO_CHAT_ONLY)
        return True

    def _write(self, line: str) -> None:
        self._chat.say(MEMBER, line)

    def _offer_approval(self) -> bool:
        waiting = [task for task in self._open_tasks() if task.get("state") == _WAITING]
        fresh = [task for task in waiting if task["short_id"] not in self._offered]
        if not fresh:
            return False
        short_id = fresh[0]["short_id"]
        self._offered.add(short_id)
        if not self._terminal:
            self._screen.call(S.DEMO_NO_TERMINAL, short_id=short_id, home=self._home)
            return True
        self._screen.call(S.DEMO_WAITING, short_id=short_id)
        self._children.in_front(["approve", short_id])
        self._screen.gap()
        if any(task["short_id"] == short_id for task in self._open_tasks()):
            self._screen.tell(S.DEMO_UNDECIDED, short_id=short_id)
        self._screen.tell(S.DEMO_PROMPT)
        self._screen.gap()
        return True

    def _listen(self) -> None:
        last = 0
        while True:
            try:
                for bubble in self._chat.messages(last, wait=True):
                    last = bubble["number"]
                    self._heard.put(bubble)
            except CodexBridgeError:
                return

    def _open_tasks(self) -> list[dict[str, Any]]:
        found = json.loads(self._children.call(["tasks", "--json"]))
        return [task for task in found if not task.get("reason")]

    def _status(self) -> dict[str, Any]:
        try:
            return dict(json.loads(self._children.call(["status", "--json"])))
        except (UnavailableError, ValueError):
            return {}

    def _check_children(self) -> None:
        if child := self._children.ended():
            self._screen.tell(S.DEMO_CHILD_ENDED, name=child.name)
            raise UnavailableError("demo.part-ended", name=child.name, why=child.tail())

    def _until(self, child: Child, ready: Callable[[], bool]) -> None:
        clock = SystemClock()
        until = clock.now().mono + READY_SECONDS
        while not ready():
            if not child.running or clock.now().mono > until:
                raise UnavailableError("demo.part-ended", name=child.name, why=child.tail())
            time.sleep(0.05)


def _new_home(keep: Path | None) -> Path:
    if keep is None:
        return Path(tempfile.mkdtemp(prefix="codexbridge-demo-"))
    keep.mkdir(mode=0o700, parents=True)
    return keep.resolve()


def _environment(environ: Mapping[str, str], home: Path, lang: Lang) -> dict[str, str]:
    # A variable of a real installation must not leak into the demo.
    kept = {name: value for name, value in environ.items() if not name.startswith("CODEXBRIDGE_")}
    return kept | {"CODEXBRIDGE_HOME": str(home), "CODEXBRIDGE_LANG": lang}


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(listener.getsockname()[1]) for listener in sockets]
    for listener in sockets:
        listener.close()
    return ports


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def _lines_of(stream: Any) -> Iterator[str | None]:
    """Yield a typed line, or None when none came within `LOOK_SECONDS`; ends the demo at EOF."""
    while True:
        if not select.select([stream], [], [], LOOK_SECONDS)[0]:
            yield None
        elif line := stream.readline():
            yield line
        else:
            yield "q"


def _drain(heard: queue.SimpleQueue[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    while True:
        try:
            yield heard.get_nowait()
        except queue.Empty:
            return


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt
