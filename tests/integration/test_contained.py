"""What a hostile command can do in the sandbox: every attack is tried, and nothing comes of it."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from common.clock import SystemClock
from common.model.state import Reason
from local_agent.actions.run_command.perform import LIMITS, Executor, Outcome
from local_agent.sandbox.bubblewrap import Level
from local_agent.sandbox.process import Limits
from local_agent.sandbox.toolchains import Toolchain
from tests.attacks import ATTACKS
from tests.machine import Machine, build_machine

pytestmark = [pytest.mark.needs("bubblewrap")]
PYTHON = Path(sys.executable).resolve()
BASES = (Path(sys.base_prefix), Path(sys.base_prefix).resolve())
SMALL = replace(LIMITS, processes=200, memory_bytes=1 << 29, disk_bytes=1 << 28)
KEPT_OUT = (
    *("read-keys", "write-outside", "tcp", "udp", "unix", "abstract", "trace", "environment"),
    "kernel",
)


@pytest.fixture
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Wait until no other worker exhausts the machine: its threads and memory are looked at."""
    with (tmp_path_factory.getbasetemp().parent / "exhausting").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine with a sandbox, something to steal, and a Python in its home."""
    made = build_machine(tmp_path, "bubblewrap")
    home = made.around.home
    for file in (home / ".ssh/id_ed25519", made.around.places.state / "journal.db"):
        file.parent.mkdir(exist_ok=True)
        file.write_text("very secret", encoding="utf-8")
    (made.path / ".git/hooks").mkdir(parents=True)
    python = Toolchain(kind="python", paths=BASES, bin_dirs=(PYTHON.parent,))
    return made.with_workspace(toolchains=(python,))


class Doors:
    """Every way in that the machine has, and whether anybody came."""

    def __init__(self, machine: Machine) -> None:
        self.names = {"socket": str(machine.root / "door"), "abstract": secrets.token_hex(8)}
        near = str(machine.path / "near.sock")
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", 0))
        # Below pytest's folders a path can be too long for a socket's name.
        paths = [os.path.relpath(self.names["socket"]), os.path.relpath(near)]
        self.unix = [socket.socket(socket.AF_UNIX) for _ in range(3)]
        for door, name in zip(self.unix, (*paths, f"\0{self.names['abstract']}"), strict=True):
            door.bind(name)
            door.listen()

    def facts(self) -> dict[str, object]:
        """Return where they are."""
        ports = {"tcp": self.tcp.getsockname()[1], "udp": self.udp.getsockname()[1]}
        return ports | self.names

    def visited(self) -> bool:
        """Tell whether anything arrived, and close them all."""
        visits = [_visited(door) for door in (self.tcp, self.udp, *self.unix)]
        return any(visits)


def _visited(door: socket.socket) -> bool:
    with door:
        door.setblocking(False)
        try:
            if door.type is socket.SOCK_DGRAM:
                door.recv(1)
            else:
                door.accept()[0].close()
        except BlockingIOError:
            return False
    return True


@pytest.fixture
def doors(machine: Machine) -> Iterator[Doors]:
    """Listening, and all of them unvisited in the end."""
    made = Doors(machine)
    yield made
    assert not made.visited()


@pytest.fixture
def neighbour() -> Iterator[tuple[int, str]]:
    """A process of this machine with a secret in its environment."""
    secret = secrets.token_hex(16)
    with subprocess.Popen(["/bin/sleep", "60"], env={"TOKEN": secret}) as process:
        yield process.pid, secret
        process.kill()


async def _attack(
    machine: Machine,
    name: str,
    facts: Mapping[str, object] | None = None,
    *,
    limits: Limits = LIMITS,
    network: bool = False,
) -> Outcome:
    """Let an approved command try it."""
    scene = {
        "home": str(machine.around.home),
        "state": str(machine.around.places.state),
        "outside": str(machine.root / "outside"),
    }
    for file, text in (
        ("attack.py", ATTACKS[name]),
        ("scene.json", json.dumps(scene | dict(facts or {}))),
    ):
        (machine.path / file).write_text(text, encoding="utf-8")
    outcome = await _run(machine, "attack.py", limits=limits, network=network)
    assert outcome.tail.startswith("tried"), outcome
    assert outcome.survivors == 0
    return outcome


async def _run(
    machine: Machine, script: str, *, limits: Limits = LIMITS, network: bool = False
) -> Outcome:
    executor = Executor(machine.around, blobs=machine.blobs, clock=SystemClock(), limits=limits)
    prepared = await executor.prepare(
        machine.workspace, f"{PYTHON} {script}", timeout_s=30, network=network
    )
    assert prepared.payload["sandbox"]["level"] == machine.around.level
    return await executor.run(machine.grant(prepared), workspace=machine.workspace)


@pytest.mark.requirement("R43")
@pytest.mark.requirement("R47")
@pytest.mark.requirement("R51")
@pytest.mark.parametrize("name", KEPT_OUT)
async def test_nothing_is_reached_from_inside(
    machine: Machine, doors: Doors, neighbour: tuple[int, str], name: str
) -> None:
    facts = doors.facts() | {"agent": neighbour[0], "secret": neighbour[1]}
    outcome = await _attack(machine, name, facts)
    assert outcome.reason is Reason.COMPLETED, outcome
    assert "ESCAPED" not in outcome.tail
    assert name == "udp" or "held:" in outcome.tail
    assert not (machine.root / "outside").exists()
    assert not (machine.around.home / ".bashrc").exists()
    assert [*(machine.path / ".git/hooks").iterdir()] == []


@pytest.mark.requirement("R47")
@pytest.mark.parametrize(
    "name", ["unix", "abstract", "trace", "environment", "kernel", "read-keys"]
)
async def test_with_the_network_nothing_else_is_reached(
    machine: Machine, doors: Doors, neighbour: tuple[int, str], name: str
) -> None:
    facts = doors.facts() | {"agent": neighbour[0], "secret": neighbour[1]}
    outcome = await _attack(machine, name, facts, network=True)
    assert "held:" in outcome.tail
    assert "ESCAPED" not in outcome.tail


@pytest.mark.requirement("R51")
async def test_with_the_network_the_network_is_reached(machine: Machine) -> None:
    doors = Doors(machine)
    outcome = await _attack(machine, "tcp", doors.facts(), network=True)
    assert "ESCAPED tcp" in outcome.tail
    assert doors.visited()


@pytest.mark.parametrize("name", ["read-keys", "tcp", "udp", "unix", "abstract", "environment"])
async def test_the_attacks_are_real_ones_and_succeed_without_a_sandbox(
    machine: Machine, neighbour: tuple[int, str], name: str
) -> None:
    bare = replace(machine, around=replace(machine.around, level="none"))
    doors = Doors(bare)
    facts = doors.facts() | {"agent": neighbour[0], "secret": neighbour[1]}
    outcome = await _attack(bare, name, facts)
    # Each opening of a door, or of a file with something to steal.
    assert doors.visited() or "ESCAPED" in outcome.tail


@pytest.mark.requirement("R44")
async def test_nobody_outlives_the_command(machine: Machine) -> None:
    mark = f"outlives-{secrets.token_hex(8)}"
    outcome = await _attack(machine, "outlive", {"mark": mark})
    assert outcome.reason is Reason.COMPLETED
    assert not [one for one in psutil.process_iter(["cmdline"]) if mark in str(one.info)]


@pytest.mark.thorough
@pytest.mark.requirement("R45")
@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("fork-bomb", "command.too-many-processes"),
        ("fill-memory", "command.too-much-memory"),
        ("fill-disk", "command.disk-full"),
    ],
)
@pytest.mark.parametrize("level", ["bubblewrap", "none"])
@pytest.mark.usefixtures("alone")
async def test_what_takes_too_much_is_ended_and_the_reason_told(
    machine: Machine, name: str, code: str, level: Level
) -> None:
    bare = replace(machine, around=replace(machine.around, level=level))
    outcome = await _attack(bare, name, limits=SMALL)
    assert (outcome.reason, outcome.code) == (Reason.FAILED, code)
    assert "ESCAPED" not in outcome.tail
    assert not [one for one in psutil.process_iter(["cwd"]) if one.info["cwd"] == str(machine.path)]


@pytest.mark.requirement("R45")
@pytest.mark.usefixtures("alone")
@pytest.mark.thorough
async def test_a_fork_bomb_meets_the_limit_of_every_command(machine: Machine) -> None:
    outcome = await _attack(machine, "fork-bomb")
    assert outcome.code == "command.too-many-processes"


@pytest.mark.requirement("R45")
async def test_the_memory_behind_empty_folders_is_bounded(machine: Machine) -> None:
    (machine.path / "look.py").write_text(
        "import os\nfor place in ('/tmp', '/run', '/dev/shm', os.environ['HOME']):\n"
        "    at = os.statvfs(place); print(at.f_blocks * at.f_frsize)\n",
        encoding="utf-8",
    )
    sizes = list(map(int, (await _run(machine, "look.py")).tail.split()))
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert len(sizes) == 4
    assert sum(sizes) < whole * 0.55
