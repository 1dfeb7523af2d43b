"""Which texts take long to compare."""

from __future__ import annotations

import pytest

from common.diff.width import MAX_LINES, is_wide

MANY = b"a\n" * (2 * MAX_LINES)


@pytest.mark.parametrize(
    ("old", "new", "wide"),
    [
        (b"", b"", False),
        (b"a\n" * 1000, b"b\n" * 1000, False),
        (MANY, MANY.replace(b"a", b"b"), True),
        (MANY, b"b\n" + MANY, False),
        (MANY, MANY + b"b\n", False),
        (MANY, MANY[: len(MANY) // 2] + b"b\n" + MANY[len(MANY) // 2 :], False),
        (b"b\n" + MANY + b"b\n", b"c\n" + MANY + b"c\n", True),
        (MANY, b"", False),
        (b"", MANY, False),
        (b"x" * 1_000_000, b"y" * 1_000_000, False),
    ],
)
def test_a_text_is_wide_by_the_lines_between_the_first_and_the_last_that_differ(
    old: bytes, new: bytes, wide: bool
) -> None:
    assert is_wide(old, new) is wide
