"""Every frame of the link and every envelope in it, byte for byte, and the two letters of pairing.

Keys and nonces are fixed, and Ed25519 signs the same bytes alike, so each frame is always the same.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from common.protocol import envelope, frames, pairing
from common.protocol.envelope import rekey_body
from common.signing import SigningKey
from common.strict_json import canonical
from tests.golden import golden
from tests.unit.common.protocol.wire import (
    AGENT_ID,
    AGENT_KEY,
    GATEWAY_KEY,
    NEXT_KEY,
    URL,
    Ends,
    event_body,
    result_body,
    task_body,
)

GATEWAY, AGENT = envelope.gateway_name(GATEWAY_KEY.public), envelope.agent_name(AGENT_ID)
_HEAD = {"seq": 12, "hash": "1" * 64, "peer_seq": 0, "peer_hash": "0" * 64, "at": 1_760_000_000_000}
_ENDS = (
    ("COMPLETED", "completed"),
    ("FAILED", "failed"),
    ("FAILED", "drifted"),
    ("FAILED", "unknown"),
    ("REJECTED", "rejected"),
    ("REJECTED", "expired"),
    ("REJECTED", "refused"),
    ("REJECTED", "cancelled"),
)


def _key_of(party: str) -> tuple[SigningKey, str, str]:
    if party == "gateway":
        return GATEWAY_KEY, GATEWAY, AGENT
    return AGENT_KEY, AGENT, GATEWAY


def _envelope(party: str, typ: Any, seq: int, body: dict[str, Any]) -> envelope.Envelope:
    key, iss, aud = _key_of(party)
    now = Ends().clock.now().wall_s
    facts: dict[str, Any] = {"iss": iss, "aud": aud, "iat": now, "exp": now + 300}
    return envelope.seal_envelope(key, typ=typ, jti=f"{typ}-{seq}", seq=seq, body=body, **facts)


def _rekey(party: str) -> dict[str, Any]:
    key, iss, aud = _key_of(party)
    return rekey_body(NEXT_KEY, iss=iss, aud=aud, old_key_id=key.public.key_id)


def _envelopes(party: str) -> list[envelope.Envelope]:
    own: list[tuple[str, dict[str, Any]]]
    if party == "gateway":
        cancel = {"task_id": "task-1", "claimed_user": "zhang.san"}
        own = [("task", task_body()), ("task", task_body(text="\u0000\u202e", lang="en"))]
        own += [("cancel", cancel), ("tombstone", {"task_id": "task-1"})]
    else:
        running = event_body(state="EXECUTING", message="已批准", waiting=None)
        own = [("event", event_body()), ("event", running)]
        own += [("result", result_body(state=state, reason=reason)) for state, reason in _ENDS]
    own += [("head", _HEAD), ("rekey", _rekey(party))]
    return [_envelope(party, typ, seq, body) for seq, (typ, body) in enumerate(own, start=1)]


def _conversation() -> list[str]:
    """Return all that two ends say: handshake, every envelope, acks, pings, and a goodbye."""
    ends = Ends()
    said: list[str] = []

    def carry(*, rounds: int = 1) -> None:
        for _ in range(rounds):
            said.extend(f"gateway {text}" for text in ends.to_agent())
            said.extend(f"agent {text}" for text in ends.to_gateway())

    carry()
    ends.gateway.admit(AGENT_KEY.public, last_seq=0, at=ends.clock.now())
    carry()
    for party, link in (("gateway", ends.gateway), ("agent", ends.agent)):
        for one in _envelopes(party)[:-1]:
            link.send(one.frame)
    carry()
    ends.agent.ack(4)
    ends.gateway.ack(10)
    carry()
    now = ends.clock.advance(20)
    ends.agent.tick(now)
    carry(rounds=2)
    now = ends.clock.advance(20)
    ends.gateway.tick(now)
    carry(rounds=2)
    for party, link in (("gateway", ends.gateway), ("agent", ends.agent)):
        link.send(_envelopes(party)[-1].frame)
    carry()
    ends.gateway.close("shutdown")
    carry()
    other = Ends()
    other.agent.close("version")
    return [*said, *(f"agent {text}" for text in other.agent.data_to_send())]


@pytest.mark.requirement("R2")
def test_two_ends_say_the_golden_frames_and_each_decodes_to_what_it_was_encoded_from() -> None:
    golden.check("link/conversation.txt", "\n".join(_conversation()) + "\n")
    kinds = set()
    for line in golden.stored("link/conversation.txt").decode("ascii").splitlines():
        party, _, text = line.partition(" ")
        frame = frames.decode_frame(text)
        assert frames.encode_frame(frame) == text
        kinds.add(f"{party} {json.loads(text)['t']}")
    both = {"ack", "ping", "pong", "error", "head", "rekey"}
    gateway = {"challenge", "ready", "task", "cancel", "tombstone"} | both
    agent = {"hello", "event", "result"} | both
    assert kinds == {f"gateway {t}" for t in gateway} | {f"agent {t}" for t in agent}


@pytest.mark.requirement("R16")
@pytest.mark.parametrize("party", ["gateway", "agent"])
def test_each_golden_envelope_is_verified_and_holds_what_was_signed(party: str) -> None:
    lines = golden.stored("link/conversation.txt").decode("ascii").splitlines()
    key, iss, aud = _key_of(party)
    at = Ends().clock.now()
    sent = {one.frame: one for one in _envelopes(party)}
    golden_frames = [line.partition(" ")[2].encode() for line in lines if line.startswith(party)]
    found = [frame for frame in golden_frames if b'"header":' in frame]
    assert len(found) == len(sent)
    for frame in found:
        opened = envelope.open_envelope(frame, key=key.public, iss=iss, aud=aud, at=at)
        assert opened == sent[frame]
        assert opened.content.to_dict() == opened.body


@pytest.mark.requirement("R9")
def test_the_letters_of_pairing_and_the_check_words_are_the_golden_ones() -> None:
    code = pairing.new_code(randomness=lambda size: b"\x05" * size)
    secret = pairing.parse_code(code)
    request = pairing.agent_request(secret, key=AGENT_KEY, nonce=b"a" * 32, url=URL)
    key = pairing.check_request(secret, request, url=URL)
    answer = pairing.gateway_answer(
        secret, request, key=GATEWAY_KEY, nonce=b"g" * 32, agent_id=AGENT_ID, machine="dev-1"
    )
    kept = pairing.check_answer(secret, request, answer)
    words = " ".join(pairing.check_words(key, kept.gateway_key))
    letters = [canonical(letter).decode() for letter in (request, answer)]
    golden.check("link/pairing.txt", "\n".join([code, *letters, words]) + "\n")
