"""Whatever the bytes: they are one diff or an `InputError`, and a diff survives every way round."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import TypeVar

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from common.diff.model import DiffModel, FileDiff
from common.diff.parse import parse_diff
from common.diff.patching import deletion, patched, relocated, reverse, select
from common.diff.render import render
from common.diff.view import marks, rows
from common.errors import InputError

_OPEN = b"\n\\ No newline at end of file\n"
_PIECES = (
    b"diff --git a/x b/x\n", b"diff --git a/x b/y\n", b'diff --git "a/\\303\\251" "b/\\303\\251"\n',
    b"index 1234567..89abcde 100644\n", b"index 0000000..1234567\n", b"new file mode 100644\n",
    b"deleted file mode 100755\n", b"old mode 100644\n", b"new mode 100755\n",
    b"similarity index 90%\n", b"rename from x\n", b"rename to y\n", b"copy from x\n",
    b"copy to y\n", b"--- a/x\n", b"--- /dev/null\n", b"+++ b/x\n", b"+++ b/y\n",
    b"+++ /dev/null\n",
    b"@@ -1 +1 @@\n", b"@@ -1,2 +1,2 @@ f\n", b"@@ -0,0 +1 @@\n", b"@@ -1 +0,0 @@\n",
    b"@@ -9,2 +9,2 @@\n", b" a\n", b"-a\n", b"+b\n", b"+\r\n", b"-\xff\n", b"\n", b"\\", b"-- \n",
    _OPEN[1:], b"GIT binary patch\n", b"\x00", b"\xe2\x80\xae",
)  # fmt: skip

_SECTIONS = (
    b"diff --git a/x b/x\nindex 1234567..89abcde 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
    b"diff --git a/n b/n\nnew file mode 100755\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a" + _OPEN,
    b"diff --git a/d b/d\ndeleted file mode 100644\n--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
    b"diff --git a/r b/s\nsimilarity index 100%\nrename from r\nrename to s\n",
    b"diff --git a/c b/e\ncopy from c\ncopy to e\n--- a/c\n+++ b/e\n@@ -2 +2,0 @@\n-a\n",
    b"diff --git a/m b/m\nold mode 100644\nnew mode 100755\n",
    b"--- a/p q\t\n+++ b/p q\t\n@@ -4,3 +4,4 @@ f\n a\n-b\n+c\n+d\n e" + _OPEN + b"",
    b"--- a/z\n+++ b/z\n@@ -1,3 +1,2 @@\n+b\n-a\n-c\n \n@@ -9 +8,2 @@\n-\r\n+\xff\n+\xe2\x80\xae\n",
)


@st.composite
def _nearly_diffs(draw: st.DrawFn) -> bytes:
    """Return sections in any order, with a few lines taken out, doubled, swapped or put in."""
    sections = draw(st.lists(st.sampled_from(_SECTIONS), min_size=1, max_size=4, unique=True))
    lines = b"".join(sections).splitlines(keepends=True)
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        at = draw(st.integers(0, len(lines) - 1))
        other = draw(st.sampled_from([*_PIECES, *lines]))
        lines[at : at + draw(st.integers(0, 2))] = draw(st.sampled_from([[], [other], [other] * 2]))
        lines = lines or [b"\n"]
    return b"".join(lines)


# Few different lines, so that they repeat and hunks could fit in more than one place.
_LINES = st.lists(
    st.sampled_from(
        [b"", b"a", b"b", b"c", b"  d", b"-- a/x", b"++ b/x", b"e\r", b"\xff\x0b", b"\\ x"]
    ),
    max_size=24,
)
_CONTENTS = st.builds(
    lambda lines, closed: b"\n".join(lines) + (b"\n" if closed and lines else b""),
    _LINES,
    st.booleans(),
)


_R = TypeVar("_R")


def _refused(made: Callable[[], _R]) -> tuple[InputError | None, _R | None]:
    try:
        return None, made()
    except InputError as error:
        return error, None


def _assert_survives(model: DiffModel) -> None:
    text = render(model)
    assert parse_diff(text) == model
    assert render(parse_diff(text)) == text
    assert select(model, {file.path for file in model.files}) == model
    if not any(file.op == "copy" for file in model.files):
        back = reverse(model)
        assert reverse(back) == model
        assert parse_diff(render(back)) == back
        assert (back.added, back.removed) == (model.removed, model.added)


def _lines(content: bytes) -> list[bytes]:
    return [line + b"\n" for line in content.split(b"\n")[:-1]] + [
        line for line in content.split(b"\n")[-1:] if line
    ]


def _diff(old: bytes, new: bytes, context: int = 3) -> bytes:
    """Return what a plain diff tool prints, with git's word on a missing line feed."""
    lines = [
        *difflib.diff_bytes(
            difflib.unified_diff, _lines(old), _lines(new), b"a/x", b"b/x", n=context
        )
    ]
    return b"".join(line if line.endswith(b"\n") else line + _OPEN for line in lines)


