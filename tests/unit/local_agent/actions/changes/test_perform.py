"""Preparing changes and undos, running what was sealed, and refusing everything else."""

from __future__ import annotations

import asyncio
import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pygit2
import pytest

from common.diff.parse import parse_diff
from common.errors import InputError, StateError
from common.model.state import Reason
from local_agent.actions.changes import describe as changes
from local_agent.store.blobs import Blobs
from local_agent.workspace import tree as trees
from tests.changing import Changing
from tests.hostile_diffs.case import (
    EDITED,
    NEW,
    SOURCE,
    Fifo,
    File,
    Folder,
    Link,
    Tree,
    copy,
    delete,
    edit,
    git_add,
    lay,
    rename,
    snapshot,
    text,
)
from tests.sealed import a_payload, a_seal

pytestmark = [pytest.mark.heavy, pytest.mark.requirement("P2", "P5", "R24", "R35", "R36")]

_GONE = ("@@ -1,3 +0,0 @@", "-one", "-two", "-three")
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
    + delete("going/deep/old.txt", *_GONE)
    + text("diff --git a/run.sh b/run.sh", "old mode 100755", "new mode 100644")
    + git_add("empty/new.txt", *NEW)
)


def _desk(tmp_path: Path, tree: Tree = TREE, *, tracked: bool = False, **facts: Any) -> Changing:
    workspace = lay(tmp_path, tree)
    if tracked:
        repository = pygit2.init_repository(str(workspace))
        repository.index.add_all()
        repository.index.write()
    return Changing.at(workspace, tmp_path / "state", **facts)


@pytest.fixture
def desk(tmp_path: Path) -> Changing:
    """A folder without git."""
    return _desk(tmp_path)


async def _refused(desk: Changing, diff: bytes) -> InputError:
    before = snapshot(desk.workspace.path)
    with pytest.raises(InputError) as caught:
        await desk.applier.prepare(desk.workspace, diff)
    assert snapshot(desk.workspace.path) == before
    return caught.value


# --- making and taking back ---


async def test_a_change_and_its_undo_and_the_undo_of_that(desk: Changing) -> None:
    before = snapshot(desk.workspace.path)
    done, outcome = await desk.apply(DIFF)
    assert (outcome.reason, outcome.code, outcome.drift) == (Reason.COMPLETED, None, ())
    assert [file.path for file in outcome.files] == [f.path for f in parse_diff(DIFF).files]
    after = snapshot(desk.workspace.path)
    assert after["a.txt"] == ("file", EDITED, 0o644)
    assert after["moved/c.txt"] == ("file", SOURCE, 0o644)
    assert after["private.txt"] == ("file", EDITED, 0o600)
    assert after["run.sh"] == ("file", SOURCE, 0o640)
    assert not any(path.startswith(("going", "folder")) for path in after)
    undone, outcome = await desk.undo(done)
    assert outcome.reason is Reason.COMPLETED
    assert snapshot(desk.workspace.path) == before
    _, outcome = await desk.undo(undone)
    assert outcome.reason is Reason.COMPLETED
    assert snapshot(desk.workspace.path) == after


async def test_an_undo_gives_back_folders_with_their_permissions(desk: Changing) -> None:
    deep = desk.workspace.path / "going/deep"
    deep.chmod(0o700)
    done, _ = await desk.apply(DIFF)
    assert not deep.exists()
    await desk.undo(done)
    assert stat.S_IMODE(deep.stat().st_mode) == 0o700
    assert stat.S_IMODE(deep.parent.stat().st_mode) == 0o755


async def test_new_files_and_folders_have_the_usual_permissions_whatever_our_umask(
    desk: Changing,
) -> None:
    before = os.umask(0o077)
    try:
        await desk.apply(git_add("x/y/z.sh", *NEW, mode="100755") + git_add("x/z.txt", *NEW))
    finally:
        os.umask(before)
    top = desk.workspace.path / "x"
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (top, top / "y")]
    assert modes == [0o755, 0o755]
    assert stat.S_IMODE((top / "y/z.sh").stat().st_mode) == 0o755
    assert stat.S_IMODE((top / "z.txt").stat().st_mode) == 0o644


async def test_a_new_folder_inherits_the_group_of_a_shared_one(desk: Changing) -> None:
    (desk.workspace.path / "folder").chmod(0o2775)
    await desk.apply(git_add("folder/new/x.txt", *NEW))
    made = (desk.workspace.path / "folder/new").stat()
    assert stat.S_IMODE(made.st_mode) == 0o2755


