"""Which agent is a model; its start in the sandbox, in an environment of its own (R40, R43, R62).

One program a turn: what one request has taught it, no other one meets.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from common.errors import CodexBridgeError, InputError, StateError
from common.home import private_dir
from local_agent.errors import ModelError
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
    _check_program(model.program, workspaces)
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


def _check_program(program: Path, workspaces: Sequence[Path]) -> None:
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
