"""From a workspace and a wish to the command, or to the ones that a person has to choose from.

What was named explicitly comes before what a language's tool would do, and the workspace itself
before the projects in its folders.  Where two are equally good, both are told: nothing is guessed.
The files are read past the path guard, within bounds; none of them is run.
"""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from common import strict_json
from common.clock import Clock
from common.errors import InputError, RemoteProtocolError
from local_agent.workspace import files, paths
from local_agent.workspace.project.ecosystems import (
    CMAKE_CACHES,
    PYTHON_LOCKS,
    PYTHON_SECTIONS,
    into,
    usual,
)
from local_agent.workspace.project.model import Folder, Goal, Ignored, Inference, Recipe, Wish
from local_agent.workspace.project.narrowing import narrowed, of_person, words_of
from local_agent.workspace.project.runners import (
    JUSTFILES,
    MAKEFILES,
    PACKAGE_LOCKS,
    TASKFILES,
    explicit,
)
from local_agent.workspace.registry import Workspace

MAX_FILE_BYTES: Final = 128 * 1024
MAX_KEYS: Final = 4000  # dotted parts of a TOML file; more would take time by their square
MAX_FOLDERS: Final = 20  # with projects of their own
MAX_RECIPES: Final = 8
_DEEPEST: Final = 2  # folders down to such a project

_TEXTS: Final = frozenset((*MAKEFILES, *JUSTFILES, *TASKFILES, *PYTHON_SECTIONS))
_TABLES: Final = frozenset(
    ("pyproject.toml", "package.json", "deno.json", "composer.json", "CMakePresets.json")
)
# What makes a folder a project.
_MARKS: Final = _TEXTS | _TABLES | {"Cargo.toml", "go.mod", "pom.xml", "build.gradle", "mix.exs"}
_NO_PROJECTS: Final = frozenset(
    ("example", "examples", "vendor", "third_party", "fixtures", "testdata", "docs", "tests")
)


async def infer(workspace: Workspace, wish: Wish, *, clock: Clock | None = None) -> Inference:
    """Return what the files of a workspace say that is to be run.

    Raises:
        InputError: ``path.missing``: the folder went away.
    """
    listing = await files.list_files(workspace.path, clock=clock, deny=workspace.deny)
    return await asyncio.to_thread(_infer, workspace, wish, listing.files)


def choose(wish: Wish, desk: Desk) -> Inference:
    """Return the recipes for a wish, the part that was named taken into account."""
    if wish.given:
        own = of_person(wish.given)
        part = narrowed(own, wish.only, desk.files)
        return _several([part or own], desk, is_part=part is not None)
    folder = desk.folder("")
    top = _recipes(folder, wish.goal, desk)
    if not wish.only and top:
        return _several(top, desk)
    if part := _part(top, wish, desk) or _part(usual(folder, wish.goal), wish, desk):
        return _several([part], desk, is_part=True)
    below = _below(wish, desk)
    if named := [recipe for recipe in below if _is_named(recipe.folder, wish.only)]:
        return _several(named, desk, is_part=True)
    return _several(top or below, desk)


@dataclass(slots=True)
class Desk:
    """The files of a workspace, read as they are asked for.

    Attributes:
        files: All that may be read, sorted.
        ignored: Project files that are not taken into account.
    """

    root: paths.Root
    reader: paths.Reader
    files: Sequence[str]
    ignored: list[Ignored] = field(default_factory=list)

    def folder(self, path: str) -> Folder:
        """Return what is known of a folder."""
        before = f"{path}/" if path else ""
        inside = [one.removeprefix(before) for one in self.files if one.startswith(before)]
        names = {one.partition("/")[0] for one in inside}
        # These may be large or not listed.
        looked_for = (*PYTHON_LOCKS, *PACKAGE_LOCKS, *(() if path else CMAKE_CACHES))
        names |= {name for name in looked_for if self._exists(before + name)}
        texts = {
            name: text
            for name in sorted(names & (_TEXTS | _TABLES))
            if (text := self._text(before + name)) is not None
        }
        return Folder(
            path=path,
            names=frozenset(names),
            texts=texts,
            tables={
                name: table
                for name in sorted(texts.keys() & _TABLES)
                if (table := self._table(before + name, texts[name])) is not None
            },
            tests=any(_is_python_test(one) for one in inside),
        )

    def projects(self) -> list[str]:
        """Return the folders below that could be projects of their own."""
        found: dict[str, None] = {}
        for path in self.files:
            folder, _, name = path.rpartition("/")
            parts = folder.split("/")
            near = folder and len(parts) <= _DEEPEST and _NO_PROJECTS.isdisjoint(parts)
            if near and name in _MARKS:
                found.setdefault(folder)
        return list(found)[:MAX_FOLDERS]

    def _exists(self, path: str) -> bool:
        try:
            self.reader.read(path, max_bytes=0)
        except InputError as error:
            return error.code == "path.too-large"
        return True

    def _text(self, path: str) -> str | None:
        try:
            return self.reader.read(path, max_bytes=MAX_FILE_BYTES).decode("utf-8")
        except UnicodeDecodeError:
            self.ignored.append(Ignored(path, "malformed"))
        except InputError as error:
            why = "too-large" if error.code == "path.too-large" else "unreadable"
            self.ignored.append(Ignored(path, why))
        return None

    def _table(self, path: str, text: str) -> Mapping[str, Any] | None:
        try:
            if not path.endswith(".toml"):
                found = strict_json.loads(
                    text.removeprefix("\ufeff"), max_bytes=MAX_FILE_BYTES, floats="read"
                )
                if isinstance(found, dict):
                    return found
            elif text.count(".") + text.count("[") <= MAX_KEYS:
                return tomllib.loads(text)
        except (ValueError, RecursionError, RemoteProtocolError):
            pass
        self.ignored.append(Ignored(path, "malformed"))
        return None


def _infer(workspace: Workspace, wish: Wish, known: Sequence[str]) -> Inference:
    with paths.open_root(workspace.path, deny=workspace.deny) as root, paths.Reader(root) as reader:
        return choose(wish, Desk(root, reader, known))


def _recipes(folder: Folder, goal: Goal, desk: Desk) -> list[Recipe]:
    return explicit(folder, goal, desk.ignored) or usual(folder, goal)


def _below(wish: Wish, desk: Desk) -> list[Recipe]:
    """Return what the projects in the folders of a workspace would run, from its top."""
    folders = map(desk.folder, desk.projects())
    found = [recipe for folder in folders for recipe in _recipes(folder, wish.goal, desk)]
    return [runs for recipe in found if (runs := into(recipe)) is not None]


def _is_named(folder: str, only: str) -> bool:
    words = {word.strip("/").removeprefix("./").casefold() for word in words_of(only)}
    return folder.casefold() in words or folder.rpartition("/")[2].casefold() in words


def _part(recipes: Sequence[Recipe], wish: Wish, desk: Desk) -> Recipe | None:
    """Return the one of these that can run only what was named."""
    parts = [part for one in recipes if (part := narrowed(one, wish.only, desk.files)) is not None]
    return parts[0] if len(parts) == 1 else None


def _several(recipes: Iterable[Recipe], desk: Desk, *, is_part: bool = False) -> Inference:
    kept = tuple(dict.fromkeys(recipes))[:MAX_RECIPES]
    return Inference(kept, is_part and len(kept) == 1, tuple(desk.ignored))


def _is_python_test(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    if folder.partition("/")[0] not in ("", "tests", "test"):
        return False
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))
