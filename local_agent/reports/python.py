"""Reads pytest and unittest.  Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from local_agent.reports.report import (
    MAX_FAILURES,
    Failure,
    Found,
    Page,
    Report,
    counts,
    first,
    spans,
)

_SESSION: Final = re.compile(r"=+ test session starts =+$")
_SUMMARY: Final = re.compile(
    r"(?:=+ )?(?P<counts>\d+ [a-z]+(?: [a-z]+)?(?:, \d+ [a-z]+(?: [a-z]+)?)*"
    r"|no tests ran|no tests collected)"
    r"(?: \([^)]{0,80}\))? in \d+(?:\.\d+)?s(?: \([\d:, days]+\))?(?: =+)?$"
)
_WORDS: Final = frozenset(
    (
        *("failed", "passed", "skipped", "deselected", "xfailed", "xpassed", "rerun", "subtests"),
        *("warning", "warnings", "error", "errors"),
    )
)
_SECTION: Final = re.compile(r"=+ (?:FAILURES|ERRORS|short test summary info|warnings summary) =+$")
_SHORT: Final = re.compile(r"=+ short test summary info =+$")
_PROGRESS: Final = re.compile(r"[.FEsxXR]{1,200} *\[ *\d{1,3}%\]$")
_ENTRY: Final = re.compile(
    r"(?:SUB)?(?P<kind>FAILED|ERROR)(?:\[[^\]]{0,200}\]|\([^)]{0,200}\))? (?P<rest>\S.*)$"
)
_HEADING: Final = re.compile(r"_{2,} (?P<name>\S.*?) _{2,}$")
_AT: Final = re.compile(r"(?P<path>[^\s:][^:\n]{0,400}):(?P<line>\d{1,7}): ?[\w.]*$")
_MESSAGE: Final = re.compile(r"E   +(?P<text>\S.*)$")
_ESCAPED: Final = re.compile(r"\\u([0-9a-f]{4})")
_PREFIX: Final = re.compile(r"ERROR (?:collecting|at (?:setup|teardown) of) ")
_REASON: Final = re.compile(
    r"(?:FAIL Required test coverage of|ERROR: Coverage failure:|ERROR: (?:file or directory )?not"
    r" found:|INTERNALERROR> \w[\w.]*(?:Error|Exception)|!+ .* !+$|.{0,300}Fatal Python error: "
    r"|.{0,200}: error: unrecognized arguments|ImportError while loading conftest|ERROR: usage: )"
)


@dataclass(slots=True)
class _Section:
    places: list[tuple[str, str]] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)


def read_pytest(page: Page) -> Found | None:
    """Read the last summary of each session, and add the sessions up."""
    sessions = _Sessions()
    for i, line in enumerate(page.lines):
        sessions.follow(i, line)
    found = [_session(page, start, close) for start, close in sessions.closed]
    if not found:
        return _without_summary(page)
    reports = [one.report for one in found]
    whole = Report(
        tool="pytest",
        passed=sum(one.passed or 0 for one in reports),
        failed=sum(one.failed or 0 for one in reports),
        skipped=sum(one.skipped or 0 for one in reports),
        broken=sum(one.broken for one in reports),
        failures=first(failure for one in reports for failure in one.failures),
        note=next((one.note for one in reversed(reports) if one.note), None),
    )
    return Found(whole, found[0].start, found[-1].end)


@dataclass(slots=True)
class _Sessions:
    """Each session's first line and its summary; one that a test printed does not count.

    A summary belongs to the last heading that has none yet.  Without one it ends a session that
    began with progress (``-q``), or takes the place of the last summary where more of that session
    followed, since then a test had printed the first; else somebody printed it at exit.
    """

    opened: list[int] = field(default_factory=list)
    closed: list[tuple[int, int]] = field(default_factory=list)
    progress: int | None = None  # since the last summary, as are the next two
    structure: bool = False
    complete: bool = False
    whole: bool = False  # the last session was a quiet one and had told all of its progress

    def follow(self, i: int, line: str) -> None:
        if _SESSION.match(line):
            self.opened.append(i)
        elif line.endswith("[100%]") or _SECTION.match(line):
            self.structure = True
            self.complete = self.complete or line.endswith("[100%]")
            if self.progress is None and _PROGRESS.match(line):
                self.progress = i
        elif _is_summary(line):
            self._close(i)

    def _close(self, i: int) -> None:
        whole = self.complete
        if self.opened:
            start, whole = self.opened.pop(), False
            while self.closed and self.closed[-1][0] >= start:
                self.closed.pop()  # it was within this one
        elif not self.closed:
            start = 0
        elif self.progress is not None and self.whole:
            start = self.progress
        elif self.structure:
            start = self.closed.pop()[0]
            whole = self.whole
        else:
            return
        self.closed.append((start, i))
        self.progress, self.structure, self.complete, self.whole = None, False, False, whole


def _is_summary(line: str) -> bool:
    match = _SUMMARY.match(line)
    return match is not None and (
        match["counts"].startswith("no ") or counts(match["counts"]).keys() <= _WORDS
    )


def _session(page: Page, start: int, close: int) -> Found:
    lines = page.lines
    short = page.last(_SHORT, close, start)
    begin = short[0] if short else close
    if begin == close and (page.cut or page.find(_SECTION) is None):
        while begin > start and _ENTRY.match(lines[begin - 1]):  # its heading has been cut off
            begin -= 1
    sections = _sections(page, start, close)
    entries = list(_entries(page, begin, close))
    failures = [_failure(page, one, sections) for one in entries[:MAX_FAILURES]] or [
        page.failure(_PREFIX.sub("", name), message=one.messages[0])
        for name, one in sections.items()
        if name and one.messages
    ]
    count = counts(lines[close])
    errors = count.get("error", 0) + count.get("errors", 0)
    broken = sum(kind == "ERROR" and "::" not in node for kind, node, _ in entries)
    broken = min(errors, broken) if entries else errors
    failed = count.get("failed", 0) + errors - broken
    nodes = {node for kind, node, _ in entries if kind == "FAILED"}
    failed -= sum(kind == "ERROR" and node in nodes for kind, node, _ in entries)  # at its teardown
    report = Report(
        tool="pytest",
        passed=count.get("passed", 0),
        failed=failed,
        skipped=count.get("skipped", 0),
        broken=broken,
        failures=first(failures),
        note=None if failed or broken else _note(page, start, close),
    )
    first_line = next((i for i in range(start, close) if _PROGRESS.match(lines[i])), close)
    return Found(report, start if _SESSION.match(lines[start]) else first_line, close)


def _entries(page: Page, start: int, end: int) -> Iterator[tuple[str, str, str]]:
    """Give kind, node and message of each line of the short summary."""
    for line in page.lines[start:end]:
        if match := _ENTRY.match(line):
            parts = match["rest"].split(" - ")
            node = parts.pop(0)
            while parts and node.count("[") > node.count("]"):  # " - " within a parameter
                node += " - " + parts.pop(0)
            yield match["kind"], node.strip(), " - ".join(parts)


def _sections(page: Page, start: int, end: int) -> dict[str, _Section]:
    current = _Section()
    found = {"": current}  # with --tb=line there are no headings
    for line in page.lines[start:end]:
        if match := _HEADING.match(line):
            current = found.setdefault(match["name"], _Section())
        elif match := _MESSAGE.match(line):
            current.messages.append(match["text"])
        elif match := _AT.match(line):
            current.places.append((match["path"], match["line"]))
    return found


def _failure(page: Page, entry: tuple[str, str, str], sections: dict[str, _Section]) -> Failure:
    kind, node, message = entry
    path, _, name = node.partition("::")
    before, bracket, parameter = name.partition("[")
    key = before.replace("::", ".") + bracket + parameter
    titles: tuple[str, ...] = tuple(
        f"ERROR {what}"
        for what in (f"at setup of {key}", f"at teardown of {key}", f"collecting {path}")
    )
    titles = titles if kind == "ERROR" else (key,)
    section = next((sections[title] for title in titles if title in sections), _Section())
    if message.endswith("..."):
        message = _whole(message, section.messages, sections[""].messages)
    elif not message:
        errors = [text for text in section.messages if re.match(r"[\w.]+: ", text)]
        message = (errors or section.messages or [""])[-1]
    line = next((line for where, line in reversed(section.places) if where == path), None)
    name = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), name or path)  # pytest writes ASCII
    return page.failure(name, place=page.place(path, line), message=message)


def _whole(cut: str, own: list[str], anybody: list[str]) -> str:
    """Return the message that a cut one begins; of several tests' only where there is one."""
    fitting = dict.fromkeys(text for text in own or anybody if text.startswith(cut[:-3]))
    return next(iter(fitting)) if (own and fitting) or len(fitting) == 1 else cut


