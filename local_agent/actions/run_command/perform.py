"""Preparing a command for the seal, and running exactly what was sealed (P2, R42).

`Executor.prepare` describes what would run, from the workspace as it is; the description is what a
person approves.  `Executor.run` takes the Grant, describes the same again from reality, compares
byte for byte, and runs only what is equal: anything else ends as ``drifted``.

Whether it may run is not decided here (`local_agent.safety`, `flow.gate`).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Protocol

from common.clock import Clock
from common.errors import CodexBridgeError, InputError, StateError
from common.model.state import Reason
from common.seal import Seal, SealedChange
from local_agent.actions.run_command.command_line import of_argv, read_command_line
from local_agent.actions.run_command.prepare import (
    Copy,
    Prepared,
    Surroundings,
    describe,
    describe_sealed,
    find_drift,
)
from local_agent.reports.report import Report
from local_agent.safety.grant import Grant
from local_agent.sandbox.output import Shown, full_log, read_output
from local_agent.sandbox.process import KEPT_BYTES, Excess, Exit, Kept, Limits, Stream, run_child
from local_agent.store.lock import hold_commands
from local_agent.workspace import manifest
from local_agent.workspace.git.config import hook_places
from local_agent.workspace.manifest import Differences
from local_agent.workspace.registry import Workspace
from local_agent.workspace.survey import paths_in

TIMEOUT_S: Final = 600  # security limits table: default and most
MAX_TIMEOUT_S: Final = 3600
PROGRESS_S: Final = 10.0
STREAM_BYTES: Final = 8 * 1024 * 1024  # of each stream, where both are kept apart; one blob
# Generous: Node, Java and sanitizers reserve far more address space than they use, and a build
# writes tens of gigabytes.
LIMITS: Final = Limits(
    address_bytes=256 * 1024**3,
    file_bytes=4 * 1024**3,
    open_files=8192,
    processes=2000,
    memory_bytes=os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2,
    disk_bytes=32 * 1024**3,
)
_EXCEEDED: Final[dict[Excess, str]] = {
    "processes": "command.too-many-processes",
    "memory": "command.too-much-memory",
    "disk": "command.disk-full",
}


class Blobs(Protocol):
    """Where the full log is kept: 0600, under its hash.  Blocking."""

    def put(self, data: bytes) -> str:
        """Store the bytes and return their SHA-256."""
        ...


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a running command stands."""

    elapsed_s: int
    lines: int


