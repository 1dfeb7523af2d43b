"""Reads go test and cargo test.  Pure."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from typing import Final

from local_agent.reports.report import (
    MAX_FAILURES,
    Failure,
    Found,
    Page,
    Report,
    counts,
    first,
)

_RESULT: Final = re.compile(
    r"(?P<verdict>ok  |FAIL|\?   )\t(?P<package>\S+)(?:\t| )"
    r"(?P<rest>\(cached\)|[\d.]+s|\[no test files\]|\[(?:build|setup) failed\])"
)
_LAST: Final = re.compile(f"FAIL$|{_RESULT.pattern}")
_CASE: Final = re.compile(r" *--- (?P<verdict>PASS|FAIL|SKIP): (?P<name>\S+) \([\d.]+s\)$")
_NOW: Final = re.compile(r"=== (?:RUN|CONT|NAME) +(?P<name>\S+)$")
_SAID: Final = re.compile(r"\s+(?P<path>[^\s:]+\.go):(?P<line>\d{1,7}): ?(?P<text>.*)$")
_TESTIFY: Final = re.compile(r"\s+Error: +\t?(?P<text>\S.*)$")
_PANIC: Final = re.compile(r"(?P<text>(?:panic|fatal error): .*)$")
_TRACE: Final = re.compile(r"goroutine \d+ \[")
_EXIT: Final = re.compile(r"exit status \d+$")
_FRAME: Final = re.compile(r"\t(?P<path>/\S+\.go):(?P<line>\d{1,7})(?: \+0x[0-9a-f]+)?$")
_HEADER: Final = re.compile(r"# (?P<package>\S+)(?: \[\S+\])?$")
_COMPILE: Final = re.compile(
    r"(?:vet: )?(?P<path>[^\s:]+\.go):(?P<line>\d{1,7})(?::\d{1,6})?: (?P<message>.*)$"
)


@dataclass(slots=True)
class _Package:
    """What stood above a package's result."""

    verdicts: dict[str, str] = field(default_factory=dict)
    said: dict[str, tuple[str | None, str]] = field(default_factory=dict)  # place and message
    now: str = ""
    panic: str = ""
    maybe: str = ""
    exit: str = ""
    frame: str | None = None


def read_go_test(page: Page) -> Found | None:
    """Read the result of each package; what a package printed counts only if its result fits."""
    page = _unjson(page)
    results: dict[str, tuple[str, str, _Package]] = {}
    compiled = _compiled(page)
    current, at = _Package(), list[int]()
    for i, line in enumerate(page.lines):
        _follow(page, current, line)
        if match := _RESULT.match(line):
            results[match["package"]] = (match["verdict"].strip(), match["rest"], current)
            current = _Package()
            at.append(i)
    last = page.last(_LAST)
    if page.exit_code == 0 and not (last and last[1][0].startswith("FAIL")):
        # What else says FAIL was printed by a test.
        results = {package: one for package, one in results.items() if one[0] != "FAIL"}
    if not results:
        return None
    total: Counter[str] = Counter()
    failures: list[Failure] = []
    for package, (verdict, rest, printed) in results.items():
        leaves = _leaves(printed.verdicts)
        total.update(one for one in leaves.values() if one != "FAIL")
        if verdict != "FAIL":
            continue
        wrong = [name for name, one in leaves.items() if one == "FAIL"]
        total["FAIL"] += len(wrong)
        for name in wrong:
            place, text = printed.said.get(name, (None, ""))
            if printed.panic and name == printed.now:
                place, text = printed.frame, printed.panic
            failures.append(page.failure(name, place=place, message=text))
        if not wrong:
            total["broken"] += 1
            why = printed.panic or (rest.strip("[]") if rest.startswith("[") else printed.exit)
            dead = page.failure(package, place=printed.frame, message=why)
            failures.append(compiled.get(package, dead))
    head = next(page.matches(_NOW), None)  # only with -v
    cached = any(rest == "(cached)" and not one.verdicts for _, rest, one in results.values())
    is_whole = head is not None and not cached
    report = Report(
        tool="go test",
        passed=total["PASS"] if is_whole else None,
        failed=total["FAIL"],
        skipped=total["SKIP"] if is_whole else None,
        broken=total["broken"],
        failures=first(failures),
        note="no test files" if all(one[0] == "?" for one in results.values()) else None,
    )
    return Found(report, min(at[0], head[0]) if head else at[0], at[-1] + 1)


def _follow(page: Page, current: _Package, line: str) -> None:
    if match := _NOW.match(line):
        current.now = match["name"]
    elif match := _CASE.match(line):
        current.now = match["name"]
        current.verdicts[match["name"]] = match["verdict"]
    elif match := _SAID.match(line):
        current.said[current.now] = (page.place(match["path"], match["line"]), match["text"])
    elif match := _TESTIFY.match(line):
        place, text = current.said.get(current.now, (None, ""))
        current.said[current.now] = (place, text or match["text"])
    elif _EXIT.match(line):
        current.exit = line
    elif (match := _PANIC.match(line)) and not current.maybe:
        current.maybe = match["text"].removesuffix(" [recovered]")
    elif current.maybe and not current.panic and _TRACE.match(line):  # no mere words of a test
        current.panic = current.maybe
        if current.now and "test timed out" not in current.panic:
            current.verdicts[current.now] = "FAIL"
    elif (match := _FRAME.match(line)) and current.panic and page.own(match["path"]):
        current.frame = current.frame or page.place(match["path"], match["line"])


