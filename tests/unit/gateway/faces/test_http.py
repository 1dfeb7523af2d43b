"""The bounds around every request, through a real server; health says yes or no by name alone."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import ClientPayloadError, web
from aiohttp.test_utils import TestClient, TestServer

from common.clock import ManualClock
from common.errors import StoreError
from common.logs import open_log
from gateway.base.addresses import FAILURES, LIVE_PATH, READY_PATH, SECONDS_PER_FAILURE
from gateway.faces import http
from gateway.faces.http import MAX_BODY_BYTES, guarded_app

Client = TestClient[web.Request, web.Application]


class Served:
    """A guarded application with a few handlers."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.stream = io.StringIO()
        self.log = open_log("gateway", stream=self.stream, json=True, clock=self.clock)
        self.handled: list[str] = []

    @asynccontextmanager
    async def client(self, *trusted: str, signed: tuple[str, ...] = ()) -> AsyncIterator[Client]:
        app = guarded_app(log=self.log, clock=self.clock, trusted_proxies=trusted, signed=signed)
        app.add_routes(
            [
                web.get("/ok", self._ok),
                web.get("/no", self._no),
                web.get(LIVE_PATH, self._ok),
                web.get("/broken", self._broken),
                web.get("/late", self._late),
                web.post("/body", self._body),
                web.get("/socket", self._socket),
            ]
        )
        async with TestClient(TestServer(app, host="127.0.0.1")) as client:
            yield client

    def logged(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stream.getvalue().splitlines()]

    async def _ok(self, request: web.Request) -> web.StreamResponse:
        self.handled.append(request.remote or "")
        return web.Response(text="fine")

    async def _no(self, request: web.Request) -> web.StreamResponse:
        self.handled.append(request.remote or "")
        return web.Response(status=403)

    async def _broken(self, _request: web.Request) -> web.StreamResponse:
        raise RuntimeError("private detail")

    async def _late(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"begun")
        raise RuntimeError("private detail")

    async def _body(self, request: web.Request) -> web.StreamResponse:
        return web.Response(text=str(len(await request.read())))

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        self.handled.append(request.remote or "")
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_str("hello")
        await socket.close()
        return socket


@pytest.fixture
def served() -> Served:
    return Served()


async def status_of(client: Client, path: str, **more: Any) -> int:
    async with client.get(path, **more) as response:
        await response.read()
        return response.status


@pytest.mark.parametrize(
    ("path", "status"), [("/ok", 200), ("/no", 403), ("/broken", 500), ("/missing", 404)]
)
async def test_no_answer_names_the_software(served: Served, path: str, status: int) -> None:
    async with served.client() as client, client.get(path) as response:
        assert response.status == status
        assert "Server" not in response.headers
        assert "aiohttp" not in str(response.headers).lower()


@pytest.mark.parametrize("path", ["/broken", "/missing"])
async def test_a_failure_has_no_body(served: Served, path: str) -> None:
    async with served.client() as client, client.get(path) as response:
        assert await response.read() == b""


async def test_another_method_is_refused_without_a_body(served: Served) -> None:
    async with served.client() as client, client.delete("/ok") as response:
        assert (response.status, await response.read()) == (405, b"")


async def test_what_nobody_expected_is_logged_by_its_place(served: Served) -> None:
    async with served.client() as client:
        assert await status_of(client, "/broken?secret=1") == 500
    [event] = served.logged()
    assert (event["event"], event["path"]) == ("http.failed", "/broken")
    assert "_broken" in event["where"]


async def test_a_response_that_has_begun_is_cut_off(served: Served) -> None:
    async with served.client() as client, client.get("/late") as response:
        with pytest.raises(ClientPayloadError):
            await response.read()
    assert served.logged()[0]["event"] == "http.failed"


async def test_a_body_is_bounded(served: Served) -> None:
    async with served.client() as client:
        for size, status in (
            (MAX_BODY_BYTES, 200),
            (MAX_BODY_BYTES + 1, 413),
        ):
            async with client.post("/body", data=b"x" * size) as response:
                assert response.status == status


async def test_a_compressed_body_is_refused_as_a_failure(served: Served) -> None:
    async with served.client() as client:
        for wanted in (*[415] * 40, 429):
            async with client.post("/body", data=b"x", headers={"Content-Encoding": "x"}) as answer:
                assert (answer.status, await answer.read()) == (wanted, b"")


async def test_an_expectation_that_nobody_meets_is_not_repeated(served: Served) -> None:
    headers = {"Expect": "<b>hello</b>"}
    async with served.client() as client, client.get("/body", headers=headers) as answer:
        assert (answer.status, await answer.read()) == (417, b"")


async def test_a_socket_passes_all_of_it(served: Served) -> None:
    async with served.client("127.0.0.0/8") as client:
        headers = {"X-Forwarded-For": "203.0.113.7"}
        async with client.ws_connect("/socket", headers=headers) as socket:
            assert await socket.receive_str(timeout=5) == "hello"
    assert served.handled == ["203.0.113.7"]


