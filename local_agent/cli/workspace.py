"""``codexbridge workspace``: the folders that tasks may work in, and the toolchains they may read.

What is found is only offered; a person confirms each item, or names them on the command line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from common.errors import InputError
from common.home import find_home
from common.sentences import Lang, say
from common.text import one_line
from local_agent.cli import words
from local_agent.cli.screen import Screen, at_keyboard, print_json, read_answer, screen_for
from local_agent.workspace.registry import Registry, Workspace
from local_agent.workspace.toolchains import Toolchain

if TYPE_CHECKING:
    import argparse


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("workspace", description=say(words.WORKSPACE, lang))
    actions = parser.add_subparsers(dest="action", required=True)
    add = actions.add_parser("add", help=say(words.WORKSPACE_ADD, lang))
    add.add_argument("path", type=Path, metavar="PATH", help=say(words.WORKSPACE_PATH, lang))
    add.add_argument("--name", metavar="NAME", help=say(words.WORKSPACE_NAME, lang))
    add.add_argument("--test", metavar="CMD", help=say(words.WORKSPACE_TEST, lang))
    add.add_argument("--default", action="store_true", help=say(words.WORKSPACE_DEFAULT, lang))
    add.add_argument(
        "--toolchains", metavar="all|none|…", help=say(words.WORKSPACE_TOOLCHAINS, lang)
    )
    add.add_argument(
        "--deny", metavar="PATTERN", action="append", default=[], help=say(words.DENY, lang)
    )
    add.add_argument(
        "--pass-env", metavar="NAME", action="append", default=[], help=say(words.PASS_ENV, lang)
    )
    listing = actions.add_parser("list", help=say(words.WORKSPACE_LIST, lang))
    listing.add_argument("--json", action="store_true", help=say(words.JSON, lang))
    remove = actions.add_parser("remove", help=say(words.WORKSPACE_REMOVE, lang))
    remove.add_argument("name", metavar="NAME", help=say(words.WORKSPACE_NAME, lang))


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Add, list or remove."""
    registry = Registry(find_home(environ), home=Path.home())
    screen = screen_for(lang, environ)
    if args.action == "add":
        _add(args, registry, screen, environ)
    elif args.action == "remove":
        registry.remove(args.name)
        screen.tell(words.REMOVED, name=args.name)
    else:
        _list(registry.load(), screen, as_json=args.json)
    return 0


def _add(
    args: argparse.Namespace, registry: Registry, screen: Screen, environ: Mapping[str, str]
) -> None:
    found = registry.inspect(args.path, environ)
    added = registry.add(
        args.path,
        name=args.name,
        test_command=args.test,
        confirmed=tuple(_confirmed(found, args.toolchains, screen)),
        pass_env=tuple(args.pass_env),
        deny=tuple(args.deny),
    )
    if args.default:
        added = registry.make_default(added.name)
    screen.tell(
        words.ADDED,
        name=screen.ink("bold", added.name),
        path=one_line(str(added.path), 4096),
        count=len(added.toolchains),
    )
    if added.test_command is None:
        screen.tell(words.ADDED_NO_TEST)


def _confirmed(
    found: Sequence[Toolchain], chosen: str | None, screen: Screen
) -> Sequence[Toolchain]:
    if chosen is not None:
        return _named(found, chosen)
    if not found:
        return []
    if not at_keyboard():
        kinds = ", ".join(item.kind for item in found)
        screen.tell(words.TOOLCHAINS_SKIPPED, count=len(found), kinds=kinds)
        return []
    screen.tell(words.TOOLCHAINS_FOUND)
    return [item for item in found if _says_yes(item, screen)]


def _named(found: Sequence[Toolchain], chosen: str) -> Sequence[Toolchain]:
    if chosen == "all":
        return found
    wanted = set() if chosen == "none" else {name.strip() for name in chosen.split(",")}
    if unknown := wanted - {item.kind for item in found}:
        kinds = ", ".join(item.kind for item in found) or "-"
        raise InputError("workspace.toolchain", name=min(unknown), found=kinds)
    return [item for item in found if item.kind in wanted]


def _says_yes(item: Toolchain, screen: Screen) -> bool:
    path = ", ".join(one_line(str(path), 1024) for path in item.paths)
    question = screen.say(words.TOOLCHAIN_ASK, kind=item.kind, path=path)
    return read_answer(question) in ("y", "yes", "是")


def _list(found: Sequence[Workspace], screen: Screen, *, as_json: bool) -> None:
    if as_json:
        print_json([_to_dict(item) for item in found])
    elif not found:
        screen.tell(words.NO_WORKSPACES)
    else:
        screen.table([_row(item, screen) for item in found])


def _row(item: Workspace, screen: Screen) -> tuple[str, ...]:
    mark = screen.say(words.IS_DEFAULT) if item.default else ""
    kinds = ",".join(toolchain.kind for toolchain in item.toolchains)
    command = one_line(item.test_command or "-", 400)
    return (item.name, mark, one_line(str(item.path), 1024), kinds or "-", command)


def _to_dict(item: Workspace) -> dict[str, object]:
    return {
        "name": item.name,
        "path": str(item.path),
        "default": item.default,
        "test_command": item.test_command,
        "toolchains": [
            {"kind": toolchain.kind, "paths": [str(path) for path in toolchain.paths]}
            for toolchain in item.toolchains
        ],
        "pass_env": list(item.pass_env),
    }
