"""The page over a real engine, journal and gate, asked over real loopback; no browser."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from aiohttp import ClientSession, ClientWebSocketResponse, DummyCookieJar, WSMsgType

from common.errors import StoreError
from common.logs import Log
from common.page.serving import listen
from common.page.sessions import Granted, Sessions
from local_agent.faces.control.operations import AgentOperations
from local_agent.faces.page.parts import PageParts
from local_agent.faces.page.passkeys import Passkeys
from local_agent.faces.page.server import PageServer
from local_agent.faces.telling import Teller
from local_agent.faces.window.program import Windows
from local_agent.workspace.registry import Registry
from tests.run_desk import RunDesk, running
from tests.unit.local_agent.faces.control.conftest import (
    SURROUNDINGS,
    CountedPage,
    NoModels,
)

WITHIN_S = 10.0
COOKIE = "codexbridge0a1b2c3d"
Json = dict[str, Any]


@dataclass
class Heard:
    """A log in memory."""

    events: list[str] = field(default_factory=list)

    def warning(self, event: str, *_args: Any, **_facts: Any) -> None:
        """Keep the event."""
        self.events.append(event)

    info = exception = warning


class Blobs:
    """The blobs of a desk, of which some can be lost."""

    def __init__(self, desk: RunDesk) -> None:
        self._desk = desk
        self.lost = False

    def put(self, data: bytes) -> str:
        """Keep them."""
        return self._desk.blobs.put(data)

    def get(self, name: str) -> bytes:
        """Return them, unless they are lost."""
        if self.lost:
            raise StoreError("blob.missing", name=name)
        return self._desk.blobs.get(name)


class PageDesk:
    """What a page is given, of an agent that works."""

    def __init__(self, desk: RunDesk) -> None:
        self.desk = desk
        self.log = Heard()
        self.blobs = Blobs(desk)
        self.windows = Windows()
        self.preferred: list[Mapping[str, str]] = []
        self.registry = Registry(desk.places, home=desk.folder / "home")
        places = {str(desk.place.resolve()): "shop"}
        teller = Teller(
            desk.db,
            desk.gate,
            machine="build-1",
            workspaces=lambda: places,
            can_check=lambda asked: desk.engine.can_check(asked.seal),
        )
        entrance = desk.gate.entrance("passkey")
        passkeys = Passkeys(desk.db, entrance, desk.clock, windows=self.windows)
        operations = AgentOperations(
            db=desk.db,
            gate=desk.gate,
            entrance=desk.gate.entrance("terminal"),
            engine=desk.engine,
            bus=desk.bus,
            tell=teller.tell,
            prefix="@dev",
            user="zhang",
            surroundings=lambda: SURROUNDINGS,
            blobs=self.blobs,
            rotate=_never,
            receipt=lambda short_id: f"receipt of {short_id}".encode(),
            models=NoModels(),
            places=desk.places,
            workspaces=self.registry,
            forget_closed=_never,
            page=CountedPage(),
            passkeys=passkeys,
        )
        self.parts = PageParts(
            operations=operations,
            teller=teller,
            db=desk.db,
            bus=desk.bus,
            gate=desk.gate,
            passkeys=passkeys,
            read_blob=self.blobs.get,
            workspaces=self.registry,
            windows=self.windows,
            models=NoModels(),
            settings=desk.settings,
            settings_file=None,
            environ={},
            places=desk.places,
            clock=desk.clock,
            log=cast("Log", self.log),
            lang="en",
        )

    async def prefer(self, preferences: Mapping[str, str]) -> None:
        """Keep what the person prefers."""
        self.preferred.append(preferences)


async def _never() -> Any:
    raise AssertionError("the page asks for no such thing")


async def _nothing() -> None:
    """Keep nothing."""


@dataclass(frozen=True)
class Told:
    """An answer of the page."""

    status: int
    kind: str
    body: bytes
    json: Any


class Tab:
    """A browser with a session, without the browser."""

    def __init__(self, port: int, granted: Granted, web: ClientSession, cookie: str) -> None:
        self._port = port
        self._web = web
        self.granted = granted
        self.headers = {
            "Host": f"localhost:{port}",
            "Cookie": f"{cookie}={granted.cookie}",
            "X-CSRF-Token": granted.token,
        }

    async def get(self, path: str) -> Told:
        """Read."""
        return await self.send("GET", path)

    async def post(self, path: str, body: object = None, *, raw: bytes | None = None) -> Told:
        """Ask for something."""
        return await self.send("POST", path, body={} if body is None else body, raw=raw)

    async def read(self, path: str) -> Any:
        """Read what must be there."""
        told = await self.get(path)
        assert told.status == 200, told
        return told.json

    async def act(self, path: str, body: object = None) -> Any:
        """Ask for what must be done."""
        told = await self.post(path, body)
        assert told.status == 200, told
        return told.json

    async def send(
        self, method: str, path: str, *, body: object = None, raw: bytes | None = None
    ) -> Told:
        """Send one request."""
        from yarl import URL

        headers = dict(self.headers)
        sent: dict[str, Any] = {}
        if method == "POST":
            headers |= {"Origin": f"http://localhost:{self._port}"}
            headers |= {"Content-Type": "application/json"}
            sent = {"data": raw} if raw is not None else {"json": body}
        url = URL(f"http://127.0.0.1:{self._port}{path}", encoded=True)
        async with asyncio.timeout(WITHIN_S):
            async with self._web.request(method, url, headers=headers, **sent) as answer:
                data = await answer.read()
                is_json = answer.content_type == "application/json"
                found = await answer.json() if is_json else None
                return Told(answer.status, answer.content_type, data, found)

    @asynccontextmanager
    async def live(
        self, life: str = "", cursor: int = 0, *, first: object = None
    ) -> AsyncIterator[Socket]:
        """Follow what happens.

        Args:
            first: What is said first instead of what must be; bytes and text as they are.
        """
        headers = self.headers | {"Origin": f"http://localhost:{self._port}"}
        url = f"ws://127.0.0.1:{self._port}/api/live"
        async with self._web.ws_connect(url, headers=headers, autoping=True) as socket:
            if isinstance(first, bytes):
                await socket.send_bytes(first)
            elif isinstance(first, str):
                await socket.send_str(first)
            elif first is not None:
                await socket.send_json(first)
            else:
                hello = {"token": self.granted.token, "life": life, "cursor": cursor}
                await socket.send_json(hello)
            yield Socket(socket)


class Socket:
    """The socket of a tab."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self.raw = socket

    async def hear(self) -> Json:
        """Return what is told next."""
        async with asyncio.timeout(WITHIN_S):
            told: Json = await self.raw.receive_json()
            return told

    async def until(self, **facts: Any) -> Json:
        """Return the next message with these facts."""
        while True:
            told = await self.hear()
            if facts.items() <= told.items():
                return told

    async def gone(self) -> int | None:
        """Return with which code the page lets it go."""
        async with asyncio.timeout(WITHIN_S):
            while (await self.raw.receive()).type not in (WSMsgType.CLOSE, WSMsgType.CLOSED):
                pass
        return self.raw.close_code


