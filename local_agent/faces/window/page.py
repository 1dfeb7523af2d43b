"""What the window says, without how: the view of a question, arranged for its panes.  Pure.

Its own sentences stand here; the rest it shares with the terminal (`local_agent.cards.words`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from common.diff.view import Mark, marks
from common.seal import Op
from common.sentences import Lang, Sentence, say
from common.terminal import on_one_line
from common.text import one_line, reveal
from local_agent.cards import words
from local_agent.cards.view import LABELS, view_of
from local_agent.views.question import (
    Diff,
    Effect,
    Fact,
    FactKind,
    Files,
    Lines,
    Part,
    Question,
    QuestionView,
    Steps,
    Text,
    Tone,
)

WINDOW_TITLE: Final = Sentence(en="{task} · CodexBridge", zh="{task} · CodexBridge")

TRIAL_TITLE: Final = Sentence(en="Test · CodexBridge", zh="测试 · CodexBridge")
TRIAL: Final = Sentence(
    en="This is a test. What waits for your approval opens like this.\n\n"
    "Press Later. Buttons count only after the window has stood still for a moment.",
    zh="这是测试窗口。需要你批准的请求会这样打开。\n\n请按“稍后”。窗口静止片刻之后按钮才有效。",
)
CODE_TITLE: Final = Sentence(en="One-time code · CodexBridge", zh="一次性代码 · CodexBridge")
CODE_FOR: Final = Sentence(
    en="{task}: {title}\nHIGH RISK · confirmation code {code}",
    zh="{task}：{title}\n高风险 · 确认码 {code}",
)
CODE_HOW: Final = Sentence(
    en="Type this one-time code on the page, if the page shows the same task and confirmation "
    "code. It is good for one approval.",
    zh="仅当页面显示相同的任务和确认码时，才在页面上输入这个一次性代码。它只能用于一次批准。",
)

REJECT: Final = Sentence(en="Reject", zh="拒绝")
LATER: Final = Sentence(en="Later", zh="稍后")
CHECK: Final = Sentence(en="Run the check first", zh="先运行检查")
NARROW: Final = Sentence(en="Only the ticked files", zh="仅所选文件")

ASKED_HERE: Final = Sentence(en="Asked at this machine", zh="在本机提出")
ASKED_AFAR: Final = Sentence(en="Asked from afar, not verified", zh="远程请求，身份未经核实")
FLAGS: Final = Sentence(en="Look closely", zh="请留意")
FLAG_AT: Final = Sentence(en="{path}, line {line}: {what}", zh="{path} 第 {line} 行：{what}")
FLAG_MORE: Final = Sentence(
    en="… and {count} more, marked in the diff", zh="……另有 {count} 处，已在改动中标出"
)

CLOSES: Final = Sentence(
    en="closes undecided in {left}  ·  {waits} to decide",
    zh="{left} 后关闭且不作决定  ·  请求{waits}",
)
ARMING: Final = Sentence(
    en="The buttons work once the window has stood still for a moment.",
    zh="窗口静止片刻后按钮才可使用。",
)
NOT_WHOLE: Final = Sentence(
    en="Not all of the change is here yet: it is still being put in.",
    zh="改动尚未全部显示，正在载入，请稍候。",
)
READ_FIRST: Final = Sentence(
    en="High risk: read to the end, or look at each file, first.",
    zh="高风险：请先看到末尾，或逐个查看文件。",
)
TYPE_CODE: Final = Sentence(
    en="High risk: type the whole code to approve exactly this.",
    zh="高风险：请输入完整确认码，即批准以上内容。",
)
UNTICKED: Final = Sentence(
    en="Some files are unticked: you are asked again for the ticked ones alone.",
    zh="有文件未选中：将仅就所选文件重新请你批准。",
)
NONE_TICKED: Final = Sentence(
    en="No file is ticked: tick some, or reject.", zh="没有选中任何文件：请选择文件，或拒绝。"
)
READY: Final = Sentence(
    en="Enter never approves; closing the window decides nothing.",
    zh="回车键不会批准；直接关闭窗口不会作出任何决定。",
)

MAX_MARKS: Final = 6  # flags named at the side; the others stand in the diff, set off
QUOTED: Final = "quoted"  # the style of words that are not ours
HEADING: Final = "heading"  # that of the name of a step

# What is decided on stands in the middle; what surrounds it at the side.
_MIDDLE: Final[frozenset[FactKind]] = frozenset({"command", "stdin", "answer", "remote", "commit"})
_EFFECTS: Final[Mapping[Effect, str]] = {
    "read-only": "",
    "local-write": "bold",
    "remote-write": "red",
}
_STYLES: Final[Mapping[Tone, str]] = {
    "plain": "",
    "strong": "bold",
    "quiet": "dim",
    "good": "green",
    "danger": "red",
    "alarm": "alarm",
    "quoted": QUOTED,
}

# Outside the basic plane: old releases of Tk and of its font library end on some of them.
_ASTRAL: Final = re.compile("[\U00010000-\U0001ffff\U00040000-\U0010ffff]")

Styled = tuple[str, str]  # (style or "", text)


@dataclass(frozen=True, slots=True)
class Row:
    """A label and its values, as in the terminal."""

    label: str
    values: tuple[Styled, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """One file that changes, for the list.

    Attributes:
        added: Lines added; None where its content is no text.
    """

    path: str
    op: Op
    added: int | None
    removed: int | None


@dataclass(frozen=True, slots=True)
class Page:
    """Everything that one window says about a question, but for the lines of its diff.

    Attributes:
        verdict: How its check stands or ended, with its style; None where it was not tried out.
        source: In one line whether somebody from afar asked; ``afar`` tells it to the machine.
        asked_by: The claim, with what was not verified.
        place: Task, workspace and commit, in one line.
        facts: For the side: why it is risky, what surrounds it, what follows.
        body: For the middle: the command, or what a sync does; empty for a change.  Of several
            steps of a playbook all of it, their diffs included, one step after the other.
        files: What changes.
    """

    title: str
    verdict: tuple[str, str] | None
    source: str
    afar: bool
    asked_by: str
    request: str
    place: str
    facts: tuple[Row | Lines, ...]
    body: tuple[Row | Lines | Diff, ...]
    files: tuple[Entry, ...]


def page_of(question: Question, lang: Lang) -> Page:
    """Return what the window says."""
    view = view_of(question)
    parts = [part for section in view.parts for part in section]
    whole, steps = _divided(parts)
    verdict = view.check
    return Page(
        title=view.title.to(lang),
        verdict=(
            _STYLES[verdict.tone],
            drawable(say(words.CHECK_MARKED, lang, mark=verdict.mark, said=verdict.said.to(lang))),
        )
        if verdict
        else None,
        source=say(ASKED_AFAR if view.afar else ASKED_HERE, lang),
        afar=view.afar,
        asked_by=drawable(view.asked_by.to(lang)),
        request=_request(view, lang),
        place=_place(view, lang),
        facts=tuple(_side(view, whole, [part for part in parts if isinstance(part, Diff)], lang)),
        body=tuple(_middle([*filter(_is_middle, whole), *steps], lang)),
        files=tuple(_entries(parts)),
    )


def code_missing(question: Question, typed: str) -> Sentence | None:
    """Return what to say of the code as it is typed so far; None once it is the one shown."""
    if question.accepts(typed):
        return None
    typed_whole = _signs(typed) >= _signs(question.code)
    return words.WRONG if typed_whole else TYPE_CODE


def drawable(text: str) -> str:
    """Return the text with everything in it visible, line ends kept, and nothing Tk ends on."""
    lines = text.split("\n")
    return without_astral("\n".join(map(on_one_line, lines)))


def without_astral(text: str) -> str:
    """Return the text with the characters marked that old releases of Tk end on."""
    return _ASTRAL.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)


def _signs(code: str) -> int:
    """Count the signs of a code, without its dash."""
    return sum(map(str.isalnum, code))


def _divided(parts: Sequence[Part]) -> tuple[Sequence[Part], Sequence[Part]]:
    """Return what is said of the whole, and what is said step by step."""
    headings = (isinstance(part, Fact) and part.kind == "step" for part in parts)
    first = next((at for at, is_heading in enumerate(headings) if is_heading), len(parts))
    return parts[:first], parts[first:]


def _is_middle(part: Part) -> bool:
    return isinstance(part, Lines | Steps) or (isinstance(part, Fact) and part.kind in _MIDDLE)


def _side(
    view: QuestionView, parts: Sequence[Part], diffs: Sequence[Diff], lang: Lang
) -> Iterator[Row | Lines]:
    """Give what weighs most first: the side may be longer than the screen."""
    if view.reasons:
        style = "red" if view.high_risk else ""
        reasons = tuple((style, drawable(f"• {reason.to(lang)}")) for reason in view.reasons)
        yield Row(say(words.WHY, lang), reasons)
    for diff in diffs:
        yield from _flags(diff, lang)
    yield _row(words.UNDO, [("bold" if view.lasts else "", view.undo)], lang)
    around = [part for part in parts if not _is_middle(part)]
    # Beside the files their whole comes before what a model says of it.
    around.sort(key=lambda part: isinstance(part, Fact) and part.kind == "said")
    yield from _arranged(around, lang)
    yield _row(words.AFTERWARDS, [("", view.afterwards)], lang)


def _middle(parts: Iterable[Part], lang: Lang) -> Iterator[Row | Lines | Diff]:
    """Give what is decided on, with the diffs in their places."""
    for part in parts:
        if isinstance(part, Diff):
            yield part
        elif isinstance(part, Fact) and part.kind == "step":
            [row] = _arranged([part], lang)
            assert isinstance(row, Row)  # noqa: S101 - a fact is a row
            (_, name), *rest = row.values
            yield Row(row.label, ((HEADING, name), *rest))
        else:
            yield from _arranged([part], lang)


def _arranged(parts: Iterable[Part], lang: Lang) -> Iterator[Row | Lines]:
    """Give parts as rows; the lines of a diff have a pane of their own."""
    for part in parts:
        match part:
            case Fact():
                values = [(_STYLES[value.tone], value.text) for value in part.values]
                yield _row(LABELS[part.kind], values, lang)
            case Lines():
                yield Lines(tuple(map(drawable, part.parts)), part.first)
            case Steps():
                yield _steps(part, lang)
            case Files() if part.only is not None:
                told = [("", part.count), ("", part.only)]
                left_out = [("bold", part.left_out)] if part.left_out is not None else []
                yield _row(words.CHANGES, [*told, *left_out], lang)


def _row(label: Sentence, values: Sequence[tuple[str, Text]], lang: Lang) -> Row:
    said = tuple((style, drawable(value.to(lang))) for style, value in values)
    return Row(say(label, lang), said)


def _steps(part: Steps, lang: Lang) -> Row:
    values = []
    for number, step in enumerate(part.steps, start=1):
        effect = say(words.EFFECTS[step.effect], lang)
        said = drawable(f"{number}. {effect}  ·  {step.what.to(lang)}")
        values.append((_EFFECTS[step.effect], said))
    return Row(say(words.STEPS, lang), tuple(values))


def _entries(parts: Sequence[Part]) -> Iterator[Entry]:
    for part in parts:
        for file in part.files if isinstance(part, Files) else ():
            added, removed = (file.diff.added, file.diff.removed) if file.diff else (None, None)
            yield Entry(file.path, file.op, added, removed)


def _request(view: QuestionView, lang: Lang) -> str:
    """Return what was asked; of a later version what is to be different, and what it began with."""
    revision = view.revision
    if revision is None:
        return drawable(view.request)
    facts = {"version": revision.version, "task": revision.task, "wish": revision.wish}
    wish = say(words.VERSION_WISH, lang, **facts) if revision.wish else view.request
    first = say(words.FIRST_REQUEST, lang, request=revision.first)
    return drawable(f"{wish}\n{first}")


def _place(view: QuestionView, lang: Lang) -> str:
    parts = [view.short_id]
    if revision := view.revision:
        facts = {"version": revision.version, "task": revision.task}
        parts.append(say(words.VERSION_OF, lang, **facts))
    parts += [view.workspace, reveal(view.place)]
    if view.commit:
        parts.append(say(words.AT_COMMIT, lang, commit=view.commit[:12]))
    return drawable("  ·  ".join(filter(None, parts)))


def _flags(diff: Diff, lang: Lang) -> Iterator[Row]:
    found = marks(diff.model)
    if not found:
        return
    values = [("red", f"• {_flag(mark, lang)}") for mark in found[:MAX_MARKS]]
    if len(found) > MAX_MARKS:
        more = say(FLAG_MORE, lang, count=len(found) - MAX_MARKS)
        values.append(("red", more))
    yield Row(say(FLAGS, lang), tuple(values))


def _flag(mark: Mark, lang: Lang) -> str:
    sentence = words.MARKS.get(mark.code)
    what = say(sentence, lang) if sentence else mark.code
    path = drawable(one_line(mark.path, 400))
    return say(FLAG_AT, lang, path=path, line=mark.line, what=what)
