"""Folders of our own: what is copied into them, and that they go away whatever is in them."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

from common.errors import InputError
from local_agent.workspace.folders import Room, copy_files, copy_tree, remove_folder

LIMIT = 1_000_000


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    (folder / "a/b").mkdir(parents=True)
    (folder / "a/b/program").write_bytes(b"#!/bin/sh\n")
    (folder / "a/b/program").chmod(0o755)
    (folder / "plain.txt").write_bytes(b"plain\n")
    os.utime(folder / "plain.txt", ns=(1_700_000_000_000_000_001, 1_700_000_000_000_000_002))
    return folder


@pytest.fixture
def into(tmp_path: Path) -> Path:
    folder = tmp_path / "copy"
    folder.mkdir(mode=0o700)
    return folder


def test_contents_modes_and_times_are_those_of_the_files(source: Path, into: Path) -> None:
    copy_files(source, ["a/b/program", "plain.txt"], into, limit=LIMIT)
    program, plain = into / "a/b/program", into / "plain.txt"
    assert (program.read_bytes(), plain.read_bytes()) == (b"#!/bin/sh\n", b"plain\n")
    assert stat.S_IMODE(program.stat().st_mode) == 0o755
    assert plain.stat().st_mtime_ns == 1_700_000_000_000_000_002
    assert plain.stat().st_ino != (source / "plain.txt").stat().st_ino, "no hard link"


def test_links_stay_links_and_are_not_followed(source: Path, into: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    (source / "to-file").symlink_to(tmp_path / "secret")
    (source / "to-folder").symlink_to(tmp_path)
    copy_files(source, ["to-file", "to-folder", "to-folder/secret"], into, limit=LIMIT)
    assert (into / "to-file").readlink() == tmp_path / "secret"
    assert (into / "to-folder").is_symlink()
    assert sorted(path.name for path in into.iterdir()) == ["to-file", "to-folder"]


def test_what_is_no_file_or_is_gone_is_left_out(source: Path, into: Path) -> None:
    os.mkfifo(source / "pipe")
    door = socket.socket(socket.AF_UNIX)
    door.bind(os.path.relpath(source / "door"))
    with door:
        copy_files(source, ["pipe", "door", "gone", "gone/too", "plain.txt"], into, limit=LIMIT)
    assert [path.name for path in into.iterdir()] == ["plain.txt"]


def test_a_file_that_grows_meanwhile_stays_within_the_limit(source: Path, into: Path) -> None:
    (source / "plain.txt").write_bytes(b"x" * 3_000_000)
    with pytest.raises(InputError) as caught:
        copy_files(source, ["plain.txt"], into, limit=LIMIT)
    assert caught.value.code == "check.too-large"
    assert (into / "plain.txt").stat().st_size == LIMIT + 1


def test_a_folder_is_removed_whatever_its_modes_are(source: Path) -> None:
    (source / "a").chmod(0o000)
    source.chmod(0o000)
    remove_folder(source)
    assert not source.exists()


def test_a_folder_that_is_too_deep_for_any_path_is_removed(source: Path) -> None:
    here = Path.cwd()
    try:
        os.chdir(source)
        for _ in range(600):
            Path("deep-deep-deep").mkdir()
            os.chdir("deep-deep-deep")
        Path("file").write_bytes(b"x")
    finally:
        os.chdir(here)
    remove_folder(source)
    assert not source.exists()


def test_what_a_link_leads_to_is_not_removed(source: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_bytes(b"kept")
    (source / "a/link").symlink_to(kept)
    (source / "link").symlink_to(kept)
    remove_folder(source)
    assert (kept / "file").read_bytes() == b"kept"


def test_what_is_not_there_is_removed_already(tmp_path: Path) -> None:
    remove_folder(tmp_path / "nothing")
    assert list(tmp_path.iterdir()) == []


# --- a whole tree ----------------------------------------------------------------------------


def room(*, size: int = LIMIT, entries: int = 100, depth: int = 10) -> Room:
    return Room(size=size, entries=entries, depth=depth)


def test_a_tree_is_copied_with_modes_times_and_links(source: Path, tmp_path: Path) -> None:
    (source / "a/locked").write_bytes(b"x")
    (source / "a/locked").chmod(0o444)
    (source / "to-folder").symlink_to("a")
    (source / "nowhere").symlink_to("/nonexistent/secret")
    os.utime(source / "nowhere", ns=(1, 2_000_000_003), follow_symlinks=False)
    (source / "a/b").chmod(0o555)
    os.utime(source / "a/b", ns=(5, 1_600_000_000_000_000_007))
    into = tmp_path / "copy"
    copy_tree(source, into, room())
    assert described(into) == described(source)
    assert (into / "to-folder").readlink() == Path("a")
    assert (into / "a/locked").stat().st_ino != (source / "a/locked").stat().st_ino
    remove_folder(into)


def test_no_file_keeps_its_setuid_bit(source: Path, tmp_path: Path) -> None:
    (source / "plain.txt").chmod(0o4755)
    copy_tree(source, tmp_path / "copy", room())
    assert stat.S_IMODE((tmp_path / "copy/plain.txt").stat().st_mode) == 0o755


def test_hard_links_become_files_of_their_own(source: Path, tmp_path: Path) -> None:
    os.link(source / "plain.txt", source / "twin.txt")
    copy_tree(source, tmp_path / "copy", room())
    (tmp_path / "copy/twin.txt").write_bytes(b"other\n")
    assert (tmp_path / "copy/plain.txt").read_bytes() == b"plain\n"
    assert (source / "twin.txt").read_bytes() == b"plain\n"


def test_of_a_tree_what_is_no_file_is_left_out(source: Path, tmp_path: Path) -> None:
    os.mkfifo(source / "pipe")
    door = socket.socket(socket.AF_UNIX)
    door.bind(os.path.relpath(source / "door"))
    with door:
        copy_tree(source, tmp_path / "copy", room())
    assert sorted(path.name for path in (tmp_path / "copy").iterdir()) == ["a", "plain.txt"]


@pytest.mark.parametrize(
    ("bounds", "code", "limit"),
    [
        ({"size": 15}, "copy.too-large", 15),
        ({"entries": 3}, "copy.too-many", 3),
        ({"depth": 2}, "copy.too-deep", 2),
    ],
)
def test_a_tree_is_bounded(
    source: Path, tmp_path: Path, bounds: dict[str, int], code: str, limit: int
) -> None:
    with pytest.raises(InputError) as caught:
        copy_tree(source, tmp_path / "copy", room(**bounds))
    assert (caught.value.code, caught.value.facts) == (code, {"limit": limit})


def test_exactly_as_much_as_there_is_room_for_is_copied(source: Path, tmp_path: Path) -> None:
    copy_tree(source, tmp_path / "copy", room(size=16, entries=4, depth=3))
    assert described(tmp_path / "copy") == described(source)


def test_of_a_file_without_an_end_no_byte_is_read(source: Path, tmp_path: Path) -> None:
    with (source / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InputError, match=r"copy\.too-large"):
        copy_tree(source, tmp_path / "copy", room())


def test_a_tree_that_cannot_be_read_whole_is_refused_by_its_path(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = os.open

    def refuse(path: object, *rest: object, **named: object) -> int:
        if path == "program":
            raise PermissionError(13, "denied")
        return opened(path, *rest, **named)  # type: ignore[arg-type]  # as it came

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(InputError) as caught:
        copy_tree(source, tmp_path / "copy", room())
    assert (caught.value.code, caught.value.facts["path"]) == ("copy.unreadable", "a/b/program")


def test_where_the_kernel_cannot_copy_bytes_are_read_and_written(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(18, "across file systems")

    monkeypatch.setattr(os, "copy_file_range", refuse)
    copy_tree(source, tmp_path / "copy", room())
    assert described(tmp_path / "copy") == described(source)


def described(folder: Path) -> dict[str, tuple[object, ...]]:
    """Return what every entry is: kind and mode, time of change, content or target."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted([folder, *folder.rglob("*")]):
        status = path.lstat()
        content: object = None
        if path.is_symlink():
            content = path.readlink()
        elif path.is_file():
            content = path.read_bytes()
        name = str(path.relative_to(folder))
        found[name] = (status.st_mode, status.st_mtime_ns, content)
    return found


