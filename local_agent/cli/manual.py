"""The manual page, made from the launcher's table and the parsers of its commands.

What reads them is shared with the reference of the documentation, which is made from them too.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import codexbridge
from common.sentences import Lang, Sentence, say

NAME: Final = Sentence(en="NAME", zh="名称")
SYNOPSIS: Final = Sentence(en="SYNOPSIS", zh="用法")
COMMAND: Final = Sentence(en="COMMAND", zh="命令")
DESCRIPTION: Final = Sentence(en="DESCRIPTION", zh="说明")
ABOUT: Final = Sentence(
    en="A gateway verifies messages from WeCom and relays them to the agent on your dev machine. "
    "The agent proposes a command or a change and shows it; nothing runs until you confirm it "
    "there. `codexbridge help` lists the how-to pages, `codexbridge COMMAND --help` says what a "
    "command takes.",
    zh="网关核验企业微信的消息，再转给你开发机上的 Agent。Agent 提出命令或改动方案并展示；"
    "在那台开发机上确认之前，什么都不会运行。`codexbridge help` 列出使用说明，"
    "`codexbridge 命令 --help` 显示命令的参数。",
)
COMMANDS: Final = Sentence(en="COMMANDS", zh="命令")
FILES: Final = Sentence(en="FILES", zh="文件")
ENVIRONMENT: Final = Sentence(en="ENVIRONMENT", zh="环境变量")
EXIT_STATUS: Final = Sentence(en="EXIT STATUS", zh="退出码")
_FILES: Final = {
    "~/.config/codexbridge/agent.toml": Sentence(
        en="settings of the agent; `codexbridge help agent.toml` prints an example",
        zh="Agent 的设置；示例见 `codexbridge help agent.toml`",
    ),
    "~/.config/codexbridge/gateway.toml": Sentence(
        en="settings of the gateway; `codexbridge help gateway.toml` prints an example",
        zh="网关的设置；示例见 `codexbridge help gateway.toml`",
    ),
}
_ENVIRONMENT: Final = {
    "CODEXBRIDGE_HOME": Sentence(
        en="one folder for settings, state and run-time files, instead of the platform's",
        zh="把设置、状态和运行时文件都放进这个文件夹，不用系统的默认位置",
    ),
    "CODEXBRIDGE_LANG": Sentence(
        en="en or zh; else LC_ALL, LC_MESSAGES or LANG decides",
        zh="en 或 zh；不设置时由 LC_ALL、LC_MESSAGES 或 LANG 决定",
    ),
    "CODEXBRIDGE_AGENT__…, CODEXBRIDGE_GATEWAY__…": Sentence(
        en="any setting, such as CODEXBRIDGE_GATEWAY__LISTEN__PORT",
        zh="任一设置项，例如 CODEXBRIDGE_GATEWAY__LISTEN__PORT",
    ),
    "SSL_CERT_FILE": Sentence(
        en="certificates to trust instead of the system's, for a gateway under your own CA",
        zh="代替系统证书的信任文件，用于自有 CA 签发的网关证书",
    ),
}
_EXITS: Final = {
    "0": Sentence(en="done", zh="完成"),
    "1": Sentence(en="failed", zh="失败"),
    "2": Sentence(en="wrong input or configuration", zh="输入或配置有误"),
    "3": Sentence(en="the agent is not running (`status`)", zh="Agent 没有运行（`status`）"),
    "130": Sentence(en="interrupted", zh="被中断"),
}
_SPECIAL: Final = {"\\": "\\e", "-": "\\-", "'": "\\(aq", "~": "\\(ti", "^": "\\(ha"}


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument or option, as it is shown.

    Attributes:
        names: All its spellings, or what stands for it.
        value: What stands for its value; '' when it takes none.
    """

    names: str
    value: str
    about: str


@dataclass(frozen=True, slots=True)
class Usage:
    """One command: its words, what it does, what it takes beside what those above it take."""

    words: str
    about: str
    arguments: tuple[Argument, ...]


def usages(
    words: str, parser: argparse.ArgumentParser, known: frozenset[str] = frozenset()
) -> Iterator[Usage]:
    """Yield a command and those below it."""
    actions = parser._actions  # noqa: SLF001 - argparse tells of them nowhere else
    taken = (one for one in actions if not known & {*one.option_strings} and _is_shown(one))
    yield Usage(words, parser.description or "", tuple(map(_argument, taken)))
    own = known.union(*(action.option_strings for action in actions))
    for action in actions:
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - same
            for name, child in action.choices.items():
                yield from usages(f"{words} {name}", child, own - {"--json", "--all"})


def _is_shown(action: argparse.Action) -> bool:
    return not isinstance(action, argparse._HelpAction | argparse._SubParsersAction)  # noqa: SLF001 - same


def _argument(action: argparse.Action) -> Argument:
    if not action.option_strings:
        return Argument(str(action.metavar or action.dest), "", action.help or "")
    value = str(action.metavar or action.dest.upper()) if action.nargs != 0 else ""
    return Argument(", ".join(action.option_strings), value, action.help or "")


# -- the page --------------------------------------------------------------------------------------


def manual(lang: Lang) -> str:
    """Return the page for ``man``, in roff."""
    what = getattr(codexbridge.HELP, lang).partition("\n")[0].rstrip(".。")
    lines = [
        f'.TH CODEXBRIDGE 1 "" "CodexBridge {codexbridge.__version__}"',
        ".nh",  # no hyphens in what is to be typed
        ".ad l",
        *_heading(NAME, lang),
        f"codexbridge \\- {_text(what)}",
        *_heading(SYNOPSIS, lang),
        f"\\fBcodexbridge\\fR \\fI{_text(say(COMMAND, lang))}\\fR [...]",
        *_heading(DESCRIPTION, lang),
        _text(say(ABOUT, lang)),
        *_heading(COMMANDS, lang),
    ]
    parsers = codexbridge.new_parsers(lang)
    for title, commands in codexbridge.SECTIONS:
        lines.append(f".SS {getattr(title, lang)}")
        for command in commands:
            for usage in usages(command.name, parsers[command.name]):
                lines += _entry(usage, getattr(command, lang))
    for heading, rows in ((FILES, _FILES), (ENVIRONMENT, _ENVIRONMENT), (EXIT_STATUS, _EXITS)):
        lines += _heading(heading, lang)
        for name, about in rows.items():
            lines += [".TP", f"\\fB{_text(name)}\\fR", _text(say(about, lang))]
    return "\n".join(lines) + "\n"


def _heading(title: Sentence, lang: Lang) -> list[str]:
    return [f".SH {say(title, lang)}"]


def _entry(usage: Usage, summary: str) -> Iterator[str]:
    yield ".TP"
    yield f"\\fBcodexbridge {_text(usage.words)}\\fR"
    # A command below another may say no more than its arguments do.
    yield _text(usage.about or ("" if " " in usage.words else summary)) or "\\&"
    if usage.arguments:
        yield ".RS"
        for argument in usage.arguments:
            value = f" \\fI{_text(argument.value)}\\fR" if argument.value else ""
            yield ".TP"
            yield f"\\fB{_text(argument.names)}\\fR{value}"
            yield _text(argument.about) or "\\&"
        yield ".RE"


def _text(text: str) -> str:
    """Return text that roff shows as it is; what stands between backticks is bold."""
    shown = "".join(_SPECIAL.get(letter, letter) for letter in " ".join(text.split()))
    shown = re.sub(r"`([^`]+)`", r"\\fB\1\\fR", shown).replace("`", "\\(ga")
    return f"\\&{shown}" if shown.startswith(".") else shown
