"""A channel that answers as it is told, and the real sender on it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from gateway.base.messages import Card, Conversation, Outgoing, SendOutcome
from gateway.flow.outbox import Outbox
from tests.gateway_desk import Desk, logger

SENT = SendOutcome("sent", 0, "ok", 0.0, "wecom.sent")


@dataclass
class ScriptedChannel:
    """Answers each try with the next outcome; then with success."""

    outcomes: list[SendOutcome] = field(default_factory=list)
    tries: list[tuple[str, str, bool]] = field(default_factory=list)
    cards: list[tuple[Card, str | None]] = field(default_factory=list)
    yielding: list[str] = field(default_factory=list)
    gate: asyncio.Event | None = None
    tried: asyncio.Queue[str] = field(default_factory=asyncio.Queue)

    async def __call__(self, to: Conversation, what: Outgoing) -> SendOutcome:
        """Note the try and answer it."""
        text = what.text
        self.tries.append((to.user, text, what.repeated))
        self.cards += [(what.card, what.handle)] if what.card else []
        self.yielding += [text] * what.yields
        outcome = self.outcomes.pop(0) if self.outcomes else SENT
        self.tried.put_nowait(text)
        if self.gate is not None:
            await self.gate.wait()
        return outcome

    async def next(self) -> str:
        """Wait for the next try."""
        async with asyncio.timeout(30):
            return await self.tried.get()


@asynccontextmanager
async def sending(desk: Desk, channel: ScriptedChannel) -> AsyncIterator[Outbox]:
    """Send what waits, for so long."""
    sender = Outbox(desk.store, channel, clock=desk.clock, log=logger(), record_seconds=0.01)
    running = asyncio.create_task(sender.run())
    try:
        yield sender
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
