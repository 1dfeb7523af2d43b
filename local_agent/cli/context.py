"""``codexbridge context``: what a model was shown for a task, and what was left out and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from common.home import find_home
from common.ids import parse_short_id
from common.sentences import Lang, Sentence, say
from common.text import one_line
from local_agent.cli import context_words, words
from local_agent.cli.screen import Screen, print_json, screen_for
from local_agent.faces.control.client import call
from local_agent.replies import render_size

if TYPE_CHECKING:
    import argparse

    from local_agent.views.task import ContextView, LeftOutFile, ShownPiece


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("context", description=say(context_words.CONTEXT, lang))
    parser.add_argument("task", metavar="T-…", help=say(words.TASK_ID, lang))
    parser.add_argument("--json", action="store_true", help=say(words.JSON, lang))


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Show it.

    Raises:
        StateError: ``context.none``: nothing was collected for the task; ``task.unknown``.
    """
    short_id = parse_short_id(args.task)
    told = call(find_home(environ), environ, "context", task=short_id)
    if args.json:
        print_json(told["context"])
    else:
        from local_agent.views.codec import from_json
        from local_agent.views.task import ContextView

        # As some version kept it.
        found = from_json(ContextView, told["context"], loose=True)
        _print(found, screen_for(lang, environ), asked=told["asked"])
    return 0


def _print(found: ContextView, screen: Screen, *, asked: bool) -> None:
    limits = found.limits
    screen.tell(
        context_words.SHOWN if asked else context_words.COLLECTED,
        files=found.files,
        max_files=limits.max_files,
        bytes=render_size(found.bytes),
        max_bytes=render_size(limits.max_total_bytes),
        file_bytes=render_size(limits.max_file_bytes),
    )
    if found.used:
        screen.table([_used(one, screen) for one in found.used])
    else:
        screen.tell(context_words.NOTHING_SHOWN)
    if found.left_out:
        print()
        screen.tell(context_words.LEFT_OUT)
        screen.table([_left_out(one, screen) for one in found.left_out])
    if more := found.left_out_more:
        screen.tell(context_words.LEFT_OUT_MORE, count=more)
    _print_never(found, screen)


def _print_never(found: ContextView, screen: Screen) -> None:
    counts = [
        screen.say(
            context_words.NOT_LISTED_ONE,
            count=count,
            reason=_word(context_words.REASONS, reason, screen),
        )
        for reason, count in sorted(found.not_listed.items())
    ]
    if counts:
        joined = screen.say(context_words.JOINED).join(counts)
        screen.tell(context_words.NOT_LISTED, reasons=joined)
    if found.listing_truncated:
        screen.tell(context_words.TRUNCATED)


def _used(one: ShownPiece, screen: Screen) -> tuple[str, ...]:
    first = one.first_line
    place = ""
    if first:
        last = first + max(one.lines - 1, 0)
        place = screen.say(context_words.LINES, first=first, last=last)
    if one.cut:
        part = screen.say(context_words.NOT_ALL)
        place = screen.say(context_words.JOINED).join(filter(None, (place, part)))
    size = screen.say(context_words.BYTES, count=one.bytes)
    kind = _word(context_words.KINDS, one.kind, screen)
    return (kind, one_line(one.path, 1200), place, size, _why(one.why, screen))


def _left_out(one: LeftOutFile, screen: Screen) -> tuple[str, ...]:
    size = screen.say(context_words.BYTES, count=one.size) if one.size else ""
    reason = _word(context_words.REASONS, one.why, screen)
    return (one_line(one.path, 1200) or "-", size, reason)


def _why(why: str, screen: Screen) -> str:
    code, _, about = why.partition(":")
    sentence = context_words.WHYS.get(code)
    if sentence is None:
        return one_line(why, 300)  # of a later version
    return screen.say(sentence, about=one_line(about, 300))


def _word(sentences: Mapping[str, Sentence], code: str, screen: Screen) -> str:
    sentence = sentences.get(code)
    return screen.say(sentence) if sentence else one_line(code, 100)
