"""Records that seals of several actions hold, and how they are stored.  Pure.

What one action alone seals stands in its folder, below `local_agent.actions`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Literal

from common.seal.shape import Shape, is_count, is_decimal, is_hash, is_text, one_of, or_none

Op = Literal["add", "modify", "delete", "rename", "copy"]
Mode = Literal["100644", "100755"]


@dataclass(frozen=True, slots=True)
class Place:
    """A file or folder by name and by identity, so that a swap shows."""

    path: str
    dev: int
    ino: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedChange:
    """What becomes of one file, by content.

    Attributes:
        path: Where the content is afterwards; for ``delete`` where it was.
        old_path: Where the content comes from; None for ``add``.
        old_sha256: Of the content there before; None for ``add``.
        old_mode: As it was; None for ``add``.
        new_sha256: Of the content afterwards; None for ``delete``.
        new_mode: As it will be; None for ``delete``.
        size: Bytes afterwards; 0 for ``delete``.
    """

    op: Op
    path: str
    old_path: str | None
    old_sha256: str | None
    old_mode: Mode | None
    new_sha256: str | None
    new_mode: Mode | None
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedCommit:
    """The commit that a sync makes before it pushes.

    Attributes:
        tree: Id of the tree it will hold; the commit's own id depends on its time.
        diff_sha256: Of the diff from the head to that tree, as shown.
    """

    message: str
    tree: str
    author: str
    email: str
    diff_sha256: str
    changes: tuple[SealedChange, ...]


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file that an answer is based on.

    Attributes:
        sha256: Of what was shown of it, secrets taken out; None where only its name was used.
    """

    path: str
    sha256: str | None = None


def read_changes(payload: Mapping[str, Any]) -> tuple[SealedChange, ...]:
    """Return the changes of a sealed change, undo, or commit."""
    return tuple(SealedChange(**change) for change in payload["changes"])


def stored_change(change: SealedChange) -> dict[str, Any]:
    """Return a change as it is sealed."""
    # `asdict` copies deeply, and takes longer for 500 changes than to read their files.
    return {name: getattr(change, name) for name in _CHANGE_FIELDS}


def stored_place(place: Place) -> dict[str, str]:
    """Return name and identity as they are sealed."""
    # 64-bit inode numbers do not fit a JSON integer, so they are decimal text.
    return {"path": place.path, "dev": str(place.dev), "ino": str(place.ino)}


PLACE: Final[Shape] = {"path": is_text, "dev": is_decimal, "ino": is_decimal}
_MODES: Final = ("100644", "100755", None)
CHANGE: Final[Shape] = {
    "op": one_of("add", "modify", "delete", "rename", "copy"),
    "path": is_text,
    "old_path": or_none(is_text),
    "old_sha256": or_none(is_hash),
    "old_mode": one_of(*_MODES),
    "new_sha256": or_none(is_hash),
    "new_mode": one_of(*_MODES),
    "size": is_count,
}
_CHANGE_FIELDS: Final = tuple(field.name for field in fields(SealedChange))
