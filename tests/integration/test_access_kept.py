"""A change, its undo and the undo of that open a file to nobody who could not read it before."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pygit2
import pytest

from common.model.state import Reason
from tests.changing import Changing
from tests.hostile_diffs.case import File, copy, delete, edit, lay, rename, text
from tests.unit.common.test_access_lists import ENTRIES

pytestmark = [
    pytest.mark.requirement("P5", "R35"),
    pytest.mark.skipif(sys.platform != "linux", reason="Linux keeps them in an attribute"),
]

_ACCESS = "system.posix_acl_access"
_SOURCE = b"one\ntwo\nthree\n"


def _desk(tmp_path: Path) -> Changing:
    """Return a workspace with one file that its group may not read, though its mode says so."""
    workspace = lay(tmp_path, {"a.txt": File(_SOURCE, 0o600)})
    os.setxattr(workspace / "a.txt", _ACCESS, ENTRIES)
    repository = pygit2.init_repository(str(workspace))
    repository.index.add_all()
    repository.index.write()
    return Changing.at(workspace, tmp_path / "state")


def _is_open_to_group(path: Path) -> bool:
    """Tell whether the mode alone decides, and lets the group read."""
    bare = _ACCESS not in os.listxattr(path)
    return bare and bool(path.stat().st_mode & (stat.S_IRGRP | stat.S_IWGRP))


def _programs() -> bytes:
    return text("diff --git a/a.txt b/a.txt", "old mode 100644", "new mode 100755")


@pytest.mark.parametrize(
    ("diff", "path"),
    [
        (edit(), "a.txt"),
        (rename("a.txt", "b.txt"), "b.txt"),
        (copy("a.txt", "b.txt"), "b.txt"),
        (_programs(), "a.txt"),
    ],
    ids=["edit", "rename", "copy", "mode"],
)
async def test_what_takes_the_place_of_a_file_has_its_access_list(
    tmp_path: Path, diff: bytes, path: str
) -> None:
    desk = _desk(tmp_path)
    done, outcome = await desk.apply(diff)
    assert outcome.reason is Reason.COMPLETED
    assert not _is_open_to_group(desk.workspace.path / path)
    assert len(os.getxattr(desk.workspace.path / path, _ACCESS)) == len(ENTRIES)
    _, outcome = await desk.undo(done)
    assert outcome.reason is Reason.COMPLETED
    assert os.getxattr(desk.workspace.path / "a.txt", _ACCESS) == ENTRIES


async def test_a_deleted_file_comes_back_closed_to_the_group(tmp_path: Path) -> None:
    desk = _desk(tmp_path)
    body = ("@@ -1,3 +0,0 @@", "-one", "-two", "-three")
    done, _ = await desk.apply(delete("a.txt", *body))
    await desk.undo(done)
    assert not _is_open_to_group(desk.workspace.path / "a.txt")


async def test_a_private_file_takes_nothing_from_the_list_of_its_folder(tmp_path: Path) -> None:
    desk = _desk(tmp_path)
    file = desk.workspace.path / "a.txt"
    os.removexattr(file, _ACCESS)
    file.chmod(0o640)
    os.setxattr(desk.workspace.path, "system.posix_acl_default", ENTRIES)
    await desk.apply(edit())
    assert _ACCESS not in os.listxattr(file)
