"""Whatever is quoted, and however it is dressed up: no long copy leaves with a summary."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from common.text import CHAT_BYTES
from local_agent.safety.disclosure import bounded, releasable
from local_agent.workspace.registry import DisclosureLevel

MOST = 20
WORDS = st.sampled_from(
    ["return", "value", "self", "price", "x", "None", "for", "item", "in", "total", "登录", "if"]
)
SIGNS = st.sampled_from([" ", " = ", "(", ") ", ", ", ".", ": ", " + "])
Dress = Callable[[list[str], str], list[str]]


@st.composite
def files(draw: st.DrawFn) -> list[str]:
    """Return the lines of a file; each has a name of its own, so that it can be found again."""
    count = draw(st.integers(22, 40))
    lines = []
    for number in range(count):
        pieces = draw(st.lists(st.tuples(WORDS, SIGNS), max_size=5))
        body = "".join(word + sign for word, sign in pieces)
        indent = " " * draw(st.integers(0, 8))
        lines.append(f"{indent}{body}mark{number}")
    return lines


def _every_other(lines: list[str], word: str) -> list[str]:
    return [f"{line} {word}" if no % 2 else line for no, line in enumerate(lines)]


def _between(lines: list[str], word: str) -> list[str]:
    return [part for no, line in enumerate(lines) for part in ((line, word) if no % 2 else (line,))]


DRESSES: dict[str, Dress] = {
    "as it is": lambda lines, _: lines,
    "indented anew": lambda lines, _: [f"\t {line.strip()}" for line in lines],
    "numbered": lambda lines, _: [f"{no:>4} | {line}" for no, line in enumerate(lines, 1)],
    "numbered with a colon": lambda lines, _: [f"{no}:{line}" for no, line in enumerate(lines, 1)],
    "quoted": lambda lines, _: [f"> {line}" for line in lines],
    "as a diff": lambda lines, _: [f"+{line}" for line in lines],
    "fenced": lambda lines, _: ["```", *lines, "```"],
    "double spaced": lambda lines, _: "\n\n".join(lines).split("\n"),
    "blanks within": lambda lines, _: [line.replace(" ", "   \t") for line in lines],
    "joined": lambda lines, _: [" ".join(line.strip() for line in lines)],
    "word between": _between,
    "word within": _every_other,
    "word between, quoted and numbered": lambda lines, word: [
        f"> {no}. {line}" for no, line in enumerate(_between(lines, word))
    ],
}


@st.composite
def answers(draw: st.DrawFn) -> tuple[list[str], str]:
    """Return a file, and an answer that quotes more of it than may be quoted."""
    file = draw(files())
    first = draw(st.integers(0, len(file) - MOST - 1))
    last = draw(st.integers(first + MOST + 1, len(file)))
    dress = DRESSES[draw(st.sampled_from(sorted(DRESSES)))]
    copied = dress(file[first:last], draw(WORDS | st.just("indeed")))
    before = draw(st.sampled_from(["", "This is how it is done:", "Here you are.\n\n"]))
    after = draw(st.sampled_from(["", "That is all there is.", "`done`"]))
    return file, "\n".join([before, *copied, after])


@pytest.mark.requirement("R53")
@given(answers())
def test_no_summary_holds_more_than_twenty_lines_of_a_file_in_a_row(
    drawn: tuple[list[str], str],
) -> None:
    file, answer = drawn
    found = bounded(answer, sources=["\n".join(file)], level="summary", lang="en", limit=100_000)
    numbers = [f"mark{number}" for number in range(len(file))]
    words = found.text.replace("\n", " ").split()
    told = [number for number in numbers if any(word.endswith(number) for word in words)]
    assert len(told) <= MOST
    assert found.withheld_lines > MOST


@given(
    st.lists(st.sampled_from(["return", "x = 1", "}", "", "else:", "pass"]), max_size=80),
    st.lists(st.sampled_from(["return", "x = 1", "}", "", "else:", "pass"]), max_size=80),
)
def test_files_of_few_different_lines_are_told_in_short_quotations_alone(
    file: list[str], answer: list[str]
) -> None:
    found = bounded(
        "\n".join(answer), sources=["\n".join(file)], level="summary", lang="en", limit=100_000
    )
    if found.withheld_lines == 0 and found.text:
        long_copy = "\n".join(answer).strip()
        assert len(long_copy.split("\n")) <= MOST or long_copy not in "\n".join(file)


@given(
    st.text(max_size=300) | st.text(alphabet="=:key password sk-1aA[redacted]\"'\n", max_size=200),
    st.sampled_from(["summary", "full"]),
    st.integers(120, CHAT_BYTES),
)
@example("password: 'x'", "summary", 120)
def test_what_leaves_is_in_bounds_and_leaves_once_more_as_it_is(
    answer: str, level: DisclosureLevel, limit: int
) -> None:
    found = bounded(answer, sources=[], level=level, lang="zh", limit=limit)
    assert len(found.text.encode()) <= limit
    assert releasable(found.text, lang="zh", limit=limit).text == found.text
