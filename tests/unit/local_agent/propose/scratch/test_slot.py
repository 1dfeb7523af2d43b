"""A place of a copy while it is brought up to date, and what can go wrong with one."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from common.clock import SystemClock
from common.errors import InputError, StateError
from local_agent.propose.scratch import diffing
from local_agent.propose.scratch.slot import Slot, Table, new_slot, old_slot, refresh
from local_agent.propose.scratch.source import open_source
from local_agent.workspace import listing
from local_agent.workspace.registry import Workspace
from tests.scratching import Lending, contents, write_files


@pytest.fixture
def slot(tmp_path: Path) -> Iterator[Slot]:
    slot = new_slot(tmp_path / "slot", redacted=False)
    yield slot
    slot.close()


def _refresh(slot: Slot, path: Path, *files: str, stop: bool = False) -> None:
    ending = threading.Event()
    if stop:
        ending.set()
    now_ns = SystemClock().now().wall_ms * 1_000_000
    with open_source(Workspace(name="ours", path=path)) as source:
        refresh(slot, source, files, now_ns=now_ns, stop=ending)


def test_a_file_that_went_after_it_was_listed_is_not_in_the_copy(
    slot: Slot, tmp_path: Path
) -> None:
    path = tmp_path / "ours"
    write_files(path, {"a": "a", "b": "b", "c": "c"})
    _refresh(slot, path, "a", "b", "c", "none")
    (path / "a").unlink()
    (path / "b").unlink()
    (path / "b").symlink_to("c")
    _refresh(slot, path, "a", "b", "c")
    assert contents(slot.tree.root) == {"c": b"c"}
    assert slot.table.rows.keys() == {"c"}


def test_work_that_is_no_longer_wanted_stops(slot: Slot, tmp_path: Path) -> None:
    write_files(tmp_path / "ours", {"a": "a"})
    _refresh(slot, tmp_path / "ours", "a", stop=True)
    assert contents(slot.tree.root) == {}


def test_a_file_that_has_settled_is_not_read_again(
    slot: Slot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ours"
    write_files(path, {"a": "a"})
    _refresh(slot, path, "a")
    assert slot.table.rows["a"].source.ctime_ns == 0, "it may change in the same tick"
    monkeypatch.setattr("local_agent.propose.scratch.slot.SETTLED_NS", -(10**12))
    for _ in range(2):
        _refresh(slot, path, "a")
        assert slot.table.rows["a"].source.ctime_ns == (path / "a").stat().st_ctime_ns
    write_files(path, {"b": "b"})
    _refresh(slot, path, "a", "b")
    assert slot.table.rows["b"].source.ctime_ns == (path / "b").stat().st_ctime_ns


def test_a_place_is_used_again_only_when_it_was_given_back(tmp_path: Path) -> None:
    folder = tmp_path / "slot"
    assert old_slot(folder, redacted=False) is None
    slot = new_slot(folder, redacted=False)
    slot.table.keep(lent=True)
    slot.close()
    assert old_slot(folder, redacted=False) is None
    slot = new_slot(folder, redacted=False)
    slot.table.keep(lent=False)
    slot.close()
    again = old_slot(folder, redacted=False)
    assert again is not None
    again.close()
    assert old_slot(folder, redacted=True) is None
    (folder / "tree").rmdir()
    assert old_slot(folder, redacted=False) is None


def test_a_file_that_is_no_text_is_noted_and_not_read_again(slot: Slot, tmp_path: Path) -> None:
    path = tmp_path / "ours"
    write_files(path, {"a": "text\n"})
    _refresh(slot, path, "a")
    write_files(path, {"a": b"\0"})
    for _ in range(2):
        _refresh(slot, path, "a")
        assert slot.table.rows["a"].copy is None
        assert contents(slot.tree.root) == {}


def test_the_folders_of_files_are_all_those_above_them() -> None:
    assert listing.folders_of(["a/b/c", "a/d", "e"]) == {"a", "a/b"}


# --- what the machine or the table refuses ---


def _broken(*_args: object, **_named: object) -> None:
    raise sqlite3.OperationalError("disk I/O error")


def test_a_table_that_fails_fails_the_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lending = Lending(tmp_path, {"a": "a\n"})
    with lending.lend() as copy:
        with monkeypatch.context() as there:
            there.setattr(Table, "true", _broken)
            copy.write("a", b"b\n")
            with pytest.raises(StateError) as caught:
                copy.diff()
        assert caught.value.code == "scratch.not-made"
    monkeypatch.setattr(Table, "put", _broken)
    write_files(lending.path, {"b": "b\n"})
    with pytest.raises(StateError) as caught, lending.lend():
        raise AssertionError
    assert caught.value.code == "scratch.not-made"
    monkeypatch.undo()
    with lending.lend() as copy:
        assert contents(copy.root) == {"a": b"a\n", "b": b"b\n"}


def test_a_disk_that_is_full_fails_the_task_and_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lending = Lending(tmp_path, {"a": "a\n"})

    def full(*_args: object, **_named: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("local_agent.propose.scratch.pool.new_slot", full)
    for whole in (True, False):
        with pytest.raises(StateError) as caught, lending.lend(whole=whole):
            raise AssertionError
        assert (caught.value.code, caught.value.facts) == (
            "scratch.not-made",
            {"why": "No space left on device"},
        )
    monkeypatch.undo()
    with lending.lend() as copy:
        assert copy.root.parent.name == "0", "it is nobody's"


def test_what_cannot_be_removed_now_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lending = Lending(tmp_path, {"a": "a\n"})

    def busy(*_args: object) -> None:
        raise OSError(16, "Device or resource busy")

    with lending.lend(whole=False) as copy:
        monkeypatch.setattr("local_agent.propose.scratch.pool.remove_folder", busy)
    lending.scratches._pool.tidy()
    assert copy.root.exists()
    monkeypatch.undo()
    lending.scratches._pool.tidy()
    assert not copy.root.exists()


def test_the_sides_that_are_compared_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diffing, "MAX_COMPARED_BYTES", 10)
    lending = Lending(tmp_path, {"a": "a" * 6, "b": "b"})
    with lending.lend() as copy:
        copy.write("a", b"c" * 6)
        with pytest.raises(InputError) as caught:
            copy.diff()
    assert (caught.value.code, caught.value.facts["what"]) == ("diff.too-large", "bytes")


def test_what_cannot_be_looked_at_counts_as_there(tmp_path: Path) -> None:
    with open_source(Workspace(name="ours", path=tmp_path)) as source:
        assert source.exists("x" * 300)
        assert not source.exists("none/x")
        assert source.status("x" * 300) is None


def test_git_is_not_asked_where_it_would_wait_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lending = Lending(tmp_path, {"folder/a": "a\n"})
    os.mkfifo(lending.path / "folder/.gitignore")
    given_up = []
    monkeypatch.setattr(listing.Ignores, "give_up", lambda _self: given_up.append(1))
    with lending.lend(whole=False) as copy:
        assert copy.read("folder/a") == b"a\n"
    assert given_up == [1]
