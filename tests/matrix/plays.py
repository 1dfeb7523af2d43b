"""Stories in which a playbook is run, carried on after any death, and taken back."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from tests import played, truth, written
from tests.forks import Fork
from tests.matrix import minds
from tests.matrix.house import House

PLAYBOOK: Final = f"""\
---
name: tidy
hooks: {{pre: before, post: after}}
steps:
  - {{name: look, type: tool, tool: read_file, args: {{path: notes.txt}}}}
  - {{name: both, type: gate, message_template: "Write both?"}}
  - {{name: login, type: tool, tool: write_file, args: {{path: login.py, content: "retry = 5\\n"}}}}
  - {{name: deep, type: tool, tool: write_file, args: {{path: docs/deep.md, content: "deep\\n"}}}}
  - {{name: never, type: tool, tool: git_status, condition: look.result.size == 0}}
  - {{name: note, type: agent, message_template: "{minds.NOTE}"}}
  - name: noted
    type: tool
    tool: write_file
    args: {{path: notes.txt}}
    args_from: {{content: note.result.text}}
  - {{name: count, type: tool, tool: run_command, args: {{argv: [sh, count.sh, {played.MARK}]}}}}
---
"""
HOOK: Final = """\
---
name: {name}
steps:
  - {{name: {name}, type: tool, tool: write_file, args: {{path: {name}.txt, content: "{name}"}}}}
---
"""

PLAY: Final = "play"
# Of its questions those that are settled in another way than the first one is.
_CHAPTERS: Final = {"main:1": "gate", "main:7": "command"}
_WAITING: Final = (
    "SELECT tasks.short_id, tasks.task_id, tasks.step FROM tasks JOIN approvals USING (task_id)"
    " WHERE run = ? AND approvals.state = 'pending' AND tasks.state = 'WAITING_APPROVAL'"
    " AND cancel_requested = 0"
)


def play(house: House) -> None:
    """A run with every kind of step, through its end; carried on whenever it stands still."""
    _furnish(house)
    house.start("agent")
    _played(house)


def roll_back(house: House) -> None:
    """The same, taken back; again whenever that was cut off."""
    play(house)
    house.begins("rollback")
    _until(house, "rollback", "rolled_back")
    if written.files_in(house.workspace) != house.planted:
        house.untrue.append("the files are not as before the run")


def _furnish(house: House) -> None:
    minds.employ(house)
    folder = house.place.root / "config" / "playbooks"
    (folder / "hooks").mkdir(parents=True, mode=0o700)
    folder.chmod(0o700)
    (folder / "tidy.md").write_text(PLAYBOOK, encoding="utf-8")
    for name in ("before", "after"):
        (folder / "hooks" / f"{name}.md").write_text(HOOK.format(name=name), encoding="utf-8")


def _played(house: House) -> None:
    house.begins(PLAY)
    _until(house, "run", "completed")


def _until(house: House, verb: str, status: str) -> None:
    """Begin it, approve what is asked, and begin it again wherever it stands still."""
    watching: list[Fork] = []
    said = house.place.root / "play.said"

    def look() -> bool:
        is_watched = bool(watching) and watching[-1].poll() is None
        run = _run(house)
        if run and not _is_over(house, run):
            _approve(house, run)
        elif run.get("status") == status:
            return not [*_renderings(house)]
        elif not is_watched:
            word = "resume" if run and verb == "run" else verb
            words = ("playbook", word, run.get("run_id", "tidy"))
            watching.append(house._fork("terminal", *words, output=said))
        return False

    house.until(look)


def _run(house: House) -> dict[str, Any]:
    runs = truth.rows(house.journal, "SELECT * FROM runs") if house.journal.exists() else []
    return next(iter(runs), {})


def _is_over(house: House, run: dict[str, Any]) -> bool:
    carrier = "SELECT reason FROM tasks WHERE task_id = ?"
    return all(row["reason"] for row in truth.rows(house.journal, carrier, run["task_id"]))


def _renderings(house: House) -> Iterator[str]:
    """Yield what is wrong of state files; an agent that has just started mends them."""
    runs = truth.rows(house.journal, "SELECT * FROM runs")
    steps = truth.rows(house.journal, "SELECT * FROM run_steps")
    return played.wrong_files(house.journal.parent, runs, steps)


def _approve(house: House, run: dict[str, Any]) -> None:
    for one in truth.rows(house.journal, _WAITING, run["run_id"]):
        if one["step"] != played.ROLLBACK:
            house.begins(_CHAPTERS.get(one["step"], PLAY))
        is_done = partial(_is_decided, house, one["task_id"])
        house._approve_once(("approve", one["short_id"]), is_done, None)


def _is_decided(house: House, task_id: str) -> bool:
    (task,) = truth.rows(house.journal, "SELECT state FROM tasks WHERE task_id = ?", task_id)
    return bool(task["state"] != "WAITING_APPROVAL")
