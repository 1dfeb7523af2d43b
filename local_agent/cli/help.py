"""``codexbridge help``: how-to pages, example settings and the manual page, as they come along."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import common
from common.errors import InputError
from common.sentences import Lang, Sentence, say
from local_agent.cli.screen import Screen, print_as_it_is, screen_for

if TYPE_CHECKING:
    import argparse

HELP: Final = Sentence(
    en="Show a how-to page, or an example of the settings.", zh="查看使用说明或设置示例。"
)
HELP_TOPIC: Final = Sentence(
    en="which page, such as admin; left out, the pages are listed",
    zh="要查看的说明，例如 admin；不填则列出全部",
)
HELP_PAGES: Final = Sentence(
    en="`codexbridge help TOPIC` shows one of these:", zh="`codexbridge help TOPIC` 查看以下说明："
)
HELP_EXAMPLES: Final = Sentence(
    en="Example settings of the gateway, the agent, a workspace's policy, and nginx or Caddy",
    zh="网关、Agent、工作区策略以及 nginx、Caddy 的设置示例",
)
HELP_MAN: Final = Sentence(
    en="The manual page, for `man`: codexbridge help man | man -E UTF-8 -l -",
    zh="man 手册页：codexbridge help man | man -E UTF-8 -l -",
)
HELP_COMMANDS: Final = Sentence(
    en="`codexbridge --help` lists the commands.", zh="`codexbridge --help` 列出全部命令。"
)
HELP_CONFIG: Final = Sentence(
    en="Example settings, each explained where it stands. Write one to a file and change it:\n\n"
    "  codexbridge help gateway.toml > gateway.toml   the gateway; codexbridge gateway --config "
    "gateway.toml\n"
    "  codexbridge help agent.toml > agent.toml       the agent; codexbridge agent --config "
    "agent.toml\n"
    "  codexbridge help policy.toml > policy.toml     what may run in a workspace; see "
    "codexbridge help policy\n"
    "  codexbridge help nginx > codexbridge.conf      nginx in front of the gateway\n"
    "  codexbridge help caddy > Caddyfile             the same for Caddy",
    zh="设置示例，每一项都有说明。写入文件后再修改：\n\n"
    "  codexbridge help gateway.toml > gateway.toml   网关；codexbridge gateway --config "
    "gateway.toml\n"
    "  codexbridge help agent.toml > agent.toml       Agent；codexbridge agent --config "
    "agent.toml\n"
    "  codexbridge help policy.toml > policy.toml     工作区中允许运行的内容；见 "
    "codexbridge help policy\n"
    "  codexbridge help nginx > codexbridge.conf      放在网关前面的 nginx\n"
    "  codexbridge help caddy > Caddyfile             放在网关前面的 Caddy",
)

CONFIG: Final = "config"
MAN: Final = "man"
# What an example is called, and its file.
EXAMPLES: Final[Mapping[str, str]] = {
    "gateway.toml": "gateway.example.toml",
    "agent.toml": "agent.example.toml",
    "policy.toml": "policy.example.toml",
    "nginx": "nginx.example.conf",
    "caddy": "Caddyfile.example",
}
MOST: Final = 100  # cells of a line that is read with ease
_PICTURE: Final = re.compile(r"^ *!\[[^\]]*\]\([^)]*\)\n\n?", re.MULTILINE)
_LINK: Final = re.compile(
    r"((?:\((?=[^()]*\]\([^()]*\)\))|（(?=[^（）]*\]\([^()]*\)）))?)"
    r"\[([^\]]+)\]\(([^)\s#]*)(?:#[^)\s]*)?\)"
)
_COLON: Final = {"(": ": ", "（": "："}


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("help", description=say(HELP, lang))
    parser.set_defaults(run=run)
    parser.add_argument("topic", nargs="?", metavar="TOPIC", help=say(HELP_TOPIC, lang))


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Show a page; without a topic, what pages there are.

    Raises:
        InputError: ``input.help-topic`` (given, did_you_mean) or ``input.no-help-topic`` (given).
    """
    if args.topic is None:
        print(_list(lang))
    elif args.topic == CONFIG:
        print(say(HELP_CONFIG, lang))
    elif args.topic in EXAMPLES:
        # As it is, to be written to a file.
        print_as_it_is(_example(args.topic))
    elif args.topic == MAN:
        from local_agent.cli.manual import manual

        print_as_it_is(manual(lang))
    else:
        _show(page(args.topic, lang), screen_for(lang, environ))
    return 0


