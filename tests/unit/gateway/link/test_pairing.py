"""The pairing endpoint, on a real server and a real store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from common import strict_json
from common.audit import Fact
from common.clock import ManualClock
from common.errors import StoreError
from common.ids import new_uuid
from common.protocol.pairing import (
    agent_request,
    check_answer,
    check_words,
    new_code,
    pairing_id,
    parse_code,
)
from common.signing import SigningKey
from gateway.faces.http import guarded_app
from gateway.link import pairing as endpoint
from gateway.link.pairing import MAX_BYTES, PAIR_PATH, PairingEndpoint
from gateway.store import Connection, agents, audit, members, pairings
from gateway.store.runner import SqliteRunner, open_store
from tests.people import someone
from tests.unit.gateway.link.doubles import silent_log

pytestmark = pytest.mark.heavy

URL = "https://gw.example"


@dataclass
class Scene:
    """A gateway with one member and one open code."""

    client: TestClient[Any, Any]
    store: SqliteRunner
    clock: ManualClock
    gateway_key: SigningKey
    secret: bytes
    noted: list[tuple[str, dict[str, Fact]]]

    def request(self, *, key: SigningKey | None = None, url: str = URL) -> dict[str, Any]:
        """Return what a machine would send."""
        return agent_request(
            self.secret, key=key or SigningKey.generate(), nonce=bytes(32), url=url
        )

    async def post(self, record: object, **headers: str) -> tuple[int, dict[str, Any]]:
        """Post a record and return status and answer."""
        async with self.client.post(PAIR_PATH, json=record, headers=headers) as answer:
            return answer.status, strict_json.loads(await answer.read(), max_bytes=MAX_BYTES)

    async def tries(self) -> int:
        """Return how many tries that failed are counted durably."""
        return int(await self.store.read(_tries))

    async def events(self) -> list[str]:
        """Return the names of all audited events."""
        entries = await self.store.read(audit.entries)
        return [strict_json.loads(body, max_bytes=16384)["event"] for _, _, body, _ in entries]


def _tries(conn: Connection) -> int:
    row = conn.one("SELECT SUM(wrong_tries) AS tries FROM pairings")
    return row["tries"] or 0 if row else 0


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    clock = ManualClock()
    await asyncio.to_thread(new_uuid)  # the first one imports a library, as the server's start does
    store = await asyncio.to_thread(open_store, tmp_path / "gateway.db")
    secret = parse_code(new_code())
    at_ms = clock.now().wall_ms
    await store.write(members.add, someone("zhangwei"), lang=None, at_ms=at_ms)
    await store.write(
        pairings.create,
        pairing_id(secret),
        secret=secret,
        machine="dev-1",
        person=someone("zhangwei"),
        at_ms=at_ms,
    )
    key = SigningKey.generate()
    app = guarded_app(log=silent_log(), clock=clock)
    noted: list[tuple[str, dict[str, Fact]]] = []
    endpoint = PairingEndpoint(
        lambda: key,
        URL,
        store=store,
        clock=clock,
        note=lambda event, **facts: noted.append((event, facts)),
        log=silent_log(),
    )
    app.add_routes(endpoint.routes())
    async with TestClient(TestServer(app)) as client:
        yield Scene(client, store, clock, key, secret, noted)
    await store.close()


@pytest.mark.requirement("R9")
@pytest.mark.requirement("R10")
async def test_a_machine_with_the_code_is_enrolled_and_both_sides_show_the_same_words(
    scene: Scene,
) -> None:
    key = SigningKey.generate()
    request = scene.request(key=key)
    status, answer = await scene.post(request)
    assert status == 200
    paired = check_answer(scene.secret, request, answer)
    assert paired.machine == "dev-1"
    assert paired.gateway_key == scene.gateway_key.public
    agent = await scene.store.read(agents.of_machine, "dev-1")
    assert agent is not None
    assert (agent.agent_id, agent.public_key) == (paired.agent_id, key.public.raw)
    assert agent.pinned_key_id == agent.sealing_key_id == paired.gateway_key.key_id
    assert check_words(key.public, paired.gateway_key) == check_words(
        key.public, scene.gateway_key.public
    )
    (member,) = await scene.store.read(members.everyone)
    assert member.machines == ("dev-1",)
    assert "agent.enrolled" in await scene.events()


@pytest.mark.requirement("R9")
async def test_a_code_works_once(scene: Scene) -> None:
    first = scene.request()
    assert (await scene.post(first))[0] == 200
    assert await scene.post(scene.request()) == (403, {"error": "refused"})
    assert await scene.post(first) == (403, {"error": "refused"})
    again = {"pairing": pairing_id(scene.secret), "machine": "dev-1", "address": "127.0.0.1"}
    assert scene.noted == [("pairing.used-again", again)] * 2


@pytest.mark.requirement("R9")
async def test_a_code_used_twice_at_the_same_moment_enrols_one_machine(scene: Scene) -> None:
    answers = await asyncio.gather(*(scene.post(scene.request()) for _ in range(4)))
    assert sorted(status for status, _ in answers) == [200, 403, 403, 403]
    assert len(await scene.store.read(agents.everyone)) == 1
    assert [event for event, _ in scene.noted] == ["pairing.used-again"] * 3


@pytest.mark.requirement("R9")
async def test_a_code_is_over_after_ten_minutes(scene: Scene) -> None:
    scene.clock.advance(600)
    assert await scene.post(scene.request()) == (403, {"error": "refused"})


@pytest.mark.requirement("R9")
async def test_ten_wrong_tries_void_a_code(scene: Scene) -> None:
    wrong = scene.request() | {"mac": "A" * 43 + "="}
    for _ in range(10):
        assert await scene.post(wrong) == (403, {"error": "refused"})
    assert await scene.post(scene.request()) == (403, {"error": "refused"})
    assert [event for event, _ in scene.noted] == ["pairing.wrong-proof"] * 10 + [
        "pairing.unknown-code"
    ]


@pytest.mark.requirement("R9")
async def test_nine_wrong_tries_do_not_void_it(scene: Scene) -> None:
    wrong = scene.request() | {"mac": "A" * 43 + "="}
    for _ in range(9):
        await scene.post(wrong)
    assert (await scene.post(scene.request()))[0] == 200


@pytest.mark.requirement("R9")
async def test_a_wrong_proof_and_every_code_that_cannot_be_used_cost_the_same_work(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = parse_code(new_code())
    at_ms = scene.clock.now().wall_ms
    facts: Any = {"machine": "dev-2", "person": someone("zhangwei"), "at_ms": at_ms}
    await scene.store.write(pairings.create, pairing_id(used), secret=used, **facts)
    key: Any = {"agent_id": "agent-2", "public_key": SigningKey.generate().public}
    await scene.store.write(pairings.complete, pairing_id(used), **key, at_ms=at_ms)
    stranger = agent_request(bytes(16), key=SigningKey.generate(), nonce=bytes(32), url=URL)
    await scene.post(stranger)  # the very first try at no code makes the row that they share

    work: list[str] = []

    def counting(name: str, owner: Any) -> None:
        real = getattr(owner, name)

        def call(*args: Any, **facts: Any) -> Any:
            work.append(" ".join([name, *(a.__name__ for a in args if callable(a))]))
            return real(*args, **facts)

        monkeypatch.setattr(owner, name, call)

    for name in ("read", "write"):
        counting(name, scene.store)
    counting("check_request", endpoint)
    counting("_note_refusal", PairingEndpoint)
    done = {}
    for what, record in {
        "a wrong proof": scene.request() | {"mac": "A" * 43 + "="},
        "no such code": stranger,
        "a code that was used": agent_request(
            used, key=SigningKey.generate(), nonce=bytes(32), url=URL
        ),
    }.items():
        before = await scene.tries()
        work.clear()
        assert (await scene.post(record))[0] == 403
        done[what] = (*work, await scene.tries() - before)
    once = ("read find", "check_request", "write count_wrong_try", "_note_refusal", 1)
    assert done == dict.fromkeys(done, once)


@pytest.mark.requirement("R9")
async def test_guessing_at_unknown_codes_changes_nothing(scene: Scene) -> None:
    before = await scene.events()
    stranger = agent_request(bytes(16), key=SigningKey.generate(), nonce=bytes(32), url=URL)
    assert await scene.post(stranger) == (403, {"error": "refused"})
    assert await scene.events() == before


@pytest.mark.requirement("R10")
async def test_a_request_made_for_another_address_is_refused(scene: Scene) -> None:
    request = scene.request(url="https://evil.example")
    assert await scene.post(request) == (403, {"error": "refused"})


@pytest.mark.requirement("R10")
async def test_a_key_swapped_on_the_way_is_refused(scene: Scene) -> None:
    other = scene.request()
    request = scene.request() | {"key": other["key"], "sig": other["sig"]}
    assert await scene.post(request) == (403, {"error": "refused"})


@pytest.mark.requirement("R11")
async def test_a_key_that_is_enrolled_already_enrols_no_second_machine(scene: Scene) -> None:
    key = SigningKey.generate()
    await scene.store.write(
        agents.enrol, "agent-0", machine="dev-0", public_key=key.public, at_ms=1
    )
    assert await scene.post(scene.request(key=key)) == (403, {"error": "refused"})
    assert (await scene.post(scene.request()))[0] == 200, "the code was not used up"


@pytest.mark.requirement("R19")
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b'{"pairing":7}',
        b'{"pairing":"x","pairing":"y"}',
        b"[" * 5000,
        b'{"pairing":"' + b"a" * MAX_BYTES + b'"}',
        b'{"v":NaN}',
        b"\xff",
    ],
)
async def test_what_is_no_request_is_refused_like_everything_else(
    scene: Scene, body: bytes
) -> None:
    async with scene.client.post(PAIR_PATH, data=body) as answer:
        assert answer.status == 403
        assert await answer.json() == {"error": "refused"}


async def test_a_body_without_end_is_not_read_to_its_end(scene: Scene) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 64 * MAX_BYTES:
            sent += MAX_BYTES
            yield b" " * MAX_BYTES

    async with scene.client.post(PAIR_PATH, data=endless()) as answer:
        assert answer.status == 403


@pytest.mark.requirement("R13")
async def test_a_browser_cannot_pair(scene: Scene) -> None:
    async with scene.client.post(
        PAIR_PATH, json=scene.request(), headers={"Origin": "https://gw.example"}
    ) as answer:
        assert answer.status == 403
    assert (await scene.post(scene.request()))[0] == 200


async def test_a_store_that_fails_asks_to_come_again(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise StoreError("store.failed")

    monkeypatch.setattr(scene.store, "read", fail)
    assert await scene.post(scene.request()) == (503, {"error": "unavailable"})


async def test_a_body_that_never_comes_is_not_waited_for(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "READ_S", 0.05)
    hold = asyncio.Event()

    async def slow() -> AsyncIterator[bytes]:
        yield b"{"
        await hold.wait()

    async with asyncio.timeout(30), scene.client.post(PAIR_PATH, data=slow()) as answer:
        assert answer.status == 403
    hold.set()
