"""What "commit and push" would do: looked up from a workspace, or refused with the file named."""

from __future__ import annotations

import asyncio
import hashlib
import os
import socket
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pygit2
import pytest

from common.errors import InputError
from local_agent.workspace.git import changes as git_changes
from local_agent.workspace.git import clean_repository as clean_module
from local_agent.workspace.git import repository as git
from local_agent.workspace.git.clean_repository import clean_repository
from local_agent.workspace.git.preflight import SyncPlan, plan_sync
from tests.syncing import Syncing, at_home

pytestmark = pytest.mark.heavy


@pytest.fixture
def syncing(tmp_path: Path) -> Iterator[Syncing]:
    made = Syncing.at(tmp_path)
    with at_home(made.home):
        yield made


def plan(syncing: Syncing, message: str | None = "a change") -> SyncPlan:
    with clean_repository(syncing.scratch, syncing.path) as clean:
        return plan_sync(syncing.workspace, clean, message=message)


def refusal(syncing: Syncing, message: str | None = "a change") -> tuple[str, object]:
    """Return the code, and the path or reason that it names."""
    with pytest.raises(InputError) as caught:
        plan(syncing, message)
    facts = caught.value.facts
    return caught.value.code, facts.get("path", facts.get("why", facts.get("what")))


def committed(found: SyncPlan) -> list[str]:
    return [change.sealed.path for change in found.changes]


# --- the repository --------------------------------------------------------------------------


def test_a_folder_without_a_repository(tmp_path: Path, syncing: Syncing) -> None:
    bare = tmp_path / "plain"
    bare.mkdir()
    syncing.workspace = replace(syncing.workspace, path=bare)
    assert refusal(syncing)[0] == "sync.no-repository"
    (tmp_path / ".git").mkdir()
    assert refusal(syncing)[0] == "sync.begins-above"


@pytest.mark.requirement("R41")
def test_a_repository_that_lies_elsewhere_is_not_written_to(syncing: Syncing) -> None:
    syncing.raw.add_worktree("linked", str(syncing.root / "linked"))
    syncing.workspace = replace(syncing.workspace, path=syncing.root / "linked")
    assert refusal(syncing)[0] == "sync.linked"


@pytest.mark.requirement("R41")
def test_a_repository_that_says_its_files_are_elsewhere_is_refused(syncing: Syncing) -> None:
    syncing.configure(core__worktree=str(syncing.root / "home"))
    assert refusal(syncing)[0] == "sync.repository"


@pytest.mark.parametrize("name", ["objects", "refs/heads", "index", "HEAD"])
def test_a_link_in_the_repositorys_folder_is_refused(syncing: Syncing, name: str) -> None:
    place = syncing.path / ".git" / name
    place.rename(syncing.root / "outside")
    place.symlink_to(syncing.root / "outside")
    assert refusal(syncing)[0] == "sync.repository"


@pytest.mark.requirement("R41")
@pytest.mark.parametrize(
    "line",
    [
        "{outside}",
        "../../../outside",
        "../../link/../.git/spare",
        '"{outside}"',
        "../hooks",
        ".",
        "../objects",
        "a\0b",
    ],
)
def test_objects_that_are_borrowed_from_elsewhere_are_refused(syncing: Syncing, line: str) -> None:
    (syncing.root / "outside/in").mkdir(parents=True)
    (syncing.path / "link").symlink_to(syncing.root / "outside/in")
    listed = syncing.path / ".git/objects/info/alternates"
    listed.parent.mkdir(exist_ok=True)
    listed.write_text(line.format(outside=syncing.root / "outside") + "\n", encoding="utf-8")
    assert refusal(syncing)[0] == "sync.alternates"


def test_objects_may_be_borrowed_within_the_repository(syncing: Syncing) -> None:
    spare = syncing.path / ".git/spare/info"
    spare.mkdir(parents=True)
    listed = syncing.path / ".git/objects/info/alternates"
    listed.parent.mkdir(exist_ok=True)
    listed.write_text("# here\n../spare\n", encoding="utf-8")
    syncing.write({"a.py": "2\n"})
    assert committed(plan(syncing)) == ["a.py"]
    (spare / "alternates").write_text(f"{syncing.root}\n", encoding="utf-8")
    assert refusal(syncing)[0] == "sync.alternates"


