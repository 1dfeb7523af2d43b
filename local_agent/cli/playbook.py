"""``codexbridge playbook`` and ``runs``: steps that always run the same way.

`check`, `new`, `list` and `show` need no agent; a run is begun and carried by it, and goes on when
nobody watches.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from common.clock import SystemClock
from common.errors import CodexBridgeError, InputError
from common.home import Home, find_home, private_dir
from common.sentences import LANGS, Lang, Sentence, explain, language_of, listed, say
from common.text import one_line, reveal
from local_agent.cli import words
from local_agent.cli.playbook_run import ENDINGS, EXIT_REFUSED, follow_run, tell_parse_error
from local_agent.cli.screen import at_keyboard, print_json, screen_for
from local_agent.cli.tasks import moment
from local_agent.faces.control.client import call, stream

if TYPE_CHECKING:
    import argparse

    from local_agent.playbooks.library import Found

PLAYBOOK: Final = Sentence(
    en="Run steps that always go the same way: tools, the model where something must be "
    "understood, and questions to you. Every change asks on this machine.",
    zh="执行固定顺序的步骤：工具、需要理解时调用模型，以及向你提出的问题。每个改动都须在本机确认。",
)
LIST: Final = Sentence(en="the playbooks of this machine", zh="列出本机的剧本")
SHOW: Final = Sentence(en="what a playbook does", zh="显示剧本的内容")
NEW: Final = Sentence(en="write a commented playbook to start from", zh="生成一个带注释的剧本")
SCHEMA: Final = Sentence(
    en="print the JSON Schema of a playbook's front matter, for editors",
    zh="输出剧本文件头的 JSON Schema，供编辑器使用",
)
CHECK: Final = Sentence(en="say whether a file can be run", zh="检查剧本文件能否执行")
RUN: Final = Sentence(en="run a playbook, by its name or from a file", zh="按名称或文件执行剧本")
RESUME: Final = Sentence(en="carry a run on from where it stands", zh="从停下的位置继续执行")
ROLLBACK: Final = Sentence(
    en="take back what a run changed; commands are named, and stay",
    zh="撤销一次执行所作的改动；命令只列出，无法撤销",
)
RUNS: Final = Sentence(
    en="List the runs of playbooks, newest first.", zh="列出剧本的执行记录，最新的在前。"
)
NAME: Final = Sentence(en="its name", zh="剧本名称")
WHAT: Final = Sentence(en="its name, or a file", zh="剧本名称或文件")
FILE: Final = Sentence(en="the file", zh="文件")
RUN_ID: Final = Sentence(en="the run's ID, or its T-…", zh="执行编号，或它的 T-…")
WORKSPACE: Final = Sentence(
    en="name of the workspace; without it the one that the current folder lies in, else the "
    "default",
    zh="工作区名称；省略时为当前目录所在的工作区，否则为默认工作区",
)
MESSAGE: Final = Sentence(en="what the playbook is told", zh="告诉剧本的话")
INPUT: Final = Sentence(
    en="what the playbook asks for by name; may be given several times",
    zh="剧本按名称要求的输入，可多次给出",
)
CLIENT: Final = Sentence(en="under whose name it is recorded", zh="以哪个名称记录")
TIMEOUT: Final = Sentence(
    en="seconds that each question waits, over 0 and at most 300",
    zh="每个问题等待的秒数，大于 0，最多 300",
)
DRY_RUN: Final = Sentence(
    en="act on a copy of the workspace, which itself stays as it is",
    zh="在工作区的副本上试运行，工作区本身保持不变",
)
ANSWERS: Final = Sentence(
    en="answers to the questions of a dry run, as JSON: "
    '[{"step": NAME or "*", "decision": "approve" or "deny"}]',
    zh='试运行中各问题的答案，JSON 格式：[{"step": 步骤名或 "*", "decision": "approve" 或 "deny"}]',
)
DRY: Final = Sentence(en="dry run", zh="试运行")
JSON_LINES: Final = Sentence(
    en="print each event as one JSON object a line", zh="每行输出一个 JSON 事件"
)
IS_FINE: Final = Sentence(
    en="{path}: {name}, {count} {count:step|steps}.", zh="{path}：{name}，{count} 个步骤。"
)
NO_STEP: Final = Sentence(
    en="Step “{step}” reads “{missing}.result”, and there is no step of that name: as a condition "
    "it skips the step, in a template it stays as written.",
    zh="步骤“{step}”引用了“{missing}.result”，但没有这个步骤：作为条件会跳过该步骤，在模板中则原样保留。",
)
WRITTEN: Final = Sentence(
    en="Written: {path}\nTry it: codexbridge playbook run {name}",
    zh="已生成：{path}\n试一试：codexbridge playbook run {name}",
)
NO_RUNS: Final = Sentence(en="No playbook was run.", zh="还没有执行过剧本。")
DAMAGED: Final = Sentence(
    en="The state file of run {run} was damaged, and is written again.",
    zh="执行 {run} 的状态文件已损坏，现已重新写入。",
)

MAX_TIMEOUT_S: Final = 300.0


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("playbook", description=say(PLAYBOOK, lang))
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for name, about, run in (
        ("list", LIST, list_all),
        ("show", SHOW, show),
        ("new", NEW, new),
        ("check", CHECK, check),
        ("schema", SCHEMA, schema),
        ("run", RUN, run_one),
        ("resume", RESUME, resume),
        ("rollback", ROLLBACK, roll_back),
    ):
        verb = verbs.add_parser(name, description=say(about, lang), help=say(about, lang))
        verb.set_defaults(run=run)
        if name in ("show", "new"):
            verb.add_argument("name", metavar="NAME", help=say(NAME, lang))
        if name == "check":
            verb.add_argument("file", metavar="FILE", help=say(FILE, lang))
        if name == "run":
            verb.add_argument("what", metavar="NAME|FILE", help=say(WHAT, lang))
            verb.add_argument("--workspace", metavar="NAME", help=say(WORKSPACE, lang))
            verb.add_argument("--message", metavar="TEXT", default="", help=say(MESSAGE, lang))
            verb.add_argument(
                "--input", metavar="NAME=VALUE", action="append", default=[], help=say(INPUT, lang)
            )
            verb.add_argument("--client", metavar="NAME", default="default", help=say(CLIENT, lang))
            verb.add_argument("words", metavar="WORDS", nargs="*", help=say(MESSAGE, lang))
            verb.add_argument("--dry-run", action="store_true", help=say(DRY_RUN, lang))
        if name in ("resume", "rollback"):
            verb.add_argument("id", metavar="ID", help=say(RUN_ID, lang))
        if name == "rollback":
            verb.add_argument("--client", metavar="NAME", default="default", help=say(CLIENT, lang))
        if name in ("run", "resume"):
            verb.add_argument("--answers", metavar="FILE", help=say(ANSWERS, lang))
            verb.add_argument("--gate-timeout", metavar="SECONDS", help=say(TIMEOUT, lang))
        if name in ("run", "resume", "rollback"):
            verb.add_argument("--json", action="store_true", help=say(JSON_LINES, lang))
        if name in ("list", "show"):
            verb.add_argument("--json", action="store_true", help=say(words.JSON, lang))
    parser = subparsers.add_parser("runs", description=say(RUNS, lang))
    parser.set_defaults(run=runs)
    parser.add_argument("--json", action="store_true", help=say(words.JSON, lang))


# --- without an agent ------------------------------------------------------------------------


def check(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Read a file as a run would; nothing is run."""
    from local_agent.playbooks.values import steps_named

    if (found := _read_file(Path(args.file), lang)) is None:
        return EXIT_REFUSED
    definition = found.definition
    screen_for(lang, environ).tell(
        IS_FINE, path=args.file, name=definition.name, count=len(definition.steps)
    )
    names = {step.name for step in definition.steps}
    for step in definition.steps:
        for missing in sorted(steps_named(step, names) - names):
            said = say(NO_STEP, lang, step=step.name, missing=missing)
            print(said, file=sys.stderr)
    return 0


