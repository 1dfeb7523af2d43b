"""Reads linters, type checkers, formatters and compilers: what writes a problem a line.  Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from local_agent.reports.report import Failure, Found, Page, Report, first

_PATH: Final = r"(?P<path>[^\s:()][^:()\n]{0,400})"
_SPOT: Final = r"(?P<line>\d{1,7})(?::\d{1,6})?"
_ARROW: Final = re.compile(rf" *--> {_PATH}:{_SPOT}$")  # below a problem that names no place
_JAVAC_AT: Final = r"(?P<path>/[^:\[]{1,400}):"


@dataclass(frozen=True, slots=True)
class Form:
    """How one tool writes.

    Attributes:
        tool: Its name.
        problem: One problem, with ``message`` and perhaps ``path``, ``line`` and ``name``.
        total: What it says below them, perhaps with ``total``; None where it says nothing more.
        clean: Its last line when there is nothing to say.
        name: Of a problem that has none of its own.
        arrow: A problem without a path counts only with an arrow to one on the next line.
        alone: Its total is believed without a problem, as where these have been cut off.
    """

    tool: str
    problem: re.Pattern[str]
    total: re.Pattern[str] | None = None
    clean: re.Pattern[str] | None = None
    name: str = "error"
    arrow: bool = False
    alone: bool = False


FORMS: Final = (
    Form(
        "ruff",
        re.compile(
            rf"(?:{_PATH}:{_SPOT}: )?(?P<name>[A-Z]{{1,6}}\d{{1,4}}|invalid-syntax):? (?:\[\*\] )?"
            r"(?P<message>\S.*)$"
        ),
        re.compile(
            r"Found (?:\d{1,7} errors? \(\d+ fixed, )?(?P<total>[1-9]\d{0,6})"
            r" (?:errors?|remaining\))\.$"
        ),
        re.compile(r"All checks passed!$|Found \d+ errors? \(\d+ fixed, 0 remaining\)\.$"),
        arrow=True,
    ),
    Form(
        "ruff format",
        re.compile(r"Would reformat: (?P<path>\S.*)$|unformatted: "),
        re.compile(r"(?P<total>\d{1,7}) files? would be reformatted"),
        re.compile(r"\d{1,7} files? (?:already formatted|left unchanged)$"),
        name="format",
        arrow=True,
        alone=True,
    ),
    Form(
        "mypy",
        re.compile(rf"{_PATH}(?::{_SPOT})?: error: (?P<message>.*?)(?:  \[(?P<name>[\w-]+)\])?$"),
        re.compile(r"Found (?P<total>\d{1,7}) errors? in \d+ files? \("),
        re.compile(r"Success: no issues found in \d+ source files?$"),
    ),
    Form(
        "pylint",
        re.compile(rf"{_PATH}:{_SPOT}: (?P<name>[CEFIRW]\d{{4}}): (?P<message>.*)$"),
        re.compile(r"Your code has been rated at (?!10\.00)"),
        re.compile(r"Your code has been rated at 10\.00/10"),
    ),
    Form(
        "pyright",
        re.compile(rf"  {_PATH}:{_SPOT} - error: (?P<message>.*?)(?: \((?P<name>report\w+)\))?$"),
        re.compile(r"(?P<total>[1-9]\d{0,6}) errors?, \d+ warnings?, "),
        re.compile(r"0 errors, \d+ warnings?, "),
    ),
    Form(
        "tsc",  # of no file where its own options are wrong
        re.compile(
            rf"(?:{_PATH}[:(](?P<line>\d{{1,7}})[:,]\d{{1,6}}(?: - |\): ))?"
            r"error (?P<name>TS\d{1,6}): (?P<message>.*)$"
        ),
    ),
    Form(
        "flake8",
        re.compile(rf"{_PATH}:{_SPOT}: (?P<name>[A-Z]{{1,4}}\d{{3,4}}) (?P<message>.*)$"),
    ),
    Form(
        "cargo",
        re.compile(r"error(?:\[(?P<name>\w+)\])?: (?P<message>.*)$"),
        re.compile(r"error: could not compile `[^`]+`"),
        arrow=True,
        alone=True,
    ),
    Form(
        "maven",
        re.compile(rf"\[ERROR\] {_JAVAC_AT}\[(?P<line>\d{{1,7}}),\d{{1,6}}\] (?P<message>.*)$"),
        re.compile(r"\[ERROR\] Failed to execute goal .*: Compilation failure"),
        name="javac",
    ),
    Form(
        "gradle",
        re.compile(
            rf"(?::[\w:]+)?(?:e: )?{_JAVAC_AT}(?P<line>\d{{1,7}}):(?:\d+:?)?"
            r" (?:error: )?(?P<message>.*)$"
        ),
        re.compile(r"Execution failed for task .*compile"),
        name="javac",
    ),
)


def read_problems(page: Page, form: Form) -> Found | None:
    """Read what a tool of this form wrote."""
    totals = list(page.matches(form.total)) if form.total else []
    end = totals[-1][0] if totals else len(page.lines)
    problems = list(_problems(page, form, end))
    if (problems or form.alone) if totals else (problems and not form.total):
        distinct = dict.fromkeys(failure for _, failure in problems)  # some say them twice
        counted = sum(int(total.groupdict().get("total") or 0) for _, total in totals)
        failed = counted or len(distinct if totals else problems)
        at = [i for i, _ in (*problems, *totals)]
        report = Report(
            tool=form.tool,
            kind="problems",
            failed=failed or None,
            broken=0 if failed else 1,
            failures=first(distinct),
            note=None if failed else page.text(page.lines[end]),
        )
        return Found(report, at[0], at[-1])
    clean = page.last(form.clean) if form.clean else None
    report = Report(tool=form.tool, kind="problems", failed=0)
    return Found(report, clean[0], clean[0]) if clean else None


def _problems(page: Page, form: Form, end: int) -> Iterator[tuple[int, Failure]]:
    for i, match in page.matches(form.problem, end=end):
        failure = page.problem(match, form.name)
        if form.arrow and failure.place is None:
            arrow = _ARROW.match(page.lines[i + 1]) if i + 1 < len(page.lines) else None
            if arrow is None:
                continue
            failure = replace(failure, place=page.place(arrow["path"], arrow["line"]))
        yield i, failure


_ESLINT_TOTAL: Final = re.compile(
    r"✖ (?P<total>\d{1,7}) problems? \((?P<errors>\d{1,7}) errors?, \d{1,7} warnings?\)$"
)
_ESLINT_LINE: Final = re.compile(
    r"(?P<path>(?:/|\w:\\)[^:]{1,400})$"
    r"|  (?P<line>\d{1,7}):\d{1,6} +(?P<level>error|warning) +(?P<message>\S.*?)"
    r"(?:  +(?P<name>[@\w/-]+))?$"
)


def read_eslint(page: Page) -> Found | None:
    """Read eslint's stylish form; with warnings only and exit code 0 nothing failed."""
    total = page.last(_ESLINT_TOTAL)
    if total is None:
        return None
    end, count = total
    path, start = "", end
    problems: list[tuple[bool, Failure]] = []
    for i, match in page.matches(_ESLINT_LINE, end=end):
        if match["path"]:
            path = match["path"]
        elif path:
            start = min(start, i - 1)
            failure = page.problem(match, match["level"])
            failure = replace(failure, place=page.place(path, match["line"]))
            problems.append((match["level"] == "warning", failure))
    problems.sort(key=lambda one: one[0])  # errors first
    warned = page.exit_code == 0 and count["errors"] == "0"
    report = Report(
        tool="eslint",
        kind="problems",
        failed=0 if warned else int(count["total"]),
        failures=() if warned else first(one for _, one in problems),
        note=page.text(page.lines[end].strip("✖ ")) if warned else None,
    )
    return Found(report, start, end)
