from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from common.clock import ManualClock
from common.errors import InputError, LocalProtocolError
from common.protocol import frames
from common.protocol.envelope import agent_name, gateway_name
from common.protocol.flow_control import BYTES, FRAMES, FRAMES_PER_SECOND
from common.protocol.link import (
    Acked,
    AgentKnocked,
    Closed,
    Duplicate,
    Link,
    LinkState,
    Ready,
    Received,
)
from common.protocol.link_events import websocket_code
from common.signing import SigningKey
from tests.each import each
from tests.unit.common.protocol.wire import (
    AGENT_ID,
    AGENT_KEY,
    GATEWAY_KEY,
    NEXT_KEY,
    SESSION,
    STRANGER_KEY,
    Ends,
    ack_text,
    closed,
    only,
    ready_ends,
    rekey,
    result,
    task,
)


def error_said(link: Link) -> str:
    """Return the code of the error frame, which must be the last thing a link has to say."""
    frame = frames.decode_frame(link.data_to_send()[-1])
    assert isinstance(frame, frames.ErrorFrame)
    return frame.code


# Opening


@pytest.mark.requirement("R12")
def test_two_ends_shake_hands_and_tell_where_the_other_stands() -> None:
    ends = Ends(last_seq=7)
    ends.knock()
    assert only(ends.gateway.events(), AgentKnocked) == AgentKnocked(AGENT_ID, 7)
    ends.admit(last_seq=3)
    assert only(ends.gateway.events(), Ready) == Ready(SESSION, 7, GATEWAY_KEY.public.key_id)
    assert only(ends.agent.events(), Ready) == Ready(SESSION, 3, GATEWAY_KEY.public.key_id)
    assert (ends.agent.expected_seq, ends.gateway.expected_seq) == (8, 4)


@pytest.mark.requirement("R12")
def test_an_agent_says_and_takes_nothing_but_the_handshake_before_the_gateway_is_proven() -> None:
    ends = Ends()
    assert ends.agent.data_to_send() == []
    with pytest.raises(LocalProtocolError):
        ends.agent.send(result(1, ends.agent_now).frame)
    with pytest.raises(LocalProtocolError):
        ends.agent.ack(0)
    ends.agent.receive(task(1, ends.agent_now).frame, ends.agent_now)
    assert closed(ends.agent).facts["why"] == "frame.unexpected"


@pytest.mark.requirement("R13")
@each(
    "frame",
    [
        frames.Ping(1),
        frames.Ack(1, b"0" * 64),
        frames.Challenge("{}"),
        frames.Ready("{}", b"0" * 64),
    ],
)
def test_a_gateway_takes_nothing_but_a_hello_first(frame: frames.Frame) -> None:
    ends = Ends()
    ends.gateway.data_to_send()
    ends.gateway.receive(frames.encode_frame(frame), ends.clock.now())
    assert closed(ends.gateway) == Closed("protocol", facts={"why": "frame.unexpected"})
    assert error_said(ends.gateway) == "auth"


def test_nobody_may_knock_twice() -> None:
    ends = Ends()
    ends.to_agent()
    hello = ends.to_gateway()[0]
    ends.gateway.receive(hello, ends.clock.now())
    assert closed(ends.gateway).facts["why"] == "frame.unexpected"


def knocked(**others: Any) -> Ends:
    """Return ends where the agent has knocked and nobody has answered."""
    ends = Ends(**others)
    ends.knock()
    return ends


def unknown_agent() -> Ends:
    """Nobody is enrolled under that name."""
    ends = knocked()
    ends.gateway.refuse(ends.clock.now())
    return ends


def wrong_key() -> Ends:
    """The agent signs with a key that is not the enrolled one."""
    ends = knocked(key=STRANGER_KEY)
    ends.gateway.admit(AGENT_KEY.public, last_seq=0, at=ends.clock.now())
    return ends


def replayed_hello() -> Ends:
    """A true hello is said again to another challenge."""
    old = Ends(nonce=b"o" * 32)
    old.to_agent()
    ends = Ends(gateway_nonce=b"n" * 32)
    ends.gateway.data_to_send()
    ends.gateway.receive(old.agent.data_to_send()[0], ends.clock.now())
    ends.gateway.admit(AGENT_KEY.public, last_seq=0, at=ends.clock.now())
    return ends


