"""A release on every face: the whole answer, to whom, based on what, and only as it is sealed."""

from __future__ import annotations

from typing import Any

import pytest

from common.clock import ManualClock
from common.errors import AuthError
from common.seal import ReadFile, digest
from common.sentences import LANGS, Lang, say
from common.terminal import Ink
from local_agent.actions.disclose import card as disclose
from local_agent.actions.disclose.payload import disclose_payload
from local_agent.actions.registry import seal_bytes
from local_agent.faces.terminal import page as terminal
from local_agent.faces.window.page import Page, Row, page_of
from local_agent.views.question import Lines, Question
from tests.asked import read_question
from tests.each import each
from tests.sealed import ZEROS, a_seal

ANSWER = "It adds up:\n    total = a + b\nand 登录 \u202e is hidden."
FILES = (ReadFile("src/cart.py", ZEROS), ReadFile("src/税.py"))


def told(answer: str = ANSWER, **changes: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {"more": 0, "channel": "wecom_app", "claimed_user": "li\u202e"}
    payload = disclose_payload(answer.encode(), changes.pop("files", FILES), **facts | changes)
    seal = a_seal(ManualClock(), action="disclose", payload=payload, base={}, discloses=("answer",))
    raw = seal_bytes(seal)
    return {
        "seal": raw.decode(),
        "digest": digest(raw),
        "state": "pending",
        "risk": "normal",
        "reasons": [],
        "text": "@dev explain the cart",
        "machine": "build-1",
        "workspace": "shop",
        "answer": answer,
    }


def page(question: Question, lang: Lang = "en", width: int = 100) -> str:
    now_ms = question.seal.created_at
    ink = Ink(on=False)
    return "\n".join(terminal.render(question, lang=lang, width=width, ink=ink, now_ms=now_ms))


def said(shown: Page) -> str:
    parts = [shown.title]
    for fact in (*shown.facts, *shown.body):
        if isinstance(fact, Row):
            parts += [value for _, value in fact.values]
        elif isinstance(fact, Lines):
            parts += fact.parts
    return "\n".join(parts)


@pytest.mark.requirement("R25")
@pytest.mark.parametrize("lang", LANGS)
def test_the_terminal_shows_all_of_it_and_what_surrounds_it(lang: Lang) -> None:
    shown = page(read_question(told(more=7)), lang)
    for expected in (
        "1 │ It adds up:",
        "2 │     total = a + b",
        "3 │ and 登录 ⟨U+202E⟩ is hidden.",
        "src/cart.py",
        say(disclose.BASED_ON_NAME, lang, path="src/税.py"),
        say(disclose.BASED_ON_MORE, lang, count=7),
        "li⟨U+202E⟩",
        say(disclose.TITLE, lang, machine="build-1"),
    ):
        assert expected in shown, expected


@pytest.mark.requirement("R26")
@pytest.mark.parametrize("lang", LANGS)
def test_the_window_shows_the_same_with_nothing_hidden(lang: Lang) -> None:
    shown = page_of(read_question(told()), lang)
    [lines] = [part for part in shown.body if isinstance(part, Lines)]
    assert lines.parts == ("It adds up:", "    total = a + b", "and 登录 ⟨U+202E⟩ is hidden.")
    assert "src/cart.py" in said(shown)
    assert "li⟨U+202E⟩" in said(shown)
    assert "\u202e" not in said(shown)
    assert shown.files == ()


@pytest.mark.requirement("P5")
@pytest.mark.parametrize("lang", LANGS)
def test_both_say_that_it_cannot_be_taken_back(lang: Lang) -> None:
    question = read_question(told())
    statement = say(disclose.CANNOT_BE_UNDONE, lang)
    assert statement in said(page_of(question, lang))
    assert statement.replace(" ", "")[:12] in page(question, lang).replace(" ", "")


def test_without_files_it_says_so() -> None:
    assert say(disclose.BASED_ON_NOTHING, "en") in page(read_question(told(files=())))


def test_an_unknown_channel_is_named_as_it_is() -> None:
    assert "carrier-pigeon" in page(read_question(told(channel="carrier-pigeon")))


@pytest.mark.requirement("P2")
@each("changes", [{"answer": "Something else."}, {"answer": None}, {"answer": ""}])
def test_an_answer_that_is_not_the_sealed_one_is_not_shown(changes: dict[str, Any]) -> None:
    with pytest.raises(AuthError) as caught:
        read_question(told() | changes)
    assert caught.value.code == "approval.digest-mismatch"


def test_an_answer_beside_another_kind_of_question_is_not_shown() -> None:
    raw = seal_bytes(a_seal(ManualClock()))
    with pytest.raises(AuthError) as caught:
        read_question(told() | {"seal": raw.decode(), "digest": digest(raw)})
    assert caught.value.code == "approval.digest-mismatch"


def test_an_empty_answer_is_shown_as_an_empty_line() -> None:
    assert read_question(told("")).answer == ""
