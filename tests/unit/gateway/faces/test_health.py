"""Health says yes or no by name, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from common.errors import StoreError
from gateway.faces import health


async def ask(
    ready: Callable[[], Awaitable[Mapping[str, bool]]], path: str
) -> tuple[int, dict[str, Any], str]:
    app = web.Application()
    app.add_routes(health.routes(ready))
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
    status, body, cache = await ask(all_good, health.READY_PATH)
    assert (status, body, cache) == (
        200,
        {"status": "ready", "parts": {"store": True, "outbox": True}},
        "no-store",
    )


async def test_one_part_that_does_not_work_is_enough() -> None:
    status, body, _ = await ask(one_bad, health.READY_PATH)
    assert (status, body["status"], body["parts"]["outbox"]) == (503, "not ready", False)


@pytest.mark.parametrize("ready", [failing, stuck])
async def test_no_answer_from_within_is_no(
    ready: Callable[[], Awaitable[Mapping[str, bool]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "READY_S", 0.05)
    status, body, _ = await ask(ready, health.READY_PATH)
    assert (status, body) == (503, {"status": "not ready", "parts": {"gateway": False}})


@pytest.mark.parametrize("ready", [all_good, failing, stuck])
async def test_living_needs_no_part(ready: Callable[[], Awaitable[Mapping[str, bool]]]) -> None:
    status, body, _ = await ask(ready, health.LIVE_PATH)
    assert (status, body) == (200, {"status": "live"})
