"""Lines that belong together stand side by side, with what differs in them."""

from __future__ import annotations

import difflib
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.diff.model import FileDiff, Hunk
from common.diff.pairing import MAX_ALIGNED, MAX_COMPARED, Pair, Side, paired
from common.diff.parse import parse_diff
from common.diff.view import rows
from tests.each import each

OPEN = "\\ No newline at end of file\n"


def _file(removed: list[str], added: list[str], *, at: int = 1) -> FileDiff:
    old, new = [line.encode() for line in removed], [line.encode() for line in added]
    lines = (*(b"-" + line for line in old), *(b"+" + line for line in new), b" end")
    hunk = Hunk(at, len(old) + 1, at, len(new) + 1, lines)
    return FileDiff("modify", "x", "x", None, None, (hunk,), len(new), len(old))


def _changes(file: FileDiff) -> list[tuple[str | None, str | None]]:
    return [
        (pair.old.text if pair.old else None, pair.new.text if pair.new else None)
        for pair in paired(file)
        if pair.kind == "change"
    ]


def _marked(old: str, new: str) -> tuple[list[str], list[str]]:
    """Return what is marked in two lines, which must be paired."""
    (pair,) = (pair for pair in paired(_file([old], [new])) if pair.kind == "change")
    assert pair.old is not None
    assert pair.new is not None
    return _pieces(pair.old), _pieces(pair.new)


def _pieces(side: Side) -> list[str]:
    return [side.text[begin:end] for begin, end in side.marks]


def test_rows_stand_side_by_side_with_their_numbers() -> None:
    text = (
        b"--- a/x\n+++ b/x\n@@ -3,4 +3,4 @@ def f():\n a\n-retries = 1\n-b\n+retries = 3\n+z\n c\n"
    )
    (file,) = parse_diff(text).files
    assert list(paired(file)) == [
        Pair("hunk", section="def f():", starts=(3, 3)),
        Pair("context", Side(3, "a"), Side(3, "a")),
        Pair("change", Side(4, "retries = 1", ((10, 11),)), Side(4, "retries = 3", ((10, 11),))),
        Pair("change", old=Side(5, "b")),
        Pair("change", new=Side(5, "z")),
        Pair("context", Side(6, "c"), Side(6, "c")),
    ]


@pytest.mark.parametrize(
    ("hunk", "ends"),
    [
        (f"@@ -1 +1 @@\n-a\n{OPEN}+b\n{OPEN}", (True, True)),
        (f"@@ -1,2 +1 @@\n-b\n a\n{OPEN}", (True, True)),
        (f"@@ -1,2 +1,2 @@\n-a\n-b\n{OPEN}+a\n+b\n", (True, False)),
        (f"@@ -1 +1 @@\n-a\n+b\n{OPEN}", (False, True)),
    ],
)
def test_a_missing_final_line_feed_is_told_of_its_sides(hunk: str, ends: tuple[bool, bool]) -> None:
    (file,) = parse_diff(f"--- a/x\n+++ b/x\n{hunk}".encode()).files
    *_, last = paired(file)
    assert last == Pair("open", ends=ends)
    assert sum(pair.kind == "open" for pair in paired(file)) == 1


def test_lines_that_come_or_go_stand_alone() -> None:
    assert _changes(_file(["a", "b"], [])) == [("a", None), ("b", None)]
    assert _changes(_file([], ["a"])) == [(None, "a")]
    assert all(
        pair.old is None or pair.new is None or pair.kind != "change"
        for pair in paired(_file(["import os"], ["return value + 1"]))
    )


def test_a_line_is_paired_with_the_most_similar_one() -> None:
    removed = ["first = load(1)", "second = store(2, name)"]
    added = ["# unlike the others", "second = store(3, name)", "third"]
    assert _changes(_file(removed, added)) == [
        ("first = load(1)", None),
        (None, "# unlike the others"),
        ("second = store(2, name)", "second = store(3, name)"),
        (None, "third"),
    ]


def test_pairs_keep_the_order_of_both_sides() -> None:
    assert _changes(_file(["alpha = 1", "beta = 2"], ["beta = 2", "alpha = 1"])) == [
        ("alpha = 1", None),
        ("beta = 2", "beta = 2"),
        (None, "alpha = 1"),
    ]


