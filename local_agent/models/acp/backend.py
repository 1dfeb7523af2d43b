"""THE main flow of one turn of an agent (`local_agent.models.backend.Backend`).  Experimental.

Which agent is a model, and its start in the sandbox, in an environment of its own (R40, R43, R62).
One program a turn: what one request has taught it, no other one meets.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from common.clock import Clock, SystemClock
from common.errors import CodexBridgeError, InputError, StateError
from common.home import private_dir
from local_agent.errors import ModelError
from local_agent.models.acp.session import Session
from local_agent.models.backend import Emit, Health, ReadKey, Reply, Turn, read_key
from local_agent.models.jsonrpc import complaint
from local_agent.sandbox.child import Child, open_child
from local_agent.sandbox.process import Limits

_LIMITS: Final = Limits(
    grace_s=1.0,
    file_bytes=256 * 1024**2,
    open_files=8192,
    processes=500,
    memory_bytes=os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2,
    disk_bytes=4 * 1024**3,
)
_SMALLEST: Final = Turn(
    task_id="", instructions="Answer with one word.", prompt="Say: ready", want="text"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AcpModel:
    """One model.

    Attributes:
        name: What the person calls it.
        program: The agent, by its absolute path.
        args: That it is started with.
        read_only: Folders besides that of the program which it must be able to read.
        key_variable: The environment variable in which it looks for its key; None gives it none.
        folder: Ours, for its home, which it may write and which stays.
        deadline_s: For one whole turn, the start of the program included.
        idle_s: Longest silence within a turn.
    """

    name: str
    program: Path
    folder: Path
    args: tuple[str, ...] = ()
    read_only: tuple[Path, ...] = ()
    key_variable: str | None = None
    deadline_s: float = 300.0
    idle_s: float = 60.0

    @property
    def home(self) -> Path:
        """The home that it sees, with its login."""
        return self.folder / "home"


class Contain(Protocol):
    """Puts a program into a sandbox; blocks."""

    def __call__(
        self, argv: Sequence[str], *, scratch: Path, own: Path, read_only: Sequence[Path]
    ) -> tuple[Sequence[str], bytes]:
        """Return the argv that starts it contained, and the filter of its system calls.

        Args:
            argv: What is to be started.
            scratch: Where it works, and may write.
            own: Its home, which it may write.
            read_only: What else it may read.

        Raises:
            StateError: ``sandbox.none``: this machine has no sandbox.
            InputError: ``toolchain.*``, ``sandbox.*``: it would be able to read too much.
        """
        ...


async def start(
    model: AcpModel,
    contain: Contain,
    *,
    scratch: Path,
    key: str | None,
    workspaces: Sequence[Path],
) -> Child:
    """Start the program of a model.

    Args:
        model: Which.
        contain: Puts it into the sandbox.
        scratch: Real path that it may write.
        key: Reaches it by its environment alone.
        workspaces: Roots that no program may be taken from.

    Raises:
        ModelError: ``model.program`` (why), ``model.uncontained``.
        ConfigError: ``config.not-private``: of its own folder.
    """
    argv, calls = await asyncio.to_thread(_contained, model, contain, scratch, workspaces)
    try:
        return await open_child(
            argv,
            cwd=scratch,
            env=environment(model, key),
            limits=_LIMITS,
            contained=True,
            seccomp=calls,
        )
    except OSError as error:
        raise ModelError("model.program", why="start") from error


def environment(model: AcpModel, key: str | None) -> dict[str, str]:
    """Return the whole environment of the program."""
    env = {
        "PATH": f"{model.program.parent}:/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": str(model.home),
        "TMPDIR": "/tmp",  # noqa: S108  # of the sandbox alone
        "NO_COLOR": "1",
    }
    if key is not None and model.key_variable is not None:
        env[model.key_variable] = key
    return env


def _contained(
    model: AcpModel, contain: Contain, scratch: Path, workspaces: Sequence[Path]
) -> tuple[Sequence[str], bytes]:
    check_program(model.program, workspaces)
    private_dir(model.folder)
    private_dir(model.home)
    try:
        return contain(
            [str(model.program), *model.args],
            scratch=scratch,
            own=model.home.resolve(),
            read_only=model.read_only,
        )
    except StateError as error:
        raise ModelError("model.uncontained") from error
    except InputError as error:
        raise ModelError("model.program", why=error.code, **_facts(error)) from error


def check_program(program: Path, workspaces: Sequence[Path]) -> None:
    """Check that a program is there and that no change or other user could replace it; blocks.

    Raises:
        ModelError: ``model.program`` (why: ``not-there``, ``workspace``, ``writable``).
    """
    real = program.resolve()
    if not real.is_file() or not os.access(real, os.X_OK):
        raise ModelError("model.program", why="not-there")
    roots = [root.resolve() for root in workspaces]
    if any(path.is_relative_to(root) for path in (program, real) for root in roots):
        raise ModelError("model.program", why="workspace")
    if real.stat().st_mode & stat.S_IWOTH:
        raise ModelError("model.program", why="writable")


def _facts(error: CodexBridgeError) -> dict[str, str]:
    return {name: str(error.facts[name]) for name in ("path",) if name in error.facts}


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
                    raise ModelError("model.program", **complaint(child, key)) from error
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


def _empty_folder(folder: Path) -> Path:
    return Path(tempfile.mkdtemp(prefix="empty-", dir=private_dir(folder))).resolve()
