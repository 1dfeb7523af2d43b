"""Running a proposed command as an approved task does, without an engine: for tests below it."""

from __future__ import annotations

import asyncio
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields
from typing import Any

from common.model.intent import TaskIntent, TaskKind
from common.model.proposal import Answer, CommandProposal, LocalApproval, TaskResult
from common.seal import Seal
from common.sentences import Words
from local_agent.actions.operation import Ended, Performing
from local_agent.actions.run_command.action import RunCommand
from local_agent.store.approvals import StoredApproval
from local_agent.store.tasks import Task
from tests.machine import Machine


class NoCopies:
    """Nothing is checked here."""

    async def make(self, task_id: str, workspace: Any, seal: Seal) -> Any:
        raise NotImplementedError

    async def remove(self, task_id: str) -> None:
        raise NotImplementedError

    async def clear(self, *, keep: Any) -> None:
        raise NotImplementedError


async def no_approval(approval_id: str) -> StoredApproval:
    raise NotImplementedError(approval_id)


def no_seal(raw: bytes, digest: str) -> Seal:
    raise NotImplementedError(raw, digest)


def operation(machine: Machine) -> RunCommand:
    """Return the operation as the registry makes it."""
    return RunCommand(
        find_approval=no_approval,
        open_seal=no_seal,
        executor=machine.executor(),
        copies=NoCopies(),
    )


def command_task(**command: Any) -> Task:
    """Return a task that proposes a command."""
    return _task(CommandProposal(**command))


def other_task() -> Task:
    """Return a task that proposes something else, of which a command is a part."""
    return _task(Answer(text="several steps"))


def _task(proposal: CommandProposal | Answer) -> Task:
    result = TaskResult(
        task_id="task-1",
        intent=TaskIntent(kind=TaskKind.RUN, confidence=1.0, summary=""),
        proposal=proposal,
        requires=LocalApproval(action="run_command"),
        summary="",
    )
    facts: dict[str, Any] = dict.fromkeys(field.name for field in fields(Task))
    return Task(**facts | {"task_id": "task-1", "proposal_json": result.to_json()})


def around(*, streams: bool) -> Performing:
    """Return what an operation is handed, which nobody listens to."""

    async def tell(words: Words, chat: bool) -> None:
        del words, chat

    def block(code: str) -> AbstractContextManager[None]:
        del code
        return nullcontext()

    return Performing(asyncio.Event(), tell, block, streams=streams)


async def run(
    machine: Machine, task: Task, *, streams: bool = True, of: Task | None = None
) -> Ended:
    """Prepare, approve and run what a task proposes, as a part of another task if one is given."""
    described = await operation(machine).prepare(task, machine.workspace)
    prepared = await machine.prepare("true")
    grant = machine.grant(prepared, payload=described.payload, base=described.base)
    handed = around(streams=streams)
    return await operation(machine).perform(of or task, grant, machine.workspace, handed)