@pytest.mark.parametrize("becomes", ["gone", "link", "pipe"])
def test_what_becomes_something_else_meanwhile_is_left_out(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, becomes: str
) -> None:
    looked = os.stat

    def look(path: object, **named: object) -> os.stat_result:
        found = looked(path, **named)  # type: ignore[arg-type]  # as it came
        if path == "plain.txt":
            (source / "plain.txt").unlink()
            if becomes == "link":
                (source / "plain.txt").symlink_to("/etc/passwd")
            if becomes == "pipe":
                os.mkfifo(source / "plain.txt")
        return found

    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", look)
        copy_tree(source, tmp_path / "copy", room())
    assert sorted(path.name for path in (tmp_path / "copy").iterdir()) == ["a"]


def test_a_file_that_grows_while_it_is_copied_is_bounded(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = os.open

    def grow(path: object, *rest: object, **named: object) -> int:
        handle = opened(path, *rest, **named)  # type: ignore[arg-type]  # as it came
        if path == "plain.txt" and len(rest) == 2:  # the copy, of which the mode is given
            (source / "plain.txt").write_bytes(b"x" * 100)
        return handle

    monkeypatch.setattr(os, "open", grow)
    with pytest.raises(InputError, match=r"copy\.too-large"):
        copy_tree(source, tmp_path / "copy", room(size=50))
