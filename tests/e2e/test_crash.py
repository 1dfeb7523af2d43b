"""Pull the plug: nothing accepted is lost, nothing runs twice."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.place import CODE, Place, wait_until
from tests.e2e.test_main_job import runs


def approval_of(place: Place, short_id: str) -> dict[str, Any]:
    """Return what waits, as ``codexbridge show --json`` tells it."""
    return dict(json.loads(place.run("show", short_id, "--json").stdout)["approval"])


@pytest.mark.requirement("MJ-4")
@pytest.mark.requirement("P3")
@pytest.mark.requirement("R68")
def test_an_agent_killed_while_an_approval_waits_asks_the_same_again(
    running: Place, workspace: Path
) -> None:
    running.callback("@dev test")
    before = running.waiting()
    shown_before = running.run("show", before["short_id"]).stdout
    expiry_before = approval_of(running, before["short_id"])["expires_at"]
    running.kill("agent")
    running.start_agent()
    after = running.waiting()
    shown_after = running.run("show", before["short_id"]).stdout

    code_before, code_after = CODE.search(shown_before), CODE.search(shown_after)
    assert code_before
    assert code_after
    assert code_before[0] == code_after[0], "the same sealed bytes"
    assert before["short_id"] == after["short_id"]
    expiry_after = approval_of(running, before["short_id"])["expires_at"]
    assert expiry_before == expiry_after, "with the time that was left"

    running.approve(after["short_id"])
    assert running.final(after["short_id"])["reason"] == "completed"
    assert runs(workspace) == 1
    running.kill("agent")
    running.start_agent()
    assert running.final(after["short_id"])["reason"] == "completed"
    assert runs(workspace) == 1


@pytest.mark.requirement("MJ-4")
@pytest.mark.requirement("P3")
def test_a_gateway_killed_between_callback_and_delivery_still_delivers_once(
    running: Place, workspace: Path
) -> None:
    running.kill("agent")
    assert running.callback("@dev test") == 200
    running.kill("gateway")
    running.start_gateway()
    running.start_agent()
    short_id = running.waiting()["short_id"]
    assert len(running.tasks()) == 1
    running.kill("gateway")
    running.start_gateway()
    wait_until(lambda: running.status().get("connected"))
    assert len(running.tasks()) == 1
    running.approve(short_id)
    assert running.final(short_id)["reason"] == "completed"
    running.hears(short_id, "1 passed")
    assert runs(workspace) == 1


@pytest.mark.requirement("P3")
def test_an_agent_killed_while_the_command_runs_reports_unknown_and_never_runs_it_again(
    running: Place, workspace: Path
) -> None:
    (workspace / "count.sh").write_text("echo run >> ran.txt; sleep 30\n", encoding="utf-8")
    running.callback("@dev test")
    short_id = running.waiting()["short_id"]
    approver = threading.Thread(target=_approve_and_lose, args=(running, short_id))
    approver.start()
    wait_until(lambda: runs(workspace) == 1)
    running.kill("agent")
    approver.join(30)
    running.start_agent()
    assert running.final(short_id)["reason"] == "unknown"
    running.hears(short_id, "unknown")
    assert runs(workspace) == 1


def _approve_and_lose(running: Place, short_id: str) -> None:
    try:
        running.approve(short_id)
    except AssertionError:
        pass  # the agent was killed under the approver: how it ends is its own matter


@pytest.mark.requirement("MJ-5")
def test_one_message_delivered_four_times_at_once_makes_one_task(running: Place) -> None:
    made = [running.encrypted("@dev test", msg_id="7301") for _ in range(3)]
    made.append(made[0])
    statuses: list[int] = []
    threads = [
        threading.Thread(target=lambda each=each: statuses.append(running.post(each)))
        for each in made
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert statuses == [200] * 4
    running.waiting()
    assert running.post(running.encrypted("@dev test", msg_id="7301")) == 200
    assert len(running.gateway_tasks()) == 1
    assert len(running.tasks()) == 1


@pytest.mark.requirement("P3")
@pytest.mark.requirement("P7")
def test_a_task_for_a_machine_that_is_away_is_queued_and_the_chat_is_told(
    running: Place, workspace: Path
) -> None:
    running.kill("agent")
    wait_until(lambda: "agent.gone" in running.log("gateway"))
    assert running.callback("@dev test") == 200
    (task,) = running.gateway_tasks()
    told = running.hears(task["short_id"], "offline", "waits")
    assert told.count(":") >= 2, "since when, and until when"
    running.start_agent()
    running.approve(running.waiting()["short_id"])
    running.hears(task["short_id"], "1 passed")
    assert runs(workspace) == 1
