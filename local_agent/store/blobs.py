"""Exact bytes under their SHA-256: diffs, what they replaced, logs of runs (R59).  0600, whole.

Blocking; on the event loop use a thread.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import re
import secrets
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from common.durable import NewFile, sync_folders, write_files
from common.errors import AuthError, ConfigError, InputError, StoreError
from common.home import read_private, write_private

MAX_BLOB_BYTES: Final = 8 * 1024 * 1024

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FOLDERS_AT_ONCE: Final = 64  # whose handles are open together
_NAME: Final = re.compile(r"[0-9a-f]{64}")
# Between looking at an age and removing what is old, nothing may become young: whoever kept it
# would find nothing.  One process has the folder, with several threads.
_AGES: Final = threading.Lock()


class Blobs:
    """A folder of blobs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, data: bytes) -> str:
        """Store the bytes durably and return their name; the same bytes are stored once.

        Raises:
            StoreError: ``blob.too-large``.
        """
        if len(data) > MAX_BLOB_BYTES:
            raise StoreError("blob.too-large", limit=MAX_BLOB_BYTES)
        name = hashlib.sha256(data).hexdigest()
        path = self._path(name)
        try:
            with _AGES:
                os.utime(path)  # its age counts from the last time that somebody kept it
        except FileNotFoundError:
            write_private(path, data)
        return name

    @contextlib.contextmanager
    def putting(self, contents: Iterable[bytes]) -> Iterator[None]:
        """Store many: there when the block begins, and durable when it ends without an error.

        Their flushes overlap.  Names are flushed last: a file system that keeps a log has written
        them by then, if the block itself has flushed anything.  What is there already is read, and
        believed only when it is whole.

        Raises:
            StoreError: ``blob.too-large``.
            OSError: one could not be stored; any of the others may have been.
        """
        missing: dict[str, bytes] = {}
        for data in contents:
            if len(data) > MAX_BLOB_BYTES:
                raise StoreError("blob.too-large", limit=MAX_BLOB_BYTES)
            name = hashlib.sha256(data).hexdigest()
            if name not in missing and not self._refresh(name):
                missing[name] = data
        folders = sorted({name[:2] for name in missing})
        parts = [
            set(folders[first : first + _FOLDERS_AT_ONCE])
            for first in range(0, len(folders), _FOLDERS_AT_ONCE)
        ]
        made = [self._make_folder(folder) for folder in folders]
        for part in parts:
            self._write({name: data for name, data in missing.items() if name[:2] in part})
        yield
        for part in parts:
            with self._opened(part) as handles:
                sync_folders(handles.values())
        if any(made):
            with self._opened([""]) as handles:
                sync_folders(handles.values())

    def put_note(self, key: str, data: bytes) -> None:
        """Store bytes durably under a name of their own; they live as long as the blobs.

        Nothing proves them when they are read: whoever reads them checks what they say.
        """
        path = self._note_path(key)
        with _AGES:
            write_private(path, data)

    def note(self, key: str) -> bytes | None:
        """Return what was stored under this name; None where there is nothing."""
        try:
            return read_private(self._note_path(key), max_bytes=MAX_BLOB_BYTES)
        except FileNotFoundError:
            return None

    def link(self, name: str, folder: Path) -> None:
        """Give a blob a second name in a folder of the same file system; both are one file.

        What bears that name there already, and is another file, gives way.
        """
        beside = folder / f".{name}.{secrets.token_hex(8)}.tmp"
        os.link(self._path(name), beside, follow_symlinks=False)
        beside.replace(folder / name)
        beside.unlink(missing_ok=True)  # a rename onto another name of the same file leaves both

    def prune(self, *, before_s: float) -> int:
        """Remove what nobody has kept since a moment, and return how many that were.

        Remains of writes that a crash cut off go with it.

        Args:
            before_s: The moment, in seconds of the wall clock.
        """
        removed = 0
        for path in self._folder.glob("??/*"):
            # Not found is a write that was just renamed.
            with contextlib.suppress(FileNotFoundError), _AGES:
                if path.stat().st_mtime < before_s:
                    path.unlink()
                    removed += 1
        return removed

    def get(self, name: str) -> bytes:
        """Return the bytes, which hash to their name.

        Raises:
            InputError: ``blob.name``: it is no SHA-256.
            StoreError: ``blob.missing``.
            AuthError: ``blob.changed``: somebody wrote into it.
        """
        try:
            data = read_private(self._path(name), max_bytes=MAX_BLOB_BYTES)
        except FileNotFoundError:
            raise StoreError("blob.missing", name=name) from None
        found = hashlib.sha256(data).hexdigest()
        if not hmac.compare_digest(found.encode(), name.encode()):
            raise AuthError("blob.changed", name=name)
        return data

    def _refresh(self, name: str) -> bool:
        try:
            self.get(name)
            with _AGES:
                os.utime(self._path(name))
        except (AuthError, ConfigError, StoreError, FileNotFoundError):
            return False
        return True

    def _write(self, blobs: Mapping[str, bytes]) -> None:
        """Write blobs of a few folders: beside, flushed, renamed."""
        with self._opened({name[:2] for name in blobs}) as handles:
            # Random, not by process: after a kill -9 the next one may well have the same number.
            end = f".{secrets.token_hex(8)}.tmp"
            write_files(
                [
                    NewFile(folder=handles[name[:2]], name=name + end, data=data, mode=0o600)
                    for name, data in blobs.items()
                ]
            )
            with _AGES:
                for name in blobs:
                    place = handles[name[:2]]
                    os.rename(name + end, name, src_dir_fd=place, dst_dir_fd=place)

    @contextlib.contextmanager
    def _opened(self, folders: Iterable[str]) -> Iterator[dict[str, int]]:
        """Give handles of a few folders of blobs; the empty name is that of all of them."""
        with contextlib.ExitStack() as stack:
            handles: dict[str, int] = {}
            for folder in folders:
                handles[folder] = os.open(self._folder / folder, _FOLDER)
                stack.callback(os.close, handles[folder])
            yield handles

    def _make_folder(self, name: str) -> bool:
        """Make the folder of a blob where there is none; tell whether it was made."""
        folder = self._folder / name
        if folder.is_dir():
            return False
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return True

    def _note_path(self, key: str) -> Path:
        name = hashlib.sha256(b"note\0" + key.encode()).hexdigest()
        return self._folder / name[:2] / f"{name}.note"

    def _path(self, name: str) -> Path:
        if _NAME.fullmatch(name) is None:
            raise InputError("blob.name")
        return self._folder / name[:2] / name
