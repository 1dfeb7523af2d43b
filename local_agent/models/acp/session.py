"""Holds one turn with a program that was just started: greeting, session, one question."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from common import PRODUCT
from common.redact import redact_known
from common.text import one_line
from local_agent.errors import ModelError
from local_agent.models.acp.listening import AcpListener
from local_agent.models.backend import Emit, Reply, Suggestion, Turn, Usage, is_json
from local_agent.models.faults import said
from local_agent.models.jsonrpc import Client
from local_agent.models.shapes import count, table, words
from local_agent.models.turns import AGAIN
from local_agent.sandbox.child import Child

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
