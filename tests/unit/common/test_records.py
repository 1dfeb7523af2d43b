"""Closed records: every check, and how a record is read with them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

import pytest

from common import records
from common.errors import RemoteProtocolError
from tests.each import each


@pytest.mark.requirement("R2")
@each("record", [{}, {"a": 1}, {"b": 1}, {"a": 1, "b": 1, "c": 1}])
def test_a_record_with_a_missing_or_an_extra_field_is_refused(record: dict[str, int]) -> None:
    checks = {"a": records.SEQ, "b": records.SEQ}
    with pytest.raises(RemoteProtocolError) as caught:
        records.closed(record, checks)
    assert caught.value.code == "record.fields"


def test_a_wrong_field_is_named_but_its_value_is_not_told() -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        records.closed({"a": "secret"}, {"a": records.SEQ})
    assert caught.value.facts == {"field": "a"}


@each("value", [True, 0, -1, 2**53 + 1, "1", None, [1]])
def test_only_integers_in_range_are_integers(value: object) -> None:
    assert not records.SEQ(value)


@pytest.mark.parametrize("value", [1, 2**53])
def test_both_ends_of_a_range_are_inside(value: int) -> None:
    assert records.SEQ(value)


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        ("abcd", True),
        ("abcde", False),
        ("测", True),
        ("测测", False),
        ("\ud800", False),
        (b"a", False),
    ],
)
def test_text_is_bounded_in_bytes_and_has_no_lone_surrogate(value: object, fits: bool) -> None:
    assert records.utf8(4)(value) is fits


def test_text_can_be_asked_not_to_be_empty() -> None:
    assert records.utf8(4)("")
    assert not records.utf8(4, min_bytes=1)("")


@each("value", ["ab\n", "", "é", 7, None])
def test_a_pattern_must_match_the_whole_text(value: object) -> None:
    assert not records.matching(r"\w{1,4}")(value)


@each("value", ["no", 1, None, ["en"]])
def test_a_choice_is_one_of_the_given(value: object) -> None:
    assert records.one_of(("en", "zh"))("en")
    assert not records.one_of(("en", "zh"))(value)


@each("value", ["QQ=", "QR==", "Q Q==", "Q*==", "QUE=", "====", "QQ==\n", "ＱＱ==", 7])
def test_bytes_have_exactly_one_form(value: object) -> None:
    check = records.raw_bytes(1)
    assert check("QQ==")
    assert records.decode_bytes("QQ==") == b"A"
    assert not check(value)


@each("text", ["[]", "1", '"a"', "null"])
def test_only_an_object_is_an_object(text: str) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        records.read_object(text, max_bytes=100)
    assert caught.value.code == "json.malformed"


def test_a_moment_is_one_that_a_calendar_can_show() -> None:
    latest = 2**47
    assert records.MILLISECONDS(latest)
    assert not records.MILLISECONDS(latest + 1)
    assert datetime.fromtimestamp(latest / 1000, UTC).year < 9999


@each("record", [[], "a", None, 1, [("a", 1)]])
def test_what_is_no_object_is_no_record(record: object) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        records.closed(record, {})
    assert caught.value.code == "record.fields"


@dataclass(frozen=True, slots=True)
class Moment:
    at: Annotated[int, records.COUNT]
    files: Annotated[tuple[str, ...], records.TEXTS] = ()


def test_a_dataclass_declares_its_record_in_the_order_of_its_fields() -> None:
    fields = records.fields_of(Moment)
    assert list(fields.items()) == [("at", records.COUNT), ("files", records.TEXTS)]
    assert records.first_fault({"at": 1, "files": ["a"]}, fields) is None


def test_a_default_does_not_stand_in_for_a_field() -> None:
    assert records.first_fault({"at": 1}, records.fields_of(Moment)) == ""


def test_of_several_faults_the_first_is_named() -> None:
    assert records.first_fault({"at": -1, "files": "a"}, records.fields_of(Moment)) == "at"


def test_a_record_within_a_record_is_as_closed() -> None:
    check = records.record_of({"a": records.COUNT})
    assert check({"a": 1})
    assert not any(map(check, ({"a": True}, {"a": 1, "b": 1}, {}, None)))


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        (["a"], True),
        (["a", "b"], True),
        ([], False),
        (["a", "b", "c"], False),
        (["a", 1], False),
        (("a",), False),
        ("a", False),
        ({"a": 1}, False),
    ],
)
def test_a_list_is_bounded_and_each_item_checked(value: object, fits: bool) -> None:
    assert records.list_of(records.TEXT, least=1, most=2)(value) is fits


def test_what_must_be_filled_is_not_empty() -> None:
    check = records.filled(records.LIST)
    assert check([None])
    assert not check([])
    assert not check("a")


def test_null_is_let_through_only_where_it_may_stand() -> None:
    assert records.or_none(records.COUNT)(None)
    assert records.or_none(records.COUNT)(1)
    assert not records.or_none(records.COUNT)("")
    assert not records.COUNT(None)


@each("value", ["a", True, 1, [], {}, None])
def test_a_type_is_exactly_that_type(value: object) -> None:
    checks = {
        str: records.TEXT,
        bool: records.FLAG,
        int: records.COUNT,
        list: records.LIST,
        dict: records.RECORD,
    }
    assert [kind for kind, check in checks.items() if check(value)] == (
        [] if value is None else [type(value)]
    )
