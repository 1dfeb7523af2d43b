"""What an approver sees of an action, as values: no layout, and no language chosen.

Each action has its card, with the words that are its alone, in its own folder; the registry lists
it.  Here is what cards are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from common.seal import Undo
from common.sentences import LANGS, Lang, Sentence, say
from common.text import one_line
from local_agent.views.question import FactKind, Part, Question, Text, Tone, Value

CHANNELS: Final = {"wecom_app": Sentence(en="WeCom", zh="企业微信")}
SAID_BY: Final = Sentence(
    en="{model} in its own words: not checked, and no part of what you approve",
    zh="{model} 的原话：未经核实，不属于批准内容",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What an approver sees of an action.

    Attributes:
        title: Gives what is asked, in one line.
        parts: Gives what would be done, section by section.
        labels: Of the facts in them.
        undo: Whether and how it can be taken back, where it says that in words of its own.
        discloses: What goes to the chat, where it says that in words of its own.
    """

    title: Callable[[Question], Text]
    parts: Callable[[Question], Iterator[Sequence[Part]]]
    labels: Mapping[FactKind, Sentence]
    undo: Mapping[Undo, Sentence]
    discloses: Mapping[str, Sentence] = field(default_factory=dict)


def text(sentence: Sentence, /, **facts: object) -> Text:
    """Return a sentence with its facts, in both languages; so are facts that are a `Text`."""

    def said(lang: Lang) -> str:
        known = {name: f.to(lang) if isinstance(f, Text) else f for name, f in facts.items()}
        return say(sentence, lang, **known)

    return Text(*map(said, LANGS))


def plain(same: str) -> Text:
    """Return what is the same in every language."""
    return Text(same, same)


def value(of: Text | str, tone: Tone = "plain") -> Value:
    """Return one value of a fact."""
    return Value(of if isinstance(of, Text) else plain(of), tone)


def channel_name(channel: str) -> Text | str:
    """Return what people call a channel."""
    known = CHANNELS.get(channel)
    return Text(known.en, known.zh) if known else one_line(channel, 32)


def model_name(model: str) -> str:
    """Return what the person calls a model, on one line."""
    return one_line(model, 200)


def machine_name(question: Question) -> str:
    """Return the name of the machine on which it would be done, on one line."""
    return one_line(question.told.machine, 64)
