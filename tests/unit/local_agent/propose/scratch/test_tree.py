"""Files of a copy by folder handles, also when somebody else works in it meanwhile."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from common.errors import InputError, StateError
from local_agent.propose.scratch.tree import ScratchTree, machine_refusals
from tests.scratching import write_files


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[ScratchTree]:
    (tmp_path / "slot/tree").mkdir(parents=True)
    tree = ScratchTree(tmp_path / "slot/tree")
    write_files(tree.root, {"a": "a\n", "folder/b": "b\n"})
    yield tree
    tree.close()


def _bind(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as there:
        there.chdir(path.parent)
        door = socket.socket(socket.AF_UNIX)
        door.bind(path.name)
        door.close()


def test_what_is_read_is_an_ordinary_file_or_nothing(
    tree: ScratchTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree.root / "link").symlink_to("a")
    (tree.root / "into").symlink_to("folder")
    os.mkfifo(tree.root / "pipe")
    _bind(tree.root / "door", monkeypatch)
    os.link(tree.root / "a", tree.root / "again")
    assert tree.read(("folder", "b"), 10) == b"b\n"
    assert tree.read(("none", "b"), 10) is tree.read(("none",), 10) is None
    for parts, code in (
        (("link",), "path.link"),
        (("into", "b"), "path.link"),
        (("again",), "path.link"),
        (("pipe",), "path.not-regular"),
        (("door",), "path.not-regular"),
        (("folder",), "path.not-regular"),
        (("folder", "b", "c"), "path.not-regular"),
    ):
        with pytest.raises(InputError) as caught:
            tree.read(parts, 10)
        assert caught.value.code == code, parts
    with pytest.raises(InputError) as caught:
        tree.read(("folder", "b"), 1)
    assert caught.value.code == "scratch.too-large"


def test_what_is_written_is_a_new_file_each_time(tree: ScratchTree) -> None:
    status = (tree.root / "folder/b").stat()
    with (tree.root / "folder/b").open("rb") as old:
        written = tree.write(("folder", "b"), b"new\n", executable=True)
        assert old.read() == b"b\n"
    assert written.st_ino == (tree.root / "folder/b").stat().st_ino
    assert (status.st_ino, status.st_mode & 0o100) != (written.st_ino, written.st_mode & 0o100)
    tree.write(("x", "y", "z"), b"", executable=False)
    assert (tree.root / "x/y/z").stat().st_mode & 0o777 == 0o600
    with pytest.raises(InputError) as caught:
        tree.write(("folder",), b"", executable=False)
    assert caught.value.code == "path.not-regular"


def test_a_folder_that_goes_while_a_file_is_written_is_told(
    tree: ScratchTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "mkdir", lambda *_args, **_named: None)
    with pytest.raises(InputError) as caught:
        tree.write(("new", "x"), b"", executable=False)
    assert caught.value.code == "path.not-regular"


def test_links_are_replaced_and_never_written_through(tree: ScratchTree, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"theirs\n")
    (tree.root / "link").symlink_to(victim)
    (tree.root / "into").symlink_to(tmp_path)
    tree.write(("link",), b"ours\n", executable=False)
    assert not (tree.root / "link").is_symlink()
    for act in (
        lambda: tree.write(("into", "victim"), b"ours\n", executable=False),
        lambda: tree.remove(("into", "victim")),
        lambda: tree.remove_whole(("into", "victim")),
    ):
        with pytest.raises(InputError) as caught:
            act()
        assert caught.value.code == "path.link"
    assert victim.read_bytes() == b"theirs\n"


def test_what_is_not_there_is_removed_already(tree: ScratchTree) -> None:
    tree.remove(("none",))
    tree.remove(("none", "b"))
    tree.remove_whole(("none", "b"))
    tree.remove(("a",))
    tree.remove_whole(("folder",))
    assert list(tree.root.iterdir()) == []
    assert list(tree.root.parent.iterdir()) == [tree.root]


def test_after_it_is_closed_nothing_is_reached_any_more(tmp_path: Path) -> None:
    tree = ScratchTree(tmp_path)
    tree.close()
    with pytest.raises(StateError) as caught, machine_refusals():
        tree.read(("a",), 1)
    assert caught.value.code == "scratch.not-made"


def test_a_folder_that_goes_while_it_is_looked_through_is_told(
    tree: ScratchTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = os.open

    def vanishing(name: str, flags: int, *args: int, **named: int) -> int:
        if name == "folder":
            (tree.root / "folder").rename(tree.root.parent / "away")
        return plain(name, flags, *args, **named)

    monkeypatch.setattr(os, "open", vanishing)
    with pytest.raises(InputError) as caught:
        tree.look(lambda _path, _parts: None)
    assert caught.value.code == "scratch.gone"


def test_a_link_that_goes_while_it_is_refused_is_missing(
    tree: ScratchTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree.root / "into").symlink_to("folder")
    plain = os.stat

    def vanishing(name: str, **named: object) -> os.stat_result:
        if name == "into":
            raise FileNotFoundError
        return plain(name, **named)  # type: ignore[arg-type]  # passed on as it came

    monkeypatch.setattr(os, "stat", vanishing)
    with pytest.raises(InputError) as caught:
        tree.read(("into", "b"), 10)
    assert caught.value.code == "path.missing"
