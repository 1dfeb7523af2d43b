"""What can go wrong with WeCom's API, for an admin or a test to switch on for an app.

Codes and texts as page 90313 has them.  Each ends by itself: after a time, or after some calls; a
block for too many calls lasts as long as the real one (page 90454) unless it is told otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

TOKEN: Final = "gettoken"  # noqa: S105 - the name of a call
SEND: Final = "message/send"
UPDATE: Final = "message/update_template_card"
APP: Final = "agent/get"
_MESSAGES: Final = frozenset({SEND, UPDATE})
_WITH_TOKEN: Final = _MESSAGES | {APP}
_ALL: Final = _WITH_TOKEN | {TOKEN}
DAY_S: Final = 86_400
ZONE_S: Final = 8 * 3600  # WeCom's days end at midnight in China
SLOW_S: Final = 15.0  # longer than clients wait
UNREACHABLE: Final = "unreachable"
SWITCHED_OFF: Final = "50003"
NOT_SEEN: Final = "81013"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong.

    Attributes:
        calls: Which calls it hits.
        errcode: What WeCom answers; None where it answers no JSON.
        errmsg: The text with it.
        lasts_s: How long, unless it is told otherwise; 0: until it is switched off.
        status: HTTP status; 0: no answer at all.
    """

    calls: frozenset[str]
    errcode: int | None = None
    errmsg: str = ""
    lasts_s: float = 0.0
    status: int = 200


NOBODY: Final = "user & party & tag all invalid"
_TOO_OFTEN: Final = "api freq out of limit"
FAULTS: Final[Mapping[str, Fault]] = {
    "busy": Fault(_ALL, -1, "system busy"),
    "40001": Fault(frozenset({TOKEN}), 40001, "invalid credential"),
    "40014": Fault(_WITH_TOKEN, 40014, "invalid access_token"),
    "42001": Fault(_WITH_TOKEN, 42001, "access_token expired"),
    "45009-minute": Fault(_MESSAGES, 45009, _TOO_OFTEN, 60),
    "45009-hour": Fault(_MESSAGES, 45009, _TOO_OFTEN, 3600),
    "45009-day": Fault(_MESSAGES, 45009, _TOO_OFTEN, -1),
    "45033": Fault(_MESSAGES, 45033, "api concurrent out of limit"),
    "48002": Fault(_MESSAGES, 48002, "api forbidden for no agent privilege"),
    # The app is switched off in the console, which ``agent/get`` tells as well.
    SWITCHED_OFF: Fault(_MESSAGES, 50003, "app is disabled"),
    "60020": Fault(_WITH_TOKEN, 60020, "not allow to access from your ip, from ip: {address}"),
    "301002": Fault(_WITH_TOKEN, 301002, "not allow operate another agent with this accesstoken"),
    # Nobody sees the app: ``agent/get`` tells it, and the app itself answers who is named.
    NOT_SEEN: Fault(_MESSAGES, 81013, NOBODY),
    "html": Fault(_ALL),
    "http-500": Fault(_ALL, status=500),
    "http-502": Fault(_ALL, status=502),
    "http-503": Fault(_ALL, status=503),
    "slow": Fault(_ALL),
    "closed": Fault(_ALL, status=0),
    "answer-lost": Fault(_MESSAGES, status=0),
    # The address of the API takes no connection: of all apps, since they share it.
    UNREACHABLE: Fault(frozenset(), status=0),
}


@dataclass(frozen=True, slots=True)
class Switched:
    """A fault that is on.

    Attributes:
        until_ms: When it ends; None: not by itself.
        left: How many calls it still hits; None: however many.
        address: What 60020 says instead of the caller's own address.
        delay_s: How long ``slow`` takes.
    """

    until_ms: int | None = None
    left: int | None = None
    address: str = ""
    delay_s: float = SLOW_S


def ends_at(fault: Fault, now_ms: int, seconds: float | None) -> int | None:
    """Return when a fault that begins now ends; None for not by itself."""
    if seconds is not None:
        return now_ms + round(seconds * 1000)
    if fault.lasts_s < 0:
        return ((now_ms // 1000 + ZONE_S) // DAY_S + 1) * DAY_S * 1000 - ZONE_S * 1000
    return now_ms + round(fault.lasts_s * 1000) if fault.lasts_s else None


class Switches:
    """The faults of one app."""

    def __init__(self) -> None:
        self._on: dict[str, Switched] = {}

    def turn_on(self, name: str, switched: Switched) -> None:
        """Switch a fault on; one that is on begins anew."""
        self._on[name] = switched

    def turn_off(self, name: str) -> None:
        """Switch a fault off; all of them for an empty name."""
        if name:
            self._on.pop(name, None)
        else:
            self._on.clear()

    def hit(self, call: str, now_ms: int) -> tuple[str, Switched] | None:
        """Return the fault that a call meets, the one that was switched on first, and count it."""
        self._drop_ended(now_ms)
        for name, switched in self._on.items():
            if call in FAULTS[name].calls:
                if switched.left == 1:
                    del self._on[name]
                elif switched.left is not None:
                    self._on[name] = replace(switched, left=switched.left - 1)
                return name, switched
        return None

    def is_on(self, name: str, now_ms: int) -> bool:
        """Tell whether a fault is on, without counting a call."""
        self._drop_ended(now_ms)
        return name in self._on

    def told(self, now_ms: int) -> dict[str, dict[str, Any]]:
        """Return what is on, for the page."""
        self._drop_ended(now_ms)
        return {
            name: {"until_ms": one.until_ms, "left": one.left, "address": one.address}
            for name, one in self._on.items()
        }

    def _drop_ended(self, now_ms: int) -> None:
        self._on = {
            name: one
            for name, one in self._on.items()
            if one.until_ms is None or one.until_ms > now_ms
        }
