"""When a request that got no answer is made again."""

from __future__ import annotations

import pytest

from local_agent.models.http.client import MAX_PAUSE_S, asked_pause_s, pause_s


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("3", 3.0),
        ("0", 0.0),
        ("1.5", 1.5),
        ("Wed, 21 Oct 2026 07:28:00 GMT", None),
        ("-1", None),
        ("1e9", None),
        ("٣", None),
        ("9" * 400, None),
        ("nan", None),
    ],
)
def test_what_a_provider_asks_for_is_read_strictly(header: str | None, seconds: float) -> None:
    assert asked_pause_s(header) == seconds


def test_the_pause_grows_and_is_never_the_same_for_all() -> None:
    assert [pause_s(tries, None, lambda: 0.5) for tries in (1, 2, 3)] == [0.5, 1.0, None]
    assert pause_s(1, None, lambda: 0.0) == 0.25
    assert pause_s(1, None, lambda: 1.0) == 0.75


def test_what_the_provider_asks_for_is_kept_up_to_a_bound() -> None:
    assert pause_s(1, 7.0, lambda: 0.5) == 7.0
    assert pause_s(1, MAX_PAUSE_S, lambda: 0.5) == MAX_PAUSE_S
    assert pause_s(1, MAX_PAUSE_S + 1, lambda: 0.5) is None
    assert pause_s(2, 0.1, lambda: 0.5) == 1.0
