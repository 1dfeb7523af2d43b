"""Git folders outside of a workspace: found, confirmed by identity, and shown to be read alone."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from common.home import Home
from local_agent.actions.run_command.copies import Copies
from local_agent.actions.run_command.perform import Outcome
from local_agent.sandbox.toolchains import Toolchain
from local_agent.workspace.git.outside import find_outside, unshown
from local_agent.workspace.registry import Registry
from tests.changing import Changing
from tests.machine import Machine, build_machine

pytestmark = [pytest.mark.heavy, pytest.mark.needs("git")]

CHANGE = b"diff --git a/m.txt b/m.txt\n--- a/m.txt\n+++ b/m.txt\n@@ -1 +1 @@\n-one\n+two\n"


def git(folder: Path, *words: str) -> None:
    """Run git as somebody whose own configuration does not count."""
    folder.mkdir(parents=True, exist_ok=True)
    by = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
    env = {"PATH": os.environ["PATH"], "HOME": "/nowhere"}
    subprocess.run(["git", *by, *words], cwd=folder, env=env, check=True, capture_output=True)


def _ordinary(main: Path, place: Path) -> None:
    git(main.parent, "clone", "-q", str(main), str(place))


def _linked(main: Path, place: Path) -> None:
    git(main, "worktree", "add", "-q", str(place), "-b", "wt")


def _submodule(main: Path, place: Path) -> None:
    git(place.parent, "init", "-q")
    git(place.parent, "submodule", "add", "-q", str(main), place.name)


def _separate(main: Path, place: Path) -> None:
    folder = main.parent / "git folder"
    git(main.parent, "clone", "-q", f"--separate-git-dir={folder}", str(main), str(place))


def _shared(main: Path, place: Path) -> None:
    git(main.parent, "clone", "-q", "--shared", str(main), str(place))


def _linked_of_shared(main: Path, place: Path) -> None:
    shared = main.parent / "shared"
    _shared(main, shared)
    _linked(shared, place)


Make = Callable[[Path, Path], None]
KINDS: dict[str, tuple[Make, tuple[str, ...]]] = {
    "ordinary": (_ordinary, ()),
    "linked": (_linked, ("main/.git",)),
    "submodule": (_submodule, ("home/.git/modules/project",)),
    "separate": (_separate, ("git folder",)),
    "shared": (_shared, ("main/.git/objects",)),
    "linked of shared": (_linked_of_shared, ("shared/.git", "main/.git/objects")),
}


def arrange(folder: Path, make: Make) -> Machine:
    """Return a machine whose workspace's repository has one commit."""
    machine = build_machine(folder, "bubblewrap")
    main = machine.root / "main"
    git(main, "init", "-q")
    (main / "m.txt").write_text("one\n", "utf-8")
    git(main, "add", ".")
    git(main, "commit", "-qm", "first")
    machine.path.rmdir()
    make(main, machine.path)
    return machine


def confirmed(machine: Machine) -> Machine:
    """Return it as after `workspace add`, whose answer was yes."""
    return machine.with_workspace(toolchains=tuple(find_outside(machine.path)))


async def run(machine: Machine, command: str) -> Outcome:
    """Approve and run a command."""
    prepared = await machine.prepare(command)
    grant = machine.grant(prepared, git_head=prepared.git_head)
    return await machine.executor().run(grant, workspace=machine.workspace)


@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("R41", "R47", "P7")
@pytest.mark.parametrize("kind", KINDS)
async def test_git_reads_inside_as_in_an_ordinary_clone(tmp_path: Path, kind: str) -> None:
    make, outside = KINDS[kind]
    machine = await asyncio.to_thread(arrange, tmp_path, make)
    bare = await machine.prepare("git log -1 --format=%s")
    assert bare.payload.get("lacks") == (["git"] if outside else None)
    machine = await asyncio.to_thread(confirmed, machine)
    known = {str(path.relative_to(machine.root)) for path in _paths(machine)}
    assert known == set(outside)
    assert "lacks" not in (await machine.prepare("git status")).payload
    for command, said in (("git log -1 --format=%s", "first"), ("git status --short", "")):
        outcome = await run(machine, command)
        assert (outcome.exit_code, outcome.tail.strip()) == (0, said), command
    for path in _paths(machine):
        assert (await run(machine, f"touch '{path}/written'")).exit_code != 0
        assert not (path / "written").exists()