def topics() -> list[str]:
    """Return the names of all pages."""
    names = {path.name.partition(".")[0] for path in _folder("how_to", "docs/how-to").glob("*.md")}
    return sorted(names)


def page(topic: str, lang: Lang) -> str:
    """Return a page for a terminal: without pictures, and links name the command for their page.

    Raises:
        InputError: ``input.help-topic`` (given, did_you_mean) or ``input.no-help-topic`` (given).
    """
    known = topics()
    if topic not in known:
        import difflib

        near = difflib.get_close_matches(topic, [*known, CONFIG, *EXAMPLES, MAN], n=1, cutoff=0.5)
        if not near:
            raise InputError("input.no-help-topic", given=topic)
        raise InputError("input.help-topic", given=topic, did_you_mean=near[0])
    text = _read(topic, lang)
    heading, _, rest = text.partition("\n")
    # The line below the heading leads to the page in the other language.
    body = re.sub(r"\A\s*\[(?:中文|English)\]\([^)]*\)\n", "", rest)
    return heading + "\n" + _LINK.sub(_as_command, _PICTURE.sub("", body))


def _as_command(link: re.Match[str]) -> str:
    before, text, target = link[1], link[2], link[3].rpartition("/")[2]
    name = target.removesuffix(".md").removesuffix(".zh-CN")
    name = next((example for example, file in EXAMPLES.items() if file == target), name)
    known = name in EXAMPLES or name in topics()
    where = link[3] if "://" in link[3] else f"codexbridge help {name}" if known else ""
    if not where:
        return before + text
    # One alone in brackets needs no others.
    return f"{before}{text}{_COLON[before]}{where}" if before else f"{text} ({where})"


def _list(lang: Lang) -> str:
    titles = {topic: _read(topic, lang).partition("\n")[0].lstrip("# ") for topic in topics()}
    titles[CONFIG] = say(HELP_EXAMPLES, lang)
    titles[MAN] = say(HELP_MAN, lang)
    lines = (f"  {topic:<20}{title}" for topic, title in titles.items())
    return "\n".join([say(HELP_PAGES, lang), *lines, "", say(HELP_COMMANDS, lang)])


def _read(topic: str, lang: Lang) -> str:
    name = f"{topic}.zh-CN.md" if lang == "zh" else f"{topic}.md"
    return (_folder("how_to", "docs/how-to") / name).read_text(encoding="utf-8")


def _example(name: str) -> str:
    return (_folder("examples", "config") / EXAMPLES[name]).read_text(encoding="utf-8")


def _folder(packed: str, in_a_clone: str) -> Path:
    """Return where files lie: in the package as it is installed, else in the clone around it."""
    package = Path(common.__file__).parent
    return found if (found := package / packed).is_dir() else package.parent / in_a_clone


def _show(text: str, screen: Screen) -> None:
    if not _at_a_terminal():
        print(text, end="")
        return
    import pydoc

    from local_agent.cli.markdown import render

    os.environ.setdefault("LESS", "FRX")  # a page that fits is shown and left there
    if sys.stdout.encoding.lower() == "utf-8":
        os.environ.setdefault("LESSCHARSET", "utf-8")  # also where the system lacks the locale
    lines = render(text, width=min(screen.width, MOST), ink=screen.ink)
    pydoc.pager("\n".join([*lines, ""]))


def _at_a_terminal() -> bool:
    return sys.stdout.isatty()
