"""Running exactly what was sealed, once, or nothing."""

from __future__ import annotations

import asyncio
import hashlib
import mmap
import os
import signal
import subprocess
import sys
from dataclasses import replace

import pygit2
import pytest

from common.clock import ManualClock
from common.errors import StateError, StoreError
from common.model.state import Reason
from local_agent.actions.run_command.perform import Executor, Progress
from local_agent.sandbox import bubblewrap, toolchains
from tests.machine import Machine

pytestmark = pytest.mark.heavy


@pytest.mark.requirement("P2")
async def test_what_was_approved_runs_and_its_outcome_is_told(machine: Machine) -> None:
    machine.program("run", '#!/bin/sh\necho out; echo err >&2; echo "$1"\n')
    outcome = await machine.run("./run 'a b'")
    assert (outcome.reason, outcome.code, outcome.exit_code) == (Reason.COMPLETED, None, 0)
    assert sorted(outcome.tail.split("\n")) == ["a b", "err", "out"]
    assert outcome.lines == 3
    assert (outcome.drift, outcome.survivors, outcome.timed_out) == ((), 0, False)


async def test_a_failing_command_failed_with_its_code(machine: Machine) -> None:
    outcome = await machine.run("sh -c 'exit 3'")
    assert (outcome.reason, outcome.exit_code, outcome.code) == (Reason.FAILED, 3, None)


async def test_a_shell_line_runs_in_a_shell(machine: Machine) -> None:
    outcome = await machine.run("echo one two | wc -w; false")
    assert (outcome.reason, outcome.tail.strip()) == (Reason.FAILED, "2")


async def test_a_command_ended_by_a_signal_tells_which(machine: Machine) -> None:
    outcome = await machine.run("kill -SEGV $$")
    assert (outcome.reason, outcome.exit_code, outcome.signal) == (
        Reason.FAILED,
        None,
        signal.SIGSEGV,
    )


@pytest.mark.requirement("P2")
async def test_a_command_that_drifted_is_not_run(machine: Machine) -> None:
    program = machine.program("run", "#!/bin/sh\ntouch ran\n")
    grant = machine.grant(await machine.prepare("./run"))
    program.write_text("#!/bin/sh\ntouch ran # and more\n", encoding="utf-8")
    outcome = await machine.executor().run(grant, workspace=machine.workspace)
    assert (outcome.reason, outcome.code) == (Reason.DRIFTED, "command.drifted")
    assert outcome.drift == ("base", "executable")
    assert not (machine.path / "ran").exists()


@pytest.mark.requirement("R4")
async def test_a_command_that_can_no_longer_be_described_is_not_run(machine: Machine) -> None:
    program = machine.program("run", "#!/bin/sh\n")
    grant = machine.grant(await machine.prepare("./run"))
    program.unlink()
    outcome = await machine.executor().run(grant, workspace=machine.workspace)
    assert (outcome.reason, outcome.code) == (Reason.DRIFTED, "command.not-found")


@pytest.mark.requirement("P3")
async def test_whatever_the_workspace_has_become_nothing_ran(machine: Machine) -> None:
    program = machine.program("run", "#!/bin/sh\ntouch ran\n")
    grants = [machine.grant(await machine.prepare("./run")) for _ in range(3)]
    index = machine.path / ".git/index"
    found = []
    for grant in grants:
        outcome = await machine.executor().run(grant, workspace=machine.workspace)
        found.append((outcome.reason, outcome.code))
        if program.is_symlink():
            pygit2.init_repository(str(machine.path))
            index.write_bytes(b"DIRC\0\0\0\2\xff\xff\xff\xff" + b"a" * 100)
        program.unlink(missing_ok=True)
        program.symlink_to(program)
    assert found == [
        (Reason.COMPLETED, None),
        (Reason.DRIFTED, "command.not-found"),
        (Reason.DRIFTED, "command.not-found"),
    ]


@pytest.mark.requirement("P2")
async def test_what_was_written_through_shared_memory_is_seen(machine: Machine) -> None:
    machine.program("run", "#!/bin/sh\ntouch ran\n")
    notes = machine.path / "notes"
    notes.write_bytes(b"a" * 100)
    os.utime(notes, (1_700_000_000, 1_700_000_000))
    machine.around.surveyor._clock = ManualClock(wall_ms=2_000_000_000_000)  # long unchanged
    with notes.open("r+b") as file, mmap.mmap(file.fileno(), 0) as shared:
        shared[0] = ord("b")  # its times are of this moment, and stay while its page is dirty
        grant = machine.grant(await machine.prepare("./run"))
        before = notes.stat()
        shared[1] = ord("c")
        assert notes.stat() == before, "nothing shows but what is in it"
        outcome = await machine.executor().run(grant, workspace=machine.workspace)
    assert (outcome.reason, outcome.drift) == (Reason.DRIFTED, ("base",))
    assert not (machine.path / "ran").exists()


