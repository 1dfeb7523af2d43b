"""Which files may be read."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pygit2
import pytest

from common.clock import ManualClock
from common.errors import InputError
from local_agent.workspace import listing
from local_agent.workspace.git.repository import open_repository
from local_agent.workspace.listing import Budget, Listing, ListingLimits, list_files
from local_agent.workspace.remembered import Folder, Memory, Stamp, is_settled, stamp_at
from tests.unit.local_agent.workspace.conftest import Repository


def _budget() -> Budget:
    clock = ManualClock()
    return Budget(clock, clock.now().mono + 10)


def _list(path: Path, *deny: str, **limits: int) -> Listing:
    return list_files(path, _budget(), ListingLimits(**limits), deny=deny)


def _write(path: Path, *names: str) -> None:
    for name in names:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text("x", encoding="utf-8")


def test_files_are_listed_by_path(tmp_path: Path) -> None:
    _write(tmp_path, "b", "a/z", "a/b/c", ".hidden", "测试/文件")
    found = _list(tmp_path)
    assert found.files == (".hidden", "a/b/c", "a/z", "b", "测试/文件")
    assert (found.truncated, found.skipped) == (False, {})


@pytest.mark.requirement("R52")
def test_secrets_links_and_devices_are_left_out_and_counted(tmp_path: Path) -> None:
    _write(tmp_path, "kept", ".env", "id_rsa", ".git/config", "x\ny")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("kept")
    (tmp_path / "folder").symlink_to("/etc")
    found = _list(tmp_path)
    assert found.files == ("kept",)
    assert found.skipped == {"denied": 4, "not-regular": 3}


@pytest.mark.requirement("R52")
def test_the_deny_lists_are_honoured(tmp_path: Path) -> None:
    _write(tmp_path, "kept", "private/a", "b.log", "mine/c")
    (tmp_path / ".codexbridgeignore").write_text("private\n*.log\n", encoding="utf-8")
    assert _list(tmp_path, "mine").files == (".codexbridgeignore", "kept")


def test_large_files_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"x" * 11)
    (tmp_path / "small").write_bytes(b"x" * 10)
    found = _list(tmp_path, file_bytes=10)
    assert (found.files, found.skipped) == (("small",), {"too-large": 1})


@pytest.mark.parametrize("limits", [{"files": 2}, {"total_bytes": 2}])
def test_a_listing_that_reaches_a_limit_says_so(tmp_path: Path, limits: dict[str, int]) -> None:
    _write(tmp_path, "a", "b", "c")
    found = _list(tmp_path, **limits)
    assert (found.files, found.truncated) == (("a", "b"), True)
    assert not _list(tmp_path, files=3, total_bytes=3).truncated


def test_a_folder_too_deep_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "MAX_DEPTH", 3)
    _write(tmp_path, "1/2/kept", "1/2/3/gone")
    found = _list(tmp_path)
    assert (found.files, found.skipped) == (("1/2/kept",), {"too-large": 1})


def test_a_listing_whose_time_is_up_gives_what_it_has(tmp_path: Path) -> None:
    _write(tmp_path, "a", "b")
    clock = ManualClock()
    spent = Budget(clock, clock.now().mono)
    found = list_files(tmp_path, spent, ListingLimits())
    assert (found.files, found.truncated) == ((), True)


def test_a_listing_that_is_stopped_ends(tmp_path: Path) -> None:
    _write(tmp_path, "a", "b")
    budget = _budget()
    budget.stop.set()
    assert list_files(tmp_path, budget, ListingLimits()).files == ()


def test_a_folder_that_cannot_be_entered_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path, "closed/a", "kept")
    opened = os.open

    def refusing(path: str, flags: int, *, dir_fd: int | None = None) -> int:
        if path == "closed":
            raise PermissionError
        return opened(path, flags, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", refusing)
    found = _list(tmp_path)
    assert (found.files, found.skipped) == (("kept",), {"unreadable": 1})


def test_a_workspace_that_is_gone_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        _list(tmp_path / "absent")
    assert caught.value.code == "path.missing"


def test_what_git_ignores_is_left_out_and_what_it_tracks_never(repository: Repository) -> None:
    repository.commit({"build/tracked": "x", "kept": "x", "tracked.log": "x"})
    repository.write(
        {
            ".gitignore": "build/\n*.log\n!good.log\n",
            "build/out": "x",
            "sub/.gitignore": "local\n",
            "sub/local": "x",
            "local": "x",
            "bad.log": "x",
            "good.log": "x",
            "node_modules/x": "x",
        }
    )
    found = _list(repository.path)
    assert found.files == (
        ".gitignore",
        "build/tracked",
        "good.log",
        "kept",
        "local",
        "node_modules/x",
        "sub/.gitignore",
        "tracked.log",
    )
    assert found.skipped == {"denied": 1, "ignored": 3}


def test_without_git_what_would_drown_a_search_is_left_out(tmp_path: Path) -> None:
    _write(tmp_path, "node_modules/x", "sub/__pycache__/y", "kept")
    found = _list(tmp_path)
    assert (found.files, found.skipped) == (("kept",), {"ignored": 2})


def test_an_ignore_file_that_would_never_open_ignores_nothing(repository: Repository) -> None:
    repository.commit({"a.txt": "a\n"})
    (repository.path / "sub").mkdir()
    (repository.path / "sub/b.txt").write_text("b\n", encoding="utf-8")
    os.mkfifo(repository.path / "sub/.gitignore")
    assert _list(repository.path).files == ("a.txt", "sub/b.txt")


# --- what is remembered from one walk to the next --------------------------------------------

LATER_S = 3600.0


class Walks:
    """Lists one folder again and again, at a time when what was written before is settled."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = path
        self.memory: Memory[Folder] = Memory()
        self.clock = ManualClock(wall_ms=round((time.time() + LATER_S) * 1000))
        self.read: list[str] = []
        real = os.scandir

        def scandir(folder: int) -> Iterator[os.DirEntry[str]]:
            self.read.append(str(Path(f"/proc/self/fd/{folder}").readlink()))
            return real(folder)

        monkeypatch.setattr(os, "scandir", scandir)

    def again(self, *, deny: tuple[str, ...] = (), **limits: int) -> Listing:
        """List, and note which folders are read for it."""
        self.read.clear()
        budget = Budget(self.clock, self.clock.now().mono + 10)
        bounds = ListingLimits(**limits)
        return list_files(self.path, budget, bounds, deny=deny, memory=self.memory)

    @property
    def names(self) -> list[str]:
        """Folders that were read, by relative path."""
        return sorted(os.path.relpath(path, self.path) for path in self.read)


