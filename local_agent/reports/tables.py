"""The table of how runners, linters and dying programs write: `tables.toml`, read once.  Pure."""

from __future__ import annotations

import pkgutil
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeVar

NEVER: Final = r"(?!)"
compiled: Final = cache(re.compile)


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """How one runner writes.

    Attributes:
        tool: Its name.
        mark: What stands in each of its outputs; without it nothing else is looked for.
        total: A line of its summary.
        case: The line that names a test that failed: ``name``, perhaps ``path``, ``line`` and
            ``message``.
        below: The failures are listed below the summary, not above it.
        named: The words stand before their numbers: ``Failures: 1``.
        adds: Each project or file has a summary of its own.
        block: Lines that a summary takes, at most.
        detail: Where more is said of a test, by its name; else below its case.
        end: The first line that says no more of it.
        noise: A line that is no message.
        broken: A line that names a file which could not be loaded.
        skipped: A line below the summary that names a test which was left out.
        above: A rule around the name, where that stands above the case.
        file: The heading of a file's tests, with its ``path``.
        head: The line above a summary without which it is none.
        joined: The name goes on below, to a line that ends with a colon.
        under: The line above a case without which it is none.
        opens: The line below a case after which it is said why.
        repeats: A test may fail more than once, in its parts.
        note: A line that says why a run failed in which no test did.
    """

    tool: str
    mark: str
    total: str
    case: str
    below: bool = False
    named: bool = False
    adds: bool = False
    block: int = 1
    detail: str = ""
    end: str = NEVER
    noise: str = NEVER
    broken: str = NEVER
    skipped: str = NEVER
    above: str = ""
    file: str = NEVER
    head: str = ""
    joined: bool = False
    note: str = NEVER
    repeats: bool = False
    under: str = ""
    opens: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """How one linter, type checker or compiler writes.

    Attributes:
        tool: Its name.
        problem: One problem, with ``message`` and perhaps ``path``, ``line`` and ``name``.
        total: What it says below them, perhaps with ``total``; empty where it says nothing more.
        clean: Its last line when there is nothing to say.
        above: The line above its problems that names the place.
        name: Of a problem that has none of its own.
        arrow: A problem without a path counts only with an arrow to one on the next line.
        alone: Its total is believed without a problem, as where these have been cut off.
    """

    tool: str
    problem: str
    total: str = ""
    clean: str = NEVER
    above: str = ""
    name: str = "error"
    arrow: bool = False
    alone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Death:
    """What a program says as it dies.

    Attributes:
        tool: What it was run by.
        mark: The line that shows it, and says why unless one near it does.
        below, above: The next line in that direction that says why.
    """

    tool: str
    mark: str
    below: str = ""
    above: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """How a runner tells of a test, with ``name``, as soon as that has failed."""

    tool: str
    case: str


class Red(Failed):
    """How a runner ends an output that tells of a failure, whatever the exit code."""


_Row = TypeVar("_Row", Runner, Form, Death, Failed, Red)


@cache
def _read() -> dict[str, Any]:
    text = (pkgutil.get_data(__package__, "tables.toml") or b"").decode()
    for name, part in tomllib.loads(text)["parts"].items():
        text = text.replace(f"%{name}%", part)
    return tomllib.loads(text)


@cache
def rows(kind: type[_Row]) -> tuple[_Row, ...]:
    """Return the rows of one kind, in the order in which they are tried."""
    return tuple(kind(**row) for row in _read()[kind.__name__.lower()])
