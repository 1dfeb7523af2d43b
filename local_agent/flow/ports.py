"""What the engine needs of the parts below it, as Protocols: fakes in tests, real parts in `app`.

The real parts are synchronous SQLite behind one writer thread, the approval gate, the executor and
the workspace readers; the engine sees them only through these names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from common.home import Home
from common.model.state import Reason, TaskState
from common.sentences import Lang

if TYPE_CHECKING:  # only named here: what waits for a task does not load who carries it out
    from common.seal import Seal
    from local_agent.flow.approvals import Decision, Notice, PendingApproval
    from local_agent.models.backend import Chosen
    from local_agent.playbooks.library import Found
    from local_agent.propose.base import Proposed
    from local_agent.propose.coding import Lend
    from local_agent.propose.context.collected import Collected
    from local_agent.safety.grant import Grant
    from local_agent.safety.risk import Circumstances
    from local_agent.store.approvals import StoredApproval
    from local_agent.store.effects import Effect
    from local_agent.store.runs import Runs, StoredRun
    from local_agent.store.tasks import Task
    from local_agent.store.turns import StoredTurn
    from local_agent.workspace.registry import Workspace


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
    source: Literal["wecom", "local_ui"]
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWish:
    """What somebody asks to run.

    Attributes:
        gate_timeout_s: How long each question waits; over 0, at most 300.
        dry: Whether it acts on a copy of the workspace.
        answers: Of a dry run: what answers its questions (`local_agent.playbooks.answers`).
    """

    found: Found
    message: str
    client: str
    gate_timeout_s: float
    dry: bool = False
    answers: str | None = None


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
        synced: Somebody waits for it: it is on the disk at once, and its reports leave at once.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Mind:
    """What makes proposals that need a model.

    Attributes:
        choose: Gives the model that is asked, or None while none is configured.
        lend: Gives scratch copies.
    """

    choose: Callable[[], Chosen | None]
    lend: Lend


class TaskStore(Protocol):
    """The journal of tasks, behind its writer thread."""

    async def create(self, new: NewTask, at_ms: int) -> Task:
        """Write a local task in RECEIVED; raises StoreError on a known task or short ID."""
        ...

    async def create_carrier(
        self, new: NewTask, at_ms: int, write: Callable[[Runs], StoredRun]
    ) -> StoredRun:
        """Write what a task is to do of a run, and the task; neither without the other."""
        ...

    async def get(self, task_id: str) -> Task:
        """Return the task; raises StateError ``task.unknown``."""
        ...

    async def open_tasks(self) -> Sequence[Task]:
        """Return all tasks that are not final, oldest first."""
        ...

    async def change(self, change: Change) -> Task:
        """Apply one step and return the task; an illegal one raises and changes nothing."""
        ...

    async def named(self, short_id: str) -> Task:
        """Return the task that people mean by a short ID; raises StateError ``task.unknown``."""
        ...

    async def request_cancel(self, task_id: str) -> bool:
        """Note durably that the task is to be cancelled; False when it has ended."""
        ...

    async def newest_approval(self, task_id: str) -> StoredApproval | None:
        """Return the newest approval of a task, whatever became of it."""
        ...

    async def approval(self, approval_id: str) -> StoredApproval:
        """Return an approval by its own id; raises StateError ``approval.unknown``."""
        ...

    async def newest_check(self, approval_id: str) -> Task | None:
        """Return the newest task that tries out the change of an approval, or None."""
        ...

    async def earlier(self, task: Task, *, since_ms: int, limit: int) -> Sequence[Task]:
        """Return what the same person asked before in the same thread, newest first."""
        ...

    async def proposals(self, task: Task, *, since_ms: int, limit: int) -> Sequence[Task]:
        """Return what was proposed to the same person in the same conversation, newest first."""
        ...

    async def last_log(self, workspace: str) -> str | None:
        """Return the name of the log of the last command in a workspace, by its path."""
        ...

    async def begin_turn(self, turn: StoredTurn) -> int:
        """Write a turn of a model that begins, and return its number."""
        ...

    async def end_turn(self, number: int, turn: StoredTurn) -> None:
        """Write how a turn ended."""
        ...

    async def interrupted(self) -> Sequence[str]:
        """Return the tasks that have an effect without an outcome."""
        ...

    async def begun(self, approval_id: str) -> Sequence[Effect]:
        """Return the parts of an approval that were begun, in their order."""
        ...

    async def end_part(self, effect: Effect, reason: Reason) -> None:
        """Record how a part ended that was cut off, where others follow that are not begun."""
        ...


class Gate(Protocol):
    """The approval gate (`local_agent.flow.gate`), without the method that decides."""

    async def request(self, seal: Seal, *, around: Circumstances) -> PendingApproval:
        """Let a person be asked; an older question of the same task no longer stands."""
        ...

    async def wait(self, approval_id: str) -> Decision:
        """Return how it ended, once it has; also after a restart."""
        ...

    async def withdraw(self, task_id: str) -> None:
        """Take back what a task asks or was granted and has not used."""
        ...

    async def take_grant(self, approval_id: str, digest: str, *, part: int = 0) -> Grant:
        """Use an approval up, or begin its next part; the intent is on disk when this returns."""
        ...

    async def end_part(self, grant: Grant) -> None:
        """Record that a part completed; the one after it may be begun within a minute."""
        ...

    def block(self, why: str) -> AbstractContextManager[None]:
        """Accept no approval meanwhile; ``why`` is a code of `local_agent.flow.words.BLOCKED`."""
        ...

    def listen(self, listener: Callable[[Notice], None]) -> None:
        """Have everything told that happens to approvals."""
        ...


class Disclosure(Protocol):
    """What is read for the chat, and what it is told of it (`local_agent.flow.disclosing`)."""

    async def admit(
        self, task: Task, workspace: Workspace | None, context: Collected, *, asks: bool
    ) -> Proposed | None:
        """Count a read before a model is asked; or return why it is not made today."""
        ...

    async def charge(self, task: Task, workspace: Workspace | None) -> bool:
        """Count a request before a model is asked what it is; False when that is too much."""
        ...

    async def release(
        self, task: Task, workspace: Workspace | None, found: Proposed, context: Collected
    ) -> Proposed:
        """Return a proposal as it may leave."""
        ...


class Workspaces(Protocol):
    """The registry of workspaces (`local_agent.workspace.registry`).  Blocking."""

    def find(self, name: str | None = None) -> Workspace:
        """Return the named one, or the default.

        Raises:
            InputError: ``workspace.unknown`` or ``workspace.none``.
        """
        ...

    def at(self, path: str) -> Workspace | None:
        """Return the workspace of this real path, or None."""
        ...

    def copy(self, run_id: str, name: str) -> Workspace:
        """Return the copy of a workspace for a dry run (`local_agent.workspace.dry_runs`).

        Raises:
            InputError: ``copy.gone``; ``workspace.unknown``.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Where an engine runs.

    Attributes:
        machine: The name people know this machine by.
        agent_id: Its id at its gateway; empty while it is not paired.
        places: Our own folders.
        sandbox: Level that the self-test at start proved: ``bubblewrap`` or ``none``.
        user: Who sits at this machine, for the record of what is begun in a window.
    """

    machine: str
    agent_id: str
    sandbox: str
    places: Home
    user: str = ""
