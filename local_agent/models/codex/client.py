"""Carries the lines of one app-server: answers to who asked, events to the turn they are of.

One task reads.  It waits for the judgement of an edit before it reads on, so that the order in
which codex did things is the order in which they are judged.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any, Final, Protocol

from common.errors import CodexBridgeError, RemoteProtocolError
from local_agent.child import Child
from local_agent.errors import ModelError
from local_agent.models.codex import wire
from local_agent.models.faults import said

_log: Final = logging.getLogger(__name__)


class Listener(Protocol):
    """What hears of one thread."""

    def told(self, method: str, params: Mapping[str, Any]) -> None:
        """Take in an event; does not block."""
        ...

    async def asked(self, method: str, params: Mapping[str, Any]) -> Mapping[str, object] | None:
        """Return the answer to a request of the program, None for one that is not known."""
        ...

    def lost(self, error: ModelError) -> None:
        """Nothing more will come."""
        ...


class Client:
    """Speaks with one app-server.

    Args:
        child: Freshly started.
        key: Never to be repeated in an error.
    """

    def __init__(self, child: Child, *, key: str | None) -> None:
        self._child = child
        self._key = key
        self._number = 0
        self._waiting: dict[int, asyncio.Future[Mapping[str, Any]]] = {}
        self._listeners: dict[str, Listener] = {}
        self._lost: ModelError | None = None
        self._reading = asyncio.create_task(self._read())

    @property
    def is_lost(self) -> bool:
        """Whether it can be spoken with no more."""
        return self._lost is not None

    def listen(self, thread: str, listener: Listener) -> None:
        """Tell a listener all that comes of one thread from now on."""
        self._listeners[thread] = listener
        if self._lost is not None:
            listener.lost(self._lost)

    def forget(self, thread: str) -> None:
        """Tell no more of a thread; what is asked for it is refused."""
        self._listeners.pop(thread, None)

    async def request(self, method: str, params: Mapping[str, object]) -> Mapping[str, Any]:
        """Ask the program something and return its answer.

        Raises:
            ModelError: ``model.program`` (it refused), ``model.ended``, ``model.too-large``.
        """
        if self._lost is not None:
            raise self._lost
        self._number += 1
        number = self._number
        answer = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            await self._say(wire.request(number, method, params))
            result: Mapping[str, Any] = await answer
            return result
        finally:
            self._waiting.pop(number, None)

    async def notify(self, method: str) -> None:
        """Tell the program something.

        Raises:
            ModelError: ``model.ended``.
        """
        await self._say(wire.notification(method))

    async def end(self) -> int:
        """End the program; return how many processes of it could not be ended."""
        self._lose(ModelError("model.ended"))
        left = await self._child.end()
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)
        return left

    async def _say(self, line: bytes) -> None:
        try:
            await self._child.write_line(line)
        except CodexBridgeError as error:
            raise self._lose(ModelError("model.ended")) from error

    async def _read(self) -> None:
        try:
            while self._lost is None:
                await self._take(wire.decode(await self._child.read_line()))
        except RemoteProtocolError as error:
            # One line holds at most one answer: longer than it may be, so was that.
            is_long = error.code == "child.line"
            code = "model.too-large" if is_long else "model.ended"
            self._lose(ModelError(code, why=error.code))
        except CodexBridgeError as error:
            self._lose(ModelError("model.ended", why=error.code))
        except Exception:  # noqa: BLE001  # the top of its task: nobody may wait for it in vain
            _log.exception("codex client failed")
            self._lose(ModelError("model.ended", why="client"))

    async def _take(self, message: wire.Message) -> None:
        if isinstance(message, wire.Answered):
            self._answered(message)
            return
        thread = message.params.get("threadId")
        listener = self._listeners.get(thread) if isinstance(thread, str) else None
        if isinstance(message, wire.Told):
            if listener is not None:
                listener.told(message.method, message.params)
            return
        result = await listener.asked(message.method, message.params) if listener else None
        await self._say(wire.answer(message, result))

    def _answered(self, message: wire.Answered) -> None:
        answer = self._waiting.pop(message.number, None)
        if answer is None or answer.done():
            return
        if message.error is None:
            answer.set_result(message.result)
        else:
            facts = said(message.error, key=self._key) or {"why": "refused"}
            answer.set_exception(ModelError("model.program", **facts))

    def _lose(self, error: ModelError) -> ModelError:
        """Let nobody wait any longer; return the first reason."""
        if self._lost is None:
            self._lost = error
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(error)
            for listener in tuple(self._listeners.values()):
                listener.lost(error)
        return self._lost
