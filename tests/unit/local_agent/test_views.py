"""A view as JSON: what is missing, unknown or of another type is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from common.errors import RemoteProtocolError
from local_agent.views import Kept, from_json, to_json
from tests.each import each


@dataclass(frozen=True, slots=True)
class Inner:
    name: str
    size: int | None


@dataclass(frozen=True, slots=True)
class Outer:
    one: Inner
    many: tuple[Inner, ...]
    names: tuple[str, ...]
    kind: Literal["a", "b"]
    counts: Mapping[str, int]
    rate: float
    sure: bool
    told: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Holder:
    name: str
    kept: Kept[Inner]


VIEW = Outer(Inner("x", None), (Inner("y", 1),), ("p", "q"), "a", {"n": 1}, 0.5, True, {"k": [1]})


def test_a_view_comes_through_whole() -> None:
    assert from_json(Outer, json.loads(json.dumps(to_json(VIEW)))) == VIEW


def test_what_has_a_default_may_be_left_out_and_a_whole_number_is_a_fraction_too() -> None:
    told = to_json(VIEW) | {"rate": 1}
    del told["told"]
    assert from_json(Outer, told).told is None


@each(
    "changes",
    [
        {"one": None},
        {"one": {"name": "x"}},
        {"one": {"name": "x", "size": True}},
        {"one": {"name": "x", "size": 1, "more": 1}},
        {"many": {}},
        {"many": [{"name": 1, "size": 1}]},
        {"names": "pq"},
        {"names": [1]},
        {"kind": "c"},
        {"counts": {"n": "1"}},
        {"counts": [1]},
        {"rate": "1"},
        {"sure": 1},
        {"told": []},
        {"more": 1},
    ],
)
def test_anything_else_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        from_json(Outer, to_json(VIEW) | changes)
    assert caught.value.code == "control.malformed"


@each("name", ["one", "many", "kind", "sure"])
def test_what_is_missing_is_refused(name: str) -> None:
    told = to_json(VIEW)
    del told[name]
    with pytest.raises(RemoteProtocolError):
        from_json(Outer, told)


@each("raw", [None, [], "x", 1])
def test_what_is_no_object_is_refused(raw: object) -> None:
    with pytest.raises(RemoteProtocolError):
        from_json(Outer, raw)


def test_what_was_stored_is_told_beside_the_other_fields_as_it_stands() -> None:
    stored = {"name": "of another version", "size": 7, "later": {"a": [1]}}
    view = Holder("x", Kept(Inner, {"size": 7, "later": {"a": [1]}}))
    assert to_json(view) == {"name": "x", "size": 7, "later": {"a": [1]}}
    assert to_json(Holder("x", Kept(Inner, stored)))["name"] == "of another version"
    assert from_json(Holder, to_json(view)) == view


def test_what_was_stored_is_read_only_when_somebody_looks_at_it() -> None:
    kept = Kept(Inner, {"name": "x", "size": 1, "later": 2})
    assert kept.view == Inner("x", 1)
    odd = from_json(Holder, {"name": "x", "size": "large"})
    assert to_json(odd) == {"name": "x", "size": "large"}
    with pytest.raises(RemoteProtocolError):
        _ = odd.kept.view
