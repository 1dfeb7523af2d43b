"""``codexbridge passkey``: the passkeys that may approve on the local page.

One is added by a person at a terminal: it is made on the page, and kept only when the code that the
page shows for it was typed here.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from common.errors import CodexBridgeError, InputError
from common.home import Home, find_home
from common.sentences import Lang, Sentence, explain, say
from common.text import one_line
from local_agent.cli import words
from local_agent.cli.screen import print_json, screen_for
from local_agent.cli.tasks import date_and_time
from local_agent.faces.control.client import call, stream

if TYPE_CHECKING:
    import argparse

    from local_agent.faces.terminal.tty import Terminal
    from local_agent.views import Json

PASSKEY: Final = Sentence(
    en="The passkeys that may approve on the local page (Touch ID, Windows Hello, a security key)",
    zh="可在本地页面批准的通行密钥（触控 ID、Windows Hello、安全密钥）",
)
ADD: Final = Sentence(
    en="Add a passkey: open the link, make the passkey there, then type the code that the page "
    "shows. Standard input must be a terminal. Ctrl-C adds nothing.",
    zh="添加通行密钥：打开链接，在页面上创建通行密钥，再输入页面显示的代码。标准输入必须是终端。"
    "按 Ctrl-C 则不添加。",
)
LIST: Final = Sentence(
    en="show each passkey: its code, when it was added and last used",
    zh="显示各个通行密钥：代码、添加时间、上次使用时间",
)
REMOVE: Final = Sentence(
    en="remove a passkey: it approves nothing any more", zh="删除通行密钥：此后不能再用它批准"
)
CODES: Final = Sentence(
    en="Show the one-time codes that approving with a passkey takes for high risk, as they are "
    "asked for on the page, until Ctrl-C. Needed where no window can be opened, as over ssh. "
    "Standard input must be a terminal.",
    zh="显示在页面上用通行密钥批准高风险操作所需的一次性代码，直到按 Ctrl-C。无法打开窗口时"
    "（例如通过 ssh）需要它。标准输入必须是终端。",
)
WAITING: Final = Sentence(
    en="Waiting for an approval of high risk on the page. Ctrl-C stops.",
    zh="正在等待页面上的高风险批准。按 Ctrl-C 停止。",
)
NAME: Final = Sentence(en="what you call it, such as: laptop", zh="你给它起的名称，例如：笔记本")
OPEN: Final = Sentence(
    en="Open this link on this machine within ten minutes, and make the passkey there:\n  {url}",
    zh="请在十分钟内于本机打开此链接，并在页面上创建通行密钥：\n  {url}",
)
ARRIVED: Final = Sentence(
    en="A passkey was made. Its code ends in {ends}. If the page shows a code with the same end, "
    "type the first four characters of it.\nEnter alone or Ctrl-C adds nothing.",
    zh="通行密钥已创建，其代码以 {ends} 结尾。如果页面显示的代码结尾相同，请输入其前 4 个字符。\n"
    "直接回车或按 Ctrl-C 则不添加。",
)
CODE: Final = Sentence(en="Code on the page: ", zh="页面上的代码：")
ADDED: Final = Sentence(
    en="Added the passkey “{name}” ({code}). It can approve on the local page from now on.",
    zh="已添加通行密钥“{name}”（{code}）。现在起可以用它在本地页面批准。",
)
NOT_ADDED: Final = Sentence(en="No passkey was added.", zh="没有添加通行密钥。")
REMOVED: Final = Sentence(
    en="Removed the passkey “{name}”: it approves nothing any more. It may still be listed by your "
    "browser or system, where you can delete it.",
    zh="已删除通行密钥“{name}”：不能再用它批准。浏览器或系统中可能仍会列出，可在那里删除。",
)
NONE: Final = Sentence(
    en="There is no passkey. Add one: codexbridge passkey add NAME",
    zh="没有通行密钥。添加：codexbridge passkey add 名称",
)
ADDED_AT: Final = Sentence(en="added {at}", zh="添加于 {at}")
USED_AT: Final = Sentence(en="last used {at}", zh="上次使用于 {at}")
NEVER: Final = Sentence(en="never used", zh="从未使用")

EXIT_NOT_ADDED = 1


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments.  A code is none of them."""
    parser = subparsers.add_parser("passkey", description=say(PASSKEY, lang))
    actions = parser.add_subparsers(dest="action", required=True, metavar="COMMAND")
    what = say(ADD, lang)
    add = actions.add_parser("add", help=what, description=what)
    add.add_argument("name", metavar="NAME", help=say(NAME, lang))
    add.set_defaults(run=_add)
    what = say(CODES, lang)
    code = actions.add_parser("code", help=what, description=what)
    code.set_defaults(run=_codes)
    what = say(LIST, lang)
    listing = actions.add_parser("list", help=what, description=what)
    listing.add_argument("--json", action="store_true", help=say(words.JSON, lang))
    listing.set_defaults(run=_list)
    what = say(REMOVE, lang)
    remove = actions.add_parser("remove", help=what, description=what)
    remove.add_argument("name", metavar="NAME", help=say(NAME, lang))
    remove.set_defaults(run=_remove)


