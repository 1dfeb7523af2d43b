"""Receipts (P6): what came of one task, signed by its machine, for whoever holds the public key.

    {"receipt":{…},"signature":"…","v":1}

One canonical object under one signature.  Inside stand the signatures that it rests on: of the
person's decision, of the machine's audit chain, of the gateway that keeps a head of that chain.
They may be by keys that the machine or the gateway has rotated since; the receipt names each, and
the machine's signature vouches for its own.  Pure: no journal, no link, no clock.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from common.audit import Head, SignedHead, verify_head
from common.audit_check import read_kept, read_signed
from common.errors import AuthError, RemoteProtocolError
from common.heads import KeptHead, verify_kept
from common.model.state import Reason, TaskState, final_of
from common.protocol.codec import (
    KEY_ID,
    MILLISECONDS,
    NAME,
    SEQ,
    SHA256_HEX,
    Check,
    closed,
    integer,
    matching,
    one_of,
    raw_bytes,
    utf8,
)
from common.protocol.envelope import agent_name
from common.seal import short_code
from common.signing import APPROVAL, KEY_BYTES, RECEIPT, SIGNATURE_BYTES, SigningKey, VerifyKey
from common.strict_json import canonical, loads

VERSION: Final = 1
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


def _optional(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _or_empty(check: Check) -> Check:
    return lambda value: value == "" or check(value)


def _record(value: object) -> bool:
    return type(value) is dict


_KEY: Final = raw_bytes(KEY_BYTES)
_SIGNATURE: Final = raw_bytes(SIGNATURE_BYTES)
_INTEGER: Final = integer(-(2**31), 2**31)
_FILE: Final[Mapping[str, Check]] = {
    "v": integer(VERSION, VERSION),
    "receipt": _record,
    "signature": _SIGNATURE,
}
_RECEIPT: Final[Mapping[str, Check]] = {
    "v": integer(VERSION, VERSION),
    "at": MILLISECONDS,
    "machine": utf8(256, min_bytes=1),
    "agent_id": _or_empty(NAME),
    "public_key": _KEY,
    "task": _record,
    "approval": _optional(_record),
    "outcome": _record,
    "audit": _record,
    "gateway": _optional(_record),
}
_TASK: Final[Mapping[str, Check]] = {
    "task_id": NAME,
    "short_id": matching(r"T-[0-9A-Z]{4,5}"),
    "source": one_of(("wecom", "local_ui")),
    "channel": utf8(64),
    "claimed_user": utf8(256),
    "text_sha256": SHA256_HEX,
    "envelope_sha256": _or_empty(SHA256_HEX),
    "gateway_key_id": _or_empty(KEY_ID),
    "asked_at": MILLISECONDS,
    "ended_at": MILLISECONDS,
}
_APPROVAL: Final[Mapping[str, Check]] = {
    "approval_id": NAME,
    "digest": SHA256_HEX,
    "code": matching(r"[0-9A-Z]{4}-[0-9A-Z]{4}"),
    "action": NAME,
    "risk": one_of(("normal", "high")),
    "state": one_of(("approved", "rejected", "expired", "superseded", "consumed")),
    "asked_at": MILLISECONDS,
    "decided_at": _optional(MILLISECONDS),
    "approver": _optional(NAME),
    "statement": _optional(utf8(8 * 1024)),
    "signature": _optional(_SIGNATURE),
    "public_key": _optional(_KEY),
}
_OLDER_STATEMENT: Final[Mapping[str, Check]] = {  # of before the risk was signed as well
    "v": integer(1, 1),
    "approval_id": NAME,
    "digest": SHA256_HEX,
    "decision": one_of(_DECIDED),
    "approver": NAME,
    "reason": _optional(utf8(4 * 1024)),
    "at": MILLISECONDS,
}
_STATEMENT: Final[Mapping[str, Check]] = {
    **_OLDER_STATEMENT,
    "v": integer(2, 2),
    "risk": one_of(("normal", "high")),
}
_OUTCOME: Final[Mapping[str, Check]] = {
    "state": one_of(TaskState),
    "reason": one_of(Reason),
    "began_at": _optional(MILLISECONDS),
    "closed_at": _optional(MILLISECONDS),
    "exit_code": _optional(_INTEGER),
    "signal": _optional(_INTEGER),
    "output_sha256": _optional(SHA256_HEX),
    "changed_files": _optional(integer(0, 2**53)),
}
_PART: Final[Mapping[str, Check]] = {  # one of several operations under one approval
    "index": integer(0, MAX_PARTS),
    "reason": _optional(one_of(Reason)),
    "began_at": _optional(MILLISECONDS),
    "closed_at": _optional(MILLISECONDS),
}
_AUDIT: Final[Mapping[str, Check]] = {
    "entries": lambda value: type(value) is list and len(value) <= MAX_ENTRIES,
    "head": _record,
}
_ENTRY: Final[Mapping[str, Check]] = {"seq": SEQ, "event": utf8(128), "hash": SHA256_HEX}


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
    receipt = {**facts, "v": VERSION, "public_key": _text(key.public.raw)}
    signature = key.sign(RECEIPT, canonical(receipt))
    whole = canonical({"v": VERSION, "receipt": receipt, "signature": _text(signature)}) + b"\n"
    verify_receipt(whole, key=key.public)
    return whole


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
    whole = loads(data, max_bytes=MAX_RECEIPT_BYTES)
    if type(whole) is not dict:
        raise broken("form")
    version = whole.get("v")
    if type(version) is int and version > VERSION:
        raise broken("newer")
    closed(whole, _FILE)
    # One form only, but for the line end that an editor may take away.
    if canonical(whole) != data.removesuffix(b"\n"):
        raise broken("form")
    facts: dict[str, Any] = whole["receipt"]
    try:
        key.verify(RECEIPT, canonical(facts), _raw(whole["signature"]))
    except AuthError:
        named = facts.get("public_key")
        raise broken("signature" if named == _text(key.raw) else "key") from None
    closed(facts, _RECEIPT)
    if facts["public_key"] != _text(key.raw):
        raise broken("key")
    return facts


def _checked(facts: dict[str, Any], gateway_key: VerifyKey | None) -> Receipt:
    closed(facts["task"], _TASK)
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
    closed(approval, _APPROVAL)
    if approval["code"] != short_code(approval["digest"]):
        raise broken("decision")
    signed = [approval[name] for name in ("statement", "signature", "public_key", "decided_at")]
    if signed == [None] * len(signed):
        # Nobody decided: it ran out, or something newer took its place.
        if approval["state"] not in ("expired", "superseded") or approval["approver"] is not None:
            raise broken("decision")
        return None
    if None in signed:
        raise broken("decision")
    return _check_statement(approval)


def _check_statement(approval: Mapping[str, Any]) -> Mapping[str, Any]:
    raw = approval["statement"].encode()
    try:
        VerifyKey(_raw(approval["public_key"])).verify(APPROVAL, raw, _raw(approval["signature"]))
    except AuthError:
        raise broken("decision") from None
    said = loads(raw, max_bytes=MAX_RECEIPT_BYTES)
    if type(said) is not dict:
        raise broken("decision")
    closed(said, _STATEMENT if "risk" in said else _OLDER_STATEMENT)
    bound = ("approval_id", "digest", "approver", *(name for name in ("risk",) if name in said))
    same = all(said[name] == approval[name] for name in bound)
    if not same or said["at"] != approval["decided_at"]:
        raise broken("decision")
    if approval["state"] not in _DECIDED[said["decision"]]:
        raise broken("decision")
    return said


def _check_outcome(outcome: dict[str, Any], approval: Mapping[str, Any] | None) -> None:
    parts = outcome.get("parts")
    closed(outcome, _OUTCOME if parts is None else {**_OUTCOME, "parts": _several})
    _check_parts(outcome, parts or [])
    if final_of(Reason(outcome["reason"]))[0] != outcome["state"]:
        raise broken("outcome")
    # Nothing runs without an approval that was used up for it (P1).
    began = outcome["began_at"] is not None
    if began != (approval is not None and approval["state"] == "consumed"):
        raise broken("outcome")
    ran = ("closed_at", "exit_code", "signal", "output_sha256", "changed_files")
    if not began and any(outcome[name] is not None for name in ran):
        raise broken("outcome")


def _several(value: object) -> bool:
    return type(value) is list and 1 < len(value) <= MAX_PARTS


def _check_parts(outcome: Mapping[str, Any], parts: list[Any]) -> None:
    """Require that they were begun in order, each after the one before had completed."""
    may_begin = True
    for index, part in enumerate(parts):
        if type(part) is not dict:
            raise broken("form")
        closed(part, _PART)
        told = [part[name] is not None for name in ("began_at", "closed_at", "reason")]
        began = told[0]
        if part["index"] != index or len(set(told)) > 1 or (began and not may_begin):
            raise broken("outcome")
        may_begin = began and part["reason"] == Reason.COMPLETED
    if parts and may_begin != (outcome["reason"] == Reason.COMPLETED):
        raise broken("outcome")


def _check_audit(audit: dict[str, Any]) -> SignedHead:
    closed(audit, _AUDIT)
    head = read_signed(audit["head"])
    try:
        verify_head(head)
    except AuthError:
        raise broken("audit") from None
    last = 0
    for entry in audit["entries"]:
        if type(entry) is not dict:
            raise broken("form")
        closed(entry, _ENTRY)
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


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")


def _raw(checked: str) -> bytes:
    return base64.b64decode(checked)
