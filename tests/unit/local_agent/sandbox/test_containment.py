"""The sandbox of coding agents: what it binds, and what it refuses to."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from common.errors import InputError, StateError
from common.home import Home
from local_agent.sandbox.containment import Containment
from local_agent.sandbox.seccomp import build_filter

pytestmark = pytest.mark.needs("bubblewrap")


@pytest.fixture
def box(tmp_path: Path) -> Containment:
    root = tmp_path.resolve()
    home = root / "home"
    for folder in ("tools/bin", "tools/lib", "state/scratch", "state/own", "config", "shop"):
        (home / folder).mkdir(parents=True)
    (home / "tools/bin/agent").touch()
    places = Home(home / "config", home / "state", root / "run")
    return Containment(places, home, "bubblewrap", lambda: (home / "shop",))


def wrapped(box: Containment, program: Path, *read_only: Path) -> list[str]:
    argv, _ = box.contain(
        [str(program), "--acp"],
        scratch=box.home / "state/scratch",
        own=box.home / "state/own",
        read_only=read_only,
    )
    return argv


def binds(argv: list[str], kind: str) -> list[str]:
    return [argv[at + 1] for at, word in enumerate(argv) if word == kind]


@pytest.mark.requirement("R62")
def test_scratch_and_home_are_written_its_program_is_read(box: Containment) -> None:
    tools = box.home / "tools"
    argv = wrapped(box, tools / "bin/agent", tools / "lib")
    assert binds(argv, "--bind") == [str(box.home / "state/scratch"), str(box.home / "state/own")]
    assert binds(argv, "--ro-bind")[-2:] == [str(tools / "bin"), str(tools / "lib")]
    assert str(box.home) in binds(argv, "--tmpfs")
    assert argv[-3:] == ["--", str(tools / "bin/agent"), "--acp"]
    assert "--unshare-net" not in argv


def test_the_folder_behind_a_link_is_read_as_well(box: Containment) -> None:
    (box.home / "bin").mkdir()
    (box.home / "bin/agent").symlink_to(box.home / "tools/bin/agent")
    argv = wrapped(box, box.home / "bin/agent")
    assert {str(box.home / "bin"), str(box.home / "tools/bin")} <= set(binds(argv, "--ro-bind"))


def test_programs_of_the_system_need_no_folder(box: Containment) -> None:
    argv = wrapped(box, Path("/usr/bin/env"))
    assert not [path for path in binds(argv, "--ro-bind") if path.startswith(str(box.home))]


def test_a_workspace_within_what_is_read_is_hidden(box: Containment) -> None:
    (box.home / "tools/lib/shop").mkdir()
    inner = replace(box, workspaces=lambda: (box.home / "tools/lib/shop",))
    argv = wrapped(inner, box.home / "tools/bin/agent", box.home / "tools/lib")
    assert str(box.home / "tools/lib/shop") in binds(argv, "--tmpfs")


@pytest.mark.parametrize("folder", [".", "..", "state", "config", "state/own"])
def test_nothing_of_ours_and_no_whole_home_is_read(box: Containment, folder: str) -> None:
    with pytest.raises(InputError) as refused:
        wrapped(box, box.home / "tools/bin/agent", box.home / folder)
    assert refused.value.code == "toolchain.too-wide"


def test_a_program_that_lies_in_the_home_itself_is_refused(box: Containment) -> None:
    (box.home / "agent").touch()
    with pytest.raises(InputError) as refused:
        wrapped(box, box.home / "agent")
    assert refused.value.code == "toolchain.too-wide"


def test_a_folder_that_is_not_there_is_told(box: Containment) -> None:
    with pytest.raises(InputError) as refused:
        wrapped(box, box.home / "tools/bin/agent", box.home / "missing")
    assert refused.value.code == "toolchain.missing"


def test_without_a_sandbox_that_held_there_is_none(box: Containment) -> None:
    with pytest.raises(StateError) as refused:
        wrapped(replace(box, level="none"), box.home / "tools/bin/agent")
    assert refused.value.code == "sandbox.none"


def test_calls_are_filtered_as_for_a_command_with_the_network(box: Containment) -> None:
    _, calls = box.contain(
        ["/usr/bin/env"], scratch=box.home / "state/scratch", own=box.home / "state/own"
    )
    assert calls == build_filter(os.uname().machine, network=True)
