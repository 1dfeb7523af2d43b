"""What is recorded and told when somebody attacks, and that attacking cannot fill anything."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from common import strict_json
from common.clock import ManualClock
from common.errors import StoreError
from common.signing import SigningKey
from gateway.base.messages import URL_CHECKED, Conversation, Outgoing, Person, SendOutcome
from gateway.flow import alarms as module
from gateway.flow.alarms import (
    MAX_KEPT,
    MAX_NOTICES,
    NOTED_FILE,
    QUIET_SECONDS,
    Admins,
    Alarms,
    DiskWatch,
    read_noted,
)
from gateway.store import Connection, agents, audit, inbound, members
from gateway.store.runner import SqliteRunner, open_store
from tests.gateway_desk import fresh_store
from tests.people import someone
from tests.unit.gateway.link.doubles import silent_log

TAKEN = {"agent": "a", "address": "192.0.2.2", "before": "192.0.2.1"}


@dataclass
class Scene:
    """A real store, two admins of whom one is a member, and a clock moved by hand."""

    store: SqliteRunner
    noted: Path
    clock: ManualClock = field(default_factory=ManualClock)
    lines: io.StringIO = field(default_factory=io.StringIO)
    woken: int = 0
    rung: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        """Make the alarms."""
        self.admins = Admins(
            channel="wecom_app",
            named=(someone("boss"), someone("zhang")),
            apps=("main",),
            lang="en",
            zone=UTC,
            wake=self.wake,
        )
        self.alarms = Alarms(
            self.store,
            admins=self.admins,
            clock=self.clock,
            log=silent_log(self.lines),
            noted=self.noted,
        )

    def wake(self) -> None:
        """Count the hints to the outbox."""
        self.woken += 1
        self.rung.set()

    async def audited(self) -> list[tuple[str, dict[str, Any]]]:
        """Return event and facts of every entry since the start."""
        found = []
        for _, _, body, _ in await self.store.read(audit.entries, limit=5000):
            record = strict_json.loads(body, max_bytes=16384)
            found.append((record["event"], record["facts"]))
        return [entry for entry in found if not entry[0].startswith("member.")]

    async def notices(self, user: str = "boss") -> list[str]:
        """Return what a person is told."""
        return [text for to, text in await self.store.read(_outbox) if to == user]


def _outbox(conn: Connection) -> list[tuple[str, str]]:
    rows = conn.all("SELECT user_id, text FROM outbox ORDER BY id")
    return [(row["user_id"], row["text"]) for row in rows]


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    store = await asyncio.to_thread(lambda: open_store(fresh_store(tmp_path)))
    key = SigningKey.generate().public
    await store.write(members.add, someone("zhang"), lang="zh", at_ms=1)
    await store.write(agents.enrol, "a", machine="dev-1", public_key=key, at_ms=1)
    yield Scene(store, tmp_path / NOTED_FILE)
    await store.close()


@pytest.mark.requirement("R14")
async def test_a_takeover_is_audited_and_told_to_every_admin_with_both_addresses(
    scene: Scene,
) -> None:
    scene.alarms("agent.taken-over", **TAKEN)
    await scene.alarms.flush()
    assert await scene.audited() == [("agent.taken-over", TAKEN)]
    for user in ("boss", "zhang"):
        (said,) = await scene.notices(user)
        for fact in ("dev-1", "192.0.2.1", "192.0.2.2", "gateway revoke dev-1"):
            assert fact in said
    assert (await scene.notices("boss"))[0] != (await scene.notices("zhang"))[0]
    assert scene.woken == 1


@pytest.mark.requirement("R13")
async def test_members_of_that_role_are_told_too_once_and_in_apps_that_there_are(
    scene: Scene,
) -> None:
    for person in (someone("li"), someone("boss"), Person("gone", "old")):
        await scene.store.write(members.add, person, lang=None, role="admin", at_ms=1)
    await scene.store.write(members.add, someone("wang"), lang=None, role="approver", at_ms=1)
    scene.alarms("agent.taken-over", **TAKEN)
    await scene.alarms.flush()
    told = [user for user, _ in await scene.store.read(_outbox)]
    assert sorted(told) == ["boss", "li", "zhang"]


async def test_what_is_repeated_is_counted_and_told_as_a_number_after_ten_minutes(
    scene: Scene,
) -> None:
    since_ms = scene.clock.now().wall_ms
    for number in range(1000):
        scene.alarms("agent.malformed-frame", address=f"192.0.2.{number % 250}")
        await scene.alarms.flush()
    assert await scene.audited() == [("agent.malformed-frame", {"address": "192.0.2.0"})]
    assert len(await scene.notices()) == 1
    scene.clock.advance(QUIET_SECONDS)
    await scene.alarms.flush()
    newest = {"address": "192.0.2.249", "count": 999, "since": since_ms}
    assert (await scene.audited())[1:] == [("agent.malformed-frame", newest)]
    assert "999" in (await scene.notices())[1]
    assert scene.lines.getvalue().count("agent.malformed-frame") == 1
    scene.clock.advance(QUIET_SECONDS)
    await scene.alarms.flush()
    assert len(await scene.audited()) == 2, "after that there is nothing to tell"


async def test_each_machine_and_each_kind_is_counted_for_itself(scene: Scene) -> None:
    for event, agent in (
        ("agent.wrong-key", "a"),
        ("agent.wrong-key", "b"),
        ("agent.too-fast", "a"),
    ):
        for _ in range(3):
            scene.alarms(event, agent=agent, address="192.0.2.1")
    await scene.alarms.flush()
    assert [(event, facts["agent"], facts["count"]) for event, facts in await scene.audited()] == [
        ("agent.wrong-key", "a", 3),
        ("agent.wrong-key", "b", 3),
        ("agent.too-fast", "a", 3),
    ]
    assert len(await scene.notices()) == 2, "that a machine sends too much needs nobody"


@pytest.mark.requirement("R13")
async def test_admins_get_a_few_notices_and_then_one_with_the_number_of_the_others(
    scene: Scene,
) -> None:
    for number in range(MAX_NOTICES + 40):
        scene.alarms("pairing.used-again", pairing=f"{number:x}", machine="dev-1", address="::1")
    await scene.alarms.flush()
    scene.alarms("agent.taken-over", **TAKEN)
    await scene.alarms.flush()
    assert len(await scene.notices()) == MAX_NOTICES
    assert len(await scene.audited()) == MAX_NOTICES + 41
    scene.clock.advance(QUIET_SECONDS)
    await scene.alarms.flush()
    told = (await scene.notices())[MAX_NOTICES:]
    assert len(told) == 1
    assert "41" in told[0]


async def test_what_is_kept_in_memory_is_bounded(scene: Scene) -> None:
    for number in range(MAX_KEPT + 100):
        scene.alarms("pairing.wrong-proof", pairing=f"{number:x}", address="::1")
    await scene.alarms.flush()
    entries = await scene.audited()
    assert len(entries) == MAX_KEPT + 1
    assert entries[-1][1]["count"] == 100
    scene.alarms("callback.ciphertext", app="shop")
    await scene.alarms.flush()
    assert (await scene.audited())[-1] == ("callback.ciphertext", {"app": "shop"})


async def test_an_alarm_that_cannot_be_stored_is_kept_until_it_can(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise StoreError("store.full")

    with monkeypatch.context() as broken:
        broken.setattr(scene.store, "write", fail)
        scene.alarms("agent.taken-over", **TAKEN)
        await scene.alarms.flush()
        scene.alarms("agent.taken-over", **TAKEN)
    await scene.alarms.flush()
    assert await scene.audited() == [("agent.taken-over", TAKEN | {"count": 2})]


async def test_what_is_only_counted_is_noted_with_its_app_and_its_moment(scene: Scene) -> None:
    async def noted(app: str) -> dict[str, int]:
        return await asyncio.to_thread(read_noted, scene.noted.parent, app)

    await asyncio.to_thread(scene.noted.write_text, '{"main": {"callback.signature": 1}}', "utf-8")
    await scene.alarms.flush()
    assert await noted("main") == {}  # nothing of an earlier run is left
    for app in ("main", "shop", "shop"):
        scene.clock.advance(60)
        scene.alarms("callback.signature", app=app)
        await scene.alarms.flush()
    now_ms = scene.clock.now().wall_ms
    assert [event for event, _ in await scene.audited()] == ["callback.signature"] * 2
    assert await noted("shop") == {"callback.signature": now_ms}
    assert await noted("main") == {"callback.signature": now_ms - 120_000}
    assert await scene.store.read(audit.newest_events, app="sales") == []


async def test_the_first_is_recorded_at_once_and_the_rest_at_the_end(scene: Scene) -> None:
    running = asyncio.create_task(scene.alarms.run())
    scene.alarms("agent.taken-over", **TAKEN)
    async with asyncio.timeout(30):
        await scene.rung.wait()
    scene.alarms("agent.taken-over", **TAKEN)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert len(await scene.audited()) == 1
    await scene.alarms.end()
    assert len(await scene.audited()) == 2


@pytest.mark.requirement("P7")
@pytest.mark.parametrize("good", ["console", "message", None])
async def test_what_was_mended_since_is_told_to_nobody(scene: Scene, good: str | None) -> None:
    async def wrong() -> int:
        scene.clock.advance(60)
        scene.alarms("callback.ciphertext", app="shop")
        await scene.alarms.flush()
        return scene.clock.now().wall_ms

    await wrong()
    since_ms = await wrong()
    await wrong()
    scene.clock.advance(60)
    at_ms = scene.clock.now().wall_ms
    if good == "console":
        scene.alarms(URL_CHECKED, app="shop")
    if good == "message":
        await scene.store.write(
            inbound.remember,
            person=Person("shop", "li"),
            created_s=1,
            dedupe_key="d",
            replay_key=b"r",
            at_ms=at_ms,
        )
    await scene.alarms.end()
    entries = [facts for event, facts in await scene.audited() if event == "callback.ciphertext"]
    assert entries == [{"app": "shop"}, {"app": "shop", "count": 2, "since": since_ms}]
    first, *more = await scene.notices()
    assert "app shop" in first
    assert "1× since" in first
    assert ["2× since" in text for text in more] == ([] if good else [True])


@pytest.mark.requirement("P3")
async def test_a_full_disk_is_told_past_the_outbox_and_its_end_through_it(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOOK_SECONDS", 0)
    sent: list[tuple[str, str]] = []
    full = True
    write = scene.store.write

    async def send(to: Conversation, what: Outgoing) -> SendOutcome:
        assert not what.repeated
        sent.append((to.user, what.text))
        return SendOutcome("sent", 0, "ok", 0.0, "wecom.sent")

    async def write_if_there_is_room(*args: Any, **facts: Any) -> Any:
        if full:
            raise StoreError("store.full")
        return await write(*args, **facts)

    async def until(condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(30):
            while not condition():  # noqa: ASYNC110  it is looked at, not told
                await asyncio.sleep(0)

    scene.store.is_full = True
    monkeypatch.setattr(scene.store, "write", write_if_there_is_room)
    log = silent_log(scene.lines)
    watch = DiskWatch(scene.store, send, admins=scene.admins, clock=scene.clock, log=log)
    running = asyncio.create_task(watch.run())
    try:
        await until(lambda: len(sent) == 2)
        scene.clock.advance(30)
        full = False
        await until(lambda: scene.woken == 1)
        full = scene.store.is_full = True  # and again, before ten minutes are over
        await until(lambda: scene.lines.getvalue().count("store.full") == 2)
        full = False
        await until(lambda: scene.woken == 2)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    assert {user for user, _ in sent} == {"boss", "zhang"}
    assert len(sent) == 2, "once in ten minutes"
    assert [event for event, _ in await scene.audited()] == ["store.was-full"] * 2
    assert "30" in (await scene.notices())[0]
    assert scene.lines.getvalue().count("store.has-room") == 2
