"""Reads linters, type checkers, formatters and compilers: what writes a problem a line.  Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from local_agent.reports.report import Failure, Found, Page, Report, first
from local_agent.reports.tables import Form, compiled

_ARROW: Final = re.compile(
    r" *--> (?P<path>[^\s:()][^:()\n]{0,400}):(?P<line>\d{1,7})(?::\d{1,6})?$"
)  # below a problem that names no place


def read_problems(page: Page, form: Form) -> Found | None:
    """Read what a tool of this form wrote."""
    totals = list(page.matches(compiled(form.total))) if form.total else []
    clean = page.last(compiled(form.clean))
    if clean and page.exit_code == 0 and totals and clean[0] == totals[-1][0]:
        totals = []  # nothing but warnings
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
            note=None if failed else page.brief(page.lines[end]),
        )
        return Found(report, at[0], at[-1])
    if not clean:
        return None
    note = clean[1].groupdict().get("note")
    report = Report(tool=form.tool, kind="problems", failed=0, note=note and page.brief(note))
    return Found(report, clean[0], clean[0])


def _problems(page: Page, form: Form, end: int) -> Iterator[tuple[int, Failure]]:
    for i, match in page.matches(compiled(form.problem), end=end):
        failure = page.problem(match, form.name)
        if form.arrow and failure.place is None:
            arrow = _ARROW.match("".join(page.lines[i + 1 : i + 2]))
            if arrow is None:
                continue
            failure = replace(failure, place=page.place(arrow["path"], arrow["line"]))
        if form.above and (head := page.last(compiled(form.above), i)):
            line = {**match.groupdict(), **head[1].groupdict()}.get("line")
            failure = replace(failure, place=page.place(head[1]["path"], line))
        yield i, failure
