"""A hunk fits byte for byte or not at all; what was applied can be taken back."""

from __future__ import annotations

import difflib
from unittest.mock import ANY

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.diff import patching
from common.diff.model import DiffModel, FileDiff, Hunk
from common.diff.parse import parse_diff
from common.diff.patching import (
    Hunks,
    Misfit,
    deletion,
    has_choice,
    misfit,
    patched,
    relocated,
    reverse,
    select,
)
from common.diff.render import render
from common.errors import InputError
from tests.each import each

TITLE = "diff --git a/x b/x\n"
OPEN = "\\ No newline at end of file\n"


def _file(hunks: str, *, sides: str = "--- a/x\n+++ b/x\n") -> FileDiff:
    return parse_diff((sides + hunks).encode()).files[0]


def _misfit(file: FileDiff, old: bytes) -> tuple[object, object]:
    with pytest.raises(InputError) as caught:
        patched(file, old)
    assert caught.value.code == "diff.context"
    assert caught.value.facts == {"path": file.old_path or file.path, "hunk": ANY, "line": ANY}
    return caught.value.facts["hunk"], caught.value.facts["line"]


@pytest.mark.requirement("R33")
@pytest.mark.cpu(5)  # a file of 8 MB that is moved by each of 5,000 hunks takes longer
def test_many_hunks_in_a_large_file_are_not_each_moved_through_it() -> None:
    count, end = 5_000, b"x" * 8_000_000
    starts = range(1, 3 * count, 3)
    hunks = (f"@@ -{at},3 +{at},3 @@\n a{at}\n-b\n+B\n c\n" for at in starts)
    file = _file("".join(hunks))
    old = b"".join(b"a%d\nb\nc\n" % at for at in starts) + end
    new = b"".join(b"a%d\nB\nc\n" % at for at in starts) + end
    assert patching._spliced(file, old) == patched(file, old) == new


def test_a_hunk_belongs_where_it_says_although_its_lines_stand_above_as_well() -> None:
    file = _file("@@ -4,3 +4,3 @@\n a\n-b\n+B\n c\n")
    assert patched(file, b"a\nb\nc\n" * 3) == b"a\nb\nc\na\nB\nc\na\nb\nc\n"
    # Not in the middle of a line either, though the number of lines above is right.
    assert _misfit(file, b"1\n2\n3\nxa\nb\nc\n") == (1, 4)


@pytest.mark.requirement("R32")
@pytest.mark.parametrize(
    ("hunks", "old", "new"),
    [
        ("@@ -1 +1 @@\n-a\n+b\n", b"a\n", b"b\n"),
        ("@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", b"a\nb\nc\nd", b"a\nB\nc\nd"),
        (
            "@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -3,2 +3,2 @@\n-c\n+C\n d\n",
            b"a\nb\nc\nd\n",
            b"A\nb\nC\nd\n",
        ),
        ("@@ -0,0 +1 @@\n+a\n", b"", b"a\n"),
        ("@@ -0,0 +1 @@\n+a\n" + OPEN, b"", b"a"),
        ("@@ -1 +1,2 @@\n a\n+b\n" + OPEN, b"a\n", b"a\nb"),
        ("@@ -1 +1 @@\n-a\n" + OPEN + "+a\n", b"a", b"a\n"),
        ("@@ -1 +1 @@\n-a\n+a\n" + OPEN, b"a\n", b"a"),
        ("@@ -1,2 +1 @@\n a\n-b\n" + OPEN, b"a\nb", b"a\n"),
        ("@@ -1,2 +1,2 @@\n-a\n+A\n b\n" + OPEN, b"a\nb", b"A\nb"),
        ("@@ -1 +0,0 @@\n-a\n", b"a\n", b""),
        ("@@ -1,0 +2 @@\n+b\n", b"a\n", b"a\nb\n"),
        ("@@ -1 +1 @@\n-a\r\n+b\r\n", b"a\r\n", b"b\r\n"),
        ("@@ -1 +1 @@\n-\ufeffa\n+\ufeffb\n", b"\xef\xbb\xbfa\n", b"\xef\xbb\xbfb\n"),
    ],
)
def test_a_hunk_that_fits_gives_exactly_its_new_side(hunks: str, old: bytes, new: bytes) -> None:
    file = _file(hunks)
    assert patched(file, old) == new
    assert relocated(file, old) == (file, 0)
    (back,) = reverse(DiffModel((file,))).files
    assert patched(back, new) == old


