"""The local changes line by line, past the path guard."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from local_agent.workspace.git_diff import MAX_COMPARED_BYTES, FilePatch, read_patches
from local_agent.workspace.registry import Workspace
from tests.unit.local_agent.workspace.conftest import Repository


def patches(
    path: Path, *names: str, limit: int = 10_000, deny: tuple[str, ...] = ()
) -> list[FilePatch]:
    return read_patches(Workspace(name="w", path=path, deny=deny), names, limit=limit)


def test_each_file_is_compared_with_the_last_commit(repository: Repository) -> None:
    repository.commit({"a.txt": "one\ntwo\n", "gone.txt": "x\n"})
    repository.write({"a.txt": "one\nTWO\n", "new.txt": "y\n"})
    (repository.path / "gone.txt").unlink()
    changed, gone, new = patches(repository.path, "a.txt", "gone.txt", "new.txt")
    assert b"--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n" in changed.patch
    assert b"-x\n" in gone.patch
    assert b"+y\n" in new.patch


def test_before_the_first_commit_everything_is_new(repository: Repository) -> None:
    repository.write({"a.txt": "one\n"})
    (new,) = patches(repository.path, "a.txt")
    assert b"+one\n" in new.patch


def test_without_a_repository_there_is_nothing_to_compare(tmp_path: Path) -> None:
    assert patches(tmp_path, "a.txt") == []


@pytest.mark.requirement("R52")
def test_what_may_not_be_read_is_not_compared(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"link.txt": "x\n", "own/a.txt": "x\n", "was.bin": b"a\0b", "long": "x"})
    (tmp_path / "secret").write_text("topsecret\n", encoding="utf-8")
    repository.write(
        {
            ".env": "topsecret\n",
            "own/a.txt": "topsecret\n",
            "blob": b"a\0b",
            "was.bin": "text\n",
            "long": "x" * (MAX_COMPARED_BYTES + 1),
        }
    )
    (repository.path / "link.txt").unlink()
    (repository.path / "link.txt").symlink_to(tmp_path / "secret")
    os.mkfifo(repository.path / "fifo")
    names = (".env", "own/a.txt", "blob", "was.bin", "long", "link.txt", "fifo", "../secret")
    found = patches(repository.path, *names, deny=("own",))
    assert [(one.path, one.reason, one.patch) for one in found] == [
        (".env", "secret", b""),
        ("own/a.txt", "secret", b""),
        ("blob", "binary", b""),
        ("was.bin", "binary", b""),
        ("long", "too-large", b""),
        ("link.txt", "unreadable", b""),
        ("fifo", "unreadable", b""),
        ("../secret", "unreadable", b""),
    ]


def test_a_large_file_of_the_commit_is_not_compared(repository: Repository) -> None:
    repository.commit({"a": "x" * (MAX_COMPARED_BYTES + 1)})
    repository.write({"a": "y\n"})
    assert patches(repository.path, "a") == [FilePatch("a", reason="too-large")]


def test_no_more_files_are_compared_than_are_wanted(repository: Repository) -> None:
    repository.write({f"{number}.txt": "x\n" * 100 for number in range(9)})
    found = patches(repository.path, *(f"{number}.txt" for number in range(9)), limit=500)
    assert len(found) == 2
