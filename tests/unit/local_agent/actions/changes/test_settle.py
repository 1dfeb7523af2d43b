"""What a crash left of a change, in each of the states that it can leave."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from common.model.state import Reason
from common.seal import Seal
from local_agent.actions.changes.settle import ChangeOutcome, Mixture, tag_of
from local_agent.safety.backups import Backups, Details
from local_agent.workspace.temporary_files import beside_name
from tests.changing import Changing
from tests.hostile_diffs.case import (
    EDITED,
    NEW,
    SOURCE,
    Folder,
    Snapshot,
    delete,
    edit,
    git_add,
    lay,
    rename,
    snapshot,
    text,
)

pytestmark = [pytest.mark.heavy, pytest.mark.requirement("P3", "R36")]

DIFF = (
    edit()
    + rename("here.txt", "new/there.txt")
    + delete("going/old.txt", "@@ -1 +0,0 @@", "-old")
    + git_add("empty/added.txt", *NEW)
    + text("diff --git a/run.sh b/run.sh", "old mode 100644", "new mode 100755")
)


class _Left:
    """A workspace as a crash left it."""

    def __init__(self, desk: Changing, seal: Seal) -> None:
        self.desk = desk
        self.seal = seal
        self.top = desk.workspace.path
        self.before = self.now()

    def now(self) -> Snapshot:
        return snapshot(self.top)

    def beside(self, number: int, data: bytes, end: str = "") -> Path:
        """Leave a file beside."""
        path = self.top / (beside_name(tag_of(self.seal.approval_id), number) + end)
        path.write_bytes(data)
        return path

    def keep(self) -> None:
        """Keep the backups, as a change does before it touches anything."""
        prepared = [SOURCE, b"old\n", b"here\n", b"", DIFF]
        backups, details = Backups(self.desk.blobs), Details(empty=("empty",))
        with backups.keeping(self.seal.approval_id, prepared, details):
            pass

    def make(self, *steps: str) -> None:
        """Do some of the steps of the change by hand."""
        top = self.top
        for step in steps:
            if step == "edit":
                (top / "a.txt").write_bytes(EDITED)
            elif step == "rename":
                (top / "new").mkdir()
                (top / "here.txt").rename(top / "new/there.txt")
            elif step == "delete":
                (top / "going/old.txt").unlink()
            elif step == "add":
                (top / "empty/added.txt").write_bytes(b"new\n")
            else:
                (top / "run.sh").chmod(0o755)

    def settle(self) -> ChangeOutcome:
        return asyncio.run(self.desk.applier.settle(self.seal, self.desk.workspace))


ALL = ("edit", "rename", "delete", "add", "mode")


@pytest.fixture
def left(tmp_path: Path) -> _Left:
    """A change that was approved and not begun."""
    tree = {"a.txt": SOURCE, "here.txt": b"here\n", "going/old.txt": b"old\n", "run.sh": b""}
    desk = Changing.at(lay(tmp_path, {**tree, "empty": Folder()}), tmp_path / "state")
    prepared = asyncio.run(desk.applier.prepare(desk.workspace, DIFF))
    return _Left(desk, desk.seal(prepared))


def test_nothing_was_written(left: _Left) -> None:
    outcome = left.settle()
    assert (outcome.reason, outcome.code) == (Reason.FAILED, "change.not-written")
    assert left.now() == left.before


@pytest.mark.parametrize("data", [b"", EDITED[:5], EDITED, b"new\n", SOURCE])
@pytest.mark.parametrize("is_kept", [True, False])  # it is kept while they are written
def test_files_that_were_written_beside_are_removed(
    left: _Left, data: bytes, is_kept: bool
) -> None:
    if is_kept:
        left.keep()
    left.beside(0, data)
    (left.top / "new").mkdir()
    outcome = left.settle()
    assert (outcome.reason, outcome.code) == (Reason.FAILED, "change.not-written")
    assert left.now() == left.before


def test_all_was_made_and_is_tidied(left: _Left) -> None:
    left.keep()
    left.make(*ALL)
    left.beside(2, b"old\n")
    outcome = left.settle()
    assert (outcome.reason, outcome.code) == (Reason.COMPLETED, None)
    assert len(outcome.files) == len(ALL)
    assert not (left.top / "going").exists()
    assert not list(left.top.rglob(".codexbridge-*"))


@pytest.mark.parametrize("steps", [ALL[:n] for n in range(1, 5)] + [ALL[n:] for n in range(1, 5)])
def test_what_was_half_made_is_brought_back(left: _Left, steps: tuple[str, ...]) -> None:
    left.keep()
    left.make(*steps)
    left.beside(1, b"here\n")
    outcome = left.settle()
    assert (outcome.reason, outcome.code) == (Reason.FAILED, "change.restored")
    assert left.now() == left.before


def test_a_file_between_two_names_is_brought_back(left: _Left) -> None:
    left.keep()
    left.beside(0, SOURCE, ".old")
    (left.top / "a.txt").unlink()
    outcome = left.settle()
    assert (outcome.reason, outcome.code) == (Reason.FAILED, "change.restored")
    assert left.now() == left.before


def _edited(left: _Left) -> None:
    (left.top / "a.txt").write_bytes(b"by hand\n")


def _gone(left: _Left) -> None:
    (left.top / "a.txt").unlink()


def _linked(left: _Left) -> None:
    (left.top / "a.txt").unlink()
    (left.top / "a.txt").symlink_to("run.sh")


def _unknown_beside(left: _Left) -> None:
    left.beside(0, b"nobody knows this\n")


def _link_beside(left: _Left) -> None:
    path = left.beside(0, b"")
    path.unlink()
    path.symlink_to("run.sh")


def _pipe_beside(left: _Left) -> None:
    path = left.beside(0, b"")
    path.unlink()
    os.mkfifo(path)


def _gone_beside_another(left: _Left) -> None:
    left.beside(0, b"old\n")
    (left.top / "a.txt").unlink()


@pytest.mark.parametrize("steps", [(), ("delete",), ALL[1:]])
@pytest.mark.parametrize(
    "meddle",
    [_edited, _gone, _linked, _unknown_beside, _link_beside, _pipe_beside, _gone_beside_another],
)
def test_what_cannot_be_told_is_not_touched(
    left: _Left, meddle: object, steps: tuple[str, ...]
) -> None:
    assert callable(meddle)
    left.keep()
    left.make(*steps)
    meddle(left)
    before = left.now()
    outcome = left.settle()
    assert (outcome.reason, outcome.code) == (Reason.UNKNOWN, "change.unsettled")
    beside = set(outcome.mixture.beside) if outcome.mixture else set()
    assert {path for path in left.now() if path.startswith(".codexbridge-")} == beside
    # A file beside whose content is kept elsewhere is removed, and nothing else.
    gone = {path for path in before if path.startswith(".codexbridge-")} - beside
    assert left.now() == {path: entry for path, entry in before.items() if path not in gone}


def test_of_a_change_that_somebody_edited_since_it_is_told_which_file_is_what(left: _Left) -> None:
    left.keep()
    left.make("edit", "delete")
    (left.top / "run.sh").write_bytes(b"by hand\n")
    left.beside(0, SOURCE)
    left.beside(1, b"new\n")
    known = left.beside(7, b"nobody else has this\n").name
    outcome = left.settle()
    assert outcome.mixture == Mixture(
        new=("a.txt", "going/old.txt"),
        old=("here.txt", "new/there.txt", "empty/added.txt"),
        foreign=("run.sh",),
        beside=(known,),
    )
    assert outcome.paths == ("run.sh", known)


def test_a_rename_between_its_two_steps_is_put_back_beside_a_foreign_edit(left: _Left) -> None:
    left.keep()
    left.beside(0, b"here\n")
    (left.top / "here.txt").unlink()
    _edited(left)
    outcome = left.settle()
    assert outcome.mixture is not None
    assert (outcome.mixture.foreign, outcome.mixture.beside) == (("a.txt",), ())
    assert (left.top / "here.txt").read_bytes() == b"here\n"
    assert (left.top / "a.txt").read_bytes() == b"by hand\n"


def test_without_backups_nothing_is_touched(left: _Left) -> None:
    left.make("edit")
    before = left.now()
    assert left.settle().reason is Reason.UNKNOWN
    left.beside(0, b"")
    assert left.settle().reason is Reason.UNKNOWN
    assert {path: entry for path, entry in left.now().items() if path in before} == before


def test_files_beside_of_another_change_are_none_of_ours(left: _Left) -> None:
    other = left.top / beside_name(tag_of("another approval"), 0)
    other.write_bytes(b"theirs\n")
    assert left.settle().code == "change.not-written"
    assert other.read_bytes() == b"theirs\n"
