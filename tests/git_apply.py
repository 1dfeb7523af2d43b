"""The second opinion on a diff (R37): the `git` program, hardened as R39 says, in tests alone.

The product never asks it: `git apply` reads any file through a copy header and is not atomic.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from common.diff.model import DiffModel, FileDiff

_OFF: Final = {
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.pager": "cat",
    "core.protectHFS": "true",
    "core.protectNTFS": "true",
    "core.quotePath": "true",
    "core.autocrlf": "false",
    "core.sshCommand": "false",
    "core.fileMode": "true",
    "safe.bareRepository": "explicit",
    "diff.external": "",
    "diff.ignoreSubmodules": "all",
    "apply.whitespace": "nowarn",
    "gc.auto": "0",
}
_SETTINGS: Final = tuple(part for item in _OFF.items() for part in ("-c", "=".join(item)))
_ENVIRON: Final = {
    "PATH": "/usr/bin:/bin",
    "LC_ALL": "C.UTF-8",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}


@dataclass(frozen=True, order=True)
class Counted:
    """One line of ``--numstat``."""

    path: str
    added: int
    removed: int


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run git in a folder; its exit code is the caller's matter."""
    return subprocess.run(
        ["git", *_SETTINGS, *arguments],
        cwd=folder,
        env=_ENVIRON | {"GIT_CEILING_DIRECTORIES": os.fspath(folder.parent)},
        input=stdin,
        capture_output=True,
        timeout=20,
        check=False,
    )


def refusal(folder: Path, diff: bytes) -> str:
    """Return why ``git apply`` would not apply a diff; empty when it would."""
    done = git(folder, "apply", "--check", "-", stdin=diff)
    return done.stderr.decode(errors="replace") if done.returncode else ""


def apply(folder: Path, diff: bytes) -> None:
    """Apply a diff that git accepts."""
    done = git(folder, "apply", "-", stdin=diff)
    assert done.returncode == 0, done.stderr


def numstat(folder: Path, diff: bytes, *, reverse: bool = False) -> list[Counted]:
    """Return which files git takes a diff to name, and its counts."""
    backwards = ("--reverse",) if reverse else ()
    done = git(folder, "apply", "--numstat", "-z", *backwards, "-", stdin=diff)
    assert done.returncode == 0, done.stderr
    rows = done.stdout.decode().split("\0")[:-1]
    found = (row.split("\t", 2) for row in rows)
    return sorted(Counted(path, int(added), int(removed)) for added, removed, path in found)


def counted(model: DiffModel, *, reverse: bool = False) -> list[Counted]:
    """Return the same of what our own parser read."""
    return sorted(
        (_reversed(file) if reverse else Counted(file.path, file.added, file.removed))
        for file in model.files
    )


def _reversed(file: FileDiff) -> Counted:
    # The reverse of a copy is a copy back to git, and a delete to us.
    path = file.path if file.old_path is None else file.old_path
    return Counted(path, file.removed, file.added)
