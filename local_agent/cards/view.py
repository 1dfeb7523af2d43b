"""What an approver sees of any question; what is particular to an action is in its card."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from common.seal import Undo
from common.sentences import LANGS, Lang, Sentence
from common.text import one_line
from local_agent.actions.card import Card, channel_name, machine_name, plain, text, value
from local_agent.actions.registry import ACTIONS
from local_agent.actions.steps.card import run_facts, step_fact
from local_agent.cards import words
from local_agent.reports.report import Report
from local_agent.reports.words import counted, from_facts, verdict
from local_agent.safety.backups import KEPT_DAYS
from local_agent.safety.dry_run import reaches_beyond
from local_agent.safety.risk_words import RISK
from local_agent.views.question import (
    Check,
    Fact,
    FactKind,
    Part,
    Question,
    QuestionView,
    Text,
    Tone,
    Verdict,
)
from local_agent.words import render_duration
from local_agent.workspace.registry import is_copy

LABELS: Final[Mapping[FactKind, Sentence]] = {
    kind: label for row in ACTIONS.values() for kind, label in row.card.labels.items()
}
_UNDO: Final[Mapping[Undo, Sentence]] = {
    "no": words.UNDO_NO,
    "partly": words.UNDO_PARTLY,
    "yes": words.UNDO_YES,
}
_MARKS: Final[Mapping[str, tuple[str, Tone]]] = {
    "passed": ("✓", "good"),
    "failed": ("✗", "danger"),
    "doubted": ("⚠", "danger"),
}
# What ran chooses its names: without blanks none of them is a sentence (R26).
_NAME: Final = re.compile(r"[\w./:\[\]-]{1,100}", re.ASCII)


def view_of(question: Question) -> QuestionView:
    """Return everything that a person must see of a question."""
    seal, told = question.seal, question.told
    card = ACTIONS[seal.action].card
    checks = "copy" in seal.payload
    copies = checks or _is_held(question)
    return QuestionView(
        action=seal.action,
        short_id=seal.short_id,
        title=card.title(question),
        high_risk=question.high_risk,
        code=question.code,
        expires_at=seal.expires_at,
        machine=machine_name(question),
        workspace=told.workspace,
        place=seal.workspace.path,
        commit=seal.git_head,
        afar=bool(seal.source.gateway_key_id),
        asked_by=_asked_by(question, checks=checks),
        request=told.text,
        revision=told.revision,
        parts=tuple(map(tuple, _sections(question, card))),
        check=_checked(told.check) if told.check is not None else None,
        afterwards=_afterwards(question, card),
        undo=_undo(question, card, copies=copies),
        lasts=seal.undo == "no" and not copies,
        reasons=tuple(_risk(code) for code in told.reasons),
    )


def _sections(question: Question, card: Card) -> Iterator[Sequence[Part]]:
    """Give what would be done; of several steps each with its heading and its own card."""
    if run := [*run_facts(question), *_dry_run(question)]:
        yield run
    yield from card.parts(question)
    for number, part in enumerate(question.parts):
        row = ACTIONS[part.seal.action]
        undo = value(text(words.UNDO_YES)) if row.undoable else value(text(words.UNDO_NO), "strong")
        yield [step_fact(question, number, undo)]
        yield from row.card.parts(part)


def _dry_run(question: Question) -> Iterator[Part]:
    """Give that a copy of the workspace alone is touched, where a dry run asks."""
    if _is_held(question):
        yield Fact("dry-run", (value(text(words.ONLY_COPY), "good"),))
    elif is_copy(question.told.workspace):
        yield Fact("dry-run", (value(text(words.BEYOND_COPY), "danger"),))


def _is_held(question: Question) -> bool:
    """Tell whether a dry run asks, and all of it stays within its copy."""
    parts = question.parts or (question,)
    return is_copy(question.told.workspace) and not any(reaches_beyond(one.seal) for one in parts)


def _asked_by(question: Question, *, checks: bool) -> Text:
    source = question.seal.source
    if not source.gateway_key_id:
        return text(words.ASKED_CHECK if checks else words.ASKED_HERE)
    return text(
        words.ASKED_CHAT,
        user=one_line(source.claimed_user, 128),
        channel=channel_name(source.channel),
        key=source.gateway_key_id,
    )


def _undo(question: Question, card: Card, *, copies: bool) -> Text:
    """Return whether and how it can be taken back (P5)."""
    seal = question.seal
    if seal.action == "steps" and not question.parts:
        return text(words.UNDO_COPY)
    own = words.UNDO_COPY if copies else card.undo.get(seal.undo)
    if is_copy(question.told.workspace) and not copies:
        own = words.UNDO_NO  # an undo is of the workspace's own files, never of a copy's
    return text(own or _UNDO[seal.undo], task=seal.short_id, days=KEPT_DAYS)


def _afterwards(question: Question, card: Card) -> Text:
    """Return what goes to the chat afterwards."""
    seal = question.seal
    if not seal.discloses:
        return text(words.NOTHING_TO_CHAT)
    known = {**words.DISCLOSES, **card.discloses}
    named = [text(known.get(name, words.DISCLOSES_OTHER), name=name) for name in seal.discloses]
    return Text("; ".join(one.en for one in named), "；".join(one.zh for one in named))


def _checked(check: Check) -> Verdict:
    """Return how the check of a change stands or ended."""
    task = one_line(check.task, 32)
    if check.report is not None and check.exit_code is not None:
        report = from_facts(check.report)
        said = text(words.CHECK_READ, verdict=_reported(report), task=task)
        state = "failed" if check.exit_code else "passed" if report.exit_code is None else "doubted"
        return Verdict(*_MARKS[state], said)
    mark, tone = _MARKS.get(check.state, ("•", "plain"))
    sentence = words.CHECKS.get(check.state, words.CHECK_ENDED)
    if check.state == "failed" and check.exit_code is None:
        sentence = words.CHECK_ENDED
    lasted = Text(*(render_duration(check.duration_ms or 0, lang) for lang in LANGS))
    said = text(sentence, task=task, exit_code=check.exit_code, duration=lasted)
    return Verdict(mark, tone, said)


def _reported(report: Report) -> Text:
    """Return the counts, and the name of the test where one alone failed."""
    names = [word for one in report.failures for word in (one.name, one.place) if word]
    named = report.kind == "tests" and all(map(_NAME.fullmatch, names))

    def said(lang: Lang) -> str:
        return verdict(replace(report, note=None), lang) if named else counted(report, lang)

    return Text(*map(said, LANGS))


def _risk(code: str) -> Text:
    sentence = RISK.get(code)
    return text(sentence) if sentence else plain(code)
