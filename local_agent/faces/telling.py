"""What the agent tells a dialog about an approval; terminal and window are told the same.

The dialogs build their question from it (`local_agent.cards.question`), and believe of
it only what the sealed bytes bear out.  The bytes of a diff are not in here: they go their own way,
under their hash.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypedDict

from common.errors import StateError
from common.model.state import Reason, TaskState
from common.seal import Seal, SealedChange, read_changes
from common.text import clip_bytes, one_line, reveal
from local_agent.actions.registry import read_seal
from local_agent.flow.approvals import PendingApproval
from local_agent.flow.gate import Gate
from local_agent.store.approvals import StoredApproval
from local_agent.store.endings import read_ending
from local_agent.store.journal import JournalThread
from local_agent.store.tasks import Task
from local_agent.views import Json
from local_agent.views.question import (
    ApprovalView,
    Check,
    CommandReason,
    LeftOut,
    Named,
    NamedStep,
    Revision,
    RunStep,
    Said,
)
from local_agent.workspace.registry import is_copy

MAX_LEFT_OUT: Final = 10  # files that are told by name
MAX_SAID_BYTES: Final = 2_000  # of a model's words beside its change: the change is what to read
MAX_SAID_LINES: Final = 20
MAX_VERSIONS: Final = 20  # of a proposal that are looked back at
MAX_REASON_BYTES: Final = 1_000  # of why a command is proposed
_ENDED: Final = {Reason.COMPLETED: "passed", Reason.FAILED: "failed"}


@dataclass(frozen=True, slots=True)
class _Rows:
    """What the journal has of one approval.

    Attributes:
        check: The newest try of the change on a copy; None without one.
        first: What the task asked first; None where it is this.
        versions: The task, and the older versions of its proposal, newest first.
    """

    stored: StoredApproval
    task: Task
    check: Task | None
    first: StoredApproval | None
    versions: Sequence[Task]


class Teller:
    """Turns an approval, as it stands at the moment, into the view that dialogs read.

    Args:
        db: The journal's thread.
        gate: Where approvals wait.
        machine: The name people know this machine by.
        workspaces: Gives the names of the workspaces by their paths; may block.
        can_check: Tells whether the proposed tree can be checked before it is decided on; may
            block.
    """

    def __init__(
        self,
        db: JournalThread,
        gate: Gate,
        *,
        machine: str,
        workspaces: Callable[[], Mapping[str, str]],
        can_check: Callable[[PendingApproval], bool] = lambda _asked: False,
    ) -> None:
        self._db = db
        self._gate = gate
        self._machine = machine
        self._workspaces = workspaces
        self._can_check = can_check

    async def tell(self, approval_id: str) -> ApprovalView:
        """Return everything that is told of one approval.

        Raises:
            StateError: ``approval.unknown``, ``task.unknown``.
            AuthError: ``approval.changed``: the stored bytes were tampered with.
        """
        shown = await self._gate.show(approval_id)
        rows = await self._db.run(self._rows, shown.approval)
        stored, task, check = rows.stored, rows.task, rows.check
        names, can_check = await asyncio.to_thread(self._look, shown.approval)
        return ApprovalView(
            approval_id=stored.approval_id,
            short_id=task.short_id,
            digest=stored.digest,
            seal=stored.seal.decode("ascii"),
            state=shown.state,
            risk=stored.risk,
            reasons=shown.approval.reasons,
            blocked=shown.blocked or "",
            expires_at=stored.expires_at,
            text=task.text,
            machine=self._machine,
            workspace=_workspace(task, names.get(shown.approval.seal.workspace.path, "")),
            can_narrow=_can_narrow(shown.approval),
            can_check=can_check and (check is None or check.reason is not None),
            check=_told(check) if check else None,
            left_out=_left_out(shown.approval.seal, rows.first),
            revision=_revision(rows.versions),
            run=_run(_result(task)),
            approver=stored.approver,
            decided_at=stored.decided_at,
            **_explained(shown.approval.seal, rows),
        )

    def _rows(self, asked: PendingApproval) -> _Rows:
        approvals, tasks = self._db.journal.approvals, self._db.journal.tasks
        return _Rows(
            approvals.get(asked.approval_id),
            tasks.get(asked.task_id),
            tasks.newest_check(asked.approval_id),
            approvals.first_of(asked.task_id),
            self._versions(tasks.get(asked.task_id)),
        )

    def _versions(self, task: Task) -> Sequence[Task]:
        """Return the task and the older versions that it builds on, as far as they are known."""
        found = [task]
        while len(found) < MAX_VERSIONS and (before := _result(found[-1]).get("revises")):
            try:
                older = self._db.journal.tasks.named(before)
            except StateError:
                break
            if older.created_at >= found[-1].created_at:
                break  # the name is another's by now
            found.append(older)
        return found

    def _look(self, asked: PendingApproval) -> tuple[Mapping[str, str], bool]:
        return self._workspaces(), self._can_check(asked)


def _workspace(task: Task, name: str) -> str:
    """Return what the workspace is called; a copy for a dry run is in no list."""
    asks_for_run = task.step is not None and is_copy(task.workspace)
    return name or (task.workspace or "" if asks_for_run else "")


def _told(check: Task) -> Check:
    """Return how the check of a change stands or ended."""
    run = read_ending(check.ending_json)["run"] or {}
    if check.reason is not None:
        state = _ENDED.get(check.reason, check.reason.value)
    else:
        state = "running" if check.state is TaskState.EXECUTING else "waiting"
    return Check(
        task=check.short_id,
        state=state,
        exit_code=run.get("exit_code"),
        duration_ms=run.get("duration_ms"),
        report=run.get("report"),
    )


def _left_out(seal: Seal, first: StoredApproval | None) -> LeftOut | None:
    """Return what was asked for at first and is not any more; None where that is nothing.

    For the person's orientation: nothing is decided by it.
    """
    if seal.action not in ("apply_diff", "undo") or first is None:
        return None
    kept = {change.path: change for change in read_changes(seal.payload)}
    asked_at_first = read_changes(read_seal(first.seal).payload)
    left = [change.path for change in asked_at_first if change.path not in kept]
    partly = sum(
        _is_part(kept[change.path], change) for change in asked_at_first if change.path in kept
    )
    return LeftOut(len(left), tuple(left[:MAX_LEFT_OUT]), partly) if left or partly else None


def _is_part(now: SealedChange, at_first: SealedChange) -> bool:
    """Tell whether a file would become something else, though it has not changed meanwhile."""
    return now.old_sha256 == at_first.old_sha256 and now.new_sha256 != at_first.new_sha256


def _result(task: Task) -> Json:
    result: Json = json.loads(task.proposal_json or "{}")
    return result


def _revision(versions: Sequence[Task]) -> Revision | None:
    """Return which version this is, and what it began with; None of a first one."""
    newest, oldest, result = versions[0], versions[-1], _result(versions[0])
    if newest is oldest or not result.get("version"):
        return None
    wish = result["intent"]["params"].get("changeRequest")
    return Revision(
        version=result["version"],
        task=oldest.short_id,
        wish=wish or "",
        first=clip_bytes(oldest.text, MAX_SAID_BYTES),
    )


def _run(result: Json) -> RunStep | None:
    """Return which steps of a playbook are proposed; None where they are none."""
    proposal = result.get("proposal") or {}
    several = proposal.get("type") == "steps"
    of = proposal if several else result.get("run")
    if not of:
        return None
    return RunStep(
        playbook=of["playbook"],
        total=of["total"],
        steps=tuple(NamedStep(one["index"], one["name"]) for one in of.get("parts", [of])),
        message=clip_bytes(reveal(of.get("message", "")), MAX_SAID_BYTES),
        in_workspace=of.get("inWorkspace", False),
        inserted=tuple(
            (source, clip_bytes(reveal(text), MAX_SAID_BYTES))
            for source, text in of.get("inserted", ())
        ),
    )


class _Explained(TypedDict, total=False):
    answer: str | None
    said: Said | None
    named: Named | None
    reason: CommandReason | None


def _explained(seal: Seal, rows: _Rows) -> _Explained:
    """Return what the proposal itself says of what is asked.

    The dialog believes an answer where its hash was sealed; a model's words and the origin of a
    command only explain.
    """
    result = _result(rows.task)
    proposal, speech = result.get("proposal") or {}, result.get("speech")
    match seal.action:
        case "disclose":
            return {"answer": proposal.get("text")}
        case "apply_diff":
            return {"said": _said(speech)}
        case "run_command":
            file = proposal.get("namedBy")
            named = Named(file, proposal.get("namedAs") or "") if file else None
            return {"named": named, "reason": _reason(proposal.get("reason"), speech)}
    return {}


def _reason(text: str | None, speech: Json | None) -> CommandReason | None:
    """Return why a command is proposed, and which model says so; None where nobody does."""
    told = one_line(text or "", MAX_REASON_BYTES)
    return CommandReason(told, speech["model"] if speech else None) if told else None


def _said(speech: Json | None) -> Said | None:
    """Return the beginning of what a model said; None where it said nothing."""
    text = reveal(speech["text"]).strip() if speech else ""
    if speech is None or not text:
        return None
    begun = "\n".join(text.split("\n")[:MAX_SAID_LINES])
    kept = clip_bytes(begun, MAX_SAID_BYTES)
    return Said(speech["model"], kept, cut=kept != text)


def _can_narrow(asked: PendingApproval) -> bool:
    """Tell whether the person may accept some of the files and leave the others."""
    return asked.seal.action == "apply_diff" and len(asked.seal.payload["changes"]) > 1
