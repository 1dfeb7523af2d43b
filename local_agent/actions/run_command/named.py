"""Which files of its workspace a command names, so that they are compared wherever they lie.

What git ignores and what lies in git's own folder is in no hash of the workspace; a script there,
named by an argument, would run however it has changed since (P2).  Blocking.
"""

from __future__ import annotations

import errno
import os
import re
import shlex
from collections.abc import Iterator
from glob import has_magic, iglob
from itertools import islice
from pathlib import Path
from typing import Final

from local_agent.actions.run_command.command_line import CommandLine
from local_agent.workspace.registry import Workspace

MAX_FOLDERS: Final = 64  # that a command names, and another word of it may be relative to
MAX_MATCHES: Final = 256  # of a pattern
MAX_STARS: Final = 3  # in a pattern: links that lead back would double with each
# What programs run in a folder that they are given, or start in.
ENTRIES: Final = (
    *("__main__.py", "Makefile", "makefile", "GNUmakefile", "build.ninja"),
    *("package.json", "index.js", "conftest.py", "CTestTestfile.cmake"),
)
_ENDINGS: Final = ("", ".py", ".js", ".rb", ".pm")  # that interpreters put after a name
_GLUE: Final = re.compile(r"[\s;&|<>()'\"`=,:@]+")  # what names of files stand between
# What a shell puts something else for.
_OPEN: Final = re.compile(r"\$\w+|\$?\{[^{}]*\}|\$\([^()]*\)|`[^`]*`")


def named_files(
    line: CommandLine, folder: Path, workspace: Workspace, *, on_copy: bool
) -> Iterator[str]:
    """Give the files of the workspace that a command names: as written, and by their real paths.

    Relative to the workspace; where a link of it leads out, absolute.  On a copy, only those that
    are shown beside it.
    """
    words, top = (*_words(line), *ENTRIES), workspace.path
    shown = (top / ".git", *(path for tool in workspace.toolchains for path in tool.paths))
    places = [folder]
    for place in places:  # grows
        for path in _found(place, words):
            written, real = Path(os.path.normpath(path)), Path(os.path.realpath(path))
            inside = [one for one in (written, real) if one.is_relative_to(top)]
            if not inside:
                continue
            if os.path.isdir(path):  # noqa: PTH112
                if written not in places and len(places) <= MAX_FOLDERS:
                    places.append(written)
            elif not on_copy or any(map(real.is_relative_to, shown)):
                yield from (str(one.relative_to(top)) for one in inside)
                yield from () if real in inside else (str(real),)


def _found(place: Path, words: tuple[str, ...]) -> Iterator[Path]:
    for word in words:
        # `os.path` and this: whatever the name is, it raises nothing.
        if has_magic(word) and word.isprintable() and word.count("*") <= MAX_STARS:
            found = iglob(word, root_dir=place)  # noqa: PTH207
            yield from (place / one for one in islice(found, MAX_MATCHES))
        named = (os.path.join(place, word + ending) for ending in _ENDINGS)  # noqa: PTH118
        yield from map(Path, filter(_may_be_there, named))


def _may_be_there(path: str) -> bool:
    try:
        os.stat(path)  # noqa: PTH116
    except OSError as error:
        return error.errno == errno.EACCES  # the command may open the folder: it is refused
    except ValueError:
        return False
    return True


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
        whole = [text, *words, *_GLUE.split(text)]
        filled = [_OPEN.sub("*", word) for word in whole if _OPEN.search(word)]
        whole += [one for word in filled if word.strip("*/") for one in (word, word.lstrip("*/"))]
        for word in whole:
            bare = word[2:] if word.startswith("-") else word
            found |= dict.fromkeys((word, bare, bare.replace(".", "/")))  # a module of Python
    found.pop("", None)
    return tuple(found)
