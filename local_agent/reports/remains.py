"""Reads what there is where no summary is: an uncaught error, or the failures before a cut.  Pure.

These are looked for only in a run that failed, and only where no other reader found a failure.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from local_agent.reports.report import Found, Page, Report, first
from local_agent.reports.runners import is_group, message_of
from local_agent.reports.tables import Death, Failed, Red, compiled, rows

_NEAR: Final = 60
_LEAD: Final = re.compile(
    r".{0,300}(?=Fatal Python error: )|E\s+|\[ERROR\] |npm (?:error|ERR!) (?:enoent )?|Uncaught "
    r"|(?:PHP )?Fatal error:\s+(?:Uncaught )?|Exception in thread \"[^\"]*\" "
)


def _indented(page: Page, at: int) -> tuple[str, ...]:
    """Return the lines below one, if they belong to it."""
    near = page.lines[at : at + 9]
    indents = [len(line) - len(line.lstrip()) for line in near]
    is_its = len(near) > 1 and near[1].strip() and indents[1] > indents[0]
    return near[1:] if is_its else ()


def read_death(page: Page) -> Found | None:
    """Return the error that ended a program, the last of them."""
    found: list[Found] = []
    for row in rows(Death):
        last = page.last(compiled(row.mark))
        if last is None:
            continue
        at, line = last[0], last[1].string
        if reason := row.below or row.above:
            below, above = page.lines[at + 1 : at + _NEAR], page.lines[max(at - _NEAR, 0) : at]
            near = below if row.below else above[::-1]
            line = next((one for one in near if compiled(reason).match(one)), "")
        if not line:
            continue
        note = page.brief(_LEAD.sub("", line, count=1).partition(" -> [Help")[0])
        found.append(Found(Report(tool=row.tool, note=note), at, at))
    return max(found, key=lambda one: one.start, default=None)


def read_red(page: Page, start: int) -> Report | None:
    """Return what the last lines, from ``start`` on, say against an exit code of 0."""
    for line in reversed(page.lines[max(start, len(page.lines) - _NEAR) :]):
        for row in rows(Red):
            if compiled(row.case).match(line):
                return Report(tool=row.tool, note=page.brief(line), exit_code=0)
    return None


def read_failures(page: Page) -> Found | None:
    """Return the tests that failed before the end of an output was cut off."""
    best: Found | None = None
    for row in rows(Failed):
        found = [one for one in page.matches(compiled(row.case)) if not is_group(page, one[0])]
        failures = first(
            replace(
                page.problem(match, "?"), message=page.brief(message_of(_indented(page, i))) or None
            )
            for i, match in found
        )
        if failures and (best is None or len(failures) > len(best.report.failures)):
            report = Report(
                tool=row.tool,
                failed=len(dict.fromkeys(match["name"] for _, match in found)),
                failures=failures,
                partial=True,
            )
            best = Found(report, found[0][0], found[-1][0])
    return best
