"""Holds one turn with a program that was just started: greeting, session, one question.

`AcpListener` follows it: the agent's words, what it asks for, and the files that go through us.  It
is the one place that answers its requests.  What is not known is refused, and so is every terminal.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from common import PRODUCT
from common.errors import CodexBridgeError, InputError
from common.redact import redact_known
from common.text import one_line
from local_agent.errors import ModelError
from local_agent.models.acp.gate import ALLOWED, ToolCall, ToolCalls, judge
from local_agent.models.backend import Emit, Reply, Scratch, Suggestion, Turn, Usage, is_json
from local_agent.models.faults import said
from local_agent.models.jsonrpc import Client, RefusedRequestError
from local_agent.models.shapes import count, table, words
from local_agent.models.turns import AGAIN, TurnListener
from local_agent.sandbox.child import Child

_REFUSED: Final = -32000  # of JSON-RPC: the server's own errors
_INVALID: Final = -32602
_NOT_FOUND: Final = -32002  # of the protocol

_T = TypeVar("_T")
MAX_TURN_BYTES: Final = 32 * 1024 * 1024  # of all that one program says: it may show what it reads
_VERSION: Final = 1  # of the protocol
_AUTH_REQUIRED: Final = -32000  # of the protocol
# Why a turn ended, and what that means where it is not that all was said.
_STOPPED: Final = {
    "end_turn": None,
    "cancelled": None,
    "max_tokens": ("model.cut", "length"),
    "max_turn_requests": ("model.cut", "length"),
    "refusal": ("model.declined", "refusal"),
}
_EDIT: Final = """\
The current folder is a copy of some files of a project. Edit the files in it with your own tools; \
what you leave there is what is proposed. Nothing else can be written, no command can be run, and \
nobody answers questions before the end of your turn."""
_ANSWER: Final = """\
The current folder is empty. Use no tools, edit nothing, and answer in words."""


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


class Session:
    """One question to a running program.

    Args:
        child: Freshly started.
        cwd: Where it is to work.
        turn: The question.
        emit: Told of every sign of work.
        key: Never to be repeated, in an answer or an error.

    Attributes:
        has_begun: Whether the program has greeted us.
        version: What it says of itself.
    """

    def __init__(self, child: Child, cwd: Path, turn: Turn, emit: Emit, *, key: str | None) -> None:
        self._cwd = cwd
        self._turn = turn
        self._key = key
        self._listener = AcpListener(turn.scratch, emit)
        self._client = Client(
            child,
            name="acp",
            refused=partial(_refused, key=key),
            garbled=ModelError("model.program", why="protocol"),
            header={"jsonrpc": "2.0"},
            max_bytes=MAX_TURN_BYTES,
        )
        self._client.listen("", self._listener)
        self._usage = Usage()
        self.has_begun = False
        self.version = ""

    async def ask(self, idle_s: float) -> Reply:
        """Put the question and return the answer.

        Args:
            idle_s: Longest silence.

        Raises:
            ModelError: ``model.*``.
        """
        try:
            text = await self._watched(self._converse(), idle_s)
        finally:
            await self._client.end()
            await self._listener.settle()
        listener = self._listener
        commands = tuple(
            Suggestion(self._clean(one.command), self._clean(one.reason))
            for one in listener.commands
        )
        return Reply(self._clean(text), commands, tuple(listener.refused), self._usage)

    def _clean(self, words: str) -> str:
        # It has the key in its environment, and whoever leads it astray would have it told (R54).
        return redact_known(words, [self._key] if self._key else [])

    async def _converse(self) -> str:
        await self._greet()
        session = await self._open()
        text = await self._put(session, _question(self._turn))
        if self._turn.want == "json" and not is_json(text):
            text = await self._put(session, AGAIN)
            if not is_json(text):
                raise ModelError("model.answer", why="json")
        if self._turn.want == "text" and not text.strip():
            raise ModelError("model.answer", why="empty")
        return text

    async def _greet(self) -> None:
        hello = {
            "protocolVersion": _VERSION,
            "clientCapabilities": {
                "fs": {"readTextFile": True, "writeTextFile": True},
                "terminal": False,
            },
            "clientInfo": {"name": PRODUCT, "title": "CodexBridge", "version": "0"},
        }
        answer = await self._client.request("initialize", hello)
        self.has_begun = True
        if answer.get("protocolVersion") != _VERSION:
            raise ModelError("model.program", why="protocol")
        told = table(answer.get("agentInfo"))
        self.version = one_line(f"{words(told.get('name'))} {words(told.get('version'))}", 80)

    async def _open(self) -> str:
        # No server of tools: the program has what its own home configures, and nothing of ours.
        params = {"cwd": str(self._cwd), "mcpServers": []}
        session = (await self._client.request("session/new", params)).get("sessionId")
        if not isinstance(session, str):
            raise ModelError("model.program", why="protocol")
        return session

    async def _put(self, session: str, text: str) -> str:
        self._listener.take_words()
        params = {"sessionId": session, "prompt": [{"type": "text", "text": text}]}
        answer = await self._client.request("session/prompt", params)
        used, reason = table(answer.get("usage")), words(answer.get("stopReason"))
        self._usage += Usage(count(used.get("inputTokens")), count(used.get("outputTokens")), 1)
        if reason not in _STOPPED:
            raise ModelError("model.program", why="protocol")
        if fault := _STOPPED[reason]:
            raise ModelError(fault[0], why=fault[1])
        return self._listener.take_words()

    async def _watched(self, talk: Coroutine[Any, Any, str], idle_s: float) -> str:
        talking = asyncio.create_task(talk)
        watching = asyncio.create_task(self._listener.watch(idle_s))
        try:
            await asyncio.wait({talking, watching}, return_when=asyncio.FIRST_COMPLETED)
            if watching.done():
                await watching
            return await talking
        finally:
            for task in (talking, watching):
                task.cancel()
            await asyncio.gather(talking, watching, return_exceptions=True)


def _question(turn: Turn) -> str:
    """Return the question as one text: the protocol knows no instructions of ours."""
    parts = [turn.instructions, _ANSWER if turn.scratch is None else _EDIT]
    if turn.want == "json":
        parts.append(f"Answer with JSON alone, by this schema: {json.dumps(turn.schema or {})}")
    return "\n\n".join([*parts, turn.prompt])


def _refused(error: Mapping[str, Any], *, key: str | None) -> ModelError:
    if error.get("code") == _AUTH_REQUIRED:
        return ModelError("model.key", why="login")
    told = f"{words(error.get('message'))} {words(table(error.get('data')).get('details'))}"
    return ModelError("model.program", **(said(told, key=key) or {"why": "refused"}))
