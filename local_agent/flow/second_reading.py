"""Stage B of the reader: a model is asked what kind an unclear text is (seed 002 §4.1, R63).

Off unless the person turns it on.  It may pick a kind that only answers or proposes a change; it
has no words for running anything, and what it cannot be asked stays as the table of words had it.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from typing import Final

from common.errors import InputError
from common.redact import redact
from local_agent.errors import ModelError
from local_agent.models.backend import Chosen, ModelEvent, Turn
from local_agent.proposers.prompt import classify_instructions, classify_prompt
from local_agent.store.tasks import Task
from local_agent.understand.asking_a_model import classification_schema, merged, read_classification
from local_agent.understand.reading import Reading

DEADLINE_S: Final = 15.0  # a classification is worth no longer wait
MAX_CHARS: Final = 2000


class SecondReading:
    """Asks the model, where it may be asked.

    Args:
        choose: Gives the model, or None.
        enabled: The setting ``nl.use_model_router``.
        threshold: How sure it must be (setting ``nl.confidence_threshold``).
    """

    def __init__(
        self, choose: Callable[[], Chosen | None], *, enabled: bool, threshold: float
    ) -> None:
        self._choose = choose
        self._enabled = enabled
        self._threshold = threshold

    def is_wanted(self, reading: Reading) -> bool:
        """Tell whether a text is unclear, and there is a model that may be asked about it."""
        wanted = self._enabled and reading.unsure and bool(reading.subject)
        return wanted and self._choose() is not None

    async def of(self, task: Task, reading: Reading) -> Reading:
        """Return the better reading, or the one that stands."""
        chosen = self._choose()
        if chosen is None:
            return reading
        nonce = secrets.token_hex(8)
        turn = Turn(
            task_id=task.task_id,
            instructions=classify_instructions(nonce),
            # Secrets first: the beginning of one is not recognised any more.
            prompt=classify_prompt(redact(reading.subject)[:MAX_CHARS], nonce),
            want="json",
            schema=classification_schema(),
        )
        try:
            async with asyncio.timeout(DEADLINE_S):
                reply = await chosen.backend.ask(turn, _unheard)
            return merged(reading, read_classification(reply.text), threshold=self._threshold)
        except (ModelError, InputError, TimeoutError):
            return reading


def _unheard(_event: ModelEvent) -> None:
    pass
