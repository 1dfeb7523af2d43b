"""What runs of playbooks must have left: each step once, what was asked, and what is told of it.

As in `tests.truth`, no function of the product is used.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from common.model.state import FINAL, Reason
from tests.written import Carried

Row = Mapping[str, Any]

MARK: Final = "played"  # how the marks begin that commands of playbooks leave
ROLLBACK: Final = "rollback"
_STATUS: Final = ("pending", "running")  # of a run that a task carries
_MAY_HAVE_RUN: Final = (Reason.FAILED, Reason.CANCELLED, Reason.UNKNOWN, None)


def wrong_commands(left: Mapping[str, int], carried: Sequence[Carried]) -> Iterator[str]:
    """Each command of a run left its mark once for each time that it is said to have run."""
    outcomes: dict[str, list[str | None]] = {}
    for one in carried:
        if one.seal["action"] == "run_command" and one.run is not None:
            outcomes.setdefault(one.seal["payload"]["argv"][-1], []).append(one.outcome)
    for mark in {mark for mark in left if mark.startswith(MARK)} | outcomes.keys():
        ended = outcomes.get(mark, [])
        ran = sum(outcome == Reason.COMPLETED for outcome in ended)
        most = ran + sum(outcome in _MAY_HAVE_RUN for outcome in ended)
        if not ran <= left.get(mark, 0) <= most:
            yield f"{mark}: ran {left.get(mark, 0)} times, and its steps ended {ended}"


def wrong_runs(
    runs: Sequence[Row], steps: Sequence[Row], tasks: Sequence[Row], carried: Sequence[Carried]
) -> Iterator[str]:
    """No step was carried out twice or is missing, and no run is left to nobody."""
    by_id = {task["task_id"]: task for task in tasks}
    for run in runs:
        name, run_id = f"run of {run['name']}", run["run_id"]
        carrier = by_id.get(run["task_id"])
        if carrier is None:
            yield f"{name}: nothing carries it"
        elif carrier["state"] in FINAL and run["status"] in _STATUS:
            yield f"{name}: {run['status']}, and what carried it has ended {carrier['reason']}"
        done = Counter(
            one.place
            for one in carried
            if one.run == run_id and one.outcome == Reason.COMPLETED and one.place != ROLLBACK
        )
        ended = {step["place"]: step for step in steps if step["run_id"] == run_id}
        for place, times in done.items():
            if times > 1:
                yield f"{name}: {place} was carried out {times} times"
            if place not in ended and run["status"] == "completed":
                yield f"{name}: {place} was carried out, and the run knows nothing of it"
        if run["status"] == "completed":
            wrong = {
                place: step["status"]
                for place, step in ended.items()
                if step["status"] not in ("completed", "skipped")
            }
            if wrong:
                yield f"{name}: completed, with {wrong}"
        yield from _undone_twice(name, [one for one in carried if one.run == run_id])


def _undone_twice(name: str, carried: Sequence[Carried]) -> Iterator[str]:
    back: Counter[tuple[str, str]] = Counter()
    for one in carried:
        if one.seal["action"] == "undo" and one.outcome == Reason.COMPLETED:
            undone = one.seal["payload"]["undoes"]["approval_id"]
            back.update((undone, change["path"]) for change in one.seal["payload"]["changes"])
    for (_, path), times in back.items():
        if times > 1:
            yield f"{name}: {path} was taken back {times} times"


def wrong_files(state: Path, runs: Sequence[Row], steps: Sequence[Row]) -> Iterator[str]:
    """The state file says what the journal says, backups are there, and events can be read."""
    for run in runs:
        folder = state / "clients" / run["client"] / "task-runs"
        file = folder / f"{run['run_id']}.json"
        if not file.exists():
            if run["status"] != "pending":
                yield f"run of {run['name']}: {run['status']}, and has no state file"
            continue
        told = json.loads(file.read_text(encoding="utf-8"))
        own = (one for one in steps if one["place"].startswith("main:"))
        ended = sorted(step["step_name"] for step in own if step["run_id"] == run["run_id"])
        said = sorted(step["step_name"] for step in told["steps_completed"])
        for what, ours, theirs in (
            ("status", told["status"], run["status"]),
            ("current_step", told["current_step"], run["current_step"]),
            ("steps", said, ended),
        ):
            if ours != theirs:
                yield f"run of {run['name']}: the state file's {what} is {ours}, not {theirs}"
        for change in told["change_log"]:
            kept = change["backup_path"]
            if kept is not None and not Path(kept).exists():
                yield f"run of {run['name']}: no backup of {change['resource_id']}"
        lines = file.with_name(f"{run['run_id']}.events.jsonl").read_text(encoding="utf-8")
        for line in lines.splitlines():
            try:
                json.loads(line)
            except ValueError:
                yield f"run of {run['name']}: {line[:80]!r} is no event"
