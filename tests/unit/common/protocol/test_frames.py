from __future__ import annotations

import json
from typing import Any

import pytest

from common.errors import RemoteProtocolError
from common.protocol import frames
from tests.each import each
from tests.unit.common.protocol.wire import EVERY_FRAME


def record_of(frame: frames.Frame) -> dict[str, Any]:
    """Return a frame as a record that a test can spoil."""
    record: dict[str, Any] = json.loads(frames.encode_frame(frame))
    return record


def refusal(data: str | bytes, *, max_bytes: int = frames.FRAME_BYTES) -> str:
    """Return the code with which a message is refused."""
    with pytest.raises(RemoteProtocolError) as caught:
        frames.decode_frame(data, max_bytes=max_bytes)
    return caught.value.code


@each("frame", EVERY_FRAME)
def test_every_frame_reads_back_as_it_was_written(frame: frames.Frame) -> None:
    text = frames.encode_frame(frame)
    assert frames.decode_frame(text) == frame
    assert frames.decode_frame(text.encode()) == frame


@pytest.mark.requirement("R2")
def test_the_frames_above_are_all_there_are() -> None:
    names = {record_of(frame)["t"] for frame in EVERY_FRAME}
    assert names == {
        "challenge", "hello", "ready", "task", "cancel", "tombstone",
        "event", "result", "ack", "ping", "pong", "error",
    }  # fmt: skip


@pytest.mark.requirement("R2", "P4")
@each("name", ["approve", "policy", "exec", "config", "", None, 1, ["ack"]])
def test_a_frame_of_any_other_name_is_refused(name: object) -> None:
    assert refusal(json.dumps({"t": name, "seq": 1})) == "frame.unknown"


@pytest.mark.requirement("R2")
@each("frame", EVERY_FRAME)
def test_a_frame_with_a_field_more_or_less_is_refused(frame: frames.Frame) -> None:
    record = record_of(frame)
    assert refusal(json.dumps(record | {"extra": 1})) == "record.fields"
    for name in record.keys() - {"t"}:
        assert refusal(json.dumps({k: v for k, v in record.items() if k != name})) == (
            "record.fields"
        )
        assert refusal(json.dumps(record | {name: []})) == "record.field"


@each("code", ["Auth", "", "two words", "a" * 33, "-x", "auth\n"])
def test_an_error_code_is_a_short_word(code: str) -> None:
    assert refusal(json.dumps({"t": "error", "code": code})) == "record.field"


@pytest.mark.requirement("R13")
@pytest.mark.parametrize("limit", [frames.OPENING_BYTES, frames.FRAME_BYTES])
def test_a_message_is_refused_one_byte_above_its_limit(limit: int) -> None:
    text = frames.encode_frame(frames.Ping(1))
    exact = text + " " * (limit - len(text))
    assert frames.decode_frame(exact, max_bytes=limit) == frames.Ping(1)
    assert refusal(exact + " ", max_bytes=limit) == "json.too-large"


def test_the_limit_counts_bytes_not_characters() -> None:
    assert refusal('{"t":"error","code":"测测测"}', max_bytes=30) == "json.too-large"


@each("data", ["", "ping", "[]", "\ud800", b"\xff", '{"t":"ping","n":1}x'])
def test_what_is_no_frame_is_refused(data: str | bytes) -> None:
    assert refusal(data) == "json.malformed"
