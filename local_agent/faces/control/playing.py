"""Runs of playbooks over the control socket: begin one, carry one on, list them.

What a run tells is read from its file of events, so that nothing is lost on whoever reads slowly;
the bus only wakes.
"""

from __future__ import annotations

import asyncio
import json
import os
import stat
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from common.errors import InputError, StateError
from common.home import Home
from common.ids import parse_short_id
from common.model.state import FINAL, Reason
from local_agent.faces.control.asking import new_task
from local_agent.faces.control.tasks import Answer, whole_task
from local_agent.faces.control.wire import Arguments
from local_agent.flow.bus import Bus
from local_agent.flow.ports import RunWish
from local_agent.store.journal import Journal, JournalThread
from local_agent.store.runs import LISTED, StoredRun
from local_agent.store.tasks import NewTask
from local_agent.views.task import Watched

if TYPE_CHECKING:  # what waits for a task does not load what carries a run
    from local_agent.playbooks.library import Found

READ_BYTES: Final = 1024 * 1024  # of a file of events at a time
MAX_WOKEN: Final = 100_000  # events since the last look; they are read from the file
MAX_TIMEOUT_MS: Final = 300_000


class Engine(Protocol):
    """What runs need of the engine."""

    async def play(self, wish: RunWish, new: NewTask) -> StoredRun:
        """Write a run and the task that carries it, and begin it."""
        ...

    async def resume(
        self, run_id: str, new: NewTask, *, gate_timeout_s: float | None, answers: str | None = None
    ) -> StoredRun:
        """Carry a run on by a new task."""
        ...

    async def roll_back(self, run_id: str, new: NewTask) -> StoredRun:
        """Take a run back by a new task."""
        ...

    async def mend_runs(self) -> list[str]:
        """Write state files again that are not as the journal has them; tell which are damaged."""
        ...


class RunOperations:
    """Begins runs, and tells what comes of them.

    Args:
        places: This installation.
        finish: Carries a change out whole, whoever hangs up meanwhile.
    """

    def __init__(
        self,
        *,
        db: JournalThread,
        bus: Bus,
        engine: Engine,
        places: Home,
        prefix: str,
        user: str,
        finish: Any,
    ) -> None:
        self._db = db
        self._bus = bus
        self._engine = engine
        self._places = places
        self._prefix = prefix
        self._user = user
        self._finish = finish

    async def play(self, args: Arguments, body: bytes) -> AsyncIterator[Answer]:
        """Begin a run and tell its events to the end; of a dry run, answers may come along.

        Raises:
            TaskParseError: the playbook cannot be taken; nothing was begun.
            InputError: ``playbook.*``: there is none of that name, or the answers cannot be taken;
                ``workspace.*``; ``copy.*``: no copy could be made for a dry run.
        """
        dry, answers = args.flag("dry"), _answers(args, body)
        if answers is not None and not dry:
            raise InputError("playbook.answers-not-dry")
        from local_agent.playbooks.definition import MAX_INPUTS
        from local_agent.playbooks.runs import checked_client

        client = checked_client(args.text("client"))
        found = await asyncio.to_thread(_found, self._places, args)
        wish = RunWish(
            found=found,
            message=args.text("message"),
            client=client,
            gate_timeout_s=args.integer("gate_ms", 1, MAX_TIMEOUT_MS) / 1000,
            dry=dry,
            answers=answers,
            inputs=args.texts("inputs", MAX_INPUTS) if args.has("inputs") else None,
        )
        name = f"{found.definition.name} (dry run)" if dry else found.definition.name
        words = f"playbook {name} {wish.message}".rstrip()
        new = self._task(words, args, workspace=args.text("workspace") or None)
        async for step in self._followed(new, self._engine.play(wish, new), None):
            yield step

    async def resume(self, args: Arguments, body: bytes) -> AsyncIterator[Answer]:
        """Carry a run on and tell its events to the end; of a dry run, answers may come along.

        Raises:
            StateError: ``run.unknown``, ``run.not-resumable``.
            InputError: ``playbook.answers-not-dry`` and others of ``playbook.answers``.
        """
        answers = _answers(args, body)
        name, gate_ms = args.text("run"), args.integer("gate_ms", 0, MAX_TIMEOUT_MS)  # 0: as before
        run = await self._db.run(_named, self._journal, name)
        first = await self._db.run(self._journal.tasks.get, run.task_id)
        new = self._task(f"playbook resume {first.short_id}", args, workspace=first.workspace)
        begin = self._engine.resume(
            run.run_id, new, gate_timeout_s=gate_ms / 1000 if gate_ms else None, answers=answers
        )
        async for step in self._followed(new, begin, run):
            yield step

    async def roll_back(self, args: Arguments, _body: bytes) -> AsyncIterator[Answer]:
        """Take a run back and tell what is asked and what came of it.

        Raises:
            StateError: ``run.unknown``, ``run.other-client``, ``run.not-reversible``.
            InputError: ``copy.gone``: a dry run changed nothing but a copy that is not there now.
        """
        name, client = args.text("run"), args.text("client")
        run = await self._db.run(_named, self._journal, name)
        if run.client != client:
            raise StateError("run.other-client", name=name, client=client)
        first = await self._db.run(self._journal.tasks.get, run.task_id)
        words = f"playbook rollback {first.short_id}"
        new = self._task(words, args, workspace=first.workspace)
        async for step in self._followed(new, self._engine.roll_back(run.run_id, new), run):
            yield step

    async def runs(self, _args: Arguments) -> Mapping[str, Any]:
        """Return the newest runs, newest first, and which had a damaged state file until now."""
        damaged = await self._engine.mend_runs()
        found = await self._db.run(_listed, self._journal)
        return {"runs": [_row(*one) for one in found], "damaged": damaged}

    async def _followed(
        self, new: NewTask, begin: Coroutine[Any, Any, StoredRun], before: StoredRun | None
    ) -> AsyncIterator[Answer]:
        """Begin it and tell its events.

        Args:
            before: The run as it was; what it told until then is not told again.
        """
        from local_agent.flow.run_log import events_path

        at = 0
        if before is not None:  # looked at first: it may tell something before we are told of it
            at = await asyncio.to_thread(_size, events_path(self._places.state, before))
        with self._bus.read(task_id=new.task_id, size=MAX_WOKEN) as woken:
            run = await self._finish(begin)
            path = events_path(self._places.state, run)
            while True:
                task = await self._db.run(self._journal.tasks.get, new.task_id)
                lines, at = await asyncio.to_thread(_read_on, path, at)
                for line in lines:
                    yield False, line
                if lines:
                    continue
                if task.state in FINAL:
                    break
                await woken.wait()
        turns = await self._db.run(self._journal.turns.of_task, task.task_id)
        yield True, Watched(task=whole_task(task, turns))

    def _task(self, words: str, args: Arguments, *, workspace: str | None) -> NewTask:
        return new_task(
            f"{self._prefix} {words}",
            lang="zh" if args.text("lang") == "zh" else "en",
            workspace=workspace,
            user=self._user,
        )

    @property
    def _journal(self) -> Journal:
        return self._db.journal


