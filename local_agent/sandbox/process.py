"""The only module of the agent that starts children (R1, R44, R45).

An argv list, an environment passed in full, stdin from /dev/null, a session of its own, limits,
a deadline, and output that is drained to the end while only its head and tail are kept.  Between
the agent and each child stands the `warden`, which leaves no survivors.  A child that stays
and is spoken with is a `child.Child`; the bounds are in `bounds`.

What may be run, and in which sandbox, is not decided here: `local_agent.actions` does.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from common.clock import Clock, SystemClock
from common.errors import ConfigError, InputError
from local_agent.sandbox import warden
from local_agent.sandbox.bounds import KEPT_BYTES, Excess, Exit, Kept, Limits, OnOutput, Stream

__all__ = [  # what callers of `run_child` need beside it, too
    "KEPT_BYTES",
    "MAX_ARGV_BYTES",
    "SECCOMP_FD",
    "STATUS_FD",
    "Excess",
    "Exit",
    "Kept",
    "Limits",
    "OnOutput",
    "Stream",
    "harden_self",
    "read_tool",
    "run_child",
]

# Where the outer process of a sandbox finds its filter of system calls, and tells how it goes.
SECCOMP_FD: Final = 3
STATUS_FD: Final = 4
MAX_ARGV_BYTES: Final = 1_500_000  # below Linux's ARG_MAX of 2 MB, with room for the environment
_TIMEOUT: Final = "/usr/bin/timeout"
_NOT_RUN: Final = 125  # what timeout(1) ends with for itself, and above
_HERE: Final = str(Path(__file__).parent)
_CHUNK: Final = 65_536
_PR_SET_DUMPABLE: Final = 4  # linux/prctl.h
_SETTLE_S: Final = 2.0  # for the warden to sweep, and for pipes to close after its end
_REAP_S: Final = 0.5  # for the warden, whose report has ended, to be gone


async def run_child(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    limits: Limits | None = None,
    on_output: OnOutput | None = None,
    cancel: asyncio.Event | None = None,
    contained: bool = False,
    seccomp: bytes = b"",
    clock: Clock | None = None,
    said: bytes | None = None,
    held: int | None = None,
) -> Exit:
    """Run one program to its end and return how it ended.

    Args:
        argv: Program as an absolute path, then its arguments.  Never a shell line.
        env: The whole environment of the child; nothing is inherited.
        limits: Bounds; the defaults of R45 when None.
        on_output: Told each chunk as it comes, on the event loop; must not block.
        cancel: When set, the child is asked to end, and killed after the grace.
        contained: The program is a sandbox's outer process, whose own end kills its inside.  It
            tells at descriptor `STATUS_FD` how it goes, as bubblewrap does.
        seccomp: What a contained program finds at descriptor `SECCOMP_FD`.
        said: What it reads to its end; nothing, by use.
        held: Descriptor of a lock that its warden holds, too, until all that it began has ended.

    Raises:
        InputError: ``process.program`` (not absolute), ``process.nul``, ``process.too-long``.
        OSError: the warden itself could not be started, or there is no room for what is said.
    """
    bounds, ticking = limits or Limits(), clock or SystemClock()
    check_words(argv, env)
    began, cap = ticking.now().mono, bounds.output_cap_bytes
    kept: dict[Stream, Kept] = {"stdout": Kept(cap), "stderr": Kept(cap)}
    order = new_order(bounds, seccomp if contained else None) | {"held": held}
    stdin = asyncio.subprocess.DEVNULL if said is None else await asyncio.to_thread(_spoken, said)
    try:
        child, report = await start_watched(argv, cwd=cwd, env=env, order=order, stdin=stdin)
    finally:
        if stdin >= 0:
            os.close(stdin)
    lines, timed_out, cancelled = await _attend(child, report, kept, bounds, on_output, cancel)
    code, number = _ending(lines)
    return Exit(
        code=code,
        signal=number,
        errno=lines.get("errno"),
        timed_out=timed_out,
        cancelled=cancelled,
        duration_ms=round((ticking.now().mono - began) * 1000),
        stdout=kept["stdout"],
        stderr=kept["stderr"],
        swept=lines.get("swept", 0),
        # Without a report the warden itself was killed: what it watched may live.
        survivors=lines.get("left", 1),
        exceeded=lines.get("exceeded"),
        started=lines.get("started", "errno" not in lines),
    )


def _spoken(said: bytes) -> int:
    """Return a descriptor that gives these bytes and then ends; they have no name anywhere.

    A pipe would have to be fed while the program may already be gone.
    """
    with tempfile.TemporaryFile() as file:
        file.write(said)
        file.seek(0)
        return os.dup(file.fileno())


async def read_tool(
    argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], seconds: float, cap_bytes: int
) -> tuple[int | None, Kept]:
    """Run a tool of the system that only reads and starts nothing; return exit code and output.

    Such a tool is done before a warden would have started.  timeout(1) stands in its place: it
    kills the tool when the time is up, also when the agent is gone by then.

    Args:
        argv: As of `run_child`.
        cwd: As of `run_child`.
        env: As of `run_child`.
        seconds: Until it is killed.
        cap_bytes: Kept of what it prints; the rest is drained.

    Returns:
        None instead of a code where it was killed, or could not be started.

    Raises:
        InputError: as `run_child`.
        OSError: timeout(1) could not be started.
    """
    check_words(argv, env)
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *(_TIMEOUT, "--signal=KILL", f"{seconds:.3f}", *argv),
            cwd=cwd,
            env=dict(env),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    )
    kept = Kept(cap_bytes)
    try:
        tool = await asyncio.shield(starting)
        await drain(tool.stdout, "stdout", kept, None)
        code = await tool.wait()
    except asyncio.CancelledError:
        # Only who has been started can be ended: asyncio itself would end timeout(1) alone.
        await _kill_group(await starting)
        raise
    return (code if 0 <= code < _NOT_RUN else None), kept


async def _kill_group(tool: asyncio.subprocess.Process) -> None:
    if tool.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(tool.pid, signal.SIGKILL)
        await tool.wait()


def harden_self() -> None:
    """Harden the agent at its start (R43, R61): umask 077, not dumpable, no core files.

    Not dumpable: otherwise any child of the same user reads ``/proc/<agent>/environ`` and memory.

    Raises:
        ConfigError: ``process.not-hardened`` when the kernel refuses.
    """
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux" and ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise ConfigError("process.not-hardened")


def check_words(argv: Sequence[str], env: Mapping[str, str]) -> None:
    """Check what a child would be started with.

    Raises:
        InputError: as `run_child`.
    """
    if not argv or not argv[0].startswith("/"):
        raise InputError("process.program", program=argv[0] if argv else "")
    words = [*argv, *(f"{name}={value}" for name, value in env.items())]
    if any("\0" in word for word in words) or any("=" in name or not name for name in env):
        raise InputError("process.nul")
    sizes = [len(os.fsencode(word)) + 1 for word in words]
    if sum(sizes) > MAX_ARGV_BYTES or max(sizes) > 128 * 1024:  # MAX_ARG_STRLEN, execve(2)
        raise InputError("process.too-long", limit=MAX_ARGV_BYTES)


def new_order(limits: Limits, seccomp: bytes | None, *, umask: int = 0o022) -> dict[str, Any]:
    """Return what the warden is to see to; ``seccomp`` is None for what is no sandbox."""
    sandbox = None
    if seccomp is not None:
        sandbox = {"seccomp": seccomp, "seccomp_fd": SECCOMP_FD, "status_fd": STATUS_FD}
    return {
        "parent": os.getpid(),
        "grace": limits.grace_s,
        "limits": limits.resources(),
        "together": limits.together(),
        "sandbox": sandbox,
        "umask": umask,
        "held": None,
    }


async def start_watched(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    order: Mapping[str, Any],
    stdin: int,
    line_bytes: int = _CHUNK,
) -> tuple[asyncio.subprocess.Process, int]:
    """Start a child under its warden; return it with the end of the pipe that tells of it."""
    report, told = os.pipe()
    told_order = {**order, "report": told}
    try:
        child = await _start(
            argv, cwd=cwd, env=env, order=told_order, stdin=stdin, line_bytes=line_bytes
        )
    except BaseException:
        os.close(report)
        raise
    finally:
        os.close(told)
    return child, report


async def _start(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    order: Mapping[str, Any],
    stdin: int,
    line_bytes: int,
) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-S", "-c", warden.START, _HERE, warden.encode_order(dict(order))),
        *argv,
        cwd=cwd,
        env=dict(env),
        stdin=stdin,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=line_bytes,
        start_new_session=True,
        pass_fds=[order[name] for name in ("report", "held") if order[name] is not None],
    )


async def _attend(
    child: asyncio.subprocess.Process,
    report: int,
    kept: Mapping[Stream, Kept],
    limits: Limits,
    on_output: OnOutput | None,
    cancel: asyncio.Event | None,
) -> tuple[dict[str, Any], bool, bool]:
    """Stay with the child to its end; return the report, and whether time or the caller ended it.

    The end is the end of the report, which the warden alone can write: ``child.wait()`` would also
    wait for whoever holds the output pipes.
    """
    ended = asyncio.create_task(read_report(report))
    drains = [
        asyncio.create_task(drain(child.stdout, "stdout", kept["stdout"], on_output)),
        asyncio.create_task(drain(child.stderr, "stderr", kept["stderr"], on_output)),
    ]
    asked = asyncio.create_task((cancel or asyncio.Event()).wait())
    try:
        done, _ = await asyncio.wait(
            {ended, asked}, timeout=limits.timeout_s, return_when=asyncio.FIRST_COMPLETED
        )
        if ended not in done:
            await end_watched(child, ended, limits.grace_s)
        # A survivor may hold the pipes open for ever: what it writes is not waited for.
        await asyncio.wait(drains, timeout=_SETTLE_S)
        lines = ended.result() if ended.done() else {}
        return lines, not done, asked in done and ended not in done
    finally:
        # Also the way out when this task is cancelled: nothing is left running.
        if not ended.done():
            _signal(child, signal.SIGUSR1)
            await asyncio.wait([ended], timeout=_SETTLE_S)
        for task in (*drains, ended, asked):
            task.cancel()
        await asyncio.gather(*drains, ended, asked, return_exceptions=True)
        await reap(child)


async def reap(child: asyncio.subprocess.Process) -> None:
    """Let go of a child whose report has ended, and of its pipes."""
    gone = asyncio.create_task(child.wait())
    await asyncio.wait([gone], timeout=_REAP_S)
    # The transport is not public, and nothing else closes pipes that a survivor holds open.
    child._transport.close()  # type: ignore[attr-defined]  # noqa: SLF001  # as said above
    await asyncio.wait([gone], timeout=_REAP_S)
    gone.cancel()


async def end_watched(
    child: asyncio.subprocess.Process, ended: asyncio.Task[dict[str, Any]], grace_s: float
) -> None:
    """Ask a child and all below it to end, and kill them after the grace."""
    for number, patience in ((signal.SIGTERM, grace_s + _SETTLE_S), (signal.SIGKILL, _SETTLE_S)):
        _signal(child, number)
        done, _ = await asyncio.wait([ended], timeout=patience)
        if done:
            return


def _signal(child: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        child.send_signal(number)


async def drain(
    source: asyncio.StreamReader | None, stream: Stream, kept: Kept, on_output: OnOutput | None
) -> None:
    """Read a stream to its end; of it is kept what there is room for."""
    if source is None:
        return
    while chunk := await source.read(_CHUNK):
        kept.add(chunk)
        if on_output is not None:
            on_output(chunk, stream)


async def read_report(descriptor: int) -> dict[str, Any]:
    """Return what the warden told, when it has ended; takes over the descriptor."""
    source = asyncio.StreamReader()
    pipe, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(source), os.fdopen(descriptor, "rb")
    )
    try:
        lines: dict[str, Any] = {}
        for line in (await source.read()).splitlines():
            lines |= json.loads(line)
        return lines
    finally:
        pipe.close()


def _ending(lines: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Return exit code and signal number of the program."""
    status = lines.get("status")
    if "errno" in lines:
        return None, None
    if status is None:
        return None, int(signal.SIGKILL)
    if os.WIFSIGNALED(status):
        return None, os.WTERMSIG(status)
    return os.WEXITSTATUS(status), None
