"""A proposed operation, from the question to the person to its outcome.

    ask ─▶ (a person decides at the machine) ─▶ decide ─▶ take_grant ─▶ EXECUTING ─▶ run ─▶ ended

The approval is used up only when the operation can start at once; what cannot start in time is
asked again under a new seal.  EXECUTING is entered and left within `decide`, so a task that is
found in it after a restart was interrupted, and is never run again (P3).
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from common.diff.patching import ALL_HUNKS, Hunks
from common.errors import CodexBridgeError, InputError, StateError
from common.model.proposal import Diff, LocalApproval, TaskResult
from common.model.state import Reason, TaskState
from common.seal import Action, Seal
from common.sentences import Lang, Sentence, Words, same, say
from local_agent.actions.disclose.action import render_stay
from local_agent.actions.operation import (
    Ended,
    Operation,
    Performing,
    Sealable,
    proposed_result,
    render_drift,
)
from local_agent.flow import summaries, words
from local_agent.flow.approvals import (
    Decision,
    PendingApproval,
    check_standing,
    check_withdrawn,
    question,
)
from local_agent.flow.following import made_in
from local_agent.flow.journal_store import JournalStore
from local_agent.flow.parts import UNKNOWN, Performer, recorded
from local_agent.flow.ports import Gate, Workspaces
from local_agent.flow.run import Run, StoppedError, unless_stopped
from local_agent.flow.run_questions import Questions
from local_agent.flow.sealing import Sealer
from local_agent.flow.task import TaskLog, Waiting
from local_agent.propose.diffs import retold
from local_agent.safety.grant import Grant
from local_agent.safety.policy import Policy
from local_agent.safety.risk import Circumstances
from local_agent.store.approvals import StoredApproval
from local_agent.store.tasks import Task
from local_agent.workspace.git.config import hook_places
from local_agent.workspace.registry import Workspace

TURN_SECONDS: Final = 45.0  # of the 60 from approval to start (R22); the rest is for the start
# What preparing again says when the files are no longer those that were proposed for.
_MOVED_ON: Final = frozenset({"diff", "change", "undo", "sync"})

_STALE: Final = frozenset({"diff", "change"})  # families of what a diff that no longer fits says


class _BusyError(Exception):
    """Another operation ran in the workspace for too long; the approval is stale by now."""


class Approving:
    """Asks for operations, and carries out those that were approved.

    Args:
        operations: One for each action.
        policy_of: Gives the person's policy for a workspace; blocks.
        machine: The name people know this machine by.
        prefix: The word that addresses the bot, for what can be done next.
        questions: What runs of playbooks ask.
        turn_seconds: How long an approved operation may wait for another one in its workspace.

    Attributes:
        on_wanted: Told which question is to come before the person once more.
        before_part: Waited for before each part of what a task asked is begun; False ends it there.
            It must return within a minute, and soon where the task is to stop.
        ended_part: Told how each part of what a task asked ended, once that is recorded; one that
            a restart cut off is not told.
    """

    def __init__(
        self,
        *,
        log: TaskLog,
        store: JournalStore,
        gate: Gate,
        workspaces: Workspaces,
        sealer: Sealer,
        operations: Mapping[str, Operation],
        policy_of: Callable[[Workspace], Policy],
        machine: str,
        prefix: str,
        questions: Questions,
        turn_seconds: float = TURN_SECONDS,
    ) -> None:
        self._log = log
        self._store = store
        self._gate = gate
        self._workspaces = workspaces
        self._sealer = sealer
        self._operations = operations
        self._performer = Performer(gate, store, operations)
        self._policy_of = policy_of
        self._machine = machine
        self._prefix = prefix
        self._questions = questions
        self._turn_seconds = turn_seconds
        self.on_wanted: Callable[[str], None] = lambda _approval_id: None
        self.before_part: Callable[[Task, int], Coroutine[Any, Any, bool]] = questions.before_part
        self.ended_part: Callable[[Task, int, Ended], Awaitable[None]] = questions.ended_part
        self._narrowing = asyncio.Lock()
        self._turns: defaultdict[Path, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def ask(self, task: Task) -> Task:
        """PROPOSAL_READY → WAITING_APPROVAL: seal the operation as it would be done now.

        Raises:
            RefusedError: policy forbids it.
            FloodedError: too much is asked for.
            InputError: it cannot be done as proposed.
        """
        opening = same(proposed_result(task).summary)
        asked = await self._store.newest_approval(task.task_id)
        if asked is not None and asked.state in ("pending", "rejected"):
            # Asked just before a crash: it goes on waiting, under the seal it was shown with.  What
            # a person has refused meanwhile stays refused, and is not asked once more.
            return await self._wait_for(task, opening, question(asked))
        try:
            return await self._ask(task, opening, version=_version_after(asked))
        except InputError as error:
            if not _is_stale(task, error) or await self._is_held_back(task):
                raise
            why = partial(summaries.of_error, error)
            return await self._ended_stale(task, Reason.REFUSED, why)

    async def decide(self, task: Task, run: Run) -> Task:
        """WAITING_APPROVAL → EXECUTING → final, or final at once, or asked again.

        Raises:
            StoppedError: the task was cancelled before anything was done.
        """
        approval = await self._store.newest_approval(task.task_id)
        if approval is not None and approval.state == "consumed":
            return await self.interrupted(task)
        if approval is None or _lapsed(approval):
            return await self._ask_again(task, approval, _why_again(approval))
        decision = await unless_stopped(run, self._gate.wait(approval.approval_id))
        if decision.outcome != "approved":
            return await self._not_approved(task, decision)
        if not await unless_stopped(run, self.before_part(task, 0)):
            raise StoppedError
        workspace = await self._workspace(task)
        turn = self._turns[workspace.path]
        try:
            async with self._holding(turn, run):
                return await self._start(task, run, approval, workspace)
        except _BusyError:
            await self._gate.withdraw(task.task_id)
            await unless_stopped(run, _free(turn))
            return await self._ask_again(task, approval, words.AGAIN_BUSY)

    async def interrupted(self, task: Task) -> Task:
        """Found in the middle of it after a restart: done, not done, or ``unknown`` (P3)."""
        ended = await self._settled(task)
        if task.state is TaskState.WAITING_APPROVAL and ended.reason is Reason.COMPLETED:
            # The intent stands before the state does, and the files say that it was carried out.
            task = await self._log.entered(task, TaskState.EXECUTING)
        return await self._log.ended(
            task, ended.reason, ended.summary, here=ended.here, did=ended.did
        )

    async def refresh(self, task_id: str) -> None:
        """Ask anew where what waits is no longer what would be done now.

        For the moment before a person looks: what they then see is what would be done, and only
        what changes after that is drift.

        Raises:
            StateError: ``task.unknown``.
        """
        task = await self._store.get(task_id)
        asked = await self._store.newest_approval(task_id)
        if task.state is not TaskState.WAITING_APPROVAL or asked is None:
            return
        if asked.state == "pending" and not await self._is_as_sealed(task, question(asked).seal):
            await self._gate.withdraw(task_id)

    async def show_again(self, task_id: str) -> None:
        """Bring what a task asks before the person once more; nothing is approved by it.

        Raises:
            StateError: ``task.unknown``.
        """
        await self.refresh(task_id)
        asked = await self._store.newest_approval(task_id)
        if asked is not None and asked.state == "pending":  # else the new one shows itself
            self.on_wanted(asked.approval_id)

    async def narrow(
        self, approval_id: str, digest: str, keep: tuple[str, ...], hunks: Hunks = ALL_HUNKS
    ) -> None:
        """Ask for these files alone, under a new seal; nothing is approved by it.

        Args:
            approval_id: Of the question.
            digest: Of what the person saw.
            keep: The paths of the files.
            hunks: Of these files, the hunks to keep; all of a file that is not named here.

        Raises:
            StateError: ``approval.not-pending``, ``approval.unknown``.
            InputError: ``approval.digest-mismatch``: another question stands by now;
                ``approval.narrow``: it has no such parts.
        """
        async with self._narrowing:  # no other choice changes the proposal that this one is of
            asked = await self._store.approval(approval_id)
            check_standing(asked, digest)
            task = await self._store.get(asked.task_id)
            seal = question(asked).seal
            operation = self._operations[seal.action]
            narrowed = await operation.narrowed(whole := proposed_result(task), seal, keep, hunks)
            narrowed = retold(narrowed, whole, (await self._workspace(task)).name, task.lang)
            await self._gate.withdraw(task.task_id)
            # What was decided meanwhile stands, whole, and nobody hears of a part.
            check_withdrawn(await self._store.approval(approval_id))
            await self._log.narrowed(task, narrowed, partial(say, words.NARROWED))

    # --- asking ------------------------------------------------------------------------------

    async def _ask(self, task: Task, opening: Words, *, version: int) -> Task:
        workspace = await self._workspace(task)
        sealable, policy = await self._prepared(task, workspace)
        seal = self._sealer.seal(
            task,
            sealable,
            policy=policy,
            version=version,
            waits_ms=self._questions.waits_ms(task),
            tells=self._questions.tells(task),
        )
        hooks = await asyncio.to_thread(hook_places, workspace.path)
        around = replace(_around(sealable), policy=policy, hooks=hooks)
        asked = await self._gate.request(seal, around=around)
        return await self._wait_for(task, opening, asked)

    async def _prepared(self, task: Task, workspace: Workspace) -> tuple[Sealable, Policy]:
        operation = self._operations[_action(task)]
        sealable = await operation.prepare(task, workspace)
        return sealable, await asyncio.to_thread(self._policy_of, workspace)

    async def _wait_for(self, task: Task, opening: Words, asked: PendingApproval) -> Task:
        why_not_told = await self._is_held_back(task)  # it tells of what is in it
        message = opening if why_not_told else partial(_asking, opening, asked)
        waiting = Waiting(asked.code, asked.expires_at, self._machine)
        return await self._log.waiting(task, message, waiting)

    async def _is_held_back(self, task: Task) -> bool:
        return task.source == "wecom" and (await self._workspace(task)).disclosure == "ask"

    async def _ask_again(self, task: Task, older: StoredApproval | None, why: Sentence) -> Task:
        async with self._narrowing:  # it asks for what is then the proposal
            task = await self._store.get(task.task_id)
        opening = partial(_asked_again, why, proposed_result(task).summary)
        try:
            return await self._ask(task, opening, version=_version_after(older))
        except CodexBridgeError as error:
            if error.code.partition(".")[0] not in _MOVED_ON:
                raise
            # It could be done when it was proposed: the files have moved on since.
            return await self._ended_stale(task, Reason.DRIFTED, summaries.of_moving_on)

    async def _ended_stale(self, task: Task, reason: Reason, why: Words) -> Task:
        summary, here = _with_next_step(task, why, why, prefix=self._prefix)
        return await self._log.ended(task, reason, summary, here=here)

    async def _is_as_sealed(self, task: Task, seal: Seal) -> bool:
        try:
            sealable, policy = await self._prepared(task, await self._workspace(task))
        except CodexBridgeError:
            return False  # asking again tells what is wrong
        return self._sealer.is_same(seal, sealable, policy)

    async def _not_approved(self, task: Task, decision: Decision) -> Task:
        if decision.outcome == "rejected":
            summary: Words = partial(summaries.of_rejection, decision)
            if _action(task) == "disclose":
                summary = render_stay(decision.reason)
            return await self._log.ended(task, Reason.REJECTED, summary)
        if decision.outcome == "expired":
            summary = partial(say, words.APPROVAL_EXPIRED)
            return await self._log.ended(task, Reason.EXPIRED, summary)
        # Superseded: `decide` looks again, and asks once more if nothing newer stands.
        return await self._store.get(task.task_id)

    # --- doing -------------------------------------------------------------------------------

    async def _start(
        self, task: Task, run: Run, approval: StoredApproval, workspace: Workspace
    ) -> Task:
        if not await self._policy_stands(approval, workspace):
            drifted = partial(render_drift, ("policy",))
            here = _with_ask_again(task, drifted)
            return await self._log.ended(task, Reason.DRIFTED, drifted, here=here)
        run.executing = True
        try:
            grant = await self._gate.take_grant(approval.approval_id, approval.digest)
        except StateError as error:
            run.executing = False
            if error.code == "approval.task-over":
                raise StoppedError from None
            if error.code != "approval.not-approved":
                raise
            return await self._ask_again(task, approval, words.AGAIN_INTERRUPTED)
        task = await self._log.entered(task, TaskState.EXECUTING, partial(say, words.BEGUN))
        return await self._run(task, run, grant, workspace)

    async def _run(self, task: Task, run: Run, grant: Grant, workspace: Workspace) -> Task:
        around = Performing(
            run.stop,
            partial(self._tell, task),
            self._gate.block,
            streams=task.step is not None,
            before_part=partial(self.before_part, task),
            ended_part=partial(self.ended_part, task),
        )
        performed = await self._performer.perform(task, grant, workspace, around)
        ended = performed.ended
        summary, here = ended.summary, ended.here or ended.summary
        if ended.reason is Reason.DRIFTED:
            summary, here = _with_next_step(task, summary, here, prefix=self._prefix)
        if run.closing:
            summary, here = partial(_stopped, summary), partial(_stopped, here)
        task = await recorded(
            partial(
                self._log.ended,
                task,
                ended.reason,
                summary,
                here=here,
                did=ended.did,
                limit=ended.limit,
            )
        )
        if performed.is_untold:
            await around.ended_part(performed.last, performed.own)
        if not run.closing:
            await self._refresh_others(workspace)
        return task

    async def _tell(self, task: Task, progress: Words, chat: bool) -> None:
        await self._log.told(task, progress, chat=chat)

    async def _refresh_others(self, workspace: Workspace) -> None:
        """Ask anew what was described before this was done, and is not so any more."""
        for task in await self._store.open_tasks():
            with suppress(Exception):  # what is wrong with another is told where it is decided on
                asked = await self._store.newest_approval(task.task_id)
                if asked is None or asked.state != "pending":
                    continue
                if question(asked).seal.workspace.path == str(workspace.path):
                    await self.refresh(task.task_id)

    async def _policy_stands(self, approval: StoredApproval, workspace: Workspace) -> bool:
        sealed = question(approval).seal.policy_sha256
        policy = await asyncio.to_thread(self._policy_of, workspace)
        return sealed == self._sealer.policy_sha256(policy)

    async def _settled(self, task: Task) -> Ended:
        approval = await self._store.newest_approval(task.task_id)
        if approval is None:
            return UNKNOWN
        return await self._performer.settle(approval, partial(self._workspace, task))

    @asynccontextmanager
    async def _holding(self, turn: asyncio.Lock, run: Run) -> AsyncIterator[None]:
        if not await unless_stopped(run, _acquire(turn, self._turn_seconds)):
            raise _BusyError
        try:
            yield
        finally:
            turn.release()

    async def _workspace(self, task: Task) -> Workspace:
        return await asyncio.to_thread(made_in, self._workspaces, task)


async def _acquire(turn: asyncio.Lock, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            return await turn.acquire()
    except TimeoutError:
        return False


async def _free(turn: asyncio.Lock) -> None:
    async with turn:
        return


def _around(what: Sealable) -> Circumstances:
    """Return what is known of an operation beside its payload; policy and hooks are added."""
    return Circumstances(
        allowed=what.allowed,
        diff=what.diff,
        moved=what.moved,
        parts=tuple(map(_around, what.parts)),
    )


def _action(task: Task) -> Action:
    needs = proposed_result(task).requires
    if not isinstance(needs, LocalApproval):
        raise StateError("task.illegal-transition", current=task.state, wanted="run")
    return needs.action


def _lapsed(approval: StoredApproval) -> bool:
    """Tell whether it was approved and never used, or was withdrawn: it must be asked again."""
    was_approved = approval.state == "expired" and approval.decided_at is not None
    return was_approved or approval.state == "superseded"


def _why_again(lapsed: StoredApproval | None) -> Sentence:
    """Return why it is asked once more: nobody approved what was taken back before a decision."""
    undecided = lapsed is not None and lapsed.decided_at is None
    return words.AGAIN_CHANGED if undecided else words.AGAIN_INTERRUPTED


def _version_after(older: StoredApproval | None) -> int:
    return question(older).seal.version + 1 if older else 1


def _asking(opening: Words, asked: PendingApproval, lang: Lang) -> str:
    if asked.risk != "high":
        return opening(lang)
    why = summaries.reasons(asked.reasons, lang)
    return f"{opening(lang)}\n{say(words.HIGH_RISK, lang, why=why)}"


def _asked_again(why: Sentence, summary: str, lang: Lang) -> str:
    return say(words.ASKED_AGAIN, lang, what=summary.partition("\n")[0], why=say(why, lang))


def _stopped(summary: Words, lang: Lang) -> str:
    return f"{say(words.AGENT_STOPPED, lang)} {summary(lang)}"


def _is_stale(task: Task, error: CodexBridgeError) -> bool:
    """Tell whether a model's change cannot be asked for because the files are other ones now."""
    return error.code.partition(".")[0] in _STALE and _is_of_a_model(task)


