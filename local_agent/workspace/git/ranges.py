"""The changes between two states of a repository, read by libgit2 alone (R37).

Objects are compared as bytes: no filter, textconv, hook, diff driver or program of the repository
has a part in it.  Names are those of branches, tags and ids, and steps back from them; what else
git's own resolver understands, such as ``:/text`` or ``@{yesterday}``, would search through all of
a history that somebody else wrote.  All is bounded, whatever the repository claims.  Blocking.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal

from common.diff.render import is_wide
from local_agent.workspace import paths
from local_agent.workspace.git.repository import (
    MAX_COUNTED_BYTES,
    MAX_FILES,
    STATUS,
    ChangedFile,
    empty_tree,
    open_repository,
    unfolds_too_far,
)
from local_agent.workspace.registry import Workspace

if TYPE_CHECKING:
    import pygit2


MAX_COMMITS: Final = 1000  # that are counted
MAX_SUBJECTS: Final = 30  # that are named
MAX_PATCH_BYTES: Final = 48_000  # of all patches together
MAX_FILE_PATCH_BYTES: Final = 12_000
MAX_READ_BYTES: Final = 16 * 1024 * 1024  # of contents that are compared
_SNIFFED: Final = 8192
_MAX_RENAMED: Final = 1000  # files among which renamed ones are looked for
_GENERATED: Final = (".lock", "-lock.json", "-lock.yaml", ".min.js", ".min.css", ".map", ".snap")


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """Which changes are meant.

    Attributes:
        kind: ``local`` for what is not committed, ``staged``, the ``last`` commits, one ``commit``,
            or what is ``between`` two: what the tip has since it left the base.
        count: Of the last commits.
        base: Name of a branch, tag or commit; empty for the main branch.
        tip: Name of another; empty for what is checked out.
    """

    kind: Literal["local", "staged", "last", "commit", "between"] = "local"
    count: int = 1
    base: str = ""
    tip: str = ""


@dataclass(frozen=True, slots=True)
class CommitLine:
    """A commit in one line; its subject is whatever somebody wrote."""

    short_id: str
    subject: str


@dataclass(frozen=True, slots=True)
class FileLines:
    """How the lines of one file differ.

    Attributes:
        text: As `git diff` would print it; empty where ``reason`` tells why there is none.
        first_line: Of the first difference, in the new file.
        cut: More lines differ than are in ``text``.
        reason: ``secret``, ``binary``, ``too-large`` or ``submodule``.
    """

    path: str
    text: bytes = b""
    first_line: int = 1
    cut: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeChanges:
    """What differs.

    Attributes:
        base: Short commit id; empty where everything is new.
        tip: Short commit id; empty for what is staged.
        commits: The newest first, at most 30.
        commit_total: How many there are, up to 1000.
        files: At most 500, by path.
        total: How many files there are.
        added: Lines added in the listed files.
        removed: Lines removed in the listed files.
        lines: The lines of the listed files, within 48 kB, and why some are not shown.
    """

    base: str
    tip: str
    commits: tuple[CommitLine, ...]
    commit_total: int
    files: tuple[ChangedFile, ...]
    total: int
    added: int
    removed: int
    lines: tuple[FileLines, ...]


def read_range(workspace: Workspace, wanted: Range) -> RangeChanges | NotFound | None:
    """Return what differs, or which name there is not; None where there is no repository.

    Args:
        workspace: The folder, and what the person denies in it.
        wanted: Any but ``local``, which `repository.local_changes` reads.

    Raises:
        InputError: ``path.missing``: the folder went away.
    """
    import pygit2

    repository = open_repository(workspace.path)
    if repository is None:
        return None
    with workspace.opened() as root:
        try:
            ends = _ends(repository, wanted)
            if isinstance(ends, NotFound):
                return ends
            return _Comparing(repository, root).compare(ends)
        except (pygit2.GitError, KeyError, ValueError, OSError):
            return None  # such as a history that is not all there


@dataclass(frozen=True, slots=True)
class _Ends:
    """Two states; without a base everything is new, without a tip the index is meant."""

    base: pygit2.Commit | None
    tip: pygit2.Commit | None
    commits: Iterable[pygit2.Commit]


def _ends(repository: pygit2.Repository, wanted: Range) -> _Ends | NotFound:
    names = Resolver(repository)
    if wanted.kind == "staged":
        head = None if repository.head_is_unborn else names.commit("HEAD")
        return head if isinstance(head, NotFound) else _Ends(head, None, ())
    tip = names.commit(wanted.tip or "HEAD")
    if isinstance(tip, NotFound):
        return tip
    if wanted.kind == "commit":
        return _Ends(_nth_parent(tip, 1), tip, (tip,))
    if wanted.kind == "last":
        line = list(islice(_first_parents(tip), max(wanted.count, 1)))
        return _Ends(_nth_parent(line[-1], 1), tip, line)
    base = names.commit(wanted.base) if wanted.base else names.main_branch()
    if isinstance(base, NotFound):
        return base
    return _since(repository, base, tip)


def _since(repository: pygit2.Repository, base: pygit2.Commit, tip: pygit2.Commit) -> _Ends:
    """Return what the tip has since it left the base: what the base got meanwhile is not in it."""
    import pygit2

    walk = repository.walk(tip.id)
    walk.hide(base.id)
    fork = repository.merge_base(base.id, tip.id)
    return _Ends(repository[fork].peel(pygit2.Commit) if fork else base, tip, walk)


def _first_parents(commit: pygit2.Commit) -> Iterator[pygit2.Commit]:
    here: pygit2.Commit | None = commit
    while here is not None:
        yield here
        here = _nth_parent(here, 1)


@dataclass(slots=True)
class _Comparing:
    repository: pygit2.Repository
    root: paths.Root
    left: int = MAX_READ_BYTES
    room: int = MAX_PATCH_BYTES

    def compare(self, ends: _Ends) -> RangeChanges | None:
        diff = self._diff(ends)
        if diff is None:
            return None
        deltas = list(islice(diff.deltas, MAX_FILES))
        order = sorted(range(len(deltas)), key=lambda at: _is_generated(deltas[at]))
        compared = {at: self._file(deltas[at]) for at in order}
        files = tuple(compared[at][0] for at in sorted(compared))
        commits = list(islice(ends.commits, MAX_COMMITS))
        return RangeChanges(
            base=ends.base.short_id if ends.base else "",
            tip=ends.tip.short_id if ends.tip else "",
            commits=tuple(_line(commit) for commit in commits[:MAX_SUBJECTS]),
            commit_total=len(commits),
            files=files,
            total=len(diff),
            added=sum(file.added or 0 for file in files),
            removed=sum(file.removed or 0 for file in files),
            lines=tuple(lines for _, lines in compared.values() if lines is not None),
        )

    def _diff(self, ends: _Ends) -> pygit2.Diff | None:
        import pygit2
        from pygit2.enums import DiffFind, DiffOption

        options = DiffOption.INCLUDE_TYPECHANGE | DiffOption.SKIP_BINARY_CHECK
        trees = [end.peel(pygit2.Tree) for end in (ends.base, ends.tip) if end is not None]
        if any(map(unfolds_too_far, trees)):
            return None
        if ends.tip is None:
            old = trees[0] if trees else empty_tree(self.repository)
            diff = old.diff_to_index(self.repository.index, options, 0)
        elif ends.base is None:
            diff = trees[0].diff_to_tree(flags=options, context_lines=0, swap=True)
        else:
            diff = trees[0].diff_to_tree(trees[1], options, 0)
        if len(diff) <= _MAX_RENAMED:
            # By their ids alone: the contents stay unread.
            diff.find_similar(DiffFind.FIND_RENAMES | DiffFind.FIND_EXACT_MATCH_ONLY)
        return diff

    def _file(self, delta: pygit2.DiffDelta) -> tuple[ChangedFile, FileLines | None]:
        import pygit2

        path = delta.new_file.path or delta.old_file.path
        status = STATUS.get(delta.status_char(), "other")
        reason, old, new = "submodule", b"", b""
        if 0o160000 not in (delta.old_file.mode, delta.new_file.mode):
            reason, old, new = self._contents(delta)
        if reason:
            return ChangedFile(path, status, None, None), FileLines(path, reason=reason)
        old, new = (self.root.encodings.shown(path, side) for side in (old, new))
        made = pygit2.Patch.create_from(old, new, old_as_path=delta.old_file.path, new_as_path=path)
        _, added, removed = made.line_stats
        file = ChangedFile(path, status, added, removed)
        names = (delta.old_file.path.split("/"), path.split("/"))
        if any(paths.is_denied(parts, self.root.deny) for parts in names):
            return file, FileLines(path, reason="secret")
        return file, self._lines(path, made)

    def _contents(self, delta: pygit2.DiffDelta) -> tuple[str, bytes, bytes]:
        contents = [self._blob(side.id) for side in (delta.old_file, delta.new_file)]
        old, new = contents
        if old is None or new is None or is_wide(old, new):
            return "too-large", b"", b""
        binary = any(b"\0" in content[:_SNIFFED] for content in (old, new))
        return "binary" if binary else "", old, new

    def _blob(self, oid: pygit2.Oid) -> bytes | None:
        """Return a content; None where it is larger than what is compared, unread."""
        import pygit2

        if not oid:  # the one that stands for no file
            return b""
        kind, size = self.repository.odb.read_header(oid)
        if kind != pygit2.enums.ObjectType.BLOB or size > min(MAX_COUNTED_BYTES, self.left):
            return None
        self.left -= size
        return self.repository[oid].peel(pygit2.Blob).data

    def _lines(self, path: str, made: pygit2.Patch) -> FileLines | None:
        whole = made.data or b""
        if not whole:
            return None  # renamed, or another mode
        limit = min(self.room, MAX_FILE_PATCH_BYTES)
        text = whole if len(whole) <= limit else whole[:limit][: whole.rfind(b"\n", 0, limit) + 1]
        self.room -= len(text)
        first = made.hunks[0].new_start if made.hunks else 1
        return FileLines(path, text, max(first, 1), cut=len(text) < len(whole))


def _is_generated(delta: pygit2.DiffDelta) -> bool:
    # Nobody reads those: they come last, so that they take no room from what is written by hand.
    return (delta.new_file.path or delta.old_file.path).endswith(_GENERATED)


def _line(commit: pygit2.Commit) -> CommitLine:
    subject = commit.raw_message.split(b"\n", 1)[0]
    return CommitLine(commit.short_id, subject[:_SNIFFED].decode("utf-8", "replace"))


# --- the names that people give to commits ---------------------------------------------------

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
        current = str(self._repository.lookup_reference("HEAD").target)
        for place in ("refs/remotes/origin/HEAD", *_candidates()):
            found = self._reference(place)
            if found is not None and place != current and found != here:
                return found
        return here if here is not None else NotFound("")

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
        branches = islice(self._repository.raw_listall_branches(), MAX_BRANCHES)
        names = (raw.decode("utf-8", "replace") for raw in branches)
        return tuple(get_close_matches(name[:MAX_NAME_CHARS], names, _NEAR, 0.5))


def _candidates() -> Iterator[str]:
    for name in _MAIN:
        yield f"refs/heads/{name}"
        yield f"refs/remotes/origin/{name}"


def _nth_parent(commit: pygit2.Commit | None, number: int) -> pygit2.Commit | None:
    if commit is None or number == 0:
        return commit
    return commit.parents[number - 1] if number <= len(commit.parent_ids) else None
