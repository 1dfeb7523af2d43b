"""Models behind HTTP as tests ask them: a scripted server, small deadlines, and no real waiting."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, get_args

from local_agent.models.backend import ModelEvent, Turn
from local_agent.models.http.backend import HttpBackend
from local_agent.models.http.config import Api, HttpModel
from tests.model_server import ModelServer

APIS: Final[tuple[Api, ...]] = get_args(Api)
KEY: Final = "the-key-of-the-model-0123456789"


@dataclass
class Asked:
    """A backend with what it did.

    Attributes:
        events: All that it emitted.
        waits: Seconds that it waited before asking again.
    """

    model: HttpModel
    events: list[ModelEvent] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    key: str | None = KEY

    def __post_init__(self) -> None:
        """Make the backend."""
        self.backend = HttpBackend(
            self.model, key=lambda: self.key, random=lambda: 0.5, wait=self._wait
        )

    @property
    def shown(self) -> str:
        """The text that was emitted."""
        return "".join(event.text for event in self.events if event.kind == "text")

    async def ask(self, prompt: str = "the request", **turn: Any) -> Any:
        """Ask one question."""
        question = Turn(task_id="t", instructions="the rules", prompt=prompt, **turn)
        return await self.backend.ask(question, self.events.append)

    async def _wait(self, seconds: float) -> None:
        self.waits.append(seconds)


@asynccontextmanager
async def asking(api: Api, base_url: str, **settings: Any) -> AsyncIterator[Asked]:
    """Give a backend that is closed afterwards."""
    limits = {"deadline_s": 5.0, "idle_s": 2.0} | settings
    asked = Asked(HttpModel(name="work", model="m-1", base_url=base_url, api=api, **limits))
    try:
        yield asked
    finally:
        await asked.backend.aclose()


@asynccontextmanager
async def scripted(
    api: Api, *steps: Any, **settings: Any
) -> AsyncIterator[tuple[Asked, ModelServer]]:
    """Give a backend and the server that it asks."""
    async with ModelServer(*steps) as server, asking(api, server.base_url, **settings) as asked:
        yield asked, server
