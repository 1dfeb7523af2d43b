"""A change that fails, or is killed, at each of its system calls: all of it or nothing, always."""

from __future__ import annotations

import asyncio
import errno
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from common.model.state import Reason
from common.seal import Seal
from local_agent.actions.changes.settle import ChangeOutcome
from local_agent.workspace import temporary_files
from tests.changing import Changing
from tests.hostile_diffs.case import (
    EDITED,
    NEW,
    SOURCE,
    Entry,
    File,
    Folder,
    Snapshot,
    Tree,
    delete,
    edit,
    expected,
    git_add,
    lay,
    rename,
    snapshot,
    text,
)
from tests.interrupting import (
    ALLOCATING,
    CAN_FAIL,
    Interruption,
    failing,
    interrupted,
    killed_in_child,
)

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.requirement("P2", "P3", "P5", "R35", "R36", "R59"),
    pytest.mark.timeout(300),
]

_IN_MEMORY = Path("/dev/shm")
_GONE = ("@@ -1,3 +0,0 @@", "-one", "-two", "-three")
TREE: Tree = {
    "a.txt": SOURCE,
    "folder/b.txt": File(SOURCE, 0o600),
    "going/deep/old.txt": File(SOURCE, 0o640),
    "here.txt": SOURCE,
    "run.sh": SOURCE,
    "file": SOURCE,
    "tree/leaf.txt": SOURCE,
    "empty": Folder(),
}
DIFF = (
    edit()
    + edit("folder/b.txt")
    + delete("going/deep/old.txt", *_GONE)
    + rename("here.txt", "new/there.txt")
    + text("diff --git a/run.sh b/run.sh", "old mode 100644", "new mode 100755")
    + delete("file", *_GONE)
    + git_add("file/below/x.txt", *NEW)
    + delete("tree/leaf.txt", *_GONE)
    + git_add("tree", *NEW)
    + git_add("empty/y.txt", *NEW)
)
AFTER: Mapping[str, Entry | None] = {
    "a.txt": EDITED,
    "folder/b.txt": File(EDITED, 0o600),
    "going/deep/old.txt": None,
    "here.txt": None,
    "new/there.txt": SOURCE,
    "run.sh": File(SOURCE, 0o755),
    "file": None,
    "file/below/x.txt": b"new\n",
    "tree/leaf.txt": None,
    "tree": b"new\n",
    "empty": None,
    "empty/y.txt": b"new\n",
}


class _Place:
    """The tree, made anew for each try, and the seal of the change in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tries = 0

    def fresh(self) -> tuple[Changing, Seal]:
        """Return a new tree and the approved change, or the undo of it when that was made."""
        shutil.rmtree(self.root, ignore_errors=True)
        self.tries += 1
        desk = Changing.at(lay(self.root, TREE), self.folder / f"state-{self.tries}")
        return desk, desk.seal(asyncio.run(desk.applier.prepare(desk.workspace, DIFF)))

    @property
    def root(self) -> Path:
        return self.folder / f"tree-{self.tries}"

    def now(self) -> Snapshot:
        """Return what is there."""
        return snapshot(self.root)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[_Place]:
    """A place for thousands of trees: in memory, where there is such a file system."""
    if not _IN_MEMORY.is_dir():
        yield _Place(tmp_path)
        return
    with tempfile.TemporaryDirectory(dir=_IN_MEMORY) as folder:
        yield _Place(Path(folder))


@pytest.fixture(params=["renameat2", "in steps"])
def renaming(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With the kernel's exchange of names, and without."""
    if request.param == "in steps":
        monkeypatch.setattr(temporary_files, "_system_call", lambda: None)
    return str(request.param)


def _run(desk: Changing, seal: Seal) -> ChangeOutcome:
    return asyncio.run(desk.run(seal))


def _undo_seal(desk: Changing, done: Seal, *, whole: bool = True) -> Seal:
    prepared = asyncio.run(
        desk.applier.prepare_undo(
            desk.workspace, done, paths=None, short_id=done.short_id, whole=whole
        )
    )
    return desk.seal(prepared)


@pytest.mark.usefixtures("renaming")
def test_a_call_that_fails_leaves_all_or_nothing(place: _Place) -> None:
    for at in range(2000):
        desk, seal = place.fresh()
        before = place.now()
        failure = Interruption(failing(errno.EIO), at, CAN_FAIL)
        with interrupted(failure):
            outcome = _run(desk, seal)
        _check_ending(place, before, outcome)
        if not failure.happened:
            break
    assert 100 < at < 1999
    assert outcome.reason is Reason.COMPLETED


def test_a_disk_that_is_full_from_then_on_leaves_all_or_nothing(place: _Place) -> None:
    for at in range(2000):
        desk, seal = place.fresh()
        before = place.now()
        failure = Interruption(failing(errno.ENOSPC), at, ALLOCATING, lasting=True)
        with interrupted(failure):
            outcome = _run(desk, seal)
        if outcome.reason is not Reason.UNKNOWN:
            _check_ending(place, before, outcome)
        else:
            # Only a folder that could not be made again is missing, and what belongs in it.
            assert outcome.code == "change.half-done"
            assert outcome.paths
        if not failure.happened:
            break
    assert 50 < at < 1999


