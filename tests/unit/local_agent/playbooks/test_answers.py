"""The file of answers of a dry run: what it says, and what is no such file."""

from __future__ import annotations

import json

import pytest

from common.errors import InputError
from local_agent.playbooks.answers import MAX_BYTES, MAX_ENTRIES, Answers
from tests.each import each


def test_a_named_entry_answers_one_question_and_the_star_every_other() -> None:
    answers = Answers(
        b'[{"step": "*", "decision": "deny"}, {"step": "go", "decision": "approve"},'
        b' {"decision": "deny", "step": "go"}]'
    )
    taken = [answers.take(step) for step in ("go", "other", "go", "go", "other")]
    assert taken == ["approve", "deny", "deny", "deny", "deny"]


def test_without_a_star_what_is_not_named_is_not_answered() -> None:
    answers = Answers('[{"step": "写 入", "decision": "approve"}]')
    assert [answers.take(step) for step in ("go", "写 入", "写 入")] == [None, "approve", None]
    assert Answers(b"[]").take("go") is None


@each(
    "data, why",
    [
        (b"", "json"),
        (b"approve", "json"),
        (b"\xff\xfe[]", "json"),
        (b"[NaN]", "json"),
        (b'[{"step": "*", "decision": NaN}]', "json"),
        (b'[{"step": "a", "step": "*", "decision": "approve"}]', "json"),
        (b'[{"step": "\\ud800", "decision": "approve"}]', "json"),
        (b"[" * 5_000 + b"]" * 5_000, "json"),
        (b'{"step": "*", "decision": "approve"}', "shape"),
        (b"null", "shape"),
        (b'["*"]', "entry"),
        (b'[{"step": "*"}]', "entry"),
        (b'[{"step": "*", "decision": "approve", "times": 2}]', "entry"),
        (b'[{"step": "*", "decision": "Approve"}]', "entry"),
        (b'[{"step": "*", "decision": true}]', "entry"),
        (b'[{"step": "*", "decision": ["approve"]}]', "entry"),
        (b'[{"step": "", "decision": "approve"}]', "entry"),
        (b'[{"step": 1, "decision": "approve"}]', "entry"),
        (b'[{"step": "*", "decision": "approve"}, {"step": "*", "decision": "deny"}]', "repeated"),
        (b" " * MAX_BYTES + b"[]", "too-large"),
        (json.dumps([{}] * (MAX_ENTRIES + 1)).encode(), "too-many"),
    ],
)
def test_what_is_no_file_of_answers_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(InputError) as caught:
        Answers(data)
    assert (caught.value.code, caught.value.facts["why"]) == ("playbook.answers", why)


def test_the_entry_at_fault_is_named_by_its_number() -> None:
    with pytest.raises(InputError) as caught:
        Answers(b'[{"step": "*", "decision": "deny"}, {"step": "*"}]')
    assert caught.value.facts["number"] == 2
