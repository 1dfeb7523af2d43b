"""The record of one run: the journal first, then what is rendered from it for people and programs.

    step ended ─▶ journal (one transaction) ─▶ state file (AC 18–20)
    event ─▶ events file, from which whoever follows reads on ─▶ bus

The state file and the events are renderings: what is lost of them is written again, or not missed.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal

from common.clock import Clock
from common.errors import AuthError, CodexBridgeError, StoreError
from common.home import private_dir, read_private, write_private
from local_agent.playbooks.runs import (
    ChangeEntry,
    Place,
    Result,
    StepResult,
    TaskRunState,
    as_status,
    result_path,
    state_path,
    write_state,
)
from local_agent.store.journal import JournalThread
from local_agent.store.runs import StoredRun, StoredStep, read_result

LINE_BYTES: Final = 65_536  # of one event (contract)
KEPT_INLINE: Final = 32_768  # of a result in the journal; a larger one lies in a file
SHOWN_CHARS: Final = 2_000  # of each text in a result that is shortened
SHOWN_ITEMS: Final = 50
MAX_RESULT_BYTES: Final = 128 * 1024 * 1024  # two streams of 8 MiB, each byte as \\uXXXX
Told = Literal["same", "behind", "missing", "damaged"]
_SHORTER: Final = (16_000, 4_000, 1_000, 200, 40)  # characters of each text in too long an event
_STATUS: Final = {"completed": "completed", "failed": "failed", "aborted": "failed"}


class RunRecord:
    """Records one run (`local_agent.playbooks.session.RunLog`).

    Args:
        state: The state folder of this installation.
        changes: Gives what the run has changed by now, from the journal.
        publish: Tells of an event those who follow.
    """

    def __init__(
        self,
        db: JournalThread,
        run: StoredRun,
        *,
        state: Path,
        clock: Clock,
        steps: Sequence[StepResult],
        changes: Callable[[], list[ChangeEntry]],
        publish: Callable[[Mapping[str, Any]], None],
    ) -> None:
        self._db = db
        self._run = run
        self._state = state
        self._state_file = state_path(state, run.client, run.run_id)
        self._events = events_path(state, run)
        self._is_over = False
        self._clock = clock
        self._changes = changes
        self._publish = publish
        self._rendered = TaskRunState(
            task_id=run.run_id,
            task_name=run.name,
            status="running" if run.carrying == "run" else as_status(run.status),
            started_at=run.started_at,
            steps_completed=list(steps),
            current_step=run.current_step,
        )

    async def begun(self) -> None:
        """The run is begun, or begun anew."""
        await self._db.run(self._runs.enter, self._run.run_id, "running")
        await self._render()

    async def at(self, place: Place) -> None:
        """A step that may change something begins."""
        if place.phase == "main":
            self._rendered.current_step = place.index

    async def step_ended(self, place: Place, result: StepResult) -> Result | None:
        """A step ended; its result is returned as an event may carry it."""
        if _is_small(result.result or {}):
            kept = self._keep(place, result.result)
        else:
            kept = await asyncio.to_thread(self._keep, place, result.result)
        text, stored, shown = kept
        over = result.status in ("completed", "skipped")
        step = StoredStep(
            place=str(place),
            step_name=result.step_name,
            type=result.type,
            status=result.status,
            result=text,
            stored=stored,
            error=result.error,
            started_at=result.started_at,
            completed_at=result.completed_at,
        )
        at = place.index + over if place.phase == "main" else None
        await self._db.run(self._runs.end_step, self._run.run_id, step, current_step=at)
        if at is not None:
            self._rendered.current_step = at
        if place.phase == "main":  # what hooks did is in the change log
            self._rendered.steps_completed.append(replace(result, result=shown))
        await self._render()
        return shown

    def _keep(
        self, place: Place, result: Result | None
    ) -> tuple[str | None, str | None, Result | None]:
        """Return a result for the journal, the hash of its file if it has one, and what is shown.

        A large one is written.  Blocking.
        """
        if result is None:
            return None, None, None
        text = _whole(result)
        if len(text) <= KEPT_INLINE:
            return text, None, result
        path = result_path(self._state, self._run.client, self._run.run_id, place)
        raw = text.encode()
        write_private(path, raw)
        return None, hashlib.sha256(raw).hexdigest(), shortened(result, path)

    async def ended(self, status: str, current_step: int) -> None:
        """The run ended."""
        await self._db.run(
            self._runs.enter, self._run.run_id, _STATUS[status], current_step=current_step
        )
        self._rendered.current_step = current_step
        self._rendered.status = "completed" if status == "completed" else "failed"
        await self._render()
        self._is_over = True

    async def rolled_back(self) -> None:
        """What the run had changed is taken back."""
        await self._db.run(self._runs.enter, self._run.run_id, "rolled_back")
        self._rendered.status = "rolled_back"
        await self._render()

    async def cut_off(self, status: Literal["aborted", "failed"], why: str) -> None:
        """It was cancelled, or something unforeseen ended it; a rollback leaves a run as it was."""
        if self._is_over or self._rendered.status not in ("pending", "running"):
            return
        await self.ended(status, self._rendered.current_step)
        ended = {"task_name": self._run.name, "status": status, "summary": why}
        await self.tell({"type": "task_complete", **ended})

    async def tell(self, event: Mapping[str, Any]) -> None:
        """Write an event where whoever follows finds it, and wake them."""
        told = bounded(event)
        await asyncio.to_thread(_append, self._events, _bytes(told) + b"\n")
        self._publish(told)

    async def _render(self) -> None:
        self._rendered.change_log = self._changes()
        await asyncio.to_thread(write_state, self._state_file, self._rendered)

    @property
    def _runs(self) -> Any:
        return self._db.journal.runs


def bounded(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return an event as it is told: its line has less than `LINE_BYTES`, if need be by cuts."""
    told = found = {key: item for key, item in event.items() if not key.startswith("_")}
    for most in _SHORTER:
        if len(_bytes(found)) < LINE_BYTES:
            break
        found = {**_clipped(told, most), "truncated": True}
    return found


