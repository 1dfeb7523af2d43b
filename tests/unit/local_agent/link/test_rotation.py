"""What becomes of this machine's keys in the journal and the keystore when one is rotated."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from common.clock import ManualClock
from common.errors import ConfigError, StateError, UnavailableError
from common.keystore import FileKeystore
from common.protocol.envelope import (
    Envelope,
    agent_name,
    announced_key,
    gateway_name,
    open_envelope,
    rekey_body,
)
from common.signing import SigningKey
from local_agent.link.journal import JournalInbound, JournalOutbound, gateway_peer
from local_agent.link.keys import AgentKeys
from local_agent.link.pairing import Pairing
from local_agent.link.rotation import PAUSE_MS, Rotation
from local_agent.store.inbox import MAX_REKEYS
from local_agent.store.journal import JournalThread
from tests.sealed import AGENT, AGENT_ID, GATEWAY, Wish, a_seal, as_stored, from_gateway

pytestmark = pytest.mark.heavy

NEXT_GATEWAY = SigningKey(bytes([5]) * 32)
PAIRING = Pairing(
    url="https://gw.example",
    agent_id=AGENT_ID,
    machine="m",
    gateway_key=GATEWAY.public,
    agent_key_id=AGENT.public.key_id,
    paired_at=0,
)


class Lines:
    """Keeps what is logged."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def warning(self, event: str, *_: Any, **__: Any) -> None:
        """Keep it."""
        self.seen.append(event)


class LockedKeystore(FileKeystore):
    """A keyring that lets nothing go."""

    def delete(self, name: str) -> None:
        """Refuse."""
        raise UnavailableError("keystore.keyring-away", backend="test")


class NoEngine:
    """Begins nothing."""

    def begin(self, task_id: str) -> None:
        """Do nothing."""

    def stop(self, task_id: str) -> None:
        """Do nothing."""


@dataclass
class Desk:
    """One machine's journal and keystore."""

    folder: Path
    clock: ManualClock
    keystore: FileKeystore
    keys: AgentKeys
    db: JournalThread
    rotation: Rotation
    log: Lines

    @classmethod
    async def at(
        cls, folder: Path, clock: ManualClock, *, keystore: FileKeystore, pairing: Pairing = PAIRING
    ) -> Desk:
        """Open what is in a folder, as a start of the agent does."""
        keys = AgentKeys(keystore, pairing)
        db = await JournalThread.open(
            folder / "journal.db",
            clock=clock,
            key=keys.present,
            peer=gateway_peer(pairing, keys, clock),
        )
        log = Lines()
        return cls(folder, clock, keystore, keys, db, Rotation(db, keys, clock=clock, log=log), log)

    async def reopened(self, **changed: Any) -> Desk:
        """Return the same after a restart."""
        await self.db.close()
        again = await Desk.at(
            self.folder, self.clock, **{"keystore": FileKeystore(self.folder / "keys")} | changed
        )
        self.keystore, self.keys, self.db = again.keystore, again.keys, again.db
        self.rotation, self.log = again.rotation, again.log
        return self

    async def report(self) -> int:
        """Leave something to tell the gateway."""
        body = {"task_id": "t", "state": "ROUTED", "message": "", "waiting": None, "at": 1}
        return await self.db.run(self.db.journal.outbox.put, "event", "t", body)

    async def unsent(self, *, by: SigningKey, to: SigningKey = GATEWAY) -> list[Envelope]:
        """Return what waits, all of which must be signed with and for these keys."""
        rows = await self.db.run(self.db.journal.outbox.unsent)
        return [
            open_envelope(
                frame,
                key=by.public,
                iss=agent_name(AGENT_ID),
                aud=gateway_name(to.public),
                at=self.clock.now(),
            )
            for _, frame in rows
        ]

    async def acked(self, seq: int) -> None:
        """Let the gateway acknowledge."""
        await JournalOutbound(self.db, self.rotation).acked(seq)

    async def keep(self, envelope: Envelope) -> None:
        """Take a message in."""
        await JournalInbound(self.db, NoEngine()).keep(envelope)

    async def audited(self, event: str) -> int:
        """Count the audit entries of one kind."""

        def count() -> int:
            return sum(event.encode() in body for _, _, body, _ in self.db.journal.audit.entries())

        return await self.db.run(count)


def rekey(clock: ManualClock, seq: int, *, new: SigningKey = NEXT_GATEWAY, **over: Any) -> Envelope:
    """Return what hands the gateway's next key over; ``over`` changes what its proof is over."""
    said = {
        "iss": gateway_name(GATEWAY.public),
        "aud": agent_name(AGENT_ID),
        "old_key_id": GATEWAY.public.key_id,
    }
    return from_gateway(clock, seq, typ="rekey", **rekey_body(new, **said | over))


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    keystore = FileKeystore(tmp_path / "keys")
    await asyncio.to_thread(keystore.put, PAIRING.key_name, AGENT.private_bytes())
    opened = await Desk.at(tmp_path, ManualClock(), keystore=keystore)
    yield opened
    await opened.db.close()


