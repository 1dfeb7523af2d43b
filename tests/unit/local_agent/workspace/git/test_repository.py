"""The local changes and their lines, read without running anything of the repository."""

from __future__ import annotations

import asyncio
import os
from itertools import pairwise
from pathlib import Path

import pygit2
import pytest

from local_agent.workspace.git import opening
from local_agent.workspace.git import repository as git
from local_agent.workspace.git.repository import (
    MAX_COMPARED_BYTES,
    ChangedFile,
    Changes,
    FilePatch,
    git_head,
    local_changes,
    open_repository,
    read_patches,
)
from local_agent.workspace.registry import Workspace
from tests.unit.local_agent.workspace.conftest import Repository


def _changes(path: Path) -> Changes:
    found = asyncio.run(local_changes(path))
    assert found is not None
    return found


@pytest.mark.heavy
def test_a_folder_without_a_repository_has_no_changes_and_no_head(tmp_path: Path) -> None:
    assert asyncio.run(local_changes(tmp_path)) is None
    assert git_head(tmp_path) is None


@pytest.mark.heavy
def test_a_clean_repository_says_where_it_stands(repository: Repository) -> None:
    head = repository.commit({"a": "1\n"})
    found = _changes(repository.path)
    assert found == Changes("main", head, None, None, (), 0, 0, 0)
    assert git_head(repository.path) == head


@pytest.mark.heavy
def test_a_commit_of_folders_named_over_and_over_is_not_unfolded(repository: Repository) -> None:
    repository.commit({"a": "1\n"})
    raw = repository.raw
    inner, mode = raw.create_blob(b"x"), pygit2.enums.FileMode.BLOB
    for _ in range(10):  # ten thousand million files
        builder = raw.TreeBuilder()
        for number in range(10):
            builder.insert(str(number), inner, mode)
        inner, mode = builder.write(), pygit2.enums.FileMode.TREE
    who = pygit2.Signature("Zhang", "zhang@example.com", 1, 0)
    raw.create_commit("HEAD", who, who, "bomb", inner, [raw.head.target])
    assert asyncio.run(local_changes(repository.path)) is None


