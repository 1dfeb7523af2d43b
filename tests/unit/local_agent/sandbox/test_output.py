"""The end of the output, fit for the chat."""

from __future__ import annotations

from typing import Any

import pytest

from local_agent.reports import read
from local_agent.reports.report import Page
from local_agent.sandbox.output import TAIL_BYTES, Tail, full_log, read_output
from local_agent.sandbox.process import Kept


def _kept(text: str, cap: int = 1_000_000) -> Kept:
    kept = Kept(cap)
    kept.add(text.encode("utf-8", "surrogateescape"))
    return kept


def _tail(kept: Kept, **facts: Any) -> Tail:
    return read_output(kept, exit_code=None, workspace="/w", **facts).tail


def test_short_output_is_shown_whole_without_blank_lines() -> None:
    assert _tail(_kept("one\n\n  two\n\n")).text == "one\n  two"
    assert _tail(_kept("")).text == ""


def test_long_output_is_cut_to_its_end_within_the_bytes() -> None:
    tail = _tail(_kept("".join(f"行 {number}\n" for number in range(10_000)))).text
    assert len(tail.encode()) <= TAIL_BYTES
    assert tail.endswith("行 9999")


def test_a_cut_tail_tells_how_much_came_before_it() -> None:
    assert _tail(_kept("one\ntwo\n")).before == 0
    assert _tail(_kept("\x1b[31m\n\n  \n")).before == 0, "nothing to see was left out"
    assert _tail(_kept("a\n" * 100)).before == 200 - 79
    long = _tail(_kept("x" * 10_000))
    assert long.before == 10_000 - len(long.text.encode())
    assert _tail(_kept("x" * 500, cap=40)).before == 500


def test_terminal_sequences_and_overwritten_progress_are_gone() -> None:
    assert _tail(_kept("\x1b[31mred\x1b[0m\n10%\r50%\r100%\r\ndone\r\n")).text == "red\n100%\ndone"


def test_hidden_characters_are_made_visible() -> None:
    assert _tail(_kept("a\u202eb\x00")).text == "a⟨U+202E⟩b⟨U+0000⟩"


def test_what_is_no_utf8_is_shown_as_such() -> None:
    assert _tail(_kept("a\udcffb")).text == "a�b"


@pytest.mark.requirement("R54")
def test_secrets_are_taken_out_before_anything_is_cut() -> None:
    secret = "ghp_" + "a1B2" * 9
    text = f"token {secret}\n" + "x" * (TAIL_BYTES - 30)
    tail = _tail(_kept(text)).text
    assert "a1B2" not in tail
    assert "own-secret" not in _tail(_kept("an own-secret-word"), secrets=["own-secret-word"]).text


@pytest.mark.requirement("R54")
def test_the_line_broken_by_what_was_let_go_is_left_out() -> None:
    kept = _kept("begin\n" + "x" * 500 + "token-that-was-cut\nend\n", cap=40)
    assert kept.dropped
    assert _tail(kept).text == "end"
    assert _tail(_kept("x" * 500, cap=40)).text == ""


def test_the_log_is_what_came_with_a_line_about_what_was_let_go() -> None:
    assert full_log(_kept("a\x1b[31m\n")) == b"a\x1b[31m\n"
    log = full_log(_kept("a" * 50 + "b" * 50, cap=10)).decode()
    assert log == "aaaaa\n[… 90 bytes left out …]\nbbbbb"


@pytest.mark.requirement("R46")
@pytest.mark.requirement("P7")
def test_the_chat_gets_a_few_lines_without_rulers_and_folders_of_this_machine() -> None:
    output = (
        "one\ntwo\n==========\n\n/home/me/shop/tests/test_a.py:3: in test_x\n"
        'File "/usr/lib/python3.12/subprocess.py", line 5\n--- --- ---\nsee ~/.cache/pip/log\n'
        "rootdir: /home/me/shop\nGET https://example.com/home/x 200, and or/and a/tmp/b\nlast\n"
    )
    shown = read_output(_kept(output), exit_code=1, workspace="/home/me/shop")
    assert shown.brief.split("\n") == [
        "tests/test_a.py:3: in test_x",
        'File "…/subprocess.py", line 5',
        "see ~/.cache/pip/log",
        "rootdir: .",
        "GET https://example.com/home/x 200, and or/and a/tmp/b",
        "last",
    ]
    assert "==========" in shown.tail.text


@pytest.mark.requirement("R54")
def test_no_line_for_the_chat_holds_a_secret_or_hides_anything() -> None:
    output = "PASSWORD=hunter2222\n\u202ex own-secret-1\n" + "字" * 1_000
    shown = read_output(
        _kept(output), exit_code=None, workspace="/w", secrets=["own-secret-1"]
    ).brief
    assert "hunter2222" not in shown
    assert "own-secret" not in shown
    assert "⟨U+202E⟩x" in shown
    assert max(len(line.encode()) for line in shown.split("\n")) <= 160


_PYTEST = """\
____________________________ test_retry ____________________________

    def test_retry() -> None:
>       assert delays() == [0.5, 1.0]
E       AssertionError: password=hunter2222 in /home/me/shop/a.py and /usr/lib/python3/x.py

tests/test_login.py:21: AssertionError
===================== short test summary info ======================
FAILED tests/test_login.py::test_retry - AssertionError: password=hunter2222 in /home/me/shop/a.py
=================== 1 failed, 2 passed in 0.03s ====================
"""


@pytest.mark.requirement("R54")
def test_what_is_read_of_a_report_holds_no_secret_and_no_folder_of_this_machine() -> None:
    shown = read_output(_kept(_PYTEST), exit_code=1, workspace="/home/me/shop")
    assert shown.report is not None
    assert (shown.report.failed, shown.report.passed) == (1, 2)
    (failure,) = shown.report.failures
    assert (failure.name, failure.place) == ("test_retry", "tests/test_login.py:21")
    assert "hunter2222" not in str(failure.message)
    assert "/home" not in str(failure.message)
    assert "/usr" not in str(failure.message)


def test_counts_of_an_output_that_was_cut_are_told_as_the_least() -> None:
    go = "=== RUN   TestA\n--- FAIL: TestA (0.00s)\n    a_test.go:3: no\nFAIL\nFAIL\tx/a\t0.1s\n"
    noise = "line\n" * 200_000
    for output, whole in ((go, True), (noise + go, False)):
        shown = read_output(_kept(output), exit_code=1, workspace="/w")
        assert shown.report is not None
        assert shown.report.partial is not whole
    at_its_end = read_output(_kept(noise + _PYTEST), exit_code=1, workspace="/w").report
    assert at_its_end is not None
    assert at_its_end.failed == 1
    assert read_output(_kept(_PYTEST), exit_code=None, workspace="/w").report is None


def test_a_reader_that_stumbles_leaves_the_last_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    def stumbling(page: Page) -> None:
        raise RecursionError(page.lines[0])

    monkeypatch.setattr(read, "read_pytest", stumbling)
    shown = read_output(_kept(_PYTEST), exit_code=1, workspace="/w")
    assert shown.report is None
    assert "1 failed, 2 passed in 0.03s" in shown.brief
