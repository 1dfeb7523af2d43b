"""The program that stands between the agent and every child it starts (R44, R45).

`local_agent.process` runs this file as ``python -I -S warden.py ORDER PROGRAM ARGUMENT…``; nothing
imports it.  It is alone in its process and has one thread, so that forking and setting limits
between fork and exec is safe here, as it would not be in the agent.  What it sees to:

- limits, umask and default signals are set before the program starts, not after;
- whatever the program leaves behind is adopted (PR_SET_CHILD_SUBREAPER) and killed: no survivors;
- when the agent dies, by whatever signal, the program is ended (PR_SET_PDEATHSIG).

SIGTERM asks everything below to end and kills it after the grace; SIGUSR1 kills at once.
How it went is written as JSON lines to the descriptor named in the order: ``{"errno"}`` when the
program could not be started, and at the end ``{"status", "swept", "left"}``.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import Any, Final, NoReturn

_SET_PDEATHSIG: Final = 1  # linux/prctl.h
_SET_CHILD_SUBREAPER: Final = 36
_KEYCTL: Final = {"x86_64": 250, "aarch64": 219}  # the system call's number, asm/unistd.h
_JOIN_SESSION_KEYRING: Final = 1  # linux/keyctl.h
_ROUNDS: Final = 200  # of killing what keeps forking, before it is reported as left
_IDLE_ROUNDS: Final = 20  # of these in a row found nothing that could be killed
_IDLE_S: Final = 0.005
_WATCHED: Final = frozenset({signal.SIGCHLD, signal.SIGTERM, signal.SIGALRM, signal.SIGUSR1})


def main(order: dict[str, Any], argv: list[str]) -> None:
    """Start the program, watch it to its end, leave nothing behind, report."""
    os.set_inheritable(order["report"], False)
    signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
    _prctl(_SET_PDEATHSIG, signal.SIGTERM)
    _prctl(_SET_CHILD_SUBREAPER, 1)
    if os.getppid() != order["parent"]:
        return  # the agent died before its death could be told to us
    child = os.fork()
    if child == 0:
        _become(order, argv)
    status = _watch(child, order)
    swept, left = _sweep(child)
    _report(order, {"status": status, "swept": swept, "left": left})


def _become(order: dict[str, Any], argv: list[str]) -> NoReturn:
    try:
        _prctl(_SET_PDEATHSIG, signal.SIGKILL)  # for a program that kills its warden
        if order["contained"]:
            _leave_keyring()
        os.setpgid(0, 0)
        os.umask(0o022)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)  # Python ignores them; ignoring is inherited
        for name, wanted in order["limits"].items():
            kind = getattr(resource, name)
            hard = resource.getrlimit(kind)[1]
            value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(kind, (value, value))
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.execve(argv[0], argv, _environment())  # noqa: S606  # argv only, no shell
    except OSError as error:
        _report(order, {"errno": error.errno})
    os._exit(127)


def _environment() -> dict[bytes, bytes]:
    # As it was given: Python itself may have changed LC_CTYPE since (PEP 538).
    if sys.platform != "linux":
        return dict(os.environb)
    given = Path("/proc/self/environ").read_bytes().split(b"\0")
    return dict(entry.split(b"=", 1) for entry in given if entry)


def _watch(child: int, order: dict[str, Any]) -> int | None:
    """Return the wait status of the program, or None when it had to be swept away."""
    while True:
        got = signal.sigwait(_WATCHED)
        if got == signal.SIGCHLD:
            status = _reap(child)
            if status is not None:
                return status
        elif got == signal.SIGTERM:
            # A sandbox's outer process would take its inside down with it: spare it the signal.
            spared = {child} if order["contained"] else set()
            for pid in _descendants(child) - spared:
                _kill(pid, signal.SIGTERM)
            signal.setitimer(signal.ITIMER_REAL, max(order["grace"], 0.001))
        else:
            return None


def _reap(child: int) -> int | None:
    found = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if pid == 0:
            return found
        if pid == child:
            found = status


def _sweep(child: int) -> tuple[int, int]:
    """Kill all that is still below us; return how many there were and how many are left.

    A look at /proc misses whoever forks and exits in the meantime: that nothing is left is told
    by the kernel alone, which gives every orphan to us.
    """
    killed: set[int] = set()
    idle = 0
    for _ in range(_ROUNDS):
        below, groups = _look(child)
        mine = {pid for pid in below if _kill(pid, signal.SIGKILL)}
        # A whole group at once: no fork in it gets away, however fast.
        for group in groups:
            _kill(-group, signal.SIGKILL)
        for pid in mine:
            try:
                os.waitpid(pid, 0)  # only direct children; the others come to us as they orphan
            except ChildProcessError:
                continue
        killed |= mine
        if _is_alone() and not below:
            return len(killed), 0
        idle = 0 if mine else idle + 1
        if idle >= _IDLE_ROUNDS:
            break
        if idle:
            time.sleep(_IDLE_S)
    left = len(_descendants(child))
    return len(killed), left or int(not _is_alone())


def _is_alone() -> bool:
    """Reap who has ended, and tell whether we have no child left at all."""
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return False
        except ChildProcessError:
            return True


def _descendants(child: int) -> set[int]:
    return _look(child)[0]


def _look(child: int) -> tuple[set[int], set[int]]:
    """Return who is alive below us, and the groups of all who are or were until just now."""
    if sys.platform != "linux":
        return _leader_alone(child), set()  # without /proc the program itself is all there is
    seen: dict[int, tuple[bytes, int, int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                raw = (entry / "stat").read_bytes()
            except OSError:
                continue
            state, parent, group, *_ = raw.rpartition(b")")[2].split()
            seen[int(entry.name)] = (state, int(parent), int(group))
    found = {os.getpid()}
    grown = True
    while grown:
        below = {pid for pid, (_, parent, _) in seen.items() if parent in found} - found
        grown = bool(below)
        found |= below
    found.remove(os.getpid())
    groups = {seen[pid][2] for pid in found} - {os.getpgrp(), 0}
    return {pid for pid in found if seen[pid][0] != b"Z"}, groups


def _leader_alone(child: int) -> set[int]:
    try:
        os.killpg(child, 0)
    except (ProcessLookupError, PermissionError):
        return set()
    return {-child}  # kill(2): the whole group


def _kill(pid: int, number: signal.Signals) -> bool:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _leave_keyring() -> None:
    """Let go of the person's session keyring: no namespace keeps a sandbox from its keys."""
    number = _KEYCTL.get(os.uname().machine) if sys.platform == "linux" else None
    if number is not None:
        ctypes.CDLL(None).syscall(number, _JOIN_SESSION_KEYRING, None)


def _report(order: dict[str, Any], line: dict[str, Any]) -> None:
    os.write(order["report"], json.dumps(line).encode() + b"\n")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), sys.argv[2:])
