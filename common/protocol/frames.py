"""What one WebSocket message can be (R2): a closed set, read whole or refused.

There is no frame that approves, configures or executes.  What the strings inside a frame mean is
told by `handshake` and `envelope`, after their signature held.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal, get_args

from common import strict_json
from common.errors import RemoteProtocolError
from common.records import (
    SEQ,
    closed,
    decode_bytes,
    encode_bytes,
    fields_of,
    integer,
    matching,
    one_of,
    raw_bytes,
    read_object,
    utf8,
)
from common.signing import SIGNATURE_BYTES

OPENING_BYTES: Final = 8 * 1024  # R13: while nobody is authenticated
FRAME_BYTES: Final = 256 * 1024  # afterwards
CODE_PATTERN: Final = r"[a-z][a-z0-9-]{0,31}"

EnvelopeType = Literal["task", "cancel", "tombstone", "event", "result", "head", "rekey"]

_JSON: Final = utf8(FRAME_BYTES, min_bytes=2)
_SIG: Final = raw_bytes(SIGNATURE_BYTES)
_N: Final = integer(0, 2**32 - 1)


@dataclass(frozen=True, slots=True)
class Challenge:
    """Gateway to agent, first of all.  ``body`` is JSON text: `handshake.ChallengeBody`."""

    body: Annotated[str, _JSON]


@dataclass(frozen=True, slots=True)
class Hello:
    """Agent to gateway.  ``body`` is JSON text: `handshake.HelloBody`."""

    body: Annotated[str, _JSON]
    sig: Annotated[bytes, _SIG]


@dataclass(frozen=True, slots=True)
class Ready:
    """Gateway to agent, last of the handshake.  ``body`` is JSON text: `handshake.ReadyBody`."""

    body: Annotated[str, _JSON]
    sig: Annotated[bytes, _SIG]


@dataclass(frozen=True, slots=True)
class Sealed:
    """A signed envelope, not yet verified.  Only `envelope` looks inside."""

    t: Annotated[EnvelopeType, one_of(get_args(EnvelopeType))]
    header: Annotated[str, _JSON]
    body: Annotated[str, _JSON]
    sig: Annotated[bytes, _SIG]


@dataclass(frozen=True, slots=True)
class Ack:
    """Everything up to and including ``seq`` is kept durably by whoever signs it.

    Whoever hears it forgets what it sent, so it must not be for anybody in between to say.
    """

    seq: Annotated[int, SEQ]
    sig: Annotated[bytes, _SIG]


@dataclass(frozen=True, slots=True)
class Ping:
    """Asks for the `Pong` of the same number."""

    n: Annotated[int, _N]


@dataclass(frozen=True, slots=True)
class Pong:
    """Answers the `Ping` of the same number."""

    n: Annotated[int, _N]


@dataclass(frozen=True, slots=True)
class ErrorFrame:
    """The last frame of whoever closes, and why."""

    code: Annotated[str, matching(CODE_PATTERN)]


Frame = Challenge | Hello | Ready | Sealed | Ack | Ping | Pong | ErrorFrame

_KINDS: Final[dict[str, type[Frame]]] = {
    "challenge": Challenge,
    "hello": Hello,
    "ready": Ready,
    **dict.fromkeys(get_args(EnvelopeType), Sealed),
    "ack": Ack,
    "ping": Ping,
    "pong": Pong,
    "error": ErrorFrame,
}
_NAMES: Final = {kind: name for name, kind in _KINDS.items()}


def decode_frame(data: str | bytes, *, max_bytes: int = FRAME_BYTES) -> Frame:
    """Read one WebSocket message.

    Raises:
        RemoteProtocolError: ``json.*``, ``frame.unknown``, ``record.fields``, ``record.field``.
    """
    if len(data) > max_bytes:  # characters never outnumber bytes: refuse before encoding them
        raise RemoteProtocolError("json.too-large", limit=max_bytes)
    record = read_object(data, max_bytes=max_bytes)
    name = record.get("t")
    kind = _KINDS.get(name) if type(name) is str else None
    if kind is None:
        raise RemoteProtocolError("frame.unknown")
    if kind is not Sealed:
        del record["t"]
    values = closed(record, fields_of(kind))
    if "sig" in values:
        values["sig"] = decode_bytes(values["sig"])
    return kind(**values)


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
