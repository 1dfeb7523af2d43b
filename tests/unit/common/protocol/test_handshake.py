from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from common import strict_json
from common.clock import Instant, ManualClock
from common.errors import AuthError, CodexBridgeError, LocalProtocolError, RemoteProtocolError
from common.protocol.frames import Challenge, Hello, Ready
from common.protocol.handshake import Admission, AgentHandshake, GatewayHandshake, Knock
from common.signing import AGENT_AUTH, GATEWAY_AUTH, SigningKey, VerifyKey
from tests.each import each
from tests.unit.common.protocol.wire import (
    AGENT_ID,
    AGENT_KEY,
    GATEWAY_KEY,
    NEXT_KEY,
    STRANGER_KEY,
    URL,
)

NOW = ManualClock().now()


def gateway(**changed: Any) -> GatewayHandshake:
    """Return a gateway's side."""
    arguments: dict[str, Any] = {"nonce": b"g" * 32, "session_id": "session-1", "at": NOW}
    return GatewayHandshake(GATEWAY_KEY, changed.pop("url", URL), **arguments | changed)


def agent(**changed: Any) -> AgentHandshake:
    """Return an agent's side."""
    arguments: dict[str, Any] = {
        "agent_id": AGENT_ID,
        "gateway_key": GATEWAY_KEY.public,
        "url": URL,
        "last_seq": 5,
        "nonce": b"a" * 32,
    }
    return AgentHandshake(changed.pop("key", AGENT_KEY), **arguments | changed)


def later(seconds: int) -> Instant:
    """Return a moment after `NOW`."""
    return Instant(NOW.wall_ms + seconds * 1000, NOW.mono + seconds)


def spoilt(body: str, **changed: Any) -> str:
    """Return a body with some fields changed; None takes a field out."""
    record = json.loads(body) | changed
    kept = {name: value for name, value in record.items() if value is not None}
    return strict_json.canonical(kept).decode()


def admit_refusal(
    hello: Hello, side: GatewayHandshake, key: VerifyKey = AGENT_KEY.public
) -> CodexBridgeError:
    """Return the error with which the gateway refuses a hello."""
    try:
        side.knock(hello, NOW)
        side.admit(key, last_seq=0)
    except (AuthError, RemoteProtocolError) as error:
        return error
    pytest.fail("admitted")


@pytest.mark.requirement("R12")
def test_both_sides_learn_who_the_other_is_and_where_to_go_on() -> None:
    cloud, machine = gateway(), agent()
    hello = machine.answer(Challenge(cloud.challenge), NOW)
    assert cloud.knock(hello, NOW) == cloud.knocked == Knock(AGENT_ID, 5)
    ready = cloud.admit(AGENT_KEY.public, last_seq=9)
    assert machine.accept(ready) == Admission("session-1", 9)


@pytest.mark.requirement("R12")
@each(
    "changed",
    [
        {"agent_id": "another"},
        {"v": 2},
        {"nonce_a": "A" * 43 + "="},
        {"url": "https://elsewhere.example.com"},
        {"ts": NOW.wall_s + 1},
        {"last_seq": 6},
    ],
)
def test_no_field_of_a_hello_can_be_changed_on_the_way(changed: dict[str, Any]) -> None:
    cloud = gateway()
    hello = agent().answer(Challenge(cloud.challenge), NOW)
    assert admit_refusal(Hello(spoilt(hello.body, **changed), hello.sig), cloud).code == (
        "auth.signature"
    )


@pytest.mark.requirement("R12")
@each("changed", [{"v_max": 9}, {"nonce_g": "A" * 43 + "="}, {"ts": NOW.wall_s + 1}])
def test_no_field_of_a_challenge_can_be_changed_on_the_way(changed: dict[str, Any]) -> None:
    cloud = gateway()
    hello = agent().answer(Challenge(spoilt(cloud.challenge, **changed)), NOW)
    assert admit_refusal(hello, cloud).code == "auth.signature"


