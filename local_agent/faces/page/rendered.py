"""Questions and diffs as the page reads them: the views of every face, as JSON with both languages.

The question is read from the sealed bytes here as any dialog reads it (`local_agent.cards`), and
refused where what was told disagrees with them.  A browser would draw what is hidden in a text, or
turn it round: whatever others wrote goes through `revealed` before it is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final, TypeVar

from common.diff.model import DiffModel, FileDiff
from common.diff.pairing import Pair, Side, paired
from common.diff.view import marks
from common.sentences import Sentence
from common.text import reveal, reveal_all
from local_agent.actions.registry import ACTIONS
from local_agent.cards import words
from local_agent.cards.question import read_question
from local_agent.cards.view import LABELS, view_of
from local_agent.views import to_json
from local_agent.views.page import PageFile, PageMark, PageQuestion
from local_agent.views.question import (
    ApprovalView,
    ChangedFile,
    Diff,
    Fact,
    Files,
    Lines,
    Part,
    Steps,
    Text,
)

MAX_ROWS: Final = 4_000  # of a file at a time
MAX_LINE: Final = 2_000  # characters; more is counted
_LAID_OUT: Final = re.compile("[^\t\n]+")  # what is drawn; a tab and a line end lay it out
Json = dict[str, Any]
_T = TypeVar("_T")


class Asked:
    """A question with its diffs, ready to be shown."""

    def __init__(self, told: ApprovalView, diff: bytes | None) -> None:
        """Read it.

        Raises:
            AuthError: ``approval.digest-mismatch``.
            RemoteProtocolError: the seal cannot be read.
        """
        self._view = view_of(read_question(told, diff=diff))

    def question(self) -> PageQuestion:
        """Return everything that a person must see of it, but its files."""
        view = self._view
        same = {field.name for field in fields(PageQuestion)} & {one.name for one in fields(view)}
        told = PageQuestion(
            **{name: getattr(view, name) for name in same - {"parts"}},
            parts=tuple(tuple(map(_part, section)) for section in view.parts),
            approve=_text(ACTIONS[view.action].card.approve),
        )
        return revealed(told)

    def files(self) -> tuple[PageFile, ...]:
        """Return the files that change, without their lines."""
        return tuple(map(_changed, self._changed()))

    def diffs(self) -> tuple[FileDiff | None, ...]:
        """Return the diff of each of these files; None where it is no text."""
        return tuple(file.diff for file in self._changed())

    def _changed(self) -> Iterator[ChangedFile]:
        for section in self._view.parts:
            for part in section:
                if isinstance(part, Files):
                    yield from part.files


def proposed_files(model: DiffModel) -> tuple[PageFile, ...]:
    """Return the files of a change that nobody is asked about yet."""
    return tuple(
        _changed(
            ChangedFile(
                path=file.path,
                op=file.op,
                old_path=file.old_path if file.op in ("rename", "copy") else None,
                diff=file,
                notes=(),
                marks=marks(DiffModel((file,))),
            )
        )
        for file in model.files
    )


def revealed(told: _T) -> _T:
    """Return a view, or what is in one, with every hidden character in its texts made visible."""
    found: Any = told
    match told:
        case str():
            found = reveal(told)
        case tuple() | list():
            found = type(told)(map(revealed, told))
        case Mapping():
            found = {name: revealed(value) for name, value in told.items()}
        case _ if is_dataclass(told) and not isinstance(told, type):
            values = {field.name: getattr(told, field.name) for field in fields(told)}
            found = replace(told, **{name: revealed(value) for name, value in values.items()})
    return found  # type: ignore[no-any-return]  # of the type that it was


def file_rows(file: FileDiff, *, first: int) -> Json:
    """Return rows of one file, old beside new, from a row on; ``more`` counts those that follow."""
    rows = [_row(pair) for pair in paired(file)]
    return {
        "first": first,
        "rows": rows[first : first + MAX_ROWS],
        "more": max(len(rows) - first - MAX_ROWS, 0),
    }


def _text(sentence: Sentence) -> Text:
    return Text(sentence.en, sentence.zh)


def _part(part: Part) -> Json:
    match part:
        case Fact():
            return {"type": "fact", "label": to_json(_text(LABELS[part.kind])), **to_json(part)}
        case Lines():
            # To the character: odd blanks are made visible as well.  A script has lines.
            shown = (_LAID_OUT.sub(lambda found: reveal_all(found[0]), one) for one in part.parts)
            return {"type": "lines", **to_json(part), "parts": tuple(shown)}
        case Steps():
            return {"type": "steps", **to_json(part)}
        case Diff():
            said = words.DIFF_WHOLE if part.whole else words.DIFF_TEXT
            return {"type": "diff", "whole": part.whole, "said": to_json(_text(said))}
    told = {name: getattr(part, name) for name in ("count", "only", "left_out")}
    return {"type": "files", **{name: text and to_json(text) for name, text in told.items()}}


def _changed(file: ChangedFile) -> PageFile:
    diff = file.diff
    return PageFile(
        path=file.path,
        op=file.op,
        old_path=file.old_path,
        is_text=diff is not None,
        added=diff.added if diff else 0,
        removed=diff.removed if diff else 0,
        rows=sum(len(hunk.lines) + 1 for hunk in diff.hunks) if diff else 0,
        hunks=len(diff.hunks) if diff else 0,
        notes=file.notes,
        marks=tuple(PageMark(one.line, _text(words.MARKS[one.code])) for one in file.marks),
    )


def _row(pair: Pair) -> Json:
    told: Json = {"kind": pair.kind}
    if pair.kind == "hunk":
        return told | {"section": pair.section, "first": list(pair.starts)}
    if pair.old is not None:
        told["old"] = _side(pair.old)
    if pair.new is not None:
        told["new"] = _side(pair.new)
    return told


def _side(side: Side) -> list[Any]:
    kept = [list(mark) for mark in side.marks if mark[0] < MAX_LINE]
    return [side.number, side.text[:MAX_LINE], kept, max(len(side.text) - MAX_LINE, 0)]
