"""Answers of a dry run's file: given each time that a question is asked, and never in its place."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

from common.errors import StateError
from local_agent.flow.run_answers import FileAnswers
from local_agent.playbooks.answers import Answers


@dataclass
class Gate:
    """Takes decisions, and has a journal with one question."""

    asked: Any = field(default_factory=lambda: SimpleNamespace(approval_id="a-1", digest="d-1"))
    refuses: bool = False
    decided: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def journal(self) -> Any:
        return SimpleNamespace(approvals=SimpleNamespace(newest_of=lambda _task: self.asked))

    async def run(self, look: Any, *given: Any) -> Any:
        return look(*given)

    async def decide(self, name: str, digest: str, *, decision: str) -> None:
        self.decided.append((name, digest, decision))
        if self.refuses:
            raise StateError("approval.not-dry-run", why="sandbox")


@dataclass
class Question:
    request_id: str = "task-1"
    on_asked: Any = lambda: None


def answering(gate: Gate, text: str) -> FileAnswers:
    return FileAnswers(cast("Any", gate), cast("Any", gate), Answers(text))


async def ask(answers: FileAnswers, step: str) -> Question:
    question = Question()
    answers.attend(cast("Any", question), step)
    question.on_asked()
    await answers.settled()
    return question


async def test_what_is_asked_anew_is_answered_as_before_and_uses_up_nothing() -> None:
    gate = Gate()
    answers = answering(gate, '[{"step": "go", "decision": "deny"}]')
    question = await ask(answers, "go")
    gate.asked = SimpleNamespace(approval_id="a-2", digest="d-2")
    question.on_asked()
    await answers.settled()
    assert gate.decided == [("a-1", "d-1", "reject"), ("a-2", "d-2", "reject")]
    await ask(answers, "go")
    assert len(gate.decided) == 2, "the entry was for one question"


async def test_what_the_file_does_not_name_is_not_answered() -> None:
    gate = Gate()
    await ask(answering(gate, '[{"step": "go", "decision": "approve"}]'), "other")
    assert gate.decided == []


async def test_what_the_gate_does_not_take_waits_for_a_person() -> None:
    gate = Gate(refuses=True)
    await ask(answering(gate, '[{"step": "*", "decision": "approve"}]'), "go")
    assert gate.decided == [("a-1", "d-1", "approve")]


async def test_a_question_that_is_gone_is_not_answered() -> None:
    gate = Gate(asked=None)
    await ask(answering(gate, '[{"step": "*", "decision": "approve"}]'), "go")
    assert gate.decided == []
