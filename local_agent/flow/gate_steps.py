"""What the gate does with the journal: each function runs whole on the journal's thread."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from typing import Literal

from common.errors import StateError
from common.ids import parse_short_id
from common.seal import Seal, digest
from common.signing import VerifyKey
from local_agent.actions.registry import ACTIONS, seal_bytes
from local_agent.errors import RefusedError
from local_agent.flow.approvals import subject_of
from local_agent.flow.gate_checks import Limits, check_flood
from local_agent.safety.authority import classify_operation
from local_agent.safety.decision import Statement
from local_agent.safety.risk import Circumstances
from local_agent.safety.risk_policy import kept_path
from local_agent.store.approvals import START_WITHIN_MS, StoredApproval
from local_agent.store.journal import Journal


def wish_of(seal: Seal, around: Circumstances) -> StoredApproval:
    """Return the row of a new question.  A long diff takes a while: not on the event loop.

    Raises:
        RefusedError: policy forbids it, whoever would approve.
        RemoteProtocolError: ``seal.*``: it is none.
    """
    raw = seal_bytes(seal)
    risk = classify_operation(seal.action, seal.payload, around, known=ACTIONS)
    if risk.level == "refused":
        path = kept_path(seal.action, seal.payload, around.policy, known=ACTIONS)
        raise RefusedError(risk.reasons, path=path if "policy-path" in risk.reasons else None)
    return StoredApproval(
        approval_id=seal.approval_id,
        task_id=seal.task_id,
        digest=digest(raw),
        seal=raw,
        subject_sha256=hashlib.sha256(subject_of(seal)).hexdigest(),
        gateway=seal.source.gateway_key_id,
        requester=seal.source.claimed_user,
        risk=risk.level,
        risk_reasons=",".join(risk.reasons),
        created_at=seal.created_at,
        expires_at=seal.expires_at,
    )


def admit(journal: Journal, wish: StoredApproval, limits: Limits) -> Sequence[str]:
    """Store a question, unless the person is asked too much; return what it supersedes.

    Raises:
        FloodedError: ``approval.too-many``.
    """
    with journal.transaction():
        check_flood(journal.approvals, wish, limits)
        return journal.approvals.add(wish)


def find(journal: Journal, name: str) -> StoredApproval:
    """Return an approval by its own id, or the newest of the task that ``name`` names.

    Raises:
        InputError: ``input.task-id``.
        StateError: ``task.unknown``, ``approval.unknown``.
    """
    try:
        return journal.approvals.get(name)
    except StateError:
        task = journal.tasks.named(parse_short_id(name))
    stored = journal.approvals.newest_of(task.task_id)
    if stored is None:
        raise StateError("approval.unknown", name=name)
    return stored


def decide(
    journal: Journal,
    stored: StoredApproval,
    words: Statement,
    signature: bytes,
    *,
    by: VerifyKey,
) -> Literal["approved", "rejected"]:
    """Record a signed decision, and return the state it leads to.

    Raises:
        StateError: ``approval.not-pending``: somebody else was faster.
    """
    state: Literal["approved", "rejected"]
    state = "approved" if words.choice == "approve" else "rejected"
    recorded = journal.approvals.decide(
        stored.approval_id,
        stored.digest,
        state=state,
        at_ms=words.at_ms,
        approver=words.approver,
        reason=words.reason,
        statement=words.raw,
        signature=signature,
        public_key=by.raw,
        assertion=words.assertion,
    )
    if not recorded:
        expire_seen(journal, stored.approval_id, words.at_ms)
        raise StateError(
            "approval.not-pending", state=journal.approvals.get(stored.approval_id).state
        )
    return state


def expire_due(
    journal: Journal, late: Collection[str], wall_ms: int
) -> tuple[list[StoredApproval], set[str]]:
    """Expire what either clock calls late; return it, and the ids of what lives on."""
    with journal.transaction():
        live = journal.approvals.live()
        due = [one for one in live if one.approval_id in late or _is_due(one, wall_ms)]
        journal.approvals.expire([one.approval_id for one in due])
    gone = {one.approval_id for one in due}
    return due, {one.approval_id for one in live} - gone


def expire_seen(journal: Journal, approval_id: str, wall_ms: int) -> None:
    """Expire one whose time has come at this moment: it stays so, whatever the clock does next."""
    with journal.transaction():
        if _is_due(journal.approvals.get(approval_id), wall_ms):
            journal.approvals.expire([approval_id])


def take_up(journal: Journal, wall_ms: int) -> tuple[list[StoredApproval], int]:
    """Expire what may not outlive a restart; return what still waits, and the moment it is.

    That is the later one of now and of when the journal's end was last signed: a clock that went
    back while no agent ran makes nothing wait longer.
    """
    with journal.transaction():
        journal.approvals.expire_at_start(wall_ms)
        at_ms = max(wall_ms, journal.audit.signed_at())
        expire_due(journal, (), at_ms)
        return list(journal.approvals.pending()), at_ms


def _is_due(stored: StoredApproval, wall_ms: int) -> bool:
    if stored.decided_at is not None and wall_ms > stored.decided_at + START_WITHIN_MS:
        return True
    return wall_ms >= stored.expires_at
