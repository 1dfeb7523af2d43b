"""Reads TAP, perl's prove, and bats.  Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from local_agent.reports.page import Found, Page, first
from local_agent.reports.report import Failure, Report

_PLAN: Final = re.compile(r"1\.\.(?P<count>\d{1,7})(?: # (?P<reason>.*))?$")
_RESULT: Final = re.compile(r"(?P<not>not )?ok(?: (?P<number>\d{1,7}))?(?: -)?(?: (?P<name>.*))?$")
_NESTED: Final = re.compile(r"\s+(?P<not>not )?ok \d{1,7} - (?P<name>\S.*)$")
_DIRECTIVE: Final = re.compile(r"(?P<name>.*?) ?# (?P<word>skip|todo|time=)", re.IGNORECASE)
_AT: Final = re.compile(
    r"#\s+(?:\(in test file |at )(?P<path>.{1,400}?),? line (?P<line>\d{1,7})[.)]+$"
)
_YAML: Final = re.compile(r'\s+(?P<key>message|error|at): ["\'](?P<value>.*)["\']$')
_VALUE: Final = re.compile(r"#\s+(?P<key>got|expected): (?P<value>.*)$")
_PROVE_END: Final = re.compile(r"Result: (?P<verdict>PASS|FAIL|NOTESTS)$")
_PROVE_TOTAL: Final = re.compile(r"Files=\d{1,7}, Tests=(?P<count>\d{1,7}), ")
_PROVE_FILE: Final = re.compile(
    r"(?P<path>\S+) +\(Wstat: .*Tests: \d+ Failed: (?P<failed>\d{1,7})\)$"
)
_PROVE_SKIPPED: Final = re.compile(r"\t\(less (?P<count>\d{1,7}) skipped subtests?: ")
_PROVE_CASE: Final = re.compile(r"# +Failed test '(?P<name>.*)'$")
_PROVE_WHY: Final = re.compile(r"  (?:Parse errors: |Non-zero )(?P<text>.*)$")
_BATS: Final = re.compile(
    r"(?P<count>\d{1,7}) tests?, (?P<failed>\d{1,7}) failures?(?:, (?P<skipped>\d{1,7}) skipped)?"
)
_BATS_CASE: Final = re.compile(r".* ✗ (?P<name>\S.*)$")


def read_tap(page: Page) -> Found | None:
    """Read results against their plan: every number once, and one that failed stays failed."""
    plan, end = page.find(_PLAN), page.last(_RESULT)
    match = _PLAN.match(page.lines[plan]) if plan is not None else None
    if plan is None or match is None or (end is None and match["count"] != "0"):
        return None
    if page.lines[max(plan - 1, 0)].startswith("TAP version") and _blocks(page):
        return _nested(page, plan)
    wanted, start = int(match["count"]), plan
    results: dict[int, tuple[int, str]] = {}
    for i, line in enumerate(page.lines):
        if result := _RESULT.match(line):
            number = int(result["number"] or len(results) + 1)
            verdict = _verdict(result)
            if number not in results or verdict == "failed":
                results[number] = (i, verdict)
            start = min(start, i)
    if not set(results) <= set(range(1, min(wanted, len(results)) + 1)):
        return None  # not one stream, or a test prints results of its own
    failed = [i for i, verdict in results.values() if verdict == "failed"]
    short = wanted - len(results)
    note = (
        match["reason"]
        if not wanted
        else f"planned {wanted}, ran {len(results)}"
        if short
        else None
    )
    report = Report(
        tool="TAP",
        passed=sum(verdict == "passed" for _, verdict in results.values()),
        failed=len(failed),
        skipped=sum(verdict == "skipped" for _, verdict in results.values()),
        broken=1 if short else 0,
        failures=first(_failure(page, i) for i in failed),
        note=page.text(note) if note else None,
    )
    return Found(report, start, end or plan)


def _verdict(result: re.Match[str]) -> str:
    directive = _DIRECTIVE.match(" " + (result["name"] or ""))
    if directive and directive["word"].lower() in ("skip", "todo"):
        return "skipped"
    return "failed" if result["not"] else "passed"


def _failure(page: Page, at: int) -> Failure:
    result = _RESULT.match(page.lines[at])
    name = (result["name"] if result else "") or f"test {at}"
    return _described(page, name, page.lines[at + 1 : at + 12])


def _described(page: Page, name: str, after: tuple[str, ...]) -> Failure:
    place, message, values = None, "", dict[str, str]()
    for line in after:
        if _RESULT.match(line) or (_PROVE_CASE.match(line) and place):
            break
        if (match := _AT.match(line)) and place is None:
            place = page.place(match["path"], match["line"])
        elif match := _VALUE.match(line):
            values[match["key"]] = match["value"]
        elif match := _YAML.match(line):
            path, _, rest = match["value"].rpartition(":")[0].rpartition(":")
            if match["key"] == "at":
                place = page.place(path, rest)
            else:
                message = match["value"]
        elif line.startswith("#   `") and not message:
            message = line[2:].strip()
    message = message or ", ".join(f"{key}: {value}" for key, value in values.items())
    return page.failure(name, place=place, message=message)


def _blocks(page: Page) -> bool:
    return any(line.endswith(" {") and _RESULT.match(line) for line in page.lines)


def _nested(page: Page, start: int) -> Found:
    """Results in braces, as vitest prints them: those that hold no others count."""
    passed = skipped = broken = 0
    end = start
    failures: list[Failure] = []
    for i in range(start, len(page.lines)):
        line = page.lines[i]
        match = _NESTED.match(line)
        if line.endswith(" {") or (match is None and not line.startswith("not ok ")):
            continue
        end = i
        name = match["name"] if match else line.split(" - ", 1)[-1]
        directive = _DIRECTIVE.match(name)
        if directive and directive["word"].lower() != "time=":
            skipped += 1
        elif match and not match["not"]:
            passed += 1
        else:
            broken += match is None
            name = directive["name"] if directive else name
            failures.append(_described(page, name, page.lines[i + 1 : i + 8]))
    report = Report(
        tool="TAP",
        passed=passed,
        failed=len(failures) - broken,
        skipped=skipped,
        broken=broken,
        failures=first(failures),
    )
    return Found(report, start - 1, end)


def read_prove(page: Page) -> Found | None:
    """Read the report that ``prove`` ends with."""
    end = page.last(_PROVE_END)
    total = _PROVE_TOTAL.match(page.lines[end - 1]) if end else None
    if end is None or total is None:
        return None
    lines = page.lines[:end]
    files = [(i, match) for i, line in enumerate(lines) if (match := _PROVE_FILE.match(line))]
    failed = sum(int(match["failed"]) for _, match in files)
    dead = [(i, match) for i, match in files if match["failed"] == "0"]
    skipped = sum(int(match["count"]) for line in lines if (match := _PROVE_SKIPPED.match(line)))
    cases = [
        _described(page, match["name"], lines[i + 1 : i + 8])
        for i, line in enumerate(lines)
        if (match := _PROVE_CASE.match(line))
    ]
    report = Report(
        tool="prove",
        passed=max(int(total["count"]) - failed - skipped, 0),
        failed=failed,
        skipped=skipped,
        broken=len(dead),
        failures=first([*cases[:failed], *_dead(page, dead)]),
        note="no tests" if page.lines[end].endswith("NOTESTS") else None,
    )
    return Found(report, 0, end)


def _dead(page: Page, dead: list[tuple[int, re.Match[str]]]) -> Iterator[Failure]:
    for i, match in dead:
        reasons = [
            why["text"] for line in page.lines[i + 1 : i + 3] if (why := _PROVE_WHY.match(line))
        ]
        yield page.failure(
            match["path"], place=page.place(match["path"]), message=(reasons or [""])[-1]
        )


def read_bats(page: Page) -> Found | None:
    """Read the totals of bats' pretty form."""
    end = page.last(_BATS)
    total = _BATS.match(page.lines[end]) if end is not None else None
    if (
        end is None
        or total is None
        or not any(" ✗ " in line or " ✓ " in line for line in page.lines[:end])
    ):
        return None
    failed, skipped = int(total["failed"]), int(total["skipped"] or 0)
    cases = [
        _described(
            page, match["name"], tuple("# " + one.strip() for one in page.lines[i + 1 : i + 2])
        )
        for i, line in enumerate(page.lines[:end])
        if (match := _BATS_CASE.match(line))
    ]
    passed = max(int(total["count"]) - failed - skipped, 0)
    report = Report(
        tool="bats", passed=passed, failed=failed, skipped=skipped, failures=first(cases)
    )
    return Found(report, 0, end)
