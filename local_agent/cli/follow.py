"""Watching one task from a terminal until it has ended; a reader of the shared event stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from common.terminal import clip_cells
from common.text import one_line, reveal
from local_agent.cli import words
from local_agent.cli.ending import ending_lines
from local_agent.cli.screen import Screen
from local_agent.cli.tasks import state_of

EXIT_ENDED_OTHERWISE = 1


def follow(steps: Iterator[tuple[str, dict[str, Any]]], screen: Screen) -> int:
    """Print what happens to a task and how it ended.

    Args:
        steps: What the agent streams: its events, then the task as it stands at the end.
        screen: Where to.

    Returns:
        0 when the task completed or now waits for a person, else 1.
    """
    line = _StatusLine(screen)
    for kind, value in steps:
        if kind == "ok":
            line.clear()
            return _conclude(value["task"], screen, stands=line.stands)
        if told := _told(value, screen):
            line.show(told)
    return EXIT_ENDED_OTHERWISE


def _told(event: Mapping[str, Any], screen: Screen) -> str:
    if event.get("type") != "task_state":
        return ""
    # Where there is something to say, it says where the task stands.
    if message := (event.get("said") or {}).get(screen.lang) or event.get("message"):
        return one_line(message.partition("\n")[0], 300)
    state = words.STATES.get(str(event.get("state")))
    return screen.say(state) if state else str(event.get("state"))


def _conclude(task: Mapping[str, Any], screen: Screen, *, stands: str) -> int:
    if task["state"] == "WAITING_APPROVAL":
        lines = reveal(task.get("proposed") or "").splitlines()
        # What stands there already is not repeated.
        for line in lines[1:] if lines[:1] == [stands] else lines:
            print(line)
        screen.tell(words.WAITS, task=task["short_id"])
        return 0
    completed = task["reason"] == "completed"
    style = "green" if completed else "red"
    print(f"{screen.ink('bold', task['short_id'])}  {screen.ink(style, state_of(screen, task))}")
    for told in ending_lines(screen, task):
        print(told)
    return 0 if completed else EXIT_ENDED_OTHERWISE


class _StatusLine:
    """One line that is written over on a terminal, and plain lines elsewhere."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._last = ""

    @property
    def stands(self) -> str:
        """The last line that stays to be read; none on a terminal, where it is written over."""
        return "" if self._screen.live else self._last

    def show(self, text: str) -> None:
        if text == self._last:
            return
        self._last = text
        if self._screen.live:
            shown = clip_cells(text, self._screen.width - 1)
            print(f"\r\x1b[K{self._screen.ink('dim', shown)}", end="", flush=True)
        else:
            print(text, flush=True)

    def clear(self) -> None:
        if self._screen.live and self._last:
            print("\r\x1b[K", end="", flush=True)
