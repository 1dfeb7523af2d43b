"""What both protocols of coding agents do alike while one turn runs, and how it is asked again."""

from __future__ import annotations

import asyncio
from typing import Final

from common.text import clip_bytes
from local_agent.errors import ModelError
from local_agent.models.backend import (
    MAX_ANSWER_BYTES,
    MAX_COMMANDS,
    Emit,
    ModelEvent,
    Refusal,
    Scratch,
    Suggestion,
)

MAX_REFUSALS: Final = 50  # that are told
AGAIN: Final = "That was not JSON of the form asked for. Answer again with that JSON alone."
_COMMAND_BYTES: Final = 4096
_REASON_BYTES: Final = 1024
_ALIVE: Final = ModelEvent("alive")


class TurnListener:
    """Hears of one turn: its words within bounds, signs of work, what was not let through.

    Args:
        scratch: What may be edited; None refuses all that is asked for.
        emit: Told of every sign of work.

    Attributes:
        over: Set when the program itself has ended the turn.
        refused: Edits that were not let through.
        commands: What the program would run.
    """

    def __init__(self, scratch: Scratch | None, emit: Emit) -> None:
        self._scratch = scratch
        self._emit = emit
        self._budget = MAX_ANSWER_BYTES
        self._sign = asyncio.Event()
        self._error: ModelError | None = None
        self.over = asyncio.Event()
        self.refused: list[Refusal] = []
        self.commands: list[Suggestion] = []

    async def watch(self, idle_s: float) -> None:
        """Wait until the turn is over.

        Args:
            idle_s: Longest silence.

        Raises:
            ModelError: ``model.stalled``, ``model.too-large``, or why it failed.
        """
        while not self.over.is_set() and self._error is None:
            self._sign.clear()
            try:
                async with asyncio.timeout(idle_s):
                    await self._sign.wait()
            except TimeoutError:
                self._error = ModelError("model.stalled")
        if self._error is not None:
            raise self._error

    def lost(self, error: ModelError) -> None:
        """Nothing more will come."""
        self._error = self._error or error
        self._sign.set()

    def _show_life(self) -> None:
        self._emit(_ALIVE)

    def _hear(self, text: str) -> bool:
        """Take in words of the answer; return False where they are too many."""
        if not self._afford(len(text.encode("utf-8", "replace"))):
            return False
        self._emit(ModelEvent("text", text))
        return True

    def _afford(self, size: int) -> bool:
        """Count bytes of the answer, edits included, and tell whether it is still within bounds."""
        self._budget -= size
        if self._budget < 0:
            self._error = self._error or ModelError("model.too-large")
        return self._budget >= 0

    def _refuse(self, path: str, code: str) -> None:
        if len(self.refused) < MAX_REFUSALS:
            self.refused.append(Refusal(path, code))

    def _suggest(self, command: str, reason: str) -> None:
        if len(self.commands) < MAX_COMMANDS:
            why = clip_bytes(reason, _REASON_BYTES)
            self.commands.append(Suggestion(clip_bytes(command, _COMMAND_BYTES), why))