async def held(desk: Desk) -> set[str]:
    """Return the names of the keys in the keystore."""
    return await asyncio.to_thread(lambda: {path.stem for path in (desk.folder / "keys").iterdir()})


@pytest.mark.requirement("P3")
async def test_what_came_before_is_signed_with_the_old_key_and_what_comes_after_with_the_new(
    desk: Desk,
) -> None:
    await desk.report()
    key_id = await desk.rotation.rotate()
    new = desk.keys.present()
    assert new.public.key_id == key_id
    await desk.report()
    rows = await desk.db.run(desk.db.journal.outbox.unsent)
    by = [AGENT, AGENT, new]
    opened = [
        open_envelope(
            frame,
            key=key.public,
            iss=agent_name(AGENT_ID),
            aud=gateway_name(GATEWAY.public),
            at=desk.clock.now(),
        )
        for key, (_, frame) in zip(by, rows, strict=True)
    ]
    assert [envelope.header.typ for envelope in opened] == ["event", "rekey", "event"]
    assert announced_key(opened[1]) == new.public
    assert await desk.audited("agent.rekeyed") == 1


async def test_until_the_gateway_acknowledges_both_keys_are_tried_the_old_one_first(
    desk: Desk,
) -> None:
    await desk.rotation.rotate()
    new = desk.keys.present()
    tried = (await desk.rotation.link_keys()).own
    assert [key.public for key in tried] == [AGENT.public, new.public]
    await desk.acked(1)
    keys = await desk.rotation.link_keys()
    assert ([*keys.own], keys.gateway) == ([new], GATEWAY.public)


@pytest.mark.requirement("R60")
async def test_the_old_key_is_thrown_away_once_the_gateway_has_the_new(desk: Desk) -> None:
    await desk.report()
    key_id = await desk.rotation.rotate()
    await desk.acked(1)
    assert await held(desk) == {PAIRING.key_name, f"agent-{key_id}"}
    await desk.acked(2)
    assert await held(desk) == {f"agent-{key_id}"}
    assert desk.keys.held() == (desk.keys.present(),)
    again = await desk.reopened()
    assert again.keys.present().public.key_id == key_id


async def test_a_key_that_cannot_be_thrown_away_now_is_thrown_away_at_the_next_start(
    desk: Desk,
) -> None:
    locked = await desk.reopened(keystore=LockedKeystore(desk.folder / "keys"))
    key_id = await locked.rotation.rotate()
    await locked.acked(1)
    assert locked.log.seen == ["rotation.key-not-discarded"]
    assert len(await held(locked)) == 2
    again = await locked.reopened()
    await again.rotation.settle()
    assert await held(again) == {f"agent-{key_id}"}
    assert await again.db.run(again.db.journal.peers.spent) == []


async def test_the_keys_of_a_pairing_that_was_replaced_are_thrown_away(desk: Desk) -> None:
    await desk.rotation.rotate()
    other = SigningKey.generate()
    pairing = Pairing(
        url="https://gw.example",
        agent_id="agent-2",
        machine="m",
        gateway_key=GATEWAY.public,
        agent_key_id=other.public.key_id,
        paired_at=0,
    )
    await asyncio.to_thread(desk.keystore.put, pairing.key_name, other.private_bytes())
    again = await desk.reopened(pairing=pairing)
    await again.rotation.settle()
    assert await held(again) == {pairing.key_name}
    assert again.keys.present().public == other.public


async def test_one_rotation_at_a_time(desk: Desk) -> None:
    await desk.rotation.rotate()
    with pytest.raises(StateError) as caught:
        await desk.rotation.rotate()
    assert caught.value.code == "rotate.pending"
    assert len(await held(desk)) == 2


async def test_a_key_is_not_rotated_again_at_once(desk: Desk) -> None:
    await desk.rotation.rotate()
    await desk.acked(1)
    desk.clock.advance(61)
    with pytest.raises(StateError) as caught:
        await desk.rotation.rotate()
    assert (caught.value.code, caught.value.facts) == ("rotate.too-soon", {"minutes": 9})
    desk.clock.advance(PAUSE_MS / 1000)
    assert await desk.rotation.rotate()


async def test_a_clock_that_was_set_back_forbids_no_rotation(desk: Desk) -> None:
    await desk.rotation.rotate()
    await desk.acked(1)
    desk.clock.jump_wall(-86_400)
    assert await desk.rotation.rotate()


async def test_what_waits_too_long_is_signed_anew_with_the_key_of_its_number(desk: Desk) -> None:
    await desk.rotation.rotate()
    desk.clock.advance(30 * 86_400)
    (told,) = await desk.unsent(by=AGENT)
    assert announced_key(told) == desk.keys.present().public


async def test_a_journal_whose_key_is_gone_is_not_opened(desk: Desk) -> None:
    await desk.rotation.rotate()
    name = desk.keys.name_of_present()
    await asyncio.to_thread(desk.keystore.delete, name)
    await desk.db.close()
    with pytest.raises(ConfigError) as caught:
        await Desk.at(desk.folder, desk.clock, keystore=desk.keystore)
    assert caught.value.code == "pair.key-missing"
    await asyncio.to_thread(desk.keystore.put, name, desk.keys.present().private_bytes())
    desk.db = (await Desk.at(desk.folder, desk.clock, keystore=desk.keystore)).db


