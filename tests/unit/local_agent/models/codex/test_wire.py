"""Lines of the app-server, read strictly and written exactly."""

from __future__ import annotations

import json

import pytest

from common.errors import RemoteProtocolError
from local_agent.models.codex import wire
from tests.each import each


def test_the_three_kinds_of_messages_are_told_apart() -> None:
    assert wire.decode(b'{"id":3,"result":{"a":1}}') == wire.Answered(3, {"a": 1})
    assert wire.decode(b'{"method":"x","params":{"a":1},"emittedAtMs":5}') == wire.Told(
        "x", {"a": 1}
    )
    assert wire.decode(b'{"id":0,"method":"x","params":{}}') == wire.AskedFor(0, "x", {})
    assert wire.decode(b'{"id":"s","method":"x"}') == wire.AskedFor("s", "x", {})


def test_a_refusal_is_an_answer_with_an_error() -> None:
    line = b'{"id":3,"error":{"code":-32600,"message":"no"}}'
    assert wire.decode(line) == wire.Answered(3, error="no")
    assert wire.decode(b'{"id":3,"error":5}') == wire.Answered(3, error="")


def test_a_result_that_is_no_object_is_an_empty_one() -> None:
    assert wire.decode(b'{"id":3,"result":null}') == wire.Answered(3, {})


def test_numbers_with_a_fraction_are_read() -> None:
    assert wire.decode(b'{"method":"x","params":{"percent":1.5}}') == wire.Told(
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
        b'{"id":1.5,"method":"x"}',
        b'{"id":true,"method":"x"}',
        b'{"method":5}',
        b'{"method":"x","method":"y"}',
        b'{"method":"\xff"}',
        b'{"method":"x","params":{"a":"\\ud800"}}',
        b'{"id":"' + b"n" * 101 + b'","method":"x"}',
        b'{"method":"x","params":' + b"[" * 40 + b"]" * 40 + b"}",
        b" " * (wire.MAX_LINE_BYTES + 1),
    ],
)
@pytest.mark.requirement("R19")
def test_what_is_no_message_is_refused(line: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        wire.decode(line)


def test_a_request_is_one_line_whatever_it_says() -> None:
    line = wire.request(7, "turn/start", {"text": "two\nlines 中文 \u2028"})
    assert b"\n" not in line
    assert json.loads(line) == {
        "id": 7,
        "method": "turn/start",
        "params": {"text": "two\nlines 中文 \u2028"},
    }


def test_a_name_that_is_no_text_does_not_stop_a_request() -> None:
    assert json.loads(wire.request(1, "x", {"text": "a\udcffb"}))["params"] == {"text": "a?b"}


def test_an_answer_names_the_request_as_the_program_did() -> None:
    asked = wire.AskedFor("s-1", "x", {})
    assert json.loads(wire.answer(asked, {"decision": "decline"})) == {
        "id": "s-1",
        "result": {"decision": "decline"},
    }


def test_without_an_answer_the_program_is_told_that_there_is_none() -> None:
    refused = json.loads(wire.answer(wire.AskedFor(0, "x", {}), None))
    assert (refused["id"], refused["error"]["code"]) == (0, -32601)
    assert "result" not in refused


def test_a_notification_waits_for_nothing() -> None:
    assert json.loads(wire.notification("initialized")) == {"method": "initialized"}
