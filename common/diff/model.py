"""What a diff says, once it was read whole and nothing in it contradicts itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Op = Literal["add", "modify", "delete", "rename", "copy"]
Mode = Literal["100644", "100755"]

MODES: Final = frozenset({b"100644", b"100755"})


@dataclass(frozen=True, slots=True)
class Hunk:
    """One block of lines.

    Attributes:
        old_start: First line of the old file it speaks of, from 1; the line before when
            ``old_count`` is 0.
        new_start: The same in the new file.
        lines: The body: each line with its marker (``space``, ``+`` or ``-``), without its line
            feed.
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

    def old_side(self) -> list[bytes]:
        """Return the lines that must be there, each with its line feed."""
        return self._side(b"+", self.old_open)

    def new_side(self) -> list[bytes]:
        """Return the lines that will be there, each with its line feed."""
        return self._side(b"-", self.new_open)

    def _side(self, not_these: bytes, is_open: bool) -> list[bytes]:
        skip = not_these[0]
        found = [line[1:] + b"\n" for line in self.lines if line[0] != skip]
        if is_open and found:
            found[-1] = found[-1][:-1]
        return found


@dataclass(frozen=True, slots=True)
class FileDiff:
    """What becomes of one file.

    Attributes:
        op: ``modify`` also when only the executable bit changes.
        path: Where the content is afterwards; for ``delete`` where it was.
        old_path: Where it was before; None for ``add``.
        old_mode: As the diff tells it; None where it does not.
        new_mode: The mode afterwards; None for ``delete``, and where the diff does not tell.
        added: Lines added, counted by us.
        removed: Lines removed.
    """

    op: Op
    path: str
    old_path: str | None
    old_mode: Mode | None
    new_mode: Mode | None
    hunks: tuple[Hunk, ...]
    added: int
    removed: int


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
