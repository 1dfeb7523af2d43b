"""Files and folders that are made durable together: all of them, or none is left."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from common.durable import NewFile, sync_folders, write_files

pytestmark = pytest.mark.requirement("R35", "R59")


@pytest.fixture
def handle(tmp_path: Path) -> Iterator[int]:
    """An open folder."""
    opened = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield opened
    finally:
        os.close(opened)


def new(handle: int, name: str, data: bytes = b"x", mode: int = 0o644) -> NewFile:
    """Return a file to be made."""
    return NewFile(folder=handle, name=name, data=data, mode=mode)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 60])
def test_every_file_is_written_with_its_mode(tmp_path: Path, handle: int, count: int) -> None:
    modes = [0o600, 0o644, 0o755]
    files = [new(handle, str(n), b"%d" % n, modes[n % 3]) for n in range(count)]
    before = os.umask(0o077)
    try:
        nodes = write_files(files)
    finally:
        os.umask(before)
    for number, node in enumerate(nodes):
        found = (tmp_path / str(number)).stat()
        assert (found.st_dev, found.st_ino) == node
        assert stat.S_IMODE(found.st_mode) == modes[number % 3]
        assert (tmp_path / str(number)).read_bytes() == b"%d" % number
    assert len(list(tmp_path.iterdir())) == len(nodes) == count


@pytest.mark.parametrize("count", [2, 20])
def test_when_one_cannot_be_made_none_is_left_and_what_was_there_stays(
    tmp_path: Path, handle: int, count: int
) -> None:
    (tmp_path / "1").write_bytes(b"theirs")
    with pytest.raises(FileExistsError):
        write_files([new(handle, str(number)) for number in range(count)])
    assert [path.name for path in tmp_path.iterdir()] == ["1"]
    assert (tmp_path / "1").read_bytes() == b"theirs"


def test_a_link_in_the_place_of_a_file_is_not_followed(tmp_path: Path, handle: int) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(FileExistsError):
        write_files([new(handle, "link")])
    assert not (tmp_path / "target").exists()


@pytest.mark.parametrize("call", ["write", "fsync", "fchmod"])
def test_a_file_that_cannot_be_finished_is_removed(
    tmp_path: Path, handle: int, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, call, refuse)
    with pytest.raises(OSError, match="No space"):
        write_files([new(handle, "one")])
    assert list(tmp_path.iterdir()) == []


def test_a_short_write_goes_on(
    tmp_path: Path, handle: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda to, data: real(to, data[:3]))
    write_files([new(handle, "one", b"0123456789")])
    assert (tmp_path / "one").read_bytes() == b"0123456789"


def test_a_file_that_may_not_be_given_away_is_ours(
    tmp_path: Path, handle: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, int]] = []

    def refuse(_handle: int, user: int, group: int) -> None:
        asked.append((user, group))
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "fchown", refuse)
    ours = (os.getuid(), os.getgid())
    for owner in (ours, (54321, 54321), None):
        name = str(owner)
        write_files([NewFile(folder=handle, name=name, data=b"x", mode=0o644, owner=owner)])
        assert (tmp_path / name).stat().st_uid == os.getuid()
    assert asked == [(54321, 54321)]


@pytest.mark.parametrize("count", [1, 5])
def test_a_folder_that_cannot_be_flushed_is_told(
    handle: int, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    def refuse(_handle: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    sync_folders([handle] * count)
    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match="Input/output"):
        sync_folders([handle] * count)


def test_a_file_system_without_a_flush_for_folders_is_taken_as_it_is(
    handle: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []

    def refuse(asked: int) -> None:
        calls.append(asked)
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, "fsync", refuse)
    sync_folders([handle])
    assert calls == [handle]
