"""Store functions of members, agents and pairings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from common.errors import InputError, StateError, StoreError
from common.signing import SigningKey
from gateway.base.messages import Person
from gateway.store import agents, audit, members, outbox, pairings
from gateway.store.sqlite import SqliteConnection
from tests.gateway_desk import transaction
from tests.people import alone, someone

AT = 1_767_240_000_000
MINUTE = 60_000
KEY = SigningKey.generate().public
OTHER = SigningKey.generate().public


@pytest.fixture
def conn(tmp_path: Path) -> Iterator[SqliteConnection]:
    with transaction(tmp_path) as conn:
        members.add(conn, someone("zhang"), lang="zh", at_ms=AT)
        yield conn


def _enrolled(conn: SqliteConnection) -> None:
    agents.enrol(conn, "a", machine="dev-1", public_key=KEY, at_ms=AT)
    members.bind(conn, someone("zhang"), "a", at_ms=AT)


def _pairing(conn: SqliteConnection, name: str = "aa11") -> None:
    pairings.create(
        conn, name, secret=b"s" * 16, machine="dev-1", person=someone("zhang"), at_ms=AT
    )


def _secret(conn: SqliteConnection, at_ms: int) -> bytes | None:
    found = pairings.find(conn, "aa11")
    assert found is not None
    return found.usable_secret(at_ms)


def test_a_member_is_added_once_and_keeps_their_language(conn: SqliteConnection) -> None:
    assert not members.add(conn, someone("zhang"), lang=None, at_ms=AT + 1)
    assert members.look_up(conn, someone("zhang")) == members.Speech("zh")
    assert not members.add(conn, someone("zhang"), lang="en", at_ms=AT + 2)
    assert members.everyone(conn) == [members.Member("main", "zhang", "en", "member", AT, ())]


def test_a_role_is_kept_until_another_is_given(conn: SqliteConnection) -> None:
    zhang = someone("zhang")
    assert members.change(conn, zhang, role="admin", at_ms=AT)
    assert not members.add(conn, zhang, lang="en", at_ms=AT)
    assert members.admins(conn) == [zhang]
    assert [(one.role, one.lang) for one in members.everyone(conn)] == [("admin", "en")]
    assert not members.add(conn, zhang, lang=None, role="member", at_ms=AT)
    assert members.admins(conn) == []
    assert not members.change(conn, someone("li"), role="admin", at_ms=AT)
    assert members.count(conn) == 1
    events = [event for event, _ in audit.newest_events(conn)]
    assert events == ["member.added", "member.added", "member.changed", "member.added"]


def test_a_group_is_kept_until_another_is_given_and_is_of_its_app(conn: SqliteConnection) -> None:
    zhang, theirs = someone("zhang"), Person("shop", "zhang")
    members.add(conn, theirs, lang=None, group="interns", at_ms=AT)
    members.add(conn, zhang, lang=None, group="interns", at_ms=AT)
    members.change(conn, zhang, role="approver", at_ms=AT)
    assert members.of_group(conn, "main", "interns") == [zhang]
    assert members.of_group(conn, "shop", "interns") == [theirs]
    assert [(one.role, one.group) for one in members.everyone(conn)] == [
        ("approver", "interns"),
        ("member", "interns"),
    ]
    members.change(conn, zhang, group="-", at_ms=AT)
    assert members.of_group(conn, "main", "interns") == []
    for name in ("", "Interns", "1st", "a" * 33, "@a"):
        with pytest.raises(InputError) as caught:
            members.change(conn, zhang, group=name, at_ms=AT)
        assert caught.value.code == "member.invalid-group"


def test_whoever_was_removed_comes_back_without_their_role(conn: SqliteConnection) -> None:
    members.change(conn, someone("zhang"), role="admin", at_ms=AT)
    members.remove(conn, someone("zhang"), at_ms=AT)
    members.add(conn, someone("zhang"), lang=None, at_ms=AT)
    assert members.admins(conn) == []


def test_approvers_of_a_machine_are_those_of_the_app_but_who_asked(conn: SqliteConnection) -> None:
    _enrolled(conn)
    for user in ("li", "wang", "far"):
        members.add(conn, someone(user), lang="en", role="approver", at_ms=AT)
    for user in ("li", "wang"):
        members.bind(conn, someone(user), "a", at_ms=AT)
    assert members.approvers(conn, "a", beside=someone("zhang")) == [
        (someone("li"), "en"),
        (someone("wang"), "en"),
    ]
    assert members.approvers(conn, "a", beside=someone("li")) == [(someone("wang"), "en")]
    assert members.approvers(conn, "a", beside=Person("shop", "zhang")) == []


def test_a_member_is_known_exactly_as_written(conn: SqliteConnection) -> None:
    assert members.look_up(conn, someone("Zhang")) is None


@pytest.mark.parametrize("name", ["", "two words", "tab\there", "hid\u200bden", "x" * 129])
def test_a_name_that_nobody_can_have_is_refused(conn: SqliteConnection, name: str) -> None:
    with pytest.raises(InputError) as caught:
        members.add(conn, someone(name), lang=None, at_ms=AT)
    assert caught.value.code == "member.invalid"


def test_a_removed_member_keeps_neither_machine_nor_unsent_replies(conn: SqliteConnection) -> None:
    _enrolled(conn)
    outbox.put(conn, "k", "secret news", to=alone("zhang"), at_ms=AT)
    assert members.remove(conn, someone("zhang"), at_ms=AT)
    assert not members.remove(conn, someone("zhang"), at_ms=AT)
    assert members.by_machine(conn) == {}
    assert outbox.claim(conn, now_ms=AT, limit=5).messages == ()
    assert members.count(conn) == 0


def test_a_machine_works_only_for_members(conn: SqliteConnection) -> None:
    _enrolled(conn)
    with pytest.raises(InputError) as caught:
        members.bind(conn, someone("stranger"), "a", at_ms=AT)
    assert caught.value.code == "member.unknown"
    assert [member.machines for member in members.everyone(conn)] == [("dev-1",)]


@pytest.mark.requirement("R11")
def test_a_claimed_machine_or_key_is_not_enrolled_again(conn: SqliteConnection) -> None:
    _enrolled(conn)
    for agent_id, machine, key in (("b", "dev-1", OTHER), ("b", "dev-2", KEY), ("a", "x", OTHER)):
        with pytest.raises(StateError) as caught:
            agents.enrol(conn, agent_id, machine=machine, public_key=key, at_ms=AT)
        assert caught.value.code == "machine.claimed"
    found = agents.of_machine(conn, "dev-1")
    assert found is not None
    assert found.public_key == KEY.raw


def test_each_connection_raises_the_epoch_and_only_the_newest_one_ends_it(
    conn: SqliteConnection,
) -> None:
    _enrolled(conn)
    first, second = (agents.connect(conn, "a", at_ms=AT + n) for n in (1, 2))
    assert first is not None
    assert second is not None
    assert (first.epoch, second.epoch, second.online) == (1, 2, True)
    assert not agents.disconnect(conn, "a", epoch=1, at_ms=AT + 3)
    assert agents.disconnect(conn, "a", epoch=2, at_ms=AT + 4)
    found = agents.find(conn, "a")
    assert found is not None
    assert (found.online, found.last_seen_at) == (False, AT + 4)


def test_after_a_crash_nobody_counts_as_connected(conn: SqliteConnection) -> None:
    _enrolled(conn)
    agents.connect(conn, "a", at_ms=AT)
    assert agents.disconnect_all(conn, at_ms=AT + 9) == 1
    found = agents.find(conn, "a")
    assert found is not None
    assert (found.online, found.last_seen_at) == (False, AT + 9)


def test_a_revoked_machine_cannot_connect_and_its_name_is_free(conn: SqliteConnection) -> None:
    _enrolled(conn)
    agents.connect(conn, "a", at_ms=AT)
    assert agents.revoke(conn, "dev-1", at_ms=AT) == "a"
    assert agents.revoke(conn, "dev-1", at_ms=AT) is None
    assert agents.connect(conn, "a", at_ms=AT) is None
    assert agents.revoked_online(conn) == ["a"]
    assert members.by_machine(conn) == {}
    agents.enrol(conn, "b", machine="dev-1", public_key=OTHER, at_ms=AT)
    assert [agent.agent_id for agent in agents.everyone(conn)] == ["a", "b"]


@pytest.mark.requirement("R17")
def test_what_an_agent_sends_is_counted_without_a_gap(conn: SqliteConnection) -> None:
    _enrolled(conn)
    agents.connect(conn, "a", at_ms=AT)

    def advance(seq: int, epoch: int = 1) -> str:
        return agents.advance(conn, "a", epoch=epoch, seq=seq, at_ms=AT)

    assert [advance(1), advance(2), advance(2), advance(1)] == [
        "new",
        "new",
        "duplicate",
        "duplicate",
    ]
    assert advance(3, epoch=0) == "stale"
    with pytest.raises(StoreError) as caught:
        advance(4)
    assert caught.value.code == "store.sequence-gap"


def test_a_number_for_an_agent_that_is_not_there_is_an_error(conn: SqliteConnection) -> None:
    with pytest.raises(StoreError) as caught:
        agents.next_turn(conn, "nobody")
    assert caught.value.code == "store.no-agent"


@pytest.mark.requirement("R9")
def test_a_pairing_code_lives_ten_minutes(conn: SqliteConnection) -> None:
    _pairing(conn)
    assert _secret(conn, AT + 10 * MINUTE - 1) is not None
    assert _secret(conn, AT + 10 * MINUTE) is None
    with pytest.raises(StateError) as caught:
        pairings.complete(conn, "aa11", agent_id="a", public_key=KEY, at_ms=AT + 10 * MINUTE)
    assert caught.value.code == "pairing.over"
    assert pairings.wipe_expired(conn, at_ms=AT + 10 * MINUTE) == 1
    found = pairings.find(conn, "aa11")
    assert found is not None
    assert found.secret is None


@pytest.mark.requirement("R9")
def test_a_pairing_code_is_used_once(conn: SqliteConnection) -> None:
    _pairing(conn)
    used = pairings.complete(conn, "aa11", agent_id="a", public_key=KEY, at_ms=AT + 1)
    assert used.machine == "dev-1"
    assert members.by_machine(conn) == {"a": [someone("zhang")]}
    found = pairings.find(conn, "aa11")
    assert found is not None
    assert (found.agent_id, found.secret) == ("a", None)
    assert _secret(conn, AT + 2) is None
    with pytest.raises(StateError):
        pairings.complete(conn, "aa11", agent_id="b", public_key=OTHER, at_ms=AT + 2)
    assert agents.find(conn, "b") is None


@pytest.mark.requirement("R9")
def test_the_tenth_wrong_try_voids_a_pairing_code(conn: SqliteConnection) -> None:
    _pairing(conn)
    for _ in range(9):
        pairings.count_wrong_try(conn, "aa11", at_ms=AT)
    assert _secret(conn, AT) is not None
    pairings.count_wrong_try(conn, "aa11", at_ms=AT)
    assert _secret(conn, AT) is None
    pairings.count_wrong_try(conn, "unknown", at_ms=AT)
    assert pairings.find(conn, "unknown") is None


@pytest.mark.requirement("R9")
def test_a_try_at_no_code_changes_one_row_as_a_wrong_proof_does(conn: SqliteConnection) -> None:
    _pairing(conn)
    pairings.count_wrong_try(conn, "unknown", at_ms=AT)  # the very first makes the row
    statements: list[str] = []
    conn.driver.set_trace_callback(statements.append)
    done = []
    for name in ("aa11", "unknown", "x" * 1000):
        before = conn.driver.total_changes
        pairings.count_wrong_try(conn, name, at_ms=AT)
        done.append((conn.driver.total_changes - before, len(statements)))
        statements.clear()
    conn.driver.set_trace_callback(None)
    assert done == [(1, 1)] * 3
    nobody = pairings.find(conn, pairings.NOBODY)
    assert nobody is not None
    assert (nobody.secret, nobody.wrong_tries) == (None, 2)
    assert pairings.purge(conn, before_ms=AT + 100 * MINUTE) == 1, "the code, never that row"
    with pytest.raises(StateError):
        pairings.complete(conn, pairings.NOBODY, agent_id="a", public_key=KEY, at_ms=AT)


@pytest.mark.parametrize("name", ["", "-dev", "Dev", "dev_1", "x" * 33, "dev\n"])
def test_a_machine_has_a_plain_name(conn: SqliteConnection, name: str) -> None:
    with pytest.raises(InputError) as caught:
        pairings.create(conn, "aa11", secret=b"s", machine=name, person=someone("zhang"), at_ms=AT)
    assert caught.value.code == "machine.invalid-name"


def test_a_code_is_made_for_a_member_and_a_free_name_only(conn: SqliteConnection) -> None:
    with pytest.raises(InputError) as unknown:
        pairings.create(conn, "aa11", secret=b"s", machine="dev-1", person=someone("li"), at_ms=AT)
    assert unknown.value.code == "member.unknown"
    _enrolled(conn)
    with pytest.raises(StateError) as claimed:
        _pairing(conn)
    assert claimed.value.code == "machine.claimed"


def test_old_pairing_codes_are_forgotten(conn: SqliteConnection) -> None:
    _pairing(conn)
    assert pairings.purge(conn, before_ms=AT + 10 * MINUTE) == 0
    assert pairings.purge(conn, before_ms=AT + 10 * MINUTE + 1) == 1


@pytest.mark.requirement("P6a")
def test_who_was_let_in_is_audited_in_a_chain_that_shows_one_changed_byte(
    conn: SqliteConnection,
) -> None:
    from common.audit import verify_chain
    from common.errors import AuthError

    _pairing(conn)
    pairings.complete(conn, "aa11", agent_id="a", public_key=KEY, at_ms=AT + 1)
    entries = audit.entries(conn)
    events = [b"member.added", b"pairing.opened", b"member.bound", b"agent.enrolled"]
    assert all(event in entry[2] for event, entry in zip(events, entries, strict=True))
    assert verify_chain(entries).seq == 4
    assert b"s" * 16 not in b"".join(entry[2] for entry in entries)
    conn.run(
        "UPDATE audit SET body = :body WHERE seq = 2", body=entries[1][2].replace(b"1", b"2", 1)
    )
    with pytest.raises(AuthError) as caught:
        verify_chain(audit.entries(conn))
    assert caught.value.facts["seq"] == 2
    assert [seq for seq, *_ in audit.entries(conn, after=1, limit=2)] == [2, 3]
