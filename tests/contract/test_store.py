"""What every runner of the store must keep; today there is one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from common.errors import InputError, StoreError
from gateway.store import Connection, Store, agents, inbound, members
from gateway.store.runner import open_store
from tests.gateway_desk import fresh_store
from tests.people import someone

AT = 1_767_240_000_000


@pytest.fixture(params=["sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    runner = await asyncio.to_thread(lambda: open_store(fresh_store(tmp_path)))
    yield runner
    await runner.close()


def _fail(conn: Connection, user: str) -> None:
    members.add(conn, someone(user), lang=None, at_ms=AT)
    raise InputError("input.test")


def _break(conn: Connection) -> None:
    conn.run("INSERT INTO nowhere VALUES (1)")


async def test_what_was_written_is_read_at_once(store: Store) -> None:
    assert await store.write(members.add, someone("zhang"), lang="zh", at_ms=AT)
    assert [member.user_id for member in await store.read(members.everyone)] == ["zhang"]


async def test_an_operation_that_fails_changes_nothing_and_says_why(store: Store) -> None:
    with pytest.raises(InputError, match=r"input\.test"):
        await store.write(_fail, "zhang")
    assert await store.read(members.count) == 0


async def test_an_error_of_the_engine_is_a_store_error_without_values(store: Store) -> None:
    with pytest.raises(StoreError) as caught:
        await store.write(_break)
    assert caught.value.code == "store.failed"
    assert "nowhere" not in str(caught.value)


@pytest.mark.requirement("P3")
async def test_one_failing_operation_spoils_none_of_its_group(store: Store) -> None:
    def one(number: int) -> asyncio.Future[object]:
        user = f"user-{number}"
        call = (
            store.write(_fail, user)
            if number % 7 == 0
            else store.write(members.add, someone(user), lang=None, at_ms=AT)
        )
        return asyncio.ensure_future(call)

    outcomes = await asyncio.gather(*map(one, range(300)), return_exceptions=True)
    failed = [number for number, outcome in enumerate(outcomes) if isinstance(outcome, InputError)]
    assert failed == list(range(0, 300, 7))
    assert await store.read(members.count) == 300 - len(failed)


async def test_operations_keep_the_order_in_which_they_came(store: Store) -> None:
    await store.write(members.add, someone("zhang"), lang="en", at_ms=AT)
    await asyncio.gather(
        *(
            store.write(members.add, someone("zhang"), lang=lang, at_ms=AT)
            for lang in ("zh", "en", "zh")
        )
    )
    (member,) = await store.read(members.everyone)
    assert member.lang == "zh"


async def test_a_read_cannot_change_anything(store: Store) -> None:
    with pytest.raises(StoreError):
        await store.read(members.add, someone("zhang"), lang=None, at_ms=AT)
    assert await store.read(members.count) == 0


@pytest.mark.requirement("P3")
async def test_many_deliveries_of_one_message_at_once_are_one(store: Store) -> None:
    def call(number: int) -> asyncio.Future[bool]:
        return asyncio.ensure_future(
            store.write(
                inbound.remember,
                person=someone("zhang"),
                created_s=AT // 1000,
                dedupe_key="the-message",
                replay_key=bytes([number]),
                at_ms=AT,
            )
        )

    assert sorted(await asyncio.gather(*map(call, range(16)))) == [False] * 15 + [True]


async def test_numbers_taken_at_once_have_no_hole_and_a_rollback_gives_its_number_back(
    store: Store,
) -> None:
    from common.signing import SigningKey

    def spoiled(conn: Connection) -> None:
        agents.next_turn(conn, "a")
        raise InputError("input.test")

    key = SigningKey.generate().public
    await store.write(agents.enrol, "a", machine="dev-1", public_key=key, at_ms=AT)
    calls = [
        asyncio.ensure_future(
            store.write(spoiled) if number % 3 == 0 else store.write(agents.next_turn, "a")
        )
        for number in range(60)
    ]
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert [turn.seq for turn in outcomes if isinstance(turn, agents.Turn)] == list(range(1, 41))


async def test_a_caller_that_went_away_disturbs_nobody(store: Store) -> None:
    leaving = asyncio.ensure_future(store.write(members.add, someone("zhang"), lang=None, at_ms=AT))
    await asyncio.sleep(0)
    leaving.cancel()
    await store.write(members.add, someone("li"), lang=None, at_ms=AT)
    assert await store.read(members.count) == 2
