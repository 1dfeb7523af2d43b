"""The diff that we make: minimal, human, exact, and the same for the same states."""

from __future__ import annotations

import time
from random import Random

import pytest

from common.diff.parse import parse_diff
from common.diff.patching import patched
from common.diff.render import MAX_LINES
from common.errors import InputError
from local_agent.propose.scratch.diffing import Change, Side, make_diff, with_renames


def _changed(old: bytes | None, new: bytes | None, path: str = "a") -> Change:
    return Change(path, None if old is None else Side(old), None if new is None else Side(new))


def test_a_changed_line_is_told_with_three_lines_around() -> None:
    old = b"".join(b"%d\n" % number for number in range(1, 21))
    diff = make_diff([_changed(old, old.replace(b"10\n", b"ten\n"))])
    assert diff == (
        b"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -7,7 +7,7 @@\n"
        b" 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n"
    )


def test_a_new_function_is_told_as_one_block() -> None:
    one, two = b"def one():\n    return 1\n\n\n", b"def two():\n    return 2\n"
    diff = make_diff([_changed(two, one + two)])
    assert [line for line in diff.split(b"\n") if line[:1] == b"-"] == [b"--- a/a"]
    assert b"+def one():\n+    return 1\n+\n+\n def two():" in diff


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"a\r\nb\r\n", b"a\r\nc\r\n"),
        (b"a\nb", b"a\nb\n"),
        (b"a\nb\n", b"a\nb"),
        (b"a\nb", b"a\nc"),
        (b"", b"a"),
        (b"a\n", b""),
        (None, b""),
        (b"", None),
        (None, b"a\nb"),
        (b"a", None),
        (b"caf\xe9 \x01\x02\x03\n", b"\xff\xfe\n"),
        (b"-- a\n", b"++ a\n"),
        (b"a\rb\x0cc\xc2\x85\n", b"a\rb\x0cd\xc2\x85\n"),
        (b"\\ No newline at end of file", b"@@ -1 +1 @@"),
    ],
)
def test_what_is_read_back_gives_the_new_bytes(old: bytes | None, new: bytes | None) -> None:
    (file,) = parse_diff(make_diff([_changed(old, new)])).files
    assert patched(file, old or b"") == (new or b"")
    assert file.op == ("add" if old is None else "delete" if new is None else "modify")


def test_files_come_in_the_order_of_their_paths_whoever_names_them() -> None:
    changes = [_changed(b"x\n", b"y\n", path) for path in ("c", "b/z", "a", "中")]
    diff = make_diff(changes)
    assert diff == make_diff(reversed(changes))
    assert [file.path for file in parse_diff(diff).files] == ["a", "b/z", "c", "中"]


def test_modes_are_those_of_git() -> None:
    program, plain = Side(b"x\n", executable=True), Side(b"x\n")
    diff = make_diff([Change("a", plain, program), Change("b", None, program)])
    changed, added = parse_diff(diff).files
    assert (changed.old_mode, changed.new_mode, changed.hunks) == ("100644", "100755", ())
    assert (added.op, added.new_mode) == ("add", "100755")


def test_what_changes_nothing_is_not_told() -> None:
    assert make_diff([_changed(b"x\n", b"x\n"), _changed(None, None, "b")]) == b""


TEXT = b"".join(b"line %d\n" % number for number in range(10))


def test_a_moved_file_is_told_as_a_rename() -> None:
    moved = TEXT.replace(b"line 3", b"line three")
    diff = make_diff([_changed(TEXT, None, "old.py"), _changed(None, moved, "new.py")])
    (file,) = parse_diff(diff).files
    assert (file.op, file.old_path, file.path) == ("rename", "old.py", "new.py")
    assert (file.added, file.removed) == (1, 1)
    assert patched(file, TEXT) == moved