@pytest.fixture
def walks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Walks:
    path = tmp_path.resolve() / "project"
    _write(path, "a/b/c.txt", "a/d.txt", "e/f.txt", "g.txt")
    return Walks(path, monkeypatch)


def test_a_folder_that_did_not_change_is_not_read_again(walks: Walks) -> None:
    first = walks.again()
    assert walks.names == [".", "a", "a/b", "e"]
    assert walks.again() == first
    assert walks.names == []


def test_only_what_changed_is_read_again(walks: Walks) -> None:
    walks.again()
    _write(walks.path, "a/b/new.txt")
    (walks.path / "e/f.txt").unlink()
    (walks.path / "g.txt").write_text("longer", encoding="utf-8")
    assert walks.again().files == ("a/b/c.txt", "a/b/new.txt", "a/d.txt", "g.txt")
    assert walks.names == ["a/b", "e"]


def test_what_was_written_just_now_is_read_again(walks: Walks) -> None:
    walks.clock = ManualClock(wall_ms=round(time.time() * 1000))
    walks.again()
    walks.again()
    assert walks.names == [".", "a", "a/b", "e"]


@pytest.mark.requirement("R52")
def test_a_folder_that_became_a_link_is_not_entered(walks: Walks, tmp_path: Path) -> None:
    walks.again()
    (walks.path / "a").rename(tmp_path / "outside")
    (walks.path / "a").symlink_to(tmp_path / "outside")
    assert walks.again().files == ("e/f.txt", "g.txt")


@pytest.mark.requirement("R52")
def test_a_new_denial_holds_at_once(walks: Walks) -> None:
    walks.again()
    assert walks.again(deny=("e",)).files == ("a/b/c.txt", "a/d.txt", "g.txt")
    (walks.path / ".codexbridgeignore").write_text("a\n", encoding="utf-8")
    assert walks.again().files == (".codexbridgeignore", "e/f.txt", "g.txt")