@pytest.mark.requirement("P2")
async def test_a_forged_field_of_the_payload_is_drift(machine: Machine) -> None:
    prepared = await machine.prepare("touch ran")
    for name, value in (("output_cap", 1), ("env_names", []), ("env_sha256", "0" * 64)):
        grant = machine.grant(prepared, payload=prepared.payload | {name: value})
        outcome = await machine.executor().run(grant, workspace=machine.workspace)
        assert (outcome.reason, outcome.drift) == (Reason.DRIFTED, (name,))
    assert not (machine.path / "ran").exists()


@pytest.mark.requirement("R1")
async def test_a_grant_runs_once_even_when_nothing_came_of_it(machine: Machine) -> None:
    grant = machine.grant(await machine.prepare("sh -c 'echo x >> ran'"))
    executor = machine.executor()
    await executor.run(grant, workspace=machine.workspace)
    with pytest.raises(StateError) as caught:
        await executor.run(grant, workspace=machine.workspace)
    assert caught.value.code == "grant.spent"
    assert (machine.path / "ran").read_text(encoding="utf-8") == "x\n"


@pytest.mark.requirement("R4")
async def test_a_grant_for_something_else_runs_nothing(machine: Machine) -> None:
    grant = machine.grant(await machine.prepare("touch ran"))
    object.__setattr__(grant.seal, "action", "apply_diff")
    with pytest.raises(StateError) as caught:
        await machine.executor().run(grant, workspace=machine.workspace)
    assert caught.value.code == "command.action"
    assert not (machine.path / "ran").exists()


async def test_time_up_is_a_failure_that_says_so(machine: Machine) -> None:
    grant = machine.grant(await machine.prepare("sleep 30", timeout_s=1))
    outcome = await machine.executor().run(grant, workspace=machine.workspace)
    assert (outcome.reason, outcome.code, outcome.timed_out) == (
        Reason.FAILED,
        "command.timeout",
        True,
    )


async def test_a_cancelled_command_is_ended(machine: Machine) -> None:
    cancel = asyncio.Event()
    grant = machine.grant(await machine.prepare("echo up; sleep 30"))
    executor = Executor(machine.around, blobs=machine.blobs, clock=ManualClock(), progress_s=0.01)

    def told(progress: Progress) -> None:
        if progress.lines:
            cancel.set()

    running = executor.run(grant, workspace=machine.workspace, on_progress=told, cancel=cancel)
    outcome = await asyncio.wait_for(running, 30)
    assert (outcome.reason, outcome.timed_out) == (Reason.CANCELLED, False)


async def test_a_command_cancelled_before_it_starts_does_not_start(machine: Machine) -> None:
    cancel = asyncio.Event()
    cancel.set()
    outcome = await machine.run("touch ran", cancel=cancel)
    assert outcome.reason is Reason.CANCELLED
    assert not (machine.path / "ran").exists()


async def test_one_command_at_a_time_runs_in_a_workspace(machine: Machine) -> None:
    executor = machine.executor()
    line = "test ! -e busy || touch clash; touch busy; sleep 0.1; rm busy"
    grants = [machine.grant(await machine.prepare(line)) for _ in range(2)]
    await asyncio.gather(*(executor.run(grant, workspace=machine.workspace) for grant in grants))
    assert not (machine.path / "clash").exists()


async def test_an_unsandboxed_command_is_told_while_it_lives(machine: Machine) -> None:
    executor = Executor(machine.around, blobs=machine.blobs, clock=ManualClock(), progress_s=0.01)
    seen: list[bool] = []
    grant = machine.grant(await machine.prepare("sleep 0.1"))
    await executor.run(
        grant, workspace=machine.workspace, on_progress=lambda _: seen.append(executor.exposed)
    )
    assert seen
    assert all(seen)
    assert not executor.exposed


async def test_a_survivor_of_an_unsandboxed_command_stays_told(machine: Machine) -> None:
    executor = machine.executor()
    grant = machine.grant(await machine.prepare("kill -9 $PPID; sleep 3"))
    outcome = await executor.run(grant, workspace=machine.workspace)
    assert (outcome.reason, outcome.survivors) == (Reason.FAILED, 1)
    assert executor.exposed


