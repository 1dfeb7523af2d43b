"""What was lent in a scratch copy: each file as it was read in the workspace, and as it lies there.

One SQLite file beside the copy, so that what was written down and what was not is never in doubt
after a kill.  It only saves work: where it cannot be read, or says that somebody has the copy, the
copy is made anew.  Blocking.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

_FORM: Final = 1  # of the tables; another one is made anew
_TABLES: Final = """\
CREATE TABLE state (is_lent INTEGER NOT NULL, rules TEXT NOT NULL);
CREATE TABLE file (
    path TEXT PRIMARY KEY,
    size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL,
    ino INTEGER NOT NULL,
    copy_size INTEGER, copy_mtime_ns INTEGER, copy_ctime_ns INTEGER, copy_ino INTEGER,
    sha256 TEXT NOT NULL, executable INTEGER NOT NULL, redacted INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE content (path TEXT PRIMARY KEY, true BLOB NOT NULL, shown BLOB);
"""
_FILE: Final = (
    "SELECT path, size, mtime_ns, ctime_ns, ino, copy_size, copy_mtime_ns, copy_ctime_ns,"
    " copy_ino, sha256, executable, redacted FROM file"
)
_PUT: Final = "INSERT OR REPLACE INTO file VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_FORGET: Final = "DELETE FROM content WHERE path = ?"


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
        redacted: The copy holds other bytes, without the secrets.
    """

    source: Stamp
    copy: Stamp | None
    sha256: str
    executable: bool
    redacted: bool = False


class Table:
    """The table of one copy.

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
            self._rows = {
                path: Lent(
                    Stamp(*rest[:4]),
                    Stamp(*rest[4:8]) if rest[4] is not None else None,
                    rest[8],
                    bool(rest[9]),
                    bool(rest[10]),
                )
                for path, *rest in self._base.execute(_FILE)
            }
        except BaseException:
            self._base.close()
            raise

    @property
    def rows(self) -> dict[str, Lent]:
        """The files by relative path; to be changed by `put` and `drop` alone."""
        return self._rows

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
        last = lent.sha256, lent.executable, lent.redacted
        self._base.execute(_PUT, (path, *lent.source, *copy, *last))
        if lent.copy is None:
            self._base.execute(_FORGET, (path,))
        elif true is not None:
            self._base.execute(
                "INSERT OR REPLACE INTO content VALUES (?, ?, ?)",
                (path, true, shown if lent.redacted else None),
            )
        self._rows[path] = lent

    def drop(self, path: str) -> None:
        """Forget a file."""
        self._base.execute("DELETE FROM file WHERE path = ?", (path,))
        self._base.execute(_FORGET, (path,))
        del self._rows[path]

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
