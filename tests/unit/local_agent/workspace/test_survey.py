"""What a command starts from: content, and nothing but content, of the workspace's own files."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pygit2
import pytest
from pygit2.enums import ConfigLevel

from common.clock import ManualClock
from common.errors import InputError
from common.seal import Mode, Op, SealedChange
from local_agent.workspace import survey as module
from local_agent.workspace.survey import (
    CONTENT,
    STAMPS,
    Survey,
    Surveyor,
    paths_in,
)
from tests.sealed import ZEROS

pytestmark = pytest.mark.heavy

LONG_AFTER = 2_000_000_000_000


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with a tracked, an untracked and an ignored file."""
    tree = tmp_path / "tree"
    (tree / "src").mkdir(parents=True)
    for name, text in (
        ("src/app.py", "one\n"),
        (".gitignore", "*.log\nbuild/\n"),
        ("notes.txt", "new\n"),
        ("run.log", "ignored\n"),
        ("build/out.o", "ignored\n"),
    ):
        (tree / name).parent.mkdir(exist_ok=True)
        (tree / name).write_text(text, encoding="utf-8")
    repository = pygit2.init_repository(str(tree))
    for name in ("src/app.py", ".gitignore"):
        repository.index.add(name)
    repository.index.write()
    return tree


def _survey(tree: Path) -> Survey:
    return Surveyor(ManualClock(wall_ms=LONG_AFTER)).survey(tree)


def _own(found: Survey) -> set[str]:
    return {path for path in found.own if not path.startswith(".git/")}


def _base(tree: Path) -> dict[str, str]:
    return dict(_survey(tree).base)


@pytest.mark.requirement("R24b")
def test_what_git_would_commit_is_counted_and_compared_by_content(tree: Path) -> None:
    found = _survey(tree)
    assert (_own(found), found.unread) == ({"src/app.py", ".gitignore", "notes.txt"}, 0)
    assert list(found.base) == [CONTENT]
    assert len(found.base[CONTENT]) == 64


def _edit(tree: Path) -> None:
    (tree / "src/app.py").write_text("two\n", encoding="utf-8")


def _edit_untracked(tree: Path) -> None:
    (tree / "notes.txt").write_text("mew\n", encoding="utf-8")


def _add(tree: Path) -> None:
    (tree / "conftest.py").touch()


def _remove(tree: Path) -> None:
    (tree / "notes.txt").unlink()


def _rename(tree: Path) -> None:
    (tree / "notes.txt").rename(tree / "notes2.txt")


def _make_executable(tree: Path) -> None:
    (tree / "src/app.py").chmod(0o755)


def _turn_into_link(tree: Path) -> None:
    (tree / "src/app.py").unlink()
    (tree / "src/app.py").symlink_to("one")


def _swap(tree: Path) -> None:
    (tree / "notes.txt").rename(tree / "x")
    (tree / "src/app.py").rename(tree / "notes.txt")
    (tree / "x").rename(tree / "src/app.py")


@pytest.mark.requirement("R24b")
@pytest.mark.parametrize(
    "change",
    [_edit, _edit_untracked, _add, _remove, _rename, _make_executable, _turn_into_link, _swap],
)
def test_any_change_of_its_own_files_shows(tree: Path, change: Callable[[Path], None]) -> None:
    surveyor = Surveyor(ManualClock(wall_ms=LONG_AFTER))
    before = surveyor.survey(tree).base
    change(tree)
    after = surveyor.survey(tree).base
    assert after != before
    assert after == _base(tree), "what is remembered does not change what is found"


def _touch(tree: Path) -> None:
    os.utime(tree / "src/app.py", ns=(1, 1))


def _write_again(tree: Path) -> None:
    (tree / "src/app.py").unlink()
    (tree / "src/app.py").write_text("one\n", encoding="utf-8")


def _build(tree: Path) -> None:
    (tree / "build/more.o").touch()
    (tree / "run.log").write_text("more", encoding="utf-8")


