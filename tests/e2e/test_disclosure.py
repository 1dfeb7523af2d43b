"""What an answer may tell the chat: bounded, held until released, counted by the day, audited."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Final

import pytest

from tests import model_script as script
from tests.e2e.place import CODE, Place
from tests.e2e.proposing import Shop, exact, http, repository
from tests.model_server import Started, started

ROWS: Final = [f"step_{number:02} = prepare({number})" for number in range(40)]
QUOTED: Final = "It works in steps:\n" + "\n".join(ROWS) + "\nThat is all."
RUN_OF_ROWS: Final = 20  # of a file in a row, at the level ``summary``
FREE: Final = re.compile(r"\d{4}-\d\d-\d\d 00:00")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """A model that tells a whole file."""
    with started(tmp_path_factory.mktemp("service"), then=script.text(QUOTED)) as server:
        yield server


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, service: Started) -> Iterator[Shop]:
    """One installation for all tests here; each asks as a member of its own."""
    folder = tmp_path_factory.mktemp("disclosure")
    workspace = repository(folder / "shop-api", {"steps.py": "\n".join(ROWS) + "\n"})
    place = Place.at(folder / "home")
    try:
        yield Shop(place, workspace, {"chat": http(service, "chat")}).open("chat")
    finally:
        place.stop()


TELLS: Final = """---
name: tells
trigger_keywords: [tell the steps]
steps:
  - {name: read, type: tool, tool: read_file, args: {path: steps.py}}
  - {name: say, type: agent, message_template: "What does this do? {read.result.content}"}
