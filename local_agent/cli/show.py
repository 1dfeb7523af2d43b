"""``codexbridge show``: a task, and everything that would be done if it were approved."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from common.clock import SystemClock
from common.errors import CodexBridgeError
from common.home import Home, find_home
from common.sentences import Lang, Sentence, explain, say
from common.terminal import table
from common.text import one_line, reveal, strip_ansi
from local_agent.cli import words
from local_agent.cli.ending import changed_lines, file_lines, headline, mixed_lines, output_lines
from local_agent.cli.screen import Screen, print_as_it_is, print_json, screen_for
from local_agent.cli.tasks import asker, clock_time, date_and_time, state_of, wanted
from local_agent.faces.control.client import call, read_asked, stream
from local_agent.views import Json, from_json
from local_agent.words import render_duration

if TYPE_CHECKING:
    import argparse

    from local_agent.views.question import ApprovalView
    from local_agent.views.task import RunView, ShownTask

SHOW: Final = Sentence(
    en="Show a task: everything that would be done if it were approved; afterwards how it ended, "
    "its last lines, the files it changed, and whether that can be undone.",
    zh="显示任务：批准后将执行的全部内容；结束后则是结果、输出的最后几行、改动的文件，以及能否撤销。",
)
SHOW_LOG: Final = Sentence(
    en="print the command's output, all that is kept of it", zh="显示命令的输出（保存下来的全部）"
)
STATE: Final = Sentence(en="State", zh="状态")
REQUEST: Final = Sentence(en="Request", zh="请求原文")
WORKSPACE_LABEL: Final = Sentence(en="Workspace", zh="工作区")
WHEN: Final = Sentence(en="When", zh="时间")
RETRY_OF: Final = Sentence(en="Retry of", zh="重试自")
WHEN_ENDED: Final = Sentence(en="{asked}, ended {ended}", zh="{asked}，{ended} 结束")
SUMMARY: Final = Sentence(en="Summary", zh="摘要")
OUTPUT: Final = Sentence(en="Output", zh="输出")
FILES_LABEL: Final = Sentence(en="Files", zh="文件")
CHANGED: Final = Sentence(en="Changed", zh="改动")
HERE_ALONE: Final = Sentence(en="Only here", zh="仅本机")
MODEL: Final = Sentence(en="Model", zh="模型")
SHOWN_LABEL: Final = Sentence(en="Shown", zh="已展示")
VERSION_LABEL: Final = Sentence(en="Version", zh="版本")
VERSION: Final = Sentence(en="{version}, after {task}", zh="第 {version} 版，上一版为 {task}")
SAID: Final = Sentence(en="Said", zh="说明")
PROPOSED: Final = Sentence(en="Proposed", zh="提议")

PLAYBOOK: Final = Sentence(en="Playbook", zh="剧本")
STEPS: Final = Sentence(en="Steps", zh="步骤")
STEP_STATUS: Final[Mapping[str, Sentence]] = {
    "completed": Sentence(en="completed", zh="已完成"),
    "failed": Sentence(en="failed", zh="失败"),
    "skipped": Sentence(en="skipped", zh="已跳过"),
    "denied": Sentence(en="rejected", zh="被拒绝"),
    "timeout": Sentence(en="nobody answered", zh="无人答复"),
    "running": Sentence(en="running", zh="执行中"),
    "waiting": Sentence(en="waits for you", zh="等待批准"),
    "interrupted": Sentence(en="interrupted", zh="中断"),
    "pending": Sentence(en="not begun", zh="未开始"),
}

DECIDED: Final = Sentence(en="Decided", zh="决定")
DECIDED_HERE: Final = Sentence(
    en="{how} at this machine ({face}), {when}", zh="{when} 在本机{how}（{face}）"
)
DECIDED_ON: Final = Sentence(
    en="What was decided on, code {code}:", zh="当时决定的内容，确认码 {code}："
)
HOW: Final[Mapping[str, Sentence]] = {
    "approved": Sentence(en="approved", zh="批准"),
    "rejected": Sentence(en="rejected", zh="拒绝"),
}
BY_FILE: Final = Sentence(
    en="by the answers file of a dry run or by its rollback, not by a person",
    zh="由试运行的答案文件或试运行的回滚决定，不是由人决定",
)

_WHY_BYTES: Final = 300
_AS_KEPT: Final = re.compile(r"(?P<code>[a-z]+\.[a-z-]+)(?: \((?P<facts>.*)\))?", re.DOTALL)
_BETWEEN_FACTS: Final = re.compile(r", (?=[a-z_]+=)")
_ALL: Final = 1000  # more names than are ever kept
_LABEL_CELLS: Final = 12


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("show", description=say(SHOW, lang))
    parser.set_defaults(run=run)
    words.add_task(parser, lang)
    parser.add_argument("--log", action="store_true", help=say(SHOW_LOG, lang))
    words.add_json(parser, lang)


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Show it, or print the output of its command.

    Raises:
        StateError: ``log.none``: no output is kept.
    """
    from common.ids import parse_short_id
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
        _print_task(shown.task, screen, shown.approval)
        if shown.approval is not None and shown.approval.decided_at is not None:
            _print_sealed(shown.approval, screen, home, environ)
    return 0


