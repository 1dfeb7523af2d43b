"""Bodies of answers, in events and whole: what is taken in, shown, bounded and refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from local_agent.errors import ModelError
from local_agent.models.backend import MAX_ANSWER_BYTES
from local_agent.models.http.answers import MAX_EVENT_BYTES, StreamedAnswer, WholeAnswer
from local_agent.models.http.chat import Chat
from local_agent.models.http.responses import Responses


def data(event: object) -> bytes:
    return f"data: {json.dumps(event)}\n\n".encode()


def chunk(content: str, finish: str | None = None) -> bytes:
    return data({"choices": [{"delta": {"content": content}, "finish_reason": finish}]})


def whole(content: str, **more: Any) -> bytes:
    choice = {"message": {"content": content}, "finish_reason": "stop"}
    return json.dumps({"choices": [choice], **more}).encode()


async def refused(answer: StreamedAnswer | WholeAnswer, *pieces: bytes) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await take(answer, *pieces)
    return caught.value


async def take(answer: StreamedAnswer | WholeAnswer, *pieces: bytes) -> str:
    for piece in pieces:
        if await answer.feed(piece):
            break
    await answer.end()
    return answer.text


def chat() -> StreamedAnswer:
    return StreamedAnswer(Chat().reader(), lambda _text: None)


async def test_each_event_is_shown_when_it_comes() -> None:
    shown: list[str] = []
    answer = StreamedAnswer(Chat().reader(), shown.append)
    pieces = (chunk("<think>x</think>"), chunk("a "), chunk("中"), chunk("", "stop"))
    assert await take(answer, *pieces, b"data: [DONE]\n\n", chunk("after")) == "a 中"
    assert shown == ["", "a ", "中", ""]


async def test_what_was_held_back_is_given_at_the_end() -> None:
    assert await take(chat(), chunk("<th"), data({}), b"data:\n\n", chunk("", "stop")) == "<th"


async def test_nothing_more_is_read_after_the_end() -> None:
    answer = StreamedAnswer(Responses().reader(), lambda _text: None)
    end = data({"type": "response.completed", "response": {"status": "completed"}})
    assert await answer.feed(end)


async def test_a_stream_without_its_end_is_cut() -> None:
    assert (await refused(chat(), chunk("a"))).code == "model.cut"
    assert (await refused(chat())).code == "model.cut"
    assert (await refused(chat(), chunk("a"), b"data: [DONE]\n\n")).code == "model.cut"
    assert (await refused(chat(), b"<html>no events</html>")).code == "model.cut"


async def test_an_end_without_done_is_an_end() -> None:
    assert await take(chat(), chunk("a", "stop")) == "a"


@pytest.mark.requirement("R19")
@pytest.mark.parametrize(
    "body",
    [
        b"{not json",
        b'{"a": 1, "a": 2}',
        b"NaN",
        b"[" * 100_000,
        b'"\\ud800"',
        b"\xff",
        b'{"n": 1e999}',
    ],
)
async def test_what_is_no_strict_json_is_refused(body: bytes) -> None:
    for answer in (chat(), WholeAnswer(Chat().reader(), lambda _text: None)):
        event = b"data: " + body + b"\n\n" if isinstance(answer, StreamedAnswer) else body
        error = await refused(answer, event)
        assert (error.code, error.facts["why"]) == ("model.answer", "protocol")


async def test_numbers_that_we_do_not_look_at_may_be_fractions() -> None:
    event = data({"temperature": 0.7, "choices": [{"delta": {"content": "a"}}]})
    assert await take(chat(), event, chunk("", "stop")) == "a"


async def test_a_whole_answer_may_be_led_by_blank_lines() -> None:
    answer = WholeAnswer(Chat().reader(), lambda _text: None)
    assert await take(answer, b"\n\n", b"\n" + whole("a")) == "a"


async def test_a_long_one_is_read_beside_the_event_loop() -> None:
    text = "中" * 100_000
    assert await take(chat(), chunk(text, "stop")) == text
    assert await take(WholeAnswer(Chat().reader(), lambda _text: None), whole(text)) == text


async def test_words_over_the_bound_are_refused() -> None:
    piece = chunk("x" * 100_000)
    pieces = [piece] * (MAX_ANSWER_BYTES // 100_000 + 1)
    assert (await refused(chat(), *pieces)).code == "model.too-large"
    body = [b" " * 1_000_000] * (MAX_EVENT_BYTES // 1_000_000 + 1)
    answer = WholeAnswer(Chat().reader(), lambda _text: None)
    assert (await refused(answer, *body)).code == "model.too-large"
