"""A backend that is built with its key is built anew where the key has changed."""

from __future__ import annotations

import pytest

from common.errors import UnavailableError
from local_agent.errors import ModelError
from local_agent.models.backend import Backend, Emit, Health, Reply, Turn
from local_agent.models.preparing import KeyedBackend

TURN = Turn(task_id="t", instructions="i", prompt="p")


class Echo:
    """Answers with its key."""

    name = "echo"

    def __init__(self, key: str | None) -> None:
        self.key = key
        self.closed = 0

    async def ask(self, turn: Turn, emit: Emit) -> Reply:
        """Tell the key."""
        return Reply(f"{turn.prompt} {self.key}")

    async def check(self) -> Health:
        """Tell the key."""
        return Health(str(self.key))

    async def aclose(self) -> None:
        """Count."""
        self.closed += 1


class Desk:
    def __init__(self) -> None:
        self.key: str | Exception | None = "one"
        self.built: list[Echo] = []
        self.backend = KeyedBackend("echo", key=self.read, build=self.build)

    def read(self) -> str | None:
        if isinstance(self.key, Exception):
            raise self.key
        return self.key

    def build(self, key: str | None) -> Backend:
        self.built.append(Echo(key))
        return self.built[-1]

    async def ask(self) -> str:
        return (await self.backend.ask(TURN, lambda _event: None)).text


async def test_it_is_built_with_the_first_turn_and_kept() -> None:
    desk = Desk()
    assert desk.built == []
    assert [await desk.ask(), await desk.ask()] == ["p one", "p one"]
    assert (await desk.backend.check()).model == "one"
    assert (len(desk.built), desk.backend.name) == (1, "echo")


async def test_another_key_is_taken_up_with_the_next_turn() -> None:
    desk = Desk()
    await desk.ask()
    desk.key = None
    assert await desk.ask() == "p None"
    assert [echo.closed for echo in desk.built] == [1, 0]
    await desk.backend.aclose()
    assert [echo.closed for echo in desk.built] == [1, 1]


async def test_a_key_out_of_reach_is_told() -> None:
    desk = Desk()
    desk.key = UnavailableError("keystore.keyring-away", backend="SecretService")
    with pytest.raises(ModelError) as failed:
        await desk.ask()
    assert (failed.value.code, failed.value.facts["why"]) == (
        "model.key",
        "keystore.keyring-away",
    )
    await desk.backend.aclose()
