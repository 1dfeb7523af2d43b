"""What is told while it happens, to every tab alike, and the cursor from which a tab goes on.

The journal is the truth.  A tab is told that a task changed, with its row as it stands then, and a
cursor; it comes back with the cursor that it knows, and gets the rows of whatever changed since.
Nothing else has to be kept in step: reload, sleep and a lost connection are the same case.  The
words of a model at work are in no journal: what was said so far is kept here while it lasts.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import fields
from typing import Any, Final

from aiohttp import WSMsgType, web

from common import strict_json
from common.errors import CodexBridgeError, UnavailableError
from common.model.proposal import PlaybookEvent, TaskStreamChunk
from common.model.state import FINAL
from common.page.sessions import Session, has_token
from common.text import reveal
from local_agent.faces.control.tasks import listed_task
from local_agent.faces.page.parts import PageParts
from local_agent.faces.page.rendered import revealed
from local_agent.flow.bus import Told
from local_agent.flow.standing import RunStanding
from local_agent.store.tasks import Task
from local_agent.views import to_json
from local_agent.views.page import PageRow

HELLO_BYTES: Final = 4096
HELLO_S: Final = 10.0
BATCH_S: Final = 0.05  # so that a burst of steps is one row
AGAIN_S: Final = 1.0  # after the journal could not be read
QUEUE: Final = 4096  # events that wait to be told; a tab that is slower reads anew
MAX_SENT: Final = 1024
MAX_CHANGED: Final = 2000  # events since a cursor; with more, everything is read anew
MAX_STREAM: Final = 200_000  # characters kept of what is said for one task
MAX_STREAMS: Final = 64
LEAVE_S: Final = 1.0  # for tabs to hear that they are let go, and why
HEARTBEAT_S: Final = 20.0
GONE: Final = 4003  # the session has ended
SLOW: Final = 4008
_NOWHERE: Final = -1  # a cursor that none is equal to, not even that of an empty journal

Json = dict[str, Any]


class Live:
    """Tells all tabs.

    Attributes:
        life: Names this life of the agent; a cursor from another one leads nowhere.
    """

    def __init__(self, parts: PageParts) -> None:
        self._parts = parts
        self._tabs: set[_Tab] = set()
        self._changed: set[str] = set()
        self._stirred = asyncio.Event()
        self._streams: dict[str, str] = {}
        self.life = secrets.token_hex(8)

    async def run(self) -> None:
        """Hear and tell, for ever."""
        async with asyncio.TaskGroup() as both:
            both.create_task(self._hear())
            both.create_task(self._tell_changes())

    def said_so_far(self, task_id: str) -> str:
        """Return what a model at work has said for a task until now."""
        return self._streams.get(task_id, "")

    def tell_all(self, message: Json) -> None:
        """Tell every tab."""
        for tab in self._tabs:
            tab.offer(message)

    def changed(self, task_id: str) -> None:
        """Have a task told anew."""
        self._changed.add(task_id)
        self._stirred.set()

    async def serve(self, request: web.Request, session: Session) -> web.StreamResponse:
        """Talk to one tab until it goes; its first words must hold its half of the session."""
        socket = web.WebSocketResponse(
            heartbeat=HEARTBEAT_S, max_msg_size=HELLO_BYTES, compress=False
        )
        await socket.prepare(request)
        try:
            async with asyncio.timeout(HELLO_S):
                hello = strict_json.loads(await socket.receive_str(), max_bytes=HELLO_BYTES)
        except (TimeoutError, TypeError, CodexBridgeError):
            await socket.close(code=GONE)
            return socket
        match hello:
            case {"token": str(token), "life": str(life), "cursor": int(cursor)} if has_token(
                session, token
            ):
                # A cursor holds for one life of the agent (`store.tasks.events_cursor`).
                await self._follow(socket, session, cursor if life == self.life else _NOWHERE)
            case _:
                await socket.close(code=GONE)
        return socket

    def let_go(self, lives: Callable[[Session], bool]) -> None:
        """Let each tab go whose session has ended: what it could not ask for it is not told."""
        for tab in self._tabs:
            if not lives(tab.session):
                tab.leave(GONE)

    async def close(self) -> None:
        """Let every tab go; they come back when the agent does."""
        for tab in self._tabs:
            tab.leave()
        with suppress(TimeoutError):  # a tab that has gone without a word
            async with asyncio.timeout(LEAVE_S):
                await asyncio.gather(*(tab.over.wait() for tab in self._tabs))

    async def _follow(self, socket: web.WebSocketResponse, session: Session, cursor: int) -> None:
        tab = _Tab(socket, session)
        self._tabs.add(tab)  # before what changed is looked at, so that nothing falls in between
        try:
            tab.offer(await self._since(cursor))
            await tab.run()
        finally:
            self._tabs.discard(tab)

    async def _since(self, cursor: int) -> Json:
        """Return what a tab missed since a cursor: rows, or that it must read everything anew."""
        db = self._parts.db
        newest = await db.run(db.journal.tasks.events_cursor)
        hello: Json = {"type": "hello", "life": self.life, "cursor": newest, "rows": []}
        if cursor == newest:
            return hello | {"anew": False}
        changed = None
        if 0 < cursor < newest:
            changed = await db.run(db.journal.tasks.changed_since, cursor, limit=MAX_CHANGED)
        if changed is None or changed[0] < newest:
            return hello | {"anew": True}
        rows = await self._rows(changed[1])
        return hello | {"cursor": changed[0], "anew": False, "rows": rows}

    async def _hear(self) -> None:
        while True:
            with self._parts.bus.read(size=QUEUE) as events:
                try:
                    async for told in events:
                        self._take(told)
                    return  # the agent ends
                except UnavailableError:
                    self.tell_all({"type": "anew"})
            self._streams.clear()

    def _take(self, told: Told) -> None:
        event = told.event
        match event:
            case TaskStreamChunk():
                self._stream(event.task_id, event.chunk)
                return
            case PlaybookEvent() if event.event.get("type") == "stream":
                self._stream(event.task_id, str(event.event.get("chunk", "")))
                return
            case PlaybookEvent() if event.event.get("type") in ("step_start", "step_complete"):
                self._streams.pop(event.task_id, None)
        if told.said:
            said = {"type": "said", "task_id": event.task_id, "said": revealed(dict(told.said))}
            self.tell_all(said)
        self.changed(event.task_id)

    def _stream(self, task_id: str, chunk: str) -> None:
        before, chunk = self._streams.pop(task_id, ""), reveal(chunk)
        room = MAX_STREAM - len(before)
        if room > 0 and chunk:
            self.tell_all(
                {"type": "stream", "task_id": task_id, "at": len(before), "text": chunk[:room]}
            )
        self._streams[task_id] = before + chunk[: max(room, 0)]
        while len(self._streams) > MAX_STREAMS:
            del self._streams[next(iter(self._streams))]

    async def _tell_changes(self) -> None:
        while True:
            await self._stirred.wait()
            await asyncio.sleep(BATCH_S)
            self._stirred.clear()
            ids, self._changed = self._changed, set()
            if not self._tabs:
                continue
            db = self._parts.db
            try:
                # The cursor first: what happens in between is told once more, and never missed.
                cursor = await db.run(db.journal.tasks.events_cursor)
                rows = await self._rows(ids)
            except CodexBridgeError as error:  # such as a store that cannot be read just now
                self._parts.log.warning("page.not-told", code=error.code)
                self._changed |= ids
                self._stirred.set()
                await asyncio.sleep(AGAIN_S)
                continue
            for row in rows:
                self.tell_all({"type": "task", "cursor": cursor, "row": row})

    async def _rows(self, ids: Iterable[str]) -> list[Json]:
        db, wanted = self._parts.db, list(ids)
        tasks: list[Task] = await db.run(
            lambda: [task for one in wanted if (task := db.journal.tasks.find(one)) is not None]
        )
        for task in tasks:
            if task.state in FINAL:
                self._streams.pop(task.task_id, None)
        until = {asked.task_id: asked.expires_at for asked in await self._parts.gate.pending()}
        return await asyncio.to_thread(
            lambda: [to_json(row_of(one, expires_at=until.get(one.task_id))) for one in tasks]
        )


def row_of(task: Task, *, expires_at: int | None, standing: RunStanding | None = None) -> PageRow:
    """Return a task as the page's list has it."""
    listed = listed_task(task, expires_at=expires_at, standing=standing)
    facts = {field.name: getattr(listed, field.name) for field in fields(listed)}
    return revealed(PageRow(**facts, run=task.run, is_step=task.step is not None))


