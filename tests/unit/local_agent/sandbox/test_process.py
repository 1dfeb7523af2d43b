"""Children: limits, clean environments, endings, and nothing left behind."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import resource
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import psutil
import pytest

from common.clock import ManualClock
from common.errors import InputError
from local_agent.sandbox import warden
from local_agent.sandbox.process import (
    SECCOMP_FD,
    STATUS_FD,
    Exit,
    Kept,
    Limits,
    Stream,
    read_tool,
    run_child,
)

pytestmark = pytest.mark.heavy

ENV = {"LANG": "C.UTF-8"}
QUICK = Limits(timeout_s=0.3, grace_s=0.2)


async def _sh(script: str, *, limits: Limits | None = None, cwd: Path = Path("/")) -> Exit:
    return await run_child(["/bin/sh", "-c", script], cwd=cwd, env=ENV, limits=limits)


def _out(ended: Exit) -> str:
    return ended.stdout.parts()[0].decode()


async def test_a_child_tells_its_exit_code_and_both_streams() -> None:
    ended = await _sh("echo out; echo err >&2; exit 3")
    assert (ended.code, ended.signal, ended.ok) == (3, None, False)
    assert _out(ended) == "out\n"
    assert ended.stderr.parts()[0] == b"err\n"


async def test_a_child_that_succeeds_is_ok() -> None:
    ended = await _sh("true")
    assert ended.ok
    assert (ended.swept, ended.survivors) == (0, 0)


async def test_the_signal_that_ended_a_child_is_told() -> None:
    ended = await _sh("kill -SEGV $$")
    assert (ended.code, ended.signal) == (None, signal.SIGSEGV)


async def test_a_program_that_cannot_be_started_is_told_by_errno() -> None:
    ended = await run_child(["/no/such/program"], cwd=Path("/"), env=ENV)
    assert (ended.code, ended.signal, ended.errno) == (None, None, 2)
    assert not ended.ok


@pytest.mark.requirement("R43")
async def test_the_environment_is_exactly_what_was_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CODEXBRIDGE_SECRET_OF_THE_AGENT", "x")
    for env in ({"A": "1", "LANG": "C"}, {"LC_CTYPE": "C"}, {}):
        ended = await run_child(["/usr/bin/env"], cwd=Path("/"), env=env)
        assert dict(line.split("=", 1) for line in _out(ended).splitlines()) == env


@pytest.mark.requirement("R44")
async def test_stdin_is_empty_and_there_is_no_terminal() -> None:
    ended = await _sh("cat; (: < /dev/tty) 2>/dev/null && echo terminal || echo none")
    assert _out(ended) == "none\n"


@pytest.mark.requirement("R44")
async def test_a_child_has_a_session_and_a_group_of_its_own() -> None:
    ended = await _sh("ps -o pid=,pgid=,sid= -p $$")
    pid, group, session = map(int, _out(ended).split())
    assert group == pid
    assert session != os.getsid(0)


@pytest.mark.requirement("R45")
async def test_limits_hold_before_the_program_starts() -> None:
    bounds = Limits(address_bytes=8 * 1024**3, file_bytes=4096, open_files=64, cpu_s=9)
    ended = await _sh("ulimit -v; ulimit -f; ulimit -n; ulimit -t; ulimit -c; umask", limits=bounds)
    assert _out(ended).split() == [str(8 * 1024**2), "8", "64", "9", "0", "0022"]


@pytest.mark.requirement("R45")
async def test_a_file_larger_than_allowed_cannot_be_written(tmp_path: Path) -> None:
    bounds = Limits(file_bytes=1024)
    ended = await _sh("head -c 5000 /dev/zero > large", limits=bounds, cwd=tmp_path)
    assert not ended.ok
    assert (tmp_path / "large").stat().st_size == 1024


@pytest.mark.requirement("R45")
async def test_a_limit_never_exceeds_what_the_agent_itself_may() -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    ended = await _sh("ulimit -Hn", limits=Limits(open_files=2**40))
    assert _out(ended).strip() == str(hard)


async def _python(script: str, cwd: Path, **bounds: int) -> Exit:
    argv = [sys.executable, "-I", "-S", "-c", textwrap.dedent(script)]
    return await run_child(argv, cwd=cwd, env=ENV, limits=Limits(timeout_s=10, **bounds))


@pytest.mark.requirement("R45")
async def test_too_many_processes_are_ended_together(tmp_path: Path) -> None:
    script = "import os, time; [os.fork() or time.sleep(9) for _ in range(20)]; time.sleep(9)"
    ended = await _python(script, tmp_path, processes=10)
    assert (ended.exceeded, ended.ok, ended.timed_out) == ("processes", False, False)
    assert ended.survivors == 0


@pytest.mark.requirement("R45")
async def test_too_many_threads_count_as_processes(tmp_path: Path) -> None:
    script = """
        import threading, time
        for _ in range(60):
            threading.Thread(target=time.sleep, args=(9,), daemon=True).start()
        time.sleep(9)
    """
    assert (await _python(script, tmp_path, processes=10)).exceeded == "processes"


@pytest.mark.requirement("R45")
async def test_too_much_memory_of_all_together_ends_them(tmp_path: Path) -> None:
    script = """
        import os, time
        for _ in range(4):
            if os.fork() == 0:
                held = b"x" * 60_000_000
                time.sleep(9)
        time.sleep(9)
    """
    assert (await _python(script, tmp_path, memory_bytes=150_000_000)).exceeded == "memory"


@pytest.mark.requirement("R45")
async def test_memory_that_processes_share_counts_once(tmp_path: Path) -> None:
    script = """
        import os, time
        held = b"x" * 60_000_000
        for _ in range(4):
            if os.fork() == 0:
                time.sleep(0.6)
                os._exit(0)
        time.sleep(0.6)
    """
    ended = await _python(script, tmp_path, memory_bytes=150_000_000)
    assert (ended.exceeded, ended.code) == (None, 0)


@pytest.mark.requirement("R45")
async def test_a_disk_that_fills_up_ends_the_child(tmp_path: Path) -> None:
    script = """
        import os, time
        with open("filling", "wb") as file:
            for _ in range(64):
                file.write(os.urandom(1 << 22))
                file.flush()
                time.sleep(0.02)
    """
    ended = await _python(script, tmp_path, disk_bytes=1 << 25)
    assert ended.exceeded == "disk"
    assert (tmp_path / "filling").stat().st_size < 1 << 28


def _room(**other: int) -> warden._Room:
    plenty = {"disk": 1 << 40, "files": 1 << 30, "memory": 1 << 40, "threads": 100}
    return warden._Room(**plenty | other)


PLENTY = _room()


@pytest.mark.requirement("R45")
@pytest.mark.parametrize(
    ("now", "before", "exceeded"),
    [
        (PLENTY, PLENTY, None),
        (_room(threads=121), PLENTY, "processes"),
        (_room(memory=1 << 20), PLENTY, "memory"),
        (
            _room(memory=1 << 20),
            _room(memory=1 << 20),
            None,
        ),
        (_room(disk=1 << 20), PLENTY, "disk"),
        (
            _room(disk=1 << 20),
            _room(disk=1 << 20),
            None,
        ),
        (_room(disk=(1 << 40) - 1001), PLENTY, "disk"),
        (_room(files=9), PLENTY, "disk"),
        (_room(files=9), _room(files=9), None),
    ],
)
def test_the_machine_is_kept_from_running_short_but_what_it_lacked_before_is_no_ones_fault(
    monkeypatch: pytest.MonkeyPatch, now: warden._Room, before: warden._Room, exceeded: str | None
) -> None:
    monkeypatch.setattr(warden, "_room", lambda: now)
    monkeypatch.setattr(warden, "_processes", dict)
    together = {"processes": 10, "memory": 1000, "disk": 1000}
    assert warden._excess(together, before) == exceeded
    assert warden._excess({}, before) is None


def test_a_process_that_does_not_let_itself_be_looked_at_counts_by_what_it_resides(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(path: str) -> bytes:
        raise PermissionError(path)

    hidden = warden._Process(b"S", 1, 1, threads=1, resident=12345)
    assert warden._own_memory(2**30, hidden) == 0, "it has ended since"
    monkeypatch.setattr(warden, "_read", refuse)
    assert warden._own_memory(2**30, hidden) == 12345


@pytest.mark.requirement("R45")
async def test_the_kernel_ends_a_bounded_child_before_anybody_else() -> None:
    script = "cat /proc/self/oom_score_adj"
    bounded = await _sh(script, limits=Limits(memory_bytes=1 << 30))
    assert _out(bounded) == "1000\n"
    assert _out(await _sh(script)) != "1000\n"


@pytest.mark.requirement("R45")
@pytest.mark.parametrize(("user", "hard"), [(1000, resource.RLIM_INFINITY), (1000, 50), (0, 50)])
def test_the_kernel_refuses_an_ordinary_user_too_many_threads(
    monkeypatch: pytest.MonkeyPatch, user: int, hard: int
) -> None:
    given: list[tuple[int, tuple[int, int]]] = []
    monkeypatch.setattr(os, "getuid", lambda: user)
    monkeypatch.setattr(warden, "_all_threads", lambda: 300)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (hard, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda kind, pair: given.append((kind, pair)))
    warden._limit_threads({"processes": 10})
    most = 50 if hard == 50 else 340
    assert given == ([(resource.RLIMIT_NPROC, (most, most))] if user else [])


@pytest.mark.parametrize(
    ("said", "started"), [('{ "exit-code": 1 }', True), ('{ "child-pid": 7 }', False), ("", False)]
)
async def test_whether_the_inside_of_a_sandbox_began_is_told_by_its_status(
    said: str, started: bool
) -> None:
    script = f"echo '{said}' >&{STATUS_FD}; echo bwrap: oops >&2; exit 1"
    ended = await run_child(["/bin/sh", "-c", script], cwd=Path("/"), env=ENV, contained=True)
    assert (ended.code, ended.started) == (1, started)


async def test_a_sandbox_finds_its_filter_and_nothing_else(tmp_path: Path) -> None:
    script = f"cat <&{SECCOMP_FD}; ls /proc/self/fd | tr '\\n' ' '"
    ended = await run_child(
        ["/bin/sh", "-c", script], cwd=tmp_path, env=ENV, contained=True, seccomp=b"filter "
    )
    assert _out(ended).split() == ["filter", "0", "1", "2", "3", "4", "5"]  # the last is of ls


@pytest.mark.requirement("R45")
async def test_time_up_ends_the_child() -> None:
    ended = await _sh("exec sleep 30", limits=QUICK)
    assert (ended.timed_out, ended.cancelled, ended.ok) == (True, False, False)
    assert ended.signal == signal.SIGTERM


async def test_a_child_that_ignores_the_request_is_killed_after_the_grace() -> None:
    ended = await _sh("trap '' TERM; sleep 30 & sleep 30; sleep 30", limits=QUICK)
    assert ended.timed_out
    assert ended.signal == signal.SIGKILL
    assert ended.survivors == 0


async def test_a_child_may_tidy_up_when_it_is_asked_to_end(tmp_path: Path) -> None:
    script = "trap 'echo tidy > done; exit 0' TERM; echo up; while :; do sleep 0.01; done"
    up = asyncio.Event()
    cancel = asyncio.Event()

    def heard(chunk: bytes, stream: Stream) -> None:
        up.set()
        cancel.set()

    ended = await run_child(
        ["/bin/sh", "-c", script], cwd=tmp_path, env=ENV, on_output=heard, cancel=cancel
    )
    assert up.is_set()
    assert (ended.cancelled, ended.timed_out, ended.ok) == (True, False, False)
    assert (tmp_path / "done").read_text(encoding="utf-8") == "tidy\n"


@pytest.mark.requirement("R44")
async def test_what_a_child_leaves_behind_is_killed() -> None:
    ended = await _sh("setsid sleep 30 & (setsid sh -c 'sleep 30' &) ; sleep 0.05; echo $!")
    assert ended.code == 0
    assert ended.swept >= 2
    assert ended.survivors == 0
    assert not psutil.pid_exists(int(_out(ended)))


@pytest.mark.requirement("R44")
async def test_a_child_that_keeps_forking_away_is_killed_or_told(tmp_path: Path) -> None:
    mark = f"chain-{os.getpid()}"
    chain = textwrap.dedent("""
        import os, time
        if os.fork():
            os._exit(0)
        os.setsid()
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        end = time.monotonic() + 20
        while time.monotonic() < end:
            if os.fork():
                os._exit(0)  # whoever looks at this one finds nobody
            time.sleep(0.0005)
    """)
    argv = [sys.executable, "-I", "-S", "-c", chain, mark]
    for _ in range(3):
        ended = await run_child(argv, cwd=tmp_path, env=ENV)
        assert ended.survivors == 0
    looks = [found.info for _ in range(5) for found in psutil.process_iter(["cmdline"])]
    assert not [info for info in looks if mark in str(info)]


@pytest.mark.requirement("R4")
@pytest.mark.parametrize(("alone", "left"), [(True, 0), (False, 1)])
def test_that_nothing_is_left_is_told_by_the_kernel_and_not_by_a_look(
    monkeypatch: pytest.MonkeyPatch, alone: bool, left: int
) -> None:
    looks: list[int] = []

    def look(child: int) -> tuple[set[int], set[int]]:
        looks.append(child)
        return set(), set()

    monkeypatch.setattr(warden, "_look", look)
    monkeypatch.setattr(warden, "_is_alone", lambda: alone)
    monkeypatch.setattr(warden, "_IDLE_S", 0)
    assert warden._sweep(1, settle_s=0) == (0, left)
    assert bool(looks) is not alone  # each takes as long as starting a program


async def test_a_program_that_kills_its_warden_dies_with_it_and_that_is_told() -> None:
    ended = await _sh("echo $$; kill -9 $PPID; sleep 3", limits=Limits(timeout_s=5))
    assert ended.signal == signal.SIGKILL
    assert ended.survivors == 1  # nobody watched the end of what it started
    # Nobody of ours is told of its end, and the kernel may take a moment for it.
    with contextlib.suppress(psutil.NoSuchProcess):
        await asyncio.to_thread(psutil.Process(int(_out(ended))).wait, 5)


async def test_a_cancelled_task_leaves_no_child() -> None:
    started = asyncio.Event()
    seen: list[int] = []

    def heard(chunk: bytes, stream: Stream) -> None:
        seen.append(int(chunk))
        started.set()

    task = asyncio.create_task(
        run_child(["/bin/sh", "-c", "echo $$; sleep 30"], cwd=Path("/"), env=ENV, on_output=heard)
    )
    await asyncio.wait_for(started.wait(), 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not psutil.pid_exists(seen[0])


@pytest.mark.requirement("R44")
def test_a_command_does_not_outlive_a_killed_agent(tmp_path: Path) -> None:
    agent = textwrap.dedent("""
        import asyncio
        from pathlib import Path
        from local_agent.sandbox.process import Limits, run_child
        asyncio.run(run_child(
            ["/bin/sh", "-c", "echo $$; sleep 30"], cwd=Path("/"), env={},
            limits=Limits(grace_s=0.1), on_output=lambda chunk, _: print(int(chunk), flush=True),
        ))
    """)
    root = Path(__file__).parents[3]
    with subprocess.Popen(
        [sys.executable, "-c", agent],
        cwd=tmp_path,
        env={"PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
    ) as running:
        assert running.stdout is not None
        command = psutil.Process(int(running.stdout.readline()))
        running.kill()
    gone, _ = psutil.wait_procs([command], timeout=30)
    assert gone or command.status() == psutil.STATUS_ZOMBIE


async def test_output_beyond_the_cap_is_drained_and_its_middle_let_go() -> None:
    bounds = Limits(output_cap_bytes=1000)
    ended = await _sh(
        "echo begin; head -c 500000 /dev/zero | tr '\\0' x; echo; echo end", limits=bounds
    )
    head, tail = ended.stdout.parts()
    assert ended.ok
    assert (len(head), len(tail)) == (500, 500)
    assert head.startswith(b"begin\nxxx")
    assert tail.endswith(b"xxx\nend\n")
    assert ended.stdout.dropped == ended.stdout.total - 1000


async def test_the_duration_is_of_the_given_clock() -> None:
    clock = ManualClock()

    def heard(chunk: bytes, stream: Stream) -> None:
        clock.advance(2.5)

    ended = await run_child(
        ["/bin/echo", "x"], cwd=Path("/"), env=ENV, on_output=heard, clock=clock
    )
    assert ended.duration_ms == 2500


@pytest.mark.parametrize(
    ("argv", "env", "code"),
    [
        ([], {}, "process.program"),
        (["sh"], {}, "process.program"),
        (["./sh"], {}, "process.program"),
        (["/bin/sh", "a\0b"], {}, "process.nul"),
        (["/bin/sh"], {"A": "\0"}, "process.nul"),
        (["/bin/sh"], {"A=B": "x"}, "process.nul"),
        (["/bin/sh"], {"": "x"}, "process.nul"),
        (["/bin/sh", "x" * 131072], {}, "process.too-long"),
        (["/bin/sh", *["x" * 100_000] * 16], {}, "process.too-long"),
    ],
)
async def test_what_cannot_be_a_child_is_refused(
    argv: list[str], env: dict[str, str], code: str
) -> None:
    with pytest.raises(InputError) as caught:
        await run_child(argv, cwd=Path("/"), env=env)
    assert caught.value.code == code


async def test_a_folder_that_is_not_there_leaves_no_descriptor_open() -> None:
    before = psutil.Process().num_fds()
    with pytest.raises(FileNotFoundError):
        await run_child(["/bin/true"], cwd=Path("/no/such/folder"), env=ENV)
    assert psutil.Process().num_fds() <= before + 3  # the loop's own, made on first use


def test_kept_output_is_whole_up_to_the_cap_and_head_and_tail_beyond() -> None:
    kept = Kept(cap=10)
    for chunk in (b"0123", b"456", b"789"):
        kept.add(chunk)
    assert (kept.parts(), kept.dropped) == ((b"0123456789", b""), 0)
    kept.add(b"ab")
    assert (kept.parts(), kept.dropped) == ((b"01234", b"789ab"), 2)


def test_kept_output_stays_small_however_much_comes() -> None:
    kept = Kept(cap=1000)
    for _ in range(200):
        kept.add(b"x" * 65_536)
    assert kept.total == 200 * 65_536
    assert sum(map(len, kept.parts())) == 1000
    assert len(kept._tail) < 4 * 65_536


@pytest.mark.requirement("R61")
def test_the_agent_hardens_itself(tmp_path: Path) -> None:
    script = textwrap.dedent("""
        import ctypes, os, resource
        from local_agent.sandbox.process import harden_self
        harden_self()
        print(ctypes.CDLL(None).prctl(3), resource.getrlimit(resource.RLIMIT_CORE), os.umask(0))
    """)
    root = Path(__file__).parents[3]
    told = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={"PYTHONPATH": str(root)},
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout
    dumpable = 0 if sys.platform == "linux" else ctypes.CDLL(None)
    assert told.strip() == f"{dumpable} (0, 0) {0o077}"


# --- tools that only read --------------------------------------------------------------------


async def _tool(script: str, *, seconds: float = 5.0, cap: int = 10_000) -> tuple[int | None, Kept]:
    argv = ["/bin/sh", "-c", script]
    return await read_tool(argv, cwd=Path("/"), env=ENV, seconds=seconds, cap_bytes=cap)


async def test_a_tool_tells_its_exit_code_and_what_it_printed() -> None:
    code, told = await _tool("echo out; echo err >&2; env; exit 1")
    assert code == 1
    assert told.parts()[0].startswith(b"out\n")
    assert b"err" not in told.parts()[0]
    assert b"HOME=" not in told.parts()[0]


async def test_a_tool_that_prints_without_end_is_cut() -> None:
    _, told = await _tool("head -c 100000 /dev/zero", cap=1000)
    assert told.total == 100_000
    assert told.dropped


@pytest.mark.parametrize("script", ["sleep 60", "trap '' TERM; while :; do :; done"])
async def test_a_tool_whose_time_is_up_is_killed(script: str) -> None:
    code, _ = await _tool(script, seconds=0.2)
    assert code is None


async def test_a_tool_that_cannot_be_started_has_no_exit_code() -> None:
    code, _ = await read_tool(["/no/such/tool"], cwd=Path("/"), env=ENV, seconds=5, cap_bytes=1000)
    assert code is None
    with pytest.raises(InputError):
        await read_tool(["tool"], cwd=Path("/"), env=ENV, seconds=5, cap_bytes=1000)


@pytest.mark.requirement("R44")
async def test_a_tool_is_gone_when_whoever_asked_for_it_is(tmp_path: Path) -> None:
    told = tmp_path / "told"
    os.mkfifo(told)
    task = asyncio.create_task(_tool(f"echo $$ > {told}; exec sleep 60", seconds=30))
    async with asyncio.timeout(30):
        pid = int(await asyncio.to_thread(told.read_text, "utf-8"))
    tool = psutil.Process(pid)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    gone, _ = await asyncio.to_thread(psutil.wait_procs, [tool], 5)
    assert gone == [tool]


async def test_a_tool_that_is_cancelled_while_it_starts_is_gone_as_well(tmp_path: Path) -> None:
    told = tmp_path / "told"
    os.mkfifo(told)
    reading = asyncio.create_task(asyncio.to_thread(told.read_bytes))
    task = asyncio.create_task(_tool(f"exec sleep 60 > {told}", seconds=30))
    await asyncio.sleep(0)  # it has begun, and has not been told of its start
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    # The pipe ends with the last process that has it open; one that never opened it does so here.
    await asyncio.to_thread(lambda: os.close(os.open(told, os.O_RDWR)))
    async with asyncio.timeout(30):
        assert await reading == b""
