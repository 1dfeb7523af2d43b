"""Playbooks, contract section 6: the state file, changes and backups, and ``runs`` (AC 3–5, 18–20).

What a reader of the file relies on; the journal, of which it is a rendering, is not looked at.
"""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests import forks
from tests.e2e.place import sample
from tests.e2e.playbooks.stage import (
    ISO,
    UUID,
    Event,
    Ran,
    Stage,
    agent,
    command,
    gate,
    playbook,
    reading,
    tool,
    writing,
)
from tests.each import few

STATUSES = ("pending", "running", "completed", "failed", "rolled_back")
DIFF = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n"
WHOLE = (
    reading("look"),
    reading("skipped", condition="look.result.size == 0"),
    gate("sure"),
    writing("change", "b.txt"),
    writing("add", "new/file.txt"),
    tool("patch", "apply_diff", diff=DIFF),
    command("run", "sh", "run.sh"),
    agent("say"),
)


@pytest.fixture(scope="module")
def whole(open_stage: Stage) -> Ran:
    """One completed run with a step of each kind."""
    open_stage.reset()
    ran = open_stage.run(*WHOLE, name="whole", client="team-a", decide="approve")
    return ran.ended("completed")


@pytest.mark.requirement("EX-18")
def test_the_state_lies_below_the_client(whole: Ran) -> None:
    runs = whole.stage.state / "clients" / "team-a" / "task-runs"
    assert (runs / f"{whole.run_id}.json").is_file()


@pytest.mark.requirement("EX-3")
def test_the_state_has_the_fields_of_the_seed(whole: Ran) -> None:
    state = whole.state
    assert state.keys() >= {
        "task_id",
        "task_name",
        "status",
        "started_at",
        "steps_completed",
        "current_step",
        "change_log",
    }
    assert UUID.fullmatch(state["task_id"])
    assert state["task_id"] == whole.run_id
    assert (state["task_name"], state["status"]) == ("whole", "completed")


@pytest.mark.requirement("EX-4")
def test_a_step_has_the_fields_of_the_seed(whole: Ran) -> None:
    for step in whole.state["steps_completed"]:
        assert step.keys() >= {
            "step_name",
            "type",
            "status",
            "result",
            "error",
            "started_at",
            "completed_at",
        }


@pytest.mark.requirement("EX-4")
def test_the_steps_are_in_order_with_type_and_status(whole: Ran) -> None:
    told = [
        (one["step_name"], one["type"], one["status"]) for one in whole.state["steps_completed"]
    ]
    assert told == [
        (step["name"], step["type"], "skipped" if step["name"] == "skipped" else "completed")
        for step in WHOLE
    ]


def test_the_results_of_steps_are_in_the_state(whole: Ran) -> None:
    found = {one["step_name"]: one["result"] for one in whole.state["steps_completed"]}
    assert found["look"]["content"] == "one\ntwo\n"
    assert found["sure"] == {"confirmed": True}
    assert found["say"] == {"text": "A plain answer."}
    assert found["run"]["exit_code"] == 0
    assert found["skipped"] is None


def test_all_times_are_iso_8601_with_a_zone(whole: Ran) -> None:
    state = whole.state
    times = [state["started_at"], *(change["timestamp"] for change in state["change_log"])]
    for step in state["steps_completed"]:
        times += [step["started_at"], step["completed_at"]]
        assert step["started_at"] <= step["completed_at"]
    assert [one for one in times if not ISO.fullmatch(one)] == []


@pytest.mark.requirement("EX-5")
def test_the_changes_have_the_fields_of_the_seed_in_order(whole: Ran) -> None:
    log = whole.state["change_log"]
    for entry in log:
        assert entry.keys() >= {
            "action",
            "resource_type",
            "resource_id",
            "backup_path",
            "timestamp",
        }
    told = [(one["action"], one["resource_type"], one["resource_id"]) for one in log[:3]]
    assert told == [
        ("write_file", "file", "b.txt"),
        ("write_file", "file", "new/file.txt"),
        ("apply_diff", "file", "a.txt"),
    ]
    assert (log[3]["action"], log[3]["resource_type"]) == ("run_command", "command")
    assert "run.sh" in log[3]["resource_id"]
    assert len(log) == 4


