"""What a diff would do to a workspace as it is now: every file by content, or why it may not (P2).

Made twice from the same diff: when it is proposed, and again when it was approved.  All of it is
computed in memory (R35); nothing is written.  Blocking.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from common.diff.model import DiffModel, FileDiff, Mode
from common.diff.patching import deletion, misfit, patched, relocated
from common.encodings import UTF8, misread, told
from common.errors import InputError
from common.seal import MAX_SEAL_BYTES, SealedChange
from common.strict_json import canonical
from local_agent.actions.changes.payload import change_payload
from local_agent.safety.backups import Details
from local_agent.workspace import paths
from local_agent.workspace.git.repository import index_of
from local_agent.workspace.layout import FreeNames, Layout, lay_out
from local_agent.workspace.temporary_files import is_reserved
from local_agent.workspace.tree import MAX_FILE_BYTES, Found, Parts, Tree, parts_of
from local_agent.workspace.writer import Content, Write

if TYPE_CHECKING:
    import pygit2

MAX_TOTAL_BYTES: Final = 64 * 1024 * 1024  # of all files before and after, held in memory
MAX_COPIED_BYTES: Final = 1_000_000  # of a diff; to take a copy back, a diff tells all of it
ABSENT: Final = "absent"
PLAIN: Final[Mapping[Mode, int]] = {"100644": 0o644, "100755": 0o755}
_MAX_SEALED: Final = MAX_SEAL_BYTES - 64 * 1024  # of the changes and their base
_CHANGE_BYTES: Final = 400  # of a sealed change, without its names
_SPECIAL_BITS: Final = 0o7000
_GITLINK: Final = 0o160000
_BLOBS: Final = (0o100644, 0o100755)


@dataclass(frozen=True, slots=True)
class Described:
    """A change as it would be made now.

    Attributes:
        changes: For the seal, one for each file of the diff.
        base: For the seal: the hash of each file it starts from or ``absent``, and of the identity
            of each folder on the way, whose path ends with a slash (R21).
        model: The diff with the true line numbers of its hunks.
        moved: How many hunks were not where the diff said.
    """

    changes: tuple[SealedChange, ...]
    base: dict[str, str]
    model: DiffModel
    moved: int
    writes: tuple[Write, ...]
    layout: Layout


def describe_change(
    tree: Tree,
    model: DiffModel,
    *,
    repository: pygit2.Repository | None,
    relocate: bool = False,
    details: Details | None = None,
) -> Described:
    """Return what the diff would do.

    Args:
        tree: The workspace.
        model: As parsed: its names were checked, and each is a target once.
        repository: Of the workspace, for what git knows of its files; None where there is none.
        relocate: Look for hunks that are not where they say.
        details: For an undo: what was noted when the change was made.

    Raises:
        InputError: ``change.*`` or ``diff.context``, with ``path``: it may not be done.
    """
    noted = details or Details()
    work = _Work(tree, index_of(repository) if repository is not None else None, noted.files)
    files = [work.one(file, relocate=relocate) for file in model.files]
    layout = lay_out(
        tree,
        removed=[parts for one in files for parts in one.removed],
        added=[one.parts for one in files if one.is_new],
        kept=[parts_of(path) for path in noted.empty],
    )
    names = FreeNames(tree, layout)
    for one in files:
        if one.is_new:
            names.take(one.parts)
    changes = tuple(one.sealed for one in files)
    base = _base(tree, files)
    _check_sealable(changes, base, _above(files))
    writes = tuple(write for one in files for write in one.writes())
    result = DiffModel(tuple(one.file for one in files)) if work.moved else model
    return Described(changes, base, result, work.moved, writes, layout)


@dataclass(frozen=True, slots=True)
class _File:
    """One file of the diff, looked up."""

    file: FileDiff
    parts: Parts
    source: Parts
    old: Found | None
    content: Content | None
    sealed: SealedChange

    @property
    def is_new(self) -> bool:
        return self.file.op in ("add", "rename", "copy")

    @property
    def removed(self) -> Iterator[Parts]:
        if self.file.op in ("delete", "rename"):
            yield self.source

    def writes(self) -> Iterator[Write]:
        """Give what becomes of each path; the source of a copy is only read."""
        for parts in self.removed:
            yield Write(parts, self.old, None)
        if self.content is not None:
            yield Write(self.parts, None if self.is_new else self.old, self.content)


@dataclass(slots=True)
class _Work:
    """Looks the files up, within bounds."""

    tree: Tree
    index: pygit2.Index | None
    modes: Mapping[str, int]
    moved: int = 0
    _bytes: int = 0
    _copied: int = 0
    _hashes: dict[int, str] = field(default_factory=dict)
    _checked: set[Parts] = field(default_factory=set)

    def one(self, file: FileDiff, *, relocate: bool) -> _File:
        parts = parts_of(file.path)
        source = parts_of(file.old_path) if file.old_path is not None else parts
        for name in {parts, source}:
            self._check_allowed(name, is_new=name == parts and file.op not in ("modify", "delete"))
        old = None if file.op == "add" else self._source(file, source)
        before = b"" if old is None else old.data
        file, after = self._patched(file, before, relocate=relocate)
        self._count(file, before, after)
        content = None if file.op == "delete" else self._content(file, old, after)
        sealed = replace(_sealed(file, old, content), encoding=self._encoding(file, before, after))
        if relocate and (other := misread(file.path, after)):
            raise InputError("change.misread", path=file.path, encoding=told(other))
        if sealed.encoding is None and relocate:
            self._check_text(file, before, after)
        return _File(file, parts, source, old, content, sealed)

    def _encoding(self, file: FileDiff, before: bytes, after: bytes) -> str | None:
        """Return the encoding in which a file is text on both sides, where it is not UTF-8."""
        sides = ((file.old_path or file.path, before), (file.path, after))
        found = {self.tree.encodings.of(*side) for side in sides if not side[1].isascii()}
        return found.pop() if len(found) == 1 and found != {UTF8} else None

    def _check_text(self, file: FileDiff, before: bytes, after: bytes) -> None:
        # Not of an undo: what a change made whole may have been in two encodings before.
        was = (
            None if before.isascii() else self.tree.encodings.of(file.old_path or file.path, before)
        )
        if was and self.tree.encodings.of(file.path, after) is None:
            raise InputError("change.encoding", path=file.path, encoding=told(was))

    def _patched(self, file: FileDiff, before: bytes, *, relocate: bool) -> tuple[FileDiff, bytes]:
        try:
            return file, patched(file, before)
        except InputError:
            if not relocate:
                raise
        try:
            file, moved = relocated(file, before)
            self.moved += moved
            return file, patched(file, before)
        except InputError as error:
            if why := misfit(file, before):
                raise InputError(error.code, **error.facts, why=why) from None
            raise

    def _source(self, file: FileDiff, source: Parts) -> Found:
        path = "/".join(source)
        if file.op == "copy":
            self._check_copied(source)
        old = self.tree.find(source)
        if old is None:
            raise InputError("change.missing", path=path)
        if old.mode & _SPECIAL_BITS:
            raise InputError("change.special", path=path)
        if file.op != "delete" and file.old_mode not in (None, mode_of(old.mode)):
            raise InputError("change.mode", path=path)
        return old

    def _content(self, file: FileDiff, old: Found | None, after: bytes) -> Content:
        mode = file.new_mode or (mode_of(old.mode) if old is not None else "100644")
        kept = self.modes.get(file.path)
        if kept is not None and mode_of(kept) == mode and (old is None or file.new_mode):
            bits = kept & 0o777
        else:
            bits = PLAIN[mode] if old is None else _with_mode(old.mode, mode)
        owner = old.owner if old is not None and file.op != "copy" else None
        return Content(after, bits, owner, None if old is None else old.access)

    def _check_allowed(self, parts: Parts, *, is_new: bool) -> None:
        path = "/".join(parts)
        if paths.matches(parts, self.tree.deny):
            raise InputError("change.denied", path=path)
        if any(map(is_reserved, parts)):
            raise InputError("change.reserved", path=path)
        # What is a file cannot be a submodule; a folder that is not there could be one.
        for depth in range(1, len(parts) + is_new):
            above = parts[:depth]
            if above not in self._checked and self._entry(above) == _GITLINK:
                raise InputError("change.submodule", path=path)
            self._checked.add(above)

    def _check_copied(self, source: Parts) -> None:
        # A copy carries content to a place that other rules guard, or that git does not ignore.
        path = "/".join(source)
        if paths.is_denied(source, self.tree.deny):
            raise InputError("change.copy-secret", path=path)
        if self._entry(source) not in _BLOBS:
            raise InputError("change.copy-untracked", path=path)

    def _entry(self, parts: Parts) -> int | None:
        """Return the mode under which git's index holds a path."""
        try:
            return None if self.index is None else int(self.index["/".join(parts)].mode)
        except KeyError:
            return None

    def _count(self, file: FileDiff, before: bytes, after: bytes) -> None:
        self._bytes += len(before) + len(after)
        if len(after) > MAX_FILE_BYTES or self._bytes > MAX_TOTAL_BYTES:
            limit = MAX_FILE_BYTES if len(after) > MAX_FILE_BYTES else MAX_TOTAL_BYTES
            raise InputError("change.too-large", path=file.path, limit=limit)
        if file.op == "copy":
            deletion(file.path, after, None)  # refuses what no diff of text could take back
            self._copied += len(after) + after.count(b"\n")
            if self._copied > MAX_COPIED_BYTES:
                raise InputError("change.too-large", path=file.path, limit=MAX_COPIED_BYTES)


