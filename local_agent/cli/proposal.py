"""A proposal on this terminal: what a model says in a gutter, and what is ours beside it.

The gutter stands before every row, also while the text grows, so that nothing a model writes can
pass for a line of ours (R25); what stands at the left edge is ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from common.sentences import Sentence
from common.terminal import table, wrap
from common.text import ELLIPSIS, one_line, reveal
from local_agent.cli import words
from local_agent.cli.screen import Screen
from local_agent.propose import words as propose_words
from local_agent.words import render_duration, render_size

if TYPE_CHECKING:
    from local_agent.views.task import ProposedFile, Speech, TaskView, Turn

NO_EDITS: Final = Sentence(
    en="No change is proposed: the model made no edit.", zh="没有提议改动：模型未作任何修改。"
)
USED: Final = Sentence(
    en="{model}, {duration}: {read} tokens read, {written} written",
    zh="{model}，{duration}：读入 {read}、写出 {written} 个 token",
)
USED_UNKNOWN: Final = Sentence(en="{model}, {duration}", zh="{model}，{duration}")
FAILED_TURN: Final = Sentence(en="{used} (gave nothing)", zh="{used}（没有结果）")
AT_WORK: Final = Sentence(en="{model}, at work", zh="{model}，正在处理")
CUT_OFF: Final = Sentence(
    en="{model}, cut off when the agent stopped; what it used is not known",
    zh="{model}，因 Agent 停止而中断；用量未知",
)
SHOWN: Final = Sentence(
    en="{count} {count:file|files}, {size}: codexbridge context {task}",
    zh="{count} 个文件，{size}：codexbridge context {task}",
)
WAS_SHOWN: Final = Sentence(en="It was shown {shown}", zh="已向它展示 {shown}")
NOTHING_YET: Final = Sentence(en="Nothing is changed yet. To", zh="尚未改动任何内容。可以：")
LOOK: Final = Sentence(en="see all of it", zh="查看全部")
APPLY: Final = Sentence(en="apply it", zh="应用")
REVISE: Final = Sentence(en="have it otherwise", zh="修订")
DROP: Final = Sentence(en="drop it", zh="放弃")
LOOK_BY: Final = Sentence(en="codexbridge diff {task}", zh="codexbridge diff {task}")
APPLY_BY: Final = Sentence(en="codexbridge apply {task}", zh="codexbridge apply {task}")
REVISE_BY: Final = Sentence(
    en='codexbridge ask "revise {task} …"', zh='codexbridge ask "修订 {task} …"'
)
DROP_BY: Final = Sentence(en="codexbridge cancel {task}", zh="codexbridge cancel {task}")
LINEAGE: Final = Sentence(
    en="{task} is version {version}, after {before}.",
    zh="{task} 是第 {version} 版，上一版为 {before}。",
)

INDENT: Final = "  "
_PATH_BYTES: Final = 400
_STEPS: Final = (
    (LOOK, LOOK_BY),
    (APPLY, APPLY_BY),
    (REVISE, REVISE_BY),
    (DROP, DROP_BY),
)
# What a turn is called that has no end, or whose end nobody saw (`local_agent.store.turns`).
_ENDLESS: Final = {"begun": AT_WORK, "cut-off": CUT_OFF}
GUTTER: Final = "│ "
TAB: Final = "    "
# What these mean at the end of a piece is known once the next one is there: blanks that a row may
# break at, half of a line end, what joins emoji.
_UNSURE: Final = " \r\u200d\ufe0f"
ANEW: Final = "\r\x1b[K"


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
        screen.tell(LINEAGE, **facts)


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
        yield INDENT + screen.say(words.FILES_MORE, count=more)


def steps_lines(screen: Screen, task: TaskView) -> Iterator[str]:
    """Give what can be done with a change that rests."""
    yield screen.say(NOTHING_YET)
    named = {"task": task.short_id}
    yield from table(
        [(INDENT + screen.say(what), screen.say(how, **named)) for what, how in _STEPS]
    )


def fact_lines(screen: Screen, task: TaskView) -> Iterator[str]:
    """Give which model worked on it, what that used, and what it was shown."""
    for turn in turn_lines(screen, task):
        yield screen.ink("dim", turn)
    if shown := shown_line(screen, task):
        yield screen.ink("dim", screen.say(WAS_SHOWN, shown=shown))


def turn_lines(screen: Screen, task: TaskView) -> list[str]:
    """Return one line for each turn of a model."""
    return [_turn(screen, turn) for turn in task.turns]


def shown_line(screen: Screen, task: TaskView) -> str:
    """Return how much a model was shown; empty where none was asked."""
    shown = task.shown
    if not shown or not task.turns:
        return ""
    size = render_size(shown.bytes)
    return screen.say(SHOWN, count=shown.files, size=size, task=task.short_id)


def _turn(screen: Screen, turn: Turn) -> str:
    if endless := _ENDLESS.get(turn.outcome):
        return screen.say(endless, model=turn.model)
    duration = render_duration(turn.duration_ms, screen.lang)
    facts = {"model": turn.model, "duration": duration}
    if turn.input_tokens or turn.output_tokens:
        read, written = f"{turn.input_tokens:,}", f"{turn.output_tokens:,}"
        used = screen.say(USED, read=read, written=written, **facts)
    else:
        used = screen.say(USED_UNKNOWN, **facts)
    return used if turn.outcome == "ok" else screen.say(FAILED_TURN, used=used)


def _heads(speech: Speech, *, stands: bool) -> list[Sentence]:
    """Return our sentences before a model's words; ``stands`` where some stand there already."""
    if stands:
        return [NO_EDITS] if speech.no_edits else []
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


