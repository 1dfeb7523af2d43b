"""The floors: how much of the set of secrets is taken out, and that no look-alike changes."""

from __future__ import annotations

import pytest

from common.redact import redact, redact_lines
from tests.secrets_set.halves import secrets
from tests.secrets_set.look_alikes import look_alikes

pytestmark = pytest.mark.heavy

RECALL = 0.99


@pytest.mark.requirement("R54")
@pytest.mark.parametrize("held", [False, True])
def test_at_least_99_of_100_secrets_are_taken_out(held: bool) -> None:
    every = secrets(held=held)
    missed = [case for case in every if case.survives_in(redact(case.text))]
    assert len(missed) <= (1 - RECALL) * len(every), missed[:20]


@pytest.mark.requirement("R54")
@pytest.mark.parametrize("held", [False, True])
def test_no_look_alike_changes(held: bool) -> None:
    changed = [text for text in look_alikes(held_back=held) if redact(text) != text]
    assert changed == []


def test_the_set_is_as_large_as_it_claims() -> None:
    every = [*secrets(), *secrets(held=True)]
    assert len({case.secret for case in every}) >= 350
    assert len({case.format for case in every}) >= 120
    assert len({case.setting for case in every}) >= 100
    assert len({*look_alikes(), *look_alikes(held_back=True)}) >= 400
    assert all(case.survives_in(case.text) for case in every), "each is there to be found"


@pytest.mark.parametrize("held", [False, True])
def test_redacting_what_was_redacted_changes_nothing_more(held: bool) -> None:
    for case in secrets(held=held):
        once = redact(case.text)
        assert redact(once) == once


@pytest.mark.parametrize("held", [False, True])
def test_every_line_keeps_its_number(held: bool) -> None:
    for case in secrets(held=held):
        lines = redact_lines(case.text)
        assert lines.count("\n") == case.text.count("\n")
        assert case.survives_in(lines) == case.survives_in(redact(case.text))
