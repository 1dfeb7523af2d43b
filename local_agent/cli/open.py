"""``codexbridge open``: the local page, in the person's browser.

The link begins one session and is then used up.  It may be seen in a list of processes: nobody but
this user's own processes can use it (`common.page.peers`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from common.home import find_home
from common.sentences import Lang, Sentence, say
from local_agent.cli import words
from local_agent.cli.screen import print_json, screen_for
from local_agent.faces.control.client import call

if TYPE_CHECKING:
    import argparse

OPEN: Final = Sentence(
    en="Open the local page of this machine in your browser: tasks, approvals, files, audit log. "
    "The agent must be running. The page listens on loopback only, while it is in use. "
    "More: codexbridge help page",
    zh="在浏览器中打开本机的本地页面：任务、审批、文件、审计日志。Agent 须正在运行。"
    "页面只监听回环地址，且仅在使用期间监听。详见：codexbridge help page",
)
PRINT: Final = Sentence(
    en="print the link instead of opening a browser", zh="只显示链接，不打开浏览器"
)
SHUT: Final = Sentence(
    en="end every session of the page and stop listening", zh="结束页面的所有会话并停止监听"
)
LINK: Final = Sentence(
    en="Open this link within 5 minutes; it works once:\n{url}",
    zh="请在 5 分钟内打开此链接；只能使用一次：\n{url}",
)
OPENED: Final = Sentence(
    en="The page is opening in your browser. If it does not: codexbridge open --print",
    zh="正在浏览器中打开页面。如未打开：codexbridge open --print",
)
IS_SHUT: Final = Sentence(en="Every session of the page has ended.", zh="页面的所有会话已结束。")


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("open", description=say(OPEN, lang))
    parser.set_defaults(run=open_page)
    parser.add_argument("--print", action="store_true", help=say(PRINT, lang))
    parser.add_argument("--shut", action="store_true", help=say(SHUT, lang))
    words.add_json(parser, lang)


def open_page(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Open it, or print the link where no browser can be opened.

    Raises:
        UnavailableError: ``agent.not-running``, ``page.no-port``.
    """
    home, screen = find_home(environ), screen_for(lang, environ)
    if args.shut:
        call(home, environ, "shut_page")
        screen.tell(IS_SHUT)
        return 0
    url = call(home, environ, "open_page")["url"]
    if args.json:
        print_json({"url": url})
    elif args.print or not _can_open(environ) or not _open(url):
        screen.tell(LINK, url=url)
    else:
        screen.tell(OPENED)
    return 0


def _can_open(environ: Mapping[str, str]) -> bool:
    """Tell whether there is a screen; a browser for the terminal could not show the page."""
    import sys

    return sys.platform == "darwin" or bool(
        environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")
    )


def _open(url: str) -> bool:
    import webbrowser

    return webbrowser.open(url)
