"""Folders of our own: what is copied into them, and that they go away whatever is in them."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

from common.errors import InputError
from local_agent.workspace.folders import copy_files, remove_folder

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
