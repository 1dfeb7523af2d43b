"""What the window says: all that the terminal says, and nothing hidden."""

from __future__ import annotations

from dataclasses import replace

import pytest

from common.sentences import Lang
from local_agent.actions.steps.card import CHANGES_NOTHING
from local_agent.cards import words
from local_agent.faces.window.page import (
    HEADING,
    TYPE_CODE,
    Page,
    Row,
    code_missing,
    drawable,
    page_of,
)
from local_agent.views.question import Diff, Lines, Question
from tests import windows
from tests.asked import read_question


def a_question(seal: object, diff: bytes | None, **told: object) -> Question:
    order = windows.an_order(seal, **told)  # type: ignore[arg-type]  # handed through
    return read_question(order.shown, diff=diff)


def said(page: Page) -> str:
    parts = [page.verdict[1]] if page.verdict else []
    parts += [page.title, page.source, page.asked_by, page.request, page.place]
    for fact in (*page.facts, *page.body):
        if isinstance(fact, Row):
            parts += [fact.label, *(value for _, value in fact.values)]
        elif isinstance(fact, Lines):
            parts += fact.parts
    return "\n".join(parts)


@pytest.mark.requirement("R25")
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_command_is_shown_argument_by_argument(lang: Lang) -> None:
    seal, diff = windows.a_command(argv=["pytest", "-q", "a b"])
    page = page_of(a_question(seal, diff), lang)
    [lines] = [part for part in page.body if isinstance(part, Lines)]
    assert lines == Lines(("pytest", "-q", "'a b'"), 0)
    assert "/usr/bin/pytest" in said(page)
    assert "LANG PATH" in said(page)


@pytest.mark.requirement("R25")
def test_without_a_sandbox_it_says_so_in_alarm() -> None:
    seal, diff = windows.a_command(script="rm -rf build", sandbox_level="none")
    page = page_of(a_question(seal, diff, risk="high", reasons=("not-sandboxed",)), "en")
    styles = [style for fact in page.facts if isinstance(fact, Row) for style, _ in fact.values]
    assert "alarm" in styles
    assert "NOT SANDBOXED" in said(page)


@pytest.mark.requirement("P5")
def test_each_question_says_whether_it_can_be_undone() -> None:
    for seal, diff in (windows.a_change(), windows.a_command(), windows.a_sync()):
        page = page_of(a_question(seal, diff), "en")
        labels = [fact.label for fact in page.facts if isinstance(fact, Row)]
        assert "Undo" in labels


def test_the_reasons_for_the_risk_come_first() -> None:
    seal, diff = windows.a_change(windows.HOSTILE)
    page = page_of(a_question(seal, diff, risk="high", reasons=("destructive",)), "en")
    first = page.facts[0]
    assert isinstance(first, Row)
    assert first.label == "Why"


@pytest.mark.requirement("P5")
def test_whether_a_command_can_be_undone_stands_above_what_may_be_long() -> None:
    seal, diff = windows.a_command(script="make")
    page = page_of(a_question(seal, diff, risk="high", reasons=("shell",)), "en")
    assert [fact.label for fact in page.facts[:2] if isinstance(fact, Row)] == ["Why", "Undo"]


@pytest.mark.requirement("R29")
def test_a_whole_code_that_is_wrong_is_called_wrong() -> None:
    seal, diff = windows.a_command(script="make")
    question = a_question(seal, diff, risk="high", reasons=("shell",))
    wrong = question.code[:-1] + ("0" if question.code[-1] != "0" else "1")
    assert code_missing(question, question.code[:-1]) is TYPE_CODE
    assert code_missing(question, wrong) is words.WRONG
    assert code_missing(question, wrong.replace("-", "").lower()) is words.WRONG
    assert code_missing(question, question.code) is None


@pytest.mark.requirement("R38")
def test_what_deserves_a_second_look_is_named_with_its_line() -> None:
    seal, diff = windows.a_change(windows.HOSTILE)
    text = said(page_of(a_question(seal, diff), "en"))
    assert "scripts/report.sh, line 2:" in text
    assert "scripts/report.sh, line 3:" in text


def test_many_flags_are_counted_and_stand_in_the_diff() -> None:
    diff = "".join(
        f"diff --git a/f{n} b/f{n}\n--- a/f{n}\n+++ b/f{n}\n@@ -1 +1 @@\n-x\n+y\u202e\n"
        for n in range(9)
    )
    seal, raw = windows.a_change(diff)
    text = said(page_of(a_question(seal, raw), "en"))
    assert "f5, line 1" in text
    assert "f6, line 1" not in text
    assert "3 more" in text


def test_a_push_shows_the_exact_address_and_each_step_with_its_reach() -> None:
    seal, diff = windows.a_sync()
    text = said(page_of(a_question(seal, diff), "en"))
    assert "git@github.com:example/shop-api.git" in text
    for effect in ("read-only", "LOCAL WRITE", "REMOTE WRITE"):
        assert effect in text


def test_an_undo_names_the_task_whose_change_it_takes_back() -> None:
    seal, diff = windows.an_undo()
    assert "T-3H2W" in said(page_of(a_question(seal, diff), "en"))


