from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from common import strict_json
from common.clock import Instant, ManualClock
from common.errors import AuthError, CodexBridgeError, LocalProtocolError, RemoteProtocolError
from common.protocol import envelope, frames
from common.protocol.codec import framed
from common.protocol.envelope import (
    Envelope,
    agent_name,
    announced_key,
    gateway_name,
    rekey_body,
    seal_envelope,
)
from common.records import encode_bytes
from common.signing import AGENT_AUTH, APPROVAL, ENVELOPE, REKEY, SigningKey
from tests.each import each
from tests.unit.common.protocol.wire import (
    AGENT_ID,
    AGENT_KEY,
    GATEWAY_KEY,
    NEXT_KEY,
    STRANGER_KEY,
    task,
    task_body,
)

NOW = ManualClock().now()
ISS = envelope.gateway_name(GATEWAY_KEY.public)
AUD = envelope.agent_name(AGENT_ID)


def later(seconds: int) -> Instant:
    """Return a moment after `NOW`."""
    return Instant(NOW.wall_ms + seconds * 1000, NOW.mono + seconds)


def opened(frame: bytes, **changed: Any) -> envelope.Envelope:
    """Open a frame as the agent would."""
    arguments: dict[str, Any] = {"key": GATEWAY_KEY.public, "iss": ISS, "aud": AUD, "at": NOW}
    return envelope.open_envelope(frame, **arguments | changed)


def refusal(frame: bytes, **changed: Any) -> CodexBridgeError:
    """Return the error with which a frame is refused."""
    with pytest.raises((AuthError, RemoteProtocolError)) as caught:
        opened(frame, **changed)
    return caught.value


def signed_by_hand(header: bytes, body: bytes, *, label: bytes = ENVELOPE) -> bytes:
    """Return a frame with a true signature over whatever is given."""
    sig = GATEWAY_KEY.sign(label, framed(header, body))
    record = {"t": "task", "header": header.decode(), "body": body.decode()}
    return json.dumps(record | {"sig": encode_bytes(sig)}).encode()


def header_record(**changed: Any) -> dict[str, Any]:
    """Return the header of a valid task."""
    record = json.loads(task(1, NOW).frame)
    header: dict[str, Any] = json.loads(record["header"])
    return header | changed


@pytest.mark.requirement("R16")
def test_what_was_sealed_opens_as_it_was() -> None:
    sealed = task(7, NOW)
    found = opened(sealed.frame)
    assert found == sealed
    assert found.body == task_body()
    assert found.content == envelope.TaskBody(**task_body())
    assert found.header.seq == 7
    assert found.header.kid == GATEWAY_KEY.public.key_id


@pytest.mark.requirement("R16")
def test_a_frame_in_another_spelling_of_json_is_the_same_envelope() -> None:
    sealed = task(1, NOW)
    respelled = json.dumps(json.loads(sealed.frame), indent=2).encode()
    found = opened(respelled)
    assert found.sha256 == sealed.sha256
    assert found.frame == respelled


@pytest.mark.requirement("R16")
@pytest.mark.parametrize("part", ["header", "body"])
def test_one_changed_byte_of_header_or_body_is_found(part: str) -> None:
    record = json.loads(task(1, NOW).frame)
    record[part] = record[part].replace("1", "2", 1)
    assert refusal(json.dumps(record).encode()).code == "auth.signature"


@pytest.mark.requirement("R16")
@pytest.mark.parametrize(("header", "body"), [("x", "{}"), ("{}", "[" * 100_000), ("x", "x")])
def test_nothing_is_parsed_before_the_signature_holds(header: str, body: str) -> None:
    record = {"t": "task", "header": header * 2, "body": body * 2, "sig": encode_bytes(b"0" * 64)}
    assert refusal(json.dumps(record).encode()).code == "auth.signature"


@pytest.mark.requirement("R16")
def test_a_byte_cannot_move_from_header_to_body() -> None:
    record = json.loads(task(1, NOW).frame)
    record["header"], record["body"] = record["header"] + record["body"][0], record["body"][1:]
    assert refusal(json.dumps(record).encode()).code == "auth.signature"


@pytest.mark.requirement("R12", "R16")
@pytest.mark.parametrize("label", [AGENT_AUTH, APPROVAL])
def test_a_signature_under_another_label_is_none(label: bytes) -> None:
    header = strict_json.canonical(header_record())
    body = strict_json.canonical(task_body())
    assert refusal(signed_by_hand(header, body, label=label)).code == "auth.signature"
    assert opened(signed_by_hand(header, body)).header.seq == 1


@pytest.mark.requirement("P4", "R16")
def test_another_key_cannot_sign_for_the_gateway() -> None:
    assert refusal(task(1, NOW, key=STRANGER_KEY).frame).code == "auth.signature"


@each(
    "changed",
    [
        {"kid": "0" * 16},
        {"iss": "gateway:" + "0" * 16},
        {"aud": "agent:someone-else"},
        {"typ": "cancel", "exp": NOW.wall_s + 60},
    ],
)
def test_a_true_signature_for_someone_or_something_else_is_refused(changed: dict[str, Any]) -> None:
    header = strict_json.canonical(header_record(**changed))
    body = strict_json.canonical(task_body())
    assert refusal(signed_by_hand(header, body)).code == "auth.envelope"