def _print_question(
    approval: ApprovalView, screen: Screen, home: Home, environ: Mapping[str, str]
) -> None:
    from local_agent.faces.terminal.page import render

    question = read_asked(home, environ, approval)
    now_ms = SystemClock().now().wall_ms
    page = render(question, lang=screen.lang, width=screen.width, ink=screen.ink, now_ms=now_ms)
    print("\n".join(page))
    screen.tell(words.WAITS, task=question.seal.short_id)


def _print_sealed(
    approval: ApprovalView, screen: Screen, home: Home, environ: Mapping[str, str]
) -> None:
    """Print what was decided on; nothing where that can be read no more."""
    from local_agent.faces.terminal.page import render_sealed

    with suppress(CodexBridgeError):  # such as a diff that is kept no longer
        question = read_asked(home, environ, approval)
        head = screen.say(DECIDED_ON, code=question.code)
        lines = render_sealed(question, lang=screen.lang, width=screen.width, ink=screen.ink)
        print("\n".join([screen.ink("bold", head), *lines]))


def _print_facts(task: ShownTask, screen: Screen) -> None:
    """Print which version it is, which model worked on it, what that used and was shown."""
    from local_agent.cli.proposal import fact_lines, tell_lineage

    tell_lineage(screen, task)
    for line in fact_lines(screen, task):
        print(line)


def _print_task(task: ShownTask, screen: Screen, approval: ApprovalView | None) -> None:
    rows = [
        (words.TASK, [screen.ink("bold", task.short_id)]),
        (STATE, [state_of(screen, task)]),
        (WHEN, [_when(screen, task)]),
        (RETRY_OF, [task.retry_of_short_id] if task.retry_of_short_id else []),
        (words.ASKED_BY, [asker(screen, task)]),
    ]
    if task.part is None:
        rows.append((REQUEST, screen.quote(task.text, 12)))
    else:
        rows.append((PLAYBOOK, screen.quote(wanted(screen, task), 12)))
    if task.playbook_run is not None:
        rows.append((STEPS, list(_step_lines(screen, task.playbook_run))))
    if task.workspace:
        rows.append((WORKSPACE_LABEL, screen.quote(task.workspace, 12)))
    if approval is not None and approval.decided_at is not None:
        rows.append((DECIDED, screen.prose(_decided(screen, approval))))
    rows += [
        *_proposal_rows(screen, task),
        (OUTPUT, list(output_lines(screen, task))),
        (FILES_LABEL, list(file_lines(screen, task, most=_ALL))),
        (CHANGED, list(changed_lines(screen, task, most=_ALL))),
        (FILES_LABEL, list(mixed_lines(screen, task))),
    ]
    screen.fields([row for row in rows if row[1]])
    if task.rests:
        from local_agent.cli.proposal import steps_lines

        print("\n".join(steps_lines(screen, task)))


