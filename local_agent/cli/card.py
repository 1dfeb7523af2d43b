"""A proposal on this terminal: what a model says in a gutter, and what is ours beside it.

Whatever comes from a model stands behind the gutter, row by row; what stands at the left edge is
ours (R25).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from common.sentences import Sentence
from common.terminal import table
from common.text import ELLIPSIS, one_line, reveal
from local_agent.cli import proposal_words as words
from local_agent.cli import words as common_words
from local_agent.cli.flow import GUTTER, Flow, rows_of
from local_agent.cli.screen import Screen
from local_agent.propose import words as propose_words
from local_agent.words import render_duration, render_size

if TYPE_CHECKING:
    from local_agent.views.task import ProposedFile, Speech, TaskView, Turn

INDENT: Final = "  "
_PATH_BYTES: Final = 400
_STEPS: Final = (
    (words.LOOK, words.LOOK_BY),
    (words.APPLY, words.APPLY_BY),
    (words.REVISE, words.REVISE_BY),
    (words.DROP, words.DROP_BY),
)
# What a turn is called that has no end, or whose end nobody saw (`local_agent.store.turns`).
_ENDLESS: Final = {"begun": words.AT_WORK, "cut-off": words.CUT_OFF}


def flow_on(screen: Screen) -> Flow:
    """Return a text that may grow on the screen."""
    return Flow(screen.ink("dim", GUTTER), _room(screen))


def model_lines(screen: Screen, task: TaskView, *, streamed: str = "") -> Iterator[str]:
    """Give what a model said, or what of it does not stand there yet.

    Args:
        screen: Where it will stand.
        task: What was asked.
        streamed: What has been shown of it already.
    """
    speech = task.speech
    if not speech:
        return
    said = reveal(speech.text).split("\n") if speech.text else []
    left = _left(said, reveal(streamed).strip())
    if heads := _heads(speech, stands=len(left) < len(said)):
        yield from (screen.ink("dim", screen.say(one, model=speech.model)) for one in heads)
    yield from _quoted(screen, left)
    for head, rows in (
        (propose_words.NOT_TAKEN, speech.not_taken),
        (propose_words.SUGGESTED, speech.commands),
    ):
        if rows:
            yield screen.ink("dim", screen.say(head, count=len(rows)))
            yield from _quoted(screen, list(map(reveal, rows)))


def has_words(task: TaskView) -> bool:
    """Tell whether a model said something of this task."""
    return bool(task.speech)


def tell_lineage(screen: Screen, task: TaskView) -> None:
    """Print which version a proposal is, and after which; nothing of a first one."""
    if before := task.revises:
        facts = {"task": task.short_id, "version": task.version, "before": before}
        screen.tell(words.LINEAGE, **facts)


def own_lines(screen: Screen, task: TaskView) -> Iterator[str]:
    """Give what is proposed in our words, the files of a change with aligned counts."""
    own = task.own
    text = task.proposed if own is None else own
    for line in reveal(text).split("\n") if text else ():
        yield from screen.prose(line)
    if own is not None:  # else its rows stand in the text
        yield from file_lines(screen, task)


def file_lines(screen: Screen, task: TaskView) -> Iterator[str]:
    """Give the files of a change; the counts stand first, where no long name pushes them away."""
    counted = [(f"+{file.additions}", f"−{file.deletions}", _path(file)) for file in task.files]
    added = max((len(row[0]) for row in counted), default=0)
    removed = max((len(row[1]) for row in counted), default=0)
    for plus, minus, path in counted:
        yield f"{INDENT}{plus.rjust(added)} {minus.rjust(removed)}  {path}"
    if more := task.files_more:
        yield INDENT + screen.say(common_words.FILES_MORE, count=more)


def steps_lines(screen: Screen, task: TaskView) -> Iterator[str]:
    """Give what can be done with a change that rests."""
    yield screen.say(words.NOTHING_YET)
    named = {"task": task.short_id}
    yield from table(
        [(INDENT + screen.say(what), screen.say(how, **named)) for what, how in _STEPS]
    )


def fact_lines(screen: Screen, task: TaskView) -> Iterator[str]:
    """Give which model worked on it, what that used, and what it was shown."""
    for turn in turn_lines(screen, task):
        yield screen.ink("dim", turn)
    if shown := shown_line(screen, task):
        yield screen.ink("dim", screen.say(words.WAS_SHOWN, shown=shown))


def turn_lines(screen: Screen, task: TaskView) -> list[str]:
    """Return one line for each turn of a model."""
    return [_turn(screen, turn) for turn in task.turns]


def shown_line(screen: Screen, task: TaskView) -> str:
    """Return how much a model was shown; empty where none was asked."""
    shown = task.shown
    if not shown or not task.turns:
        return ""
    size = render_size(shown.bytes)
    return screen.say(words.SHOWN, count=shown.files, size=size, task=task.short_id)


def _turn(screen: Screen, turn: Turn) -> str:
    if endless := _ENDLESS.get(turn.outcome):
        return screen.say(endless, model=turn.model)
    duration = render_duration(turn.duration_ms, screen.lang)
    facts = {"model": turn.model, "duration": duration}
    if turn.input_tokens or turn.output_tokens:
        read, written = f"{turn.input_tokens:,}", f"{turn.output_tokens:,}"
        used = screen.say(words.USED, read=read, written=written, **facts)
    else:
        used = screen.say(words.USED_UNKNOWN, **facts)
    return used if turn.outcome == "ok" else screen.say(words.FAILED_TURN, used=used)


def _heads(speech: Speech, *, stands: bool) -> list[Sentence]:
    """Return our sentences before a model's words; ``stands`` where some stand there already."""
    if stands:
        return [words.NO_EDITS] if speech.no_edits else []
    heads = [propose_words.NO_EDITS] if speech.no_edits else []
    if not speech.text:
        heads.append(propose_words.NOTHING_SAID)
    return heads or [propose_words.MODEL_SAYS]


def _left(said: list[str], streamed: str) -> list[str]:
    """Return what was said besides the words that stand there already."""
    shown = streamed.rpartition("\n")[2]
    for count in range(len(said) if shown else 0, 0, -1):
        last = said[count - 1]
        if last == shown and streamed.endswith("\n".join(said[:count])):
            return said[count:]
        if last.endswith(ELLIPSIS) and streamed.startswith("\n".join(said[:count])[:-1]):
            return said[count:]  # what is kept of a very long answer is cut
    return said


def _quoted(screen: Screen, lines: Sequence[str]) -> Iterator[str]:
    if not screen.live:
        yield from (INDENT + line for line in lines)
        return
    for line in lines:
        for row in rows_of(line, width=_room(screen)):
            yield screen.ink("dim", GUTTER) + row


def _path(file: ProposedFile) -> str:
    return reveal(one_line(file.path, _PATH_BYTES))


def _room(screen: Screen) -> int:
    # One cell is left free: at the very edge some terminals break a line by themselves.
    return max(screen.width - len(GUTTER) - 1, 10)
