"""The page of a change and of an undo: every file, every line, and what deserves a second look."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.seal import Seal, Undo
from common.sentences import Lang
from common.terminal import Ink, cells
from local_agent.faces.terminal.page import MAX_WIDTH, render
from tests.asked import PATCH, a_change, an_undo, read_question, told


def page(
    seal: Seal, diff: bytes = PATCH, *, lang: Lang = "en", width: int = 90, **changes: Any
) -> str:
    question = read_question(told(seal, **changes), diff=diff)
    lines = render(question, lang=lang, width=width, ink=Ink(on=False), now_ms=seal.created_at)
    return "\n".join(lines)


def added(text: str, path: str = "a.py") -> bytes:
    lines = text.encode().split(b"\n")
    body = b"".join(b"+" + line + b"\n" for line in lines)
    return (
        f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
        f"@@ -0,0 +1,{len(lines)} @@\n"
    ).encode() + body


@pytest.mark.requirement("R25")
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_file_and_every_line_of_a_change_is_on_the_page(lang: Lang) -> None:
    shown = page(a_change(), lang=lang)
    for expected in (
        "+3 −3",
        "+2 −1  login.py",
        "+1 −0  notes/新.md",
        "+0 −2  gone.txt",
        "tools/new.sh",
        "old.sh",
        "1 1 │ def login():",
        "2   │−    retry = 3",
        "  2 │+    retry = 5",
        "  3 │+    wait = 1",
        "3 4 │     return retry",
        "  1 │+hello",
        "1   │−one",
        "2   │−two",
    ):
        assert expected in shown, expected


def test_what_no_line_shows_is_said_in_words() -> None:
    shown = page(a_change())
    assert "may be executed afterwards" in shown
    assert "no line feed at the end of the file" in shown
    assert "from old.sh" in shown
    back = PATCH.replace(b"old mode 100644\nnew mode 100755", b"old mode 100755\nnew mode 100644")
    assert "may no longer be executed" in page(a_change(back), back)


@pytest.mark.requirement("P5")
@pytest.mark.parametrize(("lang", "days"), [("en", "for 90 days"), ("zh", "90 天")])
def test_the_page_of_a_change_says_how_it_is_undone(lang: Lang, days: str) -> None:
    shown = page(a_change(), lang=lang)
    assert days in shown
    assert "codexbridge undo" in shown


@pytest.mark.requirement("P5")
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_of_an_undo_names_the_task_and_shows_the_reverse_change(lang: Lang) -> None:
    shown = page(an_undo(), lang=lang)
    assert shown.count("T-0AB1") >= 2, "in the title and where it says what is taken back"
    assert "2   │−    retry = 3" in shown


@pytest.mark.requirement("R26")
@pytest.mark.requirement("R38")
def test_hidden_characters_are_shown_and_marked() -> None:
    diff = added("safe = 1\nadmin = 'x\u202e\u2066'  # \u200bend\ncaf\u0435 = 1\n" + "x" * 500)
    shown = page(a_change(diff), diff)
    assert "admin = 'x⟨U+202E⟩⟨U+2066⟩'  # ⟨U+200B⟩end" in shown
    assert "! line 2: characters that draw nothing" in shown
    assert "! line 3: letters of other scripts" in shown
    assert "! line 4: a very long line" in shown
    assert not any(char in shown for char in "\u202e\u2066\u200b")


def test_a_tab_is_an_arrow_to_the_next_stop() -> None:
    diff = added("\tone\nab\ttwo\n" + "中\tthree")
    shown = page(a_change(diff), diff)
    for expected in ("1 │+⇥   one", "2 │+ab⇥ two", "3 │+中⇥ three"):
        assert expected in shown


def test_a_long_line_goes_on_under_itself_to_its_last_character() -> None:
    text = "".join(f"{number:04}" for number in range(300))
    diff = added(text)
    shown = page(a_change(diff), diff, width=80)
    pieces = [line.partition("+")[2] for line in shown.split("\n") if "│+" in line or "┆+" in line]
    assert "".join(pieces) == text


@pytest.mark.requirement("R26")
@given(st.lists(st.text(max_size=80), min_size=1, max_size=6), st.integers(20, 160))
@settings(max_examples=60, deadline=None)
def test_no_line_of_a_diff_breaks_the_page(texts: list[str], width: int) -> None:
    clean = "\n".join(text.replace("\n", "").replace("\0", "") for text in texts)
    try:
        diff = added(clean)
    except UnicodeEncodeError:
        return
    shown = page(a_change(diff), diff, width=width)
    for line in shown.split("\n"):
        assert line.isprintable()
        assert cells(line) <= max(min(width, MAX_WIDTH), 50) + 1


def test_the_largest_diff_is_shown_whole() -> None:
    diff = added("\n".join(f"line {number}" for number in range(20_000)))
    shown = page(a_change(diff), diff)
    assert "20000 │+line 19999" in shown
    assert shown.count("│+") == 20_000


@pytest.mark.parametrize(
    ("undo", "said"), [("partly", "undone in part"), ("no", "CANNOT BE UNDONE")]
)
def test_what_cannot_be_undone_whole_is_said(undo: Undo, said: str) -> None:
    assert said in page(a_change(undo=undo))


def test_a_file_that_ends_up_empty_is_said() -> None:
    seal = a_change()
    changes = [{**change, "size": 0} for change in seal.payload["changes"]]
    shown = page(replace(seal, payload={**seal.payload, "changes": changes}))
    assert shown.count("(empty)") == 3, "a deleted file is not called empty"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_narrowed_change_says_what_was_left_out_and_how_to_get_it_back(lang: Lang) -> None:
    seal = a_change()
    left = {"count": 3, "paths": ["a.py", "b.py"]}
    shown = " ".join(page(seal, lang=lang, left_out=left).split())
    assert "a.py, b.py, …" in shown
    assert str(len(seal.payload["changes"]) + 3) in shown
    assert f"codexbridge retry {seal.short_id}" in shown
    assert "codexbridge retry" not in page(seal, lang=lang)


@pytest.mark.parametrize(
    ("left", "said"),
    [
        ({"count": 0, "paths": [], "partly": 1}, "a part of what was proposed, in 1 file."),
        ({"count": 1, "paths": ["a.py"], "partly": 2}, "of 2 of them only a part"),
    ],
)
def test_a_change_of_which_hunks_were_left_out_says_so(left: dict[str, Any], said: str) -> None:
    seal = a_change()
    shown = " ".join(page(seal, left_out=left).split())
    assert said in shown
    assert f"codexbridge retry {seal.short_id}" in shown
