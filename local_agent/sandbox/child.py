"""A child that stays and is spoken with line by line, such as a coding agent (R44, R45, R62).

It is started as every other one (`process`), under the same warden: it ends with the
agent, and leaves no survivors.  What the lines mean is not known here.
"""

from __future__ import annotations

import asyncio
from asyncio.subprocess import Process
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from common.errors import RemoteProtocolError, UnavailableError
from local_agent.sandbox.bounds import Kept, Limits
from local_agent.sandbox.process import (
    check_words,
    drain,
    end_watched,
    new_order,
    read_report,
    reap,
    start_watched,
)

MAX_LINE_BYTES: Final = 4 * 1024 * 1024  # R62
_STDERR_BYTES: Final = 16_384
_PRIVATE: Final = 0o077  # umask: what it writes is for this user alone


class Child:
    """A running program; made by `open_child`, and to be ended by `end`."""

    def __init__(self, process: Process, report: int, grace_s: float) -> None:
        self._process = process
        self._grace_s = grace_s
        self._stderr = Kept(_STDERR_BYTES)
        self._report = asyncio.create_task(read_report(report))
        self._drain = asyncio.create_task(drain(process.stderr, "stderr", self._stderr, None))
        self._ending: asyncio.Task[dict[str, Any]] | None = None

    @property
    def stderr(self) -> Kept:
        """Head and tail of what it has complained about."""
        return self._stderr

    async def write_line(self, line: bytes) -> None:
        """Say one line; waits while the child does not listen.

        Raises:
            UnavailableError: ``child.gone``: it listens no more.
        """
        stdin = self._process.stdin
        if stdin is None or stdin.is_closing():
            raise UnavailableError("child.gone")
        try:
            stdin.write(line + b"\n")
            await stdin.drain()
        except OSError as error:
            raise UnavailableError("child.gone") from error

    async def read_line(self) -> bytes:
        """Return the next line that it says, without its end; for one reader at a time.

        Raises:
            UnavailableError: ``child.gone``: it says no more; half a line is no line.
            RemoteProtocolError: ``child.line``: longer than it may be; nothing can be read after.
        """
        if self._process.stdout is None:
            raise UnavailableError("child.gone")
        try:
            return (await self._process.stdout.readuntil(b"\n"))[:-1]
        except asyncio.IncompleteReadError as error:
            raise UnavailableError("child.gone") from error
        except asyncio.LimitOverrunError as error:
            raise RemoteProtocolError("child.line", limit=MAX_LINE_BYTES) from error

    async def end(self) -> int:
        """End it and all that it started; return how many of those would not go.

        It is asked first, by the end of its input; the kill comes after the grace.  Cancelling the
        call does not stop the ending.
        """
        if self._ending is None:
            self._ending = asyncio.create_task(self._end())
        report = await asyncio.shield(self._ending)
        # Without a report the warden itself was killed: what it watched may live.
        return int(report.get("left", 1))

    async def _end(self) -> dict[str, Any]:
        if self._process.stdin is not None:
            self._process.stdin.close()
        done, _ = await asyncio.wait([self._report], timeout=self._grace_s)
        if not done:
            await end_watched(self._process, self._report, self._grace_s)
        told = self._report.result() if self._report.done() else {}
        for task in (self._drain, self._report):
            task.cancel()
        await asyncio.gather(self._drain, self._report, return_exceptions=True)
        await reap(self._process)
        return told


async def open_child(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    limits: Limits,
    contained: bool = False,
    seccomp: bytes = b"",
) -> Child:
    """Start one program and return it, ready to be spoken with.

    Args:
        argv: Program as an absolute path, then its arguments.  Never a shell line.
        cwd: Where it starts.
        env: The whole environment of the child; nothing is inherited.
        limits: Its bounds; of time only the grace, for it stays until it is ended.
        contained: As of `local_agent.sandbox.process.run_child`.
        seccomp: As of `local_agent.sandbox.process.run_child`.

    Raises:
        InputError: as `local_agent.sandbox.process.run_child`.
        OSError: the warden itself could not be started.
    """
    check_words(argv, env)
    process, report = await start_watched(
        argv,
        cwd=cwd,
        env=env,
        order=new_order(limits, seccomp if contained else None, umask=_PRIVATE),
        stdin=asyncio.subprocess.PIPE,
        line_bytes=MAX_LINE_BYTES,
    )
    return Child(process, report, limits.grace_s)
