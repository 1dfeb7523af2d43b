"""Launch links and sessions of a local page: who may begin one, and how long it lasts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.errors import AuthError
from common.page.sessions import (
    IDLE_MS,
    LASTS_MS,
    LAUNCH_MS,
    MAX_LAUNCHES,
    MAX_SESSIONS,
    SECRET_CHARS,
    Granted,
    Session,
    Sessions,
    has_token,
    read_sessions,
)
from tests.each import each

NOW = 1_760_000_000_000
SHA = "ab" * 32
KEPT = {"cookie_sha256": SHA, "token_sha256": SHA, "since_ms": NOW, "seen_ms": NOW}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def begun(sessions: Sessions, now_ms: int = NOW) -> Granted:
    return sessions.redeem(sessions.new_launch(now_ms), now_ms)


def refused(sessions: Sessions, secret: str, now_ms: int = NOW) -> str:
    with pytest.raises(AuthError) as caught:
        sessions.redeem(secret, now_ms)
    return caught.value.code


def test_a_launch_link_works_once() -> None:
    sessions = Sessions()
    secret = sessions.new_launch(NOW, purpose="#/tasks/T-7K3F")
    assert sessions.redeem(secret, NOW).purpose == "#/tasks/T-7K3F"
    assert refused(sessions, secret) == "page.launch"


def test_a_launch_link_works_for_five_minutes() -> None:
    sessions = Sessions()
    early, late = sessions.new_launch(NOW), sessions.new_launch(NOW)
    assert refused(sessions, late, NOW + LAUNCH_MS) == "page.launch"
    assert sessions.redeem(early, NOW + LAUNCH_MS - 1)


def test_a_clock_that_goes_back_makes_no_used_link_work_again() -> None:
    sessions = Sessions()
    secret = sessions.new_launch(NOW)
    sessions.redeem(secret, NOW)
    assert refused(sessions, secret, NOW - LAUNCH_MS) == "page.launch"


@given(st.text(max_size=60))
def test_no_other_words_begin_a_session(words: str) -> None:
    sessions = Sessions()
    sessions.new_launch(NOW)
    assert refused(sessions, words) == "page.launch"
    assert sessions.to_json() == []


def test_lone_surrogates_are_refused_as_anything_is() -> None:
    sessions = Sessions()
    granted = begun(sessions)
    assert refused(sessions, "\ud800") == "page.launch"
    assert sessions.find("\ud800", NOW) is None
    session = sessions.find(granted.cookie, NOW)
    assert session is not None
    assert not has_token(session, "\udfff")


def test_the_oldest_of_many_links_gives_way() -> None:
    sessions = Sessions()
    secrets = [sessions.new_launch(NOW) for _ in range(MAX_LAUNCHES + 1)]
    assert refused(sessions, secrets[0]) == "page.launch"
    assert all(sessions.redeem(secret, NOW) for secret in secrets[1:])


def test_links_that_are_too_old_take_no_place() -> None:
    sessions = Sessions()
    for _ in range(MAX_LAUNCHES):
        sessions.new_launch(NOW)
    fresh = sessions.new_launch(NOW + LAUNCH_MS)
    # All the old ones are gone: the clock back, and still none of them waits.
    sessions.redeem(fresh, NOW + LAUNCH_MS)
    sessions.end_all()
    assert not sessions.is_awaited(NOW)


def test_secrets_are_long_and_none_is_like_another() -> None:
    sessions = Sessions()
    first, second = begun(sessions), begun(sessions)
    secrets = {first.cookie, first.token, second.cookie, second.token, sessions.new_launch(NOW)}
    assert {len(secret) for secret in secrets} == {SECRET_CHARS}
    assert len(secrets) == 5


def test_a_session_has_two_halves_and_neither_stands_for_the_other() -> None:
    sessions = Sessions()
    one, other = begun(sessions), begun(sessions)
    session = sessions.find(one.cookie, NOW)
    assert session is not None
    assert has_token(session, one.token)
    assert not any(has_token(session, word) for word in (one.cookie, other.token, "", "x"))
    assert sessions.find(one.token, NOW) is None
    assert sessions.find("", NOW) is None


def test_a_session_ends_when_nobody_used_it_for_twelve_hours() -> None:
    sessions = Sessions()
    granted = begun(sessions)
    assert sessions.find(granted.cookie, NOW + IDLE_MS - 1)
    assert sessions.find(granted.cookie, NOW + 2 * IDLE_MS - 2)
    assert sessions.find(granted.cookie, NOW + 3 * IDLE_MS - 2) is None


def test_a_session_ends_after_a_week_however_much_it_is_used() -> None:
    sessions = Sessions()
    granted = begun(sessions)
    for now_ms in range(NOW, NOW + LASTS_MS, IDLE_MS // 2):
        assert sessions.find(granted.cookie, now_ms)
    assert sessions.find(granted.cookie, NOW + LASTS_MS - 1)
    assert sessions.find(granted.cookie, NOW + LASTS_MS) is None


@each("back_ms, lives", [(1, True), (IDLE_MS - 1, True), (IDLE_MS, False), (LASTS_MS, False)])
def test_a_clock_that_goes_back_far_ends_a_session(back_ms: int, lives: bool) -> None:
    sessions = Sessions()
    granted = begun(sessions)
    found = sessions.find(granted.cookie, NOW - back_ms)
    assert (found is not None) is lives
    # When it was last seen does not go back with the clock.
    assert all(one["seen_ms"] == NOW for one in sessions.to_json())


@given(st.integers(0, 2**53), st.integers(0, 2**53), st.integers(0, 2**53))
def test_no_session_lives_longer_than_its_bounds(since: int, seen: int, now: int) -> None:
    session = Session(SHA, SHA, since, seen)
    if session.is_live(now):
        assert now - seen < IDLE_MS
        assert -IDLE_MS < now - since < LASTS_MS


def test_one_session_ends_without_the_others() -> None:
    sessions = Sessions()
    one, other = begun(sessions), begun(sessions)
    session = sessions.find(one.cookie, NOW)
    assert session is not None
    # As it was found: the one that is kept has been seen since.
    sessions.find(one.cookie, NOW + 1)
    sessions.end(session)
    assert sessions.find(one.cookie, NOW) is None
    assert sessions.find(other.cookie, NOW)


def test_all_sessions_end_together_with_the_links() -> None:
    sessions = Sessions()
    granted, secret = begun(sessions), sessions.new_launch(NOW)
    sessions.end_all()
    assert sessions.find(granted.cookie, NOW) is None
    assert refused(sessions, secret) == "page.launch"


def test_the_oldest_of_many_sessions_gives_way() -> None:
    sessions = Sessions()
    granted = [begun(sessions) for _ in range(MAX_SESSIONS + 1)]
    found = [sessions.find(one.cookie, NOW) for one in granted]
    assert [one is None for one in found] == [True, *[False] * MAX_SESSIONS]
    assert len(Sessions([Session(SHA, SHA, NOW, n) for n in range(99)]).to_json()) == 16


def test_the_session_not_seen_for_longest_gives_way() -> None:
    sessions = Sessions()
    granted = [begun(sessions) for _ in range(MAX_SESSIONS)]
    for one in [*granted[:5], *granted[6:]]:
        assert sessions.find(one.cookie, NOW + 1)
    begun(sessions)
    assert [n for n, one in enumerate(granted) if sessions.find(one.cookie, NOW) is None] == [5]


def test_a_page_is_awaited_while_a_session_lives_or_may_begin() -> None:
    sessions = Sessions()
    assert not sessions.is_awaited(NOW)
    secret = sessions.new_launch(NOW)
    assert sessions.is_awaited(NOW + LAUNCH_MS - 1)
    assert not sessions.is_awaited(NOW + LAUNCH_MS)
    sessions.redeem(secret, NOW)
    assert sessions.is_awaited(NOW + IDLE_MS - 1)
    assert not sessions.is_awaited(NOW + IDLE_MS)
    assert sessions.to_json() == []


def test_what_is_kept_is_read_back_and_holds_no_secret() -> None:
    sessions = Sessions()
    granted = begun(sessions)
    kept = json.dumps(sessions.to_json())
    assert granted.cookie not in kept
    assert granted.token not in kept
    again = Sessions(read_sessions(json.loads(kept)))
    session = again.find(granted.cookie, NOW)
    assert session is not None
    assert has_token(session, granted.token)
    assert again.to_json() == sessions.to_json()


@each(
    "raw",
    [
        None,
        {},
        "x",
        [None],
        [[]],
        [{}],
        [KEPT | {"more": 1}],
        [{name: word for name, word in KEPT.items() if name != "seen_ms"}],
        [KEPT | {"since_ms": True}],
        [KEPT | {"since_ms": -1}],
        [KEPT | {"seen_ms": 1.5}],
        [KEPT | {"seen_ms": 2**53 + 1}],
        [KEPT | {"cookie_sha256": None}],
        [KEPT | {"cookie_sha256": "é" * 64}],
        [KEPT | {"token_sha256": "\ud800"}],
        [KEPT | {"token_sha256": SHA.upper()}],
        [KEPT, KEPT | {"token_sha256": ""}],
    ],
)
def test_of_what_cannot_be_read_nothing_is_taken(raw: object) -> None:
    assert read_sessions(raw) == []


@given(JSON)
def test_garbage_gives_no_session(raw: Any) -> None:
    assert read_sessions(raw) == []
    assert read_sessions([raw]) == []
