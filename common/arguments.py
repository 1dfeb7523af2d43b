"""Command-line arguments as both halves declare them: argparse, in the person's language.

A usage error is one line, and help is wrapped by terminal cells, so that Chinese fits too.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
from typing import Any, Final, NoReturn

from common.sentences import Lang, Sentence, say
from common.terminal import wrap

EXIT_USAGE: Final = 2

_USAGE: Final = Sentence(en="usage: ", zh="用法：")
_ARGUMENTS: Final = Sentence(en="arguments", zh="参数")
_OPTIONS: Final = Sentence(en="options", zh="选项")
_HEADING: Final = Sentence(en="{title}:", zh="{title}：")
_THIS_HELP: Final = Sentence(en="show this help", zh="显示本说明")
_WRONG: Final = Sentence(
    en="{program}: {message} (see `{program} --help`)",
    zh="{program}: 参数有误：{message}（见 `{program} --help`）",
)

# What argparse says, which it offers no way to say in words of ours.
_ACCOUNTS: Final = tuple(
    (pattern, Sentence(en=en, zh=zh))
    for pattern, en, zh in (
        (
            r"the following arguments are required: (?P<names>.*)",
            "missing: {names}",
            "缺少参数 {names}",
        ),
        (
            r"one of the arguments (?P<names>.*) is required",
            "one of {names} must be given",
            "{names} 中必须给出一个",
        ),
        (
            r"unrecognized arguments: (?P<words>.*)",
            "there is no place for {words}",
            "无法识别 {words}",
        ),
        (
            r"invalid choice: (?P<value>.*) \(choose from (?P<choices>.*)\)",
            "{value} is not among {choices}",
            "没有 {value} 这个选项，可选 {choices}",
        ),
        (r"expected one argument", "a value is missing", "缺少一个值"),
        (r"expected at least one argument", "at least one value is needed", "至少需要一个值"),
        (r"invalid int value: (?P<value>.*)", "{value} is not a whole number", "{value} 不是整数"),
        (r"invalid float value: (?P<value>.*)", "{value} is not a number", "{value} 不是数字"),
        (
            r"invalid port value: (?P<value>.*)",
            "{value} is not a port from 1 to 65535",
            "{value} 不是 1 到 65535 的端口",
        ),
        (
            r"invalid count value: (?P<value>.*)",
            "{value} is not a whole number above 0",
            "{value} 不是大于 0 的整数",
        ),
        (
            r"invalid (?:seconds|pause) value: (?P<value>.*)",
            "{value} is not a number of seconds above 0, up to a week",
            "{value} 不是大于 0、不超过一周的秒数",
        ),
        (
            r"not allowed with argument (?P<other>.*)",
            "it cannot be given beside {other}",
            "不能与 {other} 同时使用",
        ),
        (
            r"ignored explicit argument (?P<value>.*)",
            "takes no value, but {value} was given",
            "不接受值，却给出了 {value}",
        ),
    )
)
# The commands that take ``--config``, where a hint names one without it.
_TAKES_CONFIG: Final = re.compile(
    r"\bcodexbridge (?:gateway|agent|models key)(?![\w-])(?! --config)"
)
_OF_ARGUMENT: Final = r"argument (?P<name>.*?): (?P<account>.*)"
_ARGUMENT: Final = Sentence(en="{name}: {account}", zh="{name}：{account}")
_OTHER: Final = Sentence(en="the arguments are not understood", zh="无法理解给出的参数")


def new_parser(program: str, lang: Lang) -> argparse.ArgumentParser:
    """Return a parser whose subparsers speak the same language.

    Args:
        program: Name of the program.
        lang: Language of everything that it says.
    """

    class Parser(argparse.ArgumentParser):
        """An argparse parser of one language; argparse makes subparsers of this class."""

        def __init__(self, **options: Any) -> None:
            own = {"add_help": False, "allow_abbrev": False, "formatter_class": _Formatter}
            super().__init__(**options | own)
            # argparse offers no other way to name its two groups.
            self._positionals.title = say(_ARGUMENTS, lang)
            self._optionals.title = say(_OPTIONS, lang)
            self.add_argument("-h", "--help", action="help", help=say(_THIS_HELP, lang))

        def format_help(self) -> str:
            told = super().format_help().replace("usage: ", say(_USAGE, lang), 1)
            for title in (_ARGUMENTS, _OPTIONS):
                heading = say(_HEADING, lang, title=say(title, lang))
                told = told.replace(f"\n{say(title, lang)}:\n", f"\n{heading}\n", 1)
            return told

        def parse_known_args(
            self, args: Any = None, namespace: Any = None
        ) -> tuple[Any, list[str]]:
            # Here and not where argparse does, at the top: the help of this command lists what
            # there is.
            known, extra = super().parse_known_args(args, namespace)
            if extra:
                self.error(f"unrecognized arguments: {' '.join(extra)}")
            return known, extra

        def error(self, message: str) -> NoReturn:
            told = _account(message, lang)
            said = say(_WRONG, lang, program=self.prog, message=told)
            self.exit(EXIT_USAGE, said + "\n")

    return Parser(prog=program)


def _account(message: str, lang: Lang) -> str:
    if whose := re.fullmatch(_OF_ARGUMENT, message, re.DOTALL):
        account = _account(whose["account"], lang)
        return say(_ARGUMENT, lang, name=whose["name"], account=account)
    for pattern, sentence in _ACCOUNTS:
        if match := re.fullmatch(pattern, message, re.DOTALL):
            return say(sentence, lang, **match.groupdict())
    return say(_OTHER, lang)


def with_config(text: str, file: os.PathLike[str] | None) -> str:
    """Return a hint whose commands name the settings file in use, so that they can be pasted."""
    if file is None:
        return text
    option = f" --config {shlex.quote(os.fspath(file))}"
    return _TAKES_CONFIG.sub(lambda hint: hint[0] + option, text)


class _Formatter(argparse.HelpFormatter):
    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrap(" ".join(text.split()), width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = wrap(" ".join(text.split()), width - len(indent))
        return "\n".join(indent + line for line in lines)