def test_a_path_that_does_not_fit_the_list_of_borrowed_stores(syncing: Syncing) -> None:
    odd = syncing.root / "two\nlines"
    syncing.path.rename(odd)
    syncing.workspace = replace(syncing.workspace, path=odd)
    assert refusal(syncing)[0] == "sync.repository"


def test_hooks_may_be_links(syncing: Syncing) -> None:
    hooks = syncing.path / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    (hooks / "pre-commit").symlink_to("/usr/bin/true")
    syncing.write({"a.py": "2\n"})
    assert committed(plan(syncing)) == ["a.py"]


@pytest.mark.parametrize("place", ["MERGE_HEAD", "shallow", "info/exclude", "config.worktree"])
def test_a_fifo_in_the_repositorys_folder_is_waited_for_by_nobody(
    syncing: Syncing, place: str
) -> None:
    path = syncing.path / ".git" / place
    path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    os.mkfifo(path)
    assert refusal(syncing)[0] == "sync.repository"


def test_a_repository_of_too_many_entries_is_refused(
    syncing: Syncing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clean_module, "MAX_ENTRIES", 5)
    assert refusal(syncing)[0] == "sync.repository"


def test_a_broken_repository_is_left_to_git(syncing: Syncing) -> None:
    (syncing.path / ".git" / "index").write_bytes(b"DIRC????")
    assert refusal(syncing)[0] == "sync.repository"


def test_a_shallow_one_is_read_like_any_other(syncing: Syncing) -> None:
    syncing.commit({"b": "1\n"})
    syncing.follow()
    shallow = syncing.path / ".git" / "shallow"
    shallow.write_text(f"{syncing.tip}\n", encoding="utf-8")
    syncing.write({"b": "2\n"})
    assert committed(plan(syncing)) == ["b"]
    shallow.write_text("nonsense\n", encoding="utf-8")
    assert refusal(syncing)[0] == "sync.repository"


@pytest.mark.requirement("P2")
def test_a_graft_does_not_hide_the_commits_that_would_be_pushed(syncing: Syncing) -> None:
    base = syncing.tip
    for number in range(3):
        syncing.commit({"b": f"{number}\n"})
    info = syncing.path / ".git" / "info"
    info.mkdir(exist_ok=True)
    (info / "grafts").write_text(f"{syncing.tip} {base}\n", encoding="utf-8")
    assert plan(syncing).ahead == 3


def test_no_branch(syncing: Syncing) -> None:
    raw = syncing.raw
    raw.set_head(raw.head.target)
    assert refusal(syncing)[0] == "sync.detached"


def test_a_merge_that_is_not_finished(syncing: Syncing) -> None:
    (syncing.path / ".git" / "MERGE_HEAD").write_text(f"{syncing.tip}\n", encoding="utf-8")
    assert refusal(syncing) == ("sync.in-progress", "merge")


def test_a_sparse_work_tree(syncing: Syncing) -> None:
    syncing.configure(core__sparseCheckout="true")
    assert refusal(syncing)[0] == "sync.sparse"


# --- upstream --------------------------------------------------------------------------------


def test_a_branch_without_an_upstream(syncing: Syncing) -> None:
    config = syncing.raw.config
    del config["branch.main.merge"]
    assert refusal(syncing)[0] == "sync.no-upstream"


def test_a_branch_that_follows_another_local_one(syncing: Syncing) -> None:
    syncing.configure(branch__main__remote=".")
    assert refusal(syncing)[0] == "sync.no-upstream"


def test_a_remote_without_or_with_several_urls(syncing: Syncing) -> None:
    config = syncing.raw.config
    config.set_multivar("remote.origin.url", "none", "https://example.com/b.git")
    assert refusal(syncing)[0] == "sync.remote"
    del config["branch.main.remote"]
    config["branch.main.remote"] = "other"
    assert refusal(syncing)[0] == "sync.no-upstream"


@pytest.mark.parametrize("ref", ["refs/tags/v1", "main", "refs/heads/-x", "refs/heads/a..b"])
def test_what_is_no_branch_there_is_not_pushed_to(syncing: Syncing, ref: str) -> None:
    syncing.configure(branch__main__merge=ref)
    assert refusal(syncing)[0] == "sync.remote"


def test_an_upstream_of_another_name_is_kept_apart(syncing: Syncing) -> None:
    syncing.configure(branch__main__merge="refs/heads/review/main")
    syncing.write({"a.py": "2\n"})
    upstream = plan(syncing).upstream
    assert upstream.ref == "refs/heads/review/main"
    assert upstream.tracking == "refs/remotes/origin/review/main"
    assert upstream.oid is None