def test_identical_files_are_paired_first_and_each_file_once() -> None:
    near = TEXT.replace(b"line 3", b"line three")
    changes = [
        _changed(TEXT, None, "a"),
        _changed(near, None, "b"),
        _changed(None, near, "y"),
        _changed(None, TEXT, "z"),
    ]
    pairs = {(one.old_path, one.path) for one in with_renames(changes)}
    assert pairs == {("a", "z"), ("b", "y")}


def test_of_files_that_are_alike_the_one_with_the_same_name_is_paired() -> None:
    changes = [
        _changed(TEXT, None, "src/app.py"),
        _changed(None, TEXT, "a/other.py"),
        _changed(None, TEXT, "z/app.py"),
    ]
    renamed = [one for one in with_renames(changes) if one.old_path]
    assert [(one.old_path, one.path) for one in renamed] == [("src/app.py", "z/app.py")]


@pytest.mark.parametrize(
    ("old", "new"), [(b"", b""), (TEXT, b"other\n" * 12), (TEXT, TEXT[:20]), (b"a\n", b"b\n")]
)
def test_files_that_share_less_than_half_are_not_paired(old: bytes, new: bytes) -> None:
    diff = make_diff([_changed(old, None, "a"), _changed(None, new, "b")])
    assert [file.op for file in parse_diff(diff).files] == ["delete", "add"]


def test_a_crowd_of_files_is_not_compared_pair_by_pair() -> None:
    gone = [_changed(TEXT, None, f"old/{number}") for number in range(101)]
    come = [_changed(None, TEXT, f"new/{number}") for number in range(100)]
    assert not any(one.old_path for one in with_renames(gone + come))


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ([_changed(b"a\n", b"a\0\n")], "diff.refused"),
        ([_changed(None, b"x\n", "a/../b")], "diff.name"),
        ([_changed(b"x\n", b"y\n", f"{number}") for number in range(501)], "diff.too-large"),
        ([_changed(None, b"x" * 1_100_000, name) for name in "ab"], "diff.too-large"),
        ([_changed(None, b"x\n", "a"), _changed(None, b"y\n", "A")], "diff.refused"),
    ],
)
def test_what_no_diff_can_tell_is_refused(changes: list[Change], code: str) -> None:
    with pytest.raises(InputError) as caught:
        make_diff(changes)
    assert caught.value.code == code


def test_many_large_files_that_move_are_paired_when_they_are_the_same_and_soon() -> None:
    # Each line of its own: comparing 80 times 80 of them by line takes minutes and gigabytes.
    texts = [b"".join(b"%d %d\n" % (file, line) for line in range(6000)) for file in range(80)]
    gone = [_changed(text, None, f"old/{file}") for file, text in enumerate(texts)]
    same = [_changed(None, text, f"new/{file}") for file, text in enumerate(texts)]
    other = [_changed(None, text + b"more\n", f"new/{file}") for file, text in enumerate(texts)]
    began = time.process_time()
    assert all(one.old_path for one in with_renames(gone + same))
    assert not any(one.old_path for one in with_renames(gone + other))
    assert time.process_time() - began < 5


def test_a_text_that_takes_long_to_compare_is_refused_at_once() -> None:
    # Two kinds of lines in no order: the comparison holds every other thread up for seconds.
    random = Random(1)
    old, new = (b"".join(random.choices([b"a\n", b"b\n"], k=2 * MAX_LINES)) for _ in range(2))
    with pytest.raises(InputError) as caught:
        make_diff([_changed(old, new)])
    assert (caught.value.code, caught.value.facts["what"]) == ("diff.too-large", "lines")


def test_a_small_change_of_a_file_with_very_many_lines_is_told() -> None:
    old = b"a\n" * (4 * MAX_LINES)
    new = old[: len(old) // 2] + b"b\n" + old[len(old) // 2 :]
    (file,) = parse_diff(make_diff([_changed(old, new)])).files
    assert (file.added, file.removed) == (1, 0)
