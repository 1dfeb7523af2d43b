from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from common import ids
from common.clock import ManualClock
from common.errors import InputError
from tests.each import each

# RFC 9562, appendix A.6: 2022-02-22 19:22:22 UTC with the fields 0xCC3 and 0x18C4DC0C0C07398F.
RFC_MS = 0x017F22E279B0
RFC_DRAWN = (0xCC3 << 62 | 0x18C4DC0C0C07398F) << 6
RFC_UUID = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"


def test_a_uuid_is_of_version_7_and_sorts_by_time() -> None:
    made = [ids.new_uuid() for _ in range(100)]
    assert made == sorted(made)
    assert len(set(made)) == 100
    assert {uuid.UUID(text).version for text in made} == {7}
    assert {uuid.UUID(text).variant for text in made} == {uuid.RFC_4122}
    assert all(text == str(uuid.UUID(text)) for text in made)


def test_a_uuid_is_laid_out_as_the_rfc_shows_it() -> None:
    new = ids.UuidSource(ManualClock(RFC_MS), draw=lambda size: RFC_DRAWN.to_bytes(size, "big"))
    assert new() == RFC_UUID


@pytest.mark.parametrize("drawn", [b"\x00" * 10, b"\xff" * 10])
def test_uuids_of_one_millisecond_and_of_a_clock_set_back_still_rise(drawn: bytes) -> None:
    clock = ManualClock(RFC_MS)
    new = ids.UuidSource(clock, draw=lambda _size: drawn)
    made = [new(), new()]
    clock.jump_wall(-3600)
    made += [new(), new()]
    clock.jump_wall(7200)
    made.append(new())
    assert all(older < newer for older, newer in pairwise(made))
    assert {(uuid.UUID(text).version, uuid.UUID(text).variant) for text in made} == {
        (7, uuid.RFC_4122)
    }


def test_uuids_of_many_threads_are_all_different() -> None:
    new = ids.UuidSource(ManualClock(RFC_MS))
    with ThreadPoolExecutor(8) as threads:
        made = [
            made
            for batch in threads.map(lambda _: [new() for _ in range(500)], range(8))
            for made in batch
        ]
    assert len(set(made)) == 4000


@each("minter", ["gateway", "agent"])
@each("length", [4, 5])
def test_a_short_id_tells_who_minted_it(minter: ids.Minter, length: int) -> None:
    for _ in range(50):
        made = ids.new_short_id(minter, length=length)
        assert made[:2] == "T-"
        assert len(made) == 2 + length
        assert set(made[2:]) <= set(ids.CROCKFORD)
        assert ids.minted_by(made) == minter
        assert ids.parse_short_id(made) == made


def test_the_two_minters_share_no_first_character() -> None:
    def firsts(minter: ids.Minter) -> set[str]:
        found: set[str] = set()

        def choose(alphabet: str) -> str:
            found.update(alphabet if len(alphabet) < len(ids.CROCKFORD) else "")
            return alphabet[0]

        ids.new_short_id(minter, choose=choose)
        return found

    assert not firsts("gateway") & firsts("agent")
    assert firsts("gateway") | firsts("agent") == set(ids.CROCKFORD)


@each(
    "typed",
    [
        "T-7K3F",
        "t-7k3f",
        "7K3F",
        "T7K3F",
        " T-7K3F。",
        "#T-7K3F",
        "（T-7K3F）",
        "Ｔ－７Ｋ３Ｆ",
        "T\u20137K3F",
        "T\u22127K3F",
        "T\u30fc7K3F",
        "T 7K3F",
        "T_7K3F",
    ],
)
def test_a_short_id_is_read_as_people_type_it(typed: str) -> None:
    assert ids.parse_short_id(typed) == "T-7K3F"


def test_letters_that_look_like_digits_are_digits() -> None:
    assert ids.parse_short_id("t-oil7") == "T-0117"


def test_five_characters_are_an_id_too() -> None:
    assert ids.parse_short_id("T-7K3FA") == "T-7K3FA"
    assert ids.parse_short_id("T-TK3FA") == "T-TK3FA"


@each(
    "typed",
    [
        *("", "T-", "7K3", "T-7K3FAB", "T-7K3U", "测试", "T-7K3F" * 20, "T.7K3F", "7K3F 7K3F"),
        *("the fix", "the job", "the app", "7K 3F"),
    ],
)
def test_what_is_no_short_id_is_refused_and_repeated_within_bounds(typed: str) -> None:
    with pytest.raises(InputError) as caught:
        ids.parse_short_id(typed)
    assert caught.value.code == "input.task-id"
    assert caught.value.facts == {"given": typed[:32]}


def test_no_long_id_begins_with_the_letter_of_the_prefix() -> None:
    seen: list[str] = []

    def choose(alphabet: str) -> str:
        seen.append(alphabet)
        return alphabet[-1]

    minters: tuple[ids.Minter, ...] = ("gateway", "agent")
    for minter in minters:
        ids.new_short_id(minter, length=5, choose=choose)
    assert not any("T" in alphabet for alphabet in seen if len(alphabet) < 32)
