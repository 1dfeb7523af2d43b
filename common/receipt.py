"""Receipts (P6): what came of one task, signed by its machine, for whoever holds the public key.

    {"receipt":{…},"signature":"…","v":1}

One canonical object under one signature.  Inside stand the signatures that it rests on: of the
person's decision, of the machine's audit chain, of the gateway that keeps a head of that chain.
They may be by keys that the machine or the gateway has rotated since; the receipt names each, and
the machine's signature vouches for its own.  Pure: no journal, no link, no clock.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from common.assertion import check_assertion
from common.audit import Head, SignedHead, verify_head
from common.audit_check import read_kept, read_signed
from common.errors import AuthError, RemoteProtocolError
from common.heads import KeptHead, verify_kept
from common.model.state import Reason, TaskState, final_of
from common.protocol.envelope import agent_name
from common.records import (
    COUNT,
    KEY_ID,
    MILLISECONDS,
    NAME,
    RECORD,
    SEAL_CODE,
    SEQ,
    SHA256_HEX,
    SHORT_ID,
    Check,
    Fields,
    closed,
    decode_bytes,
    encode_bytes,
    integer,
    list_of,
    one_of,
    or_none,
    raw_bytes,
    read_object,
    record_of,
    utf8,
)
from common.seal import short_code
from common.signing import APPROVAL, KEY_BYTES, RECEIPT, SIGNATURE_BYTES, SigningKey, VerifyKey
from common.strict_json import canonical, loads

VERSION: Final = 2  # 1 but for what a passkey signed: older releases read those
MAX_RECEIPT_BYTES: Final = 256 * 1024
MAX_ENTRIES: Final = 200  # audit entries of one task
MAX_PARTS: Final = 500  # operations under one approval

# Which part of a receipt does not hold; each has its words in `common.sentences`.
Fault = Literal[
    "form", "newer", "key", "signature", "decision", "outcome", "audit", "gateway", "gateway-key"
]

_DECIDED: Final = {
    "approve": {"approved", "consumed", "expired", "superseded"},
    "reject": {"rejected"},
}


def _or_empty(check: Check) -> Check:
    return lambda value: value == "" or check(value)


_KEY: Final = raw_bytes(KEY_BYTES)
_SIGNATURE: Final = raw_bytes(SIGNATURE_BYTES)
_INTEGER: Final = integer(-(2**31), 2**31)
_TASK: Final[Fields] = {
    "task_id": NAME,
    "short_id": SHORT_ID,
    "source": one_of(("wecom", "local_ui")),
    "channel": utf8(64),
    "claimed_user": utf8(256),
    "text_sha256": SHA256_HEX,
    "envelope_sha256": _or_empty(SHA256_HEX),
    "gateway_key_id": _or_empty(KEY_ID),
    "asked_at": MILLISECONDS,
    "ended_at": MILLISECONDS,
}
_APPROVAL: Final[Fields] = {
    "approval_id": NAME,
    "digest": SHA256_HEX,
    "code": SEAL_CODE,
    "action": NAME,
    "risk": one_of(("normal", "high")),
    "state": one_of(("approved", "rejected", "expired", "superseded", "consumed")),
    "asked_at": MILLISECONDS,
    "decided_at": or_none(MILLISECONDS),
    "approver": or_none(NAME),
    "statement": or_none(utf8(8 * 1024)),
    "signature": or_none(_SIGNATURE),
    "public_key": or_none(_KEY),
}
_APPROVAL_BY_PASSKEY: Final[Fields] = {**_APPROVAL, "assertion": RECORD}
_OLDER_STATEMENT: Final[Fields] = {  # of before the risk was signed as well
    "v": integer(1, 1),
    "approval_id": NAME,
    "digest": SHA256_HEX,
    "decision": one_of(_DECIDED),
    "approver": NAME,
    "reason": or_none(utf8(4 * 1024)),
    "at": MILLISECONDS,
}
_STATEMENT: Final[Fields] = {
    **_OLDER_STATEMENT,
    "v": integer(2, 2),
    "risk": one_of(("normal", "high")),
}
_STATEMENT_BY_PASSKEY: Final[Fields] = {
    **_STATEMENT,
    "v": integer(3, 3),
    "assertion_sha256": SHA256_HEX,
}
_OUTCOME: Final[Fields] = {
    "state": one_of(TaskState),
    "reason": one_of(Reason),
    "began_at": or_none(MILLISECONDS),
    "closed_at": or_none(MILLISECONDS),
    "exit_code": or_none(_INTEGER),
    "signal": or_none(_INTEGER),
    "output_sha256": or_none(SHA256_HEX),
    "changed_files": or_none(COUNT),
}
_PART: Final[Fields] = {  # one of several operations under one approval
    "index": integer(0, MAX_PARTS),
    "reason": or_none(one_of(Reason)),
    "began_at": or_none(MILLISECONDS),
    "closed_at": or_none(MILLISECONDS),
}
_OUTCOME_OF_PARTS: Final[Fields] = {
    **_OUTCOME,
    "parts": list_of(record_of(_PART), least=2, most=MAX_PARTS),
}
_ENTRY: Final[Fields] = {"seq": SEQ, "event": utf8(128), "hash": SHA256_HEX}
_AUDIT: Final[Fields] = {
    "entries": list_of(record_of(_ENTRY), most=MAX_ENTRIES),
    "head": RECORD,
}
_RECEIPT: Final[Fields] = {
    "v": integer(1, VERSION),
    "at": MILLISECONDS,
    "machine": utf8(256, min_bytes=1),
    "agent_id": _or_empty(NAME),
    "public_key": _KEY,
    "task": record_of(_TASK),
    "approval": or_none(RECORD),
    "outcome": RECORD,
    "audit": record_of(_AUDIT),
    "gateway": or_none(RECORD),
}
_FILE: Final[Fields] = {
    "v": integer(1, VERSION),
    "receipt": RECORD,
    "signature": _SIGNATURE,
}


@dataclass(frozen=True, slots=True)
class Receipt:
    """A receipt whose every signature holds.

    Attributes:
        facts: The signed object.
        decision: ``approve`` or ``reject``; None when nobody decided.
        reason: What the person said about it.
        kept: The head that the gateway signed; None where there is none.
        gateway_checked: Whether that was checked against a key that the reader trusts.
        covered: Whether the gateway keeps a head that is at least as new as the task's last entry.
    """

    facts: Mapping[str, Any]
    decision: str | None
    reason: str | None
    kept: KeptHead | None
    gateway_checked: bool
    covered: bool


def sign_receipt(key: SigningKey, facts: Mapping[str, Any]) -> bytes:
    """Return the file of a receipt; ``facts`` are those of `Receipt` without v and public_key.

    It is checked as whoever receives it would: one that does not hold is not given out.

    Raises:
        AuthError: ``receipt.broken`` with ``what``.
    """
    version = VERSION if "assertion" in (facts["approval"] or ()) else 1
    receipt = {**facts, "v": version, "public_key": encode_bytes(key.public.raw)}
    signature = key.sign(RECEIPT, canonical(receipt))
    whole = {"v": version, "receipt": receipt, "signature": encode_bytes(signature)}
    data = canonical(whole) + b"\n"
    verify_receipt(data, key=key.public)
    return data


def verify_receipt(data: bytes, *, key: VerifyKey, gateway_key: VerifyKey | None = None) -> Receipt:
    """Check a receipt with public keys alone.

    Args:
        data: The file.
        key: The machine's key, obtained from somewhere other than the receipt.
        gateway_key: The gateway's, likewise; without it the gateway's word is read, not believed.

    Raises:
        AuthError: ``receipt.broken`` with ``what``.
    """
    try:
        facts = _open(data, key)
        return _checked(facts, gateway_key)
    except (RemoteProtocolError, RecursionError):
        raise broken("form") from None


def broken(what: Fault) -> AuthError:
    """Return the error that names the part which does not hold."""
    return AuthError("receipt.broken", what=what)


def _open(data: bytes, key: VerifyKey) -> dict[str, Any]:
    whole = read_object(data, max_bytes=MAX_RECEIPT_BYTES)
    version = whole.get("v")
    if type(version) is int and version > VERSION:
        raise broken("newer")
    closed(whole, _FILE)
    # One form only, but for the line end that an editor may take away.
    if canonical(whole) != data.removesuffix(b"\n"):
        raise broken("form")
    facts: dict[str, Any] = whole["receipt"]
    try:
        key.verify(RECEIPT, canonical(facts), decode_bytes(whole["signature"]))
    except AuthError:
        named = facts.get("public_key")
        raise broken("signature" if named == encode_bytes(key.raw) else "key") from None
    closed(facts, _RECEIPT)
    if facts["public_key"] != encode_bytes(key.raw):
        raise broken("key")
    return facts


def _checked(facts: dict[str, Any], gateway_key: VerifyKey | None) -> Receipt:
    statement = None if facts["approval"] is None else _check_approval(facts["approval"])
    _check_outcome(facts["outcome"], facts["approval"])
    head = _check_audit(facts["audit"])
    kept = _check_gateway(facts, head, gateway_key)
    entries = facts["audit"]["entries"]
    return Receipt(
        facts=facts,
        decision=statement["decision"] if statement else None,
        reason=statement["reason"] if statement else None,
        kept=kept,
        gateway_checked=kept is not None and gateway_key is not None,
        covered=kept is not None and bool(entries) and kept.own_seq >= entries[-1]["seq"],
    )


def _check_approval(approval: dict[str, Any]) -> Mapping[str, Any] | None:
    closed(approval, _APPROVAL_BY_PASSKEY if "assertion" in approval else _APPROVAL)
    if approval["code"] != short_code(approval["digest"]):
        raise broken("decision")
    signed = [approval[name] for name in ("statement", "signature", "public_key", "decided_at")]
    if signed == [None] * len(signed):
        # Nobody decided: it ran out, or something newer took its place.
        somebody = approval["approver"] is not None or "assertion" in approval
        if approval["state"] not in ("expired", "superseded") or somebody:
            raise broken("decision")
        return None
    if None in signed:
        raise broken("decision")
    return _check_statement(approval)


def _check_statement(approval: Mapping[str, Any]) -> Mapping[str, Any]:
    raw = approval["statement"].encode()
    key, signature = decode_bytes(approval["public_key"]), decode_bytes(approval["signature"])
    try:
        VerifyKey(key).verify(APPROVAL, raw, signature)
    except AuthError:
        raise broken("decision") from None
    said = loads(raw, max_bytes=MAX_RECEIPT_BYTES)
    if type(said) is not dict:
        raise broken("decision")
    if "assertion_sha256" in said:
        closed(said, _STATEMENT_BY_PASSKEY)
    else:  # of before there was a risk in it, or of another approver
        closed(said, _STATEMENT if "risk" in said else _OLDER_STATEMENT)
    _check_signed(approval, said)
    bound = ("approval_id", "digest", "approver", *(name for name in ("risk",) if name in said))
    same = all(said[name] == approval[name] for name in bound)
    if not same or said["at"] != approval["decided_at"]:
        raise broken("decision")
    if approval["state"] not in _DECIDED[said["decision"]]:
        raise broken("decision")
    return said


def _check_signed(approval: Mapping[str, Any], said: Mapping[str, Any]) -> None:
    """Require what the passkey signed, where the decision says that one did."""
    record = approval.get("assertion")
    found = record and hashlib.sha256(canonical(record)).hexdigest()
    if found != said.get("assertion_sha256") or (record and approval["approver"] != "passkey"):
        raise broken("decision")
    if record:
        try:
            check_assertion(record, approval["digest"])
        except AuthError:
            raise broken("decision") from None


def _check_outcome(outcome: dict[str, Any], approval: Mapping[str, Any] | None) -> None:
    closed(outcome, _OUTCOME_OF_PARTS if "parts" in outcome else _OUTCOME)
    _check_parts(outcome, outcome.get("parts", []))
    if final_of(Reason(outcome["reason"]))[0] != outcome["state"]:
        raise broken("outcome")
    # Nothing runs without an approval that was used up for it (P1).
    began = outcome["began_at"] is not None
    if began != (approval is not None and approval["state"] == "consumed"):
        raise broken("outcome")
    ran = ("closed_at", "exit_code", "signal", "output_sha256", "changed_files")
    if not began and any(outcome[name] is not None for name in ran):
        raise broken("outcome")


def _check_parts(outcome: Mapping[str, Any], parts: list[Any]) -> None:
    """Require that they were begun in order, each after the one before had completed."""
    may_begin = True
    for index, part in enumerate(parts):
        told = [part[name] is not None for name in ("began_at", "closed_at", "reason")]
        began = told[0]
        if part["index"] != index or len(set(told)) > 1 or (began and not may_begin):
            raise broken("outcome")
        may_begin = began and part["reason"] == Reason.COMPLETED
    if parts and may_begin != (outcome["reason"] == Reason.COMPLETED):
        raise broken("outcome")


def _check_audit(audit: dict[str, Any]) -> SignedHead:
    head = read_signed(audit["head"])
    try:
        verify_head(head)
    except AuthError:
        raise broken("audit") from None
    last = 0
    for entry in audit["entries"]:
        if not last < entry["seq"] <= head.seq:
            raise broken("audit")
        last = entry["seq"]
        _same_at(entry, Head(head.seq, head.hash), "audit")
    return head


def _check_gateway(
    facts: Mapping[str, Any], head: SignedHead, gateway_key: VerifyKey | None
) -> KeptHead | None:
    if facts["gateway"] is None:
        if gateway_key is not None:
            raise broken("gateway")
        return None
    kept = read_kept(facts["gateway"])
    if gateway_key is not None and kept.public_key != gateway_key.raw:
        raise broken("gateway-key")
    try:
        envelope = verify_kept(kept)
    except AuthError:
        raise broken("gateway") from None
    if envelope.header.aud != agent_name(facts["agent_id"]) or kept.own_seq > head.seq:
        raise broken("gateway")
    theirs = Head(kept.own_seq, kept.own_hash)
    for entry in (*facts["audit"]["entries"], {"seq": head.seq, "hash": head.hash.hex()}):
        _same_at(entry, theirs, "gateway")
    return kept


def _same_at(entry: Mapping[str, Any], head: Head, what: Fault) -> None:
    if entry["seq"] == head.seq and entry["hash"] != head.hash.hex():
        raise broken(what)