@pytest.mark.requirement("EX-5", "EX-30", "P5")
@pytest.mark.parametrize(("at", "old"), [(0, "before\n"), (2, "one\ntwo\n")])
def test_a_backup_holds_what_was_there(whole: Ran, at: int, old: str) -> None:
    path = Path(whole.state["change_log"][at]["backup_path"])
    assert path.is_absolute()
    assert path.is_relative_to(whole.stage.state / "clients" / "team-a" / "backups")
    assert path.read_text(encoding="utf-8") == old
    assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0


def test_what_was_not_there_has_no_backup(whole: Ran) -> None:
    log = whole.state["change_log"]
    assert log[1]["backup_path"] is None
    assert log[3]["backup_path"] is None


def test_the_state_is_for_its_owner_alone(whole: Ran) -> None:
    assert stat.S_IMODE(whole.state_file.stat().st_mode) == 0o600


def test_nothing_half_written_is_left_beside_the_state(whole: Ran) -> None:
    left = [path.name for path in whole.state_file.parent.iterdir() if path.name.startswith(".")]
    assert left == []
    assert not list(whole.state_file.parent.glob("*.tmp"))


def test_all_folders_of_a_client_are_for_their_owner_alone(whole: Ran) -> None:
    clients = whole.stage.state / "clients"
    for path in (clients, *clients.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


@pytest.mark.requirement("EX-19")
def test_the_state_is_written_after_each_step_and_always_whole(stage: Stage) -> None:
    states: list[dict[str, Any]] = []
    starts: list[Event] = []

    def look(_: Stage, event: Event) -> None:
        if event["type"] == "task_start":
            starts.append(event)
        runs = stage.state / "clients" / "default" / "task-runs"
        states.append(
            json.loads((runs / f"{starts[0]['task_id']}.json").read_text(encoding="utf-8"))
        )

    def approve(_: Stage, event: Event) -> None:
        state = states[-1]
        assert state["status"] == "running"
        assert [one["step_name"] for one in state["steps_completed"]] == ["a", "b"]
        assert state["current_step"] in (2, "sure")
        stage.approve(event)

    steps = (reading("a"), reading("b"), gate("sure"), writing("c", "b.txt"), reading("d"))
    stage.run(*steps, each=look, decide=approve).ended("completed")
    assert {state["status"] for state in states} <= set(STATUSES)
    counts = [len(state["steps_completed"]) for state in states]
    assert counts == sorted(counts)
    assert states[-1]["current_step"] in (5, "d", None)


ENDED: Mapping[str, tuple[Any, Any, int]] = {
    "a tool that fails": (reading("bad", "nowhere.txt"), (), 2),
    "a command that fails": (command("bad", "false"), "approve", 2),
    "a gate that is denied": (gate("bad"), "reject", 2),
    "a write that is denied": (writing("bad", "b.txt"), "reject", 2),
}


@pytest.mark.requirement("EX-20")
@pytest.mark.parametrize("case", ENDED)
def test_on_failure_the_state_points_to_the_step(stage: Stage, case: str) -> None:
    step, decide, at = ENDED[case]
    ran = stage.run(reading("a"), reading("b"), step, reading("c"), decide=decide)
    assert ran.status in ("failed", "aborted")
    state = ran.state
    assert state["status"] == "failed"
    assert state["current_step"] in (at, "bad")
    last = state["steps_completed"][-1]
    assert last["step_name"] == "bad"
    assert last["status"] in ("failed", "denied")
    if last["status"] == "failed":
        assert last["error"]


@pytest.mark.requirement("EX-30")
def test_without_a_backup_nothing_is_written(stage: Stage) -> None:
    client = stage.state / "clients" / "no-backup"
    client.mkdir(mode=0o700, parents=True, exist_ok=True)
    (client / "backups").write_text("in the way", encoding="utf-8")
    ran = stage.run(writing("write", "b.txt"), client="no-backup", decide="approve")
    ran.ended("failed")
    assert "backup" in ran.one("step_error")["error"].lower()
    assert stage.read("b.txt") == "before\n"
    assert ran.state["change_log"] == []


def test_the_backup_is_there_before_the_write(stage: Stage) -> None:
    # A command that is covered after the write sees the new file; its backup holds the old one.
    ran = stage.run(gate("sure"), *WHOLE[3:4], decide="approve").ended("completed")
    (entry,) = ran.state["change_log"]
    backup = Path(entry["backup_path"]).read_bytes()
    assert hashlib.sha256(backup).hexdigest() == hashlib.sha256(b"before\n").hexdigest()


def test_two_changes_of_one_file_are_two_entries(stage: Stage) -> None:
    ran = stage.run(
        writing("w1", "b.txt", "1\n"), writing("w2", "b.txt", "2\n"), decide="approve"
    ).ended("completed")
    backups = [
        Path(one["backup_path"]).read_text(encoding="utf-8") for one in ran.state["change_log"]
    ]
    assert backups == ["before\n", "1\n"]


def test_a_write_of_what_is_there_is_no_change(stage: Stage) -> None:
    ran = stage.run(writing("w1", "b.txt", "before\n"), decide="approve").ended("completed")
    assert ran.state["change_log"] == []


@pytest.mark.parametrize("damage", few(["missing", "damaged", "empty"], 3))
def test_a_state_file_that_is_damaged_while_it_runs_is_written_again(
    stage: Stage, damage: str
) -> None:
    starts: list[Event] = []

    def note(_: Stage, event: Event) -> None:
        if event["type"] == "task_start":
            starts.append(event)

    def harm(_: Stage, event: Event) -> None:
        runs = stage.state / "clients" / "default" / "task-runs"
        path = runs / f"{starts[0]['task_id']}.json"
        if damage == "missing":
            path.unlink()
        else:
            path.write_text("{" if damage == "damaged" else "", encoding="utf-8")
        stage.approve(event)

    steps = (reading("look"), gate("sure"), writing("write", "b.txt"))
    ran = stage.run(*steps, each=note, decide=harm).ended("completed")
    assert [one["step_name"] for one in ran.state["steps_completed"]] == ["look", "sure", "write"]
    assert len(ran.state["change_log"]) == 1


# --- runs -----------------------------------------------------------------------------------------


def test_runs_lists_the_runs_of_all_clients_with_their_fields(stage: Stage) -> None:
    one = stage.run(reading("look"), name="first").ended("completed")
    two = stage.run(reading("look", "nowhere.txt"), name="second", client="team-b").ended("failed")
    three = stage.run(gate("sure"), name="third", client="_c.d-e", decide="reject")
    listed = {row["task_id"]: row for row in stage.runs()}
    for ran, name, client, status in (
        (one, "first", "default", "completed"),
        (two, "second", "team-b", "failed"),
        (three.ended("aborted"), "third", "_c.d-e", "failed"),
    ):
        row = listed[ran.run_id]
        assert (row["task_name"], row["client"], row["status"]) == (name, client, status)
        assert row["short_id"] == ran.short_id
        assert ISO.fullmatch(row["started_at"])
        assert row["current_step"] == ran.state["current_step"]


def test_runs_tells_a_run_that_goes_on(stage: Stage) -> None:
    seen: list[str] = []

    def look(_: Stage, event: Event) -> None:
        seen.append(stage.runs()[0]["status"])
        stage.approve(event)

    ran = stage.run(gate("sure"), decide=look).ended("completed")
    assert seen == ["running"]
    assert stage.runs()[0]["task_id"] == ran.run_id
    assert stage.runs()[0]["status"] == "completed"


def test_runs_is_for_people_too(stage: Stage) -> None:
    ran = stage.run(reading("look"), name="for-people").ended("completed")
    shown = stage.cli("runs")
    assert shown.returncode == 0
    assert "for-people" in shown.stdout
    assert ran.short_id in shown.stdout


def test_runs_is_not_stopped_by_a_damaged_state_file(stage: Stage) -> None:
    bad = stage.run(reading("look")).ended("completed")
    good = stage.run(reading("look")).ended("completed")
    bad.state_file.write_text("{", encoding="utf-8")
    done = stage.cli("runs", "--json")
    assert done.returncode == 0
    assert good.run_id in done.stdout


def test_runs_notes_a_damaged_state_file(stage: Stage) -> None:
    bad = stage.run(reading("look")).ended("completed")

    def is_noted() -> bool:
        bad.state_file.write_text("{", encoding="utf-8")
        return bad.run_id in stage.cli("runs", "--json").stderr

    # Right after the end the agent looks at the file by itself, and mends what it finds then.
    assert is_noted() or is_noted()


@pytest.mark.parametrize("damage", ["missing", "damaged"])
def test_a_lost_state_file_is_written_again_from_the_journal(stage: Stage, damage: str) -> None:
    ran = stage.run(reading("look")).ended("completed")
    before = ran.state
    if damage == "missing":
        ran.state_file.unlink()
    else:
        ran.state_file.write_text("{", encoding="utf-8")
    stage.cli("runs", "--json")
    stage.cli("show", ran.short_id)
    assert ran.state == before


# --- clients and workspaces -----------------------------------------------------------------------


@pytest.mark.parametrize("client", few(["A.b-c_d", "a", "_", "-x", "x" * 64, "0", "team..a"], 3))
def test_a_client_has_a_folder_of_its_own(stage: Stage, client: str) -> None:
    path = stage.file(playbook(writing("write", "b.txt")))
    arguments = ("playbook", "run", str(path), f"--client={client}")
    ran = stage.follow(arguments, decide="approve", client=client).ended("completed")
    (entry,) = ran.state["change_log"]
    backups = stage.state / "clients" / client / "backups"
    assert Path(entry["backup_path"]).parent == backups


def test_another_workspace_can_be_named(stage: Stage, tmp_path: Path) -> None:
    other = sample(tmp_path / "other", [("a.txt", "the other\n")])
    stage.place.run("workspace", "add", str(other), "--name", "other", "--toolchains", "none")
    try:
        ran = stage.run(
            reading("look"),
            writing("write", "b.txt"),
            options=("--workspace", "other"),
            decide="approve",
        ).ended("completed")
    finally:
        stage.place.run("workspace", "remove", "other")
    assert Path(ran.events[0]["workdir"]) == other
    assert ran.result("look")["content"] == "the other\n"
    assert (other / "b.txt").read_text(encoding="utf-8") == "new\n"
    assert stage.read("b.txt") == "before\n"


def test_without_a_name_the_workspace_of_the_current_folder_is_meant(
    stage: Stage, tmp_path: Path
) -> None:
    other = sample(tmp_path / "other", [("sub/a.txt", "the other\n")])
    stage.place.run("workspace", "add", str(other), "--name", "other", "--toolchains", "none")
    words = ("playbook", "run", str(stage.file(playbook(reading("look", path="sub/a.txt")))))
    try:
        done = forks.run(*words, "--json", environ=stage.place.environ, cwd=other / "sub")
    finally:
        stage.place.run("workspace", "remove", "other")
    start, *_ = map(json.loads, done.stdout.splitlines())
    assert (done.returncode, start["workdir"]) == (0, str(other))


def test_without_a_name_the_default_workspace_is_meant(stage: Stage) -> None:
    ran = stage.run(reading("look"), options=("--workspace", "shop")).ended("completed")
    assert Path(ran.events[0]["workdir"]) == stage.workspace
