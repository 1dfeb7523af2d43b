"""A real command in a real sandbox on a copy: what it sees, what it can change, and drift."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pygit2
import pytest

from common.errors import InputError, StateError
from common.model.state import Reason
from common.seal import Seal
from local_agent.actions.run_command.copies import Copies
from local_agent.actions.run_command.perform import Outcome
from local_agent.actions.run_command.prepare import Copy, Prepared
from local_agent.sandbox.toolchains import Toolchain
from tests.changing import Changing
from tests.machine import Machine, build_machine

pytestmark = [pytest.mark.needs("bubblewrap")]

TASK = "task-1"  # as in every seal of these tests
DIFF = b"""\
diff --git a/value b/value
--- a/value
+++ b/value
@@ -1 +1 @@
-1
+2
diff --git a/tools/test b/tools/test
new file mode 100755
--- /dev/null
+++ b/tools/test
@@ -0,0 +1,2 @@
+#!/bin/sh
+grep -q 2 value
"""


@dataclass
class Bench:
    """A machine with a workspace, a change that waits, and copies."""

    machine: Machine
    seal: Seal
    copies: Copies

    async def copy(self) -> Copy:
        """Make the copy."""
        return await self.copies.make(TASK, self.machine.workspace, self.seal)

    async def prepare(self, text: str) -> Prepared:
        """Describe a command on a fresh copy."""
        return await self.machine.prepare(text, copy=await self.copy())

    async def run(self, text: str) -> Outcome:
        """Prepare, approve and run a command on a copy."""
        return await self.spend(await self.prepare(text))

    async def spend(self, prepared: Prepared) -> Outcome:
        """Approve and run what was prepared."""
        facts = {"task_id": TASK, "git_head": prepared.git_head}
        grant = self.machine.grant(prepared, **facts)
        return await self.machine.executor().run(grant, workspace=self.machine.workspace)


def snapshot(folder: Path) -> dict[str, tuple[bytes | None, int, int]]:
    return {
        path.relative_to(folder).as_posix(): (
            path.read_bytes() if path.is_file() else None,
            path.lstat().st_mode,
            path.lstat().st_mtime_ns,
        )
        for path in sorted(folder.rglob("*"))
    }


def commit(folder: Path) -> None:
    """Make a commit that changes no file."""
    repository = pygit2.Repository(str(folder))
    by = pygit2.Signature("t", "t@example.com", 0, 0)
    tree = repository.TreeBuilder().write()
    repository.create_commit("HEAD", by, by, "first", tree, [])


@pytest.fixture
async def bench(tmp_path: Path) -> Bench:
    machine = build_machine(tmp_path, "bubblewrap")
    pygit2.init_repository(machine.path)
    (machine.path / "value").write_bytes(b"1\n")
    (machine.path / ".gitignore").write_bytes(b"tool/\n")
    program = machine.path / "tool/bin/answer"
    program.parent.mkdir(parents=True)
    program.write_bytes(b"#!/bin/sh\necho from the toolchain\n")
    program.chmod(0o755)
    tools = Toolchain(
        kind="tool", paths=(machine.path / "tool",), bin_dirs=(machine.path / "tool/bin",)
    )
    machine = machine.with_workspace(toolchains=(tools,))
    changing = Changing(machine.workspace, tmp_path / "kept")
    seal = changing.seal(await changing.applier.prepare(machine.workspace, DIFF))
    return Bench(machine, seal, Copies(machine.around.places, changing.blobs))


@pytest.mark.requirement("R47")
async def test_a_test_that_fails_now_passes_with_the_change(bench: Bench) -> None:
    assert (await bench.machine.run("grep -q 2 value")).reason is Reason.FAILED
    assert (await bench.run("grep -q 2 value")).reason is Reason.COMPLETED


async def test_a_program_that_the_change_brings_is_what_runs(bench: Bench) -> None:
    prepared = await bench.prepare("./tools/test")
    assert prepared.payload["executable"]["path"] == str(bench.machine.path / "tools/test")
    assert prepared.payload["executable"]["sha256"] is not None
    outcome = await bench.spend(prepared)
    assert (outcome.reason, outcome.exit_code) == (Reason.COMPLETED, 0)


async def test_it_runs_at_the_workspaces_own_path_with_its_toolchains(bench: Bench) -> None:
    outcome = await bench.run("pwd; answer; cat tools/test | tail -1")
    assert outcome.tail.split("\n") == [
        str(bench.machine.path),
        "from the toolchain",
        "grep -q 2 value",
    ]


@pytest.mark.requirement("P2")
async def test_nothing_in_the_workspace_changes_whatever_the_command_writes(bench: Bench) -> None:
    before = snapshot(bench.machine.path)
    line = (
        "echo x > value; rm -f .gitignore; mkdir -p a/b; echo x > a/b/c; chmod 000 a/b .;"
        f" echo x > {bench.machine.path}/more; echo x > .git/config; echo x > tool/bin/answer;"
        " rm -rf .git tool; true"
    )
    outcome = await bench.run(line)
    assert (outcome.reason, outcome.differences) == (Reason.COMPLETED, None)
    assert snapshot(bench.machine.path) == before
    copy = bench.machine.around.places.state / "checks" / TASK
    assert (copy / "value").read_bytes() == b"x\n" or not copy.exists()
    await bench.copies.remove(TASK)
    assert not copy.exists()


async def test_the_repository_can_be_read_and_the_journal_cannot(bench: Bench) -> None:
    state = bench.machine.around.places.state
    outcome = await bench.run(f"test -f .git/HEAD && test ! -e {state}/checks && ls {state}")
    assert outcome.exit_code != 0
    assert (await bench.run("test -f .git/HEAD")).reason is Reason.COMPLETED


@pytest.mark.requirement("P2")
@pytest.mark.requirement("R24")
@pytest.mark.parametrize("what", ["content", "added", "mode", "gone"])
async def test_a_copy_that_changed_after_it_was_shown_is_drift(bench: Bench, what: str) -> None:
    prepared = await bench.prepare("touch ran")
    copy = bench.machine.around.places.state / "checks" / TASK
    if what == "content":
        (copy / "value").write_bytes(b"3\n")
    elif what == "added":
        (copy / "node_modules").mkdir()
        (copy / "node_modules/index.js").write_bytes(b"")
    elif what == "mode":
        (copy / "value").chmod(0o755)
    else:
        await bench.copies.remove(TASK)
    outcome = await bench.spend(prepared)
    assert (outcome.reason, outcome.drift) == (Reason.DRIFTED, ("base",))
    assert not (copy / "ran").exists()


async def test_the_workspace_may_change_meanwhile_but_not_its_commit(bench: Bench) -> None:
    prepared = await bench.prepare("grep -q 2 value")
    (bench.machine.path / "other").write_bytes(b"x")
    assert (await bench.spend(prepared)).reason is Reason.COMPLETED
    prepared = await bench.prepare("grep -q 2 value")
    commit(bench.machine.path)
    assert (await bench.spend(prepared)).drift == ("git_head",)


async def test_the_same_copy_made_again_is_sealed_the_same(bench: Bench) -> None:
    first, second = await bench.prepare("true"), await bench.prepare("true")
    assert (first.payload, first.base) == (second.payload, second.base)


async def test_a_link_in_the_way_of_a_toolchain_is_refused(bench: Bench) -> None:
    copy = await bench.copy()
    (copy.path / "tool").symlink_to("/etc")
    with pytest.raises(InputError) as caught:
        await bench.machine.prepare("true", copy=copy)
    assert caught.value.code == "sandbox.link"


async def test_without_a_sandbox_there_is_no_check(bench: Bench, tmp_path: Path) -> None:
    plain = build_machine(tmp_path / "plain", "none")
    with pytest.raises(StateError) as caught:
        await plain.prepare("true", copy=await bench.copy())
    assert caught.value.code == "check.not-sandboxed"