@pytest.mark.requirement("R13")
async def test_an_address_that_keeps_failing_is_no_longer_heard(served: Served) -> None:
    async with served.client() as client:
        statuses = [await status_of(client, "/no") for _ in range(FAILURES + 5)]
        assert statuses == [403] * FAILURES + [429] * 5
        assert len(served.handled) == FAILURES
        async with client.get("/ok") as response:
            assert (response.status, await response.read()) == (429, b"")
            assert 0 < int(response.headers["Retry-After"]) <= 4
        served.clock.advance(SECONDS_PER_FAILURE)
        assert await status_of(client, "/ok") == 200


async def test_what_proves_who_sends_it_is_heard_whatever_its_neighbours_do(
    served: Served,
) -> None:
    async with served.client(signed=("/ok", "/no")) as client:
        statuses = [await status_of(client, "/no") for _ in range(FAILURES + 5)]
        assert statuses == [403] * FAILURES + [429] * 5
        assert await status_of(client, "/ok") == 200
        assert await status_of(client, LIVE_PATH) == 200, "or our own commands call it stopped"
        assert await status_of(client, "/missing") == 404, "each is counted alone"
        assert [await status_of(client, "/missing") for _ in range(FAILURES)][-1] == 429
        assert await status_of(client, "/ok") == 200
    assert len(served.handled) == FAILURES + 8


async def test_paths_that_do_not_exist_count_as_failures(served: Served) -> None:
    async with served.client() as client:
        for _ in range(FAILURES):
            assert await status_of(client, "/missing") == 404
        assert await status_of(client, "/ok") == 429


async def test_whoever_succeeds_is_never_held_up(served: Served) -> None:
    async with served.client() as client:
        for _ in range(3 * FAILURES):
            assert await status_of(client, "/ok") == 200


async def test_behind_a_trusted_proxy_each_client_counts_for_itself(served: Served) -> None:
    async with served.client("127.0.0.1/32") as client:
        bad = {"X-Forwarded-For": "198.51.100.1, 203.0.113.9"}
        for _ in range(FAILURES):
            await status_of(client, "/no", headers=bad)
        assert await status_of(client, "/ok", headers=bad) == 429
        assert await status_of(client, "/ok", headers={"X-Forwarded-For": "203.0.113.8"}) == 200
        assert await status_of(client, "/ok") == 200
    assert set(served.handled) == {"203.0.113.9", "203.0.113.8", "127.0.0.1"}


async def test_nobody_else_can_say_where_he_comes_from(served: Served) -> None:
    for trusted in ((), ("10.0.0.0/8",)):
        async with served.client(*trusted) as client:
            await status_of(client, "/ok", headers={"X-Forwarded-For": "203.0.113.9"})
    assert set(served.handled) == {"127.0.0.1"}


# That an app cannot send keeps nobody from being ready for messages.
SENDING: dict[str, str | None] = {"main": None, "shop": "wecom.unreachable"}


async def ask(
    ready: Callable[[], Awaitable[Mapping[str, bool]]], path: str
) -> tuple[int, dict[str, Any], str]:
    app = web.Application()
    app.add_routes(http.health_routes(ready, lambda: SENDING))
    async with (
        TestClient(TestServer(app, host="127.0.0.1")) as client,
        client.get(path) as response,
    ):
        return response.status, await response.json(), response.headers["Cache-Control"]


async def all_good() -> Mapping[str, bool]:
    return {"store": True, "outbox": True}


async def one_bad() -> Mapping[str, bool]:
    return {"store": True, "outbox": False}


async def failing() -> Mapping[str, bool]:
    raise StoreError("store.closed", path="/private/place")


async def stuck() -> Mapping[str, bool]:
    await asyncio.Event().wait()
    return {}


async def test_a_gateway_that_works_is_ready() -> None:
    status, body, cache = await ask(all_good, READY_PATH)
    assert (status, body, cache) == (
        200,
        {"status": "ready", "parts": {"store": True, "outbox": True}, "sending": SENDING},
        "no-store",
    )


async def test_one_part_that_does_not_work_is_enough() -> None:
    status, body, _ = await ask(one_bad, READY_PATH)
    assert (status, body["status"], body["parts"]["outbox"]) == (503, "not ready", False)


@pytest.mark.parametrize("ready", [failing, stuck])
async def test_no_answer_from_within_is_no(
    ready: Callable[[], Awaitable[Mapping[str, bool]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "READY_S", 0.05)
    status, body, _ = await ask(ready, READY_PATH)
    told = {"status": "not ready", "parts": {"gateway": False}, "sending": SENDING}
    assert (status, body) == (503, told)


@pytest.mark.parametrize("ready", [all_good, failing, stuck])
async def test_living_needs_no_part(ready: Callable[[], Awaitable[Mapping[str, bool]]]) -> None:
    status, body, _ = await ask(ready, LIVE_PATH)
    assert (status, body) == (200, {"status": "live"})
