"""What came of an approved change, also of one that a crash cut off (R36).

A change that was cut off is settled by what lies there: made, not made, or brought back.
Everything is compared by content with what was sealed.  What is neither as before nor as after,
and a file beside whose content nobody else has, is left for the person: then no file is touched,
and it is told which of them are new, old and foreign.  Only a file that the crash left nowhere but
in a file beside is put back, and our own files beside are removed.  Blocking.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Literal

from common.diff.parse import parse_diff
from common.diff.patching import patched
from common.errors import CodexBridgeError, InputError, StateError
from common.model.state import Reason
from common.seal import Mode, Seal, SealedChange, read_changes
from local_agent.actions.changes.describe import PLAIN, mode_of, sha256
from local_agent.safety.backups import Backups, Details
from local_agent.workspace.layout import lay_out
from local_agent.workspace.temporary_files import Leftover, find_file, find_leftovers, sweep
from local_agent.workspace.tree import Found, Parts, Tree, parts_of
from local_agent.workspace.writer import Content, Write, write

_Side = tuple[str, Mode] | None  # hash and mode; None is no file
_Stand = Literal["old", "new", "both", "gone", "other"]

_TAG_DIGITS: Final = 12
_STANDING: Final[Mapping[_Stand, str]] = {
    "new": "new",
    "both": "new",
    "old": "old",
    "gone": "other",
    "other": "other",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixture:
    """What lies there of a change of which nobody can say that it was made, or was not.

    Attributes:
        new: Paths that are as the change was to leave them.
        old: Paths that are as they were before it.
        foreign: Paths that are neither: somebody else wrote them.
        beside: Temporary files of ours that were left, because nobody else has what they hold.
    """

    new: tuple[str, ...] = ()
    old: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeOutcome:
    """What came of an approved change.

    Attributes:
        reason: ``completed``; ``drifted`` and ``failed``: every file is as it was before;
            ``unknown``: that cannot be said of ``paths``.
        code: Why: ``change.*``, ``diff.*`` or ``blob.*``.  With ``completed`` only
            ``change.leftover``: files beside could not be removed.
        drift: Which parts of what was approved are not so any more: ``workspace``, ``git_head``,
            ``base``, ``changes``, ``diff_sha256``.
        files: What was changed; empty unless completed.
        paths: Relative paths that the outcome is about; local only.
        mixture: With ``unknown``, what each of its files is; None where that was not looked at.
    """

    reason: Reason
    code: str | None = None
    drift: tuple[str, ...] = ()
    files: tuple[SealedChange, ...] = ()
    paths: tuple[str, ...] = ()
    mixture: Mixture | None = None


def tag_of(approval_id: str, *, restoring: bool = False) -> str:
    """Return what goes into the names of the files beside, for a change or its bringing back."""
    purpose = "restore" if restoring else "write"
    name = f"{purpose}/{approval_id}".encode()
    return hashlib.sha256(name).hexdigest()[:_TAG_DIGITS]


def settle_change(tree: Tree, seal: Seal, backups: Backups) -> ChangeOutcome:
    """Return what became of a change, once what a crash left is tidied.

    Raises:
        CodexBridgeError: it cannot be told, and nothing was touched.
        OSError: the machine refused.
    """
    if not tree.is_at(seal.workspace):
        return ChangeOutcome(reason=Reason.UNKNOWN, code="change.unsettled")
    changes = read_changes(seal.payload)
    paths = _look(tree, changes)
    made = [folder for folder in _folders(paths) if "/".join(folder) + "/" not in seal.base]
    leftovers, unknown = _leftovers(tree, seal, backups, paths)
    lost = [one for one in paths if one.stand == "gone" and not _is_aside(one, leftovers)]
    if unknown or lost or any(one.stand == "other" for one in paths):
        return _mixed(tree, seal, backups, made)
    if all(one.stand in ("new", "both") for one in paths):
        emptied = _folders(one for one in paths if one.new is None)
        sweep(tree, leftovers, folders=emptied - _kept(seal, backups))
        return ChangeOutcome(reason=Reason.COMPLETED, files=changes)
    if all(one.stand in ("old", "both") for one in paths):
        sweep(tree, leftovers, folders=made)
        return ChangeOutcome(reason=Reason.FAILED, code="change.not-written")
    # First the folders that came: they may stand where a file belongs.
    sweep(tree, leftovers, folders=made)
    _restore(tree, seal, backups, [one for one in paths if one.stand in ("new", "gone")])
    sweep(tree, (), folders=made)
    return ChangeOutcome(reason=Reason.FAILED, code="change.restored")


@dataclass(frozen=True, slots=True)
class _Path:
    """One path of a change: as it was, as it was to be, and as it is."""

    parts: Parts
    old: _Side
    new: _Side
    found: Found | None
    is_obstructed: bool

    @classmethod
    def of(cls, tree: Tree, path: str, old: _Side, new: _Side) -> _Path:
        parts = parts_of(path)
        try:
            return cls(parts, old, new, find_file(tree, parts), is_obstructed=False)
        except InputError:
            return cls(parts, old, new, None, is_obstructed=True)

    @property
    def path(self) -> str:
        return "/".join(self.parts)

    @property
    def stand(self) -> _Stand:
        if self.is_obstructed:
            return "other"
        now = None if self.found is None else (sha256(self.found.data), mode_of(self.found.mode))
        if now in (self.old, self.new):
            return "both" if self.old == self.new else "old" if now == self.old else "new"
        # Between the steps of an exchange, where the file system knows no other.
        return "gone" if now is None else "other"


def _touched(change: SealedChange) -> Iterator[tuple[str, _Side, _Side]]:
    old = _side(change.old_sha256, change.old_mode)
    new = _side(change.new_sha256, change.new_mode)
    if change.op == "rename" and change.old_path is not None:
        yield change.old_path, old, None
    yield change.path, old if change.op in ("modify", "delete") else None, new


def _side(sha: str | None, mode: Mode | None) -> _Side:
    return None if sha is None or mode is None else (sha, mode)


def _kept(seal: Seal, backups: Backups) -> set[Parts]:
    """Return the folders that an undo leaves empty, because they were so before."""
    undoes = seal.payload.get("undoes")
    noted = backups.details(undoes["approval_id"]) if undoes else Details()
    return {parts_of(path) for path in noted.empty}


def _folders(paths: Iterator[_Path] | Sequence[_Path]) -> set[Parts]:
    return {one.parts[:depth] for one in paths for depth in range(1, len(one.parts))}


def _look(tree: Tree, changes: Sequence[SealedChange]) -> list[_Path]:
    return [_Path.of(tree, *touched) for change in changes for touched in _touched(change)]


def _mixed(tree: Tree, seal: Seal, backups: Backups, made: Sequence[Parts]) -> ChangeOutcome:
    """Return which file is what, once our own files beside are gone and nothing is lost in them."""
    changes = read_changes(seal.payload)
    # What the machine refuses stays as it is, and is told as it is.
    with suppress(OSError, CodexBridgeError):
        paths = _look(tree, changes)
        known, _ = _leftovers(tree, seal, backups, paths)
        _restore(tree, seal, backups, _in_limbo(changes, paths, known))
        sweep(tree, known, folders=made)
    paths = _look(tree, changes)
    standing: dict[str, list[str]] = {"new": [], "old": [], "other": []}
    for one in paths:
        standing[_STANDING[one.stand]].append(one.path)
    tags = _tags(seal)
    beside = tuple(one.path for one in find_leftovers(tree, _around(paths), tags=tags))
    foreign = tuple(standing["other"])
    mixture = Mixture(
        new=tuple(standing["new"]), old=tuple(standing["old"]), foreign=foreign, beside=beside
    )
    return ChangeOutcome(
        reason=Reason.UNKNOWN, code="change.unsettled", paths=foreign + beside, mixture=mixture
    )


def _in_limbo(
    changes: Sequence[SealedChange], paths: Sequence[_Path], known: Sequence[Leftover]
) -> list[_Path]:
    """Return the files that are neither at their old nor at their new name, but beside it.

    A rename that was cut off between its two steps, and an exchange in steps.
    """
    by_path = {one.path: one for one in paths}
    moved = [
        by_path[change.old_path]
        for change in changes
        if change.op == "rename"
        and change.old_path is not None
        and by_path[change.old_path].found is None
        and by_path[change.path].stand == "old"
    ]
    gone = [one for one in paths if one.stand == "gone"]
    return [one for one in (*moved, *gone) if _is_aside(one, known)]


def _is_aside(one: _Path, known: Sequence[Leftover]) -> bool:
    old = one.old[0] if one.old is not None else None
    return any(left.found is not None and sha256(left.found.data) == old for left in known)


def _tags(seal: Seal) -> list[str]:
    return [tag_of(seal.approval_id, restoring=restoring) for restoring in (False, True)]


def _around(paths: Sequence[_Path]) -> list[Parts]:
    return sorted(_folders(paths) | {()})


def _leftovers(
    tree: Tree, seal: Seal, backups: Backups, paths: Sequence[_Path]
) -> tuple[list[Leftover], list[Leftover]]:
    """Return the files beside: those whose content is kept elsewhere, and the others."""
    found = find_leftovers(tree, _around(paths), tags=_tags(seal))
    if not found:
        return [], []
    contents = _contents(seal, backups, paths)
    whole = {sha256(one) for one in contents} | {
        change.new_sha256 for change in read_changes(seal.payload)
    }
    known: list[Leftover] = []
    unknown: list[Leftover] = []
    for left in found:
        # A crash can cut a file off while it is written: then it is the beginning of a content.
        is_known = left.found is not None and (
            sha256(left.found.data) in whole
            or any(one.startswith(left.found.data) for one in contents)
        )
        (known if is_known else unknown).append(left)
    return known, unknown


def _contents(seal: Seal, backups: Backups, paths: Sequence[_Path]) -> list[bytes]:
    """Return the contents that the change has to do with, before and after, and that are kept."""
    # What is still in its place may not be among the backups yet: they are made meanwhile.
    here = {sha256(one.found.data): one.found.data for one in paths if one.found is not None}
    changes = {change.path: change for change in read_changes(seal.payload)}
    found: list[bytes] = []
    for file in parse_diff(backups.content(seal.payload["diff_sha256"])).files:
        sha = changes[file.path].old_sha256
        try:
            old = b"" if sha is None else here[sha] if sha in here else backups.content(sha)
        except StateError:
            continue  # edited before it was kept: then nothing of it was displaced yet
        found += [old, patched(file, old)]
    return found


def _restore(tree: Tree, seal: Seal, backups: Backups, paths: Sequence[_Path]) -> None:
    details = backups.details(seal.approval_id)
    writes = [Write(one.parts, one.found, _content(one, backups, details)) for one in paths]
    if not writes:
        return
    layout = lay_out(
        tree,
        removed=[item.parts for item in writes if item.after is None],
        added=[item.parts for item in writes if item.before is None],
        kept=[parts_of(path) for path in details.empty],
    )
    folders = {parts_of(path): bits for path, bits in details.folders.items()}
    tag = tag_of(seal.approval_id, restoring=True)
    write(tree, writes, layout, tag=tag, folder_modes=folders)


def _content(one: _Path, backups: Backups, details: Details) -> Content | None:
    if one.old is None:
        return None
    sha, mode = one.old
    noted = details.files.get(one.path, PLAIN[mode])
    bits = noted if mode_of(noted) == mode else PLAIN[mode]
    if one.found is None:
        return Content(backups.content(sha), bits)
    here = one.found.mode
    bits = here if mode_of(here) == mode else bits
    return Content(backups.content(sha), bits, one.found.owner, one.found.access)
