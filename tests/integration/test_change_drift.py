"""What changes between showing a change and approving it: refused as drifted, nothing written."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pygit2
import pytest

from common.model.state import Reason
from common.seal import Seal
from tests.changing import Changing
from tests.hostile_diffs.case import (
    EDIT,
    EDITED,
    NEW,
    SOURCE,
    delete,
    edit,
    git_add,
    lay,
    rename,
    snapshot,
    text,
)

pytestmark = pytest.mark.requirement("P2", "R24")

TREE = {"a.txt": SOURCE, "folder/b.txt": SOURCE, "old.txt": SOURCE, "here.txt": SOURCE}
DIFF = (
    edit()
    + edit("folder/b.txt")
    + delete("old.txt", "@@ -1,3 +0,0 @@", "-one", "-two", "-three")
    + rename("here.txt", "there.txt")
    + git_add("new/file.txt", *NEW)
)


@pytest.fixture
def desk(tmp_path: Path) -> Changing:
    """A repository with one commit."""
    workspace = lay(tmp_path / "tree", TREE)
    repository = pygit2.init_repository(str(workspace), initial_head="main")
    repository.index.add_all()
    repository.index.write()
    _commit(workspace)
    return Changing.at(workspace, tmp_path / "state")


def _commit(workspace: Path) -> None:
    repository = pygit2.Repository(str(workspace))
    who = pygit2.Signature("Me", "me@example.com", 1_700_000_000, 0)
    parents = [] if repository.head_is_unborn else [repository.head.target]
    tree = repository.index.write_tree()
    repository.create_commit("refs/heads/main", who, who, "x", tree, parents)


def _shown(desk: Changing) -> Seal:
    return desk.seal(asyncio.run(desk.applier.prepare(desk.workspace, DIFF)))


def _expect_drift(desk: Changing, seal: Seal) -> tuple[str, ...]:
    before = snapshot(desk.workspace.path)
    outcome = asyncio.run(desk.run(seal))
    assert outcome.reason is Reason.DRIFTED
    assert outcome.drift
    assert snapshot(desk.workspace.path) == before
    return outcome.drift


def _another_byte(path: Path) -> None:
    path.write_bytes(b"One" + path.read_bytes()[3:])


def _same_in_another_folder(path: Path) -> None:
    shutil.copytree(path, path.with_name("copied"))
    path.rename(path.with_name("away"))
    path.with_name("copied").rename(path)


def _link_to_the_same(path: Path) -> None:
    path.rename(path.with_name("away"))
    path.symlink_to("away")


def _append(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\n")


def _make(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x\n")


def _move_git_away(top: Path) -> None:
    (top / ".git").rename(top.parent / "git")


def _detach(top: Path) -> None:
    _commit(top)
    repository = pygit2.Repository(str(top))
    repository.set_head(repository.head.target)


WAYS: dict[str, Callable[[Path], None]] = {
    "a byte of a file that is edited": lambda top: _another_byte(top / "a.txt"),
    "a byte of a file below a folder": lambda top: _another_byte(top / "folder/b.txt"),
    "a byte of a file that is deleted": lambda top: _another_byte(top / "old.txt"),
    "a byte of a file that is renamed": lambda top: _another_byte(top / "here.txt"),
    "a byte after the end": lambda top: _append(top / "a.txt"),
    "the executable bit": lambda top: (top / "a.txt").chmod(0o755),
    "a file that is gone": lambda top: (top / "a.txt").unlink(),
    "what is to be deleted is gone": lambda top: (top / "old.txt").unlink(),
    "what is to be added is there": lambda top: _make(top / "new" / "file.txt"),
    "the target of a rename is there": lambda top: _make(top / "there.txt"),
    "a twin of what is to be added": lambda top: _make(top / "NEW" / "x"),
    "a link to the same content": lambda top: _link_to_the_same(top / "a.txt"),
    "a link to a folder of the same content": lambda top: _link_to_the_same(top / "folder"),
    "another folder of the same content": lambda top: _same_in_another_folder(top / "folder"),
    "another workspace of the same content": _same_in_another_folder,
    "a repository in a folder of it": lambda top: _make(top / "folder" / ".git"),
    "another commit": _commit,
    "no repository any more": _move_git_away,
    "another branch of the same files": _detach,
}


@pytest.mark.parametrize("way", WAYS)
def test_what_changed_since_it_was_shown_is_drift(desk: Changing, way: str) -> None:
    seal = _shown(desk)
    WAYS[way](desk.workspace.path)
    _expect_drift(desk, seal)


def test_what_has_nothing_to_do_with_the_change_is_no_drift(desk: Changing) -> None:
    seal = _shown(desk)
    _make(desk.workspace.path / "other.txt")
    _make(desk.workspace.path / "folder" / "other.txt")
    (desk.workspace.path / "a.txt").touch()
    assert asyncio.run(desk.run(seal)).reason is Reason.COMPLETED
    assert (desk.workspace.path / "a.txt").read_bytes() == EDITED


@pytest.mark.parametrize(
    "field", ["diff_sha256", "new_sha256", "old_sha256", "path", "new_mode", "size", "op"]
)
def test_a_seal_that_was_tampered_with_is_drift(desk: Changing, field: str) -> None:
    seal = _shown(desk)
    other = desk.blobs.put(text("--- a/a.txt", "+++ b/a.txt", *EDIT))
    change = dict(seal.payload["changes"][0])
    lies = {"path": "folder/c.txt", "new_mode": "100755", "size": 1, "op": "delete"}
    change[field] = lies.get(field, hashlib.sha256(b"other").hexdigest())
    payload = (
        {**seal.payload, "diff_sha256": other}
        if field == "diff_sha256"
        else {**seal.payload, "changes": [change, *seal.payload["changes"][1:]]}
    )
    if field == "op":
        change |= {"new_sha256": None, "new_mode": None, "size": 0}
    _expect_drift(desk, replace(seal, payload=payload))


@pytest.mark.parametrize("damage", ["changed", "missing", "shorter"])
def test_a_diff_that_is_not_as_it_was_kept_changes_nothing(desk: Changing, damage: str) -> None:
    seal = _shown(desk)
    name = str(seal.payload["diff_sha256"])
    (blob,) = (desk.state / "blobs").rglob(name)
    content = blob.read_bytes()
    blob.unlink()
    if damage != "missing":
        blob.write_bytes(content[:-1] if damage == "shorter" else content.replace(b"TWO", b"2"))
        blob.chmod(0o600)
    _expect_drift(desk, seal)


def test_an_undo_drifts_as_well(desk: Changing) -> None:
    done, _ = asyncio.run(desk.apply(DIFF))
    prepared = asyncio.run(
        desk.applier.prepare_undo(desk.workspace, done, paths=None, short_id=done.short_id)
    )
    _another_byte(desk.workspace.path / "there.txt")
    _expect_drift(desk, desk.seal(prepared))
