"""Reads maven (surefire) and gradle; what does not compile is read with the linters.  Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from local_agent.reports.page import Found, Page, first
from local_agent.reports.report import Failure, Report

_LEVEL: Final = r"(?:\[(?:INFO|WARNING|ERROR)\] )?"
_TOTAL: Final = re.compile(
    rf"{_LEVEL}Tests run: (?P<run>\d{{1,7}}), Failures: (?P<failures>\d{{1,7}}),"
    rf" Errors: (?P<errors>\d{{1,7}}), Skipped: (?P<skipped>\d{{1,7}})$|{_LEVEL}Results ?:$"
)
_BUILD: Final = re.compile(r"\[(?:INFO|ERROR)\] BUILD (?:SUCCESS|FAILURE)$")
_CASE: Final = re.compile(
    r"\[ERROR\]   (?P<name>[\w$.]+(?:\[[^\]]{0,80}\])?)(?::(?P<line>\d{1,7}))?(?:->\S+)?"
    r" (?:» )?(?P<message>\S.*)$"
)
_SAID: Final = re.compile(r"\[ERROR\] (?P<message>\S.*?)(?: -> \[Help.*)?$")
_GOAL: Final = re.compile(r"\[ERROR\] (?P<message>Failed to execute goal .*?)(?: -> \[Help.*)?$")


def read_maven(page: Page) -> Found | None:
    """Add up the totals of the modules; without any, what maven says."""
    totals: list[tuple[int, re.Match[str]]] = []
    results = False
    for i, match in page.matches(_TOTAL):
        if match["run"] and (results or page.lines[i].startswith("[")):
            totals.append((i, match))
        results = not match["run"]
    build = page.last(_BUILD)
    if not totals:
        at = next(page.matches(_SAID, build[0]), None) if build and page.exit_code != 0 else None
        note = page.text(at[1]["message"]) if at else None
        return Found(Report(tool="maven", note=note), 0, at[0]) if at else None
    run, failures, errors, skipped = (
        sum(int(match[word]) for _, match in totals)
        for word in ("run", "failures", "errors", "skipped")
    )
    goal = page.last(_GOAL)
    report = Report(
        tool="maven",
        passed=max(run - failures - errors - skipped, 0),
        failed=failures + errors,
        skipped=skipped,
        failures=first(_cases(page, totals[-1][0])),
        note=page.text(goal[1]["message"]) if goal and not failures + errors else None,
    )
    return Found(report, 0, build[0] if build else totals[-1][0])


def _cases(page: Page, end: int) -> Iterator[Failure]:
    for _, match in page.matches(_CASE, end=end):
        name = match["name"]
        file = name.split(".")[-2] if "." in name else name
        place = f"{file}.java:{match['line']}" if match["line"] else None
        yield page.failure(name, place=place, message=match["message"])


_GRADLE_TOTAL: Final = re.compile(
    r"(?P<run>\d{1,7}) tests? completed, (?P<failed>\d{1,7}) failed"
    r"(?:, (?P<skipped>\d{1,7}) skipped)?$"
)
_GRADLE_END: Final = re.compile(r"BUILD (?:FAILED|SUCCESSFUL)(?: in .*)?$")
_GRADLE_CASE: Final = re.compile(r"(?P<name>\S.* > \S.*) FAILED$")
_GRADLE_AT: Final = re.compile(r"    (?P<message>\S.*?)(?: at (?P<place>[\w$]+\.\w+:\d{1,7}))?$")
_GRADLE_WHY: Final = re.compile(r"Execution failed for task .*$")


def read_gradle(page: Page) -> Found | None:
    """Add up the totals of the test tasks; gradle counts tests only where one failed."""
    build = page.last(_GRADLE_END)
    if build is None:
        return None
    end = build[0]
    totals = [match for _, match in page.matches(_GRADLE_TOTAL, end=end)]
    if not totals:
        at = next((i for i, _ in page.matches(_GRADLE_WHY, end=end)), None)
        note = page.text(page.lines[at]) if at is not None else None
        return Found(Report(tool="gradle", note=note), at, at) if at is not None else None
    run, failed, skipped = (
        sum(int(match[word] or 0) for match in totals) for word in ("run", "failed", "skipped")
    )
    report = Report(
        tool="gradle",
        passed=max(run - failed - skipped, 0),
        failed=failed,
        skipped=skipped,
        failures=first(_gradle_cases(page, end)),
    )
    return Found(report, 0, end)


def _gradle_cases(page: Page, end: int) -> Iterator[Failure]:
    for i, match in page.matches(_GRADLE_CASE, end=end):
        more = _GRADLE_AT.match(page.lines[i + 1])
        place, message = (more["place"], more["message"]) if more else (None, "")
        yield page.failure(match["name"], place=place, message=message)