async def test_a_program_stays_for_those_who_could_read_it(desk: Changing) -> None:
    await desk.apply(
        text("diff --git a/private.txt b/private.txt", "old mode 100644", "new mode 100755")
    )
    assert stat.S_IMODE((desk.workspace.path / "private.txt").stat().st_mode) == 0o700


async def test_a_hard_linked_copy_outside_stays_as_it_is(desk: Changing, tmp_path: Path) -> None:
    outside = tmp_path / "outside" / "same"
    outside.hardlink_to(desk.workspace.path / "a.txt")
    await desk.apply(edit())
    assert outside.read_bytes() == SOURCE
    assert (desk.workspace.path / "a.txt").stat().st_nlink == 1


async def test_a_copy_is_taken_back_from_its_content(tmp_path: Path) -> None:
    desk = _desk(tmp_path, tracked=True)
    before = snapshot(desk.workspace.path)
    done, outcome = await desk.apply(copy("a.txt", "copies/b.txt") + edit())
    assert outcome.reason is Reason.COMPLETED
    assert (desk.workspace.path / "copies/b.txt").read_bytes() == SOURCE
    assert (desk.workspace.path / "a.txt").read_bytes() == EDITED
    await desk.undo(done)
    assert snapshot(desk.workspace.path) == before


async def test_a_hunk_that_stands_elsewhere_is_shown_where_it_stands(desk: Changing) -> None:
    (desk.workspace.path / "a.txt").write_bytes(b"zero\n" + SOURCE)
    prepared = await desk.applier.prepare(desk.workspace, edit())
    assert prepared.moved == 1
    assert parse_diff(prepared.diff) == prepared.model
    assert prepared.model.files[0].hunks[0].old_start == 2
    kept = await asyncio.to_thread(desk.blobs.get, prepared.payload["diff_sha256"])
    assert kept == prepared.diff
    outcome = await desk.run(desk.seal(prepared))
    assert outcome.reason is Reason.COMPLETED
    assert (desk.workspace.path / "a.txt").read_bytes() == b"zero\n" + EDITED


async def test_the_base_names_every_file_and_folder(desk: Changing) -> None:
    prepared = await desk.applier.prepare(desk.workspace, edit("folder/b.txt") + git_add("n.txt"))
    assert sorted(prepared.base) == ["folder/", "folder/b.txt", "n.txt"]
    assert prepared.base["n.txt"] == "absent"
    assert prepared.base["folder/b.txt"] == prepared.changes[0].old_sha256
    assert prepared.git_head is None


# --- what may not be done ---


@pytest.mark.parametrize(
    ("tree", "diff", "code"),
    [
        ({}, edit("missing.txt"), "change.missing"),
        ({}, edit("no/folder.txt"), "change.missing"),
        ({}, git_add("a.txt", *NEW), "change.exists"),
        ({}, git_add("folder", *NEW), "change.exists"),
        ({}, git_add("a.txt/b.txt", *NEW), "change.not-folder"),
        ({}, rename("a.txt", "private.txt"), "change.exists"),
        ({"p": Fifo()}, git_add("p", *NEW), "change.exists"),
        ({"p": Fifo()}, edit("p"), "change.special"),
        ({}, edit("folder"), "change.folder"),
        ({"l": Link("a.txt")}, edit("l"), "change.symlink"),
        ({"l": Link("folder")}, edit("l/b.txt"), "change.symlink"),
        ({"l": Link("nowhere")}, git_add("l", *NEW), "change.symlink"),
        ({"sub/.git/HEAD": b"", "sub/a": SOURCE}, edit("sub/a"), "change.submodule"),
        ({"suid": File(SOURCE, 0o4755)}, edit("suid"), "change.special"),
        ({}, git_add(".codexbridge-0123456789ab-0.tmp", *NEW), "change.reserved"),
        ({}, git_add("d/.codexbridge-0123456789ab-12.tmp.old/x", *NEW), "change.reserved"),
        ({}, rename("a.txt", "folder/.codexbridge-0123456789ab-0.tmp"), "change.reserved"),
        ({}, git_add("A.TXT", *NEW), "change.twin"),
        ({}, git_add("FOLDER/x", *NEW), "change.twin"),
        ({"e\u0301": b""}, git_add("\u00e9", *NEW), "change.twin"),
        ({}, git_add("/".join(["d"] * 66), *NEW), "change.too-deep"),
        (
            {},
            text("diff --git a/a.txt b/a.txt", "old mode 100755", "new mode 100644"),
            "change.mode",
        ),
        ({}, edit().replace(b"-two", b"-twO"), "diff.context"),
        ({}, copy("a.txt", "b.txt"), "change.copy-untracked"),
        ({}, edit() + delete("missing.txt", *_GONE), "change.missing"),
    ],
)
async def test_what_may_not_be_done_is_refused_by_name(
    tmp_path: Path, tree: Tree, diff: bytes, code: str
) -> None:
    error = await _refused(_desk(tmp_path, {**TREE, **tree}), diff)
    assert error.code == code
    assert error.facts["path"]


