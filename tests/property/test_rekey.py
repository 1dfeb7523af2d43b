"""Whatever somebody in between does to the names of keys, nobody is let in by another key (R12)."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common import strict_json
from common.clock import ManualClock
from common.errors import AuthError, RemoteProtocolError
from common.protocol.frames import Challenge, Hello, Ready
from common.protocol.handshake import AgentHandshake, GatewayHandshake
from common.signing import SigningKey
from tests.unit.common.protocol.wire import AGENT_ID, AGENT_KEY, URL

NOW = ManualClock().now()
RING = tuple(SigningKey(bytes([10 + number]) * 32) for number in range(4))
IDS = [key.public.key_id for key in RING]
FORGED: st.SearchStrategy[object] = st.one_of(
    st.lists(st.sampled_from([*IDS, "0" * 16, "f" * 16]), max_size=5),
    st.permutations(IDS),
    st.sampled_from([*IDS, None, 0, {}]),
)


def ends(held: int, pinned: int) -> tuple[GatewayHandshake, AgentHandshake]:
    """Return a gateway with so many keys, and an agent that pins one of the four."""
    cloud = GatewayHandshake(
        RING[0], URL, nonce=b"g" * 32, session_id="session-1", at=NOW, older=RING[1:held]
    )
    machine = AgentHandshake(
        AGENT_KEY,
        agent_id=AGENT_ID,
        gateway_key=RING[pinned].public,
        url=URL,
        last_seq=0,
        nonce=b"a" * 32,
    )
    return cloud, machine


def let_in(cloud: GatewayHandshake, said: Callable[[], Hello]) -> Ready:
    """Let the gateway judge what an agent says."""
    cloud.knock(said(), NOW)
    return cloud.admit(AGENT_KEY.public, last_seq=0)


def changed(body: str, name: str, value: object) -> str:
    """Return a body with one field replaced, or taken out for None."""
    record = json.loads(body) | {name: value}
    kept = {field: inside for field, inside in record.items() if inside is not None}
    return strict_json.canonical(kept).decode()


@pytest.mark.requirement("R12")
@given(held=st.integers(1, 4), pinned=st.integers(0, 3))
def test_two_ends_meet_exactly_when_the_pinned_key_is_held(held: int, pinned: int) -> None:
    cloud, machine = ends(held, pinned)
    if pinned >= held:
        with pytest.raises(AuthError):
            machine.answer(Challenge(cloud.challenge), NOW)
        return
    cloud.knock(machine.answer(Challenge(cloud.challenge), NOW), NOW)
    assert machine.accept(cloud.admit(AGENT_KEY.public, last_seq=3)).last_seq == 3
    assert cloud.key is RING[pinned]


@pytest.mark.requirement("R12")
@given(held=st.integers(1, 4), pinned=st.integers(0, 3), offered=FORGED)
def test_a_changed_offer_lets_nobody_in(held: int, pinned: int, offered: object) -> None:
    cloud, machine = ends(held, pinned)
    forged = changed(cloud.challenge, "gw_key_ids", offered)
    if forged == cloud.challenge:
        return
    with pytest.raises((AuthError, RemoteProtocolError)):
        let_in(cloud, lambda: machine.answer(Challenge(forged), NOW))


@pytest.mark.requirement("R12")
@given(
    held=st.integers(1, 4),
    named=st.one_of(st.sampled_from([*IDS, "0" * 16, None]), st.integers(), st.text(max_size=20)),
)
def test_a_changed_name_lets_nobody_in(held: int, named: object) -> None:
    cloud, machine = ends(held, 0)
    hello = machine.answer(Challenge(cloud.challenge), NOW)
    forged = changed(hello.body, "gw_key_id", named)
    if forged == hello.body:
        return
    with pytest.raises((AuthError, RemoteProtocolError)):
        let_in(cloud, lambda: Hello(forged, hello.sig))


@pytest.mark.requirement("R12")
@given(held=st.integers(2, 4), pinned=st.integers(0, 3), signed_by=st.integers(0, 3))
def test_only_the_pinned_key_makes_a_ready(held: int, pinned: int, signed_by: int) -> None:
    pinned, signed_by = pinned % held, signed_by % held
    cloud, machine = ends(held, pinned)
    cloud.knock(machine.answer(Challenge(cloud.challenge), NOW), NOW)
    cloud.key = RING[signed_by]
    ready: Ready = cloud.admit(AGENT_KEY.public, last_seq=0)
    if signed_by == pinned:
        assert machine.accept(ready)
    else:
        with pytest.raises(AuthError):
            machine.accept(ready)
