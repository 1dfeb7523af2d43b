"""System calls of ours that fail or never return, at a chosen one: a full disk, a ``kill -9``."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from local_agent.workspace import temporary_files

# What a change calls, by kind: one that only reads can fail as well.  An ``open`` that may make a
# file is a ``create``.
CALLS = (
    *("close", "dup", "fchmod", "fstat", "fsync", "link", "mkdir", "open", "read", "rename"),
    *("rmdir", "scandir", "stat", "unlink", "utime", "write"),
)
KINDS = frozenset((*CALLS, "create", "renameat2"))
CAN_FAIL = KINDS - {"close"}
ALLOCATING = frozenset(("create", "link", "mkdir", "open", "write", "fsync"))
# What a kill can come before or after: before and after another call the files are the same.
CHANGING = frozenset(
    (
        "create",
        "fchmod",
        "link",
        "mkdir",
        "rename",
        "renameat2",
        "rmdir",
        "unlink",
        "utime",
        "write",
    )
)


@dataclass(slots=True)
class Interruption:
    """Counts calls and acts at one of them.

    Attributes:
        act: Called with the kind of the call, before it happens; may raise, or end the process.
        at: Which call, from 0.
        kinds: Which calls count.
        lasting: Act at every later call, too.
        calls: The kinds of the calls so far.
    """

    act: Callable[[str], None]
    at: int
    kinds: frozenset[str] = KINDS
    lasting: bool = False
    calls: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def happened(self) -> bool:
        """Whether the call was reached."""
        return len(self.calls) > self.at

    def note(self, name: str) -> None:
        """Count a call."""
        if name not in self.kinds:
            return
        with self.lock:
            self.calls.append(name)
            number = len(self.calls) - 1
        if number == self.at or (self.lasting and number > self.at):
            self.act(name)


@contextmanager
def interrupted(interruption: Interruption) -> Iterator[None]:
    """Let system calls be counted, and one of them be interrupted."""
    with pytest.MonkeyPatch.context() as patch:
        for name in CALLS:
            patch.setattr(os, name, _counted(interruption, name, getattr(os, name)))
        renameat2 = _counted(interruption, "renameat2", temporary_files._renameat2)
        patch.setattr(temporary_files, "_renameat2", renameat2)
        yield


def failing(number: int) -> Callable[[str], None]:
    """Return an act that fails the call, as the system does."""

    def act(_name: str) -> None:
        raise OSError(number, os.strerror(number))

    return act


def kill(_name: str) -> None:
    """End this process as ``kill -9`` does."""
    os.kill(os.getpid(), signal.SIGKILL)


def killed_in_child(at: int, work: Callable[[], object]) -> bool:
    """Do the work in a child that is killed before a change; tell whether it got that far."""
    child = os.fork()
    if child == 0:
        try:
            with interrupted(Interruption(kill, at, CHANGING)):
                work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def _counted(interruption: Interruption, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **options: Any) -> Any:
        creates = name == "open" and args[1] & (os.O_CREAT | os.O_TRUNC)
        interruption.note("create" if creates else name)
        return real(*args, **options)

    return call
