"""Reads go test and cargo test.  Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Final

from local_agent.reports.page import Found, Page, counts, first, spans
from local_agent.reports.report import MAX_FAILURES, Failure, Report

_RESULT: Final = re.compile(
    r"(?P<verdict>ok  |FAIL|\?   )\t(?P<package>\S+)(?:\t| )"
    r"(?P<rest>\(cached\)|[\d.]+s|\[no test files\]|\[(?:build|setup) failed\])"
)
_CASE: Final = re.compile(
    r"(?P<indent> *)--- (?P<verdict>PASS|FAIL|SKIP): (?P<name>\S+) \([\d.]+s\)$"
)
_NOW: Final = re.compile(r"=== (?:RUN|CONT|NAME) +(?P<name>\S+)$")
_SAID: Final = re.compile(r"\s+(?P<path>[^\s:]+\.go):(?P<line>\d{1,7}): ?(?P<text>.*)$")
_TESTIFY: Final = re.compile(r"\s+Error: +\t?(?P<text>\S.*)$")
_PANIC: Final = re.compile(r"(?P<text>(?:panic|fatal error): .*)$")
_TRACE: Final = re.compile(r"goroutine \d+ \[")
_EXIT: Final = re.compile(r"exit status \d+$")
_FRAME: Final = re.compile(r"\t(?P<path>/\S+\.go):(?P<line>\d{1,7})(?: \+0x[0-9a-f]+)?$")
_HEADER: Final = re.compile(r"# (?P<package>\S+)(?: \[\S+\])?$")
_COMPILE: Final = re.compile(
    r"(?:vet: )?(?P<path>[^\s:]+\.go):(?P<line>\d{1,7})(?::\d{1,6})?: (?P<text>.*)$"
)
_LOCATION: Final = re.compile(r"\s+(?P<path>[^\s:]+\.go):(?P<line>\d{1,7}): ?$")


@dataclass(slots=True)
class _Package:
    """What stood above a package's result."""

    verdicts: dict[str, str] = field(default_factory=dict)
    said: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    now: str = ""
    panic: str = ""
    maybe: str = ""
    exit: str = ""
    frame: tuple[str, str] | None = None


def read_go_test(page: Page) -> Found | None:
    """Read the result of each package; what a package printed counts only if its result fits."""
    page = _unjson(page)
    results: dict[str, tuple[str, str, _Package]] = {}
    compiled = _compiled(page)
    current, start, end = _Package(), -1, -1
    for i, line in enumerate(page.lines):
        _follow(page, current, line)
        if match := _RESULT.match(line):
            results[match["package"]] = (match["verdict"].strip(), match["rest"], current)
            current, end = _Package(), i
            start = i if start < 0 else start
    if not results:
        return None
    passed = failed = skipped = broken = 0
    failures: list[Failure] = []
    for package, (verdict, rest, printed) in results.items():
        leaves = _leaves(printed.verdicts)
        passed += sum(one == "PASS" for one in leaves.values())
        skipped += sum(one == "SKIP" for one in leaves.values())
        if verdict != "FAIL":
            continue
        wrong = [name for name, one in leaves.items() if one == "FAIL"]
        failed += len(wrong)
        if wrong:
            failures += [_go_failure(page, name, printed) for name in wrong]
        else:
            broken += 1
            failures.append(_go_broken(page, package, rest, printed, compiled))
    head = page.find(_NOW)  # only with -v
    cached = any(rest == "(cached)" and not one.verdicts for _, rest, one in results.values())
    report = Report(
        tool="go test",
        passed=passed if head is not None and not cached else None,
        failed=failed,
        skipped=skipped if head is not None and not cached else None,
        broken=broken,
        failures=first(failures),
        note="no test files" if all(one[0] == "?" for one in results.values()) else None,
    )
    return Found(report, min(start, start if head is None else head), end + 1)


def _follow(page: Page, current: _Package, line: str) -> None:
    if match := _NOW.match(line):
        current.now = match["name"]
    elif match := _CASE.match(line):
        current.now = match["name"]
        current.verdicts[match["name"]] = match["verdict"]
    elif match := _SAID.match(line):
        current.said[current.now] = (match["path"], match["line"], match["text"])
    elif match := _TESTIFY.match(line):
        path, number, text = current.said.get(current.now, ("", "", ""))
        current.said[current.now] = (path, number, text or match["text"])
    elif _EXIT.match(line):
        current.exit = line
    else:
        _follow_panic(page, current, line)


def _follow_panic(page: Page, current: _Package, line: str) -> None:
    if (match := _PANIC.match(line)) and not current.maybe:
        current.maybe = match["text"].removesuffix(" [recovered]")
    elif current.maybe and not current.panic and _TRACE.match(line):  # no mere words of a test
        current.panic = current.maybe
        if current.now and "test timed out" not in current.panic:
            current.verdicts[current.now] = "FAIL"
    elif current.panic and not current.frame and (match := _FRAME.match(line)):
        current.frame = (match["path"], match["line"]) if page.own(match["path"]) else None


def _leaves(verdicts: dict[str, str]) -> dict[str, str]:
    """Leave out the tests that hold others; of those that failed, unless none below failed."""
    parents = {
        parent
        for name, verdict in verdicts.items()
        for parent in accumulate(name.split("/")[:-1][:8], "{}/{}".format)
        if verdict == "FAIL" or verdicts.get(parent) != "FAIL"
    }
    return {name: verdict for name, verdict in verdicts.items() if name not in parents}


