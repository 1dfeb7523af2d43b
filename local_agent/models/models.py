"""Which models there are and which one is asked.  A backend is made when it is first wanted."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from common.errors import CodexBridgeError, InputError, StateError
from local_agent.errors import ModelError
from local_agent.models.backend import Backend, Chosen, Health
from local_agent.models.keys import ModelKeys
from local_agent.models.preparing import Around, prepare
from local_agent.settings import AgentSettings, ModelKind

CHECK_S: Final = 120.0  # for the smallest question, the start of a program included
_BROKEN: Final = "broken"  # a key that cannot be read


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
