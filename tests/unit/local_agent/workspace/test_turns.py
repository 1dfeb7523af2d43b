"""Walks take turns, and none waits long."""

from __future__ import annotations

import threading

import pytest

from local_agent.workspace import turns
from local_agent.workspace.turns import own_turn


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
    monkeypatch.setattr(turns, "_PATIENCE_S", 0.01)
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