def _add(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Add one.

    Raises:
        InputError: ``passkey.no-terminal``, ``passkey.name``, ``passkey.name-taken`` and the like.
        ConfigError: ``passkey.not-installed``.
        StateError: ``passkey.busy``, ``passkey.timed-out``, ``passkey.not-accepted``.
        UnavailableError: ``passkey.no-page``, ``agent.not-running``.
    """
    home, terminal = find_home(environ), _terminal(environ)
    ceremony = ""
    try:
        # The ceremony ends with this connection.
        for kind, told in stream(home, environ, "passkey_add", name=args.name):
            if kind == "ok":
                said = say(ADDED, lang, name=one_line(told["name"]), code=told["code"])
                terminal.tell(said)
            elif "url" in told:
                ceremony = told["ceremony"]
                terminal.tell(say(OPEN, lang, url=one_line(told["url"], 2000)))
            elif not _accepted(home, environ, {**told, "ceremony": ceremony}, terminal, lang):
                terminal.tell(say(NOT_ADDED, lang))
                return EXIT_NOT_ADDED
    finally:
        terminal.close()
    return 0


def _accepted(
    home: Home, environ: Mapping[str, str], told: Json, terminal: Terminal, lang: Lang
) -> bool:
    """Ask for the code until it is right; False when nothing was typed."""
    terminal.tell(say(ARRIVED, lang, ends=one_line(told["ends"], 8)))
    while typed := terminal.read_line(terminal.ink("bold", say(CODE, lang))):
        try:
            call(home, environ, "passkey_confirm", ceremony=told["ceremony"], typed=typed)
        except InputError as error:
            if error.code != "passkey.wrong-code":
                raise
            terminal.tell(terminal.ink("red", _explained(error, lang)))
        else:
            return True
    return False


def _codes(_args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Show the one-time codes while somebody waits for them here.

    Raises:
        InputError: ``passkey.no-terminal``.
        UnavailableError: ``agent.not-running``.
    """
    from local_agent.faces.window.page import CODE_FOR, CODE_HOW

    home, terminal = find_home(environ), _terminal(environ)
    terminal.tell(say(WAITING, lang))
    try:
        for _kind, told in stream(home, environ, "passkey_codes"):
            said = say(CODE_FOR, lang, **{**told, "title": one_line(told["title"][lang], 400)})
            terminal.tell(f"\n{said}\n\n    {terminal.ink('bold', told['once'])}\n")
            terminal.tell(say(CODE_HOW, lang))
    except KeyboardInterrupt:
        terminal.write("\n")
    finally:
        terminal.close()
    return 0


def _list(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Show them."""
    home, screen = find_home(environ), screen_for(lang, environ)
    told = call(home, environ, "passkeys")
    if args.json:
        print_json(told)
        return 0
    from local_agent.views import from_json
    from local_agent.views.status import PasskeyList

    found = from_json(PasskeyList, told, loose=True).passkeys
    if not found:
        screen.tell(NONE)
    screen.table(
        [
            (
                one_line(one.name),
                one.code,
                screen.say(ADDED_AT, at=date_and_time(one.created_at)),
                screen.say(USED_AT, at=date_and_time(one.last_used_at))
                if one.last_used_at
                else screen.say(NEVER),
            )
            for one in found
        ]
    )
    return 0


def _remove(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Remove one.

    Raises:
        InputError: ``passkey.unknown``.
    """
    call(find_home(environ), environ, "passkey_remove", name=args.name)
    screen_for(lang, environ).tell(REMOVED, name=one_line(args.name))
    return 0


def _terminal(environ: Mapping[str, str]) -> Terminal:
    from local_agent.faces.terminal.tty import open_terminal

    try:
        return open_terminal(sys.stdin, environ)
    except InputError:
        raise InputError("passkey.no-terminal") from None


def _explained(error: CodexBridgeError, lang: Lang) -> str:
    from local_agent.error_texts import ERRORS

    return explain(error, ERRORS, lang)
