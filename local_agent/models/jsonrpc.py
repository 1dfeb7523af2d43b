"""JSON-RPC with a coding agent over its input and output: one message a line, requests both ways.

Fields and messages that are not known are let be, for these protocols grow with every release.
What cannot be read at all ends the conversation: a program that speaks anything else is not the one
that we started.

One task reads.  It waits for the answer to what the program asks before it reads on, so that the
order in which things are done is the order in which they are judged, and a flood waits in its pipe.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Protocol

from common import strict_json
from common.errors import CodexBridgeError, RemoteProtocolError
from local_agent.errors import ModelError
from local_agent.models.faults import said
from local_agent.sandbox.child import MAX_LINE_BYTES, Child

NO_SUCH_METHOD: Final = -32601
_MAX_ID_CHARS: Final = 100
_TOO_LARGE: Final = frozenset({"child.line", "json.too-large"})
_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to a request of ours; ``error`` is the error object where it was refused."""

    number: int
    result: Mapping[str, Any] = field(default_factory=dict)
    error: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """A notification."""

    method: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AskedFor:
    """A request of the program, which waits for our answer; ``name`` is its own number for it."""

    name: int | str
    method: str
    params: Mapping[str, Any]


Message = Answered | Told | AskedFor


def decode(line: bytes) -> Message:
    """Return what a line says.

    Raises:
        RemoteProtocolError: ``json.*``; ``rpc.message``: it is no answer, notification or request;
            ``rpc.unknown``: the same of an object that is to be let be.
    """
    message = strict_json.loads(line, max_bytes=MAX_LINE_BYTES, floats="read")
    if not isinstance(message, dict):
        raise RemoteProtocolError("rpc.message")
    method, name = message.get("method"), message.get("id")
    if name is not None and not _is_name(name):
        raise RemoteProtocolError("rpc.message")
    if method is None and name is not None:
        return _answer(message, name)
    if not isinstance(method, str):
        raise RemoteProtocolError("rpc.unknown")
    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    return Told(method, params) if name is None else AskedFor(name, method, params)


def _is_name(name: object) -> bool:
    is_name = isinstance(name, int | str) and not isinstance(name, bool)
    return is_name and len(str(name)) <= _MAX_ID_CHARS


def _answer(message: Mapping[str, Any], number: object) -> Answered:
    error, result = message.get("error"), message.get("result")
    if not isinstance(number, int) or not isinstance(error, dict | None):
        raise RemoteProtocolError("rpc.message")
    return Answered(number, result if isinstance(result, dict) else {}, error)


def encode(message: Mapping[str, object]) -> bytes:
    """Return a message as one line, without its end."""
    # A file name that is no UTF-8 would come as a lone surrogate, which no program can read.
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


class RefusedRequestError(Exception):
    """A request of the program that is not answered.

    Args:
        code: As of JSON-RPC.
        message: For the program.
    """

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Listener(Protocol):
    """What hears of one conversation."""

    def told(self, method: str, params: Mapping[str, Any]) -> None:
        """Take in a notification; does not block."""
        ...

    async def asked(self, method: str, params: Mapping[str, Any]) -> Mapping[str, object] | None:
        """Return the answer to a request of the program, None for one that is not known.

        Raises:
            RefusedRequestError: it is refused.
        """
        ...

    def lost(self, error: ModelError) -> None:
        """Nothing more will come."""
        ...


