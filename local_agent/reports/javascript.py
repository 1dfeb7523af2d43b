"""Reads jest, vitest, mocha and node's own test runner.  Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from local_agent.reports.page import Found, Page, counts, first, spans
from local_agent.reports.report import Failure, Report

_AT: Final = re.compile(
    r"\s+(?:at|❯) (?:.{0,200} )?\(?(?P<path>[^\s():]+(?:/[^():]+)?):(?P<line>\d{1,7}):\d{1,6}\)?$"
)
_EXPECTED: Final = re.compile(r"\s+((?:Expected|Received)[\w ]{0,40}: .*)$")

_JEST_SUITES: Final = re.compile(r"Test Suites: (?P<counts>.*\d+ total)$")
_JEST_TESTS: Final = re.compile(r"Tests: +(?P<counts>.*\d+ total)$")
_JEST_SNAPSHOTS: Final = re.compile(r"Snapshots: +.*\d+ total$")
_JEST_FILE: Final = re.compile(r" ?(?:FAIL|PASS) {1,2}(?P<path>\S+)")
_JEST_CASE: Final = re.compile(r"  ● (?P<name>\S.*)$")
_JEST_NOTE: Final = re.compile(r'Jest: (?:"|Coverage)|.*(?:coverage threshold|not met)')
_NO_TESTS: Final = re.compile(r"No test(?:s| files) found, exiting with code [01]$")
_RUN: Final = re.compile(r" RUN +v\d")


def read_jest(page: Page) -> Found | None:
    """Read the last block of ``Test Suites``, ``Tests``, ``Snapshots``."""
    lines = page.lines
    end = page.last(_JEST_SNAPSHOTS)
    if end is None or end < 2:
        return _none_found(page, "jest") if page.find(_RUN) is None else None
    suites, tests = _JEST_SUITES.match(lines[end - 2]), _JEST_TESTS.match(lines[end - 1])
    if suites is None or tests is None:
        return None
    start = page.find(_JEST_FILE)
    start = end - 2 if start is None else min(start, end - 2)
    count = counts(tests["counts"])
    cases = list(_jest_cases(page, start, end - 2))
    broken = {case.place for is_suite, case in cases if is_suite}
    note = next((line for line in reversed(lines[start:end]) if line.startswith("Jest: ")), "")
    suites_failed = counts(suites["counts"]).get("failed", 0)
    report = Report(
        tool="jest",
        passed=count.get("passed", 0),
        failed=count.get("failed", 0),
        skipped=count.get("skipped", 0) + count.get("todo", 0),
        broken=min(len(broken), suites_failed) if count.get("failed") else suites_failed,
        failures=first(case for _, case in cases),
        note=page.text(note) or None,
    )
    return Found(report, start, end + 2)


def _none_found(page: Page, tool: str) -> Found | None:
    at = page.last(_NO_TESTS)
    if at is None or not page.lines[at].endswith(f"code {page.exit_code}"):
        return None
    return Found(Report(tool=tool, note=page.text(page.lines[at])), at, at)


def _jest_cases(page: Page, start: int, end: int) -> Iterator[tuple[bool, Failure]]:
    """Give each failure, and whether it is of a suite that did not run."""
    file, seen = "", set[tuple[str, str]]()
    for i in range(start, end):
        if match := _JEST_FILE.match(page.lines[i]):
            file = match["path"]
        elif match := _JEST_CASE.match(page.lines[i]):
            name = match["name"]
            if name == "Console" or (file, name) in seen:
                continue  # a summary at the end says them again
            seen.add((file, name))
            body = _body(page.lines, i + 1, end)
            suite = name == "Test suite failed to run"
            place = page.place(file) if suite else _own_place(page, body) or page.place(file)
            yield suite, page.failure(file if suite else name, place=place, message=_message(body))


def _body(lines: tuple[str, ...], start: int, end: int) -> tuple[str, ...]:
    stop = start
    while stop < min(end, start + 80) and not (
        _JEST_CASE.match(lines[stop]) or _JEST_FILE.match(lines[stop])
    ):
        stop += 1
    return lines[start:stop]


def _message(body: tuple[str, ...]) -> str:
    said = next((line.strip() for line in body if line.strip()), "")
    if said.startswith("expect("):
        values = [match[1] for line in body if (match := _EXPECTED.match(line))]
        values = values or [
            f"{label}: {line.strip()[1:].strip(' ,')}"
            for label, sign in (("Expected", "- "), ("Received", "+ "))
            for line in body
            if line.strip().startswith(sign)
            and not line.strip()[2:].startswith(("Expected", "Received"))
        ]
        said = ", ".join(" ".join(value.split()) for value in values[:2]) or said
    return said


def _own_place(page: Page, body: tuple[str, ...]) -> str | None:
    for line in body:
        if (match := _AT.match(line)) and page.own(match["path"].removeprefix("file://")):
            return page.place(match["path"], match["line"])
    return None


_VITEST_FILES: Final = re.compile(r" Test Files +(?P<counts>\S.*)$")
_VITEST_TESTS: Final = re.compile(r" {6}Tests +(?P<counts>\S.*)$")
_VITEST_ERRORS: Final = re.compile(r" {5}Errors +\d+ errors?$")
_VITEST_CASE: Final = re.compile(
    r" FAIL +(?:\|[^|]{0,60}\| )?(?P<path>\S+)(?: > (?P<name>\S.*)| \[ .* \])?$"
)
_UNHANDLED: Final = re.compile(r"⎯+ (?:Unhandled|Uncaught) \w+ ⎯+$")


def read_vitest(page: Page) -> Found | None:
    """Read the last block of ``Test Files`` and ``Tests``."""
    lines = page.lines
    at, start = page.last(_VITEST_FILES), page.find(_RUN)
    if at is None or at + 1 >= len(lines):
        return _none_found(page, "vitest") if start is not None else None
    tests = _VITEST_TESTS.match(lines[at + 1])
    if tests is None:
        return None
    files = _VITEST_FILES.match(lines[at])
    count, suites = counts(tests["counts"]), counts(files["counts"] if files else "")
    start = at if start is None else min(start, at)
    cases = list(_vitest_cases(page, start, at))
    broken = {case.place for is_suite, case in cases if is_suite}
    note = ""
    if at + 2 < len(lines) and _VITEST_ERRORS.match(lines[at + 2]):
        thrown = page.last(_UNHANDLED, at)
        note = (
            lines[at + 2].strip()
            if thrown is None
            else ": ".join(part.strip("⎯ ") for part in lines[thrown : thrown + 2])
        )
    report = Report(
        tool="vitest",
        passed=count.get("passed", 0),
        failed=count.get("failed", 0),
        skipped=count.get("skipped", 0) + count.get("todo", 0),
        broken=len(broken) if count.get("failed") else suites.get("failed", 0),
        failures=first(case for _, case in cases),
        note=page.text(note) or None,
    )
    return Found(report, start, at + 3)


def _vitest_cases(page: Page, start: int, end: int) -> Iterator[tuple[bool, Failure]]:
    found = [(i, match) for i in range(start, end) if (match := _VITEST_CASE.match(page.lines[i]))]
    for i, match in found:
        body = page.lines[i + 1 : min(end, i + 60)]
        stop = next(
            (n for n, line in enumerate(body) if line.startswith((" FAIL ", "⎯⎯"))), len(body)
        )
        message = next((line for line in body if line.strip() and not _VITEST_CASE.match(line)), "")
        suite = match["name"] is None
        place = page.place(match["path"])
        if not suite:
            place = _own_place(page, body[:stop]) or place
        yield suite, page.failure(match["name"] or match["path"], place=place, message=message)


_PASSING: Final = re.compile(r"  (?P<count>\d{1,7}) passing(?: \(.{1,20}\))?$")
_OTHERS: Final = re.compile(r"  (?P<count>\d{1,7}) (?P<word>pending|failing)$")
_NUMBERED: Final = re.compile(r"  (?P<number>\d{1,5})\) (?P<name>\S.*)$")
_BLOCKS: Final = 8  # looked at; each costs a look at all that follows
_MOCHA_NONE: Final = re.compile(r"Error: No test files found|.?Exception during run: ")


def read_mocha(page: Page) -> Found | None:
    """Read ``N passing``, ``N pending``, ``N failing`` and the numbered failures below."""
    lines = page.lines
    blocks = [
        i for i in range(len(lines)) if lines[i].endswith(" failing") and _OTHERS.match(lines[i])
    ]
    passing = [i for i in range(len(lines)) if " passing" in lines[i] and _PASSING.match(lines[i])]
    # A message may hold such a line too: the block is the first whose list of failures is whole.
    for at in blocks[-_BLOCKS:]:
        count = int((_OTHERS.match(lines[at]) or {"count": 0})["count"])
        cases = list(_mocha_cases(page, at + 1))
        if count and len(cases) == count:
            before = [i for i in passing if at - 3 < i < at]
            return _mocha(page, before[-1] if before else at, cases)
    if passing and not blocks:
        return _mocha(page, passing[-1], [])
    at_error = page.find(_MOCHA_NONE)
    if at_error is None or passing or page.exit_code == 0:
        return None
    return Found(Report(tool="mocha", note=page.text(lines[at_error])), at_error, at_error)


def _mocha(page: Page, at: int, cases: list[Failure]) -> Found:
    passing = _PASSING.match(page.lines[at])
    others = [match for line in page.lines[at : at + 3] if (match := _OTHERS.match(line))]
    report = Report(
        tool="mocha",
        passed=int(passing["count"]) if passing else 0,
        failed=len(cases),
        skipped=sum(int(match["count"]) for match in others if match["word"] == "pending"),
        failures=first(cases),
    )
    return Found(report, 0, at + 2)


def _mocha_cases(page: Page, start: int) -> Iterator[Failure]:
    lines = page.lines
    starts: list[int] = []
    for i in range(start, len(lines)):
        match = _NUMBERED.match(lines[i])
        if match and int(match["number"]) == len(starts) + 1:
            starts.append(i)
    for begin, stop in spans(starts, len(lines)):
        body = lines[begin : min(stop, begin + 60)]
        names, rest = [], 0
        for rest, line in enumerate(body):
            names.append(line.strip() if rest else _title(line))
            if line.endswith(":"):
                break
        names[-1] = names[-1].removesuffix(":")
        tail = body[rest + 1 :]
        message = next((line for line in tail if line.strip()), "")
        name = " › ".join(names[:6])
        yield page.failure(name, place=_own_place(page, tail), message=message.strip())


def _title(line: str) -> str:
    match = _NUMBERED.match(line)
    return match["name"] if match else line


_NODE: Final = re.compile(
    r"(?:ℹ|#) (?P<word>tests|suites|pass|fail|cancelled|skipped|todo) (?P<count>\d{1,7})$"
)
_NODE_END: Final = re.compile(r"(?:ℹ|#) duration_ms [\d.]+$")
_NODE_AT: Final = re.compile(r"test at (?P<path>.{1,400}?):(?P<line>\d{1,7}):\d{1,6}$")
_NODE_CASE: Final = re.compile(r"✖ (?P<name>\S.*) \([\d.]+ms\)$")
_TAP_CASE: Final = re.compile(r"\s*not ok \d+ - (?P<name>\S.*)$")
_NODE_LEFT: Final = re.compile(r" # (?:TODO|SKIP)\b")
_TAP_FIELD: Final = re.compile(r"\s+(?P<key>location|error|failureType): (?P<value>\S.*)$")


def read_node(page: Page) -> Found | None:
    """Read the totals that ``node --test`` ends with, in either of its forms."""
    lines = page.lines
    totals = [i for i in range(7, len(lines)) if _NODE_END.match(lines[i])]
    for at in reversed(totals):
        found = [match for line in lines[at - 7 : at] if (match := _NODE.match(line))]
        if len(found) == 7:
            break
    else:
        return None
    count = {match["word"]: int(match["count"]) for match in found}
    tap = lines[at].startswith("#")
    cases = list(_node_tap(page, at - 7) if tap else _node_spec(page, at + 1))
    report = Report(
        tool="node --test",
        passed=count["pass"],
        failed=count["fail"] + count["cancelled"],
        skipped=count["skipped"] + count["todo"],
        failures=first(cases),
    )
    return Found(report, 0, at)


def _node_spec(page: Page, start: int) -> Iterator[Failure]:
    for i in range(start, len(page.lines) - 1):
        at, case = _NODE_AT.match(page.lines[i]), _NODE_CASE.match(page.lines[i + 1])
        if at and case:
            message = next((line for line in page.lines[i + 2 : i + 5] if line.strip()), "")
            message = _joined(message, page.lines[i + 3 : i + 7])
            place = page.place(at["path"], at["line"])
            name = case["name"]
            name = page.place(name) or name if name.startswith("/") else name
            yield page.failure(name, place=place, message=message)


def _joined(message: str, after: tuple[str, ...]) -> str:
    """Add the next line where a message ends in a colon."""
    if not message.endswith(":"):
        return message.strip()
    rest = next((line.strip() for line in after if line.strip()), "")
    return message.strip()[:-1] if rest.startswith(("+", "at ")) else f"{message.strip()} {rest}"


def _node_tap(page: Page, end: int) -> Iterator[Failure]:
    for i in range(end):
        match = _TAP_CASE.match(page.lines[i])
        if match is None or _NODE_LEFT.search(match["name"]):
            continue
        body = page.lines[i + 1 : i + 12]
        fields = {
            field["key"]: field["value"].strip("'\"")
            for line in body
            if (field := _TAP_FIELD.match(line))
        }
        if fields.get("failureType") == "subtestsFailed":
            continue
        message = fields.get("error", "")
        if message in ("|-", ">-", "|", ">"):
            begin = next(n for n, line in enumerate(body) if line.lstrip().startswith("error: "))
            message = _joined(body[begin + 1], body[begin + 2 : begin + 5])
        path, _, rest = fields.get("location", "").rpartition(":")[0].rpartition(":")
        place = page.place(path, rest) if path else None
        name = match["name"].replace("\\#", "#")
        yield page.failure(name, place=place, message=message)
