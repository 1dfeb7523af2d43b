"""Lives inside a forked process: names what it makes durable and what it lets out, and kills it.

The product has no hook for this.  Everything is taken from below it, at seams it cannot go around:

- SQLite, whose connections name each transaction by what it writes (`ledger`);
- the rename that makes a file durable;
- the calls that change a workspace or keep what a change replaces, and the steps of a commit;
- what leaves the process: frames, HTTP answers, answers on the control socket, chat messages, and
  commands that were run.

Four phases are told apart: ``before-write`` and ``after-commit`` of a transaction or file,
``after-effect`` of something that happened outside and is recorded nowhere yet, and ``before-ack``
of an answer that has not left.
"""

from __future__ import annotations

import json
import os
import re
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Final

from tests.matrix import footprints, ledger

QUIET_OPERATIONS: Final = frozenset(
    {"status", "tasks", "show", "log", "follow"}
)  # the test's own looking
BACKOFF_S: Final = (0.05, 0.2)

_new_store: list[bytes] = []
_operation: ContextVar[str] = ContextVar("operation", default="")
_pushing: ContextVar[bool] = ContextVar("pushing", default=False)


class Notes:
    """Writes down each moment, and ends the process at the one it is told."""

    def __init__(self, half: str, notes: str, kill: Sequence[Any] | None) -> None:
        self._half = half
        self._file = os.open(notes, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._kill = tuple(kill) if kill else None
        self._seen: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()

    def __call__(self, event: str, phase: str) -> None:
        """Note one moment; does not return from the one to die at."""
        with self._lock:
            self._seen[event, phase] += 1
            nth = self._seen[event, phase]
            dies = (event, phase, nth) == self._kill
            line = {"half": self._half, "event": event, "phase": phase, "nth": nth, "killed": dies}
            line["at_ms"] = time.time_ns() // 1_000_000
            os.write(self._file, json.dumps(line).encode() + b"\n")
            if dies:
                os.kill(os.getpid(), signal.SIGKILL)


def watch(*, half: str, notes: str, tree: str, kill: Sequence[Any] | None, ahead_s: int) -> None:
    """Instrument this process."""
    note = Notes(half, notes, kill)
    ledger.watch(note)
    _watch_renames(note)
    _watch_frames(note)
    if half == "agent":
        _watch_commands(note)
        _watch_control(note)
        footprints.watch(note, Path(tree))
        _watch_git(note)
        _watch_models(note)
        _watch_runs(note)
    else:
        _watch_http(note)
        _watch_chat(note)
        _commit_one_by_one()
        _say_nothing_first()
    if ahead_s:
        _set_clock_ahead(ahead_s)


def make_store() -> None:
    """Make a new store of the gateway, for `hasten`: Alembic takes a third of a first command."""
    from gateway.store.sqlite import ensure_current

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "gateway.db")
        ensure_current(path)
        _new_store.append(path.read_bytes())


def hasten(sandbox: Mapping[str, Any] | None, *, watched: bool) -> None:
    """Dial again at once: how long to wait between two tries is nothing a test must wait for.

    Args:
        sandbox: What the test of the sandbox has found on this machine; None to try it anew.
        watched: Whether what is written is noted: a store is then made as it always is.
    """
    from local_agent import app
    from local_agent.doctor import machine
    from local_agent.link import condition
    from local_agent.sandbox.self_test import SelfTest

    vars(condition).update(FIRST_DELAY_S=BACKOFF_S[0], LONGEST_DELAY_S=BACKOFF_S[1])
    if sandbox is not None:
        found = SelfTest(**sandbox)

        async def known(*_: Any, **__: Any) -> SelfTest:
            return found

        vars(app)["self_test"] = vars(machine)["self_test"] = known
    if not watched:
        _copy_store()


def _copy_store() -> None:
    """Make a new store by a copy of the one that was made before."""
    from gateway.store import sqlite

    migrate = sqlite._migrate

    def copying(path: Path, found: str | None, **named: Any) -> None:
        if found is not None:
            migrate(path, found, **named)
            return
        sqlite.create_private(path)
        path.write_bytes(_new_store[0])

    vars(sqlite)["_migrate"] = copying


