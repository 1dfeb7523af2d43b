"""``codexbridge approve`` and ``reject``: decide what waits.

`approve` shows everything that would be done, asks for its code and follows it.  Its one way to say
yes is a person at a terminal typing the code of what is on the screen.  The agent checks the same
code again, and the digest it belongs to (R23).  Rejecting needs no code: it can do no harm.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from common.clock import SystemClock
from common.errors import InputError, StateError
from common.home import Home, find_home
from common.ids import parse_short_id
from common.sentences import Lang, Sentence, say
from common.text import one_line
from local_agent.cli import words
from local_agent.cli.ask import EXIT_INTERRUPTED, follow
from local_agent.cli.ending import headline
from local_agent.cli.screen import Screen, at_keyboard, read_answer, screen_for
from local_agent.cli.tasks import print_tasks
from local_agent.faces.control.client import call, read_asked, stream
from local_agent.views import Json, from_json

if TYPE_CHECKING:
    import argparse

    from local_agent.faces.terminal.tty import Terminal
    from local_agent.views.question import ApprovalView, Question

APPROVE: Final = Sentence(
    en="Show everything that would be done, then ask for its code on this terminal. Only a person "
    "can approve: standard input must be a terminal, and there is no option that answers for you. "
    "Enter alone, Ctrl-D or Ctrl-C decides nothing. Afterwards the run is followed; Ctrl-C then "
    "only stops watching.",
    zh="显示将要执行的全部内容，然后在本终端询问其确认码。只有人能批准：标准输入必须是终端，没有任何"
    "选项可以代答。直接回车、Ctrl-D 或 Ctrl-C 都不作决定。批准后会显示运行过程，此时 Ctrl-C 只是"
    "停止查看。",
)
REJECT: Final = Sentence(
    en="Reject what waits: nothing runs, and the chat is notified.",
    zh="拒绝等待中的请求；不会运行，并会通知聊天。",
)
REJECT_REASON: Final = Sentence(en="reason, shown in the chat", zh="告知聊天的原因")
TASK_ID_OR_ONLY: Final = Sentence(
    en="such as T-7K3F; without it, the only one that waits",
    zh="例如 T-7K3F；省略时为唯一等待中的那个",
)
NONE_WAITS: Final = Sentence(en="Nothing waits for approval.", zh="没有等待批准的请求。")
NO_DECISION: Final = Sentence(
    en="No decision. {task} stays waiting, {left}.", zh="未作决定。{task} 继续等待，{left}。"
)
APPROVED: Final = Sentence(en="Approved. {task} starts.", zh="已批准。{task} 开始执行。")
REJECT_ASK: Final = Sentence(
    en="{task}: {text}\nReject it? [y/N] ", zh="{task}：{text}\n拒绝它吗？[y/N] "
)
REJECTED: Final = Sentence(en="Rejected {task}.", zh="已拒绝 {task}。")
APPROVE_ONLY: Final = Sentence(
    en="accept these files of a change and leave the others; it is sealed and shown anew first",
    zh="只接受改动中的这些文件，其余放弃；会重新生成确认码并再次显示",
)
APPROVE_CHECK: Final = Sentence(
    en="first run the workspace's tests on a copy with the change in it; that is asked for and "
    "approved by itself, and then the change is shown again",
    zh="先在含该改动的副本上运行工作区的测试；这会单独请求批准，之后再次显示该改动",
)

EXIT_NO_DECISION = 1


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments.  There is none that answers the question."""
    parser = subparsers.add_parser("approve", description=say(APPROVE, lang))
    parser.set_defaults(run=approve)
    parser.add_argument("task", metavar="T-…", nargs="?", help=say(TASK_ID_OR_ONLY, lang))
    parser.add_argument(
        "--only",
        metavar="PATH",
        nargs="+",
        action="extend",
        default=[],
        help=say(APPROVE_ONLY, lang),
    )
    parser.add_argument("--check", action="store_true", help=say(APPROVE_CHECK, lang))
    parser = subparsers.add_parser("reject", description=say(REJECT, lang))
    parser.set_defaults(run=reject)
    parser.add_argument("task", metavar="T-…", nargs="?", help=say(TASK_ID_OR_ONLY, lang))
    parser.add_argument("--reason", metavar="TEXT", default="", help=say(REJECT_REASON, lang))


