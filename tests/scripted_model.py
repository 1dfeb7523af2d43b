"""A model that does as its script says: fakes of a backend, and of the choice between them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from local_agent.errors import ModelError
from local_agent.models.backend import Chosen, Emit, Health, ModelEvent, Reply, Turn

Step = Callable[[Turn], None] | Reply | Exception


class ScriptedModel:
    """Answers each turn with the next steps: edits of the scratch copy, then a reply or an error.

    Attributes:
        turns: What it was asked.
        may_answer: It waits for this before it answers.
        closed: Whether it was told to end.
    """

    name = "scripted"

    def __init__(self, *answers: Iterable[Step]) -> None:
        self._answers = [list(answer) for answer in answers]
        self.turns: list[Turn] = []
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.asked = asyncio.Event()
        self.closed = False

    async def ask(self, turn: Turn, emit: Emit) -> Reply:
        """Follow the script."""
        self.turns.append(turn)
        self.asked.set()
        emit(ModelEvent("alive"))
        await self.may_answer.wait()
        if not self._answers:
            raise ModelError("model.ended")
        for step in self._answers.pop(0):
            if isinstance(step, Reply):
                for word in step.text.split():
                    emit(ModelEvent("text", f"{word} "))
                return step
            if isinstance(step, Exception):
                raise step
            await asyncio.to_thread(step, turn)
        raise ModelError("model.cut")

    async def check(self) -> Health:
        """Answer at once."""
        return Health(model="scripted-1", version="1", latency_ms=1)

    async def aclose(self) -> None:
        """Note it."""
        self.closed = True


def writes(path: str, content: str) -> Step:
    """Return the step that writes a file of the scratch copy."""

    def step(turn: Turn) -> None:
        assert turn.scratch is not None
        turn.scratch.write(path, content.encode())

    return step


def deletes(path: str) -> Step:
    """Return the step that deletes a file of the scratch copy."""

    def step(turn: Turn) -> None:
        assert turn.scratch is not None
        turn.scratch.delete(path)

    return step


def choosing(model: ScriptedModel | None) -> Callable[[], Chosen | None]:
    """Return the choice of this model, or of none."""
    return lambda: Chosen(model) if model else None