def other_address() -> Ends:
    """The agent was made to dial someone in between."""
    ends = knocked(url="https://relay.example.net")
    ends.gateway.admit(AGENT_KEY.public, last_seq=0, at=ends.clock.now())
    return ends


def malformed_hello() -> Ends:
    """It is no hello at all."""
    ends = Ends()
    ends.gateway.receive('{"t":"hello"}', ends.clock.now())
    return ends


@pytest.mark.requirement("R13")
@pytest.mark.parametrize(
    ("attempt", "why"),
    [
        (unknown_agent, "auth.refused"),
        (wrong_key, "auth.signature"),
        (replayed_hello, "auth.signature"),
        (other_address, "auth.wrong-url"),
        (malformed_hello, "record.fields"),
    ],
)
def test_every_failed_authentication_looks_the_same_outside(
    attempt: Callable[[], Ends], why: str
) -> None:
    ends = attempt()
    assert closed(ends.gateway).facts["why"] == why
    assert ends.gateway.data_to_send()[-1] == '{"code":"auth","t":"error"}'


def test_an_agent_closes_on_a_gateway_with_another_key() -> None:
    ends = Ends(gateway_key=STRANGER_KEY.public)
    ends.to_agent()
    assert closed(ends.agent) == Closed("auth", facts={"why": "auth.wrong-gateway"})
    assert error_said(ends.agent) == "auth"


def test_an_agent_closes_on_a_ready_that_was_tampered_with() -> None:
    ends = Ends()
    ends.knock()
    ends.gateway.admit(AGENT_KEY.public, last_seq=0, at=ends.clock.now())
    ready = json.loads(ends.gateway.data_to_send()[0])
    ready["body"] = ready["body"].replace(SESSION, "session-2")
    ends.agent.receive(json.dumps(ready), ends.agent_now)
    assert closed(ends.agent) == Closed("auth", facts={"why": "auth.signature"})


@pytest.mark.requirement("R17")
@pytest.mark.parametrize("skew_s", [3600, -61])
def test_clocks_too_far_apart_are_told_with_the_seconds(skew_s: int) -> None:
    ends = Ends(agent_skew_s=skew_s)
    ends.knock()
    assert closed(ends.agent) == Closed("clock-skew", facts={"seconds": -skew_s})
    assert closed(ends.gateway) == Closed("clock-skew", by_peer=True)


@pytest.mark.requirement("R17")
def test_a_gateway_tells_a_proven_agent_that_its_clock_is_off() -> None:
    ends = Ends()
    ends.to_agent()
    ends.clock.jump_wall(-90)
    ends.to_gateway()
    ends.gateway.events()
    ends.admit()
    assert closed(ends.gateway) == Closed("clock-skew", facts={"seconds": 90})
    assert closed(ends.agent) == Closed("clock-skew", by_peer=True)


@pytest.mark.requirement("R13")
def test_a_first_frame_after_ten_seconds_is_not_looked_at() -> None:
    ends = Ends()
    ends.to_agent()
    ends.clock.advance(10)
    ends.to_gateway()
    assert closed(ends.gateway) == Closed("timeout")
    assert error_said(ends.gateway) == "timeout"


@pytest.mark.requirement("R13")
def test_silence_before_the_hello_ends_after_ten_seconds() -> None:
    ends = Ends()
    assert ends.gateway.next_deadline() == ends.clock.now().mono + 10
    ends.gateway.tick(ends.clock.advance(9.9))
    assert ends.gateway.state is LinkState.OPENING
    ends.gateway.tick(ends.clock.advance(0.1))
    assert closed(ends.gateway) == Closed("timeout")


def test_an_agent_does_not_wait_for_ever_for_its_gateway() -> None:
    ends = Ends()
    ends.clock.advance(9)
    ends.to_agent()
    ends.agent.tick(ends.clock.advance(9))
    assert ends.agent.state is LinkState.OPENING
    ends.agent.tick(ends.clock.advance(1))
    assert closed(ends.agent) == Closed("timeout")