class Place(PageDesk):
    """A page that is served."""

    preferences: dict[str, str]
    sessions: Sessions
    server: PageServer
    port: int
    web: ClientSession

    async def tab(self) -> Tab:
        """Return one more browser."""
        now_ms = self.desk.clock.now().wall_ms
        granted = self.sessions.redeem(self.sessions.new_launch(now_ms), now_ms)
        return Tab(self.port, granted, self.web, COOKIE)


@asynccontextmanager
async def serving(desk: RunDesk) -> AsyncIterator[Place]:
    """Serve the page of a desk."""
    place = Place(desk)
    place.sessions = Sessions()
    place.preferences = {}
    await asyncio.to_thread(place.registry.add, desk.place, name="shop")
    place.server = await asyncio.to_thread(
        lambda: PageServer(
            place.parts,
            place.sessions,
            cookie=COOKIE,
            preferences=place.preferences,
            prefer=place.prefer,
            keep=_nothing,
        )
    )
    listening = await listen(place.server.app, admits=place.server.admits)
    place.port = listening.port
    place.server.begin()
    try:
        async with ClientSession(cookie_jar=DummyCookieJar()) as place.web:
            yield place
    finally:
        await place.server.end()
        await listening.close()


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    """Give a page that is served."""
    async with contextlib.AsyncExitStack() as stack:
        desk = await stack.enter_async_context(running(tmp_path))
        yield await stack.enter_async_context(serving(desk))


@pytest.fixture
async def tab(place: Place) -> Tab:
    """Give a browser with a session."""
    return await place.tab()
