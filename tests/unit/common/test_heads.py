"""Heads of the other half: what is kept, what contradicts, what is proof."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from common.audit import GENESIS, Head
from common.errors import AuthError, RemoteProtocolError
from common.heads import MAX_FRAME_BYTES, contradicts, kept_head, next_body, own_hash_at, prove
from common.protocol.bodies import HeadBody
from common.protocol.envelope import agent_name, gateway_name, seal_envelope
from common.signing import SigningKey

KEY = SigningKey(bytes([2]) * 32)
NOW = 1_760_000_000_000
OURS = bytes([9]) * 32


def said(**changes: Any) -> HeadBody:
    body = HeadBody(seq=7, hash="cd" * 32, peer_seq=3, peer_hash=OURS.hex(), at=NOW)
    return replace(body, **changes)


def an_envelope(body: HeadBody) -> Any:
    return seal_envelope(
        KEY,
        typ="head",
        iss=gateway_name(KEY.public),
        aud=agent_name("agent-1"),
        jti="j",
        seq=4,
        iat=NOW // 1000,
        exp=NOW // 1000 + 60,
        body=body.to_dict(),
    )


KEPT = kept_head("peer", an_envelope(said()), said(), at_ms=NOW)


def test_what_is_said_next_names_our_end_and_the_newest_of_theirs() -> None:
    assert next_body(Head(3, OURS), KEPT, NOW) == HeadBody(3, OURS.hex(), 7, "cd" * 32, NOW)
    assert next_body(Head(), None, NOW).peer_hash == GENESIS.hex()


@pytest.mark.requirement("P6")
@pytest.mark.parametrize(
    ("changes", "own_hash", "wrong"),
    [
        ({}, OURS, False),
        ({"seq": 8, "hash": "ee" * 32, "peer_seq": 4}, OURS, False),
        ({}, None, True),
        ({}, GENESIS, True),
        ({"seq": 6}, OURS, True),
        ({"hash": "ee" * 32}, OURS, True),
        ({"peer_seq": 2}, OURS, True),
    ],
)
def test_a_head_contradicts_when_either_log_went_back_or_another_way(
    changes: dict[str, Any], own_hash: bytes | None, wrong: bool
) -> None:
    assert contradicts(said(**changes), kept=KEPT, own_hash=own_hash) is wrong


def test_the_first_head_need_only_agree_with_our_log() -> None:
    first = said(peer_seq=0, peer_hash=GENESIS.hex())
    assert not contradicts(first, kept=None, own_hash=own_hash_at(0, None))
    assert contradicts(said(peer_seq=0), kept=None, own_hash=own_hash_at(0, None))
    assert own_hash_at(3, None) is None


def test_a_kept_frame_is_proof_whenever_it_is_read() -> None:
    assert prove(KEPT.frame, KEY.public.raw).content == said()
    with pytest.raises(AuthError):
        prove(KEPT.frame, SigningKey.generate().public.raw)
    with pytest.raises((AuthError, RemoteProtocolError)):
        prove(KEPT.frame + b" ", KEY.public.raw)
    with pytest.raises(AuthError):
        prove(b'{"n":1,"t":"ping"}', KEY.public.raw)


def test_a_frame_is_kept_in_its_one_form_and_within_bounds() -> None:
    envelope = an_envelope(said())
    loose = replace(envelope, frame=envelope.frame.replace(b'"t":"head"', b'"t": "head"'))
    assert loose.frame != envelope.frame
    assert kept_head("peer", loose, said(), at_ms=NOW) == KEPT
    padded = replace(envelope, frame=envelope.frame + b" " * MAX_FRAME_BYTES)
    assert kept_head("peer", padded, said(), at_ms=NOW) == KEPT, "as anybody in between can"
    header = json.loads(envelope.frame)["header"]
    signed = {"header": " " * MAX_FRAME_BYTES + header}
    large = json.dumps(json.loads(envelope.frame) | signed).encode()
    with pytest.raises(AuthError) as caught:
        kept_head("peer", replace(envelope, frame=large), said(), at_ms=NOW)
    assert caught.value.code == "head.too-large"
