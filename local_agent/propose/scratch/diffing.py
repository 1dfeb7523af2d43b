"""What became of a scratch copy: found by comparing it with what was lent, never by what is said.

What may not be taken is left out and named.  The diff is made by us: the same states give the same
bytes (P2).  Hunks are found by libgit2 and everything else is ours, so that no configuration,
attribute or model has a say in it; the text is read back by `common.diff.parse` before it is given
to anybody.  Blocking.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from common.diff.model import (
    MAX_BYTES,
    MAX_FILES,
    MINUS,
    PLUS,
    SPACE,
    DiffModel,
    FileDiff,
    Hunk,
    Mode,
)
from common.diff.names import twin_key
from common.diff.parse import parse_diff
from common.diff.patching import deletion, patched, reverse
from common.diff.render import MAX_LINES, is_wide, render
from common.encodings import UTF8, decoded, in_utf8, told
from common.errors import InputError
from common.text import one_line
from local_agent.models.backend import Refusal
from local_agent.models.text_edits import has_new_marks
from local_agent.propose.scratch.slot import Lent, Slot, Stamp
from local_agent.propose.scratch.source import Source, check_name
from local_agent.propose.scratch.tree import Parts, Seen
from local_agent.workspace.listing import folders_of
from local_agent.workspace.paths import MAX_FILE_BYTES

ABSENT: Final = "absent"
MAX_REFUSED: Final = 100  # that are named
MAX_COMPARED_BYTES: Final = 64 * 1024 * 1024  # of both sides of all changed files
_EXECUTABLE: Final = 0o100
# Of these the person hears the reason, and nothing is taken.
_WHOLE: Final = frozenset(
    ("diff.too-large", "change.encoding", "change.no-character", "change.no-encoding")
)
CONTEXT_LINES: Final = 3
MAX_PAIRED: Final = 10_000  # pairs of files that are compared to find renames
MAX_ALIKE_BYTES: Final = 32 * 1024 * 1024  # of both sides of all pairs that are compared by line
_ALIKE: Final = 0.5  # as git has it

EXECUTABLE: Final[Mode] = "100755"
PLAIN: Final[Mode] = "100644"


@dataclass(frozen=True, slots=True)
class ScratchDiff:
    """What became of a copy.

    Attributes:
        diff: As git writes it; empty where nothing changed.
        base: SHA-256 of each file as it was lent, by path, or ``absent``; of all that the diff
            starts from or makes.
        refused: What was not taken.
        encodings: Of the files that are text in another one than UTF-8, by path.
    """

    diff: bytes
    base: Mapping[str, str]
    refused: tuple[Refusal, ...]
    encodings: Mapping[str, str]


def compare(slot: Slot, source: Source, *, doubted_ns: int) -> ScratchDiff:
    """Return what became of a copy.

    Args:
        slot: The copy.
        source: What it was made of: a file that was withheld may not be made anew.
        doubted_ns: Of files that changed later, in nanoseconds since 1970, the content is compared.

    Raises:
        InputError: ``diff.too-large``, ``diff.refused``: it is more than a proposal may be;
            ``scratch.gone``, ``scratch.too-many``: it cannot be looked through.
    """
    comparison = _Comparison(slot, source, MAX_COMPARED_BYTES)
    comparison.run(doubted_ns)
    changes = [_with_mode_kept(one) for one in with_renames(comparison.apart())]
    base = {}
    for change in changes:
        start = change.old_path or change.path
        base[change.path] = ABSENT
        base[start] = slot.table.rows[start].sha256 if change.old is not None else ABSENT
    refused = tuple(
        Refusal(one_line(path), code) for path, code in sorted(comparison.refused.items())
    )
    return ScratchDiff(make_diff(changes), base, refused[:MAX_REFUSED], comparison.encodings)


@dataclass(slots=True)
class _Comparison:
    """One comparison.

    Attributes:
        left: Bytes of both sides that may still be held.
        folders: All that files which were lent are in.
    """

    slot: Slot
    source: Source
    left: int
    changes: dict[str, Change] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    encodings: dict[str, str] = field(default_factory=dict)

    def run(self, doubted_ns: int) -> None:
        rows = self.slot.table.rows
        self.folders = folders_of(rows)
        known = rows.keys() | self.folders
        seen = self.slot.tree.look(
            lambda path, parts: None if path in known else _name_fault(parts, self.source.deny)
        )
        self.refused |= seen.others
        gone = [path for path, row in rows.items() if row.copy and _is_gone(path, seen)]
        touched = [
            path
            for path, status in seen.files.items()
            if (row := rows.get(path)) is None
            or row.copy != Stamp.of(status)
            or status.st_ctime_ns >= doubted_ns
        ]
        changed = [path for path in touched if path not in rows]
        if len(gone) + len(changed) > 2 * MAX_FILES:  # a rename is of two
            raise InputError("diff.too-large", what="files", limit=MAX_FILES)
        for path in gone:
            self._note(path, None)
        for path in sorted(touched):
            try:
                self._note(path, self._read(path, rows.get(path), seen))
            except InputError as error:
                if error.code in _WHOLE:
                    raise
                self.refused[path] = error.code

    def apart(self) -> list[Change]:
        """Return the changes, without those that some file systems would take for one file."""
        alike = defaultdict(list)
        for path in self.changes:
            alike[twin_key(path)].append(path)
        for twins in alike.values():
            if len(twins) > 1:
                self.refused |= dict.fromkeys(twins, "scratch.twin")
        return [one for path, one in self.changes.items() if path not in self.refused]

    def _read(self, path: str, row: Lent | None, seen: Seen) -> Side:
        # A folder may become a file, when what was lent of it is gone.
        is_new = path in self.folders or not self.source.exists(path)
        if row.copy is None if row else not is_new:
            raise InputError("scratch.withheld")
        content = self.slot.tree.read(tuple(path.split("/")), MAX_FILE_BYTES)
        if content is None or b"\0" in content:
            raise InputError("scratch.gone" if content is None else "scratch.binary")
        true = self.slot.table.true(path) if row else b""
        if row is not None and row.redacted:
            text = in_utf8(true, row.encoding or UTF8)
            content = unredacted(text, self.slot.table.shown(path), content)
        elif has_new_marks(content, true):
            raise InputError("scratch.redacted")
        content = self._encoded(path, row, true, content)
        return Side(content, executable=bool(seen.files[path].st_mode & _EXECUTABLE))

    def _encoded(self, path: str, row: Lent | None, true: bytes, content: bytes) -> bytes:
        """Return a text, which the copy holds in UTF-8, in the encoding of its file.

        Raises:
            InputError: ``change.no-character`` with ``character``: it has no such one;
                ``change.no-encoding``: the file was no text; ``change.encoding``: it is none now.
        """
        if row is not None and not row.encoding and content != true:
            raise InputError("change.no-encoding", path=path)
        if content == true:
            return content
        if decoded(content, UTF8) is None:  # a program may write the encoding that it finds there
            if row is not None and decoded(content, row.encoding) is None:
                raise InputError("change.encoding", path=path, encoding=told(row.encoding))
            return content
        content, self.encodings[path] = self.source.encodings.rewritten(path, true, content)
        return content

    def _note(self, path: str, new: Side | None) -> None:
        row = self.slot.table.rows.get(path)
        old = None
        if row is not None:
            old = Side(self.slot.table.true(path), executable=row.executable)
        if old == new:
            return
        self.left -= sum(len(side.content) for side in (old, new) if side is not None)
        if self.left < 0 or len(self.changes) >= 2 * MAX_FILES:
            raise InputError("diff.too-large", what="bytes", limit=MAX_BYTES)
        self.changes[path] = Change(path, old, new)


def unredacted(true: bytes, shown: bytes, now: bytes) -> bytes:
    """Return the true text with the edits of one whose secrets were taken out, line by line.

    Args:
        true: With its secrets.
        shown: The same without them, of as many lines.
        now: What became of that.

    Raises:
        InputError: ``scratch.redacted``: an edit is of a line that holds a secret, or writes the
            mark of one.
    """
    true_lines, shown_lines = true.split(b"\n"), shown.split(b"\n")
    hunks = tuple(_true_hunk(hunk, true_lines, shown_lines) for hunk in hunks_of(shown, now))
    added = [line for hunk in hunks for line in hunk.lines if line[0] == PLUS]
    if has_new_marks(b"\n".join(added), true):
        raise InputError("scratch.redacted")
    return patched(FileDiff("modify", "file", "file", None, None, hunks, 0, 0), true)


def _true_hunk(hunk: Hunk, true: list[bytes], shown: list[bytes]) -> Hunk:
    at, lines = hunk.old_first, []
    for line in hunk.lines:
        if line[0] == MINUS and true[at] != shown[at]:
            raise InputError("scratch.redacted")
        lines.append(b" " + true[at] if line[0] == SPACE else line)
        at += line[0] != PLUS
    return hunk._replace(lines=tuple(lines), section=b"")


def _name_fault(parts: Parts, deny: tuple[str, ...]) -> str | None:
    try:
        check_name(parts, deny)
    except InputError as error:
        return error.code
    return None


def _is_gone(path: str, seen: Seen) -> bool:
    """Tell whether a file was removed, and not put out of sight by what is refused."""
    if path in seen.files or path in seen.others:
        return False
    return folders_of([path]).isdisjoint(seen.others)


def _with_mode_kept(change: Change) -> Change:
    # Agents move a file by writing it anew; that it was a program is not theirs to forget.
    moved = change.old_path is not None and change.old is not None and change.old.executable
    if not moved or change.new is None:
        return change
    return replace(change, new=replace(change.new, executable=True))


# --- the diff of two states ---


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
    same = _best(gone, come, lambda old, new: float(old == new != b""))
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
    for side in filter(None, (old, new)):
        if b"\0" in side.content:
            raise InputError("diff.refused", why="binary", line=1)
    if old is None or new is None:
        side = old or new or Side(b"")
        gone = deletion(change.path, side.content, side.mode)
        return reverse(DiffModel((gone,))).files[0] if old is None else gone
    hunks = hunks_of(old.content, new.content)
    same = old.mode == new.mode
    return FileDiff(
        "modify" if change.old_path is None else "rename",
        change.path,
        change.old_path or change.path,
        None if same else old.mode,
        None if same else new.mode,
        hunks,
        sum(hunk.added for hunk in hunks),
        sum(hunk.removed for hunk in hunks),
    )


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