@pytest.mark.requirement("R32")
@pytest.mark.parametrize(
    ("hunks", "old", "where"),
    [
        ("@@ -1 +1 @@\n-a\n+b\n", b"c\n", (1, 1)),
        ("@@ -1,2 +1 @@\n a\n-b\n", b"a\n", (1, 2)),
        ("@@ -3 +3 @@\n-a\n+b\n", b"a\n", (1, 2)),
        ("@@ -1,2 +1,2 @@\n a\n-b\n+c\n", b"a\nx\n", (1, 2)),
        ("@@ -1 +1 @@\n-a\n+b\n", b"a\r\n", (1, 1)),
        # the end of the file
        ("@@ -1 +1 @@\n-a\n+b\n", b"a", (1, 1)),
        ("@@ -1 +1 @@\n-a\n" + OPEN + "+b\n", b"a\n", (1, 1)),
        ("@@ -1 +1 @@\n-a\n" + OPEN + "+b\n", b"a\nc\n", (1, 2)),
        ("@@ -1 +1 @@\n-a\n+b\n" + OPEN, b"a\nc\n", (1, 2)),
        ("@@ -1,0 +2 @@\n+b\n", b"a", (1, 1)),
        # without context below, at the end alone
        ("@@ -1 +1 @@\n-a\n+b\n", b"a\nc\n", (1, 2)),
        ("@@ -1,0 +2 @@\n+b\n", b"a\nc\n", (1, 2)),
        # the second of two
        ("@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -3 +3 @@\n-c\n+C\n", b"a\nb\nx\n", (2, 3)),
    ],
)
def test_a_hunk_that_does_not_fit_is_named(hunks: str, old: bytes, where: tuple[int, int]) -> None:
    assert _misfit(_file(hunks), old) == where


@pytest.mark.parametrize(
    ("text", "old", "where"),
    [
        ("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n", b"b\n", (1, 1)),
        ("--- a/x\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n", b"a\nb\nc\n", (1, 3)),
        ("diff --git a/x b/x\ndeleted file mode 100644\n", b"a\n", (0, 1)),
        ("diff --git a/x b/x\nnew file mode 100644\n", b"a\n", (0, 1)),
    ],
)
def test_a_file_that_comes_or_goes_does_so_whole(
    text: str, old: bytes, where: tuple[int, int]
) -> None:
    assert _misfit(_file("", sides=text), old) == where


def test_a_delete_must_not_leave_anything() -> None:
    hunk = Hunk(1, 2, 0, 1, (b"-a", b" b"))
    assert _misfit(FileDiff("delete", "x", "x", None, None, (hunk,), 0, 1), b"a\nb\n") == (1, 3)


def test_an_add_must_not_find_anything() -> None:
    hunk = Hunk(1, 1, 1, 2, (b" a", b"+b"))
    assert _misfit(FileDiff("add", "x", None, None, None, (hunk,), 1, 0), b"a\n") == (1, 1)


@pytest.mark.parametrize("op", ["delete", "add"])
def test_an_empty_file_comes_and_goes(op: str) -> None:
    word = {"delete": "deleted file mode", "add": "new file mode"}[op]
    assert patched(_file("", sides=f"diff --git a/x b/x\n{word} 100644\n"), b"") == b""


def test_a_rename_without_hunks_keeps_the_content() -> None:
    file = _file("", sides="diff --git a/x b/y\nrename from x\nrename to y\n")
    assert patched(file, b"\0any") == b"\0any"


# --- moved hunks ---

HUNKS = "@@ -5,3 +5,3 @@\n b\n-c\n+C\n d\n@@ -10,2 +10,3 @@\n h\n+i\n j\n"


def test_a_moved_hunk_gets_its_true_numbers() -> None:
    file, moved = relocated(_file(HUNKS), b"a\nb\nc\nd\ne\nf\ng\nh\nj\n")
    assert [(h.old_start, h.new_start) for h in file.hunks] == [(2, 2), (8, 8)]
    assert moved == 2
    assert patched(file, b"a\nb\nc\nd\ne\nf\ng\nh\nj\n") == b"a\nb\nC\nd\ne\nf\ng\nh\ni\nj\n"


