"""The agent's end of the control socket: who may ask, how much, and one answer per question.

What the operations do is `local_agent.control.operations`.  The socket is 0600 in a 0700 folder,
and the kernel tells whose process is at the other end; another user's is turned away unheard.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from common.errors import CodexBridgeError, ConfigError, RemoteProtocolError
from common.home import private_dir
from local_agent.control import wire

READ_SECONDS = 10.0
MAX_CONNECTIONS = 32


class Log(Protocol):
    """What the server needs of a logger."""

    def exception(self, event: str, /) -> Any:
        """Record an unexpected failure with its traceback."""
        ...


class Operations(Protocol):
    """What can be asked.  Yields events, and at last one answer marked by ``True``."""

    def answer(self, request: wire.Request) -> AsyncIterator[tuple[bool, Mapping[str, Any]]]:
        """Carry out one request; yields ``(is_last, value)``."""
        ...


class ControlServer:
    """Listens until it is closed."""

    def __init__(self, path: Path, operations: Operations, log: Log) -> None:
        self._path = path
        self._operations = operations
        self._log = log
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Listen.

        Raises:
            ConfigError: ``config.agent-running``, ``config.not-private`` or ``config.unusable``.
        """
        listening = await asyncio.to_thread(_listen, self._path)
        self._server = await asyncio.start_unix_server(
            self._serve, sock=listening, limit=wire.REQUEST_BYTES + 1
        )

    async def close(self) -> None:
        """Stop listening, end the open conversations and remove the socket."""
        if self._server is None:
            return
        self._server.close()
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await asyncio.to_thread(self._path.unlink, missing_ok=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a callback of start_unix_server runs as a task
        self._open.add(task)
        try:
            peer: socket.socket = writer.get_extra_info("socket")
            if wire.peer_uid(peer) == os.getuid() and len(self._open) <= MAX_CONNECTIONS:
                await self._converse(reader, writer)
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


def _listen(path: Path) -> socket.socket:
    private_dir(path.parent)
    if _answers(path):
        raise ConfigError("config.agent-running", path=path)
    path.unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listening.bind(str(path))
        path.chmod(0o600)  # the folder was private all the while
        listening.setblocking(False)
    except OSError as error:
        listening.close()
        raise ConfigError("config.unusable", path=path, why=error.strerror) from error
    return listening


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(2)
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True
