"""The agent's end of the control socket: who may ask, how much, and one answer per question.

What the operations do is `faces.control.operations`.  The socket is 0600 in a 0700 folder, and the
kernel tells whose process is at the other end; another user's is turned away unheard.
Somebody who tidies up may delete it while the agent runs: it is looked at every few seconds and
made again.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from common.errors import (
    CodexBridgeError,
    ConfigError,
    RemoteProtocolError,
    UnavailableError,
)
from common.home import private_dir
from local_agent.faces.control import wire

READ_SECONDS = 10.0
MAX_CONNECTIONS = 128  # whoever follows a run keeps one for as long as it lasts
LEAVE_SECONDS = 1.0
WATCH_SECONDS = 3.0  # one lstat each time
_BESIDE = ".new"  # no longer than what it replaces: a socket address is short


class Log(Protocol):
    """What the server needs of a logger."""

    def exception(self, event: str, /) -> Any:
        """Record an unexpected failure with its traceback."""
        ...

    def warning(self, event: str, *args: Any, **facts: Any) -> Any:
        """Record what a person should know of."""
        ...


class Operations(Protocol):
    """What can be asked.  Yields events, and at last one answer marked by ``True``."""

    def answer(self, request: wire.Request) -> AsyncIterator[tuple[bool, wire.Content]]:
        """Carry out one request; yields ``(is_last, value)``."""
        ...


class ControlServer:
    """Listens until it is closed.

    Attributes:
        remade: How often the socket was missing or another, and was made again.
    """

    def __init__(self, path: Path, operations: Operations, log: Log) -> None:
        self._path = path
        self._operations = operations
        self._log = log
        self._server: asyncio.Server | None = None
        self._own: tuple[int, int] | None = None  # device and inode of the socket
        self._open: set[asyncio.Task[None]] = set()
        self._closing = False
        self._trouble = ""  # why it could not be made again, told once
        self.remade = 0

    async def start(self) -> None:
        """Listen.

        Raises:
            ConfigError: ``config.agent-running``, ``config.not-private`` or ``config.unusable``.
        """
        await asyncio.to_thread(_refuse_second, self._path)
        await self._listen()

    async def watch(self) -> None:
        """Make the socket again whenever it is gone or another, for ever.

        Needs the journal's lock to be held: whatever lies in its place is no other agent's.
        """
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            await self.look()

    async def look(self) -> None:
        """Make the socket again if it is gone or another; what cannot be is tried next time."""
        if await asyncio.to_thread(_identity, self._path) == self._own:
            return
        older = self._server
        try:
            await self._listen()
        except (ConfigError, OSError) as error:
            why = error.code if isinstance(error, ConfigError) else type(error).__name__
            if why != self._trouble:
                self._log.warning("control.socket-missing", path=str(self._path), why=why)
            self._trouble = why
            return
        if older is not None:
            older.close()  # who is being answered goes on to be
        self._trouble = ""
        self.remade += 1
        self._log.warning("control.socket-remade", path=str(self._path))

    async def close(self) -> None:
        """Stop listening, end the open conversations and remove the socket."""
        if self._server is None:
            return
        self._server.close()
        self._closing = True
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await asyncio.to_thread(self._remove)

    async def _listen(self) -> None:
        listening, own = await asyncio.to_thread(_bound, self._path)
        self._server = await asyncio.start_unix_server(
            self._serve, sock=listening, limit=wire.REQUEST_BYTES + 1
        )
        self._own = own

    def _remove(self) -> None:
        if _identity(self._path) == self._own:
            self._path.unlink(missing_ok=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a callback of start_unix_server runs as a task
        self._open.add(task)
        try:
            peer: socket.socket = writer.get_extra_info("socket")
            if wire.peer_uid(peer) == os.getuid() and len(self._open) <= MAX_CONNECTIONS:
                await self._converse(reader, writer)
        except asyncio.CancelledError:
            if not self._closing:
                raise
            # `close` asked for it, and asyncio would log the end of its own callback as an error.
            await _take_leave(writer)
        except (ConnectionError, TimeoutError):
            pass  # whoever asked has gone; the task goes on without them
        except Exception:  # noqa: BLE001 - the top of a conversation; logged with its traceback
            self._log.exception("control.conversation-failed")
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
            self._open.discard(task)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(READ_SECONDS):
                line = await reader.readuntil(b"\n")
                request, size = wire.decode_request(line)
                request = replace(request, body=await reader.readexactly(size))
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            await _send(writer, wire.encode_error(RemoteProtocolError("control.malformed")))
            return
        except CodexBridgeError as error:
            await _send(writer, wire.encode_error(error))
            return
        await self._answer(request, reader, writer)

    async def _answer(
        self, request: wire.Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        # The asker says nothing more, so anything to read means that it has hung up.
        gone = asyncio.ensure_future(reader.read(1))
        told = asyncio.ensure_future(self._tell(request, writer))
        try:
            await asyncio.wait({gone, told}, return_when=asyncio.FIRST_COMPLETED)
            if told.done():
                told.result()
        finally:
            gone.cancel()
            told.cancel()
            await asyncio.gather(gone, told, return_exceptions=True)

    async def _tell(self, request: wire.Request, writer: asyncio.StreamWriter) -> None:
        try:
            async with aclosing(self._operations.answer(request)) as steps:  # type: ignore[type-var]  # every implementation is an async generator
                async for last, value in steps:
                    line = wire.encode_ok(value) if last else wire.encode_event(value)
                    await _send(writer, line)
        except CodexBridgeError as error:
            await _send(writer, wire.encode_error(error))
        except ConnectionError:
            raise
        except Exception as error:
            internal = CodexBridgeError("internal", what=type(error).__name__)
            await _send(writer, wire.encode_error(internal))
            raise


async def _send(writer: asyncio.StreamWriter, line: bytes) -> None:
    writer.write(line)
    await writer.drain()


async def _take_leave(writer: asyncio.StreamWriter) -> None:
    """Tell whoever is being answered that the agent stops; for a moment, should they not listen."""
    with suppress(ConnectionError, TimeoutError):
        async with asyncio.timeout(LEAVE_SECONDS):
            await _send(writer, wire.encode_error(UnavailableError("agent.stopped")))


def _refuse_second(path: Path) -> None:
    private_dir(path.parent)
    if _answers(path):
        raise ConfigError("config.agent-running", path=path)


def _bound(path: Path) -> tuple[socket.socket, tuple[int, int]]:
    """Return the socket in its place, whatever was there, and its device and inode."""
    private_dir(path.parent)
    beside = path.with_suffix(_BESIDE)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        beside.unlink(missing_ok=True)
        listening.bind(str(beside))
        beside.chmod(0o600)  # the folder was private all the while
        listening.listen()  # before it can be found: nobody who finds it is turned away
        listening.setblocking(False)
        own = _identity(beside)
        beside.replace(path)
    except OSError as error:
        listening.close()
        raise ConfigError("config.unusable", path=path, why=error.strerror) from error
    assert own is not None  # noqa: S101 - it was there to be renamed
    return listening, own


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(2)
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True
