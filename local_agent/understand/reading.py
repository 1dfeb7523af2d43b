"""What reading a request gives, and how it is kept with its task.  How it is read is in `reader`.

It is read once: a later step, or one after a restart with other weights, goes on with what was
understood and shown first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import Enum
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from common.model.intent import TaskIntent, TaskKind
from common.verbs import BY_NAME, Topic

THRESHOLD: Final = 0.55  # seed 002 §13


class Kind(Enum):
    """What a message may ask for, as the lists are labelled."""

    HELP = "help"
    STATUS = "status"
    EXPLAIN = "explain"
    CHANGE = "change"
    RUN = "run"
    DIAGNOSE = "diagnose"
    SEARCH = "search"
    REVIEW = "review"
    GIT_SYNC = "git_sync"
    CANCEL = "cancel"
    UNDO = "undo"
    APPROVE = "approve"
    CHATTER = "chatter"
    OUTPUT = "output"
    UNSUPPORTED = "unsupported"


# Kinds that neither a command nor the seed has a word for, and what is answered besides.
_OTHERWISE: Final = {
    Kind.APPROVE: (TaskKind.HELP, Topic.APPROVE),
    Kind.CHATTER: (TaskKind.HELP, Topic.CHATTER),
    Kind.OUTPUT: (TaskKind.DIAGNOSE, Topic.PLAIN),
    Kind.UNSUPPORTED: (TaskKind.HELP, Topic.UNSUPPORTED),
}


def _meant(kind: Kind) -> tuple[TaskKind, Topic]:
    if command := BY_NAME.get(kind.value):
        return command.kind, command.topic
    return _OTHERWISE.get(kind) or (TaskKind(kind.value), Topic.PLAIN)


# What each kind is to the seed: what the command of that name is, else the word itself.
MEANS: Final[Mapping[Kind, tuple[TaskKind, Topic]]] = {kind: _meant(kind) for kind in Kind}
DEEDS: Final = frozenset({Kind.CHANGE, Kind.RUN, Kind.GIT_SYNC, Kind.CANCEL, Kind.UNDO})
# What asks that something be done, whether or not there is a way to do it.
ACTS: Final = DEEDS | {Kind.UNSUPPORTED}


@dataclass(frozen=True, slots=True)
class Reading:
    """How a request was read.

    Attributes:
        intent: The classification, as it is stored and shown.
        topic: See `common.verbs.Topic`.
        unsure: The likelihood was under the threshold; nothing but a plan or an answer may follow.
        subject: The text without prefix and command word.
        task_id: The short ID that was named, in its stored form.
        taken: The part of the text that is taken up, where it is not all of it.
        left: The other part: a further wish, which is not done.
        acts: It seems to ask that something be done, and only an answer may follow.
        beyond: What a wish for the tests names besides the tests, such as a folder.
        likeliest: The three likeliest kinds, likeliest first; empty where nothing was guessed.
        rule: How it was decided: ``command``, ``words``, ``names-it``, ``trigger`` (a phrase of a
            playbook), or the name of the guard.
    """

    intent: TaskIntent
    topic: Topic = Topic.PLAIN
    unsure: bool = False
    subject: str = ""
    task_id: str | None = None
    taken: str = ""
    left: str = ""
    acts: bool = False
    beyond: str = ""
    likeliest: tuple[Kind, ...] = ()
    rule: str = "command"


class _Kept(BaseModel):
    """A reading as it is kept, beside its intent."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)

    v: Literal[1] = 1
    topic: Topic
    unsure: bool
    subject: str
    task_id: str | None
    taken: str
    left: str
    acts: bool
    beyond: str
    likeliest: tuple[Kind, ...]
    rule: str


_KEPT: Final = tuple(field.name for field in fields(Reading) if field.name != "intent")


def write_reading(reading: Reading) -> str:
    """Return a reading as it is kept; its intent is kept by itself."""
    return _Kept(**{name: getattr(reading, name) for name in _KEPT}).model_dump_json()


def read_kept(text: str, intent: TaskIntent) -> Reading | None:
    """Return a reading that was kept; None where it is of another release, and to be read anew.

    Args:
        text: As `write_reading` gives it.
        intent: As it was kept with it.
    """
    try:
        kept = _Kept.model_validate_json(text)
    except ValidationError:
        return None
    return Reading(intent, **{name: getattr(kept, name) for name in _KEPT})
