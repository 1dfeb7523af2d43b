"""What a model is told in an agent step."""

from __future__ import annotations

from typing import Any

from local_agent.playbooks.definition import StepDefinition
from local_agent.playbooks.prompts import MAX_RESULT_BYTES, messages

STEP = StepDefinition(name="say", type="agent", message_template="Say what changed.")


def told(**results: Any) -> str:
    asked = messages(STEP, "", results, lang="en", nonce="0" * 16, short=False)
    return asked[1]["content"]


def test_of_a_result_that_is_cut_the_short_facts_stay() -> None:
    diff = "+a line\n" * (MAX_RESULT_BYTES // 4)
    assert 'files: ["a.py"]' in told(changes={"diff": diff, "files": ["a.py"]})
