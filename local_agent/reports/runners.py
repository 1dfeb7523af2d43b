"""Reads test runners that print a summary and list failures: a row for each, one engine.  Pure.

A row says how a runner writes its totals, names a test that failed, and where it says why.  Which
numbers a summary holds is known by their words.  A list of failures counts only as far as the
summary does: a test can print what it likes, but the summary is where the runner prints it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Final

from local_agent.reports.report import MAX_FAILURES, Failure, Found, Page, Report, first
from local_agent.reports.tables import NEVER, Runner, compiled, rows

_TRIED: Final = 8  # summaries; each costs a look at all lines
_FILES: Final = 100  # that could not be loaded
_BODY: Final = 30  # lines below the name of a test that are looked at
_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "passed": ("pass", "passed", "passing", "passes", "success", "successes", "succeeded"),
    "failed": ("fail", "failed", "failing", "failure", "failures"),
    "skipped": (
        *("skip", "skipped", "skips", "pending", "ignored", "todo", "disabled", "incomplete"),
        *("excluded", "did"),
    ),
    "errors": ("error", "errors", "cancelled", "interrupted"),
    "flaky": ("flaky",),
    "total": (
        *("total", "completed", "test", "tests", "example", "examples", "run", "runs"),
        *("spec", "specs"),
    ),
}
_MEANING: Final = {word: name for name, words in _WORDS.items() for word in words}
_COUNT: Final = re.compile(
    r"(?<![\w.])(?P<count>\d{1,7}) {1,2}(?:(?:tests?|scenarios?) )?(?P<word>[A-Za-z]{1,12})"
)
_NAMED: Final = re.compile(
    r"(?<!\w)(?<!expected )(?P<word>[A-Za-z]{1,12})\s{0,9}[:= ]\s{0,9}(?P<count>\d{1,7})"
)
# A file and a line in it, however a runner writes that.
_PLACE: Final = re.compile(
    r"(?<![^\s(\"'›])(?P<path>(?:file://)?[^\s:()\"'›]+\.\w{1,6})"
    r"(?:\"?,? line |[:(])(?P<line>\d{1,7})"
)
_VALUE: Final = re.compile(
    r"[\s#+|-]*((?:expected|received|actual|got|left|right|which is)\b[\w ]{0,40}: *\S.*)",
    re.IGNORECASE,
)
_ERROR: Final = re.compile(r"\s*error: '")
_GROUP: Final = re.compile(r"\s*'\d+ subtests? failed'$")
_KEY: Final = re.compile(r"(?:error|message): '?|ASSERT FAILED: |Failure/Error: ")


_Line = tuple[int, re.Match[str]]


def read_runners(page: Page) -> Iterator[Found]:
    """Yield what each runner of the table reported."""
    tools: set[str] = set()
    for row in rows(Runner):
        if row.tool == "TAP" and "node --test" in tools:
            continue  # it writes the same lines
        if row.mark in page.text and (found := _read(page, row)) is not None:
            tools.add(row.tool)
            yield found


@dataclass(slots=True)
class _Summary:
    """The counts of one summary, and its lines."""

    start: int
    end: int
    counts: Counter[str]
    words: set[str]


def _read(page: Page, row: Runner) -> Found | None:
    """Return what the summaries say, with the failures that fit them."""
    summaries = _summaries(page, row)
    if not summaries:
        return None
    chosen = summaries if row.adds else [_fitting(page, row, summaries)]
    counts = sum((one.counts for one in chosen), Counter[str]())
    start, end = chosen[0].start, chosen[-1].end
    cases = _cases(page, row, start, end)
    # Some tell of them again at the end.
    told = islice(page.matches(compiled(row.broken), end=start), _FILES)
    files = {_name(page, row, *one): one for one in told}
    words = {word for one in chosen for word in one.words}
    is_listed = "failed" in words
    if not is_listed:
        counted = sum(int(one.groupdict().get("count") or 0) for _, one in cases.values())
        counts["failed"] = counted or (len(cases) if "passed" in words else 0)
    bad = counts["failed"] + counts["errors"]
    counts["skipped"] += sum(1 for _ in page.matches(compiled(row.skipped), start))
    known = bool(counts["failed"] or {"failed", "errors"} & words) or not cases
    is_parted = row.repeats and len(cases) < bad
    if is_listed:
        cases = dict(list(cases.items())[:bad])
    noted = page.last(compiled(row.note))
    rest = counts["total"] - bad - counts["skipped"] - counts["flaky"]
    report = Report(
        tool=row.tool,
        passed=max(counts["passed"] or rest, 0) if known and not is_parted else None,
        failed=counts["failed"] if known else None,
        skipped=counts["skipped"],
        errors=counts["errors"],
        broken=max(counts["broken"], len(files)),
        flaky=counts["flaky"],
        failures=first(
            _failure(page, row, *one)
            for one in (*islice(files.values(), MAX_FAILURES), *cases.values())
        ),
        note=_note(page, noted[0]) if noted and not (cases or files) else None,
    )
    listed = [i for i, _ in cases.values()]
    heads = [page.having(row.mark), start, *listed, *(i for i, _ in files.values())]
    return Found(report, min(i for i in heads if i is not None), max([end, *listed]))


def _summaries(page: Page, row: Runner) -> list[_Summary]:
    found: list[_Summary] = []
    is_headed = not row.head
    for i, match in page.matches(compiled(f"{row.head}|{row.total}" if row.head else row.total)):
        counts = dict(_counts(match, row))
        last = found[-1] if found else None
        goes_on = last is not None and i - last.end < row.block
        if not counts or not (is_headed or goes_on or match[0].startswith("[")):
            is_headed = is_headed or not counts
            continue  # a head; or printed by a test
        is_headed = not row.head
        if last and goes_on and not last.words & counts.keys():
            last.end = i
        else:
            found.append(last := _Summary(i, i, Counter(), set()))
        last.words |= counts.keys()
        for word, count in counts.items():
            last.counts[_MEANING.get(word, word)] += count
            last.words.add(_MEANING.get(word, word))
    return found


def _counts(match: re.Match[str], row: Runner) -> Iterator[tuple[str, int]]:
    """Yield the numbers of a line of a summary by their words."""
    said = {name: value for name, value in match.groupdict().items() if value}
    if "word" in said:
        yield said["word"].lower(), int(said["count"])
    for name in ("counts", "more"):
        for one in (_NAMED if row.named else _COUNT).finditer(said.get(name, "")):
            yield one["word"].lower(), int(one["count"])
    for name in ("passed", "failed", "errors", "total", "broken"):
        if name in said:
            yield name, int(said[name])


def _fitting(page: Page, row: Runner, summaries: Sequence[_Summary]) -> _Summary:
    """Return the last summary that counts what is listed; else the last with failures."""
    tried = [(one, one.counts["failed"] + one.counts["errors"]) for one in summaries[-_TRIED:]]
    for one, bad in reversed(tried):
        if len(_cases(page, row, one.start, one.end)) == bad:
            return one
    return next((one for one, bad in reversed(tried) if bad), summaries[-1])


def _cases(page: Page, row: Runner, start: int, end: int) -> dict[str, _Line]:
    """Return the lines of the failures that are listed, by their names."""
    pattern = compiled(row.case)
    if row.adds:
        start, end = 0, -1
    spans = ((start + 1, None), (0, start)) if row.below else ((0, start), (end + 1, None))
    for begin, stop in spans:
        found: dict[str, _Line] = {}
        groups: dict[str, _Line] = {}
        for i, match in page.matches(pattern, begin, stop):
            if row.under and not (i and compiled(row.under).match(page.lines[i - 1])):
                continue
            named = groups if is_group(page, i) else found
            named.setdefault(_name(page, row, i, match), (i, match))
        if found := found or groups:  # what was in a group may have been cut off
            # A file is named before what failed in it.
            return dict(sorted(found.items(), key=lambda one: one[1][1].string.startswith("#")))
    return {}


def _note(page: Page, at: int) -> str:
    """Return a line that says why; of a ruled heading with the line below it."""
    said = [line.strip("⎯ ") for line in page.lines[at : at + 1 + page.lines[at].startswith("⎯")]]
    return page.brief(": ".join(said).removeprefix("[ERROR] ").partition(" -> [Help")[0])


def is_group(page: Page, at: int) -> bool:
    """Tell whether what failed is a group of tests that are listed themselves."""
    below = page.lines[at + 1 : at + 8]
    told = any("subtestsFailed" in line for line in below)
    return told or _GROUP.match("".join(below[:1])) is not None


def _name(page: Page, row: Runner, at: int, match: re.Match[str]) -> str:
    said = match.groupdict()
    name = said.get("name") or said.get("tap") or _file(page, row, at)
    if row.joined and name:
        rest = [line.strip() for line in page.lines[at + 1 : at + 8]]
        ends = next((i for i, line in enumerate(rest) if line.endswith(":")), None)
        if not name.endswith(":") and ends is not None:
            name = " › ".join([name, *rest[: ends + 1]])
        name = name.removesuffix(":")
    if row.above and not name:
        rules = [i for i, _ in page.matches(compiled(row.above), max(at - _BODY, 0), at)]
        name = page.lines[rules[-2] + 1] if len(rules) > 1 else ""
    # Else on the next line, as of busted.
    return (name or "".join(page.lines[at + 1 : at + 2])).strip(" ─")


def _failure(page: Page, row: Runner, at: int, match: re.Match[str]) -> Failure:
    said, name, begin = match.groupdict(), _name(page, row, at, match), at
    if not (said.get("name") or said.get("tap") or row.above):
        begin += 1
    if row.opens:
        near = enumerate(page.lines[at : at + 8])
        begin += next((n for n, line in near if compiled(row.opens).match(line)), 0)
    if row.detail and match.re is compiled(row.case):
        heads = page.matches(compiled(row.detail))
        begin = next((i for i, one in heads if one["name"].strip(" ─") == name and i != at), -1)
    end = compiled(row.end)
    below = page.lines[begin + 1 : begin + 1 + _BODY] if begin >= 0 else ()
    body = list(takewhile(lambda line: not (match.re.match(line) or end.match(line)), below))
    if begin == at and is_group(page, at):
        body = [line for line in page.lines[max(at - _BODY, 0) : at] if _ERROR.match(line)][-1:]
    place = page.place(said["path"], said.get("line")) if said.get("path") else None
    if said.get("line") is None:
        place = _own_place(page, body) or place or page.place(_file(page, row, at))
    message = said.get("message") or ""
    if (begin != at or not message) and (more := message_of(body, row.noise)):
        message = f"{message}: {more}" if message else more
    return page.failure(name, place=place, message=message)


def _file(page: Page, row: Runner, at: int) -> str:
    last = page.last(compiled(row.file), at) if row.file != NEVER else None
    return last[1]["path"] if last else ""


def message_of(body: Sequence[str], noise: str = NEVER) -> str:
    """Return the first line that says why, with the values that are compared below it."""
    skipped = compiled(noise)
    told = [line.strip(" #|│\t`") for line in body if line.strip() and not skipped.match(line)]
    if not told:
        return ""
    said = _KEY.sub("", told[0])
    if said.startswith("- Expected"):
        signs = {line[0]: line[1:].strip(" ,") for line in told[:1:-1] if line[0] in "-+"}
        return f"Expected: {signs.get('-', '')}, Received: {signs.get('+', '')}"
    values = [match[1].strip() for line in told[1:9] if (match := _VALUE.match(line))][:2]
    if said.endswith(":") and told[1:]:
        return " ".join([said, *told[1:3]])
    return (
        f"{said} ({', '.join(values)})"
        if values and not _VALUE.match(said)
        else ", ".join(dict.fromkeys([said, *values]))
    )


def _own_place(page: Page, body: Sequence[str]) -> str | None:
    for line in body:
        for match in _PLACE.finditer(line):
            if page.own(match["path"].removeprefix("file://")):
                return page.place(match["path"], match["line"])
    return None
