"""Two corps, three apps, the same fifty names in each: nobody meets anybody of another app.

Everybody asks at once for something that says who asked, while gateway and machine are killed.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from common.model.state import Reason
from gateway.base.messages import Person
from gateway.simulator.client import SimulatorClient
from gateway.simulator.config import write_installation
from gateway.store import Connection, agents, members, tasks
from gateway.store.runner import open_admin
from tests.e2e.place import Place, free_ports, sample, wait_until

APPS: Final = {"main": False, "shop": True, "desk": False}  # whether each has a corp of its own
USERS: Final = tuple(f"u{number:02}" for number in range(50))
PEOPLE: Final = tuple(Person(app, user) for user in USERS for app in APPS)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    ports = free_ports(3)
    further = [(app, own) for app, own in APPS.items() if app != "main"]
    made = write_installation(
        tmp_path / "config", ports=(ports[0], ports[1], ports[2]), lang="en", apps=further
    )
    place = Place(tmp_path, made, ports[2])
    try:
        place.start_all(sample(tmp_path / "code", [("notes.txt", "nothing\n")]), "true")
        with open_admin(next(tmp_path.rglob("gateway.db"))) as store:
            store.write(_let_everybody_in)
        yield place
    finally:
        place.stop()


def _let_everybody_in(conn: Connection) -> None:
    (machine,) = agents.everyone(conn)
    for person in PEOPLE:
        members.add(conn, person, lang="en", at_ms=1)
        members.bind(conn, person, machine.agent_id, at_ms=1)


class Chats:
    """Every conversation of the simulated WeCom, as far as it was looked at."""

    def __init__(self, place: Place) -> None:
        self._client = SimulatorClient(place.made.config.page_port)
        self._seen = 0
        self._said: dict[int, tuple[Person, str]] = {}

    def ask(self, person: Person) -> None:
        """Send what only this person would."""
        self._client.say(person.user, f"@dev search {_word(person)}", app=person.app)

    def ends(self) -> dict[Person, list[str]]:
        """Return what each was told of an end."""
        for bubble in self._client.messages(self._seen):
            self._seen = max(self._seen, bubble["number"])
            if bubble["sender"] == "app":
                person = Person(bubble["app"], bubble["user"])
                self._said[bubble["id"]] = person, bubble["text"]
        told = defaultdict(list)
        for person, text in self._said.values():
            if "w-" in text:
                told[person].append(text)
        return told


def _word(person: Person) -> str:
    return f"w-{person.app}-{person.user}"


@pytest.mark.thorough
@pytest.mark.requirement("P3")
@pytest.mark.requirement("P7")
def test_everybody_hears_of_their_own_task_once_whatever_is_killed(place: Place) -> None:
    chats = Chats(place)
    with ThreadPoolExecutor(6) as pool:
        asked = [pool.submit(chats.ask, person) for person in PEOPLE]
        for count, part in ((40, "gateway"), (80, "agent"), (110, "gateway")):
            wait_until(partial(_are_done, asked, count))
            place.kill(part)
            getattr(place, f"start_{part}")()
        for one in asked:
            one.result(60)
    told = wait_until(lambda: told if len(told := chats.ends()) == len(PEOPLE) else {}, seconds=90)
    time.sleep(1)  # for what would come twice
    told = chats.ends()
    words = {person: re.findall(r"w-[a-z]+-u\d\d", text) for person, (text, *_) in told.items()}
    assert {person: set(found) for person, found in words.items()} == {
        person: {_word(person)} for person in PEOPLE
    }
    assert {person: len(texts) for person, texts in told.items()} == dict.fromkeys(PEOPLE, 1)
    with open_admin(next(place.root.rglob("gateway.db"))) as store:
        kept = store.read(tasks.newest, limit=2 * len(PEOPLE))
    assert {task.person: task.reason for task in kept} == dict.fromkeys(PEOPLE, Reason.COMPLETED)
    assert len(kept) == len(PEOPLE)


def _are_done(asked: Sequence[Future[None]], count: int) -> bool:
    return sum(one.done() for one in asked) >= count
