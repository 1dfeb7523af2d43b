"""What a change replaced, kept so that it can be taken back (P5, R67).

Contents lie in the blob store under their hash, which the seal names; nothing here says where
anything is written.  What a seal does not hold, such as the full permission bits of what was
removed, is noted beside them and is no more than advice.  Blocking.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from common.errors import AuthError, ConfigError, RemoteProtocolError, StateError, StoreError
from common.strict_json import canonical, loads
from local_agent.store.blobs import MAX_BLOB_BYTES, Blobs

KEPT_DAYS: Final = 90  # how long an undo is promised; `store.retention` removes nothing younger
_PERMISSIONS: Final = 0o777


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """What a seal does not hold of a change, by relative path.

    Attributes:
        files: Permission bits of the files before it, where they were not the usual ones.
        folders: The same of folders that it left empty, and removed.
        empty: Folders that were empty before it put something in.
    """

    files: Mapping[str, int] = field(default_factory=dict)
    folders: Mapping[str, int] = field(default_factory=dict)
    empty: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Tell whether there is anything to note."""
        return bool(self.files or self.folders or self.empty)


class Backups:
    """The contents before each change.

    Args:
        blobs: Where they are kept.
    """

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs

    @contextmanager
    def keeping(
        self, approval_id: str, contents: Iterable[bytes], details: Details
    ) -> Iterator[None]:
        """Keep what a change will replace; on disk when the block ends.

        What the block itself puts on disk is waited for together with it.

        Args:
            approval_id: Of the change.
            contents: Also the diff itself, which an undo shows.
            details: Noted where there are any.

        Raises:
            StoreError: ``blob.too-large``.
            OSError: the machine refused; the change must not be made.
        """
        with self._blobs.putting(contents):
            yield
        if details:
            self._blobs.put_note(_key(approval_id), canonical(_stored(details)))

    def content(self, sha256: str) -> bytes:
        """Return what was kept under this hash.

        Raises:
            StateError: ``undo.expired``: it is not there any more; ``undo.damaged``: it is not
                what it was, or is open to others.
        """
        try:
            return self._blobs.get(sha256)
        except StoreError:
            raise StateError("undo.expired", days=KEPT_DAYS) from None
        except (AuthError, ConfigError):
            raise StateError("undo.damaged", name=sha256[:12]) from None

    def details(self, approval_id: str) -> Details:
        """Return what was noted for a change; nothing where the note is gone or is no note."""
        try:
            raw = self._blobs.note(_key(approval_id))
            return Details() if raw is None else _read(loads(raw, max_bytes=MAX_BLOB_BYTES))
        except (RemoteProtocolError, ConfigError, KeyError, TypeError, AttributeError):
            return Details()


def _key(approval_id: str) -> str:
    return f"change/{approval_id}"


def _stored(details: Details) -> dict[str, Any]:
    return {
        "files": dict(details.files),
        "folders": dict(details.folders),
        "empty": list(details.empty),
    }


def _read(found: Any) -> Details:
    return Details(
        files=_bits(found["files"]),
        folders=_bits(found["folders"]),
        empty=tuple(path for path in found["empty"] if isinstance(path, str)),
    )


def _bits(found: Mapping[str, Any]) -> dict[str, int]:
    return {path: bits & _PERMISSIONS for path, bits in found.items() if type(bits) is int}