def test_a_hunk_stays_where_it_fits_and_the_next_one_is_renumbered() -> None:
    hunks = "@@ -1,2 +1,3 @@\n a\n+x\n b\n@@ -9,2 +10,1 @@\n c\n-d\n"
    file, moved = relocated(_file(hunks), b"a\nb\nc\nd\n")
    assert [(h.old_start, h.new_start) for h in file.hunks] == [(1, 1), (3, 4)]
    assert moved == 1


def test_a_moved_hunk_at_an_open_end_is_found() -> None:
    hunks = "@@ -5,2 +5,2 @@\n a\n-b\n" + OPEN + "+c\n"
    file, moved = relocated(_file(hunks), b"x\na\nb")
    assert (file.hunks[0].old_start, moved) == (2, 1)
    assert patched(file, b"x\na\nb") == b"x\na\nc\n"


@pytest.mark.parametrize(
    ("hunks", "old", "number"),
    [
        ("@@ -9,2 +9,2 @@\n a\n-b\n+c\n", b"a\nb\na\nb\n", 1),  # twice
        ("@@ -9,2 +9,2 @@\n a\n-a\n+c\n", b"a\na\na\n", 1),  # twice, overlapping
        ("@@ -9,2 +9,2 @@\n a\n-b\n+c\n", b"xa\nb\n", 1),  # not from the start of a line
        ("@@ -9,2 +9,2 @@\n a\n-b\n+c\n", b"a\nbx\n", 1),  # not to its end
        ("@@ -9,2 +9,2 @@\n a\n-b\n+c\n", b"a\nb", 1),  # the file ends differently
        ("@@ -9,2 +9,2 @@\n a\n-b\n" + OPEN + "+c\n", b"a\nb\n", 1),
        ("@@ -9,0 +10 @@\n+c\n", b"a\n", 1),  # no line to look for
        ("@@ -9,2 +9,2 @@\n a\n-b\n+c\n", b"a\nb\nc\n", 1),  # no context below: at the end alone
        ("@@ -5,2 +5,2 @@\n-c\n+C\n d\n@@ -9,2 +9,2 @@\n-a\n+A\n b\n", b"a\nb\nc\nd\n", 2),  # order
        (
            "@@ -1,2 +1,2 @@\n-c\n+C\n d\n@@ -3,2 +3,2 @@\n-c\n+A\n d\n",
            b"x\ny\nc\nd\n",
            2,
        ),  # shared
    ],
)
def test_a_hunk_moves_only_to_the_one_place_after_the_last(
    hunks: str, old: bytes, number: int
) -> None:
    with pytest.raises(InputError) as caught:
        relocated(_file(hunks), old)
    assert (caught.value.code, caught.value.facts["hunk"]) == ("diff.context", number)


def test_hunks_are_not_looked_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    old = b"a\nb\nc\nd\ne\nf\ng\nh\nj\n"
    monkeypatch.setattr(patching, "SEARCHED_BYTES", 2 * (len(old) + 1))
    assert relocated(_file(HUNKS), old)[1] == 2
    monkeypatch.setattr(patching, "SEARCHED_BYTES", 2 * (len(old) + 1) - 1)
    with pytest.raises(InputError) as caught:
        relocated(_file(HUNKS), old)
    assert caught.value.facts["hunk"] == 2


@pytest.mark.cpu(5)
def test_a_periodic_file_takes_no_longer_than_any_other() -> None:
    body = b"".join(b" aa\n" for _ in range(100_000))
    text = b"--- a/x\n+++ b/x\n@@ -900000,100001 +900000,100002 @@\n a\n" + body + b"+b\n"
    with pytest.raises(InputError):
        relocated(parse_diff(text).files[0], b"aa\n" * 600_000)


# --- taken back ---


@pytest.mark.parametrize(
    ("text", "back"),
    [
        (
            "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n",
            "diff --git a/x b/x\nold mode 100755\nnew mode 100644\n",
        ),
        (
            "diff --git a/x b/y\nrename from x\nrename to y\n",
            "diff --git a/y b/x\nrename from y\nrename to x\n",
        ),
        (
            TITLE + "new file mode 100755\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n",
            TITLE + "deleted file mode 100755\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
        ),
        (
            "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n" + OPEN,
            "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n" + OPEN,
        ),
        (
            "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,4 +1,3 @@ f\n a\n-b\n-c\n+B\n d\n",
            "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@ f\n a\n-B\n+b\n+c\n d\n",
        ),
    ],
)
def test_a_diff_is_turned_round(text: str, back: str) -> None:
    model = parse_diff(text.encode())
    assert render(reverse(model)) == back.encode()
    assert reverse(reverse(model)) == model


