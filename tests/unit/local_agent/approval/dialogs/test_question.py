"""`dialogs.question`: what is shown comes from the sealed bytes, whatever else was told."""

from __future__ import annotations

from typing import Any

import pytest

from common.clock import ManualClock
from common.errors import AuthError, RemoteProtocolError
from common.seal import digest, seal_bytes, short_code
from local_agent.approval.dialogs.duration import time_left
from local_agent.approval.dialogs.question import read_question
from tests.sealed import a_payload, a_seal


def shown(**changes: Any) -> dict[str, Any]:
    raw = seal_bytes(a_seal(ManualClock()))
    told: dict[str, Any] = {
        "seal": raw.decode(),
        "digest": digest(raw),
        "state": "pending",
        "risk": "normal",
        "reasons": [],
        "blocked": "",
        "text": "@dev test",
        "machine": "build-1",
        "workspace": "shop",
    }
    return told | changes


def test_the_digest_is_computed_from_the_bytes_that_are_shown() -> None:
    told = shown()
    question = read_question(told)
    assert question.digest == told["digest"]
    assert question.code == short_code(question.digest)
    assert question.pending


@pytest.mark.requirement("P2")
@pytest.mark.requirement("R23")
def test_bytes_of_another_digest_are_not_shown() -> None:
    other = seal_bytes(a_seal(ManualClock(), payload=a_payload(argv=["rm", "-rf", "."])))
    with pytest.raises(AuthError) as refused:
        read_question(shown(seal=other.decode()))
    assert refused.value.code == "approval.digest-mismatch"


@pytest.mark.requirement("R4")
@pytest.mark.parametrize(
    "changes",
    [
        {"seal": None},
        {"seal": "中"},
        {"digest": 5},
        {"reasons": None},
        {"seal": "{}", "digest": digest(b"{}")},
    ],
)
def test_what_is_incomplete_is_not_shown(changes: dict[str, Any]) -> None:
    with pytest.raises(RemoteProtocolError):
        read_question(shown(**changes))
    without = shown()
    del without["machine"]
    with pytest.raises(RemoteProtocolError):
        read_question(without)


@pytest.mark.requirement("R29")
@pytest.mark.parametrize(("risk", "whole"), [("normal", False), ("high", True), ("other", True)])
def test_anything_but_ordinary_risk_needs_the_whole_code(risk: str, *, whole: bool) -> None:
    question = read_question(shown(risk=risk))
    first, _, second = question.code.partition("-")
    assert question.accepts(first) is not whole
    assert question.accepts(question.code)
    assert question.accepts(f"{first.lower()} {second.lower()}")
    assert not question.accepts(second)
    assert not question.accepts("")
    assert not question.accepts("T-7K3F")


@pytest.mark.parametrize(
    ("seconds", "en"),
    [
        (86_399, "23 h 59 min left"),
        (3_600, "1 h 0 min left"),
        (3_599, "59 min left"),
        (59, "59 s left"),
        (0, "expired"),
        (-5, "expired"),
    ],
)
def test_the_time_left_is_told_in_words(seconds: int, en: str) -> None:
    assert time_left(seconds * 1000, 0, "en") == en
    assert time_left(seconds * 1000, 0, "zh") != en
