"""The exported form of an audit log: JSON lines that verify offline, with the public key alone.

    {"seq":1,"prev":"…","hash":"…","body":"…"}          one line an entry; body is its exact text
    {"kept":{…}}                                        a head of the other half, with its frame
    {"signed":{…},"v":1}                                last: the head that the owner signed

Each line has one form, so that no byte of the file can change unseen.  Pure; lines come in and go
out as bytes, whoever reads or writes the file bounds it.
"""

from __future__ import annotations

import base64
from collections.abc import Container, Iterable, Mapping
from dataclasses import asdict
from typing import Any, Final

from common import strict_json
from common.audit import MAX_ENTRY_BYTES, Entry, Head, SignedHead, base_of, broken
from common.audit_check import Checked, LogCheck
from common.errors import RemoteProtocolError
from common.heads import KeptHead
from common.protocol.codec import (
    MILLISECONDS,
    SEEN,
    SEQ,
    SHA256_HEX,
    Check,
    closed,
    integer,
    raw_bytes,
    utf8,
)
from common.signing import KEY_BYTES, SIGNATURE_BYTES

VERSION: Final = 1
MAX_LINE_BYTES: Final = 64 * 1024  # a body of 16 KiB in which each byte is escaped, with room

_ENTRY: Final[Mapping[str, Check]] = {
    "seq": SEQ,
    "prev": SHA256_HEX,
    "hash": SHA256_HEX,
    "body": utf8(MAX_ENTRY_BYTES),
}
_SIGNED: Final[Mapping[str, Check]] = {
    "seq": SEEN,
    "hash": SHA256_HEX,
    "at": MILLISECONDS,
    "public_key": raw_bytes(KEY_BYTES),
    "signature": raw_bytes(SIGNATURE_BYTES),
}
_KEPT: Final[Mapping[str, Check]] = {
    "peer": utf8(256, min_bytes=1),
    "seq": SEEN,
    "hash": SHA256_HEX,
    "own_seq": SEEN,
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
        record[name] = base64.b64encode(record[name]).decode("ascii")
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
                closed(record, {"kept": _record_or_none})
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
        if self._check is None:
            self._check = self._new(base_of(entry))
        self._check.entry(entry)
        self._next = record["seq"] + 1

    def _last(self, record: Mapping[str, Any]) -> None:
        self._enter(_END)
        closed(record, {"v": integer(VERSION, VERSION), "signed": _record_or_none})
        if record["signed"] is not None:
            self._started().signed(read_signed(record["signed"]))

    def _enter(self, part: int) -> None:
        # Each part in its place, and one last line.
        if part < self._part or self._part == _END:
            raise broken(self._next, "malformed")
        self._part = part

    def _started(self) -> LogCheck:
        if self._check is None:
            self._check = self._new(Head())
        return self._check

    def _new(self, after: Head) -> LogCheck:
        return LogCheck(keys=self._keys, to_the_end=True, after=after)


def _record_or_none(value: object) -> bool:
    return value is None or type(value) is dict


def _values(record: object, checks: Mapping[str, Check]) -> dict[str, Any]:
    if type(record) is not dict:
        raise RemoteProtocolError("record.fields")
    values = dict(closed(record, checks))
    for name in _HASHES & values.keys():
        values[name] = bytes.fromhex(values[name])
    for name in _RAW & values.keys():
        values[name] = base64.b64decode(values[name])
    if "frame" in values:
        values["frame"] = values["frame"].encode()
    return values


def _read(line: bytes) -> dict[str, Any]:
    record = strict_json.loads(line.removesuffix(b"\n"), max_bytes=MAX_LINE_BYTES)
    # One form only: else a byte could change and mean the same.
    if type(record) is not dict or _line(record) != line:
        raise RemoteProtocolError("json.malformed")
    return record


def _line(record: Mapping[str, Any]) -> bytes:
    return strict_json.canonical(dict(record)) + b"\n"