def _found(places: Home, args: Arguments) -> Found:
    from local_agent.playbooks.library import find_playbook, read_playbook

    if path := args.text("path"):
        try:
            return read_playbook(Path(path))
        except (OSError, ValueError) as error:  # such as of a name with a NUL
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise InputError("playbook.no-file", path=path, why=why) from None
    return find_playbook(places, args.text("name"))


def _answers(args: Arguments, body: bytes) -> str | None:
    from local_agent.playbooks.answers import Answers

    if not args.flag("answers"):
        return None
    Answers(body)
    return body.decode()


def _named(journal: Journal, name: str) -> StoredRun:
    """Return a run by its own id, or by the T-id of a task that carries or carried it.

    Raises:
        StateError: ``run.unknown``.
    """
    try:
        task = journal.tasks.named(parse_short_id(name))
    except (InputError, StateError):
        return journal.runs.get(name)
    if task.run is None:
        raise StateError("run.unknown", name=name)
    return journal.runs.get(task.run)


def _listed(journal: Journal) -> list[tuple[StoredRun, str, str | None]]:
    found = []
    for run in journal.runs.recent(limit=LISTED):
        task, ended = journal.tasks.find(run.task_id), None
        if run.status == "failed":
            ended = journal.runs.unanswered(run.run_id)
            if task and task.reason is Reason.CANCELLED and run.carrying == "run":
                ended = "cancelled"
        found.append((run, task.short_id if task else "", ended))
    return found


def _row(run: StoredRun, short_id: str, ended: str | None) -> dict[str, Any]:
    return {
        "task_id": run.run_id,
        "short_id": short_id,
        "task_name": run.name,
        "status": run.status,
        "client": run.client,
        "started_at": run.started_at,
        "current_step": run.current_step,
        "dry_run": run.is_dry,
        "ended": ended,
    }


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _read_on(path: Path, at: int) -> tuple[list[dict[str, Any]], int]:
    """Return the events from a place in the file on, and the place after them.

    What is damaged is not missed; a file that was made anew is read from its beginning.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return [], at
            if file.seek(0, os.SEEK_END) < at:
                at = 0
            file.seek(at)
            raw = file.read(READ_BYTES)
    except OSError:  # it is not there yet, or something else is
        return [], 0
    whole = raw[: raw.rfind(b"\n") + 1]
    return [*_events(whole)], at + len(whole)


def _events(whole: bytes) -> Iterator[dict[str, Any]]:
    for line in whole.split(b"\n"):
        with suppress(ValueError):
            event = json.loads(line)
            if isinstance(event, dict) and "type" in event:
                yield event