def test_the_files_are_listed_with_our_own_counts() -> None:
    seal, diff = windows.a_change()
    page = page_of(a_question(seal, diff), "en")
    assert [(file.op, file.path, file.added, file.removed) for file in page.files] == [
        ("modify", "shop/auth/login.py", 8, 5),
        ("add", "shop/auth/retry.py", 8, 0),
        ("modify", "tests/test_login.py", 6, 1),
    ]


def test_who_asked_is_a_claim_unless_it_was_asked_here() -> None:
    seal, diff = windows.a_change()
    page = page_of(a_question(seal, diff), "en")
    assert page.afar
    assert "zhangwei" in page.asked_by
    assert "not verified" in page.source


@pytest.mark.requirement("R26")
def test_nothing_in_a_request_stays_hidden() -> None:
    seal, diff = windows.a_change()
    page = page_of(a_question(seal, diff, text="fix\u202e it\n\u200bnow\x1b[2J"), "en")
    assert page.request == "fix⟨U+202E⟩ it\n⟨U+200B⟩now⟨U+001B⟩[2J"


def test_what_old_releases_of_tk_end_on_is_marked_and_chinese_is_not() -> None:
    assert drawable("好 \U0001f600 \U00020000") == "好 ⟨U+1F600⟩ \U00020000"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_narrowed_change_says_what_was_left_out(lang: Lang) -> None:
    seal, diff = windows.a_change()
    question = a_question(seal, diff, left_out={"count": 1, "paths": ["a\u202eb.py"]})
    shown = said(page_of(question, lang))
    assert f"codexbridge retry {seal.short_id}" in shown
    assert "a⟨U+202E⟩b.py" in shown


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(("exit_code", "mark", "style"), [(0, "✓", "green"), (1, "✗", "red")])
def test_how_the_check_ended_is_said_at_the_top_and_once(
    exit_code: int, mark: str, style: str, lang: Lang
) -> None:
    state = "failed" if exit_code else "passed"
    check = {"task": "T-9999", "state": state, "exit_code": exit_code, "duration_ms": 1200}
    page = page_of(a_question(*windows.a_change(), check=check), lang)
    assert page.verdict is not None
    assert page.verdict[0] == style
    assert page.verdict[1].startswith(mark)
    assert said(page).count("T-9999") == 1
    assert page_of(a_question(*windows.a_change()), lang).verdict is None


@pytest.mark.requirement("P7")
def test_the_heading_of_a_later_version_names_it_and_what_it_began_with() -> None:
    told = {"version": 2, "task": "T-1111", "wish": "make it five", "first": "retry logins"}
    page = page_of(a_question(*windows.a_change(), revision=told), "en")
    assert page.place.startswith("T-7F3K  ·  version 2 of T-1111  ·  ")
    assert page.request == "T-1111, version 2: make it five\nFirst request: retry logins"
    unknown = page_of(a_question(*windows.a_change(), revision=told | {"wish": ""}), "en")
    assert unknown.request.startswith(windows.REQUEST)


@pytest.mark.requirement("R25")
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_gate_that_covers_nothing_says_so(lang: Lang) -> None:
    page = page_of(a_question(windows.a_gate(), None, run=windows.RUN | {"steps": []}), lang)
    assert "fix-login" in page.title
    assert "0" not in page.title
    side = said(replace(page, body=()))
    assert (CHANGES_NOTHING.zh if lang == "zh" else CHANGES_NOTHING.en) in side
    assert "确认后将检查格式并写入文件：⟨1⟩" in side


@pytest.mark.requirement("R25")
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_several_steps_stand_one_after_the_other_each_with_all_of_it(lang: Lang) -> None:
    seal, diff = windows.steps()
    page = page_of(a_question(seal, diff, run=windows.RUN), lang)
    kinds = [type(part) for part in page.body]
    assert (kinds.count(Diff), kinds.count(Lines)) == (2, 1)
    headings = [
        at
        for at, part in enumerate(page.body)
        if isinstance(part, Row) and part.values[0][0] == HEADING
    ]
    names = [page.body[at].values[0][1] for at in headings]  # type: ignore[union-attr]  # rows
    steps = windows.RUN["steps"]
    assert all(name.endswith(step["name"]) for name, step in zip(names, steps, strict=True))
    assert [file.path for file in page.files][-1] == "docs/登录.md"
    first, second, third = headings
    assert Diff not in kinds[first:second]
    assert kinds[second:third].count(Diff) == kinds[third:].count(Diff) == 1
    side = said(replace(page, body=()))
    assert "确认后将检查格式并写入文件：⟨1⟩" in side
    assert "fix-login" in page.title


@pytest.mark.requirement("R25")
def test_a_step_that_is_asked_about_alone_says_of_which_playbook_it_is() -> None:
    seal, diff = windows.a_change()
    run = windows.RUN | {"steps": windows.RUN["steps"][:1]}
    shown = said(page_of(a_question(seal, diff, run=run), "en"))
    for words_ in ("fix-login", "step 3 of 7; 2 come before, 4 after", "check the style"):
        assert words_ in shown
    assert "Its file lies in a workspace" in shown
    assert "Its file lies in" not in said(
        page_of(a_question(seal, diff, run=run | {"in_workspace": False}), "en")
    )
