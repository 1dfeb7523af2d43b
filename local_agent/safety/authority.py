"""THE authority: what may be done at all, and what must be on disk before it is done.

Three questions and nothing else.  `classify_operation` turns the facts of a sealed action into a
risk (the written table is ``docs/risk.md``); `before_operation` consumes an approval, writes the
intent and the audit entry in one transaction (R59); `execute_undo` says which applied change may
be taken back.  A class is advice for the person and a reason to refuse; it never lets anything
pass without an approval (R42).
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from common.errors import AuthError, StateError
from common.model.state import Reason, TaskState
from common.seal import Seal, SealedChange, digest, read_changes
from common.signing import VerifyKey
from local_agent.safety.action_facts import Known, Reaches, SealedPart, parts_of, read_known
from local_agent.safety.decision import check_approved
from local_agent.safety.risk import Circumstances, Finding, Risk, summed
from local_agent.safety.risk_changes import judge_change
from local_agent.safety.risk_commands import judge_command
from local_agent.safety.risk_outgoing import judge_disclosure, judge_sync
from local_agent.safety.risk_policy import judge_policy
from local_agent.store.approvals import START_WITHIN_MS
from local_agent.store.journal import Journal

_JUDGES: Final[Mapping[Reaches, Callable[[Mapping[str, Any], Circumstances], list[Finding]]]] = {
    "processes": judge_command,
    "files": judge_change,
    "remote": judge_sync,
    "chat": judge_disclosure,
    "parts": lambda _payload, _around: [],  # each is judged by itself
}


def classify_operation(
    action: str,
    payload: Mapping[str, Any],
    around: Circumstances | None = None,
    *,
    known: Known,
) -> Risk:
    """Return the risk of an action from its facts alone; the model's words are none.

    Args:
        action: As sealed; one that is not known is refused.
        payload: As sealed, and of the shape that the action holds it to.
        around: What else is known; without it every command is high risk and every change refused.
        known: What the actions state of themselves.

    Returns:
        ``refused`` when any fact forbids it, ``high`` when any asks for a second act (R29), else
        ``normal``.  No limit makes a check milder (R6), and no policy does.  Several operations
        are of the strictest class that one of them is of.
    """
    facts = known.get(action)
    if facts is None:
        return Risk("refused", ("unknown-action",))
    there = around or Circumstances()
    found = _JUDGES[facts.reaches](payload, there)
    if facts.parts is not None:
        found = _judge_parts(facts.parts(payload), there, known)
    return summed([*found, *judge_policy(action, facts.reaches, payload, there)])


def before_operation(
    journal: Journal,
    approval_id: str,
    *,
    shown: str,
    at_ms: int,
    by: VerifyKey,
    known: Known,
    part: int = 0,
) -> bytes:
    """Consume an approval and write the intent and its audit entry: one transaction (R22, R59).

    Runs on the journal's thread.  When it returns, the intent is durable and the approval can
    never be used again; when it raises, nothing was changed, and what did not verify is audited.

    Of several operations the first consumes the approval, within a minute of the decision; each
    further one is begun once, after the one before has completed, and within a minute of its end.

    Args:
        journal: Where the approval lies.
        approval_id: Which approval.
        shown: The digest that the person was shown and decided on.
        at_ms: Now, in milliseconds since the epoch.
        by: The key of this machine that signed the decision.
        known: What the actions state of themselves.
        part: Which of the operations that it covers, from 0.

    Returns:
        The stored seal bytes, whose digest is ``shown``.

    Raises:
        StateError: ``approval.not-approved``: it is not approved, was used, is too old, or is of
            another digest, or has no such part that comes next; ``approval.task-over``:
            its task has ended or is to be cancelled.
        AuthError: ``approval.changed``: the stored bytes are not those that were approved;
            ``approval.unsigned``: the stored decision is not what this machine signed.
    """
    try:
        with journal.transaction():
            if part == 0:
                ready = journal.approvals.consume(approval_id, shown, at_ms)
            else:
                ready = journal.effects.is_next(
                    approval_id, part, since_ms=at_ms - START_WITHIN_MS, at_ms=at_ms
                )
            if not ready:
                raise StateError("approval.not-approved", approval_id=approval_id)
            return _begin(journal, approval_id, shown=shown, by=by, known=known, part=part)
    except AuthError as error:
        journal.audit.append(
            "approval.tampered", approval_id=approval_id, digest=shown, code=error.code
        )
        raise


def execute_undo(
    journal: Journal, task_id: str, *, workspace: Path, known: Known, part: int | None = None
) -> Seal:
    """Return the seal of the change that a task applied, for its reverse to be prepared (P5).

    Of a change that was cut off, some files may have been written: those can be taken back.

    Nothing is taken back here: the reverse is a change of its own, with its own seal, approval
    and entry, and can be undone like any other.

    Args:
        journal: What was done.  Runs on its thread.
        task_id: Whose change is to be taken back.
        workspace: Real path of the folder that is meant.
        known: What the actions state of themselves.
        part: Which of several operations is meant, from 0; None where there was one.

    Raises:
        StateError: ``undo.nothing``: the task has changed nothing; ``undo.part``: it did several
            things, and which is meant is not said; ``undo.command``: it ran a
            command, pushed, or had an answer told, which nothing takes back; ``undo.not-applied``:
            its change was not applied; ``undo.other-workspace``; ``undo.already``: nothing
            is left of it.
        AuthError: ``approval.changed``.
    """
    effects = journal.effects.of_task(task_id)
    if not effects:
        raise StateError("undo.nothing")
    parts = parts_of(_stored_seal(journal, effects[-1].approval_id, known), known)
    if part is None and len(parts) > 1:
        raise StateError("undo.part", count=len(parts))
    effect = next((one for one in effects if one.part == (part or 0)), None)
    if effect is None:
        raise StateError("undo.nothing")
    seal = parts[effect.part]
    if not known[seal.action].undoable:
        raise StateError("undo.command")
    if effect.outcome not in (Reason.COMPLETED, Reason.UNKNOWN):
        raise StateError("undo.not-applied", outcome=effect.outcome)
    if seal.workspace.path != str(workspace):
        raise StateError("undo.other-workspace")
    if not left_to_undo(journal, seal, known):
        raise StateError("undo.already")
    return seal


def left_to_undo(journal: Journal, seal: Seal, known: Known) -> tuple[str, ...]:
    """Return the paths of an applied change that no undo has taken back since, in its order.

    An undo that was undone itself counts for nothing.
    """
    gone = _undone(journal, seal, known)
    return tuple(one.path for one in read_changes(seal.payload) if _names(one) not in gone)


def parts_to_undo(journal: Journal, task_id: str, *, known: Known) -> tuple[int, ...] | None:
    """Return which of several operations of a task changed files that can be taken back.

    None where the task did one thing, or nothing.

    Raises:
        StateError: ``undo.command``, ``undo.not-applied``, ``undo.already``: none did.
        AuthError: ``approval.changed``.
    """
    effects = journal.effects.of_task(task_id)
    if not effects:
        return None
    parts = parts_of(_stored_seal(journal, effects[-1].approval_id, known), known)
    if len(parts) == 1:
        return None
    undoable = [number for number, part in enumerate(parts) if known[part.action].undoable]
    if not undoable:
        raise StateError("undo.command")
    applied = {one.part for one in effects if one.outcome in (Reason.COMPLETED, Reason.UNKNOWN)}
    if applied.isdisjoint(undoable):
        raise StateError("undo.not-applied", outcome=effects[-1].outcome)
    left = [one for one in undoable if one in applied and left_to_undo(journal, parts[one], known)]
    if not left:
        raise StateError("undo.already")
    return tuple(left)


def open_seal(raw: bytes, shown: str, known: Known) -> Seal:
    """Return the seal that the stored bytes hold, when they are those of digest ``shown``.

    Raises:
        AuthError: ``approval.changed``.
    """
    if not hmac.compare_digest(digest(raw).encode(), shown.encode()):
        raise AuthError("approval.changed")
    return read_known(raw, known)


def _judge_parts(parts: Sequence[SealedPart], around: Circumstances, known: Known) -> list[Finding]:
    found: list[Finding] = []
    for part, there in zip_longest(parts, around.parts[: len(parts)]):
        own = replace(there or Circumstances(), policy=around.policy, hooks=around.hooks)
        risk = classify_operation(part.action, part.payload, own, known=known)
        if risk.level != "normal":
            found += [(risk.level, code) for code in risk.reasons]
    return found


def _begin(
    journal: Journal, approval_id: str, *, shown: str, by: VerifyKey, known: Known, part: int
) -> bytes:
    stored = journal.approvals.get(approval_id)
    check_approved(stored, by=by)
    seal = open_seal(stored.seal, shown, known)
    if seal.approval_id != approval_id or stored.digest != shown:
        raise AuthError("approval.changed", approval_id=approval_id)
    if part >= len(parts_of(seal, known)):
        raise StateError("approval.not-approved", approval_id=approval_id)
    task = journal.tasks.get(seal.task_id)
    wanted = TaskState.EXECUTING if part else TaskState.WAITING_APPROVAL
    if task.state is not wanted or task.cancel_requested:
        raise StateError("approval.task-over", task_id=seal.task_id)
    journal.effects.open_effect(approval_id, seal.task_id, shown, part=part)
    return stored.seal


def _stored_seal(journal: Journal, approval_id: str, known: Known) -> Seal:
    stored = journal.approvals.get(approval_id)
    return open_seal(stored.seal, stored.digest, known)


def _undone(journal: Journal, seal: Seal, known: Known) -> set[frozenset[str]]:
    """Return the changes of a seal that were taken back and not brought back, by their names."""
    gone: set[frozenset[str]] = set()
    for undo in _completed_undos(journal, seal.approval_id, known):
        if undo.payload["undoes"]["approval_id"] == seal.approval_id:
            taken = {_names(one) for one in read_changes(undo.payload)}
            gone |= taken - _undone(journal, undo, known)
    return gone


def _completed_undos(journal: Journal, approval_id: str, known: Known) -> Iterator[Seal]:
    """Give undos that were carried out, among them all that name this approval."""
    for stored in journal.approvals.completed_undos(approval_id):
        effects = journal.effects.of_approval(stored.approval_id)
        done = {effect.part for effect in effects if effect.outcome == Reason.COMPLETED}
        parts = parts_of(open_seal(stored.seal, stored.digest, known), known)
        undos = (part for number, part in enumerate(parts) if number in done)
        yield from (part for part in undos if "undoes" in part.payload)


def _names(change: SealedChange) -> frozenset[str]:
    """Return what a change and its reverse have in common."""
    # The reverse of a copy deletes what was made, and has nothing to do with its source.
    source = None if change.op == "copy" else change.old_path
    return frozenset({change.path, source or change.path})
