"""``codexbridge diff``: what a task changes, line by line, or as the exact bytes.

Also how diffs come from files and from the agent, for the other verbs about changes.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from common.errors import InputError
from common.home import Home, find_home
from common.ids import parse_short_id
from common.sentences import Lang, Sentence, say
from local_agent.cards.question import read_question
from local_agent.cli import words
from local_agent.cli.proposal import tell_lineage
from local_agent.cli.screen import Screen, print_json, screen_for
from local_agent.faces.control.client import call, fetch_diff
from local_agent.faces.control.wire import BODY_BYTES
from local_agent.workspace.registry import Registry, Workspace

if TYPE_CHECKING:
    import argparse

    from common.diff.model import DiffModel, FileDiff
    from local_agent.views.question import Shown

DIFF: Final = Sentence(
    en="Show the diff that a task proposes, or has applied: all of it, with what is hidden in it "
    "made visible.",
    zh="显示任务提出或已应用的全部改动，其中隐藏的字符都会标出。",
)
DIFF_RAW: Final = Sentence(
    en="the exact bytes instead, as they were sealed; for a file or another program",
    zh="改为输出获批的原始字节，供存盘或其他程序使用",
)


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("diff", description=say(DIFF, lang))
    parser.set_defaults(run=run)
    words.add_task(parser, lang)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--raw", action="store_true", help=say(DIFF_RAW, lang))
    words.add_json(form, lang)


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Show it.

    Raises:
        StateError: ``diff.none``: the task changes no file.
        InputError: ``diff.to-terminal``: a terminal would obey what may stand in the bytes (R26).
    """
    from common.diff.parse import parse_diff
    from local_agent.views import from_json
    from local_agent.views.question import Shown

    short_id = parse_short_id(args.task)
    if args.raw and sys.stdout.isatty():
        raise InputError("diff.to-terminal", task=short_id)
    diff = fetch_diff(find_home(environ), environ, short_id)
    if args.raw:
        sys.stdout.buffer.write(diff)
        sys.stdout.buffer.flush()
        return 0
    model = parse_diff(diff)
    if args.json:
        text = diff.decode("utf-8", "replace")
        print_json({"task": short_id, "files": files_of(model), "diff": text})
    else:
        screen = screen_for(lang, environ)
        found = from_json(Shown, call(find_home(environ), environ, "show", task=short_id))
        tell_lineage(screen, found.task)
        _print(_as_text(model, found, diff), screen)
    return 0


def _as_text(model: DiffModel, found: Shown, diff: bytes) -> DiffModel:
    """Return the diff as text: in the encodings that were sealed, or else that are proposed."""
    encodings = {file.path: file.encoding for file in found.task.files}
    if found.approval is not None:
        asked = read_question(found.approval, diff=diff)
        for question in (asked, *asked.parts):
            encodings |= {change.path: change.encoding for change in question.changes}
    return model.in_encodings(encodings)


def files_of(model: DiffModel) -> list[dict[str, Any]]:
    """Return the files of a diff for programs."""
    return [_file(file) for file in model.files]


def _file(file: FileDiff) -> dict[str, Any]:
    return {
        "op": file.op,
        "path": file.path,
        "old_path": file.old_path,
        "old_mode": file.old_mode,
        "new_mode": file.new_mode,
        "added": file.added,
        "removed": file.removed,
    }


def _print(model: DiffModel, screen: Screen) -> None:
    from local_agent.faces.terminal.page import Layout, file_lines

    layout = Layout(screen.lang, screen.width, screen.ink)
    for file in model.files:
        for line in file_lines(file, layout):
            print(line)


def read_patch(file: str) -> bytes:
    """Return the bytes of a patch file; ``-`` is standard input.

    Raises:
        InputError: ``diff.too-large``.
        OSError: the file cannot be read.
    """
    if file == "-":
        data = sys.stdin.buffer.read(BODY_BYTES + 1)
    else:
        with Path(file).open("rb") as opened:
            data = opened.read(BODY_BYTES + 1)
    if len(data) > BODY_BYTES:
        raise InputError("diff.too-large", what="bytes", limit=BODY_BYTES)
    return data


def task_named(given: str) -> str | None:
    """Return the ID of a task that is meant, unless a file is called so."""
    if Path(given).exists():
        return None
    try:
        return parse_short_id(given)
    except InputError:
        return None


def workspace_here(home: Home) -> Workspace | None:
    """Return the workspace that the current folder lies in, or None."""
    try:
        folder = Path.cwd().resolve()
    except FileNotFoundError:
        return None  # somebody removed the folder that this terminal stands in
    for workspace in Registry(home, home=Path.home()).load():
        if folder.is_relative_to(workspace.path):
            return workspace
    return None
