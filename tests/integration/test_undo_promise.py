"""What may be applied can be taken back (P5): at the bounds of diffs and seals, and after a restart
of the machine, too."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pygit2
import pytest

from common.diff.model import MAX_BYTES, MAX_HUNKS
from common.errors import InputError
from common.model.state import Reason
from common.seal import Seal
from local_agent.actions.changes import describe as changes
from local_agent.actions.changes.settle import tag_of
from local_agent.workspace.temporary_files import beside_name
from tests.changing import Changing
from tests.hostile_diffs.case import (
    EDITED,
    SOURCE,
    Folder,
    Tree,
    copy,
    edit,
    git_add,
    lay,
    snapshot,
)

pytestmark = pytest.mark.requirement("P5")

_LINE = b"+" + b"x" * 98 + b"\n"
_ROWS = b"".join(b"%099d\n" % number for number in range(3 * MAX_HUNKS))


def _desk(tmp_path: Path, tree: Tree) -> Changing:
    """Return a repository in which every file is tracked."""
    workspace = lay(tmp_path, tree)
    repository = pygit2.init_repository(str(workspace))
    repository.index.add_all()
    repository.index.write()
    return Changing.at(workspace, tmp_path / "state")


def _added(path: str, lines: int) -> bytes:
    return b"--- /dev/null\n+++ b/%s\n@@ -0,0 +1,%d @@\n" % (path.encode(), lines) + _LINE * lines


def _between_blank_lines(count: int) -> bytes:
    head = b"--- a/blank.txt\n+++ b/blank.txt\n@@ -1,%d +1,%d @@\n" % (count + 1, count + 2)
    return head + b"\n" * count + b"+y\n x\n"


def _many_hunks() -> bytes:
    hunks = (
        b"@@ -%d,2 +%d,2 @@\n-%099d\n+y\n %099d\n" % (row + 1, row + 1, row, row + 1)
        for row in range(0, 3 * MAX_HUNKS, 3)
    )
    return b"--- a/rows.txt\n+++ b/rows.txt\n" + b"".join(hunks)


async def _code(desk: Changing, diff: bytes) -> str:
    with pytest.raises(InputError) as caught:
        await desk.applier.prepare(desk.workspace, diff)
    return caught.value.code


@pytest.mark.parametrize(
    "diff",
    [
        b"".join(_added(f"new{number:03}.txt", 39) for number in range(499)),
        _between_blank_lines(MAX_BYTES - 100),
        _added("new.txt", MAX_BYTES // 120) + copy("rows.txt", "copy.txt"),
        _many_hunks() + copy("a.txt", "copy.txt"),
    ],
    ids=["modes", "blank-lines", "a-copy", "hunks"],
)
async def test_a_diff_that_no_diff_could_take_back_is_not_proposed(
    tmp_path: Path, diff: bytes
) -> None:
    blank = b"\n" * (MAX_BYTES - 100) + b"x\n"
    rows = _ROWS[: 100 * 9_000] if b"new.txt" in diff else _ROWS
    desk = _desk(tmp_path, {"a.txt": SOURCE, "rows.txt": rows, "blank.txt": blank})
    assert len(diff) <= MAX_BYTES
    assert await _code(desk, diff) == "change.no-undo"


@pytest.mark.parametrize(
    "path", ["/".join(["deep"] * 40), "n" * 250], ids=["many-folders", "long-names"]
)
async def test_a_change_whose_undo_no_seal_could_hold_is_not_proposed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    desk = _desk(tmp_path, {"a.txt": SOURCE})
    diff = b"".join(git_add(f"{number}{path}", "@@ -0,0 +1 @@", "+x") for number in range(4))
    taken = 4 * (changes._CHANGE_BYTES // 2 + 2 * len(path))
    monkeypatch.setattr(changes, "_MAX_SEALED", taken)
    assert await _code(desk, diff) == "change.too-many"


def _elsewhere(seal: Seal) -> Seal:
    """Return the seal as it was before the file system was mounted under another number."""
    return replace(seal, workspace=replace(seal.workspace, dev=seal.workspace.dev + 1))


async def test_a_change_can_be_undone_after_the_machine_restarted(tmp_path: Path) -> None:
    desk = _desk(tmp_path, {"a.txt": SOURCE})
    done, _ = await desk.apply(edit())
    _, outcome = await desk.undo(_elsewhere(done))
    assert outcome.reason is Reason.COMPLETED
    assert (desk.workspace.path / "a.txt").read_bytes() == SOURCE


@pytest.mark.requirement("P2", "R36")
def test_what_a_power_failure_left_half_made_is_brought_back(tmp_path: Path) -> None:
    desk = _desk(tmp_path, {"a.txt": SOURCE, "b.txt": SOURCE})
    prepared = asyncio.run(desk.applier.prepare(desk.workspace, edit() + edit("b.txt")))
    seal = desk.seal(prepared)
    desk.blobs.put(SOURCE)
    (desk.workspace.path / "a.txt").write_bytes(EDITED)
    outcome = asyncio.run(desk.applier.settle(_elsewhere(seal), desk.workspace))
    assert (outcome.reason, outcome.code) == (Reason.FAILED, "change.restored")
    assert (desk.workspace.path / "a.txt").read_bytes() == SOURCE


def test_an_interrupted_undo_leaves_the_folder_that_was_empty_before(tmp_path: Path) -> None:
    desk = _desk(tmp_path, {"a.txt": SOURCE, "empty": Folder()})
    top = desk.workspace.path
    before = snapshot(top)
    done, _ = asyncio.run(desk.apply(git_add("empty/new.txt", "@@ -0,0 +1 @@", "+x")))
    undoing = desk.applier.prepare_undo(desk.workspace, done, paths=None, short_id=done.short_id)
    seal = desk.seal(asyncio.run(undoing))
    desk.blobs.put(b"x\n")
    (top / "empty/new.txt").rename(top / beside_name(tag_of(seal.approval_id), 0))
    outcome = asyncio.run(desk.applier.settle(seal, desk.workspace))
    assert outcome.reason is Reason.COMPLETED
    assert snapshot(top) == before
