"""What is heard of a long command: a truthful line, ever more rarely.

The executor tells every ten seconds.  Passed on are about 10, 20, 40, 80 seconds and so on, at
least every five minutes.  The chat hears of it from the first minute on: most commands have ended
by then, and what came of them says more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from local_agent.actions.run_command.perform import Progress

FIRST_S: Final = 10
LONGEST_S: Final = 300
CHAT_S: Final = 60

Tell = Callable[[Progress], Awaitable[None]]


def is_for_chat(elapsed_s: float) -> bool:
    """Tell whether something goes on for so long that the chat is told."""
    return elapsed_s >= CHAT_S


class ProgressTeller:
    """Takes what the executor says, and passes some of it on."""

    def __init__(self) -> None:
        self._latest: Progress | None = None
        self._fresh = asyncio.Event()
        self._next_s = FIRST_S

    def note(self, progress: Progress) -> None:
        """Take where the command stands; does not wait."""
        if progress.elapsed_s < self._next_s:
            return
        elapsed = progress.elapsed_s
        self._next_s = elapsed + min(max(elapsed, FIRST_S), LONGEST_S)
        self._latest = progress
        self._fresh.set()

    async def pass_on(self, tell: Tell) -> None:
        """Tell what is due, for ever; what is overtaken while telling is left out."""
        while True:
            await self._fresh.wait()
            self._fresh.clear()
            if self._latest is not None:
                await tell(self._latest)
