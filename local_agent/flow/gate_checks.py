"""What must hold when something is asked and decided; else an error is raised, and nothing was.

Time, digest, code and blocks (`Checks`); when an approval is too late (`Deadlines`); bounds against
wearing the person down (`Limits`).
"""

from __future__ import annotations

import asyncio
import hmac
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from common.clock import Clock, Instant
from common.errors import InputError, StateError
from common.seal import code_matches
from local_agent.errors import FloodedError
from local_agent.flow.approvals import Approver, question
from local_agent.store.approvals import Approvals, StoredApproval

_LOOK_S: Final = 30.0  # after a sleep the wall clock may be ahead of the monotonic one
_HOUR_MS: Final = 3_600_000


class PausedError(InputError):
    """This wrong code was one too many; the next ones are not even looked at for a while."""


class Checks:
    """Time, state, digest, typed code, and whether anything may be approved at all.

    Wrong codes are counted in memory: the code is shown, not secret.  It stops a mistyped or
    guessed one from being tried without end, and a restart takes longer than the pause.
    """

    def __init__(self, deadlines: Deadlines, limits: Limits) -> None:
        self._deadlines = deadlines
        self._limits = limits
        self._tries: dict[str, int] = {}
        self._paused_until: dict[str, float] = {}
        self._blocks: list[str] = []
        self.times_blocked = 0

    @property
    def blocked(self) -> str | None:
        """Why nothing can be approved right now, or None."""
        return self._blocks[-1] if self._blocks else None

    @contextmanager
    def block(self, why: str) -> Iterator[None]:
        """Accept no approval meanwhile."""
        self._blocks.append(why)
        self.times_blocked += 1
        try:
            yield
        finally:
            self._blocks.remove(why)

    def is_late(self, stored: StoredApproval, now: Instant) -> bool:
        """Tell whether either clock says that its time is over, or once did (R4)."""
        if now.wall_ms >= stored.expires_at:
            self._deadlines.pass_over(stored.approval_id)
            return True
        return self._deadlines.is_late(stored.approval_id, now)

    def waits(self, stored: StoredApproval, shown: str, now: Instant) -> None:
        """Return when it waits for a decision, and is what the person was shown (R23).

        Raises:
            StateError: ``approval.not-pending``, ``approval.expired``.
            InputError: ``approval.digest-mismatch``.
        """
        if stored.state != "pending":
            raise StateError("approval.not-pending", state=stored.state)
        if self.is_late(stored, now):
            raise StateError("approval.expired", approval_id=stored.approval_id)
        if not hmac.compare_digest(stored.digest.encode(), shown.encode("utf-8", "replace")):
            raise InputError("approval.digest-mismatch")

    def typed(self, stored: StoredApproval, typed: str, now: Instant, *, by: Approver) -> None:
        """Return when it may be approved now, and the person typed its code.

        In the window an armed click stands for the first group: nothing but a hand on this desktop
        gives one.  High risk takes the whole code there and in the terminal (R29).  A passkey signs
        the digest itself, and its page knows the code: what it takes besides for high risk is its
        own face's matter (`faces.page.passkeys`).  A file of answers types none; what it may decide
        on is looked at elsewhere (`local_agent.safety.dry_run`).

        Raises:
            StateError: ``approval.blocked``.
            InputError: ``approval.paused`` with ``seconds``, ``approval.code-mismatch``.
            PausedError: ``approval.code-mismatch``: the pause begins.
            AuthError: ``approval.changed``.
        """
        if self.blocked is not None:
            raise StateError("approval.blocked", why=self.blocked)
        left = self._paused_until.get(stored.approval_id, now.mono) - now.mono
        if left > 0:
            raise InputError("approval.paused", seconds=int(left) + 1)
        if by == "dry-run":
            return
        asked = question(stored)
        if by == "passkey" or (by == "desktop" and not asked.both_groups):
            return
        if not code_matches(typed, asked.digest, both_groups=asked.both_groups):
            raise self._wrong_code(stored.approval_id, now)

    def forget(self, approval_id: str) -> None:
        """Drop what is counted for one that no longer waits."""
        self._tries.pop(approval_id, None)
        self._paused_until.pop(approval_id, None)

    def _wrong_code(self, approval_id: str, now: Instant) -> InputError:
        tries = self._tries.get(approval_id, 0) + 1
        self._tries[approval_id] = tries % self._limits.wrong_codes
        if tries < self._limits.wrong_codes:
            return InputError("approval.code-mismatch")
        self._paused_until[approval_id] = now.mono + self._limits.pause_s
        return PausedError("approval.code-mismatch")


