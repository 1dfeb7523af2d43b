"""What the page, the commands and the scenarios see: the chat, and what went over the wire.

Everything has a number that grows; who knows the last number asks for what came after it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import deque
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

KEPT: Final = 500  # of each kind

Sender: TypeAlias = Literal["member", "app", "system"]


@dataclass(frozen=True, slots=True)
class Message:
    """One bubble of a chat, as it stands now.

    Attributes:
        number: Grows with each bubble and with each change of one.
        id: The number that it began with.
        app: Name of the app whose conversation it is.
        sender: ``member`` or ``app``; ``system`` tells what the real client would not.
        user: The member whose conversation it is.
        text: What was said; of ``system`` the key of its words, and what they lack after a blank.
        at_ms: When.
        card: The template card, as it was sent.
        chosen: What its buttons were replaced by; empty while they can be clicked.
    """

    number: int
    id: int
    app: str
    sender: Sender
    user: str
    text: str
    at_ms: int
    card: dict[str, Any] | None = None
    chosen: str = ""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer: a callback to the gateway, or a call of the API.

    Attributes:
        number: As of a message; an exchange is told once, when it has ended.
        app: Name of the app; empty where the call named none.
        kind: Who asked.
        what: The path of the API, or what the callback is about.
        at_ms: When it began.
        took_ms: How long it took.
        attempt: Which delivery of a callback, from 1.
        status: HTTP status; 0 when there was no answer.
        errcode: What the API said; None for callbacks and where it said none.
        sent: The request as it went over the wire; without the secrets of the API.
        sent_plain: What was encrypted in it, or its JSON laid out.
        answered: The answer as it came.
        answered_plain: What was encrypted in it, or its JSON laid out.
        note: Why an answer does not count; empty while all is well.
    """

    number: int
    app: str
    kind: Literal["callback", "api"]
    what: str
    at_ms: int
    took_ms: int
    attempt: int
    status: int
    errcode: int | None
    sent: str
    sent_plain: str
    answered: str
    answered_plain: str
    note: str = ""


class Feed:
    """What happened lately, in order."""

    def __init__(self) -> None:
        self._messages: dict[int, Message] = {}
        self._exchanges: deque[Exchange] = deque(maxlen=KEPT)
        self._count = 0
        self._changed = asyncio.Event()

    def next_number(self) -> int:
        """Return the number of what is put next."""
        self._count += 1
        return self._count

    def put(self, entry: Message | Exchange) -> None:
        """Add it; a message with a known id takes the place of that."""
        if isinstance(entry, Message):
            self._messages[entry.id] = entry
            while len(self._messages) > KEPT:
                del self._messages[min(self._messages)]
        else:
            self._exchanges.append(entry)
        self._changed.set()
        self._changed = asyncio.Event()

    def message(self, number: int) -> Message | None:
        """Return the bubble with this id as it stands now."""
        return self._messages.get(number)

    def messages(self, after: int) -> list[Message]:
        """Return the bubbles that came or changed after a number."""
        fresh = (one for one in self._messages.values() if one.number > after)
        return sorted(fresh, key=lambda one: one.number)

    def exchanges(self, after: int) -> list[Exchange]:
        """Return the exchanges that ended after a number."""
        return [one for one in self._exchanges if one.number > after]

    async def wait(self, after: int, seconds: float, *, chat_only: bool = False) -> None:
        """Return as soon as there is anything after a number, or when the time is over."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not self.messages(after) and (chat_only or not self.exchanges(after)):
                    await self._changed.wait()


def laid_out(value: Any) -> str:
    """Return a JSON value as people read it."""
    return json.dumps(value, ensure_ascii=False, indent=2)