def test_a_verdict_that_comes_too_late_does_nothing() -> None:
    ends = Ends()
    ends.knock()
    ends.gateway.tick(ends.clock.advance(10))
    assert closed(ends.gateway) == Closed("timeout")
    ends.gateway.admit(AGENT_KEY.public, last_seq=0, at=ends.clock.now())
    ends.gateway.refuse(ends.clock.now())
    assert ends.gateway.events() == []


def test_there_is_no_verdict_without_a_knock() -> None:
    ends = ready_ends()
    for link in (Ends().gateway, ends.gateway, ends.agent):
        with pytest.raises(LocalProtocolError):
            link.admit(AGENT_KEY.public, last_seq=0, at=ends.clock.now())
        with pytest.raises(LocalProtocolError):
            link.refuse(ends.clock.now())


@pytest.mark.requirement("R13")
def test_a_frame_before_the_handshake_is_at_most_8_kib() -> None:
    ends = Ends()
    hello = json.loads(_hello(ends))
    ends.gateway.receive(json.dumps(hello | {"sig": "A" * 9000}), ends.clock.now())
    assert closed(ends.gateway).facts["why"] == "json.too-large"


def _hello(ends: Ends) -> str:
    ends.to_agent()
    return ends.agent.data_to_send()[0]


def test_an_address_that_is_none_is_refused_at_once() -> None:
    with pytest.raises(InputError):
        Ends(url="gateway.example.com")
    with pytest.raises(InputError):
        Ends(gateway_url="")


# Envelopes


@pytest.mark.requirement("R16")
def test_envelopes_arrive_in_order_and_are_acknowledged_when_kept() -> None:
    ends = ready_ends()
    sent = [task(seq, ends.clock.now()) for seq in (1, 2)]
    for envelope in sent:
        ends.gateway.send(envelope.frame)
    ends.exchange()
    assert ends.agent.events() == [Received(envelope) for envelope in sent]
    assert ends.gateway.events() == []
    ends.agent.ack(1)
    ends.agent.ack(2)
    ends.exchange()
    assert ends.gateway.events() == [Acked(1), Acked(2)]


@pytest.mark.requirement("R16", "P3")
@each(
    "forged",
    [
        {"key": STRANGER_KEY},
        {"key": GATEWAY_KEY},
        {"session_id": "session-0"},
        {"iss": gateway_name(GATEWAY_KEY.public), "aud": agent_name(AGENT_ID)},
        {"aud": agent_name("another")},
    ],
)
def test_nobody_in_between_can_acknowledge_for_the_agent(forged: dict[str, Any]) -> None:
    ends = ready_ends()
    ends.gateway.send(task(1, ends.clock.now()).frame)
    ends.gateway.data_to_send()
    honest: dict[str, Any] = {
        "key": AGENT_KEY,
        "iss": agent_name(AGENT_ID),
        "aud": gateway_name(GATEWAY_KEY.public),
    }
    ends.gateway.receive(ack_text(seq=1, **honest | forged), ends.clock.now())
    assert ends.gateway.events() == [Closed("auth", facts={"why": "auth.signature"})]


@pytest.mark.requirement("R16", "P3")
def test_nobody_in_between_can_acknowledge_for_the_gateway() -> None:
    ends = ready_ends()
    ends.agent.send(result(1, ends.agent_now).frame)
    ends.exchange()
    ends.gateway.ack(1)
    (said,) = ends.gateway.data_to_send()
    another = json.loads(said) | {"seq": 2}
    ends.agent.receive(json.dumps(another), ends.agent_now)
    assert ends.agent.events() == [Closed("auth", facts={"why": "auth.signature"})]


def test_one_acknowledgement_speaks_for_all_before_it() -> None:
    ends = ready_ends()
    for seq in (1, 2, 3):
        ends.gateway.send(task(seq, ends.clock.now()).frame)
    ends.exchange()
    ends.agent.ack(3)
    ends.agent.ack(2)
    ends.exchange()
    assert ends.gateway.events() == [Acked(3)]


def test_results_go_the_other_way() -> None:
    ends = ready_ends()
    envelope = result(1, ends.agent_now)
    ends.agent.send(envelope.frame)
    ends.exchange()
    assert only(ends.gateway.events(), Received).envelope == envelope


