"""Holds one turn: a thread of its own that leaves nothing behind, one question, one answer.

What the program says it has set up is checked before it is asked anything: were a configuration
of this machine to loosen it, no question would be put.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from local_agent.errors import ModelError
from local_agent.models.backend import Emit, Reply, Scratch, Turn, bare_json, is_json
from local_agent.models.codex.listening import CodexListener
from local_agent.models.codex.lockdown import CodexModel
from local_agent.models.jsonrpc import Client
from local_agent.models.shapes import table
from local_agent.models.turns import AGAIN

STOP_S: Final = 2.0  # that a turn gets to end when it is told to

_PREPARED: Final = {"approvalPolicy": "on-request", "approvalsReviewer": "user"}
_SANDBOX: Final = {"type": "readOnly", "networkAccess": False}


class Session:
    """One question to a running app-server.

    Args:
        client: Of the app-server.
        model: Which is asked.
        desk: Of the app-server (`local_agent.models.codex.lockdown.Place`).
        turn: The question.
        emit: Told of every sign of work.
    """

    def __init__(
        self, client: Client, model: CodexModel, desk: Path, turn: Turn, emit: Emit
    ) -> None:
        self._client = client
        self._model = model
        self._turn = turn
        self._cwd = desk / secrets.token_hex(4)
        self._listener = CodexListener(turn.scratch, self._cwd, emit, key=model.key)
        self._thread = ""
        self._number: str | None = None
        self._is_running = False

    async def ask(self) -> Reply:
        """Put the question and return the answer.

        Raises:
            ModelError: ``model.*``.
        """
        await asyncio.to_thread(_lay, self._cwd, self._turn.scratch)
        self._thread = await self._open()
        self._client.listen(self._thread, self._listener)
        reply = await self._put(self._turn.prompt)
        if self._turn.want == "json" and not is_json(reply.text):
            reply = await self._put(AGAIN)
            if not is_json(reply.text):
                raise ModelError("model.answer", why="json")
        await self._leave()
        return reply

    async def stop(self) -> bool:
        """Let nothing more be done; return False if the program itself must be ended for that."""
        self._listener.lost(ModelError("model.ended"))
        try:
            return not self._is_running or await self._interrupt()
        finally:
            await self._leave()

    async def _leave(self) -> None:
        self._client.forget(self._thread)
        await asyncio.to_thread(_clear, self._cwd)

    async def _open(self) -> str:
        params = {
            "cwd": str(self._cwd),
            "model": self._model.model,
            "sandbox": "read-only",
            "ephemeral": True,
            "developerInstructions": self._turn.instructions,
            **_PREPARED,
        }
        opened = await self._client.request("thread/start", params)
        _check_prepared(opened)
        return _name_of(opened.get("thread"))

    async def _put(self, words: str) -> Reply:
        params: dict[str, object] = {
            "threadId": self._thread,
            "input": [{"type": "text", "text": words}],
        }
        if self._turn.want == "json" and self._turn.schema is not None:
            params["outputSchema"] = dict(self._turn.schema)
        self._listener.begin()
        self._number, self._is_running = None, True
        answer = await self._client.request("turn/start", params)
        self._number = _name_of(answer.get("turn"))
        reply = await self._listener.wait(self._model.idle_s)
        self._is_running = False
        if self._turn.want == "json":
            return replace(reply, text=bare_json(reply.text))
        return reply

    async def _interrupt(self) -> bool:
        if self._listener.over.is_set():
            return True
        if self._number is None:
            return False
        params = {"threadId": self._thread, "turnId": self._number}
        try:
            async with asyncio.timeout(STOP_S):
                await self._client.request("turn/interrupt", params)
                await self._listener.over.wait()
        except (TimeoutError, ModelError):
            return False
        return True


def _lay(cwd: Path, scratch: Scratch | None) -> None:
    if scratch is None:
        cwd.mkdir(mode=0o700)
    else:
        cwd.symlink_to(scratch.root)


def _clear(cwd: Path) -> None:
    with suppress(OSError):
        cwd.unlink() if cwd.is_symlink() else cwd.rmdir()


def _check_prepared(opened: Mapping[str, Any]) -> None:
    sandbox = table(opened.get("sandbox"))
    holds = (
        all(opened.get(name) == value for name, value in _PREPARED.items())
        and all(sandbox.get(name) == value for name, value in _SANDBOX.items())
        and not opened.get("instructionSources")
    )
    if not holds:
        raise ModelError("model.program", why="lockdown")


def _name_of(made: object) -> str:
    name = table(made).get("id")
    if not isinstance(name, str):
        raise ModelError("model.program", why="protocol")
    return name
