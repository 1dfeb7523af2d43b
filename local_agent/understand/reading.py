"""What reading a request gives.  How it is read is in `reader`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Final

from common.model.intent import TaskIntent, TaskKind

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


class Topic(Enum):
    """What is answered besides the kind: words that need their own truthful answer."""

    PLAIN = "plain"
    PLAN = "plan"
    APPLY = "apply"
    UNDO = "undo"
    CANCEL = "cancel"
    TEST = "test"
    BAD_OPTION = "bad-option"
    APPROVE = "approve"
    REJECT = "reject"
    CHATTER = "chatter"
    SYNC = "sync"
    MISTYPED = "mistyped"
    MACHINES = "machines"
    EMPTY = "empty"
    FREE_TEXT_OFF = "free-text-off"
    PATCH = "patch"
    REVISE = "revise"
    COMMIT = "commit"
    PULL = "pull"


# Kinds that the seed has no word for, and what is answered besides.
_OTHERWISE: Final = {
    Kind.CANCEL: (TaskKind.HELP, Topic.CANCEL),
    Kind.UNDO: (TaskKind.CHANGE, Topic.UNDO),
    Kind.APPROVE: (TaskKind.HELP, Topic.APPROVE),
    Kind.CHATTER: (TaskKind.HELP, Topic.CHATTER),
    Kind.OUTPUT: (TaskKind.DIAGNOSE, Topic.PLAIN),
}
# What each kind is to the seed: the word itself, but for those.
MEANS: Final[Mapping[Kind, tuple[TaskKind, Topic]]] = MappingProxyType(
    {kind: _OTHERWISE.get(kind) or (TaskKind(kind.value), Topic.PLAIN) for kind in Kind}
)
DEEDS: Final = frozenset({Kind.CHANGE, Kind.RUN, Kind.GIT_SYNC, Kind.CANCEL, Kind.UNDO})


@dataclass(frozen=True, slots=True)
class Reading:
    """How a request was read.

    Attributes:
        intent: The classification, as it is stored and shown.
        topic: See `Topic`; it follows from the text alone, so it is never stored.
        unsure: The likelihood was under the threshold; nothing but a plan or an answer may follow.
        subject: The text without prefix and command word.
        task_id: The short ID that was named, in its stored form.
        taken: The part of the text that is taken up, where it is not all of it.
        left: The other part: a further wish, which is not done.
        beyond: What a wish for the tests names besides the tests, such as a folder.
        likeliest: The three likeliest kinds, likeliest first; empty where nothing was guessed.
        rule: How it was decided: ``command``, ``words``, or the name of the guard.
    """

    intent: TaskIntent
    topic: Topic = Topic.PLAIN
    unsure: bool = False
    subject: str = ""
    task_id: str | None = None
    taken: str = ""
    left: str = ""
    beyond: str = ""
    likeliest: tuple[Kind, ...] = ()
    rule: str = "command"