def test_a_remote_that_keeps_no_memory_is_pushed_to_all_the_same(syncing: Syncing) -> None:
    config = syncing.raw.config
    config["remote.origin.fetch"] = "+refs/tags/*:refs/tags/*"
    syncing.write({"a.py": "2\n"})
    found = plan(syncing)
    assert (found.upstream.tracking, found.upstream.oid, found.ahead) == (None, None, 1)


# --- who, and in which words -----------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["", "[user]\n\tname = Zhang\n", "[user]\n\tname = Zh<ang\n\temail = a@b\n"],
)
def test_without_a_name_and_an_address_nothing_is_committed(syncing: Syncing, text: str) -> None:
    (syncing.home / ".gitconfig").write_text(text, encoding="utf-8")
    syncing.configure(user__name="Mallory", user__email="mallory@example.com")
    syncing.write({"a.py": "2\n"})
    assert refusal(syncing)[0] == "sync.no-author"


def test_an_identity_may_depend_on_the_place_of_the_repository(syncing: Syncing) -> None:
    (syncing.home / "work").write_text("[user]\n\temail = zhang@work.example\n", encoding="utf-8")
    syncing.configure_home(f'[includeIf "gitdir:{syncing.path}/"]\n\tpath = {syncing.home}/work\n')
    syncing.write({"a.py": "2\n"})
    commit = plan(syncing).commit
    assert commit is not None
    assert (commit.author, commit.email) == ("Zhang", "zhang@work.example")


@pytest.mark.parametrize("message", ["", "  ", "two\nlines", "a\tb", "\u202eevil", "x" * 501])
def test_a_message_is_one_plain_line(syncing: Syncing, message: str) -> None:
    syncing.write({"a.py": "2\n"})
    assert refusal(syncing, message)[0] == "sync.message"


def test_long_names_do_not_make_a_long_message(syncing: Syncing) -> None:
    syncing.write({f"{letter * 200}": "x\n" for letter in "bcd"})
    commit = plan(syncing, None).commit
    assert commit is not None
    assert commit.message == "Add 3 files"


# --- files -----------------------------------------------------------------------------------


def test_nothing_has_changed(syncing: Syncing) -> None:
    assert refusal(syncing)[0] == "sync.nothing-to-do"


def test_a_touched_file_is_no_change(syncing: Syncing) -> None:
    os.utime(syncing.path / "a.py", (1, 1))
    assert refusal(syncing)[0] == "sync.nothing-to-do"


def test_what_is_staged_whole_is_committed(syncing: Syncing) -> None:
    syncing.write({"a.py": "2\n", "b": "x\n"})
    index = syncing.raw.index
    index.add_all()
    index.write()
    assert committed(plan(syncing)) == ["a.py", "b"]


def test_what_is_staged_in_another_version_is_not_lost(syncing: Syncing) -> None:
    syncing.write({"a.py": "2\n"})
    index = syncing.raw.index
    index.add("a.py")
    index.write()
    syncing.write({"a.py": "3\n"})
    assert refusal(syncing) == ("sync.partly-staged", "a.py")


def test_a_file_taken_out_of_the_index_is_not_put_back(syncing: Syncing) -> None:
    index = syncing.raw.index
    index.remove("a.py")
    index.write()
    assert refusal(syncing) == ("sync.partly-staged", "a.py")


def test_a_file_that_is_only_announced_is_committed(syncing: Syncing) -> None:
    syncing.write({"b": ""})
    index = syncing.raw.index
    index.add("b")
    index.write()
    syncing.write({"b": "x\n"})
    assert committed(plan(syncing)) == ["b"]


def test_what_was_announced_and_removed_again_is_no_change(syncing: Syncing) -> None:
    syncing.write({"b": ""})
    index = syncing.raw.index
    index.add("b")
    index.write()
    (syncing.path / "b").unlink()
    assert refusal(syncing)[0] == "sync.nothing-to-do"


def test_a_file_removed_with_git_is_committed_as_deleted(syncing: Syncing) -> None:
    syncing.commit({"b": "x\n"})
    index = syncing.raw.index
    index.remove("b")
    index.write()
    (syncing.path / "b").unlink()
    changes = plan(syncing).changes
    assert [(change.sealed.op, change.sealed.path) for change in changes] == [("delete", "b")]
    assert asyncio.run(syncing.sync()).pushed is True
    assert syncing.raw.status() == {}


