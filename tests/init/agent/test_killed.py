"""``kill -9`` of ``codexbridge init`` at each question and each write; then it is run again."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.place import Place, Terminal
from tests.forks import Watch, shared_zygote
from tests.init.agent.guide import SPOKEN, answer, approve, devices, kept, line_for

TOLD = SPOKEN["en"]
NAMED = ("--non-interactive", "--test-command", "make test", "--no-window-test", "--workspace")


@pytest.mark.thorough
@pytest.mark.needs("bubblewrap")
def test_killed_at_each_question_it_goes_on_where_it_was(place: Place) -> None:
    questions = [
        (TOLD.paste, line_for(place)),
        (TOLD.compare, "same"),
        (TOLD.folder, ""),
        (TOLD.command, ""),
        (TOLD.send, ""),
        ("codexbridge approve T-", ""),
    ]
    done = 0
    # Written are the pairing, the workspace with its command, and the task.
    for at, begins in ((0, 0), (1, 0), (2, 1), (3, 2), (4, 2), (5, 4)):
        with Terminal(place.environ, "init") as terminal:
            for words, reply in questions[begins:at]:
                answer(terminal, words, reply)
            answer(terminal, questions[at][0])  # on the way out it is killed
            done += 1
    with Terminal(place.environ, "init") as terminal:
        approve(terminal, TOLD)
        answer(terminal, TOLD.stays)
        assert TOLD.proved in terminal.shown
    assert done == len(questions)
    assert devices(place) == ["dev-1"]
    assert _is_tidy(place)
    (task,) = _tasks(place)
    assert task["reason"] == "completed"


def _tasks(place: Place) -> list[dict[str, Any]]:
    place.start_agent()
    return place.tasks()


def _is_tidy(place: Place) -> bool:
    """Tell whether there is one key, and no other file that has or names one."""
    names = [name for name in kept(place) if name.startswith("state/")]
    return len(names) == 1 and "/agent-" in names[0]


@pytest.mark.thorough
def test_killed_at_each_write_it_makes_one_good_installation(
    place: Place, workspace: Path, tmp_path: Path
) -> None:
    rehearsal = _run(place, workspace, tmp_path / "notes", line_for(place))
    assert rehearsal == 0
    moments = [
        (one["event"], one["phase"], one["nth"])
        for one in map(json.loads, (tmp_path / "notes").read_text(encoding="utf-8").splitlines())
        if one["event"].startswith("file ")
    ]
    assert len(moments) == 8, moments  # record, key, pairing and workspaces; before and after each
    for number, moment in enumerate(moments, start=2):
        machine, root = f"dev-{number}", tmp_path / f"home-{number}"
        root.mkdir(mode=0o700)
        here = Place(root, place.made, place.gateway_port, place.extra)
        line = line_for(place, machine)
        notes = tmp_path / f"notes-{number}"
        assert _run(here, workspace, notes, line, kill=moment) == -9, moment
        done = here.run("init", *NAMED, str(workspace), stdin=line + "\n", check=False)
        if moment[:2] == ("file pairing.json", "before-write"):
            # The gateway has taken the code, and nobody here has heard of it.
            assert done.returncode == 1
            assert done.stderr.count("\n") == 1
            assert "--replace" in done.stderr
            line = line_for(place, machine, "--replace")
            done = here.run("init", *NAMED, str(workspace), stdin=line + "\n", check=False)
        assert done.returncode == 0, (moment, done)
        assert _is_tidy(here), (moment, kept(here).keys())
    known = json.loads(place.admin("devices", "--json"))
    assert sorted(one["machine"] for one in known) == [
        f"dev-{n}" for n in range(1, len(moments) + 2)
    ]


def _run(
    place: Place,
    workspace: Path,
    notes: Path,
    line: str,
    *,
    kill: tuple[str, str, int] | None = None,
) -> int:
    given = notes.with_suffix(".line")
    given.write_text(line + "\n", encoding="utf-8")
    with given.open("rb") as stdin, Path(os.devnull).open("wb") as nothing:
        fork = shared_zygote().start(
            ("init", *NAMED, str(workspace)),
            environ=place.environ,
            streams=[stdin.fileno(), nothing.fileno(), nothing.fileno()],
            watch=Watch("agent", notes, place.root, kill),
        )
        return fork.wait(60)
