"""Beginning tasks at this machine: a request, a patch from a file, an undo, a request once more.

A request may name what a person has in front of them: a file of the workspace, and lines of it.
"""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol, TypeVar

from common import dsl
from common.diff.parse import parse_diff
from common.errors import InputError, StateError
from common.ids import new_short_id, new_uuid
from common.model.state import FINAL, Reason, TaskState
from common.sentences import Lang
from common.text import one_line
from common.verbs import Topic
from local_agent.faces.control.tasks import Answer, Watching
from local_agent.faces.control.wire import Arguments
from local_agent.flow.run import rests
from local_agent.flow.task import submit_named
from local_agent.store.journal import Journal, JournalThread
from local_agent.store.tasks import NewTask, Task
from local_agent.workspace import paths
from local_agent.workspace.registry import Workspace, is_copy

MAX_TEXT_BYTES: Final = 20_000  # security limits table, command text
MAX_PATHS: Final = 500  # as many files as a diff can have

_FILE_NAME_BYTES: Final = 200

_T = TypeVar("_T")
Finish = Callable[[Coroutine[Any, Any, _T]], Coroutine[Any, Any, _T]]


class Engine(Protocol):
    """What asking needs of the engine."""

    async def submit(self, new: NewTask) -> Task:
        """Write a task and begin it."""
        ...

    async def apply(self, task_id: str) -> None:
        """Ask for a change that rests."""
        ...


class Workspaces(Protocol):
    """The workspaces of this machine (`local_agent.workspace.registry`).  Blocking."""

    def find(self, name: str | None = None) -> Workspace:
        """Return the named workspace, or the default.

        Raises:
            InputError: ``workspace.unknown``, ``workspace.none``.
        """
        ...


class Asking:
    """Each request becomes a task like one from the chat; none of them decides anything.

    Args:
        db: The journal's thread.
        engine: Begins tasks.
        watching: Tells what becomes of them.
        keep: Keeps the bytes of a diff durably and returns their name; blocks.
        workspaces: Finds the workspace in which a place is named.
        prefix: What addresses the bot; put before a request that leaves it out.
        user: Who sits at this machine, for the record.
        finish: Carries a change out whole, whoever hangs up meanwhile.
    """

    def __init__(
        self,
        *,
        db: JournalThread,
        engine: Engine,
        watching: Watching,
        keep: Callable[[bytes], str],
        workspaces: Workspaces,
        prefix: str,
        user: str,
        finish: Finish[Task],
    ) -> None:
        self._db = db
        self._engine = engine
        self._watching = watching
        self._keep = keep
        self._workspaces = workspaces
        self._prefix = prefix
        self._user = user
        self._finish = finish

    async def ask(self, args: Arguments, _body: bytes) -> AsyncIterator[Answer]:
        """Begin what was asked for in words.

        Raises:
            InputError: ``ask.empty``, ``ask.too-long``, ``ask.at``, ``ask.nowhere``,
                ``workspace.unknown``, ``workspace.none``.
        """
        text = args.text("text").strip()
        new = self._new_task(text, lang=_lang(args), workspace=args.text("workspace") or None)
        if around := read_around(args):
            await asyncio.to_thread(self._check_there, around, new.workspace)
            new = replace(new, around_json=around.stored())
        async for step in self._begin(new):
            yield step

    async def want(self, args: Arguments, _body: bytes) -> AsyncIterator[Answer]:
        """Ask for the change that a task proposed, or once more where that one has ended.

        Raises:
            StateError: ``task.unknown``.
        """
        task = await self._db.run(self._journal.tasks.named, args.text("task"))
        if rests(task):
            until = FINAL | {TaskState.WAITING_APPROVAL}
            asking = self._engine.apply(task.task_id)
            async for step in self._watching.task(
                task.task_id, until=until, begin=asking, past_rest=True
            ):
                yield step
            return
        text = f"{self._prefix} {Topic.APPLY} {task.short_id}"
        async for step in self._begin(
            self._new_task(text, lang=_lang(args), workspace=task.workspace)
        ):
            yield step

    async def apply(self, args: Arguments, body: bytes) -> AsyncIterator[Answer]:
        """Begin to apply a patch that a person has in a file.

        Raises:
            InputError: ``diff.*``: it cannot be read; nothing was begun.
        """
        await asyncio.to_thread(parse_diff, body)
        name = one_line(args.text("name"), _FILE_NAME_BYTES)
        new = self._new_task(
            f"{self._prefix} {Topic.PATCH} {name}",
            lang=_lang(args),
            workspace=args.text("workspace") or None,
        )
        kept = await asyncio.to_thread(self._keep, body)
        async for step in self._begin(replace(new, attachment=kept)):
            yield step

    async def undo(self, args: Arguments, _body: bytes) -> AsyncIterator[Answer]:
        """Begin to take back what a task has changed, all of it or some files.

        Raises:
            StateError: ``task.unknown``; ``undo.dry-run``: it changed a copy alone.
        """
        first = await self._db.run(self._journal.tasks.named, args.text("task"))
        if is_copy(first.workspace):
            raise StateError("undo.dry-run", task=first.short_id)
        paths = args.texts("only", MAX_PATHS)
        new = self._new_task(
            " ".join([self._prefix, Topic.UNDO, first.short_id, *map(shlex.quote, paths)]),
            lang=_lang(args),
            workspace=first.workspace,
        )
        async for step in self._begin(new):
            yield step

    async def retry(self, args: Arguments, _body: bytes) -> AsyncIterator[Answer]:
        """Begin once more what a task that has ended asked for.

        Raises:
            StateError: ``task.unknown``, ``retry.open``, ``retry.unknown``.
        """
        first = await self._db.run(self._journal.tasks.named, args.text("task"))
        if first.reason is None:
            raise StateError("retry.open", task=first.short_id)
        if first.reason is Reason.UNKNOWN and not args.flag("may_have_run"):
            raise StateError("retry.unknown", task=first.short_id)
        new = self._new_task(first.text, lang=first.lang, workspace=first.workspace)
        new = replace(new, retry_of=first.task_id, attachment=first.attachment, checks=first.checks)
        async for step in self._begin(new):
            yield step

    async def follow(self, args: Arguments, _body: bytes) -> AsyncIterator[Answer]:
        """Watch a task to its end.

        Raises:
            StateError: ``task.unknown``.
        """
        task = await self._db.run(self._journal.tasks.named, args.text("task"))
        async for step in self._watching.task(task.task_id, until=FINAL, past_rest=True):
            yield step

    def _check_there(self, around: Around, workspace: str | None) -> None:
        check_there(around, self._workspaces.find(workspace))

    async def _begin(self, new: NewTask) -> AsyncIterator[Answer]:
        submitting = self._finish(self._submit(new))
        until = FINAL | {TaskState.WAITING_APPROVAL}
        async for step in self._watching.task(new.task_id, until=until, begin=submitting):
            yield step

    async def _submit(self, new: NewTask) -> Task:
        return await submit_named(self._engine.submit, new)

    def _new_task(self, text: str, *, lang: Lang, workspace: str | None) -> NewTask:
        if not text:
            raise InputError("ask.empty")
        if isinstance(dsl.parse(text, prefix=self._prefix), dsl.NotAddressed):
            text = f"{self._prefix} {text}"
        return new_task(text, lang=lang, workspace=workspace, user=self._user)

    @property
    def _journal(self) -> Journal:
        return self._db.journal


