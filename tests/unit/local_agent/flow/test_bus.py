"""The event stream: nobody waits for a slow reader, and none misses the notice."""

from __future__ import annotations

import asyncio

import pytest

from common.errors import UnavailableError
from common.model.proposal import TaskStateChanged
from common.model.state import TaskState
from local_agent.flow.bus import Bus, Reader, Told


def event(task_id: str = "t-1", message: str | None = None) -> Told:
    return Told(
        TaskStateChanged(thread_id="th", task_id=task_id, state=TaskState.ROUTED, message=message)
    )


def message_of(told: Told) -> str | None:
    assert isinstance(told.event, TaskStateChanged)
    return told.event.message


async def rest(reader: Reader) -> list[str | None]:
    async with asyncio.timeout(30):
        return [message_of(told) async for told in reader]


async def test_every_reader_gets_every_event_in_order() -> None:
    bus = Bus()
    with bus.read() as first, bus.read() as second:
        for number in range(3):
            bus.publish(event(message=str(number)))
        bus.close()
        assert await rest(first) == await rest(second) == ["0", "1", "2"]


async def test_a_reader_of_one_task_gets_nothing_else() -> None:
    bus = Bus()
    with bus.read(task_id="t-2") as reader:
        bus.publish(event("t-1", "no"))
        bus.publish(event("t-2", "yes"))
        bus.close()
        assert await rest(reader) == ["yes"]


async def test_a_waiting_reader_is_woken() -> None:
    bus = Bus()
    with bus.read() as reader:
        waiting = asyncio.create_task(anext(reader))
        await asyncio.sleep(0)
        bus.publish(event(message="now"))
        async with asyncio.timeout(30):
            told = await waiting
        assert message_of(told) == "now"


async def test_a_slow_reader_is_dropped_with_a_notice_after_what_it_still_has() -> None:
    bus = Bus()
    with bus.read(size=2) as slow, bus.read() as quick:
        for number in range(4):
            bus.publish(event(message=str(number)))
        assert [(await anext(slow)).event.task_id for _ in range(2)] == ["t-1", "t-1"]
        with pytest.raises(UnavailableError) as caught:
            await anext(slow)
        assert caught.value.code == "bus.reader-too-slow"
        assert await rest(slow) == []
        bus.close()
        assert len(await rest(quick)) == 4


async def test_a_reader_that_left_is_forgotten() -> None:
    bus = Bus()
    with bus.read(size=1) as reader:
        pass
    bus.publish(event())
    bus.publish(event())
    reader.end()
    assert await rest(reader) == []