def test_an_undo_that_fails_leaves_all_or_nothing(place: _Place) -> None:
    for at in range(0, 2000, 2):
        desk, seal = place.fresh()
        assert _run(desk, seal).reason is Reason.COMPLETED
        undo = _undo_seal(desk, seal)
        before = place.now()
        failure = Interruption(failing(errno.EIO), at, CAN_FAIL)
        with interrupted(failure):
            outcome = _run(desk, undo)
        if outcome.reason is Reason.COMPLETED and outcome.code is None:
            assert place.now() == _original(place)
        elif outcome.reason is not Reason.COMPLETED:
            assert place.now() == before
        if not failure.happened:
            break
    assert 100 < at < 1999


def test_a_killed_change_is_settled_at_the_restart(place: _Place, renaming: str) -> None:
    endings = set()
    for at in range(2000):
        desk, seal = place.fresh()
        before = place.now()
        killed = killed_in_child(at, partial(_run, desk, seal))
        outcome = asyncio.run(desk.applier.settle(seal, desk.workspace))
        endings.add((outcome.reason, outcome.code))
        _check_ending(place, before, outcome)
        if not killed:
            break
    assert (50 if renaming == "renameat2" else 70) < at < 1999
    assert endings == {
        (Reason.FAILED, "change.not-written"),
        (Reason.FAILED, "change.restored"),
        (Reason.COMPLETED, None),
    }


def test_a_settling_that_is_killed_is_settled_at_the_next_restart(place: _Place) -> None:
    settled = 0
    for at in range(0, 2000, 5):
        for again in range(0, 2000, 6):
            desk, seal = place.fresh()
            before = place.now()
            killed = killed_in_child(at, partial(_run, desk, seal))
            more = killed_in_child(again, lambda desk=desk, seal=seal: _settle(desk, seal))  # type: ignore[misc]
            outcome = _settle(desk, seal)
            _check_ending(place, before, outcome)
            settled += 1
            if not more:
                break
        if not killed:
            break
    assert settled > 30


def test_a_killed_change_that_somebody_edited_since_can_be_put_back_but_for_that(
    place: _Place, renaming: str
) -> None:
    restored = 0
    for at in range(0, 2000, 2 if renaming == "renameat2" else 5):
        desk, seal = place.fresh()
        original = snapshot(desk.workspace.path)
        killed = killed_in_child(at, partial(_run, desk, seal))
        (desk.workspace.path / "a.txt").write_bytes(b"an edit by hand\n")
        outcome = _settle(desk, seal)
        assert (outcome.reason, outcome.code) == (Reason.UNKNOWN, "change.unsettled")
        assert outcome.mixture is not None
        assert "a.txt" in outcome.mixture.foreign
        beside = {path for path in snapshot(desk.workspace.path) if ".codexbridge-" in path}
        assert beside == set(outcome.mixture.beside)
        assert (desk.workspace.path / "a.txt").read_bytes() == b"an edit by hand\n"
        if outcome.mixture.new:
            undo = _undo_seal(desk, seal, whole=False)
            assert "a.txt" not in {change["path"] for change in undo.payload["changes"]}
            assert _run(desk, undo).reason is Reason.COMPLETED
            restored += 1
        found = snapshot(desk.workspace.path)
        edited = found.pop("a.txt")
        assert edited[1] == b"an edit by hand\n"
        left = {path: entry for path, entry in original.items() if path != "a.txt"}
        assert {path: entry for path, entry in found.items() if path not in beside} == left
        if not killed:
            break
    assert restored > 10


def test_a_file_beside_that_nobody_knows_is_not_touched(place: _Place) -> None:
    desk, seal = place.fresh()
    kept: list[Path] = []
    for at in range(2000):
        desk, seal = place.fresh()
        killed_in_child(at, partial(_run, desk, seal))
        kept = list(desk.workspace.path.rglob(".codexbridge-*.tmp"))
        if kept:
            break
    kept[0].write_bytes(b"something that is nowhere else\n")
    before = place.now()
    outcome = _settle(desk, seal)
    assert (outcome.reason, outcome.code) == (Reason.UNKNOWN, "change.unsettled")
    assert place.now() == before


def test_a_workspace_that_was_exchanged_is_not_settled(place: _Place) -> None:
    desk, seal = place.fresh()
    other = replace(seal, workspace=replace(seal.workspace, ino=seal.workspace.ino + 1))
    assert _settle(desk, other).reason is Reason.UNKNOWN
    desk.workspace.path.rename(desk.workspace.path.with_name("moved"))
    assert _settle(desk, seal).reason is Reason.UNKNOWN


def _settle(desk: Changing, seal: Seal) -> ChangeOutcome:
    return asyncio.run(desk.applier.settle(seal, desk.workspace))


def _original(place: _Place) -> Snapshot:
    fresh = place.folder / "original"
    if not fresh.exists():
        lay(fresh, TREE)
    return snapshot(fresh)


def _check_ending(place: _Place, before: Snapshot, outcome: ChangeOutcome) -> None:
    found = place.now()
    if outcome.reason is not Reason.COMPLETED:
        assert outcome.reason in (Reason.FAILED, Reason.DRIFTED), outcome
        assert found == before, outcome
        assert outcome.files == ()
        return
    left = {path: entry for path, entry in found.items() if path.endswith(".tmp")}
    assert bool(left) == (outcome.code == "change.leftover")
    wanted = expected(before, AFTER)
    assert {path: entry for path, entry in found.items() if path not in left} == wanted
