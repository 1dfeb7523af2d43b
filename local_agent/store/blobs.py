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
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from common.durable import NewFile, sync_folders, write_files
from common.errors import AuthError, ConfigError, InputError, StoreError
from common.home import read_private, write_private

MAX_BLOB_BYTES: Final = 8 * 1024 * 1024

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FOLDERS_AT_ONCE: Final = 64  # whose handles are open together
_NAME: Final = re.compile(r"[0-9a-f]{64}")


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
            os.utime(path)  # its age counts from the last time that somebody kept it
        except FileNotFoundError:
            write_private(path, data)
        return name

    def put_all(self, contents: Iterable[bytes]) -> None:
        """Store many, all durable when this returns; their flushes overlap.

        What is there already is read, and believed only when it is whole.

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
        for first in range(0, len(folders), _FOLDERS_AT_ONCE):
            some = set(folders[first : first + _FOLDERS_AT_ONCE])
            self._write({name: data for name, data in missing.items() if name[:2] in some})

    def put_note(self, key: str, data: bytes) -> None:
        """Store bytes durably under a name of their own; they live as long as the blobs.

        Nothing proves them when they are read: whoever reads them checks what they say.
        """
        write_private(self._note_path(key), data)

    def note(self, key: str) -> bytes | None:
        """Return what was stored under this name; None where there is nothing."""
        try:
            return read_private(self._note_path(key), max_bytes=MAX_BLOB_BYTES)
        except FileNotFoundError:
            return None

    def prune(self, *, before_s: float) -> int:
        """Remove what nobody has kept since a moment, and return how many that were.

        Remains of writes that a crash cut off go with it.

        Args:
            before_s: The moment, in seconds of the wall clock.
        """
        removed = 0
        for path in self._folder.glob("??/*"):
            with contextlib.suppress(FileNotFoundError):  # a write that was just renamed
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
            os.utime(self._path(name))
        except (AuthError, ConfigError, StoreError, FileNotFoundError):
            return False
        return True

    def _write(self, blobs: Mapping[str, bytes]) -> None:
        """Write blobs of a few folders: beside, flushed, renamed, folders flushed."""
        with contextlib.ExitStack() as stack:
            handles: dict[str, int] = {}
            is_any_new = False
            for name in {name[:2] for name in blobs}:
                is_any_new |= self._make_folder(name)
                handles[name] = os.open(self._folder / name, _FOLDER)
                stack.callback(os.close, handles[name])
            # Random, not by process: after a kill -9 the next one may well have the same number.
            end = f".{secrets.token_hex(8)}.tmp"
            write_files(
                [
                    NewFile(folder=handles[name[:2]], name=name + end, data=data, mode=0o600)
                    for name, data in blobs.items()
                ]
            )
            for name in blobs:
                folder_handle = handles[name[:2]]
                os.rename(name + end, name, src_dir_fd=folder_handle, dst_dir_fd=folder_handle)
            sync_folders(handles.values())
            if is_any_new:
                self._sync_top()

    def _make_folder(self, name: str) -> bool:
        """Make the folder of a blob where there is none; tell whether it was made."""
        folder = self._folder / name
        if folder.is_dir():
            return False
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return True

    def _sync_top(self) -> None:
        # Once, and last: a file system that keeps a log has written new folders with their files.
        top = os.open(self._folder, _FOLDER)
        try:
            sync_folders([top])
        finally:
            os.close(top)

    def _note_path(self, key: str) -> Path:
        name = hashlib.sha256(b"note\0" + key.encode()).hexdigest()
        return self._folder / name[:2] / f"{name}.note"

    def _path(self, name: str) -> Path:
        if _NAME.fullmatch(name) is None:
            raise InputError("blob.name")
        return self._folder / name[:2] / name
