"""The agent's sentences: both languages tell the same facts, amounts read as people say them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from common.model.state import Reason, TaskState
from common.redact import redact
from common.sentences import Lang, Sentence
from common.terminal import cells
from local_agent.actions import operation
from local_agent.actions.changes import ending as change_words
from local_agent.actions.disclose import action as disclose_words
from local_agent.actions.git_sync import action as sync_words
from local_agent.actions.run_command import words as command_words
from local_agent.error_texts import ERRORS
from local_agent.error_texts import sync as sync_errors
from local_agent.faces.window import alerts
from local_agent.flow import words as flow_words
from local_agent.propose import words as proposal_words
from local_agent.reports import words as report_words
from local_agent.safety import disclosure
from local_agent.store import inbox
from local_agent.words import REASONS, STATES, render_duration, render_size
from tests.each import each

# What the chat is told is made of these.
MODULES = (
    *(flow_words, proposal_words, operation, change_words, command_words, sync_words),
    *(disclose_words, disclosure, alerts, inbox, report_words, sync_errors),
)


def sentences() -> Iterator[tuple[str, Sentence]]:
    for module in MODULES:
        for name, value in vars(module).items():
            if isinstance(value, Sentence):
                yield f"{module.__name__}.{name}", value
            elif isinstance(value, Mapping) and not name.startswith("__"):
                for code, sentence in value.items():
                    if isinstance(sentence, Sentence):
                        yield f"{module.__name__}.{name}[{code}]", sentence


@each("named", list(sentences()))
def test_both_languages_tell_the_same_facts(named: tuple[str, Sentence]) -> None:
    _, sentence = named
    assert sentence.fields("en") == sentence.fields("zh")
    assert sentence.en
    assert sentence.zh


@each("named", list(sentences()))
def test_a_sentence_is_short_enough_for_a_phone(named: tuple[str, Sentence]) -> None:
    _, sentence = named
    assert max(cells(sentence.en), cells(sentence.zh)) <= 200, sentence


@pytest.mark.requirement("R54")
def test_no_sentence_of_ours_is_taken_for_a_secret_on_its_way_to_the_chat() -> None:
    spoken = [*(sentence for _, sentence in sentences()), *ERRORS.values()]
    texts = [text for sentence in spoken for text in (sentence.en, sentence.zh)]
    assert [text for text in texts if redact(text) != text] == []


def test_every_state_and_every_reason_has_its_words() -> None:
    assert set(STATES) == {state.value for state in TaskState}
    assert set(REASONS) == {reason.value for reason in Reason}


def test_no_sentence_for_the_chat_tells_where_something_lies() -> None:
    for sentence in flow_words.ENGINE_ERRORS.values():
        assert not sentence.fields("en") & {"place", "workspace_path", "home"}


@pytest.mark.parametrize(
    ("milliseconds", "lang", "said"),
    [
        (-5, "en", "under 0.1 s"),
        (40, "zh", "0.1 秒以内"),
        (100, "en", "0.1 s"),
        (1_540, "en", "1.5 s"),
        (9_999, "zh", "9.9 秒"),
        (42_000, "en", "42 s"),
        (185_000, "en", "3 min 5 s"),
        (86_399_000, "zh", "23 小时 59 分"),
    ],
)
def test_durations_read_as_people_say_them(milliseconds: int, lang: Lang, said: str) -> None:
    assert render_duration(milliseconds, lang) == said


@pytest.mark.parametrize(
    ("size", "said"), [(0, "0 B"), (999, "999 B"), (3_400, "3.4 kB"), (2_000_000, "2.0 MB")]
)
def test_sizes_read_as_people_say_them(size: int, said: str) -> None:
    assert render_size(size) == said