def _note(page: Page, start: int, close: int) -> str | None:
    """Return why a session without a failure failed."""
    if page.exit_code == 0:
        return None
    around = [*range(close, min(close + 6, len(page.lines))), *range(close - 1, start - 1, -1)]
    said = (page.lines[i] for i in around if _REASON.match(page.lines[i]))
    reason = next(said, page.lines[close] if not counts(page.lines[close]).get("passed") else "")
    return page.text(reason.strip("=! ")) or None


def _without_summary(page: Page) -> Found | None:
    """A session that crashed, or that never began."""
    begun = page.last(_SESSION)
    at = page.find(_REASON, begun[0] if begun else 0)
    if page.exit_code == 0 or at is None:
        return None
    line = page.lines[at]
    if not begun and not line.startswith(("ImportError while loading conftest", "ERROR: usage")):
        return None
    line = line[max(line.find("Fatal Python error"), 0) :]
    note = next((one for one in page.lines[at : at + 4] if ": error: " in one), line)
    detail = page.find(_MESSAGE, at) if line.startswith("ImportError") else None
    note = note if detail is None else f"{line} {page.lines[detail][1:]}"
    return Found(Report(tool="pytest", note=page.text(note)), begun[0] if begun else at, at)


_RULE: Final = re.compile(r"-{70}$")
_DOUBLE: Final = re.compile(r"={70}$")
_RAN: Final = re.compile(r"Ran (?P<count>\d{1,7}) tests? in [\d.]+s$")
_VERDICT: Final = re.compile(r"(?:OK|FAILED|NO TESTS RAN)(?: \((?P<counts>[^)]{1,200})\))?$")
_COUNTED: Final = re.compile(r"([a-z][a-z ]+)=(\d{1,7})")
_CASE: Final = re.compile(
    r"(?P<kind>FAIL|ERROR|UNEXPECTED SUCCESS): (?P<test>[^\s(]+) \((?P<where>[^\s()]+)\)"
)
_WHOLE: Final = re.compile(r"(?:setUp|tearDown)(?:Class|Module)$")
_LOADER: Final = "unittest.loader._FailedTest."
_FRAME: Final = re.compile(r'  File "(?P<path>[^"]{1,400})", line (?P<line>\d{1,7})')