def sha256(data: bytes) -> str:
    """Return the name of a content."""
    return hashlib.sha256(data).hexdigest()


def mode_of(bits: int) -> Mode:
    """Return what git makes of permission bits."""
    return "100755" if bits & 0o100 else "100644"


def _with_mode(bits: int, mode: Mode) -> int:
    """Return permission bits that git takes for this mode, else as they were."""
    if mode_of(bits) == mode:
        return bits
    # Whoever may read may run, as git has it; nobody gains more.
    return bits | (bits & 0o444) >> 2 if mode == "100755" else bits & ~0o111


def _sealed(file: FileDiff, old: Found | None, content: Content | None) -> SealedChange:
    before = None if old is None else sha256(old.data)
    unchanged = old is not None and content is not None and old.data is content.data
    after = None if content is None else before if unchanged else sha256(content.data)
    return SealedChange(
        op=file.op,
        path=file.path,
        old_path=None if file.op == "add" else file.old_path or file.path,
        old_sha256=before,
        old_mode=None if old is None else mode_of(old.mode),
        new_sha256=after,
        new_mode=None if content is None else mode_of(content.mode),
        size=0 if content is None else len(content.data),
    )


def _above(files: list[_File]) -> set[str]:
    """Return every folder on the way, whether it is there or will be."""
    folders = {parts[:-1] for one in files for parts in (one.parts, one.source)}
    return {"/".join(parts[:end]) + "/" for parts in folders for end in range(1, len(parts) + 1)}


