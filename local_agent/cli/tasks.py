"""``codexbridge tasks`` and ``cancel``: the tasks of this machine, and stopping one.

Also how moments, states and askers are told, for whatever shows a task.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from common.clock import SystemClock
from common.errors import InputError
from common.home import find_home
from common.sentences import Lang, Sentence, say
from common.terminal import cells, clip_cells, pad, table
from common.text import one_line
from local_agent.cards.words import time_left
from local_agent.cli import words
from local_agent.cli.screen import Screen, print_json, screen_for
from local_agent.faces.control.client import call
from local_agent.words import REASONS, STATES

if TYPE_CHECKING:
    import argparse
    import datetime as dt

    from local_agent.views.task import ListedTask, TaskRow

TASKS: Final = Sentence(
    en="List the tasks of this machine, newest first.", zh="列出本机任务，最新的在前。"
)
TASKS_ALL: Final = Sentence(en="finished ones too", zh="包括已结束的任务")
TASKS_LIMIT: Final = Sentence(
    en="how many at most, 1 to 200; 100 unless given", zh="最多列出多少个，1 到 200，默认 100"
)
CANCEL: Final = Sentence(
    en="Stop a task: one that waits is dropped, a command that runs is ended.",
    zh="停止任务：等待中的放弃，运行中的命令会被终止。",
)
NO_TASKS: Final = Sentence(en="No open tasks.", zh="没有未结束的任务。")
NO_TASKS_AT_ALL: Final = Sentence(en="No tasks yet.", zh="还没有任务。")
TASKS_MORE: Final = Sentence(
    en="Only the newest {count}; --limit N shows more, at most {most}.",
    zh="仅列出最新的 {count} 个；用 --limit N 查看更多，最多 {most} 个。",
)
WAITING: Final = Sentence(en="waiting, {left}", zh="等待批准，{left}")
HERE: Final = Sentence(en="this machine", zh="本机")
CANCELLED: Final = Sentence(en="{task} is being stopped.", zh="正在停止 {task}。")
RESTS: Final = Sentence(en="proposed, not applied", zh="已提议，未应用")
RESTS_VERSION: Final = Sentence(en="version {version}, not applied", zh="第 {version} 版，未应用")
PART: Final = Sentence(
    en="step {step} of {total} of {playbook}: {name}",
    zh="{playbook} 第 {step} 步，共 {total} 步：{name}",
)
PART_OTHER: Final = Sentence(en="a step of {playbook}", zh="{playbook} 的步骤")
REPLACED: Final = Sentence(en="replaced by {task}", zh="已由 {task} 取代")

LIMIT = 100  # unless another number is asked for
MOST = 200  # what the agent lists at once
_ASKER_CELLS = 16
_WANTED_CELLS = 24  # the least room for what was asked


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("tasks", description=say(TASKS, lang))
    parser.set_defaults(run=list_tasks)
    parser.add_argument("--all", action="store_true", help=say(TASKS_ALL, lang))
    parser.add_argument(
        "--limit", type=int, default=LIMIT, metavar="N", help=say(TASKS_LIMIT, lang)
    )
    words.add_json(parser, lang)
    parser = subparsers.add_parser("cancel", description=say(CANCEL, lang))
    parser.set_defaults(run=cancel)
    words.add_task(parser, lang)


def list_tasks(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """List the tasks.

    Raises:
        InputError: ``tasks.limit``.
    """
    if not 1 <= args.limit <= MOST:
        raise InputError("tasks.limit", most=MOST)
    from local_agent.views import from_json
    from local_agent.views.task import TaskList

    told = call(find_home(environ), environ, "tasks", all=args.all, limit=args.limit)
    screen, found = screen_for(lang, environ), from_json(TaskList, told).tasks
    if args.json:
        print_json(told["tasks"])
    elif found:
        print_tasks(screen, found)
        if told.get("more"):
            screen.tell(TASKS_MORE, count=len(found), most=MOST)
    else:
        screen.tell(NO_TASKS_AT_ALL if args.all else NO_TASKS)
    return 0


def print_tasks(screen: Screen, tasks: Sequence[ListedTask]) -> None:
    """Print one line a task: ID, when, where it stands, who asked, what; two where one is short."""
    now_ms = SystemClock().now().wall_ms
    heads = table(
        [
            (
                task.short_id,
                moment(task.created_at, now_ms),
                _standing(screen, task, now_ms),
                clip_cells(asker(screen, task), _ASKER_CELLS),
            )
            for task in tasks
        ]
    )
    beside = max(map(cells, heads)) + 2
    between = "\n  " if screen.live and screen.width - beside < _WANTED_CELLS else ""
    for task, head in zip(tasks, heads, strict=True):
        row = (head if between else pad(head, beside)) + between + wanted(screen, task)
        shown = "\n".join(clip_cells(line, screen.width) for line in row.split("\n"))
        print(shown.replace(task.short_id, screen.ink("bold", task.short_id), 1))


def date_and_time(at_ms: int) -> str:
    """Return a moment by the local clock, such as ``2026-05-04 13:37``."""
    return _local(at_ms).strftime("%Y-%m-%d %H:%M")


def clock_time(at_ms: int) -> str:
    """Return a moment of a day by the local clock, such as ``13:37:05``."""
    return _local(at_ms).strftime("%H:%M:%S")


def moment_anywhere(at_ms: int) -> str:
    """Return a moment for who may read it elsewhere, such as ``2026-05-04 13:37:05 +08:00``."""
    day, _, time_and_zone = _local(at_ms).isoformat(timespec="seconds").partition("T")
    return f"{day} {time_and_zone[:8]} {time_and_zone[8:]}"


def moment(at_ms: int, now_ms: int) -> str:
    """Return a moment as lists show it: the time of today, the day of any other."""
    at, now = _local(at_ms), _local(now_ms)
    return at.strftime("%H:%M" if at.date() == now.date() else "%m-%d")


def _local(at_ms: int) -> dt.datetime:
    import datetime as dt

    return dt.datetime.fromtimestamp(at_ms / 1000, tz=dt.UTC).astimezone()


def _standing(screen: Screen, task: ListedTask, now_ms: int) -> str:
    until = task.expires_at
    if task.state != "WAITING_APPROVAL" or not until:
        return state_of(screen, task)
    return screen.say(WAITING, left=time_left(until, now_ms, screen.lang))


def state_of(screen: Screen, task: TaskRow) -> str:
    """Return in words where a task stands: its reason once it has ended."""
    if task.rests:
        version = task.version
        resting = RESTS_VERSION if version else RESTS
        return screen.say(resting, version=version)
    if newer := task.replaced_by:
        return screen.say(REPLACED, task=newer)
    named = REASONS.get(task.reason or "") or STATES.get(task.state)
    return screen.say(named) if named else task.state


def wanted(screen: Screen, task: TaskRow) -> str:
    """Return on one line what a task is for: what was asked, or which step of a playbook it is."""
    part = task.part
    if part is None:
        return one_line(task.text, 400)
    facts = {"playbook": part.playbook, "step": part.step, "total": part.total}
    is_known = part.step is not None and part.total
    return screen.say(PART if is_known else PART_OTHER, **facts, name=one_line(part.name, 80))


def asker(screen: Screen, task: TaskRow) -> str:
    """Return who is said to have asked, or the run that did."""
    if task.part is not None and task.part.run:
        return task.part.run
    here = task.source == "local_ui"
    return screen.say(HERE) if here else one_line(task.claimed_user, 32)


def cancel(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Cancel it."""
    from common.ids import parse_short_id

    short_id = parse_short_id(args.task)
    call(find_home(environ), environ, "cancel", task=short_id)
    screen_for(lang, environ).tell(CANCELLED, task=short_id)
    return 0