def approve(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
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
            screen.tell(NONE_WAITS)
            return EXIT_NO_DECISION
        if args.only:
            # What is kept is sealed anew, and has another code.
            named = {"approval_id": approval.approval_id, "digest": approval.digest}
            found = call(home, environ, "narrow", **named, keep=args.only)
            approval = pending_in(found, screen)
        if args.check:
            # Trying it out on a copy has an approval of its own.
            named = {"approval_id": approval.approval_id, "digest": approval.digest}
            tried = pending_in(call(home, environ, "check", **named), screen)
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


def decide_here(home: Home, environ: Mapping[str, str], short_id: str, lang: Lang) -> None:
    """Show what one task asks, and ask for its code on this terminal.

    Raises:
        InputError: ``approve.no-terminal``.
        StateError: nothing can be approved now, or the approval ended meanwhile.
    """
    from local_agent.faces.terminal.tty import open_terminal

    screen = screen_for(lang, environ)
    approval = waiting_approval(home, environ, screen, short_id, op="refresh")
    terminal = open_terminal(sys.stdin, environ)
    try:
        if approval is not None:
            _approved(home, environ, approval, terminal, lang)
    finally:
        terminal.close()


def _approved(
    home: Home,
    environ: Mapping[str, str],
    approval: ApprovalView,
    terminal: Terminal,
    lang: Lang,
) -> int:
    """Show an approval and ask for its code; 0 when it was approved, else the exit code."""
    if why := approval.blocked:
        raise _blocked(why, lang)
    question = read_asked(home, environ, approval)
    typed, code = _typed(question, terminal, lang)
    if typed is None:
        return code
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
    terminal.tell(say(APPROVED, lang, task=question.seal.short_id))
    return 0


def _blocked(why: str, lang: Lang) -> StateError:
    from local_agent.flow.words import BLOCKED

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
        terminal.tell(say(NO_DECISION, lang, task=question.seal.short_id, left=left))
    return typed, code


def reject(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Reject it; what was not named is shown, and asked about, first.

    Raises:
        InputError: ``reject.no-terminal``, and what `waiting_approval` raises.
        StateError: the approval ended meanwhile.
    """
    home, screen = find_home(environ), screen_for(lang, environ)
    approval = waiting_approval(home, environ, screen, args.task)
    if approval is None:
        screen.tell(NONE_WAITS)
        return EXIT_NO_DECISION
    if args.task is None and not _means(approval, screen):
        screen.tell(words.KEPT)
        return EXIT_NO_DECISION
    call(
        home,
        environ,
        "decide",
        approval_id=approval.approval_id,
        digest=approval.digest,
        decision="reject",
        typed="",
        reason=args.reason,
    )
    screen.tell(REJECTED, task=approval.short_id)
    return 0


def _means(approval: ApprovalView, screen: Screen) -> bool:
    if not at_keyboard():
        raise InputError("reject.no-terminal", task=approval.short_id)
    said = screen.say(REJECT_ASK, task=approval.short_id, text=one_line(approval.text, 400))
    return read_answer(said) in ("y", "yes", "是")


def waiting_approval(
    home: Home, environ: Mapping[str, str], screen: Screen, named: str | None, *, op: str = "show"
) -> ApprovalView | None:
    """Return the pending approval that is meant, as the agent shows it.

    Args:
        home: The installation.
        environ: For the socket's place.
        screen: Where several are listed.
        named: The task's ID, when one was given; of a run of a playbook, for what it asks now.
        op: ``show``, or ``refresh`` to have it asked anew where it would be out of date.

    Returns:
        None when nothing waits.

    Raises:
        InputError: ``approve.several`` (after listing them) or ``input.task-id``.
        StateError: ``approve.not-waiting``, ``approve.ended``.
    """
    from local_agent.views.task import TaskList

    if named is None:
        told = from_json(TaskList, call(home, environ, "tasks", all=False, limit=100))
        waiting = [task for task in told.tasks if task.state == "WAITING_APPROVAL"]
        if not waiting:
            return None
        if len(waiting) > 1:
            print_tasks(screen, waiting)
            raise InputError("approve.several", count=len(waiting))
        short_id = waiting[0].short_id
    else:
        short_id = parse_short_id(named)
    found = call(home, environ, op, task=short_id)
    if asking := _asked_by_run(found):
        found = call(home, environ, op, task=asking)
    return pending_in(found, screen)


def _asked_by_run(found: Json) -> str | None:
    """Return the short ID of what the run of a task asks now; None where it asks nothing."""
    run = found["task"]["playbook_run"]
    waiting = [step["task"] for step in run["steps"] if step["status"] == "waiting"] if run else []
    return waiting[0] if waiting else None


def pending_in(found: Json, screen: Screen) -> ApprovalView:
    """Return the approval that the agent told, when it waits for a decision.

    Raises:
        StateError: ``approve.not-waiting``; ``approve.ended`` with ``how``.
    """
    from local_agent.views.question import Shown

    shown = from_json(Shown, found)
    approval, task = shown.approval, shown.task
    if approval is not None and approval.state == "pending":
        return approval
    if task.reason:
        how = next(iter(headline(screen, task)), "")  # the rest has `codexbridge show`
        raise StateError("approve.ended", task=task.short_id, how=how)
    raise StateError("approve.not-waiting", task=task.short_id)
