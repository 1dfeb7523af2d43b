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

# What a change calls, by kind: one that only reads can fail as well.
CALLS = (
    *("close", "dup", "fchmod", "fstat", "fsync", "link", "mkdir", "open", "read", "rename"),
    *("rmdir", "scandir", "stat", "unlink", "utime", "write"),
)
ALLOCATING = frozenset(("link", "mkdir", "open", "rename", "renameat2", "write", "fsync"))


@dataclass(slots=True)
class Interruption:
    """Counts calls and acts at one of them.

    Attributes:
        act: Called with the name of the call, before it happens; may raise, or end the process.
        at: Which call, from 0.
        lasting: Act at every later call, too.
        calls: The names of the calls so far.
    """

    act: Callable[[str], None]
    at: int
    lasting: bool = False
    calls: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def happened(self) -> bool:
        """Whether the call was reached."""
        return len(self.calls) > self.at

    def note(self, name: str) -> None:
        """Count a call."""
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
    """Return an act that fails the call, as the system does; closing never fails."""

    def act(name: str) -> None:
        if name != "close":
            raise OSError(number, os.strerror(number))

    return act


def full_disk(number: int) -> Callable[[str], None]:
    """Return an act that fails whatever needs room."""

    def act(name: str) -> None:
        if name in ALLOCATING - {"renameat2", "rename"}:
            raise OSError(number, os.strerror(number))

    return act


def kill(_name: str) -> None:
    """End this process as ``kill -9`` does."""
    os.kill(os.getpid(), signal.SIGKILL)


def killed_in_child(at: int, work: Callable[[], object]) -> bool:
    """Do the work in a child that is killed at a call; tell whether it got that far."""
    child = os.fork()
    if child == 0:
        try:
            with interrupted(Interruption(kill, at)):
                work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def _counted(interruption: Interruption, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **options: Any) -> Any:
        interruption.note(name)
        return real(*args, **options)

    return call
