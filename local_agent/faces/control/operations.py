"""What can be asked over the control socket, one name each.

Reads come straight from the journal; what changes something goes to the engine, or to the gate with
the code that a person typed.  Nothing here decides.  What begins a task is in `asking`, what
belongs to an approval in `deciding`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from dataclasses import fields
from typing import Any, Final, Protocol, TypeVar

from common.errors import StateError
from common.home import Home
from local_agent.faces.control import asking, deciding, playing
from local_agent.faces.control.asking import Asking
from local_agent.faces.control.deciding import Deciding, Tell
from local_agent.faces.control.modelling import Modelling, Models
from local_agent.faces.control.playing import RunOperations
from local_agent.faces.control.tasks import Answer, Watching, listed_task, waiting_task
from local_agent.faces.control.wire import Arguments, Content, Request
from local_agent.faces.page.passkeys import Passkeys
from local_agent.flow.bus import Bus
from local_agent.flow.gate import Entrance, Gate
from local_agent.flow.standing import RunStanding, Standings
from local_agent.store.journal import Journal, JournalThread
from local_agent.store.tasks import Task
from local_agent.views.status import PasskeyList, StatusView, Surroundings
from local_agent.views.task import TaskList

MAX_LISTED: Final = 200

_T = TypeVar("_T")


class Engine(asking.Engine, deciding.Engine, playing.Engine, Protocol):
    """What the operations need of the engine."""

    async def cancel(self, task_id: str) -> bool:
        """Stop a task; False when it has ended."""
        ...


class Blobs(Protocol):
    """Exact bytes under their SHA-256 (`local_agent.store.blobs`).  Blocking."""

    def put(self, data: bytes) -> str:
        """Store the bytes durably and return their name."""
        ...

    def get(self, name: str) -> bytes:
        """Return the bytes."""
        ...


class Page(Protocol):
    """The door of the local page (`local_agent.faces.page.door`)."""

    async def open(self) -> str:
        """Return a link that opens it, once."""
        ...

    async def shut(self) -> None:
        """End every session of it."""
        ...


class AgentOperations:
    """Answers requests.

    Args:
        db: The journal's thread.
        gate: Where approvals wait.
        entrance: Where decisions at a terminal enter.
        engine: Begins, stops and re-asks tasks.
        bus: Tells what happens to them.
        tell: Tells an approval as dialogs read it (`local_agent.faces.telling`).
        prefix: What addresses the bot; put before a request that leaves it out.
        user: Who sits at this machine, for the record.
        surroundings: Machine, gateway, key, workspaces and sandbox, for ``status``; may block.
        blobs: Where the output of commands and the bytes of diffs are kept.
        rotate: Gives this machine another key, and returns its name.
        receipt: Gives the signed receipt of a task by its short ID; runs on the journal's thread.
        models: What is configured.
        places: Our own folders, with the person's playbooks.
        workspaces: Finds the workspace in which a place is named; blocks.
        forget_closed: Removes what is kept of workspaces that are no longer open.
        page: Opens and closes the local page.
        passkeys: Adds and removes passkeys.
    """

    def __init__(
        self,
        *,
        db: JournalThread,
        gate: Gate,
        entrance: Entrance,
        engine: Engine,
        bus: Bus,
        tell: Tell,
        prefix: str,
        user: str,
        surroundings: Callable[[], Surroundings],
        blobs: Blobs,
        rotate: Callable[[], Coroutine[Any, Any, str]],
        receipt: Callable[[str], bytes],
        models: Models,
        places: Home,
        workspaces: asking.Workspaces,
        forget_closed: Callable[[], Coroutine[Any, Any, None]],
        page: Page,
        passkeys: Passkeys,
    ) -> None:
        self._db, self._gate, self._engine = db, gate, engine
        self._surroundings = surroundings
        self._rotate_key = rotate
        self._receipt = receipt
        self._forget_closed = forget_closed
        self._page, self._passkeys = page, passkeys
        self._changing: set[asyncio.Task[Any]] = set()
        self._standings = Standings(db, blobs)
        self._modelling = Modelling(db, models)
        watching = Watching(db, bus)
        self._asking = Asking(
            db=db,
            engine=engine,
            watching=watching,
            keep=blobs.put,
            workspaces=workspaces,
            prefix=prefix,
            user=user,
            finish=self._finish,
        )
        self._playing = RunOperations(
            db=db,
            bus=bus,
            engine=engine,
            places=places,
            prefix=prefix,
            user=user,
            finish=self._finish,
        )
        self._deciding = Deciding(
            db=db,
            entrance=entrance,
            engine=engine,
            watching=watching,
            tell=tell,
            read_blob=blobs.get,
            standing=self._standings.of,
        )

    async def answer(self, request: Request) -> AsyncIterator[Answer]:
        """Carry out one request; yields ``(is_last, value)``.

        Raises:
            CodexBridgeError: told to whoever asked, by its code.
        """
        args = Arguments(request.args)
        streams = {
            "ask": self._asking.ask,
            "apply": self._asking.apply,
            "want": self._asking.want,
            "undo": self._asking.undo,
            "retry": self._asking.retry,
            "follow": self._asking.follow,
            "log": self._deciding.log,
            "diff": self._deciding.diff,
            "play": self._playing.play,
            "resume": self._playing.resume,
            "roll_back": self._playing.roll_back,
            "passkey_add": self._passkey_add,
            "passkey_codes": self._passkey_codes,
        }
        if begin := streams.get(request.op):
            async for step in begin(args, request.body):
                yield step
        else:
            yield True, await self._one(request.op, args)

    async def _one(self, op: str, args: Arguments) -> Content:
        answers: Mapping[str, Callable[[Arguments], Coroutine[Any, Any, Content]]] = {
            "tasks": self._tasks,
            "show": self._deciding.show,
            "models": self._modelling.told,
            "models_test": self._modelling.test,
            "runs": self._playing.runs,
            "workspaces_changed": self._workspaces_changed,
            "open_page": self._open_page,
            "shut_page": self._shut_page,
            "passkeys": self._list_passkeys,
            "passkey_confirm": self._passkey_confirm,
            "passkey_remove": self._passkey_remove,
        }
        if answer := answers.get(op):
            return await answer(args)
        match op:
            case "status":
                return await self._status()
            case "context":
                return await self._context(args)
            case "refresh":
                return await self._finish(self._deciding.refresh(args))
            case "narrow":
                return await self._finish(self._deciding.narrow(args))
            case "check":
                return await self._finish(self._deciding.check(args))
            case "decide":
                return await self._finish(self._deciding.decide(args))
            case "cancel":
                return await self._cancel(args)
            case "receipt":
                receipt = await self._db.run(self._receipt, args.text("task"))
                return {"receipt": receipt.decode("ascii")}
            case _:  # "rotate", the last of `wire.OPS`
                return {"key_id": await self._finish(self._rotate_key())}

    async def _workspaces_changed(self, _args: Arguments) -> Mapping[str, Any]:
        await self._finish(self._forget_closed())
        return {}

    async def _open_page(self, _args: Arguments) -> Mapping[str, Any]:
        return {"url": await self._page.open()}

    async def _shut_page(self, _args: Arguments) -> Mapping[str, Any]:
        await self._page.shut()
        return {}

    def _passkey_add(self, args: Arguments, _body: bytes) -> AsyncIterator[Answer]:
        return self._passkeys.add(args.text("name"))

    def _passkey_codes(self, _args: Arguments, _body: bytes) -> AsyncIterator[Answer]:
        return self._passkeys.touches.codes()

    async def _passkey_confirm(self, args: Arguments) -> Mapping[str, Any]:
        token, typed = args.text("ceremony"), args.text("typed")
        return await self._finish(self._passkeys.confirm(token, typed))

    async def _list_passkeys(self, _args: Arguments) -> PasskeyList:
        return await self._passkeys.listed()

    async def _passkey_remove(self, args: Arguments) -> Mapping[str, Any]:
        return await self._finish(self._passkeys.remove(args.text("name")))

    async def _status(self) -> StatusView:
        tasks = await self._db.run(self._journal.tasks.open_tasks)
        by_id = {task.task_id: task for task in tasks}
        waiting = [item for item in await self._gate.pending() if item.task_id in by_id]
        runs = await self._runs_of([by_id[item.task_id] for item in waiting])
        around = await asyncio.to_thread(self._surroundings)
        names = {one.path: one.name for one in around.workspaces}
        return StatusView(
            **{field.name: getattr(around, field.name) for field in fields(around)},
            model=self._modelling.asked(),
            audit=await self._db.run(self._journal.heads.standing),
            open_tasks=len(tasks),
            approvals=tuple(
                waiting_task(
                    by_id[item.task_id],
                    expires_at=item.expires_at,
                    risk=item.risk,
                    workspace=names.get(item.seal.workspace.path),
                    standing=runs.get(by_id[item.task_id].run),
                )
                for item in waiting
            ),
        )

    async def _tasks(self, args: Arguments) -> TaskList:
        limit = args.integer("limit", 1, MAX_LISTED)
        tasks: Sequence[Task]
        # One more than is told shows whether there are more.
        if args.flag("all"):
            tasks = await self._db.run(self._journal.tasks.recent, limit=limit + 1)
        else:
            tasks = [*reversed(await self._db.run(self._journal.tasks.open_tasks))]
        until = {item.task_id: item.expires_at for item in await self._gate.pending()}
        runs = await self._runs_of(tasks[:limit])
        # Diffs are read for that, so not on the event loop.
        rows = await asyncio.to_thread(
            lambda: [
                listed_task(one, expires_at=until.get(one.task_id), standing=runs.get(one.run))
                for one in _under_their_runs(tasks[:limit])
            ]
        )
        return TaskList(tasks=tuple(rows), more=len(tasks) > limit)

    async def _runs_of(self, tasks: Sequence[Task]) -> Mapping[str | None, RunStanding]:
        """Return where the runs stand for which any of these tasks asks."""
        wanted = dict.fromkeys(task.run for task in tasks if task.run and task.step is not None)
        found = {run: await self._standings.of(run) for run in wanted}
        return {run: standing for run, standing in found.items() if standing is not None}

    async def _context(self, args: Arguments) -> Mapping[str, Any]:
        """Return the account of what was collected for a task, and whether a model was asked.

        Raises:
            StateError: ``context.none``, ``task.unknown``.
        """
        task = await self._db.run(self._journal.tasks.named, args.text("task"))
        if task.context_json is None:
            raise StateError("context.none", task=task.short_id)
        turns = await self._db.run(self._journal.turns.of_task, task.task_id)
        return {"context": json.loads(task.context_json), "asked": bool(turns)}

    async def _cancel(self, args: Arguments) -> Mapping[str, Any]:
        task = await self._db.run(self._journal.tasks.named, args.text("task"))
        if not await self._finish(self._engine.cancel(task.task_id)):
            raise StateError("task.over", task=task.short_id)
        return {}

    async def _finish(self, change: Coroutine[Any, Any, _T]) -> _T:
        # Whoever asked may hang up; what they asked for is carried out whole all the same.
        task = asyncio.ensure_future(change)
        self._changing.add(task)
        task.add_done_callback(self._changing.discard)
        return await asyncio.shield(task)

    @property
    def _journal(self) -> Journal:
        return self._db.journal


def _under_their_runs(tasks: Sequence[Task]) -> list[Task]:
    """Return tasks with those that ask for a run right after the one that carries it."""
    carriers = {task.run for task in tasks if task.run and task.step is None}
    asking: dict[str | None, list[Task]] = {}
    for task in tasks:
        if task.step is not None and task.run in carriers:
            asking.setdefault(task.run, []).append(task)
    rows: list[Task] = []
    for task in tasks:
        if task.step is None or task.run not in carriers:
            rows.append(task)
        if task.step is None and task.run is not None:
            rows += asking.pop(task.run, ())
    return rows
