"""Events of a stream, wherever its bytes are cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_agent.errors import ModelError
from local_agent.models.http.sse import EventReader
from tests.each import each

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
