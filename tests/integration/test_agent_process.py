"""The agent as a real process, without a gateway: ask, approve by hand, reject, cancel, stop."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import select
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from common.sentences import say
from local_agent.cli import agent
from local_agent.flow.words import BLOCKED
from local_agent.store.lock import hold_commands
from tests import forks

T = TypeVar("T")
PATIENCE = 30.0


def eventually(look: Callable[[], T]) -> T:
    until = time.monotonic() + PATIENCE
    while not (found := look()):
        assert time.monotonic() < until, found
        time.sleep(0.05)
    return found


class Machine:
    """One installation with one workspace; its agent may be started and killed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.workspace = root / "shop"
        self.workspace.mkdir()
        self.script = self.workspace / "t.sh"
        self.script.write_text("echo run >> ran.txt; echo all fine\n", encoding="utf-8")
        self.agent: forks.Fork | None = None
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        self.environ = kept | {"CODEXBRIDGE_HOME": str(root / "cb"), "LANG": "C.UTF-8"}
        self.run(
            "workspace", "add", str(self.workspace), "--test", "sh t.sh", "--toolchains", "none"
        )

    def run(self, *arguments: str, code: int = 0) -> str:
        done = forks.run(*arguments, environ=self.environ)
        assert done.returncode == code, (arguments, done)
        return done.stdout + done.stderr

    def start(self) -> None:
        with (self.root / "agent.log").open("ab") as log, Path(os.devnull).open("rb") as nothing:
            self.agent = forks.shared_zygote().start(
                ["agent"],
                environ=self.environ,
                streams=[nothing.fileno(), log.fileno(), log.fileno()],
                tries_sandbox=False,
            )
        eventually(lambda: "ready" in self.log() and self.answers())

    def answers(self) -> bool:
        return forks.run("status", environ=self.environ).returncode == 0

    def end(self, number: int) -> int:
        assert self.agent
        os.kill(self.agent.pid, number)
        code = self.agent.wait(20)
        self.agent = None
        return code

    def log(self) -> str:
        return (self.root / "agent.log").read_text(encoding="utf-8")

    def task(self, short_id: str) -> dict[str, Any]:
        tasks = json.loads(self.run("tasks", "--all", "--json"))
        return next(task for task in tasks if task["short_id"] == short_id)

    def ask(self) -> str:
        asked = json.loads(self.run("ask", "test", "--json"))
        assert asked["state"] == "WAITING_APPROVAL"
        return str(asked["short_id"])

    def runs(self) -> int:
        ran = self.workspace / "ran.txt"
        return len(ran.read_text(encoding="utf-8").splitlines()) if ran.exists() else 0


@pytest.fixture
def machine() -> Iterator[Machine]:
    # pytest's own folders are too long for a socket.
    with tempfile.TemporaryDirectory(prefix="cb") as folder:
        made = Machine(Path(folder).resolve())
        made.start()
        yield made
        if made.agent:
            made.end(signal.SIGKILL)


class Person:
    """Someone at a terminal in which one command runs."""

    def __init__(self, machine: Machine, *arguments: str) -> None:
        self.seen = ""
        self._fork, self._screen = forks.shared_zygote().start_at_terminal(
            arguments, environ=machine.environ | {"TERM": "xterm"}
        )

    def reads(self, pattern: str) -> re.Match[str]:
        while not (found := re.search(pattern, self.seen)):
            ready = select.select([self._screen], [], [], PATIENCE)[0]
            assert ready, f"the screen shows {self.seen!r}"
            try:
                self.seen += os.read(self._screen, 65536).decode("utf-8", "replace")
            except OSError:
                raise AssertionError(f"it ended; the screen shows {self.seen!r}") from None
        return found

    def approves(self) -> None:
        whole = self.reads(r"([0-9A-Z]{4})-([0-9A-Z]{4})[\s\S]*Code for T-\w+: ")
        code = f"{whole[1]}-{whole[2]}" if "HIGH RISK" in self.seen else whole[1]
        self.types(code.lower() + "\n")

    def types(self, keys: str) -> None:
        os.write(self._screen, keys.encode())

    def leaves(self) -> int:
        with contextlib.suppress(OSError):
            while piece := os.read(self._screen, 65536):
                self.seen += piece.decode("utf-8", "replace")
        code = self._fork.wait(PATIENCE)
        os.close(self._screen)
        return code


