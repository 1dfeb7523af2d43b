"""What a tool reported, as facts, and the output as its readers see it.  Pure; no words for people.

A `Report` has counts and the first failures; a `Page` has clean, bounded lines.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from common.text import one_line, strip_ansi

MAX_FAILURES: Final = 20  # kept; a chat shows three
MAX_ALSO: Final = 2  # other tools of the same run

Kind = Literal["tests", "problems"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One test that failed, or one problem that a linter or compiler found.

    Attributes:
        name: As the tool names it: a test's name, a rule's code.
        place: Path relative to the workspace, with ``:line`` where known.
        message: Its one-line message, unredacted as in the output; None where there is none.
    """

    name: str
    place: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What one run of a tool reported.

    Attributes:
        tool: Its name, e.g. ``pytest``, ``go test``.
        kind: ``tests`` counts tests; ``problems`` counts what a linter or compiler found, all of
            it in ``failed``.
        passed, failed, skipped: Counts; None where the output does not say.
        errors: Tests that an error ended, where the tool counts those apart from failures.
        broken: Files or suites that could not be loaded, collected or built.
        flaky: Tests that passed only when they were repeated.
        failures: The first failures in the order of the output, at most ``MAX_FAILURES``.
        partial: Part of the output was left out, and the tool gives no total: there may be more.
        note: The tool's own one-line reason where counts alone do not say it (no tests found, a
            crash, an interruption); None otherwise.
        exit_code: How the run ended, where that says something else than the counts; else None.
        also: What other tools reported in the same run.
    """

    tool: str
    kind: Kind = "tests"
    passed: int | None = None
    failed: int | None = None
    skipped: int | None = None
    errors: int = 0
    broken: int = 0
    flaky: int = 0
    failures: tuple[Failure, ...] = ()
    partial: bool = False
    note: str | None = None
    exit_code: int | None = None
    also: tuple[Report, ...] = ()

    @property
    def bad(self) -> int:
        """How many tests, files or problems speak against it."""
        return (self.failed or 0) + self.errors + self.broken or len(self.failures)


# --- the output, for readers -----------------------------------------------------------------

MAX_NAME_BYTES: Final = 200
MAX_MESSAGE_BYTES: Final = 300
_MAX_CHARS: Final = 512 * 1024  # the end of it: there stands the summary
_MAX_LINES: Final = 10_000
_MAX_LINE_CHARS: Final = 2000
_LEFT_OUT: Final = re.compile(r"^\[… \d+ bytes left out …\]$", re.MULTILINE)
_COUNT: Final = re.compile(r"(\d{1,7}) ([a-z]+)")


@dataclass(frozen=True, slots=True)
class Found:
    """What one reader read, and from which lines.

    Attributes:
        start, end: The first line that is the tool's, and its last, as far as can be told.
    """

    report: Report
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Page:
    """The lines of an output.

    Attributes:
        lines: Without terminal sequences and line ends, each of bounded length.
        exit_code: As the run ended; None where it was stopped.
        workspace: Absolute path.
        cut: Part of the output is missing.
        text: The lines joined.
    """

    lines: tuple[str, ...]
    exit_code: int | None
    workspace: str
    cut: bool = False
    text: str = ""

    def matches(
        self, pattern: re.Pattern[str], start: int = 0, end: int | None = None
    ) -> Iterator[tuple[int, re.Match[str]]]:
        """Give each line from ``start`` to before ``end`` that matches at its begin."""
        for i, line in enumerate(self.lines[start:end], start):
            if match := pattern.match(line):
                yield i, match

    def last(
        self, pattern: re.Pattern[str], end: int | None = None, start: int = 0
    ) -> tuple[int, re.Match[str]] | None:
        """Return the last line of those that matches at its begin; None without one."""
        for i in reversed(range(start, len(self.lines) if end is None else end)):
            if match := pattern.match(self.lines[i]):
                return i, match
        return None

    def having(self, mark: str) -> int | None:
        """Return the first line with a text in it; None without one."""
        return next((i for i, line in enumerate(self.lines) if mark in line), None)

    def place(self, path: str, line: str | int | None = None) -> str | None:
        """Return a path relative to the workspace; of one that is outside, its name only."""
        path = path.strip().removeprefix("file://").replace("\\", "/")
        path = path.removeprefix(self.workspace.rstrip("/") + "/")
        while path.startswith("./"):
            path = path[2:]
        if path.startswith(("/", "~")) or ".." in path.split("/") or path[1:3] == ":/":
            path = path.rstrip("/").rpartition("/")[2]
        path = one_line(path, MAX_NAME_BYTES - 10)
        return (f"{path}:{line}" if line else path) if path else None

    def own(self, path: str) -> bool:
        """Tell whether a path is the project's own: in the workspace, and nothing installed."""
        inside = path.startswith(self.workspace.rstrip("/") + "/") or not path.startswith("/")
        return inside and not any(
            part in ("..", "node_modules", "site-packages") or part.startswith("<")
            for part in path.split("/")
        )

    def brief(self, text: str, limit: int = MAX_MESSAGE_BYTES) -> str:
        """Return a text on one line, bounded, with paths relative to the workspace."""
        return one_line(text.replace(self.workspace.rstrip("/") + "/", ""), limit)

    def failure(self, name: str, *, place: str | None = None, message: str = "") -> Failure:
        """Return the facts of one failure, each safe to show."""
        return Failure(
            name=self.brief(name, MAX_NAME_BYTES) or "?",
            place=place,
            message=self.brief(message) or None,
        )

    def problem(self, match: re.Match[str], name: str) -> Failure:
        """Return the facts of a match with groups of their names, but ``path`` and ``line``."""
        said = match.groupdict()
        place = self.place(said["path"], said.get("line")) if said.get("path") else None
        return self.failure(
            said.get("name") or name, place=place, message=said.get("message") or ""
        )


def new_page(output: str, *, exit_code: int | None, workspace: str) -> Page:
    """Return the page of an output; of a long one its end.  Takes linear time."""
    text = strip_ansi(output[-_MAX_CHARS:]).replace("\0", "")
    whole = text.split("\n")
    # What was written over with carriage returns is gone, as on a terminal.
    states = (line.rstrip("\r").rpartition("\r")[2] for line in whole[-_MAX_LINES:])
    cut = len(output) > _MAX_CHARS or len(whole) > _MAX_LINES or _LEFT_OUT.search(text) is not None
    lines = tuple(line[:_MAX_LINE_CHARS] for line in states)
    return Page(lines, exit_code, workspace, cut, "\n".join(lines))


def counts(text: str) -> Counter[str]:
    """Return the numbers of ``3 failed, 2 passed`` by their words."""
    return Counter({match[2]: int(match[1]) for match in _COUNT.finditer(text)})


def first(failures: Iterable[Failure]) -> tuple[Failure, ...]:
    """Return the first failures, each once."""
    return tuple(dict.fromkeys(failures))[:MAX_FAILURES]
