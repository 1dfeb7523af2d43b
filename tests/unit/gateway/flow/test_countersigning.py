"""Heads at the gateway: kept with their proof, answered once, an alarm when they contradict."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from common.audit import GENESIS, Head, entry_hash, sign_head
from common.audit_check import RENEWED, STARTED
from common.errors import AuthError
from common.heads import FORKED, KEPT, KeptHead, verify_kept
from common.protocol.bodies import HeadBody
from common.signing import SigningKey
from gateway.flow.countersigning import HEADS, UNHEARD
from gateway.store import Connection, audit
from tests.gateway_desk import AGENT, Desk, open_desk

pytestmark = pytest.mark.heavy


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with open_desk(tmp_path) as opened:
        await opened.upkeep.begin()
        await opened.connect()
        yield opened


async def end(desk: Desk) -> Head:
    """Return the end of the gateway's log."""
    return await desk.store.read(audit.newest)


async def kept(desk: Desk) -> KeptHead | None:
    """Return what is kept of the machine."""
    return await desk.store.read(audit.kept_head, AGENT)


async def say(desk: Desk, own: Head, *, seq: int = 3, found: str = "cd" * 32) -> None:
    """Let the machine sign its head, and that it keeps ours."""
    said = HeadBody(seq, found, own.seq, own.hash.hex(), desk.clock.now().wall_ms)
    assert await desk.tell(desk.signed("head", said.to_dict()))


async def answers(desk: Desk) -> list[HeadBody]:
    """Return the heads in the machine's mailbox."""
    found = [envelope.content for envelope in await desk.mail()]
    return [body for body in found if isinstance(body, HeadBody)]


async def events(desk: Desk) -> list[str]:
    """Return the names of all audit events."""
    return [json.loads(body)["event"] for body in await desk.audited()]


@pytest.mark.requirement("P6")
@pytest.mark.requirement("R18")
async def test_a_machines_head_is_kept_as_proof_and_answered_with_ours(desk: Desk) -> None:
    own = await end(desk)
    await say(desk, own)
    found = await kept(desk)
    assert found is not None
    assert verify_kept(found).header.iss == f"agent:{AGENT}"
    assert (found.seq, found.own_seq, found.own_hash) == (3, own.seq, own.hash)
    assert found.public_key == desk.agent_key.public.raw
    (answer,) = await answers(desk)
    now = await end(desk)
    assert (answer.seq, answer.hash) == (now.seq, now.hash.hex())
    assert (answer.peer_seq, answer.peer_hash) == (3, "cd" * 32)
    assert (await events(desk))[-1] == KEPT


async def test_the_first_head_of_a_machine_that_keeps_nothing_of_ours_is_taken(desk: Desk) -> None:
    await say(desk, Head())
    found = await kept(desk)
    assert found is not None
    assert (found.own_seq, found.own_hash) == (0, GENESIS)


@pytest.mark.requirement("P6")
@pytest.mark.parametrize(
    ("own_seq", "changes"),
    [
        (1, {"seq": 2}),
        (1, {"found": "ee" * 32}),
        (99, {"seq": 4}),
        (0, {"seq": 4}),
    ],
)
async def test_a_head_that_contradicts_is_an_alarm_and_not_answered(
    desk: Desk, own_seq: int, changes: dict[str, Any]
) -> None:
    first = await end(desk)
    await say(desk, first)
    before = await kept(desk)
    own = first if own_seq == 1 else Head(own_seq, GENESIS)
    await say(desk, own, **changes)
    assert await kept(desk) == before
    assert len(await answers(desk)) == 1
    assert (await events(desk))[-1] == FORKED


async def test_a_machine_cannot_fill_the_store_with_heads(desk: Desk) -> None:
    own = await end(desk)
    for number in range(1, HEADS + 200):
        await say(desk, own, seq=number, found=f"{number:064x}")
    found = await kept(desk)
    assert found is not None
    assert found.seq == HEADS
    assert (await events(desk)).count(KEPT) == HEADS
    assert len(await answers(desk)) <= HEADS
    assert len(await events(desk)) < HEADS + 100
    desk.clock.advance(601)
    await say(desk, own, seq=HEADS + 500, found="ff" * 32)
    found = await kept(desk)
    assert found is not None
    assert found.seq == HEADS + 500


