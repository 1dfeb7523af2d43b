"""Taking back what was changed: exact, or refused with the file and hunk that changed since."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from common.errors import InputError, StateError
from common.model.state import Reason
from common.seal import Seal
from local_agent.safety.backups import KEPT_DAYS
from tests.changing import Changing
from tests.hostile_diffs.case import (
    NEW,
    SOURCE,
    File,
    Folder,
    Tree,
    delete,
    edit,
    git_add,
    lay,
    rename,
    snapshot,
    text,
)
from tests.sealed import a_seal

pytestmark = [pytest.mark.heavy, pytest.mark.requirement("P5")]

TREE: Tree = {
    "a.txt": SOURCE,
    "folder/b.txt": SOURCE,
    "private.txt": File(SOURCE, 0o600),
    "going/deep/old.txt": File(SOURCE, 0o640),
    "run.sh": File(SOURCE, 0o750),
    "empty": Folder(),
}
DIFF = (
    edit()
    + rename("folder/b.txt", "moved/c.txt")
    + edit("private.txt")
    + delete("going/deep/old.txt", "@@ -1,3 +0,0 @@", "-one", "-two", "-three")
    + text("diff --git a/run.sh b/run.sh", "old mode 100755", "new mode 100644")
    + git_add("empty/new.txt", *NEW)
)


def _desk(tmp_path: Path, tree: Tree) -> Changing:
    return Changing.at(lay(tmp_path, tree), tmp_path / "state")


@pytest.fixture
def desk(tmp_path: Path) -> Changing:
    """A folder without git."""
    return _desk(tmp_path, TREE)


async def _undo_error(desk: Changing, done: Seal, *paths: str) -> StateError:
    before = snapshot(desk.workspace.path)
    with pytest.raises(StateError) as caught:
        await desk.undo(done, *paths)
    assert snapshot(desk.workspace.path) == before
    return caught.value


_LONG = b"".join(b"line %d\n" % number for number in range(1, 61))
_TWO_HUNKS = text(
    "diff --git a/long.txt b/long.txt",
    "--- a/long.txt",
    "+++ b/long.txt",
    *("@@ -1,3 +1,3 @@", " line 1", "-line 2", "+LINE 2", " line 3"),
    *("@@ -40,3 +40,3 @@", " line 40", "-line 41", "+LINE 41", " line 42"),
)


@pytest.mark.parametrize(
    ("line", "hunk"), [(b"LINE 2\n", 1), (b"line 42\n", 2), (b"line 6\n", 1), (b"line 60\n", 2)]
)
async def test_a_file_that_was_changed_since_is_named_with_its_hunk(
    tmp_path: Path, line: bytes, hunk: int
) -> None:
    desk = _desk(tmp_path, {"a.txt": SOURCE, "long.txt": _LONG})
    done, _ = await desk.apply(edit() + _TWO_HUNKS)
    path = desk.workspace.path / "long.txt"
    path.write_bytes(path.read_bytes().replace(line, b"by hand\n"))
    error = await _undo_error(desk, done)
    assert error.code == "undo.changed"
    facts = {"path": "long.txt", "hunk": hunk, "undoable": ("a.txt",), "why": "some"}
    assert error.facts == facts
    _, outcome = await desk.undo(done, "a.txt")
    assert outcome.reason is Reason.COMPLETED
    assert (desk.workspace.path / "a.txt").read_bytes() == SOURCE


async def test_a_file_that_went_or_came_or_changed_its_mode_since_is_named_as_a_whole(
    desk: Changing,
) -> None:
    done, _ = await desk.apply(DIFF)
    top = desk.workspace.path
    (top / "folder").mkdir()
    (top / "folder/b.txt").write_bytes(b"somebody else's\n")
    (top / "a.txt").chmod(0o755)
    (top / "empty/new.txt").unlink()
    (top / "going").write_bytes(b"a file now\n")
    error = await _undo_error(desk, done)
    assert error.facts["hunk"] == 0
    assert error.facts["undoable"] == ("private.txt", "going/deep/old.txt", "run.sh")
    assert (await _undo_error(desk, done, "moved/c.txt")).facts["undoable"] == ()
    assert (await _undo_error(desk, done, "empty/new.txt")).code == "undo.already"
    with pytest.raises(InputError) as caught:
        await desk.undo(done, "going/deep/old.txt")
    assert caught.value.code == "change.not-folder"


async def test_lines_that_were_only_added_at_the_end_since_belong_to_the_last_hunk(
    tmp_path: Path,
) -> None:
    desk = _desk(tmp_path, {"long.txt": _LONG})
    done, _ = await desk.apply(_TWO_HUNKS)
    with (desk.workspace.path / "long.txt").open("ab") as file:
        file.write(b"more\n")
    assert (await _undo_error(desk, done)).facts["hunk"] == 2


async def test_what_is_undone_already_is_said_to_be(desk: Changing) -> None:
    done, _ = await desk.apply(DIFF)
    await desk.undo(done)
    assert (await _undo_error(desk, done)).code == "undo.already"


async def test_a_path_that_the_change_does_not_name_is_refused(desk: Changing) -> None:
    done, _ = await desk.apply(DIFF)
    with pytest.raises(InputError) as caught:
        await desk.undo(done, "other.txt")
    assert caught.value.code == "diff.unknown-path"


async def test_what_is_no_change_has_no_undo(desk: Changing) -> None:
    assert (await _undo_error(desk, a_seal(desk.clock))).code == "undo.not-a-change"


async def test_an_undo_in_another_folder_is_refused(desk: Changing) -> None:
    done, _ = await desk.apply(edit())
    other = replace(done, workspace=replace(done.workspace, ino=1))
    assert (await _undo_error(desk, other)).code == "undo.elsewhere"


@pytest.mark.parametrize("gone", ["diff", "backup"])
async def test_an_undo_whose_backup_is_gone_is_refused(desk: Changing, gone: str) -> None:
    done, outcome = await desk.apply(edit())
    sha = done.payload["diff_sha256"] if gone == "diff" else outcome.files[0].old_sha256
    (desk.state / "blobs" / str(sha)[:2] / str(sha)).unlink()
    error = await _undo_error(desk, done)
    assert (error.code, error.facts) == ("undo.expired", {"days": KEPT_DAYS})


async def test_an_undo_is_promised_for_its_days_and_no_longer(desk: Changing) -> None:
    done, _ = await desk.apply(edit())
    desk.clock.advance(KEPT_DAYS * 86_400)
    await desk.applier.prepare_undo(desk.workspace, done, paths=None, short_id=done.short_id)
    desk.clock.advance(1)
    assert (await _undo_error(desk, done)).code == "undo.expired"


async def test_an_undo_names_what_it_takes_back(desk: Changing) -> None:
    done, _ = await desk.apply(DIFF)
    prepared = await desk.applier.prepare_undo(
        desk.workspace, done, paths=("a.txt",), short_id="T-7K3F"
    )
    assert prepared.payload["undoes"] == {"approval_id": done.approval_id, "short_id": "T-7K3F"}
    assert [change.path for change in prepared.changes] == ["a.txt"]
    assert (prepared.changes[0].old_sha256, prepared.moved) == (
        (await desk.applier.prepare_undo(desk.workspace, done, paths=None, short_id="T-7K3F"))
        .changes[0]
        .old_sha256,
        0,
    )


async def test_modes_that_a_plain_diff_does_not_tell_come_back(tmp_path: Path) -> None:
    desk = _desk(tmp_path, {"run.sh": File(b"x\n", 0o755), "keep.txt": b""})
    before = snapshot(desk.workspace.path)
    done, outcome = await desk.apply(text("--- a/run.sh", "+++ /dev/null", "@@ -1 +0,0 @@", "-x"))
    assert outcome.reason is Reason.COMPLETED
    _, outcome = await desk.undo(done)
    assert outcome.reason is Reason.COMPLETED
    assert snapshot(desk.workspace.path) == before
