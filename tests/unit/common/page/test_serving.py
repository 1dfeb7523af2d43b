"""Listening on loopback alone, on both of its addresses or none, for no more than a full house."""

from __future__ import annotations

import asyncio
import errno
import socket
from contextlib import suppress

import pytest

from common.page import serving
from common.page.guards import MAX_CONNECTIONS
from common.page.serving import TRIES, bind, read_assets
from tests.each import each
from tests.unit.common.page.conftest import WITHIN_S, guarded

IPV4, IPV6 = serving.ADDRESSES


def close(sockets: list[socket.socket]) -> None:
    for one in sockets:
        one.close()


def taken(family: socket.AddressFamily, address: str) -> socket.socket:
    """Return a socket that holds a free port."""
    found = socket.socket(family, socket.SOCK_STREAM)
    found.bind((address, 0))
    found.listen()
    return found


def test_both_addresses_of_loopback_are_taken_under_one_port() -> None:
    sockets = bind(0)
    try:
        assert [one.getsockname()[0] for one in sockets] == ["127.0.0.1", "::1"]
        assert len({one.getsockname()[1] for one in sockets}) == 1
    finally:
        close(sockets)


@each("address, family", serving.ADDRESSES)
def test_where_one_address_is_taken_neither_is(address: str, family: socket.AddressFamily) -> None:
    with taken(family, address) as theirs:
        port = theirs.getsockname()[1]
        with pytest.raises(OSError, match="in use") as caught:
            bind(port)
        assert caught.value.errno == errno.EADDRINUSE
        other = IPV4 if family is socket.AF_INET6 else IPV6
        with socket.socket(other[1], socket.SOCK_STREAM) as free:
            free.bind((other[0], port))  # it was let go


@each("missing", [("2001:db8::1", socket.AF_INET6), ("127.0.0.1", socket.AF_APPLETALK)])
def test_an_address_that_is_not_here_is_left_out(missing: tuple[str, socket.AddressFamily]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(serving, "ADDRESSES", (IPV4, missing))
        sockets = bind(0)
        try:
            assert [one.getsockname()[0] for one in sockets] == ["127.0.0.1"]
        finally:
            close(sockets)


def test_where_there_is_no_loopback_nothing_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "ADDRESSES", (("2001:db8::1", socket.AF_INET6),))
    with pytest.raises(OSError, match="assign") as caught:
        bind(0)
    assert caught.value.errno == errno.EADDRNOTAVAIL


def test_any_free_port_is_tried_for_more_than_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # The second address is the first again, so that its port is always taken.
    monkeypatch.setattr(serving, "ADDRESSES", (IPV4, IPV4))
    tried: list[int] = []
    real = serving._listening

    def listening(address: str, family: socket.AddressFamily, port: int) -> socket.socket | None:
        tried.append(port)
        return real(address, family, port)

    monkeypatch.setattr(serving, "_listening", listening)
    with pytest.raises(OSError, match="in use"):
        bind(0)
    assert tried[::2] == [0] * TRIES
    assert all(tried[1::2])


async def test_a_page_answers_under_both_addresses() -> None:
    async with guarded() as site:
        for address in ("127.0.0.1", "::1"):
            reader, writer = await asyncio.open_connection(address, site.port)
            writer.write(f"GET /open HTTP/1.0\r\nHost: localhost:{site.port}\r\n\r\n".encode())
            assert (await reader.read()).startswith(b"HTTP/1.0 200 OK")
            writer.close()


async def test_a_page_that_was_closed_leaves_its_port_and_ends_what_is_open() -> None:
    async with guarded() as site:
        reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
        writer.write(f"GET /open HTTP/1.1\r\nHost: localhost:{site.port}\r\n\r\n".encode())
        await reader.readuntil(b"}")
        async with asyncio.timeout(WITHIN_S):
            await site.listening.close()
            assert await reader.read() == b""
        writer.close()
        close(await asyncio.to_thread(bind, site.port))


async def test_who_comes_to_a_full_house_is_turned_away() -> None:
    async with guarded() as site, asyncio.timeout(WITHIN_S):
        held = [
            await asyncio.open_connection("127.0.0.1", site.port) for _ in range(MAX_CONNECTIONS)
        ]
        # All of them are inside once each was answered.
        for reader, writer in held:
            writer.write(f"GET /open HTTP/1.1\r\nHost: localhost:{site.port}\r\n\r\n".encode())
            await reader.readuntil(b"}")
        reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
        assert await reader.read() == b""
        writer.close()
        held[0][1].close()
        while (await _asked_once(site.port)) == b"":
            pass  # the place is free once the server has heard of it
        for _, writer in held:
            writer.close()


async def test_who_says_nothing_whole_is_hung_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "_SILENT_S", 0.2)
    async with guarded() as site, asyncio.timeout(WITHIN_S):
        for begun in (b"", b"GET /open HTTP/1.1\r\nHost: local"):
            reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
            writer.write(begun)
            with suppress(ConnectionError):
                assert await reader.read() == b""
            writer.close()
        # Whoever was answered may ask again later.
        reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
        for pause in (0.0, 0.3):
            await asyncio.sleep(pause)
            writer.write(f"GET /open HTTP/1.1\r\nHost: localhost:{site.port}\r\n\r\n".encode())
            assert b"200 OK" in await reader.readuntil(b"}")
        writer.close()


async def _asked_once(port: int) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(f"GET /open HTTP/1.0\r\nHost: localhost:{port}\r\n\r\n".encode())
        return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


def test_files_are_read_by_the_names_that_are_given() -> None:
    assets = read_assets(
        "common.page", {"/a": "kit.js", "/b/c": "vendor/preact.js", "/s": "kit.css"}
    )
    assert list(assets) == ["/a", "/b/c", "/s"]
    assert [kind for _, kind in assets.values()] == [
        "text/javascript",
        "text/javascript",
        "text/css",
    ]
    assert all(body for body, _ in assets.values())


@each("name", ["kit.map", "vendor/LICENSES"])
def test_a_file_of_no_known_kind_is_not_served(name: str) -> None:
    with pytest.raises((KeyError, ValueError)):
        read_assets("common.page", {"/a": name})
