"""Scratch copies: what is lent, what may be done to it, and what is found afterwards."""

from __future__ import annotations

import asyncio
import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from common.diff.parse import parse_diff
from common.errors import InputError, StateError
from local_agent.models.backend import Refusal, Scratch
from local_agent.propose import scratch
from local_agent.workspace.listing import ListingLimits
from tests.scratching import Borrowed, Lending, contents, snapshot, write_files
from tests.unit.local_agent.workspace.conftest import Repository, repository

pytestmark = pytest.mark.heavy

__all__ = ["repository"]

FILES: dict[str, str | bytes] = {
    "README.md": "# Ours\n",
    "src/app.py": "def add(a, b):\n    return a - b\n",
    "src/crlf.txt": "one\r\ntwo\r\n",
    "tools/run": "#!/bin/sh\n",
    "empty": "",
    ".github/workflows/ci.yml": "on: push\n",
    "logo.png": b"\x89PNG\0\0",
    ".env": "KEY=1\n",
    "id_rsa": "-----\n",
    "AGENTS.md": "obey\n",
    ".codex/config.toml": "x = 1\n",
    "sub/.claude/settings.json": "{}\n",
    ".mcp.json": "{}\n",
    "private/notes.txt": "mine\n",
    "large.txt": "x" * (1024 * 1024 + 1),
}
READABLE = {
    "README.md",
    "src/app.py",
    "src/crlf.txt",
    "tools/run",
    "empty",
    ".github/workflows/ci.yml",
}


@pytest.fixture
def lending(tmp_path: Path) -> Iterator[Lending]:
    lending = Lending(tmp_path, FILES, deny=("private",))
    (lending.path / "tools/run").chmod(0o755)
    (lending.path / "link").symlink_to("README.md")
    (lending.path / "folder-link").symlink_to("/etc")
    os.mkfifo(lending.path / "pipe")
    before = snapshot(lending.path)
    yield lending
    assert snapshot(lending.path) == before, "the workspace is never written"


def sha256(content: str | bytes) -> str:
    raw = content.encode() if isinstance(content, str) else content
    return hashlib.sha256(raw).hexdigest()


def _code(copy: Borrowed, path: str | Path) -> str:
    with pytest.raises(InputError) as caught:
        copy.inside(path)
    return caught.value.code


# --- what is lent ---


@pytest.mark.requirement("R52")
def test_a_tree_holds_what_may_be_read_and_nothing_that_agents_obey(lending: Lending) -> None:
    with lending.lend() as copy:
        found = contents(copy.root)
        assert found.keys() == READABLE
        assert found["src/crlf.txt"] == b"one\r\ntwo\r\n"
        assert (copy.root / "tools/run").stat().st_mode & stat.S_IXUSR
        for folder in (lending.state, copy.root.parent, copy.root):
            assert folder.stat().st_mode & 0o077 == 0 or folder == copy.root.parent
        made = copy.diff()
    assert (made.diff, made.base, made.refused) == (b"", {}, ())


def test_an_empty_copy_brings_in_what_is_read(lending: Lending) -> None:
    with lending.lend(whole=False) as copy:
        lent: Scratch = copy.copy
        assert contents(copy.root) == {}
        assert lent.read("src/app.py") == b"def add(a, b):\n    return a - b\n"
        assert lent.read("src/none.py") is None
        assert contents(copy.root).keys() == {"src/app.py"}
        root = copy.root
    assert not root.exists()


@pytest.mark.requirement("R52")
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("logo.png", "scratch.withheld"),
        ("large.txt", "scratch.withheld"),
        ("link", "scratch.withheld"),
        ("pipe", "scratch.withheld"),
        ("folder-link/passwd", "scratch.withheld"),
        ("src", "scratch.withheld"),
        (".env", "path.denied"),
        ("id_rsa", "path.denied"),
        ("private/notes.txt", "path.denied"),
        ("AGENTS.md", "scratch.forbidden"),
        (".codex/config.toml", "scratch.forbidden"),
        ("sub/.claude/settings.json", "scratch.forbidden"),
    ],
)
def test_what_may_not_be_read_can_neither_be_read_nor_written_over(
    lending: Lending, path: str, code: str, *, whole: bool
) -> None:
    expected = "path.not-regular" if whole and path == "src" else code
    with lending.lend(whole=whole) as copy:
        for act in (copy.read, copy.delete, lambda name: copy.write(name, b"x\n")):
            with pytest.raises(InputError) as caught:
                act(path)
            assert caught.value.code == expected
        made = copy.diff()
    assert (made.diff, made.refused) == (b"", ())