def told_of(path: Path, run: StoredRun, steps: Sequence[StoredStep]) -> Told:
    """Tell whether a state file says what the journal does of a run.  Blocking."""
    try:
        told = json.loads(path.read_bytes())
        standing = told["status"], told["current_step"], len(told["steps_completed"])
    except FileNotFoundError:
        return "missing"
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return "damaged"
    ended = sum(_is_own(step) for step in steps)
    return "same" if standing == (run.status, run.current_step, ended) else "behind"


def _is_own(step: StoredStep) -> bool:
    """Tell whether a step is one of the playbook, and not of a hook."""
    return Place.parse(step.place).phase == "main"


def render_again(
    state: Path, run: StoredRun, steps: Sequence[StoredStep], changes: list[ChangeEntry]
) -> None:
    """Write the state file of a run that nothing carries.  Blocking."""
    rendered = TaskRunState(
        task_id=run.run_id,
        task_name=run.name,
        status=as_status(run.status),
        started_at=run.started_at,
        steps_completed=[shown_step(state, run, step) for step in steps if _is_own(step)],
        current_step=run.current_step,
        change_log=changes,
    )
    write_state(state_path(state, run.client, run.run_id), rendered)


def shown_step(state: Path, run: StoredRun, step: StoredStep) -> StepResult:
    """Return how a step ended as the state file has it, though its result be gone.  Blocking."""
    try:
        known = read_step(state, run, step)
    except CodexBridgeError:  # its file is gone, and it is shown without a result
        return read_step(state, run, replace(step, stored=None))
    if step.stored is None or known.result is None:
        return known
    path = result_path(state, run.client, run.run_id, Place.parse(step.place))
    return replace(known, result=shortened(known.result, path))


