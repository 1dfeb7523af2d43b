"""Reads jest, vitest and mocha.  Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from local_agent.reports.report import Failure, Found, Page, Report, counts, first, spans

_AT: Final = re.compile(
    r"\s+(?:at|❯) (?:.{0,200} )?\(?(?P<path>[^\s():]+(?:/[^():]+)?):(?P<line>\d{1,7}):\d{1,6}\)?$"
)
_EXPECTED: Final = re.compile(r"\s+((?:Expected|Received)[\w ]{0,40}: .*)$")

_JEST_SUITES: Final = re.compile(r"Test Suites: (?P<counts>.*\d+ total)$")
_JEST_TESTS: Final = re.compile(r"Tests: +(?P<counts>.*\d+ total)$")
_JEST_SNAPSHOTS: Final = re.compile(r"Snapshots: +.*\d+ total$")
_JEST_FILE: Final = re.compile(r" ?(?:FAIL|PASS) {1,2}(?P<path>\S+)")
_JEST_CASE: Final = re.compile(r"  ● (?P<name>\S.*)$")
_NO_TESTS: Final = re.compile(r"No test(?:s| files) found, exiting with code (?P<code>[01])$")
_RUN: Final = re.compile(r" RUN +v\d")


def read_jest(page: Page) -> Found | None:
    """Read the last block of ``Test Suites``, ``Tests``, ``Snapshots``."""
    snapshots = page.last(_JEST_SNAPSHOTS)
    if snapshots is None or snapshots[0] < 2:
        return _none_found(page, "jest") if page.find(_RUN) is None else None
    at = snapshots[0] - 2
    suites, tests = _JEST_SUITES.match(page.lines[at]), _JEST_TESTS.match(page.lines[at + 1])
    if suites is None or tests is None:
        return None
    start = next((i for i, _ in page.matches(_JEST_FILE, end=at)), at)
    note = next((line for line in reversed(page.lines[start:at]) if line.startswith("Jest: ")), "")
    report = _report(page, "jest", suites, tests, list(_jest_cases(page, start, at)), note)
    return Found(report, start, at + 4)


def _report(
    page: Page,
    tool: str,
    suites: re.Match[str],
    tests: re.Match[str],
    cases: list[tuple[bool, Failure]],
    note: str,
) -> Report:
    count, broken = counts(tests["counts"]), counts(suites["counts"]).get("failed", 0)
    if count.get("failed"):  # they make suites fail, too
        broken = min(broken, len({case.place for is_suite, case in cases if is_suite}))
    return Report(
        tool=tool,
        passed=count.get("passed", 0),
        failed=count.get("failed", 0),
        skipped=count.get("skipped", 0) + count.get("todo", 0),
        broken=broken,
        failures=first(case for _, case in cases),
        note=page.text(note) or None,
    )


def _none_found(page: Page, tool: str) -> Found | None:
    last = page.last(_NO_TESTS)
    if last is None or last[1]["code"] != str(page.exit_code):
        return None
    return Found(Report(tool=tool, note=page.text(last[1][0])), last[0], last[0])


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
    lines, start = page.lines, page.find(_RUN)
    files = page.last(_VITEST_FILES, len(lines) - 1)
    if files is None:
        return _none_found(page, "vitest") if start is not None else None
    at = files[0]
    tests = _VITEST_TESTS.match(lines[at + 1])
    if tests is None:
        return None
    start = at if start is None else min(start, at)
    note = ""
    if at + 2 < len(lines) and _VITEST_ERRORS.match(lines[at + 2]):
        thrown = page.last(_UNHANDLED, at)
        parts = lines[thrown[0] : thrown[0] + 2] if thrown else lines[at + 2 : at + 3]
        note = ": ".join(part.strip("⎯ ") for part in parts)
    cases = list(_vitest_cases(page, start, at))
    return Found(_report(page, "vitest", files[1], tests, cases, note), start, at + 3)


def _vitest_cases(page: Page, start: int, end: int) -> Iterator[tuple[bool, Failure]]:
    for i, match in page.matches(_VITEST_CASE, start, end):
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


_COUNT: Final = re.compile(
    r"  (?P<count>\d{1,7}) (?P<word>passing|pending|failing)(?: \(.{1,20}\))?$"
)
_NUMBERED: Final = re.compile(r"  (?P<number>\d{1,5})\) (?P<name>\S.*)$")
_BLOCKS: Final = 8  # looked at; each costs a look at all that follows
_MOCHA_NONE: Final = re.compile(r"Error: No test files found|.?Exception during run: ")


def read_mocha(page: Page) -> Found | None:
    """Read ``N passing``, ``N pending``, ``N failing`` and the numbered failures below."""
    said = list(page.matches(_COUNT))
    blocks = [(i, int(match["count"])) for i, match in said if match["word"] == "failing"]
    passing = [i for i, match in said if match["word"] == "passing"]
    # A message may hold such a line too: the block is the first whose list of failures is whole.
    for at, count in blocks[-_BLOCKS:]:
        cases = list(_mocha_cases(page, at + 1))
        if count and len(cases) == count:
            return _mocha(page, next((i for i in reversed(passing) if at - 3 < i < at), at), cases)
    if passing and not blocks:
        return _mocha(page, passing[-1], [])
    error = page.find(_MOCHA_NONE)
    if error is None or passing or page.exit_code == 0:
        return None
    return Found(Report(tool="mocha", note=page.text(page.lines[error])), error, error)


def _mocha(page: Page, at: int, cases: list[Failure]) -> Found:
    count = {match["word"]: int(match["count"]) for _, match in page.matches(_COUNT, at, at + 3)}
    report = Report(
        tool="mocha",
        passed=count.get("passing", 0),
        failed=len(cases),
        skipped=count.get("pending", 0),
        failures=first(cases),
    )
    return Found(report, 0, at + 2)


def _mocha_cases(page: Page, start: int) -> Iterator[Failure]:
    starts: list[int] = []
    for i, match in page.matches(_NUMBERED, start):
        if int(match["number"]) == len(starts) + 1:
            starts.append(i)
    for begin, stop in spans(starts, len(page.lines)):
        body = page.lines[begin : min(stop, begin + 60)]
        # The titles of the suites and the test, one below the other; the last ends with a colon.
        rest = next((n for n, line in enumerate(body) if line.endswith(":")), len(body) - 1) + 1
        titles = [line.strip() for line in body[:rest]]
        titles = [titles[0].partition(") ")[2], *titles[1:]]
        message = next((line for line in body[rest:] if line.strip()), "")
        name = " › ".join([*titles[:-1], titles[-1].removesuffix(":")][:6])
        place = _own_place(page, body[rest:])
        yield page.failure(name, place=place, message=message.strip())
