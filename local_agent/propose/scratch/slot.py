"""One place of a scratch copy: a folder for an agent to work in, and the table of what is in it.

    SLOT/tree      the copy
    SLOT/table     what was lent: each file as it was read in the workspace, and as it lies here

It is lent as `refresh` leaves it, and `mend` puts right whatever was done to it.  The table is one
SQLite file, so that what was written down and what was not is never in doubt after a kill.  It only
saves work: where it cannot be read, or says that somebody has the copy, the copy is made anew.
Blocking.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from common.encodings import UTF8, in_utf8
from common.errors import InputError
from local_agent.propose.scratch.source import Fetched, Source, secret_rules, without_secrets
from local_agent.propose.scratch.tree import Parts, ScratchTree
from local_agent.workspace.folders import remove_folder
from local_agent.workspace.listing import folders_of
from local_agent.workspace.paths import MAX_FILE_BYTES

MAX_MENDED: Final = 2_000  # files and strays; beyond, a copy is sooner made anew
# A file that changed later than this before it was looked at may change again in the same tick.
SETTLED_NS: Final = 2_000_000_000

_FORM: Final = 2  # of the tables; another one is made anew
_TABLES: Final = """\
CREATE TABLE state (is_lent INTEGER NOT NULL, rules TEXT NOT NULL);
CREATE TABLE file (
    path TEXT PRIMARY KEY,
    size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL,
    ino INTEGER NOT NULL,
    copy_size INTEGER, copy_mtime_ns INTEGER, copy_ctime_ns INTEGER, copy_ino INTEGER,
    sha256 TEXT NOT NULL, executable INTEGER NOT NULL, redacted INTEGER NOT NULL,
    encoding TEXT NOT NULL, declared TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE content (path TEXT PRIMARY KEY, true BLOB NOT NULL, shown BLOB);
"""
_FILE: Final = (
    "SELECT path, size, mtime_ns, ctime_ns, ino, copy_size, copy_mtime_ns, copy_ctime_ns,"
    " copy_ino, sha256, executable, redacted, encoding, declared FROM file"
)
_PUT: Final = "INSERT OR REPLACE INTO file VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_FORGET: Final = "DELETE FROM content WHERE path = ?"


@dataclass(frozen=True, slots=True)
class Slot:
    """One place, open.

    Attributes:
        redacted: Secrets are taken out of what is brought in.
    """

    folder: Path
    tree: ScratchTree
    table: Table
    redacted: bool

    def close(self) -> None:
        """Let go of it."""
        self.table.close()
        self.tree.close()


def new_slot(folder: Path, *, redacted: bool) -> Slot:
    """Return an empty place, whatever was there.

    Raises:
        OSError: the machine refused.
    """
    remove_folder(folder)
    root = folder / "tree"
    root.mkdir(mode=0o700, parents=True)
    return _opened(folder, redacted=redacted)


def old_slot(folder: Path, *, redacted: bool) -> Slot | None:
    """Return a place as it was left, None where there is any doubt about it."""
    try:
        if not (folder / "table").is_file():
            return None
        slot = _opened(folder, redacted=redacted)
    except (OSError, sqlite3.Error):
        return None
    if slot.table.is_lent:  # it was not given back: who knows what is in it
        slot.close()
        return None
    return slot


def bring(slot: Slot, path: str, fetched: Fetched, *, now_ns: int) -> bytes | None:
    """Put a file of the workspace into the copy, and return what is there; None if withheld.

    Args:
        now_ns: The moment, in nanoseconds since 1970.
    """
    status, content = fetched.status, fetched.content
    source = Stamp.of(status)
    if status.st_ctime_ns >= now_ns - SETTLED_NS:
        source = source._replace(ctime_ns=0)  # to be read again the next time
    shown = None if content is None else in_utf8(content, fetched.encoding or UTF8)
    if slot.redacted and shown is not None:
        shown = without_secrets(shown)
    lent = Lent(
        source,
        None,
        digest(content or b""),
        executable=fetched.executable,
        encoding=fetched.encoding,
        declared=fetched.declared,
    )
    if content is None or shown is None:
        slot.table.put(path, lent)
        return None
    written = slot.tree.write(_parts(path), shown, executable=fetched.executable)
    lent = replace(lent, copy=Stamp.of(written), redacted=shown != content)
    slot.table.put(path, lent, content, shown)
    return shown


def refresh(
    slot: Slot, source: Source, files: Iterable[str], *, now_ns: int, stop: threading.Event
) -> None:
    """Make the copy one of these files as they are now.

    Args:
        files: Relative paths, all of them that it shall have.
        now_ns: The moment, in nanoseconds since 1970.
        stop: Set to end the work soon; the copy is whole then, but not up to date.
    """
    rows = slot.table.rows
    for path in files:
        if stop.is_set():
            return
        status, row = source.status(path), rows.get(path)
        as_noted = row and (row.source, row.declared)
        if status is not None and as_noted == (Stamp.of(status), source.declared(path)):
            continue
        parts = _parts(path)
        try:
            fetched = source.fetch(parts)
        except InputError:
            fetched = None
        if fetched is None:
            if row is not None:
                slot.tree.remove(parts)
                slot.table.drop(path)
        elif row is None or not _is_same(row, fetched):
            if row is not None:
                slot.tree.remove(parts)
            bring(slot, path, fetched, now_ns=now_ns)
        elif fetched.status.st_ctime_ns < now_ns - SETTLED_NS:
            same = replace(row, source=Stamp.of(fetched.status), declared=fetched.declared)
            slot.table.put(path, same)


def mend(slot: Slot, *, doubted_ns: int) -> None:
    """Put the copy right: strays away, and every file as it was brought in.

    Args:
        doubted_ns: Of files that changed later, in nanoseconds since 1970, the content is compared;
            0 compares all.

    Raises:
        InputError: ``scratch.too-many``: it is not worth it; ``scratch.gone``; ``path.*``.
        OSError: the machine refused.
    """
    rows = slot.table.rows
    files = {path for path, row in rows.items() if row.copy is not None}
    folders = folders_of(files)
    known = files | folders
    seen = slot.tree.look(lambda path, _: None if path in known else "path.denied")
    strays = [*seen.others, *(seen.files.keys() - files), *(set(seen.folders) - folders)]
    broken = []
    for path in files:
        row, status = rows[path], seen.files.get(path)
        is_stamped = status is not None and Stamp.of(status) == row.copy
        if not is_stamped or not _is_whole(slot, path, row, doubted_ns):
            broken.append(path)
    if len(strays) + len(broken) > MAX_MENDED:
        raise InputError("scratch.too-many", limit=MAX_MENDED)
    for path in strays:
        slot.tree.remove_whole(_parts(path))
    for path in broken:
        row, shown = rows[path], slot.table.shown(path)
        status = slot.tree.write(_parts(path), shown, executable=row.executable)
        slot.table.put(path, replace(row, copy=Stamp.of(status)))


def _opened(folder: Path, *, redacted: bool) -> Slot:
    with contextlib.ExitStack() as undoing:
        # Programs name it as the machine does, whichever links lead to our state.
        tree = ScratchTree((folder / "tree").resolve(strict=True))
        undoing.callback(tree.close)
        table = Table(folder / "table", secret_rules() if redacted else "")
        undoing.pop_all()
    return Slot(folder, tree, table, redacted)


def _is_same(row: Lent, fetched: Fetched) -> bool:
    if fetched.content is None or row.copy is None:
        return False
    was = row.sha256, row.executable, row.encoding
    return was == (digest(fetched.content), fetched.executable, fetched.encoding)


def _is_whole(slot: Slot, path: str, row: Lent, doubted_ns: int) -> bool:
    if row.copy is None or row.copy.ctime_ns < doubted_ns:
        return True
    return slot.tree.read(_parts(path), MAX_FILE_BYTES) == slot.table.shown(path)


def _parts(path: str) -> Parts:
    return tuple(path.split("/"))


# --- the table ---


class Stamp(NamedTuple):
    """By what a file is known to be as it was; times in nanoseconds."""

    size: int
    mtime_ns: int
    ctime_ns: int
    ino: int

    @classmethod
    def of(cls, status: os.stat_result) -> Stamp:
        """Return that of a file."""
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


@dataclass(frozen=True, slots=True)
class Lent:
    """One file of the workspace.

    Attributes:
        source: In the workspace, when it was read.
        copy: In the copy; None for one that is withheld, as it is no text.
        sha256: Of its true content.
        redacted: The copy holds other bytes, in UTF-8 or without the secrets.
        encoding: As of `Fetched`.
        declared: As of `Fetched`.
    """

    source: Stamp
    copy: Stamp | None
    sha256: str
    executable: bool
    redacted: bool = False
    encoding: str = UTF8
    declared: str = ""


class Table:
    """The table of one copy.

    Attributes:
        rows: The files by relative path; to be changed by `put` and `drop` alone.

    Args:
        file: Where it lies.
        rules: By which secrets are taken out; a table that was begun by others cannot be read.

    Raises:
        sqlite3.Error: it cannot be read.
    """

    def __init__(self, file: Path, rules: str = "") -> None:
        # Whoever has the copy takes turns, in whichever thread.
        self._base = sqlite3.connect(file, check_same_thread=False)
        try:
            # Not flushed: what a kill leaves is whole, and after a loss of power the first look
            # compares contents.
            self._base.execute("PRAGMA synchronous = OFF")
            self._begin(rules)
            self.rows = {
                path: Lent(
                    Stamp(*rest[:4]),
                    Stamp(*rest[4:8]) if rest[4] is not None else None,
                    rest[8],
                    bool(rest[9]),
                    bool(rest[10]),
                    *rest[11:],
                )
                for path, *rest in self._base.execute(_FILE)
            }
        except BaseException:
            self._base.close()
            raise

    @property
    def is_lent(self) -> bool:
        """Whether somebody had the copy when it was last written down; of a new one as well."""
        found: tuple[int] = self._base.execute("SELECT is_lent FROM state").fetchone()
        return bool(found[0])

    def put(self, path: str, lent: Lent, true: bytes | None = None, shown: bytes = b"") -> None:
        """Note a file.

        Args:
            path: Relative.
            lent: What it is.
            true: Its content in the workspace; None leaves what is noted.
            shown: What the copy holds instead, where that is another.
        """
        copy = lent.copy or (None,) * 4
        last = lent.sha256, lent.executable, lent.redacted, lent.encoding, lent.declared
        self._base.execute(_PUT, (path, *lent.source, *copy, *last))
        if lent.copy is None:
            self._base.execute(_FORGET, (path,))
        elif true is not None:
            self._base.execute(
                "INSERT OR REPLACE INTO content VALUES (?, ?, ?)",
                (path, true, shown if lent.redacted else None),
            )
        self.rows[path] = lent

    def drop(self, path: str) -> None:
        """Forget a file."""
        self._base.execute("DELETE FROM file WHERE path = ?", (path,))
        self._base.execute(_FORGET, (path,))
        del self.rows[path]

    def true(self, path: str) -> bytes:
        """Return what a file that is in the copy was in the workspace."""
        return self._content(path)[0]

    def shown(self, path: str) -> bytes:
        """Return what was written into the copy."""
        true, shown = self._content(path)
        return true if shown is None else shown

    def keep(self, *, lent: bool) -> None:
        """Write down what was noted, and whether somebody has the copy."""
        self._base.execute("UPDATE state SET is_lent = ?", (lent,))
        self._base.commit()

    def close(self) -> None:
        """Close it; what was not written down is lost."""
        self._base.close()

    def _begin(self, rules: str) -> None:
        form: int = self._base.execute("PRAGMA user_version").fetchone()[0]
        if form == 0:
            self._base.executescript(f"BEGIN;{_TABLES}PRAGMA user_version = {_FORM};COMMIT;")
            self._base.execute("INSERT INTO state VALUES (1, ?)", (rules,))
            self._base.commit()
        elif form != _FORM or self._base.execute("SELECT rules FROM state").fetchone() != (rules,):
            raise sqlite3.DatabaseError("begun by another version")

    def _content(self, path: str) -> tuple[bytes, bytes | None]:
        query = "SELECT true, shown FROM content WHERE path = ?"
        found: tuple[bytes, bytes | None] = self._base.execute(query, (path,)).fetchone()
        return found


def digest(content: bytes) -> str:
    """Return the hash by which a content is known."""
    return hashlib.sha256(content).hexdigest()