@pytest.mark.requirement("P1")
@pytest.mark.requirement("P2")
@pytest.mark.requirement("R25")
def test_what_a_person_approved_runs_once_and_is_told(machine: Machine) -> None:
    short_id = machine.ask()
    assert machine.runs() == 0
    person = Person(machine, "approve")
    person.approves()
    assert person.leaves() == 0
    assert "t.sh" in person.seen
    assert "all fine" in person.seen
    assert machine.runs() == 1
    assert machine.task(short_id)["reason"] == "completed"
    machine.run("approve", short_id, code=1)
    assert machine.runs() == 1


@pytest.mark.requirement("P3")
def test_an_approval_outlives_kill_9_and_keeps_its_code(machine: Machine) -> None:
    short_id = machine.ask()
    before = machine.run("show", short_id)
    machine.end(signal.SIGKILL)
    machine.start()
    code = re.compile(r"[0-9A-Z]{4}-[0-9A-Z]{4}")
    found_before, found_after = code.search(before), code.search(machine.run("show", short_id))
    assert found_before
    assert found_after
    assert found_before[0] == found_after[0]
    person = Person(machine, "approve", short_id)
    person.approves()
    assert person.leaves() == 0
    assert machine.runs() == 1


def test_a_rejected_request_never_runs(machine: Machine) -> None:
    short_id = machine.ask()
    machine.run("reject", short_id, "--reason", "not today")
    eventually(lambda: machine.task(short_id)["reason"])
    assert machine.task(short_id)["reason"] == "rejected"
    assert "not today" in machine.task(short_id)["summary"]
    assert machine.runs() == 0


def test_a_running_command_is_followed_left_and_cancelled(machine: Machine) -> None:
    machine.script.write_text("echo begun > begun; sleep 60\n", encoding="utf-8")
    short_id = machine.ask()
    person = Person(machine, "approve", short_id)
    person.approves()
    eventually((machine.workspace / "begun").exists)
    person.types("\x03")
    assert person.leaves() == 130
    assert machine.task(short_id)["state"] == "EXECUTING", "leaving only stops watching"
    machine.run("cancel", short_id)
    eventually(lambda: machine.task(short_id)["reason"])
    assert machine.task(short_id)["reason"] == "cancelled"


@pytest.mark.requirement("P2", "P3")
def test_no_command_runs_beside_one_of_an_agent_that_was_killed(machine: Machine) -> None:
    machine.script.write_text(
        "trap : TERM; echo > begun; while :; do sleep 0.05; done\n", encoding="utf-8"
    )
    first = machine.ask()
    person = Person(machine, "approve", first)
    person.approves()
    eventually((machine.workspace / "begun").exists)
    assert machine.agent
    (warden,) = _wardens_of(machine.agent.pid)
    os.kill(warden, signal.SIGSTOP)  # as if its two seconds of grace did not end
    try:
        machine.end(signal.SIGKILL)
        os.close(person._screen)
        machine.script.write_text("echo > second\n", encoding="utf-8")
        machine.start()
        assert machine.task(first)["reason"] == "unknown"
        second = machine.ask()
        assert not _approved(machine, second)
        assert not (machine.workspace / "second").exists(), "the two ran at once"
    finally:
        os.kill(warden, signal.SIGCONT)
    eventually(lambda: _approved(machine, second))
    assert (machine.workspace / "second").exists()


