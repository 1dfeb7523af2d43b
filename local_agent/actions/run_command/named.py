"""Which files of its workspace a command names, so that they are compared wherever they lie.

What git ignores and what lies in git's own folder is in no hash of the workspace; a script there,
named by an argument, would run however it has changed since (P2).  Blocking.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from local_agent.actions.run_command.command_line import CommandLine
from local_agent.workspace.registry import Workspace

MAX_FOLDERS: Final = 8  # that a command names, and another word of it may be relative to
# What programs run in a folder that they are given, or start in.
ENTRIES: Final = (
    *("__main__.py", "Makefile", "makefile", "GNUmakefile", "build.ninja"),
    *("package.json", "index.js"),
)
_GLUE: Final = re.compile(r"[\s;&|<>()'\"`=,:@]+")  # what names of files stand between


def named_files(
    line: CommandLine, folder: Path, workspace: Workspace, *, on_copy: bool
) -> Iterator[str]:
    """Give the files of the workspace that a command names, by their real paths.

    Relative to the workspace; where a link of it leads out, absolute.  On a copy, only those that
    are shown beside it.
    """
    words, top = (*_words(line), *ENTRIES), workspace.path
    below = (folder / word for word in words if os.path.isdir(folder / word))  # noqa: PTH112
    tools = [path for tool in workspace.toolchains for path in tool.paths]
    for place in (folder, *islice(below, MAX_FOLDERS)):
        for path in (place / word for word in words if os.path.isfile(place / word)):  # noqa: PTH113
            written, real = Path(os.path.normpath(path)), Path(os.path.realpath(path))
            if not (written.is_relative_to(top) or real.is_relative_to(top)):
                continue
            if on_copy and not any(map(real.is_relative_to, (top / ".git", *tools))):
                continue
            yield str(real.relative_to(top) if real.is_relative_to(top) else real)


def _words(line: CommandLine) -> tuple[str, ...]:
    """Return whatever may name a file: arguments, parts of them and of a script, what options say.

    More than there are rather than fewer: a word that names no file costs a look.
    """
    found: dict[str, None] = {}
    for text in line.argv[1:] if line.argv is not None else (line.script or "",):
        try:
            words = shlex.split(text)
        except ValueError:
            words = []
        for word in (text, *words, *_GLUE.split(text)):
            found |= dict.fromkeys((word, word[2:] if word.startswith("-") else word))
    found.pop("", None)
    return tuple(found)
