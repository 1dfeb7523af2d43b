"""What a diff says, once it was read whole and nothing in it contradicts itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple

from common.encodings import UTF8, in_utf8

Op = Literal["add", "modify", "delete", "rename", "copy"]
Mode = Literal["100644", "100755"]

MAX_BYTES: Final = 2_000_000
MAX_FILES: Final = 500
MAX_HUNKS: Final = 5_000

SPACE, PLUS, MINUS, BACKSLASH = b" +-\\"


class Hunk(NamedTuple):
    """One block of lines.

    A named tuple, because a diff has thousands and this is what takes a third of the time to make.

    Attributes:
        old_start: First line of the old file it speaks of, from 1; the line before when
            ``old_count`` is 0.
        new_start: The same in the new file.
        lines: The body: each line with its marker (``space``, ``+`` or ``-``), without its line
            feed.  What is removed comes before what takes its place.
        old_open: The old side ends the file without a line feed.
        new_open: The new side does.
        section: What follows the second ``@@``, for display alone.
    """

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    lines: tuple[bytes, ...]
    old_open: bool = False
    new_open: bool = False
    section: bytes = b""

    @property
    def added(self) -> int:
        """Return how many lines are added."""
        return len(self.lines) - self.old_count

    @property
    def removed(self) -> int:
        """Return how many lines are removed."""
        return len(self.lines) - self.new_count

    @property
    def old_first(self) -> int:
        """Return the first old line from 0, or where the insertion goes."""
        return self.old_start - 1 if self.old_count else self.old_start

    @property
    def new_first(self) -> int:
        """Return the first new line from 0, or where the removed lines stood."""
        return self.new_start - 1 if self.new_count else self.new_start

    def old_side(self) -> list[bytes]:
        """Return the lines that must be there, without their line feeds."""
        return [line[1:] for line in self.lines if line[0] != PLUS]

    def new_side(self) -> list[bytes]:
        """Return the lines that will be there, without their line feeds."""
        return [line[1:] for line in self.lines if line[0] != MINUS]


@dataclass(frozen=True, slots=True)
class FileDiff:
    """What becomes of one file.

    Attributes:
        op: ``modify`` also when only the executable bit changes.
        path: Where the content is afterwards; for ``delete`` where it was.
        old_path: Where the content comes from; None for ``add``.  The source of a ``copy`` is read
            as it was before the whole diff, whatever else the diff does to it.
        old_mode: Of a deleted file, or before a change of mode; None where the diff does not tell.
        new_mode: Of an added file, or after a change of mode; None where the mode stays.
        added: Lines added, counted by us.
        removed: Lines removed.
        encoding: In which its lines are text, for display alone.
    """

    op: Op
    path: str
    old_path: str | None
    old_mode: Mode | None
    new_mode: Mode | None
    hunks: tuple[Hunk, ...]
    added: int
    removed: int
    encoding: str = UTF8


@dataclass(frozen=True, slots=True)
class DiffModel:
    """A whole diff: every file named once as a target, in the order of the text."""

    files: tuple[FileDiff, ...]

    @property
    def added(self) -> int:
        """Return how many lines are added in all."""
        return sum(file.added for file in self.files)

    @property
    def removed(self) -> int:
        """Return how many lines are removed in all."""
        return sum(file.removed for file in self.files)

    def in_encodings(self, encodings: Mapping[str, str | None]) -> DiffModel:
        """Return the same diff, each file as text in its encoding, by path."""
        named = (encodings.get(file.path) or UTF8 for file in self.files)
        files = zip(self.files, named, strict=True)
        return DiffModel(tuple(replace(file, encoding=encoding) for file, encoding in files))


def as_utf8(file: FileDiff) -> FileDiff:
    """Return the same diff of the file in UTF-8: for a copy of it, or for a model."""

    def lines(hunk: Hunk) -> Hunk:
        texts = (in_utf8(line, file.encoding) for line in hunk.lines)
        return hunk._replace(lines=tuple(texts), section=in_utf8(hunk.section, file.encoding))

    return replace(file, hunks=tuple(map(lines, file.hunks)), encoding=UTF8)