async def test_what_was_added_at_the_end_is_not_added_twice(desk: Changing) -> None:
    diff = edit().replace(text("-two", "+TWO", " three"), text(" two", " three", "+four"))
    diff = diff.replace(b"-1,3 +1,3", b"-1,3 +1,4")
    _, outcome = await desk.apply(diff)
    assert outcome.reason is Reason.COMPLETED
    error = await _refused(desk, diff)
    assert (error.code, error.facts["hunk"]) == ("diff.context", 1)


async def test_a_folder_with_another_file_system_stays_when_it_is_emptied(
    desk: Changing, monkeypatch: pytest.MonkeyPatch
) -> None:
    going = desk.workspace.path / "going"
    mounted = {folder.stat().st_ino for folder in (going, going / "deep")}
    monkeypatch.setattr(trees, "_mount_of", lambda handle: os.fstat(handle).st_ino in mounted)
    before = snapshot(desk.workspace.path)
    done, outcome = await desk.apply(delete("going/deep/old.txt", *_GONE))
    assert outcome.reason is Reason.COMPLETED
    assert list(going.iterdir()) == []
    _, outcome = await desk.undo(done)
    assert outcome.reason is Reason.COMPLETED
    assert snapshot(desk.workspace.path) == before


async def test_a_path_that_the_person_denied_is_refused(tmp_path: Path) -> None:
    desk = _desk(tmp_path, deny=("folder",))
    assert (await _refused(desk, edit("folder/b.txt"))).code == "change.denied"
    assert (await _refused(desk, rename("a.txt", "folder/x.txt"))).code == "change.denied"


async def test_only_tracked_files_that_are_no_secrets_are_copied(tmp_path: Path) -> None:
    desk = _desk(tmp_path, {**TREE, ".env": b"TOKEN=1\n", "bin": b"a\0b"}, tracked=True)
    assert (await _refused(desk, copy(".env", "shown.txt"))).code == "change.copy-secret"
    (desk.workspace.path / "later.txt").write_bytes(b"not in the index\n")
    assert (await _refused(desk, copy("later.txt", "x"))).code == "change.copy-untracked"
    assert (await _refused(desk, copy("bin", "x"))).code == "diff.refused"  # it has no undo


async def test_what_git_takes_for_a_submodule_is_refused(tmp_path: Path) -> None:
    desk = _desk(tmp_path, tracked=True)
    repository = pygit2.Repository(str(desk.workspace.path))
    entry = pygit2.IndexEntry("module", pygit2.Oid(hex="1" * 40), pygit2.enums.FileMode.COMMIT)
    repository.index.add(entry)
    repository.index.write()
    for diff in (git_add("module", *NEW), git_add("module/x.txt", *NEW)):
        assert (await _refused(desk, diff)).code == "change.submodule"


@pytest.mark.parametrize(
    ("limit", "diff"),
    [
        ("MAX_FILE_BYTES", edit()),
        ("MAX_TOTAL_BYTES", edit() + edit("folder/b.txt")),
        ("MAX_COPIED_BYTES", copy("a.txt", "b.txt")),
    ],
)
async def test_what_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, diff: bytes
) -> None:
    desk = _desk(tmp_path, tracked=True)
    monkeypatch.setattr(changes, limit, len(SOURCE) - 1)
    error = await _refused(desk, diff)
    assert (error.code, error.facts["limit"]) == ("change.too-large", len(SOURCE) - 1)


async def test_a_file_of_more_than_eight_megabytes_is_refused(desk: Changing) -> None:
    (desk.workspace.path / "a.txt").write_bytes(SOURCE + b"x" * 8 * 1024 * 1024)
    assert (await _refused(desk, edit())).code == "change.too-large"


