"""How a task ended, in words: the exact outcome, in both languages."""

from __future__ import annotations

import pytest

from common.errors import CodexBridgeError, InputError
from common.model.state import Reason
from common.seal import SealedChange
from common.sentences import Lang
from local_agent.actions.changes import ending as change_words
from local_agent.actions.changes.settle import ChangeOutcome
from local_agent.actions.operation import DRIFTED_FIELDS
from local_agent.actions.run_command import words as run_words
from local_agent.actions.run_command.perform import Outcome
from local_agent.flow import summaries
from local_agent.flow.approvals import Decision
from local_agent.reports.report import Report
from tests.each import each
from tests.sealed import a_payload

LANGS: tuple[Lang, ...] = ("en", "zh")


@pytest.mark.requirement("P7")
@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize(
    ("outcome", "facts"),
    [
        (Outcome(reason=Reason.COMPLETED, exit_code=0, duration_ms=400), ["0.4"]),
        (Outcome(reason=Reason.FAILED, exit_code=3, duration_ms=65_000), ["3", "1", "5"]),
        (Outcome(reason=Reason.FAILED, signal=9, duration_ms=1000), ["SIGKILL"]),
        (Outcome(reason=Reason.FAILED, code="command.timeout", duration_ms=600_000), ["10"]),
        (Outcome(reason=Reason.FAILED, code="command.cannot-start"), []),
        (Outcome(reason=Reason.FAILED, code="command.sandbox-failed"), ["codexbridge status"]),
        (Outcome(reason=Reason.CANCELLED, signal=15, duration_ms=7_200_000), ["2"]),
        (Outcome(reason=Reason.FAILED, exit_code=1, survivors=2), ["2"]),
        (Outcome(reason=Reason.CANCELLED, signal=15, duration_ms=10), ["0.1"]),
    ],
)  # fmt: skip
def test_each_outcome_names_the_command_and_its_facts(
    outcome: Outcome, facts: list[str], lang: Lang
) -> None:
    said = run_words.render_outcome(outcome, "pytest -q", lang)
    assert "`pytest -q`" in said
    assert all(fact in said for fact in facts)


@pytest.mark.parametrize("lang", LANGS)
def test_the_ends_that_ran_nothing_say_so_alike(lang: Lang) -> None:
    never_began = run_words.render_outcome(Outcome(reason=Reason.CANCELLED), "x", lang)
    drifted = run_words.render_outcome(Outcome(reason=Reason.DRIFTED), "x", lang)
    assert all("`x`" not in said for said in (never_began, drifted))


@pytest.mark.requirement("P2")
@pytest.mark.parametrize(
    ("drift", "en", "zh"),
    [
        (("executable",), "the program.", "程序。"),
        (("env_names", "env_sha256", "cwd"), "the environment, the folder.", "环境变量、目录。"),
        (("argv", "script", "sandbox"), "the command, the sandbox.", "命令、沙箱。"),
        (("workspace", "timeout"), "the workspace's folder, the limits.", "文件夹、限制。"),
        ((), "could not be looked at again", "无法再次核对"),
        (("new-field",), "could not be looked at again", "无法再次核对"),
    ],
)
def test_drift_names_what_is_no_longer_as_approved(
    drift: tuple[str, ...], en: str, zh: str
) -> None:
    drifted = Outcome(reason=Reason.DRIFTED, drift=drift)
    assert en in run_words.render_outcome(drifted, "x", "en")
    assert zh in run_words.render_outcome(drifted, "x", "zh")


def test_every_field_of_a_sealed_command_has_a_name() -> None:
    assert set(a_payload()) | set(a_payload(script="x")) <= set(DRIFTED_FIELDS)


def test_the_ending_is_the_outcome_without_its_output() -> None:
    done = Outcome(reason=Reason.COMPLETED, exit_code=0, brief="5 passed", duration_ms=3000)
    assert run_words.render_ending(done, "x", "en") == "`x` succeeded (3.0 s)"
    assert "5 passed" not in run_words.render_ending(done, "x", "zh")


def test_the_last_lines_are_shown_or_said_to_be_none() -> None:
    done = Outcome(reason=Reason.COMPLETED, exit_code=0, brief="a\nb")
    assert run_words.render_outcome(done, "x", "en").endswith("\na\nb")
    silent = Outcome(reason=Reason.COMPLETED, exit_code=0)
    assert run_words.render_outcome(silent, "x", "en").endswith("It printed nothing.")
    ruled = Outcome(reason=Reason.COMPLETED, exit_code=0, tail="-----")
    assert "printed" not in run_words.render_outcome(ruled, "x", "en"), "it did print something"
    unstarted = Outcome(reason=Reason.FAILED, code="command.cannot-start")
    assert "printed" not in run_words.render_outcome(unstarted, "x", "en")


