"""What must hold at the moment of a decision; else an error is raised and nothing was decided."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from contextlib import contextmanager

from common.clock import Instant
from common.errors import InputError, StateError
from common.seal import code_matches
from local_agent.flow.approvals import Approver, question
from local_agent.flow.deadlines import Deadlines
from local_agent.flow.limits import Limits
from local_agent.store.approvals import StoredApproval


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
        gives one.  High risk takes the whole code everywhere (R29).

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
        asked = question(stored)
        if by == "desktop" and not asked.both_groups:
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