def test_what_was_given_before_the_connection_is_not_taken_again() -> None:
    ends = ready_ends(last_seq=5)
    ends.gateway.send(task(5, ends.clock.now()).frame)
    ends.gateway.send(task(6, ends.clock.now()).frame)
    ends.exchange()
    events = ends.agent.events()
    assert events[0] == Duplicate(5)
    assert isinstance(events[1], Received)


@pytest.mark.requirement("P3", "R17")
def test_a_duplicate_is_acknowledged_again_only_when_it_is_kept() -> None:
    ends = ready_ends()
    frame = task(1, ends.clock.now()).frame
    ends.gateway.send(frame)
    ends.gateway.send(frame)
    ends.to_agent()
    assert [type(event) for event in ends.agent.events()] == [Received, Duplicate]
    assert ends.agent.data_to_send() == []
    ends.agent.ack(1)
    ends.agent.data_to_send()  # this acknowledgement is lost
    ends.gateway.send(frame)
    ends.exchange()
    assert ends.agent.events() == [Duplicate(1)]
    assert ends.gateway.events() == [Acked(1)]


@pytest.mark.requirement("R17")
def test_a_gap_ends_the_link_with_what_was_expected() -> None:
    ends = ready_ends()
    ends.gateway.send(task(2, ends.clock.now()).frame)
    ends.exchange()
    assert closed(ends.agent) == Closed("sequence-gap", facts={"expected": 1, "seq": 2})
    assert closed(ends.gateway) == Closed("sequence-gap", by_peer=True)


def test_an_expired_task_is_delivered_as_expired() -> None:
    ends = ready_ends()
    late = task(1, ends.clock.now(), exp=ends.clock.now().wall_s + 1)
    ends.gateway.send(late.frame)
    ends.clock.jump_wall(3600)
    ends.exchange()
    assert only(ends.agent.events(), Received).envelope.expired


@pytest.mark.requirement("P4", "R16")
@pytest.mark.parametrize("key", [STRANGER_KEY, AGENT_KEY])
def test_an_envelope_that_the_gateway_did_not_sign_ends_the_link(key: Any) -> None:
    ends = ready_ends()
    ends.gateway.send(task(1, ends.clock.now(), key=key).frame)
    ends.to_agent()
    assert closed(ends.agent) == Closed("auth", facts={"why": "auth.signature"})
    assert error_said(ends.agent) == "auth"


@pytest.mark.requirement("R18")
def test_an_envelope_in_another_agents_name_ends_the_link() -> None:
    ends = ready_ends()
    ends.agent.send(result(1, ends.agent_now, iss="agent:another").frame)
    ends.to_gateway()
    assert closed(ends.gateway) == Closed("auth", facts={"why": "auth.envelope"})


@pytest.mark.requirement("P4")
def test_kinds_do_not_travel_the_wrong_way() -> None:
    ends = ready_ends()
    ends.agent.send(task(1, ends.clock.now()).frame)
    ends.to_gateway()
    assert closed(ends.gateway) == Closed("protocol", facts={"why": "frame.unexpected"})
    ends = ready_ends()
    ends.gateway.send(result(1, ends.agent_now).frame)
    ends.to_agent()
    assert closed(ends.agent).code == "protocol"


def test_nothing_of_the_handshake_is_taken_afterwards() -> None:
    ends = ready_ends()
    ends.agent.receive(frames.encode_frame(frames.Challenge("{}")), ends.agent_now)
    assert closed(ends.agent) == Closed("protocol", facts={"why": "frame.unexpected"})
    assert error_said(ends.agent) == "protocol"


@pytest.mark.requirement("R13")
def test_a_frame_after_the_handshake_is_at_most_256_kib() -> None:
    ends = ready_ends()
    ends.agent.receive('{"t":"ping","n":1}' + " " * (256 * 1024), ends.agent_now)
    assert closed(ends.agent).facts["why"] == "json.too-large"


def test_nobody_can_acknowledge_what_was_not_received() -> None:
    ends = ready_ends()
    with pytest.raises(LocalProtocolError):
        ends.agent.ack(1)


# Heartbeat


