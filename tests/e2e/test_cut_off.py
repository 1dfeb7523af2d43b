"""Every way in which WeCom refuses or cannot be reached, each for an app of one gateway at a time.

While an app is held, it says so wherever an admin looks, members are answered in the callback's own
response, and nothing is lost; afterwards everything is there once.
"""

from __future__ import annotations

import json
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from gateway.base.messages import Person
from gateway.simulator.client import SimulatorClient
from gateway.simulator.config import write_installation
from gateway.store import Connection, members
from gateway.store.runner import open_admin
from tests.e2e.place import Place, free_ports, wait_until

# What goes wrong, and what it is called.  The first ones end within seconds, once they are over.
SOON: Final = {
    "busy": "wecom.busy",
    "html": "wecom.unreadable",
    "http-500": "wecom.http",
    "http-502": "wecom.http",
    "closed": "wecom.unreachable",
    "answer-lost": "wecom.unreachable",
    "40014": "wecom.token-refused",
    "42001": "wecom.token-refused",
    "45033": "wecom.too-often",
}
LATER: Final = {
    "40001": "wecom.bad-secret",
    "45009-minute": "wecom.too-often",
    "45009-hour": "wecom.too-often",
    "48002": "wecom.forbidden",
    "50003": "wecom.app-closed",
    "60020": "wecom.untrusted-address",
    "301002": "wecom.bad-agent-id",
}
FAULTS: Final = SOON | LATER
APPS: Final = {f"on{name.replace('-', '')}": name for name in FAULTS}
FIRST: Final = "No machine works for you yet"
SECOND: Final = "You have no open task"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    ports = free_ports(3)
    apps = [(app, True) for app in APPS]
    made = write_installation(
        tmp_path / "config", ports=(ports[0], ports[1], ports[2]), lang="en", apps=apps
    )
    place = Place(tmp_path, made, ports[2])
    place.admin("member", "add", "li")
    try:
        place.start_simulator()
        with open_admin(next(tmp_path.rglob("gateway.db"))) as store:
            store.write(_let_in)
        place.start_gateway()
        yield place
    finally:
        place.stop()


def _let_in(conn: Connection) -> None:
    for app in APPS:
        members.add(conn, Person(app, "li"), lang="en", at_ms=1)


def _app_of(fault: str) -> str:
    return next(app for app, name in APPS.items() if name == fault)


class World:
    """What the members of each app see, and what the admin does."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.client = SimulatorClient(place.made.config.page_port)

    def say(self, text: str) -> None:
        """Write to every app."""
        assert {self.client.say("li", text, app=app) for app in APPS} == {200}

    def told(self, words: str) -> Counter[str]:
        """Return how often each app said it."""
        bubbles = self.client.messages(0)
        return Counter(
            bubble["app"]
            for bubble in bubbles
            if bubble["sender"] == "app" and words in bubble["text"]
        )

    def sending(self) -> Mapping[str, str | None]:
        """Return what readiness says of each app; it stays ready."""
        with urllib.request.urlopen(f"{self.place.base}/health/ready", timeout=10) as answer:
            assert answer.status == 200
            told: dict[str, str | None] = json.loads(answer.read())["sending"]
        return told

    def status(self) -> tuple[int, dict[str, Any]]:
        """Return exit code and answer of ``gateway status --json``."""
        config = ("--config", str(self.place.made.gateway))
        done = self.place.run("gateway", *config, "status", "--json", check=False)
        return done.returncode, json.loads(done.stdout)


@pytest.mark.requirement("P3")
@pytest.mark.requirement("P7")
@pytest.mark.thorough
def test_an_app_that_is_cut_off_says_why_and_loses_nothing(place: Place) -> None:
    world = World(place)
    for app, fault in APPS.items():
        world.client.ask("fault", app=app, name=fault, on=True)
    world.say("@dev machines")
    held = {app: FAULTS[fault] for app, fault in APPS.items()} | {"main": None}
    wait_until(lambda: world.sending() == held)

    world.say("@dev status")
    everywhere = Counter(dict.fromkeys(APPS, 1))
    assert world.told(SECOND) == everywhere, "said in the answer to the callback"
    code, told = world.status()
    assert code == 1
    for app, why in held.items():
        hold = told["apps"][app]["held"]
        assert (hold and hold["code"]) == why
    shown = place.run("gateway", "--config", str(place.made.gateway), "status", check=False).stdout
    assert sum(line.startswith("✗") for line in shown.splitlines()) == len(APPS)
    log = place.log("gateway")
    for app, fault in APPS.items():
        assert f"outbox-held app={app} code={FAULTS[fault]}" in log, fault

    for app in APPS:
        world.client.ask("fault", app=app, name="", on=False)
    soon = {app for app, fault in APPS.items() if fault in SOON}
    wait_until(lambda: not {app for app, why in world.sending().items() if why} & soon)
    wait_until(lambda: not any(world.status()[1]["apps"][app]["waiting"] for app in soon))
    place.kill("gateway")  # in the middle of no message
    place.start_gateway()  # as after a mend; the rest would be tried again within minutes
    wait_until(lambda: {*world.told(FIRST)} == {*APPS})
    wait_until(lambda: not any(world.sending().values()))
    copies = world.told("perhaps a copy")
    assert copies == {_app_of("answer-lost"): 1}, "it had arrived, and is said to come again"
    assert world.told(FIRST) - copies == everywhere
    assert world.told(SECOND) == everywhere
    assert world.status()[0] == 0
