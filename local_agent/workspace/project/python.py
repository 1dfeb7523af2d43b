"""What a Python project runs, by what its files configure.  Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from local_agent.workspace.project.model import Folder, Goal, Recipe

# Whoever keeps the lock file starts the tools, with what the lock file names.
_BY_LOCK: Final = (
    ("uv.lock", ("uv", "run")),
    ("poetry.lock", ("poetry", "run")),
    ("pdm.lock", ("pdm", "run")),
    ("Pipfile.lock", ("pipenv", "run")),
)
_SECTIONS: Final = ("setup.cfg", "tox.ini")
_BUILDERS: Final = {"uv": ("uv", "build"), "poetry": ("poetry", "build"), "pdm": ("pdm", "build")}


def python(folder: Folder, goal: Goal) -> Iterator[Recipe]:
    """Give what tests, checks or builds it; more than one only where several are set up alike."""
    match goal:
        case "test":
            yield from _tests(folder)
        case "lint":
            yield from _tool(folder, "ruff", ("check", "."), "ruff.toml", ".ruff.toml")
            yield from _tool(folder, "flake8", (), ".flake8")
        case "format" | "format-check":
            yield from _formats(folder, goal)
        case "typecheck":
            yield from _mypy(folder)
            yield from _tool(folder, "pyright", (), "pyrightconfig.json")
        case "build" if folder.table("pyproject.toml", "build-system"):
            launch = _launch(folder)
            argv = _BUILDERS.get(launch[0] if launch else "", ("python", "-m", "build"))
            yield _recipe(folder, argv, "pyproject.toml", "[build-system]")


def _tests(folder: Folder) -> Iterator[Recipe]:
    launch = _launch(folder)
    found = _configured(folder, "pytest", "pytest.ini", "conftest.py")
    if not found:
        for file, words in (
            ("noxfile.py", "nox"),
            ("tox.ini", "tox"),
            ("manage.py", "python manage.py test"),
        ):
            if file in folder.names:
                yield _recipe(folder, (*launch, *words.split()), file, words)
                return
        if not folder.tests:
            return
        found = (folder.has("tests", "test") or "test_*.py", "pytest")
    file, what = found
    argv = (*launch, "pytest") if launch else ("python", "-m", "pytest")
    yield Recipe(argv, folder.at(file), what, "pytest", folder.path)


def _formats(folder: Folder, goal: Goal) -> Iterator[Recipe]:
    checks = goal == "format-check"
    if _configured(folder, "black"):
        yield from _tool(folder, "black", ("--check", ".") if checks else (".",))
    else:
        argv = ("format", "--check", ".") if checks else ("format", ".")
        yield from _tool(folder, "ruff", argv, "ruff.toml", ".ruff.toml")


def _mypy(folder: Folder) -> Iterator[Recipe]:
    named = folder.table("pyproject.toml", "tool", "mypy").keys() & {"files", "packages", "modules"}
    yield from _tool(folder, "mypy", () if named else (".",), "mypy.ini", ".mypy.ini")


def _tool(folder: Folder, name: str, argv: tuple[str, ...], *files: str) -> Iterator[Recipe]:
    if found := _configured(folder, name, *files):
        yield _recipe(folder, (*_launch(folder), name, *argv), *found)


def _recipe(folder: Folder, argv: tuple[str, ...], file: str, what: str) -> Recipe:
    return Recipe(argv, folder.at(file), what, folder=folder.path)


def _configured(folder: Folder, tool: str, *files: str) -> tuple[str, str] | None:
    """Return the file that sets a tool up and what in it does; None where none does."""
    if folder.table("pyproject.toml", "tool", tool):
        return "pyproject.toml", f"[tool.{tool}]"
    if name := folder.has(*files):
        return name, tool
    heading = re.compile(rf"^\[(?:tool:)?{tool}\]", re.MULTILINE)
    for name in _SECTIONS:
        if heading.search(folder.texts.get(name, "")):
            return name, f"[{tool}]"
    return None


def _launch(folder: Folder) -> tuple[str, ...]:
    return next((argv for lock, argv in _BY_LOCK if lock in folder.names), ())
