"""What is wished of a project and what its files say about it.  Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

# Only what comes to an end by itself: nothing here starts a server.
Goal = Literal["test", "build", "lint", "format", "format-check", "typecheck", "check"]
# How a command is told to take only a part: not at all, paths at its end, paths after ``--``, a
# package in the place of ``./...``, or a word that the names of the tests hold.
Narrowing = Literal["none", "paths", "pytest", "dashes", "go", "cargo"]

# What a task runner calls each goal, the usual name first.
NAMES: Final[Mapping[Goal, tuple[str, ...]]] = {
    "test": ("test", "tests"),
    "build": ("build", "compile"),
    "lint": ("lint",),
    "format": ("format", "fmt"),
    "format-check": ("format:check", "format-check", "check-format", "fmt-check", "fmt:check"),
    "typecheck": ("typecheck", "type-check", "types", "check-types", "check:types"),
    "check": ("check",),
}


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be run.

    Attributes:
        only: The part of it that was named, in the person's words; empty for all of it.
        given: The person's own command, of which only a part is wanted.
    """

    goal: Goal
    only: str = ""
    given: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recipe:
    """One command that a project's files name.

    Attributes:
        because: The file that names it, by relative path; empty for the person's own.
        what: What in that file, in its own terms, such as ``scripts.test``.
        folder: Of the project; empty for the workspace itself.
    """

    argv: tuple[str, ...]
    because: str = ""
    what: str = ""
    narrows: Narrowing = "none"
    folder: str = ""


@dataclass(frozen=True, slots=True)
class Ignored:
    """A project file that is not taken into account.

    Attributes:
        why: ``too-large``, ``malformed``, ``unreadable``, or ``does-not-end``.
    """

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Inference:
    """What was found.

    Attributes:
        recipes: Equally good ones: with one it is clear what to run, with more a person says which.
        narrowed: It runs only the part that was named.
        ignored: Files that would have been asked.
    """

    recipes: tuple[Recipe, ...] = ()
    narrowed: bool = False
    ignored: tuple[Ignored, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """One folder of a workspace that could be a project, as far as its files were read.

    Attributes:
        path: Relative; empty for the workspace itself.
        names: Of the files and folders right in it.
        texts: What stands in those that tell what to run.
        tables: The same parsed, of those that are TOML or JSON.
        tests: Whether there are files that pytest would collect, in it or in its folder of tests.
    """

    path: str = ""
    names: frozenset[str] = frozenset()
    texts: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tests: bool = False

    def at(self, name: str) -> str:
        """Return the path of a file in it."""
        return f"{self.path}/{name}" if self.path else name

    def has(self, *names: str) -> str:
        """Return the first of these names that is in it, or nothing."""
        return next((name for name in names if name in self.names), "")

    def text(self, *names: str) -> tuple[str, str]:
        """Return the first of these files that was read, with what stands in it; else nothing."""
        return next(((name, self.texts[name]) for name in names if name in self.texts), ("", ""))

    def table(self, name: str, *keys: str) -> Mapping[str, Any]:
        """Return a table within a parsed file; an empty one where there is none."""
        found: object = self.tables.get(name, {})
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        return found if isinstance(found, dict) else {}