class _Tab:
    """One tab's socket: what waits to be told, and its end."""

    def __init__(self, socket: web.WebSocketResponse, session: Session) -> None:
        self._socket = socket
        self.session = session
        self._waiting: asyncio.Queue[Json | None] = asyncio.Queue(MAX_SENT)
        self._code = 0
        self.over = asyncio.Event()

    def offer(self, message: Json) -> None:
        """Tell it soon; a tab that does not listen is let go, and comes back with its cursor."""
        try:
            self._waiting.put_nowait(message)
        except asyncio.QueueFull:
            self.leave(SLOW)

    def leave(self, code: int = 1000) -> None:
        """Let it go; the first reason counts."""
        self._code = self._code or code
        while self._waiting.full():
            self._waiting.get_nowait()
        self._waiting.put_nowait(None)

    async def run(self) -> None:
        """Tell what waits until either side goes."""
        telling = asyncio.create_task(self._tell())
        hearing = asyncio.create_task(self._hear())
        try:
            await asyncio.wait({telling, hearing}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            telling.cancel()
            hearing.cancel()
            await asyncio.gather(telling, hearing, return_exceptions=True)
            with suppress(ConnectionError):
                await self._socket.close(code=self._code or 1000)
            self.over.set()

    async def _tell(self) -> None:
        with suppress(ConnectionError):
            while (message := await self._waiting.get()) is not None:
                await self._socket.send_str(json.dumps(message, separators=(",", ":")))

    async def _hear(self) -> None:
        """Wait for its end; it has nothing more to say."""
        async for message in self._socket:
            if message.type is not WSMsgType.PING:
                return