def _leaves(verdicts: dict[str, str]) -> dict[str, str]:
    """Leave out the tests that hold others; of those that failed, unless none below failed."""
    parents = {
        parent
        for name, verdict in verdicts.items()
        for parent in accumulate(name.split("/")[:-1][:8], "{}/{}".format)
        if verdict == "FAIL" or verdicts.get(parent) != "FAIL"
    }
    return {name: verdict for name, verdict in verdicts.items() if name not in parents}


def _compiled(page: Page) -> dict[str, Failure]:
    """Return the first error of each package that was not built."""
    found: dict[str, Failure] = {}
    package = ""
    for line in page.lines:
        if match := _HEADER.match(line):
            package = match["package"]
        elif package and (match := _COMPILE.match(line)):
            found.setdefault(package, page.problem(match, package))
        elif not line.startswith(("\t", " ")):
            package = ""
    return found


def _unjson(page: Page) -> Page:
    """Return the text of ``go test -json``, package by package."""
    if not any(line.startswith('{"') for line in page.lines[:50]):
        return page
    texts: dict[str, list[str]] = {}
    for line in page.lines:
        try:
            event = json.loads(line) if line.startswith('{"') else None
        except (ValueError, RecursionError):
            continue
        if event is None:
            texts.setdefault("", []).append(line + "\n")  # of the build
        if isinstance(event, dict) and event.get("Action") == "output":
            package, text = event.get("Package"), event.get("Output")
            if isinstance(package, str) and isinstance(text, str):
                texts.setdefault(package, []).append(text)
    lines = "".join(text for one in texts.values() for text in one).split("\n")
    return replace(page, lines=tuple(lines)) if texts else page


_RUNNING: Final = re.compile(r"running (?P<count>\d{1,7}) tests?$")
_TOTAL: Final = re.compile(
    r"test result: (?P<verdict>ok|FAILED)\. (?P<counts>\d+ passed; \d+ failed; .*)$"
)
_STDOUT: Final = re.compile(r"---- (?P<name>\S.*?) stdout ----$")
_PANICKED: Final = re.compile(
    r"thread '.*?' (?:\(\d+\) )?panicked at (?:'(?P<old>.*)', )?"
    r"(?P<path>[^\s:]+):(?P<line>\d{1,7}):\d{1,6}:?$"
)
_SIDE: Final = re.compile(r" *((?:left|right): .*)$")
_ERROR: Final = re.compile(
    r"(?:Error: (?P<text>.*)|note: (?P<note>test did not panic as expected).*)$"
)
_STOPPED: Final = re.compile(
    r" *process didn't exit successfully: .*\((?P<how>signal: .*|exit status: .*)\)$"
)
_COUNTED: Final = ("passed", "failed", "ignored", "measured")


def read_cargo_test(page: Page) -> Found | None:
    """Add up the results of the binaries; each must count as many tests as it said it runs."""
    running = [(i, int(match["count"])) for i, match in page.matches(_RUNNING)]
    total: Counter[str] = Counter()
    failures: list[Failure] = []
    broken, note, end = 0, None, -1
    for (start, wanted), (stop, _) in pairwise([*running, (len(page.lines), 0)]):
        closes = [one for one in page.matches(_TOTAL, start + 1, stop) if _fits(one[1], wanted)]
        if closes:
            end, result = closes[-1]
            total.update(counts(result["counts"]))
            failures += _cargo_failures(page, start, end) if result["verdict"] != "ok" else ()
        elif stopped := next(page.matches(_STOPPED, start, stop), None):
            broken, note = broken + 1, page.brief(stopped[1]["how"])
    if end < 0 and not broken:
        return None
    report = Report(
        tool="cargo test",
        passed=total["passed"],
        failed=total["failed"],
        skipped=total["ignored"],
        broken=broken,
        failures=first(failures),
        note=note,
    )
    return Found(report, running[0][0], max(end, running[-1][0]) + 2)


def _fits(result: re.Match[str], wanted: int) -> bool:
    """Tell whether a result counts the tests that were announced, and agrees with itself."""
    count = counts(result["counts"])
    agrees = (result["verdict"] == "ok") == (count["failed"] == 0)
    return agrees and sum(count[word] for word in _COUNTED) == wanted


def _cargo_failures(page: Page, start: int, close: int) -> Iterator[Failure]:
    """Give the names of the final list, with what stood in each one's section."""
    lines = page.lines
    sections = {match["name"]: i for i, match in page.matches(_STDOUT, start, close)}
    listed = next((i for i in range(close - 1, start, -1) if lines[i] == "failures:"), start)
    names = [line.strip() for line in lines[listed + 1 : close] if line.startswith("    ")]
    for name in names[:MAX_FAILURES]:
        begin = sections.get(name)
        if begin is None:  # with --nocapture there are no sections
            panics = (i - 1 for i in range(start, close) if f"thread '{name}' " in lines[i])
            begin = next(panics, close)
        body = lines[begin + 1 : min(close, begin + 300)]
        ends = (i for i, line in enumerate(body) if _STDOUT.match(line) or line == "failures:")
        yield _cargo_failure(page, name, body[: next(ends, len(body))])


def _cargo_failure(page: Page, name: str, body: tuple[str, ...]) -> Failure:
    for i, line in enumerate(body):
        if match := _PANICKED.match(line):
            place = page.place(match["path"], match["line"])
            message = match["old"] or next(iter(body[i + 1 : i + 2]), "")
            sides = [side[1] for after in body[i + 2 : i + 5] if (side := _SIDE.match(after))]
            message += f" ({', '.join(sides)})" if sides else ""
            return page.failure(name, place=place, message=message)
    said = next((match for line in body if (match := _ERROR.match(line))), None)
    return page.failure(name, message=(said["text"] or said["note"]) if said else "")
