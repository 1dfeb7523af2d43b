"""Reads linters, type checkers and formatters.  Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from local_agent.reports.page import Found, Page, first
from local_agent.reports.report import Failure, Report

_PATH: Final = r"(?P<path>[^\s:()][^:()\n]{0,400})"
_SPOT: Final = r"(?P<line>\d{1,7})(?::\d{1,6})?"


@dataclass(frozen=True, slots=True)
class _Linter:
    """How one tool writes.

    Attributes:
        problem: One problem, with ``path``, ``line``, ``name``, ``message``.
        total: Its last line, with ``total``; None where it ends without a word.
        clean: Its last line when there is nothing to say.
    """

    tool: str
    problem: re.Pattern[str]
    total: re.Pattern[str] | None = None
    clean: re.Pattern[str] | None = None


_LINTERS: Final = (
    _Linter(
        "mypy",
        re.compile(rf"{_PATH}(?::{_SPOT})?: error: (?P<message>.*?)(?:  \[(?P<name>[\w-]+)\])?$"),
        re.compile(r"Found (?P<total>\d{1,7}) errors? in \d+ files? \("),
        re.compile(r"Success: no issues found in \d+ source files?$"),
    ),
    _Linter(
        "pylint",
        re.compile(rf"{_PATH}:{_SPOT}: (?P<name>[CEFIRW]\d{{4}}): (?P<message>.*)$"),
        re.compile(r"Your code has been rated at (?!10\.00)(?P<total>)"),
        re.compile(r"Your code has been rated at 10\.00/10"),
    ),
    _Linter(
        "pyright",
        re.compile(rf"  {_PATH}:{_SPOT} - error: (?P<message>.*?)(?: \((?P<name>report\w+)\))?$"),
        re.compile(r"(?P<total>[1-9]\d{0,6}) errors?, \d+ warnings?, "),
        re.compile(r"0 errors, \d+ warnings?, "),
    ),
    _Linter(
        "tsc",
        re.compile(
            rf"{_PATH}[:(]\d{{1,7}}[:,]\d{{1,6}}(?: - |\): )error (?P<name>TS\d{{1,6}}): "
            r"(?P<message>.*)$"
        ),
    ),
    _Linter(
        "flake8", re.compile(rf"{_PATH}:{_SPOT}: (?P<name>[A-Z]{{1,4}}\d{{3,4}}) (?P<message>.*)$")
    ),
)
_TSC: Final = re.compile(r"[^\s(][^(\n]{0,400}?[:(](?P<line>\d{1,7})[:,]\d")
_TSC_GLOBAL: Final = re.compile(r"error (?P<name>TS\d{1,6}): (?P<message>.*)$")
_RUFF_CONCISE: Final = re.compile(
    rf"{_PATH}:{_SPOT}: (?P<name>[A-Z]{{1,6}}\d{{1,4}}|invalid-syntax):? (?:\[\*\] )?"
    r"(?P<message>.*)$"
)
_RUFF_FULL: Final = re.compile(
    r"(?P<name>[A-Z]{1,6}\d{1,4}|invalid-syntax):? (?:\[\*\] )?(?P<message>\S.*)$"
)
_RUFF_AT: Final = re.compile(rf" *--> {_PATH}:{_SPOT}$")
_RUFF_TOTAL: Final = re.compile(
    r"Found (?P<total>\d{1,7}) errors?(?: \(\d+ fixed, (?P<left>\d{1,7}) remaining\))?\.$"
)
_RUFF_CLEAN: Final = re.compile(
    r"All checks passed!$|Found \d+ errors? \(\d+ fixed, 0 remaining\)\.$"
)
_FORMAT: Final = re.compile(r"(?P<total>\d{1,7}) files? would be reformatted")
_FORMATTED: Final = re.compile(r"\d{1,7} files? (?:already formatted|left unchanged)$")
_FORMAT_FILE: Final = re.compile(r"Would reformat: (?P<path>\S.*)$")
_ESLINT_TOTAL: Final = re.compile(
    r"✖ (?P<total>\d{1,7}) problems? \((?P<errors>\d{1,7}) errors?, \d{1,7} warnings?\)$"
)
_ESLINT_FILE: Final = re.compile(r"(?P<path>(?:/|\w:\\)[^:]{1,400})$")
_ESLINT: Final = re.compile(
    r"  (?P<line>\d{1,7}):\d{1,6} +(?P<level>error|warning) +(?P<message>\S.*?)"
    r"(?:  +(?P<name>[@\w/-]+))?$"
)


def read_linter(page: Page) -> Found | None:
    """Read the tools that write one problem a line; the last of them that has one."""
    found = [one for linter in _LINTERS if (one := _read(page, linter)) is not None]
    return max(found, key=lambda one: (bool(one.report.failed), one.end), default=None)


def _read(page: Page, linter: _Linter) -> Found | None:
    lines = page.lines
    problems = [(i, match) for i, line in enumerate(lines) if (match := linter.problem.match(line))]
    if linter.total is None:
        ends = [problems[-1][0]] if problems else []
        totals = [len(problems)] if problems else []
    else:
        matches = [
            (i, match) for i, line in enumerate(lines) if (match := linter.total.match(line))
        ]
        ends = [i for i, _ in matches]
        totals = [int(match["total"] or len(problems)) for _, match in matches]
    if ends and problems:
        failures = first(_problem(page, match) for _, match in problems)
        report = Report(tool=linter.tool, kind="problems", failed=sum(totals), failures=failures)
        return Found(report, problems[0][0], ends[-1])
    clean = page.last(linter.clean) if linter.clean else None
    return None if clean is None else Found(_clean(linter.tool), clean, clean)


def _clean(tool: str) -> Report:
    return Report(tool=tool, kind="problems", failed=0)


def _problem(page: Page, match: re.Match[str]) -> Failure:
    groups = match.groupdict()
    spot = _TSC.match(match[0]) if "line" not in groups else None
    line = spot["line"] if spot else groups.get("line")
    place = page.place(groups["path"], line)
    return page.failure(groups.get("name") or "error", place=place, message=groups["message"])


def read_ruff(page: Page) -> Found | None:
    """Read ruff's problems in its full or concise form, and its formatter's verdict."""
    lines = page.lines
    problems: list[Failure] = []
    start = end = -1
    total = 0
    for i, line in enumerate(lines):
        arrow = _RUFF_AT.match(lines[i + 1]) if i + 1 < len(lines) else None
        head = _RUFF_FULL.match(line) if arrow else None
        match = _RUFF_CONCISE.match(line)
        if found := _RUFF_TOTAL.match(line):
            total, end = total + int(found["left"] or found["total"]), i
        elif arrow and head:
            place = page.place(arrow["path"], arrow["line"])
            problems.append(page.failure(head["name"], place=place, message=head["message"]))
        elif match:
            problems.append(_problem(page, match))
        start = i if problems and start < 0 else start
    if total and problems:
        report = Report(tool="ruff", kind="problems", failed=total, failures=first(problems))
        return Found(report, start, end)
    clean = page.last(_RUFF_CLEAN)
    return None if clean is None else Found(_clean("ruff"), clean, clean)


def read_format(page: Page) -> Found | None:
    """Read what ``ruff format --check`` or ``black --check`` would change."""
    end = page.last(_FORMAT)
    if end is None:
        clean = page.last(_FORMATTED)
        return None if clean is None else Found(_clean("ruff format"), clean, clean)
    match = _FORMAT.match(page.lines[end])
    places: list[str | None] = []
    for i, line in enumerate(page.lines[:end]):
        if named := _FORMAT_FILE.match(line):
            places.append(page.place(named["path"]))
        elif line.startswith("unformatted:") and (arrow := _RUFF_AT.match(page.lines[i + 1])):
            places.append(page.place(arrow["path"], arrow["line"]))
    failures = first(page.failure("format", place=place) for place in places)
    total = int(match["total"]) if match else 0
    report = Report(tool="ruff format", kind="problems", failed=total, failures=failures)
    return Found(report, end, end)


def read_eslint(page: Page) -> Found | None:
    """Read eslint's stylish form; with warnings only and exit code 0 nothing failed."""
    end = page.last(_ESLINT_TOTAL)
    match = _ESLINT_TOTAL.match(page.lines[end]) if end is not None else None
    if end is None or match is None:
        return None
    path, start = "", end
    problems: list[tuple[bool, Failure]] = []
    for i, line in enumerate(page.lines[:end]):
        if named := _ESLINT_FILE.match(line):
            path = named["path"]
        elif path and (problem := _ESLINT.match(line)):
            start = min(start, i - 1)
            place = page.place(path, problem["line"])
            name = problem["name"] or problem["level"]
            one = page.failure(name, place=place, message=problem["message"])
            problems.append((problem["level"] == "warning", one))
    problems.sort(key=lambda one: one[0])  # errors first
    warned = page.exit_code == 0 and match["errors"] == "0"
    report = Report(
        tool="eslint",
        kind="problems",
        failed=0 if warned else int(match["total"]),
        failures=() if warned else first(one for _, one in problems),
        note=page.text(page.lines[end].strip("✖ ")) if warned else None,
    )
    return Found(report, start, end)


def read_tsc_options(page: Page) -> Found | None:
    """Read an error of tsc that is of no file."""
    at = page.last(_TSC_GLOBAL)
    match = _TSC_GLOBAL.match(page.lines[at]) if at is not None else None
    if at is None or match is None:
        return None
    failure = page.failure(match["name"], message=match["message"])
    return Found(Report(tool="tsc", kind="problems", failed=1, failures=(failure,)), at, at)
