"""Copies with a change in them: what is in one, its bounds, and when it goes away."""

from __future__ import annotations

import stat
from pathlib import Path

import pygit2
import pytest

from common.errors import InputError, StateError
from common.home import Home, find_home
from common.seal import Seal
from local_agent.actions.run_command import copies as copying
from local_agent.actions.run_command.copies import Copies
from local_agent.actions.run_command.prepare import copies_folder
from tests.changing import Changing

OLD = b"retry = 3\none\ntwo\nthree\nfour\nfive\nsix\nseven\n"
DIFF = b"""\
diff --git a/login.py b/login.py
--- a/login.py
+++ b/login.py
@@ -1,4 +1,4 @@
-retry = 3
+retry = 5
 one
 two
 three
diff --git a/docs/new.md b/docs/new.md
new file mode 100644
--- /dev/null
+++ b/docs/new.md
@@ -0,0 +1 @@
+new
"""


@pytest.fixture
def places(tmp_path: Path) -> Home:
    return find_home({"CODEXBRIDGE_HOME": str(tmp_path / "ours")})


@pytest.fixture
def changing(tmp_path: Path) -> Changing:
    project = tmp_path / "project"
    project.mkdir()
    pygit2.init_repository(project)
    (project / "login.py").write_bytes(OLD)
    (project / ".gitignore").write_bytes(b"build/\n*.log\n")
    (project / "build").mkdir()
    (project / "build/big").write_bytes(b"built")
    return Changing.at(project, tmp_path / "state")


@pytest.fixture
def copies(places: Home, changing: Changing) -> Copies:
    return Copies(places, changing.blobs)


async def sealed(changing: Changing, diff: bytes = DIFF) -> Seal:
    return changing.seal(await changing.applier.prepare(changing.workspace, diff))


def names(folder: Path) -> set[str]:
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if not p.is_dir()}


async def test_a_copy_holds_the_own_files_and_the_change(
    changing: Changing, copies: Copies
) -> None:
    copy = await copies.make("task-1", changing.workspace, await sealed(changing))
    assert names(copy.path) == {"login.py", ".gitignore", "docs/new.md"}
    assert (copy.path / "login.py").read_bytes() == OLD.replace(b"3", b"5")
    assert stat.S_IMODE(copy.path.stat().st_mode) == 0o700
    assert (changing.workspace.path / "login.py").read_bytes() == OLD
    assert not (changing.workspace.path / "docs").exists()


async def test_an_ignored_file_that_is_changed_is_in_the_copy(
    changing: Changing, copies: Copies
) -> None:
    (changing.workspace.path / "my.log").write_bytes(OLD)
    seal = await sealed(changing, DIFF.replace(b"login.py", b"my.log"))
    copy = await copies.make("task-1", changing.workspace, seal)
    assert (copy.path / "my.log").read_bytes() == OLD.replace(b"3", b"5")


async def test_a_copy_is_made_anew_and_removed(
    changing: Changing, copies: Copies, places: Home
) -> None:
    seal = await sealed(changing)
    first = await copies.make("task-1", changing.workspace, seal)
    (first.path / "left").write_bytes(b"x")
    again = await copies.make("task-1", changing.workspace, seal)
    assert again == first
    assert not (again.path / "left").exists()
    await copies.remove("task-1")
    assert list(copies_folder(places).iterdir()) == []


async def test_left_overs_are_cleared_but_for_what_still_waits(
    changing: Changing, copies: Copies, places: Home
) -> None:
    await copies.clear(keep=[])
    seal = await sealed(changing)
    for task in ("task-1", "task-2"):
        await copies.make(task, changing.workspace, seal)
    await copies.clear(keep=["task-2"])
    assert [path.name for path in copies_folder(places).iterdir()] == ["task-2"]


async def test_a_change_that_would_be_another_by_now_is_not_tried_out(
    changing: Changing, copies: Copies, places: Home
) -> None:
    seal = await sealed(changing)
    (changing.workspace.path / "login.py").write_bytes(OLD + b"more\n")
    with pytest.raises(InputError) as caught:
        await copies.make("task-1", changing.workspace, seal)
    assert caught.value.code == "check.moved-on"
    assert list(copies_folder(places).iterdir()) == []


@pytest.mark.parametrize(
    ("bound", "code"),
    [
        ("MAX_BYTES", "check.too-large"),
        ("MAX_FILE_BYTES", "check.too-large"),
        ("MAX_FILES", "check.too-many"),
    ],
)
async def test_a_workspace_that_is_too_large_is_not_copied(
    changing: Changing,
    copies: Copies,
    places: Home,
    monkeypatch: pytest.MonkeyPatch,
    bound: str,
    code: str,
) -> None:
    seal = await sealed(changing)
    monkeypatch.setattr(copying, bound, 1)
    with pytest.raises(InputError) as caught:
        await copies.make("task-1", changing.workspace, seal)
    assert caught.value.code == code
    assert list(copies_folder(places).iterdir()) == []


async def test_a_machine_that_refuses_is_told(
    changing: Changing, copies: Copies, places: Home
) -> None:
    seal = await sealed(changing)
    places.state.mkdir(parents=True)
    copies_folder(places).write_bytes(b"no folder")
    with pytest.raises(StateError) as caught:
        await copies.make("task-1", changing.workspace, seal)
    assert caught.value.code == "check.not-copied"