@pytest.mark.requirement("R12")
@pytest.mark.parametrize("changed", [{"session_id": "another"}, {"last_seq": 10}], ids=str)
def test_no_field_of_a_ready_can_be_changed_on_the_way(changed: dict[str, Any]) -> None:
    cloud, machine = gateway(), agent()
    cloud.knock(machine.answer(Challenge(cloud.challenge), NOW), NOW)
    ready = cloud.admit(AGENT_KEY.public, last_seq=9)
    with pytest.raises(AuthError) as caught:
        machine.accept(Ready(spoilt(ready.body, **changed), ready.sig))
    assert caught.value.code == "auth.signature"


@pytest.mark.requirement("R12")
@each("name", ["v", "gw_key_id", "nonce_a", "url", "ts", "last_seq", "agent_id"])
def test_a_hello_with_a_field_stripped_is_malformed(name: str) -> None:
    cloud = gateway()
    hello = agent().answer(Challenge(cloud.challenge), NOW)
    error = admit_refusal(Hello(spoilt(hello.body, **{name: None}), hello.sig), cloud)
    assert error.code == "record.fields"


@pytest.mark.requirement("R12")
@each("name", ["v_min", "v_max", "nonce_g", "gw_key_ids", "ts"])
def test_a_challenge_with_a_field_stripped_is_malformed(name: str) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        agent().answer(Challenge(spoilt(gateway().challenge, **{name: None})), NOW)
    assert caught.value.code == "record.fields"


@pytest.mark.requirement("R12")
@pytest.mark.parametrize(("v_min", "v_max"), [(2, 2), (2, 9)])
def test_an_agent_does_not_speak_a_version_it_does_not_know(v_min: int, v_max: int) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        agent().answer(Challenge(spoilt(gateway().challenge, v_min=v_min, v_max=v_max)), NOW)
    assert caught.value.code == "version"


@pytest.mark.requirement("R12")
def test_a_gateway_refuses_another_version_from_a_proven_agent() -> None:
    cloud = gateway()
    body = spoilt(agent().answer(Challenge(cloud.challenge), NOW).body, v=2)
    said = hashlib.sha256(cloud.challenge.encode() + body.encode()).digest()
    hello = Hello(body, AGENT_KEY.sign(AGENT_AUTH, said))
    assert admit_refusal(hello, cloud).code == "version"


@pytest.mark.requirement("R12")
def test_a_hello_for_another_challenge_is_refused() -> None:
    hello = agent().answer(Challenge(gateway(nonce=b"x" * 32).challenge), NOW)
    assert admit_refusal(hello, gateway()).code == "auth.signature"


@pytest.mark.requirement("R12")
def test_a_ready_for_another_hello_is_refused() -> None:
    cloud = gateway()
    cloud.knock(agent(nonce=b"x" * 32).answer(Challenge(cloud.challenge), NOW), NOW)
    ready = cloud.admit(AGENT_KEY.public, last_seq=9)
    machine = agent()
    machine.answer(Challenge(cloud.challenge), NOW)
    with pytest.raises(AuthError):
        machine.accept(ready)


@pytest.mark.requirement("R12")
def test_a_signature_of_one_side_is_none_of_the_other() -> None:
    # Both labels differ, so an agent's own signature cannot be reflected to it as a ready.
    cloud, machine = gateway(), agent(gateway_key=AGENT_KEY.public)
    hello = machine.answer(
        Challenge(spoilt(cloud.challenge, gw_key_ids=[AGENT_KEY.public.key_id])), NOW
    )
    with pytest.raises(AuthError):
        machine.accept(Ready("{}", hello.sig))


@pytest.mark.requirement("R12")
def test_an_agent_that_dialled_another_address_is_refused() -> None:
    cloud = gateway()
    hello = agent(url="https://relay.example.net").answer(Challenge(cloud.challenge), NOW)
    assert admit_refusal(hello, cloud).code == "auth.wrong-url"


def test_one_address_in_two_spellings_is_one() -> None:
    cloud = gateway(url="https://Gateway.example.com:443/")
    hello = agent(url="wss://gateway.example.com/agent/v1/link").answer(
        Challenge(cloud.challenge), NOW
    )
    cloud.knock(hello, NOW)
    assert cloud.admit(AGENT_KEY.public, last_seq=0)