async def test_more_than_a_seal_holds_is_refused(
    desk: Changing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "_MAX_SEALED", 1000)
    prepared = await desk.applier.prepare(desk.workspace, edit())
    assert prepared.changes
    assert (await _refused(desk, DIFF)).code == "change.too-many"


async def test_a_workspace_that_is_gone_is_told(desk: Changing) -> None:
    desk.workspace.path.rename(desk.workspace.path.with_name("elsewhere"))
    with pytest.raises(InputError) as caught:
        await desk.applier.prepare(desk.workspace, edit())
    assert caught.value.code == "path.missing"


# --- running ---


async def test_a_grant_for_something_else_is_refused(desk: Changing) -> None:
    seal = a_seal(desk.clock, payload=a_payload())
    with pytest.raises(StateError) as caught:
        await desk.run(seal)
    assert caught.value.code == "change.action"


async def test_a_grant_is_spent_once(desk: Changing) -> None:
    grant = desk.grant(desk.seal(await desk.applier.prepare(desk.workspace, edit())))
    await desk.applier.run(grant, workspace=desk.workspace)
    with pytest.raises(StateError) as caught:
        await desk.applier.run(grant, workspace=desk.workspace)
    assert caught.value.code == "grant.spent"


async def test_what_drifted_is_named_and_nothing_is_written(desk: Changing) -> None:
    seal = desk.seal(await desk.applier.prepare(desk.workspace, edit() + edit("folder/b.txt")))
    (desk.workspace.path / "folder/b.txt").write_bytes(b"zero\n" + SOURCE)
    before = snapshot(desk.workspace.path)
    outcome = await desk.run(seal)
    assert (outcome.reason, outcome.code) == (Reason.DRIFTED, "diff.context")
    assert (outcome.drift, outcome.paths) == (("changes",), ("folder/b.txt",))
    assert snapshot(desk.workspace.path) == before


async def test_a_folder_that_was_exchanged_for_its_twin_has_drifted(desk: Changing) -> None:
    seal = desk.seal(await desk.applier.prepare(desk.workspace, edit("folder/b.txt")))
    folder = desk.workspace.path / "folder"
    folder.rename(folder.with_name("kept"))
    folder.mkdir()
    (folder / "b.txt").write_bytes(SOURCE)
    outcome = await desk.run(seal)
    assert (outcome.code, outcome.drift) == ("change.drifted", ("base",))
    assert outcome.paths == ("folder/",)


async def test_another_workspace_under_the_same_name_has_drifted(desk: Changing) -> None:
    seal = desk.seal(await desk.applier.prepare(desk.workspace, edit()))
    other = replace(seal, workspace=replace(seal.workspace, ino=seal.workspace.ino + 1))
    outcome = await desk.run(other)
    assert outcome.drift == ("workspace",)


async def test_a_diff_that_is_gone_has_drifted(desk: Changing) -> None:
    seal = desk.seal(await desk.applier.prepare(desk.workspace, edit()))
    payload = dict(seal.payload) | {"diff_sha256": "0" * 64}
    outcome = await desk.run(replace(seal, payload=payload))
    assert (outcome.reason, outcome.drift) == (Reason.DRIFTED, ("diff_sha256",))
    assert outcome.code == "blob.missing"


async def test_a_workspace_that_went_after_the_approval_has_drifted(desk: Changing) -> None:
    seal = desk.seal(await desk.applier.prepare(desk.workspace, edit()))
    desk.workspace.path.rename(desk.workspace.path.with_name("elsewhere"))
    outcome = await desk.run(seal)
    assert (outcome.reason, outcome.drift) == (Reason.DRIFTED, ("workspace",))


@pytest.mark.parametrize(
    ("number", "code"),
    [(28, "change.no-space"), (13, "change.not-permitted"), (5, "change.failed")],
)
async def test_a_machine_that_refuses_is_told_and_nothing_is_written(
    desk: Changing, monkeypatch: pytest.MonkeyPatch, number: int, code: str
) -> None:
    seal = desk.seal(await desk.applier.prepare(desk.workspace, edit()))
    before = snapshot(desk.workspace.path)

    def refuse(_self: Blobs, _contents: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Blobs, "putting", refuse)
    outcome = await desk.run(seal)
    assert (outcome.reason, outcome.code) == (Reason.FAILED, code)
    assert snapshot(desk.workspace.path) == before