class Client:
    """Speaks with one program.

    Args:
        child: Freshly started.
        name: For the log.
        refused: Tells what the error object means with which it refused a request.
        garbled: What it means that a line cannot be read.
        header: Of each message of ours.
        route: The parameter that tells whom a message is for; None where there is one listener,
            whose name is empty.
        max_bytes: Of all that it says.
    """

    def __init__(
        self,
        child: Child,
        *,
        name: str,
        refused: Callable[[Mapping[str, Any]], ModelError],
        garbled: ModelError,
        header: Mapping[str, object] = MappingProxyType({}),
        route: str | None = None,
        max_bytes: int | None = None,
    ) -> None:
        self._child = child
        self._name = name
        self._refused = refused
        self._garbled = garbled
        self._header = header
        self._route = route
        self._room = max_bytes
        self._number = 0
        self._waiting: dict[int, asyncio.Future[Mapping[str, Any]]] = {}
        self._listeners: dict[str, Listener] = {}
        self._lost: ModelError | None = None
        self._reading = asyncio.create_task(self._read())

    @property
    def is_lost(self) -> bool:
        """Whether it can be spoken with no more."""
        return self._lost is not None

    def listen(self, name: str, listener: Listener) -> None:
        """Tell a listener all that comes for this name from now on."""
        self._listeners[name] = listener
        if self._lost is not None:
            listener.lost(self._lost)

    def forget(self, name: str) -> None:
        """Tell no more for a name; what is asked for it is refused."""
        self._listeners.pop(name, None)

    async def request(self, method: str, params: Mapping[str, object]) -> Mapping[str, Any]:
        """Ask the program something and return its answer.

        Raises:
            ModelError: ``model.ended``, ``model.too-large``, as of a line that cannot be read, or
                what its refusal means.
        """
        if self._lost is not None:
            raise self._lost
        number = self._number
        self._number += 1
        answer: asyncio.Future[Mapping[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            # Together: who listens no more and is lost meanwhile would never let it be said.
            saying = self._say({"id": number, "method": method, "params": params})
            await asyncio.gather(saying, answer)
            return await answer
        finally:
            self._waiting.pop(number, None)

    async def notify(self, method: str) -> None:
        """Tell the program something.

        Raises:
            ModelError: ``model.ended``.
        """
        await self._say({"method": method})

    async def end(self) -> int:
        """End the program; return how many processes of it could not be ended."""
        self._lose(ModelError("model.ended"))
        left = await self._child.end()
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)
        return left

    async def _say(self, message: Mapping[str, object]) -> None:
        try:
            await self._child.write_line(encode({**self._header, **message}))
        except CodexBridgeError as error:
            raise self._lose(ModelError("model.ended")) from error

    async def _read(self) -> None:
        try:
            while self._lost is None:
                await asyncio.sleep(0)  # a flood is read as fast as it comes: others have a turn
                await self._take(await self._child.read_line())
        except RemoteProtocolError as error:
            # One line holds at most one answer: longer than it may be, so was that.
            is_long = error.code in _TOO_LARGE
            self._lose(ModelError("model.too-large", why=error.code) if is_long else self._garbled)
        except CodexBridgeError as error:
            self._lose(ModelError("model.ended", why=error.code))
        except Exception:  # noqa: BLE001  # the top of its task: nobody may wait for it in vain
            _log.exception("%s client failed", self._name)
            self._lose(ModelError("model.ended", why="client"))

    async def _take(self, line: bytes) -> None:
        if self._room is not None:
            self._room -= len(line) + 1
            if self._room < 0:
                self._lose(ModelError("model.too-large", why="turn"))
                return
        try:
            message = decode(line)
        except RemoteProtocolError as error:
            if error.code == "rpc.unknown":
                return
            raise
        if isinstance(message, Answered):
            self._answered(message)
            return
        name = message.params.get(self._route) if self._route else ""
        listener = self._listeners.get(name) if isinstance(name, str) else None
        if isinstance(message, AskedFor):
            await self._say({"id": message.name, **await _answer_of(listener, message)})
        elif listener is not None:
            listener.told(message.method, message.params)

    def _answered(self, message: Answered) -> None:
        answer = self._waiting.pop(message.number, None)
        if answer is None or answer.done():
            return
        if message.error is None:
            answer.set_result(message.result)
        else:
            answer.set_exception(self._refused(message.error))

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


async def _answer_of(listener: Listener | None, asked: AskedFor) -> Mapping[str, object]:
    code, why = NO_SUCH_METHOD, "not supported"
    try:
        result = await listener.asked(asked.method, asked.params) if listener else None
        if result is not None:
            return {"result": result}
    except RefusedRequestError as refused:
        code, why = refused.code, refused.message
    return {"error": {"code": code, "message": why}}


def complaint(child: Child, key: str | None) -> Mapping[str, str]:
    """Return the facts of an error about a program that does not start; never with its key."""
    words = child.stderr.parts()[0].decode("utf-8", "replace")
    return said(words, key=key) or {"why": "start"}
