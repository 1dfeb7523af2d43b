"""What the gate says about an approval, and whether it is still what somebody acts upon."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import Literal, get_args

from common.errors import AuthError, InputError, StateError
from common.model.state import Reason
from common.seal import Seal, short_code
from common.strict_json import canonical
from local_agent.actions.registry import ACTIONS
from local_agent.safety import authority
from local_agent.safety.action_facts import parts_of
from local_agent.store.approvals import State, StoredApproval
from local_agent.store.journal import Journal

Choice = Literal["approve", "reject"]
Approver = Literal["terminal", "desktop", "passkey", "dry-run"]
Outcome = Literal["approved", "rejected", "expired", "superseded"]

CHOICES: frozenset[str] = frozenset(get_args(Choice))
APPROVERS: frozenset[str] = frozenset(get_args(Approver))

_OUTCOMES: dict[State, Outcome] = {
    "approved": "approved",
    "rejected": "rejected",
    "expired": "expired",
    "superseded": "superseded",
    "consumed": "superseded",  # it was used: it gives leave to nobody any more
}


@dataclass(frozen=True, slots=True)
class PendingApproval:
    """A question to the person.

    Attributes:
        seal: What will be done, parsed from the stored bytes whose digest is ``digest``.
        code: The fingerprint for people, such as ``7K3F-9Q2M``.
        both_groups: High risk: the whole code must be typed, not only its first group (R29).
        reasons: Why the risk is what it is; each has a sentence in ``risk_words.RISK``.
        expires_at: Milliseconds since the epoch.
    """

    approval_id: str
    task_id: str
    short_id: str
    digest: str
    code: str
    risk: Literal["normal", "high"]
    both_groups: bool
    reasons: tuple[str, ...]
    created_at: int
    expires_at: int
    seal: Seal


@dataclass(frozen=True, slots=True)
class Shown:
    """An approval as it stands at the moment of looking.

    Attributes:
        left_ms: Milliseconds until it expires; 0 when it no longer waits.
        blocked: Why nothing can be approved right now, or None.
    """

    approval: PendingApproval
    state: State
    left_ms: int
    blocked: str | None
    approver: str | None
    decision_reason: str | None


@dataclass(frozen=True, slots=True)
class Decision:
    """How an approval ended.

    Attributes:
        reason: What the person said about it, if anything.
    """

    outcome: Outcome
    reason: str | None


@dataclass(frozen=True, slots=True)
class Notice:
    """Something happened to an approval; ask the gate for the rest."""

    kind: Literal["requested", "approved", "rejected", "expired", "superseded", "consumed"]
    approval_id: str
    task_id: str


def subject_of(seal: Seal) -> bytes:
    """Return what stays equal when the same wish is asked again, by whichever run of a playbook."""
    apart = ("run", "uncompared")
    what = {name: value for name, value in seal.payload.items() if name not in apart}
    return canonical([seal.workspace.path, seal.action, what])


def question(stored: StoredApproval) -> PendingApproval:
    """Return the question that a row holds.

    Raises:
        AuthError: ``approval.changed``: the bytes are not those of the digest (R24), or the row
            says otherwise than they do for whom or how long they stand.
    """
    seal = authority.open_seal(stored.seal, stored.digest, ACTIONS)
    row = stored.approval_id, stored.task_id, stored.created_at, stored.expires_at
    if row != (seal.approval_id, seal.task_id, seal.created_at, seal.expires_at):
        raise AuthError("approval.changed", approval_id=stored.approval_id)
    return PendingApproval(
        approval_id=stored.approval_id,
        task_id=stored.task_id,
        short_id=seal.short_id,
        digest=stored.digest,
        code=short_code(stored.digest),
        risk=stored.risk,
        both_groups=stored.risk == "high",
        reasons=tuple(filter(None, stored.risk_reasons.split(","))),
        created_at=stored.created_at,
        expires_at=stored.expires_at,
        seal=seal,
    )


def left_to_undo(journal: Journal, seal: Seal) -> tuple[str, ...] | None:
    """Return what no undo has taken back of what was applied; None where nothing was."""
    effects = journal.effects.of_approval(seal.approval_id)
    done = {effect.part for effect in effects if effect.outcome == Reason.COMPLETED}
    parts = [
        part
        for number, part in enumerate(parts_of(seal, ACTIONS))
        if number in done and ACTIONS[part.action].undoable
    ]
    if not parts:
        return None
    left = (authority.left_to_undo(journal, part, ACTIONS) for part in parts)
    return tuple(path for paths in left for path in paths)


def decision_of(stored: StoredApproval) -> Decision | None:
    """Return how it ended, or None while it waits."""
    if stored.state == "pending":
        return None
    return Decision(_OUTCOMES[stored.state], stored.decision_reason)


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
