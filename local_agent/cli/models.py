"""``codexbridge models``: what is configured, whether it answers, and the keys.

A key is read from a hidden prompt or from standard input, and from nowhere else: arguments show in
process lists.  It is never printed.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from common.errors import CodexBridgeError, InputError, StateError
from common.home import Home, find_home
from common.sentences import Lang, Sentence, explain, say
from common.text import one_line
from local_agent.cli import words
from local_agent.cli.screen import Screen, at_keyboard, print_json, screen_for
from local_agent.cli.tasks import date_and_time
from local_agent.faces.control.client import call, stream
from local_agent.views import from_json

if TYPE_CHECKING:
    import argparse

    from local_agent.views.status import ModelFailure, ModelUse, ModelView

MODELS: Final = Sentence(
    en="The models that are configured on this machine, and their keys",
    zh="本机配置的模型及其密钥",
)
LIST: Final = Sentence(
    en="show each model: which one is asked, where its key lies, what it has used",
    zh="显示各个模型：当前使用哪个、密钥存放位置、用量",
)
TEST: Final = Sentence(
    en="ask the smallest question through the running agent, and say how it went",
    zh="通过运行中的 Agent 提出一个最小的问题，并说明结果",
)
KEY: Final = Sentence(
    en="store the key of a model; it is read from a hidden prompt, or from standard input",
    zh="存入模型密钥；从隐藏的输入提示或标准输入读取",
)
NAME: Final = Sentence(en="name of a table [models.NAME]", zh="表 [models.NAME] 的名称")
NAME_OR_ASKED: Final = Sentence(
    en="name of a table [models.NAME]; without it, the model that is asked",
    zh="表 [models.NAME] 的名称；省略时为当前使用的模型",
)
DELETE: Final = Sentence(en="remove the stored key", zh="删除已存的密钥")
NONE: Final = Sentence(
    en="No model is configured: what needs one is not done. To connect one, write it into\n"
    "{file}, such as",
    zh="没有配置模型：需要模型的请求不会进行。如需接入，请写入\n{file}，例如",
)
NONE_NEXT: Final = Sentence(
    en="then store its key (codexbridge models key {name}), start the agent again and try it\n"
    "(codexbridge models test). More: codexbridge help models",
    zh="然后存入密钥（codexbridge models key {name}），重新启动 Agent 并测试\n"
    "（codexbridge models test）。详见 codexbridge help models",
)
NOT_YET: Final = Sentence(
    en="{names}: in the settings since the agent was started, so it does not know it yet. Start "
    "the agent again: codexbridge agent",
    zh="{names}：启动 Agent 之后才写入设置，Agent 还不知道。请重新启动：codexbridge agent",
)
ASKED: Final = Sentence(en="asked", zh="使用中")
EXPERIMENTAL: Final = Sentence(en="experimental", zh="实验性")
KEY_LABEL: Final = Sentence(en="key", zh="密钥")
USED_LABEL: Final = Sentence(en="last {days} days", zh="最近 {days} 天")
FAILED_LABEL: Final = Sentence(en="last failure", zh="最近一次失败")
NO_KEY: Final = Sentence(
    en="none (store one: codexbridge models key {name})",
    zh="无（存入：codexbridge models key {name}）",
)
NO_KEY_NEEDED: Final = Sentence(en="none, and it needs none", zh="无，也不需要")
KEY_AT: Final = {
    "file": Sentence(en="in a file that only you can read", zh="在仅本人可读的文件中"),
    "keyring": Sentence(en="in the system keyring", zh="在系统密钥环中"),
    "away": Sentence(
        en="in the system keyring, which cannot be reached now",
        zh="在系统密钥环中，目前无法访问",
    ),
    "broken": Sentence(
        en="cannot be read; store it anew: codexbridge models key {name}",
        zh="无法读取；请重新存入：codexbridge models key {name}",
    ),
}
USED: Final = Sentence(
    en="{turns} turns ({failed} failed), {read} tokens read, {written} written",
    zh="{turns} 轮（失败 {failed}），读入 {read}、写出 {written} 个 token",
)
COST: Final = Sentence(en="about {cost} {currency}", zh="约 {cost} {currency}")
FAILED: Final = Sentence(en="{at}: {why}", zh="{at}：{why}")
KEY_PROMPT: Final = Sentence(
    en="Key of the model {name} (not shown): ", zh="模型 {name} 的密钥（不显示）："
)
KEY_STORED: Final = Sentence(
    en="The key of {name} is stored {where}. The agent uses it from the next question on. "
    "To try it: codexbridge models test {name}",
    zh="{name} 的密钥已存{where}。下一个问题起生效。试一试：codexbridge models test {name}",
)
KEY_DELETED: Final = Sentence(en="The key of {name} is removed.", zh="{name} 的密钥已删除。")
TESTING: Final = Sentence(en="Asking {name} …", zh="正在询问 {name} …")
WORKS: Final = Sentence(
    en="{name} answers: {model}, {latency} ms", zh="{name} 可用：{model}，{latency} 毫秒"
)
WORKS_VERSION: Final = Sentence(
    en="{name} answers: {model}, {version}, {latency} ms",
    zh="{name} 可用：{model}，{version}，{latency} 毫秒",
)

_UNKNOWN: Final = ("models.none", "models.unknown")
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
    parser = subparsers.add_parser("models", description=say(MODELS, lang))
    parser.set_defaults(run=run)
    parser.set_defaults(action="list", json=False)
    actions = parser.add_subparsers(dest="action")
    listing = actions.add_parser("list", help=say(LIST, lang))
    words.add_json(listing, lang)
    test = actions.add_parser("test", help=say(TEST, lang))
    test.add_argument("name", nargs="?", default="", metavar="NAME", help=say(NAME_OR_ASKED, lang))
    words.add_json(test, lang)
    key = actions.add_parser("key", help=say(KEY, lang))
    key.add_argument("name", metavar="NAME", help=say(NAME, lang))
    key.add_argument("--delete", action="store_true", help=say(DELETE, lang))
    words.add_config(key, lang)


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
    from local_agent.views.status import ModelList

    found = from_json(ModelList, told, loose=True)
    new = _not_yet(home, environ, {model.name for model in found.models})
    if not (found.models or new):
        _tell_how(home, screen)
    for model in found.models:
        print(_head(model, screen))
        rows = [
            (KEY_LABEL, _where(model, screen)),
            (USED_LABEL, _used(model.used, screen)),
        ]
        if failed := model.last_failure:
            rows.append((FAILED_LABEL, _failed(failed, screen)))
        for label, value in rows:
            print(f"  {screen.ink('dim', screen.say(label, days=found.days))}  {value}")
    if new:
        screen.tell(NOT_YET, names=", ".join(new))


def _not_yet(home: Home, environ: Mapping[str, str], known: Collection[str]) -> list[str]:
    """Return the models of the settings that the running agent was started without."""
    from local_agent.settings import load_settings

    return [name for name in load_settings(home, environ, None).models if name not in known]


def _tell_how(home: Home, screen: Screen) -> None:
    from local_agent.settings import SETTINGS_FILE

    screen.tell(NONE, file=home.config / SETTINGS_FILE)
    print("\n".join(f"  {line}" for line in _EXAMPLE))
    screen.tell(NONE_NEXT, name=_EXAMPLE_NAME)


def _head(model: ModelView, screen: Screen) -> str:
    parts = [screen.ink("bold", model.name), model.kind, one_line(model.model, 100)]
    if model.kind == "acp":
        parts.append(screen.say(EXPERIMENTAL))
    if model.asked:
        parts.append(screen.ink("green", screen.say(ASKED)))
    return "  ".join(parts)


def _where(model: ModelView, screen: Screen) -> str:
    name, key = model.name, model.key
    if key is None:
        return screen.say(NO_KEY if model.needs_key else NO_KEY_NEEDED, name=name)
    return screen.say(KEY_AT[key.partition(":")[0]], name=name)


def _used(used: ModelUse, screen: Screen) -> str:
    told = screen.say(
        USED,
        turns=used.turns,
        failed=used.failed,
        read=used.input_tokens,
        written=used.output_tokens,
    )
    if used.cost is None:
        return told
    cost = screen.say(COST, cost=f"{used.cost:.2f}", currency=used.currency)
    return f"{told}  {cost}"


def _failed(failed: ModelFailure, screen: Screen) -> str:
    from local_agent.error_texts import ERRORS

    why = explain(CodexBridgeError(failed.code), ERRORS, screen.lang)
    return screen.say(FAILED, at=date_and_time(failed.at), why=why)


def _test(
    name: str, home: Home, screen: Screen, environ: Mapping[str, str], *, as_json: bool
) -> None:
    if screen.live and not as_json and name:
        screen.tell(TESTING, name=name)
    # A program has to start and a model to think: as long as the agent itself gives them.
    try:
        *_, (_, told) = stream(home, environ, "models_test", name=name)
    except CodexBridgeError as error:
        new = _not_yet(home, environ, ()) if error.code in _UNKNOWN else []
        if new and (not name or name in new):
            raise StateError("models.not-yet", name=name or new[0]) from None
        raise
    if as_json:
        print_json(told)
        return
    from local_agent.views.status import ModelAnswer

    health = from_json(ModelAnswer, told, loose=True)
    sentence = WORKS_VERSION if health.version else WORKS
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
        screen.tell(KEY_DELETED, name=name)
        return
    where = keys.put(name, parse_key(_read_key(name, screen)))
    told = screen.say(KEY_AT[where.partition(":")[0]], name=name)
    screen.tell(KEY_STORED, name=name, where=told)


def _check_name(
    name: str, home: Home, environ: Mapping[str, str], settings_file: Path | None
) -> None:
    from local_agent.settings import load_settings

    known = load_settings(home, environ, settings_file).models
    if not known:
        raise InputError("models.none")
    if name not in known:
        raise InputError("models.unknown", name=name, known=tuple(known))


def _read_key(name: str, screen: Screen) -> str:
    from local_agent.models.keys import MAX_INPUT_CHARS

    if at_keyboard():
        import getpass

        return getpass.getpass(screen.say(KEY_PROMPT, name=name))[:MAX_INPUT_CHARS]
    return sys.stdin.read(MAX_INPUT_CHARS) if sys.stdin else ""