def _decided(screen: Screen, approval: ApprovalView) -> str:
    from local_agent.cli.receipt import APPROVERS

    face = APPROVERS.get(approval.approver or "")
    if face is None:
        return screen.say(BY_FILE)
    how = screen.say(HOW["rejected" if approval.state == "rejected" else "approved"])
    when = date_and_time(approval.decided_at or 0)
    return screen.say(DECIDED_HERE, how=how, face=screen.say(face), when=when)


def _step_lines(screen: Screen, run: RunView) -> Iterator[str]:
    """Yield a line for each step: what became of it, when, for how long, and what asked for it."""
    rows = []
    for step in run.steps:
        at = clock_time(step.started_at) if step.started_at is not None else ""
        took = ""
        if step.started_at is not None and step.completed_at is not None:
            took = render_duration(step.completed_at - step.started_at, screen.lang)
        known = STEP_STATUS.get(step.status)
        status = screen.say(known) if known else step.status
        number = "" if step.number is None else str(step.number)
        rows.append((number, one_line(step.name, 40), status, at, took, step.task or ""))
    for line, step in zip(table(rows), run.steps, strict=True):
        yield line.rstrip()
        if step.error:
            why = _in_words(step.error, screen.lang)
            yield from screen.quote(f"  {one_line(why, _WHY_BYTES)}", 12)


def _in_words(error: str, lang: Lang) -> str:
    """Return why a step failed; it is kept as its code and facts (`CodexBridgeError`)."""
    from local_agent.error_texts import ERRORS

    match = _AS_KEPT.fullmatch(error)
    if match is None or match["code"] not in ERRORS:
        return error
    facts = dict(one.partition("=")[::2] for one in _BETWEEN_FACTS.split(match["facts"] or ""))
    return explain(CodexBridgeError(match["code"], **facts), ERRORS, lang)


def _proposal_rows(screen: Screen, task: ShownTask) -> list[tuple[Sentence, list[str]]]:
    """Return what was proposed, by which model, and what came of it."""
    from local_agent.cli import proposal

    beside = replace(screen, width=screen.width - _LABEL_CELLS)
    told = [line for said in headline(screen, task) for line in beside.prose(said)]
    shown = proposal.shown_line(screen, task)
    asked = [
        (MODEL, proposal.turn_lines(screen, task)),
        (SHOWN_LABEL, beside.prose(shown) if shown else []),
    ]
    if not proposal.has_words(task):
        return [*asked, (SUMMARY, told), (HERE_ALONE, _kept_here(task))]
    # Nothing was left out for the chat, or there is none: the model's words are told once.
    whole = task.source == "local_ui" or task.details == task.summary
    return [
        (VERSION_LABEL, _lineage(screen, task)),
        *asked,
        (PROPOSED, list(proposal.own_lines(beside, task))),
        (SUMMARY, [] if task.answered and whole else told),
        (
            SAID if whole else HERE_ALONE,
            list(proposal.model_lines(beside, task)),
        ),
    ]


def _lineage(screen: Screen, task: ShownTask) -> list[str]:
    if not task.revises:
        return []
    return [screen.say(VERSION, version=task.version, task=task.revises)]


def _kept_here(task: ShownTask) -> list[str]:
    """Return all that an answer says, where the chat was told less of it or nothing."""
    details = task.details or ""
    return [] if details in ("", task.summary) else reveal(details).split("\n")


def _when(screen: Screen, task: ShownTask) -> str:
    asked = date_and_time(task.created_at)
    if not task.reason:
        return asked
    return screen.say(WHEN_ENDED, asked=asked, ended=date_and_time(task.updated_at))


def _print_log(steps: Iterator[tuple[str, Json]], short_id: str, *, as_json: bool) -> None:
    import base64

    pieces = [base64.b64decode(value["log"]) for kind, value in steps if kind == "event"]
    text = b"".join(pieces).decode("utf-8", "replace")
    if as_json:
        print_json({"task": short_id, "log": text})
    else:
        print_as_it_is(_readable(text) + "\n")


def _readable(log: str) -> str:
    """Return all that was printed with nothing in it that a terminal would obey (R26)."""
    # A line that was written over is shown as so many lines: nothing is left out.
    lines = strip_ansi(log).replace("\r\n", "\n").replace("\r", "\n")
    return reveal(lines.removesuffix("\n"))