# The gateway's key


@pytest.mark.requirement("P3")
async def test_the_gateways_next_key_is_pinned_and_what_waits_is_addressed_to_it(
    desk: Desk,
) -> None:
    await desk.report()
    await desk.keep(rekey(desk.clock, 1))
    assert (await desk.rotation.link_keys()).gateway == NEXT_GATEWAY.public
    (waiting,) = await desk.unsent(by=AGENT, to=NEXT_GATEWAY)
    assert waiting.header.seq == 1
    await desk.report()
    assert len(await desk.unsent(by=AGENT, to=NEXT_GATEWAY)) == 2
    assert await desk.audited("gateway.rekeyed") == 1
    again = await desk.reopened()
    assert (await again.rotation.link_keys()).gateway == NEXT_GATEWAY.public


@pytest.mark.requirement("P3")
async def test_a_machines_own_next_key_is_proven_to_the_gateways_next_one(desk: Desk) -> None:
    await desk.rotation.rotate()
    await desk.keep(rekey(desk.clock, 1))
    (told,) = await desk.unsent(by=AGENT, to=NEXT_GATEWAY)
    assert announced_key(told) == desk.keys.present().public


@pytest.mark.requirement("P4")
@pytest.mark.parametrize(
    "over",
    [
        {"old_key_id": "0" * 16},
        {"aud": agent_name("another")},
        {"iss": gateway_name(NEXT_GATEWAY.public)},
    ],
    ids=str,
)
async def test_a_key_that_is_not_proven_is_not_pinned(desk: Desk, over: dict[str, Any]) -> None:
    await desk.keep(rekey(desk.clock, 1, **over))
    assert (await desk.rotation.link_keys()).gateway == GATEWAY.public
    assert await desk.audited("gateway.rekey-refused") == 1


@pytest.mark.requirement("P4")
async def test_only_a_key_of_the_same_gateway_takes_a_task_back(desk: Desk) -> None:
    def cancelled(task_id: str) -> bool:
        return desk.db.journal.tasks.get(task_id).cancel_requested

    await desk.keep(from_gateway(desk.clock, 1, task_id="task-1"))
    await desk.keep(rekey(desk.clock, 2))
    stranger = SigningKey.generate()
    await desk.keep(from_gateway(desk.clock, 3, typ="cancel", task_id="task-1", key=stranger))
    assert not await desk.db.run(cancelled, "task-1")
    await desk.keep(from_gateway(desk.clock, 4, typ="cancel", task_id="task-1", key=NEXT_GATEWAY))
    assert await desk.db.run(cancelled, "task-1")


async def test_a_task_of_this_machine_belongs_to_no_gateway(desk: Desk) -> None:
    def same() -> bool:
        return desk.db.journal.peers.same_gateway(None, GATEWAY.public.key_id)

    assert not await desk.db.run(same)


async def test_a_gateway_that_rotates_its_key_may_not_ask_more_often(desk: Desk) -> None:
    def ask_and_count() -> list[int]:
        journal = desk.db.journal
        journal.tasks.create(Wish(), 1)
        seal = a_seal(desk.clock)
        journal.approvals.add(as_stored(seal))
        since = seal.created_at - 1
        ids = [key.public.key_id for key in (GATEWAY, NEXT_GATEWAY, third, stranger)]
        return [journal.approvals.count_asked(key_id, since, besides="") for key_id in ids]

    third, stranger = SigningKey.generate(), SigningKey.generate()
    await desk.keep(rekey(desk.clock, 1))
    pin = desk.db.journal.peers.pin
    await desk.db.run(pin, third.public, old_key_id=NEXT_GATEWAY.public.key_id)
    assert await desk.db.run(ask_and_count) == [1, 1, 1, 0]


async def test_a_machine_that_is_not_paired_has_one_key(tmp_path: Path) -> None:
    keystore = FileKeystore(tmp_path / "keys")
    keys, again = AgentKeys(keystore, None), AgentKeys(keystore, None)
    await asyncio.to_thread(keys.open_local)
    await asyncio.to_thread(again.open_local)
    assert keys.present().public == again.present().public


@pytest.mark.requirement("R17")
async def test_a_gateway_cannot_fill_the_journal_with_keys(desk: Desk) -> None:
    for seq in range(1, MAX_REKEYS + 1):
        await desk.keep(rekey(desk.clock, seq, new=SigningKey.generate()))
    one_more = SigningKey.generate()
    with pytest.raises(UnavailableError) as caught:
        await desk.keep(rekey(desk.clock, MAX_REKEYS + 1, new=one_more))
    assert caught.value.code == "inbox.too-many-keys"
    assert await desk.audited("gateway.rekeyed") == MAX_REKEYS
    desk.clock.advance(86_400)
    await desk.keep(rekey(desk.clock, MAX_REKEYS + 1, new=one_more))
    assert await desk.audited("gateway.rekeyed") == MAX_REKEYS + 1
