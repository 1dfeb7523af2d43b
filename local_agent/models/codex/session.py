"""Holds one turn: a thread of its own that leaves nothing behind, one question, one answer.

`CodexListener` follows it: its words, what it used, the edits that are let through and those that
are not.  It is the one place that answers codex's requests.  Only an edit that the gate lets
through is accepted; everything else is declined, whoever asks and whatever for.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from common.errors import CodexBridgeError, InputError
from local_agent.errors import ModelError
from local_agent.models import faults
from local_agent.models.backend import Emit, Reply, Scratch, Turn, Usage, bare_json, is_json
from local_agent.models.codex.gate import Change, judge, read_changes
from local_agent.models.codex.lockdown import CodexModel
from local_agent.models.jsonrpc import Client
from local_agent.models.shapes import count, table, words
from local_agent.models.turns import AGAIN, TurnListener

_MAX_PENDING: Final = 100  # edits told of and not yet asked for
_ACCEPT: Final = {"decision": "accept"}
_DECLINE: Final = {"decision": "decline"}
STOP_S: Final = 2.0  # that a turn gets to end when it is told to

_PREPARED: Final = {"approvalPolicy": "on-request", "approvalsReviewer": "user"}
_SANDBOX: Final = {"type": "readOnly", "networkAccess": False}


class CodexListener(TurnListener):
    """Hears of one turn and answers what is asked in it.

    Args:
        scratch: What may be edited; None declines every edit.
        cwd: Where the program works.
        emit: Told of every sign of work.
        key: Never to be repeated in an error.
    """

    def __init__(self, scratch: Scratch | None, cwd: Path, emit: Emit, *, key: str | None) -> None:
        super().__init__(scratch, emit)
        self._cwd = cwd
        self._key = key
        self._pending: dict[str, tuple[Change, ...] | InputError] = {}
        self._accepted: dict[str, str] = {}
        self._has_edited = False
        self._text = ""
        self._usage = Usage()

    async def wait(self, idle_s: float) -> Reply:
        """Wait for the end of the turn and return what came of it.

        Args:
            idle_s: Longest silence.

        Raises:
            ModelError: as of `watch`; ``model.answer`` (why: ``empty``).
        """
        await self.watch(idle_s)
        if not self._text.strip() and not self._has_edited:
            raise ModelError("model.answer", why="empty")
        return Reply(self._text, tuple(self.commands), tuple(self.refused), self._usage)

    def begin(self) -> None:
        """Expect a turn to begin."""
        self.over.clear()

    def told(self, method: str, params: Mapping[str, Any]) -> None:
        """Take in an event."""
        self._sign.set()
        item = table(params.get("item"))
        match method:
            case "item/agentMessage/delta":
                if isinstance(delta := params.get("delta"), str):
                    self._hear(delta)
                return
            case "item/started" if item.get("type") == "fileChange":
                self._expect(item)
            case "item/completed":
                self._complete(item)
            case "item/fileChange/patchUpdated":
                # No longer what was told of at first, so that it cannot be asked for by that.
                self._pending.pop(str(params.get("itemId")), None)
            case "thread/tokenUsage/updated":
                self._count(params.get("tokenUsage"))
            case "turn/completed":
                self._end(params.get("turn"))
        self._show_life()

    async def asked(self, method: str, params: Mapping[str, Any]) -> Mapping[str, object] | None:
        """Answer a request of the program."""
        self._sign.set()
        self._show_life()
        match method:
            case "item/fileChange/requestApproval":
                return await self._decide(params)
            case "item/commandExecution/requestApproval":
                if isinstance(command := params.get("command"), str):
                    self._suggest(command, words(params.get("reason")))
                return _DECLINE
        return None

    def _expect(self, item: Mapping[str, Any]) -> None:
        if len(self._pending) >= _MAX_PENDING:
            return
        name = str(item.get("id"))
        if name in self._pending:
            # The provider gives the names: of two that bear one, nobody knows which is asked for.
            self._pending[name] = InputError("scratch.unreadable")
            return
        try:
            changes = read_changes(item, self._cwd)
        except InputError as error:
            self._pending[name] = error
            return
        if self._afford(sum(change.size for change in changes)):
            self._pending[name] = changes

    def _complete(self, item: Mapping[str, Any]) -> None:
        self._pending.pop(str(item.get("id")), None)
        accepted = self._accepted.pop(str(item.get("id")), None)
        if accepted is not None and item.get("status") == "completed":
            self._has_edited = True
        elif accepted is not None:
            self._refuse(accepted, "scratch.failed")
        text = item.get("text")
        if item.get("type") == "agentMessage" and isinstance(text, str):
            self._text = text

    def _count(self, told: object) -> None:
        total = table(told).get("total")
        if isinstance(total, dict):
            read, written = (count(total.get(name)) for name in ("inputTokens", "outputTokens"))
            self._usage = Usage(read, written, self._usage.calls + 1)

    def _end(self, turn: object) -> None:
        ended = table(turn)
        self.over.set()
        if ended.get("status") != "completed":
            self._error = self._error or faults.of_turn(ended.get("error"), key=self._key)

    async def _decide(self, params: Mapping[str, Any]) -> Mapping[str, object]:
        name = str(params.get("itemId"))
        changes = self._pending.pop(name, InputError("scratch.unreadable"))
        try:
            path = await self._judge(changes, is_wider=params.get("grantRoot") is not None)
        except InputError as error:
            self._refuse(str(error.facts.get("path", "")), error.code)
            return _DECLINE
        except (CodexBridgeError, OSError):
            self._refuse("", "scratch.unreadable")
            return _DECLINE
        self._accepted[name] = path
        return _ACCEPT

    async def _judge(self, changes: tuple[Change, ...] | InputError, *, is_wider: bool) -> str:
        if isinstance(changes, InputError):
            raise changes
        if self._scratch is None or is_wider:
            raise InputError("scratch.forbidden", path=changes[0].path)
        await asyncio.to_thread(judge, changes, self._scratch)
        if self._error is not None:
            # It failed or was cancelled, maybe while this was judged: nothing is done any more.
            raise InputError("scratch.forbidden", path=changes[0].path)
        return changes[0].path


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