def _paths(machine: Machine) -> tuple[Path, ...]:
    return tuple(path for tool in machine.workspace.toolchains for path in tool.paths)


@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("R41", "P7")
@pytest.mark.parametrize("kind", ["linked", "submodule"])
async def test_git_reads_in_a_copy_with_a_change(tmp_path: Path, kind: str) -> None:
    machine = await asyncio.to_thread(arrange, tmp_path, KINDS[kind][0])
    machine = await asyncio.to_thread(confirmed, machine)
    changing = Changing(machine.workspace, tmp_path / "kept")
    seal = changing.seal(await changing.applier.prepare(machine.workspace, CHANGE))
    copies = Copies(machine.around.places, changing.blobs)
    copy = await copies.make("task-1", machine.workspace, seal)
    prepared = await machine.prepare("git status --short", copy=copy)
    grant = machine.grant(prepared, task_id="task-1", git_head=prepared.git_head)
    outcome = await machine.executor().run(grant, workspace=machine.workspace)
    assert (outcome.exit_code, outcome.tail.strip()) == (0, "M m.txt")


@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("R41", "R47")
@pytest.mark.parametrize("how", ["file", "link", "another folder"])
async def test_nothing_but_what_was_confirmed_is_shown(tmp_path: Path, how: str) -> None:
    machine = await asyncio.to_thread(arrange, tmp_path, _linked)
    machine = await asyncio.to_thread(confirmed, machine)
    keys, (folder,) = machine.around.home / ".ssh", _paths(machine)

    def turn() -> None:
        (keys / "objects").mkdir(parents=True)
        for path in (keys / "id", keys / "HEAD"):
            path.write_text("key\n", "utf-8")
        if how == "file":
            (machine.path / ".git").write_text(f"gitdir: {keys}\n", "utf-8")
            return
        folder.rename(folder.parent / "moved")
        folder.symlink_to(keys) if how == "link" else shutil.copytree(keys, folder)

    await asyncio.to_thread(turn)
    for command in (f"cat {keys}/id", f"cat {folder}/id"):
        assert "key" not in (await run(machine, command)).tail
    assert (await machine.prepare("true")).payload["lacks"] == ["git"]


@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("R47")
async def test_sockets_in_a_git_folder_are_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = await asyncio.to_thread(arrange, tmp_path, _linked)
    machine = await asyncio.to_thread(confirmed, machine)
    (folder,) = _paths(machine)
    monkeypatch.chdir(folder)  # a socket's name is short
    with socket.socket(socket.AF_UNIX) as door:
        door.bind("fsmonitor--daemon.ipc")
        outcome = await run(machine, f"test -S {folder}/fsmonitor--daemon.ipc")
    assert outcome.exit_code == 1


def test_what_is_no_git_folder_is_not_offered(tmp_path: Path) -> None:
    keys = tmp_path / ".ssh"
    keys.mkdir()
    (tmp_path / "shop").mkdir()
    for named in ("../.ssh", "/", "..", str(tmp_path / "absent")):
        (tmp_path / "shop/.git").write_text(f"gitdir: {named}\n", "utf-8")
        assert list(find_outside(tmp_path / "shop")) == [], named


@pytest.mark.requirement("R41")
def test_what_was_confirmed_is_kept_with_its_identity(tmp_path: Path) -> None:
    machine = arrange(tmp_path, _linked)
    places: Home = machine.around.places
    registry = Registry(places, home=machine.around.home)
    found = [tool for tool in registry.inspect(machine.path, {}) if tool.kind == "git"]
    added = registry.add(machine.path, name="wt", confirmed=tuple(found))
    assert registry.load() == [added]
    status = (machine.root / "main/.git").stat()
    assert found == [
        Toolchain(
            kind="git",
            paths=(machine.root / "main/.git",),
            bin_dirs=(),
            marks=(f"{status.st_dev}:{status.st_ino}",),
        )
    ]
    assert unshown(added) is None
