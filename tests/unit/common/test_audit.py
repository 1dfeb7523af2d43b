"""The hash chain: what breaks it, and where."""

from __future__ import annotations

import hashlib
import json

import pytest

from common.audit import GENESIS, Head, entry_body, entry_hash, verify_chain
from common.errors import AuthError, StoreError
from tests.each import each

Row = tuple[int, bytes, bytes, bytes]


def a_chain(length: int) -> list[Row]:
    rows: list[Row] = []
    prev = GENESIS
    for seq in range(1, length + 1):
        body = entry_body("test.event", 1000 + seq, {"number": seq})
        rows.append((seq, prev, body, entry_hash(prev, body)))
        prev = rows[-1][3]
    return rows


@pytest.mark.requirement("R58")
def test_an_entry_is_chained_by_label_previous_hash_and_body() -> None:
    expected = hashlib.sha256(b"codexbridge/audit/v1\0" + GENESIS + b"body").digest()
    assert entry_hash(GENESIS, b"body") == expected


def test_a_previous_hash_of_another_size_is_refused() -> None:
    with pytest.raises(AuthError) as caught:
        entry_hash(b"short", b"body")
    assert caught.value.code == "audit.hash-size"


@pytest.mark.requirement("P6a")
def test_a_whole_chain_gives_its_head() -> None:
    rows = a_chain(3)
    assert verify_chain(rows) == Head(3, rows[-1][3])


def test_an_empty_chain_ends_where_it_starts() -> None:
    assert verify_chain([]) == Head(0, GENESIS)


def test_a_chain_can_be_checked_from_a_known_head() -> None:
    rows = a_chain(5)
    assert verify_chain(rows[2:], after=Head(2, rows[1][3])).seq == 5


@pytest.mark.requirement("P6a")
@each("field", [1, 2, 3])
def test_one_changed_byte_is_found_at_its_entry(field: int) -> None:
    rows = a_chain(4)
    entry = list(rows[1])
    value = entry[field]
    assert isinstance(value, bytes)
    entry[field] = value[:-1] + bytes([value[-1] ^ 1])
    rows[1] = (2, *entry[1:])  # type: ignore[assignment]  # the list lost the types of the tuple
    with pytest.raises(AuthError) as caught:
        verify_chain(rows)
    assert (caught.value.code, caught.value.facts) == (
        "audit.broken",
        {"seq": 2, "what": "prev" if field == 1 else "changed"},
    )


@each("order", [[0, 2], [1, 2], [0, 0, 1], [1, 0, 2]])
def test_a_missing_repeated_or_moved_entry_is_found(order: list[int]) -> None:
    rows = a_chain(3)
    with pytest.raises(AuthError) as caught:
        verify_chain([rows[number] for number in order])
    assert caught.value.code == "audit.broken"


def test_values_are_escaped_and_clipped() -> None:
    body = entry_body("test.event", 1, {"user": "张\u202e" + "x" * 5000, "n": 1, "none": None})
    facts = json.loads(body)["facts"]
    assert body.isascii()
    assert len(facts["user"].encode()) <= 1024
    assert (facts["n"], facts["none"]) == (1, None)


@pytest.mark.requirement("R4")
def test_an_entry_that_is_too_large_is_an_error_and_not_a_shorter_entry() -> None:
    with pytest.raises(StoreError) as caught:
        entry_body("test.event", 1, {f"fact{n}": "x" * 1024 for n in range(20)})
    assert caught.value.code == "audit.too-large"