def _check_sealable(
    changes: tuple[SealedChange, ...], base: Collection[str], folders: Collection[str]
) -> None:
    # What takes the change back must fit as well: it names every folder that this one only makes,
    # and tells where each file that this one adds comes from.
    names = {*base, *folders}
    longest = [max(one.path, one.old_path or "", key=len) for one in changes]
    # Names are written as ASCII, six bytes for a character at most; mostly this is enough to know.
    size = sum(map(len, names)) + sum(len(one.path) for one in changes) + sum(map(len, longest))
    if 6 * size + _CHANGE_BYTES * (len(changes) + len(names)) <= _MAX_SEALED:
        return
    whole = [replace(one, old_path=old) for one, old in zip(changes, longest, strict=True)]
    sealed = canonical(change_payload("", whole)), canonical(dict.fromkeys(names, sha256(b"")))
    if sum(map(len, sealed)) > _MAX_SEALED:
        raise InputError("change.too-many", limit=MAX_SEAL_BYTES)


def _base(tree: Tree, files: list[_File]) -> dict[str, str]:
    base = {"/".join(parts) + "/": _named(*node) for parts, node in tree.nodes().items()}
    for one in files:
        if one.is_new:
            base[one.file.path] = ABSENT
    for one in files:
        if one.old is not None and one.sealed.old_sha256 is not None:
            base["/".join(one.source)] = one.sealed.old_sha256
    return base


def _named(dev: int, ino: int) -> str:
    return sha256(f"{dev}:{ino}".encode("ascii"))