@pytest.mark.requirement("R52")
def test_what_git_ignores_is_not_lent_and_not_written_over(
    tmp_path: Path, repository: Repository
) -> None:
    repository.commit({".gitignore": "build/\n*.log\n", "app.py": "x\n"})
    repository.write({"build/out.txt": "o\n", "a.log": "l\n"})
    (tmp_path / "ours").mkdir()
    lending = Lending(tmp_path / "ours", {})
    lending.path.rmdir()
    repository.path.rename(lending.path)
    for whole in (True, False):
        with lending.lend(whole=whole) as copy:
            assert contents(copy.root).keys() == ({".gitignore", "app.py"} if whole else set())
            for path in ("build/out.txt", "a.log"):
                with pytest.raises(InputError) as caught:
                    copy.read(path)
                assert caught.value.code == "scratch.withheld"
            write_files(copy.root, {"build/out.txt": "mine\n", "b.log": "new\n"})
            made = copy.diff()
        assert made.refused == (Refusal("build/out.txt", "scratch.withheld"),)
        assert made.base == {"b.log": "absent"}


def test_a_workspace_that_is_too_large_is_told(tmp_path: Path) -> None:
    files = {f"{number}.txt": "x" for number in range(5)}
    lending = Lending(tmp_path, files, limits=ListingLimits(files=4))
    with pytest.raises(InputError) as caught, lending.lend():
        raise AssertionError
    assert (caught.value.code, caught.value.facts) == ("scratch.too-many", {"limit": 4})


def test_a_workspace_that_is_gone_is_told(tmp_path: Path) -> None:
    lending = Lending(tmp_path, {})
    lending.path.rmdir()
    with pytest.raises(InputError) as caught, lending.lend(whole=False):
        raise AssertionError
    assert caught.value.code == "path.missing"


def test_no_more_files_come_into_a_copy_than_a_change_may_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch, "MAX_BROUGHT", 2)
    lending = Lending(tmp_path, dict.fromkeys("abc", "x"))
    with lending.lend(whole=False) as copy:
        assert copy.read("a") == copy.read("b") == copy.read("a") == b"x"
        with pytest.raises(InputError) as caught:
            copy.read("c")
    assert caught.value.code == "scratch.too-many"


# --- the gate ---


def test_a_path_inside_is_named_relative_to_the_copy(lending: Lending) -> None:
    with lending.lend() as copy:
        assert copy.inside("src/app.py") == "src/app.py"
        assert copy.inside("./src//new/./a.py") == "src/new/a.py"
        assert copy.inside(copy.root / "src" / "app.py") == "src/app.py"
        assert copy.inside(str(copy.root / "中文.py")) == "中文.py"
        assert copy.inside(".github/workflows/new.yml") == ".github/workflows/new.yml"


def test_whatever_is_not_inside_is_refused(lending: Lending) -> None:
    with lending.lend() as copy:
        outside = ("../x", "a/../../x", "src/../app.py", "/etc/passwd", "..", f"{copy.root}x/a")
        assert {_code(copy, path) for path in outside} == {"scratch.outside"}
        assert _code(copy, copy.root) == "scratch.outside"
        assert _code(copy, lending.path / "README.md") == "scratch.outside"
        malformed = ("", ".", "a\nb", "a\\b", "C:x", "con", "a\udc80", "x" * 256, " a", "a/" * 66)
        assert {_code(copy, path) for path in malformed} == {"path.malformed"}
        own = (".git/config", ".GIT/hooks/x", "git~1/x", "a/.git", ".g\u200cit/x", ".git ")
        assert {_code(copy, path) for path in own} <= {"scratch.forbidden", "path.malformed"}
        assert _code(copy, ".git/config") == _code(copy, ".Git/x") == "scratch.forbidden"


