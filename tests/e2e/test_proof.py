"""Audit logs and receipts through real processes: countersigned, checked, and proof elsewhere."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.place import COMMAND, Place, wait_until


def verified(place: Place) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what both halves say of their own logs."""
    machine = json.loads(place.run("audit", "verify", "--json").stdout)
    return machine, json.loads(place.admin("audit", "verify", "--json"))


def countersigned(place: Place) -> bool:
    """Tell whether the gateway has signed for the end of the machine's last task."""
    return bool(place.status()["audit"]["gateway_keeps"])


def done(place: Place) -> str:
    """Let a task be asked for, approved and completed; return its short ID."""
    place.callback("@dev test")
    short_id = str(place.waiting()["short_id"])
    place.approve(short_id)
    assert place.final(short_id)["reason"] == "completed"
    return short_id


@pytest.mark.requirement("P6")
@pytest.mark.requirement("R58")
def test_a_receipt_verifies_on_another_machine_without_agent_journal_or_network(
    running: Place, tmp_path: Path
) -> None:
    short_id = done(running)
    wait_until(lambda: countersigned(running))
    key = running.run("receipt", "key").stdout.strip()
    assert running.status()["public_key"] == key
    gateway_key = running.admin("audit", "key").strip()
    receipt = tmp_path / "receipt.json"
    running.run("receipt", short_id, "--output", str(receipt))
    running.stop()

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    def verify(*more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, "receipt", "verify", str(receipt), *more],
            env={"PATH": os.environ["PATH"], "CODEXBRIDGE_HOME": str(elsewhere), "LANG": "C.UTF-8"},
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )

    whole = verify("--key", key, "--gateway-key", gateway_key)
    assert whole.returncode == 0, whole.stdout + whole.stderr
    for word in (short_id, "zhangwei", "dev-1", "approved", "completed", "exit code 0"):
        assert word in whole.stdout
    assert "machine's own word" in whole.stdout
    assert "not checked" in verify("--key", key).stdout
    assert verify("--key", gateway_key).returncode == 1
    assert verify("--key", key, "--gateway-key", key).returncode == 1
    receipt.write_text(receipt.read_text(encoding="utf-8").replace("zhangwei", "zhangwey"), "utf-8")
    assert verify("--key", key).returncode == 1
    assert list(elsewhere.iterdir()) == []


@pytest.mark.requirement("P6")
def test_both_halves_keep_a_head_of_the_other_and_both_logs_hold(running: Place) -> None:
    done(running)
    wait_until(lambda: countersigned(running))
    machine, gateway = verified(running)
    assert machine["ok"]
    assert gateway["ok"]
    (of_gateway,), (of_machine,) = machine["kept"], gateway["kept"]
    assert of_gateway["seq"] <= gateway["head"]["seq"]
    assert of_machine["seq"] == of_gateway["own_seq"] <= machine["head"]["seq"]
    assert "has signed for" in running.run("status").stdout
    assert "The machine dev-1 has" in running.admin("audit", "verify")
    assert "The gateway has signed" in running.run("audit", "verify").stdout


def test_heads_do_not_keep_the_halves_talking(running: Place) -> None:
    done(running)
    wait_until(lambda: countersigned(running))
    before = running.status()["audit"]["entries"]
    running.processes["agent"].terminate()
    running.processes.pop("agent").wait(20)
    running.start_agent()
    # One more start, and nothing to tell but the start itself.
    running.processes["agent"].terminate()
    running.processes.pop("agent").wait(20)
    running.start_agent()
    assert running.status()["audit"]["entries"] <= before + 2


@pytest.mark.requirement("P6")
def test_a_log_cut_or_written_anew_is_found_while_nothing_runs(running: Place) -> None:
    done(running)
    wait_until(lambda: countersigned(running))
    running.stop()
    journal = running.root / "state" / "journal.db"
    with closing(sqlite3.connect(journal)) as db, db:
        db.execute("DROP TRIGGER audit_remains")
        db.execute("DELETE FROM audit WHERE seq = (SELECT max(seq) FROM audit)")
    broken = running.run("audit", "verify", "--json", check=False)
    assert broken.returncode == 1
    assert json.loads(broken.stdout)["broken"]["what"] == "end"
    # Nor does the agent start on it, and sign what is left.
    running.start("agent", "agent")
    assert running.processes.pop("agent").wait(20) == 1
