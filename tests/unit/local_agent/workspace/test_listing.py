"""Which files may be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from common.clock import ManualClock
from common.errors import InputError
from local_agent.workspace import listing
from local_agent.workspace.listing import Budget, Listing, ListingLimits, list_files
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
