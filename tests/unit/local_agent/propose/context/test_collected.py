"""The seed's three limits, and the account of who got what."""

from __future__ import annotations

import pytest

from local_agent.propose.context.collected import (
    MAX_FILE_BYTES,
    MAX_TOTAL_BYTES,
    Budget,
    Candidate,
    Division,
    LeftOut,
)


def a_file(path: str, size: int, priority: int = 0) -> Candidate:
    return Candidate("file", path, size, "named", priority)


def granted(division: Division) -> list[tuple[str, int]]:
    return [(grant.candidate.path, grant.granted) for grant in division.grants]


def test_small_files_are_granted_whole() -> None:
    division = Budget().divide([a_file("a.py", 10), a_file("b.py", 0)])
    assert granted(division) == [("a.py", 10), ("b.py", 0)]
    assert division.left_out == ()


@pytest.mark.requirement("NL-5.1")
def test_no_more_than_ten_files_sixty_thousand_bytes_and_twelve_thousand_a_file() -> None:
    many = Budget().divide([a_file(f"{number}.py", 100) for number in range(50)])
    assert len(many.grants) == 10
    assert {one.why for one in many.left_out} == {"over-files"}
    large = Budget().divide([a_file(f"{number}.py", 50_000) for number in range(50)])
    assert [size for _, size in granted(large)] == [MAX_FILE_BYTES] * 5
    assert sum(size for _, size in granted(large)) == MAX_TOTAL_BYTES
    assert large.left_out[0] == LeftOut("5.py", "over-bytes", 50_000)


def test_the_last_one_gets_what_is_left() -> None:
    division = Budget(max_total_bytes=25).divide([a_file(name, 20) for name in "abc"])
    assert granted(division) == [("a", 20), ("b", 5)]


def test_priority_comes_before_order() -> None:
    budget = Budget(max_total_bytes=20)
    division = budget.divide([a_file("late", 20, 1), a_file("soon", 20, 0)])
    assert granted(division) == [("soon", 20)]


def test_the_same_thing_counts_once_and_a_file_shares_its_limit_with_its_selection() -> None:
    selection = Candidate("selection", "a", 9000, "selection")
    division = Budget().divide([selection, a_file("a", 9000), a_file("a", 9000)])
    assert [grant.granted for grant in division.grants] == [9000, 3000]
    assert [one.why for one in division.left_out] == ["duplicate"]


def test_what_is_no_file_counts_in_bytes_alone() -> None:
    tree = Candidate("tree", "", 20_000, "tree")
    division = Budget(max_files=1).divide([a_file("a", 1), tree, Candidate("git", "", 5, "state")])
    assert [grant.granted for grant in division.grants] == [1, 20_000, 5]
