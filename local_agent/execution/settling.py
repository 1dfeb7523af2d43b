"""A change that a crash cut off, settled by what lies there: made, not made, or brought back (R36).

Everything is compared by content with what was sealed.  What is neither as before nor as after,
and a file beside whose content nobody knows, is left for the person: then nothing is touched.
Blocking.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from common.diff.parse import parse_diff
from common.diff.patching import patched
from common.errors import InputError
from common.model.state import Reason
from common.seal import Seal
from common.seal_payloads import Mode, SealedChange, read_changes
from local_agent.execution.changes import PLAIN, mode_of, sha256
from local_agent.execution.outcome import ChangeOutcome
from local_agent.safety.backups import Backups, Details
from local_agent.workspace.layout import lay_out
from local_agent.workspace.recovery import Leftover, find_file, find_leftovers, sweep
from local_agent.workspace.tree import Found, Parts, Tree, parts_of
from local_agent.workspace.writer import Content, Write, write

_Side = tuple[str, Mode] | None  # hash and mode; None is no file
_Stand = Literal["old", "new", "both", "gone", "other"]

_TAG_DIGITS: Final = 12


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
    paths = [_Path.of(tree, *touched) for change in changes for touched in _touched(change)]
    leftovers = _known_leftovers(tree, seal, backups, paths)
    odd = [one for one in paths if one.stand == "other"]
    if leftovers is None or odd:
        names = tuple(one.path for one in odd)
        return ChangeOutcome(reason=Reason.UNKNOWN, code="change.unsettled", paths=names)
    if all(one.stand in ("new", "both") for one in paths):
        emptied = _folders(one for one in paths if one.new is None)
        sweep(tree, leftovers, folders=emptied - _kept(seal, backups))
        return ChangeOutcome(reason=Reason.COMPLETED, files=changes)
    made = [folder for folder in _folders(paths) if "/".join(folder) + "/" not in seal.base]
    if all(one.stand in ("old", "both") for one in paths):
        sweep(tree, leftovers, folders=made)
        return ChangeOutcome(reason=Reason.FAILED, code="change.not-written")
    # First the folders that came: they may stand where a file belongs.
    sweep(tree, leftovers, folders=made)
    _restore(tree, seal, backups, paths)
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


def _known_leftovers(
    tree: Tree, seal: Seal, backups: Backups, paths: Sequence[_Path]
) -> list[Leftover] | None:
    """Return the files beside; None when one of them holds what nobody else has."""
    tags = [tag_of(seal.approval_id, restoring=restoring) for restoring in (False, True)]
    found = find_leftovers(tree, sorted(_folders(paths) | {()}), tags=tags)
    gone = [one for one in paths if one.stand == "gone"]
    if not found:
        return None if gone else found
    contents = _contents(seal, backups, paths)
    # A crash can cut a file off while it is written: then it is the beginning of a content.
    known = all(any(one.startswith(left.found.data) for one in contents) for left in found)
    aside = {sha256(left.found.data) for left in found}
    whole = all(one.old is not None and one.old[0] in aside for one in gone)
    return found if known and whole else None


def _contents(seal: Seal, backups: Backups, paths: Sequence[_Path]) -> list[bytes]:
    """Return every content that the change has to do with, before and after."""
    # What is still in its place may not be among the backups yet: they are made meanwhile.
    here = {sha256(one.found.data): one.found.data for one in paths if one.found is not None}
    changes = {change.path: change for change in read_changes(seal.payload)}
    found: list[bytes] = []
    for file in parse_diff(backups.content(seal.payload["diff_sha256"])).files:
        sha = changes[file.path].old_sha256
        old = b"" if sha is None else here[sha] if sha in here else backups.content(sha)
        found += [old, patched(file, old)]
    return found


def _restore(tree: Tree, seal: Seal, backups: Backups, paths: Sequence[_Path]) -> None:
    details = backups.details(seal.approval_id)
    writes = [
        Write(one.parts, one.found, _content(one, backups, details))
        for one in paths
        if one.stand in ("new", "gone")
    ]
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
