"""Follows one turn of an agent: its words, what it asks for, and the files that go through us.

The one place that answers its requests.  What is not known is refused, and so is every terminal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from acp import RequestError
from acp.meta import CLIENT_METHODS
from acp.schema import ReadTextFileRequest, RequestPermissionRequest, WriteTextFileRequest
from pydantic import ValidationError

from common.errors import CodexBridgeError, InputError
from local_agent.errors import ModelError
from local_agent.models.acp.gate import ALLOWED, ToolCall, ToolCalls, judge
from local_agent.models.backend import (
    MAX_ANSWER_BYTES,
    MAX_COMMANDS,
    Emit,
    ModelEvent,
    Refusal,
    Scratch,
    Suggestion,
)

MAX_REFUSALS: Final = 50  # that are told
_MAX_WAITING: Final = 50  # requests at once
_REFUSED: Final = -32000  # of JSON-RPC: the server's own errors
_ALIVE: Final = ModelEvent("alive")

_T = TypeVar("_T")


class TurnListener:
    """Hears of one turn and answers what is asked in it.

    Args:
        scratch: What may be edited; None refuses all that is asked for.
        emit: Told of every sign of work.

    Attributes:
        refused: Edits that were not let through.
        commands: What the agent would run.
    """

    def __init__(self, scratch: Scratch | None, emit: Emit) -> None:
        self._scratch = scratch
        self._emit = emit
        self._calls = ToolCalls()
        self._words: list[str] = []
        self._budget = MAX_ANSWER_BYTES
        self._sign = asyncio.Event()
        self._error: ModelError | None = None
        self._waiting = 0
        self._one_at_a_time = asyncio.Lock()
        self._working: set[asyncio.Future[Any]] = set()
        self.refused: list[Refusal] = []
        self.commands: list[Suggestion] = []

    def take_words(self) -> str:
        """Return what it has said since the last call."""
        text = "".join(self._words)
        self._words.clear()
        return text

    async def watch(self, idle_s: float) -> None:
        """Wait for ever, or until there is a reason to give up.

        Raises:
            ModelError: ``model.stalled``, ``model.too-large``.
        """
        while self._error is None:
            self._sign.clear()
            try:
                async with asyncio.timeout(idle_s):
                    await self._sign.wait()
            except TimeoutError:
                self._error = ModelError("model.stalled")
        raise self._error

    async def settle(self) -> None:
        """Wait for what is being done to the scratch copy: no thread can be stopped."""
        await asyncio.gather(*self._working, return_exceptions=True)

    async def handle(self, method: str, params: object, is_notification: bool) -> object:
        """Take in a message of the agent; return the answer to a request.

        Raises:
            RequestError: the request is refused.
        """
        self._sign.set()
        if is_notification:
            self._told(method, params)
            return None
        self._emit(_ALIVE)
        if self._waiting >= _MAX_WAITING:
            raise RequestError(_REFUSED, "too many requests at once")
        self._waiting += 1
        try:
            async with self._one_at_a_time:
                return await self._answer(method, params)
        except ValidationError:
            raise RequestError.invalid_params() from None
        except CodexBridgeError as error:
            raise RequestError(_REFUSED, f"refused: {error.code}") from None
        except OSError:
            raise RequestError(_REFUSED, "refused") from None
        finally:
            self._waiting -= 1

    async def _answer(self, method: str, params: object) -> Mapping[str, Any]:
        if method == CLIENT_METHODS["session_request_permission"]:
            return await self._permit(RequestPermissionRequest.model_validate(params), params)
        if method == CLIENT_METHODS["fs_read_text_file"]:
            return await self._read(ReadTextFileRequest.model_validate(params))
        if method == CLIENT_METHODS["fs_write_text_file"]:
            return await self._write(WriteTextFileRequest.model_validate(params))
        raise RequestError.method_not_found(method)

    def _told(self, method: str, params: object) -> None:
        update = params.get("update") if isinstance(params, dict) else None
        if method != CLIENT_METHODS["session_update"] or not isinstance(update, dict):
            update = {}
        match update:
            case {"sessionUpdate": "tool_call" | "tool_call_update"}:
                self._calls.told(update)
            case {
                "sessionUpdate": "agent_message_chunk",
                "content": {"type": "text", "text": str(text)},
            }:
                self._hear(text)
                return
        # Of a kind that came later than this, too: a sign of work all the same.
        self._emit(_ALIVE)

    def _hear(self, text: str) -> None:
        self._budget -= len(text.encode("utf-8", "replace"))
        if self._budget < 0:
            self._error = self._error or ModelError("model.too-large")
            return
        self._words.append(text)
        self._emit(ModelEvent("text", text))

    async def _permit(self, asked: RequestPermissionRequest, params: Any) -> Mapping[str, Any]:
        call = self._calls.told(params["toolCall"])
        options = {option.kind: option.option_id for option in reversed(asked.options)}
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
        elif (suggestion := call.suggestion()) and len(self.commands) < MAX_COMMANDS:
            self.commands.append(suggestion)

    async def _read(self, asked: ReadTextFileRequest) -> Mapping[str, Any]:
        content = await self._in_thread(_read_inside, self._lent(), asked.path)
        if content is None:
            raise RequestError.resource_not_found(asked.path)
        text = content.decode("utf-8", "replace")
        if asked.line is None and asked.limit is None:
            return {"content": text}
        first = max((asked.line or 1) - 1, 0)
        last = None if asked.limit is None else first + asked.limit
        return {"content": "".join(text.splitlines(keepends=True)[first:last])}

    async def _write(self, asked: WriteTextFileRequest) -> Mapping[str, Any]:
        content = asked.content.encode()
        self._budget -= len(content)
        if self._budget < 0:
            self._error = self._error or ModelError("model.too-large")
            raise InputError("scratch.too-large")
        try:
            await self._in_thread(_write_inside, self._lent(), asked.path, content)
        except InputError as error:
            self._refuse(asked.path, error.code)
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
        if len(self.refused) < MAX_REFUSALS:
            root = f"{self._scratch.root}/" if self._scratch else ""
            self.refused.append(Refusal(path.removeprefix(root), code))


def _read_inside(scratch: Scratch, path: str) -> bytes | None:
    return scratch.read(scratch.inside(path))


def _write_inside(scratch: Scratch, path: str, content: bytes) -> None:
    scratch.write(scratch.inside(path), content)


def _outcome(option: str | None) -> Mapping[str, Any]:
    if option is None:
        return {"outcome": {"outcome": "cancelled"}}
    return {"outcome": {"outcome": "selected", "optionId": option}}
