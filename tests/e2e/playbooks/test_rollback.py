"""Playbooks, contract section 6: a run is taken back (AC 21 and 32)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.playbooks.stage import (
    Event,
    Ran,
    Stage,
    command,
    gate,
    reading,
    tool,
    writing,
)
from tests.each import few

DIFF = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n"
THREE = (
    gate("sure"),
    writing("change", "b.txt"),
    writing("add", "new/file.txt"),
    tool("patch", "apply_diff", diff=DIFF),
)


def done(stage: Stage, *steps: Mapping[str, Any], **more: Any) -> Ran:
    """Return a completed run."""
    return stage.run(*(steps or THREE), decide="approve", **more).ended("completed")


def taken_back(stage: Stage, run: Ran, *options: str, **more: Any) -> Ran:
    """Take a run back by its own ID."""
    decide = more.pop("decide", "approve")
    return stage.follow(("playbook", "rollback", run.run_id, *options), decide=decide, **more)


def result(ran: Ran) -> Event:
    """Return what the rollback told at its end."""
    assert ran.events, ran.told
    found: Event = ran.events[-1]
    assert found["type"] == "rollback_result", ran.told
    return found


@pytest.mark.requirement("EX-21", "EX-32", "P5")
def test_what_a_run_changed_is_taken_back_in_reverse_order(stage: Stage) -> None:
    run = done(stage)
    ran = taken_back(stage, run)
    assert ran.code == 0, ran.told
    told = result(ran)
    assert (told["task_id"], told["status"]) == (run.run_id, "rolled_back")
    assert [one["resource_id"] for one in told["rollback_results"]] == [
        "a.txt",
        "new/file.txt",
        "b.txt",
    ]
    assert all(one["success"] for one in told["rollback_results"])
    assert stage.read("a.txt") == "one\ntwo\n"
    assert stage.read("b.txt") == "before\n"
    assert stage.read("new/file.txt") is None
    assert run.state["status"] == "rolled_back"
    assert stage.runs()[0]["status"] == "rolled_back"


def test_it_asks_as_every_change(stage: Stage) -> None:
    run = done(stage)

    def look(_: Stage, event: Event) -> None:
        assert stage.read("b.txt") == "new\n"
        stage.approve(event)

    ran = taken_back(stage, run, decide=look)
    assert ran.all("confirmation_required")
    assert all(one["confirmed"] for one in ran.all("gate_result"))


def test_a_rollback_that_is_denied_touches_nothing(stage: Stage) -> None:
    run = done(stage)
    ran = taken_back(stage, run, decide="reject")
    assert ran.code in (1, 3), ran.told
    assert stage.read("b.txt") == "new\n"
    assert run.state["status"] == "completed"


def test_the_short_id_is_taken_too(stage: Stage) -> None:
    run = done(stage)
    ran = stage.follow(("playbook", "rollback", run.short_id), decide="approve")
    assert ran.code == 0, ran.told
    assert stage.read("b.txt") == "before\n"


def test_a_failed_run_is_taken_back(stage: Stage) -> None:
    run = stage.run(writing("w", "b.txt"), reading("bad", "nowhere.txt"), decide="approve")
    run.ended("failed")
    assert taken_back(stage, run).code == 0
    assert stage.read("b.txt") == "before\n"


def test_commands_are_named_as_not_reversible_while_files_are_restored(stage: Stage) -> None:
    run = done(stage, gate("sure"), writing("w", "b.txt"), command("run", "sh", "run.sh"))
    ran = taken_back(stage, run)
    told = {one["action"]: one for one in result(ran)["rollback_results"]}
    assert told["write_file"]["success"] is True
    assert told["run_command"]["success"] is False
    assert told["run_command"]["error"]
    assert stage.read("b.txt") == "before\n"
    assert stage.read("ran.txt") == "ran\n"
    assert ran.code == 0


def test_a_file_that_was_changed_twice_is_as_it_was_first(stage: Stage) -> None:
    run = done(stage, writing("w1", "b.txt", "1\n"), writing("w2", "b.txt", "2\n"))
    assert taken_back(stage, run).code == 0
    assert stage.read("b.txt") == "before\n"


def change_file(stage: Stage, _: Ran) -> None:
    stage.write("b.txt", "somebody else's\n")


def remove_backup(_: Stage, run: Ran) -> None:
    for entry in run.state["change_log"]:
        if entry["resource_id"] == "b.txt":
            Path(entry["backup_path"]).unlink()


def alter_backup(_: Stage, run: Ran) -> None:
    for entry in run.state["change_log"]:
        if entry["resource_id"] == "b.txt":
            path = Path(entry["backup_path"])
            path.chmod(0o600)
            path.write_text("altered\n", encoding="utf-8")


def link_folder(stage: Stage, _: Ran) -> None:
    elsewhere = stage.files / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "file.txt").write_text("new\n", encoding="utf-8")
    shutil.rmtree(stage.workspace / "new")
    (stage.workspace / "new").symlink_to(elsewhere)


SPOILT: Mapping[str, Callable[[Stage, Ran], None]] = {
    "a file changed since": change_file,
    "a backup that is missing": remove_backup,
    "a backup that was altered": alter_backup,
    "a folder that became a link": link_folder,
}


@pytest.mark.requirement("EX-21", "R67")
@pytest.mark.parametrize("case", few(SPOILT, 2))
def test_where_one_cannot_be_taken_back_nothing_is_touched(stage: Stage, case: str) -> None:
    # Content of its own: backups of one content are one file, and this one is spoilt.
    stage.write("b.txt", f"before {case}\n")
    run = done(stage)
    SPOILT[case](stage, run)
    before = stage.read("b.txt")
    ran = taken_back(stage, run)
    assert ran.code == 1, ran.told
    told = result(ran)
    assert told["status"] == "failed"
    assert any(one.get("error") for one in told["rollback_results"]), told
    assert not ran.all("confirmation_required")
    assert stage.read("a.txt") == "ONE\ntwo\n"
    assert stage.read("b.txt") == before
    assert run.state["status"] == "completed"


def test_a_run_that_changed_nothing_is_taken_back_without_a_question(stage: Stage) -> None:
    run = done(stage, reading("look"))
    ran = taken_back(stage, run)
    assert ran.code in (0, 2), ran.told
    assert not ran.all("confirmation_required")


@pytest.mark.thorough
@pytest.mark.parametrize(
    "given",
    ["T-ZZZZ", "00000000-0000-0000-0000-000000000000", "../x", "", "no id"],
    ids=["short", "uuid", "path", "empty", "words"],
)
def test_an_unknown_run_is_refused(stage: Stage, given: str) -> None:
    done_ = stage.cli("playbook", "rollback", given, "--json")
    assert (done_.returncode, done_.stdout) == (2, "")


def test_a_run_of_another_client_is_refused(stage: Stage) -> None:
    run = done(stage, client="team-a")
    for named in (("--client", "team-b"), ("--client", "default"), ()):
        refused = stage.cli("playbook", "rollback", run.run_id, *named, "--json")
        assert (refused.returncode, refused.stdout) == (2, "")
    assert stage.read("b.txt") == "new\n"
    assert taken_back(stage, run, "--client", "team-a").code == 0


def test_a_second_rollback_is_refused(stage: Stage) -> None:
    run = done(stage)
    assert taken_back(stage, run).code == 0
    again = stage.cli("playbook", "rollback", run.run_id, "--json")
    assert (again.returncode, again.stdout) == (2, "")


def test_a_run_that_was_taken_back_is_not_resumed(stage: Stage) -> None:
    run = done(stage)
    taken_back(stage, run)
    again = stage.cli("playbook", "resume", run.run_id, "--json")
    assert (again.returncode, again.stdout) == (2, "")


def test_changes_of_hooks_are_taken_back_too(stage: Stage) -> None:
    stage.hook("note", writing("in hook", "hook.txt"))
    run = done(stage, writing("w", "b.txt"), hooks={"pre": "note"})
    assert (
        json.loads(run.state_file.read_text(encoding="utf-8"))["change_log"][0]["resource_id"]
        == "hook.txt"
    )
    ran = taken_back(stage, run)
    assert ran.code == 0, ran.told
    assert (stage.read("hook.txt"), stage.read("b.txt")) == (None, "before\n")
