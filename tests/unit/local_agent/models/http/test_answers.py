"""Bodies of answers, in events and whole: what is taken in, shown, bounded and refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_agent.errors import ModelError
from local_agent.models.backend import MAX_ANSWER_BYTES
from local_agent.models.http.answers import (
    MAX_EVENT_BYTES,
    EventReader,
    GrowingWords,
    Spoken,
    StreamedAnswer,
    WholeAnswer,
)
from local_agent.models.http.dialects import Chat, Responses
from tests.each import each


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
        b"\xff",
        b'{"n": 1e999}',
    ],
)
async def test_what_is_no_strict_json_is_refused(body: bytes) -> None:
    for answer in (chat(), WholeAnswer(Chat().reader(), lambda _text: None)):
        event = b"data: " + body + b"\n\n" if isinstance(answer, StreamedAnswer) else body
        error = await refused(answer, event)
        assert (error.code, error.facts["why"]) == ("model.answer", "protocol")


async def test_what_is_no_text_is_seen_as_such_and_the_rest_goes_on() -> None:
    for inside in (b"\xff", b"\xe4\xbd", b"\\ud83d", b"\\ude00"):
        event = data({"choices": [{"delta": {"content": "a-b"}}]}).replace(b"-", inside)
        assert await take(chat(), event, chunk("c", "stop")) == "a\ufffdbc", inside
    kept = data({"choices": [{"delta": {"content": "\U0001f600 -"}}]}).replace(b"-", b"\\\\ud83d")
    assert await take(chat(), kept, chunk("", "stop")) == "\U0001f600 \\ud83d"
    body = whole("a-b").replace(b"-", b"\xff")
    assert await take(WholeAnswer(Chat().reader(), lambda _text: None), body) == "a\ufffdb"


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


LIMIT = 1000


def read(*pieces: bytes, limit: int = LIMIT) -> list[bytes]:
    reader = EventReader(max_event_bytes=limit)
    return [event for piece in pieces for event in reader.feed(piece)]


@each("end", [b"\n", b"\r\n", b"\r"])
def test_each_kind_of_line_end_is_one(end: bytes) -> None:
    lines = [b"data: one", b"", b"data: two", b"data: lines", b"", b""]
    assert read(end.join(lines)) == [b"one", b"two\nlines"]


def test_what_is_not_data_is_passed_over() -> None:
    stream = b": a comment\nevent: x\nid: 7\nretry: 9\ndata: a\nmadeup: b\ndatas: c\n\n"
    assert read(stream) == [b"a"]


@pytest.mark.parametrize(
    ("line", "data"),
    [(b"data:a", b"a"), (b"data:  a", b" a"), (b"data", b""), (b"data: a: b", b"a: b")],
)
def test_one_blank_after_the_colon_belongs_to_it(line: bytes, data: bytes) -> None:
    assert read(line + b"\n\n") == [data]


def test_a_byte_order_mark_is_left_out_at_the_beginning_alone() -> None:
    assert read(b"\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\ndata: c\n\n") == [b"a", b"c"]


def test_an_event_that_did_not_end_is_none() -> None:
    assert read(b"data: a\n\ndata: b\n") == [b"a"]
    assert read(b"\n\n\n") == []


@given(
    st.lists(st.sampled_from([b"data: x", b"data: \xe4\xb8\xad", b": c", b"", b"event: e"])),
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
    st.data(),
)
def test_the_borders_of_pieces_change_nothing(
    lines: list[bytes], end: bytes, data: st.DataObject
) -> None:
    stream = end.join([*lines, b"", b""])
    cuts = sorted(data.draw(st.sets(st.integers(0, len(stream)))))
    pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert read(*pieces) == read(stream) == read(*(bytes([byte]) for byte in stream))


@each("endless", [b"x" * 100, b"data: " + b"x" * 94, b"data: x\n" * 20])
def test_an_event_without_end_is_ended(endless: bytes) -> None:
    with pytest.raises(ModelError) as caught:
        read(*[endless] * 50, limit=500)
    assert caught.value.code == "model.too-large"


def test_many_events_are_no_large_one() -> None:
    assert len(read(*[b"data: " + b"x" * 90 + b"\n\n"] * 50, limit=100)) == 50


WORDS = st.text(alphabet=st.characters(blacklist_categories=["Cs"]), max_size=60)


def spoken(*pieces: str) -> str:
    thoughts = Spoken()
    return "".join([thoughts.feed(piece) for piece in pieces] + [thoughts.end()])


def grown(*pieces: str) -> str:
    growing = GrowingWords()
    return "".join(growing.feed(piece) for piece in pieces)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("an answer", "an answer"),
        ("<think>hm</think>an answer", "an answer"),
        ("\n<think>\nhm <b>\n</think>\n\nan answer", "an answer"),
        ("<think>for ever", ""),
        ("<think></think>", ""),
        ("<thinner>", "<thinner>"),
        ("<thi", "<thi"),
        ("an answer <think>of mine</think>", "an answer <think>of mine</think>"),
        ("", ""),
    ],
)
def test_thoughts_before_an_answer_are_left_out(text: str, answer: str) -> None:
    assert spoken(text) == answer
    assert spoken(*text) == answer


def test_thoughts_without_end_are_not_held() -> None:
    thoughts = Spoken()
    assert {thoughts.feed(piece) for piece in ("<think>", *["x" * 1000] * 1000)} == {""}
    assert len(thoughts._held) < 100


def test_blanks_after_thoughts_are_not_held() -> None:
    thoughts = Spoken()
    assert {thoughts.feed(piece) for piece in ("<think></think>", *["  \n" * 100] * 100)} == {""}
    assert thoughts._held == ""
    assert thoughts.feed("an answer") == "an answer"


@given(WORDS, WORDS, st.booleans(), st.integers(1, 7))
def test_summary_and_plan_grow_as_they_were_written(
    summary: str, plan: str, ascii_only: bool, size: int
) -> None:
    edits = [{"path": "a", "search": 'the "summary": "of a file'}]
    text = json.dumps({"summary": summary, "plan": plan, "edits": edits}, ensure_ascii=ascii_only)
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    both = "\n\n".join(part for part in (summary, plan) if part)
    assert grown(*pieces) == grown(text) == both


def test_every_piece_is_shown_when_it_comes() -> None:
    growing = GrowingWords()
    assert growing.feed('{"summary": "Fix') == "Fix"
    assert growing.feed("es the \\") == "es the "
    assert growing.feed('n thing", "plan": "') == "\n thing"
    assert growing.feed('then", "edits": [{"path": "a"') == "\n\nthen"
    assert growing.feed('}], "plan": "more"}') == ""


@each(
    "text",
    [
        '{"edits": [], "summary": "late"}',
        '["summary"]',
        "The summary is: no JSON",
        '{"summary": 7, "plan": "x"}',
    ],
)
def test_of_another_form_nothing_is_shown(text: str) -> None:
    assert grown(text) == ""
    growing = GrowingWords()
    assert "".join(growing.feed(char) for char in text * 20) == ""
    assert len(growing._held) <= 400


def test_a_beginning_without_end_is_not_held() -> None:
    growing = GrowingWords()
    assert "".join(growing.feed(" ") for _ in range(300)) == ""
    assert growing.feed('{"summary": "x"}') == ""


def test_a_code_fence_is_no_other_form() -> None:
    assert grown('```json\n{"summary": "x", "plan": ""}\n```') == "x"


@each("broken", ["\\x", "\\ud83d rest of it all", "\\u12"])
def test_a_broken_escape_ends_what_is_shown(broken: str) -> None:
    assert grown('{"summary": "good ', broken, '", "plan": "x"' + " " * 300).startswith("good ")


def test_half_a_character_is_replaced() -> None:
    assert grown('{"summary": "a\\udc00b", "plan": ""}') == "a?b"