def test_a_quiet_peer_is_pinged_after_20_seconds_and_dead_after_40() -> None:
    ends = ready_ends()
    start = ends.clock.now().mono
    assert ends.gateway.next_deadline() == start + 20
    ends.gateway.tick(ends.clock.advance(19.9))
    assert ends.gateway.data_to_send() == []
    ends.gateway.tick(ends.clock.advance(0.1))
    assert frames.decode_frame(ends.gateway.data_to_send()[0]) == frames.Ping(0)
    assert ends.gateway.next_deadline() == start + 40
    ends.gateway.tick(ends.clock.advance(19.9))
    assert ends.gateway.state is LinkState.READY
    ends.gateway.tick(ends.clock.advance(0.1))
    assert closed(ends.gateway) == Closed("dead")
    assert ends.gateway.next_deadline() is None


def test_a_pong_is_a_sign_of_life() -> None:
    ends = ready_ends()
    for _ in range(5):
        ends.clock.advance(20)
        ends.gateway.tick(ends.clock.now())
        ends.agent.tick(ends.clock.now())
        ends.exchange()
    assert ends.gateway.state is ends.agent.state is LinkState.READY
    assert ends.gateway.events() == ends.agent.events() == []


def test_whoever_was_heard_is_not_pinged() -> None:
    ends = ready_ends()
    ends.clock.advance(15)
    ends.gateway.send(task(1, ends.clock.now()).frame)
    ends.to_agent()
    ends.agent.tick(ends.clock.advance(15))
    assert ends.agent.data_to_send() == []
    assert ends.agent.next_deadline() == ends.clock.now().mono + 5


def test_a_wall_clock_that_jumps_does_not_end_a_link() -> None:
    ends = ready_ends()
    ends.gateway.tick(ends.clock.jump_wall(86_400))
    assert ends.gateway.state is LinkState.READY
    assert ends.gateway.data_to_send() == []


# Closing


def test_the_side_that_is_closed_is_told_why() -> None:
    ends = ready_ends()
    ends.gateway.close("taken-over")
    assert closed(ends.gateway) == Closed("taken-over")
    ends.to_agent()
    assert closed(ends.agent) == Closed("taken-over", by_peer=True)
    assert ends.agent.data_to_send() == []


def test_a_closed_link_takes_and_does_nothing_more() -> None:
    ends = ready_ends()
    ends.gateway.close("shutdown")
    ends.gateway.events()
    ends.gateway.data_to_send()
    ends.gateway.receive(result(1, ends.agent_now).frame, ends.clock.now())
    ends.gateway.send(task(1, ends.clock.now()).frame)
    ends.gateway.ack(0)
    ends.gateway.tick(ends.clock.advance(100))
    ends.gateway.close("again")
    assert ends.gateway.events() == []
    assert ends.gateway.data_to_send() == []


def test_a_link_does_not_keep_what_was_said_at_the_handshake() -> None:
    # Ten thousand idle agents: what is not needed any more is let go.
    ends = ready_ends()
    assert ends.gateway._handshake is None
    assert not hasattr(ends.gateway, "__dict__")


def test_two_gateway_connections_are_challenged_differently() -> None:
    clock = ManualClock()
    said = {
        Link.for_gateway(
            GATEWAY_KEY, "https://x.test", nonce=nonce, session_id="s", at=clock.now()
        ).data_to_send()[0]
        for nonce in (b"1" * 32, b"2" * 32)
    }
    assert len(said) == 2


# Rotated keys


@pytest.mark.parametrize("pinned", [NEXT_KEY, GATEWAY_KEY], ids=["current", "older"])
def test_a_link_rests_on_the_gateway_key_that_the_agent_pins(pinned: SigningKey) -> None:
    ends = Ends(gateway_keys=(NEXT_KEY, GATEWAY_KEY), gateway_key=pinned.public)
    ends.knock()
    ends.gateway.events()
    ends.admit()
    for link in (ends.gateway, ends.agent):
        assert only(link.events(), Ready).gateway_key_id == pinned.public.key_id
    name = gateway_name(pinned.public)
    ends.gateway.send(task(1, ends.clock.now(), key=pinned, iss=name).frame)
    ends.agent.send(result(1, ends.clock.now(), aud=name).frame)
    ends.exchange()
    assert only(ends.agent.events(), Received).envelope.header.kid == pinned.public.key_id
    assert only(ends.gateway.events(), Received).envelope.header.aud == name


