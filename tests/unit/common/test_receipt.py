"""Receipts: what they prove with public keys alone, and that one changed byte proves nothing."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from hypothesis import given
from hypothesis import strategies as st

from common.audit import GENESIS, Head, entry_body, entry_hash, sign_head
from common.audit_check import record_of
from common.clock import ManualClock
from common.errors import AuthError
from common.heads import kept_head
from common.protocol.envelope import HeadBody, agent_name, gateway_name, seal_envelope
from common.receipt import (
    MAX_RECEIPT_BYTES,
    broken,
    sign_receipt,
    verify_receipt,
)
from common.sentences import RECEIPT_FAULTS
from common.signing import APPROVAL, RECEIPT, SigningKey
from common.strict_json import canonical
from tests.each import each
from tests.passkey_desk import assertion

pytestmark = pytest.mark.heavy

AGENT, GATEWAY, OLD = (SigningKey(bytes([number]) * 32) for number in (1, 2, 3))
NOW = ManualClock().now().wall_ms
DIGEST = "ab" * 32
CODE = "NENT-QAXB"  # the first 40 bits of the digest
HASH = entry_hash(GENESIS, entry_body("test", NOW, {}))


def text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def a_statement(**changes: Any) -> str:
    said = {
        "v": 1,
        "approval_id": "approval-1",
        "digest": DIGEST,
        "decision": "approve",
        "approver": "terminal",
        "reason": None,
        "at": NOW,
    }
    return canonical(said | changes).decode()


def a_kept(own: Head, *, key: SigningKey = GATEWAY, agent_id: str = "agent-1") -> dict[str, Any]:
    said = HeadBody(7, "cd" * 32, own.seq, own.hash.hex(), NOW)
    envelope = seal_envelope(
        key,
        typ="head",
        iss=gateway_name(key.public),
        aud=agent_name(agent_id),
        jti="j",
        seq=4,
        iat=NOW // 1000,
        exp=NOW // 1000 + 60,
        body=said.to_dict(),
    )
    return record_of(kept_head("peer", envelope, said, at_ms=NOW))


def facts(**changes: Any) -> dict[str, Any]:
    """Return what a receipt of an approved command says; ``part__field`` changes one field."""
    words = a_statement()
    found: dict[str, Any] = {
        "at": NOW + 5,
        "machine": "dev-1",
        "agent_id": "agent-1",
        "task": {
            "task_id": "task-1",
            "short_id": "T-7K3F",
            "source": "wecom",
            "channel": "wecom_app",
            "claimed_user": "张伟",
            "text_sha256": "11" * 32,
            "envelope_sha256": "22" * 32,
            "gateway_key_id": GATEWAY.public.key_id,
            "asked_at": NOW,
            "ended_at": NOW + 4,
        },
        "approval": {
            "approval_id": "approval-1",
            "digest": DIGEST,
            "code": CODE,
            "action": "run_command",
            "risk": "normal",
            "state": "consumed",
            "asked_at": NOW,
            "decided_at": NOW,
            "approver": "terminal",
            "statement": words,
            "signature": text(OLD.sign(APPROVAL, words.encode())),
            "public_key": text(OLD.public.raw),
        },
        "outcome": {
            "state": "COMPLETED",
            "reason": "completed",
            "began_at": NOW + 1,
            "closed_at": NOW + 4,
            "exit_code": 0,
            "signal": None,
            "output_sha256": "33" * 32,
            "changed_files": 2,
        },
        "audit": {
            "entries": [
                {"seq": 2, "event": "task.accepted", "hash": "44" * 32},
                {"seq": 9, "event": "task.ended", "hash": HASH.hex()},
            ],
            "head": record_of(sign_head(AGENT, Head(9, HASH), NOW)),
        },
        "gateway": a_kept(Head(9, HASH)),
    }
    for name, value in changes.items():
        part, _, field = name.partition("__")
        if field:
            found[part] = found[part] | {field: value}
        else:
            found[part] = value
    return found


def without_an_approval(**outcome: Any) -> dict[str, Any]:
    nothing = dict.fromkeys(
        ("began_at", "closed_at", "exit_code", "signal", "output_sha256", "changed_files")
    )
    state = {"state": "COMPLETED", "reason": "completed"}
    return facts(approval=None, outcome=nothing | state | outcome)


def forged(receipt: Mapping[str, Any], key: SigningKey = AGENT) -> bytes:
    """Sign what `sign_receipt` would refuse to give out."""
    whole = {**receipt, "v": 1, "public_key": text(key.public.raw)}
    signature = text(key.sign(RECEIPT, canonical(whole)))
    return canonical({"v": 1, "receipt": whole, "signature": signature}) + b"\n"


def fault(data: bytes, **keys: Any) -> str:
    """Return which part does not hold."""
    with pytest.raises(AuthError) as caught:
        verify_receipt(data, key=keys.pop("key", AGENT.public), **keys)
    assert caught.value.code == "receipt.broken"
    what = str(caught.value.facts["what"])
    assert what in RECEIPT_FAULTS
    return what


@pytest.mark.requirement("P6")
def test_a_receipt_holds_with_the_public_keys_alone() -> None:
    made = sign_receipt(AGENT, facts())
    receipt = verify_receipt(made, key=AGENT.public, gateway_key=GATEWAY.public)
    assert (receipt.decision, receipt.reason) == ("approve", None)
    assert receipt.gateway_checked
    assert receipt.covered
    unchecked = verify_receipt(made, key=AGENT.public)
    assert unchecked.kept is not None
    assert not unchecked.gateway_checked
    assert verify_receipt(made.removesuffix(b"\n"), key=AGENT.public).facts == receipt.facts


@pytest.mark.requirement("P6")
def test_one_changed_byte_anywhere_makes_it_fail() -> None:
    made = sign_receipt(AGENT, facts())
    for at, byte in enumerate(made):
        for bit in (1, 32):
            changed = made[:at] + bytes([byte ^ bit]) + made[at + 1 :]
            assert fault(changed) in ("form", "signature", "key", "newer"), at
    for at in range(len(made) - 1):
        assert fault(made[:at]) == "form"
    assert fault(made + b"\n") == "form"


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    steps = value.items() if isinstance(value, dict) else enumerate(value)
    for name, inner in steps:
        if isinstance(inner, dict | list):
            yield from _leaves(inner, (*path, name))
        else:
            yield (*path, name)


LEAVES = [*_leaves(json.loads(sign_receipt(AGENT, facts())))]


@pytest.mark.requirement("P6")
@given(st.sampled_from(LEAVES), st.none() | st.integers(-(2**40), 2**40) | st.text(max_size=80))
def test_one_changed_field_makes_it_fail(path: tuple[Any, ...], value: Any) -> None:
    whole = json.loads(sign_receipt(AGENT, facts()))
    place = whole
    for step in path[:-1]:
        place = place[step]
    if place[path[-1]] == value:
        return
    place[path[-1]] = value
    fault(canonical(whole) + b"\n")


@each("path", LEAVES)
def test_one_field_taken_away_or_added_makes_it_fail(path: tuple[Any, ...]) -> None:
    whole = json.loads(sign_receipt(AGENT, facts()))
    more = copy.deepcopy(whole)
    places = [whole, more]
    for step in path[:-1]:
        places = [place[step] for place in places]
    del places[0][path[-1]]
    if isinstance(places[1], dict):
        places[1]["more"] = 1
    fault(canonical(whole) + b"\n")
    fault(canonical(more) + b"\n")


@each("form", ["indented", "spaced", "escaped", "unsorted", "doubled", "array"])
def test_there_is_one_form_only(form: str) -> None:
    made = sign_receipt(AGENT, facts())
    whole = json.loads(made)
    forms = {
        "indented": json.dumps(whole, indent=1).encode(),
        "spaced": made.replace(b'"v":1', b'"v": 1', 1),
        "escaped": made.replace(b'"dev-1"', b'"\\u0064ev-1"'),
        "unsorted": json.dumps(dict(reversed(whole.items())), separators=(",", ":")).encode(),
        "doubled": made.replace(b'{"receipt"', b'{"v":1,"receipt"', 1),
        "array": b"[" + made + b"]",
    }
    assert fault(forms[form]) == "form"


@each("data", [b"", b"{}", b"null", b"\xff", b"[" * 99_999, b'{"v":"2"}'])
def test_what_is_no_receipt_is_told_as_such(data: bytes) -> None:
    assert fault(data) == "form"


def test_it_is_bounded_before_it_is_read() -> None:
    assert fault(b" " * (MAX_RECEIPT_BYTES + 1)) == "form"


def test_a_receipt_of_a_later_form_says_so() -> None:
    assert fault(b'{"v":3,"anything":{}}') == "newer"


def by_passkey(record: dict[str, str] | None, **said: Any) -> dict[str, Any]:
    """Return the facts of an approval by passkey; of an older release where nothing is kept."""
    named = hashlib.sha256(canonical(record)).hexdigest() if record else None
    newer = {"v": 3, "risk": "normal", "assertion_sha256": named} if record else {}
    words = a_statement(**{"approver": "passkey", **newer, **said})
    signature = text(OLD.sign(APPROVAL, words.encode()))
    approval = {"approver": "passkey", "statement": words, "signature": signature}
    found: dict[str, Any] = facts()["approval"] | approval
    return found | ({"assertion": record} if record else {})


KEYS: dict[str, Any] = {
    "ES256": ec.generate_private_key(ec.SECP256R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate(),
    "RS256": rsa.generate_private_key(65537, 2048),
}


@pytest.mark.requirement("P6")
@each("kind", KEYS)
def test_what_a_passkey_signed_is_proved_offline(kind: str) -> None:
    record = assertion(DIGEST, KEYS[kind])
    made = sign_receipt(AGENT, facts(approval=by_passkey(record)))
    receipt = verify_receipt(made, key=AGENT.public)
    assert (json.loads(made)["v"], receipt.decision) == (2, "approve")
    assert receipt.facts["approval"]["assertion"] == record


def test_a_receipt_of_before_says_what_it_said() -> None:
    made = sign_receipt(AGENT, facts(approval=by_passkey(None)))
    assert json.loads(made)["v"] == 1
    assert verify_receipt(made, key=AGENT.public).decision == "approve"


WRONG: dict[str, dict[str, Any]] = {
    "another digest": by_passkey(assertion("cd" * 32)),
    "another challenge": by_passkey(assertion(DIGEST, challenge=DIGEST)),
    "a registration": by_passkey(assertion(DIGEST, type="webauthn.create")),
    "another origin": by_passkey(assertion(DIGEST, origin="https://evil.example")),
    "another relying party": by_passkey(assertion(DIGEST, rp_id="evil.example")),
    "in a frame": by_passkey(assertion(DIGEST, cross_origin=True)),
    "nobody was verified": by_passkey(assertion(DIGEST, flags=1)),
    "another signature": by_passkey(
        assertion(DIGEST) | {"signature": assertion(DIGEST)["signature"]}
    ),
    "another key": by_passkey(assertion(DIGEST) | {"public_key": assertion(DIGEST)["public_key"]}),
    "no key": by_passkey(assertion(DIGEST) | {"public_key": text(b"no key")}),
    "a field more": by_passkey(assertion(DIGEST) | {"more": "x"}),
    "a field less": by_passkey({"passkey": "5a" * 32}),
    "taken out": {k: v for k, v in by_passkey(assertion(DIGEST)).items() if k != "assertion"},
    "put in": by_passkey(None) | {"assertion": assertion(DIGEST)},
    "another than was decided": by_passkey(assertion(DIGEST)) | {"assertion": assertion(DIGEST)},
    "by a terminal": by_passkey(assertion(DIGEST), approver="terminal") | {"approver": "terminal"},
    "undecided": by_passkey(assertion(DIGEST))
    | dict.fromkeys(("decided_at", "approver", "statement", "signature", "public_key"))
    | {"state": "expired"},
}


@each("how", WRONG)
def test_what_a_passkey_did_not_sign_proves_nothing(how: str) -> None:
    with pytest.raises(AuthError) as caught:
        sign_receipt(AGENT, facts(approval=WRONG[how]))
    assert caught.value.facts == {"what": "decision"}


def test_another_machines_receipt_is_not_this_ones() -> None:
    made = sign_receipt(OLD, facts(audit__head=record_of(sign_head(OLD, Head(9, HASH), NOW))))
    assert fault(made) == "key"
    whole = json.loads(made)
    whole["receipt"]["public_key"] = text(AGENT.public.raw)
    assert fault(canonical(whole)) == "signature"


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"approval__signature": text(bytes(64))}, "decision"),
        ({"approval__public_key": text(AGENT.public.raw)}, "decision"),
        ({"approval__digest": "cd" * 32}, "decision"),
        ({"approval__code": "0000-0000"}, "decision"),
        ({"approval__approval_id": "approval-2"}, "decision"),
        ({"approval__approver": "desktop"}, "decision"),
        ({"approval__decided_at": NOW + 1}, "decision"),
        ({"approval__state": "rejected"}, "decision"),
        ({"approval__statement": None}, "decision"),
        ({"approval__statement": "[]"}, "decision"),
        ({"approval": None}, "outcome"),
        ({"outcome__began_at": None}, "outcome"),
        ({"outcome__state": "FAILED"}, "outcome"),
        ({"outcome__reason": "rejected"}, "outcome"),
        ({"audit__head": record_of(sign_head(AGENT, Head(8, HASH), NOW))}, "audit"),
        ({"audit__head": record_of(sign_head(AGENT, Head(9, GENESIS), NOW))}, "audit"),
        ({"audit__entries": [{"seq": 9, "event": "x", "hash": "44" * 32}]}, "audit"),
        ({"audit__entries": [{"seq": 3, "event": "x", "hash": HASH.hex()}] * 2}, "audit"),
        ({"audit__entries": [3]}, "form"),
        ({"gateway": a_kept(Head(10, HASH))}, "gateway"),
        ({"gateway": a_kept(Head(9, GENESIS))}, "gateway"),
        ({"gateway": a_kept(Head(9, HASH), agent_id="agent-2")}, "gateway"),
        ({"gateway__seq": 8}, "gateway"),
        ({"gateway__public_key": text(AGENT.public.raw)}, "gateway"),
        ({"task__short_id": "T-7"}, "form"),
        ({"agent_id": "agent one"}, "form"),
        ({"approval": {}}, "form"),
    ],
)
def test_what_a_machine_signs_must_also_be_consistent_and_is_not_given_out_otherwise(
    changes: dict[str, Any], what: str
) -> None:
    assert fault(forged(facts(**changes))) == what
    with pytest.raises(AuthError):
        sign_receipt(AGENT, facts(**changes))


def test_every_changed_signature_inside_is_found_although_the_machine_signed_again() -> None:
    head = record_of(sign_head(AGENT, Head(9, HASH), NOW))
    for name, value in (("at", NOW + 1), ("signature", text(bytes(64)))):
        assert fault(forged(facts(audit__head=head | {name: value}))) == "audit"
    kept = a_kept(Head(9, HASH))
    for name, value in (("own_seq", 8), ("hash", "00" * 32), ("frame", kept["frame"] + " ")):
        assert fault(forged(facts(gateway=kept | {name: value}))) == "gateway"
    said = a_statement(decision="reject")
    changed = facts(
        approval__statement=said, approval__signature=text(OLD.sign(APPROVAL, said.encode()))
    )
    assert fault(forged(changed)) == "decision"


def test_a_task_without_an_approval_gets_a_receipt_that_says_so() -> None:
    receipt = verify_receipt(sign_receipt(AGENT, without_an_approval()), key=AGENT.public)
    assert receipt.decision is None
    assert receipt.facts["approval"] is None
    assert fault(forged(without_an_approval(exit_code=0))) == "outcome"
    assert fault(forged(without_an_approval(began_at=NOW))) == "outcome"


@pytest.mark.parametrize("state", ["expired", "superseded"])
def test_an_approval_that_nobody_decided_is_told_as_undecided(state: str) -> None:
    found = without_an_approval(state="REJECTED", reason="expired")
    undecided = dict.fromkeys(("decided_at", "approver", "statement", "signature", "public_key"))
    found["approval"] = facts()["approval"] | undecided | {"state": state}
    assert verify_receipt(sign_receipt(AGENT, found), key=AGENT.public).decision is None
    found["approval"]["state"] = "approved"
    assert fault(forged(found)) == "decision"


def test_a_rejection_is_a_receipt_too_with_its_reason() -> None:
    words = a_statement(decision="reject", reason="not today")
    found = without_an_approval(state="REJECTED", reason="rejected")
    found["approval"] = facts()["approval"] | {
        "state": "rejected",
        "statement": words,
        "signature": text(OLD.sign(APPROVAL, words.encode())),
    }
    receipt = verify_receipt(sign_receipt(AGENT, found), key=AGENT.public)
    assert (receipt.decision, receipt.reason) == ("reject", "not today")


def test_the_gateways_word_is_checked_against_the_key_that_the_reader_trusts() -> None:
    made = sign_receipt(AGENT, facts())
    assert fault(made, gateway_key=OLD.public) == "gateway-key"
    alone = sign_receipt(AGENT, facts(gateway=None))
    assert verify_receipt(alone, key=AGENT.public).kept is None
    assert fault(alone, gateway_key=GATEWAY.public) == "gateway"


def test_a_head_of_before_the_end_of_the_task_does_not_cover_it() -> None:
    made = sign_receipt(AGENT, facts(gateway=a_kept(Head(5, bytes([5]) * 32))))
    assert not verify_receipt(made, key=AGENT.public).covered


def test_every_fault_has_its_words() -> None:
    assert broken("form").facts["what"] in RECEIPT_FAULTS


def part(index: int, reason: str | None = "completed", **changes: Any) -> dict[str, Any]:
    began, closed = (NOW + 1, NOW + 4) if reason else (None, None)
    return {"index": index, "reason": reason, "began_at": began, "closed_at": closed} | changes


def test_what_came_of_each_of_several_operations_stands_under_its_index() -> None:
    whole = facts(outcome__parts=[part(0), part(1), part(2)])
    receipt = verify_receipt(sign_receipt(AGENT, whole), key=AGENT.public)
    assert [one["index"] for one in receipt.facts["outcome"]["parts"]] == [0, 1, 2]
    failed = {"outcome__state": "FAILED", "outcome__reason": "failed"}
    cut_off = facts(outcome__parts=[part(0), part(1, "failed"), part(2, None)], **failed)
    assert sign_receipt(AGENT, cut_off)
    between = facts(outcome__parts=[part(0), part(1, None)], **failed)
    assert sign_receipt(AGENT, between)


@pytest.mark.parametrize(
    ("parts", "what"),
    [
        ([], "form"),
        ([part(0)], "form"),
        ([part(0), 3], "form"),
        ([part(0), {**part(1), "more": 1}], "form"),
        ([part(0), part(2)], "outcome"),
        ([part(0), part(1, None)], "outcome"),
        ([part(0), part(1, "failed")], "outcome"),
        ([part(0, "failed"), part(1)], "outcome"),
        ([part(0, None), part(1)], "outcome"),
        ([part(0), part(1, closed_at=None)], "outcome"),
        ([part(0), part(1, began_at=None)], "outcome"),
    ],
)
def test_operations_that_could_not_have_come_so_are_no_receipt(parts: Any, what: str) -> None:
    assert fault(forged(facts(outcome__parts=parts))) == what