def schema(_args: argparse.Namespace, _lang: Lang, _environ: Mapping[str, str]) -> int:
    """Print what an editor checks a front matter by."""
    from local_agent.playbooks.schema import schema as front_matter

    print_json(front_matter())
    return 0


def new(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Write a commented playbook into the folder of this person's own.

    Raises:
        InputError: ``playbook.name``, ``playbook.exists``.
    """
    from local_agent.playbooks.definition import NAME as ALLOWED
    from local_agent.playbooks.library import FOLDER
    from local_agent.playbooks.template import new_playbook

    if not ALLOWED.fullmatch(args.name):
        raise InputError("playbook.name", given=args.name)
    path = private_dir(find_home(environ).config / FOLDER) / f"{args.name}.md"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        raise InputError("playbook.exists", path=path) from None
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(new_playbook(args.name, lang))
    screen_for(lang, environ).tell(WRITTEN, path=path, name=args.name)
    return 0


def list_all(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """List the playbooks by name; a broken one with its reason."""
    from local_agent.error_texts import ERRORS
    from local_agent.playbooks.definition import titles
    from local_agent.playbooks.library import list_playbooks

    rows = []
    for one in list_playbooks(find_home(environ)):
        begun = titles(one.found.definition.description if one.found else "")
        row: dict[str, Any] = {
            "name": one.name,
            "origin": one.origin,
            "about": begun[LANGS.index(lang)].partition("\n")[0],
            "steps": len(one.found.definition.steps) if one.found else None,
            "triggers": list(one.found.definition.trigger_keywords) if one.found else [],
            "error": None if one.error is None else explain(one.error, ERRORS, lang),
        }
        rows.append(row)
    if args.json:
        print_json({"playbooks": rows})
        return 0
    screen = screen_for(lang, environ)
    screen.table([(row["name"], one_line(row["error"] or row["about"], 100)) for row in rows])
    return 0


def show(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Show what a playbook does, step by step."""
    from local_agent.playbooks.library import find_playbook
    from local_agent.playbooks.tools import TOOLS

    found = find_playbook(find_home(environ), args.name)
    definition = found.definition
    if args.json:
        steps = [
            {"name": step.name, "type": step.type, "tool": step.tool, "condition": step.condition}
            for step in definition.steps
        ]
        print_json({"name": definition.name, "path": str(found.path), "steps": steps})
        return 0
    screen = screen_for(lang, environ)
    print(screen.ink("bold", definition.name))
    print(reveal(definition.description))
    print(screen.ink("dim", str(found.path)))
    print()
    for number, step in enumerate(definition.steps, 1):
        tool = TOOLS.get(step.tool or "")
        does = screen.say(tool.summary) if tool else step.description or step.type
        print(f"{number:>3}  {step.name}: {one_line(does, 90)}")
    return 0


# --- runs ------------------------------------------------------------------------------------


def run_one(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Begin a run, and follow it to its end.

    Raises:
        TaskParseError: the playbook cannot be taken; nothing was begun.
        InputError: ``playbook.*``, ``workspace.*``, ``copy.*``: nothing was begun.
    """
    from local_agent.cli.diff import workspace_here
    from local_agent.playbooks.runs import checked_client

    home = find_home(environ)
    if args.answers is not None and not args.dry_run:
        raise InputError("playbook.answers-not-dry")
    answers = _read_answers(args.answers)
    message = args.message or " ".join(args.words)
    here = workspace_here(home)
    is_file = _is_file(args.what)
    # What is wrong with it is told whether or not an agent runs.
    if is_file and _read_file(Path(args.what), lang) is None:
        return EXIT_REFUSED
    checked_client(args.client)
    inputs = args.input
    if at_keyboard():
        inputs = [*inputs, *_asked_for(args.what, inputs, home, lang)]
    steps = stream(
        home,
        environ,
        "play",
        path=str(Path(args.what).absolute()) if is_file else "",
        name="" if is_file else args.what,
        message=message,
        inputs=inputs,
        client=args.client,
        gate_ms=_timeout_ms(args.gate_timeout) or round(MAX_TIMEOUT_S * 1000),
        workspace=args.workspace or (here.name if here else ""),
        lang=language_of(message, lang) if message else lang,
        dry=args.dry_run,
        answers=answers is not None,
        body=answers or b"",
    )
    return follow_run(steps, args, home, lang, environ)


def resume(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Carry a run on, and follow it to its end.

    Raises:
        StateError: ``run.unknown``, ``run.not-resumable``.
    """
    home = find_home(environ)
    answers = _read_answers(args.answers)
    steps = stream(
        home,
        environ,
        "resume",
        run=args.id,
        gate_ms=_timeout_ms(args.gate_timeout),
        lang=lang,
        answers=answers is not None,
        body=answers or b"",
    )
    return follow_run(steps, args, home, lang, environ)


def roll_back(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Take a run back, and follow it to its end.

    Raises:
        StateError: ``run.unknown``, ``run.other-client``, ``run.not-reversible``.
    """
    home = find_home(environ)
    steps = stream(home, environ, "roll_back", run=args.id, client=args.client, lang=lang)
    return follow_run(steps, args, home, lang, environ)


def runs(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """List the runs of all clients, newest first."""
    from local_agent.playbooks.runs import iso

    found = call(find_home(environ), environ, "runs")
    for run in found["damaged"]:
        print(say(DAMAGED, lang, run=run), file=sys.stderr)
    if args.json:
        rows = [{**row, "started_at": iso(row["started_at"])} for row in found["runs"]]
        print_json({"runs": rows})
        return 0
    screen = screen_for(lang, environ)
    now_ms = SystemClock().now().wall_ms
    if not found["runs"]:
        screen.tell(NO_RUNS)
    screen.table(
        [
            (
                row["short_id"],
                row["task_name"],
                moment(row["started_at"], now_ms),
                screen.say(ENDINGS[row["ended"] or row["status"]]),
                screen.say(DRY) if row["dry_run"] else "",
            )
            for row in found["runs"]
        ]
    )
    return 0


def _asked_for(what: str, given: list[str], home: Home, lang: Lang) -> list[str]:
    """Return what the person at this terminal answers of what is not given."""
    from local_agent.playbooks.library import find_playbook, read_playbook

    named = {one.partition("=")[0] for one in given}
    answers = []
    with suppress(CodexBridgeError, OSError):  # what is wrong with it is told by the run
        found = read_playbook(Path(what)) if _is_file(what) else find_playbook(home, what)
        for name, one in found.definition.inputs.items():
            if name not in named and "default" not in one:
                about = listed(one.get("description") or one.get("choices") or one["type"], lang)
                print(f"{name} ({reveal(about)}): ", end="", file=sys.stderr, flush=True)
                answers.append(f"{name}={sys.stdin.readline().strip()}")
    return answers


def _is_file(what: str) -> bool:
    return "/" in what or what.endswith(".md")


def _timeout_ms(given: str | None) -> int:
    """Return milliseconds; 0 where nothing was given.

    Raises:
        InputError: ``playbook.timeout`` (given, limit).
    """
    if given is None:
        return 0
    try:
        seconds = float(given)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= MAX_TIMEOUT_S:
        raise InputError("playbook.timeout", given=given, limit=round(MAX_TIMEOUT_S))
    return max(round(seconds * 1000), 1)


def _read_file(path: Path, lang: Lang) -> Found | None:
    """Return the playbook in a file; where it cannot be taken, say why and return None.

    Raises:
        InputError: ``playbook.no-file``, ``playbook.not-a-file``.
    """
    from local_agent.playbooks.definition import TaskParseError
    from local_agent.playbooks.library import read_playbook

    try:
        return read_playbook(path)
    except TaskParseError as error:
        tell_parse_error(error, lang)
        return None
    except OSError as error:
        raise InputError("playbook.no-file", path=path, why=error.strerror) from None


def _read_answers(name: str | None) -> bytes | None:
    """Return the bytes of a file of answers that can be taken.

    Raises:
        InputError: ``playbook.no-file``, ``playbook.answers``.
    """
    from local_agent.playbooks.answers import MAX_BYTES, Answers

    if name is None:
        return None
    if Path(name).exists() and not Path(name).is_file():
        raise InputError("playbook.not-a-file", path=name)
    try:
        with Path(name).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError("playbook.no-file", path=name, why=error.strerror) from None
    Answers(data)
    return data
