"""Touches: what a passkey is asked to sign, once, for one approval and one session (ADR 44).

    open ─▶ challenge, and for high risk a code that window or terminal show ─▶ spend

The random bytes in a challenge and the code are drawn here, kept in memory alone, and good for one
answer, whether it verifies or not.  A session has one touch at a time.  The code reaches the person
past the page, beside the task, the question and the fingerprint that it is for; so a script that
opens a touch for another task is contradicted where the page cannot lie.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Final

from common.assertion import SIZE, challenge_of
from common.clock import Clock, Instant
from common.errors import InputError, StateError
from common.ids import CROCKFORD
from common.seal import fold_code
from local_agent.faces.control.tasks import Answer
from local_agent.faces.window.program import Windows
from local_agent.flow.approvals import PendingApproval
from local_agent.views.question import OneTimeCode, Text

TOUCH_SECONDS: Final = 180.0
MOST: Final = 16  # that are open; as many as there are sessions (`common.page.sessions`)
WRONG_CODES: Final = 3
CODE_CHARS: Final = 6
CODES: Final = 10  # within `CODES_SECONDS`: each opens a window
CODES_SECONDS: Final = 600.0


@dataclass(slots=True, eq=False)
class _Touch:
    """One that is open.

    Attributes:
        code: For high risk; else empty.
        over: Set once it is spent: whatever shows its code closes.
    """

    approval_id: str
    digest: str
    random: bytes
    until: Instant
    code: str = ""
    wrong: int = 0
    over: asyncio.Event = field(default_factory=asyncio.Event)


class Touches:
    """All touches that are open, and where their codes are shown.

    Args:
        clock: For their end.
        windows: Show a code where no terminal waits for it.
    """

    def __init__(self, clock: Clock, windows: Windows) -> None:
        self._clock = clock
        self._windows = windows
        self._open: dict[bytes, _Touch] = {}
        self._terminals: set[asyncio.Queue[OneTimeCode]] = set()
        self._showing: set[asyncio.Task[None]] = set()
        self._drawn: deque[float] = deque(maxlen=CODES)

    @property
    def shown_by(self) -> str:
        """``terminal``, ``window``, or empty where no code can be shown."""
        if self._terminals:
            return "terminal"
        return "window" if self._windows.state == "on" else ""

    async def codes(self) -> AsyncIterator[Answer]:
        """Yield each code from now on to the terminal that waits here, for as long as it does."""
        waiting: asyncio.Queue[OneTimeCode] = asyncio.Queue()
        self._terminals.add(waiting)
        try:
            while True:
                yield False, await waiting.get()
        finally:
            self._terminals.discard(waiting)

    def open(self, session: bytes, asked: PendingApproval, title: Text) -> bytes:
        """Return the challenge for one answer; an older touch of the session is over.

        Args:
            session: What names it, 32 bytes.
            asked: What would be approved.
            title: What is asked, in one line.

        Raises:
            StateError: ``passkey.no-display``: high risk, and no code could be shown.
            InputError: ``approval.paused``: too many codes were drawn.
        """
        now = self._clock.now()
        self._end(session)
        if len(self._open) >= MOST:
            self._end(next(iter(self._open)))
        made = _Touch(
            asked.approval_id, asked.digest, secrets.token_bytes(SIZE), later(now, TOUCH_SECONDS)
        )
        if asked.both_groups:
            made.code = self._draw(now)
            self._show(OneTimeCode(asked.short_id, title, asked.code, made.code), made.over)
        self._open[session] = made
        return challenge_of(asked.digest, session, made.random)

    def spend(self, session: bytes, approval_id: str, digest: str, typed: str) -> bytes:
        """Return the random bytes of the session's touch, which is over by that.

        A wrong code alone leaves it open, two times.

        Raises:
            StateError: ``passkey.no-touch``: none is open, or for something else, or no longer.
            InputError: ``passkey.wrong-once``.
        """
        touch = self._open.get(session)
        is_late = touch is None or seconds_left(touch.until, self._clock.now()) <= 0
        if touch is None or is_late or (touch.approval_id, touch.digest) != (approval_id, digest):
            self._end(session)
            raise StateError("passkey.no-touch")
        if touch.code and not hmac.compare_digest(fold_code(typed), touch.code.encode()):
            touch.wrong += 1
            if touch.wrong < WRONG_CODES:
                raise InputError("passkey.wrong-once", left=WRONG_CODES - touch.wrong)
            self._end(session)
            raise StateError("passkey.no-touch")
        self._end(session)
        return touch.random

    def _draw(self, now: Instant) -> str:
        if not self.shown_by:
            raise StateError("passkey.no-display")
        if len(self._drawn) == CODES and (left := self._drawn[0] + CODES_SECONDS - now.mono) > 0:
            raise InputError("approval.paused", seconds=int(left) + 1)
        self._drawn.append(now.mono)
        return "".join(secrets.choice(CROCKFORD) for _ in range(CODE_CHARS))

    def _show(self, shown: OneTimeCode, over: asyncio.Event) -> None:
        for waiting in self._terminals:
            waiting.put_nowait(shown)
        if not self._terminals:
            task = asyncio.ensure_future(self._windows.show_code(shown, over))
            self._showing.add(task)
            task.add_done_callback(self._showing.discard)

    def _end(self, session: bytes) -> None:
        if touch := self._open.pop(session, None):
            touch.over.set()


def later(now: Instant, seconds: float) -> Instant:
    """Return a moment that comes so much later, by both clocks."""
    return Instant(now.wall_ms + round(seconds * 1000), now.mono + seconds)


def seconds_left(until: Instant, now: Instant) -> float:
    """Return the seconds until a moment, by whichever clock says less."""
    return min(until.mono - now.mono, (until.wall_ms - now.wall_ms) / 1000)
