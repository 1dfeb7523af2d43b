"""What a runner reported, as facts: counts and the first failures.  Pure; no words for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

MAX_FAILURES: Final = 20  # kept; a chat shows three

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
        broken: Files or suites that could not be loaded, collected or built.
        failures: The first failures in the order of the output, at most ``MAX_FAILURES``.
        partial: Part of the output was left out, and the tool gives no total: there may be more.
        note: The tool's own one-line reason where nothing was counted (no tests found, a crash);
            None otherwise.
    """

    tool: str
    kind: Kind = "tests"
    passed: int | None = None
    failed: int | None = None
    skipped: int | None = None
    broken: int = 0
    failures: tuple[Failure, ...] = ()
    partial: bool = False
    note: str | None = None
