"""One installation whose parts are forked, killed and revived, whatever story is told of it.

`Running` keeps the processes and remembers what the outside saw of them; what people do in it is in
`tests.matrix.house`.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from common.errors import CodexBridgeError
from common.home import find_home
from local_agent.faces.control.client import call
from tests import truth
from tests.e2e.place import Place, Terminal
from tests.forks import Fork, Watch, Zygote

T = TypeVar("T")
Kill = tuple[str, str, str, int]  # part, event, phase, nth

PATIENCE_S: Final = 30.0
LOOK_S: Final = 0.01
PARTS: Final = ("simulator", "gateway", "agent")  # in the order in which they start
WATCHED: Final = frozenset({"gateway", "agent", "admin", "pair"})
STORY: Final = "story"  # the part that notes where a chapter begins


def read_notes(notes: Path) -> list[dict[str, Any]]:
    """Return what the parts of a house noted; a line that is being written comes the next time."""
    whole = notes.read_text(encoding="utf-8").rpartition("\n")[0]
    return [json.loads(line) for line in whole.splitlines()]


class Hands(Terminal):
    """A person at a terminal of the installation."""

    def __init__(self, running: Running, *words: str) -> None:
        super().__init__(running.environ, *words)
        self._running = running

    def _zygote(self) -> Zygote:
        return self._running.zygote


@dataclass
class Running:
    """One installation.

    Attributes:
        zygote: Forks its parts.
        place: Its folders, and the chat.
        workspace: Where commands run, and what changes change.
        notes: Where its parts note what they do; None to leave them alone.
        kills: Where one of them is to die, one death after the other.
        accepted: Texts of task messages that were answered with 200.
        agent_kills: When the agent died, milliseconds since the epoch.
        deaths: How often anything was killed.
        untrue: What was found wrong on the way.
        ahead_s: Seconds that the clocks of both halves are ahead.
        model: Where a model answers (`tests.matrix.minds`).
    """

    zygote: Zygote
    place: Place
    workspace: Path
    notes: Path | None = None
    kills: Sequence[Kill] = ()
    accepted: list[str] = field(default_factory=list)
    agent_kills: list[int] = field(default_factory=list)
    deaths: int = 0
    untrue: list[str] = field(default_factory=list)
    ahead_s: int = 0
    model: str = ""
    parts: dict[str, Fork] = field(default_factory=dict)
    _terminal: Fork | None = None
    _one_at_a_time: threading.RLock = field(default_factory=threading.RLock)

    @property
    def environ(self) -> dict[str, str]:
        """The environment of every part."""
        return self.place.environ

    @property
    def journal(self) -> Path:
        """The agent's journal."""
        return self.place.root / "state" / "journal.db"

    @property
    def store(self) -> Path:
        """The gateway's store."""
        return self.place.root / "state" / "gateway" / "gateway.db"

    @property
    def struck(self) -> int:
        """How many of the kills have happened."""
        return sum(note["killed"] for note in self._noted())

    def noted(self, event: str, phase: str) -> int:
        """Return how often a moment came; of those that are noted at all."""
        return sum((note["event"], note["phase"]) == (event, phase) for note in self._noted())

    def _noted(self) -> list[dict[str, Any]]:
        return read_notes(self.notes) if self.notes and self.notes.exists() else []

    # parts

    def start(self, *names: str) -> None:
        """Start parts, and keep them running from now on; the agent is connected by then."""
        before = self._sessions()
        self.bring_up(*names)
        if {"gateway", "agent"} <= self.parts.keys():
            # What the chat hears first of a task is another thing where its machine is away.
            self.until(lambda: self._has_dialled(before))

    def bring_up(self, *names: str) -> None:
        """Start parts, and keep them running from now on."""
        for name in names:
            waited = self._waiting() if name == "agent" else {}
            fork = self.parts[name] = self._fork(name, *self._arguments(name))
            self._look(lambda name=name, fork=fork: fork.poll() is not None or self._answers(name))  # type: ignore[misc]  # a lambda's defaults have no types
            if fork.poll() is None:
                self.untrue += truth.lost_approvals(self.journal, waited) if waited else []

    def stop(self, *names: str) -> None:
        """Kill parts, and leave them dead until they are started again."""
        for name in names:
            self.parts[name].kill()
            self.parts[name].wait(PATIENCE_S)
            self._bury(name)
            del self.parts[name]

    def close(self) -> None:
        """Kill everything."""
        self.stop(*self.parts)

    def revive(self) -> None:
        """Start again what was killed; what ended in another way is a failure."""
        with self._one_at_a_time:
            for name in sorted(self.parts, key=PARTS.index):
                if self._is_dead(name):
                    self.bring_up(name)

    def strike(self, victim: str, *, again_after: float | None = None) -> None:
        """Kill a part, or the terminal at which somebody decides.

        Args:
            again_after: Seconds after which it is killed again, on its way back; not when None.
        """
        with self._one_at_a_time:
            if victim == "terminal":
                self.deaths += self._terminal is not None
                if self._terminal:
                    self._terminal.kill()
                return
            self.parts[victim].kill()
            self.parts[victim].wait(PATIENCE_S)
            if again_after is not None and self._is_dead(victim):
                self.parts[victim] = self._fork(victim, *self._arguments(victim))
                time.sleep(again_after)
                self.parts[victim].kill()
                self.parts[victim].wait(PATIENCE_S)

    def _is_dead(self, name: str) -> bool:
        code = self.parts[name].poll()
        assert code in (None, -signal.SIGKILL), (name, code, self.place.log(name))
        if code is not None:
            self._bury(name)
        return code is not None

    def command(self, name: str, *arguments: str, typed: str = "") -> str:
        """Run a command, again while it is killed; return what it said, if it succeeded."""
        said = self.place.root / f"{name}.said"
        while True:
            said.unlink(missing_ok=True)
            fork = self._fork(name, *arguments, output=said, typed=typed)
            self.until(lambda fork=fork: fork.poll() is not None)  # type: ignore[misc]  # a lambda's defaults have no types
            if fork.returncode != -signal.SIGKILL:
                break
            self._bury(name)
        text = said.read_text(encoding="utf-8")
        assert "Traceback" not in text, text
        return text if fork.returncode == 0 else ""

    def admin(self, *arguments: str) -> str:
        """Run ``codexbridge gateway …`` as the admin does."""
        return self.command("admin", *self._arguments("gateway"), *arguments)

    def _arguments(self, name: str) -> tuple[str, ...]:
        made = self.place.made
        return {
            "simulator": ("sim",),
            "gateway": (
                *("gateway", "--config", str(made.gateway)),
                *("--secrets-dir", str(made.secrets)),
            ),
            "agent": ("agent",),
        }[name]

    def _fork(
        self, name: str, *arguments: str, output: Path | None = None, typed: str = ""
    ) -> Fork:
        watch = None
        if self.notes is not None and name in WATCHED:
            due = self.kills[self.struck : self.struck + 1]
            kill = next((kill[1:] for kill in due if kill[0] == name), None)
            watch = Watch(name, self.notes, self.workspace.resolve(), kill, self.ahead_s)
        reading, writing = os.pipe()
        os.write(writing, typed.encode())
        os.close(writing)
        path = output or self.place.root / f"{name}.log"
        log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            return self.zygote.start(
                arguments,
                environ=self.environ,
                streams=[reading, log, log],
                watch=watch,
                tries_sandbox=False,
            )
        finally:
            os.close(reading)
            os.close(log)

    def _bury(self, name: str) -> None:
        self.deaths += 1
        if name == "agent":
            self.agent_kills.append(time.time_ns() // 1_000_000)

    def _waiting(self) -> dict[str, truth.Pending]:
        known = self.journal.exists() and not self.ahead_s
        return truth.pending(self.journal) if known else {}

    def _answers(self, name: str) -> bool:
        try:
            if name == "agent":
                return bool(call(find_home(self.environ), self.environ, "status"))
            port = self.place.made.config.page_port
            url = {
                "gateway": f"{self.place.base}/health/ready",
                "simulator": f"http://127.0.0.1:{port}/",
            }[name]
            with urllib.request.urlopen(url, timeout=5) as answer:
                return bool(answer.status == 200)
        except (CodexBridgeError, OSError):
            return False

    def _sessions(self) -> list[int]:
        """Return the number of the session that the gateway gave each machine last."""
        agents = truth.rows(self.store, "SELECT epoch FROM agents") if self.store.exists() else []
        return [agent["epoch"] for agent in agents]

    def _has_dialled(self, before: list[int]) -> bool:
        """Whether the agent has a session that it had not before, or will never have one."""
        try:
            state = call(find_home(self.environ), self.environ, "status")["gateway"]["state"]
        except CodexBridgeError:
            return False
        had = state == "connected" and self._sessions() != before
        return had or state not in ("connecting", "connected", "waiting")

    def begins(self, chapter: str) -> None:
        """Note that what comes is another operation than before."""
        line = {"half": STORY, "event": chapter, "phase": "", "nth": 1, "killed": False}
        if self.notes is not None:
            with self.notes.open("a", encoding="utf-8") as notes:
                notes.write(json.dumps(line) + "\n")

    # waiting

    def until(self, look: Callable[[], T]) -> T:
        """Return the first truthy answer; whatever dies meanwhile is started again."""

        def revived() -> T:
            self.revive()
            return look()

        return self._look(revived)

    def _look(self, look: Callable[[], T]) -> T:
        until = time.monotonic() + PATIENCE_S
        while not (found := look()):
            assert time.monotonic() < until, self._where_it_stands()
            time.sleep(LOOK_S)
        return found

    def _where_it_stands(self) -> str:
        told = ("short_id", "text", "state", "reason")
        halves = (("agent", self.tasks()), ("gateway", self.gateway_tasks()))
        lines = [
            f"{half}: {[task[name] for name in told]}" for half, tasks in halves for task in tasks
        ]
        lines += truth.on_its_way(self.journal, self.store) if self.journal.exists() else []
        return "\n".join([*lines, *(f"{part}:\n{self.place.log(part)}" for part in self.parts)])

    # what is remembered

    def tasks(self) -> list[dict[str, Any]]:
        """Return the agent's tasks."""
        return truth.rows(self.journal, "SELECT * FROM tasks") if self.journal.exists() else []

    def gateway_tasks(self) -> list[dict[str, Any]]:
        """Return the gateway's tasks."""
        return truth.rows(self.store, "SELECT * FROM tasks")
