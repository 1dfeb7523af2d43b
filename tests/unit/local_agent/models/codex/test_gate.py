"""Edits that may be made, and those that may not."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from common.errors import InputError
from local_agent.models.codex.gate import MAX_FILES, Change, judge, read_changes
from tests.codex_desk import FolderScratch
from tests.each import each


@pytest.fixture
def scratch(tmp_path: Path) -> FolderScratch:
    root = tmp_path / "scratch"
    root.mkdir()
    (root / "app.py").write_text("pass\n", encoding="utf-8")
    (tmp_path / "outside.py").write_text("pass\n", encoding="utf-8")
    (root / "link.py").symlink_to("app.py")
    (root / "out.py").symlink_to("../outside.py")
    (root / "folder").symlink_to("..")
    os.link(tmp_path / "outside.py", root / "shared.py")
    os.mkfifo(root / "pipe")
    return FolderScratch(root)


def told(path: str, **more: Any) -> dict[str, Any]:
    return {"path": path, "kind": {"type": "add"}, "diff": "x", **more}


def test_the_files_of_a_patch_are_read() -> None:
    moved = {"type": "update", "move_path": "/s/b.py"}
    item = {"changes": [told("/s/new"), told("/s/../a.py", kind=moved, diff="é"), told("/t/x")]}
    assert read_changes(item, Path("/s")) == (
        Change("new", None, 1),
        Change("../a.py", "b.py", 2),
        Change("/t/x", None, 1),
    )


@each(
    "item",
    [
        {},
        {"changes": []},
        {"changes": "all"},
        {"changes": [5]},
        {"changes": [told("")]},
        {"changes": [told("a" * 5000)]},
        {"changes": [{"path": "a", "diff": ""}]},
        {"changes": [told("a", kind={"type": "link"})]},
        {"changes": [told("a", kind={"type": "update", "move_path": 5})]},
        {"changes": [told("a", diff=None)]},
        {"changes": [told("a")] * (MAX_FILES + 1)},
    ],
)
def test_a_patch_that_cannot_be_read_is_none(item: dict[str, Any]) -> None:
    with pytest.raises(InputError) as refused:
        read_changes(item, Path("/s"))
    assert refused.value.code == "scratch.unreadable"


def test_files_of_the_scratch_copy_may_be_edited(scratch: FolderScratch) -> None:
    names = ("app.py", "new.py", "app.py/below")
    judge(tuple(Change(str(scratch.root / name), None, 1) for name in names), scratch)
    judge((Change("app.py", "moved.py", 1),), scratch)
    assert not (scratch.root / "new.py").exists()


def test_room_is_made_for_files_in_new_folders(scratch: FolderScratch) -> None:
    judge((Change("deep/er/new.py", None, 1), Change("app.py", "to/new.py", 1)), scratch)
    assert (scratch.root / "deep/er").is_dir()
    assert (scratch.root / "to").is_dir()
    with pytest.raises(InputError):
        judge((Change("other/new.py", None, 1), Change("../new.py", None, 1)), scratch)
    assert not (scratch.root / "other").exists()


@pytest.mark.requirement("R62")
@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/etc/passwd", "scratch.outside"),
        ("../outside.py", "scratch.outside"),
        ("out.py", "scratch.outside"),
        ("folder/outside.py", "scratch.outside"),
        (".git/config", "scratch.forbidden"),
        ("shared.py", "scratch.link"),
        ("pipe", "scratch.link"),
        (".", "scratch.link"),
    ],
)
def test_one_bad_path_refuses_the_whole_patch(scratch: FolderScratch, path: str, code: str) -> None:
    good = Change("app.py", None, 1)
    for bad in (Change(path, None, 1), Change("app.py", path, 1)):
        with pytest.raises(InputError) as refused:
            judge((good, bad), scratch)
        assert (refused.value.code, refused.value.facts["path"]) == (code, path)


class Believing(FolderScratch):
    """Looks at the spelling alone."""

    def inside(self, path: str | Path) -> str:
        return str(path)


@pytest.mark.parametrize("path", ["link.py", "out.py", "folder/outside.py", "folder/new.py"])
def test_no_link_is_followed_even_where_the_copy_would_let_it(
    scratch: FolderScratch, path: str
) -> None:
    with pytest.raises(InputError) as refused:
        judge((Change(path, None, 1),), Believing(scratch.root))
    assert refused.value.code == "scratch.link"
