"""Finds what a proposal would look at: named files, files that hold named identifiers, their tests.

Names, sizes and counts only.  Content is read when a model is to be shown it, within the shares
decided here, and through the same path guard.
"""

from __future__ import annotations

import asyncio
import os
import posixpath
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from common.errors import InputError
from common.model.intent import MAX_FILES
from local_agent.context.budget import Budget, Share
from local_agent.workspace import paths
from local_agent.workspace.files import Listing, SearchResult
from local_agent.workspace.git import Changes
from local_agent.workspace.registry import Workspace

MAX_TESTS: Final = 5
MAX_NAMES: Final = 5  # identifiers that are searched for
MAX_CANDIDATES: Final = 100  # files whose size is looked up
_BEGINNING: Final = 8192  # bytes in which git, too, looks for the NUL of a binary file
_TEST_NAME = re.compile(r"(?i:(?:^|[._-])(?:tests?|specs?)(?:[._-]|$))|Tests?\.")
_TEST_FOLDERS: Final = frozenset({"test", "tests", "__tests__", "spec", "specs"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One piece of content, redacted and bounded (`local_agent.proposers.base.Piece`)."""

    kind: str
    text: str
    path: str = ""
    first_line: int = 1
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Collected:
    """What was found.

    Attributes:
        files: Most important first, within the budget.
        pieces: What a model may be shown.
        tests: Test files that share a name with them.
        branch: None without a repository or a branch.
        changed: Files changed since the last commit.
    """

    files: tuple[Share, ...] = ()
    pieces: tuple[Piece, ...] = ()
    tests: tuple[str, ...] = ()
    branch: str | None = None
    changed: int = 0


class Collector:
    """Looks into one workspace through the readers it is given.

    Args:
        list_files: Gives the files that may be read, without secrets and ignored ones.
        search: Looks for a literal text, bounded, past the path guard.
        local_changes: Gives the changes, or None where there is no repository.
    """

    def __init__(
        self,
        *,
        list_files: Callable[[Workspace], Awaitable[Listing]],
        search: Callable[[Workspace, str], Awaitable[SearchResult]],
        local_changes: Callable[[Path], Awaitable[Changes | None]],
        budget: Budget | None = None,
    ) -> None:
        self._list_files = list_files
        self._search = search
        self._local_changes = local_changes
        self._budget = budget or Budget()

    async def collect(
        self, workspace: Workspace, *, files: Sequence[str], names: Sequence[str]
    ) -> Collected:
        """Return what a proposal about these files and identifiers would look at.

        Args:
            workspace: The folder, and what the person denies in it (R52).
            files: Relative paths or bare file names from the request.
            names: Identifiers from the request.
        """
        known = (await self._list_files(workspace)).files
        found = dict.fromkeys(_named(files, known))
        for name in names[:MAX_NAMES]:
            result = await self._search(workspace, name)
            found |= dict.fromkeys(item.path for item in result.items)
        sizes = await asyncio.to_thread(_sizes, workspace, [*found][:MAX_CANDIDATES])
        shares = self._budget.share(sizes)
        related = _tests_of([share.path for share in shares], known)
        tests = await asyncio.to_thread(_sizes, workspace, related)
        changes = await self._local_changes(workspace.path)
        return Collected(
            files=shares,
            tests=tuple(path for path, _ in tests[:MAX_TESTS]),
            branch=changes.branch if changes else None,
            changed=changes.total if changes else 0,
        )


def is_test(path: str) -> bool:
    """Tell whether a path looks like a test by the customs of most languages."""
    *folders, name = path.split("/")
    return not _TEST_FOLDERS.isdisjoint(folders) or _TEST_NAME.search(name) is not None


def _sizes(workspace: Workspace, found: Sequence[str]) -> list[tuple[str, int]]:
    """Return the size of each that is a text and may be read."""
    sizes = []
    with paths.open_root(workspace.path, deny=workspace.deny) as root:
        for path in found:
            try:
                file = paths.open_file(root, paths.check_relative(path))
            except InputError:
                continue  # it went away, or may not be read: then it is not looked at
            try:
                if b"\0" not in os.read(file, _BEGINNING):
                    sizes.append((path, os.fstat(file).st_size))
            finally:
                os.close(file)
    return sizes


def _named(files: Sequence[str], known: Iterable[str]) -> Iterable[str]:
    for wanted in files[:MAX_FILES]:
        tail = "/" + wanted
        yield from (path for path in known if path == wanted or path.endswith(tail))


def _tests_of(paths: Sequence[str], known: Iterable[str]) -> tuple[str, ...]:
    stems = {_stem(path) for path in paths if not is_test(path)} - {"", "__init__", "index"}
    return tuple(
        path for path in known if path not in paths and is_test(path) and _stem(path) in stems
    )[:MAX_CANDIDATES]


def _stem(path: str) -> str:
    bare = posixpath.basename(path).split(".")[0]
    return re.sub(r"^(?:test|spec)[_-]?|[_-]?(?:tests?|spec)$", "", bare, flags=re.IGNORECASE)
