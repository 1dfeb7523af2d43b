"""The same id in two apps is two people, and a group is not the person alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.errors import InputError
from common.model.state import TaskState
from common.signing import SigningKey
from gateway.base.messages import Conversation, Person, SendOutcome
from gateway.store import agents, inbound, members, outbox, outbox_admin, pairings, tasks
from gateway.store.outbox import PROBE_MS
from gateway.store.sqlite import SqliteConnection
from gateway.store.tasks import Task
from tests.gateway_desk import transaction

AT = 1_767_240_000_000
OURS, THEIRS = Person("main", "zhang"), Person("shop", "zhang")
REFUSED = SendOutcome("config", 40001, "invalid", 600.0, "wecom.bad-secret")
SENT = SendOutcome("sent", 0, "ok", 0.0, "wecom.sent")


@pytest.fixture
def conn(tmp_path: Path) -> Iterator[SqliteConnection]:
    with transaction(tmp_path) as conn:
        members.add(conn, OURS, lang="zh", at_ms=AT)
        for name in ("a", "b"):
            key = SigningKey.generate().public
            agents.enrol(conn, name, machine=f"dev-{name}", public_key=key, at_ms=AT)
        yield conn


def _place(person: Person, chat: str = "") -> Conversation:
    return Conversation("wecom_app", person.app, person.user, chat)


def _say(conn: SqliteConnection, text: str, to: Conversation) -> None:
    outbox.put(conn, text, text, to=to, at_ms=AT)


def _due(conn: SqliteConnection, now_ms: int = AT, **held: int) -> list[str]:
    claim = outbox.claim(conn, now_ms=now_ms, limit=8, held=held)
    return sorted(message.text for message in claim.messages)


def test_a_member_of_one_app_is_nobody_in_another(conn: SqliteConnection) -> None:
    assert members.look_up(conn, THEIRS) is None
    with pytest.raises(InputError):
        members.bind(conn, THEIRS, "a", at_ms=AT)
    with pytest.raises(InputError) as unknown:
        pairings.create(conn, "p", secret=b"s", machine="dev-c", person=THEIRS, at_ms=AT)
    assert unknown.value.facts["user"] == "shop:zhang"


def test_each_has_their_own_language_machines_and_counts(conn: SqliteConnection) -> None:
    members.add(conn, THEIRS, lang="en", at_ms=AT)
    members.bind(conn, OURS, "a", at_ms=AT)
    members.bind(conn, THEIRS, "b", at_ms=AT)
    members.choose(conn, THEIRS, "b")
    for person, number in ((OURS, 1), (OURS, 2), (THEIRS, 3)):
        inbound.remember(
            conn,
            person=person,
            created_s=AT // 1000,
            dedupe_key=str(number),
            replay_key=bytes([number]),
            at_ms=AT + 1,
        )
    found = [
        members.requester(conn, person, since_ms=AT, messages=9, queued=9)
        for person in (OURS, THEIRS)
    ]
    told = [
        (one.lang, [agent.machine for agent in one.machines], one.chosen_agent_id, one.messages)
        for one in found
        if one is not None
    ]
    assert told == [("zh", ["dev-a"], None, 2), ("en", ["dev-b"], "b", 1)]
    assert members.by_machine(conn) == {"a": [OURS], "b": [THEIRS]}
    members.remove(conn, OURS, at_ms=AT)
    assert members.look_up(conn, THEIRS) == members.Speech("en")
    assert members.serves(conn, THEIRS, "b")


def test_the_same_message_of_two_apps_is_two_messages(conn: SqliteConnection) -> None:
    facts = {"created_s": AT // 1000, "dedupe_key": "k", "replay_key": b"r", "at_ms": AT}
    assert inbound.remember(conn, person=OURS, **facts)  # type: ignore[arg-type]
    assert inbound.remember(conn, person=THEIRS, **facts)  # type: ignore[arg-type]
    assert not inbound.remember(conn, person=THEIRS, **facts)  # type: ignore[arg-type]


def test_tasks_are_found_by_their_own_member_alone(conn: SqliteConnection) -> None:
    where = ("a", "shop", "zhang", "wr1", "wecom_app")
    task = Task("t-1", "T-0001", *where, "x", "zh", TaskState.RECEIVED, "f", AT, AT, AT)
    tasks.create(conn, task)
    assert tasks.named(conn, OURS, "T-0001") == []
    assert tasks.open_of(conn, OURS, limit=9) == []
    (found,) = tasks.named(conn, THEIRS, "T-0001")
    assert found.conversation == _place(THEIRS, "wr1")


def test_a_group_and_the_person_alone_have_their_own_order(conn: SqliteConnection) -> None:
    for text, to in (
        ("alone 1", _place(OURS)),
        ("alone 2", _place(OURS)),
        ("group 1", _place(OURS, "wr1")),
        ("theirs 1", _place(THEIRS)),
    ):
        _say(conn, text, to)
    assert _due(conn) == ["alone 1", "group 1", "theirs 1"]
    members.remove(conn, OURS, at_ms=AT)
    assert conn.one("SELECT state FROM outbox WHERE key = 'alone 2'")["state"] == "dropped"  # type: ignore[index]
    _say(conn, "theirs 2", _place(THEIRS))
    conn.run("UPDATE outbox SET state = 'queued' WHERE key = 'theirs 1'")
    outbox.recover(conn)
    assert conn.one("SELECT state FROM outbox WHERE key = 'theirs 2'")["state"] == "queued"  # type: ignore[index]


def test_an_app_that_is_held_sends_one_to_see_and_holds_nobody_else(
    conn: SqliteConnection,
) -> None:
    for number in range(3):
        _say(conn, f"ours {number}", _place(Person("main", f"u{number}")))
        _say(conn, f"theirs {number}", _place(Person("shop", f"u{number}")))
    assert _due(conn, main=AT + 5000) == ["theirs 0", "theirs 1", "theirs 2"]
    assert _due(conn, AT + 4000, main=AT + 5000) == []
    assert _due(conn, AT + 5000, main=AT + 5000) == ["ours 0"], "one, to see"
    assert _due(conn, AT + 6000, main=AT + 5000) == []
    outbox.release(conn, "main", now_ms=AT + 7000)
    assert _due(conn, AT + 7000) == ["ours 1", "ours 2"]
    assert PROBE_MS > 10_000, "a try may take ten seconds"


@pytest.mark.parametrize("mended", ["released", "restarted"])
def test_what_was_tried_while_an_app_was_held_is_due_once_it_is_not(
    conn: SqliteConnection, mended: str
) -> None:
    for number in range(2):
        _say(conn, f"ours {number}", _place(OURS))
        _say(conn, f"theirs {number}", _place(THEIRS))
    for message in outbox.claim(conn, now_ms=AT, limit=8).messages:
        outbox.put_back(conn, message.id, REFUSED, due_at=AT + 600_000, counted=False)
    assert _due(conn, AT + 5000, main=AT + 600_000, shop=AT + 600_000) == []
    if mended == "released":
        outbox.release(conn, "main", now_ms=AT + 7000)
        assert _due(conn, AT + 7000, shop=AT + 600_000) == ["ours 0"]
    else:
        outbox.recover(conn)
        assert _due(conn, AT + 7000) == ["ours 0", "theirs 0"]


def test_what_could_not_be_sent_can_be_sent_again_or_taken_back(conn: SqliteConnection) -> None:
    gone = SendOutcome("permanent", 81013, "all invalid", 0.0, "wecom.refused")
    for text in ("one", "two"):
        _say(conn, text, _place(OURS))
    (first,) = outbox.claim(conn, now_ms=AT, limit=8).messages
    assert not outbox_admin.retry(conn, first.id, at_ms=AT), "it is being sent"
    outbox.end(conn, first.id, "failed", gone, at_ms=AT)
    listed = outbox_admin.listed(conn, limit=9)
    assert [(one.state, one.errcode, one.errmsg) for one in listed] == [
        ("failed", 81013, "all invalid"),
        ("queued", None, None),
    ]
    assert outbox_admin.retry(conn, first.id, at_ms=AT + 1)
    assert outbox_admin.take_back(conn, listed[1].id, at_ms=AT + 1)
    assert not outbox_admin.take_back(conn, listed[1].id, at_ms=AT + 1)
    assert _due(conn, AT + 1) == ["one"]


PLACES = [
    Conversation("wecom_app", app, user, chat)
    for app in ("main", "shop")
    for user in ("zhang", "li")
    for chat in ("", "wr1")
]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["say", "send"]), st.sampled_from(PLACES)), max_size=40))
def test_whatever_happens_each_conversation_is_in_order_and_holds_up_no_other(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, Conversation]]
) -> None:
    with transaction(tmp_path_factory.mktemp("s")) as conn:
        waiting: dict[Conversation, list[str]] = {}
        on_way: dict[Conversation, tuple[int, str]] = {}
        for number, (what, place) in enumerate(steps):
            if what == "say":
                _say(conn, str(number), place)
                waiting.setdefault(place, []).append(str(number))
            elif place in on_way:
                outbox.end(conn, on_way.pop(place)[0], "sent", SENT, at_ms=AT)
            else:
                for message in outbox.claim(conn, now_ms=AT, limit=99).messages:
                    assert message.to not in on_way
                    assert waiting[message.to].pop(0) == message.text
                    on_way[message.to] = (message.id, message.text)
                assert all(place in on_way for place, texts in waiting.items() if texts)
