"""The audit log on the page: its entries in words, and a check beside the running agent."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from common.audit import entry_body, entry_hash
from common.audit_check import RENEWED
from common.clock import ManualClock
from common.errors import ConfigError
from common.home import Home, find_home
from common.sentences import AUDIT_FAULTS
from local_agent.faces.page.audit import EVENTS, MAX_FACTS, audit_view, verify
from local_agent.link.pairing import key_name, open_keys
from local_agent.store.journal import Journal
from local_agent.views import to_json
from local_agent.views.audit import AuditEntry
from tests.matrix.vocabulary import audit_events
from tests.sealed import (
    AGENT,
    a_peer,
    a_seal,
    answered,
    as_stored,
    decided,
    fresh_journal,
    to_waiting,
)

pytestmark = pytest.mark.heavy


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setattr("common.keystore._chosen_backend", lambda: None)
    found = find_home({"CODEXBRIDGE_HOME": str(tmp_path)})
    open_keys(found).put(key_name(AGENT.public.key_id), AGENT.private_bytes())
    return found


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def journal(places: Home, clock: ManualClock) -> Iterator[Journal]:
    path = fresh_journal(places.state / "journal.db")
    peer = a_peer(clock)
    with closing(Journal(path, clock=clock, key=lambda: AGENT, peer=peer)) as opened:
        yield opened


def newest(journal: Journal) -> AuditEntry:
    return audit_view(journal).entries[0]


def inserted(places: Home, journal: Journal, body: bytes) -> None:
    """Add an entry as another program could, with the right hash and no signature."""
    head = journal.audit.head()
    with closing(sqlite3.connect(places.state / "journal.db")) as db, db:
        db.execute(
            "INSERT INTO audit (seq, prev, body, hash) VALUES (?, ?, ?, ?)",
            (head.seq + 1, head.hash, body, entry_hash(head.hash, body)),
        )


def test_every_event_that_is_noted_has_its_words() -> None:
    noted = {name.removeprefix("audit+") for half, name in audit_events() if half == "agent"}
    assert noted | {RENEWED} == EVENTS.keys()


def test_an_empty_log_has_no_entries(journal: Journal) -> None:
    view = audit_view(journal)
    assert (view.entries, view.before, view.standing.entries) == ((), None, 0)
    json.dumps(to_json(view))


def test_the_newest_entries_come_first_in_pages(journal: Journal) -> None:
    with journal.transaction():
        for number in range(250):
            journal.audit.append("test.event", number=number)
    seen, before, pages = [], None, 0
    while pages == 0 or before is not None:
        view = audit_view(journal, before=before)
        seen += [entry.seq for entry in view.entries]
        before, pages = view.before, pages + 1
    assert seen == [*range(250, 0, -1)]
    assert pages == 3
    assert audit_view(journal, before=0).entries == audit_view(journal, before=-(10**30)).entries
    assert audit_view(journal, before=10**30).entries[0].seq == 250


def test_where_the_log_stands_is_told_with_it(journal: Journal, clock: ManualClock) -> None:
    to_waiting(journal)
    answered(journal, clock, 1)
    standing = audit_view(journal).standing
    assert standing.entries == journal.audit.head().seq
    assert 0 < standing.gateway_keeps < standing.entries
    assert standing.forked_at is None


def test_an_entry_names_its_tasks(journal: Journal, clock: ManualClock) -> None:
    task_id = to_waiting(journal)
    short_id = journal.tasks.get(task_id).short_id
    entry = newest(journal)
    assert (entry.event, entry.tasks) == ("task.accepted", (short_id,))
    facts = {fact.name: fact.value for fact in entry.facts}
    assert facts["task_id"] == task_id
    assert "retry_of" not in facts  # it has no value
    stored = as_stored(a_seal(clock, task_id=task_id))
    journal.approvals.add(stored)
    assert decided(journal, stored, clock.now().wall_ms)
    entry = newest(journal)
    assert (entry.event, entry.tasks) == ("approval.approved", (short_id,))
    journal.audit.append("approval.expired", approval_id="nobody's")
    assert newest(journal).tasks == ()


def test_facts_are_text_with_nothing_hidden(journal: Journal) -> None:
    journal.audit.append("test.event", said="a\u202eb\nc\x1b[2J", done=True, count=7, none=None)
    entry = newest(journal)
    assert {fact.name: fact.value for fact in entry.facts} == {
        "count": "7",
        "done": "true",
        "said": "a⟨U+202E⟩b⟨U+000A⟩c⟨U+001B⟩[2J",
    }
    assert entry.left == 0


def test_facts_are_bounded(journal: Journal) -> None:
    journal.audit.append("test.event", **{f"file_{at:03}": "x" * 900 for at in range(16)})
    values = [fact.value for fact in newest(journal).facts]
    assert {len(value.encode()) for value in values} == {400}
    journal.audit.append("test.event", **{f"file_{at:03}": at for at in range(MAX_FACTS + 5)})
    entry = newest(journal)
    assert (len(entry.facts), entry.left) == (MAX_FACTS, 5)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff\x00",
        b"[]",
        b'{"event":1,"at":1,"facts":{}}',
        b'{"event":"a","at":true,"facts":{}}',
        b'{"event":"a","at":1,"facts":[]}',
        b'{"event":"a","at":1,"facts":{},"more":1}',
        b"[" * 10_000,
        b'{"at":1,"event":"' + b"x" * 20_000 + b'","facts":{}}',
    ],
)
def test_what_is_no_entry_is_told_as_such(places: Home, journal: Journal, body: bytes) -> None:
    inserted(places, journal, body)
    entry = newest(journal)
    assert (entry.seq, entry.event, entry.facts) == (1, "", ())


def test_facts_that_somebody_put_there_are_shown_as_they_are(
    places: Home, journal: Journal
) -> None:
    inserted(places, journal, b'{"at":1,"event":"a\\u202eb","facts":{"task_id":{"a":1},"l":["x"]}}')
    entry = newest(journal)
    assert entry.event == "a⟨U+202E⟩b"
    assert [fact.value for fact in entry.facts] == ["{'a': 1}", "['x']"]


def test_a_whole_log_verifies_while_the_agent_runs(
    places: Home, journal: Journal, clock: ManualClock
) -> None:
    to_waiting(journal)
    answered(journal, clock, 1)
    found = verify(places)
    assert (found.ok, found.broken_at, found.what, found.renewed) == (True, None, None, None)
    assert found.entries == found.signed_to == journal.audit.head().seq
    assert found.gateway_keeps == journal.heads.standing().gateway_keeps > 0
    json.dumps(to_json(found))


def test_the_first_entry_that_does_not_hold_is_named(places: Home, journal: Journal) -> None:
    for number in range(5):
        journal.audit.append("test.event", number=number)
    with closing(sqlite3.connect(places.state / "journal.db")) as db, db:
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
            db.execute(f"DROP TRIGGER {name}")
        changed = entry_body("test.event", 1, {"number": 99})
        db.execute("UPDATE audit SET body = ? WHERE seq = 3", (changed,))
    found = verify(places)
    assert (found.ok, found.entries, found.broken_at, found.what) == (False, 0, 3, "changed")
    assert found.what in AUDIT_FAULTS


def test_an_entry_that_nobody_signed_is_found(places: Home, journal: Journal) -> None:
    journal.audit.append("test.event")
    inserted(places, journal, entry_body("test.event", 1, {}))
    assert verify(places).what == "unsigned"


def test_without_a_log_there_is_nothing_to_verify(places: Home) -> None:
    with pytest.raises(ConfigError) as caught:
        verify(places)
    assert caught.value.code == "audit.none"
