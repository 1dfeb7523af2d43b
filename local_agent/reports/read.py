"""Reads what a run printed: the ordered list of readers, and which of them is believed.  Pure.

Linters and compilers, which write a problem a line, are read here too.

Words and exit code are both told.  A test can print the summary of any runner; what a reader finds
is taken only where it does not stand within another's lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from local_agent.reports.compiled import read_cargo_test, read_go_test
from local_agent.reports.pytest import read_pytest
from local_agent.reports.remains import read_death, read_failures, read_red
from local_agent.reports.report import MAX_ALSO, Failure, Found, Page, Report, first, new_page
from local_agent.reports.runners import read_runners
from local_agent.reports.tables import Form, compiled, rows
from local_agent.reports.tap import read_tap

_AS_TAP: Final = frozenset(("TAP", "node --test", "prove"))


def read_report(output: str, *, exit_code: int | None, workspace: str) -> Report | None:
    """Return the facts of a run, or None where no reader fits with confidence.

    Where they are other than the exit code says, the report holds that code: neither is to be told
    alone.

    Args:
        output: Standard output and error; may be cut at the front and in the middle.
        exit_code: None where the run was stopped.
        workspace: Absolute path; places are relative to it.
    """
    page = new_page(output, exit_code=exit_code, workspace=workspace)
    every = list(_found(page))
    found = [one for one in every if not any(_within(one, other) for other in every)]
    found.sort(key=lambda one: one.end)
    if exit_code == 0 and any(one.report.kind == "tests" for one in found):
        # A lone line of a log that looks like a problem is none in a run of tests that ended well.
        lone = {form.tool for form in rows(Form) if not form.total}
        found = [one for one in found if not (one.report.bad and one.report.tool in lone)]
    if exit_code != 0 and not any(one.report.bad or one.report.note for one in found):
        left = read_death(page) or (None if found else read_failures(page))
        found += [left] if left else []
    if exit_code == 0 and not found and (none := read_death(page)):
        found += [none] if (none.report.note or "").endswith("exiting with code 0") else []
    report = _whole([one.report for one in found], exit_code)
    if exit_code == 0 and not (report and report.bad):
        report = read_red(page, max((one.end for one in found), default=0)) or report
    if report and report.bad and not (report.note or any(one.message for one in report.failures)):
        death = read_death(page)
        report = replace(report, note=death.report.note if death else None)
    return report


def _found(page: Page) -> Iterator[Found]:
    """Yield what each reader reads."""
    told = list(read_runners(page))
    yield from told
    # These add up lines: they know too little where some are missing.
    adding = [read_pytest(page), read_go_test(page), read_cargo_test(page)]
    adding += [_read_problems(page, form) for form in rows(Form)]
    if not any(one.report.tool in _AS_TAP for one in told):
        adding.append(read_tap(page))
    for found in filter(None, adding):
        yield replace(found, report=replace(found.report, partial=page.cut))


def _whole(reports: Sequence[Report], exit_code: int | None) -> Report | None:
    """Return the report that a run is known by, with what the others say besides."""
    bad = [one for one in reports if one.bad]
    # A note says why a run ended early; where something failed, that is why.
    known = bad or [one for one in reports if one.passed] or reports
    if not known or (exit_code is None and not bad):
        return None
    tests = [one for one in known if one.kind == "tests"] or known
    main = tests[-1] if exit_code != 0 or bad else tests[0]
    # Counts without a name beside those of a runner could be a test's own words.
    counted = main.kind == "problems"
    said = [
        one
        for one in reports
        if one is not main and (one.failures or one.note or (counted and one.passed))
    ]
    if exit_code == 0 and not bad:
        said = []
        main = replace(main, note=None) if main.passed else main
    told = bool(main.bad) if exit_code == 0 else not (main.bad or (main.note and not main.passed))
    return replace(main, exit_code=exit_code if told else None, also=tuple(said[-MAX_ALSO:]))


def _within(one: Found, other: Found) -> bool:
    """Tell whether a tool's lines are what the tests of another printed."""
    wider = other.end - other.start > one.end - one.start
    return one is not other and wider and other.start <= one.start and one.end < other.end


# --- linters, type checkers, formatters and compilers: a problem a line -----------------------

_ARROW: Final = re.compile(
    r" *--> (?P<path>[^\s:()][^:()\n]{0,400}):(?P<line>\d{1,7})(?::\d{1,6})?$"
)  # below a problem that names no place


def _read_problems(page: Page, form: Form) -> Found | None:
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
