"""The door of the page: listens once somebody asks for the page, and no longer than it is used.

What outlives a restart is kept in one private file: the port, and the hashes of the sessions.  A
page that is open goes on when the agent is back within ten minutes.  Later, or where another
program has taken the port meanwhile, every session has ended: whoever held the port may have been
given what a browser keeps for it (docs/threat_model.md).  A port is not used again once no session
lives: whoever held it may have left a service worker in the browser, which gets each later link.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from common import strict_json
from common.clock import Clock
from common.errors import CodexBridgeError, UnavailableError
from common.home import Home, read_private, write_private
from common.logs import Log
from common.page.sessions import Sessions, read_sessions

if TYPE_CHECKING:
    from common.page.serving import Listening
    from local_agent.faces.page.parts import PageParts
    from local_agent.faces.page.server import PageServer

FILE: Final = "page.json"
AWAY_MS: Final = 10 * 60_000  # that sessions outlive the agent
TICK_S: Final = 60.0
MAX_FILE_BYTES: Final = 64 * 1024
_PORTS: Final = range(1024, 65536)


class PageDoor:
    """Opens and closes the page.

    Args:
        places: Where the file lies.
        clock: For sessions.
        log: What went wrong.
    """

    def __init__(self, places: Home, *, clock: Clock, log: Log) -> None:
        self._path = places.state / FILE
        self._clock = clock
        self._log = log
        self._parts: PageParts | None = None
        self._sessions = Sessions()
        self._port = 0
        self._cookie = ""
        self._preferences: dict[str, str] = {}
        self._open: tuple[PageServer, Listening] | None = None
        self._is_read = False
        self._opening = asyncio.Lock()
        self._keeping = asyncio.Lock()

    def attach(self, parts: PageParts) -> None:
        """Name what the page shows, before anybody can ask for it."""
        self._parts = parts

    async def open(self, *, purpose: str = "") -> str:
        """Return a link that opens the page in a browser, once.

        Raises:
            UnavailableError: ``page.no-port``: nothing can listen on loopback here.
        """
        async with self._opening:
            await self._take_up()
            if self._open is None:
                await self._listen()
            secret = self._sessions.new_launch(self._now_ms(), purpose=purpose)
            await self._keep()
        return f"http://localhost:{self._port}/launch#{secret}"

    async def shut(self) -> None:
        """End every session, and stop listening."""
        async with self._opening:
            await self._take_up()
            self._sessions.end_all()
            if self._open is not None:
                self._open[0].let_go()
            await self._leave()
            await self._keep()

    async def run(self) -> None:
        """Take up the sessions that were left, and close when nobody has one; for ever."""
        async with self._opening:
            await self._take_up()
        try:
            while True:
                await asyncio.sleep(TICK_S)
                await self.tick()
        finally:
            await self.close()

    async def tick(self) -> None:
        """Close where nobody has a session any more; else note that the page is alive."""
        async with self._opening:
            if self._open is None:
                return
            if not self._sessions.is_awaited(self._now_ms()):
                await self._leave()
            else:
                self._open[0].let_go()
            await self._keep()

    async def close(self) -> None:
        """Stop listening; the sessions go on when the agent is back in time."""
        async with self._opening:
            if self._open is not None:
                await self._keep()
            await self._leave()

    async def prefer(self, preferences: Mapping[str, str]) -> None:
        """Keep which language and colours the person wants on the page."""
        self._preferences |= preferences
        await self._keep()

    async def _take_up(self) -> None:
        """Take over what was left, once, before anything else is kept."""
        if self._is_read:
            return
        kept = await asyncio.to_thread(self._read)
        self._is_read = True
        alive_ms, now_ms = kept.get("alive_ms"), self._now_ms()
        if type(alive_ms) is not int or abs(now_ms - alive_ms) >= AWAY_MS:
            return
        self._sessions = Sessions(read_sessions(kept.get("sessions")))
        if not self._sessions.is_awaited(now_ms):
            return
        try:
            await self._listen()
        except CodexBridgeError as error:
            self._log.warning("page.not-opened", code=error.code)

    async def _listen(self) -> None:
        from common.page.serving import listen
        from local_agent.faces.page.server import PageServer

        assert self._parts is not None  # noqa: S101 - attached where the agent is assembled
        server = await asyncio.to_thread(
            PageServer,
            self._parts,
            self._sessions,
            cookie=self._cookie,
            preferences=self._preferences,
            prefer=self.prefer,
            keep=self._keep,
        )
        wanted = self._port if self._sessions.is_awaited(self._now_ms()) else 0
        try:
            try:
                listening = await listen(server.app, admits=server.admits, port=wanted)
            except OSError:
                # Whoever has the port may have been sent a cookie, or have read what a page keeps.
                self._sessions.end_all()
                listening = await listen(server.app, admits=server.admits)
        except OSError as error:
            raise UnavailableError("page.no-port", why=error.strerror or "") from error
        self._port = listening.port
        self._open = server, listening
        server.begin()
        self._log.info("page.open", port=self._port)

    async def _leave(self) -> None:
        if self._open is None:
            return
        (server, listening), self._open = self._open, None
        await server.end()
        await listening.close()
        self._log.info("page.closed")

    def _read(self) -> dict[str, Any]:
        """Take over what is kept of the page itself, and return all of it; blocks."""
        try:
            raw = read_private(self._path, max_bytes=MAX_FILE_BYTES)
            kept = strict_json.loads(raw, max_bytes=MAX_FILE_BYTES)
        except (OSError, CodexBridgeError):  # none, or not ours to read: as if there were none
            kept = {}
        kept = dict(kept) if isinstance(kept, Mapping) else {}
        port, cookie = kept.get("port"), kept.get("cookie")
        if type(port) is int and port in _PORTS:
            self._port = port
        is_name = isinstance(cookie, str) and cookie.isalnum() and len(cookie) <= 32
        self._cookie = str(cookie) if is_name else f"codexbridge{secrets.token_hex(4)}"
        preferences = kept.get("preferences")
        if isinstance(preferences, Mapping):
            self._preferences |= {str(name): str(word) for name, word in preferences.items()}
        return kept

    async def _keep(self) -> None:
        async with self._keeping:  # else an older state could be written last
            kept = {
                "port": self._port,
                "cookie": self._cookie,
                "alive_ms": self._now_ms(),
                "sessions": self._sessions.to_json(),
                "preferences": self._preferences,
            }
            try:
                await asyncio.to_thread(write_private, self._path, json.dumps(kept).encode())
            except OSError as error:  # such as a full disk: the page goes on until the agent ends
                self._log.warning("page.not-kept", why=error.strerror or "")

    def _now_ms(self) -> int:
        return self._clock.now().wall_ms