@pytest.mark.parametrize(
    ("header", "body"),
    [
        (strict_json.canonical({}), strict_json.canonical(task_body())),
        (strict_json.canonical(header_record(seq=0)), strict_json.canonical(task_body())),
        (strict_json.canonical(header_record(role="admin")), strict_json.canonical(task_body())),
        (strict_json.canonical(header_record()), b"[]"),
        (strict_json.canonical(header_record()), b'{"task_id":1}'),
        (b'{"typ":"task","typ":"task"}', strict_json.canonical(task_body())),
        (b"{" + b" " * 2000 + b"}", strict_json.canonical(task_body())),
    ],
)
def test_what_is_signed_must_still_be_well_formed(header: bytes, body: bytes) -> None:
    error = refusal(signed_by_hand(header, body))
    assert isinstance(error, RemoteProtocolError)
    assert error.code.partition(".")[0] in ("json", "record")


@each("life", [0, -1, envelope.MAX_LIFE_S["task"] + 1])
def test_nobody_can_sign_a_longer_life_than_its_kind_has(life: int) -> None:
    header = header_record(exp=NOW.wall_s + life)
    frame = signed_by_hand(strict_json.canonical(header), strict_json.canonical(task_body()))
    assert refusal(frame).facts == {"field": "exp"}
    with pytest.raises(LocalProtocolError):
        task(1, NOW, exp=NOW.wall_s + life)


def test_an_envelope_expires_after_its_time_and_the_allowed_skew() -> None:
    sealed = task(1, NOW, exp=NOW.wall_s + 100)
    assert not opened(sealed.frame, at=later(160)).expired
    assert refusal(sealed.frame, at=later(161)).code == "envelope.expired"


def test_an_expired_envelope_can_still_be_verified_for_the_record() -> None:
    frame = task(1, NOW, exp=NOW.wall_s + 100).frame
    sealed = frames.decode_frame(frame)
    assert isinstance(sealed, frames.Sealed)
    found = envelope.verify_envelope(
        sealed, frame, key=GATEWAY_KEY.public, iss=ISS, aud=AUD, at=later(1000)
    )
    assert found.expired


@pytest.mark.requirement("R17")
def test_an_envelope_from_the_future_means_that_the_clocks_differ() -> None:
    assert opened(task(1, later(60)).frame).header.seq == 1
    error = refusal(task(1, later(61)).frame)
    assert (error.code, error.facts) == ("clock-skew", {"seconds": 61})


def test_a_frame_that_is_no_envelope_is_refused() -> None:
    assert refusal(frames.encode_frame(frames.Ping(1)).encode()).code == "frame.unexpected"


@each(
    "changed",
    [
        {"seq": 0},
        {"seq": 2**53 + 1},
        {"jti": ""},
        {"aud": "everyone"},
        {"iss": "agent"},
        {"body": {}},
        {"body": task_body(text="\ud800")},
        {"body": task_body(task_id=1)},
    ],
)
def test_what_the_other_side_would_refuse_is_not_sealed(changed: dict[str, Any]) -> None:
    with pytest.raises(LocalProtocolError) as caught:
        task(changed.pop("seq", 1), NOW, **changed)
    assert caught.value.code == "envelope.invalid"


def test_an_envelope_does_not_show_its_frame_in_logs() -> None:
    assert "sig" not in repr(task(1, NOW))


# --- the next key ---

NAMES = {"iss": ISS, "aud": AUD}


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


def rekey_refusal(announcement: Envelope) -> str:
    """Return the code with which an announcement is refused."""
    with pytest.raises(AuthError) as caught:
        announced_key(announcement)
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
    assert rekey_refusal(rekey(**said)) == "auth.rekey"


def test_a_key_that_its_announcer_does_not_hold_is_refused() -> None:
    made = rekey().body
    stolen = made | {"public_key": encode_bytes(STRANGER_KEY.public.raw)}
    assert rekey_refusal(rekey(body=stolen)) == "auth.rekey"


@pytest.mark.requirement("R12")
def test_a_signature_under_another_label_proves_nothing() -> None:
    made = rekey().body
    said = b"\0\0\0\x08" + b"whatever"
    for label in (ENVELOPE, REKEY):
        proof = encode_bytes(NEXT_KEY.sign(label, said))
        assert rekey_refusal(rekey(body=made | {"proof": proof})) == "auth.rekey"


def test_a_key_does_not_follow_itself() -> None:
    assert rekey_refusal(rekey(new=GATEWAY_KEY)) == "auth.rekey"


def test_what_came_too_late_changes_no_key() -> None:
    assert rekey_refusal(replace(rekey(), expired=True)) == "auth.rekey"


def test_another_kind_of_envelope_announces_nothing() -> None:
    assert rekey_refusal(task(1, NOW)) == "auth.rekey"
    assert rekey_refusal(task(1, NOW, key=AGENT_KEY, iss=agent_name(AGENT_ID))) == "auth.rekey"
