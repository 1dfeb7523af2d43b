"""What a runner reported, as the chat and the terminal say it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from common.sentences import Lang
from local_agent.reports import words as report_words
from local_agent.reports.report import MAX_FAILURES, Failure, Report

PAUSE = Failure(
    name="test_each_pause_is_twice_the_one_before",
    place="test_login.py:21",
    message="assert [1, 2, 3] == [1, 2, 4]",
)
RULE = Failure(name="E501", place="src/a.py:3", message="Line too long (120 > 100)")


def told(report: Report, lang: Lang) -> list[str]:
    return [
        report_words.verdict(report, lang, duration_ms=2_100),
        *report_words.failure_lines(report, lang, most=report_words.CHAT_FAILURES),
    ]


NAME, WHY = PAUSE.name, "assert [1, 2, 3] == [1, 2, 4]"
ROW, ROW_ZH = f"{NAME} (test_login.py): {WHY}", f"{NAME}（test_login.py）：{WHY}"
ONE = Report(tool="pytest", passed=2, failed=1, failures=(PAUSE,))
MANY = Report(tool="go test", failed=5, failures=(Failure(name="TestA"), PAUSE, PAUSE, PAUSE))
BROKEN = Failure(name="tests/test_a.py", message="No x")
LONG = "src/a.py:3 E501 Line too long (120 > 100)"

GOLDEN: list[tuple[Report, str, str]] = [
    (
        Report(tool="pytest", passed=3, failed=0),
        "3 tests passed (2.1 s)",
        "3 个测试通过（2.1 秒）",
    ),
    (
        Report(tool="pytest", passed=1, skipped=2),
        "1 test passed, 2 skipped (2.1 s)",
        "1 个测试通过，2 个跳过（2.1 秒）",
    ),
    (
        ONE,
        f"1 of 3 tests failed: {NAME} (test_login.py)\n{WHY}",
        f"3 个测试中 1 个失败：{NAME}（test_login.py）\n{WHY}",
    ),
    (
        MANY,
        f"5 tests failed\n· TestA\n· {ROW}\n· {ROW}\nand 2 more",
        f"5 个测试失败\n· TestA\n· {ROW_ZH}\n· {ROW_ZH}\n另有 2 个",
    ),
    (
        Report(tool="pytest", broken=1, failures=(BROKEN,)),
        "1 test file could not be loaded: tests/test_a.py\nNo x",
        "1 个测试文件无法加载：tests/test_a.py\nNo x",
    ),
    (
        Report(tool="ruff", kind="problems", failed=1, failures=(RULE,)),
        f"1 problem: {LONG}",
        f"1 个问题：{LONG}",
    ),
    (
        Report(tool="ruff", kind="problems", failed=4, failures=(RULE, RULE)),
        f"4 problems\n· {LONG}\n· {LONG}\nand 2 more",
        f"4 个问题\n· {LONG}\n· {LONG}\n另有 2 个",
    ),
    (
        Report(tool="ruff", kind="problems", failed=0),
        "no problems found (2.1 s)",
        "没有发现问题（2.1 秒）",
    ),
    (
        Report(tool="go test", passed=4, failed=1, partial=True, failures=(Failure(name="TestA"),)),
        "at least 1 test failed: TestA",
        "至少 1 个测试失败：TestA",
    ),
    (
        Report(tool="go test"),
        "all tests passed (2.1 s)",
        "测试全部通过（2.1 秒）",
    ),
    (
        Report(tool="x", passed=2, failed=1, skipped=3, errors=1, flaky=1, failures=(PAUSE,) * 2),
        f"1 of 8 tests failed, 1 error, 2 passed, 1 flaky, 3 skipped\n· {ROW}\n· {ROW}",
        f"8 个测试中 1 个失败，1 个错误，2 个通过，1 个不稳定，3 个跳过\n· {ROW_ZH}\n· {ROW_ZH}",
    ),
    (
        replace(ONE, exit_code=0),
        f"exit code 0, but pytest reports: 1 of 3 tests failed\n· {ROW}",
        f"退出码 0，但 pytest 报告：3 个测试中 1 个失败\n· {ROW_ZH}",
    ),
    (
        Report(tool="pytest", passed=4, exit_code=1, note="coverage of 90 % not reached"),
        "exit code 1, but pytest reports: 4 tests passed\ncoverage of 90 % not reached",
        "退出码 1，但 pytest 报告：4 个测试通过\ncoverage of 90 % not reached",
    ),
    (
        replace(ONE, also=(Report(tool="ruff", kind="problems", failed=2),)),
        f"1 of 3 tests failed: {NAME} (test_login.py)\n{WHY}\nruff: 2 problems",
        f"3 个测试中 1 个失败：{NAME}（test_login.py）\n{WHY}\nruff：2 个问题",
    ),
    (
        Report(tool="jest", passed=1, failed=1, failures=(Failure(name="99 passed"),)),
        "1 of 2 tests failed, 1 passed\n· 99 passed",
        "2 个测试中 1 个失败，1 个通过\n· 99 passed",
    ),
    (Report(tool="pytest", note="no tests ran"), "pytest: no tests ran", "pytest：no tests ran"),
]


@pytest.mark.parametrize(("report", "en", "zh"), GOLDEN)
def test_a_report_is_told_verdict_first(report: Report, en: str, zh: str) -> None:
    assert "\n".join(told(report, "en")) == en
    assert "\n".join(told(report, "zh")) == zh


@pytest.mark.parametrize(
    ("report", "told"),
    [
        (Report(tool="x", passed=1), True),
        (Report(tool="x", failed=1, failures=(PAUSE,)), True),
        (Report(tool="x", broken=1), False),
        (Report(tool="x", note="crashed"), True),
        (Report(tool="x", failed=1, note="crashed"), False),
        (Report(tool="x", passed=1, exit_code=1), False),
        (Report(tool="x", passed=1, exit_code=1, note="crashed"), True),
    ],
)
def test_a_report_that_names_no_failure_leaves_the_last_lines_to_tell_why(
    report: Report, *, told: bool
) -> None:
    assert report_words.tells_why(report) is told


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("test_login.Retry.test_pause", "test_pause (a.py)"),
        ("Retry::test_pause[1.5-x]", "test_pause[1.5-x] (a.py)"),
        ("login > waits 1.5 s", "login > waits 1.5 s (a.py)"),
        ("TestRetry/1.5_s", "TestRetry/1.5_s (a.py)"),
    ],
)
def test_a_test_is_named_without_its_module_where_its_file_is_told(name: str, told: str) -> None:
    one = Failure(name=name, place="a.py:3")
    report = Report(tool="x", failed=1, failures=(one,))
    assert report_words.verdict(report, "en") == f"1 test failed: {told}"


@pytest.mark.requirement("R26")
@pytest.mark.requirement("R73")
def test_what_a_report_says_is_bounded_on_one_line_and_hides_nothing() -> None:
    long = Failure(name="n\u202e" * 500, place="p\n" * 500, message="m\x00" * 5_000)
    report = Report(tool="pytest", failed=99, failures=(long,) * 99, note="x" * 9_000)
    clean = report_words.cleaned(report, str.upper)
    assert len(clean.failures) == MAX_FAILURES
    said = "\n".join(told(clean, "en"))
    assert len(said.encode()) <= 1_500
    assert said.replace("\n", "").isprintable()
    assert "M⟨U+0000⟩" in said
    assert report_words.cleaned(Report(tool="x", failures=(Failure(name=" "),)), str).failures == (
        Failure(name="?"),
    )


def test_a_report_is_the_same_after_it_was_kept_as_facts() -> None:
    for report in (ONE, replace(ONE, also=(MANY,), exit_code=0)):
        assert report_words.from_facts(report_words.to_facts(report)) == report