def test_what_a_runner_reported_stands_for_its_output() -> None:
    report = Report(tool="pytest", passed=3, failed=0)
    done = Outcome(reason=Reason.COMPLETED, exit_code=0, brief="===", report=report)
    assert run_words.render_outcome(done, "x", "en") == "3 tests passed"
    unnamed = Report(tool="pytest", failed=2)
    told_nothing = Outcome(reason=Reason.FAILED, exit_code=1, brief="boom", report=unnamed)
    assert run_words.render_outcome(told_nothing, "x", "en") == "2 tests failed\nboom"


def test_a_command_is_shown_on_one_bounded_line() -> None:
    done = Outcome(reason=Reason.COMPLETED, exit_code=0)
    said = run_words.render_outcome(done, "echo a\n" + "b" * 1000, "en")
    assert said.splitlines()[0].startswith("`echo a bbb")
    assert len(said.encode()) < 400


@pytest.mark.parametrize("lang", LANGS)
def test_a_rejection_carries_its_reason_in_bounds(lang: Lang) -> None:
    plain = summaries.of_rejection(Decision("rejected", None), lang)
    with_reason = summaries.of_rejection(Decision("rejected", "later\n\u200bplease" * 100), lang)
    assert "⟨U+200B⟩" in with_reason
    assert "\n" not in with_reason
    assert len(plain) < len(with_reason) < 700


@pytest.mark.parametrize("lang", LANGS)
def test_an_interruption_names_the_command_where_it_is_known(lang: Lang) -> None:
    assert "`make`" in run_words.render_interruption("make", lang)
    assert "`?`" in run_words.render_interruption(None, lang)


def test_risk_codes_become_words_and_unknown_ones_are_left_out() -> None:
    assert summaries.reasons(("shell", "network", "nonsense"), "en") == (
        "runs in a shell; can reach the network"
    )


@each("lang", LANGS)
@each(
    "error",
    [
        InputError("command.not-found", program="pytest"),
        InputError("workspace.unknown", name="shop"),
        CodexBridgeError("approval.too-many", why="pending", limit=10),
    ],
)
def test_an_error_is_explained_by_its_code(error: CodexBridgeError, lang: Lang) -> None:
    assert error.code not in summaries.of_error(error, lang)


def test_an_error_without_a_sentence_is_named_by_its_code() -> None:
    assert "some.code" in summaries.of_error(CodexBridgeError("some.code"), "en")


CHANGED = SealedChange(
    op="modify",
    path="src/a.py",
    old_path="src/a.py",
    old_sha256="0" * 64,
    old_mode="100644",
    new_sha256="1" * 64,
    new_mode="100644",
    size=3,
)


@pytest.mark.requirement("P7")
@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        (ChangeOutcome(reason=Reason.COMPLETED, files=(CHANGED,) * 20), "T-7K3F"),
        (
            ChangeOutcome(
                reason=Reason.COMPLETED, code="change.leftover", files=(CHANGED,), paths=("x.tmp",)
            ),
            "x.tmp",
        ),
        (ChangeOutcome(reason=Reason.FAILED, code="change.no-space"), ""),
        (ChangeOutcome(reason=Reason.FAILED, code="blob.changed"), "blob.changed"),
        (ChangeOutcome(reason=Reason.DRIFTED, drift=("base",), paths=("src/a.py",)), "src/a.py"),
        (ChangeOutcome(reason=Reason.UNKNOWN, code="change.half-done", paths=("b",) * 20), "…"),
        (ChangeOutcome(reason=Reason.UNKNOWN, code="change.unsettled"), ""),
    ],
)
def test_what_came_of_a_change_is_told_with_its_files(
    outcome: ChangeOutcome, told: str, lang: Lang
) -> None:
    said = change_words.render_change(
        outcome, lang, short_id="T-7K3F", undone=None, prefix="codexbridge"
    )
    assert told in said
    assert ("T-7K3F" in said) is (outcome.reason is Reason.COMPLETED)
    assert len(said.encode()) < 3_000


def test_every_way_in_which_a_change_is_not_made_has_its_own_words() -> None:
    codes = ["change.no-space", "change.not-permitted", "change.not-written", "change.restored"]
    outcomes = [ChangeOutcome(reason=Reason.FAILED, code=code) for code in codes]
    said = {
        change_words.render_change(one, "en", short_id="T-7K3F", undone=None, prefix="@dev")
        for one in outcomes
    }
    assert len(said) == len(codes)
    assert not [code for code in codes if any(code in text for text in said)]