def test_a_file_that_changed_its_size_is_judged_anew(walks: Walks) -> None:
    (walks.path / "g.txt").write_bytes(b"x" * 100)
    assert walks.again(file_bytes=10).skipped == {"too-large": 1}
    (walks.path / "g.txt").write_bytes(b"x")
    assert walks.again(file_bytes=10).files == ("a/b/c.txt", "a/d.txt", "e/f.txt", "g.txt")
    assert walks.names == []


def test_limits_hold_for_what_is_remembered(walks: Walks) -> None:
    walks.again()
    assert walks.again(files=2).truncated
    assert walks.again(total_bytes=2).truncated
    assert len(walks.again(files=2).files) == 2


def test_what_is_ignored_is_judged_anew_when_that_may_have_changed(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write({"a/x.log": "x", "a/b/y.log": "y", "a/b/z.txt": "z"})
    walks = Walks(repository.path, monkeypatch)
    assert walks.again().files == ("a/b/y.log", "a/b/z.txt", "a/x.log")
    repository.write({"a/.gitignore": "*.log\n"})
    assert walks.again().files == ("a/.gitignore", "a/b/z.txt")
    repository.write({"a/.gitignore": "x.log\n\n"})  # of another length: its folder tells nothing
    assert walks.again().files == ("a/.gitignore", "a/b/y.log", "a/b/z.txt")
    repository.raw.index.add("a/x.log")
    repository.raw.index.write()
    assert walks.again().files == ("a/.gitignore", "a/b/y.log", "a/b/z.txt", "a/x.log")
    (repository.path / ".git/info").mkdir(exist_ok=True)
    (repository.path / ".git/info/exclude").write_text("z.txt\n", encoding="utf-8")
    assert walks.again().files == ("a/.gitignore", "a/b/y.log", "a/x.log")


def test_what_several_work_trees_ignore_together_is_judged_anew(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    repository.commit({"a.txt": "x"})
    further = tmp_path.resolve() / "further"
    repository.raw.add_worktree("further", str(further))
    _write(further, "private.txt")
    walks = Walks(further, monkeypatch)
    assert walks.again().files == ("a.txt", "private.txt")
    repository.write({".git/info/exclude": "private.txt\n"})
    assert walks.again().files == ("a.txt",)


def test_where_all_is_remembered_no_repository_is_opened(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit({"a/x.txt": "x", ".gitignore": "*.log\n"})
    walks = Walks(repository.path, monkeypatch)
    opened: list[Path] = []

    def counting(path: Path) -> pygit2.Repository | None:
        opened.append(path)
        return open_repository(path)

    monkeypatch.setattr(listing, "open_repository", counting)
    first = walks.again()
    assert len(opened) == 1
    assert walks.again() == first
    assert len(opened) == 1
    repository.write({"a/y.log": "y"})
    assert walks.again().files == first.files
    assert len(opened) == 2


def test_a_repository_that_is_mended_ignores_at_once(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write({"x.log": "x", ".gitignore": "*.log\n"})
    walks = Walks(repository.path, monkeypatch)
    (repository.path / ".git/HEAD").rename(repository.path / ".git/kept")
    assert walks.again().files == (".gitignore", "x.log")
    (repository.path / ".git/kept").rename(repository.path / ".git/HEAD")
    assert walks.again().files == (".gitignore",)


@pytest.mark.parametrize("name", [".gitignore", ".git/info/exclude"])
def test_what_is_ignored_since_a_moment_is_not_remembered(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    repository.write({"a.txt": "x", name: "*.log\n"})
    walks = Walks(repository.path, monkeypatch)
    walks.again()
    written = stamp_at(repository.path / name)

    def judged(stamp: Stamp, now_ms: int) -> bool:
        return stamp != written and is_settled(stamp, now_ms)

    monkeypatch.setattr(listing, "is_settled", judged)
    walks.memory = Memory()
    walks.again()
    walks.again()
    assert "." in walks.names


def test_a_large_file_beside_the_others_is_told(repository: Repository) -> None:
    repository.write({"a.txt": "x", "b.log": "x" * 100, ".gitignore": "*.log\n"})
    assert not _list(repository.path, file_bytes=100).near_large
    assert _list(repository.path, file_bytes=99).near_large
    assert _list(repository.path, files=1).near_large


def test_a_walk_that_was_cut_is_not_remembered(walks: Walks) -> None:
    assert walks.again(files=1).truncated
    walks.again()
    assert walks.names == [".", "a", "a/b", "e"]
