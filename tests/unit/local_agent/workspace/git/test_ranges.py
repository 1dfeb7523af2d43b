"""What differs between two states, in real repositories that the git program made."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pygit2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.diff.render import MAX_LINES
from local_agent.workspace.git.ranges import (
    MAX_FILE_PATCH_BYTES,
    MAX_PATCH_BYTES,
    MAX_SUBJECTS,
    NotFound,
    Range,
    RangeChanges,
    Resolver,
    read_range,
)
from local_agent.workspace.registry import Workspace
from tests.each import each
from tests.hostile_repository import make_hostile_repository

pytestmark = pytest.mark.heavy

IDENTITY = {
    "GIT_AUTHOR_NAME": "Zhang",
    "GIT_AUTHOR_EMAIL": "zhang@example.com",
    "GIT_COMMITTER_NAME": "Zhang",
    "GIT_COMMITTER_EMAIL": "zhang@example.com",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "PATH": "/usr/bin:/bin",
}


class Shop:
    """A repository with a history."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "shop"
        self.path.mkdir()
        self.workspace = Workspace(name="shop", path=self.path.resolve())
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words],
            cwd=self.path,
            env=IDENTITY,
            check=True,
            capture_output=True,
            encoding="utf-8",
        )
        return done.stdout.strip()

    def write(self, files: Mapping[str, str | bytes | None]) -> None:
        for name, content in files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if content is None:
                path.unlink()
            else:
                path.write_bytes(content.encode() if isinstance(content, str) else content)

    def commit(self, message: str, files: Mapping[str, str | bytes | None]) -> str:
        self.write(files)
        self.git("add", "-A", "-f")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def read(self, wanted: Range) -> RangeChanges:
        found = read_range(self.workspace, wanted)
        assert isinstance(found, RangeChanges)
        return found

    def missing(self, name: str) -> NotFound:
        found = read_range(self.workspace, Range(kind="between", base=name))
        assert isinstance(found, NotFound)
        return found


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    made = Shop(tmp_path)
    made.commit("first", {"a.py": "one\ntwo\nthree\n", "old.py": "x = 1\ny = 2\n"})
    made.commit("second", {"a.py": "one\n2\nthree\n", "b.py": "new\n"})
    made.commit("third\n\nand why", {"old.py": None, "moved.py": "x = 1\ny = 2\n"})
    return made


def files_of(found: RangeChanges) -> list[tuple[str, str, int | None, int | None]]:
    return [(file.path, file.status, file.added, file.removed) for file in found.files]


def test_the_last_commit_is_compared_with_the_one_before(shop: Shop) -> None:
    found = shop.read(Range(kind="last"))
    assert files_of(found) == [("moved.py", "renamed", 0, 0)]
    assert [one.subject for one in found.commits] == ["third"]
    assert found.lines == ()


def test_the_last_commits_together_and_as_many_as_there_are(shop: Shop) -> None:
    two = shop.read(Range(kind="last", count=2))
    assert files_of(two)[:2] == [("a.py", "modified", 1, 1), ("b.py", "added", 1, 0)]
    assert [one.subject for one in two.commits] == ["third", "second"]
    every = shop.read(Range(kind="last", count=50))
    assert (every.base, every.commit_total) == ("", 3)
    assert files_of(every) == [
        ("a.py", "added", 3, 0),
        ("b.py", "added", 1, 0),
        ("moved.py", "added", 2, 0),
    ]


@pytest.mark.parametrize("steps", ["HEAD~1", "HEAD^", "@^", "main~1", "HEAD^1", "HEAD~0^"])
def test_one_commit_by_its_name(shop: Shop, steps: str) -> None:
    found = shop.read(Range(kind="commit", tip=steps))
    assert [path for path, *_ in files_of(found)] == ["a.py", "b.py"]
    assert found.lines[0].text.decode().endswith("@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n")
    assert found.lines[0].first_line == 1


def test_the_first_commit_is_all_new(shop: Shop) -> None:
    first = shop.git("rev-parse", "HEAD~2")
    found = shop.read(Range(kind="commit", tip=first[:8]))
    assert found.base == ""
    assert {status for _, status, *_ in files_of(found)} == {"added"}


def test_a_branch_is_compared_with_where_it_left_the_other(shop: Shop) -> None:
    shop.git("switch", "-q", "-c", "feature/login")
    shop.commit("mine", {"c.py": "c\n"})
    shop.git("switch", "-q", "main")
    shop.commit("theirs", {"d.py": "d\n"})
    found = shop.read(Range(kind="between", base="main", tip="feature/login"))
    assert files_of(found) == [("c.py", "added", 1, 0)]
    assert [one.subject for one in found.commits] == ["mine"]
    shop.git("switch", "-q", "feature/login")
    assert files_of(shop.read(Range(kind="between"))) == [("c.py", "added", 1, 0)]


