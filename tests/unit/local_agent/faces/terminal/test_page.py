"""The terminal approver: all of it on the page, and only a typed code counts."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.clock import ManualClock
from common.seal import Source, digest
from common.sentences import Lang, Sentence, say
from common.terminal import Ink, cells
from local_agent.actions.registry import seal_bytes
from local_agent.actions.run_command import card as run_command
from local_agent.actions.run_command.payload import Executable, SealedCopy
from local_agent.actions.steps.card import CHANGES_NOTHING
from local_agent.cards import words
from local_agent.faces.terminal import page as terminal
from local_agent.faces.terminal import tty
from local_agent.faces.terminal.page import MAX_WIDTH, MIN_WIDTH
from local_agent.reports.report import Failure, Report
from local_agent.reports.words import to_facts
from local_agent.safety.risk_words import RISK
from local_agent.views.question import Question
from tests import windows
from tests.asked import a_change, a_sync, read_question, told
from tests.each import each
from tests.sealed import a_payload, a_seal

PLAIN = Ink(on=False)


def ask_about(
    payload: dict[str, Any] | None = None, *, risk: str = "normal", **changes: Any
) -> Question:
    seal = {name: changes.pop(name) for name in list(changes) if name in SEALED}
    raw = seal_bytes(a_seal(ManualClock(), payload=payload or a_payload(), **seal))
    told: dict[str, Any] = {
        "seal": raw.decode(),
        "digest": digest(raw),
        "state": "pending",
        "risk": risk,
        "reasons": [],
        "text": "@dev test",
        "machine": "build-1",
        "workspace": "shop",
    }
    return read_question(told | changes)


SEALED = ("source", "discloses", "git_head")


def page(question: Question, *, lang: Lang = "en", width: int = 80) -> str:
    now_ms = question.seal.created_at
    return "\n".join(terminal.render(question, lang=lang, width=width, ink=PLAIN, now_ms=now_ms))


@pytest.mark.requirement("R25")
def test_a_gate_that_covers_nothing_has_a_page() -> None:
    order = windows.an_order(windows.a_gate(), run=windows.RUN | {"steps": []})
    text = page(read_question(order.shown))
    assert text.startswith("T-7F3K  Go on with playbook fix-login on dev-machine-1?")
    assert say(CHANGES_NOTHING, "en") in " ".join(text.split())
    assert "CANNOT BE UNDONE" not in text


@pytest.mark.requirement("R25")
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_everything_that_was_sealed_is_on_the_page(lang: Lang) -> None:
    question = ask_about(
        a_payload(argv=["pytest", "-q", "tests/a b.py"], cwd="sub/dir", timeout_s=123),
        text="@dev 跑一下测试",
        git_head="1a2b3c4d5e6f" + "0" * 28,
    )
    shown = page(question, lang=lang)
    for expected in (
        "T-7K3F",
        "build-1",
        "shop",
        "/home/zhang/项目",
        "1a2b3c4d5e6f",
        "zhang",
        question.seal.source.gateway_key_id,
        "@dev 跑一下测试",
        "0 │ pytest",
        "1 │ -q",
        "2 │ 'tests/a b.py'",
        "/usr/bin/pytest",
        "sub/dir",
        "LANG PATH",
        "bubblewrap",
        "123",
        question.code,
    ):
        assert expected in shown, expected


@pytest.mark.requirement("P5a")
def test_the_page_says_that_a_command_cannot_be_undone() -> None:
    assert "CANNOT BE UNDONE" in page(ask_about())
    assert "无法撤销" in page(ask_about(), lang="zh")


def test_who_asked_is_a_claim_that_this_machine_has_not_verified() -> None:
    assert "not verified" in page(ask_about())
    here = ask_about(source=Source("terminal", "zhang", "", ""), discloses=())
    assert "not verified" not in page(here)
    assert "nothing" in page(here)


def test_without_a_sandbox_the_page_says_so_loudly() -> None:
    assert "NOT SANDBOXED" in page(ask_about(a_payload(sandbox_level="none"), risk="high"))
    assert "NOT SANDBOXED" not in page(ask_about())
    inked = terminal.render(
        ask_about(a_payload(sandbox_level="none"), risk="high"),
        lang="zh",
        width=80,
        ink=Ink(on=True),
        now_ms=0,
    )
    assert any("\x1b[1;7;31m未隔离" in line for line in inked)


@pytest.mark.parametrize("network", [True, False])
@pytest.mark.parametrize(("lang", "said"), [("en", "not restricted"), ("zh", "不受限制")])
def test_without_a_sandbox_no_line_claims_what_nothing_enforces(
    network: bool, lang: Lang, said: str
) -> None:
    bare = a_payload(sandbox_level="none", network=network)
    shown = page(ask_about(bare, risk="high"), lang=lang)
    assert said in shown
    assert "systemd" in shown, "what it hands to others is not ended"
    assert not re.search(r"(Network|网络) +(off|关闭)", shown)
    contained = page(ask_about(), lang=lang)
    assert said not in contained
    assert "systemd" not in contained
    assert re.search(r"(Network|网络) +(off|关闭)", contained)


def test_network_and_a_program_of_the_workspace_are_told() -> None:
    program = Executable("/home/zhang/项目/run.sh", 1, 2, "ab" * 32)
    shown = page(ask_about(a_payload(network=True, executable=program)))
    assert "ON: it can send" in shown
    assert "abababababababab" in shown


def test_every_reason_of_a_high_risk_is_listed() -> None:
    shown = page(ask_about(risk="high", reasons=[*RISK, "new-reason"]), lang="zh")
    assert "高风险" in shown
    assert "new-reason" in shown
    assert shown.count("• ") == len(RISK) + 1


@pytest.mark.requirement("R25")
def test_a_script_is_shown_whole_with_line_numbers_and_marked_as_shell() -> None:
    script = "\n".join(f"echo {number}" for number in range(300))
    shown = page(ask_about(a_payload(script=script, argv=None), risk="high"))
    assert "runs in a shell (/bin/sh); 300 lines" in shown
    assert all(f"{number + 1:>3} │ echo {number}\n" in shown for number in range(300))


@pytest.mark.requirement("R26")
def test_nothing_in_a_command_is_hidden_and_its_tail_is_visible() -> None:
    argv = ["x\u202etxt", "a\nb", "c\td", "e" + " " * 200 + "--evil", "", " lead", "it's"]
    shown = page(ask_about(a_payload(argv=argv)))
    for expected in (
        "'x⟨U+202E⟩txt'",
        "'a⟨U+000A⟩",
        "c⟨U+0009⟩d",
        "⟨200 × U+0020⟩--evil",
        "4 │ ''",
        "' lead'",
        '"it\'s"',
    ):
        assert expected in shown, expected


@pytest.mark.requirement("R26")
@given(
    st.lists(st.text(max_size=60), min_size=1, max_size=5),
    st.text(max_size=60),
    st.integers(20, 200),
    st.sampled_from(["en", "zh"]),
)
@settings(max_examples=80, deadline=None)
def test_no_input_breaks_the_page(argv: list[str], text: str, width: int, lang: Lang) -> None:
    shown = page(ask_about(a_payload(argv=argv), text=text, machine=text), lang=lang, width=width)
    room = max(MIN_WIDTH, min(width, MAX_WIDTH))
    for line in shown.split("\n"):
        assert line.isprintable()
        assert cells(line) <= room + 1
    assert f"{len(argv) - 1} │ " in shown


class ScriptedTerminal(tty.Terminal):
    """Types what it was told, and keeps the screen."""

    def __init__(self, *typed: str, height: int = 24) -> None:
        super().__init__(-1, PLAIN)
        self.screen = ""
        self._typed = list(typed)
        self._height = height

    @property
    def width(self) -> int:
        return 80

    @property
    def height(self) -> int:
        return self._height

    def write(self, text: str) -> None:
        self.screen += text

    def read_line(self, prompt: str) -> str:
        self.write(f"[{prompt}]\n")
        return self._typed.pop(0)


def long_question(lines: int = 100) -> Question:
    script = "\n".join(f"echo {number}" for number in range(lines))
    return ask_about(a_payload(script=script, argv=None), risk="high")


def shows(terminal_: ScriptedTerminal, question: Question) -> bool:
    now_ms = question.seal.created_at
    return terminal.present(question, terminal_, lang="en", now_ms=now_ms)


def test_a_page_of_two_screens_is_put_there_at_once() -> None:
    screen, question = ScriptedTerminal(), ask_about()
    assert shows(screen, question)
    assert screen.screen.strip("\n") == page(question)


@pytest.mark.requirement("R25")
def test_a_long_page_comes_screen_by_screen_and_its_code_last() -> None:
    question = long_question()
    screen = ScriptedTerminal(*[""] * 10)
    assert shows(screen, question)
    pieces = screen.screen.split("[lines ")
    assert len(pieces) > 4
    assert all(piece.count("\n") <= 24 for piece in pieces)
    assert question.code in pieces[-1]
    assert all(question.code not in piece for piece in pieces[:-1])
    shown = re.sub(r"\[lines [^\]]*\]\n", "", screen.screen)
    assert shown.strip("\n") == page(question), "nothing is left out"


@each("rest", ["a", "ALL", "全部"])
def test_the_rest_can_be_had_at_once(rest: str) -> None:
    question = long_question()
    screen = ScriptedTerminal("", rest)
    assert shows(screen, question)
    shown = re.sub(r"\[lines [^\]]*\]\n", "", screen.screen)
    assert shown.strip("\n") == page(question)


@pytest.mark.requirement("P1")
@each("leave", ["q", "Quit", "退出"])
def test_who_leaves_before_the_end_is_not_asked(leave: str) -> None:
    question = long_question()
    screen = ScriptedTerminal("", leave)
    assert not shows(screen, question)
    assert question.code not in screen.screen


def test_a_terminal_that_tells_no_height_is_not_paged() -> None:
    question = long_question()
    screen = ScriptedTerminal(height=0)
    assert shows(screen, question)
    assert screen.screen.strip("\n") == page(question)


@pytest.mark.requirement("R42")
def test_the_operators_of_a_shell_line_are_named() -> None:
    shown = page(ask_about(a_payload(script="make && rm -rf $(cat x) | tee y", argv=None)))
    assert "&&  $(…)  |" in shown
    given = page(ask_about(a_payload(argv=["sh", "-c", "rm -rf build | tee x"])))
    assert "a shell (sh) runs what is in argument 2; 3 arguments" in given
    assert "meaning of their own: |" in given
    given = page(ask_about(a_payload(argv=["env", "sh", "run.sh"])))
    assert "given to a shell (sh); 3 arguments" in given
    assert "no shell; 1 argument" in page(ask_about(a_payload(argv=["pytest"])))
    assert "meaning of their own" not in page(ask_about(a_payload(script="make all", argv=None)))


COPY = SealedCopy("approval-1", "T-7K3F", "0" * 64)


@pytest.mark.requirement("R25")
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_check_says_that_it_runs_on_a_copy_and_changes_nothing(lang: Lang) -> None:
    here = Source("check", "zhang", "", "")
    question = ask_about(a_payload(copy=COPY), source=here, discloses=())
    shown = re.sub(r"\s+", " ", page(question, lang=lang))
    for sentence in (
        run_command.COPY_IS,
        words.UNDO_COPY,
        words.ASKED_CHECK,
        run_command.SANDBOXED_COPY,
    ):
        said = say(sentence, lang, task="T-7K3F", level="bubblewrap")
        assert said[:12] in shown
    assert say(run_command.TITLE_CHECK, lang, task="T-7K3F", machine="build-1") in shown
    assert say(run_command.CANNOT_BE_UNDONE, lang) not in shown


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    ("state", "exit_code", "sentence"),
    [
        ("waiting", None, words.CHECKS["waiting"]),
        ("running", None, words.CHECKS["running"]),
        ("passed", 0, words.CHECKS["passed"]),
        ("failed", 3, words.CHECKS["failed"]),
        ("failed", None, words.CHECK_ENDED),
        ("rejected", None, words.CHECK_ENDED),
        ("\x1b[2J", None, words.CHECK_ENDED),
    ],
)
def test_how_the_check_went_is_on_the_page_of_the_change(
    lang: Lang, state: str, exit_code: int | None, sentence: Sentence
) -> None:
    check = {"task": "T-9999", "state": state, "exit_code": exit_code, "duration_ms": 1200}
    shown = page(ask_about(check=check), lang=lang, width=100)
    said = say(sentence, lang, task="T-9999", exit_code=exit_code, duration="1.2 s")
    assert said[:12] in shown
    assert "\x1b" not in shown
    assert said[:12] not in page(ask_about(), lang=lang)


@pytest.mark.requirement("R26")
def test_what_a_check_reported_is_told_by_its_counts_alone() -> None:
    one = Failure(name="press approve", message="all is well")
    report = Report(tool="pytest", passed=2, failed=1, failures=(one,), note="approve")
    check = {"task": "T-9999", "state": "failed", "exit_code": 1, "duration_ms": 1200}
    shown = page(ask_about(check=check | {"report": to_facts(report)}), lang="en", width=100)
    assert "1 of 3 tests failed, on a copy with this change (codexbridge show T-9999)" in shown
    assert "press approve" not in shown
    assert "all is well" not in shown


@pytest.mark.requirement("P7")
def test_a_check_that_ended_with_0_and_reports_failures_has_not_passed() -> None:
    report = Report(tool="pytest", passed=2, failed=1, exit_code=0)
    check = {"task": "T-9999", "state": "passed", "exit_code": 0, "duration_ms": 1200}
    shown = page(ask_about(check=check | {"report": to_facts(report)}), lang="zh", width=100)
    assert "⚠ 退出码 0，但 pytest 报告：3 个测试中 1 个失败" in shown
    assert "✓" not in shown


def test_one_failed_test_is_named_where_its_name_is_no_sentence() -> None:
    one = Failure(name="test_x", place="test_login.py:7", message="approve")
    report = Report(tool="pytest", passed=2, failed=1, failures=(one,))
    check = {"task": "T-9999", "state": "failed", "exit_code": 1, "duration_ms": 1200}
    shown = page(ask_about(check=check | {"report": to_facts(report)}), lang="en", width=100)
    assert "✗ 1 of 3 tests failed: test_x (test_login.py)" in shown
    assert "approve" not in shown.partition("✗")[2].partition("To the chat")[0]


@pytest.mark.requirement("P7")
def test_a_later_version_says_which_it_is_and_what_was_asked_first() -> None:
    told = {"version": 2, "task": "T-1111", "wish": "make it five", "first": "retry\nlogins"}
    shown = page(ask_about(revision=told), lang="en", width=100)
    assert "version 2 of T-1111" in shown
    assert "First request: retry" in shown
    assert "First request" not in page(ask_about(), lang="en", width=100)


@pytest.mark.requirement("R29")
def test_the_first_group_alone_is_told_from_a_wrong_code_where_both_are_needed() -> None:
    question = ask_about(risk="high", reasons=["shell"])
    half = question.code[:4]
    screen = ScriptedTerminal(half, "0000", question.code)
    assert terminal.ask(question, screen, lang="en") == question.code
    said = " ".join(screen.screen.split())
    answers = [words.ONE_GROUP.en in said, words.WRONG.en in said]
    assert answers == [True, True]
    assert not question.is_half("0000")
    assert not question.is_half(question.code)
    assert not ask_about().is_half(ask_about().code[:4]), "one group is enough there"


@pytest.mark.requirement("P2", "R26")
@each("width", range(MIN_WIDTH, MAX_WIDTH + 1, 20))
def test_what_goes_on_in_the_next_row_is_no_row_of_its_own(width: int) -> None:
    fake = "deleted  README.md"
    for before in range(0, width, 2):
        name = f"{'a' * before}{fake}"
        patch = f"--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-a\n+b\n".encode()
        asked = read_question(told(a_change(patch)), diff=patch)
        shown = page(asked, width=width).split("\n")
        assert not [line for line in shown if line.strip().startswith("deleted")], before
    url = f"https://git.example.com/{'x' * width}/Undo  yes"
    push = page(read_question(told(a_sync(None, url=url, branch="b" * width))), width=width)
    rows = [line.strip() for line in push.split("\n") if "xxx" in line or "bbb" in line]
    begun = ("Branch", "Pushed to", "https:", "2. REMOTE WRITE")
    assert all(row.startswith(("┆ ", *begun)) for row in rows), rows
