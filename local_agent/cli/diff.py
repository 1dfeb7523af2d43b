"""``codexbridge diff``: what a task changes, line by line, or as the exact bytes."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from common.errors import InputError
from common.home import find_home
from common.ids import parse_short_id
from common.sentences import Lang, say
from local_agent.cli import change_words, words
from local_agent.cli.card import tell_lineage
from local_agent.cli.diffs import fetch_diff
from local_agent.cli.screen import Screen, print_json, screen_for
from local_agent.faces.control.client import call

if TYPE_CHECKING:
    import argparse

    from common.diff.model import DiffModel, FileDiff


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("diff", description=say(change_words.DIFF, lang))
    parser.add_argument("task", metavar="T-…", help=say(words.TASK_ID, lang))
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--raw", action="store_true", help=say(change_words.DIFF_RAW, lang))
    form.add_argument("--json", action="store_true", help=say(words.JSON, lang))


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Show it.

    Raises:
        StateError: ``diff.none``: the task changes no file.
        InputError: ``diff.to-terminal``: a terminal would obey what may stand in the bytes (R26).
    """
    from common.diff.parse import parse_diff
    from local_agent.views.codec import from_json
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
        found = call(find_home(environ), environ, "show", task=short_id)
        tell_lineage(screen, from_json(Shown, found).task)
        _print(model, screen)
    return 0


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
