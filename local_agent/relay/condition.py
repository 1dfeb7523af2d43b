"""How the connection to the gateway stands, as ``codexbridge status`` tells it.  Pure."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final, Literal

State = Literal["unpaired", "connecting", "connected", "waiting", "refused", "clock"]
Why = Literal["", "connect", "tls", "http", "timeout", "lost", "taken-over", "protocol"]

FIRST_DELAY_S: Final = 1.0
LONGEST_DELAY_S: Final = 60.0
STABLE_S: Final = 60.0  # a connection that held this long starts the back-off afresh
_STUBBORN_S: Final = 15.0  # least wait where only a person can mend it


@dataclass(frozen=True, slots=True)
class Condition:
    """How the connection stands.

    Attributes:
        state: ``waiting`` to try again; ``refused`` by the gateway, ``clock`` too far off.
        why: Why it waits.
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

    def next_delay(self, ended: Ended) -> float:
        """Return the seconds to wait after this end."""
        if ended.ready_s >= STABLE_S:
            self._failures = 0
        ceiling = min(LONGEST_DELAY_S, FIRST_DELAY_S * (1 << self._failures))
        self._failures = min(self._failures + 1, 6)
        stubborn = ended.condition.state in ("refused", "clock")
        if stubborn or ended.condition.why == "taken-over":
            ceiling = max(ceiling, _STUBBORN_S)
        return ceiling * self._source.uniform(0.5, 1.0)


def after_link_closed(code: str, skew_s: int) -> Condition:
    """Return what a closed `Link` leaves behind."""
    if code in ("auth", "revoked"):
        return Condition("refused")
    if code == "clock-skew":
        return Condition("clock", skew_s=skew_s)
    reasons: dict[str, Why] = {
        "dead": "timeout",
        "timeout": "timeout",
        "replaced": "taken-over",
        "shutdown": "lost",
    }
    return Condition("waiting", why=reasons.get(code, "protocol"))
