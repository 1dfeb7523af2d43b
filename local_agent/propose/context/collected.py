"""What was collected for one request, and the account of it: names, sizes and reasons."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from common.text import one_line
from local_agent.propose.context.budget import Budget, Kind, LeftOut, Share
from local_agent.propose.context.diagnostics import Diagnostic

MAX_TOLD = 200  # of what was left out, in the account


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
    """One piece of content, redacted and bounded (`local_agent.propose.base.Piece`)."""

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
