"""Stories in which a model proposes: asked in the chat and here, made anew, answered, let go."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from common.model.state import TaskState
from tests.matrix import minds
from tests.matrix.house import House


def change_from_the_chat(house: House) -> None:
    """A member asks for a change; a model makes it, a person approves it, the chat is told."""
    minds.employ(house)
    house.start("simulator", "gateway", "agent")
    house.begins("propose")
    house.until_done("five", _again(house.wish, "five", f"@dev change login.py to {minds.FIVE}"))
    house.settle()
    minds.leaves_nothing(house)


def change_from_here(house: House) -> None:
    """The same asked at the machine: it rests, is wanted, and then asked."""
    minds.employ(house)
    house.start("agent")
    house.begins("rest")
    asked = f"@dev change login.py to {minds.FIVE}"
    house.until_done("five", _again(house.wish_here, "five", asked))
    minds.leaves_nothing(house)


def revise_what_waits(house: House) -> None:
    """A second version takes the place of the first, which nobody can approve any more."""
    minds.employ(house)
    house.start("simulator", "gateway", "agent")
    house.wish("five", f"@dev change login.py to {minds.FIVE}")
    first = house.reaches("five", TaskState.WAITING_APPROVAL)
    house.begins("revise")
    asked = f"@dev revise {first['short_id']} {minds.SEVEN}"
    house.until_done("seven", _again(house.wish, "seven", asked))
    house.ends("five", "cancelled")
    house.settle()
    minds.leaves_nothing(house)


def answer_and_release(house: House) -> None:
    """An answer that the chat is told, and one that a person lets go first."""
    minds.employ(house)
    house.start("simulator", "gateway", "agent")
    house.begins("answer")
    house.wish("why", f"@dev explain {minds.WHY}")
    house.ends("why", "completed")
    house.settle()
    minds.tells_once(house, "why")
    house.command("terminal", "workspace", "set", "shop", "--disclosure", "ask")
    house.begins("release")
    house.until_done("why", _again(house.wish, "why", f"@dev explain {minds.WHY} at all"))
    house.settle()
    minds.tells_once(house, "why")


def change_by_a_program(house: House) -> None:
    """A program that edits a tree by itself makes the change; no death leaves one behind."""
    minds.employ_codex(house)
    house.start("agent")
    house.begins("program")
    asked = f"@dev change login.py to {minds.FIVE}"
    house.until_done("five", _again(house.wish_here, "five", asked))
    minds.leaves_nothing(house)


def _again(wish: Callable[[str, str], None], mark: str, text: str) -> Callable[[], None]:
    """Return how to ask for it, in other words each time."""
    numbers = count(1)
    return lambda: wish(mark, f"{text}; {next(numbers)}")
