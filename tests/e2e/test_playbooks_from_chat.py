"""Playbooks asked for from the chat: what it is told, and what only the machine is."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.e2e.place import Place, wait_until

NOTE: Final = """---
name: note
trigger_keywords: [leave a note, 留个便条]
steps:
  - {name: look, type: tool, tool: list_files, args: {glob: "**/*"}}
  - {name: ask, type: gate, message_template: "Write NOTE.txt for: {message}"}
  - {name: write, type: tool, tool: write_file, args: {path: NOTE.txt, content: "inside it\\n"}}
  - {name: again, type: tool, tool: read_file, args: {path: NOTE.txt}}
---
Leaves a note.
"""
FAILS: Final = """---
name: fails
steps:
  - {name: look, type: tool, tool: read_file, args: {path: nowhere.txt}}
---
"""
PLAYBOOKS: Final = {"note": NOTE, "fails": FAILS, "broken": "---\nname: broken\n---\n"}


@pytest.fixture
def place(place: Place) -> Place:
    folder = place.root / "config" / "playbooks"
    folder.mkdir(mode=0o700)
    for name, text in PLAYBOOKS.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
        (folder / f"{name}.md").chmod(0o600)
    return place


def asked(place: Place, text: str) -> str:
    """Send a request, and return the ID of the task that it made."""
    assert place.callback(text) == 200

    def look() -> str:
        found = (one for one in place.tasks() if one["text"] == text and one["part"] is None)
        return str(next((one["short_id"] for one in found), ""))

    return wait_until(look)


def ending(place: Place, short_id: str) -> str:
    return place.hears_end(short_id)


def steps(place: Place, short_id: str) -> list[tuple[str, str]]:
    """Return how the steps of a run stand, as `show` tells it."""
    shown = place.run("show", short_id).stdout.splitlines()
    rows = [line.removeprefix("Steps").split() for line in shown]
    return [(row[1], row[2]) for row in rows if len(row) > 2 and row[0] in "1234"]


@pytest.mark.requirement("P1", "P7")
@pytest.mark.thorough
def test_a_run_waits_at_the_machine_and_its_end_is_told_once(
    running: Place, workspace: Path
) -> None:
    run = asked(running, "@dev please leave a note")
    question = running.waiting()
    assert question["part"] == {
        "run": run, "playbook": "note", "step": 2, "total": 4, "name": "ask",
    }  # fmt: skip
    told = running.hears(run, "waits for a decision on dev-1", "step 2 of 4 (ask)")
    assert f"codexbridge approve {question['short_id']}" in told
    assert not (workspace / "NOTE.txt").exists()

    assert running.callback("@dev status") == 200
    running.hears("dev-1: online", f"{run} · Playbook note waits", "step 2 of 4 (ask)")
    listed = running.run("tasks").stdout.splitlines()
    assert [line.split()[0] for line in listed] == [run, question["short_id"]]
    assert "step 2 of 4 of note: ask" in listed[1]
    assert steps(running, run) == [
        ("look", "completed"), ("ask", "waits"), ("write", "not"), ("again", "not"),
    ]  # fmt: skip

    # A gateway that dies meanwhile changes nothing, and nothing is told twice.
    running.kill("gateway")
    running.approve(question["short_id"])
    running.final(run)
    running.start_gateway()
    assert ending(running, run).startswith(f"{run} ✓ Playbook note completed: 4 steps.")
    assert (workspace / "NOTE.txt").read_text(encoding="utf-8") == "inside it\n"
    assert {status for _, status in steps(running, run)} == {"completed"}
    assert "step 2 of 4 of note: ask" in running.run("show", question["short_id"]).stdout

    assert [task["short_id"] for task in running.gateway_tasks()] == [run]
    said = "\n".join(running.chat())
    assert "inside it" not in said
    assert f"{question['short_id']} " not in said.replace(f"approve {question['short_id']}", "")


@pytest.mark.requirement("P3", "P7")
@pytest.mark.thorough
def test_after_a_restart_of_the_agent_a_run_stands_still(running: Place, workspace: Path) -> None:
    run = asked(running, "@dev 留个便条")
    question = running.waiting()
    running.hears(run, "等待在 dev-1 上批准", "第 2 步，共 4 步")
    running.kill("agent")
    running.start_agent()
    told = ending(running, run)
    assert "停在原处" in told
    assert f"codexbridge playbook resume {run}" in told
    assert running.final(question["short_id"])["reason"] == "cancelled"
    assert not (workspace / "NOTE.txt").exists()
    (one,) = running.run("runs").stdout.splitlines()
    assert one.split()[0] == run
    assert one.split()[-1] == "failed"


@pytest.mark.requirement("P7")
@pytest.mark.thorough
def test_a_run_is_cancelled_from_the_chat(running: Place, workspace: Path) -> None:
    run = asked(running, "@dev playbook note soon")
    question = running.waiting()
    assert running.callback(f"@dev cancel {run}") == 200
    told = ending(running, run)
    assert told.startswith(f"{run} – cancelled on dev-1. The playbook was stopped.")
    assert running.final(question["short_id"])["reason"] == "cancelled"
    assert not (workspace / "NOTE.txt").exists()
    assert running.run("runs").stdout.split()[-1] == "cancelled"


@pytest.mark.requirement("P7")
def test_what_cannot_be_run_is_said_in_words(running: Place) -> None:
    listed = ending(running, asked(running, "@dev playbook"))
    assert "- note “leave a note”  Leaves a note." in listed
    assert "✓" not in listed
    unknown = ending(running, asked(running, "@dev playbook notte"))
    assert "There is no playbook notte. Alike: note." in unknown
    broken = ending(running, asked(running, "@dev playbook broken"))
    assert "codexbridge playbook show broken" in broken
    assert str(running.root) not in broken
    failed = ending(running, asked(running, "@dev playbook fails"))
    assert "Playbook fails failed: step 1 of 1 (look): There is no nowhere.txt" in failed
    run = asked(running, "@dev leave a note")
    running.run("reject", running.waiting()["short_id"])
    assert "a question was rejected" in ending(running, run)
