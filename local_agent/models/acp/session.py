"""Holds one turn with a program that was just started: greeting, session, one question."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from acp import PROTOCOL_VERSION, RequestError
from acp.connection import Connection
from acp.meta import AGENT_METHODS
from acp.schema import InitializeResponse, NewSessionResponse, PromptResponse
from pydantic import BaseModel, ValidationError

from common import PRODUCT
from common.redact import redact_known
from common.text import one_line
from local_agent.child import Child
from local_agent.errors import ModelError
from local_agent.models.acp.listening import TurnListener
from local_agent.models.acp.transport import ChildTransport
from local_agent.models.backend import Emit, Reply, Suggestion, Turn, Usage, is_json
from local_agent.models.faults import said

_AUTH_REQUIRED: Final = -32000  # of the protocol
_AGAIN: Final = "That was not JSON of the form asked for. Answer again with that JSON alone."
_STOPPED: Final = {
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

_M = TypeVar("_M", bound=BaseModel)
_T = TypeVar("_T")


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
        self._listener = TurnListener(turn.scratch, emit)
        self._transport = ChildTransport(child)
        self._connection = Connection(self._listener.handle, self._transport)
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
            await self._connection.close()
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
        text = await self._put(session, _words(self._turn))
        if self._turn.want == "json" and not is_json(text):
            text = await self._put(session, _AGAIN)
            if not is_json(text):
                raise ModelError("model.answer", why="json")
        if self._turn.want == "text" and not text.strip():
            raise ModelError("model.answer", why="empty")
        return text

    async def _greet(self) -> None:
        hello = {
            "protocolVersion": PROTOCOL_VERSION,
            "clientCapabilities": {
                "fs": {"readTextFile": True, "writeTextFile": True},
                "terminal": False,
            },
            "clientInfo": {"name": PRODUCT, "title": "CodexBridge", "version": "0"},
        }
        answer = await self._request("initialize", hello, InitializeResponse)
        self.has_begun = True
        if answer.protocol_version != PROTOCOL_VERSION:
            raise ModelError("model.program", why="protocol")
        if answer.agent_info is not None:
            told = f"{answer.agent_info.name} {answer.agent_info.version}"
            self.version = one_line(told, 80)

    async def _open(self) -> str:
        # No server of tools: the program has what its own home configures, and nothing of ours.
        params = {"cwd": str(self._cwd), "mcpServers": []}
        return (await self._request("session_new", params, NewSessionResponse)).session_id

    async def _put(self, session: str, words: str) -> str:
        self._listener.take_words()
        params = {"sessionId": session, "prompt": [{"type": "text", "text": words}]}
        answer = await self._request("session_prompt", params, PromptResponse)
        used = answer.usage
        read, written = (used.input_tokens, used.output_tokens) if used else (0, 0)
        self._usage += Usage(read, written, 1)
        if fault := _STOPPED.get(answer.stop_reason):
            raise ModelError(fault[0], why=fault[1])
        return self._listener.take_words()

    async def _request(self, method: str, params: Mapping[str, Any], form: type[_M]) -> _M:
        try:
            answer = await self._connection.send_request(AGENT_METHODS[method], params)
            return form.model_validate(answer)
        except ConnectionError as error:
            raise self._transport.lost or ModelError("model.ended") from error
        except ValidationError:
            raise ModelError("model.program", why="protocol") from None
        except RequestError as error:
            raise _refused(error, self._key) from None

    async def _watched(self, talk: Coroutine[Any, Any, _T], idle_s: float) -> _T:
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


def _words(turn: Turn) -> str:
    """Return the question as one text: the protocol knows no instructions of ours."""
    parts = [turn.instructions, _ANSWER if turn.scratch is None else _EDIT]
    if turn.want == "json":
        parts.append(f"Answer with JSON alone, by this schema: {json.dumps(turn.schema or {})}")
    return "\n\n".join([*parts, turn.prompt])


def _refused(error: RequestError, key: str | None) -> ModelError:
    if error.code == _AUTH_REQUIRED:
        return ModelError("model.key", why="login")
    details = error.data.get("details") if isinstance(error.data, dict) else None
    words = f"{error} {details}" if isinstance(details, str) else str(error)
    return ModelError("model.program", **(said(words, key=key) or {"why": "refused"}))
