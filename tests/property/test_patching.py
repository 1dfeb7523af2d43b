"""The short way to patch a file gives what the careful way gives, and never more."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.diff import patching
from common.diff.model import MINUS, PLUS, FileDiff, Hunk
from common.diff.patching import patched
from common.errors import InputError

_LINE = st.sampled_from([b"", b"a", b"b"])
_BODY = st.lists(
    st.tuples(st.sampled_from([b" ", b" ", b"+", b"-"]), _LINE), min_size=1, max_size=6
)


@st.composite
def hunks(draw: st.DrawFn) -> tuple[Hunk, ...]:
    """Return hunks that mostly have context around, anywhere in a small file."""
    found, at = [], 0
    for body in draw(st.lists(_BODY, min_size=1, max_size=3)):
        edge = draw(st.sampled_from([[], [b" a"], [b" b"]]))
        lines = (*edge, *(kind + line for kind, line in body), *edge)
        old = sum(line[0] != PLUS for line in lines)
        new = sum(line[0] != MINUS for line in lines)
        first = at + draw(st.integers(-1, 3))
        start = max(first, 0) + bool(old)
        found.append(Hunk(start, old, start, new, lines, old_open=draw(st.booleans()) and not edge))
        at = max(first, 0) + old
    return tuple(found)


@given(hunks(), st.lists(_LINE, max_size=9), st.booleans())
def test_the_short_way_and_the_careful_way_agree(
    found: tuple[Hunk, ...], lines: list[bytes], ends: bool
) -> None:
    old = b"\n".join(lines) + (b"\n" if ends and lines else b"")
    file = FileDiff("modify", "a", "a", None, None, found, 0, 0)
    short = patching._spliced(file, old)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(patching, "_spliced", lambda *_: None)
        try:
            careful = patched(file, old)
        except InputError:
            assert short is None
            return
    assert short in (None, careful)
    assert patched(file, old) == careful
