"""Several machines, revocation, and members who leave: real processes, an independent WeCom."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.place import Place, sample, wait_until


@pytest.fixture
def second(running: Place, tmp_path: Path) -> Iterator[Place]:
    """Another machine of the same member, ``dev-2``, with an agent of its own."""
    root = tmp_path / "home-2"
    root.mkdir()
    other = replace(running, root=root, processes={})
    said = running.admin("pair", "--machine", "dev-2", "--member", "zhangwei")
    code = re.search(r"CB1-[A-Z2-7]{26}", said)
    assert code, said
    other.run("pair", "--gateway", running.base, stdin=code[0] + "\n")
    shop = sample(tmp_path / "shop-web", [("count.sh", "echo run >> ran.txt\necho 2 passed\n")])
    other.run("workspace", "add", str(shop), "--test", "sh count.sh", "--toolchains", "none")
    other.start_agent()
    yield other
    other.stop()


def devices(place: Place) -> dict[str, dict[str, Any]]:
    """Return what ``codexbridge gateway devices --json`` says, by machine."""
    found = json.loads(place.admin("devices", "--json"))
    return {device["machine"]: device for device in found}


@pytest.mark.requirement("P7")
def test_a_member_with_two_machines_says_which_one(running: Place, second: Place) -> None:
    running.callback("@dev test")
    running.hears("dev-1, dev-2", "Not sent")
    assert running.tasks() == second.tasks() == []

    running.callback("@dev on dev-2 test")
    there = second.waiting()
    running.hears(there["short_id"], "waiting for local approval on dev-2")
    assert there["text"] == "@dev test"
    assert running.tasks() == []

    running.callback("@dev use dev-1")
    running.hears("From now on your messages go to dev-1.")
    running.callback("@dev test")
    here = running.waiting()
    assert [task["short_id"] for task in second.tasks()] == [there["short_id"]]

    running.callback("@dev 电脑")
    running.hears("dev-1：在线（已选定）", "dev-2：在线")
    running.callback(f"@dev cancel {there['short_id']}")
    assert second.final(there["short_id"])["reason"] == "cancelled"
    assert not running.waiting()["reason"]
    running.approve(here["short_id"])
    running.hears(here["short_id"], "1 passed")


@pytest.mark.requirement("R14")
@pytest.mark.requirement("P7")
@pytest.mark.thorough
def test_a_revoked_machine_is_gone_with_the_next_sweep_and_members_are_told(
    running: Place,
) -> None:
    running.callback("@dev test")
    short_id = running.waiting()["short_id"]
    running.admin("revoke", "dev-1")
    wait_until(lambda: "code=revoked" in running.log("gateway"))
    assert running.status()["connected"] is False
    assert devices(running) == {}
    running.hears(short_id, "revoked")
    (task,) = running.gateway_tasks()
    assert task["reason"] == "unknown"
    running.callback("@dev test")
    running.hears("No machine works for you")


@pytest.mark.requirement("P3")
@pytest.mark.requirement("P7")
@pytest.mark.thorough
def test_what_was_queued_by_who_may_not_ask_any_more_never_arrives_as_a_task(
    running: Place,
) -> None:
    running.admin("member", "add", "lina")
    running.admin("bind", "dev-1", "lina")
    running.kill("agent")
    wait_until(lambda: not devices(running)["dev-1"]["online"])
    for user in ("zhangwei", "lina"):
        running.callback("@dev test", user=user)
        running.hears("dev-1 has been offline since", "@dev cancel T-", user=user)
    assert devices(running)["dev-1"]["waiting"] >= 2
    running.admin("member", "remove", "zhangwei")
    running.admin("unbind", "dev-1", "lina")
    running.hears("never reached", "dev-1", user="lina")
    assert {task["reason"] for task in running.gateway_tasks()} == {"refused"}

    running.start_agent()
    wait_until(lambda: devices(running)["dev-1"]["waiting"] == 0)
    assert running.tasks() == []
    assert running.chat() == [text for text in running.chat() if "refused" not in text]


@pytest.mark.requirement("P1")
@pytest.mark.requirement("P3")
def test_what_was_queued_offline_waits_for_a_fresh_approval(
    running: Place, workspace: Path
) -> None:
    running.kill("agent")
    wait_until(lambda: not devices(running)["dev-1"]["online"])
    running.callback("@dev test")
    running.hears("dev-1 has been offline since", "expires at")
    running.start_agent()
    short_id = running.waiting()["short_id"]
    assert not (workspace / "ran.txt").exists()
    running.approve(short_id)
    running.hears(short_id, "1 passed")


@pytest.mark.requirement("P7")
def test_cancel_says_what_was_done_at_every_stage(running: Place, workspace: Path) -> None:
    # Waiting for a person.
    running.callback("@dev test")
    waiting = running.waiting()["short_id"]
    running.callback(f"@dev cancel {waiting}")
    running.hears(waiting, "cancelled on dev-1", "Nothing was done")
    assert not (workspace / "ran.txt").exists()

    # Running: ended with all that it started, and what it did by then stays and is said.
    (workspace / "count.sh").write_text(
        "echo half >> ran.txt\necho begun\nsleep 300 & sleep 300\n", encoding="utf-8"
    )
    running.callback("@dev test")
    executing = running.waiting()["short_id"]
    approving = threading.Thread(target=running.approve, args=(executing,))
    approving.start()
    wait_until((workspace / "ran.txt").exists)
    running.callback(f"@dev cancel {executing}")
    running.hears(executing, "cancelled on dev-1", "stays", "begun")
    approving.join(20)
    assert running.final(executing)["reason"] == "cancelled"

    # Over: nothing is left to be done, and how it ended is said.
    running.callback(f"@dev cancel {executing}")
    running.hears(executing, "has ended already", "cancelled")

    # Queued and never sent: taken back at once.
    running.kill("agent")
    wait_until(lambda: not devices(running)["dev-1"]["online"])
    running.callback("@dev test")
    queued = wait_until(
        lambda: next((task for task in running.gateway_tasks() if not task["reason"]), None)
    )
    assert queued
    running.callback(f"@dev cancel {queued['short_id']}")
    running.hears(queued["short_id"], "never reached dev-1")
    running.start_agent()
    wait_until(lambda: devices(running)["dev-1"]["waiting"] == 0)
    assert queued["short_id"] not in [task["short_id"] for task in running.tasks()]


@pytest.mark.requirement("P3")
def test_a_retry_is_a_new_task_with_an_approval_of_its_own(running: Place, workspace: Path) -> None:
    running.callback("@dev test")
    first = running.waiting()["short_id"]
    running.run("cancel", first)
    running.final(first)
    done = running.run("retry", first, "--json")
    again = json.loads(done.stdout)
    assert again["state"] == "WAITING_APPROVAL"
    assert again["text"] == "@dev test"
    assert again["short_id"] != first
    running.approve(again["short_id"])
    assert (workspace / "ran.txt").read_text(encoding="utf-8") == "run\n"
    shown = json.loads(running.run("show", again["short_id"], "--json").stdout)
    assert shown["task"]["retry_of_short_id"] == first
    assert running.run("retry", again["short_id"]).returncode == 0
    assert running.run("retry", running.waiting()["short_id"], check=False).returncode == 1
