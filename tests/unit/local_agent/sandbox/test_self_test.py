"""The sandbox is believed only after it held."""

from __future__ import annotations

import os
import struct
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from local_agent.sandbox import process, seccomp
from local_agent.sandbox import self_test as module
from local_agent.sandbox.bubblewrap import NOT_SANDBOXED, Profile
from local_agent.sandbox.self_test import self_test
from tests.machine import Machine

pytestmark = pytest.mark.heavy


async def _tried(machine: Machine) -> tuple[str, str, str]:
    found = await self_test(machine.around.places, home=machine.around.home)
    return found.level, found.reason, found.detail


@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("R50")
async def test_a_sandbox_that_holds_is_the_level_of_commands(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = machine.root / "with-few-files"  # what starts it may have only so many open
    few.write_text(f'#!/bin/sh\nulimit -n 32\nexec {sys.executable} "$@"\n', encoding="utf-8")
    few.chmod(0o755)
    monkeypatch.setattr(process, "sys", SimpleNamespace(executable=str(few)))
    assert await _tried(machine) == ("bubblewrap", "sandbox.ok", "")


@pytest.mark.needs("bubblewrap")
async def test_the_test_leaves_nothing_behind(machine: Machine) -> None:
    await _tried(machine)
    places = machine.around.places
    assert [*places.state.iterdir(), *places.run.iterdir(), *machine.path.iterdir()] == []


@pytest.mark.requirement("R50")
async def test_without_bubblewrap_there_is_no_sandbox(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "find_bubblewrap", lambda: None)
    assert await _tried(machine) == ("none", "sandbox.not-installed", "")


@pytest.mark.requirement("R4")
async def test_a_bubblewrap_that_cannot_start_is_no_sandbox_and_says_why(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text(
        "#!/bin/sh\necho warning >&2\n"
        "echo 'bwrap: No permissions to create new namespace' >&2\nexit 1\n",
        encoding="utf-8",
    )
    broken.chmod(0o755)
    monkeypatch.setattr(module, "find_bubblewrap", lambda: str(broken))
    level, reason, detail = await _tried(machine)
    assert (level, reason) == ("none", "sandbox.cannot-start")
    assert "No permissions" in detail


@pytest.mark.requirement("R4")
async def test_a_bubblewrap_that_does_nothing_is_no_sandbox(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "find_bubblewrap", lambda: "/bin/true")
    assert await _tried(machine) == ("none", "sandbox.cannot-start", "")


@pytest.mark.requirement("R50")
async def test_a_sandbox_that_leaks_is_no_sandbox_and_says_what(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def open_profile(*_: object, **__: object) -> Profile:
        return NOT_SANDBOXED

    monkeypatch.setattr(module, "find_bubblewrap", lambda: "/usr/bin/bwrap")
    monkeypatch.setattr(module, "bubblewrap_profile", open_profile)
    level, reason, detail = await _tried(machine)
    assert (level, reason) == ("none", "sandbox.leaks")
    found = set(detail.split(", "))
    assert {"git", "state", "tcp", "socket", "near", "abstract", "trace", "outside"} <= found
    if os.geteuid() == 0:  # only root may do these at all
        assert {"kernel", "device", "namespace"} <= found


@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("R50")
@pytest.mark.parametrize("network", [False, True])
async def test_a_filter_that_does_not_hold_is_found_with_and_without_network(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, network: bool
) -> None:
    allow_all = struct.pack("<HBBI", 6, 0, 0, 0x7FFF0000)

    def build(architecture: str, *, network: bool) -> bytes:
        return allow_all if network is leaky else honest(architecture, network=network)

    honest, leaky = seccomp.build_filter, network
    monkeypatch.setattr(seccomp, "build_filter", build)
    level, reason, detail = await _tried(machine)
    assert (level, reason) == ("none", "sandbox.leaks")
    assert "trace" in detail.split(", ")
    assert ("abstract" in detail) == network


@pytest.mark.requirement("R50")
async def test_an_architecture_without_a_filter_has_no_sandbox(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "find_bubblewrap", lambda: "/usr/bin/bwrap")
    monkeypatch.setattr(seccomp, "supports", lambda _: False)
    assert await _tried(machine) == ("none", "sandbox.architecture", "")


@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("R4")
async def test_what_cannot_be_tried_is_no_sandbox(machine: Machine) -> None:
    places = replace(machine.around.places, run=machine.root / ("r" * 120))
    found = await self_test(places, home=machine.around.home)
    assert (found.level, found.reason) == ("none", "sandbox.cannot-start")
    found = await self_test(machine.around.places, home=Path("/"))
    assert (found.level, found.reason) == ("none", "sandbox.home")
