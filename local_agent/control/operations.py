"""What can be asked over the control socket, one method each.

Reads come straight from the journal; what changes something goes to the engine, or to the gate with
the code that a person typed.  Nothing here decides.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Protocol, TypeVar, cast

from common import dsl
from common.errors import InputError, StateError, StoreError
from common.ids import new_short_id, new_uuid
from common.model.state import FINAL, Reason, TaskState
from common.sentences import Lang
from local_agent.approval.gate import Gate
from local_agent.approval.records import Choice
from local_agent.control.arguments import Arguments
from local_agent.control.tasks import task_row, whole_task
from local_agent.control.wire import Request
from local_agent.engine.bus import Bus
from local_agent.engine.ports import NewTask
from local_agent.store.approvals import StoredApproval
from local_agent.store.endings import read_ending
from local_agent.store.journal import Journal
from local_agent.store.runner import JournalThread
from local_agent.store.tasks import Task

MAX_TEXT_BYTES: Final = 20_000  # security limits table, command text
MAX_LISTED: Final = 200
LOG_PIECE: Final = 192 * 1024  # bytes of a log in one line of the answer
ID_LENGTHS: Final = (4, 4, 5, 5)  # of the short IDs tried when one is taken

_T = TypeVar("_T")
Answer = tuple[bool, Mapping[str, Any]]


class Engine(Protocol):
    """What the operations need of the engine."""

    async def submit(self, new: NewTask) -> Task:
        """Write a task and begin it."""
        ...

    async def cancel(self, task_id: str) -> bool:
        """Stop a task; False when it has ended."""
        ...


class AgentOperations:
    """Answers requests.

    Args:
        db: The journal's thread.
        gate: Where decisions enter.
        engine: Begins and stops tasks.
        bus: Tells what happens to them.
        machine: The name people know this machine by.
        prefix: What addresses the bot; put before a request that leaves it out.
        user: Who sits at this machine, for the record.
        surroundings: Machine, gateway, key, workspaces and sandbox, for ``status``; may block.
        read_log: Gives the kept output of a command by its hash; blocks.
        rotate: Gives this machine another key, and returns its name.
        receipt: Gives the signed receipt of a task by its short ID; runs on the journal's thread.
    """

    def __init__(
        self,
        *,
        db: JournalThread,
        gate: Gate,
        engine: Engine,
        bus: Bus,
        machine: str,
        prefix: str,
        user: str,
        surroundings: Callable[[], Mapping[str, Any]],
        read_log: Callable[[str], bytes],
        rotate: Callable[[], Coroutine[Any, Any, str]],
        receipt: Callable[[str], bytes],
    ) -> None:
        self._db = db
        self._gate = gate
        self._engine = engine
        self._bus = bus
        self._machine = machine
        self._prefix = prefix
        self._user = user
        self._surroundings = surroundings
        self._read_log = read_log
        self._rotate_key = rotate
        self._receipt = receipt
        self._changing: set[asyncio.Task[Any]] = set()

    async def answer(self, request: Request) -> AsyncIterator[Answer]:
        """Carry out one request; yields ``(is_last, value)``.

        Raises:
            CodexBridgeError: told to whoever asked, by its code.
        """
        args = Arguments(request.args)
        streams = {
            "ask": self._ask,
            "follow": self._follow,
            "log": self._log,
            "retry": self._retry,
        }
        if begin := streams.get(request.op):
            async for step in begin(args):
                yield step
        match request.op:
            case "status":
                yield True, await self._status()
            case "tasks":
                yield True, await self._tasks(args)
            case "show":
                yield True, await self._show(args)
            case "decide":
                yield True, await self._decide(args)
            case "cancel":
                yield True, await self._cancel(args)
            case "receipt":
                receipt = await self._db.run(self._receipt, args.text("task"))
                yield True, {"receipt": receipt.decode("ascii")}
            case "rotate":
                yield True, {"key_id": await self._finish(self._rotate_key())}

    async def _status(self) -> Mapping[str, Any]:
        tasks = await self._db.run(self._journal.tasks.open_tasks)
        by_id = {task.task_id: task for task in tasks}
        waiting = [item for item in await self._gate.pending() if item.task_id in by_id]
        return {
            **await asyncio.to_thread(self._surroundings),
            "audit": await self._db.run(self._audit),
            "open_tasks": len(tasks),
            "approvals": [
                {
                    **task_row(by_id[item.task_id]),
                    "expires_at": item.expires_at,
                    "risk": item.risk,
                }
                for item in waiting
            ],
        }

    def _audit(self) -> Mapping[str, Any]:
        standing = self._journal.heads.standing()
        return {
            "entries": standing.head.seq,
            "gateway_keeps": standing.gateway_keeps,
            "forked_at": standing.forked_at,
        }

    async def _tasks(self, args: Arguments) -> Mapping[str, Any]:
        limit = args.integer("limit", 1, MAX_LISTED)
        tasks: Sequence[Task]
        # One more than is told shows whether there are more.
        if args.flag("all"):
            tasks = await self._db.run(self._journal.tasks.recent, limit=limit + 1)
        else:
            tasks = [*reversed(await self._db.run(self._journal.tasks.open_tasks))]
        until = {item.task_id: item.expires_at for item in await self._gate.pending()}
        return {
            "tasks": [
                {**task_row(task), "expires_at": until.get(task.task_id)} for task in tasks[:limit]
            ],
            "more": len(tasks) > limit,
        }

    async def _show(self, args: Arguments) -> Mapping[str, Any]:
        task = await self._db.run(self._journal.tasks.named, args.text("task"))
        stored = await self._db.run(self._journal.approvals.newest_of, task.task_id)
        approval = await self._approval(task, stored) if stored else None
        tasks = self._journal.tasks
        first = await self._db.run(tasks.find, task.retry_of) if task.retry_of else None
        # A short ID that was given up may name another task by now.
        again = {"retry_of_short_id": first.short_id if first and first.named else None}
        return {"task": whole_task(task) | again, "approval": approval}

    async def _log(self, args: Arguments) -> AsyncIterator[Answer]:
        task = await self._db.run(self._journal.tasks.named, args.text("task"))
        run = read_ending(task.ending_json)["run"]
        name = run["output"]["log_sha256"] if run else None
        if name is None:
            raise StateError("log.none", task=task.short_id)
        log = await asyncio.to_thread(self._read_log, name)
        for start in range(0, len(log), LOG_PIECE):
            piece = log[start : start + LOG_PIECE]
            yield False, {"log": base64.b64encode(piece).decode()}
        yield True, {"bytes": len(log)}

    async def _approval(self, task: Task, stored: StoredApproval) -> Mapping[str, Any]:
        shown = await self._gate.show(stored.approval_id)
        known = (await asyncio.to_thread(self._surroundings))["workspaces"]
        path = shown.approval.seal.workspace.path
        return {
            "approval_id": stored.approval_id,
            "short_id": task.short_id,
            "digest": stored.digest,
            "seal": stored.seal.decode("ascii"),
            "state": shown.state,
            "risk": stored.risk,
            "reasons": list(shown.approval.reasons),
            "blocked": shown.blocked or "",
            "expires_at": stored.expires_at,
            "text": task.text,
            "machine": self._machine,
            "workspace": next((item["name"] for item in known if item["path"] == path), ""),
        }

    async def _decide(self, args: Arguments) -> Mapping[str, Any]:
        await self._finish(
            self._gate.decide(
                args.text("approval_id"),
                args.text("digest"),
                decision=cast("Choice", args.text("decision")),
                approver="terminal",
                typed=args.text("typed"),
                reason=args.text("reason") or None,
            )
        )
        return {}

    async def _cancel(self, args: Arguments) -> Mapping[str, Any]:
        task = await self._db.run(self._journal.tasks.named, args.text("task"))
        if not await self._finish(self._engine.cancel(task.task_id)):
            raise StateError("task.over", task=task.short_id)
        return {}

    async def _follow(self, args: Arguments) -> AsyncIterator[Answer]:
        task = await self._db.run(self._journal.tasks.named, args.text("task"))
        async for step in self._watch(task.task_id, until=FINAL):
            yield step

    async def _ask(self, args: Arguments) -> AsyncIterator[Answer]:
        new = self._new_task(
            args.text("text").strip(),
            lang="zh" if args.text("lang") == "zh" else "en",
            workspace=args.text("workspace") or None,
        )
        async for step in self._begin(new):
            yield step

    async def _retry(self, args: Arguments) -> AsyncIterator[Answer]:
        first = await self._db.run(self._journal.tasks.named, args.text("task"))
        if first.reason is None:
            raise StateError("retry.open", task=first.short_id)
        if first.reason is Reason.UNKNOWN and not args.flag("may_have_run"):
            raise StateError("retry.unknown", task=first.short_id)
        new = self._new_task(first.text, lang=first.lang, workspace=first.workspace)
        async for step in self._begin(replace(new, retry_of=first.task_id)):
            yield step

    async def _begin(self, new: NewTask) -> AsyncIterator[Answer]:
        submitting = self._finish(self._submit(new))
        until = FINAL | {TaskState.WAITING_APPROVAL}
        async for step in self._watch(new.task_id, until=until, begin=submitting):
            yield step

    def _new_task(self, text: str, *, lang: Lang, workspace: str | None) -> NewTask:
        if not text:
            raise InputError("ask.empty")
        if isinstance(dsl.parse(text, prefix=self._prefix), dsl.NotAddressed):
            text = f"{self._prefix} {text}"
        if len(text.encode("utf-8", "replace")) > MAX_TEXT_BYTES:
            raise InputError("ask.too-long", limit=MAX_TEXT_BYTES)
        task_id = new_uuid()
        return NewTask(
            task_id=task_id,
            short_id=new_short_id("agent"),
            source="local_ui",
            channel="terminal",
            claimed_user=self._user,
            thread_id=task_id,
            text=text,
            lang=lang,
            workspace=workspace,
        )

    async def _submit(self, new: NewTask) -> Task:
        for length in ID_LENGTHS:
            try:
                return await self._engine.submit(new)
            except StoreError as error:
                if error.code != "store.short-id-taken":
                    raise
            new = replace(new, short_id=new_short_id("agent", length=length))
        return await self._engine.submit(new)

    async def _watch(
        self,
        task_id: str,
        *,
        until: frozenset[TaskState],
        begin: Coroutine[Any, Any, Task] | None = None,
    ) -> AsyncIterator[Answer]:
        # Reads from before the task is looked at, so that nothing falls in between.
        with self._bus.read(task_id=task_id) as events:
            if begin is not None:
                await begin
            task = await self._db.run(self._journal.tasks.get, task_id)
            while task.state not in until:
                told = await anext(events, None)
                if told is None:
                    return
                yield False, {**told.event.to_dict(), "said": dict(told.said)}
                task = await self._db.run(self._journal.tasks.get, task_id)
        yield True, {"task": whole_task(task)}

    async def _finish(self, change: Coroutine[Any, Any, _T]) -> _T:
        # Whoever asked may hang up; what they asked for is carried out whole all the same.
        task = asyncio.ensure_future(change)
        self._changing.add(task)
        task.add_done_callback(self._changing.discard)
        return await asyncio.shield(task)

    @property
    def _journal(self) -> Journal:
        return self._db.journal
