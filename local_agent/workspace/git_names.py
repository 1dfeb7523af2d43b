"""Which commit a name stands for: a branch, a tag, an id, and steps back from it.  Blocking.

Only these.  What else git's own resolver understands, such as ``:/text`` or ``@{yesterday}``, would
search through all of a history that somebody else wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import pygit2

MAX_STEPS: Final = 10_000  # back from a name
MAX_BRANCHES: Final = 1000  # that are compared with a name that there is not
MAX_NAME_CHARS: Final = 250
_NEAR: Final = 3
_REVISION: Final = re.compile(r"(?P<name>[^~^\s]+)(?P<steps>(?:[~^]\d{0,5}){0,10})")
_STEP: Final = re.compile(r"([~^])(\d*)")
_ID: Final = re.compile(r"[0-9a-f]{4,40}")
_MAIN: Final = ("main", "master", "trunk", "develop", "dev")
_PLACES: Final = ("refs/heads/", "refs/tags/", "refs/remotes/", "refs/remotes/origin/")


@dataclass(frozen=True, slots=True)
class NotFound:
    """A name that stands for no commit, or for more than one.

    Attributes:
        name: As it was asked for; empty where no main branch was found.
        near: Branches that are called alike.
    """

    name: str
    near: tuple[str, ...] = ()
    ambiguous: bool = False


class Resolver:
    """Looks names up in one repository."""

    def __init__(self, repository: pygit2.Repository) -> None:
        self._repository = repository

    def commit(self, name: str) -> pygit2.Commit | NotFound:
        """Return the commit that a name stands for."""
        match = _REVISION.fullmatch(name)
        if match is None or len(name) > MAX_NAME_CHARS:
            return NotFound(name, self._near(name))
        found = self._named(match["name"])
        if isinstance(found, NotFound):
            return found
        back = self._back(found, match["steps"])
        return NotFound(name) if back is None else back

    def main_branch(self) -> pygit2.Commit | NotFound:
        """Return the branch that others are compared with, other than the one checked out."""
        here = self._reference("HEAD")
        for place in ("refs/remotes/origin/HEAD", *_candidates()):
            found = self._reference(place)
            if found is not None and place != self._current() and found != here:
                return found
        return here if here is not None else NotFound("")

    def _current(self) -> str:
        head = self._repository.lookup_reference("HEAD")
        return str(head.target)

    def _named(self, name: str) -> pygit2.Commit | NotFound:
        import pygit2

        if name in ("HEAD", "@"):
            return self._reference("HEAD") or NotFound(name)
        places = [self._reference(place + name) for place in _PLACES]
        branch, tag, *_ = places
        if branch is not None and tag is not None and branch.id != tag.id:
            return NotFound(name, ambiguous=True)
        if found := next((one for one in places if one is not None), None):
            return found
        if not _ID.fullmatch(name.lower()):
            return NotFound(name, self._near(name))
        try:
            made = self._repository.get(name.lower())
        except ValueError:
            return NotFound(name, ambiguous=True)
        return made if isinstance(made, pygit2.Commit) else NotFound(name)

    def _reference(self, place: str) -> pygit2.Commit | None:
        import pygit2

        try:
            return self._repository.lookup_reference(place).peel(pygit2.Commit)
        except (pygit2.GitError, KeyError, ValueError):
            return None

    def _back(self, commit: pygit2.Commit, steps: str) -> pygit2.Commit | None:
        left = MAX_STEPS
        here: pygit2.Commit | None = commit
        for mark, digits in _STEP.findall(steps):
            count = int(digits or 1)
            if mark == "^":
                here = _nth_parent(here, count)
                continue
            if count > left:
                return None
            left -= count
            for _ in range(count):
                here = _nth_parent(here, 1)
        return here

    def _near(self, name: str) -> tuple[str, ...]:
        names = islice(self._branches(), MAX_BRANCHES)
        return tuple(get_close_matches(name[:MAX_NAME_CHARS], names, _NEAR, 0.5))

    def _branches(self) -> Iterator[str]:
        for raw in self._repository.raw_listall_branches():
            yield raw.decode("utf-8", "replace")


def _candidates() -> Iterator[str]:
    for name in _MAIN:
        yield f"refs/heads/{name}"
        yield f"refs/remotes/origin/{name}"


def _nth_parent(commit: pygit2.Commit | None, number: int) -> pygit2.Commit | None:
    if commit is None or number == 0:
        return commit
    return commit.parents[number - 1] if number <= len(commit.parent_ids) else None
