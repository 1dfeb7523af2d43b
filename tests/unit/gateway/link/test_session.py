"""One connected agent, from its knock to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from common import strict_json
from common.errors import ProtocolError, StoreError
from common.protocol.envelope import agent_name, gateway_name, rekey_body, seal_envelope
from common.protocol.link import Acked, Closed, Duplicate, Received
from common.signing import SigningKey
from gateway.link import session as session_module
from gateway.link.session import MAX_UNFLUSHED, READ, WINDOW
from tests.unit.common.protocol.wire import ack_text
from tests.unit.gateway.link.doubles import ADDRESS, AGENT_ID, Scene


@pytest.fixture
async def scene() -> Scene:
    return Scene()


async def until(condition: Callable[[], bool]) -> None:
    """Let the loop run until ``condition()`` holds, at most five seconds."""
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 — the doubles have no event for every step
            await asyncio.sleep(0)


async def test_what_waits_in_the_mailbox_is_delivered_and_forgotten_once_acked(
    scene: Scene,
) -> None:
    scene.store.put()
    agent = await scene.connect()
    envelope = (await agent.next(Received)).envelope
    assert envelope.frame == scene.record.frames[0]
    assert scene.record.acked == 0, "delivered is not acknowledged"
    agent.link.ack(1)
    agent.flush()
    await until(lambda: scene.record.acked == 1)


async def test_a_hint_delivers_at_once(scene: Scene) -> None:
    agent = await scene.connect()
    scene.store.put()
    scene.hub.wake(next(iter(scene.store.agents)))
    assert (await agent.next(Received)).envelope.header.seq == 1


async def test_what_was_just_committed_is_sent_without_reading_it_back(scene: Scene) -> None:
    agent = await scene.connect()
    scene.hub.wake(AGENT_ID, scene.store.put())
    assert (await agent.next(Received)).envelope.header.seq == 1
    assert scene.store.reads == 0


@pytest.mark.requirement("P3")
async def test_what_is_offered_out_of_turn_waits_for_what_comes_before_it(scene: Scene) -> None:
    agent = await scene.connect()
    scene.store.put()
    scene.hub.wake(AGENT_ID, scene.store.put())
    numbers = [(await agent.next(Received)).envelope.header.seq for _ in range(2)]
    assert numbers == [1, 2]


async def test_what_is_offered_while_the_mailbox_is_read_is_sent_once(scene: Scene) -> None:
    agent = await scene.connect()
    scene.store.reading.clear()
    scene.hub.wake(AGENT_ID)
    await until(lambda: scene.store.reads == 1)
    scene.hub.wake(AGENT_ID, scene.store.put())
    scene.store.reading.set()
    scene.store.put()
    scene.hub.wake(AGENT_ID)
    numbers = [(await agent.next(Received)).envelope.header.seq for _ in range(2)]
    assert numbers == [1, 2]
    assert not [event for event in agent.events if isinstance(event, Duplicate)]


async def test_an_offer_does_not_stretch_the_window(scene: Scene) -> None:
    agent = await scene.connect()
    for _ in range(WINDOW + 1):
        scene.hub.wake(AGENT_ID, scene.store.put())
    for _ in range(WINDOW):
        await agent.next(Received)
    assert agent.wire.to_agent.empty()


@pytest.mark.requirement("P3")
async def test_a_busy_store_holds_no_delivery_up_and_hears_of_all_acknowledgements_at_the_end(
    scene: Scene,
) -> None:
    agent = await scene.connect()
    scene.store.recording.clear()
    for _ in range(WINDOW + 8):
        scene.hub.wake(AGENT_ID, scene.store.put())
    for seq in range(1, WINDOW + 9):
        assert (await agent.next(Received)).envelope.header.seq == seq
        agent.link.ack(seq)
        agent.flush()
    await until(agent.wire.to_gateway.empty)
    agent.wire.to_gateway.put_nowait(None)
    await until(lambda: agent.wire.closed)
    assert (scene.record.acked, scene.store.goodbyes) == (0, 0)
    scene.store.recording.set()
    await until(lambda: scene.store.goodbyes == 1)
    assert (scene.record.acked, scene.store.recorded) == (WINDOW + 8, 2)


@pytest.mark.requirement("P7")
async def test_an_agent_that_takes_in_slowly_gets_all_that_waits_so_that_it_finds_cancels(
    scene: Scene,
) -> None:
    agent = await scene.connect()
    for _ in range(WINDOW + READ + 40):
        scene.hub.wake(AGENT_ID, scene.store.put())
    for _ in range(WINDOW):
        await agent.next(Received)
    scene.clock.advance(1.8)
    agent.link.ack(1)
    agent.flush()
    for _ in range(READ + 40):
        await agent.next(Received)
    agent.link.ack(WINDOW + READ + 40)
    agent.flush()
    await until(lambda: scene.record.acked == WINDOW + READ + 40)
    for _ in range(WINDOW + 1):
        scene.hub.wake(AGENT_ID, scene.store.put())
    for _ in range(WINDOW):
        await agent.next(Received)
    assert agent.wire.to_agent.empty(), "it is fast again"


@pytest.mark.requirement("P3")
async def test_a_returning_agent_resumes_after_what_it_holds(scene: Scene) -> None:
    for _ in range(3):
        scene.store.put()
    agent = await scene.connect(last_seq=2)
    assert (await agent.next(Received)).envelope.header.seq == 3
    assert scene.record.acked == 2, "what it says it holds needs no sending"


@pytest.mark.requirement("P3")
async def test_an_envelope_is_acknowledged_only_after_it_was_stored(scene: Scene) -> None:
    agent = await scene.connect()
    scene.store.storing.clear()
    agent.link.send(scene.event(1).frame)
    agent.flush()
    await until(agent.wire.to_gateway.empty)
    assert agent.wire.to_agent.empty()
    scene.store.storing.set()
    assert (await agent.next(Acked)).seq == 1
    assert [kept.header.seq for kept in scene.record.received] == [1]


async def test_a_repeated_envelope_is_acknowledged_again_and_stored_once(scene: Scene) -> None:
    agent = await scene.connect()
    for _ in range(2):
        agent.wire.to_gateway.put_nowait(scene.event(1).frame.decode())
        assert strict_json.loads(await agent.read_one() or "", max_bytes=1000)["seq"] == 1
    assert len(scene.record.received) == 1
    assert not [event for event in agent.events if isinstance(event, Duplicate)]


@pytest.mark.requirement("P3")
async def test_an_acknowledgement_goes_with_the_next_flush_or_has_one_of_its_own(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = await scene.connect()
    for seq in (1, 2):
        agent.link.send(scene.event(seq).frame)
    agent.flush()
    assert (await agent.next(Acked)).seq == 2
    assert scene.store.syncs == 1
    monkeypatch.setattr("gateway.link.session.ACK_SECONDS", 3600)
    agent.link.send(scene.event(3).frame)
    asked = {"seal_code": "7K3F-9Q2M", "expires_at": 1_760_000_100_000, "machine": "dev-1"}
    agent.link.send(scene.event(4, state="WAITING_APPROVAL", waiting=asked).frame)
    agent.flush()
    assert (await agent.next(Acked)).seq == 4
    assert scene.store.syncs == 1, "what asks is flushed for its own sake"


@pytest.mark.requirement("P3")
async def test_what_cannot_be_flushed_is_not_acknowledged(scene: Scene) -> None:
    agent = await scene.connect()
    agent.link.send(scene.event(1).frame)
    agent.flush()
    await until(lambda: bool(scene.record.received))
    scene.store.failing = True
    assert (await agent.next(Closed)).code == "store-unavailable"
    assert scene.record.recv_seq == 1


@pytest.mark.requirement("R13")
async def test_an_unknown_agent_and_a_wrong_key_get_the_same_answer(scene: Scene) -> None:
    impostor = SigningKey.generate()
    answers = []
    for agent_id in ("nobody", next(iter(scene.store.agents))):
        agent = scene.dial(key=impostor, agent_id=agent_id)
        await agent.read_one()
        answers.append((await agent.end())[1:])
    assert answers[0] == answers[1]
    assert len(answers[0]) == 1


@pytest.mark.requirement("R11")
async def test_a_wrong_key_for_a_known_agent_raises_the_alarm(scene: Scene) -> None:
    agent = scene.dial(key=SigningKey.generate())
    await agent.read_one()
    await agent.end()
    await scene.settle()
    where = {"agent": AGENT_ID, "address": ADDRESS}
    assert scene.alarms == [("agent.wrong-key", where)]
    assert scene.proved == 0


async def test_an_unknown_agent_raises_no_alarm_about_a_machine(scene: Scene) -> None:
    agent = scene.dial(agent_id="nobody")
    await agent.read_one()
    await agent.end()
    await scene.settle()
    assert scene.alarms == []


@pytest.mark.requirement("R13")
@pytest.mark.parametrize("first", ["", "{}", "[1]", "no json", '{"t":"ping","n":1}', " " * 9000])
async def test_a_malformed_first_frame_raises_the_alarm(scene: Scene, first: str) -> None:
    scene.dial().wire.to_gateway.put_nowait(first)
    await scene.settle()
    assert scene.alarms == [("agent.malformed-frame", {"address": ADDRESS})]


async def test_who_goes_away_or_says_goodbye_before_it_knocks_raises_no_alarm(scene: Scene) -> None:
    for last in (None, '{"code":"shutdown","t":"error"}'):
        scene.dial().wire.to_gateway.put_nowait(last)
    await scene.settle()
    assert scene.alarms == []


@pytest.mark.requirement("R14")
async def test_a_revoked_agent_is_refused_like_an_unknown_one(scene: Scene) -> None:
    scene.record.revoked = True
    agent = scene.dial()
    await agent.read_one()
    assert len(await agent.end()) == 2
    assert scene.record.epoch == 0


@pytest.mark.requirement("R14")
async def test_who_cannot_prove_its_key_displaces_nobody(scene: Scene) -> None:
    owner = await scene.connect()
    impostor = scene.dial(key=SigningKey.generate())
    await impostor.read_one()
    await impostor.end()
    assert scene.record.epoch == 1
    scene.store.put()
    scene.hub.wake(next(iter(scene.store.agents)))
    await owner.next(Received)


@pytest.mark.requirement("R14")
async def test_a_second_connection_takes_over_and_the_loser_is_told(scene: Scene) -> None:
    first = await scene.connect()
    second = await scene.connect(address="192.0.2.2")
    assert await first.closed_with() == "taken-over"
    both = {"agent": AGENT_ID, "address": "192.0.2.2", "before": ADDRESS}
    assert scene.alarms == [("agent.taken-over", both)]
    scene.store.put()
    scene.hub.wake(next(iter(scene.store.agents)))
    await second.next(Received)
    await until(lambda: scene.store.goodbyes == 1)
    assert scene.record.online, "the end of the loser is not the end of the machine"


async def test_a_session_that_the_store_fences_off_closes_on_its_ack(scene: Scene) -> None:
    scene.store.put()
    agent = await scene.connect()
    await agent.next(Received)
    scene.record.epoch += 1
    agent.link.ack(1)
    agent.flush()
    assert await agent.closed_with() == "taken-over"
    assert scene.record.acked == 0


async def test_a_session_that_the_store_fences_off_stores_and_acknowledges_nothing(
    scene: Scene,
) -> None:
    agent = await scene.connect()
    scene.record.epoch += 1
    agent.link.send(scene.event(1).frame)
    agent.flush()
    assert await agent.closed_with() == "taken-over"
    assert not [event for event in agent.events if isinstance(event, Acked)]


@pytest.mark.parametrize("moment", ["lookup", "received", "pending"])
async def test_a_failing_store_ends_the_session_and_acknowledges_nothing(
    scene: Scene, moment: str
) -> None:
    agent = scene.dial() if moment == "lookup" else await scene.connect()
    scene.store.failing = True
    if moment == "received":
        agent.link.send(scene.event(1).frame)
        agent.flush()
    if moment == "pending":
        scene.hub.wake(next(iter(scene.store.agents)))
    assert await agent.closed_with() == "store-unavailable"
    await scene.settle()
    assert not [event for event in agent.events if isinstance(event, Acked)]


@pytest.mark.requirement("R17")
async def test_stores_that_disagree_about_numbers_are_an_alarm_for_the_agent(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def behind(*_: object, **__: object) -> None:
        raise StoreError("mailbox.agent-behind")

    agent = await scene.connect()
    monkeypatch.setattr(scene.store, "pending", behind)
    scene.hub.wake(next(iter(scene.store.agents)))
    assert await agent.closed_with() == "sequence-gap"


async def test_a_key_that_was_rotated_during_the_handshake_is_refused(scene: Scene) -> None:
    def rotate() -> None:
        scene.record.key = SigningKey.generate()

    scene.store.on_lookup = rotate
    agent = scene.dial()
    assert await agent.closed_with() == "auth"  # the machine tries its next key then
    assert scene.proved == 0
    await until(lambda: scene.store.goodbyes == 1)
    assert not scene.record.online, "what took the record over also gives it back"


async def test_an_agent_revoked_during_the_handshake_is_refused(scene: Scene) -> None:
    def revoke() -> None:
        scene.record.revoked = True

    scene.store.on_lookup = revoke
    assert await scene.dial().closed_with() == "revoked"


@pytest.mark.requirement("R17")
async def test_an_agent_that_holds_more_than_was_ever_sent_is_an_alarm(scene: Scene) -> None:
    scene.store.put()
    agent = scene.dial(last_seq=2)
    assert await agent.closed_with() == "sequence-gap"


async def test_an_ack_for_what_was_never_sent_ends_the_session(scene: Scene) -> None:
    agent = await scene.connect()
    names = {"iss": agent_name(AGENT_ID), "aud": gateway_name(scene.gateway_key.public)}
    agent.wire.to_gateway.put_nowait(ack_text(scene.agent_key, 7, **names))
    assert await agent.closed_with() == "protocol"
    assert scene.record.acked == 0


async def test_no_more_than_a_window_is_in_flight(scene: Scene) -> None:
    for _ in range(3 * WINDOW):
        scene.store.put()
    agent = await scene.connect()
    for _ in range(WINDOW):
        await agent.next(Received)
    assert agent.wire.to_agent.empty()
    agent.link.ack(WINDOW)
    agent.flush()
    for _ in range(WINDOW):
        await agent.next(Received)
    assert agent.wire.to_agent.empty()


async def test_acks_one_by_one_do_not_read_the_store_one_by_one(scene: Scene) -> None:
    for _ in range(3 * WINDOW):
        scene.store.put()
    agent = await scene.connect()
    for seq in range(1, 3 * WINDOW + 1):
        await agent.next(Received)
        agent.link.ack(seq)
        agent.flush()
    assert scene.store.reads <= 2 + 3 * WINDOW // session_module.REFILL


async def test_a_peer_that_reads_nothing_is_given_up(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_module, "SEND_SECONDS", 0.02)
    agent = await scene.connect()
    agent.wire.reading.clear()
    scene.store.put()
    scene.hub.wake(next(iter(scene.store.agents)))
    await scene.settle()
    assert agent.wire.closed
    assert not scene.record.online


async def test_a_peer_that_only_writes_cannot_fill_our_memory(scene: Scene) -> None:
    agent = await scene.connect()
    agent.wire.reading.clear()
    for number in range(2 * MAX_UNFLUSHED):
        agent.say({"t": "ping", "n": number})
    left = 2 * MAX_UNFLUSHED
    while (now := agent.wire.to_gateway.qsize()) != left:
        left = now
        for _ in range(10):
            await asyncio.sleep(0)
    assert left >= MAX_UNFLUSHED - 1
    agent.wire.reading.set()
    await until(agent.wire.to_gateway.empty)


async def test_a_peer_that_is_gone_ends_the_session_quietly(scene: Scene) -> None:
    agent = await scene.connect()
    agent.wire.broken = True
    scene.store.put()
    scene.hub.wake(next(iter(scene.store.agents)))
    await scene.settle()
    assert scene.store.goodbyes == 1


async def test_anything_but_text_ends_the_session(scene: Scene) -> None:
    agent = await scene.connect()
    agent.wire.to_gateway.put_nowait(None)
    await scene.settle()
    assert not scene.record.online


async def test_a_silent_agent_is_pinged_and_then_given_up(scene: Scene) -> None:
    agent = await scene.connect()
    scene.clock.advance(20)
    scene.sessions[0].wake()
    assert '"ping"' in (await agent.read_one() or "")
    # The pong went out; from here on the agent says nothing more.
    await until(agent.wire.to_gateway.empty)
    agent.wire.to_gateway = asyncio.Queue()
    scene.clock.advance(41)
    scene.sessions[0].wake()
    assert await agent.closed_with() == "dead"


@pytest.mark.requirement("R13")
async def test_who_says_nothing_is_shown_out_after_ten_seconds(scene: Scene) -> None:
    agent = scene.dial()
    await until(lambda: not agent.wire.to_agent.empty())
    scene.clock.advance(10)
    scene.sessions[0].wake()
    assert '"timeout"' in (await agent.end())[-1]
    await scene.settle()


async def test_the_end_is_recorded_even_when_the_server_cancels(scene: Scene) -> None:
    await scene.connect()
    scene.tasks[0].cancel()
    with pytest.raises(asyncio.CancelledError):
        await scene.tasks[0]
    assert not scene.record.online


async def test_a_goodbye_that_cannot_be_recorded_is_no_crash(scene: Scene) -> None:
    agent = await scene.connect()
    scene.store.failing = True
    agent.wire.to_gateway.put_nowait(None)
    await scene.settle()
    assert scene.store.goodbyes == 1


async def test_a_programming_error_is_not_swallowed(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = await scene.connect()

    async def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(scene.store, "pending", broken)
    scene.hub.wake(next(iter(scene.store.agents)))
    with pytest.raises(ZeroDivisionError):
        await scene.settle()
    assert agent.wire.closed
    assert not issubclass(ZeroDivisionError, ProtocolError)


async def test_the_key_that_an_agent_pins_is_noted_with_its_connection(scene: Scene) -> None:
    await scene.connect()
    assert scene.record.pinned == scene.gateway_key.public.key_id


async def test_an_agents_next_key_is_stored_acknowledged_and_ends_the_connection(
    scene: Scene,
) -> None:
    agent = await scene.connect()
    iss, aud = agent_name(AGENT_ID), gateway_name(scene.gateway_key.public)
    body = rekey_body(
        SigningKey.generate(), iss=iss, aud=aud, old_key_id=scene.agent_key.public.key_id
    )
    now = scene.clock.now().wall_s
    envelope = seal_envelope(
        scene.agent_key,
        typ="rekey",
        iss=iss,
        aud=aud,
        jti="rekey-1",
        seq=1,
        iat=now,
        exp=now + 60,
        body=body,
    )
    agent.link.send(envelope.frame)
    agent.flush()
    assert (await agent.next(Acked)).seq == 1
    assert await agent.closed_with() == "rekeyed"
    assert scene.record.recv_seq == 1