def test_a_tag_a_full_id_and_a_remote_branch_are_names(shop: Shop) -> None:
    shop.git("tag", "-a", "v1", "-m", "one", "HEAD~1")
    shop.git("update-ref", "refs/remotes/origin/next", "HEAD~1")
    for name in ("v1", shop.git("rev-parse", "HEAD~1"), "origin/next", "next"):
        found = shop.read(Range(kind="between", base=name))
        assert [one.subject for one in found.commits] == ["third"]


def test_what_is_staged_is_compared_with_the_last_commit(shop: Shop) -> None:
    shop.write({"b.py": "staged\n"})
    shop.git("add", "b.py")
    shop.write({"b.py": "later\n", "a.py": "not staged\n"})
    found = shop.read(Range(kind="staged"))
    assert files_of(found) == [("b.py", "modified", 1, 1)]
    assert found.lines[0].text.decode().endswith("-new\n+staged\n")


def test_before_the_first_commit_all_that_is_staged_is_new(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.write({"a.py": "a\n"})
    shop.git("add", "a.py")
    assert files_of(shop.read(Range(kind="staged"))) == [("a.py", "added", 1, 0)]
    assert read_range(shop.workspace, Range(kind="last")) == NotFound("HEAD")
    assert read_range(shop.workspace, Range(kind="between", base="HEAD")) == NotFound("HEAD")


def test_histories_without_a_common_beginning_are_compared_as_they_are(shop: Shop) -> None:
    shop.git("switch", "-q", "--orphan", "other")
    shop.commit("alone", {"z.py": "z\n"})
    found = shop.read(Range(kind="between", base="main", tip="other"))
    assert ("z.py", "added", 1, 0) in files_of(found)
    assert found.commit_total == 1


# --- names that there are not ------------------------------------------------------------------


def test_a_name_that_there_is_not_is_told_with_the_branches_called_alike(shop: Shop) -> None:
    shop.git("branch", "feature/login")
    assert shop.missing("feature/logni") == NotFound("feature/logni", ("feature/login",))
    assert shop.missing("mian").near == ("main",)


@each(
    "name",
    [
        *("HEAD~99", "HEAD^3", ":/third", "@{yesterday}", "HEAD@{1}", "main:a.py", "HEAD^{tree}"),
        *("--all", "a b", "..", "", "ffffffff", "refs/heads/main", "x" * 300, "HEAD~99999"),
        *("\0", "é", "~1", "^", "HEAD^{/x}"),
    ],
)
def test_what_is_no_plain_name_is_no_commit(shop: Shop, name: str) -> None:
    found = read_range(shop.workspace, Range(kind="commit", tip=name or " "))
    assert isinstance(found, NotFound)
    assert not found.ambiguous


def test_an_id_that_could_be_two_is_ambiguous(shop: Shop) -> None:
    repository = pygit2.Repository(str(shop.path))
    ids = [str(repository.create_blob(f"{number}".encode())) for number in range(2000)]
    twice = next(oid[:4] for oid in ids if sum(one.startswith(oid[:4]) for one in ids) > 1)
    assert shop.missing(twice) == NotFound(twice, ambiguous=True)


def test_a_branch_and_a_tag_of_one_name_are_ambiguous(shop: Shop) -> None:
    shop.git("branch", "v1", "HEAD~1")
    shop.git("tag", "v1", "HEAD")
    assert shop.missing("v1") == NotFound("v1", ambiguous=True)


def test_without_a_main_branch_it_is_asked_for(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    assert isinstance(Resolver(pygit2.Repository(str(shop.path))).main_branch(), NotFound)


@given(name=st.text(max_size=40))
def test_no_name_raises(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    repository = pygit2.init_repository(str(tmp_path_factory.getbasetemp() / "names"))
    assert isinstance(Resolver(repository).commit(name), NotFound)


def test_a_folder_without_a_repository_has_no_ranges(tmp_path: Path) -> None:
    assert read_range(Workspace(name="shop", path=tmp_path), Range(kind="last")) is None


# --- bounds and secrets ------------------------------------------------------------------------


@pytest.mark.requirement("R52")
def test_secret_binary_large_and_foreign_files_are_named_and_not_shown(shop: Shop) -> None:
    inner = shop.git("rev-parse", "HEAD")
    shop.write({"big.txt": "x" * 3_000_000, ".env": "TOKEN=abc\n", "p.png": b"\x89\0\1"})
    shop.write({"private/notes.md": "mine\n"})
    shop.git("add", "-A", "-f")
    shop.git("update-index", "--add", "--cacheinfo", f"160000,{inner},sub")
    shop.git("commit", "-q", "-m", "all sorts")
    denied = Workspace(name="shop", path=shop.path.resolve(), deny=("private",))
    found = read_range(denied, Range(kind="last"))
    assert isinstance(found, RangeChanges)
    assert {one.path: (one.reason, one.text) for one in found.lines} == {
        ".env": ("secret", b""),
        "private/notes.md": ("secret", b""),
        "p.png": ("binary", b""),
        "big.txt": ("too-large", b""),
        "sub": ("submodule", b""),
    }
    assert len(found.files) == 5


def test_a_secret_that_was_renamed_stays_one(shop: Shop) -> None:
    shop.commit("secret", {".env": "TOKEN=abc\nMORE=x\n"})
    shop.commit("renamed", {".env": None, "plain.txt": "TOKEN=abc\nMORE=x\n"})
    found = shop.read(Range(kind="last"))
    assert all(one.reason == "secret" for one in found.lines)


def test_all_is_bounded_and_what_is_generated_comes_last(shop: Shop) -> None:
    lines = "".join(f"line {number} of many\n" for number in range(3000))
    shop.commit("much", {"a.lock": lines} | {f"f{n:03}.py": lines for n in range(8)})
    found = shop.read(Range(kind="last"))
    shown = [one for one in found.lines if one.text]
    assert all(len(one.text) <= MAX_FILE_PATCH_BYTES and one.cut for one in shown)
    assert all(one.text.endswith(b"\n") for one in shown)
    assert sum(len(one.text) for one in shown) <= MAX_PATCH_BYTES
    assert [one.path for one in shown][:2] == ["f000.py", "f001.py"]
    assert "a.lock" not in [one.path for one in shown]
    assert found.files[0].path == "a.lock"


@pytest.mark.thorough
def test_many_files_and_many_commits_are_counted(shop: Shop) -> None:
    shop.commit("many", {f"d/{number}.txt": f"{number}\n" for number in range(520)})
    found = shop.read(Range(kind="last"))
    assert (len(found.files), found.total) == (500, 520)
    for number in range(MAX_SUBJECTS + 2):
        shop.commit(f"no {number}", {})
    found = shop.read(Range(kind="last", count=100))
    assert (len(found.commits), found.commit_total) == (MAX_SUBJECTS, MAX_SUBJECTS + 2 + 4)


def test_an_id_of_something_else_is_no_commit(shop: Shop) -> None:
    assert shop.missing(shop.git("rev-parse", "HEAD:a.py")) == NotFound(
        shop.git("rev-parse", "HEAD:a.py")
    )


def test_reading_writes_nothing_into_the_repository(shop: Shop) -> None:
    before = sorted(path for path in (shop.path / ".git").rglob("*"))
    shop.read(Range(kind="last", count=50))
    shop.read(Range(kind="staged"))
    assert sorted(path for path in (shop.path / ".git").rglob("*")) == before


def test_a_commit_that_claims_more_than_can_be_compared_has_no_ranges(shop: Shop) -> None:
    repository = pygit2.Repository(str(shop.path))
    builder = repository.TreeBuilder()
    builder.insert("f", repository.create_blob(b"x"), pygit2.enums.FileMode.BLOB)
    tree = builder.write()
    for _ in range(8):
        folder = repository.TreeBuilder()
        for number in range(10):
            folder.insert(f"d{number}", tree, pygit2.enums.FileMode.TREE)
        tree = folder.write()
    who = pygit2.Signature("Trap", "trap@example.com", 1_700_000_000, 0)
    repository.create_commit("HEAD", who, who, "bomb", tree, [repository.head.target])
    assert read_range(shop.workspace, Range(kind="last")) is None


def test_a_file_that_takes_long_to_compare_is_not_compared(shop: Shop) -> None:
    lines = 2 * MAX_LINES
    shop.commit("first", {"a": "0\n" * lines, "b": "x\n"})
    shop.commit("second", {"a": "1\n" * lines, "b": "y\n"})
    found = shop.read(Range(kind="last"))
    assert [(file.path, file.added) for file in found.files] == [("a", None), ("b", 1)]
    assert [(one.path, one.reason) for one in found.lines] == [("a", "too-large"), ("b", "")]


def test_a_message_in_no_known_encoding_is_still_a_subject(shop: Shop) -> None:
    tree = shop.git("write-tree")
    raw = (
        f"tree {tree}\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\nencoding no-such\n\n".encode()
    )
    done = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin", "--literally"],
        cwd=shop.path,
        input=raw + b"\xff\xfe subject",
        env=IDENTITY,
        check=True,
        capture_output=True,
    )
    found = shop.read(Range(kind="commit", tip=done.stdout.decode().strip()))
    assert found.commits[0].subject.endswith("subject")


@pytest.mark.requirement("R37")
def test_nothing_of_a_hostile_repository_runs(tmp_path: Path) -> None:
    hostile = make_hostile_repository(tmp_path)
    workspace = Workspace(name="shop", path=hostile.path.resolve())
    for wanted in (Range(kind="last"), Range(kind="staged"), Range(kind="commit", tip="HEAD")):
        assert isinstance(read_range(workspace, wanted), RangeChanges)
    assert hostile.sprung() == []


def test_a_history_that_is_not_all_there_has_no_ranges(shop: Shop) -> None:
    gone = shop.git("rev-parse", "HEAD~1^{tree}")
    (shop.path / ".git" / "objects" / gone[:2] / gone[2:]).unlink()
    assert read_range(shop.workspace, Range(kind="last")) is None