def test_a_copy_is_taken_back_by_removing_what_is_there() -> None:
    model = parse_diff(b"diff --git a/x b/y\ncopy from x\ncopy to y\n")
    with pytest.raises(InputError) as caught:
        reverse(model)
    assert (caught.value.code, caught.value.facts) == ("diff.irreversible", {"path": "y"})


@each("content", [b"", b"a\n", b"a\nb", b"\n", b"a\r\n\xff\n"])
def test_a_deletion_removes_exactly_this_content(content: bytes) -> None:
    file = deletion("y", content, "100755")
    assert patched(file, content) == b""
    assert parse_diff(render(DiffModel((file,)))).files == (file,)


def test_a_deletion_of_binary_content_cannot_be_told() -> None:
    with pytest.raises(InputError) as caught:
        deletion("y", b"a\0", None)
    assert caught.value.facts["why"] == "binary"


# --- chosen ---

THREE = parse_diff(
    b"".join(
        b"diff --git a/%b b/%b\nold mode 100644\nnew mode 100755\n" % (n, n)
        for n in (b"x", b"y", b"z")
    )
)


def test_chosen_files_keep_the_order_of_the_diff() -> None:
    assert select(THREE, ["z", "x"]).files == (THREE.files[0], THREE.files[2])


def test_a_file_that_the_diff_does_not_touch_cannot_be_chosen() -> None:
    with pytest.raises(InputError) as caught:
        select(THREE, {"x", "nowhere", "nothing"})
    assert (caught.value.code, caught.value.facts) == ("diff.unknown-path", {"path": "nothing"})


def test_a_choice_of_nothing_is_no_diff() -> None:
    with pytest.raises(InputError) as caught:
        select(THREE, ())
    assert caught.value.code == "diff.empty"


# --- some hunks of a file ---

SOME = (
    "@@ -1,2 +1,3 @@ a\n one\n+1\n two\n@@ -4,3 +5,2 @@ b\n four\n-five\n six\n"
    "@@ -8,2 +8,3 @@ c\n eight\n-nine\n" + OPEN + "+nine\n+ten\n" + OPEN
)
NINE = b"one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine"


@pytest.mark.parametrize(
    ("chosen", "starts", "new"),
    [
        ([0], [(1, 1)], NINE.replace(b"two", b"1\ntwo")),
        ([1], [(4, 4)], NINE.replace(b"five\n", b"")),
        ([2], [(8, 8)], NINE + b"\nten"),
        ([2, 0], [(1, 1), (8, 9)], NINE.replace(b"two", b"1\ntwo") + b"\nten"),
        ([1, 2], [(4, 4), (8, 7)], NINE.replace(b"five\n", b"") + b"\nten"),
    ],
)
def test_chosen_hunks_stand_where_they_would_without_the_others(
    chosen: list[int], starts: list[tuple[int, int]], new: bytes
) -> None:
    model = DiffModel((_file(SOME),))
    (file,) = select(model, ["x"], {"x": chosen}).files
    assert [(hunk.old_start, hunk.new_start) for hunk in file.hunks] == starts
    assert patched(file, NINE) == new
    assert parse_diff(render(DiffModel((file,)))).files == (file,)
    assert relocated(file, NINE) == (file, 0)


def test_all_hunks_of_a_file_are_the_file() -> None:
    model = DiffModel((_file(SOME), THREE.files[1]))
    assert select(model, ["x", "y"], {"x": (0, 1, 2)}) == model


_HEADERS = {
    "add": "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n",
    "delete": "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
    "rename": "diff --git a/w b/x\nrename from w\nrename to x\n--- a/w\n+++ b/x\n",
    "copy": "diff --git a/w b/x\ncopy from w\ncopy to x\n--- a/w\n+++ b/x\n",
    "mode": TITLE + "old mode 100644\nnew mode 100755\n--- a/x\n+++ b/x\n",
    "mode alone": TITLE + "old mode 100644\nnew mode 100755\n",
}


