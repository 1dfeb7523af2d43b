"""Watching one task from a terminal until it has ended; a reader of the shared event stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from common.errors import CodexBridgeError
from common.terminal import clip_cells
from common.text import one_line
from local_agent.cli import card, proposal_words, words
from local_agent.cli.ending import ending_lines
from local_agent.cli.screen import Screen, print_json
from local_agent.cli.tasks import state_of

if TYPE_CHECKING:
    from local_agent.views.codec import Json
    from local_agent.views.task import TaskView

EXIT_ENDED_OTHERWISE: Final = 1
EXIT_INTERRUPTED: Final = 130
_FINAL: Final = frozenset({"COMPLETED", "FAILED", "REJECTED"})
_ANEW: Final = "\r\x1b[K"
_UP: Final = "\x1b[A"


def follow(steps: Iterator[tuple[str, Json]], screen: Screen, *, task: str = "") -> int:
    """Print what happens to a task and how it ended.

    Args:
        steps: What the agent streams: its events, then the task as it stands at the end.
        screen: Where to.
        task: Its ID, where that is known before the agent tells it.

    Returns:
        0 when the task completed or now waits for a person, 130 when whoever watches stopped
        watching: the task goes on then; else 1.

    Raises:
        CodexBridgeError: what the agent answered instead; ``agent.stopped`` when it was stopped.
    """
    line = _Lines(screen)
    try:
        for kind, value in steps:
            if kind == "ok":
                line.clear()
                return _conclude(_watched(value), screen, line)
            task = value.get("short_id") or task
            if value.get("type") == "task_stream_chunk":
                line.stream(str(value.get("chunk")))
            elif told := _told(value, screen):
                line.show(told)
    except CodexBridgeError:
        line.clear()
        raise
    except KeyboardInterrupt:
        line.clear()
        print()  # the terminal has shown ^C
        screen.tell(words.DETACHED if task else proposal_words.DETACHED, task=task)
        return EXIT_INTERRUPTED
    return EXIT_ENDED_OTHERWISE


def follow_as_json(steps: Iterable[tuple[str, Json]]) -> int:
    """Print the task as it stands at the end; returns and raises what `follow` does."""
    *_, (_, last) = steps
    print_json(last["task"])
    return _exit_code(_watched(last))


def _watched(last: Json) -> TaskView:
    from local_agent.views.codec import from_json
    from local_agent.views.task import Watched

    return from_json(Watched, last).task


def _exit_code(task: TaskView) -> int:
    good = task.state in ("WAITING_APPROVAL", "PROPOSAL_READY") or task.reason == "completed"
    return 0 if good else EXIT_ENDED_OTHERWISE


def _told(event: Json, screen: Screen) -> str:
    # How it ended is told with the task itself.
    if event.get("type") != "task_state" or event.get("state") in _FINAL:
        return ""
    # Where there is something to say, it says where the task stands.
    if message := (event.get("said") or {}).get(screen.lang) or event.get("message"):
        return one_line(message.partition("\n")[0], 300)
    state = words.STATES.get(str(event.get("state")))
    return screen.say(state) if state else str(event.get("state"))


def _conclude(task: TaskView, screen: Screen, line: _Lines) -> int:
    if task.state == "WAITING_APPROVAL":
        lines = list(card.own_lines(screen, task))
        # What stands there already is not repeated.
        _print(lines[1:] if lines[:1] == [line.stands] else lines)
        screen.tell(words.WAITS, task=task.short_id)
        return _exit_code(task)
    # What came of a change that was decided on is told; its proposal was read before.
    spoken = card.has_words(task) and (task.proposal != "diff" or not task.reason)
    if spoken:
        _print(card.model_lines(screen, task, streamed=line.streamed))
        print()
    head = screen.ink("bold", task.short_id)
    if task.state == "PROPOSAL_READY":
        print(f"{head}  {screen.ink('bold', state_of(screen, task))}")
        _print(card.own_lines(screen, task))
        _print(card.steps_lines(screen, task))
        _print(card.fact_lines(screen, task))
        return _exit_code(task)
    colour = "red" if _exit_code(task) else "green"
    print(f"{head}  {screen.ink(colour, state_of(screen, task))}")
    if spoken:
        _print(card.own_lines(screen, task))
        _print(card.fact_lines(screen, task))
    else:
        _print(ending_lines(screen, task))
    return _exit_code(task)


def _print(lines: Iterable[str]) -> None:
    for told in lines:
        print(told)


class _Lines:
    """What comes while a task goes on.

    On a terminal a model's words grow, and one line below them says where the task stands and is
    written over; elsewhere there are plain lines, and the end has all that was said.

    Attributes:
        streamed: What of a model's words stands there already.
    """

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._flow = card.flow_on(screen)
        self._last = ""
        self._said: list[str] = []

    @property
    def streamed(self) -> str:
        """What of a model's words stands there already."""
        return "".join(self._said)

    @property
    def stands(self) -> str:
        """The last line that stays to be read; none on a terminal, where it is written over."""
        return "" if self._screen.live else self._last

    def stream(self, chunk: str) -> None:
        """Print what a model says as it comes; where nobody watches, the end has all of it."""
        if not self._screen.live or not (self._said or chunk.strip()):
            return
        back = self._back()
        if not self._said:
            back += self._screen.ink("dim", self._screen.say(proposal_words.MODEL_SAYS)) + "\n"
        self._said.append(chunk)
        print(back + self._flow.feed(chunk), end="", flush=True)

    def show(self, text: str) -> None:
        """Say where the task stands."""
        if text == self._last:
            return
        if self._screen.live:
            below = "\n" if self._flow.is_open and not self._last else ""
            shown = clip_cells(text, self._screen.width - 1)
            print(f"{below}{_ANEW}{self._screen.ink('dim', shown)}", end="", flush=True)
        else:
            print(text, flush=True)
        self._last = text

    def clear(self) -> None:
        """Leave what a model said, and nothing else of what is written over."""
        print(self._back() + self._flow.end(), end="", flush=True)

    def _back(self) -> str:
        """Return what takes the lower line away and leads back to where the words grow."""
        if not (self._screen.live and self._last):
            return ""
        self._last = ""
        return _ANEW + (_UP + self._flow.again() if self._flow.is_open else "")