def new_task(text: str, *, lang: Lang, workspace: str | None, user: str) -> NewTask:
    """Return a task that is asked at a terminal of this machine.

    Raises:
        InputError: ``ask.too-long``.
    """
    if len(text.encode("utf-8", "replace")) > MAX_TEXT_BYTES:
        raise InputError("ask.too-long", limit=MAX_TEXT_BYTES)
    task_id = new_uuid()
    return NewTask(
        task_id=task_id,
        short_id=new_short_id("agent"),
        source="local_ui",
        channel="terminal",
        claimed_user=user,
        thread_id=task_id,
        text=text,
        lang=lang,
        workspace=workspace,
    )


def _lang(args: Arguments) -> Lang:
    return "zh" if args.text("lang") == "zh" else "en"


MAX_LINE: Final = 10_000_000  # of a file that lines are named of
_MISSING: Final = "missing"
_WHYS: Final = {
    "path.missing": _MISSING,
    "path.not-regular": _MISSING,
    "path.denied": "denied",
}


@dataclass(frozen=True, slots=True)
class Around:
    """A file, by its path from the top of the workspace.

    Attributes:
        lines: First and last, from 1; None for all of it.
    """

    file: str
    lines: tuple[int, int] | None

    def stored(self) -> str:
        """Return it as it is kept with the task."""
        told: dict[str, object] = {"file": self.file}
        if self.lines is not None:
            told["lines"] = list(self.lines)
        return json.dumps(told, ensure_ascii=False)


def read_around(args: Arguments) -> Around | None:
    """Return what was named; None where nothing was.

    Raises:
        InputError: ``ask.at`` (place): no file of a workspace can have that name.
    """
    if not args.has("file") or not (file := args.text("file")):
        return None
    try:
        paths.check_relative(file)
    except InputError:
        raise InputError("ask.at", place=file) from None
    first, last = args.integer("first", 0, MAX_LINE), args.integer("last", 0, MAX_LINE)
    return Around(file, (first, max(first, last)) if first else None)


def check_there(around: Around, workspace: Workspace) -> None:
    """Return when the file can be read and has these lines; blocks.

    Raises:
        InputError: ``ask.nowhere`` (file, workspace, why: ``missing``, ``denied``, ``unreadable``,
            or ``beyond`` with lines and last).
    """
    facts = {"file": around.file, "workspace": workspace.name}
    try:
        with workspace.opened() as root:
            content = paths.read_bytes(root, paths.check_relative(around.file))
    except InputError as error:
        why = _WHYS.get(error.code, "unreadable")
        raise InputError("ask.nowhere", **facts, why=why) from None
    lines = content.count(b"\n") + (1 if content and not content.endswith(b"\n") else 0)
    if around.lines is not None and (last := around.lines[1]) > lines:
        raise InputError("ask.nowhere", **facts, why="beyond", lines=lines, last=last)
