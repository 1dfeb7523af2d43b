"""Answers about the agent itself: help, status, and words that only sound like power.

They stand in the engine because they know of tasks and of what waits for a person.  A member sees
the tasks of their own account alone; who sits at the machine sees all.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from common import dsl
from common.clock import Clock
from common.errors import InputError, StateError
from common.model.state import FINAL, TaskState
from common.redact import redact
from common.sentences import Lang, say
from common.text import one_line
from common.verbs import Topic
from local_agent.flow import words
from local_agent.flow.journal_store import JournalStore
from local_agent.flow.run import rests
from local_agent.flow.standing import RunStanding
from local_agent.flow.task import may_see
from local_agent.propose import words as proposal_words
from local_agent.propose.base import Asked, Proposed, answer
from local_agent.store.tasks import Task
from local_agent.words import REASONS, STATES, render_hour
from local_agent.workspace.git.repository import Changes
from local_agent.workspace.registry import Workspace

ROWS: Final = 10
_WHAT_BYTES: Final = 60
_DONE_ELSEWHERE: Final = {
    Topic.REJECT: words.REJECT_THERE,
    Topic.CANCEL: words.CANCEL_HOW,
    Topic.GATEWAY: words.ASK_GATEWAY,
    Topic.UNSUPPORTED: words.UNSUPPORTED,
}


Standing = Callable[[str], Awaitable[RunStanding | None]]


async def _unknown(_run_id: str) -> RunStanding | None:
    return None


class OpenTasks:
    """Says in words what is open and what waits for a person.

    Args:
        store: Where the tasks are.
        clock: For the time that is left.
        standing: Tells where a run of a playbook stands.
    """

    def __init__(self, store: JournalStore, clock: Clock, standing: Standing = _unknown) -> None:
        self._store = store
        self._clock = clock
        self._standing = standing

    async def lines(self, asked: Asked, *, only_waiting: bool = False) -> list[str]:
        """Return one line for each open task that the asker may see, oldest first.

        Args:
            asked: By whom.
            only_waiting: Those alone that wait for a person to approve or to apply them.
        """
        asker = await self._store.get(asked.task_id)
        seen = [
            task
            for task in await self._store.open_tasks()
            if task.task_id != asker.task_id
            and task.step is None  # its run is told, and what that waits for
            and may_see(asker, task)
            and (not only_waiting or await self._waits(task))
        ]
        lines = [await self.line(task, asked.lang) for task in seen[:ROWS]]
        if (rest := len(seen) - ROWS) > 0:
            lines.append(say(words.MORE_TASKS, asked.lang, count=rest))
        return lines

    async def one(self, asked: Asked, short_id: str) -> str:
        """Return the line of one task by its short ID; another's task is an unknown one."""
        asker = await self._store.get(asked.task_id)
        try:
            task = await self._store.named(short_id)
        except StateError:
            task = None
        if task is not None and task.step is not None and asker.source == "wecom":
            # The chat is told of a run, and not of what it asks.
            standing = await self._standing(task.run or "")
            task = await self._store.get(standing.run.task_id) if standing else None
        if task is None or not may_see(asker, task):
            return say(words.NO_SUCH_TASK, asked.lang, short_id=short_id)
        return await self.line(task, asked.lang)

    async def line(self, task: Task, lang: Lang) -> str:
        """Return the short ID, where the task stands, and what was asked."""
        # Secrets first: the beginning of one is not recognised any more.
        what = one_line(redact(task.text), _WHAT_BYTES)
        state = await self._state(task, lang)
        return say(words.TASK_ROW, lang, short_id=task.short_id, state=state, what=what)

    async def _waits(self, task: Task) -> bool:
        """Tell whether a task waits for a person to approve or to apply something."""
        if task.state is TaskState.WAITING_APPROVAL or rests(task):
            return True
        standing = await self._standing(task.run) if task.run is not None else None
        return standing is not None and standing.waiting is not None

    async def _state(self, task: Task, lang: Lang) -> str:
        if task.state is TaskState.PROPOSING and task.run is not None:
            standing = await self._standing(task.run)
            if standing is not None and standing.total:
                return _run_state(standing, lang)
        if task.state in FINAL:
            reason = say(REASONS[task.reason or "unknown"], lang)
            return say(words.ENDED_AS, lang, reason=reason)
        if task.state is TaskState.WAITING_APPROVAL:
            approval = await self._store.newest_approval(task.task_id)
            if approval is not None and approval.state == "pending":
                now_ms = self._clock.now().wall_ms
                until = render_hour(approval.expires_at, now_ms=now_ms)
                return say(words.WAITS_FOR, lang, until=until)
        return say(STATES[task.state], lang)


def _run_state(standing: RunStanding, lang: Lang) -> str:
    facts = {
        "playbook": standing.run.name,
        "number": standing.number,
        "count": standing.total,
        "step": standing.step,
    }
    if waiting := standing.waiting:
        is_hook = (waiting.step or "").startswith(("pre:", "post:"))
        told = words.RUN_HOOK_WAITS if is_hook else words.RUN_WAITS
        return say(told, lang, **facts, task=waiting.short_id)
    return say(words.RUN_AT, lang, **facts)


