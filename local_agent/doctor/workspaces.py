"""Looks at the folders that tasks may work in, and whether a bare `@dev test` could run there."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from common.doctor import Finding, Tone
from common.errors import CodexBridgeError, InputError
from common.sentences import LANGS, Lang, Sentence, say
from common.text import one_line, reveal_all
from local_agent.doctor.installation import Installation
from local_agent.safety.policy import load_policy
from local_agent.safety.risk_commands import script_at
from local_agent.sandbox.bubblewrap import find_bubblewrap
from local_agent.words import DISCLOSED, DISCLOSURES
from local_agent.workspace.registry import Registry, Workspace

_TOLD: Final = Sentence(en="{name} ({facts})", zh="{name}（{facts}）")
_WITHIN: Final[dict[Lang, str]] = {"en": ", ", "zh": "，"}
_LISTED: Final[dict[Lang, str]] = {"en": ", ", "zh": "；"}
_SHOWN_BYTES: Final = 120
_MOST_SCRIPTS: Final = 6  # that the kernel follows: an interpreter may be a script as well


async def workspaces(here: Installation) -> Finding:
    """Look at each folder that tasks may work in."""
    registry = Registry(here.places, home=here.home)
    here.workspaces = opened = await asyncio.to_thread(registry.load)
    found = await asyncio.to_thread(_workspaces, here, opened)
    if found.tone is not Tone.GOOD:
        return found
    default_test = here.settings.default_test_command if here.settings else None
    unnamed, lost, lacked = [], [], []
    for one in opened:
        command, folder = one.test_command or default_test, ""
        if not command:
            command, folder = await _inferred(one)
        if not command:
            unnamed.append(one)
        elif program := await asyncio.to_thread(_lacks, one, command, folder):
            lost.append(one)
            lacked.append(program)
    if lost:
        return _ill("workspaces.test-lost", Tone.WARN, lost, lacked=", ".join(lacked))
    return _ill("workspaces.no-test", Tone.WARN, unnamed) if unnamed else found


async def _inferred(one: Workspace) -> tuple[str, str]:
    """Return what the project's own files say that a bare `@dev test` runs, and in which folder."""
    from local_agent.workspace.project.infer import infer
    from local_agent.workspace.project.model import Wish

    found = await infer(one, Wish("test"))
    if len(found.recipes) != 1:
        return "", ""
    return shlex.join(found.recipes[0].argv), found.recipes[0].folder


def _workspaces(here: Installation, opened: Sequence[Workspace]) -> Finding:
    default_test = here.settings.default_test_command if here.settings else None
    if not opened:
        return Finding("workspaces.none", Tone.BAD)
    ills: tuple[tuple[str, Tone, Callable[[Workspace], bool]], ...] = (
        ("workspaces.gone", Tone.BAD, lambda one: not one.path.is_dir()),
        ("workspaces.moved", Tone.BAD, lambda one: os.path.realpath(one.path) != str(one.path)),
        ("workspaces.unreadable", Tone.BAD, lambda one: not os.access(one.path, os.R_OK | os.X_OK)),
        ("workspaces.foreign", Tone.WARN, lambda one: one.path.stat().st_uid != os.getuid()),
        ("workspaces.read-only", Tone.WARN, lambda one: not os.access(one.path, os.W_OK)),
        ("workspaces.git-unread", Tone.WARN, lambda one: not _reads_git(one.path)),
        ("workspaces.test-refused", Tone.WARN, lambda one: _is_refused(here, one, default_test)),
    )
    for code, tone, is_ill in ills:
        if found := [one for one in opened if is_ill(one)]:
            return _ill(code, tone, found)
    told = Sentence(*(_LISTED[lang].join(_told(one, lang) for one in opened) for lang in LANGS))
    return Finding("workspaces.ok", facts={"workspaces": told})


def _told(one: Workspace, lang: Lang) -> str:
    level = say(DISCLOSURES[one.disclosure], lang)
    facts = (*(["git"] if (one.path / ".git").exists() else ()), say(DISCLOSED, lang, level=level))
    return say(_TOLD, lang, name=one.name, facts=_WITHIN[lang].join(facts))


def _ill(code: str, tone: Tone, found: Sequence[Workspace], **more: str) -> Finding:
    facts = {
        "names": [one.name for one in found],
        "paths": [str(one.path) for one in found],
        "real": [os.path.realpath(one.path) for one in found],
    }
    return Finding(code, tone, {name: ", ".join(told) for name, told in facts.items()} | more)


def _reads_git(workspace: Path) -> bool:
    """Tell whether its repository can be read, if it has one."""
    from local_agent.workspace.git.repository import index_of, open_repository

    if not os.path.lexists(workspace / ".git"):
        return True
    repository = open_repository(workspace)
    return repository is not None and index_of(repository) is not None


def _lacks(one: Workspace, command: str, folder: str) -> str:
    """Return the program that a command needs in a folder and that cannot be run; "" for none."""
    from local_agent.actions.run_command.command_line import read_command_line
    from local_agent.actions.run_command.prepare import resolve_program

    program, sandboxed = command, find_bubblewrap() is not None
    try:
        line = read_command_line(command)
        if line.argv is None:  # what a shell line starts is not known
            return ""
        program = line.argv[0]
        for _ in range(_MOST_SCRIPTS):
            found = resolve_program(program, one, cwd=one.path / folder, sandboxed=sandboxed)
            program = _interpreter_of(Path(found.path))
            if not program:
                return ""
    except InputError:
        pass
    return one_line(reveal_all(program), _SHOWN_BYTES)


def _interpreter_of(program: Path) -> str:
    """Return what the first line of a script names, as the kernel reads it; "" for a binary."""
    try:
        with program.open("rb") as file:
            first = os.fsdecode(file.readline(256))
    except OSError:  # it may be run and not read
        return ""
    # A carriage return is part of the name.
    words = re.split("[ \t]+", first[2:].strip(" \t\n")) if first.startswith("#!") else [""]
    named = words[2 if words[1:2] == ["-S"] else 1 :]
    is_env = words[0].endswith("/env") and named and not named[0].startswith("-")
    return named[0] if is_env else words[0]


def _is_refused(here: Installation, one: Workspace, default_test: str | None) -> bool:
    """Tell whether settings or policy refuse to run what a bare `@dev test` would."""
    from local_agent.actions.run_command.command_line import read_command_line

    if here.settings is not None and not here.settings.allow_run_terminal:
        return True
    try:
        policy = load_policy(here.places, one.name)
        line = read_command_line(one.test_command or default_test or "true")
    except CodexBridgeError:
        return False  # told as what it is
    is_shell = line.argv is None or script_at(line.argv) is not None
    program = "" if line.argv is None else line.argv[0].rpartition("/")[2]
    return (
        "run_command" in policy.refuse_actions
        or program in policy.refuse_programs
        or (is_shell and policy.refuse_shell)
    )
