"""The agent's own errors carry their facts."""

from __future__ import annotations

from common.errors import StateError
from local_agent.errors import RefusedError


def test_a_refusal_names_its_reasons() -> None:
    error = RefusedError(["too-long", "control-character"])
    assert isinstance(error, StateError)
    assert error.code == "policy.refused"
    assert error.reasons == ("too-long", "control-character")
    assert error.facts == {"reasons": "too-long,control-character"}
