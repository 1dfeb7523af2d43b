"""Two questions of whoever operates the gateway: does it live, and may it be sent traffic.

Answers names and yes or no, nothing else: these paths are open to whoever reaches the listener.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeAlias

from aiohttp import web

from common.errors import CodexBridgeError

LIVE_PATH: Final = "/health/live"
READY_PATH: Final = "/health/ready"
READY_S: Final = 2.0
_HEADERS: Final = {"Cache-Control": "no-store"}

Ready: TypeAlias = Callable[[], Awaitable[Mapping[str, bool]]]


def routes(ready: Ready) -> list[web.RouteDef]:
    """Return the two routes.

    Args:
        ready: Returns each part that must work with whether it does; to raise, or to take more
            than two seconds, means that none is known to.
    """

    async def answer_live(_request: web.Request) -> web.Response:
        return web.json_response({"status": "live"}, headers=_HEADERS)

    async def answer_ready(_request: web.Request) -> web.Response:
        try:
            parts = dict(await asyncio.wait_for(ready(), READY_S))
        except (CodexBridgeError, TimeoutError):
            parts = {"gateway": False}
        good = all(parts.values())
        return web.json_response(
            {"status": "ready" if good else "not ready", "parts": parts},
            status=200 if good else 503,
            headers=_HEADERS,
        )

    return [web.get(LIVE_PATH, answer_live), web.get(READY_PATH, answer_ready)]
