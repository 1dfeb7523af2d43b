"""What stands on the page of every approval: what is asked, by whom, what follows, its code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from common.sentences import Sentence
from common.terminal import cells, clip_cells
from common.text import one_line
from local_agent.cards import words
from local_agent.cards.duration import time_left
from local_agent.cards.question import Check, Question
from local_agent.faces.terminal.layout import Layout, Styled
from local_agent.replies import RISK, render_duration
from local_agent.report_texts import counted, from_facts, verdict
from local_agent.reports.report import Report
from local_agent.safety.backups import KEPT_DAYS

_MARKS: Final = {"passed": ("✓", "green"), "failed": ("✗", "red")}
# What ran chooses its names: without blanks none of them is a sentence (R26).
_NAME: Final = re.compile(r"[\w./:\[\]-]{1,100}", re.ASCII)


def heading(question: Question, layout: Layout) -> Iterator[str]:
    """Give the title with the risk beside it."""
    risk = layout.say(words.HIGH if question.high_risk else words.NORMAL)
    styled = layout.ink("alarm" if question.high_risk else "dim", f" {risk} ")
    title = f"{question.seal.short_id}  {title_of(question, layout)}"
    title = clip_cells(title, layout.width - cells(risk) - 4)
    filling = " " * (layout.width - cells(title) - cells(risk) - 2)
    yield layout.ink("bold", title) + filling + styled
    yield layout.ink("dim", "─" * layout.width)


def title_of(question: Question, layout: Layout) -> str:
    """Return what is asked, in one line."""
    payload = question.seal.payload
    if copied := payload.get("copy"):
        task = one_line(copied["short_id"], 32)
        return layout.say(words.TITLE_CHECK, task=task, machine=_machine(question))
    commits = question.seal.action == "git_sync" and payload["commit"] is not None
    title = words.TITLE_COMMIT if commits else words.TITLES[question.seal.action]
    undone = payload["undoes"]["short_id"] if question.seal.action == "undo" else ""
    return layout.say(title, machine=_machine(question), undone=undone)


def who(question: Question, layout: Layout) -> Iterator[str]:
    """Give where it would be done, and who is said to have asked."""
    yield from layout.row(words.MACHINE, [("bold", _machine(question))])
    yield from layout.row(words.WORKSPACE, _workspace(question, layout), whole=True)
    yield from layout.row(words.ASKED_BY, [("", _asked_by(question, layout))])
    if question.text:
        yield from layout.row(words.REQUEST, [("", question.text)], whole=True)
    if revision := question.revision:
        is_of = layout.say(words.VERSION_OF, version=revision.version, task=revision.task)
        first = layout.say(words.FIRST_REQUEST, request=revision.first)
        yield from layout.row(words.VERSION, [("bold", is_of), ("", first)], whole=True)


def consequences(question: Question, layout: Layout) -> Iterator[str]:
    """Give how its check went, what the chat is told, whether it can be undone, and the risk."""
    if question.check is not None:
        mark, style, said = checked(question.check, layout)
        yield from layout.row(words.CHECKED, [(style, f"{mark} {said}")])
    yield from layout.row(words.AFTERWARDS, [("", discloses(question, layout))])
    lasts = question.seal.undo == "no" and "copy" not in question.seal.payload
    style = "bold" if lasts else ""
    yield from layout.row(words.UNDO, [(style, undo_statement(question, layout))])
    reasons = [_risk(code, layout) for code in question.reasons]
    if reasons:
        style = "red" if question.high_risk else ""
        yield from layout.row(words.WHY, [(style, f"• {reason}") for reason in reasons])


def fingerprint(question: Question, layout: Layout, now_ms: int) -> Iterator[str]:
    """Give the seal code and how long it can be used."""
    left = time_left(question.seal.expires_at, now_ms, layout.lang)
    # The blank before the code belongs to its mark: the code stands below the other values.
    label, code = layout.label(words.CODE)[:-1], layout.ink("mark", f" {question.code} ")
    yield f"{layout.ink('dim', label)}{code}   {layout.ink('dim', left)}"


def undo_statement(question: Question, layout: Layout) -> str:
    """Return whether and how it can be taken back (P5)."""
    seal = question.seal
    sentence: Sentence
    if "copy" in seal.payload:
        sentence = words.UNDO_COPY
    elif seal.undo == "no":
        sentence = words.UNDO_NO.get(seal.action, words.UNDO_NO_OTHER)
    elif seal.undo == "partly":
        sentence = words.UNDO_PARTLY
    else:
        sentence = words.UNDO_YES.get(seal.action, words.UNDO_YES_OTHER)
    return layout.say(sentence, task=seal.short_id, days=KEPT_DAYS)


def discloses(question: Question, layout: Layout) -> str:
    """Return what goes to the chat afterwards."""
    seal = question.seal
    if not seal.discloses:
        return layout.say(words.NOTHING_TO_CHAT)
    known = dict(words.DISCLOSES)
    if seal.action == "run_command":
        known["outcome"] = words.OUTCOME_OF_COMMAND
    named = [
        layout.say(known.get(name, words.DISCLOSES_OTHER), name=name) for name in seal.discloses
    ]
    return ("；" if layout.lang == "zh" else "; ").join(named)


def _machine(question: Question) -> str:
    return one_line(question.machine, 64)


def _workspace(question: Question, layout: Layout) -> list[Styled]:
    name = question.workspace
    rows: list[Styled] = [("bold", name)] if name else []
    rows.append(("", question.seal.workspace.path))
    if head := question.seal.git_head:
        rows.append(("dim", layout.say(words.AT_COMMIT, commit=head[:12])))
    return rows


def _asked_by(question: Question, layout: Layout) -> str:
    source = question.seal.source
    if not source.gateway_key_id:
        checks = "copy" in question.seal.payload
        return layout.say(words.ASKED_CHECK if checks else words.ASKED_HERE)
    channel = words.CHANNELS.get(source.channel)
    return layout.say(
        words.ASKED_CHAT,
        user=one_line(source.claimed_user, 128),
        channel=layout.say(channel) if channel else one_line(source.channel, 32),
        key=source.gateway_key_id,
    )


def checked(check: Check, layout: Layout) -> tuple[str, str, str]:
    """Return mark, style and sentence of how the check of a change stands or ended."""
    task = one_line(check.task, 32)
    if check.report is not None and check.exit_code is not None:
        reported = _reported(from_facts(check.report), layout)
        said = layout.say(words.CHECK_READ, verdict=reported, task=task)
        return ("✓", "green", said) if check.exit_code == 0 else ("✗", "red", said)
    mark, style = _MARKS.get(check.state, ("•", ""))
    sentence = words.CHECKS.get(check.state, words.CHECK_ENDED)
    if check.state == "failed" and check.exit_code is None:
        sentence = words.CHECK_ENDED
    said = layout.say(
        sentence,
        task=task,
        exit_code=check.exit_code,
        duration=render_duration(check.duration_ms or 0, layout.lang),
    )
    return mark, style, said


def _reported(report: Report, layout: Layout) -> str:
    """Return the counts, and the name of the test where one alone failed."""
    names = [word for one in report.failures for word in (one.name, one.place) if word]
    if report.kind == "tests" and all(map(_NAME.fullmatch, names)):
        return verdict(replace(report, note=None), layout.lang)
    return counted(report, layout.lang)


def _risk(code: str, layout: Layout) -> str:
    sentence = RISK.get(code)
    return layout.say(sentence) if sentence else code
