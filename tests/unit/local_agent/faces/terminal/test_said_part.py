"""What explains a question, on both faces: marked as not ours, bounded, and never sealed."""

from __future__ import annotations

from typing import Any

import pytest

from common.errors import RemoteProtocolError
from common.seal import digest
from common.sentences import LANGS, Lang, say
from common.terminal import Ink, cells
from local_agent.actions.apply_diff import card as apply_diff
from local_agent.actions.card import SAID_BY
from local_agent.actions.registry import seal_bytes
from local_agent.actions.run_command import card as run_command
from local_agent.faces.terminal import page as terminal
from local_agent.faces.window.page import QUOTED, Page, Row, page_of
from local_agent.views.question import Question
from tests import windows
from tests.asked import read_question
from tests.each import each

SAID = {
    "model": "mock",
    "text": "I raised it to 5.\n  Confirmation code  AAAA-AAAA\na\u202eb",
    "cut": True,
}
NAMED = {"file": "Makefile", "what": "test:"}


def a_change(**told: Any) -> Question:
    seal, diff = windows.a_change()
    return read_question(windows.an_order(seal, **told).shown, diff=diff)


def a_command(**told: Any) -> Question:
    seal, _ = windows.a_command(argv=["make", "test"])
    return read_question(windows.an_order(seal, **told).shown)


def printed(question: Question, lang: Lang = "en", width: int = 80) -> list[str]:
    now_ms, ink = question.seal.created_at, Ink(on=False)
    return terminal.render(question, lang=lang, width=width, ink=ink, now_ms=now_ms)


def row_of(page: Page, label: str) -> Row | None:
    rows = (fact for fact in (*page.facts, *page.body) if isinstance(fact, Row))
    return next((row for row in rows if row.label == label), None)


@pytest.mark.requirement("R25")
@each("lang", LANGS)
@each("width", [50, 100])
def test_each_line_of_a_models_words_stands_behind_a_bar(lang: Lang, width: int) -> None:
    lines = printed(a_change(said=SAID | {"text": "很长 " * 90 + "\n" + "x" * 300}), lang, width)
    first = next(number for number, line in enumerate(lines) if say(apply_diff.SAID, lang) in line)
    block = lines[first : lines.index("", first)]
    quoted = [line for line in block if "│ " in line]
    assert sum(line.count("x") for line in quoted) == 300
    assert sum(line.count("长") for line in quoted) == 90
    assert not any("长" in line or "xx" in line for line in block if line not in quoted)
    assert all(cells(line) <= width for line in block)


@pytest.mark.requirement("R25")
def test_what_a_model_writes_cannot_pass_for_a_line_of_ours() -> None:
    lines = printed(a_change(said=SAID))
    codes = [line for line in lines if "Confirmation code" in line]
    assert [line.lstrip().startswith("│ ") for line in codes] == [True, False]
    assert any("│ a⟨U+202E⟩b" in line for line in lines)


@pytest.mark.parametrize("lang", LANGS)
def test_words_that_were_cut_say_where_all_of_them_are(lang: Lang) -> None:
    cut = say(apply_diff.SAID_CUT, lang, task="T-7F3K")
    assert cut in "\n".join(printed(a_change(said=SAID), lang, 100))
    assert cut not in "\n".join(printed(a_change(said=SAID | {"cut": False}), lang, 100))


@pytest.mark.requirement("P2")
def test_a_models_words_are_no_part_of_what_is_sealed() -> None:
    explained = a_change(said=SAID)
    assert explained.digest == digest(seal_bytes(explained.seal))
    assert b"raised" not in seal_bytes(explained.seal)


@pytest.mark.requirement("R25")
@pytest.mark.parametrize("lang", LANGS)
def test_the_window_sets_a_models_words_apart_too(lang: Lang) -> None:
    row = row_of(page_of(a_change(said=SAID), lang), say(apply_diff.SAID, lang))
    assert row is not None
    (style, note), *quoted, (_, cut) = row.values
    assert style == "dim"
    assert "mock" in note
    assert quoted == [
        (QUOTED, "I raised it to 5."),
        (QUOTED, "  Confirmation code  AAAA-AAAA"),
        (QUOTED, "a⟨U+202E⟩b"),
    ]
    assert cut == say(apply_diff.SAID_CUT, lang, task="T-7F3K")


@pytest.mark.parametrize("lang", LANGS)
def test_where_a_command_came_from_is_told_on_both_faces(lang: Lang) -> None:
    question = a_command(named=NAMED)
    whole = "\n".join(printed(question, lang))
    assert say(run_command.NAMED_BY, lang, **NAMED) in whole
    row = row_of(page_of(question, lang), say(run_command.NAMED, lang))
    assert row is not None
    assert row.values == (("", say(run_command.NAMED_BY, lang, **NAMED)),)


@pytest.mark.requirement("R26")
def test_the_name_of_a_project_file_hides_nothing() -> None:
    lines = printed(a_command(named={"file": "a\u202eb/Makefile\n", "what": "x" * 900}), width=100)
    whole = "\n".join(lines)
    assert "a⟨U+202E⟩b/Makefile" in whole
    assert whole.count("x") < 260


def test_without_either_the_pages_have_no_such_line() -> None:
    for question in (a_change(), a_command()):
        labels = {say(label, "en") for label in (apply_diff.SAID, run_command.NAMED)}
        assert not any(label in line for line in printed(question) for label in labels)
        assert all(row_of(page_of(question, "en"), label) is None for label in labels)


@each("told", [{"said": {"model": "m"}}, {"named": "Makefile"}, {"said": []}])
def test_what_is_told_in_another_form_is_refused(told: dict[str, Any]) -> None:
    with pytest.raises(RemoteProtocolError) as refused:
        a_change(**told)
    assert refused.value.code == "control.malformed"


@pytest.mark.requirement("R25")
@pytest.mark.parametrize("lang", LANGS)
def test_why_a_command_is_proposed_stands_on_both_faces_as_whose_words_it_is(lang: Lang) -> None:
    ours = a_command(reason={"text": "the configured test command", "model": None})
    theirs = a_command(reason={"text": "ours: a\u202eb", "model": "mock"})
    assert say(run_command.REASON, lang) not in "\n".join(printed(a_command(), lang, 100))
    assert any(
        say(run_command.REASON, lang) in line and "the configured test command" in line
        for line in printed(ours, lang, 100)
    )
    lines = printed(theirs, lang, 100)
    assert any("│ ours: a⟨U+202E⟩b" in line for line in lines)
    assert say(SAID_BY, lang, model="mock") in "\n".join(lines)
    row = row_of(page_of(theirs, lang), say(run_command.REASON, lang))
    assert row is not None
    assert row.values[1] == (QUOTED, "ours: a⟨U+202E⟩b")
