"""Reads what a run printed: the ordered list of readers, and which of them is believed.  Pure.

The exit code outranks the text.  A test can print the summary of any runner; what a reader finds
is taken only where it agrees with how the run ended, and does not stand within another's lines.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from local_agent.reports.compiled import read_cargo_test, read_go_test, read_gradle, read_maven
from local_agent.reports.javascript import read_jest, read_mocha, read_vitest
from local_agent.reports.linters import FORMS, read_eslint, read_problems
from local_agent.reports.python import read_pytest, read_unittest
from local_agent.reports.report import Found, Reader, Report, new_page
from local_agent.reports.tap import read_tap

READERS: Final[tuple[Reader, ...]] = (
    *(partial(read_problems, form=form) for form in FORMS),
    read_pytest,
    read_unittest,
    read_jest,
    read_vitest,
    read_mocha,
    read_go_test,
    read_cargo_test,
    read_maven,
    read_gradle,
    read_tap,
    read_eslint,
)

_WITH_A_TOTAL: Final = frozenset(("unittest", "jest", "vitest", "mocha", "gradle", "eslint"))


def read_report(output: str, *, exit_code: int | None, workspace: str) -> Report | None:
    """Return the facts of a run, or None where no reader fits with confidence.

    Never contradicts the exit code: a run that failed or was stopped has a failure, something
    broken or a note, and one that ended with 0 has neither failures nor anything broken.

    Args:
        output: Standard output and error; may be cut at the front and in the middle.
        exit_code: None where the run was stopped.
        workspace: Absolute path; places are relative to it.
    """
    page = new_page(output, exit_code=exit_code, workspace=workspace)
    found = [one for reader in READERS if (one := reader(page)) is not None]
    if page.cut:
        found = [replace(one, report=_partial(one.report)) for one in found]
    found = [one for one in found if not any(_within(one, other, exit_code) for other in found)]
    fitting = [one for one in found if _agrees(one.report, exit_code)]
    if not fitting or (exit_code == 0 and any(_bad(one.report) for one in found)):
        return None  # nothing, or a failure that somebody has chosen to ignore
    if exit_code != 0:
        # A note says why a run ended early; where something failed, that is why.
        bad = [one for one in fitting if _bad(one.report)]
        return max(bad or fitting, key=lambda one: one.end).report
    tests = [one for one in fitting if one.report.kind == "tests"]
    return _without_note(min(tests or fitting, key=lambda one: one.end).report)


def _partial(report: Report) -> Report:
    return report if report.tool in _WITH_A_TOTAL else replace(report, partial=True)


def _within(one: Found, other: Found, exit_code: int | None) -> bool:
    """Tell whether a tool's lines are what the tests of another printed."""
    if exit_code != 0 and _bad(one.report) and not _bad(other.report):
        return False  # what explains the end of a run is not swallowed by what does not
    wider = other.end - other.start > one.end - one.start
    return one is not other and wider and other.start <= one.start and one.end < other.end


def _bad(report: Report) -> bool:
    return bool(report.failed or report.broken)


def _agrees(report: Report, exit_code: int | None) -> bool:
    if exit_code == 0:
        return not _bad(report)
    return _bad(report) or report.note is not None


def _without_note(report: Report) -> Report:
    return replace(report, note=None) if report.passed else report
