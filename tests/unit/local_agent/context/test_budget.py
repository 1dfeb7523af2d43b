"""The seed's three limits."""

from __future__ import annotations

from local_agent.context.budget import MAX_FILE_BYTES, MAX_TOTAL_BYTES, Budget, Share


def test_small_files_are_granted_whole() -> None:
    assert Budget().share([("a.py", 10), ("b.py", 0)]) == (
        Share("a.py", 10, 10),
        Share("b.py", 0, 0),
    )


def test_a_long_file_is_cut_at_its_share() -> None:
    (share,) = Budget().share([("a.py", 50_000)])
    assert (share.granted, share.cut) == (MAX_FILE_BYTES, True)


def test_no_more_than_ten_files_and_sixty_thousand_bytes_in_all() -> None:
    many = Budget().share((f"{number}.py", 100) for number in range(50))
    assert len(many) == 10
    large = Budget().share((f"{number}.py", 50_000) for number in range(50))
    assert sum(share.granted for share in large) == MAX_TOTAL_BYTES
    assert len(large) == 5


def test_the_last_file_gets_what_is_left() -> None:
    shares = Budget(max_total_bytes=25).share([("a", 20), ("b", 20), ("c", 20)])
    assert [share.granted for share in shares] == [20, 5]
    assert [share.cut for share in shares] == [False, True]


def test_a_path_counts_once() -> None:
    assert len(Budget().share([("a", 1), ("a", 1)])) == 1
