"""Exact bytes under their SHA-256: scripts, logs of runs, later diffs (R59).  0600, written whole.

Blocking; on the event loop use a thread.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import re
from pathlib import Path
from typing import Final

from common.errors import AuthError, InputError, StoreError
from common.home import read_private, write_private

MAX_BLOB_BYTES: Final = 8 * 1024 * 1024

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

    def _path(self, name: str) -> Path:
        if _NAME.fullmatch(name) is None:
            raise InputError("blob.name")
        return self._folder / name[:2] / name
