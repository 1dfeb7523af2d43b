"""``codexbridge workspace``: the folders that tasks may work in, and the toolchains they may read.

What is found is only offered; a person confirms each item, or names them on the command line.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from common.encodings import UTF8, told
from common.errors import CodexBridgeError, InputError, UnavailableError
from common.home import Home, find_home
from common.sentences import Lang, explain, say
from common.text import one_line
from local_agent.cli import words, workspace_words
from local_agent.cli.screen import Screen, at_keyboard, print_json, read_answer, screen_for
from local_agent.cli.status import disclosure_told, policy_told, strays_told
from local_agent.error_texts import ERRORS
from local_agent.faces.control.client import call
from local_agent.safety.policy import standing, stray_policies
from local_agent.sandbox.toolchains import Toolchain
from local_agent.words import DISCLOSURES, render_size
from local_agent.workspace.registry import LEVELS, Registry, Workspace

if TYPE_CHECKING:
    import argparse

_SAID: Final = {
    "command.not-found": "workspace.test-not-found",
    "command.outside": "workspace.test-hidden",
    "command.not-visible": "workspace.test-hidden",
    "command.program-too-large": "workspace.test-hidden",
}


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], lang: Lang) -> None:
    """Declare the arguments."""
    parser = subparsers.add_parser("workspace", description=say(workspace_words.WORKSPACE, lang))
    parser.set_defaults(run=run)
    actions = parser.add_subparsers(dest="action", required=True)
    add = actions.add_parser("add", help=say(workspace_words.WORKSPACE_ADD, lang))
    add.add_argument(
        "path", type=Path, metavar="PATH", help=say(workspace_words.WORKSPACE_PATH, lang)
    )
    add.add_argument("--name", metavar="NAME", help=say(workspace_words.WORKSPACE_NAME, lang))
    add.add_argument("--test", metavar="CMD", help=say(workspace_words.WORKSPACE_TEST, lang))
    add.add_argument(
        "--default", action="store_true", help=say(workspace_words.WORKSPACE_DEFAULT, lang)
    )
    add.add_argument(
        "--toolchains", metavar="all|none|…", help=say(workspace_words.WORKSPACE_TOOLCHAINS, lang)
    )
    add.add_argument(
        "--deny",
        metavar="PATTERN",
        action="append",
        default=[],
        help=say(workspace_words.DENY, lang),
    )
    add.add_argument(
        "--pass-env",
        metavar="NAME",
        action="append",
        default=[],
        help=say(workspace_words.PASS_ENV, lang),
    )
    listing = actions.add_parser("list", help=say(workspace_words.WORKSPACE_LIST, lang))
    listing.add_argument("--json", action="store_true", help=say(words.JSON, lang))
    remove = actions.add_parser("remove", help=say(workspace_words.WORKSPACE_REMOVE, lang))
    remove.add_argument("name", metavar="NAME", help=say(workspace_words.WORKSPACE_NAME, lang))
    what = say(workspace_words.WORKSPACE_SET, lang)
    change = actions.add_parser("set", help=what, description=what)
    change.add_argument("name", metavar="NAME", help=say(workspace_words.WORKSPACE_NAME, lang))
    change.add_argument("--test", metavar="CMD", help=say(workspace_words.WORKSPACE_TEST, lang))
    change.add_argument("--encoding", metavar="NAME", help=say(workspace_words.ENCODING, lang))
    change.add_argument(
        "--diagnostics", metavar="PATH", nargs="*", help=say(workspace_words.DIAGNOSTICS, lang)
    )
    change.add_argument("--disclosure", choices=LEVELS, help=say(workspace_words.DISCLOSURE, lang))
    change.add_argument(
        "--daily-reads", type=int, metavar="N", help=say(workspace_words.DAILY_READS, lang)
    )
    change.add_argument(
        "--daily-bytes", type=int, metavar="N", help=say(workspace_words.DAILY_BYTES, lang)
    )


def run(args: argparse.Namespace, lang: Lang, environ: Mapping[str, str]) -> int:
    """Add, list, change or remove."""
    home = find_home(environ)
    registry = Registry(home, home=Path.home())
    screen = screen_for(lang, environ)
    if args.action == "add":
        add(args, registry, screen, environ)
    elif args.action == "remove":
        registry.remove(args.name)
        _forget_closed(registry, home, environ)
        screen.tell(workspace_words.REMOVED, name=args.name)
    elif args.action == "set":
        _set(args, registry, screen)
    else:
        _list(registry.load(), home, screen, as_json=args.json)
    return 0


def add(
    args: argparse.Namespace, registry: Registry, screen: Screen, environ: Mapping[str, str]
) -> None:
    """Open a folder as `workspace add` does; asks about toolchains where somebody can answer.

    Raises:
        InputError: as `Registry.add` and `check_start`.
    """
    found = registry.inspect(args.path, environ)
    older = registry.known(args.path, name=args.name)
    folder = args.path.expanduser().resolve()
    before = older.toolchains if older and older.path == folder else ()
    kept = [item for item in before if all(path.exists() for path in item.paths)]
    if args.test is not None:
        # Before anything is asked: no answer could help.
        check_start(args.test, folder, [*found, *kept])
    try:
        confirmed = tuple(_confirmed(found, kept, args.toolchains, screen))
    except KeyboardInterrupt:
        print()
        screen.tell(workspace_words.NOTHING_ADDED)
        raise
    if args.test is not None:
        check_start(args.test, folder, confirmed)
    added = registry.add(
        args.path,
        name=args.name,
        test_command=args.test,
        confirmed=confirmed,
        pass_env=tuple(args.pass_env) or None,
        deny=tuple(args.deny) or None,
    )
    if args.default:
        added = registry.make_default(added.name)
    if older is not None and older.path != added.path:
        _forget_closed(registry, find_home(environ), environ)
    _tell_added(added, older, screen)
    from local_agent.workspace.git.repository import begins_above

    if (top := begins_above(added.path)) is not None:
        screen.tell(workspace_words.BEGINS_ABOVE, path=one_line(str(top), 4096))
    _offer_encoding(added, registry, screen)


def _forget_closed(registry: Registry, home: Home, environ: Mapping[str, str]) -> None:
    """Remove what is kept of folders that are closed by now: the agent does, where one runs."""
    try:
        call(home, environ, "workspaces_changed")
    except UnavailableError as error:
        if error.code == "agent.not-running":
            from local_agent.propose.scratch import Scratches

            opened = [one.path for one in registry.load()]
            asyncio.run(Scratches(home).keep_only(opened))
    except CodexBridgeError:
        return  # it does so at its next start in any case


def _set(args: argparse.Namespace, registry: Registry, screen: Screen) -> None:
    if args.test is not None:
        _set_test(args, registry, screen)
    if args.diagnostics is not None:
        _set_diagnostics(args, registry, screen)
    if args.encoding is not None:
        _set_encoding(args.name, args.encoding, registry, screen)
    rest = {args.disclosure, args.daily_reads, args.daily_bytes}
    if rest == {None} and (args.test, args.diagnostics, args.encoding) != (None, None, None):
        return
    changed = registry.set_disclosure(
        args.name,
        level=args.disclosure,
        daily_reads=args.daily_reads,
        daily_bytes=args.daily_bytes,
    )
    screen.tell(
        workspace_words.IS_SET,
        name=screen.ink("bold", changed.name),
        level=screen.say(DISCLOSURES[changed.disclosure]),
        reads=changed.daily_reads,
        size=render_size(changed.daily_bytes),
    )
    if changed.disclosure == "full":
        print(screen.ink("red", screen.say(workspace_words.FULL_MEANS)))


def _set_test(args: argparse.Namespace, registry: Registry, screen: Screen) -> None:
    known = registry.find(args.name)
    check_start(args.test, known.path, known.toolchains)
    registry.add(known.path, name=known.name, test_command=args.test)
    command = one_line(args.test, 400)
    screen.tell(workspace_words.TEST_SET, name=screen.ink("bold", known.name), command=command)


def _set_diagnostics(args: argparse.Namespace, registry: Registry, screen: Screen) -> None:
    changed = registry.set_diagnostics(args.name, args.diagnostics)
    files = ", ".join(one_line(path, 400) for path in changed.diagnostics)
    told = workspace_words.DIAGNOSTICS_SET if files else workspace_words.DIAGNOSTICS_NONE
    screen.tell(told, name=screen.ink("bold", changed.name), files=files)


def _set_encoding(name: str, encoding: str, registry: Registry, screen: Screen) -> None:
    changed = registry.set_encoding(name, encoding)
    now = told(changed.encoding or UTF8)
    screen.tell(workspace_words.ENCODING_SET, name=screen.ink("bold", name), encoding=now)


def _offer_encoding(added: Workspace, registry: Registry, screen: Screen) -> None:
    """Offer the setting where files are text in nothing that is declared."""
    from local_agent.workspace.files import unreadable

    if not (found := asyncio.run(unreadable(added))):
        return None
    facts = {"count": len(found), "path": one_line(found[0])}
    if not at_keyboard():
        screen.tell(workspace_words.ENCODING_WANTED, **facts, name=added.name)
        return None
    question = screen.say(workspace_words.ENCODING_ASK, **facts)
    while answer := read_answer(question):
        try:
            return _set_encoding(added.name, answer, registry, screen)
        except InputError as error:
            print(explain(error, ERRORS, screen.lang))
    return None


def _tell_added(added: Workspace, older: Workspace | None, screen: Screen) -> None:
    screen.tell(
        workspace_words.ADDED,
        name=screen.ink("bold", added.name),
        path=one_line(str(added.path), 4096),
        count=len(added.toolchains),
    )
    if older is not None:
        changed = [
            part for part in workspace_words.PARTS if getattr(added, part) != getattr(older, part)
        ]
        kept = [part for part in workspace_words.PARTS if part not in changed and part != "path"]
        screen.tell(
            workspace_words.WAS_KNOWN,
            changed=_parts(added, changed, screen),
            kept=_parts(added, [part for part in kept if getattr(added, part)], screen),
        )
    _tell_no_git([added], screen)
    if added.test_command is None:
        screen.tell(workspace_words.ADDED_NO_TEST, name=added.name)
    elif not starts(added.test_command, added.path, added.toolchains):
        screen.tell(workspace_words.TEST_LOST, command=one_line(added.test_command, 400))


def _parts(entry: Workspace, parts: Sequence[str], screen: Screen) -> str:
    told = [
        screen.say(workspace_words.PARTS[part], value=_value(getattr(entry, part)))
        for part in parts
    ]
    return screen.say(workspace_words.AND).join(told) or screen.say(workspace_words.NOTHING)


def _value(value: object) -> str:
    if isinstance(value, tuple):
        names = [item.kind if isinstance(item, Toolchain) else str(item) for item in value]
        return one_line(", ".join(names) or "-", 400)
    return one_line(str(value), 400)


def _confirmed(
    found: Sequence[Toolchain], kept: Sequence[Toolchain], chosen: str | None, screen: Screen
) -> Sequence[Toolchain]:
    if chosen is not None:
        return _named(found, chosen)
    new = [item for item in found if item not in kept]
    if not new:
        return kept
    if not at_keyboard():
        kinds = ", ".join(item.kind for item in new)
        screen.tell(workspace_words.TOOLCHAINS_SKIPPED, count=len(new), kinds=kinds)
        return kept
    screen.tell(workspace_words.TOOLCHAINS_FOUND)
    allowed = [item for group in _overlapping(new) if _says_yes(group, screen) for item in group]
    kinds_now = {item.kind for item in allowed}
    return [*allowed, *(item for item in kept if item.kind not in kinds_now)]


def _overlapping(found: Sequence[Toolchain]) -> list[list[Toolchain]]:
    """Return the toolchains by question: those that would open the same folder share one."""
    groups: list[list[Toolchain]] = []
    for item in found:
        for group in groups:
            if any(path in other.paths for other in group for path in item.paths):
                group.append(item)
                break
        else:
            groups.append([item])
    return groups


def _named(found: Sequence[Toolchain], chosen: str) -> Sequence[Toolchain]:
    if chosen == "all":
        return found
    wanted = set() if chosen == "none" else {name.strip() for name in chosen.split(",")}
    if unknown := wanted - {item.kind for item in found}:
        kinds = ", ".join(item.kind for item in found) or "-"
        raise InputError("workspace.toolchain", name=min(unknown), found=kinds)
    return [item for item in found if item.kind in wanted]


def _says_yes(group: Sequence[Toolchain], screen: Screen) -> bool:
    paths = dict.fromkeys(one_line(str(path), 1024) for item in group for path in item.paths)
    kinds = ", ".join(item.kind for item in group)
    sentence = workspace_words.GIT_ASK if kinds == "git" else workspace_words.TOOLCHAIN_ASK
    question = screen.say(sentence, kind=kinds, path=", ".join(paths))
    while (answer := read_answer(question)) not in ("", "n", "no", "否", "不"):
        if answer in ("y", "yes", "是"):
            return True
        screen.tell(workspace_words.YES_OR_NO)
    return False


def _list(found: Sequence[Workspace], home: Home, screen: Screen, *, as_json: bool) -> None:
    policies = {item.name: standing(home, item.name) for item in found}
    if as_json:
        print_json([_to_dict(item) | {"policy": asdict(policies[item.name])} for item in found])
    elif not found:
        screen.tell(words.NO_WORKSPACES)
    else:
        rows = [(*_row(item, screen), policy_told(policies[item.name], screen)) for item in found]
        screen.table(rows)
    _tell_no_git(found, screen)
    # Beside the list itself, which programs read.
    for line in strays_told(stray_policies(home, policies), screen):
        print(line, file=sys.stderr)


def _tell_no_git(found: Sequence[Workspace], screen: Screen) -> None:
    from local_agent.workspace.git.outside import unshown

    for one in found:
        if (place := unshown(one)) is not None:
            facts = {"path": one_line(str(place), 1024), "workspace": one_line(str(one.path), 1024)}
            print(screen.say(workspace_words.NO_GIT, name=one.name, **facts), file=sys.stderr)


def _row(item: Workspace, screen: Screen) -> tuple[str, ...]:
    mark = screen.say(workspace_words.IS_DEFAULT) if item.default else ""
    kinds = ",".join(toolchain.kind for toolchain in item.toolchains)
    command = one_line(item.test_command or "-", 400)
    level = disclosure_told(item.disclosure, screen)
    return (item.name, mark, one_line(str(item.path), 1024), kinds or "-", command, level)


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
        "diagnostics": list(item.diagnostics),
        "encoding": item.encoding,
        "disclosure": item.disclosure,
        "daily_reads": item.daily_reads,
        "daily_bytes": item.daily_bytes,
    }


def check_start(command: str, folder: Path, toolchains: Sequence[Toolchain]) -> None:
    """Refuse a command whose program cannot be found; what a shell line starts is not known.

    Args:
        command: As given with ``--test``.
        folder: Real path of the workspace.
        toolchains: What is allowed besides the system.

    Raises:
        InputError: ``workspace.test-not-found``, ``workspace.test-not-executable``,
            ``workspace.test-hidden`` or ``workspace.test-unreadable``.
    """
    # Late, so that `workspace --help` does not load what only this needs.
    from local_agent.actions.run_command.command_line import read_command_line
    from local_agent.actions.run_command.prepare import resolve_program
    from local_agent.sandbox.bubblewrap import find_bubblewrap

    entry = Workspace(name="trial", path=folder, toolchains=tuple(toolchains))
    try:
        line = read_command_line(command)
        if line.argv is not None:
            sandboxed = find_bubblewrap() is not None
            resolve_program(line.argv[0], entry, cwd=folder, sandboxed=sandboxed)
    except InputError as error:
        code = _SAID.get(error.code, "workspace.test-unreadable")
        program = str(error.facts.get("program", ""))
        if error.code == "command.not-found" and "/" in program:
            there = os.path.exists(folder / program)  # noqa: PTH110  # whatever the name is
            code = "workspace.test-not-executable" if there else code
        raise InputError(code, **error.facts) from None


def starts(command: str, folder: Path, toolchains: Sequence[Toolchain]) -> bool:
    """Tell whether its program is there, and pytest where Python is to run that."""
    try:
        check_start(command, folder, toolchains)
    except InputError:
        return False
    return _has_module(command, folder, toolchains)


def _has_module(command: str, folder: Path, toolchains: Sequence[Toolchain]) -> bool:
    """Tell whether pytest is where the interpreter that is to run it would find it."""
    from local_agent.actions.run_command.prepare import resolve_program

    argv = shlex.split(command)
    if argv[1:3] != ["-m", "pytest"]:
        return True
    entry = Workspace(name="trial", path=folder, toolchains=tuple(toolchains))
    program = Path(resolve_program(argv[0], entry, cwd=folder, sandboxed=False).path)
    places = [program.parent.parent]
    if program.is_relative_to("/usr") or _sees_system(places[0]):
        places += [Path("/usr"), Path("/usr/local")]
    kinds = ("lib/python3*/site-packages/pytest", "lib/python3*/dist-packages/pytest")
    return any(next(place.glob(kind), None) for place in places for kind in kinds)


def _sees_system(environment: Path) -> bool:
    try:
        written = (environment / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return re.search(r"(?mi)^include-system-site-packages\s*=\s*true", written) is not None