def test_a_large_block_is_paired_by_position() -> None:
    removed = [f"value = compute({n})" for n in range(MAX_ALIGNED + 1)]
    moved = _changes(_file(removed, ["# one more", *removed]))
    assert moved[:3] == [
        (removed[0], None),
        (None, "# one more"),
        (removed[1], removed[0]),
    ]
    assert moved[-1] == (None, removed[-1])


@pytest.mark.parametrize(
    ("old", "new", "marks"),
    [
        ("timeout = 30", "timeout = 60", (["30"], ["60"])),
        ("f(a, b)", "f(a, b, c)", ([], [", c"])),
        ("    value = 1", "  value = 1", (["    "], ["  "])),
        ("same = line", "same = line", ([], [])),
        ("load the file once", "load a file twice", (["the", "once"], ["a", "twice"])),
        ("the_name = x", "the_other = x", (["the_name"], ["the_other"])),
        ("# 读取配置文件", "# 读取设置文件", (["配"], ["设"])),
        ("return f(a\u202eb)", "return f(ab)", (["a⟨U+202E⟩b"], ["ab"])),
        ("x = [1]\u200b", "x = [1]\u200c", (["⟨U+200B⟩"], ["⟨U+200C⟩"])),
        ("x = y" + " " * 30, "x = y" + " " * 40, (["⟨30 × U+0020⟩"], ["⟨40 × U+0020⟩"])),
        ("cafe\u0301 = 1", "cafe = 1", (["cafe\u0301"], ["cafe"])),
        ("a = '👍🏽' + b", "a = '👍🏿' + b", (["👍🏽"], ["👍🏿"])),
    ],
)  # fmt: skip
def test_what_differs_is_marked_by_whole_words(
    old: str, new: str, marks: tuple[list[str], list[str]]
) -> None:
    assert _marked(old, new) == marks


def test_a_long_line_is_compared_at_its_ends() -> None:
    middle = "x, " * MAX_COMPARED
    old, new = f"[{middle}1, 2, {middle}]", f"[{middle}3, 2, 4, {middle}]"
    assert _marked(old, new) == (["1, 2"], ["3, 2, 4"])


def test_where_a_file_took_much_effort_its_later_lines_are_compared_at_their_ends() -> None:
    random_ = random.Random(7)
    removed = ["".join(random_.choices("()[]", k=400)) for _ in range(100)]
    added = ["".join(random_.choices("()[]", k=400)) for _ in range(100)]
    ranges = [
        len(pair.old.marks)
        for pair in paired(_file([*removed, "a + b + c"], [*added, "x + b + z"]))
        if pair.kind == "change" and pair.old
    ]
    assert max(ranges[:10]) > 10
    assert max(ranges[50:]) == 1


@each("hidden", ["\u202e", "\x1b", "\u00a0", " " * 25, "\ue000"])
def test_a_mark_holds_a_hidden_character_whole(hidden: str) -> None:
    for old, new in ((f"a {hidden} b", "a b"), (f"x y{hidden}", "x y"), (f"x y{hidden}", "x yU+")):
        for pair in paired(_file([old], [new])):
            for side in (pair.old, pair.new):
                if side is not None:
                    assert all(_is_whole(piece) for piece in _pieces(side))


def _is_whole(piece: str) -> bool:
    return piece.count("⟨") == piece.count("⟩")


# --- properties ---

_TEXTS = st.lists(
    st.text("ab =(,)配\t\u202e\u0301⟨⟩👩\u200d\xa0", max_size=12)
    | st.sampled_from(["value = 1", "value = 2", "return x", "", "  "]),
    max_size=12,
)


def _diff(old: list[str], new: list[str], *, closed: tuple[bool, bool]) -> bytes:
    before, after = ([line.encode() + b"\n" for line in side] for side in (old, new))
    for side, is_closed in zip((before, after), closed, strict=True):
        if side and not is_closed and side[-1] != b"\n":
            side[-1] = side[-1].removesuffix(b"\n")
    lines = difflib.diff_bytes(difflib.unified_diff, before, after, b"a/x", b"b/x", n=1)
    open_end = b"\n" + OPEN.encode()
    return b"".join(line if line.endswith(b"\n") else line + open_end for line in lines)


