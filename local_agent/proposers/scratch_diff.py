"""What became of a scratch copy: found by comparing it with what was lent, never by what is said.

What may not be taken is left out and named.  Blocking.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from common.diff.model import MAX_BYTES, MAX_FILES, MINUS, PLUS, SPACE, FileDiff, Hunk
from common.diff.names import twin_key
from common.diff.patching import patched
from common.errors import InputError
from common.text import one_line
from local_agent.models.backend import Refusal
from local_agent.models.text_edits import has_new_marks
from local_agent.proposers.diffing import Change, Side, hunks_of, make_diff, with_renames
from local_agent.proposers.scratch_gate import check_name
from local_agent.proposers.scratch_slot import Slot, folders_of
from local_agent.proposers.scratch_source import Source
from local_agent.proposers.scratch_table import Lent, Stamp
from local_agent.proposers.scratch_tree import Parts, Seen
from local_agent.workspace.paths import MAX_FILE_BYTES

ABSENT: Final = "absent"
MAX_REFUSED: Final = 100  # that are named
MAX_COMPARED_BYTES: Final = 64 * 1024 * 1024  # of both sides of all changed files
_EXECUTABLE: Final = 0o100


@dataclass(frozen=True, slots=True)
class ScratchDiff:
    """What became of a copy.

    Attributes:
        diff: As git writes it; empty where nothing changed.
        base: SHA-256 of each file as it was lent, by path, or ``absent``; of all that the diff
            starts from or makes.
        refused: What was not taken.
    """

    diff: bytes
    base: Mapping[str, str]
    refused: tuple[Refusal, ...]


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
    return ScratchDiff(make_diff(changes), base, refused[:MAX_REFUSED])


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
            if (row := rows.get(path)) is None or _may_differ(row, Stamp.of(status), doubted_ns)
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
                if error.code == "diff.too-large":
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
            content = unredacted(true, self.slot.table.shown(path), content)
        elif has_new_marks(content, true):
            raise InputError("scratch.redacted")
        return Side(content, executable=bool(seen.files[path].st_mode & _EXECUTABLE))

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


def _may_differ(row: Lent, stamp: Stamp, doubted_ns: int) -> bool:
    return row.copy != stamp or stamp.ctime_ns >= doubted_ns


def _with_mode_kept(change: Change) -> Change:
    # Agents move a file by writing it anew; that it was a program is not theirs to forget.
    moved = change.old_path is not None and change.old is not None and change.old.executable
    if not moved or change.new is None:
        return change
    return replace(change, new=replace(change.new, executable=True))
