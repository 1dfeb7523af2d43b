"""A model's service for tests: Responses and Chat Completions on loopback, told what to answer.

It answers each request with the next step of its script (`tests.model_script`), streamed as SSE or
whole as the request asks, and keeps every request, so that a test can look for what must never be
sent.  A test of real processes starts it: ``python -I tests/model_server.py SCRIPT.json PORTFILE``
with ``{"steps": [...], "then": {...}}`` in the first file (``dataclasses.asdict`` of each `Step`).
The second gets the port; ``PORTFILE.requests`` gets a line of JSON for each request.  It ends on
SIGTERM, and by itself after half an hour.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import signal
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Self

if __name__ == "__main__":  # -I leaves the checkout out
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.model_script import Step, status, text
from tests.model_speech import ChatSpeech, ResponsesSpeech, Speech

MAX_REQUEST_BYTES: Final = 16 * 1024 * 1024
MAX_REQUESTS: Final = 10_000
MAX_SENT_BYTES: Final = 256 * 1024 * 1024  # of one answer, so that an endless one ends
LIFETIME_S: Final = 1800.0
_FILLER: Final = "All work and no play makes a model dull. " * 400


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came."""

    path: str
    headers: Mapping[str, str]
    body: str

    @property
    def json(self) -> Any:
        """The body, read."""
        return json.loads(self.body)

    @property
    def asked(self) -> str:
        """What is asked for: the prompt's last part, after what was said before."""
        return self.body.rpartition(" REQUEST>")[2]

    @property
    def streams(self) -> bool:
        """Whether an answer in events is asked for."""
        return self.json.get("stream") is True


