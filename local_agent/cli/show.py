"""``codexbridge show``: a task, and everything that would be done if it were approved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from common.clock import SystemClock
from common.home import Home, find_home
from common.sentences import Lang, Sentence, say
from common.text import reveal
from local_agent.cli import change_words, disclosure_words, proposal_words, words
from local_agent.cli.ending import file_lines, headline, output_lines
from local_agent.cli.screen import Screen, print_json, screen_for
from local_agent.cli.tasks import asker, date_and_time, state_of
from local_agent.faces.control.client import call, stream

if TYPE_CHECKING:
    import argparse

    from local_agent.views.codec import Json
    from local_agent.views.question import ApprovalView
    from local_agent.views.task import ShownTask


_ALL: Final = 1000  # more names than are ever kept
_LABEL_CELLS: Final = 12


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("show", description=say(words.SHOW, lang))
    parser.add_argument("task", metavar="T-…", help=say(words.TASK_ID, lang))
    parser.add_argument("--log", action="store_true", help=say(words.SHOW_LOG, lang))
    parser.add_argument("--json", action="store_true", help=say(words.JSON, lang))


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Show it, or print the output of its command.

    Raises:
        StateError: ``log.none``: no output is kept.
    """
    from common.ids import parse_short_id
    from local_agent.views.codec import from_json
    from local_agent.views.question import Shown

    home, short_id = find_home(environ), parse_short_id(args.task)
    if args.log:
        _print_log(stream(home, environ, "log", task=short_id), short_id, as_json=args.json)
        return 0
    found = call(home, environ, "show", task=short_id)
    screen = screen_for(lang, environ)
    if args.json:
        print_json(found)
        return 0
    shown = from_json(Shown, found)
    if shown.approval is not None and shown.approval.state == "pending":
        _print_question(shown.approval, screen, home, environ)
        _print_facts(shown.task, screen)
    else:
        _print_task(shown.task, screen)
    return 0


def _print_question(
    approval: ApprovalView, screen: Screen, home: Home, environ: Mapping[str, str]
) -> None:
    from local_agent.cli.diffs import read_asked
    from local_agent.faces.terminal.page import render

    question = read_asked(home, environ, approval)
    now_ms = SystemClock().now().wall_ms
    page = render(question, lang=screen.lang, width=screen.width, ink=screen.ink, now_ms=now_ms)
    print("\n".join(page))
    screen.tell(words.WAITS, task=question.seal.short_id)


def _print_facts(task: ShownTask, screen: Screen) -> None:
    """Print which version it is, which model worked on it, what that used and was shown."""
    from local_agent.cli.card import fact_lines, tell_lineage

    tell_lineage(screen, task)
    for line in fact_lines(screen, task):
        print(line)


def _print_task(task: ShownTask, screen: Screen) -> None:
    from local_agent.cli.ending import changed_lines, mixed_lines

    rows = [
        (words.TASK, [screen.ink("bold", task.short_id)]),
        (words.STATE, [state_of(screen, task)]),
        (words.WHEN, [_when(screen, task)]),
        (words.RETRY_OF, [task.retry_of_short_id] if task.retry_of_short_id else []),
        (words.ASKED_BY, [asker(screen, task)]),
        (words.REQUEST, screen.quote(task.text, 12)),
    ]
    if task.workspace:
        rows.append((words.WORKSPACE_LABEL, screen.quote(task.workspace, 12)))
    rows += [
        *_proposal_rows(screen, task),
        (words.OUTPUT, list(output_lines(screen, task))),
        (words.FILES_LABEL, list(file_lines(screen, task, most=_ALL))),
        (change_words.CHANGED, list(changed_lines(screen, task, most=_ALL))),
        (words.FILES_LABEL, list(mixed_lines(screen, task))),
    ]
    screen.fields([row for row in rows if row[1]])
    if task.rests:
        from local_agent.cli.card import steps_lines

        print("\n".join(steps_lines(screen, task)))


def _proposal_rows(screen: Screen, task: ShownTask) -> list[tuple[Sentence, list[str]]]:
    """Return what was proposed, by which model, and what came of it."""
    from local_agent.cli import card

    beside = replace(screen, width=screen.width - _LABEL_CELLS)
    told = [line for said in headline(screen, task) for line in beside.prose(said)]
    shown = card.shown_line(screen, task)
    asked = [
        (proposal_words.MODEL, card.turn_lines(screen, task)),
        (proposal_words.SHOWN_LABEL, beside.prose(shown) if shown else []),
    ]
    if not card.has_words(task):
        kept = (disclosure_words.HERE_ALONE, _kept_here(screen, task))
        return [*asked, (words.SUMMARY, told), kept]
    # Nothing was left out for the chat, or there is none: the model's words are told once.
    whole = task.source == "local_ui" or task.details == task.summary
    return [
        (proposal_words.VERSION_LABEL, _lineage(screen, task)),
        *asked,
        (proposal_words.PROPOSED, list(card.own_lines(beside, task))),
        (words.SUMMARY, [] if task.answered and whole else told),
        (
            proposal_words.SAID if whole else disclosure_words.HERE_ALONE,
            list(card.model_lines(beside, task)),
        ),
    ]


def _lineage(screen: Screen, task: ShownTask) -> list[str]:
    if not task.revises:
        return []
    facts = {"version": task.version, "task": task.revises}
    return [screen.say(proposal_words.VERSION, **facts)]


def _kept_here(screen: Screen, task: ShownTask) -> list[str]:
    """Return all that an answer says, where the chat was told less of it or nothing."""
    details = task.details or ""
    return [] if details in ("", task.summary) else reveal(details).split("\n")


def _when(screen: Screen, task: ShownTask) -> str:
    asked = date_and_time(task.created_at)
    if not task.reason:
        return asked
    return screen.say(words.WHEN_ENDED, asked=asked, ended=date_and_time(task.updated_at))


def _print_log(steps: Iterator[tuple[str, Json]], short_id: str, *, as_json: bool) -> None:
    import base64

    pieces = [base64.b64decode(value["log"]) for kind, value in steps if kind == "event"]
    text = b"".join(pieces).decode("utf-8", "replace")
    if as_json:
        print_json({"task": short_id, "log": text})
    else:
        print(_readable(text))


def _readable(log: str) -> str:
    """Return all that was printed with nothing in it that a terminal would obey (R26)."""
    from common.text import strip_ansi

    # A line that was written over is shown as so many lines: nothing is left out.
    lines = strip_ansi(log).replace("\r\n", "\n").replace("\r", "\n")
    return reveal(lines.removesuffix("\n"))
