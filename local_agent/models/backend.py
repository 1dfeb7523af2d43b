"""What a coding model is asked and what it gives back, whatever service or program stands behind.

A backend has no authority: it turns one question into words, and edits nothing but the scratch copy
that it is lent.  What became of that copy is found out by us, never taken from its words.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from common import strict_json
from common.errors import CodexBridgeError, RemoteProtocolError
from local_agent.errors import ModelError

MAX_ANSWER_BYTES: Final = 4 * 1024 * 1024  # of one answer, edits included
MAX_COMMANDS: Final = 5  # that one answer may suggest
_FENCED: Final = re.compile(r"\s*```[A-Za-z]{0,10}[ \t]*\r?\n(.*?)\r?\n?```\s*", re.DOTALL)

Want = Literal["text", "edits", "json"]


class Scratch(Protocol):
    """A copy of the files that one task may edit (`local_agent.propose.scratch`)."""

    @property
    def root(self) -> Path:
        """The folder, as a real path; a program may work in it."""
        ...

    def inside(self, path: str | Path) -> str:
        """Return the relative name of a path that may be edited; blocks.

        Raises:
            InputError: ``scratch.outside``, ``scratch.forbidden``, ``path.*``.
        """
        ...

    def read(self, path: str) -> bytes | None:
        """Return a file as it stands in the copy, None where there is none; blocks.

        Raises:
            InputError: as `inside`; ``scratch.withheld``: it exists but may not be read.
        """
        ...

    def write(self, path: str, content: bytes) -> None:
        """Write a file of the copy; blocks.

        Raises:
            InputError: as `inside`; ``scratch.too-large``.
        """
        ...

    def delete(self, path: str) -> None:
        """Remove a file of the copy; blocks.

        Raises:
            InputError: as `inside`; ``scratch.missing``.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One question to a model.

    Attributes:
        instructions: Our own words: the role, the rules, the form of the answer.
        prompt: The request and its context, what is not ours fenced as data, secrets taken out.
        want: ``text`` for words, ``edits`` for an edited scratch copy and words about it, ``json``
            for words that follow ``schema``.
        schema: A strict JSON schema, for ``json`` alone.
        scratch: What may be edited, for ``edits`` alone.
        once: Whoever asks asks again by themselves: one request, whatever becomes of it.
    """

    task_id: str
    instructions: str
    prompt: str
    want: Want = "text"
    schema: Mapping[str, Any] | None = None
    scratch: Scratch | None = None
    once: bool = False


@dataclass(frozen=True, slots=True)
class ModelEvent:
    """Something to show while a model works; it decides nothing.

    Attributes:
        kind: ``text`` for a piece of the growing answer, ``alive`` for any other sign of work.
    """

    kind: Literal["text", "alive"]
    text: str = ""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A command that the model would run; it is shown, and nothing runs it."""

    command: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An edit that the model tried and that was not made.

    Attributes:
        path: As the model named it.
        code: Why, as of an `InputError`.
    """

    path: str
    code: str


@dataclass(frozen=True, slots=True)
class Usage:
    """What a turn has used, as the provider counts.

    Attributes:
        calls: Requests that were made of the provider.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0

    def __add__(self, other: Usage) -> Usage:
        """Return both together."""
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.calls + other.calls,
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said.

    Attributes:
        text: Its words; bounded by `MAX_ANSWER_BYTES`.
        commands: What it would run, at most `MAX_COMMANDS`.
        refused: Edits that were not made.
    """

    text: str
    commands: tuple[Suggestion, ...] = ()
    refused: tuple[Refusal, ...] = ()
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class Health:
    """What a backend is, when asked for itself.

    Attributes:
        model: The model's name at its provider.
        version: Of the program or the interface; empty where there is none.
        latency_ms: Of the smallest question.
    """

    model: str
    version: str = ""
    latency_ms: int = 0


Emit = Callable[[ModelEvent], None]


class Backend(Protocol):
    """A coding model behind one interface."""

    @property
    def name(self) -> str:
        """What the person calls it in the settings."""
        ...

    async def ask(self, turn: Turn, emit: Emit) -> Reply:
        """Put one question; cancelling the call stops the model.

        Args:
            turn: The question.
            emit: Told of every sign of work, on the event loop; does not block.

        Raises:
            ModelError: ``model.*``; the scratch copy may be half edited.
        """
        ...

    async def check(self) -> Health:
        """Ask the smallest question, to see that it answers.

        Raises:
            ModelError: ``model.*``.
        """
        ...

    async def aclose(self) -> None:
        """End what it has running."""
        ...


@dataclass(frozen=True, slots=True)
class Chosen:
    """The model that is asked.

    Attributes:
        whole: It works in a tree of files; else only what it edits is copied.
        redacted: It reads that tree by itself, so no secret may stand in it.
    """

    backend: Backend
    whole: bool = False
    redacted: bool = False


ReadKey = Callable[[], str | None]


async def read_key(read: ReadKey) -> str | None:
    """Return the key of a model, or None where it needs none.

    Args:
        read: Blocks.

    Raises:
        ModelError: ``model.key`` (why): it cannot be read now.
    """
    try:
        return await asyncio.to_thread(read)
    except CodexBridgeError as error:
        raise ModelError("model.key", why=error.code) from error


def bare_json(text: str) -> str:
    """Return an answer without the code fence that some models put around JSON."""
    fenced = _FENCED.fullmatch(text)
    return fenced[1] if fenced else text.strip()


def is_json(text: str) -> bool:
    """Tell whether an answer is JSON and nothing else."""
    try:
        strict_json.loads(text, max_bytes=MAX_ANSWER_BYTES, floats="read")
    except RemoteProtocolError:
        return False
    return True
