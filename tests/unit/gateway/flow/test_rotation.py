from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from common.clock import ManualClock
from common.errors import StateError
from common.protocol.envelope import (
    MAX_LIFE_S,
    Envelope,
    RekeyBody,
    agent_name,
    announced_key,
    gateway_name,
    signer_of,
    verify_envelope,
)
from common.protocol.frames import Sealed, decode_frame, envelope_type
from common.signing import SigningKey
from gateway.base.identity import KeyRing, open_identity
from gateway.flow import rotation
from gateway.store import agents, audit, mailbox
from tests.gateway_desk import AGENT, MACHINE, Desk, open_desk


async def open_ring(folder: Path) -> KeyRing:
    """Return the keys as another process of the same gateway finds them."""
    return await asyncio.to_thread(open_identity, folder / "gateway")


@pytest.fixture
async def ring(tmp_path: Path) -> KeyRing:
    return await open_ring(tmp_path)


@pytest.fixture
async def desk(tmp_path: Path, ring: KeyRing) -> AsyncIterator[Desk]:
    async with open_desk(tmp_path, ring=ring) as desk:
        yield desk


async def begin(desk: Desk, ring: KeyRing, *, at_once: bool = False) -> rotation.Rotation:
    """Rotate, as an admin's command does."""
    begun: rotation.Rotation = await desk.write(
        rotation.begin, ring, desk.clock.now(), at_once=at_once
    )
    return begun


async def waiting(desk: Desk, agent_id: str = AGENT) -> list[bytes]:
    """Return the frames that wait for a machine."""
    rows = await desk.store.read(mailbox.pending, agent_id, after_seq=0, limit=100)
    return [frame for _, frame in rows]


def opened(frame: bytes, key: SigningKey, clock: ManualClock) -> Envelope:
    """Return what a frame holds for a machine that pins this key."""
    sealed = decode_frame(frame)
    assert isinstance(sealed, Sealed)
    return verify_envelope(
        sealed,
        frame,
        key=key.public,
        iss=gateway_name(key.public),
        aud=agent_name(AGENT),
        at=clock.now(),
    )


async def test_every_machine_is_told_by_the_key_it_trusts_and_later_ones_by_the_new(
    desk: Desk, ring: KeyRing
) -> None:
    old = ring.current
    await desk.add_member("li.lei")
    await desk.add_machine("agent-2", "dev-2", user="li.lei")
    await desk.ask()
    begun = await begin(desk, ring)
    await desk.ask()
    assert begun == rotation.Rotation(ring.current.public.key_id, 2)
    task, told, later = await waiting(desk)
    assert announced_key(opened(told, old, desk.clock)) == ring.current.public
    assert [signer_of(frame) for frame in (task, told, later)] == [
        old.public.key_id,
        old.public.key_id,
        ring.current.public.key_id,
    ]
    assert opened(later, ring.current, desk.clock).header.typ == "task"
    (other,) = await waiting(desk, "agent-2")
    assert envelope_type(other) == "rekey"


async def test_a_second_rotation_is_announced_by_the_first(desk: Desk, ring: KeyRing) -> None:
    await begin(desk, ring)
    second = ring.current
    await begin(desk, ring)
    _, told = await waiting(desk)
    assert announced_key(opened(told, second, desk.clock)) == ring.current.public


async def test_a_revoked_machine_is_not_told(desk: Desk, ring: KeyRing) -> None:
    await desk.write(agents.revoke, MACHINE, at_ms=1)
    assert (await begin(desk, ring)).machines == 0


async def test_there_are_never_more_keys_than_a_machine_can_be_offered(
    desk: Desk, ring: KeyRing
) -> None:
    for _ in range(3):
        await begin(desk, ring)
    with pytest.raises(StateError) as caught:
        await begin(desk, ring)
    assert caught.value.code == "rotation.too-many-keys"
    assert len(ring.offered()) == 4
    assert (await begin(desk, ring, at_once=True)).machines == 1


