"""Follows one turn of an agent: its words, what it asks for, and the files that go through us.

The one place that answers its requests.  What is not known is refused, and so is every terminal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from common.errors import CodexBridgeError, InputError
from local_agent.errors import ModelError
from local_agent.models.acp.gate import ALLOWED, ToolCall, ToolCalls, judge
from local_agent.models.backend import Emit, Scratch
from local_agent.models.jsonrpc import RefusedRequestError
from local_agent.models.shapes import table
from local_agent.models.turns import TurnListener

_REFUSED: Final = -32000  # of JSON-RPC: the server's own errors
_INVALID: Final = -32602
_NOT_FOUND: Final = -32002  # of the protocol

_T = TypeVar("_T")


class AcpListener(TurnListener):
    """Hears of one turn and answers what is asked in it; arguments as of `TurnListener`."""

    def __init__(self, scratch: Scratch | None, emit: Emit) -> None:
        super().__init__(scratch, emit)
        self._calls = ToolCalls()
        self._words: list[str] = []
        self._working: set[asyncio.Future[Any]] = set()

    def take_words(self) -> str:
        """Return what it has said since the last call."""
        text = "".join(self._words)
        self._words.clear()
        return text

    async def settle(self) -> None:
        """Wait for what is being done to the scratch copy: no thread can be stopped."""
        await asyncio.gather(*self._working, return_exceptions=True)

    def lost(self, error: ModelError) -> None:
        """Do nothing: all that is waited for are answers, which fail by themselves."""

    def told(self, method: str, params: Mapping[str, Any]) -> None:
        """Take in a notification."""
        self._sign.set()
        match table(params.get("update")) if method == "session/update" else {}:
            case {"sessionUpdate": "tool_call" | "tool_call_update"} as update:
                self._calls.told(update)
            case {
                "sessionUpdate": "agent_message_chunk",
                "content": {"type": "text", "text": str(text)},
            }:
                if self._hear(text):
                    self._words.append(text)
                return
        # Of a kind that came later than this, too: a sign of work all the same.
        self._show_life()

    async def asked(self, method: str, params: Mapping[str, Any]) -> Mapping[str, object] | None:
        """Answer a request of the agent."""
        self._sign.set()
        self._show_life()
        try:
            match method:
                case "session/request_permission":
                    return await self._permit(params)
                case "fs/read_text_file":
                    return await self._read(params)
                case "fs/write_text_file":
                    return await self._write(params)
        except CodexBridgeError as error:
            raise RefusedRequestError(_REFUSED, f"refused: {error.code}") from None
        except OSError:
            raise RefusedRequestError(_REFUSED, "refused") from None
        return None

    async def _permit(self, params: Mapping[str, Any]) -> Mapping[str, object]:
        told, listed = params.get("toolCall"), params.get("options")
        if not isinstance(told, dict) or not isinstance(listed, list):
            raise _invalid()
        call = self._calls.told(told)
        options = {
            _text(table(option), "kind"): _text(table(option), "optionId")
            for option in reversed(listed)
        }
        try:
            await self._in_thread(judge, call, self._scratch)
        except CodexBridgeError as error:
            self._note(call, error)
            return _outcome(options.get("reject_once") or options.get("reject_always"))
        # Once, and never for good: the next one is judged again.
        return _outcome(options.get("allow_once"))

    def _note(self, call: ToolCall, error: CodexBridgeError) -> None:
        if call.kind in ALLOWED:
            self._refuse(str(error.facts.get("path", "")), error.code)
        elif suggestion := call.suggestion():
            self._suggest(suggestion.command, suggestion.reason)

    async def _read(self, params: Mapping[str, Any]) -> Mapping[str, object]:
        path = _text(params, "path")
        content = await self._in_thread(_read_inside, self._lent(), path)
        if content is None:
            raise RefusedRequestError(_NOT_FOUND, "Resource not found")
        text = content.decode("utf-8", "replace")
        line, limit = (_whole(params.get(name)) for name in ("line", "limit"))
        if line is None and limit is None:
            return {"content": text}
        first = max((line or 1) - 1, 0)
        last = None if limit is None else first + limit
        return {"content": "".join(text.splitlines(keepends=True)[first:last])}

    async def _write(self, params: Mapping[str, Any]) -> Mapping[str, object]:
        path, content = _text(params, "path"), _text(params, "content").encode()
        if not self._afford(len(content)):
            raise InputError("scratch.too-large")
        try:
            await self._in_thread(_write_inside, self._lent(), path, content)
        except InputError as error:
            self._refuse(path, error.code)
            raise
        return {}

    def _lent(self) -> Scratch:
        if self._scratch is None:
            raise InputError("scratch.forbidden")
        return self._scratch

    async def _in_thread(self, act: Callable[..., _T], *args: object) -> _T:
        work = asyncio.ensure_future(asyncio.to_thread(act, *args))
        self._working.add(work)
        work.add_done_callback(self._over)
        return await asyncio.shield(work)

    def _over(self, work: asyncio.Future[Any]) -> None:
        self._working.discard(work)
        work.exception()  # whoever asked may be gone

    def _refuse(self, path: str, code: str) -> None:
        root = f"{self._scratch.root}/" if self._scratch else ""
        super()._refuse(path.removeprefix(root), code)


def _read_inside(scratch: Scratch, path: str) -> bytes | None:
    return scratch.read(scratch.inside(path))


def _write_inside(scratch: Scratch, path: str, content: bytes) -> None:
    scratch.write(scratch.inside(path), content)


def _invalid() -> RefusedRequestError:
    return RefusedRequestError(_INVALID, "Invalid params")


def _text(params: Mapping[str, Any], name: str) -> str:
    text = params.get(name)
    if not isinstance(text, str):
        raise _invalid()
    return text


def _whole(number: object) -> int | None:
    if isinstance(number, int) and not isinstance(number, bool) and number >= 0:
        return number
    return None


def _outcome(option: str | None) -> Mapping[str, Any]:
    if option is None:
        return {"outcome": {"outcome": "cancelled"}}
    return {"outcome": {"outcome": "selected", "optionId": option}}
