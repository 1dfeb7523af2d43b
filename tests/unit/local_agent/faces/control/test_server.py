"""`control.server` and `control.client`: one question, its answer, and who may ask."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from common.errors import (
    AuthError,
    ConfigError,
    InputError,
    RemoteProtocolError,
    UnavailableError,
)
from common.home import Home
from local_agent.faces.control import client, server, wire
from local_agent.store.lock import JOURNAL, take_lock

PATIENCE = 30.0


@pytest.fixture
def home() -> Iterator[Home]:
    # pytest's own folders are too long for a socket address.
    with tempfile.TemporaryDirectory(prefix="cb") as folder:
        root = Path(folder)
        yield Home(root / "config", root / "state", root / "run")


class RecordingLog:
    def __init__(self) -> None:
        self.seen: list[str] = []

    def exception(self, event: str, /) -> None:
        self.seen.append(event)

    def warning(self, event: str, *_args: Any, **_facts: Any) -> None:
        self.seen.append(event)


class ScriptedOperations:
    """Answers by a function of the request, and tells when it was left."""

    def __init__(
        self, script: Callable[[wire.Request], AsyncIterator[tuple[bool, Mapping[str, Any]]]]
    ) -> None:
        self._script = script
        self.left = asyncio.Event()

    async def answer(self, request: wire.Request) -> AsyncIterator[tuple[bool, Mapping[str, Any]]]:
        try:
            async for step in self._script(request):
                yield step
        finally:
            self.left.set()


async def _echo(request: wire.Request) -> AsyncIterator[tuple[bool, Mapping[str, Any]]]:
    yield True, {"op": request.op, **request.args}


@asynccontextmanager
async def serving(
    home: Home, operations: server.Operations, log: RecordingLog | None = None
) -> AsyncIterator[server.ControlServer]:
    listening = server.ControlServer(wire.socket_path(home, {}), operations, log or RecordingLog())
    await listening.start()
    try:
        yield listening
    finally:
        await listening.close()


async def ask(home: Home, op: str, **args: Any) -> Mapping[str, Any]:
    return await asyncio.to_thread(client.call, home, {}, op, **args)


def raw(home: Home, data: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(PATIENCE)
        connection.connect(str(home.run / "agent.sock"))
        answer = b""
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(65536):
                answer += piece
        except (ConnectionResetError, BrokenPipeError):
            pass  # it hung up without reading all
        return answer


async def test_a_question_is_answered(home: Home) -> None:
    async with serving(home, ScriptedOperations(_echo)):
        assert await ask(home, "show", task="T-7K3F") == {"op": "show", "task": "T-7K3F"}


async def test_events_come_before_the_answer_in_order(home: Home) -> None:
    async def script(_: wire.Request) -> AsyncIterator[tuple[bool, Mapping[str, Any]]]:
        for number in range(3):
            yield False, {"number": number}
        yield True, {"done": True}

    def read() -> list[tuple[str, Mapping[str, Any]]]:
        return list(client.stream(home, {}, "follow", task="T-7K3F"))

    async with serving(home, ScriptedOperations(script)):
        steps = await asyncio.to_thread(read)
    assert [kind for kind, _ in steps] == ["event", "event", "event", "ok"]
    assert [value.get("number") for _, value in steps[:3]] == [0, 1, 2]


async def test_a_file_arrives_byte_for_byte(home: Home) -> None:
    data = bytes(range(256)) * 4000
    seen: list[bytes] = []

    async def script(request: wire.Request) -> AsyncIterator[tuple[bool, Mapping[str, Any]]]:
        seen.append(request.body)
        yield True, {}

    def send() -> list[tuple[str, Mapping[str, Any]]]:
        return list(client.stream(home, {}, "apply", body=data, name="x"))

    async with serving(home, ScriptedOperations(script)):
        assert await asyncio.to_thread(send) == [("ok", {})]
    assert seen == [data]


@pytest.mark.requirement("R19")
async def test_a_file_that_ends_too_early_is_not_taken(home: Home) -> None:
    line = b'{"op":"apply","args":{},"body":10}\nshort'
    async with serving(home, ScriptedOperations(_echo)):
        answer = await asyncio.to_thread(raw, home, line)
        assert json.loads(answer)["error"]["code"] == "control.malformed"
        assert await ask(home, "show") == {"op": "show"}


async def test_an_error_reaches_whoever_asked_by_its_code(home: Home) -> None:
    async def script(_: wire.Request) -> AsyncIterator[tuple[bool, Mapping[str, Any]]]:
        raise InputError("workspace.unknown", name="x")
        yield True, {}

    async with serving(home, ScriptedOperations(script)):
        with pytest.raises(InputError) as told:
            await ask(home, "status")
    assert told.value.code == "workspace.unknown"
    assert told.value.facts == {"name": "x"}


async def test_an_unexpected_failure_is_logged_and_told_without_its_details(home: Home) -> None:
    async def script(_: wire.Request) -> AsyncIterator[tuple[bool, Mapping[str, Any]]]:
        raise KeyError("secret")
        yield True, {}

    log = RecordingLog()
    async with serving(home, ScriptedOperations(script), log):
        answer = await asyncio.to_thread(raw, home, b'{"op":"status","args":{}}\n')
    assert json.loads(answer)["error"]["code"] == "internal"
    assert b"secret" not in answer
    assert log.seen == ["control.conversation-failed"]


@pytest.mark.parametrize("data", [b"nonsense\n", b"no newline", b"\n", b'{"op":"status"}\n'])
async def test_what_is_no_request_is_refused_and_the_server_goes_on(
    home: Home, data: bytes
) -> None:
    async with serving(home, ScriptedOperations(_echo)):
        answer = await asyncio.to_thread(raw, home, data)
        with pytest.raises(RemoteProtocolError):
            wire.decode_answer(answer)
        assert (await ask(home, "status"))["op"] == "status"


async def test_an_endless_question_is_cut_off_and_the_server_goes_on(home: Home) -> None:
    operations = ScriptedOperations(_echo)
    async with serving(home, operations):
        await asyncio.to_thread(raw, home, b"x" * 200_000)
        assert not operations.left.is_set()
        assert (await ask(home, "status"))["op"] == "status"


async def test_hanging_up_ends_the_stream_at_the_agent(home: Home) -> None:
    async def script(_: wire.Request) -> AsyncIterator[tuple[bool, Mapping[str, Any]]]:
        yield False, {"number": 1}
        await asyncio.Event().wait()
        yield True, {}

    def read_one() -> None:
        stream = client.stream(home, {}, "follow", task="T-7K3F")
        next(stream)
        stream.close()  # type: ignore[attr-defined]  # it is a generator

    operations = ScriptedOperations(script)
    async with serving(home, operations):
        await asyncio.to_thread(read_one)
        async with asyncio.timeout(PATIENCE):
            assert await operations.left.wait()


async def test_an_agent_that_stops_midway_says_so_and_logs_no_error(home: Home) -> None:
    started, log = asyncio.Event(), RecordingLog()
    unexpected: list[str] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _loop, context: unexpected.append(str(context["message"]))
    )

    async def script(_: wire.Request) -> AsyncIterator[tuple[bool, Mapping[str, Any]]]:
        started.set()
        await asyncio.Event().wait()
        yield True, {}

    async with serving(home, ScriptedOperations(script), log):
        asking = asyncio.create_task(ask(home, "status"))
        async with asyncio.timeout(PATIENCE):
            await started.wait()
    with pytest.raises(UnavailableError) as told:
        await asking
    assert told.value.code == "agent.stopped"
    assert (unexpected, log.seen) == ([], [])


async def test_an_agent_that_is_killed_midway_is_told(home: Home) -> None:
    home.run.mkdir(parents=True, mode=0o700)
    with socket.socket(socket.AF_UNIX) as dying:
        dying.bind(str(home.run / "agent.sock"))
        dying.listen()
        asking = asyncio.create_task(ask(home, "status"))
        connection, _ = await asyncio.to_thread(dying.accept)
        connection.close()
    with pytest.raises(UnavailableError) as told:
        await asking
    assert told.value.code == "agent.no-answer"


async def test_the_socket_admits_its_owner_alone(home: Home) -> None:
    async with serving(home, ScriptedOperations(_echo)):
        path = home.run / "agent.sock"
        assert (path.stat().st_mode & 0o777, home.run.stat().st_mode & 0o777) == (0o600, 0o700)
    assert not path.exists()


async def test_another_users_process_is_turned_away_unheard(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    operations = ScriptedOperations(_echo)
    async with serving(home, operations):
        monkeypatch.setattr(wire, "peer_uid", lambda _: 12345)
        assert await asyncio.to_thread(raw, home, b'{"op":"status","args":{}}\n') == b""
    assert not operations.left.is_set()


async def test_the_client_trusts_only_its_own_users_agent(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(home, ScriptedOperations(_echo)):
        monkeypatch.setattr(wire, "peer_uid", lambda _: 12345)
        with pytest.raises(AuthError) as refused:
            await ask(home, "status")
        monkeypatch.undo()
        assert (await ask(home, "status"))["op"] == "status"
    assert refused.value.code == "control.foreign-peer"


async def test_a_second_agent_is_refused_and_the_first_goes_on(home: Home) -> None:
    async with serving(home, ScriptedOperations(_echo)):
        second = server.ControlServer(
            wire.socket_path(home, {}), ScriptedOperations(_echo), RecordingLog()
        )
        with pytest.raises(ConfigError) as refused:
            await second.start()
        assert refused.value.code == "config.agent-running"
        assert (await ask(home, "status"))["op"] == "status"


@pytest.mark.requirement("P3")
async def test_the_socket_of_a_killed_agent_is_no_obstacle(home: Home) -> None:
    home.run.mkdir(parents=True, mode=0o700)
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(str(home.run / "agent.sock"))
    async with serving(home, ScriptedOperations(_echo)):
        assert (await ask(home, "status"))["op"] == "status"


@pytest.mark.parametrize("instead", ["nothing", "a file", "another socket", "no folder"])
async def test_a_socket_that_is_gone_or_another_is_made_again(home: Home, instead: str) -> None:
    log, path = RecordingLog(), wire.socket_path(home, {})
    async with serving(home, ScriptedOperations(_echo), log) as listening:
        await listening.look()
        assert listening.remade == 0
        path.unlink()
        with socket.socket(socket.AF_UNIX) as other:
            if instead == "a file":
                path.write_text("mine", encoding="utf-8")
            elif instead == "another socket":
                other.bind(str(path))
            elif instead == "no folder":
                path.parent.rmdir()
            await listening.look()
            assert (await ask(home, "status"))["op"] == "status"
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.stat().st_mode & 0o777 == 0o700
        assert (listening.remade, log.seen) == (1, ["control.socket-remade"])
    assert not path.exists()


async def test_a_socket_that_cannot_be_made_again_is_told_once_and_tried_again(home: Home) -> None:
    log, path = RecordingLog(), wire.socket_path(home, {})
    async with serving(home, ScriptedOperations(_echo), log) as listening:
        path.unlink()
        path.mkdir()
        await listening.look()
        await listening.look()
        path.rmdir()
        await listening.look()
        assert (await ask(home, "status"))["op"] == "status"
    assert log.seen == ["control.socket-missing", "control.socket-remade"]


async def test_who_is_being_answered_goes_on_when_the_socket_is_made_again(home: Home) -> None:
    going_on = asyncio.Event()

    async def script(_: wire.Request) -> AsyncIterator[tuple[bool, Mapping[str, Any]]]:
        yield False, {}
        await going_on.wait()
        yield True, {"whole": True}

    async with serving(home, ScriptedOperations(script)) as listening:
        steps = client.stream(home, {}, "follow", task="T-7K3F")
        await asyncio.to_thread(next, steps)
        wire.socket_path(home, {}).unlink()
        await listening.look()
        going_on.set()
        assert await asyncio.to_thread(next, steps) == ("ok", {"whole": True})
        await asyncio.to_thread(list, steps)


async def test_an_agent_whose_socket_is_gone_is_not_said_to_be_stopped(home: Home) -> None:
    home.state.mkdir(parents=True, mode=0o700)
    lock = take_lock(home.state / JOURNAL)
    try:
        with pytest.raises(UnavailableError) as told:
            await ask(home, "status")
        assert told.value.code == "agent.not-listening"
    finally:
        os.close(lock)
    with pytest.raises(UnavailableError) as told:
        await ask(home, "status")
    assert told.value.code == "agent.not-running"


async def test_without_an_agent_the_client_says_so(home: Home) -> None:
    for why in ("new", None):  # where nothing is set up, that is what to do
        with pytest.raises(UnavailableError) as told:
            await ask(home, "status")
        assert (told.value.code, told.value.facts.get("why")) == ("agent.not-running", why)
        home.state.mkdir(parents=True, exist_ok=True)
