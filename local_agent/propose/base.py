"""What a proposer is given and what it gives back.  A proposer cannot execute, approve or write.

What it may look at was collected before (`context`); it collects nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Protocol

from common.model.intent import TaskIntent
from common.model.proposal import (
    Answer,
    ExecutionRequirement,
    NoRequirement,
    Proposal,
    RunStep,
    Speech,
)
from common.sentences import Lang, Sentence, say
from common.verbs import Topic
from local_agent.models.backend import Emit, ModelEvent
from local_agent.workspace.registry import Workspace

if TYPE_CHECKING:
    from local_agent.propose.context.collected import Collected, Piece

CHAT_ROWS: Final = 15  # of files in one message


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier version of what is proposed.

    Attributes:
        version: Its number, from 1.
        request: What was asked for then, and what was to be made otherwise since.
        proposal: Its diff as text, or its words where it had none.
        diff: The exact diff; empty where it had none.
        encodings: Of its files, by path.
    """

    version: int
    request: str
    proposal: str
    diff: bytes = b""
    encodings: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Remembered:
    """What was asked before in the same conversation, and what came of it."""

    request: str
    answer: str


def _unheard(_event: ModelEvent) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, as it was read.

    Attributes:
        text: The request without prefix and command word.
        workspace: Where it is about; None when none has been added.
        context: None for the kinds that need none.
        topic: What it is answered by besides its kind.
        about: The short ID that was named, in its stored form.
        attachment: Name of the blob with the diff that came with the request.
        on_copy: It is about a copy of the workspace with a proposed change in it.
        remote: It was asked in the chat, and is answered there.
        unsure: It was not clear; only a plan or an answer may follow.
        acts: It seems to ask that something be done, which an answer must not seem to tell of.
        likeliest: What may have been meant then, likeliest first.
        beyond: What a wish for the tests names besides the tests, such as a folder; empty if
            nothing.
        prefix: The word that addresses the bot, for examples.
        remembered: Of the same conversation, oldest first.
        earlier: What is to be made anew.
        emit: Told of every sign of work of a model; does not block.
    """

    task_id: str
    intent: TaskIntent
    text: str
    lang: Lang
    workspace: Workspace | None
    context: Collected | None = None
    topic: Topic = Topic.PLAIN
    about: str | None = None
    attachment: str | None = None
    on_copy: bool = False
    remote: bool = False
    unsure: bool = False
    acts: bool = False
    likeliest: tuple[str, ...] = ()
    beyond: str = ""
    prefix: str = "@dev"
    remembered: tuple[Remembered, ...] = ()
    earlier: Earlier | None = None
    emit: Emit = _unheard


@dataclass(frozen=True, slots=True)
class Proposed:
    """What is proposed.

    Attributes:
        summary: For the chat: paths and counts, never content.
        details: For this machine's own faces.
        own: Of the summary what is ours, without the rows of files; None where all of it is.
        speech: What a model said, apart from our words; None where none spoke.
        not_done: It only says why nothing of what was asked is done.
        revises: Short ID of the task whose proposal it makes anew.
        version: Its number among those versions, from 1.
        shown: What a model was shown besides the context, for whoever decides what may leave.
        run: Which step of a playbook it is; None where it is none.
    """

    proposal: Proposal
    summary: str
    requires: ExecutionRequirement = field(default_factory=NoRequirement)
    details: str | None = None
    own: str | None = None
    speech: Speech | None = None
    not_done: bool = False
    revises: str | None = None
    version: int = 1
    shown: tuple[Piece, ...] = ()
    run: RunStep | None = None


class Proposer(Protocol):
    """Turns a request into a proposal."""

    async def propose(self, asked: Asked) -> Proposed:
        """Return the proposal.

        Raises:
            CodexBridgeError: it cannot be made; the task fails with that code.
        """
        ...


def answer(text: str, *, details: str | None = None) -> Proposed:
    """Return a proposal that only says something."""
    return Proposed(Answer(text=text), text, details=details)


def nothing(sentence: Sentence, asked: Asked, **facts: object) -> Proposed:
    """Return that nothing of what was asked is done, and why."""
    told = answer(say(sentence, asked.lang, prefix=asked.prefix, **facts))
    return replace(told, not_done=True)
