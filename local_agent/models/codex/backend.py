"""Keeps ``codex app-server`` warm and asks it, one thread a question.

Starting takes as long as several small turns, so a program stays between tasks.  It does not stay
for ever: after a number of turns, after a while without any, and whenever it had to be stopped in
the middle of something, the next question gets a new one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Final

from common.clock import Clock, SystemClock
from local_agent.errors import ModelError
from local_agent.models.backend import Emit, Health, Reply, Turn
from local_agent.models.codex.lockdown import CodexModel, remove_left
from local_agent.models.codex.program import AppServer, Surroundings, start
from local_agent.models.codex.session import Session

MAX_TURNS: Final = 50  # of one program, which keeps about 1 MB of each
UNUSED_S: Final = 15 * 60.0


class CodexBackend:
    """A model that codex drives.

    Args:
        model: Which.
        around: Where its program runs.
        max_turns: That one program is lent for.
        unused_s: Without a turn, after which it is ended.
        clock: For the time that a check takes.
    """

    def __init__(
        self,
        model: CodexModel,
        around: Surroundings,
        *,
        max_turns: int = MAX_TURNS,
        unused_s: float = UNUSED_S,
        clock: Clock | None = None,
    ) -> None:
        self._model = model
        self._around = around
        self._max_turns = max_turns
        self._unused_s = unused_s
        self._clock = clock or SystemClock()
        self._starting = asyncio.Lock()
        self._server: AppServer | None = None  # that is lent
        self._servers: set[AppServer] = set()  # that run
        self._unused: asyncio.TimerHandle | None = None
        self._behind: set[asyncio.Task[None]] = set()
        self._is_swept = False
        self._is_closed = False

    @property
    def name(self) -> str:
        """What the person calls it in the settings."""
        return self._model.name

    async def ask(self, turn: Turn, emit: Emit) -> Reply:
        """Put one question; cancelling the call stops the model.

        Raises:
            ModelError: ``model.*``; the scratch copy may be half edited.
            ConfigError: ``config.not-private``: of the folder that it runs in.
        """
        try:
            async with asyncio.timeout(self._model.deadline_s), self._lent() as server:
                return await self._ask(server, turn, emit)
        except TimeoutError as error:
            raise ModelError("model.deadline") from error

    async def check(self) -> Health:
        """Ask the smallest question, to see that it answers.

        Raises:
            ModelError: ``model.*``.
            ConfigError: as of `ask`.
        """
        turn = Turn(task_id="", instructions="Answer with one word.", prompt="Say: ready")
        async with self._lent() as server:
            version = server.version
        began = self._clock.now().mono
        await self.ask(turn, lambda _: None)
        took = self._clock.now().mono - began
        return Health(self._model.model, version, round(took * 1000))

    async def aclose(self) -> None:
        """End what it has running; questions after that are refused."""
        self._is_closed = True
        async with self._starting:
            self._keep()
            self._server = None
            for server in tuple(self._servers):
                self._do_behind(self._end(server))
        while self._behind:
            await asyncio.gather(*self._behind)
            # Who has ended leaves the set in the loop's next round, for which `gather` no longer
            # waits from Python 3.12 on.
            await asyncio.sleep(0)

    async def _ask(self, server: AppServer, turn: Turn, emit: Emit) -> Reply:
        session = Session(server.client, self._model, server.place.desk, turn, emit)
        try:
            return await session.ask()
        except BaseException:
            # Also when the caller goes away: it is stopped before the scratch copy is taken back.
            await asyncio.shield(self._do_behind(self._stop(session, server)))
            raise

    async def _stop(self, session: Session, server: AppServer) -> None:
        if not await session.stop():
            await self._end(server)

    async def _end(self, server: AppServer) -> None:
        await server.end()
        self._servers.discard(server)

    @asynccontextmanager
    async def _lent(self) -> AsyncIterator[AppServer]:
        async with self._starting:
            server = await self._warm()
            server.turns += 1
            server.running += 1
        try:
            yield server
        finally:
            server.running -= 1
            self._put_back(server)

    async def _warm(self) -> AppServer:
        if self._is_closed:
            raise ModelError("model.ended")
        self._keep()
        server = self._server
        if server is None or server.client.is_lost or server.turns >= self._max_turns:
            self._retire()
            if not self._is_swept:
                await asyncio.to_thread(remove_left, self._around.folder)
                self._is_swept = True
            self._server = server = await start(self._model, self._around)
            self._servers.add(server)
        return server

    def _put_back(self, server: AppServer) -> None:
        if server.running:
            return
        if server is not self._server:
            self._do_behind(self._end(server))
        elif server.client.is_lost:
            self._retire()
        else:
            loop = asyncio.get_running_loop()
            self._unused = loop.call_later(self._unused_s, self._retire)

    def _keep(self) -> None:
        if self._unused is not None:
            self._unused.cancel()
            self._unused = None

    def _retire(self) -> None:
        """Lend the program to nobody any more; it ends with the last turn in it."""
        self._keep()
        server, self._server = self._server, None
        if server is not None and not server.running:
            self._do_behind(self._end(server))

    def _do_behind(self, doing: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(doing)
        self._behind.add(task)
        task.add_done_callback(self._behind.discard)
        return task