@pytest.mark.requirement("R12")
def test_an_agent_answers_only_the_gateway_it_is_paired_with() -> None:
    with pytest.raises(AuthError) as caught:
        agent(gateway_key=STRANGER_KEY.public).answer(Challenge(gateway().challenge), NOW)
    assert caught.value.code == "auth.wrong-gateway"


@pytest.mark.requirement("R12")
def test_naming_the_pinned_key_is_not_having_it() -> None:
    cloud, machine = gateway(), agent(gateway_key=STRANGER_KEY.public)
    lie = spoilt(cloud.challenge, gw_key_ids=[STRANGER_KEY.public.key_id])
    hello = machine.answer(Challenge(lie), NOW)
    body = '{"last_seq":0,"session_id":"session-1"}'
    said = lie.encode() + hello.body.encode() + hello.sig + body.encode()
    proof = GATEWAY_KEY.sign(GATEWAY_AUTH, hashlib.sha256(said).digest())
    with pytest.raises(AuthError) as caught:
        machine.accept(Ready(body, proof))
    assert caught.value.code == "auth.signature"


def refusal_of(machine: AgentHandshake, challenge: Challenge, cloud: GatewayHandshake) -> str:
    """Return the code with which either side refuses what follows a challenge."""
    try:
        hello = machine.answer(challenge, NOW)
    except (AuthError, RemoteProtocolError) as error:
        return error.code
    return admit_refusal(hello, cloud).code


def rotated(**changed: Any) -> GatewayHandshake:
    """Return the side of a gateway that has rotated its key once."""
    arguments: dict[str, Any] = {"nonce": b"g" * 32, "session_id": "session-1", "at": NOW}
    return GatewayHandshake(NEXT_KEY, URL, **{"older": (GATEWAY_KEY,)} | arguments | changed)


@pytest.mark.requirement("R12")
@pytest.mark.parametrize("pinned", [NEXT_KEY, GATEWAY_KEY], ids=["current", "older"])
def test_a_rotated_gateway_answers_with_the_key_that_the_agent_pins(pinned: SigningKey) -> None:
    cloud, machine = rotated(), agent(gateway_key=pinned.public)
    cloud.knock(machine.answer(Challenge(cloud.challenge), NOW), NOW)
    assert cloud.key is pinned
    assert machine.accept(cloud.admit(AGENT_KEY.public, last_seq=9)).last_seq == 9


@pytest.mark.requirement("R12")
def test_a_gateway_refuses_a_key_that_it_did_not_offer() -> None:
    cloud, machine = rotated(older=()), agent()
    hello = machine.answer(Challenge(rotated().challenge), NOW)
    assert admit_refusal(hello, cloud).code == "auth.wrong-gateway"


@pytest.mark.requirement("R12")
def test_an_agent_takes_no_ready_by_another_key_of_the_same_gateway() -> None:
    cloud, machine = rotated(), agent()
    cloud.knock(machine.answer(Challenge(cloud.challenge), NOW), NOW)
    cloud.key = NEXT_KEY
    with pytest.raises(AuthError) as caught:
        machine.accept(cloud.admit(AGENT_KEY.public, last_seq=9))
    assert caught.value.code == "auth.signature"


@pytest.mark.requirement("R12")
@each(
    "offered",
    [
        [],
        ["0" * 16],
        [GATEWAY_KEY.public.key_id],
        [GATEWAY_KEY.public.key_id, NEXT_KEY.public.key_id],
        [NEXT_KEY.public.key_id, GATEWAY_KEY.public.key_id] * 2,
        [NEXT_KEY.public.key_id, GATEWAY_KEY.public.key_id, "0" * 16, "1" * 16, "2" * 16],
        [NEXT_KEY.public.key_id, GATEWAY_KEY.public.key_id, 7],
        GATEWAY_KEY.public.key_id,
    ],
)
def test_no_key_can_be_stripped_added_or_moved_in_a_challenge(offered: Any) -> None:
    cloud, machine = rotated(), agent()
    forged = Challenge(spoilt(cloud.challenge, gw_key_ids=offered))
    is_list = isinstance(offered, list) and all(isinstance(key_id, str) for key_id in offered)
    if not is_list or not 1 <= len(offered) <= 4 or len(set(offered)) < len(offered):
        expected = "record.field"
    elif GATEWAY_KEY.public.key_id not in offered:
        expected = "auth.wrong-gateway"
    else:
        expected = "auth.signature"
    assert refusal_of(machine, forged, cloud) == expected