---
"""


def with_playbook(shop: Shop) -> None:
    """Give the machine a playbook whose model tells what a step has read."""
    folder = shop.place.root / "config" / "playbooks"
    folder.mkdir(mode=0o700, exist_ok=True)
    (folder / "tells.md").write_text(TELLS, encoding="utf-8")
    (folder / "tells.md").chmod(0o600)


def let(shop: Shop, **limits: object) -> None:
    """Set what may be told of the workspace, as a person does while the agent runs."""
    words = [word for name, value in limits.items() for word in (f"--{name}", str(value))]
    shop.place.run("workspace", "set", "shop-api", *(word.replace("_", "-") for word in words))


@pytest.mark.requirement("R53")
def test_a_file_that_an_answer_tells_is_cut_for_the_chat_and_whole_at_the_machine(
    shop: Shop,
) -> None:
    shop.join("reads-a-summary")
    let(shop, disclosure="summary")
    task = shop.answered("@dev why does steps.py prepare so often?")
    told = shop.ending(task["short_id"], user=shop.user)
    assert sum(row in told for row in ROWS) <= RUN_OF_ROWS
    assert "lines withheld; see them at the machine" in told
    assert all(row in shop.shown_text(task["short_id"]) for row in ROWS)


@pytest.mark.requirement("R53")
def test_at_the_level_full_the_chat_is_told_all_of_it(shop: Shop) -> None:
    shop.join("reads-all")
    let(shop, disclosure="full")
    task = shop.answered("@dev why does steps.py prepare so often, row by row?")
    told = shop.ending(task["short_id"], user=shop.user)
    assert QUOTED in told
    assert "✓" not in told


@pytest.mark.requirement("P1")
@pytest.mark.requirement("R53")
def test_at_the_level_ask_nothing_is_told_before_a_person_lets_it_go(shop: Shop) -> None:
    shop.join("waits-to-read")
    let(shop, disclosure="ask")
    before = exact(shop.workspace)
    short_id = shop.ask("@dev why does steps.py prepare so often, and who asks for it?")
    told = shop.hears(short_id, "waiting for local approval on dev-1")
    code = CODE.search(told)
    assert not [row for row in ROWS if row in shop.chat]
    shown = shop.place.approve(short_id)
    assert code
    assert code[0] in shown
    assert all(row in shown for row in ROWS), "all of it is shown before it is let go"
    assert shop.place.final(short_id)["reason"] == "completed"
    told = shop.ending(short_id, user=shop.user)
    assert QUOTED in told
    assert "✓" not in told

    kept = shop.ask("@dev why does steps.py prepare so often, once more?")
    shop.place.run("reject", kept)
    assert shop.place.final(kept)["reason"] == "rejected"
    assert not [row for row in ROWS if row in shop.ending(kept, user=shop.user)]
    assert exact(shop.workspace) == before


@pytest.mark.requirement("R53")
def test_what_a_playbook_tells_is_bounded_and_counted_as_an_answer_is(shop: Shop) -> None:
    with_playbook(shop)
    shop.join("runs-a-playbook")
    let(shop, disclosure="summary", daily_reads=2)
    task = shop.answered("@dev please tell the steps for me")
    told = shop.ending(task["short_id"], user=shop.user)
    assert "Playbook tells completed: 2 steps." in told
    assert sum(row in told for row in ROWS) <= RUN_OF_ROWS
    assert "lines withheld; see them at the machine" in told
    assert all(row in shop.shown_text(task["short_id"]) for row in ROWS)
    assert shop.answered("@dev playbook")["reason"] == "completed", "a list is no read"
    assert shop.answered("@dev playbook tells second")["reason"] == "completed"
    assert shop.answered("@dev playbook tells third")["reason"] == "refused"
    let(shop, daily_reads=50)


@pytest.mark.requirement("P1")
@pytest.mark.requirement("R53")
def test_at_the_level_ask_what_a_playbook_tells_waits_for_a_release(shop: Shop) -> None:
    with_playbook(shop)
    shop.join("runs-and-waits")
    let(shop, disclosure="ask")
    short_id = shop.ask("@dev playbook tells held")
    assert not [row for row in ROWS if row in shop.chat]
    shop.place.approve(short_id)
    assert shop.place.final(short_id)["reason"] == "completed"
    assert QUOTED in shop.ending(short_id, user=shop.user)
    (shop.workspace / "steps.py").rename(shop.workspace / "moved.py")
    try:
        failed = shop.answered("@dev playbook tells nothing")
    finally:
        (shop.workspace / "moved.py").rename(shop.workspace / "steps.py")
    told = shop.ending(failed["short_id"], user=shop.user)
    assert "step 1 of 2 (read): the reason is shown at the machine" in told
    assert "There is no steps.py" in shop.shown_text(failed["short_id"])


@pytest.mark.requirement("R53")
def test_who_has_used_up_a_day_is_told_when_to_ask_again(shop: Shop, service: Started) -> None:
    shop.join("reads-too-much")
    let(shop, disclosure="summary", daily_reads=1)
    assert shop.answered("@dev why does steps.py prepare (first)?")["reason"] == "completed"
    asked = service.sent_to_it.count("steps.py prepare (")
    task = shop.answered("@dev why does steps.py prepare (second)?")
    assert task["reason"] == "refused"
    assert FREE.search(shop.ending(task["short_id"], user=shop.user))
    assert service.sent_to_it.count("steps.py prepare (") == asked, "no model is shown anything"
    let(shop, daily_reads=50)


@pytest.mark.requirement("R53")
@pytest.mark.requirement("P6a")
def test_the_audit_log_has_every_read_with_its_files_and_its_level(shop: Shop) -> None:
    shop.join("is-audited")
    let(shop, disclosure="summary")
    task = shop.answered("@dev why does steps.py prepare (audited)?")
    lines = shop.place.run("audit", "export").stdout.splitlines()
    entries = [json.loads(json.loads(line)["body"]) for line in lines if task["task_id"] in line]
    read, answered = (
        [entry["facts"] for entry in entries if entry["event"] == f"disclosure.{event}"]
        for event in ("read", "answered")
    )
    assert len(read) == len(answered) == 1
    for facts in (*read, *answered):
        assert (facts["level"], facts["files"]) == ("summary", 1)
        assert facts["file_000"].endswith(" steps.py")
    told = shop.ending(task["short_id"], user=shop.user)
    assert answered[0]["answer_sha256"] == hashlib.sha256(task["summary"].encode()).hexdigest()
    assert task["summary"] in told
    assert not [row for row in ROWS if row in "".join(lines)], "names and hashes, never content"
    shop.place.run("audit", "verify")