class Flow:
    """One growing text.

    Args:
        gutter: What stands before each row, with its emphasis.
        width: Cells of a row after the gutter.
    """

    def __init__(self, gutter: str, width: int) -> None:
        self._gutter = gutter
        self._width = width
        self._raw = ""  # what the row that is open was made of
        self._row: str | None = None  # what stands in it
        self._blank = 0  # lines that are written once something follows them
        self._begun = False

    @property
    def is_open(self) -> bool:
        """Whether a row stands there that may still grow."""
        return self._row is not None

    def feed(self, chunk: str) -> str:
        """Return what is to be written for a further piece."""
        *whole, rest = (self._raw + chunk.replace("\t", TAB)).split("\n")
        self._raw = ""
        written = []
        for line in whole:
            if self._row is None and not line.strip():
                self._blank += self._begun
                continue
            written += [self._draw(line), "\n"]
            self._row = None
        if rest.strip() or self._row is not None:
            known = rest.rstrip(_UNSURE)
            written.append(self._draw(known))
            self._raw = (self._row or "") + rest[len(known) :]
        else:
            self._raw = rest
        return "".join(written)

    def again(self) -> str:
        """Return what writes the open row anew, from anywhere in its line."""
        return ANEW + self._gutter + (self._row or "")

    def end(self) -> str:
        """Return what closes the open row."""
        closing = "\n" if self.is_open else ""
        self._raw, self._row = "", None
        return closing

    def _draw(self, line: str) -> str:
        shown = reveal(line.removesuffix("\r"))
        empty = f"{self._gutter.rstrip()}\n" * self._blank
        self._blank, self._begun = 0, True
        first, *others = wrap(shown, self._width)
        written = [empty, self._put(first)]
        for row in others:
            self._row = None
            written += ["\n", self._put(row)]
        return "".join(written)

    def _put(self, row: str) -> str:
        before, self._row = self._row, row
        if before is None:
            return self._gutter + row
        if row.startswith(before):
            return row[len(before) :]
        return self.again()


def rows_of(text: str, *, width: int) -> list[str]:
    """Return a finished text as rows without a gutter.

    Args:
        text: As others wrote it.
        width: Cells of a row.
    """
    return wrap(reveal(text.replace("\t", TAB)), width)