async def test_the_whole_log_is_kept_and_the_tail_is_without_secrets(machine: Machine) -> None:
    script = "#!/bin/sh\necho my-own-secret; echo password=hunter2222; printf '\\033[1mbold'\n"
    machine.program("run", script)
    grant = machine.grant(await machine.prepare("./run"))
    executor = machine.executor("my-own-secret")
    outcome = await executor.run(grant, workspace=machine.workspace)
    assert "my-own-secret" not in outcome.tail
    assert "hunter2222" not in outcome.tail
    assert outcome.tail.endswith("bold")
    assert outcome.log_sha256 is not None
    log = await asyncio.to_thread(machine.blobs.get, outcome.log_sha256)
    assert log == b"my-own-secret\npassword=hunter2222\n\x1b[1mbold"
    assert hashlib.sha256(log).hexdigest() == outcome.log_sha256


async def test_no_output_leaves_no_log(machine: Machine) -> None:
    outcome = await machine.run("true")
    assert (outcome.tail, outcome.log_sha256) == ("", None)


async def test_a_log_that_cannot_be_kept_does_not_lose_the_outcome(machine: Machine) -> None:
    class FullDisk:
        def put(self, data: bytes) -> str:
            raise StoreError("blob.too-large")

    executor = Executor(machine.around, blobs=FullDisk(), clock=ManualClock())
    grant = machine.grant(await machine.prepare("echo x"))
    outcome = await executor.run(grant, workspace=machine.workspace)
    assert (outcome.reason, outcome.tail, outcome.log_sha256) == (Reason.COMPLETED, "x", None)


@pytest.mark.requirement("R46")
async def test_what_changed_in_the_workspace_is_listed(machine: Machine) -> None:
    (machine.path / "kept").write_text("a", encoding="utf-8")
    (machine.path / "gone").write_text("a", encoding="utf-8")
    line = "echo b >> kept; rm gone; touch new conftest.py; ln -s /etc link"
    outcome = await machine.run(line)
    assert outcome.differences is not None
    assert outcome.differences.names == (
        "+ conftest.py",
        "+ link",
        "+ new",
        "- gone",
        "~ kept",
    )
    assert outcome.differences.links == ("link",)
    assert outcome.differences.surfaces == ("conftest.py",)


@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("R47")
async def test_a_sandboxed_command_runs_inside(sandboxed: Machine) -> None:
    (sandboxed.around.home / "secret").write_text("secret", encoding="utf-8")
    outcome = await sandboxed.run("cat $HOME/secret; echo $PWD; touch made")
    assert outcome.reason is Reason.COMPLETED
    assert str(sandboxed.path) in outcome.tail
    assert "secret\n" not in outcome.tail
    assert (sandboxed.path / "made").exists()
    assert not sandboxed.executor().exposed


@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("R43")
async def test_a_sandboxed_command_sees_exactly_the_sealed_environment(
    sandboxed: Machine,
) -> None:
    prepared = await sandboxed.prepare("env")
    outcome = await sandboxed.executor().run(
        sandboxed.grant(prepared), workspace=sandboxed.workspace
    )
    assert outcome.log_sha256 is not None
    log = (await asyncio.to_thread(sandboxed.blobs.get, outcome.log_sha256)).decode()
    assert dict(line.split("=", 1) for line in log.splitlines()) == dict(prepared.env)


@pytest.fixture
def with_venv(sandboxed: Machine) -> Machine:
    """A workspace under the home with a real venv, confirmed as it was found."""
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(sandboxed.path / ".venv")], check=True
    )
    found = toolchains.detect(sandboxed.path, {}, home=sandboxed.around.home)
    return sandboxed.with_workspace(toolchains=tuple(found))


@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("R47")
async def test_the_python_of_a_venv_runs_inside_and_cannot_change_the_venv(
    with_venv: Machine,
) -> None:
    script = "import sys, ssl, sqlite3; print(sys.prefix); open(sys.prefix + '/x', 'w')"
    outcome = await with_venv.run(f'python -c "{script}"')
    assert str(with_venv.path / ".venv") in outcome.tail
    assert "Read-only file system" in outcome.tail
    assert (outcome.reason, outcome.exit_code) == (Reason.FAILED, 1)