class ModelServer:
    """One service on an ephemeral port of loopback; a context manager.

    Args:
        steps: In order; each is used once, unless it says otherwise.
        then: For every request after that; without it, such a request gets 400 ``script-over``.
        record: Called with each request.
        tls: How it proves who it is; None for plain HTTP.

    Attributes:
        requests: All that came.
        asked: Set once one has come.
        hung_up: Set when a client has closed a connection that was not answered to its end.
    """

    def __init__(
        self,
        *steps: Step,
        then: Step | None = None,
        record: Callable[[Request], None] | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._steps = list(steps)
        self._then = then or status(400, code="script-over", message="the script is over")
        self._record = record
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._serving: set[asyncio.Task[Any]] = set()
        self.requests: list[Request] = []
        self.asked = asyncio.Event()
        self.hung_up = asyncio.Event()

    async def __aenter__(self) -> Self:
        """Listen."""
        self._server = await asyncio.start_server(
            self._serve, "127.0.0.1", 0, limit=1 << 16, ssl=self._tls
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop, and close what is open."""
        assert self._server
        self._server.close()
        for task in tuple(self._serving):
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        await self._server.wait_closed()

    @property
    def port(self) -> int:
        """Where it listens."""
        assert self._server
        return int(self._server.sockets[0].getsockname()[1])

    @property
    def base_url(self) -> str:
        """What a model's ``base_url`` is set to."""
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}/v1"

    @property
    def sent_to_it(self) -> str:
        """Everything that came, for tests that look for what must not."""
        return "\n".join(json.dumps(asdict(request)) for request in self.requests)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._serving.add(task)
        try:
            if (request := await _read_request(reader)) is not None:
                await self._answer(request, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            self.hung_up.set()
        finally:
            self._serving.discard(task)
            writer.close()

    async def _answer(
        self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if len(self.requests) >= MAX_REQUESTS:
            return
        self.requests.append(request)
        self.asked.set()
        if self._record:
            self._record(request)
        away = asyncio.create_task(reader.read(1))  # nothing more comes: it ends with the client
        answering = asyncio.create_task(_Answer(self._next(request), request, writer).send())
        try:
            await asyncio.wait({away, answering}, return_when=asyncio.FIRST_COMPLETED)
            if answering.done():
                answering.result()
            else:
                self.hung_up.set()
        finally:
            for task in (away, answering):
                task.cancel()
                with suppress(asyncio.CancelledError, ConnectionError):
                    await task

    def _next(self, request: Request) -> Step:
        for number, step in enumerate(self._steps):
            if step.when in (request.asked if step.asked else request.body):
                return step if step.always else self._steps.pop(number)
        return self._then


class _Answer:
    """One answer on its way."""

    def __init__(self, step: Step, request: Request, writer: asyncio.StreamWriter) -> None:
        self._step = step
        self._writer = writer
        self._streams = request.streams
        self._speech: Speech = ResponsesSpeech() if "/responses" in request.path else ChatSpeech()
        self._sent = 0

    async def send(self) -> None:
        """Send it whole."""
        step = self._step
        special = getattr(self, f"_{step.do}", None)
        if special is not None:
            await special()
        elif self._streams:
            await self._head("text/event-stream")
            async for event in self._speech.events(step):
                await self._chunk(event)
            await self._end()
        else:
            await self._whole(self._speech.whole(step))

    async def _status(self) -> None:
        step = self._step
        error = {"message": step.text, "type": step.code, "code": step.code, "param": None}
        await self._whole({"error": error}, status=step.status, headers=step.headers)

    async def _noise(self) -> None:
        await self._write(self._step.text.encode())

    async def _flooded_status(self) -> None:
        await self._head("application/json", status=self._step.status)
        while self._sent < MAX_SENT_BYTES:
            await self._chunk(_FILLER.encode())

    async def _cut_status(self) -> None:
        await self._head("application/json", status=self._step.status, length=1000)
        await self._write(b'{"error": {"message": "cu')

    async def _drop(self) -> None:
        self._writer.transport.abort()

    async def _hang(self) -> None:
        if self._step.text:
            await self._head("text/event-stream")
            await self._chunk(self._speech.opening() + self._speech.delta(self._step.text))
        await asyncio.Event().wait()

    async def _endless(self) -> None:
        if self._streams:
            await self._head("text/event-stream")
            if self._step.code == "text":
                await self._chunk(self._speech.opening() or b": \n")
        else:
            await self._head("application/json")
            await self._chunk(b'{"choices": ["')
        again = self._again() if self._streams else _FILLER.encode()
        while self._sent < MAX_SENT_BYTES:
            await self._chunk(again)
            await asyncio.sleep(self._step.pause_s)

    def _again(self) -> bytes:
        return {
            "text": self._speech.delta(_FILLER),
            "thinking": self._speech.thought(_FILLER),
            "comment": b": " + _FILLER.encode() + b"\n\n",
            "line": b"data: " + _FILLER.encode(),
            "data": b"data: " + _FILLER.encode() + b"\n",
            "drip": b":",
        }[self._step.code]

    async def _big(self) -> None:
        if not self._streams:
            await self._whole(self._speech.whole(text("x" * self._step.size)))
            return
        await self._head("text/event-stream")
        await self._chunk(self._speech.opening() or b": \n")
        for _ in range(self._step.size // len(_FILLER) + 1):
            await self._chunk(self._speech.delta(_FILLER))
        await self._end()

    async def _cut(self) -> None:
        if not self._streams:
            body = json.dumps(self._speech.whole(text(self._step.text))).encode()
            cleanly = self._step.code == "cleanly"
            length = len(body) - 9 if cleanly else len(body)
            await self._head("application/json", length=length)
            await self._write(body[:-9])
            return
        await self._head("text/event-stream")
        await self._chunk(self._speech.opening() + self._speech.delta(self._step.text))
        if self._step.code == "cleanly":
            await self._end()

    async def _raw(self) -> None:
        await self._head(self._step.headers["Content-Type"])
        await self._chunk(self._step.text.encode())
        await self._end()

    async def _bomb(self) -> None:
        await self._head("text/event-stream", extra={"Content-Encoding": "gzip"})
        lines = b": \n" * (self._step.size // 3)
        await self._chunk(await asyncio.to_thread(gzip.compress, lines, 1))
        await self._end()

    async def _whole(
        self, body: object, *, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        raw_body = json.dumps(body).encode()
        await self._head(
            "application/json", status=status, length=len(raw_body), extra=headers or {}
        )
        await self._write(raw_body)

    async def _head(
        self,
        content_type: str,
        *,
        status: int = 200,
        length: int | None = None,
        extra: Mapping[str, str] | None = None,
    ) -> None:
        size = (
            {"Transfer-Encoding": "chunked"} if length is None else {"Content-Length": str(length)}
        )
        headers = {"Content-Type": content_type, "Connection": "close"} | size | dict(extra or {})
        lines = [f"HTTP/1.1 {status} Scripted", *(f"{k}: {v}" for k, v in headers.items())]
        await self._write("\r\n".join([*lines, "", ""]).encode())

    async def _chunk(self, body: bytes) -> None:
        await self._write(b"%x\r\n%b\r\n" % (len(body), body))

    async def _end(self) -> None:
        await self._write(b"0\r\n\r\n")

    async def _write(self, sent: bytes) -> None:
        self._sent += len(sent)
        self._writer.write(sent)
        await self._writer.drain()


async def _read_request(reader: asyncio.StreamReader) -> Request | None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    named = (line.split(": ", 1) for line in head[1:] if ": " in line)
    headers = {name.lower(): value for name, value in named}
    size = int(headers.get("content-length", "0"))
    if size > MAX_REQUEST_BYTES:
        return None
    body = (await reader.readexactly(size)).decode()
    return Request(head[0].split(" ")[1], headers, body or "{}")


@dataclass(frozen=True, slots=True)
class Started:
    """A scripted server in a process of its own."""

    base_url: str
    record: Path

    @property
    def sent_to_it(self) -> str:
        """Everything that came."""
        return self.record.read_text(encoding="utf-8")


@contextmanager
def started(folder: Path, *steps: Step, then: Step | None = None) -> Iterator[Started]:
    """Run the server as a process while the context lasts; blocks until it listens.

    Args:
        folder: For its files.
        steps: As of `ModelServer`.
        then: As of `ModelServer`.
    """
    told, port = folder / "script.json", folder / "port"
    script = {"steps": [asdict(step) for step in steps], "then": asdict(then) if then else None}
    told.write_text(json.dumps(script), encoding="utf-8")
    child = subprocess.Popen(
        [sys.executable, "-I", __file__, str(told), str(port)], stdin=subprocess.DEVNULL
    )
    try:
        for _ in range(500):
            if port.exists():
                break
            with suppress(subprocess.TimeoutExpired):
                child.wait(0.02)
        number = port.read_text(encoding="utf-8")
        yield Started(f"http://127.0.0.1:{number}/v1", folder / "port.requests")
    finally:
        child.terminate()
        child.wait(5)


async def _main(script: Path, port_file: Path) -> None:
    told = json.loads(script.read_text(encoding="utf-8"))  # noqa: ASYNC240 - before it listens
    steps = [Step(**step) for step in told["steps"]]
    then = Step(**told["then"]) if told.get("then") else None
    record = port_file.with_name(port_file.name + ".requests")
    with record.open("a", encoding="utf-8") as lines:

        def keep(request: Request) -> None:
            lines.write(json.dumps(asdict(request)) + "\n")
            lines.flush()

        over = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, over.set)
        async with ModelServer(*steps, then=then, record=keep) as server:
            draft = port_file.with_name(port_file.name + ".new")
            draft.write_text(str(server.port), encoding="utf-8")
            draft.rename(port_file)
            with suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), LIFETIME_S)


if __name__ == "__main__":
    asyncio.run(_main(Path(sys.argv[1]), Path(sys.argv[2])))
