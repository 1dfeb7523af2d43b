"""How one process serves: its port, its parts, its end."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import gzip
import io
import os
import resource
import signal
import socket
import weakref

import aiohttp
import pytest
from aiohttp import web

from common.errors import ConfigError, UnavailableError
from gateway.app import serving as serving_module
from gateway.app.serving import (
    allow_connections,
    bind,
    listening,
    running,
    spare_collector,
    stop_signal,
    until_stopped,
)
from gateway.base.addresses import cannot_listen
from tests.unit.gateway.link.doubles import silent_log

pytestmark = pytest.mark.heavy


def test_a_port_in_use_is_an_admins_matter() -> None:
    with bind("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(ConfigError) as caught:
            bind("127.0.0.1", port)
    assert caught.value.code == "config.port-in-use"
    assert caught.value.facts["port"] == port


def test_an_address_of_another_machine_is_an_admins_matter() -> None:
    with pytest.raises(ConfigError) as caught:
        bind("192.0.2.1", 0)
    assert caught.value.code == "config.no-such-address"


@pytest.mark.skipif(not socket.has_ipv6, reason="this machine has no IPv6")
def test_it_listens_on_ipv6_too() -> None:
    try:
        listener = bind("::1", 0)
    except ConfigError:
        pytest.skip("IPv6 is switched off on this machine")
    with listener:
        assert listener.family is socket.AF_INET6


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_both_signals_stop_it(number: signal.Signals) -> None:
    stop = stop_signal()
    os.kill(os.getpid(), number)
    async with asyncio.timeout(30):
        assert await stop.wait()
    asyncio.get_running_loop().remove_signal_handler(number)


async def forever() -> None:
    await asyncio.Event().wait()


async def test_the_parts_are_cancelled_at_the_end() -> None:
    async with running({"one": forever(), "two": forever()}) as tasks:
        stop = asyncio.Event()
        stop.set()
        await until_stopped(stop, tasks, log=silent_log())
        assert not any(task.done() for task in tasks)
    assert all(task.cancelled() for task in tasks)


async def test_a_part_that_ends_stops_everything_and_is_named() -> None:
    async def broken() -> None:
        raise ZeroDivisionError

    lines = io.StringIO()
    async with running({"outbox": broken(), "relay": forever()}) as tasks:
        with pytest.raises(UnavailableError) as caught:
            await until_stopped(asyncio.Event(), tasks, log=silent_log(lines))
    assert caught.value.code == "gateway.part-failed"
    assert caught.value.facts == {"part": "outbox"}
    assert "ZeroDivisionError" in lines.getvalue()


async def test_open_connections_are_told_goodbye_before_the_port_is_given_back() -> None:
    here, gone = asyncio.Event(), asyncio.Event()

    async def wait(_request: web.Request) -> web.Response:
        here.set()
        await gone.wait()
        return web.Response(text="bye")

    app = web.Application()
    app.router.add_get("/", wait)
    listener = bind("127.0.0.1", 0)
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    async with aiohttp.ClientSession() as http:
        async with listening(app, listener, goodbye=gone.set):
            asked = asyncio.create_task(http.get(url))
            async with asyncio.timeout(30):
                await here.wait()
        async with asyncio.timeout(30), await asked as answer:
            assert await answer.text() == "bye"
        with pytest.raises(aiohttp.ClientConnectionError):
            await http.get(url)


async def test_no_body_is_inflated() -> None:
    bomb = gzip.compress(bytes(1_000_000))

    async def take(request: web.Request) -> web.Response:
        return web.Response(body=await request.read())

    app = web.Application()
    app.router.add_post("/", take)
    listener = bind("127.0.0.1", 0)
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    headers = {"Content-Encoding": "gzip"}
    async with (
        listening(app, listener, goodbye=lambda: None),
        aiohttp.ClientSession() as http,
        http.post(url, data=bomb, headers=headers) as answer,
    ):
        assert await answer.read() == bomb


@pytest.mark.requirement("R13")
@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nX-Slow: "], ids=["nothing", "half"])
async def test_a_connection_that_asks_for_nothing_is_closed(said: bytes) -> None:
    listener = bind("127.0.0.1", 0)
    port = listener.getsockname()[1]
    serving = listening(web.Application(), listener, goodbye=lambda: None, head_seconds=0.05)
    async with serving, asyncio.timeout(30):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(said)
        with contextlib.suppress(ConnectionResetError):
            assert await reader.read() == b""
        writer.close()


@pytest.mark.requirement("R13")
async def test_in_a_crowd_whoever_asks_for_nothing_is_closed_sooner(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(serving_module, "CROWD", 10)
    monkeypatch.setattr(serving_module, "LOOK_SECONDS", 0.02)
    listener = bind("127.0.0.1", 0)
    port = listener.getsockname()[1]
    # Alone it would have 20 s, and the test 5.
    serving = listening(web.Application(), listener, goodbye=lambda: None, head_seconds=20.0)
    async with serving, asyncio.timeout(30):
        crowd = [await asyncio.open_connection("127.0.0.1", port) for _ in range(200)]
        ended = asyncio.gather(*(reader.read() for reader, _ in crowd), return_exceptions=True)
        assert len(await ended) == 200
        for _, writer in crowd:
            writer.close()


async def test_a_connection_at_work_is_left_alone_and_one_after_it_waits_longer() -> None:
    async def slowly(_request: web.Request) -> web.Response:
        await asyncio.sleep(0.3)
        return web.Response(text="done")

    app = web.Application()
    app.router.add_get("/", slowly)
    listener = bind("127.0.0.1", 0)
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    async with (
        listening(app, listener, goodbye=lambda: None, head_seconds=0.05),
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=1)) as http,
    ):
        for _ in range(2):
            async with http.get(url) as answer:
                assert await answer.text() == "done"
            await asyncio.sleep(0.15)


async def test_what_is_no_http_does_not_fill_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(_request: web.Request) -> web.Response:
        raise ZeroDivisionError

    app = web.Application()
    app.router.add_get("/", broken)
    listener = bind("127.0.0.1", 0)
    port = listener.getsockname()[1]
    async with listening(app, listener, goodbye=lambda: None):
        for said in (b"GET /\x01 HTTP/1.1\r\n\r\n", b"GET / HTTP/1.0\r\n\r\n"):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(said)
            assert await reader.read()
            writer.close()
    assert [record.name for record in caplog.records if record.exc_info] == ["gateway.server"]


async def test_a_shortage_of_connections_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    loop = asyncio.get_running_loop()
    async with listening(web.Application(), bind("127.0.0.1", 0), goodbye=lambda: None):
        for _ in range(500):
            loop.call_exception_handler({"message": "socket.accept() out of system resource"})
        loop.call_exception_handler({"message": "something else"})
    assert [record.message.split()[0] for record in caplog.records] == [
        "socket.accept()",
        "something",
    ]


def test_the_limit_of_open_files_is_raised_as_far_as_allowed() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
        allow_connections()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        assert hard == before[1]
        assert soft > 256 or hard == 256
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_the_collector_still_finds_cycles_but_not_among_what_was_there_before() -> None:
    class Looped:
        def __init__(self) -> None:
            self.itself = self

    before = gc.get_threshold()
    try:
        spare_collector()
        assert gc.isenabled()
        assert gc.get_freeze_count() > 0
        looped = Looped()
        seen = weakref.ref(looped)
        del looped
        gc.collect()
        assert seen() is None
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.EADDRINUSE, "config.port-in-use"),
        (errno.EACCES, "config.port-forbidden"),
        (errno.EADDRNOTAVAIL, "config.no-such-address"),
        (errno.ENOBUFS, "config.cannot-listen"),
    ],
)
def test_a_socket_that_cannot_be_opened_says_where_and_why(number: int, code: str) -> None:
    error = cannot_listen(OSError(number, "why"), host="127.0.0.1", port=80)
    assert error.code == code
    assert error.facts == {"host": "127.0.0.1", "port": 80, "why": "why"}


def test_an_os_error_without_a_number_is_still_explained() -> None:
    assert cannot_listen(OSError("odd"), host="::1", port=1).code == "config.cannot-listen"