def _go_failure(page: Page, name: str, printed: _Package) -> Failure:
    if printed.panic and name == printed.now:
        place = page.place(*printed.frame) if printed.frame else None
        return page.failure(name, place=place, message=printed.panic)
    path, line, text = printed.said.get(name, ("", "", ""))
    place = page.place(path, line) if path else None
    return page.failure(name, place=place, message=text)


def _go_broken(
    page: Page, package: str, rest: str, printed: _Package, compiled: dict[str, re.Match[str]]
) -> Failure:
    if (match := compiled.get(package)) is not None:
        place = page.place(match["path"], match["line"])
        return page.failure(package, place=place, message=match["text"])
    place = page.place(*printed.frame) if printed.frame else None
    message = rest.strip("[]") if rest.startswith("[") else printed.exit
    return page.failure(package, place=place, message=printed.panic or message)


def _compiled(page: Page) -> dict[str, re.Match[str]]:
    """Return the first error of each package that was not built."""
    found: dict[str, re.Match[str]] = {}
    package = ""
    for line in page.lines:
        if match := _HEADER.match(line):
            package = match["package"]
        elif package and (match := _COMPILE.match(line)):
            found.setdefault(package, match)
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
_SIDE: Final = re.compile(r" *(?P<side>left|right): (?P<value>.*)$")
_ERROR: Final = re.compile(
    r"(?:Error: (?P<text>.*)|note: (?P<note>test did not panic as expected).*)$"
)
_STOPPED: Final = re.compile(
    r" *process didn't exit successfully: .*\((?P<how>signal: .*|exit status: .*)\)$"
)
_COUNTED: Final = ("passed", "failed", "ignored", "measured")


def read_cargo_test(page: Page) -> Found | None:
    """Add up the results of the binaries; each must count as many tests as it said it runs."""
    lines = page.lines
    starts = [i for i, line in enumerate(lines) if _RUNNING.match(line)]
    if not starts:
        return None
    total = dict.fromkeys(_COUNTED, 0)
    failures: list[Failure] = []
    broken, note, seen, end = 0, None, 0, starts[-1]
    for start, stop in spans(starts, len(lines)):
        close = _close(page, start, stop)
        if close is None:
            stopped = next(
                (match for line in lines[start:stop] if (match := _STOPPED.match(line))), None
            )
            if stopped:
                broken, note = broken + 1, stopped["how"]
            continue
        seen, end = seen + 1, close
        count = counts(lines[close].replace(";", ","))
        for word in _COUNTED:
            total[word] += count.get(word, 0)
        if count.get("failed"):
            failures += _cargo_failures(page, start, close)
    if not seen and not broken:
        return None
    report = Report(
        tool="cargo test",
        passed=total["passed"],
        failed=total["failed"],
        skipped=total["ignored"],
        broken=broken,
        failures=first(failures),
        note=page.text(note) if note else None,
    )
    return Found(report, starts[0], end + 2)


def _close(page: Page, start: int, stop: int) -> int | None:
    """Return the last result of one binary that counts the tests announced; None without one."""
    running = _RUNNING.match(page.lines[start])
    wanted = int(running["count"]) if running else -1
    for i in reversed(range(start + 1, stop)):
        if match := _TOTAL.match(page.lines[i]):
            count = counts(match["counts"].replace(";", ","))
            agrees = (match["verdict"] == "ok") == (count.get("failed") == 0)
            if agrees and sum(count.get(word, 0) for word in _COUNTED) == wanted:
                return i
    return None


def _cargo_failures(page: Page, start: int, close: int) -> Iterator[Failure]:
    """Give the names of the final list, with what stood in each one's section."""
    lines = page.lines
    sections = {match["name"]: i for i in range(start, close) if (match := _STDOUT.match(lines[i]))}
    names: list[str] = []
    at = close - 1
    while at > start and lines[at] != "failures:":
        names += [lines[at].strip()] if lines[at].startswith("    ") else []
        at -= 1
    for name in names[: -MAX_FAILURES - 1 : -1]:
        begin = sections.get(name)
        if begin is None:  # with --nocapture there are no sections
            begin = next(
                (i - 1 for i in range(start, close) if f"thread '{name}' " in lines[i]), None
            )
        body = lines[begin + 1 : min(close, begin + 300)] if begin is not None else ()
        stop = next(
            (i for i, line in enumerate(body) if _STDOUT.match(line) or line == "failures:"),
            len(body),
        )
        yield _cargo_failure(page, name, body[:stop])


def _cargo_failure(page: Page, name: str, body: tuple[str, ...]) -> Failure:
    place, message = None, ""
    for i, line in enumerate(body):
        if match := _PANICKED.match(line):
            place = page.place(match["path"], match["line"])
            message = match["old"] or next(iter(body[i + 1 : i + 2]), "")
            sides = [side for after in body[i + 2 : i + 5] if (side := _SIDE.match(after))]
            if sides:
                values = ", ".join(f"{side['side']}: {side['value']}" for side in sides)
                message = f"{message} ({values})"
            break
        if match := _ERROR.match(line):
            message = match["text"] or match["note"]
    return page.failure(name, place=place, message=message)