@dataclass(frozen=True, slots=True)
class KeptStream:
    """What is kept of one stream alone.

    Attributes:
        sha256: Its blob: the first half and the last where something was let go; None where it
            could not be stored.
        dropped: Bytes between the halves that were let go.
    """

    sha256: str | None
    dropped: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of an approved command.

    Attributes:
        reason: ``completed`` (exit code 0), ``failed``, ``cancelled`` or ``drifted``.
        code: Why, where the exit code does not say: ``command.timeout``, ``command.drifted``,
            ``command.cannot-start``, ``command.sandbox-failed``, ``command.too-many-processes``,
            ``command.too-much-memory``, ``command.disk-full``, or the code of the error that
            describing it again met.
        drift: Which fields of the payload were not as approved, or could not be looked at.
        timed_out: Its time was up; the reason is ``failed``.
        tail: End of the output, bounded and redacted, for this machine.
        brief: The last few lines, without folders of this machine, for the chat.
        report: What a test runner or linter reported; None where no reader fits.
        output_before: About how many bytes of output came before the tail.
        log_sha256: Blob of the kept output, whole and unredacted; local only.
        differences: What changed in the workspace (R46); local only.  None where it ran on a copy.
        survivors: Processes that could not be ended.
        streams: Both streams apart, where they were asked for; local only.
    """

    reason: Reason
    code: str | None = None
    exit_code: int | None = None
    signal: int | None = None
    timed_out: bool = False
    duration_ms: int = 0
    lines: int = 0
    tail: str = ""
    brief: str = ""
    report: Report | None = None
    output_before: int = 0
    log_sha256: str | None = None
    drift: tuple[str, ...] = ()
    differences: Differences | None = None
    survivors: int = 0
    streams: Mapping[Stream, KeptStream] | None = None


@dataclass(slots=True)
class _Listener:
    """Takes in the output of both streams in the order in which it comes."""

    log: Kept = field(default_factory=lambda: Kept(2 * KEPT_BYTES))
    lines: int = 0

    def __call__(self, chunk: bytes, stream: Stream) -> None:
        self.log.add(chunk)
        self.lines += chunk.count(b"\n")


class Executor:
    """Runs approved commands.

    Args:
        around: Our directories, the home, the environment, and the sandbox level.
        blobs: Where full logs are kept.
        clock: For durations and progress.
        secrets: Gives the known secrets of the product, kept out of every tail.
        progress_s: Seconds between two tellings of progress.
        limits: Bounds of every command; time and processor time are by the sealed timeout.
    """

    def __init__(
        self,
        around: Surroundings,
        *,
        blobs: Blobs,
        clock: Clock,
        secrets: Callable[[], Iterable[str]] = tuple,
        progress_s: float = PROGRESS_S,
        limits: Limits = LIMITS,
    ) -> None:
        self._around = around
        self._blobs = blobs
        self._clock = clock
        self._secrets = secrets
        self._progress_s = progress_s
        self._limits = limits
        self._turns: dict[Path, asyncio.Lock] = {}
        self._unsandboxed = 0
        self._survivors = 0

    @property
    def exposed(self) -> bool:
        """An unsandboxed command, or a survivor of one, lives: no approval may be accepted now."""
        return self._unsandboxed > 0 or self._survivors > 0

    async def prepare(
        self,
        workspace: Workspace,
        command: str | Sequence[str],
        *,
        cwd: str | None = None,
        timeout_s: int | None = None,
        network: bool = False,
        copy: Copy | None = None,
        stdin: str | None = None,
    ) -> Prepared:
        """Describe a command given as text or as an argv list; nothing is run.

        Args:
            workspace: Where it would run.
            command: As a person wrote it, and a shell is used only where one is needed; or its
                arguments, which are never read as text.
            cwd: Relative to the workspace; None for its top.
            timeout_s: Seconds, at most 3,600; None for the usual 600.
            network: Whether it is to reach the network (R51).
            copy: What it would run on in place of the workspace's own files.
            stdin: What it would read.

        Raises:
            InputError: ``command.*`` or ``sandbox.*``: it cannot run as written.
            StateError: ``check.not-sandboxed``: there is no sandbox to put the copy in its place.
        """
        timeout_s = TIMEOUT_S if timeout_s is None else timeout_s
        if not 0 < timeout_s <= MAX_TIMEOUT_S:
            raise InputError("command.timeout-range", limit=MAX_TIMEOUT_S)
        line = read_command_line(command) if isinstance(command, str) else of_argv(command)
        return await asyncio.to_thread(
            describe,
            *(self._around, workspace, line),
            cwd=cwd or ".",
            timeout_s=timeout_s,
            network=network,
            copy=copy,
            stdin=stdin,
        )

    async def base_after(
        self, workspace: Workspace, changes: Sequence[SealedChange], base: Mapping[str, str]
    ) -> Mapping[str, str]:
        """Return what a command would start from once these changes were made and nothing else.

        Args:
            base: What it would start from now.
        """
        surveyor = self._around.surveyor
        after = await asyncio.to_thread(surveyor.survey, workspace.path, after=changes)
        named = {path: base[path] for path in base if paths_in({path: ""}) - after.own}
        return {**named, **after.base}

    async def drift(self, seal: Seal, *, workspace: Workspace) -> tuple[str, ...]:
        """Return what of a sealed command is no longer as it was sealed; nothing is run.

        Cheap when little has changed: a file that was read before is not read again.
        """
        try:
            now = await asyncio.to_thread(describe_sealed, self._around, workspace, seal)
        except Exception as error:  # noqa: BLE001  # a state that cannot be told is another one
            return (_unreadable(getattr(error, "code", "command.unreadable")),)
        return find_drift(seal, now)

    async def run(
        self,
        grant: Grant,
        *,
        workspace: Workspace,
        on_progress: Callable[[Progress], None] | None = None,
        cancel: asyncio.Event | None = None,
        streams: bool = False,
    ) -> Outcome:
        """Spend the grant: run exactly what was sealed, or nothing.

        Args:
            grant: From the approval gate; used up whatever comes of it.
            workspace: The workspace of the task, as the registry holds it now.
            on_progress: Told every ten seconds while it runs.
            cancel: Ends it, with everything that it started.
            streams: Keep its streams apart, too.

        Raises:
            StateError: ``grant.spent``; ``command.action``: the grant is for something else.
        """
        seal = grant.spend()
        if seal.action != "run_command":
            raise StateError("command.action", action=seal.action)
        # One at a time in a workspace: otherwise one command could change what another's
        # description or sandbox has just looked at.
        async with self._turns.setdefault(workspace.path, asyncio.Lock()):
            if cancel is not None and cancel.is_set():
                return Outcome(reason=Reason.CANCELLED)
            try:
                now = await asyncio.to_thread(
                    describe_sealed, self._around, workspace, seal, anew=True
                )
            except Exception as error:  # noqa: BLE001  # whatever it is, nothing has run
                code = getattr(error, "code", "command.unreadable")
                return Outcome(reason=Reason.DRIFTED, code=code, drift=(_unreadable(code),))
            if drift := find_drift(seal, now):
                return Outcome(reason=Reason.DRIFTED, code="command.drifted", drift=drift)
            return await self._execute(now, workspace, on_progress, cancel, streams=streams)

    async def _execute(
        self,
        now: Prepared,
        workspace: Workspace,
        on_progress: Callable[[Progress], None] | None,
        cancel: asyncio.Event | None,
        *,
        streams: bool,
    ) -> Outcome:
        contained = now.payload["sandbox"]["level"] != "none"
        # A command on a copy cannot change the workspace, and the copy goes away.
        place = None if "copy" in now.payload else workspace.path
        compare = await asyncio.to_thread(_watch, place) if place else None
        listener = _Listener()
        ticker = asyncio.create_task(self._tell(listener, on_progress))
        limits, said = _for_time(self._limits, now.payload["timeout"]), now.payload.get("stdin")
        if streams:
            limits = replace(limits, output_cap_bytes=STREAM_BYTES)
        held = await asyncio.to_thread(hold_commands, self._around.places.state)
        self._unsandboxed += not contained
        try:
            ended = await run_child(
                now.argv,
                cwd=now.cwd,
                env=now.env,
                limits=limits,
                on_output=listener,
                cancel=cancel,
                contained=contained,
                seccomp=now.seccomp,
                clock=self._clock,
                said=None if said is None else said.encode(),
                held=held,
            )
        finally:
            if held is not None:
                os.close(held)
            self._unsandboxed -= not contained
            ticker.cancel()
        if not contained:
            self._survivors += ended.survivors
        differences = await asyncio.to_thread(compare) if compare else None
        shown, log = await asyncio.to_thread(self._keep, listener.log, ended, workspace)
        return Outcome(
            reason=_reason(ended),
            code=_code(ended),
            exit_code=ended.code,
            signal=ended.signal,
            timed_out=ended.timed_out,
            duration_ms=ended.duration_ms,
            lines=listener.lines,
            tail=shown.tail.text,
            brief=shown.brief,
            report=shown.report,
            output_before=shown.tail.before,
            log_sha256=log,
            differences=differences,
            survivors=ended.survivors,
            streams=await asyncio.to_thread(self._keep_apart, ended) if streams else None,
        )

    def _keep_apart(self, ended: Exit) -> Mapping[Stream, KeptStream]:
        return {
            "stdout": KeptStream(self._put(b"".join(ended.stdout.parts())), ended.stdout.dropped),
            "stderr": KeptStream(self._put(b"".join(ended.stderr.parts())), ended.stderr.dropped),
        }

    def _keep(self, log: Kept, ended: Exit, workspace: Workspace) -> tuple[Shown, str | None]:
        whole = _code(ended) is None and not ended.cancelled
        shown = read_output(
            log,
            exit_code=ended.code if whole else None,
            workspace=str(workspace.path),
            secrets=self._secrets(),
        )
        return shown, self._put(full_log(log)) if log.total else None

    def _put(self, data: bytes) -> str | None:
        try:
            return self._blobs.put(data)
        except (CodexBridgeError, OSError):
            return None  # a full disk must not turn what happened into "unknown"

    async def _tell(
        self, listener: _Listener, on_progress: Callable[[Progress], None] | None
    ) -> None:
        began = self._clock.now().mono
        while on_progress is not None:
            await asyncio.sleep(self._progress_s)
            elapsed = round(self._clock.now().mono - began)
            on_progress(Progress(elapsed_s=elapsed, lines=listener.lines))


def _watch(place: Path) -> Callable[[], Differences]:
    """Look at a workspace, and return what looks again and takes back rights that appeared."""
    before, hooks = manifest.take(place), hook_places(place)

    def compare() -> Differences:
        after = manifest.take(place)
        rights = manifest.restore_rights(place, before, after)
        return manifest.compare(before, after, hooks=hooks, rights=rights)

    return compare


def _unreadable(code: str) -> str:
    """Return which part of the description an error of making it again is about."""
    if code == "command.folder":
        return "cwd"
    about = {"command": "executable", "sandbox": "sandbox", "workspace": "workspace"}
    known = code != "command.unreadable" and about.get(code.partition(".")[0])
    return known or "payload"


def _for_time(limits: Limits, timeout_s: int) -> Limits:
    return replace(limits, timeout_s=timeout_s, cpu_s=timeout_s * (os.cpu_count() or 1))


def _reason(ended: Exit) -> Reason:
    if ended.cancelled:
        return Reason.CANCELLED
    return Reason.COMPLETED if ended.ok else Reason.FAILED


def _code(ended: Exit) -> str | None:
    if ended.timed_out:
        return "command.timeout"
    if ended.exceeded is not None:
        return _EXCEEDED[ended.exceeded]
    if ended.errno is not None:
        return "command.cannot-start"
    # By what bubblewrap tells us alone: exit code and output are the command's to imitate …
    if ended.started:
        return None
    # … but where nothing of it began, it has said nothing.
    said = ended.stderr.parts()[0].splitlines()
    is_refused = any(line.startswith(b"bwrap: execvp ") for line in said)
    return "command.cannot-start" if is_refused else "command.sandbox-failed"
