"""``codexbridge init`` on a desktop: the test window is answered, and so is the first task's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.place import Place, Terminal
from tests.e2e.test_window import Seen
from tests.init.agent.guide import SPOKEN, answer, line_for, to_first_task, wrapped
from tests.screen import Screen, Shown, a_screen, until

pytestmark = [
    pytest.mark.needs("a screen (xvfb, openbox, xdotool, Tk)"),
    pytest.mark.needs("bubblewrap"),
]


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Screen]:
    with a_screen(tmp_path) as made:
        yield made


def seen(screen: Screen, title: str) -> Seen:
    """Return the window of a title, once it is there."""
    window = screen.window(title)
    return Seen(screen, Shown(screen.processes[0]), window, *screen.place(window))


@pytest.mark.requirement("R28")
@pytest.mark.thorough
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_test_window_is_answered_and_the_first_task_is_approved_in_one(
    place: Place, screen: Screen, lang: str
) -> None:
    told = SPOKEN[lang]
    environ = place.environ | {"DISPLAY": screen.name, "CODEXBRIDGE_LANG": lang}
    with Terminal(environ, "init") as terminal:
        to_first_task(terminal, told, line_for(place))
        answer(terminal, told.window, "")
        trial = seen(screen, "CodexBridge")
        trial.over("later")
        until(trial.armed)
        screen.do("click", "1")
        answer(terminal, told.send, "")
        assert told.pressed in terminal.shown
        terminal.read_until(":", "：", after=re.compile(wrapped(told.opened)))
        asked = seen(screen, "T-")
        asked.over("approve")
        until(asked.awake)
        screen.do("click", "1")
        answer(terminal, told.stays)
        assert told.proved_in_window in terminal.shown
        (task,) = place.tasks()
        assert (task["reason"], task["channel"]) == ("completed", "terminal")


@pytest.mark.thorough
def test_a_test_window_that_is_closed_is_told_and_the_terminal_is_named(
    place: Place, screen: Screen
) -> None:
    told = SPOKEN["en"]
    with Terminal(place.environ | {"DISPLAY": screen.name}, "init") as terminal:
        to_first_task(terminal, told, line_for(place))
        answer(terminal, told.window, "")
        trial = seen(screen, "CodexBridge")
        trial.focus()
        screen.do("key", "alt+F4")
        answer(terminal, told.send, "s")
        assert told.pressed not in terminal.shown
        assert "approve in a terminal: codexbridge approve" in terminal.shown