class HelpProposer:
    """Answers help, and what cannot be done from a chat.

    Args:
        open_tasks: Says what waits.
        free_text: False where plain words are switched off (setting ``nl.enable``).
    """

    def __init__(self, open_tasks: OpenTasks, *, free_text: bool = True) -> None:
        self._open_tasks = open_tasks
        self._free_text = free_text

    async def propose(self, asked: Asked) -> Proposed:
        """Return the answer; whatever was asked, nothing is approved, applied or cancelled."""
        topic = asked.topic
        help_text = dsl.help_text(asked.lang, prefix=asked.prefix, free_text=self._free_text)
        if topic in (Topic.APPROVE, Topic.APPLY):
            return _declined("\n".join(await self._where_it_happens(asked, topic)))
        if told := _DONE_ELSEWHERE.get(topic):
            return _declined(say(told, asked.lang, prefix=asked.prefix))
        if topic is Topic.CHATTER:
            return answer("\n".join(await self._here(asked)))
        if topic is Topic.MISTYPED:
            meant = dsl.mistyped(asked.text)
            word = one_line(asked.text, _WHAT_BYTES)
            facts = {"word": word, "meant": meant, "prefix": asked.prefix}
            return _declined(say(words.MISTYPED, asked.lang, **facts))
        if topic is Topic.FREE_TEXT_OFF:
            return _declined(f"{say(words.FREE_TEXT_OFF, asked.lang)}\n{help_text}")
        return answer(help_text)

    async def _here(self, asked: Asked) -> list[str]:
        """Return a short answer to small talk; "ok" may have been said to what waits."""
        waiting = await self._open_tasks.lines(asked, only_waiting=True)
        where = [say(words.APPROVE_THERE, asked.lang), *waiting] if waiting else []
        return where or [say(words.HERE, asked.lang, prefix=asked.prefix)]

    async def _where_it_happens(self, asked: Asked, topic: Topic) -> list[str]:
        waiting = await self._open_tasks.lines(asked, only_waiting=True)
        if topic is Topic.APPLY and not waiting:
            return [say(words.NOTHING_TO_APPLY, asked.lang, prefix=asked.prefix)]
        return [say(words.APPROVE_THERE, asked.lang), *waiting]


class StatusProposer:
    """Answers what is open, for whom it waits, and where commands would run.

    Args:
        open_tasks: Says what is open.
        sandbox: Level that the self-test at start proved: ``bubblewrap`` or ``none``.
        local_changes: Reads the branch of a folder and what differs there; None without git.
    """

    def __init__(
        self,
        open_tasks: OpenTasks,
        *,
        sandbox: str,
        local_changes: Callable[[Path], Awaitable[Changes | None]],
    ) -> None:
        self._open_tasks = open_tasks
        self._sandbox = sandbox
        self._local_changes = local_changes

    async def propose(self, asked: Asked) -> Proposed:
        """Return the status of this machine, or of the one task that was named."""
        if asked.about is not None:
            return answer(await self._open_tasks.one(asked, asked.about))
        rows = await self._open_tasks.lines(asked)
        heading = words.OPEN_TASKS if rows else words.NOTHING_OPEN
        machine = await self._machine(asked.workspace, asked.lang, remote=asked.remote)
        return answer("\n".join([say(heading, asked.lang), *rows, *machine]))

    async def _machine(
        self, workspace: Workspace | None, lang: Lang, *, remote: bool
    ) -> Sequence[str]:
        if workspace is not None and remote and workspace.disclosure == "ask":
            # Nothing of what is in it is told before somebody has released that.
            return (say(words.WORKSPACE_NAMED, lang, name=workspace.name), self._sandbox_line(lang))
        branch = await self._branch(workspace, lang)
        return (_workspace_line(workspace, lang), *branch, self._sandbox_line(lang))

    async def _branch(self, workspace: Workspace | None, lang: Lang) -> Sequence[str]:
        try:
            found = await self._local_changes(workspace.path) if workspace else None
        except InputError:
            return ()  # the folder went away; whoever asks for something in it is told
        if found is None:
            return ()
        name = one_line(found.branch or say(proposal_words.NO_BRANCH, lang), _WHAT_BYTES)
        return (say(proposal_words.ON_BRANCH, lang, branch=name, changed=found.total),)

    def _sandbox_line(self, lang: Lang) -> str:
        if self._sandbox == "none":
            return say(words.NOT_SANDBOXED, lang)
        return say(words.SANDBOXED, lang, level=self._sandbox)


def _declined(text: str) -> Proposed:
    # "T-7K3F completed" above "nothing can be approved from the chat" would be read as a yes.
    return replace(answer(text), not_done=True)


def _workspace_line(workspace: Workspace | None, lang: Lang) -> str:
    if workspace is None:
        return say(words.WORKSPACE_NONE, lang)
    if workspace.test_command is None:
        return say(words.WORKSPACE_WITHOUT_TEST, lang, name=workspace.name)
    command = one_line(workspace.test_command, _WHAT_BYTES)
    return say(words.WORKSPACE_WITH_TEST, lang, name=workspace.name, command=command)
