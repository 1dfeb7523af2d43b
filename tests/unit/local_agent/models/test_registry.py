"""Which models there are, which one is asked, and what is said of them.

A backend that is built with its key is built anew where the key has changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from common.errors import ConfigError, InputError, StateError, UnavailableError
from common.home import Home
from common.keystore import FileKeystore
from local_agent.errors import ModelError
from local_agent.models.acp.backend import AcpBackend
from local_agent.models.backend import Backend, Emit, Health, Reply, Turn
from local_agent.models.http.backend import HttpBackend
from local_agent.models.keys import ModelKeys
from local_agent.models.registry import Around, KeyedBackend, Models
from local_agent.settings import AgentSettings
from tests.model_script import text
from tests.model_server import ModelServer

HTTP = {"kind": "http", "model": "m-1", "base_url": "https://api.example/v1"}
CODEX = {"kind": "codex", "model": "gpt-5.5"}
ACP = {"kind": "acp", "program": "/opt/agent/bin/agent"}
KEY = "sk-0123456789abcdef"
TURN = Turn(task_id="t", instructions="i", prompt="p")


def refuse(
    argv: Sequence[str], *, scratch: Path, own: Path, read_only: Sequence[Path]
) -> tuple[Sequence[str], bytes]:
    """Contain nothing."""
    raise StateError("sandbox.none")


class Desk:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.keys = ModelKeys(FileKeystore(folder / "keys"))

    def models(self, asked: str | None = None, **tables: Any) -> Models:
        places = Home(self.folder / "config", self.folder / "state", self.folder / "run")
        around = Around(places=places, environ={}, workspaces=lambda: (), contain=refuse)
        settings = AgentSettings(model=asked, models=tables)
        return Models(settings, keys=self.keys, around=around)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.heavy
async def test_without_models_nobody_is_asked(desk: Desk) -> None:
    models = desk.models()
    await models.start()
    assert (models.choose(), models.name(), models.configured()) == (None, "", [])
    with pytest.raises(StateError) as refused:
        await models.check("")
    assert refused.value.code == "models.none"
    await models.aclose()


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("table", "kind", "whole", "redacted"),
    [
        (HTTP, HttpBackend, False, False),
        (CODEX, KeyedBackend, True, False),
        (ACP, AcpBackend, True, True),
    ],
)
async def test_each_kind_has_its_backend_and_its_kind_of_copy(
    desk: Desk, table: dict[str, Any], kind: type, whole: bool, redacted: bool
) -> None:
    models = desk.models(one=table)
    chosen = models.choose()
    assert chosen is not None
    assert isinstance(chosen.backend, kind)
    assert (chosen.backend.name, chosen.whole, chosen.redacted) == ("one", whole, redacted)
    again = models.choose()
    assert again is not None
    assert again.backend is chosen.backend
    await models.aclose()


@pytest.mark.heavy
def test_a_program_that_is_not_there_is_found_without_asking(desk: Desk) -> None:
    models = desk.models("web", web=HTTP, codex=CODEX, agent=ACP)
    models.look("web")
    for name, why in (("codex", "missing"), ("agent", "not-there")):
        with pytest.raises(ModelError) as refused:
            models.look(name)
        assert (refused.value.code, refused.value.facts["why"]) == ("model.program", why)


@pytest.mark.heavy
async def test_the_one_that_is_named_is_asked(desk: Desk) -> None:
    models = desk.models("two", one=HTTP, two=CODEX)
    chosen = models.choose()
    assert chosen is not None
    assert (models.name(), chosen.backend.name) == ("two", "two")


@pytest.mark.heavy
@pytest.mark.requirement("R15")
@pytest.mark.parametrize("table", [HTTP, CODEX])
@pytest.mark.parametrize(
    "url", ["http://api.example/v1", "https://user:pw@api.example/v1", "ftp://x", "https://x/?k=1"]
)
def test_an_address_that_may_not_be_dialled_is_found_at_the_start(
    desk: Desk, table: dict[str, Any], url: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        desk.models(one=table | {"base_url": url})
    assert refused.value.code == "models.base-url"


@pytest.mark.heavy
def test_all_are_told_the_one_that_is_asked_first(desk: Desk) -> None:
    desk.keys.put("zeta", KEY)
    (desk.folder / "keys" / "model-alpha.key").write_text("!!", encoding="utf-8")
    (desk.folder / "keys" / "model-alpha.key").chmod(0o600)
    prices = {"price_input": 0.5, "price_output": 2.0, "currency": "CNY"}
    models = desk.models("zeta", alpha=ACP, beta=CODEX, zeta=HTTP | prices)
    told = models.configured()
    assert [(one.name, one.kind, one.provided, one.is_asked, one.key) for one in told] == [
        ("zeta", "http", "m-1", True, "file"),
        ("alpha", "acp", "agent", False, "broken"),
        ("beta", "codex", "gpt-5.5", False, None),
    ]
    assert (told[0].price_input, told[0].price_output, told[0].currency) == (0.5, 2.0, "CNY")


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("table", "needs_key"),
    [
        (HTTP, True),
        (HTTP | {"base_url": "http://127.0.0.1:11434/v1"}, False),
        (HTTP | {"base_url": "http://[::1]:8000/v1"}, False),
        (HTTP | {"base_url": "https://localhost/v1"}, False),
        (HTTP | {"base_url": "https://127.evil.example/v1"}, True),
        (CODEX, True),
        (CODEX | {"base_url": "http://127.0.0.1:8000/v1"}, False),
        (ACP, False),
        (ACP | {"key_variable": "AGENT_KEY"}, True),
    ],
)
def test_whether_a_key_is_needed_is_known_from_the_settings(
    desk: Desk, table: dict[str, Any], needs_key: bool
) -> None:
    (told,) = desk.models(one=table).configured()
    assert told.needs_key is needs_key


@pytest.mark.heavy
@pytest.mark.requirement("R54")
async def test_keys_are_known_secrets_from_the_start(desk: Desk) -> None:
    await asyncio.to_thread(desk.keys.put, "one", KEY)
    models = desk.models(one=HTTP)
    assert models.secrets() == ()
    await models.start()
    assert KEY in models.secrets()


@pytest.mark.heavy
async def test_a_name_that_no_table_has_is_not_asked(desk: Desk) -> None:
    with pytest.raises(InputError) as refused:
        await desk.models(one=HTTP).check("two")
    assert refused.value.facts == {"name": "two", "known": "one"}


@pytest.mark.heavy
async def test_a_check_asks_the_model_with_its_key(desk: Desk) -> None:
    await asyncio.to_thread(desk.keys.put, "one", KEY)
    async with ModelServer(text("ready")) as server:
        models = desk.models(one=HTTP | {"base_url": server.base_url})
        name, health = await models.check("")
        await models.aclose()
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert (name, health.model, health.version) == ("one", "m-1", "chat")


@pytest.mark.heavy
async def test_an_agent_without_a_sandbox_is_told_of(desk: Desk, tmp_path: Path) -> None:
    program = tmp_path / "agent"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    with pytest.raises(ModelError) as failed:
        await desk.models(one={"kind": "acp", "program": str(program)}).check("one")
    assert failed.value.code == "model.uncontained"


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


class KeyDesk:
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
    desk = KeyDesk()
    assert desk.built == []
    assert [await desk.ask(), await desk.ask()] == ["p one", "p one"]
    assert (await desk.backend.check()).model == "one"
    assert (len(desk.built), desk.backend.name) == (1, "echo")


async def test_another_key_is_taken_up_with_the_next_turn() -> None:
    desk = KeyDesk()
    await desk.ask()
    desk.key = None
    assert await desk.ask() == "p None"
    assert [echo.closed for echo in desk.built] == [1, 0]
    await desk.backend.aclose()
    assert [echo.closed for echo in desk.built] == [1, 1]


async def test_a_key_out_of_reach_is_told() -> None:
    desk = KeyDesk()
    desk.key = UnavailableError("keystore.keyring-away", backend="SecretService")
    with pytest.raises(ModelError) as failed:
        await desk.ask()
    assert (failed.value.code, failed.value.facts["why"]) == (
        "model.key",
        "keystore.keyring-away",
    )
    await desk.backend.aclose()