def _say_nothing_first() -> None:
    """Tell no task as sent: whether something truer comes first depends on the machine's load."""
    from gateway.store import outbox

    vars(outbox)["RECEIPT_MS"] = 60_000


def _watch_renames(note: Notes) -> None:
    def watched(rename: Callable[[Path, Any], Path]) -> Callable[[Path, Any], Path]:
        def renaming(self: Path, target: Any) -> Path:
            event = f"file {re.sub('[0-9a-f-]{16,}', '*', Path(target).name)}"
            note(event, "before-write")
            done = rename(self, target)
            note(event, "after-commit")
            return done

        return renaming

    _replace(Path, "replace", watched)


def _watch_frames(note: Notes) -> None:
    from aiohttp import web
    from websockets.asyncio.client import ClientConnection

    def watched(send: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
        async def watching(self: Any, text: str, *more: Any, **named: Any) -> None:
            event = frame_name(text)
            if event == "frame ack":
                note(event, "before-ack")
            await send(self, text, *more, **named)
            if event and event != "frame ack":
                note(event, "after-effect")

        return watching

    _replace(ClientConnection, "send", watched)
    _replace(web.WebSocketResponse, "send_str", watched)


def frame_name(text: str) -> str:
    """Return what kind of frame a text is; empty for those of the heartbeat."""
    frame = json.loads(text)
    if frame["t"] in ("ping", "pong"):
        return ""
    if "header" not in frame:
        return f"frame {frame['t']}"
    body = json.loads(frame["body"])
    return " ".join(["frame", frame["t"], *filter(None, map(body.get, ("state", "reason")))])


def _watch_commands(note: Notes) -> None:
    from local_agent.actions.run_command import action
    from local_agent.actions.run_command import perform as command

    run_child = vars(command)["run_child"]

    async def watching(*args: Any, on_output: Callable[..., None], **named: Any) -> Any:
        spoken = False

        def listening(*chunk: Any) -> None:
            nonlocal spoken
            if not spoken:
                spoken = True
                note("command runs", "after-effect")
            on_output(*chunk)

        ended = await run_child(*args, on_output=listening, **named)
        note("command ended", "after-effect")
        return ended

    vars(command)["run_child"] = watching
    # A line of progress after a moment, where a person would wait for ten seconds.
    vars(action)["FIRST_S"] = vars(action)["CHAT_S"] = 1
    command.Executor.__init__.__kwdefaults__["progress_s"] = 0.3  # type: ignore[index]  # it has some


def _watch_git(note: Notes) -> None:
    from local_agent.actions.git_sync import perform as git_sync
    from local_agent.actions.git_sync import push
    from local_agent.sandbox import process
    from local_agent.workspace.git import commit as git_commit

    def after(event: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def watched(real: Callable[..., Any]) -> Callable[..., Any]:
            def calling(*args: Any, **named: Any) -> Any:
                done = real(*args, **named)
                note(f"git {event}", "after-commit")
                return done

            return calling

        return watched

    for step in ("new_tree", "_write_index", "_write_object", "_move_branch"):
        _replace(git_commit, step, after(step.strip("_")))
    _replace(git_sync, "remember_pushed", after("remember_pushed"))

    run_child = vars(push)["run_child"]

    async def pushing(*args: Any, **named: Any) -> Any:
        note("git push", "before-write")
        token = _pushing.set(True)
        ended = await run_child(*args, **named)
        _pushing.reset(token)
        note("git push", "after-effect")
        return ended

    start = vars(process)["_start"]

    async def starting(*args: Any, **named: Any) -> Any:
        started = await start(*args, **named)
        if _pushing.get():
            note("git push runs", "after-effect")
        return started

    vars(process)["_start"] = starting
    vars(push)["run_child"] = pushing


def _watch_models(note: Notes) -> None:
    from local_agent.models.codex.backend import CodexBackend
    from local_agent.models.http.backend import HttpBackend
    from local_agent.propose.scratch.pool import ScratchPool

    def watched(ask: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def asking(self: Any, turn: Any, emit: Callable[[Any], None]) -> Any:
            spoken = False

            def hearing(event: Any) -> None:
                nonlocal spoken
                if not spoken:
                    spoken = True
                    note("model answers", "after-effect")
                emit(event)

            note("model asked", "before-write")
            reply = await ask(self, turn, hearing)
            note("model answered", "after-effect")
            return reply

        return asking

    def after(event: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def around(real: Callable[..., Any]) -> Callable[..., Any]:
            def calling(*args: Any, **named: Any) -> Any:
                done = real(*args, **named)
                note(f"scratch {event}", "after-commit")
                return done

            return calling

        return around

    for backend in (HttpBackend, CodexBackend):
        _replace(backend, "ask", watched)
    for taken in ("take_empty", "take_tree"):
        _replace(ScratchPool, taken, after("lent"))
    _replace(ScratchPool, "give_back", after("given back"))


def _watch_runs(note: Notes) -> None:
    from local_agent.flow import run_log

    def watched(append: Callable[[Path, bytes], None]) -> Callable[[Path, bytes], None]:
        def appending(path: Path, line: bytes) -> None:
            append(path, line)
            note(f"told {json.loads(line)['type']}", "after-commit")

        return appending

    _replace(run_log, "_append", watched)


def _watch_control(note: Notes) -> None:
    from local_agent.faces.control import server

    send = vars(server)["_send"]

    async def sending(writer: Any, line: bytes) -> None:
        operation = _operation.get()
        if operation not in QUIET_OPERATIONS:
            note(f"answer {operation}", "before-ack")
        await send(writer, line)

    def named(answer: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
        async def answering(self: Any, request: Any, *streams: Any) -> None:
            _operation.set(request.op)
            await answer(self, request, *streams)

        return answering

    vars(server)["_send"] = sending
    _replace(server.ControlServer, "_answer", named)


def _watch_http(note: Notes) -> None:
    from aiohttp import web

    def named(response: web.Response, request: Any) -> str:
        return f"http {request.method} {request.path} {response.status}"

    def before(prepare: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def preparing(self: web.Response, request: Any) -> Any:
            if not request.path.startswith("/health"):
                note(named(self, request), "before-ack")
            self["watched"] = request
            return await prepare(self, request)

        return preparing

    def after(write_eof: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
        async def writing(self: web.Response, data: bytes = b"") -> None:
            await write_eof(self, data)
            request = self["watched"]
            if not request.path.startswith("/health"):
                note(named(self, request), "after-effect")

        return writing

    _replace(web.Response, "prepare", before)
    _replace(web.Response, "write_eof", after)


def _watch_chat(note: Notes) -> None:
    from gateway.wecom.client import WeComClient

    def watched(send: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def sending(self: Any, *args: Any, **named: Any) -> Any:
            outcome = await send(self, *args, **named)
            note("chat message", "after-effect")
            return outcome

        return sending

    _replace(WeComClient, "send_text", watched)


def _commit_one_by_one() -> None:
    """Give every operation of the gateway a commit of its own: groups depend on timing."""
    from gateway.store import runner

    commit_group = runner.commit_group

    def one_by_one(driver: Any, jobs: list[Any]) -> None:
        for job in jobs:
            commit_group(driver, [job])

    vars(runner)["commit_group"] = one_by_one


def _set_clock_ahead(seconds: int) -> None:
    from common.clock import Instant, SystemClock

    def ahead(now: Callable[[SystemClock], Instant]) -> Callable[[SystemClock], Instant]:
        def later(self: SystemClock) -> Instant:
            at = now(self)
            return Instant(at.wall_ms + seconds * 1000, at.mono + seconds)

        return later

    _replace(SystemClock, "now", ahead)


def _replace(owner: Any, name: str, around: Callable[[Any], Any]) -> None:
    setattr(owner, name, around(getattr(owner, name)))
