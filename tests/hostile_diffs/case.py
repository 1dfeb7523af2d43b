"""What one case of the hostile-diff suite is: a tree, a diff, a verdict, and the tree afterwards.

The cases are data; `tests/integration/test_hostile_diffs.py` runs them.  The tree lies in a folder
of its own beside ``outside``, which nothing may ever change.
"""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

CANARY = b"outside: nothing may change this\n"
SOURCE = b"one\ntwo\nthree\n"
EDITED = b"one\nTWO\nthree\n"
EDIT = ("@@ -1,3 +1,3 @@", " one", "-two", "+TWO", " three")
NEW = ("@@ -0,0 +1 @@", "+new")


@dataclass(frozen=True)
class File:
    """A regular file."""

    content: bytes
    mode: int = 0o644


@dataclass(frozen=True)
class Link:
    """A symbolic link."""

    target: str


@dataclass(frozen=True)
class Hard:
    """A second name of a file."""

    target: str


@dataclass(frozen=True)
class Folder:
    """An empty folder."""


@dataclass(frozen=True)
class Fifo:
    """A named pipe: opening it waits for a writer."""


@dataclass(frozen=True)
class Socket:
    """A socket in the file system."""


@dataclass(frozen=True)
class Device:
    """A character device (1, 3), as ``/dev/null`` is; needs root."""


Entry = bytes | File | Link | Hard | Folder | Fifo | Socket | Device
Tree = Mapping[str, Entry]
Snapshot = dict[str, tuple[str, bytes, int]]

TREE: Tree = {
    "a.txt": SOURCE,
    "folder/b.txt": b"b\n",
    "run.sh": File(b"#!/bin/sh\n", 0o755),
}


@dataclass(frozen=True, kw_only=True)
class Case:
    """One diff and what must come of it.

    Attributes:
        name: What is tried, in words.
        rule: The rule whose clause it shows.
        diff: The bytes.
        code: The error's code; None when the diff is accepted.
        why: The error's ``why``, where the code has several.
        before: The workspace.
        after: What differs from ``before`` once it was applied; None where a file is gone.
        tracked: What git's index holds; None when the folder is no repository.
        submodules: What git's index holds as a commit of another repository.
        deny: Patterns of what the person has denied in this workspace.
        git_refuses: Why ``git apply`` refuses what we accept; empty when it must agree.
        moved: How many hunks stand elsewhere than the diff says.
    """

    name: str
    rule: str
    diff: bytes
    code: str | None = None
    why: str | None = None
    before: Tree = field(default_factory=lambda: TREE)
    after: Mapping[str, Entry | None] = field(default_factory=dict)
    tracked: tuple[str, ...] | None = None
    submodules: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    git_refuses: str = ""
    moved: int = 0


def text(*lines: str | bytes) -> bytes:
    """Return the lines, each with its line feed."""
    return b"".join((line.encode() if isinstance(line, str) else line) + b"\n" for line in lines)


def edit(name: str | bytes = "a.txt", *header: str | bytes) -> bytes:
    """Return a git diff that edits a file which holds `SOURCE`."""
    raw = name.encode() if isinstance(name, str) else name
    return text(
        b"diff --git a/" + raw + b" b/" + raw, *header, b"--- a/" + raw, b"+++ b/" + raw, *EDIT
    )


def plain_add(name: str | bytes) -> bytes:
    """Return a plain diff that adds a file; the name stands as it is."""
    raw = name.encode() if isinstance(name, str) else name
    return text("--- /dev/null", b"+++ " + raw, *NEW)


def git_add(name: str, *body: str | bytes, mode: str = "100644") -> bytes:
    """Return a git diff that adds a file, without content unless ``body`` gives it."""
    sides = ("--- /dev/null", f"+++ b/{name}") if body else ()
    return text(f"diff --git a/{name} b/{name}", f"new file mode {mode}", *sides, *body)


