"""Which version two sides speak: the newest of both, and nobody in between can lower it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import pytest

from common import strict_json
from common.clock import ManualClock
from common.errors import AuthError, CodexBridgeError, RemoteProtocolError
from common.protocol import handshake
from common.protocol.frames import Challenge, Hello
from common.protocol.handshake import AgentHandshake, GatewayHandshake, highest_common
from common.signing import AGENT_AUTH
from tests.each import each
from tests.unit.common.protocol.wire import AGENT_ID, AGENT_KEY, GATEWAY_KEY, URL

NOW = ManualClock().now()


@pytest.fixture
def one_to_three(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both sides speak the versions 1 to 3."""
    monkeypatch.setattr(handshake, "SUPPORTED", (1, 3))


def ends() -> tuple[GatewayHandshake, AgentHandshake]:
    """Return a gateway's and an agent's side of one connection."""
    cloud = GatewayHandshake(GATEWAY_KEY, URL, nonce=b"g" * 32, session_id="s", at=NOW)
    machine = AgentHandshake(
        AGENT_KEY,
        agent_id=AGENT_ID,
        gateway_key=GATEWAY_KEY.public,
        url=URL,
        last_seq=0,
        nonce=b"a" * 32,
    )
    return cloud, machine


def read(body: str) -> dict[str, Any]:
    """Return a body as a record."""
    return dict(strict_json.loads(body, max_bytes=8192))


def spoilt(body: str, changes: Mapping[str, Any]) -> str:
    """Return a body with some fields changed."""
    return strict_json.canonical({**read(body), **changes}).decode()


def refusal(cloud: GatewayHandshake, hello: Hello) -> CodexBridgeError:
    """Return the error with which a gateway refuses a hello."""
    cloud.knock(hello, NOW)
    with pytest.raises((AuthError, RemoteProtocolError)) as caught:
        cloud.admit(AGENT_KEY.public, last_seq=0)
    return caught.value


def signed_anew(cloud: GatewayHandshake, hello: Hello, changes: Mapping[str, Any]) -> Hello:
    """Return a hello that its agent itself wrote otherwise."""
    body = spoilt(hello.body, changes)
    said = hashlib.sha256(cloud.challenge.encode() + body.encode()).digest()
    return Hello(body, AGENT_KEY.sign(AGENT_AUTH, said))


@pytest.mark.requirement("R12")
@pytest.mark.usefixtures("one_to_three")
@pytest.mark.parametrize(
    ("theirs", "version"), [((1, 1), 1), ((1, 2), 2), ((2, 3), 3), ((3, 9), 3), ((1, 9), 3)]
)
def test_the_newest_version_of_both_is_spoken(theirs: tuple[int, int], version: int) -> None:
    assert highest_common({"v_min": theirs[0], "v_max": theirs[1]}) == version
    cloud, machine = ends()
    offered = spoilt(cloud.challenge, {"v_min": theirs[0], "v_max": theirs[1]})
    assert read(machine.answer(Challenge(offered), NOW).body)["v"] == version


@pytest.mark.requirement("R12")
@pytest.mark.parametrize(
    ("ours", "theirs", "facts"),
    [
        ((2, 3), (1, 1), {"ours": 2, "theirs": 1}),
        ((2, 3), (4, 9), {"ours": 3, "theirs": 4}),
        ((2, 3), (3, 2), {"ours": 2, "theirs": 2}),
    ],
)
def test_without_a_common_version_the_facts_tell_which_side_is_older(
    monkeypatch: pytest.MonkeyPatch,
    ours: tuple[int, int],
    theirs: tuple[int, int],
    facts: dict[str, int],
) -> None:
    monkeypatch.setattr(handshake, "SUPPORTED", ours)
    cloud, machine = ends()
    offered = Challenge(spoilt(cloud.challenge, {"v_min": theirs[0], "v_max": theirs[1]}))
    with pytest.raises(RemoteProtocolError) as caught:
        machine.answer(offered, NOW)
    assert (caught.value.code, caught.value.facts) == ("version", facts)


@pytest.mark.requirement("R12")
@pytest.mark.usefixtures("one_to_three")
@each("lowered", [{"v_max": 1}, {"v_max": 2}, {"v_min": 1, "v_max": 1}])
def test_a_range_lowered_on_the_way_to_the_agent_does_not_verify(lowered: dict[str, int]) -> None:
    cloud, machine = ends()
    hello = machine.answer(Challenge(spoilt(cloud.challenge, lowered)), NOW)
    assert read(hello.body)["v"] < 3
    assert refusal(cloud, hello).code == "auth.signature"


@pytest.mark.requirement("R12")
@pytest.mark.usefixtures("one_to_three")
@each("lowered", [{"v": 1}, {"v": 1, "v_max": 1}, {"v_max": 2}, {"v_min": 3}])
def test_a_choice_lowered_on_the_way_to_the_gateway_does_not_verify(
    lowered: dict[str, int],
) -> None:
    cloud, machine = ends()
    hello = machine.answer(Challenge(cloud.challenge), NOW)
    assert refusal(cloud, Hello(spoilt(hello.body, lowered), hello.sig)).code == "auth.signature"


@pytest.mark.requirement("R12")
@pytest.mark.usefixtures("one_to_three")
@each("chosen", [1, 2, 4, 255])
def test_an_agent_that_chooses_any_other_than_the_newest_is_refused(chosen: int) -> None:
    cloud, machine = ends()
    hello = signed_anew(cloud, machine.answer(Challenge(cloud.challenge), NOW), {"v": chosen})
    error = refusal(cloud, hello)
    assert (error.code, error.facts) == ("version", {"ours": 3, "theirs": chosen})


@pytest.mark.requirement("R12")
def test_a_newer_agent_is_spoken_to_in_the_gateways_newest_version() -> None:
    cloud, machine = ends()
    hello = signed_anew(cloud, machine.answer(Challenge(cloud.challenge), NOW), {"v_max": 3})
    cloud.knock(hello, NOW)
    assert cloud.admit(AGENT_KEY.public, last_seq=0)
