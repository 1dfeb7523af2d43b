"""What holds of redaction for any text: nothing of the set gets out, however it is cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from common.redact import RedactedStream, redact, redact_lines
from tests.secrets_set.halves import secrets
from tests.secrets_set.making import Case

FOUND = [case for case in secrets() if not case.survives_in(redact(case.text))]
CASES = st.sampled_from(FOUND)
# Whole lines: what stands on the same line may be what makes a secret of it, or a part of its name.
LINES = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\n\x1b"), max_size=60))


@given(LINES, CASES, LINES)
def test_a_secret_between_other_lines_never_survives(
    before: list[str], case: Case, after: list[str]
) -> None:
    text = "\n".join([*before, case.text, *after])
    elsewhere = "\n".join([*before, *after])
    if not case.survives_in(elsewhere):
        assert not case.survives_in(redact(text))
        assert not case.survives_in(redact_lines(text))


@given(LINES, CASES, LINES)
def test_every_line_keeps_its_number(before: list[str], case: Case, after: list[str]) -> None:
    text = "\n".join([*before, case.text, *after])
    assert redact_lines(text).count("\n") == text.count("\n")


@given(LINES, CASES, LINES)
def test_redacting_twice_changes_nothing_more(
    before: list[str], case: Case, after: list[str]
) -> None:
    once = redact("\n".join([*before, case.text, *after]))
    assert redact(once) == once


@given(LINES, st.lists(CASES, min_size=1, max_size=4), LINES, st.data())
def test_a_stream_gives_the_same_however_it_is_cut(
    before: list[str], chosen: list[Case], after: list[str], data: st.DataObject
) -> None:
    text = "\n".join([*before, *(case.text for case in chosen), *after])
    stream, shown, at = RedactedStream(), [], 0
    while at < len(text):
        size = data.draw(st.integers(1, 80))
        shown.append(stream.feed(text[at : at + size]))
        at += size
    assert "".join([*shown, stream.end()]) == redact_lines(text)
