from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from common.clock import ManualClock
from common.errors import AuthError
from common.protocol.codec import encode_bytes
from common.protocol.envelope import Envelope, agent_name, gateway_name, seal_envelope
from common.protocol.rekey import announced_key, rekey_body
from common.signing import ENVELOPE, REKEY, SigningKey
from tests.each import each
from tests.unit.common.protocol.wire import (
    AGENT_ID,
    AGENT_KEY,
    GATEWAY_KEY,
    NEXT_KEY,
    STRANGER_KEY,
    task,
)

NOW = ManualClock().now()
NAMES = {"iss": gateway_name(GATEWAY_KEY.public), "aud": agent_name(AGENT_ID)}


def rekey(*, new: SigningKey = NEXT_KEY, **said: Any) -> Envelope:
    """Return an envelope that announces a key; ``said`` changes what the proof is over."""
    over = {**NAMES, "old_key_id": GATEWAY_KEY.public.key_id} | said
    return seal_envelope(
        GATEWAY_KEY,
        typ="rekey",
        **NAMES,
        jti="rekey-1",
        seq=1,
        iat=NOW.wall_s,
        exp=NOW.wall_s + 60,
        body=said.get("body") or rekey_body(new, **over),
    )


def refusal(envelope: Envelope) -> str:
    """Return the code with which an announcement is refused."""
    with pytest.raises(AuthError) as caught:
        announced_key(envelope)
    return caught.value.code


def test_a_key_is_announced_by_the_one_before_it() -> None:
    assert announced_key(rekey()) == NEXT_KEY.public


@each(
    "said",
    [
        {"iss": gateway_name(STRANGER_KEY.public)},
        {"aud": agent_name("another")},
        {"old_key_id": STRANGER_KEY.public.key_id},
    ],
)
def test_a_proof_is_good_for_one_line_and_one_place_in_it(said: dict[str, Any]) -> None:
    assert refusal(rekey(**said)) == "auth.rekey"


def test_a_key_that_its_announcer_does_not_hold_is_refused() -> None:
    made = rekey().body
    stolen = made | {"public_key": encode_bytes(STRANGER_KEY.public.raw)}
    assert refusal(rekey(body=stolen)) == "auth.rekey"


@pytest.mark.requirement("R12")
def test_a_signature_under_another_label_proves_nothing() -> None:
    made = rekey().body
    said = b"\0\0\0\x08" + b"whatever"
    for label in (ENVELOPE, REKEY):
        proof = encode_bytes(NEXT_KEY.sign(label, said))
        assert refusal(rekey(body=made | {"proof": proof})) == "auth.rekey"


def test_a_key_does_not_follow_itself() -> None:
    assert refusal(rekey(new=GATEWAY_KEY)) == "auth.rekey"


def test_what_came_too_late_changes_no_key() -> None:
    assert refusal(replace(rekey(), expired=True)) == "auth.rekey"


def test_another_kind_of_envelope_announces_nothing() -> None:
    assert refusal(task(1, NOW)) == "auth.rekey"
    assert refusal(task(1, NOW, key=AGENT_KEY, iss=agent_name(AGENT_ID))) == "auth.rekey"
