"""The page's application: what lies at which path, and its life beside the agent.

Around every request stand the guards of `common.page.guards`; what is behind them is told by
`api`, and what changes meanwhile by `live`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, Final

from aiohttp import web
from aiohttp.typedefs import Handler

from common import strict_json
from common.errors import AuthError, CodexBridgeError
from common.page.guards import LIVE, SESSION, Guard
from common.page.serving import read_assets
from common.page.sessions import Sessions
from local_agent.faces.page.api import page_routes
from local_agent.faces.page.live import Live
from local_agent.faces.page.parts import PageParts

KIT: Final = {
    "/kit/preact.js": "vendor/preact.js",
    "/kit/marked.js": "vendor/marked.js",
    "/kit/kit.js": "kit.js",
    "/kit/kit.css": "kit.css",
    "/kit/launch.js": "launch.js",
}
OWN: Final = {
    "/": "index.html",
    "/launch": "launch.html",
    "/closed": "closed.html",
    "/icon.svg": "icon.svg",
    "/app.css": "app.css",
    **{
        f"/{name}.js": f"{name}.js"
        for name in (
            "app",
            "tasks",
            "diff",
            "markdown",
            "files",
            "playbooks",
            "records",
            "passkeys",
            "insights",
        )
    },
}
OPEN: Final = frozenset({"/launch", "/api/launch", "/kit/launch.js", "/kit/kit.css", "/icon.svg"})
LAUNCH_BYTES: Final = 1024


class PageServer:
    """The application, and the tasks that live as long as it.

    Args:
        parts: Of the agent.
        sessions: Whose sessions count.
        cookie: Its name.
        preferences: Language and colours, as the person last chose them.
        prefer: Keeps them.
        keep: Keeps the sessions.
    """

    def __init__(
        self,
        parts: PageParts,
        sessions: Sessions,
        *,
        cookie: str,
        preferences: Mapping[str, str],
        prefer: Callable[[Mapping[str, str]], Awaitable[None]],
        keep: Callable[[], Coroutine[Any, Any, None]],
    ) -> None:
        self._parts = parts
        self._sessions = sessions
        self._cookie = cookie
        self._keep = keep
        self._live = Live(parts)
        self._assets = read_assets("common.page", KIT) | read_assets("local_agent.faces.page", OWN)
        guard = Guard(
            sessions,
            cookie,
            clock=parts.clock,
            log=parts.log,
            open_paths=OPEN,
            closed=self._closed,
        )
        self.admits = guard.admits
        self.app = guard.new_app()
        self.app.add_routes(
            [
                *(web.get(path, self._asset(path)) for path in self._assets if path != "/closed"),
                web.post("/api/launch", self._launch),
                web.post("/api/leave", self._leave),
                web.get(LIVE, self._follow),
                *page_routes(parts, self._live, preferences=preferences, prefer=prefer),
            ]
        )
        self._running: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Begin to hear what happens."""
        self._running = asyncio.create_task(self._live.run(), name="page-live")

    def let_go(self) -> None:
        """Let every tab go whose session has ended."""
        now_ms = self._parts.clock.now().wall_ms
        self._live.let_go(lambda session: self._sessions.lives(session, now_ms))

    async def end(self) -> None:
        """Let every tab go."""
        await self._live.close()
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)

    def _asset(self, path: str) -> Handler:
        body, kind = self._assets[path]

        async def handle(_request: web.Request) -> web.StreamResponse:
            return web.Response(body=body, content_type=kind, charset="utf-8")

        return handle

    async def _closed(self) -> web.StreamResponse:
        """Tell a person without a session how to get one."""
        body, kind = self._assets["/closed"]
        return web.Response(status=403, body=body, content_type=kind, charset="utf-8")

    async def _launch(self, request: web.Request) -> web.StreamResponse:
        """Begin a session with the secret of a link, which is used up by it."""
        try:
            body = strict_json.loads(await request.read(), max_bytes=LAUNCH_BYTES)
            secret = body.get("secret") if isinstance(body, dict) else None
            if not isinstance(secret, str):
                raise AuthError("page.launch")
            granted = self._sessions.redeem(secret, self._parts.clock.now().wall_ms)
        except CodexBridgeError:
            return web.Response(status=403)
        self.let_go()  # of the session that gave way, where there were too many
        await self._keep()
        answer = web.json_response({"token": granted.token, "purpose": granted.purpose})
        answer.set_cookie(self._cookie, granted.cookie, httponly=True, samesite="Strict", path="/")
        return answer

    async def _leave(self, request: web.Request) -> web.StreamResponse:
        """End this browser's session."""
        self._sessions.end(request[SESSION])
        self.let_go()
        await self._keep()
        answer = web.json_response({})
        answer.del_cookie(self._cookie, path="/")
        return answer

    async def _follow(self, request: web.Request) -> web.StreamResponse:
        return await self._live.serve(request, request[SESSION])
