"""Where a run of a playbook stands, for whoever asks; read from the journal, changing nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Protocol

from common.errors import CodexBridgeError
from local_agent.flow.run_bundle import unpack
from local_agent.flow.run_changes import done_of
from local_agent.playbooks.runs import Place
from local_agent.store.journal import JournalThread
from local_agent.store.runs import StoredRun, StoredStep
from local_agent.store.tasks import Task

_REMEMBERED: Final = 64  # definitions whose steps are not read again


class Blobs(Protocol):
    """Where definitions are kept (`local_agent.store.blobs`).  Blocking."""

    def get(self, name: str) -> bytes:
        """Return the bytes."""
        ...


@dataclass(frozen=True, slots=True)
class NamedStep:
    """A step as the playbook has it."""

    name: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStanding:
    """Where a run stands.

    Attributes:
        carrier: Short ID of the task that carries it, or carried it last.
        steps: Of the playbook as it was when the run began; empty where that is gone.
        carriers: All tasks that carried it, oldest first, each with when it was made.
        ended: How steps ended, in the order in which they did, hooks among them.
        asking: The tasks that ask for it, oldest first.
        begun: How what was begun of it ended, by the places of the steps.
    """

    run: StoredRun
    carrier: str
    carriers: Sequence[Task]
    steps: Sequence[NamedStep]
    ended: Sequence[StoredStep]
    asking: Sequence[Task]
    begun: Mapping[str, str | None]

    def carrier_of(self, question: Task) -> str:
        """Return the short ID of the task that carried it when a question was asked."""
        before = [one for one in self.carriers if one.created_at <= question.created_at]
        return before[-1].short_id if before else self.carrier

    @property
    def total(self) -> int:
        """How many steps there are."""
        return len(self.steps)

    @property
    def number(self) -> int:
        """Which step it is at, from 1."""
        return min(self.run.current_step + 1, max(self.total, 1))

    @property
    def step(self) -> str:
        """The name of that step."""
        return self.steps[self.number - 1].name if self.steps else ""

    @property
    def waiting(self) -> Task | None:
        """The task whose question waits; None where none does."""
        return next((task for task in self.asking if task.state == "WAITING_APPROVAL"), None)


class Standings:
    """Finds where runs stand.

    Args:
        blobs: Where their definitions are kept.
    """

    def __init__(self, db: JournalThread, blobs: Blobs) -> None:
        self._db = db
        self._steps = lru_cache(_REMEMBERED)(lambda name: _read_steps(blobs, name))

    async def of(self, run_id: str) -> RunStanding | None:
        """Return where a run stands; None where nothing of it is kept."""
        journal = self._db.journal

        def read() -> tuple[
            StoredRun, str, Sequence[StoredStep], Sequence[Task], Mapping[str, str | None]
        ]:
            run = journal.runs.get(run_id)
            carrier = journal.tasks.find(run.task_id)
            tasks = journal.tasks.of_run(run_id)
            begun = {str(one.place): one.outcome for one in done_of(journal, run_id)}
            steps = journal.runs.steps(run_id)
            return run, carrier.short_id if carrier else "", steps, tasks, begun

        try:
            run, carrier, ended, tasks, begun = await self._db.run(read)
        except CodexBridgeError:
            return None
        steps = await asyncio.to_thread(self._steps, run.definition)
        return RunStanding(
            run=run,
            carrier=carrier,
            carriers=[task for task in tasks if task.step is None],
            steps=steps,
            ended=ended,
            asking=[task for task in tasks if task.step is not None],
            begun=begun,
        )


def step_number(task: Task) -> int | None:
    """Return which step of its playbook a task asks for, from 1; None where it is none of those."""
    try:
        place = Place.parse(task.step or "")
    except (KeyError, ValueError):
        return None
    return place.index + 1 if place.phase == "main" else None


def _read_steps(blobs: Blobs, name: str) -> tuple[NamedStep, ...]:
    try:
        definition = unpack(blobs.get(name)).definition
    except (CodexBridgeError, OSError, ValueError, KeyError):
        return ()
    return tuple(NamedStep(step.name, step.type) for step in definition.steps)
