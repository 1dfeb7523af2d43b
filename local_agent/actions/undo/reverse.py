"""The reverse of a change that was made (P5): exact where its files are as we left them, else none.

A file that was changed since is named with the hunk that it concerns, and so are those that can be
taken back alone.  Blocking.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from common.diff.model import MAX_BYTES, MAX_HUNKS, DiffModel, FileDiff
from common.diff.parse import parse_diff
from common.diff.patching import deletion, patched, reverse, select
from common.diff.render import render
from common.errors import InputError, StateError
from common.seal import Seal, SealedChange, read_changes
from local_agent.actions.changes.describe import Described, mode_of, sha256
from local_agent.propose.scratch.diffing import EXECUTABLE, Change, Side, make_diff
from local_agent.safety.backups import Backups
from local_agent.workspace.temporary_files import find_file
from local_agent.workspace.tree import Found, Tree, parts_of

# An empty line needs two bytes for one; a short section of a plain diff is told again with modes.
_MOST_GROWTH: Final = 4


def reverse_change(
    tree: Tree,
    seal: Seal,
    backups: Backups,
    *,
    paths: Collection[str] | None,
    whole: bool = True,
    through: Mapping[str, str] = MappingProxyType({}),
) -> tuple[DiffModel, tuple[SealedChange, ...]]:
    """Return the diff that takes a change back, and what it takes back.

    Args:
        tree: The workspace.
        seal: Of the change, or of an undo.
        backups: What was kept when it was made.
        paths: The files to take back, as the change names them; None for all.
        whole: False takes back those that are as the change left them, and leaves all others.
        through: SHA-256 of files as something else has left them since that goes back as well.

    Raises:
        StateError: ``undo.expired``; ``undo.damaged``; ``undo.already``; ``undo.changed``
            with ``path``, ``hunk`` (0 where it concerns the whole file) and ``undoable``.
        InputError: ``diff.unknown-path``; as `Tree.find`.
    """
    model = parse_diff(backups.content(seal.payload["diff_sha256"]))
    if paths is not None:
        model = select(model, paths)
    by_path = {change.path: change for change in read_changes(seal.payload)}
    made = [_Made(tree, backups, file, by_path[file.path]) for file in model.files]
    made = [_as_left(one, through) for one in made]
    if not whole:
        made = [one for one in made if _is_there(one)] or made
    _check_ours(made)
    files = tuple(one.reversed() for one in made)
    return DiffModel(files), tuple(one.change for one in made)


def check_reversible(now: Described, size: int) -> None:
    """Return when the diff that takes a change back, and that which brings it again, can be read.

    Args:
        now: The change.
        size: Bytes of its diff.  We may need more: what may be left out is written, and of a copy
            all of its content.

    Raises:
        InputError: ``change.no-undo``.
    """
    if _MOST_GROWTH * size <= MAX_BYTES and all(file.op != "copy" for file in now.model.files):
        return
    left = {"/".join(one.parts): one.after.data for one in now.writes if one.after is not None}
    files = zip(now.model.files, now.changes, strict=True)
    back = DiffModel(
        tuple(_taken_back(file, change, left.get(file.path, b"")) for file, change in files)
    )
    if sum(len(file.hunks) for file in back.files) > MAX_HUNKS:
        raise InputError("change.no-undo")
    if any(len(render(one)) > MAX_BYTES for one in (now.model, back, reverse(back))):
        raise InputError("change.no-undo")


def _check_ours(made: Collection[_Made]) -> None:
    ours = [one for one in made if one.is_ours()]
    if len(ours) == len(made):
        return
    if all(one.is_undone() for one in made):
        raise StateError("undo.already")
    other = next(one for one in made if one not in ours)
    raise StateError(
        "undo.changed",
        path=other.change.path,
        hunk=other.hunk(),
        undoable=tuple(one.change.path for one in ours),
        why="some" if ours else "none",
    )


def _is_there(one: _Made) -> bool:
    """Tell whether a file is as the change left it; what cannot be looked at is not."""
    try:
        return one.is_ours()
    except InputError:
        return False


@dataclass(frozen=True, slots=True, eq=False)
class _Made:
    """One file of a change that was made."""

    tree: Tree
    backups: Backups
    file: FileDiff
    change: SealedChange

    def is_ours(self) -> bool:
        """Tell whether the file is exactly as the change left it."""
        change = self.change
        if change.op == "delete":
            return self._now(change.path) is None
        if change.op == "rename" and self._now(change.old_path or "") is not None:
            return False
        return _is(self._now(change.path), change.new_sha256, change.new_mode)

    def is_undone(self) -> bool:
        """Tell whether the file is exactly as it was before the change."""
        change = self.change
        if change.op in ("add", "copy"):
            return self._now(change.path) is None
        if change.op == "rename" and self._now(change.path) is not None:
            return False
        return _is(self._now(change.old_path or ""), change.old_sha256, change.old_mode)

    def reversed(self) -> FileDiff:
        """Return what takes it back.

        Raises:
            StateError: ``undo.expired``, ``undo.damaged``: what it replaced is gone.
        """
        change = self.change
        if change.op != "copy" and change.old_sha256 is not None:
            self.backups.content(change.old_sha256)
        found = self._now(change.path) if change.op == "copy" else None
        return _taken_back(self.file, change, b"" if found is None else found.data)

    def hunk(self) -> int:
        """Return which hunk somebody's later change concerns: the first that no longer fits.

        Where all of them fit, the nearest to the first line that is not as we left it.
        """
        now = self._now(self.change.path)
        if now is None or not self.file.hunks or self.change.op in ("copy", "delete"):
            return 0
        try:
            patched(reverse(DiffModel((self.file,))).files[0], now.data)
        except InputError as error:
            return int(str(error.facts.get("hunk", 0)))
        return self._nearest(now.data)

    def _nearest(self, now: bytes) -> int:
        old = self.change.old_sha256
        left = patched(self.file, b"" if old is None else self.backups.content(old))
        line = _first_difference(left, now)
        if line is None:
            return 0  # only its mode
        far = [_distance(line, hunk.new_first, hunk.new_count) for hunk in self.file.hunks]
        return far.index(min(far)) + 1

    def _now(self, path: str) -> Found | None:
        return find_file(self.tree, parts_of(path))


def _as_left(made: _Made, through: Mapping[str, str]) -> _Made:
    """Return the change as if it had left the file as something after it has."""
    change, now = made.change, find_file(made.tree, parts_of(made.change.path))
    is_left = now is not None and sha256(now.data) == through.get(change.path)
    if now is None or not is_left or change.op not in ("add", "modify"):
        return made
    old, left = None, Side(now.data, executable=mode_of(now.mode) == EXECUTABLE)
    if change.old_sha256 is not None:
        content = made.backups.content(change.old_sha256)
        old = Side(content, executable=change.old_mode == EXECUTABLE)
    files = parse_diff(make_diff([Change(change.path, old, left)])).files if old != left else ()
    as_left = replace(change, new_sha256=sha256(now.data), new_mode=left.mode)
    return replace(made, file=files[0], change=as_left) if files else made


def _taken_back(file: FileDiff, change: SealedChange, left: bytes) -> FileDiff:
    """Return what takes one file back; ``left`` is what a copy is after the change."""
    if change.op == "copy":
        return deletion(change.path, left, change.new_mode)
    back = reverse(DiffModel((file,))).files[0]
    # The diff may not tell modes; the seal does.
    if change.op in ("add", "delete") or change.old_mode != change.new_mode:
        return replace(back, old_mode=change.new_mode, new_mode=change.old_mode)
    return replace(back, old_mode=None, new_mode=None)


def _is(found: Found | None, wanted: str | None, mode: str | None) -> bool:
    return found is not None and (sha256(found.data), mode_of(found.mode)) == (wanted, mode)


def _distance(line: int, first: int, count: int) -> int:
    return max(first - line, line - (first + count), 0)


def _first_difference(one: bytes, other: bytes) -> int | None:
    pairs: Iterator[tuple[bytes, bytes]] = zip(one.split(b"\n"), other.split(b"\n"), strict=False)
    found = next((number for number, (a, b) in enumerate(pairs) if a != b), None)
    if found is None and one != other:
        return min(one.count(b"\n"), other.count(b"\n"))
    return found