@given(_TEXTS, _TEXTS, st.tuples(st.booleans(), st.booleans()))
@settings(deadline=None)
def test_both_sides_are_the_rows_in_their_order(
    old: list[str], new: list[str], closed: tuple[bool, bool]
) -> None:
    text = _diff(old, new, closed=closed)
    if not text:
        return
    (file,) = parse_diff(text).files
    pairs, shown = list(paired(file)), list(rows(file))
    for kind, sides, numbers in (
        ("removed", [pair.old for pair in pairs], [row.old_no for row in shown]),
        ("added", [pair.new for pair in pairs], [row.new_no for row in shown]),
    ):
        assert [(side.number, side.text) for side in sides if side] == [
            (number, row.text)
            for number, row in zip(numbers, shown, strict=True)
            if row.kind in ("context", kind)
        ]
        for side in filter(None, sides):
            flat = [at for mark in side.marks for at in mark]
            assert flat == sorted(set(flat)), "marks are in order, apart and not empty"
            assert not flat or (flat[0] >= 0 and flat[-1] <= len(side.text))
    hunks = [(pair.section, pair.starts) for pair in pairs if pair.kind == "hunk"]
    assert hunks == [(row.text, (row.old_no, row.new_no)) for row in shown if row.kind == "hunk"]
    assert any(pair.kind == "open" for pair in pairs) == any(row.kind == "open" for row in shown)


@given(st.text("ab =(,)配\t", max_size=30), st.text("ab =(,)配\t", max_size=30))
@settings(deadline=None)
def test_what_is_not_marked_is_the_same_on_both_sides(old: str, new: str) -> None:
    for pair in paired(_file([old], [new])):
        if pair.old and pair.new and (pair.old.marks or pair.new.marks):
            assert _rest(pair.old) == _rest(pair.new)


def _rest(side: Side) -> str:
    kept, at = "", 0
    for begin, end in side.marks:
        kept += side.text[at:begin]
        at = end
    return kept + side.text[at:]


# --- bounds ---


def _code(number: int) -> str:
    return f"    value_{number} = compute({number % 7}, items[{number}], name='x')"


@pytest.mark.cpu(5)
def test_a_block_of_thousands_of_lines_is_paired_at_once() -> None:
    removed = [_code(number) for number in range(5_000)]
    file = _file(removed, [f"{line}  # new" for line in removed])
    assert sum(pair.old is not None and pair.new is not None for pair in paired(file)) == 5_001


@pytest.mark.cpu(8)
@pytest.mark.parametrize("size", [1, 2, MAX_ALIGNED])
def test_twenty_thousand_lines_are_paired_at_once(size: int) -> None:
    hunks = []
    for at in range(1, 10_001, size):
        removed = [b"-" + _code(number).encode() for number in range(at, at + size)]
        added = [b"+" + _code(number + 1).encode() for number in range(at, at + size)]
        start = at // size * (size + 2) + 1
        hunks.append(Hunk(start, size + 1, start, size + 1, (*removed, *added, b" end")))
    file = FileDiff("modify", "x", "x", None, None, tuple(hunks), 10_000, 10_000)
    assert sum(pair.old is not None for pair in paired(file)) >= 10_000


@pytest.mark.cpu(8)
@pytest.mark.parametrize("unit", ["a, ", "x", "\u202e", "e\u0301", "("])
def test_a_line_of_a_megabyte_is_compared_at_once(unit: str) -> None:
    line = unit * (1_000_000 // len(unit.encode()))
    assert len(_changes(_file([line], [line + "end"]))) >= 1


@pytest.mark.cpu(8)
def test_lines_of_few_tokens_in_no_order_are_paired_at_once() -> None:
    random_ = random.Random(3)
    removed = ["".join(random_.choices("()[]{}", k=400)) for _ in range(2_500)]
    added = ["".join(random_.choices("()[]{}", k=400)) for _ in range(2_500)]
    assert len(_changes(_file(removed, added))) >= 2_500