@pytest.mark.parametrize("change", [_touch, _write_again, _build])
def test_what_leaves_the_content_alone_does_not_show(
    tree: Path, change: Callable[[Path], None]
) -> None:
    before = _base(tree)
    change(tree)
    assert _base(tree) == before


@pytest.mark.requirement("R24b")
def test_a_tracked_file_counts_though_it_is_ignored(tree: Path) -> None:
    repository = pygit2.Repository(str(tree))
    repository.index.add("run.log")
    repository.index.write()
    before = _base(tree)
    (tree / "run.log").write_text("other", encoding="utf-8")
    assert _base(tree) != before


@pytest.mark.requirement("P2")
def test_without_a_repository_all_but_folders_of_packages_count(tmp_path: Path) -> None:
    for path in ("node_modules/x.js", "target/run.sh", "x.js"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).touch()
    found = _survey(tmp_path)
    assert found.own == {"target/run.sh", "x.js"}
    assert found.uncompared == ("node_modules/",)


def test_an_unchanged_file_is_read_once(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    surveyor = Surveyor(ManualClock(wall_ms=LONG_AFTER))
    first = surveyor.survey(tree)
    read: list[Path] = []
    honest = module._read

    def noted(workspace: Path, path: str, status: os.stat_result) -> str | None:
        read.append(workspace / path)
        return honest(workspace, path, status)

    monkeypatch.setattr(module, "_read", noted)
    assert surveyor.survey(tree) == first
    assert read == []
    _edit(tree)
    surveyor.survey(tree)
    assert read == [tree / "src/app.py"]


@pytest.mark.requirement("R24b")
def test_a_file_that_may_change_within_its_stamp_is_not_remembered(tree: Path) -> None:
    changed_ms = (tree / "src/app.py").stat().st_ctime_ns // 1_000_000
    surveyor = Surveyor(ManualClock(wall_ms=changed_ms + 1000))
    surveyor.survey(tree)
    assert surveyor._known[tree] == {}


def test_too_large_files_are_compared_by_stamp_and_that_is_told(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_FILE_BYTES", 4)
    found = _survey(tree)
    assert found.unread > 0
    assert list(found.base) == [CONTENT, STAMPS]
    before = found.base
    os.utime(tree / ".gitignore", ns=(1, 1))
    after = _base(tree)
    assert after[CONTENT] == before[CONTENT]
    assert after[STAMPS] != before[STAMPS]


def test_too_much_content_is_chosen_the_same_at_each_look(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    surveyor = Surveyor(ManualClock(wall_ms=LONG_AFTER))
    surveyor.survey(tree)  # all of it is known now
    monkeypatch.setattr(module, "MAX_BYTES", 16)
    assert surveyor.survey(tree) == _survey(tree)
    assert _survey(tree).unread > 0


@pytest.mark.requirement("P2")
def test_what_is_large_leaves_no_small_file_unread(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        (tree / f"a{number}").write_bytes(b"x" * 1000)
    (tree / "a-heap").write_bytes(b"x" * 9000)  # never read, so it costs nothing
    monkeypatch.setattr(module, "MAX_FILE_BYTES", 8000)
    monkeypatch.setattr(module, "MAX_BYTES", 2500)
    assert _survey(tree).unread == 4
    before = _survey(tree).base
    later = (tree / "src/app.py").stat()
    (tree / "src/app.py").write_bytes(b"y" * later.st_size)
    os.utime(tree / "src/app.py", ns=(later.st_atime_ns, later.st_mtime_ns))
    assert _survey(tree).base[CONTENT] != before[CONTENT]


@pytest.mark.requirement("P2")
@pytest.mark.parametrize(
    ("limit", "most", "code"),
    [
        ("MAX_ENTRIES", 3, "workspace.too-many-files"),
        ("MAX_DEPTH", 0, "workspace.too-deep"),
        ("MAX_REPOSITORIES", 0, "workspace.too-many-repositories"),
    ],
)
def test_what_is_not_looked_at_whole_is_refused(
    tree: Path, monkeypatch: pytest.MonkeyPatch, limit: str, most: int, code: str
) -> None:
    (tree / "vendor/.git").mkdir(parents=True)
    assert _survey(tree).repositories == ("vendor/.git",)
    monkeypatch.setattr(module, limit, most)
    with pytest.raises(InputError) as caught:
        _survey(tree)
    assert caught.value.code == code


@pytest.mark.requirement("P2")
@pytest.mark.parametrize("limit", ["MAX_ENTRIES", "MAX_DEPTH"])
def test_what_is_ignored_ends_the_look_at_nothing(
    tree: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    (tree / "build/a/b/c/d/e/f/g/h").mkdir(parents=True)
    shutil.rmtree(tree / ".git/hooks")
    assert not _survey(tree).strangers
    before = _base(tree)
    monkeypatch.setattr(module, limit, 5)
    assert (_base(tree), _survey(tree).strangers) == (before, True)


@pytest.mark.cpu(5)
def test_what_would_wait_for_ever_is_not_opened(tree: Path) -> None:
    os.mkfifo(tree / "pipe")
    (tree / "src/+first").touch()  # looked at before
    os.mkfifo(tree / "src/.gitignore")
    found = _survey(tree)
    assert found.unread == 2
    assert STAMPS in found.base


def test_links_are_not_followed(tree: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").touch()
    (tree / "link").symlink_to(outside)
    before = _survey(tree)
    (outside / "file").write_text("changed", encoding="utf-8")
    assert _survey(tree) == before


@pytest.mark.requirement("R47")
def test_repositories_further_down_and_sockets_are_found(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "vendor/lib/.git").mkdir(parents=True)
    (tree / "build/dep").mkdir()
    (tree / "build/dep/.git").write_text("gitdir: x\n", encoding="utf-8")
    monkeypatch.chdir(tree)  # a socket's name is short
    for name in ("s.sock", "build/s.sock", ".git/fsmonitor--daemon.ipc"):
        with socket.socket(socket.AF_UNIX) as door:
            door.bind(name)
    found = _survey(tree)
    assert found.repositories == ("vendor/lib/.git",), "what is ignored comes and goes"
    assert set(found.sockets) == {"s.sock", "build/s.sock", ".git/fsmonitor--daemon.ipc"}
    assert found.base == _base(tree)


@pytest.mark.requirement("R47")
def test_sockets_deep_in_gits_own_folder_are_found(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    submodule = tree / ".git/modules/lib"
    (submodule / "objects").mkdir(parents=True)
    monkeypatch.chdir(submodule)  # a socket's name is short
    with socket.socket(socket.AF_UNIX) as door:
        door.bind("fsmonitor--daemon.ipc")
    found = _survey(tree)
    assert found.sockets == (".git/modules/lib/fsmonitor--daemon.ipc",)
    assert not found.strangers


@pytest.mark.requirement("R47")
def test_more_sockets_than_are_looked_for_are_told_of(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tree)  # a socket's name is short
    for name in ("a.sock", "b.sock"):
        with socket.socket(socket.AF_UNIX) as door:
            door.bind(name)
    assert not _survey(tree).strangers
    monkeypatch.setattr(module, "MAX_FOUND", 1)
    found = _survey(tree)
    assert found.strangers
    assert len(found.sockets) <= 1


@pytest.mark.requirement("R47")
def test_a_folder_that_cannot_be_listed_may_hold_sockets(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As for an ordinary user after `chmod 0311`; to root every folder is open.
    monkeypatch.setattr(os, "access", lambda path, _mode: Path(path).name != "build")
    assert _survey(tree).strangers


def test_what_is_gone_or_no_file_counts_as_unread(tree: Path) -> None:
    (tree / "gone").mkdir()
    for path in ("gone/x", "gone"):
        assert module._read(tree, path, (tree / "notes.txt").stat()) is None


@contextmanager
def _an_ordinary_user() -> Iterator[Path]:
    """Give a folder of one: to root everything is open."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:  # pytest's is root's own
        folder = Path(name).resolve()
        if os.geteuid() != 0:
            yield folder
            return
        os.chown(folder, 65534, 65534)
        os.seteuid(65534)
        known = pygit2.settings.search_path[ConfigLevel.GLOBAL]
        pygit2.settings.search_path[ConfigLevel.GLOBAL] = name  # root's own is closed to it, too
        try:
            yield folder
        finally:
            pygit2.settings.search_path[ConfigLevel.GLOBAL] = known
            os.seteuid(0)


@pytest.mark.requirement("P2", "R24b")
def test_what_cannot_be_read_is_refused_by_its_name() -> None:
    cases = [("src", 0o111), ("src", 0o444), ("src", 0), ("src/app.py", 0), ("src/app.py", 0o111)]
    for path, mode in cases:
        for repository in (True, False):
            with _an_ordinary_user() as tree:
                for name in ("src/app.py", "build/out.o"):
                    (tree / name).parent.mkdir()
                    (tree / name).write_text(name, "utf-8")
                if repository:
                    pygit2.init_repository(str(tree))
                    (tree / ".gitignore").write_text("build/\n", "utf-8")
                (tree / "build").chmod(0o111 if repository else 0o755)
                assert "src/app.py" in _survey(tree).own, "what git ignores may be closed"
                (tree / path).chmod(mode)
                with pytest.raises(InputError) as caught:
                    _survey(tree)
                (tree / path).chmod(0o755)
                (tree / "build").chmod(0o755)
            named = "src/app.py" if "." in path or mode == 0o444 else "src/"
            assert (caught.value.code, caught.value.facts["path"]) == (
                "workspace.unreadable",
                named,
            ), (path, mode)


@pytest.mark.requirement("P2")
@pytest.mark.parametrize(
    ("path", "is_obeyed"),
    [
        (".git/hooks/pre-commit", True),
        (".git/hooks/lib/more.sh", True),
        (".git/config", True),
        (".git/modules/lib/config", True),
        (".git/modules/lib/hooks/pre-push", True),
        ("vendor/lib/.git/hooks/pre-commit", True),
        (".git/objects/ab/cdef", False),
        (".git/COMMIT_EDITMSG", False),
        (".git/refs/heads/hooks", False),
        ("build/dep/.git/hooks/pre-commit", False),
    ],
)
def test_what_git_runs_or_obeys_is_compared(tree: Path, path: str, is_obeyed: bool) -> None:
    target = tree / path
    target.parent.mkdir(parents=True, exist_ok=True)
    before = _base(tree)
    target.write_text("#!/bin/sh\n", "utf-8")
    assert (_base(tree) != before) is is_obeyed
    assert path not in dict(module.own_files(tree)), "no copy holds a repository"


@pytest.mark.requirement("P2")
def test_a_git_folder_that_lies_elsewhere_is_compared_by_where(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /somewhere\n", "utf-8")
    before = _base(tmp_path)
    (tmp_path / ".git").write_text("gitdir: /elsewhere\n", "utf-8")
    assert _base(tmp_path) != before


@pytest.mark.requirement("P7")
def test_what_is_left_out_is_named_and_no_name_is_a_sentence(tree: Path) -> None:
    assert _survey(tree).uncompared == (".git/", "build/", "run.log")
    (tree / "sub").mkdir()
    (tree / ".gitignore").write_text("*.log\nbuild/\n/dist/\n*all*/\n*.o\n", "utf-8")
    for name in ("dist", "nothing, all else is safe", "sub/build", "sub/all"):
        (tree / name).mkdir()
    (tree / "x.o").touch()
    assert _survey(tree).uncompared == (".git/", "build/", "dist/", "all/", "…")


def test_what_goes_away_during_the_walk_is_left_out(tree: Path) -> None:
    (tree / "brief").touch()
    os.mkfifo(tree / "brief-pipe")
    with os.scandir(tree) as entries:
        brief = [entry for entry in entries if entry.name.startswith("brief")]
    for entry in brief:
        Path(entry.path).unlink()
    found = module._Found()
    for entry in brief:
        for hidden in (False, True):
            module._note(entry, entry.name, found, hidden=hidden)
    assert found == module._Found()
    assert list(module._entries(tree, "gone", is_own=True)) == []


@pytest.mark.cpu(5)
def test_a_file_that_turned_into_something_else_is_not_read(tree: Path) -> None:
    status = (tree / "notes.txt").stat()
    os.mkfifo(tree / "pipe")
    (tree / "link").symlink_to("notes.txt")
    assert module._read(tree, "pipe", status) is None
    assert module._read(tree, "link", status) is None
    assert module._read(tree, "notes.txt", (tree / "link").lstat()) is None


# --- what will be there ------------------------------------------------------------------------


def a_change(op: Op, path: str, text: str = "", *, old: str = "", mode: Mode = "100644") -> Any:
    deleted = op == "delete"
    return SealedChange(
        op=op,
        path=path,
        old_path=None if op == "add" else old or path,
        old_sha256=None if op == "add" else ZEROS,
        old_mode=None if op == "add" else "100644",
        new_sha256=None if deleted else hashlib.sha256(text.encode()).hexdigest(),
        new_mode=None if deleted else mode,
        size=0 if deleted else len(text),
    )


def make(workspace: Path, change: SealedChange, text: str = "") -> None:
    if change.op in ("delete", "rename"):
        (workspace / (change.old_path or "")).unlink()
    if change.op != "delete":
        target = workspace / change.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
        target.chmod(0o755 if change.new_mode == "100755" else 0o640)


@pytest.mark.requirement("P2", "R24b")
@pytest.mark.parametrize("repository", [True, False])
@pytest.mark.parametrize(
    "change",
    [
        a_change("modify", "b/two.txt", "new"),
        a_change("modify", "one.txt", "new", mode="100755"),
        a_change("add", "0.txt", "new"),
        a_change("add", "zz", "new"),
        a_change("add", "b/c/d/e.txt", "new", mode="100755"),
        a_change("add", "a/名.txt", "new"),
        a_change("add", "build/made.txt", "new"),
        a_change("add", "b/kept.log", "new"),
        a_change("add", "b!/x", "new"),
        a_change("add", "b.txt", "new"),
        a_change("delete", "one.txt"),
        a_change("delete", "b/two.txt"),
        a_change("rename", "c/there.txt", "new", old="one.txt"),
        a_change("copy", "c/there.txt", "new", old="one.txt"),
    ],
)
def test_the_state_after_a_change_is_foreseen(
    tmp_path: Path, change: SealedChange, repository: bool
) -> None:
    if repository:
        pygit2.init_repository(str(tmp_path))
        (tmp_path / ".gitignore").write_text("build/\n*.log\n", "utf-8")
    for path in ("one.txt", "b/two.txt", "b/c/three.txt", "b-/four.txt", "build/out.txt"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(path, "utf-8")
    surveyor = Surveyor()
    foreseen = surveyor.survey(tmp_path, after=[change])
    make(tmp_path, change, "new")
    ignored = paths_in(foreseen.base)
    assert ignored == ({change.path} & {"build/made.txt", "b/kept.log"} if repository else set())
    for looking in (surveyor, Surveyor()):
        found = looking.survey(tmp_path)
        assert found.beside(tmp_path, ignored, None)[0] == foreseen.base


def test_several_changes_are_foreseen_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a", "utf-8")
    changes = [
        a_change("rename", "b", "new", old="a"),
        a_change("add", "a", "new"),
        a_change("delete", "b"),
    ]
    foreseen = Surveyor().survey(tmp_path, after=changes)
    for change in changes:
        make(tmp_path, change, "new")
    assert Surveyor().survey(tmp_path).base == foreseen.base