@given(
    _nearly_diffs()
    | _nearly_diffs()
    | st.lists(st.sampled_from(_PIECES), max_size=14).map(b"".join)
    | st.binary(max_size=200)
)
@settings(max_examples=max(400, settings().max_examples), deadline=None)
@pytest.mark.requirement("R32")
def test_any_bytes_are_one_diff_or_refused(data: bytes) -> None:
    refusal, model = _refused(lambda: parse_diff(data))
    if refusal is not None:
        line = refusal.facts.get("line", 1)
        assert refusal.code in ("diff.refused", "diff.name", "diff.empty")
        assert isinstance(line, int)
        assert 1 <= line <= data.count(b"\n") + 2
    event("refused" if model is None else "read")
    if model is None:
        return
    _assert_survives(model)
    for file in model.files:
        shown = [row for row in rows(file) if row.kind in ("context", "added", "removed")]
        assert len(shown) == sum(len(hunk.lines) for hunk in file.hunks)
        assert all(row.text.replace("\t", "").isprintable() for row in shown)
    marks(model)


@given(_CONTENTS, _CONTENTS)
@settings(deadline=None)
@pytest.mark.requirement("R33")
def test_what_is_applied_and_taken_back_is_what_was_there(old: bytes, new: bytes) -> None:
    text = _diff(old, new)
    if not text:
        return
    model = parse_diff(text)
    (file,) = model.files
    assert patched(file, old) == new
    assert relocated(file, old) == (file, 0)
    _assert_survives(model)
    (back,) = reverse(model).files
    assert patched(back, new) == old


@given(_CONTENTS, _CONTENTS, _CONTENTS)
@settings(deadline=None)
def test_a_hunk_moves_to_the_only_place_or_nowhere(old: bytes, new: bytes, before: bytes) -> None:
    text = _diff(old, new)
    moved_old = before + b"\n" + old
    if not text:
        return
    (file,) = parse_diff(text).files
    refusal, placed = _refused(lambda: relocated(file, moved_old))
    assert refusal is None or refusal.code == "diff.context"
    if placed is None:
        return
    found, moved = placed
    assert moved == sum(
        one.old_start != other.old_start for one, other in zip(file.hunks, found.hunks, strict=True)
    )
    # With its new numbers it is a diff like any other, and does what it is shown to do.
    assert parse_diff(render(DiffModel((found,)))).files == (found,)
    result = patched(found, moved_old)
    (back,) = reverse(DiffModel((found,))).files
    assert patched(back, result) == moved_old


@given(_CONTENTS, _CONTENTS, st.integers(0, 2))
@settings(deadline=None)
def test_a_hunk_with_less_context_fits_exactly_or_not_at_all(
    old: bytes, new: bytes, context: int
) -> None:
    text = _diff(old, new, context)
    if not text:
        return
    (file,) = parse_diff(text).files
    refusal, result = _refused(lambda: patched(file, old))
    assert refusal is None or refusal.code == "diff.context"
    assert result in (None, new)


@given(_CONTENTS)
@settings(deadline=None)
def test_a_deletion_of_any_content_is_a_diff(content: bytes) -> None:
    file: FileDiff = deletion("x", content, "100644")
    _assert_survives(DiffModel((file,)))
    assert patched(file, content) == b""
