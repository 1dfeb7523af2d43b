"""Keys are rotated while real processes talk, and while one of them is away (P3)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.place import Place, sample, wait_until

FILES = (("test_shop.py", "def test_total():\n    assert 1 + 1 == 2\n"),)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place.at(tmp_path / "home")
    made.start_all(sample(tmp_path / "shop", FILES), "true")
    try:
        yield made
    finally:
        made.stop()


def keys_at_the_gateway(place: Place) -> set[str]:
    """Return the names of its key files."""
    return {path.name for path in place.root.glob("**/gateway-key*.key")}


def machine(place: Place) -> dict[str, Any]:
    """Return what the gateway has on record of the one machine."""
    (store,) = place.root.glob("**/gateway.db")
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as driver:
        driver.row_factory = sqlite3.Row
        return dict(driver.execute("SELECT * FROM agents WHERE revoked_at IS NULL").fetchone())


def took_over(place: Place) -> bool:
    """Tell whether the machine pins the key that signs for it."""
    found = machine(place)
    return bool(found["pinned_key_id"] == found["sealing_key_id"])


def does_work(place: Place) -> None:
    """Ask for a test run in the chat, approve it at the machine, and hear of its end."""
    said = len(place.chat())
    assert place.callback("@dev test") == 200
    task = place.waiting()
    place.approve(task["short_id"])
    assert place.final(task["short_id"])["reason"] == "completed"
    wait_until(lambda: any(task["short_id"] in text for text in place.chat()[said:]))


@pytest.mark.thorough
@pytest.mark.requirement("P3")
def test_the_gateways_key_is_rotated_while_the_machine_is_connected(place: Place) -> None:
    assert place.callback("@dev test") == 200
    before = place.waiting()  # brought under the old key, and still of use under the new
    assert "1" in place.admin("rotate")
    wait_until(lambda: took_over(place) and place.status().get("connected"))
    place.approve(before["short_id"])
    assert place.final(before["short_id"])["reason"] == "completed"
    does_work(place)
    # Nobody needs the old key any more; upkeep drops it by itself.
    wait_until(lambda: keys_at_the_gateway(place) == {"gateway-key-2.key"}, seconds=40)


@pytest.mark.requirement("P3")
def test_the_gateways_key_is_rotated_while_the_machine_is_away(place: Place) -> None:
    place.kill("agent")
    wait_until(lambda: machine(place)["connected_at"] is None)
    place.admin("rotate")
    assert place.callback("@dev test") == 200  # signed with the new key, queued behind it
    place.start_agent()
    task = place.waiting()
    assert took_over(place)
    place.approve(task["short_id"])
    assert place.final(task["short_id"])["reason"] == "completed"


@pytest.mark.requirement("P3")
def test_a_task_of_the_old_key_is_cancelled_under_the_new(place: Place) -> None:
    assert place.callback("@dev test") == 200
    task = place.waiting()
    place.admin("rotate")
    wait_until(lambda: took_over(place) and place.status().get("connected"))
    assert place.callback(f"@dev cancel {task['short_id']}") == 200
    assert place.final(task["short_id"])["reason"] == "cancelled"


@pytest.mark.requirement("P3")
def test_the_machines_key_is_rotated_while_it_is_connected(place: Place) -> None:
    old = machine(place)
    (former,) = place.root.glob("**/agent-*.key")
    stolen = former.read_bytes()
    said = place.run("rotate").stdout
    wait_until(lambda: machine(place)["key_id"] != old["key_id"])
    assert machine(place)["key_id"] in said
    wait_until(lambda: place.status().get("connected") and not former.exists())
    does_work(place)
    assert place.run("rotate", check=False).returncode == 1  # only just now
    # The old key opens nothing any more: whoever kept a copy of it is refused.
    place.kill("agent")
    with closing(sqlite3.connect(next(place.root.glob("**/journal.db")))) as driver, driver:
        driver.execute("UPDATE peers SET own_key_name = NULL, old_key_name = NULL")
    former.write_bytes(stolen)
    former.chmod(0o600)
    place.start_agent(connected=False)
    wait_until(lambda: place.status()["gateway"]["state"] == "refused")


@pytest.mark.thorough
def test_after_a_compromise_the_old_key_is_dropped_at_once(place: Place) -> None:
    place.admin("rotate", "--now")
    assert keys_at_the_gateway(place) == {"gateway-key-2.key"}
    assert took_over(place)
    wait_until(lambda: place.status().get("connected"))
    place.kill("agent")
    wait_until(lambda: machine(place)["connected_at"] is None)
    assert "dev-1" in place.admin("rotate", "--now")
    assert keys_at_the_gateway(place) == {"gateway-key-3.key"}
    place.start_agent(connected=False)
    wait_until(lambda: place.status()["gateway"]["state"] == "refused")


def test_a_machine_that_is_not_paired_has_no_key_to_rotate(tmp_path: Path) -> None:
    alone = Place.at(tmp_path / "home")
    try:
        alone.start_agent(connected=False)
        refused = alone.run("rotate", check=False)
        assert (refused.returncode, refused.stdout) == (1, "")
    finally:
        alone.stop()
    assert json.dumps(refused.stderr).count("codexbridge") >= 1
