"""Task runners that name a goal themselves: make, just, the scripts of package.json and others.

Pure.  Of what the files hold only fixed names, and plain names of presets, are ever taken into a
command; what stands behind a name is the project's own, and runs like any command: shown, approved
and contained.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

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
_MAKEFILES: Final = ("GNUmakefile", "makefile", "Makefile")  # in the order of make itself
TASKFILES: Final = ("Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml")
_TASK: Final = re.compile(r"[\"']?([A-Za-z][\w:-]*?)[\"']?:(?:\s|$)")
_NOT_ALONE: Final = re.compile(r"[\n{,]\s*(?:internal:\s*true|requires:)")
_PRESET: Final = re.compile(r"[A-Za-z0-9_][\w.-]{0,99}", re.ASCII)
_JUSTFILES: Final = ("justfile", "Justfile", ".justfile")
# The package manager by what it leaves behind.
_BY_LOCK: Final = (
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
)
_ALSO: Final[Mapping[Goal, tuple[str, ...]]] = {"test": ("check",), "build": ("all",)}


def explicit(folder: Folder, goal: Goal) -> tuple[list[Recipe], list[Ignored]]:
    """Return what the runners of a folder have of this name, and scripts that never end."""
    ignored: list[Ignored] = []
    found = [
        *_make(folder, goal),
        *_just(folder, goal),
        *_taskfile(folder, goal),
        *_presets(folder, goal),
        *_package(folder, goal, ignored),
        *_tasks(folder, goal),
    ]
    return found, ignored


def package_manager(folder: Folder) -> str:
    """Return npm, or whose lock file is there."""
    return next((name for lock, name in _BY_LOCK if lock in folder.names), "npm")


def _make(folder: Folder, goal: Goal) -> Iterator[Recipe]:
    file = next((name for name in _MAKEFILES if name in folder.texts), "")
    targets = _targets(folder.texts.get(file, ""))
    for name in (*NAMES[goal], *_ALSO.get(goal, ())):
        if name in targets:
            yield Recipe(("make", name), folder.at(file), f"{name}:", folder=folder.path)
            return


def _targets(text: str) -> set[str]:
    found: set[str] = set()
    for line in text.split("\n"):
        if match := _TARGETS.match(line[:_MAX_LINE]):
            found.update(match[1].split())
    return found


def _just(folder: Folder, goal: Goal) -> Iterator[Recipe]:
    file = next((name for name in _JUSTFILES if name in folder.texts), "")
    if not file or folder.path:
        return
    named = {
        match[1]
        for line in folder.texts[file].split("\n")
        if (match := _RECIPE.match(line[:_MAX_LINE])) and not _needs_arguments(match[2])
    }
    for name in NAMES[goal]:
        if name in named:
            yield Recipe(("just", name), file, f"{name}:")
            return


def _taskfile(folder: Folder, goal: Goal) -> Iterator[Recipe]:
    file = next((name for name in TASKFILES if name in folder.texts), "")
    body = f"\n{folder.texts.get(file, '')}".partition("\ntasks:")[2]
    own = re.split(r"\n(?=[^\s#])", body, maxsplit=1)[0]
    if not (indent := re.search(r"\n( {1,8})[^\s#]", own)):
        return
    tasks = re.split(rf"\n{indent[1]}(?=[^\s#])", own)
    named = {
        match[1]
        for task in tasks
        if (match := _TASK.match(task[:_MAX_LINE])) and not _NOT_ALONE.search(task)
    }
    for name in NAMES[goal]:
        if name in named:
            yield Recipe(("task", name), folder.at(file), f"tasks.{name}", folder=folder.path)
            return


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


def _needs_arguments(parameters: str) -> bool:
    return any("=" not in word and word[0] != "*" for word in parameters.split())


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
        argv = (manager, name) if name == "test" and manager != "bun" else (manager, "run", name)
        yield Recipe(
            argv + _ending(script, manager),
            file,
            f"scripts.{name}",
            narrows=_narrowing(script, manager),
            folder=folder.path,
        )
        return


def _ending(script: str, manager: str) -> tuple[str, ...]:
    # It watches for ever unless it is told not to.
    if not _CREATE_REACT_APP.search(script[:_MAX_LINE]):
        return ()
    return ("--", "--watchAll=false") if manager == "npm" else ("--watchAll=false",)


def _narrowing(script: str, manager: str) -> Narrowing:
    if len(script) > _MAX_LINE or not _TAKES_PATHS.fullmatch(script):
        return "none"
    return "dashes" if manager == "npm" else "paths"


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
        tasks: Mapping[str, Any] = folder.table(file, *keys)
        for name in NAMES[goal]:
            if name in tasks:
                yield Recipe((*program, name), file, ".".join((*keys, name)))
                break
