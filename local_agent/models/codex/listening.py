"""Follows one turn: its words, what it used, the edits that are let through and those that are not.

The one place that answers codex's requests.  Only an edit that the gate lets through is accepted;
everything else is declined, whoever asks and whatever for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from common.errors import CodexBridgeError, InputError
from common.text import clip_bytes
from local_agent.errors import ModelError
from local_agent.models import faults
from local_agent.models.backend import (
    MAX_ANSWER_BYTES,
    MAX_COMMANDS,
    Emit,
    ModelEvent,
    Refusal,
    Reply,
    Scratch,
    Suggestion,
    Usage,
)
from local_agent.models.codex.gate import Change, judge, read_changes

MAX_REFUSALS: Final = 50  # that are told
_MAX_PENDING: Final = 100  # edits told of and not yet asked for
_COMMAND_BYTES: Final = 4096
_REASON_BYTES: Final = 1024
_ACCEPT: Final = {"decision": "accept"}
_DECLINE: Final = {"decision": "decline"}
_ALIVE: Final = ModelEvent("alive")


class TurnListener:
    """Hears of one turn and answers what is asked in it.

    Args:
        scratch: What may be edited; None declines every edit.
        cwd: Where the program works.
        emit: Told of every sign of work.
        key: Never to be repeated in an error.

    Attributes:
        over: Set when the program itself has ended the turn.
    """

    def __init__(self, scratch: Scratch | None, cwd: Path, emit: Emit, *, key: str | None) -> None:
        self._scratch = scratch
        self._cwd = cwd
        self._emit = emit
        self._key = key
        self._pending: dict[str, tuple[Change, ...] | InputError] = {}
        self._accepted: dict[str, str] = {}
        self._has_edited = False
        self._text = ""
        self._budget = MAX_ANSWER_BYTES
        self._commands: list[Suggestion] = []
        self._refused: list[Refusal] = []
        self._usage = Usage()
        self._sign = asyncio.Event()
        self._error: ModelError | None = None
        self.over = asyncio.Event()

    async def wait(self, idle_s: float) -> Reply:
        """Wait for the end of the turn and return what came of it.

        Args:
            idle_s: Longest silence.

        Raises:
            ModelError: ``model.stalled``, ``model.answer`` (why: ``empty``), or why it failed.
        """
        while not self.over.is_set() and self._error is None:
            self._sign.clear()
            try:
                async with asyncio.timeout(idle_s):
                    await self._sign.wait()
            except TimeoutError:
                self._error = ModelError("model.stalled")
        if self._error is not None:
            raise self._error
        if not self._text.strip() and not self._has_edited:
            raise ModelError("model.answer", why="empty")
        return Reply(self._text, tuple(self._commands), tuple(self._refused), self._usage)

    def begin(self) -> None:
        """Expect a turn to begin."""
        self.over.clear()

    def told(self, method: str, params: Mapping[str, Any]) -> None:
        """Take in an event."""
        self._sign.set()
        item = params.get("item")
        item = item if isinstance(item, dict) else {}
        match method:
            case "item/agentMessage/delta":
                self._hear(params.get("delta"))
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
        self._emit(_ALIVE)

    async def asked(self, method: str, params: Mapping[str, Any]) -> Mapping[str, object] | None:
        """Answer a request of the program."""
        self._sign.set()
        self._emit(_ALIVE)
        match method:
            case "item/fileChange/requestApproval":
                return await self._decide(params)
            case "item/commandExecution/requestApproval":
                self._suggest(params.get("command"), params.get("reason"))
                return _DECLINE
        return None

    def lost(self, error: ModelError) -> None:
        """Nothing more will come."""
        self._error = self._error or error
        self._sign.set()

    def _hear(self, delta: object) -> None:
        if isinstance(delta, str) and self._afford(len(delta.encode())):
            self._emit(ModelEvent("text", delta))

    def _afford(self, size: int) -> bool:
        """Count bytes of the answer, edits included, and tell whether it is still within bounds."""
        self._budget -= size
        if self._budget < 0:
            self._error = self._error or ModelError("model.too-large")
        return self._budget >= 0

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
        total = told.get("total") if isinstance(told, dict) else None
        if isinstance(total, dict):
            used = [total.get(name) for name in ("inputTokens", "outputTokens")]
            read, written = (count if isinstance(count, int) else 0 for count in used)
            self._usage = Usage(read, written, self._usage.calls + 1)

    def _end(self, turn: object) -> None:
        ended = turn if isinstance(turn, dict) else {}
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

    def _refuse(self, path: str, code: str) -> None:
        if len(self._refused) < MAX_REFUSALS:
            self._refused.append(Refusal(path, code))

    def _suggest(self, command: object, reason: object) -> None:
        if isinstance(command, str) and len(self._commands) < MAX_COMMANDS:
            why = reason if isinstance(reason, str) else ""
            self._commands.append(
                Suggestion(clip_bytes(command, _COMMAND_BYTES), clip_bytes(why, _REASON_BYTES))
            )
