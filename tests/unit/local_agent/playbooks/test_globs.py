"""Which paths a pattern means, beside what Python itself says of it."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.errors import InputError
from local_agent.playbooks.globs import MAX_CHARS, MAX_PARTS, Glob
from tests.each import each

PATHS = ("a.py", ".env.py", "src/a.py", "src/b.txt", "src/deep/er/c.py", "src/.hid/d.py", "A.PY")


@each(
    "glob, meant",
    [
        ("*.py", {"a.py", ".env.py"}),
        ("**/*.py", {"a.py", ".env.py", "src/a.py", "src/deep/er/c.py", "src/.hid/d.py"}),
        ("**", set(PATHS)),
        ("src/**", {"src/a.py", "src/b.txt", "src/deep/er/c.py", "src/.hid/d.py"}),
        ("src/*", {"src/a.py", "src/b.txt"}),
        ("src/*/*", {"src/.hid/d.py"}),
        ("*/*/**/c.py", {"src/deep/er/c.py"}),
        ("**/**/deep/**/c.py", {"src/deep/er/c.py"}),
        ("src", set()),
        ("?.py", {"a.py"}),
        ("[!a].py", set()),
        ("src/[ab].*", {"src/a.py", "src/b.txt"}),
        ("[A].PY", {"A.PY"}),
        ("a[.]py", {"a.py"}),
        ("src[/]a.py", set()),
    ],
)
def test_a_pattern_means_whole_paths_part_by_part(glob: str, meant: set[str]) -> None:
    assert set(filter(Glob(glob).matches, PATHS)) == meant


@each(
    "glob",
    [
        *("", "/", "/etc/*", "../*", "a/../b", "a//b", "./a", "a/", "a\0b"),
        *("x" * (MAX_CHARS + 1), "/".join("a" * (MAX_PARTS + 1))),
    ],
)
def test_what_leads_out_or_means_nothing_is_refused(glob: str) -> None:
    with pytest.raises(InputError) as caught:
        Glob(glob)
    assert caught.value.code == "playbook.glob"


NAMES = st.text("ab.", min_size=1, max_size=3).filter(lambda name: name not in (".", ".."))
PARTS = st.text("ab.*?", min_size=1, max_size=4).filter(
    lambda part: part not in (".", "..") and "**" not in part
)


@given(st.lists(PARTS, min_size=1, max_size=4), st.lists(NAMES, min_size=1, max_size=4))
def test_without_folders_of_any_depth_it_is_as_pathlib_has_it(
    parts: list[str], names: list[str]
) -> None:
    path = "/".join(names)
    same = len(parts) == len(names) and PurePosixPath(path).match("/".join(parts))
    assert Glob("/".join(parts)).matches(path) == same


@given(st.lists(st.sampled_from(["**", "a", "*"]), min_size=1, max_size=8))
def test_any_number_of_folders_is_tried_and_takes_no_time(parts: list[str]) -> None:
    least = sum(part != "**" for part in parts) + (parts[-1] == "**")
    for depth in range(1, 10):
        long_enough = depth == least if "**" not in parts else depth >= least
        assert Glob("/".join(parts)).matches("/".join("a" * depth)) == long_enough


def test_a_hostile_pattern_is_compared_at_once() -> None:
    hostile = "/".join(["**", "a*a*a*a*a*b"] * 16)
    assert not Glob(hostile).matches("/".join(["a" * 200] * 60))
