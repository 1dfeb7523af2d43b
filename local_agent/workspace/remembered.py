"""What is remembered of a workspace's folders, so that the next walk reads only what changed.

A folder's own time moves whenever a name in it comes, goes or is exchanged, and names are all that
is remembered: sizes are looked at again where they matter, and every read passes the path guard
anew.  What is ignored hangs on more than the folder.  That is remembered beside it, and where it
is no longer so, nothing counts.

Walks take turns: two threads that make thousands of short system calls each only wait for one
another's hold of the interpreter, and both end later than one after the other.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Generic, TypeVar

MAX_WORKSPACES: Final = 2
MAX_AGE_S: Final = 60.0  # what is ignored hangs on files of the person's as well
UNSETTLED_MS: Final = 2000  # a file system may give the same time twice within so long

Stamp = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Folder:
    """One folder as it was read.

    Attributes:
        stamp: Of the folder itself.
        files: Relative path of each file that may be read, by name.
        sizes: Of those files, in bytes.
        total: Of all of them, in bytes.
        largest: Of one file in it, in bytes, also of one that was left out.
        below: Name of each folder that may be entered, by name.
        skipped: Count of what was left out, by reason.
        ignore: Stamp of its ``.gitignore``; None where there is none.
    """

    stamp: Stamp
    files: tuple[str, ...]
    sizes: tuple[int, ...]
    total: int
    largest: int
    below: tuple[str, ...]
    skipped: Mapping[str, int]
    ignore: Stamp | None


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Kept(Generic[T]):
    rules: object
    since: float
    folders: Mapping[str, T]


@dataclass(slots=True)
class Memory(Generic[T]):
    """Remembers folders of the last workspaces, by path; may be asked from several threads.

    Attributes:
        most: Workspaces, or other tops of folders, that are remembered.
    """

    most: int = MAX_WORKSPACES
    _kept: OrderedDict[Path, _Kept[T]] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def recall(self, workspace: Path, rules: object, now: float) -> tuple[Mapping[str, T], float]:
        """Return what is remembered under the same rules, and since when.

        Args:
            workspace: Real path.
            rules: Everything besides the folders that decides what is found in them.
            now: Monotonic seconds.
        """
        with self._lock:
            kept = self._kept.get(workspace)
        if kept is None or kept.rules != rules or now - kept.since > MAX_AGE_S:
            return {}, now
        return kept.folders, kept.since

    def keep(self, workspace: Path, rules: object, folders: Mapping[str, T], since: float) -> None:
        """Remember these folders instead of what was known of the workspace.

        Args:
            workspace: Real path.
            rules: As of `recall`.
            folders: All of them.
            since: Monotonic seconds; when the oldest of them was read, at the earliest.
        """
        with self._lock:
            self._kept[workspace] = _Kept(rules, since, folders)
            self._kept.move_to_end(workspace)
            while len(self._kept) > self.most:
                self._kept.popitem(last=False)


def stamp_of(status: os.stat_result) -> Stamp:
    """Return what changes with a file or folder; nobody can set the second time back."""
    times = (status.st_mtime_ns, status.st_ctime_ns)
    return (status.st_dev, status.st_ino, status.st_mode, status.st_size, *times)


def is_settled(stamp: Stamp, now_ms: int) -> bool:
    """Tell whether what changes after ``now_ms`` cannot leave the stamp as it is."""
    return stamp[-1] // 1_000_000 < now_ms - UNSETTLED_MS


def stamp_at(path: str | Path, folder: int | None = None) -> Stamp | None:
    """Return the stamp of what stands there, behind a link as well; None for nothing.  Blocking."""
    try:
        return stamp_of(os.stat(path, dir_fd=folder))
    except (OSError, ValueError):
        return None


# --- turns -----------------------------------------------------------------------------------

_PATIENCE_S: Final = 0.1  # a walk that stands still, such as on a lost network, holds nobody up
_WALKING: Final = threading.Lock()


@contextmanager
def own_turn() -> Iterator[None]:
    """Wait for other walks to end, for a moment; then walk in any case.  Blocking."""
    taken = _WALKING.acquire(timeout=_PATIENCE_S)
    try:
        yield
    finally:
        if taken:
            _WALKING.release()
