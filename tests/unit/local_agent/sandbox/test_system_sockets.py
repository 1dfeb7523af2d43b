"""Sockets in the folders that every sandbox shows: found by the kernel's list, and covered."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from local_agent.sandbox import system_sockets as module
from local_agent.sandbox.seccomp import build_filter
from local_agent.sandbox.system_sockets import system_sockets
from tests.machine import Machine

pytestmark = [pytest.mark.requirement("R47"), pytest.mark.needs("bubblewrap")]


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of the system, with a socket that a program listens at."""
    folder = tmp_path / "opt"
    (folder / "db").mkdir(parents=True)
    monkeypatch.setattr(module, "SYSTEM", (folder.resolve(),))
    with ExitStack() as closing:
        for name in ("db/a door", "door"):
            door = closing.enter_context(socket.socket(socket.AF_UNIX))
            door.bind(str(folder / name))
        yield folder.resolve()


def test_sockets_of_the_system_are_found(system: Path) -> None:
    assert system_sockets(apart_from=()) == (system / "db/a door", system / "door")
    assert system_sockets(apart_from=(system / "db",)) == (system / "door",)


def test_what_is_gone_or_no_socket_any_more_is_not_told(system: Path) -> None:
    (system / "door").unlink()
    (system / "db/a door").unlink()
    (system / "db/a door").write_bytes(b"")
    assert system_sockets(apart_from=()) == ()


@pytest.mark.parametrize("way", ["too many", "too long a list", "no list"])
def test_where_there_may_be_more_it_says_so(
    system: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    if way == "too many":
        monkeypatch.setattr(module, "MAX_FOUND", 1)
    elif way == "too long a list":
        monkeypatch.setattr(module, "_MAX_BYTES", 10)
    else:
        monkeypatch.setattr(module, "_TABLE", system / "missing")
    assert system_sockets(apart_from=()) is None


async def test_a_command_finds_them_covered(system: Path, sandboxed: Machine) -> None:
    prepared = await sandboxed.prepare("true")
    at = prepared.argv.index(str(system / "door"))
    assert prepared.argv[at - 2 : at] == ("--ro-bind", "/dev/null")


async def test_among_too_many_no_socket_can_be_made(
    system: Path, sandboxed: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_FOUND", 1)
    prepared = await sandboxed.prepare("true")
    assert str(system / "door") not in prepared.argv
    assert prepared.seccomp == build_filter(os.uname().machine, network=True)


async def test_in_our_own_directories_they_are_hidden_with_these(
    system: Path, sandboxed: Machine
) -> None:
    around = replace(sandboxed.around, places=replace(sandboxed.around.places, run=system / "db"))
    prepared = await replace(sandboxed, around=around).prepare("true")
    assert str(system / "db/a door") not in prepared.argv
    assert str(system / "door") in prepared.argv
