"""How much of a workspace a model may be shown (seed 002 §5.1).  Pure: sizes in, grants out.

Every candidate ends in exactly one place: among the grants, or among what was left out, with the
reason.  Whoever comes first takes first, and what is granted is never taken back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from common.model.intent import MAX_FILES

MAX_FILE_BYTES: Final = 12_000
MAX_TOTAL_BYTES: Final = 60_000

_MARKS_BYTES: Final = 96  # of the marks around a part of the prompt, with its kind and its lines

Kind = Literal["file", "selection", "tree", "git", "changes", "diagnostics"]
Reason = Literal[
    "over-files",  # the tenth file was granted before it
    "over-bytes",  # nothing was left, in all or of its file's share
    "binary",
    "secret",  # it may never be read (R52)
    "ignored",  # git leaves it out
    "too-large",
    "unreadable",  # a link, no ordinary file, or not ours to open
    "not-found",
    "duplicate",  # granted already
]


def frame_bytes(path: str) -> int:
    """Return the bytes that a piece takes beside its text, in the prompt that a model is sent."""
    return _MARKS_BYTES + len(json.dumps(path, ensure_ascii=False).encode())


def number_bytes(lines: int) -> int:
    """Return the bytes that the number of a line takes, at most, in a file of so many lines."""
    return len(f"{lines}| ")


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that could be shown.

    Attributes:
        path: Relative; empty where it is no file.
        size: Bytes that it would take as a whole, as it is sent.
        why: What it is good for, such as ``named`` or ``defines:parse_config``.
        priority: The smaller, the sooner; equal ones keep their order.
    """

    kind: Kind
    path: str
    size: int
    why: str
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Grant:
    """What may be shown of a candidate: so many bytes."""

    candidate: Candidate
    granted: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What is not shown, and why."""

    path: str
    why: Reason
    size: int = 0


@dataclass(frozen=True, slots=True)
class Share:
    """One file's part of what is shown.

    Attributes:
        size: Bytes of the whole file.
        granted: Bytes of it that may be read.
    """

    path: str
    size: int
    granted: int

    @property
    def cut(self) -> bool:
        """Whether the file is longer than what may be read."""
        return self.granted < self.size


@dataclass(frozen=True, slots=True)
class Division:
    """Who got what."""

    grants: tuple[Grant, ...]
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True, slots=True)
class Budget:
    """The three limits of the seed.

    Attributes:
        max_file_bytes: Of all that is shown of one file.
        max_total_bytes: Of everything together, whatever its kind.
    """

    max_files: int = MAX_FILES
    max_file_bytes: int = MAX_FILE_BYTES
    max_total_bytes: int = MAX_TOTAL_BYTES

    def divide(self, candidates: Iterable[Candidate]) -> Division:
        """Return what each candidate may have, by priority."""
        grants: list[Grant] = []
        left_out: list[LeftOut] = []
        known: set[tuple[Kind, str]] = set()
        shares: dict[str, int] = {}  # bytes of each file that are granted
        left = self.max_total_bytes
        for one in sorted(candidates, key=lambda one: one.priority):
            key = (one.kind, one.path)
            reason = self._refusal(one, left, shares) if key not in known else "duplicate"
            if reason is not None:
                left_out.append(LeftOut(one.path, reason, one.size))
                continue
            room = self.max_file_bytes - shares.get(one.path, 0) if one.path else left
            granted = min(one.size, room, left)
            grants.append(Grant(one, granted))
            known.add(key)
            left -= granted
            if one.path:
                shares[one.path] = shares.get(one.path, 0) + granted
        return Division(tuple(grants), tuple(left_out))

    def _refusal(self, one: Candidate, left: int, shares: dict[str, int]) -> Reason | None:
        if one.path and one.path not in shares and len(shares) >= self.max_files:
            return "over-files"
        spent = one.path != "" and shares.get(one.path, 0) >= self.max_file_bytes
        return "over-bytes" if left <= 0 or spent else None
