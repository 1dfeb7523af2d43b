"""Makes backends of settings; what is wrong with those is found here, before anything is asked.

What a kind of model takes is imported where one is configured: most agents have one kind or none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from common.home import Home
from local_agent.models.backend import Backend, Emit, Health, ReadKey, Reply, Turn, read_key
from local_agent.models.keys import ModelKeys
from local_agent.settings import ModelSettings

if TYPE_CHECKING:
    from local_agent.models.acp.contained import Contain


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """Where backends run.

    Attributes:
        places: Our own folders.
        environ: The agent's environment, to look for programs along its PATH.
        workspaces: Gives the roots that no program may be taken from; blocks.
        contain: Puts a program into the sandbox.
    """

    places: Home
    environ: Mapping[str, str]
    workspaces: Callable[[], Sequence[Path]]
    contain: Contain


@dataclass(frozen=True, slots=True)
class Prepared:
    """A model whose settings were looked at; nothing of it runs.

    Attributes:
        provided: What its provider calls it, or its program.
        build: Makes its backend.
        needs_key: Whether it is of no use without one, as far as the settings tell.
        whole: It works in a tree of files (`local_agent.models.backend.Chosen`).
        redacted: It reads that tree by itself.
    """

    provided: str
    build: Callable[[], Backend]
    needs_key: bool
    whole: bool = False
    redacted: bool = False


def prepare(name: str, settings: ModelSettings, keys: ModelKeys, around: Around) -> Prepared:
    """Return what the settings of a model come to.

    Raises:
        ConfigError: ``models.base-url`` (name, why).
    """
    key = partial(keys.get, name)
    match settings.kind:
        case "http":
            return _http(name, settings, key)
        case "codex":
            return _codex(name, settings, key, around)
        case "acp":
            return _acp(name, settings, key, around)


def _http(name: str, settings: ModelSettings, key: ReadKey) -> Prepared:
    from local_agent.models.http.backend import HttpBackend
    from local_agent.models.http.config import HttpModel

    model = HttpModel(
        name=name,
        model=settings.model or "",
        base_url=settings.base_url or "",
        api=settings.api,
        deadline_s=settings.deadline_seconds,
        idle_s=settings.idle_seconds,
        max_output_tokens=settings.max_output_tokens,
        effort=settings.effort,
        json_mode=settings.json_mode,
        stream=settings.stream,
    )
    needs_key = not model.is_local
    return Prepared(model.model, lambda: HttpBackend(model, key=key), needs_key=needs_key)


def _codex(name: str, settings: ModelSettings, key: ReadKey, around: Around) -> Prepared:
    from local_agent.models.codex.backend import CodexBackend
    from local_agent.models.codex.lockdown import OPENAI, CodexModel
    from local_agent.models.codex.program import Surroundings

    model = CodexModel(
        name=name,
        model=settings.model or "",
        base_url=settings.base_url or OPENAI,
        program=Path(settings.program) if settings.program else None,
        deadline_s=settings.deadline_seconds,
        idle_s=settings.idle_seconds,
    )
    surroundings = Surroundings(
        folder=around.places.state / "codex" / name,
        environ=around.environ,
        workspaces=around.workspaces,
    )

    def build(read: str | None) -> Backend:
        return CodexBackend(replace(model, key=read), surroundings)

    return Prepared(
        model.model,
        lambda: KeyedBackend(name, key=key, build=build),
        needs_key=not model.is_local,
        whole=True,
    )


def _acp(name: str, settings: ModelSettings, key: ReadKey, around: Around) -> Prepared:
    from local_agent.models.acp.backend import AcpBackend
    from local_agent.models.acp.contained import AcpModel

    model = AcpModel(
        name=name,
        program=Path(settings.program or ""),
        args=settings.args,
        read_only=tuple(map(Path, settings.read_only)),
        key_variable=settings.key_variable,
        folder=around.places.state / "acp" / name,
        deadline_s=settings.deadline_seconds,
        idle_s=settings.idle_seconds,
    )

    def build() -> Backend:
        contain, workspaces = around.contain, around.workspaces
        return AcpBackend(model, key=key, contain=contain, workspaces=workspaces)

    needs_key = settings.key_variable is not None
    return Prepared(model.program.name, build, needs_key=needs_key, whole=True, redacted=True)


class KeyedBackend:
    """A backend that is given its key when it is built: built anew where that has changed.

    It reads the key before each turn, and hands on to the backend of that key.

    Args:
        name: What the person calls the model.
        key: Gives its key, or None where it needs none; blocks.
        build: Builds the backend for a key.
    """

    def __init__(
        self,
        name: str,
        *,
        key: ReadKey,
        build: Callable[[str | None], Backend],
    ) -> None:
        self._name = name
        self._read = key
        self._build = build
        self._key: str | None = None
        self._backend: Backend | None = None
        self._renewing = asyncio.Lock()

    @property
    def name(self) -> str:
        """What the person calls it."""
        return self._name

    async def ask(self, turn: Turn, emit: Emit) -> Reply:
        """Put one question; see `Backend.ask`."""
        return await (await self._present()).ask(turn, emit)

    async def check(self) -> Health:
        """Ask the smallest question; see `Backend.check`."""
        return await (await self._present()).check()

    async def aclose(self) -> None:
        """End what it has running."""
        async with self._renewing:
            if self._backend is not None:
                await self._backend.aclose()

    async def _present(self) -> Backend:
        async with self._renewing:
            key = await read_key(self._read)
            if self._backend is None or key != self._key:
                former, self._backend, self._key = self._backend, self._build(key), key
                if former is not None:
                    await former.aclose()
            return self._backend
