"""Repositories that stay open from one look to the next, for reading: index and commit are known.

To read both anew takes libgit2 a quarter of a look.  What it keeps of files it judges by their
stamps, which a change within the same tick of the clock can leave as they are; so a repository is
lent again only where all of them had settled before it was read, as git itself distrusts what is as
young as its index.  What the person's own files of configuration say holds for a minute, as for
listings.  Blocking.
"""

from __future__ import annotations

import stat
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from common.clock import Clock, SystemClock
from local_agent.workspace.git_waiting import may_hang, named_by, opened_below
from local_agent.workspace.remembered import MAX_AGE_S, Stamp, is_settled, stamp_at, stamp_of
from local_agent.workspace.turns import own_turn

if TYPE_CHECKING:
    import pygit2

MAX_KEPT: Final = 2
MAX_FILES: Final = 20_000  # tracked ones, some six megabytes; what has more is not held in memory
MAX_STAMPS: Final = 1000  # of files that decide what is ignored and how
# Of a repository: what libgit2 keeps of it in memory.
_DECIDING: Final = (
    "index", "config", "config.worktree", "packed-refs", "info/exclude", "info/attributes"
)  # fmt: skip

_Stamps = tuple[Stamp | None, ...]


@dataclass(frozen=True, slots=True)
class _Lent:
    """One open repository.

    Attributes:
        stamps: Of what it was read from.
        since: Monotonic seconds, when it was opened.
        is_sure: The stamps stand for what was read, and will for nothing else.
    """

    repository: pygit2.Repository
    stamps: _Stamps
    since: float
    is_sure: bool

    def stands(self, workspace: Path) -> bool:
        """Tell whether all that it was read from is as it was."""
        return self.stamps == _stamps(workspace, self.repository)


class KeptOpen:
    """Lends repositories; may be asked from several threads, each has one of its own.

    Args:
        open_repository: Opens one whose top is a folder; None where there is none.
        clock: For the age of what is kept.
    """

    def __init__(
        self,
        open_repository: Callable[[Path], pygit2.Repository | None],
        clock: Clock | None = None,
    ) -> None:
        self._open_repository = open_repository
        self._clock = clock or SystemClock()
        self._kept: OrderedDict[Path, _Lent] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def lend(self, workspace: Path) -> Iterator[pygit2.Repository | None]:
        """Give the repository of a workspace as it is now, which nobody else has meanwhile.

        None where there is none, or where libgit2 could wait for ever.  Nothing of it may be used
        afterwards.

        Raises:
            pygit2.GitError, OSError: it cannot be read.
        """
        with own_turn():
            lent = self._again(workspace) or self._anew(workspace)
        if lent is None:
            yield None
            return
        try:
            yield lent.repository
        except BaseException:
            lent.repository.free()
            raise
        self._take_back(workspace, lent)

    def _again(self, workspace: Path) -> _Lent | None:
        with self._lock:
            lent = self._kept.pop(workspace, None)
        if lent is None:
            return None
        old = self._clock.now().mono - lent.since > MAX_AGE_S
        if old or may_hang(workspace / ".git") or not lent.stands(workspace):
            lent.repository.free()
            return None
        return lent

    def _anew(self, workspace: Path) -> _Lent | None:
        now = self._clock.now()
        repository = self._open_repository(workspace)
        if repository is None:
            return None
        stamps = _stamps(workspace, repository)
        if stamps is None:
            repository.free()
            return None
        settled = all(stamp is None or is_settled(stamp, now.wall_ms) for stamp in stamps)
        sure = settled and len(stamps) <= MAX_STAMPS and len(repository.index) <= MAX_FILES
        return _Lent(repository, stamps, now.mono, sure)

    def _take_back(self, workspace: Path, lent: _Lent) -> None:
        dropped = [lent]
        if lent.is_sure:
            with self._lock:
                older = self._kept.pop(workspace, None)
                self._kept[workspace] = lent
                dropped = [older] if older is not None else []
                while len(self._kept) > MAX_KEPT:
                    dropped.append(self._kept.popitem(last=False)[1])
        for one in dropped:
            # Its wrapper is part of a circle, which Python clears away much later.
            one.repository.free()


def _stamps(workspace: Path, repository: pygit2.Repository) -> _Stamps | None:
    """Return the stamps of all that decides; None where libgit2 could wait for a file below."""
    opened = opened_below(workspace)
    if opened is None:
        return None
    # What several work trees share stands in another folder.
    folders = (repository.path, *named_by(Path(repository.path, "commondir")))
    own = (stamp_at(f"{folder}/{name}") for folder in folders for name in _DECIDING)
    return (_place_of(workspace / ".git"), *own, *map(stamp_at, opened[:MAX_STAMPS]))


def _place_of(git: Path) -> Stamp | None:
    """Return what changes when a workspace names another repository; not what moves in its own."""
    try:
        status = git.lstat()
    except OSError:
        return None
    same = (status.st_dev, status.st_ino, status.st_mode)
    return same if stat.S_ISDIR(status.st_mode) else stamp_of(status)
