"""``codexbridge apply``: a proposed change by its ID, or a person's own patch file.

Either way it is asked for and approved like any change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from common.home import find_home
from common.sentences import Lang, say
from local_agent.cli import change_words, words

if TYPE_CHECKING:
    import argparse

    from local_agent.views.codec import Json


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("apply", description=say(change_words.APPLY, lang))
    parser.add_argument("file", metavar="T-…|FILE|-", help=say(change_words.APPLY_FILE, lang))
    parser.add_argument("--workspace", metavar="NAME", help=say(change_words.WORKSPACE, lang))
    parser.add_argument("--json", action="store_true", help=say(words.JSON, lang))


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Ask for it, and follow it until it waits for a person.

    Raises:
        InputError: ``diff.*``: the patch cannot be read; the agent was not asked.
    """
    from common.diff.parse import parse_diff
    from local_agent.cli.diffs import read_patch, task_named, workspace_here
    from local_agent.faces.control.client import stream

    home = find_home(environ)
    if (short_id := task_named(args.file)) is not None:
        steps = stream(home, environ, "want", task=short_id, lang=lang)
        return _told(steps, args, lang, environ)
    patch = read_patch(args.file)
    parse_diff(patch)
    here = workspace_here(home) if args.workspace is None else None
    steps = stream(
        home,
        environ,
        "apply",
        body=patch,
        name="stdin" if args.file == "-" else Path(args.file).name,
        lang=lang,
        workspace=args.workspace or (here.name if here else ""),
    )
    return _told(steps, args, lang, environ)


def _told(
    steps: Iterator[tuple[str, Json]],
    args: argparse.Namespace,
    lang: Lang,
    environ: Mapping[str, str],
) -> int:
    from local_agent.cli.follow import follow, follow_as_json
    from local_agent.cli.screen import screen_for

    return follow_as_json(steps) if args.json else follow(steps, screen_for(lang, environ))
