"""``codexbridge route``: how a text would be read, and by what.  Nothing is asked or kept.

The agent need not run: reading a text is pure but for the settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from common.home import find_home
from common.sentences import Lang, Sentence, say
from common.text import one_line
from local_agent.cli import route_words, words
from local_agent.cli.screen import Screen, print_json, screen_for
from local_agent.settings import load_settings

if TYPE_CHECKING:
    import argparse

    from local_agent.understand.reading import Reading

_SHOWN_BYTES: Final = 400


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("route", description=say(route_words.ROUTE, lang))
    parser.add_argument("text", help=say(route_words.ROUTE_TEXT, lang))
    parser.add_argument("--json", action="store_true", help=say(words.JSON, lang))


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Show it.

    Raises:
        ConfigError: the settings cannot be read.
    """
    from local_agent.understand.reader import Reader

    understood = load_settings(find_home(environ), environ, None).nl
    reader = Reader(threshold=understood.confidence_threshold, free_text=understood.enable)
    reading = reader.read(args.text)
    screen = screen_for(lang, environ)
    if args.json:
        print_json(_facts(reading, lang))
    else:
        _print(reading, screen)
    return 0


def _facts(reading: Reading, lang: Lang) -> dict[str, Any]:
    intent = reading.intent
    return {
        "kind": intent.kind.value,
        "confidence": round(intent.confidence, 2),
        "rule": reading.rule,
        "likeliest": [kind.value for kind in reading.likeliest],
        "topic": reading.topic.value,
        "unsure": reading.unsure,
        "params": _params(reading),
        "task": reading.task_id,
        "taken": reading.taken or None,
        "left": reading.left or None,
        "meaning": say(_meaning(reading), lang),
    }


def _params(reading: Reading) -> dict[str, Any]:
    return reading.intent.params.model_dump(mode="json", by_alias=True, exclude_none=True)


def _print(reading: Reading, screen: Screen) -> None:
    intent = reading.intent
    rows: list[tuple[Sentence, list[str]]] = [
        (route_words.KIND, [intent.kind.value]),
        (route_words.CONFIDENCE, [f"{intent.confidence:.2f}"]),
        (route_words.RULE, [reading.rule]),
    ]
    if reading.topic.value != "plain":
        rows.append((route_words.TOPIC, [reading.topic.value]))
    if reading.task_id:
        rows.append((route_words.TASK, [reading.task_id]))
    for name, value in _params(reading).items():
        given = value if isinstance(value, list) else [value]
        rows.append((route_words.PARAMS[name], [one_line(one, _SHOWN_BYTES) for one in given]))
    if reading.left:
        rows.append((route_words.LEFT, [one_line(reading.left, _SHOWN_BYTES)]))
    screen.fields(rows)
    screen.tell(route_words.UNSURE if reading.unsure else _meaning(reading))


def _meaning(reading: Reading) -> Sentence:
    kind = route_words.MEANINGS[reading.intent.kind]
    return route_words.OF_TOPICS.get(reading.topic.value, kind)
