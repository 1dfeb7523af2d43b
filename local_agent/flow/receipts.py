"""Makes the receipt of a task from what the journal has of it (P6).

One read of the journal, so that all parts are of one moment; what the receipt must look like, and
what it proves, is `common.receipt`'s matter.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from common.audit_check import record_of
from common.errors import StateError
from common.model.state import Reason
from common.receipt import MAX_ENTRIES
from common.records import encode_bytes
from common.seal import short_code
from common.strict_json import loads
from local_agent.actions.registry import ACTIONS
from local_agent.safety.action_facts import parts_of
from local_agent.safety.authority import open_seal
from local_agent.store.approvals import StoredApproval
from local_agent.store.audit_log import AuditLog
from local_agent.store.effects import Effect
from local_agent.store.endings import read_ending
from local_agent.store.journal import Journal
from local_agent.store.tasks import Task


def receipt_facts(
    journal: Journal, short_id: str, *, machine: str, agent_id: str, at_ms: int
) -> dict[str, Any]:
    """Return what a receipt of a task says, for `common.receipt.sign_receipt`.

    Args:
        journal: Used on its own thread.
        short_id: As people name the task.
        machine: The name people know this machine by.
        agent_id: This machine's name with its gateway; empty while it has none.
        at_ms: Now, in milliseconds since the epoch.

    Raises:
        StateError: ``task.unknown``; ``receipt.open``: the task has not ended.
        AuthError: ``approval.changed``: the stored approval was tampered with.
    """
    with journal.transaction():
        task = journal.tasks.named(short_id)
        if task.reason is None:
            raise StateError("receipt.open", task=short_id)
        effects = journal.effects.of_task(task.task_id)
        approval = _approval_of(journal, task, effects)
        kept = journal.heads.kept()
        return {
            "at": at_ms,
            "machine": machine,
            "agent_id": agent_id,
            "task": _task(task),
            "approval": _approval(approval, journal) if approval else None,
            "outcome": _outcome(task, task.reason, effects) | _parts(approval, effects),
            "audit": _audit(journal.audit, task, approval),
            "gateway": record_of(kept) if kept else None,
        }


def _approval_of(journal: Journal, task: Task, effects: Sequence[Effect]) -> StoredApproval | None:
    # What was executed matters more than what was asked again afterwards.
    if effects:
        return journal.approvals.get(effects[-1].approval_id)
    return journal.approvals.newest_of(task.task_id)


def _task(task: Task) -> dict[str, Any]:
    return {
        "task_id": task.task_id,
        "short_id": task.short_id,
        "source": task.source,
        "channel": task.channel,
        "claimed_user": task.claimed_user,
        "text_sha256": hashlib.sha256(task.text.encode("utf-8", "replace")).hexdigest(),
        "envelope_sha256": task.envelope_sha256 or "",
        "gateway_key_id": task.gateway_key_id or "",
        "asked_at": task.created_at,
        "ended_at": task.updated_at,
    }


def _approval(stored: StoredApproval, journal: Journal) -> dict[str, Any]:
    seal = open_seal(stored.seal, stored.digest, ACTIONS)
    decided = stored.statement is not None and stored.signature is not None
    # Before there were several keys, all was signed with the one that signs the log.
    signed = journal.audit.signed_head()
    by = stored.public_key or (signed.public_key if signed else None)
    return {
        "approval_id": stored.approval_id,
        "digest": stored.digest,
        "code": short_code(stored.digest),
        "action": seal.action,
        "risk": stored.risk,
        "state": stored.state,
        "asked_at": stored.created_at,
        "decided_at": stored.decided_at,
        "approver": stored.approver,
        "statement": stored.statement.decode("ascii") if stored.statement else None,
        "signature": encode_bytes(stored.signature) if stored.signature else None,
        "public_key": encode_bytes(by) if decided and by else None,
        **({"assertion": loads(raw, max_bytes=len(raw))} if (raw := stored.assertion) else {}),
    }


def _parts(approval: StoredApproval | None, effects: Sequence[Effect]) -> dict[str, Any]:
    """Return what came of each of several operations; nothing of a single one."""
    if approval is None or not effects:
        return {}
    count = len(parts_of(open_seal(approval.seal, approval.digest, ACTIONS), ACTIONS))
    if count == 1:
        return {}
    begun = {effect.part: effect for effect in effects}
    return {"parts": [_part(index, begun.get(index)) for index in range(count)]}


def _part(index: int, effect: Effect | None) -> dict[str, Any]:
    return {
        "index": index,
        "reason": effect.outcome if effect else None,
        "began_at": effect.opened_at if effect else None,
        "closed_at": effect.closed_at if effect else None,
    }


def _outcome(task: Task, reason: Reason, effects: Sequence[Effect]) -> dict[str, Any]:
    did = read_ending(task.ending_json) if effects else {}
    run = did.get("run")
    files = run["files"] if run else None
    changed = files["new"] + files["changed"] + files["deleted"] if files else None
    # Of several operations some may have been carried out.
    done = any(effect.outcome == Reason.COMPLETED for effect in effects)
    if (change := did.get("change")) and done:
        changed = len(change["files"])
    return {
        "state": task.state,
        "reason": reason,
        "began_at": effects[0].opened_at if effects else None,
        "closed_at": effects[-1].closed_at if effects else None,
        "exit_code": run["exit_code"] if run else None,
        "signal": run["signal"] if run else None,
        "output_sha256": run["output"]["log_sha256"] if run else None,
        "changed_files": changed,
    }


def _audit(audit: AuditLog, task: Task, approval: StoredApproval | None) -> dict[str, Any]:
    of_it = [("task_id", task.task_id)]
    if approval:
        of_it.append(("approval_id", approval.approval_id))
    signed = audit.signed_head()
    return {
        "entries": [
            {"seq": seq, "event": loads(body, max_bytes=len(body))["event"], "hash": found.hex()}
            for seq, body, found in audit.stating(of_it, limit=MAX_ENTRIES)
        ],
        "head": record_of(signed) if signed else {},
    }
