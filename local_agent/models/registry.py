"""Which models there are and which one is asked.

Backends are made of settings; what is wrong with those is found here, before anything is asked.  A
backend is made when it is first wanted, and what a kind of model takes is imported where one is
configured: most agents have one kind or none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from common.errors import CodexBridgeError, InputError, StateError
from common.home import Home
from local_agent.errors import ModelError
from local_agent.models.backend import Backend, Chosen, Emit, Health, ReadKey, Reply, Turn, read_key
from local_agent.models.keys import ModelKeys
from local_agent.settings import AgentSettings, ModelKind, ModelSettings

if TYPE_CHECKING:
    from local_agent.models.acp.backend import Contain

CHECK_S: Final = 120.0  # for the smallest question, the start of a program included
_BROKEN: Final = "broken"  # a key that cannot be read


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
        look: Looks for its program, where it has one, and starts nothing; blocks.
        needs_key: Whether it is of no use without one, as far as the settings tell.
        whole: It works in a tree of files (`local_agent.models.backend.Chosen`).
        redacted: It reads that tree by itself.
    """

    provided: str
    build: Callable[[], Backend]
    needs_key: bool
    look: Callable[[], object] = lambda: None
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
    from local_agent.models.codex.program import Surroundings, find_program

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
        look=lambda: find_program(model.program, around.environ, around.workspaces()),
        whole=True,
    )


def _acp(name: str, settings: ModelSettings, key: ReadKey, around: Around) -> Prepared:
    from local_agent.models.acp.backend import AcpBackend, AcpModel, check_program

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

    return Prepared(
        model.program.name,
        build,
        needs_key=settings.key_variable is not None,
        look=lambda: check_program(model.program, around.workspaces()),
        whole=True,
        redacted=True,
    )


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Configured:
    """One model, for people.

    Attributes:
        provided: What its provider calls it, or its program.
        is_asked: Whether it is the one that is asked.
        key: Where its key lies: ``file``, ``keyring:…``, ``away`` (cannot be reached now),
            ``broken``; None without one.
        needs_key: Whether it is of no use without one.
        price_input: Of a million tokens that are read, in ``currency``; None where not told.
        price_output: Of a million tokens that are written.
    """

    name: str
    kind: ModelKind
    provided: str
    is_asked: bool
    key: str | None
    needs_key: bool
    price_input: float | None
    price_output: float | None
    currency: str


class Models:
    """The models of the settings.

    Args:
        settings: As read once at the start.
        keys: Where their keys lie.
        around: Where their backends run.

    Raises:
        ConfigError: ``models.base-url`` (name, why).
    """

    def __init__(self, settings: AgentSettings, *, keys: ModelKeys, around: Around) -> None:
        self._settings = settings.models
        self._asked = settings.asked_model
        self._keys = keys
        self._prepared = {
            name: prepare(name, model, keys, around) for name, model in settings.models.items()
        }
        self._backends: dict[str, Backend] = {}

    async def start(self) -> None:
        """Read the keys, so that they are known secrets before anything is told to anybody."""
        await asyncio.to_thread(self._keys.load, tuple(self._settings))

    def name(self) -> str:
        """Return the name of the model that is asked; empty where none is configured."""
        return self._asked or ""

    def choose(self) -> Chosen | None:
        """Return the model that is asked, None where none is configured."""
        if self._asked is None:
            return None
        prepared = self._prepared[self._asked]
        return Chosen(self._backend(self._asked), prepared.whole, prepared.redacted)

    def secrets(self) -> Sequence[str]:
        """Return what must never be told to anybody: the keys, as they may be written."""
        return self._keys.held()

    def configured(self) -> Sequence[Configured]:
        """Return all of them, the one that is asked first; blocks."""
        told = [self._told(name) for name in self._settings]
        return sorted(told, key=lambda one: (not one.is_asked, one.name))

    def look(self, name: str) -> None:
        """Look for the program of a model; blocks.

        Raises:
            ModelError: ``model.program`` (why): it is not there, or cannot be trusted.
        """
        self._prepared[name].look()

    async def check(self, name: str) -> tuple[str, Health]:
        """Ask the smallest question of a model, or of the one that is asked.

        Args:
            name: Empty for the one that is asked.

        Returns:
            Its name, and what it is.

        Raises:
            StateError: ``models.none``: none is configured.
            InputError: ``models.unknown`` (name, known).
            ModelError: ``model.*``: it does not answer.
        """
        wanted = name or self._asked
        if wanted is None:
            raise StateError("models.none")
        if wanted not in self._prepared:
            known = ", ".join(self._prepared) or "-"
            raise InputError("models.unknown", name=wanted, known=known)
        try:
            async with asyncio.timeout(CHECK_S):
                return wanted, await self._backend(wanted).check()
        except TimeoutError:
            raise ModelError("model.deadline", seconds=round(CHECK_S)) from None

    async def aclose(self) -> None:
        """End what they have running."""
        backends = tuple(self._backends.values())
        await asyncio.gather(*(backend.aclose() for backend in backends))

    def _backend(self, name: str) -> Backend:
        if name not in self._backends:
            self._backends[name] = self._prepared[name].build()
        return self._backends[name]

    def _told(self, name: str) -> Configured:
        settings = self._settings[name]
        try:
            key = self._keys.where(name)
        except CodexBridgeError:
            key = _BROKEN
        return Configured(
            name=name,
            kind=settings.kind,
            provided=self._prepared[name].provided,
            is_asked=name == self._asked,
            key=key,
            needs_key=self._prepared[name].needs_key,
            price_input=settings.price_input,
            price_output=settings.price_output,
            currency=settings.currency,
        )
