"""One place of a scratch copy: a folder for an agent to work in, and the table of what is in it.

    SLOT/tree      the copy
    SLOT/table     what was lent (`table`)

It is lent as `refresh` leaves it, and `mend` puts right whatever was done to it.  Blocking.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from common.errors import InputError
from local_agent.propose.scratch.source import Fetched, Source, secret_rules, without_secrets
from local_agent.propose.scratch.table import Lent, Stamp, Table, digest
from local_agent.propose.scratch.tree import Parts, ScratchTree
from local_agent.workspace.folders import remove_folder
from local_agent.workspace.paths import MAX_FILE_BYTES

MAX_MENDED: Final = 2_000  # files and strays; beyond, a copy is sooner made anew
# A file that changed later than this before it was looked at may change again in the same tick.
SETTLED_NS: Final = 2_000_000_000


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
    shown = without_secrets(content) if slot.redacted and content is not None else content
    sha256 = digest(content or b"")
    if content is None or shown is None:
        slot.table.put(path, Lent(source, None, sha256, executable=fetched.executable))
        return None
    written = slot.tree.write(tuple(path.split("/")), shown, executable=fetched.executable)
    lent = Lent(
        source,
        Stamp.of(written),
        sha256,
        executable=fetched.executable,
        redacted=shown != content,
    )
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
        if row is not None and status is not None and Stamp.of(status) == row.source:
            continue
        parts = tuple(path.split("/"))
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
        else:
            _restamp(slot, path, row, fetched, now_ns)


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


def folders_of(files: Iterable[str]) -> set[str]:
    """Return all folders that these files are in."""
    found: set[str] = set()
    for path in files:
        # From the inner to the outer, as long as there is a new one.
        while (path := path.rpartition("/")[0]) and path not in found:
            found.add(path)
    return found


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
    return (row.sha256, row.executable) == (digest(fetched.content), fetched.executable)


def _restamp(slot: Slot, path: str, row: Lent, fetched: Fetched, now_ns: int) -> None:
    if fetched.status.st_ctime_ns < now_ns - SETTLED_NS:
        slot.table.put(path, replace(row, source=Stamp.of(fetched.status)))


def _is_whole(slot: Slot, path: str, row: Lent, doubted_ns: int) -> bool:
    if row.copy is None or row.copy.ctime_ns < doubted_ns:
        return True
    return slot.tree.read(_parts(path), MAX_FILE_BYTES) == slot.table.shown(path)


def _parts(path: str) -> Parts:
    return tuple(path.split("/"))
