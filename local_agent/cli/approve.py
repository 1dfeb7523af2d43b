"""``codexbridge approve``: show everything that would be done, ask for its code, follow it.

The one way of this module to say yes is a person at a terminal typing the code of what is on the
screen.  The agent checks the same code again, and the digest it belongs to (R23).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from common.clock import SystemClock
from common.errors import StateError
from common.home import Home, find_home
from common.sentences import Lang, say
from local_agent.cli import change_words, words
from local_agent.cli.choose import pending_in, waiting_approval
from local_agent.cli.follow import EXIT_INTERRUPTED, follow
from local_agent.cli.screen import screen_for
from local_agent.faces.control.client import call, stream

if TYPE_CHECKING:
    import argparse

    from local_agent.faces.terminal.tty import Terminal
    from local_agent.views.codec import Json
    from local_agent.views.question import ApprovalView, Question

EXIT_NO_DECISION = 1


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments.  There is none that answers the question."""
    parser = subparsers.add_parser("approve", description=say(words.APPROVE, lang))
    parser.add_argument("task", metavar="T-…", nargs="?", help=say(words.TASK_ID_OR_ONLY, lang))
    parser.add_argument(
        "--only",
        metavar="PATH",
        nargs="+",
        action="extend",
        default=[],
        help=say(change_words.APPROVE_ONLY, lang),
    )
    parser.add_argument("--check", action="store_true", help=say(change_words.APPROVE_CHECK, lang))


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Show, ask, tell the agent what was decided, and follow the run.

    Raises:
        InputError: ``approve.no-terminal``, ``approval.narrow``, and what `waiting_approval`
            raises.
        StateError: nothing can be approved now, or the approval ended meanwhile.
    """
    from local_agent.faces.terminal.tty import open_terminal

    home, screen = find_home(environ), screen_for(lang, environ)
    approval = waiting_approval(home, environ, screen, args.task, op="refresh")
    terminal = open_terminal(sys.stdin, environ)

    def following(task: str) -> int:
        return follow(stream(home, environ, "follow", task=task), screen, task=task)

    try:
        if approval is None:
            screen.tell(words.NONE_WAITS)
            return EXIT_NO_DECISION
        if args.only:
            approval = pending_in(_narrowed(home, environ, approval, args.only), screen)
        if args.check:
            tried = pending_in(_checked(home, environ, approval), screen)
            code = _approved(home, environ, tried, terminal, lang)
            if code or following(tried.short_id) == EXIT_INTERRUPTED:
                return code or EXIT_INTERRUPTED
            again = call(home, environ, "refresh", task=approval.short_id)
            approval = pending_in(again, screen)
        if code := _approved(home, environ, approval, terminal, lang):
            return code
    finally:
        terminal.close()
    return following(approval.short_id)


def _approved(
    home: Home,
    environ: Mapping[str, str],
    approval: ApprovalView,
    terminal: Terminal,
    lang: Lang,
) -> int:
    """Show an approval and ask for its code; 0 when it was approved, else the exit code."""
    from local_agent.cli.diffs import read_asked

    if why := approval.blocked:
        raise _blocked(why, lang)
    question = read_asked(home, environ, approval)
    typed, code = _typed(question, terminal, lang)
    if typed is None:
        return code
    _decide(home, environ, question, typed, lang)
    terminal.write(say(words.APPROVED, lang, task=question.seal.short_id) + "\n")
    return 0


def _checked(home: Home, environ: Mapping[str, str], approval: ApprovalView) -> Json:
    """Have a change tried out on a copy: that has an approval of its own."""
    named = {"approval_id": approval.approval_id, "digest": approval.digest}
    return call(home, environ, "check", **named)


def _narrowed(
    home: Home, environ: Mapping[str, str], approval: ApprovalView, only: Sequence[str]
) -> Json:
    """Have some of the files asked for alone: it is sealed anew, and has another code."""
    return call(
        home,
        environ,
        "narrow",
        approval_id=approval.approval_id,
        digest=approval.digest,
        keep=list(only),
    )


def _decide(
    home: Home, environ: Mapping[str, str], question: Question, typed: str, lang: Lang
) -> None:
    try:
        call(
            home,
            environ,
            "decide",
            approval_id=question.seal.approval_id,
            digest=question.digest,
            decision="approve",
            typed=typed,
            reason="",
        )
    except StateError as error:
        if error.code == "approval.blocked":
            raise _blocked(str(error.facts.get("why")), lang) from None
        raise


def _blocked(why: str, lang: Lang) -> StateError:
    from local_agent.replies import BLOCKED

    known = BLOCKED.get(why)
    return StateError("approval.blocked", why=say(known, lang) if known else why)


def _typed(question: Question, terminal: Terminal, lang: Lang) -> tuple[str | None, int]:
    from local_agent.cards.words import time_left
    from local_agent.faces.terminal.page import ask, present

    clock = SystemClock()
    try:
        read = present(question, terminal, lang=lang, now_ms=clock.now().wall_ms)
        typed = ask(question, terminal, lang=lang) if read else None
        code = EXIT_NO_DECISION
    except KeyboardInterrupt:
        terminal.write("\n")
        typed, code = None, EXIT_INTERRUPTED
    if typed is None:
        left = time_left(question.seal.expires_at, clock.now().wall_ms, lang)
        said = say(words.NO_DECISION, lang, task=question.seal.short_id, left=left)
        terminal.write(said + "\n")
    return typed, code
