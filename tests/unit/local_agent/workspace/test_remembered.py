"""What is remembered of folders, and when it no longer counts."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from local_agent.workspace import remembered
from local_agent.workspace.remembered import (
    MAX_AGE_S,
    MAX_WORKSPACES,
    UNSETTLED_MS,
    Memory,
    is_settled,
    own_turn,
    stamp_at,
    stamp_of,
)

HERE = Path("/a")


def test_what_was_kept_is_recalled_with_its_age() -> None:
    memory: Memory[str] = Memory()
    assert memory.recall(HERE, "rules", 5) == ({}, 5)
    memory.keep(HERE, "rules", {"": "folder"}, 5)
    assert memory.recall(HERE, "rules", 9) == ({"": "folder"}, 5)


def test_other_rules_and_age_make_it_count_no_more() -> None:
    memory: Memory[str] = Memory()
    memory.keep(HERE, "rules", {"": "folder"}, 5)
    assert memory.recall(HERE, "others", 9) == ({}, 9)
    late = 5 + MAX_AGE_S + 1
    assert memory.recall(HERE, "rules", late) == ({}, late)


def test_only_the_last_workspaces_are_remembered() -> None:
    memory: Memory[str] = Memory()
    for number in range(MAX_WORKSPACES + 1):
        memory.keep(Path(f"/{number}"), None, {"": "folder"}, 0)
    assert memory.recall(Path("/0"), None, 0) == ({}, 0)
    assert memory.recall(Path("/1"), None, 0) == ({"": "folder"}, 0)


def test_a_stamp_changes_with_a_folder_even_when_its_time_is_set_back(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("", encoding="utf-8")
    before = tmp_path.stat()
    (tmp_path / "b").write_text("", encoding="utf-8")
    os.utime(tmp_path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert stamp_of(tmp_path.stat()) != stamp_of(before)


def test_what_is_not_there_has_no_stamp(tmp_path: Path) -> None:
    assert stamp_at(tmp_path / "gone") is None
    assert stamp_at("a\0b") is None
    assert stamp_at(tmp_path) == stamp_of(tmp_path.stat())


def test_a_stamp_that_could_be_given_again_is_not_settled(tmp_path: Path) -> None:
    stamp = stamp_of(tmp_path.stat())
    now_ms = stamp[-1] // 1_000_000
    assert not is_settled(stamp, now_ms + UNSETTLED_MS)
    assert is_settled(stamp, now_ms + UNSETTLED_MS + 1)


# --- walks take turns, and none waits long ---------------------------------------------------


def test_walks_come_one_after_the_other() -> None:
    walking, most = 0, 0
    begin = threading.Barrier(4)

    def walk() -> None:
        nonlocal walking, most
        begin.wait(5)
        with own_turn():
            walking += 1
            most = max(most, walking)
            walking -= 1

    threads = [threading.Thread(target=walk) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert most == 1


def test_a_walk_that_stands_still_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "_PATIENCE_S", 0.01)
    done = threading.Event()

    def walk() -> None:
        with own_turn():
            done.set()

    with own_turn():
        other = threading.Thread(target=walk)
        other.start()
        assert done.wait(5)
        other.join(5)
    with own_turn():
        pass
