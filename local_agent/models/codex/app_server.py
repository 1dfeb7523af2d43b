"""One running ``codex app-server``, with the folder that was made for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from common import PRODUCT
from local_agent.child import Child, open_child
from local_agent.errors import ModelError
from local_agent.models.codex.client import Client
from local_agent.models.codex.config import CodexModel
from local_agent.models.codex.lockdown import Place, environment, make_place, remove_place
from local_agent.models.codex.program import find_program, read_version
from local_agent.models.codex.session import say_hello
from local_agent.models.faults import said
from local_agent.process import Limits

START_S: Final = 20.0
_GRACE_S: Final = 1.0
_LIMITS: Final = Limits(grace_s=_GRACE_S, file_bytes=256 * 1024 * 1024)


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
    client = Client(child, key=model.key)
    try:
        async with asyncio.timeout(START_S):
            await say_hello(client, PRODUCT)
    except BaseException as error:
        await client.end()
        if isinstance(error, ModelError | TimeoutError):
            raise ModelError("model.program", **_complaint(child, model.key)) from error
        raise
    return client


def _complaint(child: Child, key: str | None) -> Mapping[str, str]:
    words = child.stderr.parts()[0].decode("utf-8", "replace")
    return said(words, key=key) or {"why": "start"}
