"""Whether what somebody at this machine acts upon is what stands."""

from __future__ import annotations

import hmac

from common.errors import InputError, StateError
from local_agent.store.approvals import StoredApproval


def check_standing(asked: StoredApproval, digest: str) -> None:
    """Return when an approval waits for a decision and is the one that was shown.

    Args:
        asked: As stored.
        digest: Of what was shown.

    Raises:
        StateError: ``approval.not-pending``.
        InputError: ``approval.digest-mismatch``: another question stands by now.
    """
    if asked.state != "pending":
        raise StateError("approval.not-pending", state=asked.state)
    if not hmac.compare_digest(asked.digest.encode(), digest.encode("utf-8", "replace")):
        raise InputError("approval.digest-mismatch")


def check_withdrawn(asked: StoredApproval) -> None:
    """Return when an approval was taken back before anybody decided on it.

    Raises:
        StateError: ``approval.not-pending``: it was decided, or has run out.
    """
    if asked.state != "superseded" or asked.decided_at is not None:
        raise StateError("approval.not-pending", state=asked.state)
