"""What the chat is told of a run while it goes on."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from common.clock import ManualClock
from local_agent.flow.narrating import FIRST_S, Narrator
from local_agent.playbooks.definition import parse_playbook

PLAYBOOK = b"""---
name: many
steps:
%s
---
""" % b"\n".join(b"  - {name: s%d, type: tool, tool: git_status}" % number for number in range(20))


class Log:
    """Keeps what is told, with whether somebody waits for it."""

    def __init__(self) -> None:
        self.told_of: list[tuple[str, bool]] = []

    async def told(self, _task: Any, words: Any, *, urgent: bool = False) -> None:
        self.told_of.append((words("en"), urgent))


class Asked:
    def __init__(self, source: str) -> None:
        self.source = source


def narrator(log: Any, clock: ManualClock, *, source: str = "wecom") -> Narrator:
    task: Any = Asked(source)
    definition = parse_playbook(PLAYBOOK, "many.md")
    return Narrator(log, task, definition, machine="dev-1", clock=clock)


def step(index: int) -> dict[str, Any]:
    return {"type": "step_start", "step": f"s{index}", "step_index": index}


ASKS = {"type": "confirmation_required", "step": "s3", "short_id": "T-9Q2W", "timeout_s": 300.0}


async def test_steps_that_are_quick_are_not_told_one_by_one() -> None:
    log, clock = Log(), ManualClock()
    told = narrator(log, clock)
    await told.hear({"type": "task_start"})
    for index in range(20):
        await told.hear(step(index))
    assert log.told_of == [("Playbook many started: 20 steps.", False)]


async def test_a_long_run_tells_fewer_and_fewer_lines() -> None:
    log, clock = Log(), ManualClock()
    told = narrator(log, clock)
    for index in range(20):
        clock.advance(FIRST_S + 1)
        await told.hear(step(index))
    assert 3 <= len(log.told_of) <= 5


async def test_that_it_waits_is_told_at_once_and_that_it_goes_on_in_its_place() -> None:
    log, clock = Log(), ManualClock()
    told = narrator(log, clock)
    await told.hear(step(3))
    await told.hear(ASKS)
    await told.hear({"type": "gate_result", "confirmed": True})
    await told.hear({"type": "gate_result", "confirmed": False})
    (waits, urgent), (goes_on, later) = log.told_of
    assert "waits for a decision on dev-1: step 4 of 20 (s3)" in waits
    until = datetime.fromtimestamp(clock.now().wall_s + 300).astimezone()
    assert f"There, by {until:%H:%M} on its clock: codexbridge approve T-9Q2W" in waits
    assert (urgent, later) == (True, False)
    assert goes_on == "Playbook many: step 4 of 20 (s3)."


async def test_what_a_hook_asks_is_told_as_the_hooks() -> None:
    log, clock = Log(), ManualClock()
    told = narrator(log, clock)
    await told.hear({"type": "hook_start", "hook": "clean", "phase": "pre"})
    await told.hear(ASKS)
    await told.hear({"type": "hook_result", "hook": "clean"})
    await told.hear(ASKS)
    assert "of the hook clean" in log.told_of[0][0]
    assert "hook" not in log.told_of[1][0]


async def test_a_hook_that_goes_on_is_not_told_as_a_step() -> None:
    log, clock = Log(), ManualClock()
    told = narrator(log, clock)
    await told.hear({"type": "hook_start", "hook": "clean", "phase": "pre"})
    await told.hear(ASKS)
    await told.hear({"type": "gate_result", "confirmed": True})
    assert log.told_of[1] == ("Playbook many: the hook clean goes on.", False)


async def test_whoever_sits_at_the_machine_follows_the_events() -> None:
    log, clock = Log(), ManualClock()
    told = narrator(log, clock, source="local_ui")
    await told.hear({"type": "task_start"})
    await told.hear({"type": "gate_result", "confirmed": True})
    assert log.told_of == []
    await told.hear(ASKS)
    assert len(log.told_of) == 1
