"""Command-line arguments as both halves declare them: argparse, in the person's language.

A usage error is one line, and help is wrapped by terminal cells, so that Chinese fits too.
"""

from __future__ import annotations

import argparse
from typing import Any, Final, NoReturn

from common.sentences import Lang, Sentence, say
from common.terminal import wrap

EXIT_USAGE: Final = 2

_USAGE: Final = Sentence(en="usage: ", zh="用法：")
_ARGUMENTS: Final = Sentence(en="arguments", zh="参数")
_OPTIONS: Final = Sentence(en="options", zh="选项")
_THIS_HELP: Final = Sentence(en="show this help", zh="显示本说明")
_WRONG: Final = Sentence(
    en="{program}: {message} (see `{program} --help`)",
    zh="{program}：参数有误：{message}（见 `{program} --help`）",
)


def new_parser(program: str, lang: Lang) -> argparse.ArgumentParser:
    """Return a parser whose subparsers speak the same language.

    Args:
        program: Name of the program.
        lang: Language of everything but argparse's own account of an error.
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
            return super().format_help().replace("usage: ", say(_USAGE, lang), 1)

        def error(self, message: str) -> NoReturn:
            self.exit(EXIT_USAGE, say(_WRONG, lang, program=self.prog, message=message) + "\n")

    return Parser(prog=program)


class _Formatter(argparse.HelpFormatter):
    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrap(" ".join(text.split()), width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = wrap(" ".join(text.split()), width - len(indent))
        return "\n".join(indent + line for line in lines)
