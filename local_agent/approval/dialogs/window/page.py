"""What the window says, without how: the parts of the terminal's page, kept instead of printed.

Both dialogs say the same because they say it with the same functions; here a `Sheet` takes the
place of the terminal's layout, and holds what it is given.  Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from common.diff.model import DiffModel
from common.diff.view import Mark, marks
from common.seal import Op
from common.sentences import Lang, Sentence, say
from common.terminal import Ink, exact
from common.text import one_line, reveal
from local_agent.approval.dialogs import change_words, window_words, words
from local_agent.approval.dialogs.change_part import left_out, undo_part
from local_agent.approval.dialogs.command_part import command_part
from local_agent.approval.dialogs.frame import checked, consequences, title_of, who
from local_agent.approval.dialogs.layout import ENDLESS, Layout, Styled
from local_agent.approval.dialogs.question import Question
from local_agent.approval.dialogs.release_part import release_part
from local_agent.approval.dialogs.said_part import said_part
from local_agent.approval.dialogs.sync_part import sync_part

MAX_MARKS: Final = 6  # flags named at the side; the others stand in the diff, set off

# What weighs most comes first: the side may be longer than the screen.
_FIRST: Final = (words.WHY, words.UNDO)
_ELSEWHERE: Final = (*_FIRST, words.CHECKED)  # that one stands at the top
_OF_FILES: Final = (change_words.CHANGES, change_words.DIFF)
_SYNC_ASIDE: Final = (change_words.BRANCH, change_words.STANDING, change_words.GIT)
_EFFECTS: Final = {"read-only": "", "local-write": "bold", "remote-write": "red"}

# Outside the basic plane: old releases of Tk and of its font library end on some of them.
_ASTRAL: Final = re.compile("[\U00010000-\U0001ffff\U00040000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Row:
    """A label and its values, as in the terminal."""

    label: str
    values: tuple[Styled, ...]


@dataclass(frozen=True, slots=True)
class Lines:
    """Text to the character, line by line, each under its number."""

    parts: tuple[str, ...]
    first: int


class Sheet(Layout):
    """A layout that keeps what it is given."""

    def __init__(self, lang: Lang) -> None:
        super().__init__(lang, 0, Ink(on=False))
        self.kept: list[Row | Lines] = []

    def row(
        self, label: Sentence, values: Sequence[Styled], *, whole: bool = False
    ) -> Iterator[str]:
        """Keep labelled values; nothing is set."""
        shown = tuple((style, drawable(value)) for style, value in values)
        self.kept.append(Row(self.say(label), shown))
        return iter(())

    def numbered(self, parts: Sequence[str], first: int) -> Iterator[str]:
        """Keep lines; nothing is set."""
        self.kept.append(Lines(tuple(drawable(part) for part in parts), first))
        return iter(())


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
        body: For the middle: the command, or the steps; empty for a change.
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
    body: tuple[Row | Lines, ...]
    files: tuple[Entry, ...]


def page_of(question: Question, lang: Lang) -> Page:
    """Return what the window says."""
    sheet = Sheet(lang)
    where = _kept(who(question, sheet), sheet)
    after = _kept(consequences(question, sheet), sheet)
    body, around = _of_action(question, sheet)
    why, undo = (_only(after, label, sheet) for label in _FIRST)
    asked = next(row for row in where if row.label == sheet.say(words.ASKED_BY))
    afar = bool(question.seal.source.gateway_key_id)
    return Page(
        title=title_of(question, sheet),
        verdict=_verdict(question, sheet),
        source=sheet.say(window_words.ASKED_AFAR if afar else window_words.ASKED_HERE),
        afar=afar,
        asked_by=asked.values[0][1],
        request=_request(question, sheet),
        place=_place(question, sheet),
        facts=(
            *(*why, *_flags(question.diff, sheet), *undo),
            *(*around, *_without(after, _ELSEWHERE, sheet)),
        ),
        body=tuple(body),
        files=tuple(_entries(question)),
    )


def code_missing(question: Question, typed: str) -> Sentence | None:
    """Return what to say of the code as it is typed so far; None once it is the one shown."""
    if question.accepts(typed):
        return None
    typed_whole = _signs(typed) >= _signs(question.code)
    return words.WRONG if typed_whole else window_words.TYPE_CODE


def drawable(text: str) -> str:
    """Return the text with everything in it visible, line ends kept, and nothing Tk ends on."""
    lines = text.split("\n")
    return without_astral("\n".join("".join(exact(line, width=ENDLESS)) for line in lines))


def without_astral(text: str) -> str:
    """Return the text with the characters marked that old releases of Tk end on."""
    return _ASTRAL.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)


def _signs(code: str) -> int:
    """Count the signs of a code, without its dash."""
    return sum(map(str.isalnum, code))


def _entries(question: Question) -> Iterator[Entry]:
    diffs = {file.path: file for file in question.diff.files} if question.diff else {}
    for change in question.changes:
        file = diffs.get(change.path)
        added, removed = (file.added, file.removed) if file else (None, None)
        yield Entry(change.path, change.op, added, removed)


def _all_kept(said: Iterator[str], sheet: Sheet) -> list[Row | Lines]:
    sheet.kept = []
    for _ in said:
        pass
    return sheet.kept


def _kept(said: Iterator[str], sheet: Sheet) -> list[Row]:
    return [row for row in _all_kept(said, sheet) if isinstance(row, Row)]


def _only(rows: Sequence[Row], label: Sentence, sheet: Sheet) -> list[Row]:
    return [row for row in rows if row.label == sheet.say(label)]


def _without(rows: Sequence[Row], labels: Sequence[Sentence], sheet: Sheet) -> list[Row]:
    left_out = {sheet.say(label) for label in labels}
    return [row for row in rows if row.label not in left_out]


def _verdict(question: Question, sheet: Sheet) -> tuple[str, str] | None:
    if question.check is None:
        return None
    mark, style, said = checked(question.check, sheet)
    return style, drawable(sheet.say(words.CHECK_MARKED, mark=mark, said=said))


def _request(question: Question, sheet: Sheet) -> str:
    """Return what was asked; of a later version what is to be different, and what it began with."""
    revision = question.revision
    if revision is None:
        return drawable(question.text)
    facts = {"version": revision.version, "task": revision.task, "wish": revision.wish}
    wish = sheet.say(words.VERSION_WISH, **facts) if revision.wish else question.text
    first = sheet.say(words.FIRST_REQUEST, request=revision.first)
    return drawable(f"{wish}\n{first}")


def _place(question: Question, sheet: Sheet) -> str:
    seal = question.seal
    parts = [seal.short_id]
    if revision := question.revision:
        facts = {"version": revision.version, "task": revision.task}
        parts.append(sheet.say(words.VERSION_OF, **facts))
    parts += [question.workspace, reveal(seal.workspace.path)]
    if seal.git_head:
        parts.append(sheet.say(words.AT_COMMIT, commit=seal.git_head[:12]))
    return drawable("  ·  ".join(filter(None, parts)))


def _of_action(
    question: Question, sheet: Sheet
) -> tuple[Sequence[Row | Lines], Sequence[Row | Lines]]:
    """Return what stands in the middle, and what stands at the side."""
    # Files and diff have panes of their own.
    bare = replace(question, diff=None)
    match question.seal.action:
        case "run_command":
            kept = _all_kept(command_part(bare, sheet), sheet)
            cut = 1 + next(at for at, row in enumerate(kept) if isinstance(row, Lines))
            return kept[:cut], kept[cut:]
        case "git_sync":
            rows = _without(_kept(sync_part(bare, sheet), sheet), _OF_FILES, sheet)
            aside = {sheet.say(label) for label in _SYNC_ASIDE}
            where = [row for row in rows if row.label not in aside]
            side = [row for row in rows if row.label in aside]
            return (*where, _steps(question, sheet)), side
        case "disclose":
            kept = _all_kept(release_part(bare, sheet), sheet)
            return kept[-2:], kept[:-2]  # the answer under its label, and what is said of it
        case "undo":
            rows = _without(_kept(undo_part(bare, sheet), sheet), _OF_FILES, sheet)
            return (), (*rows, _whole(question, sheet))
    return (), (_whole(question, sheet), *_kept(said_part(bare, sheet), sheet))


def _whole(question: Question, sheet: Sheet) -> Row:
    diff = question.diff or DiffModel(())
    count = sheet.say(
        change_words.CHANGES_ARE,
        count=len(question.changes),
        added=diff.added,
        removed=diff.removed,
    )
    only = sheet.say(change_words.CHANGES_ONLY)
    left = question.left_out
    told = drawable(left_out(question, left, sheet.lang)) if left is not None else ""
    part = (("bold", told),) if told else ()
    return Row(sheet.say(change_words.CHANGES), (("", count), ("", only), *part))


def _steps(question: Question, sheet: Sheet) -> Row:
    payload = question.seal.payload
    branch = drawable(payload["branch"])
    values = []
    for number, step in enumerate(payload["steps"], start=1):
        said = sheet.say(change_words.STEP_NAMES[step["name"]], branch=branch)
        effect = sheet.say(change_words.EFFECTS[step["effect"]])
        values.append((_EFFECTS[step["effect"]], f"{number}. {effect}  ·  {said}"))
    return Row(sheet.say(change_words.STEPS), tuple(values))


def _flags(diff: DiffModel | None, sheet: Sheet) -> list[Row]:
    found = marks(diff) if diff else ()
    if not found:
        return []
    values = [("red", f"• {_flag(mark, sheet)}") for mark in found[:MAX_MARKS]]
    if len(found) > MAX_MARKS:
        more = sheet.say(window_words.FLAG_MORE, count=len(found) - MAX_MARKS)
        values.append(("red", more))
    return [Row(sheet.say(window_words.FLAGS), tuple(values))]


def _flag(mark: Mark, sheet: Sheet) -> str:
    sentence = change_words.MARKS.get(mark.code)
    what = sheet.say(sentence) if sentence else mark.code
    path = drawable(one_line(mark.path, 400))
    return say(window_words.FLAG_AT, sheet.lang, path=path, line=mark.line, what=what)
