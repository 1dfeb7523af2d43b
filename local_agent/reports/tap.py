"""Reads TAP, as perl, bats and mocha write it.  Pure."""

from __future__ import annotations

import re
from typing import Final

from local_agent.reports.report import Failure, Found, Page, Report, first
from local_agent.reports.runners import message_of

_PLAN: Final = re.compile(r"1\.\.(?P<count>\d{1,7})(?: # (?P<reason>.*))?$")
_RESULT: Final = re.compile(r"(?P<not>not )?ok(?: (?P<number>\d{1,7}))?(?: -)?(?: (?P<name>.*))?$")
_LEFT: Final = re.compile(r".*?# (?:skip|todo)", re.IGNORECASE)
_AT: Final = re.compile(
    r"#\s+(?:\(in test file |at )(?P<path>.{1,400}?),? line (?P<line>\d{1,7})[.)]+$"
)
_NOISE: Final = r"(?!#\s+(?:got|expected): |# ?[A-Z])|#\s+(?:Failed test|Looks like)"
_COMMAND: Final = re.compile(r"# +(?P<text>`.*)$")  # of bats


def read_tap(page: Page) -> Found | None:
    """Read results against their plan: every number once, and one that failed stays failed."""
    plan = next(page.matches(_PLAN), None)
    found = list(page.matches(_RESULT))
    if plan is None or not (found or plan[1]["count"] == "0"):
        return None
    wanted = int(plan[1]["count"])
    results: dict[int, tuple[int, str, str]] = {}
    for i, result in found:
        if page.lines[i].endswith(" {"):
            return None  # it holds results of its own
        number = int(result["number"] or len(results) + 1)
        name = result["name"] or ""
        verdict = "skipped" if _LEFT.match(name) else "failed" if result["not"] else "passed"
        if number not in results or verdict == "failed":
            results[number] = (i, verdict, name)
    if not set(results) <= set(range(1, min(wanted, len(results)) + 1)):
        return None  # not one stream, or a test prints results of its own
    verdicts = [verdict for _, verdict, _ in results.values()]
    note = f"planned {wanted}, ran {len(results)}" if wanted > len(results) else None
    report = Report(
        tool="TAP",
        passed=verdicts.count("passed"),
        failed=verdicts.count("failed"),
        skipped=verdicts.count("skipped"),
        broken=1 if note else 0,
        failures=first(
            _failure(page, i, name or f"test {i}")
            for i, verdict, name in results.values()
            if verdict == "failed"
        ),
        note=note if wanted else page.brief(plan[1]["reason"] or "") or None,
    )
    lines = [plan[0], *(i for i, _ in found)]
    return Found(report, min(lines), lines[-1])


def _failure(page: Page, at: int, name: str) -> Failure:
    stop = next((i for i, _ in page.matches(_RESULT, at + 1, at + 12)), at + 12)
    body = page.lines[at + 1 : stop]
    at_line, command = (
        next((match for line in body if (match := pattern.match(line))), None)
        for pattern in (_AT, _COMMAND)
    )
    return page.failure(
        name,
        place=page.place(at_line["path"], at_line["line"]) if at_line else None,
        message=command["text"] if command else message_of(body, _NOISE),
    )
