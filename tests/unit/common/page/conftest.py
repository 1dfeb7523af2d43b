"""A page of two paths behind its guards, on real loopback, asked in raw bytes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Self, cast

from aiohttp import web

from common.clock import ManualClock
from common.logs import Log
from common.page.guards import API, LIVE, SESSION, Guard, OwnerOf
from common.page.serving import Listening, listen
from common.page.sessions import Granted, Sessions

WITHIN_S = 10.0
COOKIE = "codexbridge0a1b2c3d"


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes


HUNG_UP = Answer(0, {}, b"")


@dataclass
class Heard:
    """A log in memory."""

    events: list[str] = field(default_factory=list)

    def warning(self, event: str, *_args: Any, **_facts: Any) -> None:
        """Keep the event."""
        self.events.append(event)

    info = exception = warning


class Site:
    """A guarded page.

    Attributes:
        reached: The paths whose handlers were asked.
    """

    def __init__(self, owner_of: OwnerOf | None) -> None:
        self.clock = ManualClock()
        self.log = Heard()
        self.sessions = Sessions()
        self.reached: list[str] = []
        self.guard = Guard(
            self.sessions,
            COOKIE,
            clock=self.clock,
            log=cast("Log", self.log),
            open_paths={"/open", "/api/open"},
            closed=self._closed,
            owner_of=owner_of,
        )
        self.granted = self.begin()

    def begin(self) -> Granted:
        """Begin a session."""
        now_ms = self.clock.now().wall_ms
        return self.sessions.redeem(self.sessions.new_launch(now_ms), now_ms)

    async def open(self) -> Self:
        """Listen."""
        app = self.guard.new_app()
        answers: dict[str, Callable[[web.Request], Awaitable[web.StreamResponse]]] = {
            "/": self._answer,
            "/open": self._answer,
            "/api/open": self._answer,
            f"{API}thing": self._answer,
            LIVE: self._answer,
            "/fails": self._fail,
            "/fails-late": self._fail_late,
        }
        for path, answer in answers.items():
            app.router.add_get(path, answer)
            app.router.add_post(path, answer)
        self.listening: Listening = await listen(app, admits=self.guard.admits)
        return self

    @property
    def port(self) -> int:
        """Where it listens."""
        return self.listening.port

    async def ask(
        self,
        path: str = "/open",
        *,
        method: str = "GET",
        body: bytes = b"",
        headers: dict[str, str | None] | None = None,
        more: tuple[str, ...] = (),
    ) -> Answer:
        """Send one request on a connection of its own; a header that is None is left out."""
        usual: dict[str, str | None] = {"Host": f"localhost:{self.port}", "Connection": "close"}
        if method == "POST":
            usual |= {"Content-Type": "application/json", "Origin": f"http://localhost:{self.port}"}
            usual["Content-Length"] = str(len(body))
        told = usual | (headers or {})
        lines = [f"{name}: {value}" for name, value in told.items() if value is not None]
        head = "\r\n".join([f"{method} {path} HTTP/1.1", *lines, *more])
        return await self.send(f"{head}\r\n\r\n".encode() + body)

    async def send(self, raw: bytes) -> Answer:
        """Send bytes and read the answer until its end; `HUNG_UP` where there is none."""
        async with asyncio.timeout(WITHIN_S):
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            try:
                writer.write(raw)
                try:
                    head = await reader.readuntil(b"\r\n\r\n")
                except (asyncio.IncompleteReadError, ConnectionError):
                    return HUNG_UP
                length = read_answer(head).headers.get("content-length")
                if length is None:
                    return read_answer(head + await reader.read())
                no_body = raw.startswith(b"HEAD ")
                return read_answer(head + await reader.readexactly(0 if no_body else int(length)))
            finally:
                writer.close()

    def halves(self, *, token: bool = True) -> dict[str, str | None]:
        """Return the headers of a session."""
        both: dict[str, str | None] = {"Cookie": f"{COOKIE}={self.granted.cookie}"}
        return both | {"X-CSRF-Token": self.granted.token} if token else both

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.reached.append(request.path)
        body = await request.read()
        return web.json_response({"size": len(body), "session": SESSION in request})

    async def _fail(self, request: web.Request) -> web.StreamResponse:
        raise ValueError("a secret of the agent")

    async def _fail_late(self, request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse()
        await answer.prepare(request)
        await answer.write(b"begun")
        raise ValueError("a secret of the agent")

    async def _closed(self) -> web.StreamResponse:
        return web.Response(status=403, text="run: codexbridge open")


def read_answer(raw: bytes) -> Answer:
    """Return the parts of an answer."""
    head, _, body = raw.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = dict(line.split(":", 1) for line in lines)
    told = {name.lower(): value.strip() for name, value in headers.items()}
    return Answer(int(first.split()[1]), told, body)


@asynccontextmanager
async def guarded(owner_of: OwnerOf | None = None) -> AsyncIterator[Site]:
    """Serve a page while a test asks it."""
    site = await Site(owner_of).open()
    try:
        yield site
    finally:
        await site.listening.close()