async def test_a_machine_that_reads_no_answer_is_not_answered_for_ever(desk: Desk) -> None:
    own = await end(desk)
    for number in range(1, UNHEARD + 20):
        desk.clock.advance(11)
        await say(desk, own, seq=number, found=f"{number:064x}")
    found = await kept(desk)
    assert found is not None
    assert found.seq == UNHEARD
    await desk.mailbox.acked(AGENT, epoch=desk.epoch, seq=UNHEARD)
    await say(desk, own, seq=UNHEARD + 20, found="ff" * 32)
    found = await kept(desk)
    assert found is not None
    assert found.seq == UNHEARD + 20


async def test_the_end_of_the_log_is_signed_at_the_start_in_each_round_and_at_the_end(
    desk: Desk,
) -> None:
    def signed(conn: Connection) -> int:
        (row,) = conn.all("SELECT seq FROM signed_heads")
        return int(row["seq"])

    assert await desk.store.read(signed) == (await events(desk)).index(STARTED) + 1
    for sign in (desk.upkeep.round, desk.upkeep.end):
        await desk.write(audit.append, "test.entry", 1)
        before = await end(desk)
        await sign()
        assert await desk.store.read(signed) == before.seq == (await end(desk)).seq


def cut(conn: Connection, *, behind: int) -> None:
    """Take the end of the log away, and the signature over it: the editor has no key."""
    conn.run("DELETE FROM audit WHERE seq > :seq", seq=behind)
    conn.run("DELETE FROM signed_heads")


def rewrite(conn: Connection) -> None:
    """Write the whole log anew, every hash right, and take the signature away."""
    head = Head()
    for seq, _, body, _ in audit.entries(conn):
        forged = body.replace(b"zhang.san", b"somebody!")
        found = entry_hash(head.hash, forged)
        conn.run(
            "UPDATE audit SET prev = :prev, body = :body, hash = :hash WHERE seq = :seq",
            seq=seq,
            prev=head.hash,
            body=forged,
            hash=found,
        )
        head = Head(seq, found)
    conn.run("DELETE FROM signed_heads")


@pytest.mark.requirement("P6", "R58")
@pytest.mark.parametrize("kind", ["cut", "rewritten"])
async def test_a_log_that_was_tampered_with_beside_the_server_is_not_signed(
    desk: Desk, kind: str
) -> None:
    await desk.write(audit.append, "test.entry", 1, user="zhang.san")
    await desk.upkeep.round()
    await desk.upkeep.round()
    if kind == "cut":
        await desk.write(cut, behind=1)
    else:
        await desk.write(rewrite)
    with pytest.raises(AuthError) as caught:
        await desk.upkeep.round()
    assert caught.value.code == "audit.broken"
    await desk.upkeep.end()
    assert await desk.store.read(audit.signed_head) is None, "not at the end either"


@pytest.mark.requirement("P6", "R58")
async def test_a_server_that_starts_on_a_log_without_its_signature_notes_so_for_ever(
    desk: Desk,
) -> None:
    await replace(desk).upkeep.begin()
    assert RENEWED not in await events(desk), "neither at the first start nor at the next"
    await desk.write(cut, behind=(await events(desk)).index(STARTED) + 1)
    await replace(desk).upkeep.begin()
    assert (await events(desk))[-2:] == [RENEWED, STARTED]


@pytest.mark.requirement("P6", "R58")
@pytest.mark.parametrize("proven", [True, False])
async def test_a_log_that_another_signed_is_not_taken_for_signed(
    desk: Desk, *, proven: bool
) -> None:
    def forge(conn: Connection) -> None:
        signed = sign_head(SigningKey.generate(), audit.newest(conn), 1)
        conn.run(
            "UPDATE signed_heads SET seq = :seq, hash = :hash, at = 1, public_key = :public_key,"
            " signature = :signature",
            seq=signed.seq,
            hash=signed.hash,
            public_key=signed.public_key,
            signature=signed.signature if proven else bytes(64),
        )

    await desk.write(forge)
    again = replace(desk).upkeep
    if proven:
        await again.begin()
        assert (await events(desk))[-2:] == [RENEWED, STARTED]
    else:
        with pytest.raises(AuthError):
            await again.begin()
