"""Lines of coding agents, read strictly and written exactly; who asks, and who is answered."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any, cast

import pytest

from common.errors import RemoteProtocolError
from local_agent.errors import ModelError
from local_agent.models import jsonrpc
from local_agent.sandbox.child import MAX_LINE_BYTES, Child
from tests.each import each


def test_the_three_kinds_of_messages_are_told_apart() -> None:
    assert jsonrpc.decode(b'{"id":3,"result":{"a":1}}') == jsonrpc.Answered(3, {"a": 1})
    assert jsonrpc.decode(b'{"method":"x","params":{"a":1},"emittedAtMs":5}') == jsonrpc.Told(
        "x", {"a": 1}
    )
    assert jsonrpc.decode(b'{"id":0,"method":"x","params":{}}') == jsonrpc.AskedFor(0, "x", {})
    assert jsonrpc.decode(b'{"id":"s","method":"x"}') == jsonrpc.AskedFor("s", "x", {})


def test_a_refusal_is_an_answer_with_an_error() -> None:
    line = b'{"id":3,"error":{"code":-32600,"message":"no"}}'
    assert jsonrpc.decode(line) == jsonrpc.Answered(3, error={"code": -32600, "message": "no"})


def test_a_result_that_is_no_object_is_an_empty_one() -> None:
    assert jsonrpc.decode(b'{"id":3,"result":null}') == jsonrpc.Answered(3, {})


def test_numbers_with_a_fraction_are_read() -> None:
    assert jsonrpc.decode(b'{"method":"x","params":{"percent":1.5}}') == jsonrpc.Told(
        "x", {"percent": 1.5}
    )


@each(
    "line",
    [
        b"",
        b"not json",
        b"[]",
        b"5",
        b"{}",
        b'{"id":"s","result":{}}',
        b'{"id":true,"result":{}}',
        b'{"id":3,"error":5}',
        b'{"id":1.5,"method":"x"}',
        b'{"id":true,"method":"x"}',
        b'{"method":5}',
        b'{"method":"x","method":"y"}',
        b'{"method":"\xff"}',
        b'{"method":"x","params":{"a":"\\ud800"}}',
        b'{"id":"' + b"n" * 101 + b'","method":"x"}',
        b'{"method":"x","params":' + b"[" * 40 + b"]" * 40 + b"}",
        b" " * (MAX_LINE_BYTES + 1),
    ],
)
@pytest.mark.requirement("R19")
def test_what_is_no_message_is_refused(line: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        jsonrpc.decode(line)


class Program:
    """What a client speaks with: takes in lines, and says those that it is given."""

    def __init__(self, *lines: str) -> None:
        self.heard: asyncio.Queue[bytes] = asyncio.Queue()
        self._lines: asyncio.Queue[bytes] = asyncio.Queue()
        for line in lines:
            self.say(line)

    def say(self, line: str) -> None:
        self._lines.put_nowait(line.encode())

    async def read_line(self) -> bytes:
        return await self._lines.get()

    async def write_line(self, line: bytes) -> None:
        self.heard.put_nowait(line)

    async def end(self) -> int:
        return 0

    async def next(self) -> Any:
        line = await asyncio.wait_for(self.heard.get(), 5)
        assert b"\n" not in line
        return json.loads(line)


class Recorded:
    """What a listener heard."""

    def __init__(self, answer: Mapping[str, object] | Exception | None = None) -> None:
        self.answer = answer
        self.events: list[str] = []
        self.is_over = asyncio.Event()
        self.why = ""

    def told(self, method: str, params: Mapping[str, Any]) -> None:
        del params
        self.events.append(method)

    async def asked(self, method: str, params: Mapping[str, Any]) -> Mapping[str, object] | None:
        del method, params
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def lost(self, error: ModelError) -> None:
        self.why = error.code
        self.is_over.set()


def speaking(program: Program, **facts: Any) -> jsonrpc.Client:
    known: dict[str, Any] = {
        "name": "scripted",
        "refused": lambda error: ModelError("model.request", said=error["message"]),
        "garbled": ModelError("model.program"),
    }
    return jsonrpc.Client(cast("Child", program), **known | facts)


async def answer_to(line: str, listener: Recorded) -> Any:
    program = Program(line)
    client = speaking(program)
    client.listen("", listener)
    try:
        return await program.next()
    finally:
        await client.end()


async def test_a_request_is_one_line_whatever_it_says() -> None:
    program = Program()
    client = speaking(program, header={"jsonrpc": "2.0"})
    asking = asyncio.create_task(client.request("x", {"text": "two\nlines 中文 \u2028"}))
    assert await program.next() == {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "x",
        "params": {"text": "two\nlines 中文 \u2028"},
    }
    program.say('{"id":0,"result":{"a":1}}')
    assert await asking == {"a": 1}
    await client.end()


async def test_a_name_that_is_no_text_does_not_stop_a_request() -> None:
    program = Program()
    client = speaking(program)
    asking = asyncio.create_task(client.request("x", {"text": "a\udcffb"}))
    assert (await program.next())["params"] == {"text": "a?b"}
    asking.cancel()
    await client.end()


async def test_a_refusal_means_what_the_client_was_told() -> None:
    program = Program()
    client = speaking(program)
    asking = asyncio.create_task(client.request("x", {}))
    await program.next()
    program.say('{"id":0,"error":{"code":-32600,"message":"no"}}')
    with pytest.raises(ModelError) as refused:
        await asking
    assert (refused.value.code, refused.value.facts) == ("model.request", {"said": "no"})
    await client.end()


async def test_an_answer_names_the_request_as_the_program_did() -> None:
    answer = await answer_to('{"id":"s-1","method":"x"}', Recorded({"decision": "decline"}))
    assert answer == {"id": "s-1", "result": {"decision": "decline"}}


async def test_without_an_answer_the_program_is_told_that_there_is_none() -> None:
    refused = await answer_to('{"id":0,"method":"x","params":{}}', Recorded())
    assert (refused["id"], refused["error"]["code"]) == (0, -32601)
    assert "result" not in refused


async def test_a_request_that_is_refused_is_told_by_its_code() -> None:
    refusal = jsonrpc.RefusedRequestError(-32000, "refused: scratch.outside")
    refused = await answer_to('{"id":7,"method":"x"}', Recorded(refusal))
    assert refused == {"id": 7, "error": {"code": -32000, "message": "refused: scratch.outside"}}


async def test_a_notification_waits_for_nothing() -> None:
    program = Program()
    client = speaking(program)
    await client.notify("initialized")
    assert await program.next() == {"method": "initialized"}
    await client.end()


async def test_each_listener_hears_of_its_own() -> None:
    program = Program(
        '{"method":"of/one","params":{"thread":"1"}}',
        '{"method":"of/nobody","params":{"thread":"2"}}',
        '{"method":"of/all"}',
        '{"method":5}',  # an object of tomorrow
        '{"id":3,"method":"x","params":{"thread":["1"]}}',
    )
    client, listener = speaking(program, route="thread"), Recorded({})
    client.listen("1", listener)
    assert (await program.next())["error"]["code"] == -32601
    assert listener.events == ["of/one"]
    await client.end()


@pytest.mark.requirement("R62")
@pytest.mark.parametrize(
    ("line", "code"),
    [("not json", "model.program"), ("[]", "model.program"), ("{" * 40, "model.too-large")],
)
async def test_what_cannot_be_read_or_is_too_much_ends_the_conversation(
    line: str, code: str
) -> None:
    program, listener = Program(line), Recorded()
    client = speaking(program, max_bytes=30)
    client.listen("", listener)
    await asyncio.wait_for(listener.is_over.wait(), 5)
    assert (listener.why, client.is_lost) == (code, True)
    with pytest.raises(ModelError) as lost:
        await client.request("x", {})
    assert lost.value.code == code
    await client.end()


class Deaf(Program):
    """Takes nothing in, so that its pipe is full."""

    async def write_line(self, line: bytes) -> None:
        del line
        await asyncio.Event().wait()


@pytest.mark.requirement("R62")
async def test_nobody_waits_to_be_heard_by_a_program_that_was_lost_meanwhile() -> None:
    program = Deaf()
    client = speaking(program)
    asking = asyncio.create_task(client.request("x", {}))
    await asyncio.sleep(0)
    program.say("not json")
    with pytest.raises(ModelError) as lost:
        await asyncio.wait_for(asking, 5)
    assert lost.value.code == "model.program"
    await client.end()