async def test_a_key_stays_while_a_machine_pins_it_and_goes_when_none_does(
    desk: Desk, ring: KeyRing
) -> None:
    old = ring.current
    await begin(desk, ring)
    await desk.connect(pinned=old.public.key_id)
    await desk.upkeep.round()
    assert len(ring.offered()) == 2
    await desk.connect(pinned=ring.current.public.key_id)
    await desk.upkeep.round()
    assert ring.offered() == (ring.current,)
    dropped = [entry for entry in await desk.audited() if "gateway.key-dropped" in entry]
    assert [old.public.key_id in entry for entry in dropped] == [True]


async def test_a_rotation_is_audited(desk: Desk, ring: KeyRing) -> None:
    old = ring.current.public.key_id
    begun = await begin(desk, ring)
    (entry,) = [entry for entry in await desk.audited() if "gateway.rekeyed" in entry]
    assert json.loads(entry)["facts"] == {"old": old, "new": begun.key_id, "machines": 1}
    signed = await desk.store.read(audit.signed_head)
    assert signed is not None
    assert signed.public_key == ring.current.public.raw, "the old key may be gone tomorrow"
    assert signed.seq == len(await desk.audited())


async def test_to_drop_the_old_keys_at_once_is_to_revoke_who_knows_only_those(
    desk: Desk, ring: KeyRing
) -> None:
    await desk.add_machine("agent-2", "dev-2")
    begun = await begin(desk, ring, at_once=True)
    await desk.connect(pinned=begun.key_id)
    assert [agent.machine for agent in await desk.store.read(rotation.behind, begun.key_id)] == [
        "dev-2"
    ]
    given_up = await desk.write(rotation.abandon, ring, begun.key_id, at=desk.clock.now())
    assert given_up.machines == ("dev-2",)
    await asyncio.to_thread(ring.drop, given_up.keys)
    assert ring.offered() == (ring.current,)
    assert [agent.agent_id for agent in await desk.store.read(agents.live)] == [AGENT]


async def test_a_tombstone_is_signed_with_the_key_of_what_it_replaces(
    desk: Desk, ring: KeyRing
) -> None:
    old = ring.current
    await desk.ask()
    await begin(desk, ring)
    await desk.ask()
    desk.clock.advance(25 * 3600)
    await desk.upkeep.round()
    first, told, second = await waiting(desk)
    assert opened(first, old, desk.clock).header.typ == "tombstone"
    assert opened(told, old, desk.clock).header.typ == "rekey"
    assert opened(second, ring.current, desk.clock).header.typ == "tombstone"


async def test_what_announces_a_key_outlives_a_long_absence(desk: Desk, ring: KeyRing) -> None:
    old = ring.current
    await begin(desk, ring)
    desk.clock.advance(MAX_LIFE_S["rekey"] - 60)
    await desk.upkeep.round()
    (told,) = await waiting(desk)
    assert isinstance(opened(told, old, desk.clock).content, RekeyBody)


async def test_before_a_key_is_announced_the_server_holds_it(
    desk: Desk, ring: KeyRing, tmp_path: Path
) -> None:
    await begin(desk, await open_ring(tmp_path))  # in a process of its own
    assert len(ring.offered()) == 1
    await desk.mailbox.pending(AGENT, after_seq=0, limit=10)
    assert len(ring.offered()) == 2


async def test_the_sweep_finds_a_key_that_was_dropped(
    desk: Desk, ring: KeyRing, tmp_path: Path
) -> None:
    admin = await open_ring(tmp_path)
    begun = await begin(desk, admin)
    await desk.mailbox.sweep()
    assert len(ring.offered()) == 2
    given_up = await desk.write(rotation.abandon, admin, begun.key_id, at=desk.clock.now())
    await asyncio.to_thread(admin.drop, given_up.keys)
    await desk.mailbox.sweep()
    assert [key.public.key_id for key in ring.offered()] == [begun.key_id]
