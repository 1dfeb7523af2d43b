"""What of a growing answer is shown, wherever it is cut."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_agent.models.http.shown import GrowingWords, Spoken
from tests.each import each

WORDS = st.text(alphabet=st.characters(blacklist_categories=["Cs"]), max_size=60)


def spoken(*pieces: str) -> str:
    thoughts = Spoken()
    return "".join([thoughts.feed(piece) for piece in pieces] + [thoughts.end()])


def grown(*pieces: str) -> str:
    growing = GrowingWords()
    return "".join(growing.feed(piece) for piece in pieces)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("an answer", "an answer"),
        ("<think>hm</think>an answer", "an answer"),
        ("\n<think>\nhm <b>\n</think>\n\nan answer", "an answer"),
        ("<think>for ever", ""),
        ("<think></think>", ""),
        ("<thinner>", "<thinner>"),
        ("<thi", "<thi"),
        ("an answer <think>of mine</think>", "an answer <think>of mine</think>"),
        ("", ""),
    ],
)
def test_thoughts_before_an_answer_are_left_out(text: str, answer: str) -> None:
    assert spoken(text) == answer
    assert spoken(*text) == answer


def test_thoughts_without_end_are_not_held() -> None:
    thoughts = Spoken()
    assert {thoughts.feed(piece) for piece in ("<think>", *["x" * 1000] * 1000)} == {""}
    assert len(thoughts._held) < 100


def test_blanks_after_thoughts_are_not_held() -> None:
    thoughts = Spoken()
    assert {thoughts.feed(piece) for piece in ("<think></think>", *["  \n" * 100] * 100)} == {""}
    assert thoughts._held == ""
    assert thoughts.feed("an answer") == "an answer"


@given(WORDS, WORDS, st.booleans(), st.integers(1, 7))
def test_summary_and_plan_grow_as_they_were_written(
    summary: str, plan: str, ascii_only: bool, size: int
) -> None:
    edits = [{"path": "a", "search": 'the "summary": "of a file'}]
    text = json.dumps({"summary": summary, "plan": plan, "edits": edits}, ensure_ascii=ascii_only)
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    both = "\n\n".join(part for part in (summary, plan) if part)
    assert grown(*pieces) == grown(text) == both


def test_every_piece_is_shown_when_it_comes() -> None:
    growing = GrowingWords()
    assert growing.feed('{"summary": "Fix') == "Fix"
    assert growing.feed("es the \\") == "es the "
    assert growing.feed('n thing", "plan": "') == "\n thing"
    assert growing.feed('then", "edits": [{"path": "a"') == "\n\nthen"
    assert growing.feed('}], "plan": "more"}') == ""


@each(
    "text",
    [
        '{"edits": [], "summary": "late"}',
        '["summary"]',
        "The summary is: no JSON",
        '{"summary": 7, "plan": "x"}',
    ],
)
def test_of_another_form_nothing_is_shown(text: str) -> None:
    assert grown(text) == ""
    growing = GrowingWords()
    assert "".join(growing.feed(char) for char in text * 20) == ""
    assert len(growing._held) <= 400


def test_a_beginning_without_end_is_not_held() -> None:
    growing = GrowingWords()
    assert "".join(growing.feed(" ") for _ in range(300)) == ""
    assert growing.feed('{"summary": "x"}') == ""


def test_a_code_fence_is_no_other_form() -> None:
    assert grown('```json\n{"summary": "x", "plan": ""}\n```') == "x"


@each("broken", ["\\x", "\\ud83d rest of it all", "\\u12"])
def test_a_broken_escape_ends_what_is_shown(broken: str) -> None:
    assert grown('{"summary": "good ', broken, '", "plan": "x"' + " " * 300).startswith("good ")


def test_half_a_character_is_replaced() -> None:
    assert grown('{"summary": "a\\udc00b", "plan": ""}') == "a?b"
