"""Watching one task from a terminal until it has ended; a reader of the shared event stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from common.terminal import clip_cells
from common.text import one_line, reveal
from local_agent.cli import proposal_words, words
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
            return _conclude(value["task"], screen, line)
        if value.get("type") == "task_stream_chunk":
            line.stream(str(value.get("chunk")))
        elif told := _told(value, screen):
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


def _conclude(task: Mapping[str, Any], screen: Screen, line: _StatusLine) -> int:
    if task["state"] == "WAITING_APPROVAL":
        lines = reveal(task.get("proposed") or "").splitlines()
        # What stands there already is not repeated.
        for told in lines[1:] if lines[:1] == [line.stands] else lines:
            print(told)
        screen.tell(words.WAITS, task=task["short_id"])
        return 0
    if task["state"] == "PROPOSAL_READY":
        _print_resting(task, screen, line)
        return 0
    completed = task["reason"] == "completed"
    style = "green" if completed else "red"
    print(f"{screen.ink('bold', task['short_id'])}  {screen.ink(style, state_of(screen, task))}")
    for told in ending_lines(screen, task):
        if told not in line.streamed:
            print(told)
    return 0 if completed else EXIT_ENDED_OTHERWISE


def _print_resting(task: Mapping[str, Any], screen: Screen, line: _StatusLine) -> None:
    """Print a change that nobody has asked to apply yet: what the model says, and its files."""
    print(f"{screen.ink('bold', task['short_id'])}  {screen.ink('bold', state_of(screen, task))}")
    for told in reveal(task.get("details") or task.get("proposed") or "").splitlines():
        if told not in line.streamed:
            print(told)
    screen.tell(proposal_words.RESTS, task=task["short_id"])
    screen.tell(proposal_words.REVISE, task=task["short_id"])


class _StatusLine:
    """One line that is written over on a terminal, and plain lines elsewhere.

    Attributes:
        streamed: Lines of a model that stand there already.
    """

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._last = ""
        self._open = ""
        self.streamed: set[str] = set()

    @property
    def stands(self) -> str:
        """The last line that stays to be read; none on a terminal, where it is written over."""
        return "" if self._screen.live else self._last

    def stream(self, chunk: str) -> None:
        """Print what a model says as it comes; where nobody watches, the end has all of it."""
        if not self._screen.live:
            return
        if not self._open:
            self.clear()
        shown = reveal(chunk)
        *whole, self._open = (self._open + shown).split("\n")
        self.streamed |= {line for line in whole if line.strip()}
        print(shown, end="", flush=True)

    def show(self, text: str) -> None:
        if text == self._last:
            return
        self._end_stream()
        self._last = text
        if self._screen.live:
            shown = clip_cells(text, self._screen.width - 1)
            print(f"\r\x1b[K{self._screen.ink('dim', shown)}", end="", flush=True)
        else:
            print(text, flush=True)

    def _end_stream(self) -> None:
        if self._open:
            self.streamed.add(self._open)
            self._open = ""
            print(flush=True)

    def clear(self) -> None:
        self._end_stream()
        if self._screen.live and self._last:
            print("\r\x1b[K", end="", flush=True)
            self._last = ""
