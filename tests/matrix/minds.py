"""Models for houses: what they answer, how an agent is given one, and what it must leave behind.

One scripted server answers all houses.  What it says follows from the words of the request alone,
so that an agent that asks again after a death is answered as before.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

import psutil

from tests.codex_desk import Scripted
from tests.matrix.house import House
from tests.model_script import edits, text

FIVE: Final = "try five times"
SEVEN: Final = "try seven times"
WHY: Final = "why does login.py retry"
ANSWER: Final = "Because the network is not reliable."
NOTE: Final = "say in one line what is noted"
NOTED: Final = "Three lines are noted."
_RETRY: Final = {"path": "login.py", "action": "edit"}
# The words of the version before are in the request for the next one.
ANSWERS: Final = tuple(
    replace(step, always=True)
    for step in (
        edits("Seven.", _RETRY | {"search": "retry = 5", "replace": "retry = 7"}, when=SEVEN),
        edits("Five.", _RETRY | {"search": "retry = 3", "replace": "retry = 5"}, when=FIVE),
        text(ANSWER, when=WHY),
        text(NOTED, when=NOTE),
    )
)


def employ(house: House) -> None:
    """Let the agent ask the server of the ground."""
    _configure(house, kind="http", model="m-1", base_url=house.model, api="responses")


def employ_codex(house: House) -> None:
    """Let the agent ask a program that plays codex, and makes the same change."""
    login = (house.workspace / "login.py").read_text(encoding="utf-8")
    change = {"op": "update", "path": "login.py", "text": login.replace("retry = 3", "retry = 5")}
    turn: list[dict[str, Any]] = [{"do": "change", "changes": [change]}]
    program = Scripted(house.place.root / "played", turn).program
    _configure(house, kind="codex", model="m-1", base_url=house.model, program=str(program))


def _configure(house: House, **settings: str) -> None:
    lines = ['model = "mock"', "[models.mock]"]
    lines += [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    file = house.place.root / "config" / "agent.toml"
    file.write_text("\n".join([*lines, ""]), encoding="utf-8")


def tells_once(house: House, mark: str) -> None:
    """Note where the chat did not hear an answer once, or heard one that was not let go."""
    heard = sum(ANSWER in said for said in house.place.chat())
    ended = [task for task in house.tasks() if house.mark(task) == mark]
    told = sum(task["reason"] == "completed" for task in ended)
    if heard != told:
        house.untrue.append(f"{mark} completed {told} times, and the chat heard it {heard} times")


def leaves_nothing(house: House) -> None:
    """Note what a model's turns have left behind: copies, and programs whose agent is gone."""
    for left in (house.place.root / "state" / "scratch").glob("once-*"):
        house.untrue.append(f"{left.name} was left behind")
    played = str(house.place.root / "played")
    house.until(lambda: _parents(played) <= {house.parts["agent"].pid})


def _parents(played: str) -> set[int]:
    """Return who has started the programs that run, but for those that they have started."""
    every = [one.info for one in psutil.process_iter(["pid", "ppid", "cmdline"])]
    found = {
        facts["pid"]: facts["ppid"]
        for facts in every
        if any(played in word for word in facts["cmdline"] or ())
    }
    return {parent for parent in found.values() if parent not in found}