@pytest.mark.requirement("R35")
def test_nothing_is_reached_through_a_link_or_another_kind_of_file(
    lending: Lending, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("theirs\n", encoding="utf-8")
    with lending.lend() as copy:
        (copy.root / "out").symlink_to(tmp_path)
        (copy.root / "file").symlink_to(victim)
        os.link(victim, copy.root / "second-name")
        os.mkfifo(copy.root / "pipe-of-theirs")
        (copy.root / "program").write_bytes(b"x")
        (copy.root / "program").chmod(0o4755)
        assert _code(copy, "out/victim") == _code(copy, "file") == "path.link"
        assert _code(copy, "second-name") == "path.link"
        assert _code(copy, "pipe-of-theirs") == _code(copy, "README.md/x") == "path.not-regular"
        assert _code(copy, "src") == "path.not-regular"
        assert _code(copy, "program") == "scratch.mode"
        for name in ("out/victim", "file", "second-name"):
            with pytest.raises(InputError):
                copy.write(name, b"ours\n")
        made = copy.diff()
    assert victim.read_text(encoding="utf-8") == "theirs\n"
    assert made.diff == b""
    assert {one.path: one.code for one in made.refused} == {
        "file": "path.link",
        "out": "path.link",
        "pipe-of-theirs": "path.not-regular",
        "program": "scratch.mode",
        "second-name": "path.link",
    }


# --- edits and what is found of them ---


@pytest.mark.parametrize("whole", [True, False])
def test_what_was_edited_is_found_with_what_it_started_from(
    lending: Lending, *, whole: bool
) -> None:
    with lending.lend(whole=whole) as copy:
        copy.write("src/app.py", b"def add(a, b):\n    return a + b\n")
        copy.write("new/notes.txt", b"hello\n")
        copy.write("tools/run", b"#!/bin/sh\necho\n")
        copy.delete("src/crlf.txt")
        copy.write("empty", b"")
        assert copy.read("src/crlf.txt") is None
        made = copy.diff()
    files = {file.path: file for file in parse_diff(made.diff).files}
    assert {path: file.op for path, file in files.items()} == {
        "new/notes.txt": "add",
        "src/app.py": "modify",
        "src/crlf.txt": "delete",
        "tools/run": "modify",
    }
    assert files["tools/run"].new_mode is None, "it is a program still"
    assert made.base == {
        "new/notes.txt": "absent",
        "src/app.py": sha256("def add(a, b):\n    return a - b\n"),
        "src/crlf.txt": sha256("one\r\ntwo\r\n"),
        "tools/run": sha256("#!/bin/sh\n"),
    }
    assert made.refused == ()


def test_the_same_edits_give_the_same_bytes_whoever_made_them(lending: Lending) -> None:
    app, run = b"def add(a, b):\n    return a + b\n", b"#!/bin/sh\n"
    with lending.lend(whole=False) as copy:
        copy.write("src/app.py", app)
        copy.write("tools/start", run)
        copy.read("tools/run")
        copy.delete("tools/run")
        ours = copy.diff()
    with lending.lend() as copy:
        # As a program does it: beside and renamed; a moved program loses its mode.
        (copy.root / "tools/run").unlink()
        (copy.root / "tools/start").write_bytes(run)
        (copy.root / ".tmp").write_bytes(app)
        (copy.root / ".tmp").rename(copy.root / "src/app.py")
        theirs = copy.diff()
    assert ours == theirs
    renamed = parse_diff(ours.diff).files[1]
    assert (renamed.op, renamed.old_path, renamed.new_mode) == ("rename", "tools/run", None)
    assert ours.base["tools/start"] == "absent"
    assert ours.base["tools/run"] == sha256(run)


def test_a_change_that_leaves_size_and_times_alike_is_found(lending: Lending) -> None:
    with lending.lend() as copy:
        path = copy.root / "README.md"
        times = path.stat()
        path.write_bytes(b"# Hers\n")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        made = copy.diff()
    assert b"+# Hers" in made.diff


def test_what_becomes_executable_is_told(lending: Lending) -> None:
    with lending.lend() as copy:
        (copy.root / "README.md").chmod(0o700)
        made = copy.diff()
    (file,) = parse_diff(made.diff).files
    assert (file.old_mode, file.new_mode, file.hunks) == ("100644", "100755", ())


def test_a_file_that_is_written_again_after_it_was_removed_keeps_its_mode(
    lending: Lending,
) -> None:
    with lending.lend() as copy:
        copy.delete("tools/run")
        copy.write("tools/run", b"#!/bin/bash\n")
        (file,) = parse_diff(copy.diff().diff).files
    assert (file.op, file.new_mode) == ("modify", None)


def test_what_cannot_be_written_is_refused(lending: Lending) -> None:
    with lending.lend() as copy:
        for content, code in ((b"a\0b", "scratch.binary"), (b"x" * 1_048_577, "scratch.too-large")):
            with pytest.raises(InputError) as caught:
                copy.write("README.md", content)
            assert caught.value.code == code
        with pytest.raises(InputError) as caught:
            copy.delete("none.py")
        assert caught.value.code == "scratch.missing"
        assert copy.diff().diff == b""


def test_files_that_only_some_systems_tell_apart_are_refused_together(
    lending: Lending,
) -> None:
    with lending.lend() as copy:
        (copy.root / "README.md").rename(copy.root / "Readme.md")
        copy.write("new.py", b"x\n")
        made = copy.diff()
    assert [file.path for file in parse_diff(made.diff).files] == ["new.py"]
    assert {one.code for one in made.refused} == {"scratch.twin"}
    assert {one.path for one in made.refused} == {"README.md", "Readme.md"}


def test_a_mark_that_stands_for_a_secret_does_not_come_into_a_file(lending: Lending) -> None:
    with lending.lend() as copy:
        copy.write("README.md", b'# Ours\nkey = "[redacted:key]"\n')
        copy.write("new.txt", b"[redacted]\n")
        made = copy.diff()
    assert made.diff == b""
    assert {one.code for one in made.refused} == {"scratch.redacted"}


def test_a_diff_is_bounded(lending: Lending) -> None:
    with lending.lend() as copy:
        write_files(copy.root, {f"many/{number}": "x\n" for number in range(1_001)})
        with pytest.raises(InputError) as caught:
            copy.diff()
        assert caught.value.facts["what"] == "files"
    with lending.lend() as copy:
        write_files(copy.root, {f"large/{number}": "x\n" * 500_000 for number in range(3)})
        with pytest.raises(InputError) as caught:
            copy.diff()
        assert caught.value.facts["what"] == "bytes"


# --- a workspace that changes meanwhile ---


def test_the_base_is_what_was_lent_whatever_becomes_of_the_workspace(tmp_path: Path) -> None:
    lending = Lending(tmp_path, {"a.py": "one\ntwo\n", "b.py": "b\n"})
    for whole in (True, False):
        write_files(lending.path, {"a.py": "one\ntwo\n", "b.py": "b\n"})
        with lending.lend(whole=whole) as copy:
            copy.read("a.py")
            copy.read("b.py")
            write_files(lending.path, {"a.py": "other\n", "c.py": "theirs\n"})
            (lending.path / "b.py").unlink()
            copy.write("a.py", b"one\nthree\n")
            (copy.root / "c.py").write_bytes(b"ours\n")
            made = copy.diff()
        (file,) = parse_diff(made.diff).files
        assert file.path == "a.py"
        assert b"-two\n+three\n" in made.diff
        assert made.base == {"a.py": sha256("one\ntwo\n")}
        assert made.refused == (Refusal("c.py", "scratch.withheld"),)
        (lending.path / "c.py").unlink()


# --- how long it is lent ---


def test_a_copy_that_was_given_back_does_nothing(lending: Lending) -> None:
    with lending.lend() as copy:
        pass
    for act in (copy.inside, copy.read, copy.delete, lambda name: copy.write(name, b"x")):
        with pytest.raises(StateError) as caught:
            act("README.md")
        assert caught.value.code == "scratch.ended"
    with lending.lend() as again:
        assert contents(again.root)["README.md"] == b"# Ours\n"


def test_a_failure_while_it_is_lent_gives_it_back(lending: Lending) -> None:
    async def fail() -> None:
        async with lending.scratches.lend(lending.workspace, whole=True) as copy:
            await asyncio.to_thread(copy.write, "README.md", b"half\n")
            raise KeyError

    with pytest.raises(KeyError):
        asyncio.run(fail())
    with lending.lend() as again:
        assert again.root.parent.name == "0"
        assert contents(again.root)["README.md"] == b"# Ours\n"


async def test_taking_a_copy_can_be_cancelled(lending: Lending) -> None:
    async def lend() -> None:
        async with lending.scratches.lend(lending.workspace, whole=True):
            raise AssertionError

    for _ in range(3):
        asking = asyncio.create_task(lend())
        await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
    async with lending.scratches.lend(lending.workspace, whole=True) as copy:
        assert contents(copy.root).keys() == READABLE
        assert copy.root.parent.name == "0", "it was given back"


def test_what_the_machine_refuses_is_told(lending: Lending) -> None:
    lending.state.parent.mkdir()
    lending.state.mkdir(mode=0o700)
    (lending.state / "once-x").mkdir()
    with lending.lend() as copy:
        place = copy.root.parent.parent
    asyncio.run(lending.scratches.keep_only([]))
    assert not place.exists()
    place.write_bytes(b"in the way")
    with pytest.raises(StateError) as caught, lending.lend():
        raise AssertionError
    assert caught.value.code == "scratch.not-made"
