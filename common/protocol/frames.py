"""What one WebSocket message can be (R2): a closed set, read whole or refused.

There is no frame that approves, configures or executes.  What the strings inside a frame mean is
told by `handshake` and `envelope`, after their signature held.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from common import strict_json
from common.errors import RemoteProtocolError
from common.protocol.codec import (
    SEQ,
    Check,
    closed,
    decode_bytes,
    encode_bytes,
    integer,
    matching,
    raw_bytes,
    read_object,
    utf8,
)
from common.signing import SIGNATURE_BYTES

OPENING_BYTES: Final = 8 * 1024  # R13: while nobody is authenticated
FRAME_BYTES: Final = 256 * 1024  # afterwards
CODE_PATTERN: Final = r"[a-z][a-z0-9-]{0,31}"

EnvelopeType = Literal["task", "cancel", "tombstone", "event", "result", "head", "rekey"]


@dataclass(frozen=True, slots=True)
class Challenge:
    """Gateway to agent, first of all.  ``body`` is JSON text: `handshake.ChallengeBody`."""

    body: str


@dataclass(frozen=True, slots=True)
class Hello:
    """Agent to gateway.  ``body`` is JSON text: `handshake.HelloBody`."""

    body: str
    sig: bytes


@dataclass(frozen=True, slots=True)
class Ready:
    """Gateway to agent, last of the handshake.  ``body`` is JSON text: `handshake.ReadyBody`."""

    body: str
    sig: bytes


@dataclass(frozen=True, slots=True)
class Sealed:
    """A signed envelope, not yet verified.  Only `envelope` looks inside."""

    t: EnvelopeType
    header: str
    body: str
    sig: bytes


@dataclass(frozen=True, slots=True)
class Ack:
    """Everything up to and including ``seq`` is kept durably by whoever signs it.

    Whoever hears it forgets what it sent, so it must not be for anybody in between to say.
    """

    seq: int
    sig: bytes


@dataclass(frozen=True, slots=True)
class Ping:
    """Asks for the `Pong` of the same number."""

    n: int


@dataclass(frozen=True, slots=True)
class Pong:
    """Answers the `Ping` of the same number."""

    n: int


@dataclass(frozen=True, slots=True)
class ErrorFrame:
    """The last frame of whoever closes, and why."""

    code: str


Frame = Challenge | Hello | Ready | Sealed | Ack | Ping | Pong | ErrorFrame

_JSON: Final = utf8(FRAME_BYTES, min_bytes=2)
_SIG: Final = raw_bytes(SIGNATURE_BYTES)
_N: Final = integer(0, 2**32 - 1)
_SEALED: Final[dict[str, Check]] = {"header": _JSON, "body": _JSON, "sig": _SIG}

_FIELDS: Final[dict[str, Mapping[str, Check]]] = {
    "challenge": {"body": _JSON},
    "hello": {"body": _JSON, "sig": _SIG},
    "ready": {"body": _JSON, "sig": _SIG},
    "task": _SEALED,
    "cancel": _SEALED,
    "tombstone": _SEALED,
    "event": _SEALED,
    "result": _SEALED,
    "head": _SEALED,
    "rekey": _SEALED,
    "ack": {"seq": SEQ, "sig": _SIG},
    "ping": {"n": _N},
    "pong": {"n": _N},
    "error": {"code": matching(CODE_PATTERN)},
}
_BUILD: Final[dict[str, Callable[..., Frame]]] = {
    "challenge": Challenge,
    "hello": Hello,
    "ready": Ready,
    "ack": Ack,
    "ping": Ping,
    "pong": Pong,
    "error": ErrorFrame,
}
_NAMES: Final = {kind: name for name, kind in _BUILD.items()}


def decode_frame(data: str | bytes, *, max_bytes: int = FRAME_BYTES) -> Frame:
    """Read one WebSocket message.

    Raises:
        RemoteProtocolError: ``json.*``, ``frame.unknown``, ``record.fields``, ``record.field``.
    """
    if len(data) > max_bytes:  # characters never outnumber bytes: refuse before encoding them
        raise RemoteProtocolError("json.too-large", limit=max_bytes)
    record = read_object(data, max_bytes=max_bytes)
    name = record.pop("t", None)
    checks = _FIELDS.get(name) if type(name) is str else None
    if checks is None:
        raise RemoteProtocolError("frame.unknown")
    fields: dict[str, Any] = dict(closed(record, checks))
    if "sig" in fields:
        fields["sig"] = decode_bytes(fields["sig"])
    build = _BUILD.get(name)
    return build(**fields) if build else Sealed(t=name, **fields)


def envelope_type(frame: bytes) -> str:
    """Return the kind of a sealed frame of our own making, at the cost of a glance.

    Not for what comes from outside: it relies on the stored form, in which ``t`` stands last.
    """
    return frame.rpartition(b'"t":"')[2][:-2].decode("ascii")


def encode_frame(frame: Frame) -> str:
    """Return the message for the wire: the stored form of R21, so that equal frames are equal."""
    record: dict[str, object] = {name: getattr(frame, name) for name in frame.__slots__}
    if isinstance(sig := record.get("sig"), bytes):
        record["sig"] = encode_bytes(sig)
    if not isinstance(frame, Sealed):
        record["t"] = _NAMES[type(frame)]
    return strict_json.canonical(record).decode("ascii")
