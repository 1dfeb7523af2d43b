"""Finds codex, in the version whose protocol and switches are known, and starts ``app-server``.

It is never taken from a workspace (R40): neither by a relative entry of PATH nor by a setting.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from common import PRODUCT
from common.text import one_line
from local_agent.errors import ModelError
from local_agent.models.codex.lockdown import (
    CodexModel,
    Place,
    environment,
    make_place,
    remove_place,
)
from local_agent.models.faults import said
from local_agent.models.jsonrpc import Client, complaint
from local_agent.sandbox.child import open_child
from local_agent.sandbox.process import Limits, run_child

VERSION: Final = (0, 169)  # of which each release is taken
PINNED: Final = "0.169.0"
_SAYS: Final = re.compile(r"codex-cli (\d{1,4})\.(\d{1,4})\.(\d{1,4})\s*", re.ASCII)
START_S: Final = 20.0
_LIMITS: Final = Limits(grace_s=1.0, file_bytes=256 * 1024 * 1024)
_BRIEF: Final = Limits(timeout_s=10.0, grace_s=0.5, output_cap_bytes=4096)
# Where npm puts the binary of this machine's kind, seen from the package's own launcher, which is
# a script for node and not what we start.
_LAUNCHER: Final = "codex.js"
_BINARIES: Final = "codex-*/vendor/*/bin/codex"


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Where app-servers are started.

    Attributes:
        folder: For the folders of each; nothing else is kept in it.
        environ: The agent's environment, to look for the program along its PATH.
        workspaces: Gives the roots that no program may be taken from; blocks.
    """

    folder: Path
    environ: Mapping[str, str]
    workspaces: Callable[[], Sequence[Path]]


@dataclass(slots=True, eq=False)
class AppServer:
    """A program that answers.

    Attributes:
        turns: That it was lent for, until now.
        running: Of these, how many are not over.
    """

    client: Client
    place: Place
    version: str
    turns: int = 0
    running: int = 0

    async def end(self) -> None:
        """End it, and remove what it leaves."""
        await self.client.end()
        await asyncio.to_thread(remove_place, self.place)


async def start(model: CodexModel, around: Surroundings) -> AppServer:
    """Start a new one.

    Raises:
        ModelError: ``model.program``: it is not there, not the right version, or does not start.
        ConfigError: ``config.not-private``.
    """
    roots = await asyncio.to_thread(around.workspaces)
    program = await asyncio.to_thread(find_program, model.program, around.environ, roots)
    place = await asyncio.to_thread(make_place, around.folder, model)
    try:
        env = environment(place, None)
        version = await read_version(program, cwd=place.home, env=env)
        client = await _open(program, place, model)
    except BaseException:
        await asyncio.to_thread(remove_place, place)
        raise
    return AppServer(client, place, version)


def find_program(
    configured: Path | None, environ: Mapping[str, str], workspaces: Sequence[Path]
) -> Path:
    """Return the program; blocks.

    Args:
        configured: By the person, or None to look along PATH.
        environ: The agent's environment.
        workspaces: Roots that it must not lie in.

    Raises:
        ModelError: ``model.program`` (why: ``missing``, ``workspace``, ``writable``).
    """
    candidate = configured or _on_path(environ.get("PATH", ""), workspaces)
    if candidate is None or not candidate.is_absolute():
        raise ModelError("model.program", why="missing", wanted=PINNED)
    program = _binary(candidate.resolve())
    if not os.access(program, os.X_OK) or not program.is_file():
        raise ModelError("model.program", why="missing", wanted=PINNED)
    if _is_within(program, workspaces) or _is_within(candidate.parent, workspaces):
        raise ModelError("model.program", why="workspace")
    if program.stat().st_mode & stat.S_IWOTH:
        raise ModelError("model.program", why="writable")
    return program


async def read_version(program: Path, *, cwd: Path, env: Mapping[str, str]) -> str:
    """Return the version of a program, if it is one that we can speak with.

    Raises:
        ModelError: ``model.program`` (``said``, or why: ``start``, or ``version`` with ``found``,
            ``wanted``).
    """
    try:
        ended = await run_child([str(program), "--version"], cwd=cwd, env=env, limits=_BRIEF)
    except OSError as error:
        raise ModelError("model.program", why="start") from error
    if not ended.ok:
        words = ended.stderr.parts()[0].decode("utf-8", "replace")
        raise ModelError("model.program", **said(words, key=None) or {"why": "start"})
    says = ended.stdout.parts()[0].decode("utf-8", "replace")
    known = _SAYS.fullmatch(says)
    if known is None or (int(known[1]), int(known[2])) != VERSION:
        found = one_line(says, 80)
        raise ModelError("model.program", why="version", found=found, wanted=PINNED)
    return ".".join(known.groups())


async def _open(program: Path, place: Place, model: CodexModel) -> Client:
    try:
        child = await open_child(
            # A key that this version does not know is an error: it would be one not obeyed.
            [str(program), "app-server", "--strict-config"],
            cwd=place.home,
            env=environment(place, model.key),
            limits=_LIMITS,
        )
    except OSError as error:
        raise ModelError("model.program", why="start") from error
    client = Client(
        child,
        name="codex",
        refused=partial(_refused, key=model.key),
        garbled=ModelError("model.ended", why="protocol"),
        route="threadId",
    )
    try:
        async with asyncio.timeout(START_S):
            await _say_hello(client)
    except BaseException as error:
        await client.end()
        if isinstance(error, ModelError | TimeoutError):
            raise ModelError("model.program", **complaint(child, model.key)) from error
        raise
    return client


async def _say_hello(client: Client) -> None:
    info = {"name": "codexbridge", "title": "CodexBridge", "version": PRODUCT}
    await client.request("initialize", {"clientInfo": info, "capabilities": None})
    await client.notify("initialized")


def _refused(error: Mapping[str, Any], *, key: str | None) -> ModelError:
    facts = said(error.get("message"), key=key) or {"why": "refused"}
    return ModelError("model.program", **facts)


def _on_path(path: str, workspaces: Sequence[Path]) -> Path | None:
    trusted = [
        entry
        for entry in path.split(os.pathsep)
        if Path(entry).is_absolute() and not _is_within(Path(entry), workspaces)
    ]
    found = shutil.which("codex", path=os.pathsep.join(trusted)) if trusted else None
    return Path(found) if found else None


def _binary(program: Path) -> Path:
    if program.name != _LAUNCHER:
        return program
    package = program.parents[1]
    for place in (package.parent, package / "node_modules" / "@openai"):
        if found := sorted(place.glob(_BINARIES)):
            return found[0].resolve()
    return program


def _is_within(path: Path, roots: Sequence[Path]) -> bool:
    real = path.resolve()
    return any(real.is_relative_to(root.resolve()) for root in roots)
