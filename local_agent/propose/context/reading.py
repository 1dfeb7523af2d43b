"""Reads what could help, past the path guard (R52), and cuts it to what is granted.  Blocking.

Everything that is read of files for a model is read here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from common.errors import InputError
from local_agent.propose.context.collected import (
    Budget,
    Candidate,
    Grant,
    Kind,
    LeftOut,
    Piece,
    Reason,
    Share,
    Used,
    frame_bytes,
    number_bytes,
    used,
)
from local_agent.propose.context.cutting import (
    Beside,
    Cutting,
    clean,
    cut_clean,
    cut_lines,
    readable,
    size_of,
)
from local_agent.propose.context.finding import Wanted
from local_agent.workspace import paths
from local_agent.workspace.registry import Workspace

_REASONS: Final[dict[str, Reason]] = {
    "path.denied": "secret",
    "path.missing": "not-found",
    "path.malformed": "not-found",
    "path.too-large": "too-large",
    "path.binary": "binary",
}
_FIRST, _THEN, _LAST = range(3)  # priorities


@dataclass(frozen=True, slots=True)
class Extra:
    """Something that is no file as it stands: a patch, the tree, the state of the repository, …

    Attributes:
        first: It comes before the files, not after them.
    """

    piece: Piece
    why: str
    first: bool = False


@dataclass(slots=True)
class Shown:
    """What became of the candidates.

    Attributes:
        shares: Of files, in order.
    """

    pieces: list[Piece] = field(default_factory=list)
    used: list[Used] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    shares: list[Share] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Text:
    """A file that was read.

    Attributes:
        size: Bytes that it takes where all of it is sent.
        is_clean: Secrets are replaced in it.
    """

    lines: list[str]
    size: int
    is_clean: bool


@dataclass(frozen=True, slots=True)
class Read:
    """What could be shown of files.

    Attributes:
        wanted: What each candidate was wanted for, by kind and path.
        texts: By path.
        left_out: What cannot be shown, and why.
        deny: All that is denied in the workspace.
    """

    budget: Budget
    candidates: Sequence[Candidate]
    wanted: Mapping[tuple[Kind, str], Wanted]
    texts: Mapping[str, Text]
    left_out: Sequence[LeftOut]
    deny: Sequence[str]


def read(
    workspace: Workspace,
    found: Iterable[Wanted],
    *,
    budget: Budget,
    listed: frozenset[str],
    missing: Iterable[str] = (),
) -> Read:
    """Read what could help, as far as it could be shown.

    Args:
        workspace: The folder, and what the person denies in it.
        found: Files, the most useful first.
        budget: The limits.
        listed: The files that may be read and are not ignored.
        missing: Names from the request that no file bears, to be accounted for.
    """
    with workspace.opened() as root, paths.Reader(root) as reader:
        desk = _Desk(root, reader, budget, listed)
        candidates = [candidate for one in found if (candidate := desk.candidate(one)) is not None]
        for name in missing:
            desk.leave_out(name)
    return Read(budget, candidates, desk.wanted, desk.texts, desk.left_out, root.deny)


def show(files: Read, extras: Sequence[Extra]) -> Shown:
    """Return the pieces that the budget allows, and why the rest is not among them.

    Args:
        files: What was read.
        extras: What else could be shown, in order.
    """
    candidates = [*files.candidates, *map(_of_extra, extras)]
    division = files.budget.divide(candidates)
    shown = Shown(left_out=[*files.left_out, *division.left_out])
    by_key = {(extra.piece.kind, extra.piece.path): extra for extra in extras}
    for grant in division.grants:
        one = grant.candidate
        if extra := by_key.get((one.kind, one.path)):
            room = max(grant.granted - frame_bytes(one.path), 0)
            _add(shown, one, cut_clean(extra.piece.text, room))
        else:
            _add_file(shown, grant, files)
    return shown


def _of_extra(extra: Extra) -> Candidate:
    piece = extra.piece
    priority = _FIRST if extra.first else _LAST
    size = len(piece.text.encode()) + frame_bytes(piece.path)
    return Candidate(piece.kind, piece.path, size, extra.why, priority)


def _add_file(shown: Shown, grant: Grant, files: Read) -> None:
    one = grant.candidate
    source, text = files.wanted[one.kind, one.path], files.texts[one.path]
    matters: Iterable[int] = source.lines
    if source.selection is not None:
        first, last = source.selection
        matters = range(first, min(last, len(text.lines)) + 1)
    cuttings = cut_lines(
        text.lines,
        grant.granted,
        matters,
        is_clean=text.is_clean,
        beside=_beside(one.path, text.lines),
    )
    _add(shown, one, cuttings)
    if cuttings and all(share.path != one.path for share in shown.shares):
        shown.shares.append(Share(one.path, text.size, grant.granted))


def _add(shown: Shown, one: Candidate, cuttings: Sequence[Cutting]) -> None:
    if not cuttings:
        shown.left_out.append(LeftOut(one.path, "over-bytes", one.size))
    for cutting in cuttings:
        piece = Piece(
            kind=one.kind,
            path=one.path,
            text=cutting.text,
            first_line=cutting.first_line,
            cut=cutting.cut,
        )
        shown.pieces.append(piece)
        shown.used.append(used(piece, one.why))


@dataclass(slots=True)
class _Desk:
    root: paths.Root
    reader: paths.Reader
    budget: Budget
    listed: frozenset[str]
    texts: dict[str, Text] = field(default_factory=dict)
    wanted: dict[tuple[Kind, str], Wanted] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)

    def candidate(self, one: Wanted) -> Candidate | None:
        """Return a file as a candidate, read as long as it could be shown; or account for it."""
        kind: Kind = "file" if one.selection is None else "selection"
        if one.path not in self.listed:
            self.leave_out(one.path)
            return None
        self.wanted[kind, one.path] = one
        if one.path not in self.texts:
            if len(self.texts) >= self.budget.max_files:
                # There are files enough: it is accounted for, and not opened.
                return Candidate(kind, one.path, self._size(one.path), one.why, _THEN)
            if not self._read(one.path):
                return None
        text = self.texts[one.path]
        size = text.size
        if one.selection is not None:
            size = _sent(_selected(one.selection, text), _beside(one.path, text.lines))
        return Candidate(kind, one.path, size, one.why, _THEN)

    def leave_out(self, name: str) -> None:
        """Account for a name that stands for no file that may be read."""
        reason: Reason = "ignored"
        try:
            self.reader.read(name)
        except InputError as error:
            reason = _REASONS.get(error.code, "unreadable")
        self.left_out.append(LeftOut(name, reason, self._size(name)))

    def _read(self, path: str) -> bool:
        try:
            content = self.reader.read(path)
        except InputError as error:
            reason = _REASONS.get(error.code, "unreadable")
            self.left_out.append(LeftOut(path, reason, self._size(path)))
            return False
        lines = readable(content)
        # A mark can be longer than its secret: what could be shown whole is measured with them.
        is_clean = size_of(lines) <= 2 * self.budget.max_file_bytes
        if is_clean:
            lines = clean(lines)
        self.texts[path] = Text(lines, _sent(lines, _beside(path, lines)), is_clean)
        return True

    def _size(self, path: str) -> int:
        try:
            return os.stat(path, dir_fd=self.root.handle, follow_symlinks=False).st_size
        except (OSError, ValueError):
            return 0


def _beside(path: str, lines: Sequence[str]) -> Beside:
    """Return what is sent of a file beside its text: the marks of a part, and its line numbers."""
    return Beside(piece=frame_bytes(path), line=number_bytes(len(lines)))


def _sent(lines: Sequence[str], beside: Beside) -> int:
    return size_of(lines) + len(lines) * beside.line + beside.piece


def _selected(selection: tuple[int, int], text: Text) -> list[str]:
    first, last = selection
    return text.lines[max(first - 1, 0) : last]