def read_unittest(page: Page) -> Found | None:
    """Read the block of the final ``Ran … tests``."""
    ran = _ran(page)
    if ran is None:
        return None
    at, total, counted = ran
    cases = list(_cases(page, at))
    bad = counted.get("failures", 0) + counted.get("errors", 0)
    tests = {failure.name for kind, failure in cases if kind == "test"}
    broken = sum(kind != "test" for kind, _ in cases)
    whole = len(cases) >= bad
    failed = len(tests) if whole else bad - broken + counted.get("unexpected successes", 0)
    rest = total - failed - counted.get("skipped", 0) - counted.get("expected failures", 0)
    rest -= sum(kind == "file" for kind, _ in cases)
    report = Report(
        tool="unittest",
        passed=max(rest, 0) if whole else None,
        failed=failed,
        skipped=counted.get("skipped", 0),
        broken=broken,
        failures=first(failure for _, failure in cases),
        note=page.text(page.lines[at]) if total == 0 and not bad else None,
    )
    double = page.find(_DOUBLE)
    return Found(report, min(at - 1, at - 1 if double is None else double), at + 2)


def _ran(page: Page) -> tuple[int, int, dict[str, int]] | None:
    """Return line, number and other counts: the first after the last failure, else the last."""
    heading = page.last(_DOUBLE)
    found: list[tuple[int, int, dict[str, int]]] = []
    for i, match in page.matches(_RAN, 1):
        verdict = next(page.matches(_VERDICT, i + 1, i + 3), None)
        if verdict and _RULE.match(page.lines[i - 1]):
            counted = _COUNTED.findall(verdict[1]["counts"] or "")
            found.append((i, int(match["count"]), {name: int(number) for name, number in counted}))
    after = [one for one in found if heading and one[0] > heading[0]]
    return after[0] if after else found[-1] if found else None


def _cases(page: Page, end: int) -> Iterator[tuple[str, Failure]]:
    """Give each failure, and whether it is of a ``test``, a ``class`` or a ``file``."""
    starts = [i + 1 for i, _ in page.matches(_DOUBLE, end=end - 1)]
    for start, stop in spans(starts, end):
        match = _CASE.match(page.lines[start])
        if match is None:
            continue
        test, where = match["test"], match["where"]
        name = where if where.endswith("." + test) else f"{where}.{test}"
        kind = "file" if name.startswith(_LOADER) else "class" if _WHOLE.match(test) else "test"
        body = page.lines[start + 1 : stop - 1]
        frames = [(i, frame) for i, line in enumerate(body) if (frame := _FRAME.match(line))]
        after = body[frames[-1][0] :] if frames else body[1:]
        message = next((line for line in after if line[:1].strip() and not _RULE.match(line)), "")
        if match["kind"] == "UNEXPECTED SUCCESS":
            message = "unexpected success"
        own = [frame for _, frame in frames if page.own(frame["path"])]
        place = page.place(own[-1]["path"], own[-1]["line"]) if own else None
        yield kind, page.failure(name.removeprefix(_LOADER), place=place, message=message)
