"""What a hostile program does in its copy stays there, is named, and is gone for the next task."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from common.diff.parse import parse_diff
from common.errors import InputError
from local_agent.propose.scratch import slot as slots
from local_agent.propose.scratch import tree as trees
from local_agent.propose.scratch.diffing import MAX_REFUSED
from tests.scratching import Lending, contents, snapshot, write_files

pytestmark = pytest.mark.heavy

FILES = {"a.py": "a\n", "src/b.py": "b\n", "src/deep/c.py": "c\n", "run": "#!/bin/sh\n"}


@pytest.fixture
def lending(tmp_path: Path) -> Iterator[Lending]:
    lending = Lending(tmp_path, FILES)
    before = snapshot(lending.path)
    yield lending
    assert snapshot(lending.path) == before
    with lending.lend() as copy:
        assert contents(copy.root) == contents(lending.path), "the next task finds all as it is"
        assert copy.diff().diff == b""
    assert not list(lending.state.glob("*/*/gone-*"))


def _links(root: Path) -> None:
    (root / "out").symlink_to("/etc")
    (root / "a.py").unlink()
    (root / "a.py").symlink_to("/etc/passwd")
    shutil.rmtree(root / "src")
    (root / "src").symlink_to("/usr")


def _git(root: Path) -> None:
    write_files(root, {".git/config": "[core]\n", ".git/hooks/pre-commit": "x\n"})
    write_files(root, {"src/.GIT/config": "x\n", ".codex/config.toml": "x\n", "AGENTS.md": "x\n"})


def _odd_kinds(root: Path) -> None:
    os.mkfifo(root / "pipe")
    door = socket.socket(socket.AF_UNIX)
    here = Path.cwd()
    os.chdir(root)
    try:
        door.bind("door")
    finally:
        os.chdir(here)
    door.close()
    os.link(root / "run", root / "twice")


def _secrets(root: Path) -> None:
    write_files(root, {".env": "KEY=1\n", "deploy/id_rsa": "x\n", "x.pem": "x\n"})


def _odd_content(root: Path) -> None:
    write_files(root, {"a.py": b"a\0\n", "program": b"\x7fELF\0"})
    with (root / "huge").open("wb") as file:
        file.truncate(1 << 40)
    (root / "setuid").write_bytes(b"x\n")
    (root / "setuid").chmod(0o4755)


def _odd_names(root: Path) -> None:
    for name in (b"caf\xe9", b"a\nb", b"con", b"a\\b", "a\u202eb".encode(), b" blank"):
        (root / os.fsdecode(name)).write_bytes(b"x\n")


@pytest.mark.parametrize(
    ("act", "codes"),
    [
        (_links, {"a.py": "path.link", "out": "path.link", "src": "path.link"}),
        (
            _git,
            dict.fromkeys((".codex", ".git", "AGENTS.md", "src/.GIT"), "scratch.forbidden"),
        ),
        (
            _odd_kinds,
            {
                "door": "path.not-regular",
                "pipe": "path.not-regular",
                "run": "path.link",
                "twice": "path.link",
            },
        ),
        (_secrets, dict.fromkeys((".env", "deploy/id_rsa", "x.pem"), "path.denied")),
        (
            _odd_content,
            {
                "a.py": "scratch.binary",
                "huge": "scratch.too-large",
                "program": "scratch.binary",
                "setuid": "scratch.mode",
            },
        ),
    ],
)
def test_what_may_not_be_is_named_and_nothing_is_made_of_it(
    lending: Lending, act: Callable[[Path], None], codes: dict[str, str]
) -> None:
    with lending.lend() as copy:
        act(copy.root)
        made = copy.diff()
    assert {one.path: one.code for one in made.refused} == codes
    assert (made.diff, made.base) == (b"", {}), "what is out of sight was not removed"


@pytest.mark.requirement("R34")
def test_names_that_no_diff_may_bear_are_told_without_their_tricks(lending: Lending) -> None:
    with lending.lend() as copy:
        _odd_names(copy.root)
        write_files(copy.root, {"good.py": "x\n"})
        made = copy.diff()
    assert {one.code for one in made.refused} == {"path.malformed"}
    assert len(made.refused) == 6
    for one in made.refused:
        assert one.path.isprintable()
        one.path.encode()
    assert [file.path for file in parse_diff(made.diff).files] == ["good.py"]


def test_a_crowd_of_refusals_is_not_told_whole(lending: Lending) -> None:
    with lending.lend() as copy:
        for number in range(MAX_REFUSED + 5):
            (copy.root / f"link{number}").symlink_to("/etc")
        assert len(copy.diff().refused) == MAX_REFUSED


def test_a_copy_that_was_removed_or_moved_away_ends_the_task(
    lending: Lending, tmp_path: Path
) -> None:
    def moved(root: Path) -> None:
        root.rename(tmp_path / "elsewhere")

    def exchanged(root: Path) -> None:
        root.rename(tmp_path / "elsewhere2")
        root.mkdir()

    for act in (shutil.rmtree, moved, exchanged):
        with lending.lend() as copy:
            act(copy.root)
            with pytest.raises(InputError) as caught:
                copy.diff()
        assert caught.value.code == "scratch.gone"


def test_a_crowd_of_files_ends_the_task(lending: Lending, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "MAX_ENTRIES", 50)
    with lending.lend() as copy:
        write_files(copy.root, {f"{number}/x": "" for number in range(30)})
        with pytest.raises(InputError) as caught:
            copy.diff()
    assert caught.value.code == "scratch.too-many"


def test_folders_without_end_are_neither_followed_nor_left(lending: Lending) -> None:
    with lending.lend() as copy:
        folder = os.open(copy.root, os.O_RDONLY)
        for _ in range(2_000):
            os.mkdir("d", dir_fd=folder)
            below = os.open("d", os.O_RDONLY, dir_fd=folder)
            os.close(folder)
            folder = below
        os.close(folder)
        made = copy.diff()
    (refused,) = made.refused
    assert (refused.code, made.diff) == ("path.malformed", b"")


def test_files_and_folders_may_take_each_others_place(lending: Lending) -> None:
    with lending.lend() as copy:
        (copy.root / "a.py").unlink()
        write_files(copy.root, {"a.py/inner.py": "new\n"})
        shutil.rmtree(copy.root / "src")
        (copy.root / "src").write_bytes(b"now a file\n")
        made = copy.diff()
    ops = {file.path: file.op for file in parse_diff(made.diff).files}
    assert ops == {
        "a.py": "delete",
        "a.py/inner.py": "add",
        "src": "add",
        "src/b.py": "delete",
        "src/deep/c.py": "delete",
    }


def test_a_file_that_stays_open_elsewhere_is_another_one_afterwards(lending: Lending) -> None:
    with lending.lend() as copy:
        late = (copy.root / "a.py").open("ab", buffering=0)
        late.write(b"one\n")
    late.write(b"two\n")
    late.close()
    with lending.lend() as copy:
        assert (copy.root / "a.py").read_bytes() == (lending.path / "a.py").read_bytes()


def test_what_stays_in_a_removed_folder_does_no_harm(lending: Lending) -> None:
    with lending.lend() as copy:
        (copy.root / "mine").mkdir()
        inside = os.open(copy.root / "mine", os.O_RDONLY)
    with pytest.raises(FileNotFoundError):
        os.open("late", os.O_WRONLY | os.O_CREAT, dir_fd=inside)
    os.close(inside)


def test_folders_that_were_closed_to_us_are_opened_and_put_right(lending: Lending) -> None:
    with lending.lend() as copy:
        write_files(copy.root, {"mine/x": "x\n"})
        (copy.root / "mine").chmod(0o000)
        (copy.root / "src/deep").chmod(0o500)
    with lending.lend() as copy:
        assert not (copy.root / "mine").exists()


def test_a_copy_with_too_much_to_put_right_is_made_anew(
    lending: Lending, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slots, "MAX_MENDED", 3)
    with lending.lend() as copy:
        place = copy.root.parent
        write_files(copy.root, {f"{number}.txt": "" for number in range(4)})
    assert not place.exists()
