"""The parts of the demo: simulator, gateway, agent and a sample project with a real bug.

They are started and joined with the commands that a person would use, each in a process group of
its own.  Only the demo uses this.
"""

from __future__ import annotations

import json
import os
import re
import socket
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from common.children import Child, Children
from common.clock import SystemClock
from common.errors import UnavailableError
from common.home import find_home
from common.sentences import Lang, Sentence, say
from gateway.simulator import sentences as S  # noqa: N812 - a table of constants
from gateway.simulator.client import SimulatorClient
from gateway.simulator.config import Installation, write_installation

MEMBER: Final = "zhangwei"
MACHINE: Final = "demo-machine"
READY_SECONDS: Final = 30.0
_CODE: Final = re.compile(r"CB1-[A-Z2-7]{26}")
TEST_COMMAND: Final = "python3 -m unittest -v"


class Parts:
    """Simulator, gateway and agent of one demo.

    Args:
        lang: Language of the person.
        home: ``CODEXBRIDGE_HOME`` of all of them.
        children: Starts and ends them.
        done: Told of each part that is there, with where it is.
        browser: Whether the chat page may be opened in one.
    """

    chat: SimulatorClient

    def __init__(
        self,
        lang: Lang,
        home: Path,
        children: Children,
        done: Callable[[Sentence, object], None],
        *,
        browser: bool,
    ) -> None:
        self._lang = lang
        self._home = home
        self._children = children
        self._done = done
        self._browser = browser

    def start(self) -> None:
        """Start all parts and join them.

        Raises:
            UnavailableError: ``demo.step-failed`` or ``demo.part-ended``.
        """
        project = write_sample(self._home / "shop-api")
        self._done(S.DEMO_PROJECT, project)
        made = self._start_simulator()
        base = self._start_gateway(made)
        self._pair(made, base)
        self._start_agent(project)

    def _start_simulator(self) -> Installation:
        made = write_installation(
            find_home({"CODEXBRIDGE_HOME": str(self._home)}).config,
            ports=_free_ports(),
            lang=self._lang,
        )
        child = self._children.start("simulator", ["sim"])
        port = made.config.page_port
        self.chat = SimulatorClient(port)
        self._until(child, lambda: _answers(port))
        url = f"http://127.0.0.1:{port}/"
        self._done(S.DEMO_SIM, url)
        if self._browser and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
            import webbrowser

            webbrowser.open(url)
        return made

    def _start_gateway(self, made: Installation) -> str:
        gateway = ["gateway", "--config", str(made.gateway)]
        self._children.call([*gateway, "member", "add", MEMBER])
        child = self._children.start("gateway", [*gateway, "--secrets-dir", str(made.secrets)])
        base = made.config.first.callback_url.rsplit("/wecom", 1)[0]
        self._until(child, lambda: _answers(int(base.rsplit(":", 1)[1])))
        self._done(S.DEMO_GATEWAY, base)
        return base

    def _pair(self, made: Installation, base: str) -> None:
        gateway = ["gateway", "--config", str(made.gateway)]
        said = self._children.call([*gateway, "pair", "--machine", MACHINE, "--member", MEMBER])
        code = _CODE.search(said)
        if code is None:
            raise UnavailableError("demo.step-failed", step="gateway pair", why="no code")
        self._children.call(["pair", "--gateway", base], stdin=code[0] + "\n")
        self._done(S.DEMO_PAIRED, "")

    def _start_agent(self, project: Path) -> None:
        self._children.call(
            ["workspace", "add", str(project), "--test", TEST_COMMAND, "--toolchains", "none"]
        )
        child = self._children.start("agent", ["agent"])
        self._until(child, self._agent_is_there)
        level = str(self.status().get("sandbox", ""))
        boxed = S.DEMO_BOXED if level.startswith("bubblewrap") else S.DEMO_UNBOXED
        self._done(S.DEMO_AGENT, say(boxed, self._lang))

    def has_windows(self) -> bool:
        """Tell whether the agent opens windows for what waits."""
        return _windows(self.status()) == "on"

    def _agent_is_there(self) -> bool:
        status = self.status()
        return bool(status.get("connected")) and _windows(status) != "looking"

    def open_tasks(self) -> list[dict[str, Any]]:
        """Return the tasks of the machine that have not ended, newest first."""
        found = json.loads(self._children.call(["tasks", "--json"]))
        return [task for task in found if not task.get("reason")]

    def status(self) -> dict[str, Any]:
        """Return the machine's status; empty while no agent answers."""
        try:
            return dict(json.loads(self._children.call(["status", "--json"])))
        except (UnavailableError, ValueError):
            return {}

    def _until(self, child: Child, ready: Callable[[], bool]) -> None:
        clock = SystemClock()
        until = clock.now().mono + READY_SECONDS
        while not ready():
            if not child.running or clock.now().mono > until:
                raise UnavailableError("demo.part-ended", name=child.name, why=child.last())
            time.sleep(0.05)


def _windows(status: Mapping[str, Any]) -> str:
    return str(status.get("windows", {}).get("state", ""))


def _free_ports() -> tuple[int, int, int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
    first, second, third = (int(listener.getsockname()[1]) for listener in sockets)
    for listener in sockets:
        listener.close()
    return first, second, third


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


# The sample project: a small repository with a real bug and a real failing test.
FILES: Final[dict[str, str]] = {
    ".gitignore": "__pycache__/\n",
    "README.md": "# shop-api\n\nSign-in of a small shop. The retry does not back off yet.\n",
    "login.py": '''"""Sign-in with retries."""

from typing import Callable


def delays(attempts: int, base: float = 0.5) -> list[float]:
    """Return the pauses between attempts, in seconds: each twice as long as the one before."""
    return [base for _ in range(attempts - 1)]


def sign_in(call: Callable[[], int], attempts: int = 3) -> int:
    """Call until the answer is below 500, and return the last answer."""
    status = 0
    for _ in range(attempts):
        status = call()
        if status < 500:
            break
    return status
''',
    "test_login.py": '''"""Tests of the sign-in."""

import unittest

import login


class Retry(unittest.TestCase):
    """What a retry must do."""

    def test_a_server_error_is_tried_again(self):
        answers = iter([503, 503, 200])
        self.assertEqual(login.sign_in(lambda: next(answers)), 200)

    def test_a_wrong_password_is_not_tried_again(self):
        answers = iter([401, 200])
        self.assertEqual(login.sign_in(lambda: next(answers)), 401)

    def test_each_pause_is_twice_the_one_before(self):
        self.assertEqual(login.delays(4), [0.5, 1.0, 2.0])


if __name__ == "__main__":
    unittest.main()
''',
}
UNCOMMITTED: Final = ("README.md", "\nNext: exponential back-off for 5xx.\n")


def write_sample(folder: Path) -> Path:
    """Create the repository with one commit and one uncommitted line, and return its folder."""
    import pygit2

    folder.mkdir(mode=0o700, parents=True)
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    repository = pygit2.init_repository(str(folder), initial_head="main")
    repository.index.add_all()
    repository.index.write()
    author = pygit2.Signature("CodexBridge demo", "demo@localhost")
    repository.create_commit(
        "HEAD", author, author, "Sign-in with retries", repository.index.write_tree(), []
    )
    name, text = UNCOMMITTED
    with (folder / name).open("a", encoding="utf-8") as file:
        file.write(text)
    return folder
