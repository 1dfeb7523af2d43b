"""What reading a request gives.  How it is read is in `router`, whose tables take time to load."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from common.model.intent import TaskIntent

THRESHOLD: Final = 0.55  # seed 002 §13


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
    SYNC = "sync"
    MACHINES = "machines"
    EMPTY = "empty"
    FREE_TEXT_OFF = "free-text-off"
    PATCH = "patch"
    REVISE = "revise"
    COMMIT = "commit"
    PULL = "pull"


@dataclass(frozen=True, slots=True)
class Routed:
    """How a request was read.

    Attributes:
        intent: The classification, as it is stored and shown.
        topic: See `Topic`; it follows from the text alone, so it is never stored.
        unsure: The confidence was under the threshold; nothing but a plan or an answer may follow.
        subject: The text without prefix and command word.
        task_id: The short ID that was named, in its stored form.
        taken: The part of the text that is taken up, where it is not all of it.
        left: The other part: a further wish, which is not done.
        beyond: What a wish for the tests names besides the tests, such as a folder.
        reads_on: The command is the whole rest of the text, which may have wished something else.
        rule: Name of the deciding rule: of `rules.RULES`, or how else it was decided.
    """

    intent: TaskIntent
    topic: Topic = Topic.PLAIN
    unsure: bool = False
    subject: str = ""
    task_id: str | None = None
    taken: str = ""
    left: str = ""
    beyond: str = ""
    reads_on: bool = False
    rule: str = "command"
