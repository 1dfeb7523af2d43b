"""The lines of an agent, one JSON object each, as the protocol's library wants them: bounded.

Sending and receiving never raise, for the library would log what it could not handle, with what it
had read; the reason is kept in `lost` instead.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any, Final

from common import strict_json
from common.errors import CodexBridgeError, RemoteProtocolError
from local_agent.child import MAX_LINE_BYTES, Child
from local_agent.errors import ModelError

MAX_TURN_BYTES: Final = 32 * 1024 * 1024  # of all that one program says: it may show what it reads
_TOO_LARGE: Final = frozenset({"child.line", "json.too-large"})


class ChildTransport:
    """Carries messages to and from one program.

    Attributes:
        lost: Why there will be no more.
    """

    def __init__(self, child: Child) -> None:
        self._child = child
        self._room = MAX_TURN_BYTES
        self.lost: ModelError | None = None

    async def send(self, message: dict[str, Any]) -> None:
        """Say something, if anybody listens."""
        line = json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode()
        try:
            await self._child.write_line(line)
        except CodexBridgeError as error:
            self._lose("model.ended", error.code)

    async def receive(self) -> dict[str, Any] | None:
        """Return the next message, None when there will be none."""
        # The library begins a task for each message: those before go first, or a flood that is here
        # already would be taken in whole.
        await asyncio.sleep(0)
        try:
            line = await self._child.read_line()
            self._room -= len(line) + 1
            if self._room < 0:
                self._lose("model.too-large", "turn")
            else:
                return self._read(line)
        except RemoteProtocolError as error:
            is_large = error.code in _TOO_LARGE
            self._lose("model.too-large" if is_large else "model.program", "protocol")
        except CodexBridgeError as error:
            self._lose("model.ended", error.code)
        return None

    async def close(self) -> None:
        """Let go; whoever started the program ends it."""

    def _read(self, line: bytes) -> dict[str, Any]:
        message = strict_json.loads(line, max_bytes=MAX_LINE_BYTES, floats="read")
        if not isinstance(message, dict) or not isinstance(message.get("id", 0), int | str | None):
            raise RemoteProtocolError("json.malformed")
        if not isinstance(message.get("error", {}), dict | None):
            raise RemoteProtocolError("json.malformed")
        return message

    def _lose(self, code: str, why: str) -> None:
        if self.lost is None:
            self.lost = ModelError(code, why=why)
