"""THE main flow of one task, one call per arrow, and the life of all tasks of this process.

    RECEIVED ─route▶ ROUTED ─collect▶ CONTEXT_COLLECTED ─▶ PROPOSING ─propose▶ PROPOSAL_READY
        PROPOSAL_READY ─answer▶ COMPLETED | REJECTED (it could only be said why not)
        PROPOSAL_READY ─ask▶ WAITING_APPROVAL ─decide▶ EXECUTING ─▶ COMPLETED | FAILED | REJECTED
        (a change asked for at this machine rests in PROPOSAL_READY until *Apply*)

The next step follows from the state in the journal and from nothing else, so that a task goes on
after kill -9 as if nothing had been.  EXECUTING is the exception: what is found in it was
interrupted: what can be proved of it is said, and it is never done again (P3).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Protocol

from common.clock import Clock
from common.diff.patching import ALL_HUNKS, Hunks
from common.errors import CodexBridgeError, StateError, StoreError
from common.model.proposal import LocalApproval, NoRequirement
from common.model.state import FINAL, Reason, TaskState
from common.seal import Seal
from common.sentences import same
from local_agent.actions.operation import Copies, proposed_result
from local_agent.flow import summaries
from local_agent.flow.checking import Checking
from local_agent.flow.journal_store import JournalStore
from local_agent.flow.ports import Gate, RunWish
from local_agent.flow.run import Resting, Run, StoppedError, rests
from local_agent.flow.run_questions import Questions
from local_agent.flow.task import TaskLog, may_see, submit_named
from local_agent.store.endings import ANSWER_BYTES
from local_agent.store.tasks import NewTask, Task

if TYPE_CHECKING:
    from local_agent.flow.approvals import Notice
    from local_agent.flow.approving import Approving
    from local_agent.flow.gate import Entrance
    from local_agent.flow.steps import Steps
    from local_agent.store.runs import Runs, StoredRun
CLOSE_SECONDS: Final = 10.0  # for what runs to be ended and recorded
AGAIN_SECONDS: Final = 5.0  # after the journal refused, as on a full disk; doubled up to …
LONGEST_SECONDS: Final = 300.0


class Log(Protocol):
    """What the engine needs of a logger."""

    def exception(self, event: str, *args: Any, **facts: Any) -> Any:
        """Record an unexpected failure with its traceback."""
        ...


class Engine:
    """Carries every task from where it stands to its end.

    Attributes:
        on_checked: Told when a check has ended, with the approval whose change it tried out.
        questions: What runs of playbooks ask.
        answering: Where the answers of dry runs enter.
    """

    def __init__(
        self,
        *,
        store: JournalStore,
        tasks: TaskLog,
        make_steps: Callable[[], Steps],
        gate: Gate,
        checking: Checking,
        resting: Resting,
        copies: Copies,
        answering: Entrance,
        clock: Clock,
        log: Log,
    ) -> None:
        self._store = store
        self._tasks = tasks
        self._make_steps = make_steps
        self._steps: Steps | None = None
        self._loading = asyncio.Lock()
        self._on_wanted: Callable[[str], None] = lambda _approval_id: None
        self._gate = gate
        self._checking = checking
        self._resting = resting
        self.questions = Questions()
        self._copies = copies
        self.answering = answering
        self._clock = clock
        self._log = log
        self.on_checked: Callable[[str], None] = lambda _approval_id: None
        self._runs: dict[str, Run] = {}
        self._carried: dict[Run, asyncio.Task[None]] = {}
        self._closing = False
        gate.listen(self._hear)
        gate.listen(self.questions.hear)

    # --- the main flow -----------------------------------------------------------------------

    async def _carry(self, run: Run) -> None:
        task = await self._store.get(run.task_id)
        run.checks = task.checks
        if task.cancel_requested:
            run.stop.set()
        steps = await self.load()
        while task.state not in FINAL:
            if run.stop.is_set() and task.state is not TaskState.EXECUTING:
                raise StoppedError
            try:
                task = await self._step(task, run, steps)
            except CodexBridgeError as error:
                if run.executing:
                    raise
                task = await steps.understanding.held_back(task, error)

    async def _step(self, task: Task, run: Run, steps: Steps) -> Task:
        match task.state:
            case TaskState.RECEIVED:
                self._tasks.received(task)
                return await steps.understanding.route(task, run)
            case TaskState.ROUTED:
                return await steps.understanding.collect(task, run)
            case TaskState.CONTEXT_COLLECTED:
                return await steps.understanding.begin_proposing(task)
            case TaskState.PROPOSING:
                return await steps.understanding.propose(task, run)
            case TaskState.PROPOSAL_READY:
                return await self._answer_or_ask(task, run, steps.approving)
            case TaskState.WAITING_APPROVAL:
                return await steps.approving.decide(task, run)
            case _:
                return await steps.approving.interrupted(task)

    async def _answer_or_ask(self, task: Task, run: Run, approving: Approving) -> Task:
        result = proposed_result(task)
        if isinstance(result.requires, NoRequirement):
            reason = Reason.REFUSED if result.not_done else Reason.COMPLETED
            return await self._tasks.ended(task, reason, same(result.summary), limit=ANSWER_BYTES)
        if result.revises:
            await self._replace(result.revises, task, run)
        if rests(task) and not run.wanted.is_set():
            return await self._resting.until_wanted(task, run)
        return await approving.ask(task)

    # --- the life of all tasks ---------------------------------------------------------------

    async def start(self) -> None:
        """Take up every task that has not ended.  The gate must have been started before."""
        tasks = await self._store.open_tasks()
        if tasks:  # not one of them is to end because our own files are damaged
            await settle_interrupted(self._store, (await self.load()).approving)
            tasks = await self._store.open_tasks()
        for task in tasks:
            if task.step is not None:  # no run goes on by itself, and what it asked is taken back
                await self._store.request_cancel(task.task_id)
        await self._copies.clear(keep=[task.task_id for task in tasks if task.checks])
        for task in tasks:
            self.begin(task.task_id)

    async def load(self) -> Steps:
        """Return what carries a task; it is imported beside the event loop, once.

        Called right after the start as well: a task finds it loaded, and what asks and executes is
        of one version, whatever becomes of our files later.
        """
        async with self._loading:
            if self._steps is None:
                self._steps = await asyncio.to_thread(self._make_steps)
                self._steps.approving.on_wanted = self._on_wanted
        return self._steps

    async def submit(self, new: NewTask) -> Task:
        """Write a task that was asked at this machine, and begin it.

        Raises:
            StoreError: ``store.short-id-taken``, ``store.task-known``, ``store.failed``.
        """
        task = await self._store.create(new, self._clock.now().wall_ms)
        self.begin(task.task_id)
        return task

    def begin(self, task_id: str) -> None:
        """Carry a task that is in the journal; does nothing when it is carried already."""
        if self._closing or task_id in self._runs:
            return
        run = self._runs[task_id] = Run(task_id)
        self._carried[run] = asyncio.create_task(self._carry_to_end(run), name=f"task {task_id}")

    async def cancel(self, task_id: str) -> bool:
        """Stop a task, whatever it is doing; False when it has ended.

        The wish is durable when this returns; the task ends soon after.

        Raises:
            StoreError: nothing was written.
        """
        if not await self._store.request_cancel(task_id):
            return False
        self.stop(task_id)
        return True

    def stop(self, task_id: str) -> None:
        """Act on a cancel that is in the journal; does nothing when the task has ended."""
        self.begin(task_id)
        if run := self._runs.get(task_id):
            run.stop.set()

    async def play(self, wish: RunWish, new: NewTask) -> StoredRun:
        """Write a run of a playbook and the task that carries it, and begin it.

        Raises:
            InputError: ``workspace.unknown``, ``workspace.none``; ``copy.*`` of a dry run.
            StoreError: as `submit`.
        """
        run = await (await self.load()).playing.plan(wish, new)
        return await self._carry_run(new, lambda runs: runs.add(run))

    async def resume(
        self, run_id: str, new: NewTask, *, gate_timeout_s: float | None, answers: str | None = None
    ) -> StoredRun:
        """Carry a run on from where it stands, by a new task.

        Args:
            answers: Of a dry run; a file answers for one time only.

        Raises:
            StateError: ``run.unknown``, ``run.not-resumable``.
            InputError: ``playbook.answers-not-dry``; ``copy.gone``.
            StoreError: as `submit`.
        """
        await (await self.load()).playing.check_dry(run_id, answers)
        gate_ms = None if gate_timeout_s is None else round(gate_timeout_s * 1000)
        return await self._carry_run(
            new, lambda runs: runs.carry(run_id, new.task_id, gate_ms, answers)
        )

    async def roll_back(self, run_id: str, new: NewTask) -> StoredRun:
        """Take a run back, by a new task.

        Raises:
            StateError: ``run.unknown``, ``run.not-reversible``.
            InputError: ``copy.gone``.
            StoreError: as `submit`.
        """
        await (await self.load()).playing.check_dry(run_id)
        return await self._carry_run(new, lambda runs: runs.carry_back(run_id, new.task_id))

    async def _carry_run(self, new: NewTask, write: Callable[[Runs], StoredRun]) -> StoredRun:
        """Write a task with what it is to do of a run, in one, and begin it."""
        run: StoredRun | None = None

        async def submit(new: NewTask) -> Task:
            nonlocal run
            run = await self._store.create_carrier(new, self._clock.now().wall_ms, write)
            self.begin(new.task_id)
            return await self._store.get(new.task_id)

        await submit_named(submit, new)
        assert run is not None  # noqa: S101  # `submit_named` has written it, or raised
        return run

    async def mend_runs(self) -> list[str]:
        """Write again what is rendered of runs and is not as the journal has it.

        Returns:
            Runs of which it was damaged.
        """
        return await (await self.load()).playing.mend_all()

    async def apply(self, task_id: str) -> None:
        """Ask for a change that rests: somebody at this machine wants it applied.

        Raises:
            StateError: ``task.unknown``; ``apply.not-resting``.
        """
        task = await self._store.get(task_id)
        run = self._runs.get(task_id)
        if run is None or not rests(task):
            raise StateError("apply.not-resting", task=task.short_id)
        run.wanted.set()

    async def _replace(self, revised: str, task: Task, run: Run) -> None:
        """End the other versions, which nobody is to approve any more: what was asked last stands.

        Raises:
            StoppedError: another one was asked for later than this.
        """
        for other in await self._other_versions(revised, task):
            if _age(other) > _age(task):
                run.replaced_by = other.short_id
                raise StoppedError
            if await self._store.request_cancel(other.task_id):
                self.begin(other.task_id)
                if theirs := self._runs.get(other.task_id):
                    theirs.replaced_by = task.short_id
                    theirs.stop.set()

    async def _other_versions(self, revised: str, task: Task) -> list[Task]:
        """Return the version before, and those made of it besides, that may still be applied.

        What was made of it at this machine is not for a member to end.
        """
        others = [one for one in await self._store.open_tasks() if one.task_id != task.task_id]
        return [
            one
            for one in others
            if may_see(task, one)
            and _may_be_applied(one)
            and revised in (one.short_id, proposed_result(one).revises)
        ]

    async def show_again(self, task_id: str) -> None:
        """Bring what a task proposes before the person, whether it rests or is asked already.

        Raises:
            StateError: ``task.unknown``; ``apply.not-resting``: it has just gone on by itself.
        """
        if rests(await self._store.get(task_id)):
            await self.apply(task_id)
        else:
            await (await self.load()).approving.show_again(task_id)

    def when_wanted(self, listener: Callable[[str], None]) -> None:
        """Have it told, by its id, which question is to come before the person once more."""
        self._on_wanted = listener
        if self._steps is not None:
            self._steps.approving.on_wanted = listener

    async def refresh(self, task_id: str) -> None:
        """Ask anew where what waits would no longer be done as it was sealed (`Approving`).

        Raises:
            StateError: ``task.unknown``.
        """
        await (await self.load()).approving.refresh(task_id)

    async def narrow(
        self, approval_id: str, digest: str, keep: tuple[str, ...], hunks: Hunks = ALL_HUNKS
    ) -> None:
        """Ask for some of the files or their hunks alone, under a new seal (`Approving`).

        Raises:
            StateError: ``approval.not-pending``, ``approval.unknown``.
            InputError: ``approval.digest-mismatch``, ``approval.narrow``.
        """
        await (await self.load()).approving.narrow(approval_id, digest, keep, hunks)

    def can_check(self, seal: Seal) -> bool:
        """Tell whether what is sealed can be tried out before it is decided on.  Blocking."""
        return self._checking.possible(seal)

    async def check(self, approval_id: str, digest: str) -> Task:
        """Begin to try a change out before it is decided on (`Checking`).

        Raises:
            StateError: ``approval.not-pending``, ``approval.unknown``, ``check.*``.
            InputError: ``approval.digest-mismatch``.
            StoreError: as `submit`.
        """
        return await self._checking.begin(approval_id, digest, self.submit)

    async def close(self) -> None:
        """End what runs and record it; leave everything else as the journal has it."""
        self._closing = True
        carried = list(self._carried.items())
        for run, task in carried:
            if run.executing:
                run.closing = True
                run.stop.set()
            else:
                task.cancel()
        if carried:  # a run of a playbook waits for what executes, and records how it was cut off
            await asyncio.wait([task for _, task in carried], timeout=CLOSE_SECONDS)
        left = list(self._carried.values())
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _carry_to_end(self, run: Run) -> None:
        delay = AGAIN_SECONDS
        try:
            while not await self._goes_on(run):
                await asyncio.sleep(delay)
                delay = min(2 * delay, LONGEST_SECONDS)
            if run.checks is not None:
                await self._copies.remove(run.task_id)
                self.on_checked(run.checks)
            await self._mend_run(run.task_id)
            if self.questions.of(run.task_id) is not None:
                self.questions.ended(run.task_id, await self._store.get(run.task_id))
        finally:
            self.questions.ended(run.task_id)
            self._runs.pop(run.task_id, None)
            self._carried.pop(run, None)

    async def _mend_run(self, task_id: str) -> None:
        task = await self._store.get(task_id)
        if task.run is not None and task.step is None:
            await (await self.load()).playing.mend(task.run, task_id)

    def _hear(self, notice: Notice) -> None:
        """Stop what tries out a change that no longer waits to be decided on."""
        if notice.kind == "requested":
            return
        for run in self._runs.values():
            if run.checks == notice.approval_id:
                run.stop.set()

    async def _goes_on(self, run: Run) -> bool:
        """Carry a task; False when the journal refused: it stays as the journal has it."""
        try:
            try:
                await self._carry(run)
            except Exception as error:  # the top of a task: it ends with a reason
                if isinstance(error, StoreError) and (run.executing or _may_pass(error)):
                    raise
                await self._end_early(run, error)
        except StoreError:
            self._log.exception("task.left-open", task_id=run.task_id)
            run.executing = False
            return False
        return True

    async def _end_early(self, run: Run, error: Exception) -> None:
        if not isinstance(error, StoppedError | CodexBridgeError):
            self._log.exception("task.failed", task_id=run.task_id)
        try:
            await self._gate.withdraw(run.task_id)
            task = await self._store.get(run.task_id)
            if task.state not in FINAL:
                reason, summary = summaries.of_early_end(error, task, replaced_by=run.replaced_by)
                newer = run.replaced_by if reason is Reason.CANCELLED else None
                did = {"replaced_by": newer} if newer else None
                await self._tasks.ended(task, reason, summary, did=did)
        except StoreError:
            raise
        except CodexBridgeError:
            self._log.exception("task.left-open", task_id=run.task_id)


def _may_pass(error: StoreError) -> bool:
    """Tell whether the journal refused, as on a full disk; a blob that is gone stays gone."""
    return error.code.startswith("store.")


def _may_be_applied(task: Task) -> bool:
    """Tell whether a proposal waits for a person, or is about to, and nothing of it was begun."""
    if task.state not in (TaskState.PROPOSAL_READY, TaskState.WAITING_APPROVAL):
        return False
    return isinstance(proposed_result(task).requires, LocalApproval)


def _age(task: Task) -> tuple[int, str]:
    return task.created_at, task.task_id


async def settle_interrupted(store: JournalStore, approving: Approving) -> int:
    """End every task with an intent but no outcome, as far as can be proved; return how many.

    The intent is written before the task enters EXECUTING, so a task may still be waiting here.
    Whether a command began is then not provable, and it is treated as if it had; files can be
    looked at (`local_agent.actions.changes.perform`).

    Raises:
        StoreError: nothing may be begun.
    """
    interrupted = set(await store.interrupted())
    found = [task for task in await store.open_tasks() if task.task_id in interrupted]
    for task in found:
        await approving.interrupted(task)
    return len(found)
