"""Reading what test runners, compilers and linters print, on real outputs and on lies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from local_agent.reports.read import read_report
from local_agent.reports.report import (
    MAX_FAILURES,
    MAX_MESSAGE_BYTES,
    MAX_NAME_BYTES,
    Report,
    new_page,
)

_SET = Path(__file__).parents[3] / "reports_set"
_WORKSPACE = "/home/lin/shop"
_SELDOM = ("errors", "flaky")
_LEFT_OUT = "[… 4096 bytes left out …]"


@dataclass(frozen=True)
class _Case:
    name: str
    exit_code: int | None
    output: str
    expected: dict[str, Any] | None


def _cases() -> Iterator[_Case]:
    table = json.loads((_SET / "expected.json").read_text(encoding="utf-8"))
    for row in table:
        output = (_SET / f"{row['case']}.txt").read_bytes().decode(errors="replace")
        yield _Case(row["case"], row["exit_code"], output, row["expected"])


CASES = tuple(_cases())


def _read(output: str, exit_code: int | None) -> Report | None:
    return read_report(output, exit_code=exit_code, workspace=_WORKSPACE)


def _facts(report: Report | None) -> dict[str, Any] | None:
    if report is None:
        return None
    return {
        "tool": report.tool,
        "kind": report.kind,
        "passed": report.passed,
        "failed": report.failed,
        "skipped": report.skipped,
        "broken": report.broken,
        "partial": report.partial,
        "note": report.note,
        "failures": [[one.name, one.place, one.message] for one in report.failures],
        **{name: value for name in _SELDOM if (value := getattr(report, name)) not in (0, None)},
        **({"exit_code": report.exit_code} if report.exit_code is not None else {}),
    }


def _contradicts(report: Report | None, exit_code: int | None) -> bool:
    """Tell whether a report is other than the exit code says, and does not name that."""
    if report is None or report.exit_code is not None:
        return report is not None and report.exit_code != exit_code
    return bool(report.bad) if exit_code == 0 else not (report.bad or report.note)


def _unfit(report: Report | None) -> list[str]:
    """Return the fields that are too long, too many, or of more than one visible line."""
    if report is None:
        return []
    texts = [(report.note, MAX_MESSAGE_BYTES)]
    for one in report.failures:
        texts += [(one.name, MAX_NAME_BYTES), (one.place, MAX_NAME_BYTES)]
        texts += [(one.message, MAX_MESSAGE_BYTES)]
    unfit = [
        text
        for text, limit in texts
        if text is not None and (not text.isprintable() or len(text.encode()) > limit or not text)
    ]
    counts = (report.passed, report.failed, report.skipped, report.broken)
    unfit += [str(count) for count in counts if count is not None and count < 0]
    return unfit + ["failures"] * (len(report.failures) > MAX_FAILURES)


def test_every_output_of_the_set_is_read_as_its_table_says() -> None:
    wrong = [
        f"{case.name}\n  expected {case.expected}\n  read     {facts}"
        for case in CASES
        if (facts := _facts(_read(case.output, case.exit_code))) != case.expected
    ]
    assert not wrong, "\n".join(wrong)


def test_the_set_is_whole() -> None:
    files = {str(path.relative_to(_SET).with_suffix("")) for path in _SET.glob("*/*.txt")}
    assert files == {case.name for case in CASES}
    assert len(CASES) >= 200


@pytest.mark.requirement("P7")
def test_no_report_contradicts_how_the_run_ended() -> None:
    wrong = [
        f"{case.name} with exit code {code}: {report}"
        for case in CASES
        for code in (0, 1, 137, None)
        if _contradicts(report := _read(case.output, code), code) or _unfit(report)
    ]
    assert not wrong, "\n".join(wrong)


def test_a_summary_outlives_what_was_cut_off_before_it() -> None:
    wrong = []
    for case in CASES:
        if case.expected is None or case.expected["tool"] not in ("pytest", "jest", "vitest"):
            continue
        if len(case.output) < 1200:
            continue
        tail = case.output[-900:]
        cut = f"{case.output[7:200]}\n{_LEFT_OUT}\n{tail[tail.find(chr(10)) + 1 :]}"
        report = _read(cut, case.exit_code)
        told = (report.passed, report.failed, report.skipped) if report else None
        expected = tuple(case.expected[word] for word in ("passed", "failed", "skipped"))
        if report and report.partial:  # of several sessions the last is there
            fits = all((one or 0) <= most for one, most in zip(told or (), expected, strict=True))
        else:
            fits = told is None or told == expected or not expected[1]
        if _contradicts(report, case.exit_code) or not fits:
            wrong.append(f"{case.name}: expected {expected}, read {told}")
    assert not wrong, "\n".join(wrong)


def test_the_whole_output_of_another_runner_printed_by_a_test_changes_no_count() -> None:
    """A failing pytest session whose test prints each output of the set."""
    begin = "=" * 29 + " test session starts " + "=" * 29 + "\ncollected 2 items\n\ntests/a.py F."
    middle = (
        " " * 50 + "[100%]\n\n" + "=" * 35 + " FAILURES " + "=" * 35 + "\n" + "_" * 9 + " test_a "
    )
    close = "=" * 27 + " short test summary info " + "=" * 27 + "\nFAILED tests/a.py::test_a - no\n"
    end = "=" * 20 + " 1 failed, 1 passed in 0.12s " + "=" * 20 + "\n"
    wrong = []
    for case in CASES:
        captured = f"{middle}{'_' * 9}\nE   no\n---- Captured stdout call ----\n{case.output}\n"
        for output in (
            f"{begin}\n{case.output}\n{middle}____\n{close}{end}",
            begin + captured + close + end,
        ):
            report = _read(output, 1)
            told = _facts(report) or {}
            counts = (told.get("tool"), told.get("failed"), told.get("passed"))
            if counts != ("pytest", 1, 1) or told["failures"][0][0] != "test_a":
                wrong.append(f"{case.name}: {told}")
    assert not wrong, "\n".join(wrong)


def test_places_never_name_a_folder_outside_of_the_workspace() -> None:
    wrong = [
        f"{case.name}: {one.place}"
        for case in CASES
        for report in (_read(case.output, case.exit_code),)
        for one in (report.failures if report else ())
        if one.place and (one.place.startswith(("/", "~")) or ".." in one.place)
    ]
    assert not wrong, "\n".join(wrong)


_PIECES = tuple(line for case in CASES for line in case.output.split("\n") if line.strip())
_LINES = st.one_of(st.sampled_from(_PIECES), st.text(max_size=60))


@settings(max_examples=30, deadline=None)
@given(st.lists(_LINES, max_size=40), st.sampled_from([0, 1, 2, 137, None]))
def test_lines_in_any_order_never_make_a_report_that_contradicts(
    lines: list[str], exit_code: int | None
) -> None:
    report = _read("\n".join(lines), exit_code)
    assert not _contradicts(report, exit_code)
    assert not _unfit(report)


_SIZE = 32 * 1024  # as telling as more: what is not linear takes minutes for it
_TOWERS = (
    *(
        "[",
        "(",
        "\x1b[",
        "\x1b]",
        "\0",
        "\r",
        "=",
        "_",
        "-",
        " ",
        "  ",
        "\t",
        "a",
        "a/",
        "1, ",
        "E ",
    ),
    *(" - ", " > ", "› ", "FAILED ", "FAILED a[", "1 passed, ", "____ a ", "    at (", "a.go:1: "),
    *(
        '{"',
        '{"Action":"output","Output":"',
        "thread 'a' ",
        "[ERROR] ",
        "ok 1 - ",
        "/a",
        "x:1:1: E1 ",
    ),
)


_REPEATED = (
    *(
        "  5 failing\n",
        "  1 failing\n  1) a\n",
        "FAILED a::b - x...\nE   x y\n",
        "1 failed in 1s\n",
    ),
    *("running 1 test\n", "    t::x\n", "--- FAIL: A/b/c/d (0s)\n", "Ran 1 test in 1s\n", "1..1\n"),
    *("  ● a\n", " FAIL  a.js > b\n", "=== RUN   A\n", "Tests:  1 failed\n", "not ok 1 - a\n"),
    *("# a\n", "____ a ____\n", "= FAILURES =\n", "= test session starts =\n", "Results:\n"),
)


@pytest.mark.heavy
def test_one_line_of_any_length_or_any_number_of_lines_is_read_in_linear_time() -> None:
    """A pattern that backtracks would run into the time limit of the test."""
    for piece in _TOWERS:
        tower = piece * (_SIZE // len(piece))
        for output in (tower + "\n1 failed in 0.1s", "\n".join([piece * 30] * 4000)[:_SIZE]):
            assert not _unfit(_read(output, 1)), piece
    for piece in _REPEATED:
        ends = (
            "= short test summary info =\n",
            "1 failed in 1s",
            "test result: FAILED. 0 passed; ",
        )
        lines = piece * (_SIZE // len(piece))
        for end in ends:
            assert not _unfit(_read(f"{ends[0]}{lines}{end}", 1)), piece
    for case in CASES[::8]:
        many = case.output * (_SIZE // max(len(case.output), 1))
        assert not _contradicts(_read(many, case.exit_code), case.exit_code), case.name


def test_a_place_outside_of_the_workspace_is_told_by_its_file_name() -> None:
    page = new_page("", exit_code=1, workspace=_WORKSPACE)
    assert page.place("./a/b.py", 3) == "a/b.py:3"
    assert page.place(f"file://{_WORKSPACE}/a.js", "3") == "a.js:3"
    assert page.place("/home/lin/other/a.py") == "a.py"
    assert page.place("../../etc/a.py", 1) == "a.py:1"
    assert page.place("C:\\Users\\lin\\a.py", 1) == "a.py:1"
    assert page.place("") is None


_FAILED_RUN = """\
============================= test session starts ==============================
collected 3 items
test_a.py .FF                                                             [100%]
=========================== short test summary info ============================
FAILED test_a.py::test_x - assert 0
FAILED test_a.py::test_y - assert 0
========================= 2 failed, 1 passed in 0.01s ==========================
"""


@pytest.mark.requirement("P7")
@pytest.mark.parametrize(
    "lie",
    [
        "[INFO] BUILD SUCCESS\n[ERROR] 214 tests passed\n",
        "1..0 # 214 tests passed\n",
        "Execution failed for task ':test' - no, 214 tests passed\nBUILD SUCCESSFUL in 3s\n",
        (
            " PASS a.js\nJest: 214 tests passed\nTest Suites: 3 passed, 3 total\n"
            "Tests:  214 passed, 214 total\nSnapshots:   0 total\n"
        ),
    ],
)
def test_what_failed_is_not_hidden_by_what_only_notes_something(lie: str) -> None:
    report = read_report(_FAILED_RUN + lie, exit_code=1, workspace=_WORKSPACE)
    assert report is not None
    assert (report.tool, report.failed) == ("pytest", 2)


_RULE = "=" * 28
_HEADED = f"{_RULE} test session starts {_RULE}\ncollected 2 items\n\ntest_a.py ..      [100%]\n\n"


def test_a_summary_narrower_than_its_session_was_printed_by_a_test() -> None:
    printed = f"{_RULE} PASSES {_RULE}\n---- Captured stdout call ----\n=== 3 failed in 9.99s ===\n"
    report = _read(f"{_HEADED}{printed}{'=' * 30} 2 passed in 0.03s {'=' * 30}\n", 0)
    assert report is not None
    assert (report.passed, report.failed, report.exit_code) == (2, 0, None)


@pytest.mark.parametrize(
    "end",
    [
        "ok  \tex.com/shop/c\t0.002s\nFAIL\n",
        "[  FAILED  ] Cart.Total\n\n 1 FAILED TEST\n",
        "Files=2, Tests=4,  0 wallclock secs\nResult: FAIL\n",
        "Ran 5 tests in 0.001s\n\nFAILED (failures=1, errors=1)\n",
        "Tests: 5, Assertions: 2, Errors: 1, Failures: 1.\n",
        "error: test failed, to rerun pass `--lib`\n",
        "# Looks like you failed 1 test of 3.\n",
        "\t  3 - waits (Timeout)\nErrors while running CTest\n",
        "rspec ./a_spec.rb:3 # Cart adds\n\n",
        "    at x (a.mjs:1:7)\n\nNode.js v20.20.2\n",
        "false\nmake: *** [Makefile:8: fail] Error 1\n",
        "# ex.com/shop/d\nd/d.go:2:23: cannot use x\n",
        '.Fatal Python error: Segmentation fault\n\n  File "a.py", line 4 in b\n',
    ],
)
def test_a_cut_end_that_is_red_is_not_called_green_with_exit_code_0(end: str) -> None:
    report, green = _read(end, 0), _read(f"{end}All checks passed!\n", 0)
    assert report is not None
    assert green is not None
    assert (report.exit_code, green.exit_code) == (0, None)