@each("what", list(_HEADERS))
def test_a_file_of_which_more_becomes_has_no_choice_of_hunks(what: str) -> None:
    header = _HEADERS[what]
    file = _file(SOME if header.endswith("+++ b/x\n") else "", sides=header)
    assert not has_choice(file)
    assert _refused_choice(file, {"x": [0]}) == "x"


@each("chosen", [[], [3], [-1], [0, 0], [0, 3], [1, 0, 1]])
def test_a_hunk_that_a_file_has_not_cannot_be_chosen(chosen: list[int]) -> None:
    file = _file(SOME)
    assert has_choice(file)
    assert _refused_choice(file, {"x": chosen}) == "x"


def test_hunks_of_a_file_that_is_left_out_cannot_be_chosen() -> None:
    assert _refused_choice(_file(SOME), {"x": [0], "b": [0], "a": [0]}) == "a"


def _refused_choice(file: FileDiff, hunks: Hunks) -> object:
    with pytest.raises(InputError) as caught:
        select(DiffModel((file,)), ["x"], hunks)
    assert caught.value.code == "diff.unknown-hunk"
    return caught.value.facts["path"]


_LINES = st.lists(st.sampled_from([b"a", b"b", b"c", b"", b"d\r"]), min_size=1, max_size=30)


@given(_LINES, _LINES, st.booleans(), st.booleans(), st.data())
@settings(deadline=None)
def test_dropping_hunks_is_as_applying_the_others_by_hand(
    before: list[bytes], after: list[bytes], closed_old: bool, closed_new: bool, data: st.DataObject
) -> None:
    old = b"\n".join(before) + b"\n" * (closed_old or not before[-1])
    new = b"\n".join(after) + b"\n" * (closed_new or not after[-1])
    sides = [text.splitlines(keepends=True) for text in (old.replace(b"\r", b"r"), new)]
    old = b"".join(sides[0])
    lines = difflib.diff_bytes(difflib.unified_diff, sides[0], sides[1], b"a/x", b"b/x", n=1)
    text = b"".join(line if line[-1:] == b"\n" else line + b"\n" + OPEN.encode() for line in lines)
    if not text:
        return
    model = parse_diff(text)
    (whole,) = model.files
    indexes = st.lists(st.sampled_from(range(len(whole.hunks))), min_size=1, unique=True)
    chosen = data.draw(indexes)
    selected = select(model, ["x"], {"x": chosen})
    assert parse_diff(render(selected)) == selected
    assert patched(selected.files[0], old) == _by_hand(whole, old, chosen)


def _by_hand(file: FileDiff, old: bytes, chosen: list[int]) -> bytes:
    """Put the new lines of these hunks in the place of their old ones, the last hunk first."""
    lines = old.splitlines(keepends=True)
    for index in sorted(chosen, reverse=True):
        hunk = file.hunks[index]
        new = [line + b"\n" for line in hunk.new_side()]
        if hunk.new_open:
            new[-1] = new[-1].removesuffix(b"\n")
        lines[hunk.old_first : hunk.old_first + hunk.old_count] = new
    return b"".join(lines)


# --- why one does not fit ---

OLD = b"one\ntwo\nthree\n"
EDIT = b"--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"
WITH_CR = b"--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n one\r\n-two\r\n+TWO\r\n three\r\n"
ADDED = b"--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+one\n"


@pytest.mark.parametrize(
    ("diff", "old", "why"),
    [
        (EDIT, OLD.replace(b"two", b"TWO"), "applied"),
        (EDIT, b"# moved\n" + OLD.replace(b"two", b"TWO"), "applied"),
        (EDIT, OLD.replace(b"\n", b"\r\n"), "line-ends"),
        (WITH_CR, OLD, "line-ends"),
        (EDIT, OLD.removesuffix(b"\n"), "last-line"),
        (EDIT + b"\\ No newline at end of file\n", OLD, "last-line"),
        (EDIT, OLD.replace(b"two", b"2"), None),
        (EDIT, b"", None),
        (ADDED, b"one\n", None),
    ],
)
def test_a_misfit_has_its_reason(diff: bytes, old: bytes, why: Misfit | None) -> None:
    assert misfit(parse_diff(diff).files[0], old) == why
