"""Tasks and their events: the row is a projection, changed in the transaction that adds the events.

The table of states is `common.model.state`; who decides a change is `local_agent.flow`, who
makes a `Change`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from typing import Any, Final, Literal, cast

from common.errors import LocalProtocolError, StateError, StoreError
from common.model.state import FINAL, Reason, TaskState, final_of, next_state
from common.sentences import Lang
from local_agent.store.approvals import Approvals
from local_agent.store.audit_log import AuditLog
from local_agent.store.database import Database
from local_agent.store.effects import Effects
from local_agent.store.events import Events
from local_agent.store.finding import Wanted
from local_agent.store.heads import Heads
from local_agent.store.outbox import Kind, Outbox

TaskSource = Literal["wecom", "local_ui"]


NAME_FREE_AFTER_MS: Final = 90 * 86_400_000  # a finished task keeps its short ID for 90 days


@dataclass(frozen=True, slots=True)
class NewTask:
    """A task to be begun, from the chat (already journaled) or from this machine.

    Attributes:
        channel: Where it came from: ``wecom_app`` or ``terminal``.
        claimed_user: Who is said to have asked; the gateway's word, never verified here.
        envelope_sha256: Hash of the signed message that brought it; None when asked locally.
        retry_of: The task that a person at this machine asks for again.
        attachment: Name of the blob with the diff that a person at this machine brought.
        checks: The approval whose change is to be tried out on a copy of the workspace.
        around_json: What the person has in front of them: ``{"file", "lines": [first, last]}``.
        run: The run of a playbook that it carries, or for which it asks (`flow.playing`).
        step: The step of it for which it asks, or ``rollback``; None where it carries the run.
    """

    task_id: str
    short_id: str
    source: TaskSource
    channel: str
    claimed_user: str
    thread_id: str
    text: str
    lang: Lang
    workspace: str | None = None
    envelope_sha256: str | None = None
    gateway_key_id: str | None = None
    retry_of: str | None = None
    attachment: str | None = None
    checks: str | None = None
    around_json: str | None = None
    run: str | None = None
    step: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """One step of one task, written in one transaction: row, events and reports together.

    Attributes:
        expected: State the row must still have; another one raises and changes nothing.
        state: New state; equal to ``expected`` when only something is told (progress).
        events: Seed events (`common.model.proposal`) as plain dicts, appended in order.
        ending_json: How it ended, for this machine alone (`local_agent.store.endings`).
        context_json: What a model was shown; names, sizes and reasons, no content.
        reading_json: How the words were read (`local_agent.understand.reading.write_reading`).
        reports: ``(kind, body)`` for the gateway, kind ``event`` or ``result``; empty for local.
        synced: Somebody waits for it: it is on the disk at once, and its reports leave at once; a
            step that a power cut may undo goes with the next one that is.
    """

    task_id: str
    expected: TaskState
    state: TaskState
    at_ms: int
    reason: Reason | None = None
    intent_json: str | None = None
    proposal_json: str | None = None
    summary: str | None = None
    ending_json: str | None = None
    context_json: str | None = None
    reading_json: str | None = None
    events: Sequence[Mapping[str, Any]] = ()
    reports: Sequence[tuple[str, Mapping[str, Any]]] = ()
    synced: bool = True


@dataclass(frozen=True, slots=True)
class Task:
    """A task as it stands.

    Attributes:
        named: Whether its short ID leads to it.
        claimed_user: Who is said to have asked.
        ending_json: How it ended, for this machine alone (`local_agent.store.endings`).
        cancel_requested: A cancel was accepted and must be acted upon, also after a restart.
        created_at: Milliseconds since the epoch.
        updated_at: Milliseconds since the epoch.
        retry_of: The task that it asks for again; None for most.
        attachment: Name of the blob with the diff that came with it; None for most.
        checks: The approval whose change it tries out on a copy; None for most.
        around_json: What the person had in front of them who asked it (`NewTask`).
        context_json: What a model was shown: names, sizes and reasons; no content.
        reading_json: How its words were read, beside the intent; None until then, and for tasks of
            before that was kept.
        run: The run of a playbook that it carries, or for which it asks; None for most.
        step: The step of it for which it asks, or ``rollback``; None where it carries the run.
    """

    task_id: str
    short_id: str
    named: bool
    source: TaskSource
    channel: str
    claimed_user: str
    thread_id: str
    text: str
    lang: Lang
    workspace: str | None
    envelope_sha256: str | None
    gateway_key_id: str | None
    state: TaskState
    reason: Reason | None
    intent_json: str | None
    proposal_json: str | None
    summary: str | None
    ending_json: str | None
    cancel_requested: bool
    created_at: int
    updated_at: int
    retry_of: str | None
    attachment: str | None
    checks: str | None
    around_json: str | None
    context_json: str | None
    reading_json: str | None
    run: str | None
    step: str | None


_COLUMNS: Final = tuple(field.name for field in fields(Task))
_SELECT: Final = f"SELECT {', '.join(_COLUMNS)} FROM tasks"  # noqa: S608  # our own column names
_INSERT: Final = (
    f"INSERT INTO tasks ({', '.join(_COLUMNS)})"  # noqa: S608  # our own column names
    f" VALUES ({', '.join(f':{name}' for name in _COLUMNS)})"
)
_UPDATE: Final = """UPDATE tasks SET state = :state, reason = :reason, updated_at = :at,
  intent_json = COALESCE(:intent, intent_json), proposal_json = COALESCE(:proposal, proposal_json),
  summary = COALESCE(:summary, summary), ending_json = COALESCE(:ending, ending_json),
  context_json = COALESCE(:context, context_json), reading_json = COALESCE(:reading, reading_json)
  WHERE task_id = :task_id"""
_STRIP: Final = """UPDATE tasks SET named = 0, text = '', intent_json = NULL, proposal_json = NULL,
  summary = NULL, ending_json = NULL, around_json = NULL, context_json = NULL,
  reading_json = NULL
  WHERE task_id = :task_id"""
_OF_WORDS: Final = ("events", "turns", "disclosures")  # what goes with the words of a task
_DROP: Final = """DELETE FROM tasks WHERE task_id = :task_id
  AND NOT EXISTS (SELECT 1 FROM approvals WHERE approvals.task_id = tasks.task_id)
  AND NOT EXISTS (SELECT 1 FROM effects WHERE effects.task_id = tasks.task_id)"""
# What is listed, without the steps of runs: each is shown with its run.
_PAGE: Final = f"""{_SELECT} WHERE step IS NULL AND (created_at, task_id) < (?, ?)
  ORDER BY created_at DESC, task_id DESC LIMIT ?"""
# Few are open: sorted, instead of looked for among all that are listed.
_PAGE_OPEN: Final = _PAGE.replace("step IS NULL", "reason IS NULL AND +step IS NULL")
# The same with what is searched alone, which lies before all that is large in a row.
_SEARCHED: Final = """SELECT task_id, created_at, reason IS NULL, short_id, claimed_user, workspace,
  text FROM tasks WHERE step IS NULL AND (created_at, task_id) < (?, ?)
  ORDER BY created_at DESC, task_id DESC LIMIT ?"""
_SEARCHED_AT_ONCE: Final = 500
_NEWEST: Final = (2**63 - 1, "")  # a place in the list above every task


class Tasks(Events):
    """The projection and the events under it."""

    def __init__(
        self,
        db: Database,
        *,
        outbox: Outbox,
        approvals: Approvals,
        effects: Effects,
        heads: Heads,
        audit: AuditLog,
    ) -> None:
        super().__init__(db)
        self._outbox = outbox
        self._approvals = approvals
        self._effects = effects
        self._heads = heads
        self._audit = audit

    def create(self, new: NewTask, at_ms: int, *, named: bool = True) -> Task:
        """Write a task in RECEIVED.

        Raises:
            StoreError: ``store.task-known``, or ``store.short-id-taken`` by another task.
        """
        with self._db.transaction():
            if self.find(new.task_id) is not None:
                raise StoreError("store.task-known", task_id=new.task_id)
            if named and not self.name_is_free(new.short_id, at_ms):
                raise StoreError("store.short-id-taken", short_id=new.short_id)
            self._db.run(
                _INSERT,
                **{name: getattr(new, name, None) for name in _COLUMNS}
                | {
                    "named": int(named),
                    "state": TaskState.RECEIVED,
                    "reason": None,
                    "cancel_requested": 0,
                    "created_at": at_ms,
                    "updated_at": at_ms,
                },
            )
            self._audit.append(
                "task.accepted",
                task_id=new.task_id,
                short_id=new.short_id,
                source=new.source,
                claimed_user=new.claimed_user,
                envelope_sha256=new.envelope_sha256,
                retry_of=new.retry_of,
                attachment=new.attachment,
                checks=new.checks,
                run=new.run,
                step=new.step,
            )
            return self.get(new.task_id)

    def name_is_free(self, short_id: str, at_ms: int) -> bool:
        """Tell whether a task may be called so; one that ended 90 days ago gives its name up."""
        self._db.run(
            "UPDATE tasks SET named = 0"
            " WHERE named = 1 AND short_id = ? AND reason IS NOT NULL AND updated_at < ?",
            short_id,
            at_ms - NAME_FREE_AFTER_MS,
        )
        taken = self._db.one("SELECT 1 FROM tasks WHERE named = 1 AND short_id = ?", short_id)
        return taken is None

    def find(self, task_id: str) -> Task | None:
        """Return the task, or None."""
        row = self._db.one(f"{_SELECT} WHERE task_id = ?", task_id)
        return _task(row) if row else None

    def get(self, task_id: str) -> Task:
        """Return the task.

        Raises:
            StateError: ``task.unknown``.
        """
        return _known(self.find(task_id), task_id)

    def named(self, short_id: str) -> Task:
        """Return the task that people mean by a short ID in its stored form.

        Raises:
            StateError: ``task.unknown``.
        """
        row = self._db.one(f"{_SELECT} WHERE named = 1 AND short_id = ?", short_id)
        return _known(_task(row) if row else None, short_id)

    def open_tasks(self) -> Sequence[Task]:
        """Return every task that has not ended, oldest first."""
        rows = self._db.all(f"{_SELECT} WHERE reason IS NULL ORDER BY created_at, task_id")
        return [_task(row) for row in rows]

    def newest_check(self, approval_id: str) -> Task | None:
        """Return the newest task that tries out the change of an approval, or None."""
        row = self._db.one(
            f"{_SELECT} WHERE checks = ? ORDER BY created_at DESC, rowid DESC LIMIT 1", approval_id
        )
        return _task(row) if row else None

    def of_run(self, run_id: str) -> Sequence[Task]:
        """Return the tasks that ask for a run, oldest first."""
        rows = self._db.all(f"{_SELECT} WHERE run = ? ORDER BY created_at, rowid", run_id)
        return [_task(row) for row in rows]

    def count_open_remote(self) -> int:
        """Count the tasks that the gateway brought and that have not ended."""
        row = self._db.one(
            "SELECT count(*) FROM tasks WHERE reason IS NULL AND source = 'wecom' AND step IS NULL"
        )
        return int(row[0]) if row else 0

    def count_chars_since(self, at_ms: int) -> int:
        """Count the characters of what the gateway brought since then, in milliseconds."""
        row = self._db.one(
            "SELECT sum(length(text)) FROM tasks"
            " WHERE source = 'wecom' AND step IS NULL AND created_at > ?",
            at_ms,
        )
        return int(row[0] or 0) if row else 0

    def forget(self, *, before_ms: int, limit: int) -> int:
        """Forget tasks that ended before a moment, and return how many there were to forget.

        Where something was ever asked or done, the row stays without its words: approval, effect
        and audit entry lead to it for ever.
        """
        old = self._db.all(
            "SELECT task_id FROM tasks WHERE reason IS NOT NULL AND updated_at < ?"
            " AND EXISTS (SELECT 1 FROM events WHERE events.task_id = tasks.task_id)"
            " ORDER BY updated_at LIMIT ?",
            before_ms,
            limit,
        )
        with self._removing_events():
            for (task_id,) in old:
                for table in _OF_WORDS:
                    self._db.run(f"DELETE FROM {table} WHERE task_id = ?", task_id)  # noqa: S608  # the literals above
                self._db.run(_STRIP, task_id=task_id)
                self._db.run(_DROP, task_id=task_id)
        return len(old)

    def earlier(self, task: Task, *, since_ms: int, limit: int) -> Sequence[Task]:
        """Return what the same person asked before in the same thread, newest first.

        Of another workspace nothing: its own rules say what of it may be told, and to whom.
        """
        rows = self._db.all(
            f"{_SELECT} WHERE thread_id = ? AND source = ? AND channel = ? AND claimed_user = ?"
            " AND workspace IS ? AND created_at >= ? AND created_at <= ? AND task_id <> ?"
            " AND step IS NULL"  # what a run asks is nobody's request
            " ORDER BY created_at DESC, task_id DESC LIMIT ?",
            task.thread_id,
            task.source,
            task.channel,
            task.claimed_user,
            task.workspace,
            since_ms,
            task.created_at,
            task.task_id,
            limit,
        )
        return [_task(row) for row in rows]

    def proposals(self, task: Task, *, since_ms: int, limit: int) -> Sequence[Task]:
        """Return what was proposed to the same person in the same conversation, newest first.

        What one person asks at a terminal, each by itself, is one conversation.
        """
        rows = self._db.all(
            f"{_SELECT} WHERE proposal_json IS NOT NULL AND source = ? AND channel = ?"
            " AND claimed_user = ? AND (thread_id = ? OR channel = 'terminal')"
            " AND workspace IS ? AND created_at >= ? AND created_at <= ? AND task_id <> ?"
            " AND step IS NULL"  # what a run asks is nobody's request
            " ORDER BY created_at DESC, task_id DESC LIMIT ?",
            task.source,
            task.channel,
            task.claimed_user,
            task.thread_id,
            task.workspace,
            since_ms,
            task.created_at,
            task.task_id,
            limit,
        )
        return [_task(row) for row in rows]

    def recent(self, *, limit: int = 50) -> Sequence[Task]:
        """Return the newest tasks, newest first."""
        rows = self._db.all(f"{_SELECT} ORDER BY created_at DESC, task_id DESC LIMIT ?", limit)
        return [_task(row) for row in rows]

    def page(
        self, *, before: str | None, limit: int, find: str = "", open_only: bool = False
    ) -> Sequence[Task]:
        """Return some tasks, newest first, without the steps of runs (`of_run` has those).

        Args:
            before: The last task of the page before; None for the first page.
            limit: How many at most.
            find: A short ID, or words of the request, the workspace, who asked or the short ID,
                all of which must occur (`Wanted`).
            open_only: Without those that have ended.

        Raises:
            StateError: ``task.unknown``: ``before`` is forgotten by now; begin anew.
        """
        last = self.get(before) if before is not None else None
        place = (last.created_at, last.task_id) if last else _NEWEST
        if find.strip():
            found = self._found(Wanted(find), place, open_only=open_only)
            return [self.get(task_id) for task_id in islice(found, limit)]
        rows = self._db.all(_PAGE_OPEN if open_only else _PAGE, *place, limit)
        return [_task(row) for row in rows]

    def _found(self, wanted: Wanted, place: tuple[int, str], *, open_only: bool) -> Iterator[str]:
        while rows := self._db.all(_SEARCHED, *place, _SEARCHED_AT_ONCE):
            for task_id, _, is_open, *texts in rows:
                if (is_open or not open_only) and wanted.is_in(*texts):
                    yield task_id
            place = (rows[-1][1], rows[-1][0])

    def change(self, change: Change) -> Task:
        """Apply one step, whole or not at all, and return the task as it now stands.

        With the last step the task's open effect gets its outcome, an approval that still waits is
        withdrawn, and the run that it carries stands still: they never outlive it.

        Raises:
            StateError: ``task.illegal-transition``, ``task.unknown``.
            LocalProtocolError: ``task.reason``: the reason does not lead to that state.
        """
        with self._db.transaction(synced=change.synced):
            task = self.get(change.task_id)
            _check(task, change)
            self._db.run(
                _UPDATE,
                state=change.state,
                reason=change.reason,
                at=change.at_ms,
                intent=change.intent_json,
                proposal=change.proposal_json,
                summary=change.summary,
                ending=change.ending_json,
                context=change.context_json,
                reading=change.reading_json,
                task_id=change.task_id,
            )
            self._add_events(change.task_id, change.at_ms, change.events)
            if change.reason is not None:
                self._end(change.task_id, change.reason)
            if task.source == "wecom" and task.step is None:  # of a run its own task tells
                for kind, body in change.reports:
                    self._outbox.put(cast("Kind", kind), change.task_id, body, urgent=change.synced)
            return self.get(change.task_id)

    def request_cancel(self, task_id: str) -> bool:
        """Note that a task is to be cancelled; False when it has ended."""
        sql = "UPDATE tasks SET cancel_requested = 1 WHERE task_id = ? AND reason IS NULL"
        return bool(self._db.run(sql, task_id))

    def _end(self, task_id: str, reason: Reason) -> None:
        # A run stands still when nobody carries it any more, whyever its task has ended.
        self._db.run(
            "UPDATE runs SET status = 'failed'"
            " WHERE task_id = ? AND status IN ('pending', 'running')",
            task_id,
        )
        executed = self._effects.close_of_task(task_id, reason.value)
        self._approvals.withdraw(task_id)
        self._audit.append("task.ended", task_id=task_id, reason=reason.value)
        if executed:
            self._heads.offer()


def _check(task: Task, change: Change) -> None:
    if task.state is not change.expected or (change.state is task.state and change.state in FINAL):
        raise StateError("task.illegal-transition", current=task.state, wanted=change.state)
    if change.state is not change.expected:
        next_state(task.state, change.state)
    led_to = final_of(change.reason)[0] if change.reason else None
    if led_to is not (change.state if change.state in FINAL else None):
        raise LocalProtocolError("task.reason", state=change.state, reason=change.reason)


def _task(row: tuple[Any, ...]) -> Task:
    found = dict(zip(_COLUMNS, row, strict=True))
    reason = found["reason"]
    return Task(
        **found
        | {
            "named": bool(found["named"]),
            "cancel_requested": bool(found["cancel_requested"]),
            "state": TaskState(found["state"]),
            "reason": Reason(reason) if reason else None,
        }
    )


def _known(task: Task | None, name: str) -> Task:
    if task is None:
        raise StateError("task.unknown", name=name)
    return task
