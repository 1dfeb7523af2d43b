"""What a person decided, in the words that this machine's key signs (P2, R59)."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from typing import Literal

from common.errors import AuthError
from common.signing import APPROVAL, VerifyKey
from common.strict_json import canonical
from local_agent.store.approvals import StoredApproval


@dataclass(frozen=True, slots=True)
class Statement:
    """A decision in words, which the agent's key signs under the APPROVAL label.

    Attributes:
        risk: As the person saw it classified.
        assertion: What a passkey signed; its hash is among the words.
    """

    approval_id: str
    digest: str
    choice: Literal["approve", "reject"]
    approver: str
    reason: str | None
    at_ms: int
    risk: Literal["normal", "high"]
    assertion: bytes | None = None

    @property
    def raw(self) -> bytes:
        """The bytes that are signed and stored."""
        by_passkey = (
            {"v": 3, "assertion_sha256": hashlib.sha256(self.assertion).hexdigest()}
            if self.assertion is not None
            else {}
        )
        return canonical(
            {
                "v": 2,
                "approval_id": self.approval_id,
                "digest": self.digest,
                "decision": self.choice,
                "approver": self.approver,
                "reason": self.reason,
                "at": self.at_ms,
                "risk": self.risk,
                **by_passkey,
            }
        )


def check_approved(stored: StoredApproval, *, by: VerifyKey) -> None:
    """Return when the row is exactly what this key signed as an approval.

    Args:
        stored: The row, whoever may have written it.
        by: This machine's key at the moment of the decision.  The one in the row is only compared
            with it: who can change a row can put a key of his own there.

    Raises:
        AuthError: ``approval.unsigned``.
    """
    words = Statement(
        stored.approval_id,
        stored.digest,
        "approve",
        stored.approver or "",
        stored.decision_reason,
        at_ms=stored.decided_at or 0,
        risk=stored.risk,
        assertion=stored.assertion,
    ).raw
    same = hmac.compare_digest(words, stored.statement or b"")
    if not same or not hmac.compare_digest(by.raw, stored.public_key or b""):
        raise AuthError("approval.unsigned", approval_id=stored.approval_id)
    try:
        by.verify(APPROVAL, words, stored.signature or b"")
    except AuthError:
        raise AuthError("approval.unsigned", approval_id=stored.approval_id) from None
