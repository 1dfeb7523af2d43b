"""The test's side of the zygote: start a part of the product, wait for it, kill it."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import json
import os
import pty
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    from local_agent.sandbox.self_test import SelfTest

ROOT: Final = Path(__file__).parents[1]
STARTS_WITHIN_S: Final = 30.0
TRYING: Final = ("agent", "doctor")  # what tries the sandbox


@dataclass(frozen=True, slots=True)
class Watch:
    """What a process is to note of itself, and where it is to die.

    Attributes:
        half: ``agent``, ``gateway`` or ``admin``: its name in the notes.
        notes: File that the notes are appended to, one JSON object a line.
        tree: Folder in which every file that comes or goes is noted.
        kill: ``(event, phase, nth)`` at which it kills itself; None to note and live.
        ahead_s: Seconds that its clock is ahead of the machine's.
    """

    half: str
    notes: Path
    tree: Path
    kill: tuple[str, str, int] | None = None
    ahead_s: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the record of the order."""
        return {
            "half": self.half,
            "notes": str(self.notes),
            "tree": str(self.tree),
            "kill": self.kill,
            "ahead_s": self.ahead_s,
        }


@dataclass(frozen=True, slots=True)
class Apart:
    """Namespaces of a process's own; only root may make them.

    Attributes:
        script: Run by a shell among its own mounts, before the process begins.
        kinds: What it has of its own besides its mounts: ``user`` (as root there), ``network``.
    """

    script: str
    kinds: tuple[str, ...] = ()


class Fork:
    """One process, a grandchild of the test.  Used from many threads."""

    def __init__(self, zygote: Zygote, pid: int) -> None:
        self._zygote = zygote
        self.pid = pid
        self.returncode: int | None = None
        # Not reaped before we ask, so the number is still this process's.
        self._descriptor = os.pidfd_open(pid)
        self._one_at_a_time = threading.Lock()

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal, or None while it lives."""
        return self._look(0)

    def wait(self, timeout: float) -> int:
        """Wait for the end and return the exit code.

        Raises:
            subprocess.TimeoutExpired: it does not come in time.
        """
        code = self._look(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(["codexbridge"], timeout)
        return code

    def _look(self, seconds: float) -> int | None:
        with self._one_at_a_time:
            if self.returncode is None and select.select([self._descriptor], [], [], seconds)[0]:
                self.returncode = self._zygote.reap(self.pid)
                os.close(self._descriptor)
            return self.returncode

    def terminate(self) -> None:
        """Send SIGTERM; it may be gone already."""
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        """``kill -9``; it may be gone already."""
        self._send(signal.SIGKILL)

    def _send(self, number: signal.Signals) -> None:
        with self._one_at_a_time:
            if self.returncode is None:
                signal.pidfd_send_signal(self._descriptor, number)


class Zygote:
    """A process that forks ``codexbridge`` at our word.  Used from many threads."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-I", str(Path(__file__).with_name("zygote.py"))),
                    *(str(theirs.fileno()), str(ROOT)),
                ],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )
        self._socket = ours
        self._answers = ours.makefile("rb")
        self._one_at_a_time = threading.Lock()
        ours.settimeout(STARTS_WITHIN_S)
        assert self._answers.readline() == b"{}\n", "the zygote did not start"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Hang up; the zygote ends what it has forked, and then itself."""
        self._answers.close()
        self._socket.close()
        self._process.wait(10)

    def start(
        self,
        arguments: Sequence[str],
        *,
        environ: Mapping[str, str],
        streams: Sequence[int],
        terminal: bool = False,
        watch: Watch | None = None,
        cwd: Path | None = None,
        tries_sandbox: bool = True,
        apart: Apart | None = None,
    ) -> Fork:
        """Start ``codexbridge ARGUMENTS`` with these standard streams, in the test's own folder
        or in ``cwd``; without ``tries_sandbox`` it is told what `sandbox` has found where it
        asks: an agent at its start, a doctor.
        """
        known = asdict(sandbox()) if not tries_sandbox and arguments[0] in TRYING else None
        order = {
            "argv": list(arguments),
            "cwd": str(cwd or Path.cwd()),
            "environ": dict(environ),
            "terminal": terminal,
            "watch": watch.to_dict() if watch else None,
            "sandbox": known,
            "apart": asdict(apart) if apart else None,
        }
        with self._one_at_a_time:
            socket.send_fds(self._socket, [json.dumps(order).encode()], list(streams))
            return Fork(self, int(json.loads(self._answers.readline())["pid"]))

    def reap(self, pid: int) -> int:
        """Return the exit code of a process that has ended."""
        with self._one_at_a_time:
            self._socket.sendall(json.dumps({"reap": pid}).encode())
            return int(json.loads(self._answers.readline())["status"])

    def start_at_terminal(
        self, arguments: Sequence[str], *, environ: Mapping[str, str]
    ) -> tuple[Fork, int]:
        """Start it in control of a terminal of its own; return it with our end of that."""
        ours, theirs = pty.openpty()
        try:
            fork = self.start(
                arguments, environ=environ, streams=[theirs, theirs, theirs], terminal=True
            )
        finally:
            os.close(theirs)
        return fork, ours


def run(
    *arguments: str,
    environ: Mapping[str, str],
    stdin: str = "",
    cwd: Path | None = None,
    tries_sandbox: bool = True,
    apart: Apart | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run ``codexbridge ARGUMENTS`` to its end, forked; it never ends in a traceback."""
    with contextlib.ExitStack() as closing:
        files = [closing.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
        files[0].write(stdin.encode())
        files[0].seek(0)
        streams = [file.fileno() for file in files]
        fork = shared_zygote().start(
            arguments,
            environ=environ,
            streams=streams,
            cwd=cwd,
            tries_sandbox=tries_sandbox,
            apart=apart,
        )
        try:
            code = fork.wait(60)
        finally:
            fork.kill()
        out, err = map(_read, files[1:])
    assert "Traceback" not in err + out, err
    return subprocess.CompletedProcess(arguments, code, out, err)


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


@cache
def sandbox() -> SelfTest:
    """Try the sandbox of this machine for real, once for all agents that need not do so again.

    It takes half of the processor time of an agent's start, and comes out the same each time.
    """
    from common.home import Home
    from local_agent.sandbox.self_test import self_test

    with tempfile.TemporaryDirectory() as root, ThreadPoolExecutor(1) as thread:
        places = Home(*(Path(root, part) for part in ("config", "state", "run")))
        # In a thread: whoever asks may have an event loop already.
        return thread.submit(asyncio.run, self_test(places, home=Path.home())).result()


@cache
def shared_zygote() -> Zygote:
    """Return the one that all tests of this process fork from; it ends with the process."""
    zygote = Zygote()
    atexit.register(zygote.close)
    return zygote
