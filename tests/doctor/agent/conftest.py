"""A good installation and a screen, made once."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import model_script as script
from tests.doctor.agent.house import copy_of
from tests.e2e.place import Place, sample
from tests.e2e.proposing import configure, git, http
from tests.model_server import started
from tests.screen import a_screen


@dataclass(frozen=True)
class Good:
    """What the copies are made of.

    Attributes:
        place: With its gateway running; its agent has run and was stopped.
        screen: The name of a display that answers.
    """

    place: Place
    workspace: Path
    screen: str


def end_agent(place: Place) -> None:
    """Let the agent end in good order."""
    agent = place.processes.pop("agent")
    os.kill(agent.pid, signal.SIGTERM)
    assert agent.wait(20) == 0


def another_machine(good: Good, root: Path, machine: str, **extra: str) -> Place:
    """Return a copy that is paired with the same gateway as a machine of its own."""
    place = Place(
        copy_of(good.place.root, root),
        good.place.made,
        good.place.gateway_port,
        {**good.place.extra, **extra},
    )
    (root / "config/pairing.json").unlink()
    # Of another member: the first one's messages go on to the first machine alone.
    member = f"of-{machine}"
    good.place.admin("member", "add", member)
    said = good.place.admin("pair", "--machine", machine, "--member", member)
    code = re.search(r"CB1-[A-Z2-7]{26}", said)
    assert code, said
    place.run("pair", "--gateway", place.base, stdin=code[0] + "\n")
    return place


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Good]:
    folder = tmp_path_factory.mktemp("good")
    workspace = sample(folder / "shop", [("login.py", "x = 1\n")])
    git(workspace, "init", "-q")
    with (
        a_screen(tmp_path_factory.mktemp("screen")) as screen,
        started(folder, then=script.text("ok")) as server,
    ):
        place = Place.at(folder / "home", DISPLAY=screen.name)
        try:
            configure(place, {"chat": http(server, "chat")}, asked="chat")
            place.start_all(workspace, "true")
            place.admin("member", "set", "zhangwei", "--role", "admin")
            place.callback("@dev test")
            first = place.waiting()["short_id"]
            place.approve(first)
            assert place.final(first)["reason"] == "completed"
            end_agent(place)
            yield Good(place, workspace, screen.name)
        finally:
            place.stop()
