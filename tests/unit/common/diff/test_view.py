"""Nothing in a row is hidden, and what deserves a second look is marked."""

from __future__ import annotations

import pytest

from common.diff.parse import parse_diff
from common.diff.view import Counts, Row, counts, marks, rows, shown
from tests.each import each

OPEN = "\\ No newline at end of file\n"


def _added(*lines: str | bytes) -> bytes:
    body = b"".join(b"+" + (n if isinstance(n, bytes) else n.encode()) + b"\n" for n in lines)
    return b"--- /dev/null\n+++ b/x\n@@ -0,0 +1,%d @@\n" % len(lines) + body


def _marks(*lines: str | bytes) -> list[tuple[str, int]]:
    return [(mark.code, mark.line) for mark in marks(parse_diff(_added(*lines)))]


def test_rows_tell_the_numbers_of_both_sides() -> None:
    text = b"--- a/x\n+++ b/x\n@@ -3,3 +3,4 @@ def f():\n a\n-b\n+B\n+C\n c\n"
    (file,) = parse_diff(text).files
    assert list(rows(file)) == [
        Row("hunk", 3, 3, "def f():"),
        Row("context", 3, 3, "a"),
        Row("removed", 4, None, "b"),
        Row("added", None, 4, "B"),
        Row("added", None, 5, "C"),
        Row("context", 5, 6, "c"),
    ]


@pytest.mark.parametrize(
    ("hunk", "kinds"),
    [
        (f"@@ -1 +1 @@\n-a\n{OPEN}+b\n{OPEN}", ["removed", "open", "added", "open"]),
        (f"@@ -1,2 +1 @@\n-b\n a\n{OPEN}", ["removed", "context", "open"]),
        (f"@@ -1,2 +1,2 @@\n-a\n-b\n{OPEN}+a\n+b\n", ["removed"] * 2 + ["open"] + ["added"] * 2),
        (f"@@ -1 +1 @@\n-a\n+b\n{OPEN}", ["removed", "added", "open"]),
    ],
)
def test_a_missing_final_line_feed_is_a_row_of_its_own(hunk: str, kinds: list[str]) -> None:
    (file,) = parse_diff(f"--- a/x\n+++ b/x\n{hunk}".encode()).files
    assert [row.kind for row in rows(file)][1:] == kinds


@pytest.mark.requirement("R26")
@each(
    "line, text",
    [
        (b"plain\ttext", "plain\ttext"),
        ("中文，“引号”".encode(), "中文，“引号”"),
        (b"a\r", "a⟨U+000D⟩"),
        (b"a\x1b[2Jb", "a⟨U+001B⟩[2Jb"),
        ("a\u202eb\u200b".encode(), "a⟨U+202E⟩b⟨U+200B⟩"),
        ("a\u3000b\u00a0".encode(), "a⟨U+3000⟩b⟨U+00A0⟩"),
        (b"caf\xe9\t!", "caf⟨0xE9⟩\t!"),
        (b"\xed\xa0\x80", "⟨0xED⟩⟨0xA0⟩⟨0x80⟩"),
        (b" " * 80 + b"x", " " * 80 + "x"),
        (b" " * 81 + b"x", "⟨81 × U+0020⟩x"),
        (b"x" + b" " * 20 + b"y", "x" + " " * 20 + "y"),
        (b"x" + b" " * 21 + b"y", "x⟨21 × U+0020⟩y"),
        (b"x" + b" \t" * 11 + b"y", "x⟨22 × U+0009, U+0020⟩y"),
        (b"x" + b" " * 500, "x⟨500 × U+0020⟩"),
        (b"\t" * 10 + b"x", "\t" * 10 + "x"),
        (b"\t" * 80 + b"x", "⟨80 × U+0009⟩x"),
        (b" \t" * 11 + b" x", "⟨23 × U+0009, U+0020⟩x"),
        (b"x" + b"\t" * 6 + b"y", "x" + "\t" * 6 + "y"),
        (b"x" + b"\t" * 7 + b"y", "x⟨7 × U+0009⟩y"),
    ],
)
def test_a_row_hides_nothing_and_pushes_nothing_out_of_sight(line: bytes, text: str) -> None:
    assert shown(line) == text
    (file,) = parse_diff(_added(line)).files
    assert [row.text for row in rows(file)] == ["", text]


@pytest.mark.requirement("R26")
def test_the_section_of_a_hunk_hides_nothing_either() -> None:
    (file,) = parse_diff("--- a/x\n+++ b/x\n@@ -1 +1 @@ \u202e\n-a\n+b\n".encode()).files
    assert next(rows(file)).text == "⟨U+202E⟩"


@pytest.mark.cpu(5)
def test_twenty_thousand_lines_are_rows_at_once() -> None:
    (file,) = parse_diff(_added(*["    value = compute(1)"] * 20_000)).files
    assert sum(1 for _ in rows(file)) == 20_001


def test_a_diff_is_counted() -> None:
    model = parse_diff(_added("a", "b") + b"--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n")
    assert counts(model) == Counts(files=2, added=3, removed=1)


# --- marks ---


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("if user:\u202e# admin", "hidden-characters"),
        ("a\u200bb", "hidden-characters"),
        ("a\x1b[31m", "hidden-characters"),
        ("a\rb", "hidden-characters"),
        ("\ufeffa", "hidden-characters"),
        ("аdmin = 1", "confusable"),
        (b"caf\xe9", "encoding"),
        ("x" * 401, "long-line"),
        ("中" * 401, "long-line"),
        ("AKIA" + "ABCDEFGH12345678", "secret-looking"),
        ("password = 'correct horse'", "secret-looking"),
    ],
)
def test_an_added_line_that_deserves_a_second_look_is_marked(line: str | bytes, code: str) -> None:
    assert _marks("plain", line, line) == [(code, 2)]


@each(
    "line",
    ["", "plain\ttext", "x" * 400, "中" * 400, "crlf\r", "中文，“引号”", "🚀 ❤️ 👨‍👩‍👧",
     "naïve café",
     "# Русский комментарий", "f = λ(x) + Δt"],
)  # fmt: skip
def test_an_ordinary_line_is_not_marked(line: str) -> None:
    assert _marks(line) == []


def test_only_added_lines_are_marked() -> None:
    hidden = "a\u202e" + "x" * 500
    text = f"--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n {hidden}\n-{hidden}\n+b\n"
    assert marks(parse_diff(text.encode())) == ()


def test_each_code_is_told_once_in_each_file_by_its_first_line() -> None:
    line = b"a\xe2\x80\x8b" + b"x" * 401
    second = b"--- a/y\n+++ b/y\n@@ -7 +7,2 @@\n-a\n+b\n+" + line + b"\n"
    found = marks(parse_diff(_added("a", line, line) + second))
    assert [(mark.code, mark.path, mark.line) for mark in found] == [
        ("hidden-characters", "x", 2),
        ("long-line", "x", 2),
        ("hidden-characters", "y", 8),
        ("long-line", "y", 8),
    ]


def test_a_key_that_spans_lines_is_found() -> None:
    begin, end = "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"
    assert _marks("a", begin, "MIIEvQIBADANBgkq", end) == [("secret-looking", 2)]
