"""Good diffs, damaged at random: what both we and git still accept gives one and the same tree.

A text that two programs read differently is what a hostile author looks for.  Most damage is
refused at once; ``--hypothesis-profile=many`` tries more of it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.diff.model import FileDiff
from common.diff.parse import parse_diff
from common.diff.patching import patched, relocated
from common.diff.render import render
from common.errors import InputError
from tests import git_apply
from tests.hostile_diffs import forms, hunks, places
from tests.hostile_diffs.case import Case, File, lay, snapshot

EXAMPLES = max(400, 20 * settings().max_examples if settings().max_examples > 100 else 0)
Files = dict[str, File]


def _is_seed(case: Case) -> bool:
    plain = all(isinstance(entry, bytes | File) for entry in case.before.values())
    return plain and case.code is None and len(case.diff) < 2000


SEEDS = [case for case in (*forms.ACCEPTED, *hunks.DONE, *places.DONE) if _is_seed(case)]
LINES = sorted({line for case in SEEDS for line in case.diff.split(b"\n")})
BYTES = st.sampled_from([bytes([one]) for one in b'ab -+\\@"\t\r/,019\0\xff\v'])
WAYS = ("insert", "remove", "twice", "swap", "change", "widen", "narrow")


@st.composite
def damaged(draw: st.DrawFn) -> tuple[Case, bytes]:
    """A case, and its diff with a few faults in it."""
    case = draw(st.sampled_from(SEEDS))
    lines = case.diff.split(b"\n")
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(lines) - 1))
        line = lines[at]
        column = draw(st.integers(0, max(len(line) - 1, 0)))
        match draw(st.sampled_from(WAYS)):
            case "insert":
                lines.insert(at, draw(st.sampled_from(LINES)))
            case "remove" if len(lines) > 1:
                del lines[at]
            case "twice":
                lines.insert(draw(st.integers(0, len(lines))), line)
            case "swap":
                other = draw(st.integers(0, len(lines) - 1))
                lines[at], lines[other] = lines[other], lines[at]
            case "change":
                lines[at] = line[:column] + draw(BYTES) + line[column + 1 :]
            case "widen":
                lines[at] = line[:column] + draw(BYTES) + line[column:]
            case _:
                lines[at] = line[:column] + line[column + 1 :]
    return case, b"\n".join(lines)


@pytest.mark.needs("git")
@pytest.mark.timeout(900)
@pytest.mark.requirement("R32", "R33", "R37")
@given(damaged())
@settings(max_examples=EXAMPLES, deadline=None)
@pytest.mark.thorough
def test_a_damaged_diff_never_means_one_thing_to_us_and_another_to_git(
    made: tuple[Case, bytes],
) -> None:
    case, diff = made
    before = {
        name: entry if isinstance(entry, File) else File(entry)
        for name, entry in case.before.items()
        if isinstance(entry, bytes | File)
    }
    try:
        ours = _applied(before, diff)
    except InputError:
        return
    with tempfile.TemporaryDirectory() as place:
        workspace = lay(Path(place) / "tree", case.before)
        if not git_apply.refusal(workspace, diff):
            git_apply.apply(workspace, diff)
            assert _contents(workspace) == {
                name: (file.content, bool(file.mode & 0o100)) for name, file in ours.items()
            }


def _applied(before: Files, diff: bytes) -> Files:
    """Return what the diff makes of the files, in memory; the workspace's rules left aside."""
    model = parse_diff(diff)
    assert parse_diff(render(model)) == model
    after = dict(before)
    for file in model.files:
        old = _source(before, file)
        moved, _ = relocated(file, old.content)
        content = patched(moved, old.content)
        if file.op in ("rename", "delete"):
            after.pop(file.old_path or "")
        if file.op != "delete":
            after[file.path] = File(content, _mode(file, old))
    return after


def _source(before: Files, file: FileDiff) -> File:
    taken = file.op != "modify" and file.op != "delete" and file.path in before
    if taken or (file.old_path is not None and file.old_path not in before):
        raise InputError("change.exists" if taken else "change.missing")
    return before[file.old_path] if file.old_path is not None else File(b"")


def _mode(file: FileDiff, old: File) -> int:
    told = {"100755": 0o755, "100644": 0o644}
    return old.mode if file.new_mode is None else told[file.new_mode]


def _contents(workspace: Path) -> dict[str, tuple[bytes, bool]]:
    return {
        name: (content, bool(mode & 0o100))
        for name, (kind, content, mode) in snapshot(workspace).items()
        if kind == "file"
    }