def rename(old: str, new: str, *body: str | bytes) -> bytes:
    """Return a git diff that renames a file."""
    sides = (f"--- a/{old}", f"+++ b/{new}") if body else ()
    first = (f"diff --git a/{old} b/{new}", "similarity index 90%")
    return text(*first, f"rename from {old}", f"rename to {new}", *sides, *body)


def copy(old: str, new: str) -> bytes:
    """Return a git diff that copies a file."""
    first = (f"diff --git a/{old} b/{new}", "similarity index 100%")
    return text(*first, f"copy from {old}", f"copy to {new}")


def delete(name: str, *body: str | bytes, mode: str = "100644") -> bytes:
    """Return a git diff that deletes a file."""
    sides = (f"--- a/{name}", "+++ /dev/null") if body else ()
    return text(f"diff --git a/{name} b/{name}", f"deleted file mode {mode}", *sides, *body)


def lay(root: Path, tree: Tree) -> Path:
    """Make ``workspace`` and ``outside`` below a folder, and return the workspace."""
    (root / "outside").mkdir(parents=True)
    (root / "outside" / "canary").write_bytes(CANARY)
    workspace = root / "workspace"
    workspace.mkdir()
    for name, entry in tree.items():
        _make(workspace / name, entry)
    return workspace


def _make(path: Path, entry: Entry) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    match entry:
        case bytes():
            path.write_bytes(entry)
            path.chmod(0o644)
        case File(content, mode):
            path.write_bytes(content)
            path.chmod(mode)
        case Link(target):
            path.symlink_to(target)
        case Hard(target):
            path.hardlink_to(path.parent / target)
        case Folder():
            path.mkdir()
        case Fifo():
            os.mkfifo(path)
        case Socket():
            _bind(path)
        case Device():
            os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))


def _bind(path: Path) -> None:
    # A socket's address is at most 108 bytes long, whatever the folder of the test.
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(f"/proc/self/fd/{folder}/{path.name}")
    finally:
        os.close(folder)


def snapshot(root: Path) -> Snapshot:
    """Return everything below a folder: files with content and permissions, and empty folders."""
    found: Snapshot = {}
    for folder, folders, files in os.walk(root):
        if not folders and not files:
            found[os.path.relpath(folder, root)] = ("folder", b"", 0)
        links = [name for name in folders if Path(folder, name).is_symlink()]
        for name in (*files, *links):
            path = Path(folder, name)
            found[os.path.relpath(path, root)] = _describe(path)
    return found


def folders(root: Path) -> dict[str, int]:
    """Return the folders below a folder, with their permission bits."""
    return {
        os.path.relpath(folder, root): stat.S_IMODE(Path(folder).stat().st_mode)
        for folder, _, _ in os.walk(root)
    }


def _describe(path: Path) -> tuple[str, bytes, int]:
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return "link", os.fsencode(path.readlink()), 0
    if stat.S_ISREG(status.st_mode):
        return "file", path.read_bytes(), stat.S_IMODE(status.st_mode)
    return "special", b"", stat.S_IFMT(status.st_mode)


def expected(before: Snapshot, after: Mapping[str, Entry | None]) -> Snapshot:
    """Return the snapshot with the changes of a case in its workspace."""
    found = dict(before)
    for name, entry in after.items():
        key = f"workspace/{name}"
        match entry:
            case None:
                del found[key]
            case bytes():
                found[key] = ("file", entry, 0o644)
            case File(content, mode):
                found[key] = ("file", content, mode)
            case _:
                raise TypeError(f"a diff makes no {entry}")
    return found


def by_name(cases: Iterable[Case]) -> dict[str, Case]:
    """Return the cases by name.

    Raises:
        ValueError: two have the same name.
    """
    found: dict[str, Case] = {}
    for case in cases:
        if case.name in found:
            raise ValueError(f"twice: {case.name}")
        found[case.name] = case
    return found
