"""One half is away for a while: what the other has for it waits, and arrives in order, once."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from tests import truth
from tests.e2e.place import Place, wait_until
from tests.e2e.test_main_job import runs

pytestmark = [pytest.mark.requirement("P3", "P7")]


def check(place: Place, *asked: str) -> None:
    """Wait until nothing is on its way, then check that both halves and the chat agree."""
    journal, gateway = (next(place.root.rglob(name)) for name in ("journal.db", "gateway.db"))
    wait_until(lambda: truth.is_idle(journal, gateway))
    truth.assert_true(
        truth.Evidence(
            journals=[journal], gateway=gateway, accepted=asked, chat=list(reversed(place.chat()))
        )
    )


def test_a_result_made_while_the_gateway_is_away_arrives_once_it_is_back(
    running: Place, workspace: Path
) -> None:
    waits = "echo run >> ran.txt; until [ -e go ]; do sleep 0.1; done; echo 1 passed\n"
    (workspace / "count.sh").write_text(waits, encoding="utf-8")
    running.callback("@dev test")
    short_id = running.waiting()["short_id"]
    approver = threading.Thread(target=running.approve, args=(short_id,))
    approver.start()
    wait_until(lambda: runs(workspace) == 1)
    running.kill("gateway")
    (workspace / "go").touch()
    assert running.final(short_id)["reason"] == "completed"
    approver.join(30)
    assert not running.status().get("connected")
    running.start_gateway()
    running.hears(short_id, "✓", "1 passed")
    check(running, "@dev test")
    told = [text for text in running.chat() if short_id in text]
    assert sorted("✓" in text for text in told) == [False, True], "its card, and its end"
    assert sum("completed" in text for text in told) == 1
    assert runs(workspace) == 1


def test_what_was_asked_while_the_machine_was_away_reaches_it_in_order(
    running: Place, workspace: Path
) -> None:
    running.kill("agent")
    wait_until(lambda: "agent.gone" in running.log("gateway"))
    asked = [f'@dev test --cmd="sh count.sh {number}"' for number in range(3)]
    assert [running.callback(text) for text in asked] == [200] * 3
    running.kill("gateway")
    running.start_gateway()
    running.start_agent()

    def delivered() -> list[str]:
        found = [task for task in running.tasks() if task["state"] == "WAITING_APPROVAL"]
        return [task["short_id"] for task in found] if len(found) == len(asked) else []

    theirs = wait_until(delivered)
    assert theirs == [task["short_id"] for task in running.gateway_tasks()]
    assert runs(workspace) == 0, "nothing runs without an approval"
    for short_id in theirs:
        running.approve(short_id)
    for short_id in theirs:
        running.hears(f"{short_id} ✓")
    check(running, *asked)
    assert runs(workspace) == 3


@pytest.mark.thorough
@pytest.mark.timeout(240)
def test_a_machine_that_falls_asleep_with_tasks_on_their_way_is_told_of_once(
    running: Place,
) -> None:
    agent = running.processes["agent"].pid
    os.kill(agent, signal.SIGSTOP)
    try:
        asked = ["@dev search alpha", "@dev search beta"]
        assert [running.callback(text) for text in asked] == [200, 200]
        ids = [task["short_id"] for task in reversed(running.gateway_tasks())]
        running.hears(f"{ids[0]} sent to dev-1")
        # The link is dead after 40 s; a machine that is soon back is not missed.
        said = running.hears("dev-1 has been offline since", seconds=150)
        assert f"not received {', '.join(ids)} yet: kept until " in said
        assert "@dev cancel ID" in said
        running.kill("gateway")
        running.start_gateway()
    finally:
        os.kill(agent, signal.SIGCONT)
    for short_id in ids:
        running.hears(f"{short_id} “", seconds=90)
    check(running, *asked)
    assert sum("offline" in text for text in running.chat()) == 1
