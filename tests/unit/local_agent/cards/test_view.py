"""`cards.view`: what stands beside the card of any action."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from common.clock import ManualClock
from common.seal import Seal
from common.sentences import LANGS, Lang, say
from local_agent.actions.steps.payload import steps_payload
from local_agent.cards import words
from local_agent.cards.view import view_of
from local_agent.propose.words import REASON_ASKED, REASON_INFERRED, REASON_TEST_COMMAND
from local_agent.views.question import Fact, QuestionView, Text
from tests.asked import PATCH, a_change, a_sync, read_question, told
from tests.each import each
from tests.sealed import ZEROS, a_payload, a_seal

COPY = "shop (dry run)"


def viewed(seal: Seal, diff: bytes | None = None, **changes: Any) -> QuestionView:
    return view_of(read_question(told(seal, **changes), diff=diff))


def a_command(**changes: Any) -> Seal:
    return a_seal(ManualClock(), payload=a_payload(**changes))


def of_dry_run(view: QuestionView) -> list[Text]:
    parts = [part for section in view.parts for part in section]
    facts = [part for part in parts if isinstance(part, Fact) and part.kind == "dry-run"]
    return [value.text for fact in facts for value in fact.values]


def said(sentence: Any) -> list[Text]:
    return [Text(sentence.en, sentence.zh)]


def a_gate() -> Seal:
    payload = steps_payload(run="run-1", definition_sha256=ZEROS, indexes=(), parts=())
    return replace(a_command(), action="steps", payload=payload)


@pytest.mark.requirement("P5")
def test_a_dry_run_says_that_only_a_copy_is_touched() -> None:
    for seal, diff in ((a_change(), PATCH), (a_command(), None), (a_gate(), None)):
        assert of_dry_run(viewed(seal, diff)) == []
        view = viewed(seal, diff, workspace=COPY)
        assert of_dry_run(view) == said(words.ONLY_COPY)
        assert ([view.undo], view.lasts) == (said(words.UNDO_COPY), False)


@pytest.mark.requirement("P5")
@each("seal", [a_sync(), a_command(sandbox_level="none"), a_command(network=True)])
def test_a_dry_run_says_where_it_can_reach_beyond_its_copy(seal: Seal) -> None:
    view = viewed(seal, PATCH if seal.action == "git_sync" else None, workspace=COPY)
    assert of_dry_run(view) == said(words.BEYOND_COPY)
    assert ([view.undo], view.lasts) == (said(words.UNDO_NO), True)


def reason_of(view: QuestionView) -> list[Text]:
    parts = [part for section in view.parts for part in section]
    facts = [part for part in parts if isinstance(part, Fact) and part.kind == "reason"]
    return [value.text for fact in facts for value in fact.values]


@each("lang", LANGS)
def test_a_reason_of_our_own_is_said_in_the_language_of_whoever_reads_it(lang: Lang) -> None:
    facts = {"file": "package.json", "what": "scripts.test"}
    for sentence in (REASON_TEST_COMMAND, REASON_ASKED, REASON_INFERRED):
        reason = {"text": say(sentence, lang, **facts), "model": None}
        view = viewed(a_command(), named=facts, reason=reason)
        assert reason_of(view) == [Text(*(say(sentence, one, **facts) for one in LANGS))]


def test_what_a_model_gives_as_a_reason_stays_its_words() -> None:
    reason = {"text": REASON_TEST_COMMAND.zh, "model": "mock"}
    assert reason_of(viewed(a_command(), reason=reason))[1] == Text(*[REASON_TEST_COMMAND.zh] * 2)