def events_path(state: Path, run: StoredRun) -> Path:
    """Return where the events of a run lie, one a line."""
    path = state_path(state, run.client, run.run_id)
    return path.with_name(f"{run.run_id}.events.jsonl")


def read_step(state: Path, run: StoredRun, step: StoredStep) -> StepResult:
    """Return how a step ended, with its whole result.  Blocking.

    Raises:
        StoreError: ``run.result-gone``: its file is not there.
        AuthError: the same: it is not what was written.
    """
    result = read_result(step)
    if step.stored is not None:
        path = result_path(state, run.client, run.run_id, Place.parse(step.place))
        result = _stored(path, step)
    return StepResult(
        step_name=step.step_name,
        type=step.type,
        status=step.status,  # type: ignore[arg-type]  # as `step_ended` wrote it
        result=result,
        error=step.error,
        started_at=step.started_at,
        completed_at=step.completed_at,
    )


def as_shown(state: Path, run: StoredRun, place: Place, ended: StepResult) -> StepResult:
    """Return how a step ended as the state file has it: a large result is cut.  Blocking."""
    if ended.result is None or len(_whole(ended.result)) <= KEPT_INLINE:
        return ended
    path = result_path(state, run.client, run.run_id, place)
    return replace(ended, result=shortened(ended.result, path))


def shortened(result: Result, path: Path) -> Result:
    """Return a result of which every text and list is cut, and where the whole lies."""
    return {
        **{key: _short(value) for key, value in result.items()},
        "truncated": True,
        "result_path": str(path),
    }


def _clipped(value: Any, most: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= most else value[:most] + "…"
    if isinstance(value, Mapping):
        return {key: _clipped(item, most) for key, item in value.items()}
    return [_clipped(item, most) for item in value] if isinstance(value, list) else value


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return value[:SHOWN_CHARS]
    if isinstance(value, list):
        few = value[:SHOWN_ITEMS] if len(_json(value)) <= SHOWN_CHARS * 4 else value[:10]
        return [one[:200] if isinstance(one, str) else one for one in few]
    return value


def _stored(path: Path, step: StoredStep) -> dict[str, Any]:
    try:
        raw = read_private(path, max_bytes=MAX_RESULT_BYTES)
    except OSError:
        raise StoreError("run.result-gone", step=step.step_name) from None
    if hashlib.sha256(raw).hexdigest() != step.stored:
        raise AuthError("run.result-gone", step=step.step_name)
    found: dict[str, Any] = json.loads(raw)
    return found


def _append(path: Path, line: bytes) -> None:
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        descriptor = os.open(path, flags, 0o600)
    except FileNotFoundError:
        private_dir(path.parent)
        descriptor = os.open(path, flags, 0o600)
    with os.fdopen(descriptor, "a+b") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
            raise StoreError("run.events", path=path)  # else it would be written somewhere else
        file.write(line if _ends_a_line(file) else b"\n" + line)


def _ends_a_line(file: BinaryIO) -> bool:
    """Tell whether a file is empty or ends with a whole line: a kill may leave half of one."""
    size = file.seek(0, os.SEEK_END)
    if not size:
        return True
    file.seek(size - 1)
    return file.read() == b"\n"


def _is_small(result: Result) -> bool:
    """Tell whether a result surely has room in the journal, without looking through it."""
    if any(isinstance(value, (list, dict)) for value in result.values()):
        return False
    texts = (value for value in result.values() if isinstance(value, str))
    return sum(map(len, texts)) < KEPT_INLINE // 16  # a character may be written as twelve


def _whole(result: Result) -> str:
    # ASCII: what is no valid text, such as half a surrogate pair, comes back as it was.
    return json.dumps(result, separators=(",", ":"))


def _bytes(value: Any) -> bytes:
    return _json(value).encode("utf-8", "replace")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
