"""Commands of dry runs, in real sandboxes: what they reach is their copy, whatever it holds."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
from dataclasses import replace

import pygit2
import pytest

from common.ids import new_uuid
from local_agent.actions.run_command.perform import Outcome
from local_agent.sandbox.seccomp import build_filter
from local_agent.sandbox.toolchains import Toolchain
from local_agent.workspace import survey
from local_agent.workspace.dry_runs import DryRuns
from tests.e2e.proposing import exact
from tests.machine import Machine

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.needs("bubblewrap"),
    pytest.mark.requirement("P1"),
    pytest.mark.requirement("R47"),
]


def in_copy(machine: Machine) -> Machine:
    """Return the machine with a fresh copy of its workspace in the workspace's place."""
    copies, run_id = DryRuns(machine.around.places), new_uuid()
    copies.make(run_id, machine.workspace)
    around = replace(machine.around, workspaces=lambda: (machine.path,))
    return replace(machine, around=around, workspace=copies.of(run_id, machine.workspace))


def ran(machine: Machine, *lines: str) -> Outcome:
    """Run lines of shell in the machine's workspace."""
    machine.program("probe.sh", "\n".join(("#!/bin/sh", *lines, "true", "")))

    async def run() -> Outcome:
        prepared = await machine.prepare("./probe.sh")
        grant = machine.grant(prepared, git_head=prepared.git_head)
        return await machine.executor().run(grant, workspace=machine.workspace)

    outcome = asyncio.run(run())
    assert outcome.exit_code is not None, outcome
    return outcome


def with_tools(machine: Machine) -> Machine:
    """Return the machine with a toolchain in its workspace."""
    tools = machine.path / "tools"
    (tools / "bin").mkdir(parents=True)
    (tools / "bin/tool").write_text("a tool\n", encoding="utf-8")
    chain = Toolchain(kind="venv", paths=(tools,), bin_dirs=(tools / "bin",))
    return machine.with_workspace(toolchains=(chain,))


def test_links_out_of_the_workspace_and_its_own_path_lead_to_nothing_else(
    sandboxed: Machine,
) -> None:
    outside, away = sandboxed.root / "outside", sandboxed.around.home / "away"
    for folder in (outside, away):
        folder.mkdir()
        (folder / "kept.txt").write_text("kept\n", encoding="utf-8")
    (sandboxed.path / "to-outside").symlink_to(outside)
    (sandboxed.path / "to-away").symlink_to("../away")
    (sandboxed.path / "to-itself").symlink_to(sandboxed.path)
    os.link(outside / "kept.txt", sandboxed.path / "hard.txt")
    before = {folder: exact(folder) for folder in (outside, away, sandboxed.path)}
    copy = in_copy(sandboxed)
    outcome = ran(
        copy,
        "for place in to-outside to-away ../../../../../../outside ../../../../home/away; do",
        "  cat $place/kept.txt; echo x > $place/kept.txt; rm -rf $place/kept.txt",
        "done 2> /dev/null",
        f"rm -rf {outside}/* {away}/* 2> /dev/null",
        "echo changed > hard.txt",
        "echo x > to-itself/by-link.txt",
        f"echo x > {sandboxed.path}/by-path.txt",
    )
    assert (outcome.exit_code, outcome.tail) == (0, "")
    assert {folder: exact(folder) for folder in before} == before
    assert (copy.path / "by-link.txt").exists()
    assert (copy.path / "by-path.txt").exists()


def test_of_our_own_folders_and_other_copies_nothing_is_seen(sandboxed: Machine) -> None:
    places = sandboxed.around.places
    for place in (places.state, places.config, places.run):
        (place / "secret.txt").write_text("secret\n", encoding="utf-8")
    (sandboxed.path / "mine.txt").write_text("mine\n", encoding="utf-8")
    other, copy = in_copy(sandboxed), in_copy(sandboxed)
    outcome = ran(
        copy,
        f"find {places.state} {places.config} {places.run} -type f 2> /dev/null",
        f"(echo x > {places.state}/secret.txt) 2> /dev/null",
        f"(echo x > {other.path}/mine.txt) 2> /dev/null",
        f"(echo x > {copy.path.parent}/beside.txt) 2> /dev/null",
    )
    found = {line for line in outcome.tail.split("\n") if line.startswith("/")}
    assert found == {f"{copy.path}/mine.txt", f"{copy.path}/probe.sh"}
    assert (places.state / "secret.txt").read_text(encoding="utf-8") == "secret\n"
    assert (other.path / "mine.txt").read_text(encoding="utf-8") == "mine\n"
    assert [path.name for path in copy.path.parent.iterdir()] == [copy.path.name]


