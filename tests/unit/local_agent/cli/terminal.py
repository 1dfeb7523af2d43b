"""A pseudo-terminal for the commands that ask a person."""

from __future__ import annotations

import os
import pty
import re
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import codexbridge

PATIENCE = 30.0


@contextmanager
def in_front(*arguments: str, term: str = "xterm") -> Iterator[int]:
    """Run a command in a pseudo-terminal."""
    command = [sys.executable, codexbridge.__file__, *arguments]
    pid, screen = pty.fork()
    if pid == 0:
        os.execve(command[0], command, dict(os.environ) | {"TERM": term})  # noqa: S606 - no shell
    try:
        yield screen
    finally:
        os.close(screen)
        os.waitpid(pid, 0)


def reads_all(screen: int) -> str:
    """Read until the command ends, and return all that the screen showed."""
    seen = b""
    while True:
        assert select.select([screen], [], [], PATIENCE)[0], f"the screen shows {seen!r}"
        try:
            seen += os.read(screen, 65536)
        except OSError:  # the command has closed its side
            return seen.decode("utf-8", "replace")


def reads(screen: int, pattern: str) -> str:
    """Read until the screen shows ``pattern``, and return all that it showed."""
    seen = ""
    while not re.search(pattern, seen):
        assert select.select([screen], [], [], PATIENCE)[0], f"the screen shows {seen!r}"
        try:
            seen += os.read(screen, 65536).decode("utf-8", "replace")
        except OSError:
            raise AssertionError(f"it ended; the screen shows {seen!r}") from None
    return seen