@pytest.mark.requirement("R12")
def test_the_key_that_an_agent_named_cannot_be_changed_on_the_way() -> None:
    cloud, machine = rotated(), agent()
    hello = machine.answer(Challenge(cloud.challenge), NOW)
    other = Hello(spoilt(hello.body, gw_key_id=NEXT_KEY.public.key_id), hello.sig)
    assert admit_refusal(other, cloud).code == "auth.signature"


def test_a_gateway_offers_four_keys_at_most() -> None:
    older = [SigningKey(bytes([number]) * 32) for number in range(10, 14)]
    assert rotated(older=older[:3]).challenge
    with pytest.raises(LocalProtocolError) as caught:
        rotated(older=older)
    assert caught.value.code == "link.invalid"


def test_an_agent_with_another_key_is_refused() -> None:
    cloud = gateway()
    hello = agent(key=STRANGER_KEY).answer(Challenge(cloud.challenge), NOW)
    assert admit_refusal(hello, cloud).code == "auth.signature"


@pytest.mark.requirement("R17")
@pytest.mark.parametrize("ahead", [60, -60])
def test_clocks_may_differ_by_a_minute(ahead: int) -> None:
    cloud = gateway()
    cloud.knock(agent().answer(Challenge(cloud.challenge), later(ahead)), NOW)
    assert cloud.admit(AGENT_KEY.public, last_seq=0)


@pytest.mark.requirement("R17")
@pytest.mark.parametrize("ahead", [61, -3600])
def test_an_agent_sees_by_how_much_the_gateways_clock_differs(ahead: int) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        agent().answer(Challenge(gateway().challenge), later(ahead))
    assert (caught.value.code, caught.value.facts) == ("clock-skew", {"seconds": -ahead})


@pytest.mark.requirement("R17")
def test_a_gateway_sees_by_how_much_the_agents_clock_differs() -> None:
    cloud = gateway()
    hello = agent().answer(Challenge(cloud.challenge), NOW)
    cloud.knock(hello, later(61))
    with pytest.raises(RemoteProtocolError) as caught:
        cloud.admit(AGENT_KEY.public, last_seq=0)
    assert (caught.value.code, caught.value.facts) == ("clock-skew", {"seconds": -61})


@pytest.mark.requirement("R13")
def test_a_wrong_clock_is_not_told_to_whoever_cannot_sign() -> None:
    cloud = gateway()
    hello = agent(key=STRANGER_KEY).answer(Challenge(cloud.challenge), NOW)
    cloud.knock(hello, later(3600))
    with pytest.raises(AuthError) as caught:
        cloud.admit(AGENT_KEY.public, last_seq=0)
    assert caught.value.code == "auth.signature"


def test_steps_out_of_order_are_refused() -> None:
    with pytest.raises(LocalProtocolError):
        gateway().admit(AGENT_KEY.public, last_seq=0)
    machine = agent()
    with pytest.raises(RemoteProtocolError):
        machine.accept(Ready("{}", b"0" * 64))
    machine.answer(Challenge(gateway().challenge), NOW)
    with pytest.raises(RemoteProtocolError):
        machine.answer(Challenge(gateway().challenge), NOW)


def test_a_short_nonce_or_a_bad_name_is_our_own_fault() -> None:
    with pytest.raises(LocalProtocolError):
        gateway(nonce=b"short")
    with pytest.raises(LocalProtocolError):
        agent(agent_id="no spaces").answer(Challenge(gateway().challenge), NOW)