@pytest.mark.needs("git")
def test_nothing_is_pushed_wherever_the_remote_lies(sandboxed: Machine) -> None:
    work = pygit2.init_repository(sandboxed.path, initial_head="main")
    (sandboxed.path / "a.txt").write_text("a\n", encoding="utf-8")
    work.index.add("a.txt")
    work.index.write()
    author = pygit2.Signature("a", "a@example.com")
    work.create_commit("HEAD", author, author, "first", work.index.write_tree(), [])
    remotes = {
        "outside": sandboxed.root / "outside.git",
        "home": sandboxed.around.home / "home.git",
        "near": sandboxed.path / "near.git",
    }
    for name, path in remotes.items():
        pygit2.init_repository(path, bare=True)
        work.remotes.create(name, str(path))
    with socket.create_server(("127.0.0.1", 0)) as served:
        work.remotes.create("served", f"git://127.0.0.1:{served.getsockname()[1]}/a.git")
        before = exact(sandboxed.path), *(exact(path) for path in remotes.values())
        copy = in_copy(sandboxed)
        outcome = ran(
            copy,
            "git --version > /dev/null || exit 3",
            *(f"git push -q {name} main && echo pushed {name}" for name in (*remotes, "served")),
        )
        served.setblocking(False)  # the library's own
        with pytest.raises(BlockingIOError):
            served.accept()
    # One remote is in the workspace: there is a copy of that, too.
    assert [one for one in outcome.tail.split("\n") if one.startswith("pushed")] == ["pushed near"]
    assert (exact(sandboxed.path), *(exact(path) for path in remotes.values())) == before
    assert not list((remotes["near"] / "refs/heads").iterdir())
    assert [one.name for one in (copy.path / "near.git/refs/heads").iterdir()] == ["main"]


@pytest.mark.needs("git")
@pytest.mark.parametrize("kind", ["worktree", "alternates"])
def test_a_repository_that_lies_elsewhere_stays_as_it_is(sandboxed: Machine, kind: str) -> None:
    elsewhere = sandboxed.root / "elsewhere"
    work = pygit2.init_repository(elsewhere, initial_head="main")
    (elsewhere / "a.txt").write_text("a\n", encoding="utf-8")
    work.index.add("a.txt")
    work.index.write()
    author = pygit2.Signature("a", "a@example.com")
    work.create_commit("HEAD", author, author, "first", work.index.write_tree(), [])
    if kind == "worktree":
        shutil.rmtree(sandboxed.path)
        work.add_worktree("tree", sandboxed.path)
    else:
        pygit2.init_repository(sandboxed.path)
        alternates = sandboxed.path / ".git/objects/info/alternates"
        alternates.parent.mkdir(exist_ok=True)
        alternates.write_text(f"{elsewhere}/.git/objects\n", encoding="utf-8")
    before = exact(elsewhere), exact(sandboxed.path)
    copy = in_copy(sandboxed)
    (copy.path / "a.txt").write_text("other\n", encoding="utf-8")
    ran(
        copy,
        "git add -A; git commit -qm second; git branch another; git gc -q",
        f"echo x > {elsewhere}/.git/HEAD; echo x > .git; rm -rf .git",
        "exit 0",
    )
    assert (exact(elsewhere), exact(sandboxed.path)) == before


def test_hooks_and_settings_of_git_in_the_copy_are_read_only(sandboxed: Machine) -> None:
    pygit2.init_repository(sandboxed.path)
    (sandboxed.path / ".git/hooks/pre-commit").write_text("#!/bin/sh\n", encoding="utf-8")
    copy = in_copy(sandboxed)
    before = exact(copy.path / ".git")
    outcome = ran(
        copy,
        "for git in .git " + f"{sandboxed.path}/.git; do",
        "  echo x > $git/hooks/pre-commit; echo x > $git/config; mv $git moved; rm -rf $git",
        "done 2> /dev/null",
    )
    assert outcome.exit_code == 0
    assert exact(copy.path / ".git") == before


def test_toolchains_in_the_workspace_are_used_and_cannot_be_changed(
    sandboxed: Machine,
) -> None:
    sandboxed = with_tools(sandboxed)
    before = exact(sandboxed.path)
    outcome = ran(
        in_copy(sandboxed),
        f"cat {sandboxed.path}/tools/bin/tool",
        f"(echo x > {sandboxed.path}/tools/bin/tool) 2> /dev/null",
        f"rm -rf {sandboxed.path}/tools/* 2> /dev/null",
    )
    assert (outcome.exit_code, outcome.tail.strip()) == (0, "a tool")
    assert exact(sandboxed.path) == before


def test_a_socket_beside_a_toolchain_of_the_workspace_is_closed(
    sandboxed: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandboxed = with_tools(sandboxed)
    monkeypatch.chdir(sandboxed.path / "tools")  # a socket's name is short
    with socket.socket(socket.AF_UNIX) as door:
        door.bind("door")
    copy = in_copy(sandboxed)
    argv = asyncio.run(copy.prepare("true")).argv
    at = argv.index(str(sandboxed.path / "tools/door"))
    assert argv[at - 2 : at] == ("--ro-bind", "/dev/null")
    # Where there are more than are looked for, no socket with a name can be made.
    monkeypatch.setattr(survey, "MAX_FOUND", 0)
    prepared = asyncio.run(copy.prepare("true"))
    assert prepared.seccomp == build_filter(os.uname().machine, network=True)


def test_a_socket_of_the_workspace_that_is_not_shown_is_no_concern(
    sandboxed: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandboxed = with_tools(sandboxed)
    monkeypatch.chdir(sandboxed.path)
    with socket.socket(socket.AF_UNIX) as door:
        door.bind("door")
    copy = in_copy(sandboxed)
    assert str(sandboxed.path / "door") not in asyncio.run(copy.prepare("true")).argv
    outcome = ran(copy, f"ls {sandboxed.path}/door 2> /dev/null || echo gone")
    assert outcome.tail.strip() == "gone"
