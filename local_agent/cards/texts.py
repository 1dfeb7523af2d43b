"""How cards say something: in both languages at once, so that a view holds no language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from common.sentences import LANGS, Lang, Sentence, say
from common.text import one_line
from local_agent.cards import words
from local_agent.views.question import FactKind, Text, Tone, Value

LABELS: Final[Mapping[FactKind, Sentence]] = {
    "said": words.SAID,
    "named": words.NAMED,
    "reason": words.REASON,
    "recipient": words.RECIPIENT,
    "based-on": words.BASED_ON,
    "answer": words.ANSWER,
    "command": words.COMMAND,
    "copy": words.COPY,
    "program": words.PROGRAM,
    "folder": words.FOLDER,
    "environment": words.ENVIRONMENT,
    "sandbox": words.SANDBOX,
    "network": words.NETWORK,
    "limits": words.LIMITS,
    "takes-back": words.TAKES_BACK,
    "branch": words.BRANCH,
    "remote": words.REMOTE,
    "standing": words.STANDING,
    "commit": words.COMMIT,
    "git": words.GIT,
}


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
    known = words.CHANNELS.get(channel)
    return Text(known.en, known.zh) if known else one_line(channel, 32)


def model_name(model: str) -> str:
    """Return what the person calls a model, on one line."""
    return one_line(model, 200)