def _with_next_step(task: Task, summary: Words, here: Words, *, prefix: str) -> tuple[Words, Words]:
    """Return the words for the chat and those for this machine, each with the next step there.

    Args:
        task: What has ended.
        summary: How, for the chat.
        here: How, for this machine.
        prefix: The word that addresses the bot.
    """
    if not _is_of_a_model(task):
        return summary, _with_ask_again(task, here)
    at_machine = _followed_by(here, words.TO_REVISE_HERE, task=task.short_id)
    if task.source != "wecom":
        return at_machine, at_machine
    return _followed_by(summary, words.TO_REVISE, task=task.short_id, prefix=prefix), at_machine


def _with_ask_again(task: Task, here: Words) -> Words:
    """Return the words for this machine, with how the same is asked once more."""
    return _followed_by(here, words.TO_ASK_AGAIN, task=task.short_id)


def _is_of_a_model(task: Task) -> bool:
    """Tell whether it proposes a change that is nobody's own patch."""
    if task.proposal_json is None or task.attachment is not None:
        return False
    return isinstance(TaskResult.model_validate_json(task.proposal_json).proposal, Diff)


def _followed_by(first: Words, more: Sentence, **facts: str) -> Words:
    return partial(_joined, first, more, facts)


def _joined(first: Words, more: Sentence, facts: dict[str, str], lang: Lang) -> str:
    return f"{first(lang)}\n{say(more, lang, **facts)}"
