"""What a child may take, what is kept of its output, and how it ended (R45).

Nothing here starts or watches anything: `process` and `child` do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal

Stream = Literal["stdout", "stderr"]
OnOutput = Callable[[bytes, Stream], None]
Excess = Literal["processes", "memory", "disk"]

KEPT_BYTES: Final = 1_000_000  # R45: kept of each stream, half head and half tail
_CHUNK: Final = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of one child (R45).  None leaves a bound as the agent has it.

    Attributes:
        timeout_s: Wall seconds until it is ended.
        grace_s: Seconds between the request to end and the kill.
        output_cap_bytes: Kept of each stream, half head and half tail; the rest is drained.
        address_bytes: RLIMIT_AS of each process.
        file_bytes: RLIMIT_FSIZE, the largest file that may be written.
        open_files: RLIMIT_NOFILE of each process.
        cpu_s: RLIMIT_CPU of each process.
        processes: How many may live at once, with four threads each on average.
        memory_bytes: That all of them may hold together.
        disk_bytes: By which the free space where it starts may shrink while it runs.
    """

    timeout_s: float = 600.0
    grace_s: float = 2.0
    output_cap_bytes: int = KEPT_BYTES
    address_bytes: int | None = None
    file_bytes: int | None = None
    open_files: int | None = None
    cpu_s: int | None = None
    processes: int | None = None
    memory_bytes: int | None = None
    disk_bytes: int | None = None

    def together(self) -> dict[str, int]:
        """Return the bounds of all processes together, which the warden watches."""
        wanted = {
            "processes": self.processes,
            "memory": self.memory_bytes,
            "disk": self.disk_bytes,
        }
        return {name: value for name, value in wanted.items() if value is not None}

    def resources(self) -> dict[str, int]:
        """Return the bounds of each process, by the names of `resource`."""
        wanted = {
            "RLIMIT_AS": self.address_bytes,
            "RLIMIT_FSIZE": self.file_bytes,
            "RLIMIT_NOFILE": self.open_files,
            "RLIMIT_CPU": self.cpu_s,
            # 1 and not 0, which a core_pattern that names a program does not obey (core(5)): it
            # would run outside of every sandbox, on what the child made of its memory.
            "RLIMIT_CORE": 1,
        }
        return {name: value for name, value in wanted.items() if value is not None}


@dataclass(slots=True)
class Kept:
    """The head and the tail of a stream; what lies between is counted and let go."""

    cap: int = KEPT_BYTES
    total: int = 0
    _head: bytearray = field(default_factory=bytearray)
    _tail: bytearray = field(default_factory=bytearray)

    def add(self, chunk: bytes) -> None:
        """Take in the next bytes."""
        half = self.cap // 2
        self.total += len(chunk)
        room = half - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        if len(self._tail) > 2 * half + _CHUNK:
            del self._tail[:-half]

    @property
    def dropped(self) -> int:
        """Bytes that were let go."""
        return max(self.total - 2 * (self.cap // 2), 0)

    def parts(self) -> tuple[bytes, bytes]:
        """Return head and tail; without a gap the head is everything and the tail is empty."""
        if not self.dropped:
            return bytes(self._head + self._tail), b""
        return bytes(self._head), bytes(self._tail[-(self.cap // 2) :])


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """How a child ended.

    Attributes:
        code: Exit code; None when a signal ended it or it could not be started.
        signal: Number of the signal that ended it.
        errno: Why it could not be started.
        swept: Processes that it left behind and that were killed.
        survivors: Processes that could not be killed (another user's, such as under sudo).
        exceeded: Of what all processes together took more than they may, and were killed for.
        started: Whether the program in a sandbox began; of any other, whether it could be started.
    """

    code: int | None
    signal: int | None
    errno: int | None
    timed_out: bool
    cancelled: bool
    duration_ms: int
    stdout: Kept
    stderr: Kept
    swept: int
    survivors: int
    exceeded: Excess | None = None
    started: bool = True

    @property
    def ok(self) -> bool:
        """It ran to its own end with exit code 0."""
        return self.code == 0 and not self.timed_out and not self.cancelled
