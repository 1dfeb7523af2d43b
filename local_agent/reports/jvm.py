"""Reads maven (surefire) and gradle.  Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from local_agent.reports.page import Found, Page, first
from local_agent.reports.report import Failure, Report

_LEVEL: Final = r"(?:\[(?:INFO|WARNING|ERROR)\] )?"
_TOTAL: Final = re.compile(
    rf"{_LEVEL}Tests run: (?P<run>\d{{1,7}}), Failures: (?P<failures>\d{{1,7}}),"
    r" Errors: (?P<errors>\d{1,7}), Skipped: (?P<skipped>\d{1,7})$"
)
_RESULTS: Final = re.compile(rf"{_LEVEL}Results ?:$")
_BUILD: Final = re.compile(r"\[(?:INFO|ERROR)\] BUILD (?:SUCCESS|FAILURE)$")
_CASE: Final = re.compile(
    r"\[ERROR\]   (?P<name>[\w$.]+(?:\[[^\]]{0,80}\])?)(?::(?P<line>\d{1,7}))?(?:->\S+)?"
    r" (?P<message>\S.*)$"
)
_JAVAC: Final = re.compile(
    r"\[ERROR\] (?P<path>/[^:\[]{1,400}):\[(?P<line>\d{1,7}),\d{1,6}\] (?P<message>.*)$"
)
_GOAL: Final = re.compile(r"\[ERROR\] Failed to execute goal ")
_SAID: Final = re.compile(r"\[ERROR\] (?P<message>\S.*)$")


def read_maven(page: Page) -> Found | None:
    """Add up the totals of the modules; without any, what the compiler found or maven says."""
    lines = page.lines
    totals: list[tuple[int, re.Match[str]]] = []
    results = False
    for i, line in enumerate(lines):
        results = results or _RESULTS.match(line) is not None
        match = _TOTAL.match(line) if results or line.startswith("[") else None
        if match:
            totals.append((i, match))
            results = False
    compiled = _compiled(page) if page.last(_BUILD) is not None else None
    if compiled or not totals:
        return compiled or _unbuilt(page)
    count = {
        word: sum(int(match[word]) for _, match in totals)
        for word in ("run", "failures", "errors", "skipped")
    }
    failed = count["failures"] + count["errors"]
    cases = _cases(page, totals[-1][0])
    goal = page.last(_GOAL)
    report = Report(
        tool="maven",
        passed=max(count["run"] - failed - count["skipped"], 0),
        failed=failed,
        skipped=count["skipped"],
        failures=first(cases),
        note=_goal(page, goal) if goal is not None and not failed else None,
    )
    end = page.last(_BUILD)
    return Found(report, 0, totals[-1][0] if end is None else end)


def _cases(page: Page, end: int) -> Iterator[Failure]:
    for line in page.lines[:end]:
        if match := _CASE.match(line):
            name = match["name"]
            file = name.split(".")[-2] if "." in name else name
            place = f"{file}.java:{match['line']}" if match["line"] else None
            yield page.failure(name, place=place, message=match["message"].removeprefix("» "))


def _compiled(page: Page) -> Found | None:
    start = page.find(re.compile(r"\[ERROR\] COMPILATION ERROR :"))
    if start is None:
        return None
    problems = {
        page.failure("javac", place=page.place(m["path"], m["line"]), message=m["message"]): i
        for i, line in enumerate(page.lines)
        if (m := _JAVAC.match(line))
    }
    report = Report(tool="maven", kind="problems", failed=len(problems), failures=first(problems))
    return Found(report, start, max(problems.values())) if problems else None


def _unbuilt(page: Page) -> Found | None:
    end = page.last(_BUILD)
    at = page.find(_SAID, end) if end is not None else None
    if at is None or page.exit_code == 0:
        return None
    return Found(Report(tool="maven", note=_goal(page, at)), 0, at)


def _goal(page: Page, at: int) -> str | None:
    match = _SAID.match(page.lines[at])
    text = match["message"].partition(" -> [Help")[0] if match else ""
    return page.text(text) or None


_GRADLE_TOTAL: Final = re.compile(
    r"(?P<run>\d{1,7}) tests? completed, (?P<failed>\d{1,7}) failed"
    r"(?:, (?P<skipped>\d{1,7}) skipped)?$"
)
_GRADLE_END: Final = re.compile(r"BUILD (?P<verdict>FAILED|SUCCESSFUL)(?: in .*)?$")
_GRADLE_CASE: Final = re.compile(r"(?P<name>\S.* > \S.*) FAILED$")
_GRADLE_AT: Final = re.compile(r"    (?P<message>\S.*?)(?: at (?P<place>[\w$]+\.\w+:\d{1,7}))?$")
_GRADLE_JAVAC: Final = re.compile(
    r"(?::[\w:]+)?(?:e: )?(?P<path>/[^:]{1,400}\.\w+):(?P<line>\d{1,7}):(?:\d+:?)?"
    r" (?:error: )?(?P<message>.*)$"
)
_GRADLE_WHY: Final = re.compile(r"(?P<message>Execution failed for task .*)$")


def read_gradle(page: Page) -> Found | None:
    """Add up the totals of the test tasks; gradle counts tests only where one failed."""
    end = page.last(_GRADLE_END)
    if end is None:
        return None
    lines = page.lines[:end]
    totals = [match for line in lines if (match := _GRADLE_TOTAL.match(line))]
    why = next((match for line in lines if (match := _GRADLE_WHY.match(line))), None)
    if not totals:
        return _gradle_compiled(page, end, why)
    run, failed = (sum(int(match[word]) for match in totals) for word in ("run", "failed"))
    skipped = sum(int(match["skipped"] or 0) for match in totals)
    cases = []
    for i, line in enumerate(lines):
        if match := _GRADLE_CASE.match(line):
            more = _GRADLE_AT.match(lines[i + 1]) if i + 1 < end else None
            message = more["message"] if more else ""
            cases.append(
                page.failure(match["name"], place=more["place"] if more else None, message=message)
            )
    report = Report(
        tool="gradle",
        passed=max(run - failed - skipped, 0),
        failed=failed,
        skipped=skipped,
        failures=first(cases),
    )
    return Found(report, 0, end)


def _gradle_compiled(page: Page, end: int, why: re.Match[str] | None) -> Found | None:
    problems = [
        page.failure("javac", place=page.place(m["path"], m["line"]), message=m["message"])
        for line in page.lines[:end]
        if (m := _GRADLE_JAVAC.match(line))
    ]
    if why is None:
        return None
    if problems and "compile" in why["message"]:
        report = Report(
            tool="gradle", kind="problems", failed=len(problems), failures=first(problems)
        )
        return Found(report, 0, end)
    return Found(Report(tool="gradle", note=page.text(why["message"])), 0, end)
