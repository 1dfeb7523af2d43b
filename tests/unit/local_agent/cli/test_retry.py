"""``codexbridge retry``: asks again, and first a person where it may have taken effect."""

from __future__ import annotations

import io
import json
import os

import pytest

import codexbridge
from tests.unit.local_agent.cli.conftest import TASK, AgentDouble
from tests.unit.local_agent.cli.terminal import in_front, reads

CANCELLED = TASK | {"state": "REJECTED", "reason": "cancelled"}
UNKNOWN = TASK | {"state": "FAILED", "reason": "unknown"}
AGAIN = TASK | {"short_id": "T-M2Q8", "retry_of_short_id": "T-7K3F"}
Captured = pytest.CaptureFixture[str]


def retried(agent: AgentDouble) -> bool:
    """Tell whether anything was asked again."""
    return any(asked.op == "retry" for asked in agent.asked)


def test_what_has_ended_is_asked_again_and_waits_for_a_person(
    agent: AgentDouble, capsys: Captured
) -> None:
    agent.answers["show"] = {"task": CANCELLED, "approval": None}
    agent.answers["retry"] = {"task": AGAIN}
    assert codexbridge.main(["retry", "t7k3f"]) == 0
    assert "codexbridge approve T-M2Q8" in capsys.readouterr().out
    assert agent.args_of("retry") == {"task": "T-7K3F", "may_have_run": False}
    assert codexbridge.main(["retry", "T-7K3F", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["short_id"] == "T-M2Q8"


def test_show_names_the_task_that_is_asked_again(agent: AgentDouble, capsys: Captured) -> None:
    agent.answers["show"] = {"task": AGAIN | {"state": "COMPLETED"}, "approval": None}
    assert codexbridge.main(["show", "T-M2Q8"]) == 0
    assert "T-7K3F" in capsys.readouterr().out


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_what_may_have_taken_effect_is_not_asked_again_without_a_terminal(
    agent: AgentDouble,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Captured,
    arguments: tuple[str, ...],
) -> None:
    agent.answers["show"] = {"task": UNKNOWN, "approval": None}
    monkeypatch.setattr("sys.stdin", io.StringIO("yes\n"))
    assert codexbridge.main(["retry", "T-7K3F", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not retried(agent)


@pytest.mark.requirement("P3")
def test_at_a_terminal_json_does_not_answer_for_a_person(agent: AgentDouble) -> None:
    agent.answers["show"] = {"task": UNKNOWN, "approval": None}
    with in_front("retry", "T-7K3F", "--json") as screen:
        reads(screen, "interrupted")
    assert not retried(agent)


@pytest.mark.requirement("P3")
@pytest.mark.parametrize(("keys", "again"), [(b"yes\n", True), (b"y\n", False), (b"\n", False)])
def test_a_person_is_told_that_it_may_happen_twice_and_says_yes_in_full(
    agent: AgentDouble, keys: bytes, *, again: bool
) -> None:
    agent.answers["show"] = {"task": UNKNOWN, "approval": None}
    agent.answers["retry"] = {"task": AGAIN}
    with in_front("retry", "T-7K3F") as screen:
        reads(screen, "twice.*yes")
        os.write(screen, keys)
        reads(screen, "T-M2Q8" if again else "Nothing was changed")
    assert retried(agent) is again
    if again:
        assert agent.args_of("retry") == {"task": "T-7K3F", "may_have_run": True}
