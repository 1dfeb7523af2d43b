"""Exact bytes under their SHA-256: scripts, logs of runs, later diffs (R59).  0600, written whole.

Blocking; on the event loop use a thread.
"""

from __future__ import annotations

import hashlib
import hmac
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
        if not path.exists():
            write_private(path, data)
        return name

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
