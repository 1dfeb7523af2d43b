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
from local_agent.errors import ModelError
from local_agent.models import faults
from local_agent.models.backend import Emit, Reply, Scratch, Usage
from local_agent.models.codex.gate import Change, judge, read_changes
from local_agent.models.shapes import count, table, words
from local_agent.models.turns import TurnListener

_MAX_PENDING: Final = 100  # edits told of and not yet asked for
_ACCEPT: Final = {"decision": "accept"}
_DECLINE: Final = {"decision": "decline"}


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
