"""How the connection to the gateway stands, as ``codexbridge status`` tells it.  Pure."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from common.protocol.link import Closed
from common.protocol.link_events import ENDINGS

State = Literal["unpaired", "connecting", "connected", "waiting", "refused", "clock"]
# One of `TRANSPORT`, `link_events.ENDINGS`, `OWN` or `HELD`; "" while nothing is wrong.
Why: TypeAlias = str

# What keeps a link from even beginning, or cuts it off.
TRANSPORT: Final = frozenset({"connect", "tls", "http", "busy", "limited", "lost"})
REFUSED: Final = {429: "limited", 503: "busy"}  # by the status of HTTP: it is there, and says no
# What one code of a link means here, where more is known than the code says.
OWN: Final = frozenset({"wrong-gateway", "version-gateway", "version-machine", "journal"})
# Why what comes is held back while the link stands, by the code with which the journal refused it.
HELD: Final = {
    "inbox.too-fast": "slowed",
    "inbox.too-much": "too-much",
    "inbox.unheard": "unheard",
}

FIRST_DELAY_S: Final = 1.0
LONGEST_DELAY_S: Final = 60.0
STABLE_S: Final = 60.0  # a connection that held this long starts the back-off afresh
_STUBBORN_S: Final = 15.0  # least wait where only a person can mend it


@dataclass(frozen=True, slots=True)
class Condition:
    """How the connection stands.

    Attributes:
        state: ``waiting`` to try again; ``refused`` until a person mends it, ``clock`` too far off.
        why: Why it is not connected, or why it is and takes nothing in for now.
        since_ms: Since when it stands so, in milliseconds since the epoch.
        retry_s: Seconds until the next try, when it was last told.
        skew_s: Seconds the gateway's clock is ahead of ours, for ``clock``.
    """

    state: State
    why: Why = ""
    since_ms: int = 0
    retry_s: int = 0
    skew_s: int = 0


@dataclass(frozen=True, slots=True)
class Ended:
    """How one try or one connection ended.

    Attributes:
        condition: What it leaves behind: ``waiting``, ``refused`` or ``clock``.
        ready_s: Seconds it was usable; 0 when it never was.
        detail: For the log: an error's class or a link code, never what the peer sent.
    """

    condition: Condition
    ready_s: float
    detail: str


class Backoff:
    """Jittered exponential back-off: half to whole of 1, 2, 4 … 60 seconds."""

    def __init__(self, source: random.Random | None = None) -> None:
        # Not for secrets: it only keeps a thousand agents from knocking at the same moment.
        self._source = source or random.Random()  # noqa: S311
        self._failures = 0
        self._hurried = False

    def next_delay(self, ended: Ended) -> float:
        """Return the seconds to wait after this end: none when a key was rotated, but once only."""
        self._hurried = ended.condition.why == "rekeyed" and not self._hurried
        if self._hurried:
            return 0.0
        if ended.ready_s >= STABLE_S:
            self._failures = 0
        ceiling = min(LONGEST_DELAY_S, FIRST_DELAY_S * (1 << self._failures))
        self._failures = min(self._failures + 1, 6)
        if ended.condition.state in ("refused", "clock"):
            ceiling = max(ceiling, _STUBBORN_S)
        return ceiling * self._source.uniform(0.5, 1.0)


def after_link_closed(closed: Closed) -> Condition:
    """Return what a closed `Link` leaves behind."""
    seconds = closed.facts.get("seconds")
    if closed.code == "clock-skew":
        return Condition("clock", why="clock-skew", skew_s=seconds if type(seconds) is int else 0)
    if closed.code == "auth" and not closed.by_peer:
        # Not this machine was refused: whoever answers there could not prove the pinned key.
        return Condition("refused", why="wrong-gateway")
    if closed.code == "version":
        return Condition("refused", why=_older(closed.facts))
    return after_end(closed.code)


def after_end(code: str) -> Condition:
    """Return what an end leaves behind of which nothing but the code is known."""
    if code == "lost":
        return Condition("waiting", why="lost")
    ending = ENDINGS.get(code)
    if ending is None:
        return Condition("waiting", why="protocol")  # a word that this version does not know
    return Condition("refused" if ending.by_hand else "waiting", why=code)


def _older(facts: Mapping[str, object]) -> Why:
    ours, theirs = facts.get("ours"), facts.get("theirs")
    if type(ours) is not int or type(theirs) is not int:
        return "version"
    return "version-gateway" if theirs < ours else "version-machine"
