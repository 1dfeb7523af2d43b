"""``codexbridge route``: how a text would be read, and by which rule.  Nothing is asked or kept.

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

    from local_agent.routing.routed import Routed

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
    from local_agent.routing.router import Router

    understood = load_settings(find_home(environ), environ, None).nl
    router = Router(threshold=understood.confidence_threshold, free_text=understood.enable)
    routed = router.route(args.text)
    screen = screen_for(lang, environ)
    if args.json:
        print_json(_facts(routed, lang))
    else:
        _print(routed, screen)
    return 0


def _facts(routed: Routed, lang: Lang) -> dict[str, Any]:
    intent = routed.intent
    return {
        "kind": intent.kind.value,
        "confidence": round(intent.confidence, 2),
        "rule": routed.rule,
        "topic": routed.topic.value,
        "unsure": routed.unsure,
        "params": _params(routed),
        "task": routed.task_id,
        "taken": routed.taken or None,
        "left": routed.left or None,
        "meaning": say(_meaning(routed), lang),
    }


def _params(routed: Routed) -> dict[str, Any]:
    return routed.intent.params.model_dump(mode="json", by_alias=True, exclude_none=True)


def _print(routed: Routed, screen: Screen) -> None:
    intent = routed.intent
    rows: list[tuple[Sentence, list[str]]] = [
        (route_words.KIND, [intent.kind.value]),
        (route_words.CONFIDENCE, [f"{intent.confidence:.2f}"]),
        (route_words.RULE, [routed.rule]),
    ]
    if routed.topic.value != "plain":
        rows.append((route_words.TOPIC, [routed.topic.value]))
    if routed.task_id:
        rows.append((route_words.TASK, [routed.task_id]))
    for name, value in _params(routed).items():
        given = value if isinstance(value, list) else [value]
        rows.append((route_words.PARAMS[name], [one_line(one, _SHOWN_BYTES) for one in given]))
    if routed.left:
        rows.append((route_words.LEFT, [one_line(routed.left, _SHOWN_BYTES)]))
    screen.fields(rows)
    screen.tell(route_words.UNSURE if routed.unsure else _meaning(routed))


def _meaning(routed: Routed) -> Sentence:
    kind = route_words.MEANINGS[routed.intent.kind]
    return route_words.OF_TOPICS.get(routed.topic.value, kind)
