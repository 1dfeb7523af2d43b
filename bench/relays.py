"""The peers of `bench.link`: the least that takes a POST and hands it to a WebSocket.

    python -m bench.relays PORT [DATABASE]

Without a database nothing is checked and nothing is kept.  With one, each message is committed
durably (SQLite, WAL, synchronous=FULL), signed and verified (Ed25519) before it is answered.
The WeCom that the gateway answers to is here as well: it says yes to everything.

    python -m bench.relays PORT --wecom
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from aiohttp import WSMsgType, web
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

HEARTBEAT_S: Final = 20.0
MAX_TEXT: Final = 256 * 1024


class Relay:
    """A POST to ``/to/NUMBER`` becomes a text to the socket at ``/agent/NUMBER``."""

    def __init__(self) -> None:
        self._sockets: dict[str, web.WebSocketResponse] = {}

    def app(self) -> web.Application:
        """Return what answers."""
        app = web.Application()
        app.add_routes(
            [web.get("/agent/{number}", self._agent), web.post("/to/{number}", self._post)]
        )
        return app

    async def keep(self, text: str) -> None:
        """Keep nothing."""

    async def _agent(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(compress=False, heartbeat=HEARTBEAT_S, max_msg_size=MAX_TEXT)
        await socket.prepare(request)
        self._sockets[request.match_info["number"]] = socket
        async for message in socket:
            if message.type is WSMsgType.TEXT:
                await socket.send_str(message.data)
        return socket

    async def _post(self, request: web.Request) -> web.Response:
        text = await request.text()
        await self.keep(text)
        await self._sockets[request.match_info["number"]].send_str(text)
        return web.Response(text="success")


class DurableRelay(Relay):
    """The same, with one durable commit, one signature and one check of it."""

    def __init__(self, database: str) -> None:
        super().__init__()
        self._writer = ThreadPoolExecutor(max_workers=1)
        self._key = Ed25519PrivateKey.generate()
        self._public = self._key.public_key()
        self._store = sqlite3.connect(database, isolation_level=None, check_same_thread=False)
        self._store.execute("PRAGMA journal_mode=WAL")
        self._store.execute("PRAGMA synchronous=FULL")
        self._store.execute("CREATE TABLE kept (text TEXT, signature BLOB)")

    async def keep(self, text: str) -> None:
        """Sign, verify and commit."""
        data = text.encode()
        signature = self._key.sign(data)
        self._public.verify(signature, data)
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._writer, self._commit, text, signature)

    def _commit(self, text: str, signature: bytes) -> None:
        self._store.execute("INSERT INTO kept VALUES (?, ?)", (text, signature))


async def _token(_request: web.Request) -> web.Response:
    return web.json_response(
        {"errcode": 0, "errmsg": "ok", "access_token": "t" * 32, "expires_in": 7200}
    )


async def _sent(_request: web.Request) -> web.Response:
    return web.json_response({"errcode": 0, "errmsg": "ok", "msgid": "m"})


def wecom() -> web.Application:
    """Return a WeCom that takes every message."""
    app = web.Application()
    app.add_routes([web.get("/cgi-bin/gettoken", _token), web.post("/cgi-bin/message/send", _sent)])
    return app


def app_of(rest: list[str]) -> web.Application:
    """Return what the command line asks for."""
    if rest == ["--wecom"]:
        return wecom()
    return DurableRelay(*rest).app() if rest else Relay().app()


def main() -> None:
    """Serve until ended."""
    port, *rest = sys.argv[1:]
    web.run_app(
        app_of(rest), host="127.0.0.1", port=int(port), print=None, access_log=None, backlog=512
    )


if __name__ == "__main__":
    main()