@pytest.mark.needs("bubblewrap")
async def test_a_sandboxed_command_can_be_cancelled_and_tidies_up(sandboxed: Machine) -> None:
    script = "#!/bin/sh\ntrap 'touch tidy; exit 1' TERM\necho up\nwhile :; do sleep 0.01; done\n"
    sandboxed.program("run", script)
    cancel = asyncio.Event()
    executor = Executor(
        sandboxed.around, blobs=sandboxed.blobs, clock=ManualClock(), progress_s=0.01
    )
    grant = sandboxed.grant(await sandboxed.prepare("./run"))

    def told(progress: Progress) -> None:
        if progress.lines:
            cancel.set()

    running = executor.run(grant, workspace=sandboxed.workspace, on_progress=told, cancel=cancel)
    outcome = await asyncio.wait_for(running, 30)
    assert outcome.reason is Reason.CANCELLED
    assert (sandboxed.path / "tidy").exists()


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize(
    ("says", "code"),
    [
        ("bwrap: execvp ./run: No such file or directory", "command.cannot-start"),
        ("bwrap: Can't mount proc on /newroot/proc", "command.sandbox-failed"),
        ("", "command.cannot-start"),
    ],
)
async def test_a_sandbox_that_does_not_start_is_told_from_a_program_that_does_not(
    sandboxed: Machine, says: str, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandboxed.program("run", "#!/no/such/interpreter\n")
    if says:
        other = sandboxed.root / "bwrap"
        other.write_text(f'#!/bin/sh\necho "{says}" >&2; exit 1\n', encoding="utf-8")
        other.chmod(0o755)
        monkeypatch.setattr(bubblewrap, "_PROGRAMS", (str(other),))
    outcome = await sandboxed.run("./run")
    assert (outcome.reason, outcome.code) == (Reason.FAILED, code)


@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("R47")
async def test_a_command_that_talks_like_the_sandbox_is_no_failure_of_it(
    sandboxed: Machine,
) -> None:
    outcome = await sandboxed.run("sh -c 'echo bwrap: No permissions >&2; exit 1'")
    assert (outcome.reason, outcome.code, outcome.exit_code) == (Reason.FAILED, None, 1)


@pytest.mark.requirement("R24b")
async def test_whether_it_would_still_be_the_same_is_told_without_running(
    machine: Machine,
) -> None:
    executor = machine.executor()
    (machine.path / "sub").mkdir()
    seal = machine.grant(await machine.prepare("touch ran")).seal
    assert await executor.drift(seal, workspace=machine.workspace) == ()
    (machine.path / "file").touch()
    assert await executor.drift(seal, workspace=machine.workspace) == ("base",)
    (machine.path / "file").unlink()
    inside = machine.grant(await executor.prepare(machine.workspace, "true", cwd="sub")).seal
    (machine.path / "sub").rmdir()
    assert await executor.drift(inside, workspace=machine.workspace) == ("cwd",)
    machine.path.rmdir()
    assert await executor.drift(seal, workspace=machine.workspace) == ("workspace",)


async def test_a_program_that_cannot_start_is_told_as_such(machine: Machine) -> None:
    machine.program("run", "#!/no/such/interpreter\n")
    outcome = await machine.run("./run")
    assert (outcome.reason, outcome.code) == (Reason.FAILED, "command.cannot-start")


async def test_progress_is_told_with_time_and_lines(machine: Machine) -> None:
    clock = ManualClock()
    told: list[Progress] = []

    def tell(progress: Progress) -> None:
        clock.advance(10)
        told.append(progress)

    executor = Executor(machine.around, blobs=machine.blobs, clock=clock, progress_s=0.02)
    grant = machine.grant(await machine.prepare("echo a; echo b; sleep 0.3"))
    await executor.run(grant, workspace=machine.workspace, on_progress=tell)
    assert [progress.elapsed_s for progress in told[:3]] == [0, 10, 20]
    assert told[-1].lines == 2


@pytest.mark.needs("bubblewrap")
async def test_without_a_sandbox_at_the_run_a_sandboxed_command_drifts(
    sandboxed: Machine,
) -> None:
    grant = sandboxed.grant(await sandboxed.prepare("touch ran"))
    unprotected = replace(sandboxed, around=replace(sandboxed.around, level="none"))
    outcome = await unprotected.executor().run(grant, workspace=sandboxed.workspace)
    assert (outcome.reason, outcome.drift) == (Reason.DRIFTED, ("sandbox",))
    assert not (sandboxed.path / "ran").exists()
