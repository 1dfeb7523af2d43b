"""THE main flow of one turn of an agent (`local_agent.models.backend.Backend`).  Experimental."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from common.clock import Clock, SystemClock
from common.home import private_dir
from local_agent.errors import ModelError
from local_agent.models.acp.contained import AcpModel, Contain, start
from local_agent.models.acp.session import Session
from local_agent.models.backend import Emit, Health, ReadKey, Reply, Turn, read_key
from local_agent.models.faults import said
from local_agent.sandbox.child import Child

_SMALLEST: Final = Turn(
    task_id="", instructions="Answer with one word.", prompt="Say: ready", want="text"
)


class AcpBackend:
    """A model that an agent of the protocol is; one program for each turn.

    Args:
        model: Which.
        key: Gives its key, or None where it needs none; blocks.
        contain: Puts its program into the sandbox.
        workspaces: Gives the roots that no program may be taken from.
        clock: For the time that a check takes.
    """

    def __init__(
        self,
        model: AcpModel,
        *,
        key: ReadKey,
        contain: Contain,
        workspaces: Callable[[], Sequence[Path]],
        clock: Clock | None = None,
    ) -> None:
        self._model = model
        self._key = key
        self._contain = contain
        self._workspaces = workspaces
        self._clock = clock or SystemClock()

    @property
    def name(self) -> str:
        """What the person calls it."""
        return self._model.name

    async def ask(self, turn: Turn, emit: Emit) -> Reply:
        """Put one question; see `Backend.ask`."""
        reply, _ = await self._ask(turn, emit)
        return reply

    async def check(self) -> Health:
        """Ask the smallest question; see `Backend.check`."""
        began = self._clock.now().mono
        _, version = await self._ask(_SMALLEST, lambda _event: None)
        took = self._clock.now().mono - began
        return Health(self._model.program.name, version, round(took * 1000))

    async def aclose(self) -> None:
        """Do nothing: a program ends with its turn."""

    async def _ask(self, turn: Turn, emit: Emit) -> tuple[Reply, str]:
        try:
            async with asyncio.timeout(self._model.deadline_s), self._opened(turn, emit) as session:
                reply = await session.ask(self._model.idle_s)
                return reply, session.version
        except TimeoutError as error:
            raise ModelError("model.deadline", seconds=round(self._model.deadline_s)) from error

    @asynccontextmanager
    async def _opened(self, turn: Turn, emit: Emit) -> AsyncIterator[Session]:
        key = await read_key(self._key) if self._model.key_variable is not None else None
        async with self._place(turn) as cwd:
            workspaces = await asyncio.to_thread(self._workspaces)
            child = await start(
                self._model, self._contain, scratch=cwd, key=key, workspaces=workspaces
            )
            session = Session(child, cwd, turn, emit, key=key)
            try:
                yield session
            except ModelError as error:
                await child.end()
                if error.code == "model.ended" and not session.has_begun:
                    raise ModelError("model.program", **_complaint(child, key)) from error
                raise
            finally:
                # The scratch copy is taken back after this, so nothing may be writing in it.
                await child.end()

    @asynccontextmanager
    async def _place(self, turn: Turn) -> AsyncIterator[Path]:
        """Give the folder that the program works in: an empty one where nothing is lent."""
        if turn.scratch is not None:
            yield turn.scratch.root
            return
        folder = await asyncio.to_thread(_empty_folder, self._model.folder)
        try:
            yield folder
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def _complaint(child: Child, key: str | None) -> dict[str, str]:
    words = child.stderr.parts()[0].decode("utf-8", "replace")
    return said(words, key=key) or {"why": "start"}


def _empty_folder(folder: Path) -> Path:
    return Path(tempfile.mkdtemp(prefix="empty-", dir=private_dir(folder))).resolve()
