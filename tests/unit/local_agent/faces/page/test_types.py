"""The page's modules are checked against the views: the types are current, and tsc has its say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from local_agent.views import Kept
from tests import page_types


@dataclass(frozen=True)
class Inner:
    """What lies within."""

    name: str
    size: int | None = None


@dataclass(frozen=True)
class Above:
    """What is inherited."""

    rate: float


@dataclass(frozen=True, kw_only=True)
class Outer(Above):
    """One field of each type.

    The rest of it is not told.
    """

    inner: Inner
    kinds: tuple[Literal["a", "b"] | None, ...]
    pair: tuple[str, bool]
    counts: Mapping[str, Inner]
    facts: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Stored:
    """What some version stored."""

    inner: Inner | None = None


@dataclass(frozen=True)
class Holder:
    """What holds it."""

    short_id: str
    stored: Kept[Stored]


@dataclass(frozen=True)
class Odd:
    """What no view has had."""

    content: bytes


def test_the_types_of_the_page_are_those_of_the_views() -> None:
    written = page_types.FILE.read_text(encoding="utf-8")
    assert written == page_types.render(page_types.VIEWS), "run: python -m tests.page_types"


def test_each_type_of_a_field_has_its_type_on_the_page() -> None:
    assert (
        page_types.render([Outer]).removeprefix(page_types.HEAD)
        == """
/** What is inherited. */
export interface Above {
  readonly rate: number;
}

/** What lies within. */
export interface Inner {
  readonly name: string;
  readonly size: number | null;
}

/** One field of each type. */
export interface Outer extends Above {
  readonly inner: Inner;
  readonly kinds: ReadonlyArray<"a" | "b" | null>;
  readonly pair: readonly [string, boolean];
  readonly counts: Readonly<Record<string, Inner>>;
  readonly facts: Readonly<Record<string, unknown>> | null;
}
"""
    )


def test_what_was_stored_is_told_beside_the_rest_and_may_lack_what_has_a_default() -> None:
    assert (
        page_types.render([Holder]).removeprefix(page_types.HEAD)
        == """
/** What holds it. */
export interface Holder extends Stored {
  readonly short_id: string;
}

/** What lies within. */
export interface Inner {
  readonly name: string;
  readonly size?: number | null;
}

/** What some version stored. */
export interface Stored {
  readonly inner?: Inner | null;
}
"""
    )


def test_a_type_that_no_view_has_had_is_refused() -> None:
    with pytest.raises(TypeError, match="bytes"):
        page_types.render([Odd])


def test_two_classes_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="Inner"):
        page_types.render([Inner, dataclass(type("Inner", (), {}))])


@pytest.mark.heavy
@pytest.mark.needs("page-tools")
def test_the_modules_of_the_page_have_no_type_errors() -> None:
    assert page_types.type_errors() == []


@pytest.mark.heavy
@pytest.mark.needs("page-tools")
def test_a_module_that_misreads_a_view_is_reported(tmp_path: Path) -> None:
    status = f'import("{page_types.FILE.with_name("views.js")}").StatusView'
    module = tmp_path / "wrong.js"
    module.write_text(
        f"/** @param {{{status}}} status */\n"
        "export const render = (status) => status.gateway.url.length + status.opentasks;\n",
        encoding="utf-8",
    )
    config = tmp_path / "tsconfig.json"
    config.write_text(
        json.dumps({"extends": str(page_types.CONFIG), "include": ["*.js"]}), encoding="utf-8"
    )
    codes = [line.partition(": ")[2][:14] for line in page_types.type_errors(config)]
    # Null is possible, and there is no such field.
    assert codes == ["error TS18047:", "error TS2551: "]
