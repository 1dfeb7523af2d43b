"""A backend that is given its key when it is built: it is built anew where that has changed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from common.errors import CodexBridgeError
from local_agent.errors import ModelError
from local_agent.models.backend import Backend, Emit, Health, Reply, Turn


class KeyedBackend:
    """Reads the key before each turn, and hands on to the backend of that key.

    Args:
        name: What the person calls the model.
        key: Gives its key, or None where it needs none; blocks.
        build: Builds the backend for a key.
    """

    def __init__(
        self,
        name: str,
        *,
        key: Callable[[], str | None],
        build: Callable[[str | None], Backend],
    ) -> None:
        self._name = name
        self._read = key
        self._build = build
        self._key: str | None = None
        self._backend: Backend | None = None
        self._renewing = asyncio.Lock()

    @property
    def name(self) -> str:
        """What the person calls it."""
        return self._name

    async def ask(self, turn: Turn, emit: Emit) -> Reply:
        """Put one question; see `Backend.ask`."""
        return await (await self._present()).ask(turn, emit)

    async def check(self) -> Health:
        """Ask the smallest question; see `Backend.check`."""
        return await (await self._present()).check()

    async def aclose(self) -> None:
        """End what it has running."""
        async with self._renewing:
            if self._backend is not None:
                await self._backend.aclose()

    async def _present(self) -> Backend:
        async with self._renewing:
            try:
                key = await asyncio.to_thread(self._read)
            except CodexBridgeError as error:
                raise ModelError("model.key", why=error.code) from error
            if self._backend is None or key != self._key:
                former, self._backend, self._key = self._backend, self._build(key), key
                if former is not None:
                    await former.aclose()
            return self._backend
