"""Reads pytest.  Pure."""

from __future__ import annotations

import re
from collections import Counter
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
)

_SESSION: Final = re.compile(r"=+ test session starts =+$")
_SUMMARY: Final = re.compile(
    r"(?:=+ )?(?P<counts>\d+ [a-z]+(?: [a-z]+)?(?:, \d+ [a-z]+(?: [a-z]+)?)*"
    r"|no tests ran|no tests collected)"
    r"(?: \([^)]{0,80}\))? in \d+(?:\.\d+)?s(?: \([\d:, days]+\))?(?: =+)?$"
)
_MARKED: Final = ("failed", "passed", "skipped", "xfailed", "xpassed", "error", "errors")
_WORDS: Final = {*_MARKED, "deselected", "rerun", "subtests", "warning", "warnings"}
_SECTION: Final = re.compile(
    r"=+ (?:FAILURES|ERRORS|PASSES|XPASSES|short test summary info|warnings summary) =+$"
    r"|_{2,} \S.* _{2,}$|-+ Captured \w+ \w+ -+$"
)
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
_STOPPED: Final = re.compile(
    r"!+ (?:KeyboardInterrupt|Interrupted(?!: \d+ errors? during)|_pytest\.outcomes\.Exit"
    r"|stopping after).* !+$"
)


@dataclass(slots=True)
class _Section:
    places: dict[str, str] = field(default_factory=dict)  # the last line of each path
    messages: list[str] = field(default_factory=list)


def read_pytest(page: Page) -> Found | None:
    """Read the last summary of each session, and add the sessions up."""
    sessions = _Sessions()
    for i, line in enumerate(page.lines):
        sessions.follow(i, line)
    if not sessions.closed:
        return None
    total: Counter[str] = Counter()
    failures: list[Failure] = []
    note = None
    for start, close in sessions.closed:
        count, failed = _session(page, start, close)
        total += count
        failures += failed
        note = _note(page, close, count) or note
    start, close = sessions.closed[0]
    if not _SESSION.match(page.lines[start]):
        start = next((i for i, _ in page.matches(_PROGRESS, start, close)), close)
    report = Report(
        tool="pytest",
        passed=total["passed"],
        failed=total["failed"],
        errors=total["errors"] - total["broken"],
        skipped=total["skipped"],
        broken=total["broken"],
        failures=first(failures),
        note=note,
    )
    return Found(report, start, sessions.closed[-1][1])


@dataclass(slots=True)
class _Sessions:
    """Each session's first line and its summary; one that a test printed does not count.

    A summary belongs to the last heading that has none yet.  Without one it ends a session that
    began with progress (``-q``), or takes the place of the last summary where more of that session
    followed, since then a test had printed the first; else somebody printed it at exit.
    """

    opened: list[tuple[int, int]] = field(default_factory=list)  # its line, and how wide that is
    closed: list[tuple[int, int]] = field(default_factory=list)
    progress: int | None = None  # since the last summary, as are the next two
    structure: bool = False
    complete: bool = False
    whole: bool = False  # the last session was a quiet one and had told all of its progress
    bare: bool = False  # of the last session nothing but its summary was seen
    marks: int = 0  # of tests, in the progress of a quiet session
    missing: int = 0  # how wide the summary of the last session is, where a narrower one closed it
    fits: bool = False  # the last session was a quiet one and its summary counts as many tests

    def follow(self, i: int, line: str) -> None:
        if _SESSION.match(line):
            self.opened.append((i, len(line)))
        elif line.endswith("[100%]") or _SECTION.match(line):
            self.structure = True
            self.complete = self.complete or line.endswith("[100%]")
            if _PROGRESS.match(line):
                self.progress = i if self.progress is None else self.progress
                self.marks += len(line.partition("[")[0].strip())
        elif _is_summary(line):
            told = counts(line)
            fits = 0 < self.marks == sum(told[word] for word in _MARKED)
            self._close(i, len(line) + 2, fits=fits)

    def _close(self, i: int, width: int, *, fits: bool) -> None:
        whole = self.complete
        if self.fits and not (fits or self.opened) and self.progress is None:
            return
        if self.opened:
            start, heading = self.opened.pop()
            whole, fits, self.missing = False, False, heading if heading > width else 0
            while self.closed and self.closed[-1][0] >= start:
                self.closed.pop()  # it was within this one
        elif not self.closed:
            start = 0
        elif self.progress is not None and self.whole:
            start = self.progress
        elif self.structure or self.bare or 0 < self.missing <= width or (fits and not self.fits):
            start = self.closed.pop()[0]
            whole = self.whole
        else:
            return
        self.fits, self.marks = fits, 0 if fits else self.marks
        self.bare = not (self.structure or self.closed or self.progress is not None)
        self.closed.append((start, i))
        self.progress, self.structure, self.complete, self.whole = None, False, False, whole