@pytest.mark.heavy
def test_a_commit_of_folders_without_end_is_not_unfolded(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit({"a/b/c/d": "1\n"})
    monkeypatch.setattr(git, "MAX_TREE_DEPTH", 2)
    assert asyncio.run(local_changes(repository.path)) is None
    monkeypatch.setattr(git, "MAX_TREE_DEPTH", 3)
    assert asyncio.run(local_changes(repository.path)) is not None


@pytest.mark.heavy
def test_before_the_first_commit_everything_is_new(repository: Repository) -> None:
    repository.write({"a": "1\n2\n", "sub/b": "3\n"})
    found = _changes(repository.path)
    assert (found.branch, found.head) == ("main", None)
    assert found.files == (
        ChangedFile("a", "untracked", 2, 0),
        ChangedFile("sub/b", "untracked", 1, 0),
    )
    assert (found.total, found.added, found.removed) == (2, 3, 0)
    assert git_head(repository.path) is None


@pytest.mark.heavy
def test_staged_and_unstaged_changes_are_seen_as_one(repository: Repository) -> None:
    repository.commit({"edited": "1\n2\n3\n", "staged": "1\n", "gone": "1\n2\n", "same": "1\n"})
    repository.write({"edited": "1\nTWO\n3\n4\n", "staged": "2\n", "new": "1\n"})
    (repository.path / "gone").unlink()
    repository.raw.index.add("staged")
    repository.raw.index.write()
    found = _changes(repository.path)
    assert found.files == (
        ChangedFile("edited", "modified", 2, 1),
        ChangedFile("gone", "deleted", 0, 2),
        ChangedFile("new", "untracked", 1, 0),
        ChangedFile("staged", "modified", 1, 1),
    )
    assert (found.added, found.removed) == (4, 4)


@pytest.mark.heavy
def test_ignored_files_are_no_changes(repository: Repository) -> None:
    repository.commit({".gitignore": "build/\n"})
    repository.write({"build/out": "x\n"})
    assert _changes(repository.path).total == 0


@pytest.mark.heavy
def test_binary_and_very_large_files_are_listed_without_lines(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git, "MAX_COUNTED_BYTES", 1000)
    repository.write({"binary": b"\0\1\2", "large": "x\n" * 1000, "small": "x\n"})
    assert [(file.path, file.added) for file in _changes(repository.path).files] == [
        ("binary", None),
        ("large", None),
        ("small", 1),
    ]


@pytest.mark.heavy
def test_lines_that_take_long_to_count_are_not_counted_for_ever(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git, "COUNT_SECONDS", 0)
    repository.write({"a": "x\n", "b": "x\n"})
    found = _changes(repository.path)
    assert [(file.path, file.added) for file in found.files] == [("a", None), ("b", None)]
    assert found.total == 2


@pytest.mark.heavy
def test_many_changes_are_counted_and_not_all_listed(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git, "MAX_FILES", 3)
    repository.write({f"f{number}": "x\n" for number in range(5)})
    found = _changes(repository.path)
    assert (len(found.files), found.total) == (3, 5)


@pytest.mark.heavy
def test_ahead_and_behind_are_told_against_the_upstream(repository: Repository) -> None:
    first = repository.commit({"a": "1\n"})
    repository.raw.create_reference("refs/remotes/origin/main", first)
    repository.raw.remotes.create("origin", "https://example.invalid/x.git")
    repository.raw.branches["main"].upstream = repository.raw.branches["origin/main"]
    repository.commit({"a": "2\n"})
    repository.commit({"a": "3\n"})
    found = _changes(repository.path)
    assert (found.ahead, found.behind) == (2, 0)


@pytest.mark.heavy
def test_a_detached_head_has_no_branch(repository: Repository) -> None:
    head = repository.commit({"a": "1\n"})
    repository.raw.set_head(pygit2.Oid(hex=head))
    found = _changes(repository.path)
    assert (found.branch, found.head) == (None, head)


@pytest.mark.heavy
@pytest.mark.requirement("R41")
def test_a_repository_whose_files_are_elsewhere_counts_as_none(
    repository: Repository, tmp_path: Path
) -> None:
    repository.commit({"a": "1\n"})
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    repository.raw.config["core.worktree"] = str(elsewhere)
    assert open_repository(repository.path) is None
    assert git_head(repository.path) is None


@pytest.mark.heavy
@pytest.mark.requirement("R41")
def test_a_repository_further_up_is_not_the_workspaces(repository: Repository) -> None:
    repository.commit({"sub/a": "1\n"})
    assert open_repository(repository.path / "sub") is None


@pytest.mark.heavy
@pytest.mark.requirement("R41")
def test_a_bare_repository_counts_as_none(tmp_path: Path) -> None:
    pygit2.init_repository(str(tmp_path / "bare"), bare=True)
    assert asyncio.run(local_changes(tmp_path / "bare")) is None


@pytest.mark.heavy
def test_a_broken_repository_counts_as_none(repository: Repository) -> None:
    repository.commit({"a": "1\n"})
    (repository.path / ".git/HEAD").write_text("nonsense", encoding="utf-8")
    assert asyncio.run(local_changes(repository.path)) is None


@pytest.mark.heavy
def test_a_repository_without_its_objects_counts_as_none(repository: Repository) -> None:
    repository.commit({"a": "1\n"})
    (repository.path / ".git/refs/heads/main").write_text("1" * 40 + "\n", encoding="utf-8")
    assert asyncio.run(local_changes(repository.path)) is None


@pytest.mark.heavy
def test_a_linked_worktree_is_a_repository_of_its_own(
    repository: Repository, tmp_path: Path
) -> None:
    head = repository.commit({"a": "1\n"})
    linked = tmp_path.resolve() / "linked"
    repository.raw.add_worktree("linked", str(linked))
    (linked / "a").write_text("2\n", encoding="utf-8")
    found = _changes(linked)
    assert (found.branch, found.head, found.total) == ("linked", head, 1)


@pytest.mark.heavy
@pytest.mark.requirement("P1")
def test_nothing_that_the_repository_names_is_run(repository: Repository, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {ran}\ncat\n", encoding="utf-8")
    trap.chmod(0o755)
    repository.commit({"a.txt": "1\n", ".gitattributes": "* filter=trap diff=trap merge=trap\n"})
    config = repository.raw.config
    for name in (
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "core.editor",
        "diff.external",
        "diff.trap.textconv",
        "diff.trap.command",
        "filter.trap.clean",
        "filter.trap.smudge",
        "filter.trap.process",
        "gpg.program",
    ):
        config[name] = str(trap)
    config["filter.trap.required"] = True
    config["core.hooksPath"] = str(tmp_path)
    for hook in ("post-index-change", "fsmonitor-watchman", "pre-commit"):
        (repository.path / ".git/hooks").mkdir(exist_ok=True)
        (repository.path / ".git/hooks" / hook).write_text(
            trap.read_text(encoding="utf-8"), encoding="utf-8"
        )
        (repository.path / ".git/hooks" / hook).chmod(0o755)
    repository.write({"a.txt": "2\n", "b.txt": "3\n"})
    assert _changes(repository.path).total == 2
    assert not ran.exists()


@pytest.mark.heavy
@pytest.mark.requirement("R52")
@pytest.mark.parametrize(
    "name",
    [
        *(".git/config", ".git/index", ".git/info/exclude", ".git/refs/heads/main", ".git/shallow"),
        *(".gitignore", "sub/.gitattributes", "sub/.git/config", ".git/config.worktree"),
    ],
)
async def test_what_would_never_open_is_not_opened(repository: Repository, name: str) -> None:
    repository.commit({"a.txt": "a\n"})
    pygit2.init_repository(str(repository.path / "sub"))
    place = repository.path / name
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    async with asyncio.timeout(30):
        assert await local_changes(repository.path) is None


@pytest.mark.heavy
def test_a_repository_behind_a_file_is_looked_at_as_well(repository: Repository) -> None:
    repository.commit({"a.txt": "a\n"})
    elsewhere = repository.path.parent / "elsewhere"
    (repository.path / ".git").rename(elsewhere)
    (repository.path / ".git").write_text(f"gitdir: {elsewhere}\n", encoding="utf-8")
    os.mkfifo(elsewhere / "packed-refs")
    assert open_repository(repository.path) is None


@pytest.mark.heavy
def test_a_borrowed_store_is_looked_at_as_well(repository: Repository) -> None:
    repository.commit({"a.txt": "a\n"})
    first, second = (repository.path.parent / name for name in ("first", "second"))
    for store, following in ((first, second), (second, first)):
        (store / "info").mkdir(parents=True)
        (store / "info/alternates").write_text(f"# more\n{following}\n", encoding="utf-8")
    listed = repository.path / ".git/objects/info/alternates"
    listed.parent.mkdir(exist_ok=True)
    listed.write_text("../../../first\n", encoding="utf-8")
    assert open_repository(repository.path) is not None
    os.mkfifo(second / "pack")
    assert open_repository(repository.path) is None


@pytest.mark.heavy
def test_a_work_tree_without_end_is_not_compared(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit({"a/b/c.txt": "c\n"})
    _changes(repository.path)
    monkeypatch.setattr(opening, "MAX_FOLDERS", 2)
    assert asyncio.run(local_changes(repository.path)) is None
    monkeypatch.setattr(opening, "MAX_ENTRIES", 2)
    assert open_repository(repository.path) is None


@pytest.mark.heavy
@pytest.mark.requirement("R52")
@pytest.mark.parametrize(
    "setting",
    [
        "[core]\n\texcludesFile = {fifo}\n",
        '[core] attributesfile="{fifo}"\n',
        "[include]\n\tpath = {fifo}\n",
        "[include]path=../../fifo\n",
        "[include]\n\tpath = {more}\n",
        '[includeIf "gitdir:/"]\n\tpath = {fifo}\n',
        # What is not written plainly is not guessed.
        "[include]\n\tpath = {root}/fi\\\\fo\n",
        "[include]\n\tpath = %(prefix)/fifo\n",
        "[include]\n\tpath = ~nobody-of-this-name/fifo\n",
        "# {large}\n",
    ],
)
async def test_what_the_configuration_names_is_not_waited_for(
    repository: Repository, setting: str
) -> None:
    repository.commit({"a.txt": "a\n"})
    root = repository.path.parent
    os.mkfifo(root / "fifo")
    (root / "more").write_text(f"[include]\n\tpath = {root}/fifo\n", encoding="utf-8")
    with (repository.path / ".git/config").open("a", encoding="utf-8") as config:
        facts = {"fifo": root / "fifo", "more": root / "more", "root": root, "large": "x" * 2**20}
        config.write(setting.format(**facts))
    async with asyncio.timeout(30):
        assert await local_changes(repository.path) is None


@pytest.mark.heavy
def test_a_configuration_that_names_ordinary_files_is_read(repository: Repository) -> None:
    repository.commit({"a.txt": "a\n"})
    (repository.path.parent / "more").write_text("[core]\n\tignorecase = false\n", encoding="utf-8")
    with (repository.path / ".git/config").open("a", encoding="utf-8") as config:
        config.write("[include]\n\tpath = ../../more\n[core]\n\texcludesFile = ~/.gitignore\n")
    assert _changes(repository.path).total == 0


@pytest.mark.heavy
def test_a_configuration_that_includes_without_end_is_refused(repository: Repository) -> None:
    repository.commit({"a.txt": "a\n"})
    chain = [repository.path / ".git/config"]
    chain += [repository.path.parent / f"more{number}" for number in range(25)]
    for one, following in pairwise(chain):
        with one.open("a", encoding="utf-8") as config:
            config.write(f"[include]\n\tpath = {following}\n")
    assert open_repository(repository.path) is None


@pytest.mark.heavy
def test_a_large_file_of_another_size_is_not_hashed(repository: Repository) -> None:
    repository.commit({"large": "x\n", "a.txt": "1\n"})
    repository.write({"a.txt": "2\n"})
    with (repository.path / "large").open("r+b") as file:
        file.truncate(64 * 2**30)  # sparse: to read it would take minutes
    found = _changes(repository.path)
    assert [(file.path, file.status, file.added) for file in found.files] == [
        ("a.txt", "modified", 1),
        ("large", "modified", None),
    ]


@pytest.mark.heavy
def test_a_fifo_in_the_place_of_the_repository_is_none(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".git")
    assert open_repository(tmp_path) is None


# --- the lines -------------------------------------------------------------------------------


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


def test_before_the_first_commit_the_patch_is_all_new(repository: Repository) -> None:
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
