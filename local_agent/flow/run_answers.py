"""Answers questions of a dry run from a file: one decision for each, at the gate.

The gate takes such a decision only for changes of the run's own copy, whatever is asked
(`local_agent.safety.dry_run`).  What it does not take, and what the file does not answer, waits
for a person.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from common.errors import CodexBridgeError
from local_agent.playbooks.answers import Answer, Answers
from local_agent.store.journal import JournalThread

if TYPE_CHECKING:
    from local_agent.flow.approvals import Choice
    from local_agent.flow.gate import Entrance
    from local_agent.flow.run_questions import OpenQuestion


class FileAnswers:
    """The answers of one run while it is carried.

    Args:
        entrance: Where decisions of files of answers enter.
        answers: The file.
    """

    def __init__(self, db: JournalThread, entrance: Entrance, answers: Answers) -> None:
        self._db = db
        self._entrance = entrance
        self._answers = answers
        self._deciding: set[asyncio.Task[None]] = set()

    def attend(self, question: OpenQuestion, step: str) -> None:
        """Answer a question of a step each time it is asked: anew means the same question."""
        answer = self._answers.take(step)
        if answer is not None:
            question.on_asked = lambda: self._begin(question.request_id, answer)

    async def settled(self) -> None:
        """Return once what was asked by now is answered, or cannot be."""
        while self._deciding:
            await asyncio.gather(*self._deciding, return_exceptions=True)

    def _begin(self, task_id: str, answer: Answer) -> None:
        deciding = asyncio.create_task(self._decide(task_id, answer))
        self._deciding.add(deciding)
        deciding.add_done_callback(self._deciding.discard)

    async def _decide(self, task_id: str, answer: Answer) -> None:
        try:
            asked = await self._db.run(self._db.journal.approvals.newest_of, task_id)
            if asked is not None:
                choice: Choice = "approve" if answer == "approve" else "reject"
                await self._entrance.decide(asked.approval_id, asked.digest, decision=choice)
        except CodexBridgeError:
            return  # it waits for a person, or is over
