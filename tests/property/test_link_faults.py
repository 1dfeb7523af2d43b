"""Two real Links over a wire that fails in every way, by any schedule: nothing lost, nothing twice.

The clock is moved by hand and the stores are models that commit atomically, so that any instant can
be the instant of a fault.  The same over real sockets: `tests/integration/test_link_faults.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from common.protocol.flow_control import DEADLINES
from common.protocol.link import LinkState
from tests.unit.common.protocol.faulty import End, Fault, Half, Name, World

SLACK_S = 0.01


def say(world: World, name: Name, life_s: int, count: int) -> None:
    """A member asks, or a task moves on."""
    half = world.gateway if name == "gateway" else world.agent
    for _ in range(count):
        half.put(world.clock.now(), life_s=life_s if name == "gateway" else 86_400)
    for end in world.ends:
        end.turn()


def carry(world: World, name: Name, count: int) -> None:
    """Texts arrive at one half; its disk is slow."""
    for end in ends_of(world, name):
        for _ in range(count):
            end.receive()


def commit(world: World, name: Name, count: int) -> None:
    """The disk of one half has caught up."""
    for end in ends_of(world, name):
        for _ in range(count):
            end.commit()


def work(world: World, count: int) -> None:
    """The agent dials if it must, and both halves are left alone for a while."""
    world.dial()
    for _ in range(count):
        for end in world.ends:
            end.receive()
            end.commit()


def bury(world: World) -> None:
    """The gateway's upkeep comes by."""
    world.gateway.bury(world.clock.now())


def spoil(world: World, name: Name, fault: Fault) -> None:
    """The wire does something to what is on its way to one half."""
    say(world, "agent" if name == "gateway" else "gateway", 3600, 2)
    for end in ends_of(world, name):
        end.lane.spoil(fault)


def stall(world: World, name: Name) -> None:
    """Half-open: nothing reaches this half any more on the connections that there are."""
    for end in world.ends:
        lane = end.wire.to_gateway if name == "gateway" else end.wire.to_agent
        lane.stalled = True


def partition(world: World, seconds: int) -> None:
    """Nothing passes either way, for so long."""
    stall(world, "gateway")
    stall(world, "agent")
    wait(world, seconds)


def reset(world: World) -> None:
    """The connection breaks, and what was on its way with it."""
    if world.here is not None:
        for lane in world.here.wire.lanes:
            lane.texts.clear()
            lane.ended = True


def kill(world: World, name: Name, silently: bool) -> None:
    """One half dies; its store is all that is left."""
    world.kill(name, silently=silently)


def wait(world: World, seconds: int) -> None:
    """Time passes."""
    world.wait(seconds)
    world.sweep()


def ends_of(world: World, name: Name) -> list[End]:
    """Return the ends of one half; the gateway may believe in several."""
    return [end for end in world.ends if end.half.name == name]


def happening(what: Callable[..., None], *facts: st.SearchStrategy[Any]) -> Any:
    """Return a strategy for something that happens to an installation."""
    return st.tuples(st.just(what), st.tuples(*facts))


HALVES: st.SearchStrategy[Name] = st.sampled_from(["gateway", "agent"])
FAULTS: st.SearchStrategy[Fault] = st.sampled_from(["drop", "duplicate", "swap", "truncate"])
FEW = st.integers(1, 4)
WORK = happening(work, st.integers(4, 30))
SAY = happening(say, HALVES, st.sampled_from([30, 3600]), FEW)
# 11 s end an opening, 41 s a connection; 120 s are beyond the life of some tasks.
SECONDS = st.sampled_from([1, 11, 21, 41, 120, 120])
TROUBLE = st.one_of(
    happening(spoil, HALVES, FAULTS),
    happening(spoil, HALVES, st.just("duplicate")),
    happening(stall, HALVES),
    happening(partition, SECONDS),
    happening(reset),
    happening(kill, HALVES, st.booleans()),
    happening(wait, SECONDS),
    happening(bury),
    happening(carry, HALVES, FEW),
    happening(commit, HALVES, FEW),
)
SCHEDULE = st.lists(st.one_of(WORK, SAY, TROUBLE, TROUBLE), min_size=12, max_size=40)


def check_instant(world: World) -> None:
    """Check what holds at every instant."""
    # An acknowledgement never precedes the commit of what it names.
    assert world.gateway.acked <= world.agent.last_seq
    assert world.agent.acked <= world.gateway.last_seq
    # Each half keeps the first so many of what the other said, in order.
    for half in (world.gateway, world.agent):
        numbers = [envelope.header.seq for envelope in half.kept]
        assert numbers == list(range(1, len(numbers) + 1))
    # Whoever hears nothing gives up in time.
    now = world.clock.now().mono
    for end in world.ends:
        opening = end.link.state is LinkState.OPENING
        limit = DEADLINES.opening_s if opening else DEADLINES.dead_s
        assert not end.open or now - end.heard <= limit + SLACK_S


def check_delivered(sender: Half, receiver: Half) -> None:
    """Check what one half has of the other's mail once all of it was delivered."""
    assert len(receiver.kept) == len(sender.mail)
    alive = [kept for kept in receiver.kept if kept.header.typ != "tombstone" and not kept.expired]
    assert receiver.done == [kept.header.jti for kept in alive]
    assert len(set(receiver.done)) == len(receiver.done)
    for kept in receiver.kept:
        sent = sender.mail[kept.header.seq]
        # The number is another message only where its time had run out unacknowledged.
        assert kept.sha256 == sent.sha256 or sent.header.typ == "tombstone"


@pytest.mark.requirement("P3", "R16", "R17")
@settings(
    max_examples=150, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(SCHEDULE)
def test_whatever_happens_all_of_it_arrives_once_in_order_and_every_link_ends_or_recovers(
    schedule: list[tuple[Callable[..., None], tuple[Any, ...]]],
) -> None:
    world = World()
    work(world, 4)
    for what, facts in schedule:
        what(world, *facts)
        check_instant(world)
    world.heal()
    assert world.owed() == 0
    check_delivered(world.gateway, world.agent)
    check_delivered(world.agent, world.gateway)


def test_what_expired_on_its_way_is_recorded_and_has_no_effect() -> None:
    world = World()
    work(world, 4)
    stall(world, "agent")
    say(world, "gateway", 30, 1)
    wait(world, 120)  # the time of its clock, and as much again as two clocks may be apart
    world.heal()
    (kept,) = world.agent.kept
    assert kept.expired
    assert world.agent.done == []


@pytest.mark.requirement("P3")
def test_a_connection_that_was_replaced_keeps_nothing_any_more() -> None:
    world = World()
    work(world, 4)
    say(world, "agent", 3600, 2)
    carry(world, "gateway", 2)
    world.kill("agent", silently=True)
    (old,) = world.there
    world.dial()
    (_, new), here = world.there, world.here
    assert here is not None
    while any([new.receive(), here.receive()]):
        pass
    assert new.link.state is LinkState.READY
    assert old.waiting
    old.commit()
    assert world.gateway.last_seq == 0
    assert not old.open
    world.heal()
    assert [kept.header.seq for kept in world.gateway.kept] == [1, 2]


def test_a_partition_past_every_deadline_ends_both_ends_and_a_new_connection_brings_the_rest() -> (
    None
):
    world = World()
    work(world, 4)
    say(world, "gateway", 3600, 2)
    partition(world, 41)
    assert not [end for end in world.ends if end.open]
    world.heal()
    assert [kept.header.seq for kept in world.agent.kept] == [1, 2]
    assert world.agent.done == ["task-1", "task-2"]