def _wardens_of(agent: int) -> list[int]:
    children = Path(f"/proc/{agent}/task/{agent}/children").read_text("utf-8").split()
    words = {int(pid): Path(f"/proc/{pid}/cmdline").read_bytes() for pid in children}
    return [pid for pid, said in words.items() if b"warden.main" in said]


@pytest.mark.requirement("P1", "P7")
def test_nothing_is_approved_while_a_command_of_an_earlier_agent_lives(machine: Machine) -> None:
    machine.end(signal.SIGKILL)
    warden = hold_commands(machine.root / "cb" / "state")
    assert warden is not None
    machine.start()
    short_id = machine.ask()
    person = Person(machine, "approve", short_id)
    with contextlib.suppress(AssertionError):
        person.approves()
    assert person.leaves() == 1
    assert say(BLOCKED["earlier-command"], "en").split(";")[0] in " ".join(person.seen.split())
    assert machine.runs() == 0
    os.close(warden)
    eventually(lambda: _approved(machine, short_id))
    assert machine.runs() == 1


def _approved(machine: Machine, short_id: str) -> bool:
    person = Person(machine, "approve", short_id)
    with contextlib.suppress(AssertionError):
        person.approves()
    return person.leaves() == 0


def test_it_stops_on_sigterm_and_leaves_nothing_behind(machine: Machine) -> None:
    socket = machine.root / "cb" / "run" / "agent.sock"
    socket.unlink()  # as somebody does who tidies up
    assert "control socket" in machine.run("status", code=1)
    eventually(machine.answers)
    assert socket.stat().st_mode & 0o777 == 0o600
    machine.script.write_text("echo begun > begun; sleep 60\n", encoding="utf-8")
    person = Person(machine, "approve", machine.ask())
    person.approves()
    eventually((machine.workspace / "begun").exists)
    assert machine.end(signal.SIGTERM) == 0
    person.reads("The agent was stopped")
    assert person.leaves() == 1
    assert "Traceback" not in person.seen
    assert " error " not in machine.log()
    assert not socket.exists()
    machine.run("status", code=3)


@pytest.mark.thorough
def test_nothing_is_kept_of_folders_that_are_no_longer_open(machine: Machine) -> None:
    kept = machine.root / "cb" / "state" / "scratch"
    left = kept / ("0" * 16) / "0"
    left.mkdir(parents=True)
    open_still = kept / hashlib.sha256(os.fsencode(machine.workspace)).hexdigest()[:16] / "0"
    open_still.mkdir(parents=True)
    machine.end(signal.SIGTERM)
    machine.start()
    assert not left.parent.exists()
    assert open_still.exists()
    machine.run("workspace", "remove", "shop")
    assert not open_still.exists()


def test_a_second_agent_is_refused_in_one_line(machine: Machine) -> None:
    assert machine.run("agent", code=2).count("\n") == 1
    assert machine.answers()


@pytest.mark.requirement("P8")
def test_everything_it_keeps_is_private(machine: Machine) -> None:
    machine.ask()
    home = machine.root / "cb"
    open_to_others = [
        path for path in [home, *home.rglob("*")] if path.lstat().st_mode & 0o077 and path != home
    ]
    assert open_to_others == []


@pytest.mark.thorough
def test_the_line_that_says_ready_names_the_model_that_is_asked(machine: Machine) -> None:
    eventually(lambda: agent.READY_NO_MODEL.en in machine.log())
    machine.end(signal.SIGTERM)
    settings = machine.root / "cb" / "config" / "agent.toml"
    address = "http://127.0.0.1:9/v1"
    table = f'[models.near]\nkind = "http"\nmodel = "m"\nbase_url = "{address}"\n'
    settings.write_text(table, encoding="utf-8")
    machine.start()
    ready = say(agent.READY_MODEL, "en", name="near")
    eventually(lambda: ready in machine.log())
    assert machine.log().count(ready) == 1
