"""How much of a workspace a model may be shown (seed 002 §5.1), and what was collected for it.

Pure: sizes in, grants out.  Every candidate ends in exactly one place: among the grants, or among
what was left out, with the reason.  Whoever comes first takes first, and what is granted is never
taken back.  The account of it has names, sizes and reasons, and no content.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

from common.model.intent import MAX_FILES
from common.text import one_line
from local_agent.propose.context.diagnostics import Diagnostic

MAX_FILE_BYTES: Final = 12_000
MAX_TOTAL_BYTES: Final = 60_000
MAX_TOLD: Final = 200  # of what was left out, in the account
_MARKS_BYTES: Final = 96  # of the marks around a part of the prompt, with its kind and its lines

Kind = Literal["file", "selection", "tree", "git", "changes", "diagnostics", "result"]
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What the person has in front of them; lines are read by us, never taken from outside.

    Attributes:
        active_file: Relative path.
        selection: First and last line of it, from 1.
        diagnostics: What their editor says about the workspace.
    """

    active_file: str | None = None
    selection: tuple[int, int] | None = None
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One piece of content that a model may be shown: redacted, bounded, and never trusted.

    Attributes:
        path: Empty where it is no file.
        first_line: From 1.
        cut: More stands in the file than in ``text``.
    """

    kind: Kind
    text: str
    path: str = ""
    first_line: int = 1
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Used:
    """One piece as it is accounted for: all but its text.

    Attributes:
        first_line: From 1; 0 where the lines are none of a file.
        bytes: Of the text that is shown, in UTF-8.
        sha256: Of that text.
        cut: There is more of it, which is not shown.
    """

    kind: Kind
    path: str
    first_line: int
    lines: int
    bytes: int
    why: str
    sha256: str
    cut: bool


def used(piece: Piece, why: str) -> Used:
    """Return the account of a piece."""
    raw = piece.text.encode()
    return Used(
        kind=piece.kind,
        path=piece.path,
        first_line=piece.first_line if piece.path and piece.kind != "changes" else 0,
        lines=piece.text.count("\n"),
        bytes=len(raw),
        why=why,
        sha256=hashlib.sha256(raw).hexdigest(),
        cut=piece.cut,
    )


@dataclass(frozen=True, slots=True)
class Collected:
    """What was found.

    Attributes:
        files: Most important first, within the budget.
        pieces: What a model may be shown.
        tests: Test files that share a name with them.
        branch: None without a repository or a branch.
        changed: Files changed since the last commit.
        left_out: What could have been shown and is not.
        used: One for each piece, in the same order.
        skipped: Count of files and folders that were never candidates, by reason.
        truncated: The workspace was not listed to its end.
    """

    files: tuple[Share, ...] = ()
    pieces: tuple[Piece, ...] = ()
    tests: tuple[str, ...] = ()
    branch: str | None = None
    changed: int = 0
    left_out: tuple[LeftOut, ...] = ()
    used: tuple[Used, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)
    truncated: bool = False
    budget: Budget = field(default_factory=Budget)

    def explained(self) -> dict[str, Any]:
        """Return the account as JSON: what is shown, what is not and why; no content."""
        return {
            "used": [_told(one) for one in self.used],
            "left_out": [_told(one) for one in self.left_out[:MAX_TOLD]],
            "left_out_more": max(len(self.left_out) - MAX_TOLD, 0),
            "not_listed": dict(self.skipped),
            "listing_truncated": self.truncated,
            "bytes": sum(one.bytes for one in self.used),
            "files": len({one.path for one in self.used if one.path}),
            "limits": asdict(self.budget),
        }


def _told(one: Used | LeftOut) -> dict[str, Any]:
    # A name is data: nothing in it can end a line of whoever shows the account.
    return asdict(one) | {"path": one_line(one.path, 1200), "why": one_line(one.why, 300)}
