"""A task as it is told over the control socket: a line of a list, all of it, or what becomes of it.

What becomes of it is waited for as a reader of the shared event stream.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from common.model.state import FINAL, Reason, TaskState
from common.text import clip_bytes
from local_agent.faces.control.wire import Content
from local_agent.flow.bus import Bus, Told
from local_agent.flow.run import rests
from local_agent.flow.standing import RunStanding, step_number
from local_agent.store.approvals import StoredApproval
from local_agent.store.endings import read_ending
from local_agent.store.journal import JournalThread
from local_agent.store.runs import StoredStep
from local_agent.store.tasks import Task
from local_agent.store.turns import StoredTurn
from local_agent.views import Json, Kept
from local_agent.views.task import (
    Ending,
    ListedTask,
    ModelContext,
    ProposedFile,
    RunPart,
    RunStepView,
    RunView,
    ShownTask,
    Speech,
    TaskView,
    Turn,
    WaitingTask,
    Watched,
)

LISTED_BYTES: Final = 600  # of a request in a list; `show` has all of it
DETAILS_BYTES: Final = 200_000  # of what a model says: escaped, it must fit into one answer
SPEECH_BYTES: Final = 100_000  # of its words once more, apart from ours
MAX_FILES: Final = 100
PATH_BYTES: Final = 400
MAX_ROWS: Final = 50  # of edits that were not taken, and of suggested commands
_UNDECIDED: Final = frozenset({TaskState.PROPOSAL_READY, TaskState.WAITING_APPROVAL})
_HOOKS: Final = ("pre", "post")
Answer = tuple[bool, Content]


def listed_task(
    task: Task, *, expires_at: int | None, standing: RunStanding | None = None
) -> ListedTask:
    """Return a task as one of many.

    Args:
        standing: Of the run that it asks for.
    """
    return ListedTask(**_listed(task), expires_at=expires_at, part=run_part(task, standing))


def waiting_task(
    task: Task,
    *,
    expires_at: int,
    risk: str,
    workspace: str | None = None,
    standing: RunStanding | None = None,
) -> WaitingTask:
    """Return a task as one of those that wait for a decision.

    Args:
        workspace: What the sealed one is called, where the request named none.
    """
    facts = _listed(task) | {"workspace": task.workspace or workspace}
    part = run_part(task, standing)
    return WaitingTask(**facts, expires_at=expires_at, risk=risk, part=part)


def run_part(task: Task, standing: RunStanding | None) -> RunPart | None:
    """Return of which run, and of which step of it, a task asks something."""
    if task.step is None or standing is None:
        return None
    step = step_number(task)
    known = step is not None and step <= standing.total
    name = standing.steps[step - 1].name if known and step is not None else ""
    facts = {"run": standing.carrier_of(task), "playbook": standing.run.name}
    return RunPart(**facts, step=step, total=standing.total, name=name)


def run_view(task: Task, standing: RunStanding | None) -> RunView | None:
    """Return the run that a task carries, step by step."""
    if task.step is not None or standing is None:
        return None
    asking = {one.step: one for one in standing.asking}
    ended = {one.place: one for one in standing.ended}
    steps = [
        _run_step(standing, f"main:{index}", index + 1, step.name, step.type, ended, asking)
        for index, step in enumerate(standing.steps)
    ]
    hooks = {phase: [place for place in ended if place.startswith(phase)] for phase in _HOOKS}
    of_hooks = {
        phase: [
            _run_step(standing, place, None, ended[place].step_name, "tool", ended, asking)
            for place in sorted(places, key=lambda place: int(place.partition(":")[2]))
        ]
        for phase, places in hooks.items()
    }
    run = standing.run
    return RunView(
        run_id=run.run_id,
        playbook=run.name,
        status=run.status,
        steps=(*of_hooks["pre"], *steps, *of_hooks["post"]),
    )


def _run_step(
    standing: RunStanding,
    place: str,
    number: int | None,
    name: str,
    type_: str,
    ended: Mapping[str, StoredStep],
    asking: Mapping[str | None, Task],
) -> RunStepView:
    done, asked = ended.get(place), asking.get(place)
    status = "pending"
    if done is not None:
        status = done.status
    elif number == standing.run.current_step + 1 and standing.run.status == "running":
        waits = asked is not None and asked.state is TaskState.WAITING_APPROVAL
        status = "waiting" if waits else "running"
    elif place in standing.begun:
        outcome = standing.begun[place]
        status = outcome if outcome in ("completed", "failed") else "interrupted"
    return RunStepView(
        number=number,
        name=name,
        type=type_,
        status=status,
        started_at=done.started_at if done else None,
        completed_at=done.completed_at if done else None,
        error=clip_bytes(done.error, LISTED_BYTES) if done and done.error else None,
        task=asked.short_id if asked else None,
        is_doubted=done is not None and '"reported":' in (done.result or ""),
    )


def whole_task(task: Task, turns: Sequence[StoredTurn]) -> TaskView:
    """Return a task with what was proposed and how it ended.

    Args:
        task: As stored.
        turns: Of models that worked on it.
    """
    return TaskView(**_whole(task, turns))


def shown_task(
    task: Task,
    turns: Sequence[StoredTurn],
    *,
    retry_of_short_id: str | None,
    left_to_undo: tuple[str, ...] | None,
    standing: RunStanding | None = None,
) -> ShownTask:
    """Return the same for somebody who looks at it.

    Args:
        standing: Of the run that it carries, or asks for.
    """
    return ShownTask(
        **_whole(task, turns),
        retry_of_short_id=retry_of_short_id,
        left_to_undo=left_to_undo,
        part=run_part(task, standing),
        playbook_run=run_view(task, standing),
    )


def _listed(task: Task) -> dict[str, Any]:
    # Whoever asks often and at length must not make the whole list too large to be told.
    row = _row(task) | {"text": clip_bytes(task.text, LISTED_BYTES)}
    # Of what nobody has decided on there are few; all others are told without their diffs read.
    result = _result(task) if task.state in _UNDECIDED else {}
    return row | _standing(task, result) | {"replaced_by": _replaced_by(task)}


def _whole(task: Task, turns: Sequence[StoredTurn]) -> dict[str, Any]:
    result, ending = _result(task), read_ending(task.ending_json)
    proposal: Json = result.get("proposal") or {}
    files = (proposal.get("files") or ()) if proposal.get("type") == "diff" else ()
    needs_nothing = (result.get("requires") or {}).get("mode") == "none"
    return {
        **_row(task),
        **_standing(task, result),
        "replaced_by": ending["replaced_by"],
        "proposed": result.get("summary"),
        "details": clip_bytes(result.get("details") or "", DETAILS_BYTES) or None,
        "own": result.get("own"),
        "speech": _speech(result.get("speech")),
        "answered": needs_nothing and task.reason is not None,
        "proposal": proposal.get("type"),
        "files": tuple(map(_file, files[:MAX_FILES])),
        "files_more": max(len(files) - MAX_FILES, 0),
        "revises": result.get("revises"),
        "turns": tuple(map(_turn, turns)),
        "shown": _shown(task),
        "ending": Kept(Ending, ending),
    }


def _row(task: Task) -> dict[str, Any]:
    return {
        "task_id": task.task_id,
        "short_id": task.short_id,
        "source": task.source,
        "channel": task.channel,
        "claimed_user": task.claimed_user,
        "text": task.text,
        "workspace": task.workspace,
        "state": task.state.value,
        "reason": task.reason.value if task.reason else None,
        "summary": task.summary,
        "created_at": task.created_at,
        "updated_at": task.updated_at,
        "retry_of": task.retry_of,
    }


def _standing(task: Task, result: Json) -> dict[str, Any]:
    rests = task.state is TaskState.PROPOSAL_READY and result.get("rests") is True
    return {"rests": rests, "version": result.get("version")}


def _result(task: Task) -> Json:
    found: Json = json.loads(task.proposal_json) if task.proposal_json else {}
    return found


def _replaced_by(task: Task) -> str | None:
    """Return the short ID of the version that stands in place of what this task proposed."""
    if task.reason is not Reason.CANCELLED:
        return None
    found: str | None = read_ending(task.ending_json)["replaced_by"]
    return found


def _file(file: Json) -> ProposedFile:
    path = clip_bytes(file["path"], PATH_BYTES)
    return ProposedFile(path, file["additions"], file["deletions"], file.get("encoding"))


def _speech(said: Json | None) -> Speech | None:
    """Return what a model said, apart from our words; None where none spoke."""
    if said is None:
        return None
    return Speech(
        model=said["model"],
        text=clip_bytes(said["text"], SPEECH_BYTES),
        no_edits=said.get("noEdits") is True,
        not_taken=tuple(said.get("notTaken") or ())[:MAX_ROWS],
        commands=tuple(said.get("commands") or ())[:MAX_ROWS],
    )


def _turn(turn: StoredTurn) -> Turn:
    told = asdict(turn)
    del told["task_id"]
    return Turn(**told)


def _shown(task: Task) -> ModelContext | None:
    """Return how much a model was shown; None where nothing was collected."""
    if task.context_json is None:
        return None
    account = json.loads(task.context_json)
    return ModelContext(account["files"], account["bytes"])


class Watching:
    """Follows tasks and approvals in the journal, woken by the bus."""

    def __init__(self, db: JournalThread, bus: Bus) -> None:
        self._db = db
        self._bus = bus

    async def task(
        self,
        task_id: str,
        *,
        until: frozenset[TaskState],
        begin: Coroutine[Any, Any, Any] | None = None,
        past_rest: bool = False,
    ) -> AsyncIterator[Answer]:
        """Give the events of a task, and at last the task itself.

        Args:
            task_id: Which one.
            until: The states in which the watching ends.
            begin: Awaited first; nothing that it brings about is missed.
            past_rest: Watch on where it rests until it is to be applied.
        """
        # Reads from before the task is looked at, so that nothing falls in between.
        with self._bus.read(task_id=task_id) as events:
            if begin is not None:
                await begin
            task = await self._task(task_id)
            while task.state not in until and (past_rest or not rests(task)):
                told = await anext(events, None)
                if told is None:
                    return
                yield False, _event(told, task)
                task = await self._task(task_id)
            # One step tells several events, and is told before anybody can read it in the journal.
            for told in events.queued():
                yield False, _event(told, task)
        turns = await self._db.run(self._db.journal.turns.of_task, task_id)
        yield True, Watched(task=whole_task(task, turns))

    async def standing(
        self, task_id: str, *, begin: Coroutine[Any, Any, None]
    ) -> StoredApproval | None:
        """Return the approval that a task asks for once it has settled, or how its last one ended.

        Args:
            task_id: Which one.
            begin: Awaited first; it may take the question back, which is then asked anew.
        """
        with self._bus.read(task_id=task_id) as events:
            await begin
            while True:
                task = await self._task(task_id)
                newest = await self._db.run(self._db.journal.approvals.newest_of, task_id)
                if task.state in FINAL or newest is None or newest.state != "superseded":
                    return newest
                if await anext(events, None) is None:
                    return newest

    async def asked(self, task_id: str) -> StoredApproval | None:
        """Return the approval that a task asks for once it waits; None when it ended before."""
        until = FINAL | {TaskState.WAITING_APPROVAL}
        async for _ in self.task(task_id, until=until):
            pass
        return await self._db.run(self._db.journal.approvals.newest_of, task_id)

    async def _task(self, task_id: str) -> Task:
        return await self._db.run(self._db.journal.tasks.get, task_id)


def _event(told: Told, task: Task) -> Mapping[str, Any]:
    return told.event.to_dict() | {"said": dict(told.said), "short_id": task.short_id}
