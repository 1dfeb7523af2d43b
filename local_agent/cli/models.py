"""``codexbridge models``: what is configured, whether it answers, and the keys.

A key is read from a hidden prompt or from standard input, and from nowhere else: arguments show in
process lists.  It is never printed.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from common.errors import CodexBridgeError, InputError
from common.home import Home, find_home
from common.sentences import Lang, explain, say
from common.text import one_line
from local_agent.cli import model_words, words
from local_agent.cli.screen import Screen, at_keyboard, print_json, screen_for
from local_agent.cli.tasks import date_and_time
from local_agent.faces.control.client import call, stream

if TYPE_CHECKING:
    import argparse

    from local_agent.views.status import ModelFailure, ModelUse, ModelView

_EXAMPLE_NAME: Final = "deepseek"
_EXAMPLE: Final = (
    f"[models.{_EXAMPLE_NAME}]",
    'kind = "http"',
    'model = "deepseek-chat"',
    'base_url = "https://api.deepseek.com/v1"',
    'json_mode = "object"',
)


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments.  A key is none of them."""
    parser = subparsers.add_parser("models", description=say(model_words.MODELS, lang))
    parser.set_defaults(action="list", json=False)
    actions = parser.add_subparsers(dest="action")
    listing = actions.add_parser("list", help=say(model_words.LIST, lang))
    listing.add_argument("--json", action="store_true", help=say(words.JSON, lang))
    test = actions.add_parser("test", help=say(model_words.TEST, lang))
    test.add_argument(
        "name", nargs="?", default="", metavar="NAME", help=say(model_words.NAME_OR_ASKED, lang)
    )
    test.add_argument("--json", action="store_true", help=say(words.JSON, lang))
    key = actions.add_parser("key", help=say(model_words.KEY, lang))
    key.add_argument("name", metavar="NAME", help=say(model_words.NAME, lang))
    key.add_argument("--delete", action="store_true", help=say(model_words.DELETE, lang))
    key.add_argument("--config", type=Path, metavar="FILE", help=say(words.AGENT_CONFIG, lang))


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """List, test, or keep a key.

    Raises:
        CodexBridgeError: with ``test``, whatever is wrong with the model.
        InputError: ``models.unknown``, ``models.key-form``.
    """
    home, screen = find_home(environ), screen_for(lang, environ)
    match args.action:
        case "test":
            _test(args.name, home, screen, environ, as_json=args.json)
        case "key":
            if not args.delete:
                _check_name(args.name, home, environ, args.config)
            _key(args.name, home, screen, delete=args.delete)
        case _:
            _list(home, screen, environ, as_json=args.json)
    return 0


def _list(home: Home, screen: Screen, environ: Mapping[str, str], *, as_json: bool) -> None:
    told = call(home, environ, "models")
    if as_json:
        print_json(told)
        return
    from local_agent.views.codec import from_json
    from local_agent.views.status import ModelList

    found = from_json(ModelList, told, loose=True)
    if not found.models:
        _tell_how(home, screen)
    for model in found.models:
        print(_head(model, screen))
        rows = [
            (model_words.KEY_LABEL, _where(model, screen)),
            (model_words.USED_LABEL, _used(model.used, screen)),
        ]
        if failed := model.last_failure:
            rows.append((model_words.FAILED_LABEL, _failed(failed, screen)))
        for label, value in rows:
            print(f"  {screen.ink('dim', screen.say(label, days=found.days))}  {value}")


def _tell_how(home: Home, screen: Screen) -> None:
    from local_agent.settings import SETTINGS_FILE

    screen.tell(model_words.NONE, file=home.config / SETTINGS_FILE)
    print("\n".join(f"  {line}" for line in _EXAMPLE))
    screen.tell(model_words.NONE_NEXT, name=_EXAMPLE_NAME)


def _head(model: ModelView, screen: Screen) -> str:
    parts = [screen.ink("bold", model.name), model.kind, one_line(model.model, 100)]
    if model.kind == "acp":
        parts.append(screen.say(model_words.EXPERIMENTAL))
    if model.asked:
        parts.append(screen.ink("green", screen.say(model_words.ASKED)))
    return "  ".join(parts)


def _where(model: ModelView, screen: Screen) -> str:
    name, key = model.name, model.key
    if key is None:
        none = model_words.NO_KEY if model.needs_key else model_words.NO_KEY_NEEDED
        return screen.say(none, name=name)
    return screen.say(model_words.KEY_AT[key.partition(":")[0]], name=name)


def _used(used: ModelUse, screen: Screen) -> str:
    told = screen.say(
        model_words.USED,
        turns=used.turns,
        failed=used.failed,
        read=used.input_tokens,
        written=used.output_tokens,
    )
    if used.cost is None:
        return told
    cost = screen.say(model_words.COST, cost=f"{used.cost:.2f}", currency=used.currency)
    return f"{told}  {cost}"


def _failed(failed: ModelFailure, screen: Screen) -> str:
    from local_agent.error_texts import ERRORS

    why = explain(CodexBridgeError(failed.code), ERRORS, screen.lang)
    return screen.say(model_words.FAILED, at=date_and_time(failed.at), why=why)


def _test(
    name: str, home: Home, screen: Screen, environ: Mapping[str, str], *, as_json: bool
) -> None:
    if screen.live and not as_json and name:
        screen.tell(model_words.TESTING, name=name)
    # A program has to start and a model to think: as long as the agent itself gives them.
    *_, (_, told) = stream(home, environ, "models_test", name=name)
    if as_json:
        print_json(told)
        return
    from local_agent.views.codec import from_json
    from local_agent.views.status import ModelAnswer

    health = from_json(ModelAnswer, told, loose=True)
    sentence = model_words.WORKS_VERSION if health.version else model_words.WORKS
    screen.tell(
        sentence,
        name=health.name,
        model=one_line(health.model, 100),
        version=one_line(health.version, 100),
        latency=health.latency_ms,
    )


def _key(name: str, home: Home, screen: Screen, *, delete: bool) -> None:
    from local_agent.link.pairing import open_keys
    from local_agent.models.keys import ModelKeys, parse_key

    keys = ModelKeys(open_keys(home))
    if delete:
        keys.delete(name)
        screen.tell(model_words.KEY_DELETED, name=name)
        return
    where = keys.put(name, parse_key(_read_key(name, screen)))
    told = screen.say(model_words.KEY_AT[where.partition(":")[0]], name=name)
    screen.tell(model_words.KEY_STORED, name=name, where=told)


def _check_name(
    name: str, home: Home, environ: Mapping[str, str], settings_file: Path | None
) -> None:
    from local_agent.settings import load_settings

    known = load_settings(home, environ, settings_file).models
    if name not in known:
        raise InputError("models.unknown", name=name, known=", ".join(known) or "-")


def _read_key(name: str, screen: Screen) -> str:
    from local_agent.models.keys import MAX_INPUT_CHARS

    if at_keyboard():
        import getpass

        return getpass.getpass(screen.say(model_words.KEY_PROMPT, name=name))[:MAX_INPUT_CHARS]
    return sys.stdin.read(MAX_INPUT_CHARS) if sys.stdin else ""
