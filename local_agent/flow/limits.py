"""Bounds against wearing the person down (R28).

What is asked at this machine itself is not bounded: whoever types there is the approver.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from local_agent.errors import FloodedError
from local_agent.store.approvals import Approvals, StoredApproval

_HOUR_MS: Final = 3_600_000


@dataclass(frozen=True, slots=True)
class Limits:
    """How much may be asked through one gateway, and how often a code may be mistyped.

    Attributes:
        pending: Approvals that may wait at once.
        hourly_member: Approvals one member may ask for within an hour (R28).
        hourly_gateway: Approvals all its members together may: a gateway names whom it likes.
        repeats: How often a wish may be rejected within an hour before it is refused unasked.
        wrong_codes: Wrong codes before a pause.
        pause_s: Seconds of the pause.
    """

    pending: int = 10
    hourly_member: int = 10
    hourly_gateway: int = 30
    repeats: int = 2
    wrong_codes: int = 10
    pause_s: int = 60


def check_flood(approvals: Approvals, wish: StoredApproval, limits: Limits) -> None:
    """Return when the person may be asked once more.

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
        (
            "rejected",
            approvals.count_rejected(gateway, since, subject_sha256=wish.subject_sha256),
            limits.repeats,
        ),
    )
    for why, count, limit in found:
        if count >= limit:
            raise FloodedError("approval.too-many", why=why, limit=limit)
