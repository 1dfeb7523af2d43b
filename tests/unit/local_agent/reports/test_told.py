"""What the chat says of recorded outputs: sign, counts, names and reason, in both languages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from common.model.state import Reason
from common.sentences import LANGS, Lang
from local_agent.actions.run_command.perform import Outcome
from local_agent.actions.run_command.words import render_outcome
from local_agent.reports.read import read_report
from local_agent.reports.tables import Runner, rows
from local_agent.sandbox.output import read_output
from local_agent.sandbox.process import Kept

_SET = Path(__file__).parents[3] / "reports_set" / "told.jsonl"
_WORKSPACE = "/home/lin/desk"
CASES: list[dict[str, Any]] = [
    json.loads(line) for line in _SET.read_text(encoding="utf-8").splitlines()
]
# Known to be told less well than they could be.
_SHORT_OF = {"uvu-red": "the values that were compared"}
_COUNTS = {
    "failed": (
        r"(\d+) of \d+ tests? failed|(\d+) tests? failed|(\d+) problem"
        r"|个测试中 (\d+) 个失败|(\d+) 个测试失败|(\d+) 个问题"
    ),
    "passed": r"(\d+) (?:tests? )?passed|(\d+) 个(?:测试)?通过",
    "skipped": r"(\d+) skipped|(\d+) 个(?:全部)?跳过",
    "errors": r"(\d+) errors?\b|(\d+) test files? could not|(\d+) 个错误|(\d+) 个测试文件无法加载",
}
_TOTAL = re.compile(r"(\d+) of (\d+) tests? failed|(\d+) 个测试中 (\d+) 个失败")
_RULER = re.compile(r"[\W_]{4,}")


def _say(output: bytes, exit_code: int, lang: Lang) -> str:
    kept = Kept(8 << 20)
    kept.add(output)
    ended = exit_code if exit_code >= 0 else None  # else by a signal
    shown = read_output(kept, exit_code=ended, workspace=_WORKSPACE)
    outcome = Outcome(
        reason=Reason.FAILED if exit_code else Reason.COMPLETED,
        exit_code=ended,
        signal=None if exit_code >= 0 else -exit_code,
        duration_ms=2_100,
        tail=shown.tail.text,
        brief=shown.brief,
        report=shown.report,
    )
    return render_outcome(outcome, "the command", lang)


def _counts(text: str) -> dict[str, int]:
    found = {
        name: sum(int(next(filter(None, one.groups()))) for one in re.finditer(pattern, text))
        for name, pattern in _COUNTS.items()
    }
    if not found["passed"] and (match := _TOTAL.search(text)):  # the others passed
        numbers = sorted(int(one) for one in match.groups() if one)
        found["passed"] = numbers[1] - numbers[0]
    return found


def _fits(count: int, expected: Any) -> bool:
    if isinstance(expected, list):
        return any(_fits(count, one) for one in expected)
    return expected == "any" or count == (expected or 0)


def _faults(case: dict[str, Any], said: str) -> Iterator[str]:
    expected, lines = case["expect"], said.split("\n")
    is_good = case["exit_code"] == 0 and not lines[0].startswith("⚠")
    if is_good is not expected.get("green", False):
        yield "its sign"
    counts = _counts(lines[0])
    yield from (
        f"{count} {name}, not {expected.get(name)}"
        for name, count in counts.items()
        if not _fits(count, expected.get(name))
    )
    least = expected.get("names_min", len(expected.get("names", ())))
    if sum(_has(said, name) for name in expected.get("names", ())) < least:
        yield "the names"
    yield from (f"{one} is missing" for one in expected.get("says", ()) if not _has(said, one))
    never = [*expected.get("never", ()), _WORKSPACE]
    yield from (f"{one} is told" for one in never if one in said)
    if len(lines) > 7 or any(map(_RULER.fullmatch, lines)):
        yield "lines that say nothing"


def _has(said: str, wanted: str | list[str]) -> bool:
    return any(one in said for one in ([wanted] if isinstance(wanted, str) else wanted))


def _wrong(case: dict[str, Any], output: bytes) -> str:
    for lang in LANGS:
        said = _say(output, case["exit_code"], lang)
        if faults := list(_faults(case, said)):
            return f"{case['id']}: {'; '.join(faults)}\n{said}"
    return ""


@pytest.mark.requirement("P7")
def test_every_recorded_output_is_told_rightly() -> None:
    wrong = {
        case["id"]: fault for case in CASES if (fault := _wrong(case, case["output"].encode()))
    }
    assert wrong.keys() == _SHORT_OF.keys(), "\n".join(wrong.values())


def test_the_recorded_outputs_are_of_many_runners() -> None:
    run = [case for case in CASES if case.get("source", "run") == "run"]
    assert len(run) >= 190
    assert len({case["tool"] for case in run}) >= 40
    assert sum(case.get("held_out", False) for case in run) >= 90
    assert _SET.stat().st_size < 400_000


def test_line_ends_of_windows_and_lines_written_over_change_nothing() -> None:
    wrong = []
    for case in CASES[::5]:
        lines = case["output"].split("\n")
        for output in (
            "\r\n".join(lines),
            "\n".join(f"42 %\r{line}" if line else "" for line in lines),
        ):
            plain, other = (
                _say(text.encode(), case["exit_code"], "en") for text in (case["output"], output)
            )
            if plain != other:
                wrong.append(f"{case['id']}\n{plain}\n--\n{other}")
    assert not wrong, "\n".join(wrong)


def test_bytes_of_another_encoding_cost_no_count() -> None:
    wrong = []
    for case in CASES[::7]:
        said = _say(case["output"].encode("gb18030"), case["exit_code"], "en").split("\n")[0]
        plain = _say(case["output"].encode(), case["exit_code"], "en").split("\n")[0]
        if case["output"].isascii() and _counts(said) != _counts(plain):
            wrong.append(f"{case['id']}: {said}, not {plain}")
    assert not wrong, "\n".join(wrong)


_HEADS = (
    " FAIL  a > ",
    "  1) ",
    "✖ ",
    "not ok 1 - ",
    "\t  1 - ",
    "sh: ",
    "    a:1:1 › ",
    "1) A::b",
)
_TOWERS = (" ", "a ", "› ", ": ", ". ", "─", "1 passed ", "a.py:1 ")


@pytest.mark.cpu(5)
def test_every_row_of_the_table_takes_linear_time() -> None:
    marks = "\n".join(row.mark for row in rows(Runner))
    pairs = [(head, tower) for head in _HEADS for tower in _TOWERS]
    long = [head + tower * (1900 // len(tower)) for head, tower in pairs] * 4
    many = [head + tower * 3 for head, tower in pairs] * 140
    for lines in (long, many):
        output = "\n".join([marks, *lines, "1 failed", "  1 failing", "# fail 1", marks])
        read_report(output, exit_code=1, workspace=_WORKSPACE)


@pytest.mark.requirement("P7")
def test_no_run_that_reports_failures_is_good_whatever_its_exit_code() -> None:
    for case in CASES:
        is_told = case["expect"].get("failed") and case["expect"].get("passed") is not None
        if case["exit_code"] != 0 and is_told and not case.get("cut"):
            for lang in LANGS:
                said = _say(case["output"].encode(), 0, lang)
                assert said.startswith("⚠ "), f"{case['id']}: {said}"


@pytest.mark.requirement("P7")
def test_a_run_that_failed_after_its_tests_had_passed_tells_both() -> None:
    for case in CASES:
        if case["expect"].get("green") and case["expect"].get("passed"):
            said = _say(case["output"].encode(), 3, "en").split("\n")[0]
            assert said.startswith("exit code 3, but "), f"{case['id']}: {said}"
            assert _fits(_counts(said)["passed"], case["expect"]["passed"])