def _is_summary(line: str) -> bool:
    match = _SUMMARY.match(line)
    return match is not None and (
        match["counts"].startswith("no ") or counts(match["counts"]).keys() <= _WORDS
    )


def _session(page: Page, start: int, close: int) -> tuple[Counter[str], list[Failure]]:
    """Return the counts of a session, with ``broken`` files, and its failures."""
    short = page.last(_SHORT, close, start)
    begin = short[0] if short else close
    if begin == close and (page.cut or not any(page.matches(_SECTION))):
        while begin > start and _ENTRY.match(page.lines[begin - 1]):  # its heading has been cut off
            begin -= 1
    sections = _sections(page, start, close)
    entries = list(_entries(page, begin, close))
    count = counts(page.lines[close])
    count["errors"] += count["error"]
    broken = sum(kind == "ERROR" and "::" not in node for kind, node, _ in entries)
    count["broken"] = min(count["errors"], broken) if entries else count["errors"]
    return count, [_failure(page, one, sections) for one in entries[:MAX_FAILURES]] or [
        page.failure(_PREFIX.sub("", name), message=one.messages[0])
        for name, one in sections.items()
        if name and one.messages
    ]


def _entries(page: Page, start: int, end: int) -> Iterator[tuple[str, str, str]]:
    """Give kind, node and message of each line of the short summary."""
    for _, match in page.matches(_ENTRY, start, end):
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
            current.places[match["path"]] = match["line"]
    return found


def _failure(page: Page, entry: tuple[str, str, str], sections: dict[str, _Section]) -> Failure:
    kind, node, message = entry
    path, _, name = node.partition("::")
    before, bracket, parameter = name.partition("[")
    key = before.replace("::", ".") + bracket + parameter
    titles = [key]
    if kind == "ERROR":
        places = (f"at setup of {key}", f"at teardown of {key}", f"collecting {path}")
        titles = [f"ERROR {where}" for where in places]
    section = next((sections[title] for title in titles if title in sections), _Section())
    if message.endswith("..."):
        message = _whole(message, section.messages, sections[""].messages)
    elif not message:
        errors = [text for text in section.messages if re.match(r"[\w.]+: ", text)]
        message = (errors or section.messages or [""])[-1]
    name = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), name or path)  # pytest writes ASCII
    return page.failure(name, place=page.place(path, section.places.get(path)), message=message)


def _whole(cut: str, own: list[str], anybody: list[str]) -> str:
    """Return the message that a cut one begins; of several tests' only where there is one."""
    fitting = dict.fromkeys(text for text in own or anybody if text.startswith(cut[:-3]))
    return next(iter(fitting)) if (own and fitting) or len(fitting) == 1 else cut


def _note(page: Page, close: int, count: Counter[str]) -> str | None:
    """Return why a session ended before its tests did, or failed without a failure."""
    if page.exit_code == 0:
        return None
    is_red = count["failed"] or count["errors"]
    pattern = _STOPPED if is_red else _REASON
    around = [*range(close, min(close + 6, len(page.lines))), *range(close - 1, -1, -1)]
    said = (page.lines[i] for i in around if pattern.match(page.lines[i]))
    none = "" if is_red or count["passed"] else page.lines[close]
    return page.brief(next(said, none).strip("=! ")) or None
