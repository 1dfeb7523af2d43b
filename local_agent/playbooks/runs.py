"""What is known of a run: the seed's models, and the state file that is rendered from the journal.

The journal is the truth; whoever loses or damages a state file gets it written again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, get_args

from common.errors import InputError
from common.home import write_private
from local_agent.playbooks.definition import StepDefinition

Status = Literal["pending", "running", "completed", "failed", "rolled_back"]
StepStatus = Literal["completed", "failed", "denied", "timeout", "skipped"]
Phase = Literal["pre", "main", "post"]
Result = Mapping[str, Any]

CLIENTS: Final = "clients"
_SHA256: Final = re.compile("[0-9a-f]{64}")
_CLIENT: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")  # it names a folder


def checked_client(name: str) -> str:
    """Return the name of a client.

    Raises:
        InputError: ``playbook.client`` (given).
    """
    if not _CLIENT.fullmatch(name):
        raise InputError("playbook.client", given=name)
    return name


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a run a step stands: among the steps of the playbook, or of a hook.

    Attributes:
        index: From 0; of hooks through all those of one phase.
    """

    phase: Phase
    index: int

    def __str__(self) -> str:
        """Return it as the journal has it, such as ``main:3``."""
        return f"{self.phase}:{self.index}"

    @classmethod
    def parse(cls, text: str) -> Place:
        """Return the place that `__str__` wrote."""
        phase, _, index = text.partition(":")
        found: dict[str, Phase] = {"pre": "pre", "main": "main", "post": "post"}
        return cls(found[phase], int(index))


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """How one step ended (seed 003, AC 4).

    Attributes:
        started_at: Milliseconds since the epoch, as `completed_at`.
    """

    step_name: str
    type: str
    status: StepStatus
    result: Result | None
    error: str | None
    started_at: int
    completed_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeEntry:
    """One file that a step changed, or one command that it ran (AC 5).

    Attributes:
        action: The tool.
        resource_id: Path in the workspace, or the command.
        backup_path: What was there before; None where nothing was, and for a command.
        timestamp: Milliseconds since the epoch.
    """

    action: str
    resource_type: Literal["file", "command"]
    resource_id: str
    backup_path: str | None
    timestamp: int


@dataclass(slots=True, kw_only=True)
class TaskRunState:
    """A run as its state file has it (AC 3).

    Steps are only ever added: each is rendered once, however often the file is written.

    Attributes:
        task_id: The run's own id, a UUID.
        started_at: Milliseconds since the epoch.
        current_step: Index of the step that runs, or at which it ended; the number of steps once
            all are done.
    """

    task_id: str
    task_name: str
    status: Status
    started_at: int
    steps_completed: list[StepResult] = field(default_factory=list)
    current_step: int = 0
    change_log: list[ChangeEntry] = field(default_factory=list)
    _lines: list[str] = field(default_factory=list, repr=False, compare=False)

    def step_lines(self) -> list[str]:
        """Return each step as a line of the state file."""
        for step in self.steps_completed[len(self._lines) :]:
            self._lines.append(_line(step, "started_at", "completed_at"))
        return self._lines


def as_status(text: str) -> Status:
    """Return a status as the journal has it."""
    known: dict[str, Status] = {one: one for one in get_args(Status)}
    return known[text]


def state_path(state: Path, client: str, run_id: str) -> Path:
    """Return where the state file of a run lies (AC 18)."""
    return state / CLIENTS / client / "task-runs" / f"{run_id}.json"


def forget_files(state: Path, runs: Iterable[tuple[str, str]], *, before_s: float) -> int:
    """Remove the files of runs, and backups that nobody has made since; return how many.  Blocking.

    Links are not followed.
    """
    removed = 0
    for run_id, client in runs:
        for folder in _own(state, client, "task-runs"):
            own = [*folder.glob(f"{run_id}.*"), *_files(folder / run_id)]
            for file in own:
                with suppress(OSError):  # what cannot be removed keeps nothing else
                    file.unlink()
                    removed += 1
            with suppress(OSError):
                (folder / run_id).rmdir()
    # Each is a second name of a blob, which undo may need for as long (`store.blobs`).
    for folder in _own(state, "*", "backups"):
        for backup in _files(folder):
            with suppress(OSError):
                if _SHA256.fullmatch(backup.name) and backup.lstat().st_mtime < before_s:
                    backup.unlink()
                    removed += 1
    return removed


def _own(state: Path, client: str, name: str) -> list[Path]:
    """Return folders of this name below clients, but for what a link leads to."""
    found = (state / CLIENTS).glob(f"{client}/{name}")
    return [one for one in found if not (one.is_symlink() or one.parent.is_symlink())]


def _files(folder: Path) -> list[Path]:
    return [] if folder.is_symlink() or not folder.is_dir() else [*folder.iterdir()]


def result_path(state: Path, client: str, run_id: str, place: Place) -> Path:
    """Return where a result lies that is too large for one line."""
    name = f"{place.phase}-{place.index}.json"
    return state / CLIENTS / client / "task-runs" / run_id / name


def write_state(path: Path, run: TaskRunState) -> None:
    """Write the state file, whole or not at all.  Blocking."""
    # Half a surrogate pair is no text; the journal has it as it was.
    write_private(path, render_state(run).encode("utf-8", "replace"))


def render_state(run: TaskRunState) -> str:
    """Return the state file's text, a step a line; times as ISO 8601 with a zone."""
    head = _json(
        {
            "task_id": run.task_id,
            "task_name": run.task_name,
            "status": run.status,
            "started_at": iso(run.started_at),
            "current_step": run.current_step,
        }
    )
    steps = ",\n".join(run.step_lines())
    changes = ",\n".join(_line(change, "timestamp") for change in run.change_log)
    return f'{head[:-1]},\n"steps_completed": [\n{steps}],\n"change_log": [\n{changes}]}}\n'


def _line(record: StepResult | ChangeEntry, *times: str) -> str:
    found = {one.name: getattr(record, one.name) for one in fields(record)}
    return _json(found | {name: iso(found[name]) for name in times})


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def iso(at_ms: int) -> str:
    """Return a moment as ISO 8601, in UTC."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds")


def finished(
    step: StepDefinition,
    status: StepStatus,
    *,
    result: Result | None = None,
    error: str | None = None,
    started_at: int,
    completed_at: int,
) -> StepResult:
    """Return how a step ended."""
    return StepResult(
        step_name=step.name,
        type=step.type,
        status=status,
        result=result,
        error=error,
        started_at=started_at,
        completed_at=completed_at,
    )