def test_a_conflict(syncing: Syncing) -> None:
    raw = syncing.raw
    index = raw.index
    entry = index["a.py"]
    index.add_conflict(None, entry, entry)
    index.write()
    assert refusal(syncing) == ("sync.conflict", "a.py")


def test_links_old_and_new(syncing: Syncing) -> None:
    (syncing.path / "link").symlink_to("/etc/passwd")
    assert refusal(syncing) == ("sync.link", "link")
    syncing.raw.index.add_all()
    syncing.commit({})
    (syncing.path / "link").unlink()
    assert refusal(syncing) == ("sync.link", "link")
    syncing.write({"link": "a file\n"})
    assert refusal(syncing) == ("sync.link", "link")


def test_a_file_behind_a_linked_folder_is_gone(syncing: Syncing) -> None:
    syncing.commit({"sub/b": "x\n"})
    syncing.follow()
    (syncing.path / "sub").rename(syncing.root / "outside")
    (syncing.path / "sub").symlink_to(syncing.root / "outside")
    assert refusal(syncing) == ("sync.link", "sub")


def test_what_is_no_file_is_left_out(syncing: Syncing, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(syncing.path / "pipe")
    monkeypatch.chdir(syncing.path)  # a socket's own path must be short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
    syncing.write({"a.py": "2\n"})
    assert committed(plan(syncing)) == ["a.py"]


def test_a_file_turned_into_something_else_is_refused(syncing: Syncing) -> None:
    (syncing.path / "a.py").unlink()
    os.mkfifo(syncing.path / "a.py")
    assert refusal(syncing) in (("sync.file", "a.py"), ("sync.repository", None))


def test_submodules_and_repositories_inside_are_left_alone(syncing: Syncing) -> None:
    pygit2.init_repository(str(syncing.path / "inside"))
    syncing.write({"a.py": "2\n", "inside/x": "x\n"})
    assert committed(plan(syncing)) == ["a.py"]
    index = syncing.raw.index
    entry = pygit2.IndexEntry("sub", pygit2.Oid(hex=syncing.tip), pygit2.enums.FileMode.COMMIT)
    index.add(entry)
    index.write()
    assert refusal(syncing) == ("sync.submodule", "sub")


@pytest.mark.requirement("R52")
@pytest.mark.parametrize("name", [".env", "id_rsa", "keys/server.pem", "a.credentials.json"])
def test_a_secret_is_not_published(syncing: Syncing, name: str) -> None:
    syncing.write({name: "x\n"})
    assert refusal(syncing) == ("sync.secret", name)
    syncing.commit({})
    (syncing.path / name).unlink()
    assert refusal(syncing) == ("sync.secret", name)


@pytest.mark.requirement("R52")
def test_what_the_person_denies_is_not_read(syncing: Syncing) -> None:
    syncing.workspace = replace(syncing.workspace, deny=("private",))
    syncing.write({"private/plan.txt": "x\n"})
    assert refusal(syncing) == ("sync.secret", "private/plan.txt")
    syncing.workspace = replace(syncing.workspace, deny=())
    assert committed(plan(syncing)) == ["private/plan.txt"]


@pytest.mark.parametrize(
    ("attributes", "content"),
    [
        ("*.dat filter=lfs", "x\n"),
        ("*.dat filter", "x\n"),
        ("*.dat working-tree-encoding=UTF-16", "x\n"),
        ("*.dat ident", "$Id$\n"),
        ("*.dat text", "x\r\n"),
        ("* text=auto", "x\r\n"),
        ("*.dat eol=crlf", "x\r\n"),
        ("*.dat crlf", "x\r\n"),
    ],
)
def test_what_git_would_convert_is_not_committed(
    syncing: Syncing, attributes: str, content: str
) -> None:
    syncing.commit({".gitattributes": f"{attributes}\n"})
    syncing.write({"a.dat": content})
    assert refusal(syncing) == ("sync.converted", "a.dat")


@pytest.mark.parametrize("value", ["true", "input"])
def test_line_ends_that_git_would_convert_by_setting(syncing: Syncing, value: str) -> None:
    syncing.configure(core__autocrlf=value)
    syncing.write({"b": "x\n"})
    assert committed(plan(syncing)) == ["b"]
    syncing.write({"b": "x\r\n"})
    assert refusal(syncing) == ("sync.converted", "b")
    syncing.write({".gitattributes": "b -text\n"})
    assert committed(plan(syncing)) == [".gitattributes", "b"]


def test_line_ends_that_git_leaves_alone_are_committed_as_they_are(syncing: Syncing) -> None:
    syncing.write({"b": "x\r\ny\n"})
    assert plan(syncing).changes[0].content == b"x\r\ny\n"


def test_modes_count_only_where_the_repository_says_so(syncing: Syncing) -> None:
    (syncing.path / "a.py").chmod(0o755)
    assert plan(syncing).changes[0].sealed.new_mode == "100755"
    syncing.configure(core__filemode="false")
    syncing.write({"a.py": "2\n", "b": "x\n"})
    (syncing.path / "b").chmod(0o755)
    assert [change.sealed.new_mode for change in plan(syncing).changes] == ["100644", "100644"]


@pytest.mark.parametrize("name", ["a\u202eb", "a\nb", " a", "a:b"])
def test_a_name_that_cannot_be_shown_is_refused(syncing: Syncing, name: str) -> None:
    syncing.write({name: "x\n"})
    assert refusal(syncing)[0] in ("sync.name", "diff.name")


def test_a_name_that_is_no_text_is_refused(syncing: Syncing) -> None:
    (Path(os.fsdecode(bytes(syncing.path) + b"/a\xff"))).write_bytes(b"x\n")
    assert refusal(syncing)[0] == "sync.name"


@pytest.mark.requirement("R6")
def test_over_a_limit_nothing_is_committed(
    syncing: Syncing, monkeypatch: pytest.MonkeyPatch
) -> None:
    syncing.commit({"old": "x" * 50})
    syncing.write({f"b{number}": "x" * 50 for number in range(3)})
    monkeypatch.setattr(git_changes, "MAX_FILES", 2)
    assert refusal(syncing)[0] == "sync.too-many"
    monkeypatch.setattr(git_changes, "MAX_FILES", 3)
    monkeypatch.setattr(git_changes, "MAX_BYTES", 149)
    assert refusal(syncing) == ("sync.too-large", "b2")
    monkeypatch.setattr(git_changes, "MAX_BYTES", 150)
    assert len(committed(plan(syncing))) == 3
    monkeypatch.setattr(git_changes, "MAX_FILE_BYTES", 49)
    assert refusal(syncing) == ("sync.too-large", "b0")
    # What is tracked and large may have to be hashed, though it did not change.
    monkeypatch.setattr(git_changes, "MAX_HASHED_BYTES", 49)
    assert refusal(syncing) == ("sync.too-large", "old")


@pytest.mark.requirement("R6")
def test_an_old_version_over_the_limit_is_not_read(
    syncing: Syncing, monkeypatch: pytest.MonkeyPatch
) -> None:
    syncing.commit({"old": "x" * 50})
    syncing.write({"old": "x"})
    monkeypatch.setattr(git_changes, "MAX_FILE_BYTES", 49)
    assert refusal(syncing) == ("sync.too-large", "old")


def test_an_old_version_is_measured_before_it_is_unpacked(syncing: Syncing) -> None:
    # A few bytes in the store that claim to be more than is read: to unpack them would fail.
    claimed = b"blob %d\0" % (git_changes.MAX_FILE_BYTES + 1)
    name = hashlib.sha1(claimed, usedforsecurity=False).hexdigest()
    place = syncing.path / ".git" / "objects" / name[:2] / name[2:]
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(zlib.compress(claimed))
    raw = syncing.raw
    builder = raw.TreeBuilder()
    builder.insert("a.py", name, pygit2.enums.FileMode.BLOB)
    who = pygit2.Signature("Zhang", "zhang@example.com", 1, 0)
    raw.create_commit("HEAD", who, who, "bomb", builder.write(), [raw.head.target])
    assert refusal(syncing) == ("sync.too-large", "a.py")


def test_a_commit_that_unfolds_too_far_is_left_to_git(
    syncing: Syncing, monkeypatch: pytest.MonkeyPatch
) -> None:
    syncing.commit({"b/c": "1\n"})
    monkeypatch.setattr(git, "MAX_TREE_FILES", 1)
    assert refusal(syncing)[0] == "sync.repository"


def test_a_change_too_large_to_be_shown_is_refused(syncing: Syncing) -> None:
    syncing.write({"long": "x" * 2_100_000})
    assert refusal(syncing)[0] == "diff.too-large"
