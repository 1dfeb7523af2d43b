"""The diff of two states of files, made by us: the same states give the same bytes (P2).

Hunks are found by libgit2 and everything else is ours, so that no configuration, attribute or model
has a say in it; the text is read back by `common.diff.parse` before it is given to anybody.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from common.diff.model import MAX_BYTES, DiffModel, FileDiff, Hunk, Mode
from common.diff.parse import parse_diff
from common.diff.patching import deletion, reverse
from common.diff.render import MAX_LINES, is_wide, render
from common.errors import InputError

CONTEXT_LINES: Final = 3
MAX_PAIRED: Final = 10_000  # pairs of files that are compared to find renames
MAX_ALIKE_BYTES: Final = 32 * 1024 * 1024  # of both sides of all pairs that are compared by line
_ALIKE: Final = 0.5  # as git has it

EXECUTABLE: Final[Mode] = "100755"
PLAIN: Final[Mode] = "100644"


@dataclass(frozen=True, slots=True)
class Side:
    """A file as it is on one side."""

    content: bytes
    executable: bool = False

    @property
    def mode(self) -> Mode:
        """Return its mode as git writes it."""
        return EXECUTABLE if self.executable else PLAIN


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of one file.

    Attributes:
        path: Where it is afterwards; where it was, when it goes.
        old: None for one that comes.
        new: None for one that goes.
        old_path: Where it was, when it moves.
    """

    path: str
    old: Side | None
    new: Side | None
    old_path: str | None = None


def make_diff(changes: Iterable[Change]) -> bytes:
    """Return the unified diff, in the order of the paths; empty where nothing changes.

    What goes and comes under another name is told as a rename (`with_renames`).

    Raises:
        InputError: ``diff.too-large``, ``diff.name`` or ``diff.refused``: no diff can tell it, as
            of a file that is no text.
    """
    files: list[FileDiff] = []
    size = 0
    for change in sorted(with_renames(changes), key=lambda change: change.path):
        file = _file(change)
        size += sum(map(_size, file.hunks))
        if size > MAX_BYTES:
            raise InputError("diff.too-large", what="bytes", limit=MAX_BYTES)
        files.append(file)
    if not files:
        return b""
    diff = render(DiffModel(tuple(files)))
    parse_diff(diff)
    return diff


def with_renames(changes: Iterable[Change]) -> list[Change]:
    """Return the changes with what goes and comes again, at least half of it, made one.

    Identical files are paired first, then the most alike; a file without content never moves.
    Changes that change nothing are left out.
    """
    real = [one for one in changes if one.old_path is not None or one.old != one.new]
    gone = sorted((one for one in real if one.new is None), key=lambda one: one.path)
    come = sorted((one for one in real if one.old is None), key=lambda one: one.path)
    pairs = _pairs(gone, come) if len(gone) * len(come) <= MAX_PAIRED else []
    moved = {id(one) for pair in pairs for one in pair}
    rest = [one for one in real if id(one) not in moved]
    return rest + [Change(new.path, old.old, new.new, old.path) for old, new in pairs]


# --- renames ---


def _pairs(gone: Sequence[Change], come: Sequence[Change]) -> list[tuple[Change, Change]]:
    same = _best(gone, come, lambda old, new: float(0 < len(old) == len(new) and old == new))
    paired = {id(one) for pair in same for one in pair}
    gone = [one for one in gone if id(one) not in paired]
    come = [one for one in come if id(one) not in paired]
    size = len(come) * sum(_held(one.old) for one in gone)
    size += len(gone) * sum(_held(one.new) for one in come)
    if size > MAX_ALIKE_BYTES:  # it would take minutes, and many times their size in memory
        return same
    lines = lru_cache(maxsize=None)(_lines)  # of each file once; forgotten afterwards
    return same + _best(gone, come, lambda old, new: _alike(old, new, lines))


def _best(
    gone: Sequence[Change], come: Sequence[Change], score: Callable[[bytes, bytes], float]
) -> list[tuple[Change, Change]]:
    """Return the pairs that are most alike, each file once."""
    ranked = sorted(
        (-alike, _base(old.path) != _base(new.path), old.path, new.path, (old, new))
        for old in gone
        for new in come
        if old.old is not None
        and new.new is not None
        and (alike := score(old.old.content, new.new.content)) >= _ALIKE
    )
    pairs: list[tuple[Change, Change]] = []
    taken: set[int] = set()
    for *_, (old, new) in ranked:
        if not {id(old), id(new)} & taken:
            taken |= {id(old), id(new)}
            pairs.append((old, new))
    return pairs


def _alike(old: bytes, new: bytes, lines: Callable[[bytes], Counter[bytes]]) -> float:
    """Return how much of the larger one the other has, by whole lines."""
    small, large = sorted((len(old), len(new)))
    if not small or small < large * _ALIKE:
        return 0.0
    shared = lines(old) & lines(new)
    return sum(len(line) * count for line, count in shared.items()) / large


def _held(side: Side | None) -> int:
    return len(side.content) if side is not None else 0


def _lines(content: bytes) -> Counter[bytes]:
    return Counter(line + b"\n" for line in content.removesuffix(b"\n").split(b"\n"))


def _base(path: str) -> str:
    return path.rpartition("/")[2]


# --- one file ---


def _file(change: Change) -> FileDiff:
    old, new = change.old, change.new
    for side in (old, new):
        if side is not None and b"\0" in side.content:
            raise InputError("diff.refused", why="binary", line=1)
    if old is None or new is None:
        return _comes_or_goes(change.path, old or new or Side(b""), comes=old is None)
    hunks = hunks_of(old.content, new.content)
    has_moved = change.old_path is not None
    file = FileDiff(
        "rename" if has_moved else "modify",
        change.path,
        change.old_path if has_moved else change.path,
        None,
        None,
        hunks,
        sum(hunk.added for hunk in hunks),
        sum(hunk.removed for hunk in hunks),
    )
    if old.mode == new.mode:
        return file
    return replace(file, old_mode=old.mode, new_mode=new.mode)


def _comes_or_goes(path: str, side: Side, *, comes: bool) -> FileDiff:
    gone = deletion(path, side.content, side.mode)
    return reverse(DiffModel((gone,))).files[0] if comes else gone


def hunks_of(old: bytes, new: bytes) -> tuple[Hunk, ...]:
    """Return what leads from one text to another, with three lines around.

    Raises:
        InputError: ``diff.too-large``: also of lines, for comparing takes time by more than their
            number, and nothing else of this program runs meanwhile.
    """
    if old == new:
        return ()
    if is_wide(old, new):
        raise InputError("diff.too-large", what="lines", limit=MAX_LINES)
    import pygit2
    from pygit2.enums import DiffOption

    # Patience: lines that occur once hold the sides together, so that a moved function is not told
    # as its closing brackets.  Forced, as libgit2 takes odd bytes for a binary file.
    flags = DiffOption.FORCE_TEXT | DiffOption.PATIENCE | DiffOption.INDENT_HEURISTIC
    patch = pygit2.Patch.create_from(
        old,
        new,
        old_as_path="file",
        new_as_path="file",
        flag=flags,
        context_lines=CONTEXT_LINES,
        interhunk_lines=0,
    )
    return parse_diff(patch.data).files[0].hunks


def _size(hunk: Hunk) -> int:
    return sum(map(len, hunk.lines))
