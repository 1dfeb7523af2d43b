"""Runs of playbooks, and how each of their steps ended: a row a run, a row a step.

What was asked and done stands with the step's own task (`tasks.run`), approval and effect.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from common.errors import InputError, StateError
from local_agent.store.database import Database

LISTED: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """A run.

    Attributes:
        task_id: The task that carries it, or carried it last.
        definition: Blob of the playbook and its hooks, as they were when it began.
        client: Under whose name it is recorded.
        workspace: Path of the workspace.
        folder: Where its tools act; another than the workspace in a dry run.
        message: The words of whoever began it.
        gate_ms: How long each question waits.
        answers: Of a dry run: how questions are answered, as JSON; None where a person is asked.
        started_at: Milliseconds since the epoch.
        status: ``pending``, ``running``, ``completed``, ``failed`` or ``rolled_back``.
        current_step: Index of the step that runs, or at which it ended.
        resumes: How often it was resumed.
        carrying: What its task does: ``run``, ``rollback``, or ``nothing`` once it has begun to
            take it back.
        inputs: What its playbook asks for by name, as JSON.
        tells: What the chat hears of it, as its questions are sealed; names with blanks between.
    """

    run_id: str
    task_id: str
    name: str
    definition: str
    client: str
    workspace: str
    folder: str
    message: str
    gate_ms: int
    answers: str | None
    started_at: int
    status: str = "pending"
    current_step: int = 0
    resumes: int = 0
    carrying: str = "run"
    inputs: str = "{}"
    tells: str = ""

    @property
    def is_dry(self) -> bool:
        """Whether it acts on a copy of the workspace."""
        return self.folder != self.workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredStep:
    """How a step ended.

    Attributes:
        place: Where it stands (`local_agent.playbooks.runs.Place`).
        result: As JSON; None where there is none, or where it lies in a file.
        stored: SHA-256 of the file with its result; None where it is here.
        started_at: Milliseconds since the epoch, as ``completed_at``.
    """

    place: str
    step_name: str
    type: str
    status: str
    result: str | None
    stored: str | None
    error: str | None
    started_at: int
    completed_at: int


_RUN: Final = tuple(field.name for field in fields(StoredRun))
_STEP: Final = tuple(field.name for field in fields(StoredStep))
_SELECT: Final = f"SELECT {', '.join(_RUN)} FROM runs"  # noqa: S608  # our own column names


class Runs:
    """The runs and their steps."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, run: StoredRun) -> StoredRun:
        """Write a run that has not begun, and return it; its task may be there already."""
        names = ", ".join(_RUN)
        slots = ", ".join(f":{name}" for name in _RUN)
        values = {name: getattr(run, name) for name in _RUN}
        with self._db.transaction():
            self._db.run(f"INSERT INTO runs ({names}) VALUES ({slots})", **values)  # noqa: S608
            self._db.run("UPDATE tasks SET run = ? WHERE task_id = ?", run.run_id, run.task_id)
        return run

    def get(self, run_id: str) -> StoredRun:
        """Return a run.

        Raises:
            StateError: ``run.unknown``.
        """
        row = self._db.one(f"{_SELECT} WHERE run_id = ?", run_id)
        if row is None:
            raise StateError("run.unknown", name=run_id)
        return _run(row)

    def of_task(self, task_id: str) -> StoredRun | None:
        """Return the run that a task carries, or None."""
        row = self._db.one(f"{_SELECT} WHERE task_id = ?", task_id)
        return _run(row) if row else None

    def recent(self, *, limit: int = LISTED) -> Sequence[StoredRun]:
        """Return the newest runs, newest first."""
        rows = self._db.all(f"{_SELECT} ORDER BY started_at DESC, rowid DESC LIMIT ?", limit)
        return [_run(row) for row in rows]

    def keeping_copies(self, *, newest: int, since_ms: int) -> Sequence[str]:
        """Return the dry runs whose copies are kept: the newest, and those that go on or back."""
        rows = self._db.all(
            "SELECT run_id FROM runs WHERE folder <> workspace AND (status IN ('pending',"
            " 'running') OR task_id IN (SELECT task_id FROM tasks WHERE reason IS NULL)"
            " OR run_id IN (SELECT run_id FROM runs WHERE folder <> workspace"
            " AND started_at >= ? ORDER BY started_at DESC, rowid DESC LIMIT ?))",
            since_ms,
            newest,
        )
        return [run_id for (run_id,) in rows]

    def enter(self, run_id: str, status: str, *, current_step: int | None = None) -> None:
        """Record where a run stands."""
        self._db.run(
            "UPDATE runs SET status = ?, current_step = COALESCE(?, current_step) WHERE run_id = ?",
            status,
            current_step,
            run_id,
        )

    def carry(
        self, run_id: str, task_id: str, gate_ms: int | None, answers: str | None = None
    ) -> StoredRun:
        """Record that another task carries a run on, and return it.

        Args:
            gate_ms: None for as before.
            answers: Of a dry run; what answered before does not any more.

        Raises:
            StateError: ``run.unknown``; ``run.not-resumable`` (run, why).
        """
        with self._db.transaction():
            run, status = self._standing(run_id)
            if status != "failed":
                raise StateError("run.not-resumable", run=run.name, why=status)
            self._db.run(
                "UPDATE runs SET task_id = ?, gate_ms = COALESCE(?, gate_ms), status = 'pending',"
                " carrying = 'run', answers = ?, resumes = resumes + 1 WHERE run_id = ?",
                task_id,
                gate_ms,
                answers,
                run_id,
            )
            return self.get(run_id)

    def carry_back(self, run_id: str, task_id: str) -> StoredRun:
        """Record that another task takes a run back, and return it.

        Raises:
            StateError: ``run.unknown``; ``run.not-reversible`` (run, why).
        """
        with self._db.transaction():
            run, status = self._standing(run_id)
            if status not in ("completed", "failed"):
                raise StateError("run.not-reversible", run=run.name, why=status)
            self._db.run(
                "UPDATE runs SET task_id = ?, carrying = 'rollback' WHERE run_id = ?",
                task_id,
                run_id,
            )
            return self.get(run_id)

    def take(self, run_id: str, tells: str = "") -> None:
        """Record that what a run is to do was begun: after a restart nothing does it again."""
        self._db.run(
            "UPDATE runs SET status = iif(carrying = 'run', 'running', status),"
            " carrying = iif(carrying = 'run', 'run', 'nothing'), tells = ? WHERE run_id = ?",
            tells,
            run_id,
        )

    def end_step(self, run_id: str, step: StoredStep, *, current_step: int | None) -> None:
        """Record how a step ended; what it was before, such as denied, is gone."""
        with self._db.transaction():
            self._db.run("DELETE FROM run_steps WHERE run_id = ? AND place = ?", run_id, step.place)
            names = ", ".join(_STEP)
            slots = ", ".join(f":{name}" for name in _STEP)
            values = {name: getattr(step, name) for name in _STEP}
            self._db.run(
                f"INSERT INTO run_steps (run_id, seq, {names}) VALUES (:run_id,"  # noqa: S608  # ours
                f" (SELECT COALESCE(max(seq), 0) + 1 FROM run_steps WHERE run_id = :run_id),"
                f" {slots})",
                run_id=run_id,
                **values,
            )
            if current_step is not None:
                self._db.run(
                    "UPDATE runs SET current_step = ? WHERE run_id = ?", current_step, run_id
                )

    def leave(self, run_id: str, files: Mapping[str, str]) -> None:
        """Record how a command of a run has left files, each by its SHA-256."""
        for path, sha256 in files.items():
            self._db.run("REPLACE INTO run_files VALUES (?, ?, ?)", run_id, path, sha256)

    def left(self, run_id: str) -> dict[str, str]:
        """Return how commands of a run have left files, each by its SHA-256."""
        return dict(self._db.all("SELECT path, sha256 FROM run_files WHERE run_id = ?", run_id))

    def forget(self, before_ms: int) -> Sequence[tuple[str, str]]:
        """Forget what runs were told and what their steps gave, where all of it is older.

        That their steps ended stays known, so that none is ever carried out again.

        Returns:
            Each run and its client.
        """
        old = self._db.all(
            "SELECT run_id, client FROM runs WHERE started_at < ?"
            " AND status NOT IN ('pending', 'running') AND NOT EXISTS (SELECT 1 FROM run_steps"
            " WHERE run_steps.run_id = runs.run_id AND completed_at >= ?)"
            " AND (message <> '' OR inputs <> '{}' OR EXISTS (SELECT 1 FROM run_steps WHERE"
            " run_steps.run_id = runs.run_id AND COALESCE(result, stored, error) IS NOT NULL))",
            before_ms,
            before_ms,
        )
        with self._db.transaction():
            for run_id, _ in old:
                self._db.run(
                    "UPDATE runs SET message = '', inputs = '{}', answers = NULL WHERE run_id = ?",
                    run_id,
                )
                self._db.run(
                    "UPDATE run_steps SET result = NULL, stored = NULL, error = NULL"
                    " WHERE run_id = ?",
                    run_id,
                )
        return old

    def unanswered(self, run_id: str) -> str | None:
        """Return ``denied`` or ``timeout`` where the step that ended last was not approved."""
        row = self._db.one(
            "SELECT status FROM run_steps WHERE run_id = ? ORDER BY seq DESC LIMIT 1", run_id
        )
        return row[0] if row and row[0] in ("denied", "timeout") else None

    def _standing(self, run_id: str) -> tuple[StoredRun, str]:
        """Return a run and its status; what is being taken back runs as well."""
        run = self.get(run_id)
        carried = self._db.one(
            "SELECT 1 FROM tasks WHERE task_id = ? AND reason IS NULL", run.task_id
        )
        return run, "running" if carried else run.status

    def steps(self, run_id: str) -> Sequence[StoredStep]:
        """Return how the steps of a run ended, in the order in which they did."""
        rows = self._db.all(
            f"SELECT {', '.join(_STEP)} FROM run_steps WHERE run_id = ? ORDER BY seq",  # noqa: S608  # ours
            run_id,
        )
        return [StoredStep(**dict(zip(_STEP, row, strict=True))) for row in rows]


def read_result(step: StoredStep) -> dict[str, Any] | None:
    """Return a result that is kept in the journal itself.

    Raises:
        InputError: ``run.damaged``: it is none.
    """
    if step.result is None:
        return None
    found = json.loads(step.result)
    if not isinstance(found, dict):
        raise InputError("run.damaged", step=step.step_name)
    return found


def _run(row: tuple[Any, ...]) -> StoredRun:
    return StoredRun(**dict(zip(_RUN, row, strict=True)))
