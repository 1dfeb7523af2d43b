"""What a callback URL must do, check by check, each with why it matters.

The rules are WeCom's (pages 90238, 90239, 90968) where it has one, else what keeps whoever is not
WeCom out.  A check that is not required is good practice: it does not fail a URL.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from common.sentences import Sentence
from gateway.simulator import check_words as W  # noqa: N812 - a table of constants
from gateway.simulator.probe import TOO_MANY, Probe, Seen, Told

ANSWER_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of a check.

    Attributes:
        good: Whether it is met.
        seen: What was seen, in both languages; nothing that was sent or received.
    """

    good: bool
    seen: Told


Probing: TypeAlias = Callable[[Probe], Finding]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that a callback URL must do.

    Attributes:
        id: What it is called in reports.
        what: What is demanded.
        why: Why it matters.
        probe: Finds out.
        required: Whether the URL fails with it.
    """

    id: str
    what: Sentence
    why: Sentence
    probe: Probing
    required: bool = True


@dataclass(frozen=True, slots=True)
class Result:
    """A check with what came of it."""

    check: Check
    finding: Finding


def check(name: str, why: str, probe: Probing, *, required: bool = True) -> Check:
    """Return a check whose words are in `check_words`."""
    return Check(name, W.WHAT[name], W.WHY[why], probe, required)


def taken(seen: Seen) -> Finding:
    """Return whether a message was taken, in time."""
    return Finding(seen.status == 200 and seen.took_s < ANSWER_S, seen.told())


def refused(probe: Probe, seen: Seen, *secret: bytes) -> Finding:
    """Return whether a request was refused, and gave nothing of ``secret`` away.

    That an address asked too often is no judgement of what it asked.
    """
    probe.refusals.append(seen)
    leaks = any(one in seen.body for one in secret)
    judged = 400 <= seen.status < 500 and seen.status != TOO_MANY
    return Finding(judged and not leaks, seen.told())


def flipped(encrypted: str) -> str:
    """Return a ciphertext with one character changed in its middle."""
    middle = len(encrypted) // 2
    return encrypted[:middle] + ("B" if encrypted[middle] == "A" else "A") + encrypted[middle + 1 :]