@pytest.mark.requirement("R16")
def test_an_envelope_by_another_key_of_the_same_gateway_is_refused() -> None:
    ends = ready_ends(gateway_keys=(NEXT_KEY, GATEWAY_KEY))
    frame = task(1, ends.clock.now(), key=NEXT_KEY, iss=gateway_name(NEXT_KEY.public)).frame
    ends.agent.receive(frame, ends.agent_now)
    assert closed(ends.agent).code == "auth"


@pytest.mark.requirement("R16")
def test_a_report_for_another_key_of_the_same_gateway_is_refused() -> None:
    ends = ready_ends(gateway_keys=(NEXT_KEY, GATEWAY_KEY))
    frame = result(1, ends.clock.now(), aud=gateway_name(NEXT_KEY.public)).frame
    ends.gateway.receive(frame, ends.clock.now())
    assert closed(ends.gateway).code == "auth"


def test_what_follows_the_next_key_waits_for_the_next_connection() -> None:
    ends = ready_ends(gateway_keys=(NEXT_KEY, GATEWAY_KEY))
    now = ends.clock.now()
    after = task(2, now, key=NEXT_KEY, iss=gateway_name(NEXT_KEY.public))
    for envelope in (rekey(1, now), after, task(2, now)):
        ends.agent.receive(envelope.frame, ends.agent_now)
    assert only(ends.agent.events(), Received).envelope.header.typ == "rekey"
    assert ends.agent.expected_seq == 2
    ends.agent.ack(1)
    ends.agent.close("rekeyed")
    ends.to_gateway()
    acked, end = ends.gateway.events()
    assert acked == Acked(1)
    assert end == Closed("rekeyed", by_peer=True)

    later = Ends(gateway_keys=(NEXT_KEY, GATEWAY_KEY), gateway_key=NEXT_KEY.public, last_seq=1)
    later.knock()
    later.admit()
    later.agent.events()
    later.agent.receive(after.frame, later.agent_now)
    assert only(later.agent.events(), Received).envelope == after


@pytest.mark.requirement("R13")
def test_a_peer_that_sends_too_much_is_sent_away_before_it_is_read() -> None:
    ends = ready_ends()
    ping = frames.encode_frame(frames.Ping(1))
    for _ in range(FRAMES + 1):
        ends.gateway.receive(ping, ends.clock.now())
    ended = closed(ends.gateway)
    assert (ended.code, ended.by_peer) == ("too-fast", False)
    assert ends.gateway.close_code == websocket_code("too-fast")
    ends.exchange()
    assert closed(ends.agent).code == "too-fast"


@pytest.mark.requirement("R13")
def test_what_a_frame_weighs_counts_as_well() -> None:
    ends = ready_ends()
    heavy = " " * frames.FRAME_BYTES
    assert ends.agent.meter.spend(
        frames=1, size=BYTES - frames.FRAME_BYTES, mono=ends.clock.now().mono
    )
    ends.agent.receive(heavy, ends.clock.now())
    assert closed(ends.agent).code == "too-fast"


@pytest.mark.requirement("R13")
def test_whoever_keeps_the_steady_rate_is_never_sent_away() -> None:
    ends = ready_ends()
    ping = frames.encode_frame(frames.Ping(1))
    for _ in range(100):
        ends.clock.advance(1)
        for _ in range(FRAMES_PER_SECOND):
            ends.gateway.receive(ping, ends.clock.now())
    assert ends.gateway.state is LinkState.READY


@pytest.mark.requirement("R13")
def test_on_the_websocket_too_every_failed_handshake_looks_the_same() -> None:
    numbers = set()
    for spoil in ('{"t":"ping","n":1}', "not json", " " * 9000, '{"t":"hello","body":"{}"}'):
        ends = Ends()
        ends.gateway.receive(spoil, ends.clock.now())
        assert ends.gateway.state is LinkState.CLOSED
        numbers.add(ends.gateway.close_code)
    ends = Ends()
    ends.knock()
    ends.admit(STRANGER_KEY.public)
    assert numbers | {ends.gateway.close_code} == {websocket_code("auth")}
