"""Task runners that name a goal themselves: make, just, the scripts of package.json and others.

Pure.  Of what the files hold only fixed names, and plain names of presets, are ever taken into a
command; what stands behind a name is the project's own, and runs like any command: shown, approved
and contained.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from local_agent.workspace.project.model import NAMES, Folder, Goal, Ignored, Narrowing, Recipe

_MAX_LINE: Final = 500  # characters of a rule
_TARGETS: Final = re.compile(r"([A-Za-z0-9][\w./ -]{0,400}?)\s?::?(?![:=])")
_RECIPE: Final = re.compile(r"@?([A-Za-z_][\w-]*+)((?:\s++[^\s:]++)*+)\s*+:(?!=)")
# Whatever is added to a script stands at its end, so it must end in the runner and its switches.
_TAKES_PATHS: Final = re.compile(
    r"(?:cross-env\s+)?(?:[A-Z_]+=[\w.-]+\s+)*(?:npx\s+)?"
    r"(?:jest|vitest(?: run)?|ava|playwright test)"
    r"(?:\s+--?[A-Za-z][\w.=-]*)*\s*"
)
_NEVER_ENDS: Final = re.compile(r"--watch(?:All)?(?![\w=-])|\bnodemon\b|\s-w(?:\s|$)")
_NO_TESTS: Final = re.compile(r"no test specified", re.IGNORECASE)
_CREATE_REACT_APP: Final = re.compile(r"react-scripts(?:-ts)? test\b")
MAKEFILES: Final = ("GNUmakefile", "makefile", "Makefile")  # in the order of make itself
TASKFILES: Final = ("Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml")
_TASK: Final = re.compile(r"[\"']?([A-Za-z][\w:-]*?)[\"']?:(?:\s|$)")
_NOT_ALONE: Final = re.compile(r"[\n{,]\s*(?:internal:\s*true|requires:)")
_PRESET: Final = re.compile(r"[A-Za-z0-9_][\w.-]{0,99}", re.ASCII)
JUSTFILES: Final = ("justfile", "Justfile", ".justfile")
# The package manager by what it leaves behind.
PACKAGE_LOCKS: Final = {
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
    "bun.lock": "bun",
    "bun.lockb": "bun",
}
_ALSO: Final[Mapping[Goal, tuple[str, ...]]] = {"test": ("check",), "build": ("all",)}


def explicit(folder: Folder, goal: Goal, ignored: list[Ignored]) -> list[Recipe]:
    """Return what the runners of a folder have of this name; add scripts that never end."""
    return [
        *_make(folder, goal),
        *_just(folder, goal),
        *_taskfile(folder, goal),
        *_presets(folder, goal),
        *_package(folder, goal, ignored),
        *_tasks(folder, goal),
    ]


def package_manager(folder: Folder) -> str:
    """Return npm, or whose lock file is there."""
    return PACKAGE_LOCKS.get(folder.has(*PACKAGE_LOCKS), "npm")


def _named(
    folder: Folder,
    wanted: Iterable[str],
    has: Collection[str],
    program: tuple[str, ...],
    file: str,
    what: str,
) -> Iterator[Recipe]:
    """Yield the first of the wanted names that a runner has."""
    for name in wanted:
        if name in has:
            yield Recipe((*program, name), folder.at(file), what % name, folder=folder.path)
            return


def _make(folder: Folder, goal: Goal) -> Iterator[Recipe]:
    file, text = folder.text(*MAKEFILES)
    targets = {
        name
        for line in text.split("\n")
        if (match := _TARGETS.match(line[:_MAX_LINE]))
        for name in match[1].split()
    }
    wanted = (*NAMES[goal], *_ALSO.get(goal, ()))
    return _named(folder, wanted, targets, ("make",), file, "%s:")


def _just(folder: Folder, goal: Goal) -> Iterator[Recipe]:
    file, text = folder.text(*JUSTFILES)
    recipes = {
        match[1]
        for line in text.split("\n")
        if (match := _RECIPE.match(line[:_MAX_LINE]))
        and all("=" in word or word[0] == "*" for word in match[2].split())  # it needs no argument
    }
    has = () if folder.path else recipes
    return _named(folder, NAMES[goal], has, ("just",), file, "%s:")


def _taskfile(folder: Folder, goal: Goal) -> Iterator[Recipe]:
    file, text = folder.text(*TASKFILES)
    body = f"\n{text}".partition("\ntasks:")[2]
    own = re.split(r"\n(?=[^\s#])", body, maxsplit=1)[0]
    indent = re.search(r"\n( {1,8})[^\s#]", own)
    tasks = re.split(rf"\n{indent[1]}(?=[^\s#])", own) if indent else ()
    has = {
        match[1]
        for task in tasks
        if (match := _TASK.match(task[:_MAX_LINE])) and not _NOT_ALONE.search(task)
    }
    return _named(folder, NAMES[goal], has, ("task",), file, "tasks.%s")


def _presets(folder: Folder, goal: Goal) -> Iterator[Recipe]:
    """Yield the presets of CMake; of several a person chooses."""
    program = {"test": ("ctest",), "build": ("cmake", "--build")}.get(goal)
    if program is None or folder.path or "CMakeLists.txt" not in folder.names:
        return
    presets = folder.tables.get("CMakePresets.json", {}).get(f"{goal}Presets")
    for preset in presets if isinstance(presets, list) else ():
        name = preset.get("name") if isinstance(preset, dict) and not preset.get("hidden") else None
        if isinstance(name, str) and _PRESET.fullmatch(name):
            argv = (*program, "--preset", name)
            yield Recipe(argv, "CMakePresets.json", f"{goal}Presets.{name}")


def _package(folder: Folder, goal: Goal, ignored: list[Ignored]) -> Iterator[Recipe]:
    scripts = folder.table("package.json", "scripts")
    file, manager = folder.at("package.json"), package_manager(folder)
    for name in NAMES[goal]:
        script = scripts.get(name)
        if not isinstance(script, str) or _NO_TESTS.search(script[:_MAX_LINE]):
            continue
        if _NEVER_ENDS.search(script[:_MAX_LINE]):
            ignored.append(Ignored(file, "does-not-end"))
            continue
        is_short = name == "test" and manager != "bun"
        argv = (manager, *(() if is_short else ("run",)), name)
        is_npm = manager == "npm"
        if _CREATE_REACT_APP.search(script[:_MAX_LINE]):
            # It watches for ever unless it is told not to.
            argv += ("--", "--watchAll=false") if is_npm else ("--watchAll=false",)
        narrows: Narrowing = "none"
        if len(script) <= _MAX_LINE and _TAKES_PATHS.fullmatch(script):
            narrows = "dashes" if is_npm else "paths"
        yield Recipe(argv, file, f"scripts.{name}", narrows, folder.path)
        return


def _tasks(folder: Folder, goal: Goal) -> Iterator[Recipe]:
    """Give what the smaller runners name; they have no way to be told another folder."""
    if folder.path:
        return
    for file, keys, program in (
        ("composer.json", ("scripts",), ("composer", "run-script")),
        ("deno.json", ("tasks",), ("deno", "task")),
        ("pyproject.toml", ("tool", "hatch", "envs", "default", "scripts"), ("hatch", "run")),
        ("pyproject.toml", ("tool", "pdm", "scripts"), ("pdm", "run")),
        ("pyproject.toml", ("tool", "poe", "tasks"), ("poe",)),
        ("pyproject.toml", ("tool", "taskipy", "tasks"), ("task",)),
    ):
        has = folder.table(file, *keys)
        yield from _named(folder, NAMES[goal], has, program, file, ".".join((*keys, "%s")))
