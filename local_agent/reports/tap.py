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
_VALUE: Final = re.compile(r"#\s+(?P<value>(?:got|expected): .*)$")
_NOISE: Final = r"(?!# ?[A-Z])|#\s+(?:Failed test|Looks like)"
_COMMAND: Final = re.compile(r"# +(?P<text>`.*)$")  # of bats


def read_tap(page: Page) -> Found | None:
    """Read results against their plan: every number once, and one that failed stays failed."""
    plan = next(page.matches(_PLAN), None)
    found = list(page.matches(_RESULT))
    if plan is None or not (found or plan[1]["count"] == "0"):
        return None
    wanted = int(plan[1]["count"])
    results: dict[int, tuple[int, str]] = {}
    for i, result in found:
        if page.lines[i].endswith(" {"):
            return None  # it holds results of its own
        number = int(result["number"] or len(results) + 1)
        verdict = _verdict(result)
        if number not in results or verdict == "failed":
            results[number] = (i, verdict)
    if not set(results) <= set(range(1, min(wanted, len(results)) + 1)):
        return None  # not one stream, or a test prints results of its own
    verdicts = [verdict for _, verdict in results.values()]
    short = wanted > len(results)
    note = f"planned {wanted}, ran {len(results)}" if short else None
    report = Report(
        tool="TAP",
        passed=verdicts.count("passed"),
        failed=verdicts.count("failed"),
        skipped=verdicts.count("skipped"),
        broken=1 if short else 0,
        failures=first(_failure(page, i) for i, verdict in results.values() if verdict == "failed"),
        note=note if wanted else page.brief(plan[1]["reason"] or "") or None,
    )
    lines = [plan[0], *(i for i, _ in found)]
    return Found(report, min(lines), lines[-1])


def _verdict(result: re.Match[str]) -> str:
    if _LEFT.match(result["name"] or ""):
        return "skipped"
    return "failed" if result["not"] else "passed"


def _failure(page: Page, at: int) -> Failure:
    result = _RESULT.match(page.lines[at])
    name = (result["name"] if result else "") or f"test {at}"
    place, message, values = None, "", list[str]()
    nearest = page.matches(_RESULT, at + 1, at + 12)
    stop = next((i for i, _ in nearest), at + 12)
    for line in page.lines[at + 1 : stop]:
        if (match := _AT.match(line)) and place is None:
            place = page.place(match["path"], match["line"])
        elif match := _VALUE.match(line):
            values.append(match["value"])
        elif (match := _COMMAND.match(line)) and not message:
            message = match["text"]
    message = message or ", ".join(values) or message_of(page.lines[at + 1 : stop], _NOISE)
    return page.failure(name, place=place, message=message)