class Deadlines:
    """When approvals are too late: by whichever clock says so first (R4).

    The wall clock may be set back while an approval waits; the monotonic clock stands still while
    the machine sleeps.  Here are the moments, by approval id, on the monotonic clock.

    An approval that has none here is late: nothing outlives the process that asked or took it up.
    What was once late stays so: a clock that goes back brings nothing to life again.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._at: dict[str, float] = {}
        self._sooner = asyncio.Event()

    def begin(self, approval_id: str, wall_ms: int, now: Instant) -> None:
        """Let it be late from ``wall_ms`` on, or from the same span on the other clock."""
        self._at[approval_id] = now.mono + (wall_ms - now.wall_ms) / 1000
        self._sooner.set()

    def pass_over(self, approval_id: str) -> None:
        """Let it be late from now on: somebody has seen its time come."""
        if approval_id in self._at:
            self._at[approval_id] = -math.inf
            self._sooner.set()

    def forget(self, approval_id: str) -> None:
        """Stop counting for it."""
        self._at.pop(approval_id, None)

    def known(self) -> set[str]:
        """Return the ids that are counted."""
        return set(self._at)

    def next(self) -> float | None:
        """Return when something is late next, by the monotonic clock."""
        return min(self._at.values(), default=None)

    def is_late(self, approval_id: str, now: Instant) -> bool:
        """Tell whether the monotonic clock says so."""
        deadline = self._at.get(approval_id)
        return deadline is None or now.mono >= deadline

    async def reached(self) -> None:
        """Return when something is late, a nearer moment was set, or it is time to look anyway."""
        left, deadline = _LOOK_S, self.next()
        if deadline is not None:
            left = min(max(deadline - self._clock.now().mono, 0.0), _LOOK_S)
        try:
            async with asyncio.timeout(left):
                await self._sooner.wait()
        except TimeoutError:
            pass
        self._sooner.clear()


@dataclass(frozen=True, slots=True)
class Limits:
    """How much may be asked through one gateway, and how often a code may be mistyped.

    Attributes:
        pending: Approvals that may wait at once.
        hourly_member: Approvals one member may ask for within an hour (R28); a run of a playbook
            counts as one.
        run: Questions of one run.
        hourly_gateway: Approvals all its members together may: a gateway names whom it likes.
        repeats: How often a wish may be rejected within an hour before it is refused unasked.
        wrong_codes: Wrong codes before a pause.
        pause_s: Seconds of the pause.
    """

    pending: int = 10
    hourly_member: int = 10
    hourly_gateway: int = 30
    run: int = 100
    repeats: int = 2
    wrong_codes: int = 10
    pause_s: int = 60


def check_flood(approvals: Approvals, wish: StoredApproval, limits: Limits) -> None:
    """Return when the person may be asked once more.

    What is asked at this machine itself is not bounded: whoever types there is the approver.

    Raises:
        FloodedError: ``approval.too-many`` with ``why`` and ``limit``.
    """
    if not wish.gateway:
        return
    since = wish.created_at - _HOUR_MS
    gateway = wish.gateway
    found = (
        ("pending", approvals.count_pending(gateway), limits.pending),
        (
            "member",
            approvals.count_asked(gateway, since, besides=wish.task_id, requester=wish.requester),
            limits.hourly_member,
        ),
        (
            "gateway",
            approvals.count_asked(gateway, since, besides=wish.task_id),
            limits.hourly_gateway,
        ),
        ("run", approvals.count_of_run(wish.task_id), limits.run),
        (
            "rejected",
            approvals.count_rejected(gateway, since, subject_sha256=wish.subject_sha256),
            limits.repeats,
        ),
    )
    for why, count, limit in found:
        if count >= limit:
            raise FloodedError("approval.too-many", why=why, limit=limit)
