"""Names that are exchanged, or given only where they are free, by the kernel and without it."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from local_agent.workspace import temporary_files
from local_agent.workspace.temporary_files import Name, exchange, place

pytestmark = pytest.mark.requirement("R35")


@pytest.fixture(params=["by the kernel", "by links", "by looking first"])
def folder(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Path, int]]:
    """A folder with two files, and its handle, on each kind of file system."""
    if request.param != "by the kernel":
        monkeypatch.setattr(temporary_files, "_system_call", lambda: None)
    if request.param == "by looking first":
        monkeypatch.setattr(os, "link", _refused)
    (tmp_path / "one").write_bytes(b"1")
    (tmp_path / "two").write_bytes(b"2")
    handle = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield tmp_path, handle
    finally:
        os.close(handle)


def _refused(*_: Any, **__: Any) -> None:
    raise OSError(errno.EPERM, "no links here")


def _content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_two_names_are_exchanged(folder: tuple[Path, int]) -> None:
    path, handle = folder
    exchange(Name(handle, "one"), Name(handle, "two"))
    assert _content(path) == {"one": b"2", "two": b"1"}


def test_a_free_name_is_given(folder: tuple[Path, int]) -> None:
    path, handle = folder
    place(Name(handle, "one"), Name(handle, "three"))
    assert _content(path) == {"three": b"1", "two": b"2"}


def test_a_taken_name_is_not_given(folder: tuple[Path, int]) -> None:
    path, handle = folder
    with pytest.raises(FileExistsError):
        place(Name(handle, "one"), Name(handle, "two"))
    assert _content(path) == {"one": b"1", "two": b"2"}


@pytest.mark.parametrize("names", [("one", "gone"), ("gone", "two")])
def test_a_missing_name_changes_nothing(folder: tuple[Path, int], names: tuple[str, str]) -> None:
    path, handle = folder
    with pytest.raises(FileNotFoundError):
        exchange(Name(handle, names[0]), Name(handle, names[1]))
    assert _content(path) == {"one": b"1", "two": b"2"}


def test_a_kernel_that_refuses_for_another_reason_is_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(temporary_files, "_renameat2", refuse)
    for act in (exchange, place):
        with pytest.raises(PermissionError):
            act(Name(0, "one"), Name(0, "two"))


@pytest.mark.skipif(platform.system() != "Linux", reason="the call is Linux's own")
@pytest.mark.parametrize("machine", [platform.machine(), "a machine that nobody knows"])
def test_an_old_c_library_is_passed_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, machine: str
) -> None:
    real = ctypes.CDLL(None, use_errno=True)

    class Old:
        """A C library from before the call."""

        syscall = real.syscall

    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: Old())
    monkeypatch.setattr(platform, "machine", lambda: machine)
    temporary_files._system_call.cache_clear()
    try:
        (tmp_path / "one").write_bytes(b"1")
        handle = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
        place(Name(handle, "one"), Name(handle, "two"))
        os.close(handle)
    finally:
        temporary_files._system_call.cache_clear()
    assert _content(tmp_path) == {"two": b"1"}


def test_no_such_call_is_looked_for_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    temporary_files._system_call.cache_clear()
    try:
        assert temporary_files._system_call() is None
    finally:
        temporary_files._system_call.cache_clear()
