"""Checks a whole audit log, stored or exported: entries, signed head, heads of the other half.

    check = LogCheck(keys=…, to_the_end=…)
    check.entry(row) …  check.signed(row)  check.kept(row) …  check.finish()

Each part holds the next: the key signs the head, the head fixes every entry, and an entry notes
each head that was kept.  So one changed byte anywhere breaks something that can be named.  Rows
come in as the store has them, of whatever type.

The exported form is JSON lines that verify offline, with the public key alone:

    {"seq":1,"prev":"…","hash":"…","body":"…"}          one line an entry; body is its exact text
    {"kept":{…}}                                        a head of the other half, with its frame
    {"signed":{…},"v":1}                                last: the head that the owner signed

Each line has one form, so that no byte of the file can change unseen.  Pure; lines come in and go
out as bytes, whoever reads or writes the file bounds it.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Container, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from common import strict_json
from common.audit import (
    GENESIS,
    HASH_BYTES,
    MAX_ENTRY_BYTES,
    Entry,
    Head,
    SignedHead,
    base_of,
    broken,
    continued,
    verify_head,
)
from common.errors import AuthError, RemoteProtocolError
from common.heads import KEPT, KeptHead, verify_kept
from common.protocol.envelope import gateway_name
from common.records import (
    COUNT,
    MILLISECONDS,
    RECORD,
    SEQ,
    SHA256_HEX,
    Fields,
    closed,
    decode_bytes,
    encode_bytes,
    integer,
    or_none,
    raw_bytes,
    read_object,
    utf8,
)
from common.signing import KEY_BYTES, SIGNATURE_BYTES

STARTED: Final = "gateway.started"  # from here on a chain that is signed now and then has a head
# What came before had no signature of its owner any more: whatever was there may be gone.
RENEWED: Final = "audit.signed-anew"
ENROLLED: Final = "agent.enrolled"  # gives a machine that was paired its name
MAX_KEPT: Final = 100_000

_KEPT_MARK: Final = f'"event":"{KEPT}"'.encode()
_ENROLLED_MARK: Final = f'"event":"{ENROLLED}"'.encode()
_STARTED_MARK: Final = f'"event":"{STARTED}"'.encode()
_RENEWED_MARK: Final = f'"event":"{RENEWED}"'.encode()


@dataclass(frozen=True, slots=True)
class Checked:
    """What a whole log says of itself.

    Attributes:
        first: Number of the first entry that was seen; 1 unless only the end of a log was.
        head: Its end.
        signed: Its newest signed head; entries after it are not signed yet.
        kept: Newest head of each other half, all proven.
        renewed: Number of the newest entry that was signed over a log without its signature; before
            it nothing but the other half can tell what there was.
        gateways: Peers of ``kept`` that are gateways; the others are machines.
        machines: Names of machines by peer, as this log enrolled them, the newest last.
    """

    first: int
    head: Head
    signed: SignedHead | None
    kept: tuple[KeptHead, ...]
    renewed: int | None = None
    gateways: frozenset[str] = frozenset()
    machines: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Noted:
    """What an entry says of a head that was kept."""

    seq: int
    at: object
    facts: dict[str, Any]


class LogCheck:
    """Takes in a log in order, and raises AuthError ``audit.broken`` (seq, what) where it fails.

    Args:
        keys: Public keys of the log's owner; a head signed by any other is none.
        to_the_end: Whether the signed head must be of the very last entry.
        after: The head that the first entry continues; by default the start of the chain.
    """

    def __init__(
        self, *, keys: Container[bytes], to_the_end: bool, after: Head | None = None
    ) -> None:
        self._keys = keys
        self._to_the_end = to_the_end
        self._base = self._head = after or Head()
        self._hashes = bytearray()
        self._noted: dict[str, _Noted] = {}
        self._gateways: set[str] = set()
        self._machines: dict[str, str] = {}
        self._started = False
        self._renewed: int | None = None
        self._signed: list[SignedHead] = []
        self._kept: list[KeptHead] = []

    def entry(self, row: tuple[object, ...]) -> None:
        """Take the next entry."""
        self._head = continued(self._head, row)
        self._hashes += self._head.hash
        body = row[2]
        assert isinstance(body, bytes)  # noqa: S101  `continued` has made sure of it
        if _KEPT_MARK in body or _ENROLLED_MARK in body:
            self._note(body)
        self._started = self._started or _STARTED_MARK in body
        if _RENEWED_MARK in body:
            self._renewed = self._head.seq

    def signed(self, signed: SignedHead) -> None:
        """Take the signed head."""
        self._signed.append(signed)

    def kept(self, kept: KeptHead) -> None:
        """Take a head kept of another half."""
        if len(self._kept) >= MAX_KEPT:
            raise broken(self._head.seq, "kept")
        self._kept.append(kept)

    def finish(self) -> Checked:
        """Check how the parts hold one another, and return what was found."""
        signed = self._check_signed()
        peers = {self._check_kept(kept) for kept in self._kept}
        if len(peers) < len(self._kept):
            raise broken(self._head.seq, "kept")
        for peer, noted in self._noted.items():
            if peer not in peers:
                raise broken(noted.seq, "kept")
        return Checked(
            self._base.seq + 1,
            self._head,
            signed,
            tuple(self._kept),
            self._renewed,
            frozenset(self._gateways),
            self._machines,
        )

    def _note(self, body: bytes) -> None:
        try:
            record = json.loads(body)
            event, at, facts = record["event"], record["at"], record["facts"]
            peer = facts["peer"] if event == KEPT else None
            named = (facts["agent"], facts["machine"]) if event == ENROLLED else None
        except (ValueError, LookupError, TypeError, RecursionError):
            raise broken(self._head.seq, "malformed") from None
        if type(peer) is str:
            self._noted[peer] = _Noted(self._head.seq, at, facts)
        if named is not None and type(named[0]) is type(named[1]) is str:
            self._machines[named[0]] = named[1]

    def _check_signed(self) -> SignedHead | None:
        end = self._head.seq
        if not self._signed:
            if self._started or (self._to_the_end and end > 0):
                raise broken(end + 1, "unsigned")
            return None
        signed = self._signed[0]
        try:
            verify_head(signed)
        except AuthError:
            raise broken(end, "head") from None
        if len(self._signed) > 1:
            raise broken(end, "head")
        if signed.public_key not in self._keys:
            raise broken(end, "key")
        if signed.seq > end:
            raise broken(end + 1, "end")
        found = self._hash_at(signed.seq)
        if found is not None and not hmac.compare_digest(found, signed.hash):
            raise broken(signed.seq, "head")
        if self._to_the_end and signed.seq < end:
            raise broken(signed.seq + 1, "unsigned")
        return signed

    def _check_kept(self, kept: KeptHead) -> str:
        """Check one head against its signature, its entry, and our own chain; return its peer."""
        noted = self._noted.get(kept.peer) if type(kept.peer) is str else None
        at = noted.seq if noted else self._head.seq
        try:
            envelope = verify_kept(kept)
        except AuthError:
            raise broken(at, "kept") from None
        known = noted is not None and noted.facts == kept.facts() and noted.at == kept.at
        # Of a part of a log it may be the earlier part that notes it.
        if not known and (noted is not None or self._base.seq == 0):
            raise broken(at, "kept")
        if kept.own_seq > self._head.seq:
            raise broken(self._head.seq + 1, "end")
        found = self._hash_at(kept.own_seq)
        if found is not None and not hmac.compare_digest(found, kept.own_hash):
            raise broken(kept.own_seq, "countersigned")
        if envelope.header.iss == gateway_name(envelope.signer):
            self._gateways.add(kept.peer)
        return kept.peer

    def _hash_at(self, seq: int) -> bytes | None:
        """Return the hash of an entry; None before the part that was seen."""
        if seq == 0:
            return GENESIS
        if seq == self._base.seq:
            return self._base.hash
        start = (seq - self._base.seq - 1) * HASH_BYTES
        return bytes(self._hashes[start : start + HASH_BYTES]) if start >= 0 else None


# --- the exported form ---

VERSION: Final = 1
MAX_LINE_BYTES: Final = 64 * 1024  # a body of 16 KiB in which each byte is escaped, with room

_ENTRY: Final[Fields] = {
    "seq": SEQ,
    "prev": SHA256_HEX,
    "hash": SHA256_HEX,
    "body": utf8(MAX_ENTRY_BYTES),
}
_SIGNED: Final[Fields] = {
    "seq": COUNT,
    "hash": SHA256_HEX,
    "at": MILLISECONDS,
    "public_key": raw_bytes(KEY_BYTES),
    "signature": raw_bytes(SIGNATURE_BYTES),
}
_KEPT: Final[Fields] = {
    "peer": utf8(256, min_bytes=1),
    "seq": COUNT,
    "hash": SHA256_HEX,
    "own_seq": COUNT,
    "own_hash": SHA256_HEX,
    "public_key": raw_bytes(KEY_BYTES),
    "frame": utf8(16 * 1024, min_bytes=2),
    "at": MILLISECONDS,
}
_HASHES: Final = frozenset({"hash", "own_hash"})
_RAW: Final = frozenset({"public_key", "signature"})
_ENTRIES, _HEADS, _END = range(3)  # the parts of a file, in their order


def entry_line(entry: Entry) -> bytes:
    """Return the line of an entry.

    Raises:
        AuthError: ``audit.broken``: its body is not the text that every entry is.
    """
    seq, prev, body, found = entry
    try:
        text = body.decode("ascii")  # as every entry was written
    except UnicodeDecodeError:
        raise broken(seq, "malformed") from None
    return _line({"seq": seq, "prev": prev.hex(), "hash": found.hex(), "body": text})


def kept_line(kept: KeptHead) -> bytes:
    """Return the line of a head that was kept."""
    return _line({"kept": record_of(kept)})


def last_line(signed: SignedHead | None) -> bytes:
    """Return the last line."""
    return _line({"v": VERSION, "signed": record_of(signed) if signed else None})


def record_of(head: KeptHead | SignedHead) -> dict[str, Any]:
    """Return a head as JSON has it: hashes in hex, keys and signatures in base64."""
    record: dict[str, Any] = asdict(head)
    for name in _HASHES & record.keys():
        record[name] = record[name].hex()
    for name in _RAW & record.keys():
        record[name] = encode_bytes(record[name])
    if "frame" in record:
        record["frame"] = record["frame"].decode("ascii")
    return record


def read_signed(record: object) -> SignedHead:
    """Read a signed head.

    Raises:
        RemoteProtocolError: ``record.fields`` or ``record.field``.
    """
    return SignedHead(**_values(record, _SIGNED))


def read_kept(record: object) -> KeptHead:
    """Read a head that was kept.

    Raises:
        RemoteProtocolError: ``record.fields`` or ``record.field``.
    """
    return KeptHead(**_values(record, _KEPT))


def check_export(lines: Iterable[bytes], *, keys: Container[bytes]) -> Checked:
    """Check an exported log, or an exported end of one; its owner has signed it to the last entry.

    Args:
        lines: With their line ends; none longer than one byte over `MAX_LINE_BYTES`.
        keys: Public keys of the log's owner.

    Raises:
        AuthError: ``audit.broken`` (seq, what).
    """
    export = _Export(keys)
    for line in lines:
        export.line(line)
    return export.finish()


class _Export:
    """Reads the lines in their order: entries, kept heads, the last line."""

    def __init__(self, keys: Container[bytes]) -> None:
        self._keys = keys
        self._check: LogCheck | None = None
        self._next = 1
        self._part = _ENTRIES

    def line(self, line: bytes) -> None:
        try:
            record = _read(line)
            if "body" in record:
                return self._entry(closed(record, _ENTRY))
            if "kept" in record:
                self._enter(_HEADS)
                closed(record, {"kept": or_none(RECORD)})
                return self._started().kept(read_kept(record["kept"]))
            return self._last(record)
        except RemoteProtocolError:
            raise broken(self._next, "malformed") from None

    def finish(self) -> Checked:
        if self._part != _END:
            raise broken(self._next, "end")
        return self._started().finish()

    def _entry(self, record: Mapping[str, Any]) -> None:
        self._enter(_ENTRIES)
        prev, found = bytes.fromhex(record["prev"]), bytes.fromhex(record["hash"])
        entry = (record["seq"], prev, record["body"].encode(), found)
        check = self._check or self._started(base_of(entry))
        check.entry(entry)
        self._next = record["seq"] + 1

    def _last(self, record: Mapping[str, Any]) -> None:
        self._enter(_END)
        closed(record, {"v": integer(VERSION, VERSION), "signed": or_none(RECORD)})
        if record["signed"] is not None:
            self._started().signed(read_signed(record["signed"]))

    def _enter(self, part: int) -> None:
        # Each part in its place, and one last line.
        if part < self._part or self._part == _END:
            raise broken(self._next, "malformed")
        self._part = part

    def _started(self, after: Head | None = None) -> LogCheck:
        if self._check is None:
            self._check = LogCheck(keys=self._keys, to_the_end=True, after=after)
        return self._check


def _values(record: object, fields: Fields) -> dict[str, Any]:
    values = dict(closed(record, fields))
    for name in _HASHES & values.keys():
        values[name] = bytes.fromhex(values[name])
    for name in _RAW & values.keys():
        values[name] = decode_bytes(values[name])
    if "frame" in values:
        values["frame"] = values["frame"].encode()
    return values


def _read(line: bytes) -> dict[str, Any]:
    record = read_object(line.removesuffix(b"\n"), max_bytes=MAX_LINE_BYTES)
    # One form only: else a byte could change and mean the same.
    if _line(record) != line:
        raise RemoteProtocolError("json.malformed")
    return record


def _line(record: Mapping[str, Any]) -> bytes:
    return strict_json.canonical(dict(record)) + b"\n"
