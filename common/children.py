"""Starts ``codexbridge`` itself as children: for the demo, and for setting up either half.

Each is the launcher with ``-I`` in a process group of its own, and ends with whoever started it.
Whatever a task runs is started elsewhere, by the agent's process module.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from common.errors import UnavailableError

Started: TypeAlias = subprocess.Popen[bytes]
COMMAND: Final = (sys.executable, "-I", "-m", "codexbridge")
STOP_SECONDS: Final = 8.0
CALL_SECONDS: Final = 60.0
_PR_SET_PDEATHSIG: Final = 1  # linux/prctl.h
_LIBC: Final = ctypes.CDLL(None)


def start_own(arguments: Sequence[str], *, env: Mapping[str, str], output: Path) -> Started:
    """Start this very program once more, beside us; it is asked to end when we are gone.

    Args:
        arguments: Of ``codexbridge``.
        env: Its whole environment.
        output: File that what it prints is added to; private where it is new.

    Raises:
        OSError: the file cannot be written, or is not ours alone; or there is no room for a
            process.
    """
    # Not blocking: what somebody put there in its place may be a pipe.
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(output, flags, 0o600)
    try:
        found = os.fstat(descriptor)
        if not (
            stat.S_ISREG(found.st_mode) and found.st_uid == os.getuid() and found.st_nlink == 1
        ):
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), str(output))
        os.fchmod(descriptor, 0o600)
        return subprocess.Popen(
            [*COMMAND, *arguments],
            cwd="/",
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=descriptor,
            stderr=descriptor,
            start_new_session=True,
            preexec_fn=_end_with_parent,  # noqa: PLW1509 - one call of the kernel, and no lock
        )
    finally:
        os.close(descriptor)


def _end_with_parent() -> None:
    if sys.platform == "linux":
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Child:
    """One running part and where its output goes."""

    name: str
    process: Started
    log: Path

    @property
    def running(self) -> bool:
        """Tell whether it still runs."""
        return self.process.poll() is None

    def last(self) -> str:
        """Return the last line of its output: a message holds no more, and this one says why."""
        text = self.log.read_text(encoding="utf-8", errors="replace").rstrip()
        return text.rpartition("\n")[2]


class Children:
    """Starts the parts and ends all of them, last first.

    Args:
        environ: The environment for every child, in full.
        logs: Folder for their output.
    """

    def __init__(self, environ: Mapping[str, str], logs: Path) -> None:
        self._environ = dict(environ)
        self._logs = logs
        self._running: list[Child] = []

    def start(self, name: str, arguments: Sequence[str]) -> Child:
        """Start ``codexbridge`` with these arguments in a process group of its own."""
        log = self._logs / f"{name}.log"
        with suppress(FileNotFoundError):
            log.unlink()
        process = start_own(arguments, env=self._environ, output=log)
        child = Child(name, process, log)
        self._running.append(child)
        return child

    def call(self, arguments: Sequence[str], *, stdin: str = "") -> str:
        """Run ``codexbridge`` to its end and return what it printed.

        Raises:
            UnavailableError: ``demo.step-failed`` with what it said.
        """
        done = subprocess.run(
            [*COMMAND, *arguments],
            env=self._environ,
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=CALL_SECONDS,
            check=False,
        )
        if done.returncode != 0:
            raise UnavailableError(
                "demo.step-failed", step=" ".join(arguments[:2]), why=done.stderr.strip()
            )
        return done.stdout

    def in_front(self, arguments: Sequence[str]) -> int:
        """Run ``codexbridge`` on this very terminal and return its exit code.

        Ctrl-C belongs to whoever is in front, so it is left to the child meanwhile.  A handler
        that does nothing, for one that ignores would be inherited by the child.
        """
        before = signal.signal(signal.SIGINT, lambda _number, _frame: None)
        try:
            with subprocess.Popen([*COMMAND, *arguments], env=self._environ) as process:
                return process.wait()
        finally:
            signal.signal(signal.SIGINT, before)

    def ended(self) -> Child | None:
        """Return a part that ended by itself, if any did."""
        return next((child for child in self._running if not child.running), None)

    def stop(self) -> None:
        """End all parts, last first: asked to, then made to."""
        for child in reversed(self._running):
            _signal_group(child.process, signal.SIGTERM)
            try:
                child.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                _signal_group(child.process, signal.SIGKILL)
                child.process.wait()
        self._running.clear()


def _signal_group(process: Started, number: signal.Signals) -> None:
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass
