"""What a judgement is, and what it is made from: rows of facts, each with its level and its code.

The rows stand in `risk_commands`, `risk_changes`, `risk_outgoing` and `risk_policy`, the same in
words in ``docs/risk.md``, and a test compares the two.  Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from common.diff.model import DiffModel
from local_agent.safety.policy import Policy

Level = Literal["normal", "high", "refused"]
Facts = TypeVar("Facts")


@dataclass(frozen=True, slots=True)
class Risk:
    """What the facts of an action amount to.

    Attributes:
        reasons: Codes, in the order of the tables; each has a sentence in ``risk_words.RISK``.
    """

    level: Level
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What is known around an action and does not stand in its payload.

    Attributes:
        allowed: The argv lists the person configured for this workspace: its test command; of a
            shell line the shell and the script.  They are compared whole (R5), never by prefix.
        diff: What the sealed diff says; a change without it is refused.
        moved: How many of its blocks stand elsewhere in the files than their author said.
        policy: The person's own, for this workspace.
        hooks: Where git takes hooks from, relative to the workspace.
        parts: Of several operations, what is known around each, in their order; policy and hooks
            are those of the whole.
    """

    allowed: Collection[Sequence[str]] = ()
    diff: DiffModel | None = None
    moved: int = 0
    policy: Policy = field(default_factory=Policy)
    hooks: tuple[str, ...] = ()
    parts: tuple[Circumstances, ...] = ()


@dataclass(frozen=True, slots=True)
class Row(Generic[Facts]):
    """One line of a table.

    Attributes:
        holds: Tells whether the fact is one of the action's.
    """

    level: Literal["high", "refused"]
    code: str
    holds: Callable[[Facts], bool]


Table = tuple[Row[Facts], ...]
Finding = tuple[Literal["high", "refused"], str]


def findings(table: Table[Facts], facts: Facts) -> list[Finding]:
    """Return what a table finds; what refuses stands first, and hides what is merely high."""
    refused = [row for row in table if row.level == "refused" and row.holds(facts)]
    found = refused or [row for row in table if row.level == "high" and row.holds(facts)]
    return [(row.level, row.code) for row in found]


def summed(found: Collection[Finding]) -> Risk:
    """Return the strictest level that was found, with all the reasons for it."""
    for level in ("refused", "high"):
        if codes := tuple(dict.fromkeys(code for one, code in found if one == level)):
            return Risk(level, codes)
    return Risk("normal", ())
