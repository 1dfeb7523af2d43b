"""What an envelope can say: closed records, each text bounded in UTF-8 bytes.

The bounds are such that every valid body fits in a frame, even where each byte needs escaping
twice (a control character becomes seven bytes).  A body is words: what they lead to is decided by
the side with authority.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Self

from common.errors import RemoteProtocolError
from common.model.state import Reason, TaskState, final_of
from common.records import (
    COUNT,
    MACHINE,
    MILLISECONDS,
    NAME,
    SEAL_CODE,
    SHA256_HEX,
    SHORT_ID,
    closed,
    fields_of,
    matching,
    one_of,
    or_none,
    raw_bytes,
    record_of,
    utf8,
)
from common.signing import KEY_BYTES, SIGNATURE_BYTES

TASK_TEXT_BYTES: Final = 30 * 1024
SUMMARY_BYTES: Final = 30 * 1024
MESSAGE_BYTES: Final = 8 * 1024

_USER: Final = utf8(128, min_bytes=1)
_STATE: Final = one_of(TaskState)
_WAITING: Final = record_of(
    {"seal_code": SEAL_CODE, "expires_at": MILLISECONDS, "machine": MACHINE}
)


@dataclass(frozen=True, slots=True)
class _Body:
    """Reads itself from a closed record and writes itself back."""

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Return the body when the record has exactly its fields.

        Raises:
            RemoteProtocolError: ``record.fields`` or ``record.field``.
        """
        return cls(**closed(record, fields_of(cls)))

    def to_dict(self) -> dict[str, Any]:
        """Return the record."""
        return {name: getattr(self, name) for name in fields_of(type(self))}


@dataclass(frozen=True, slots=True)
class TaskBody(_Body):
    """What a member asks of a machine.  ``claimed_user`` is the gateway's word alone (P4).

    Attributes:
        received_at: When the gateway took it in, in milliseconds since the epoch.
    """

    task_id: Annotated[str, NAME]
    short_id: Annotated[str, SHORT_ID]
    thread_id: Annotated[str, utf8(256, min_bytes=1)]
    channel: Annotated[str, matching(r"[a-z][a-z0-9_]{0,31}")]
    claimed_user: Annotated[str, _USER]
    text: Annotated[str, utf8(TASK_TEXT_BYTES)]
    lang: Annotated[str, one_of(("en", "zh"))]
    received_at: Annotated[int, MILLISECONDS]


@dataclass(frozen=True, slots=True)
class CancelBody(_Body):
    """A member takes a task back."""

    task_id: Annotated[str, NAME]
    claimed_user: Annotated[str, _USER]


@dataclass(frozen=True, slots=True)
class TombstoneBody(_Body):
    """What had this number expired before it could be delivered.

    Attributes:
        task_id: What it was about; empty when it was about no task.
    """

    task_id: Annotated[str, matching(r"[A-Za-z0-9_-]{0,64}")]


@dataclass(frozen=True, slots=True)
class EventBody(_Body):
    """A step of a task on the machine.

    Attributes:
        waiting: ``{seal_code, expires_at, machine}`` while a person must decide, else None.
        at: When it happened, in milliseconds since the epoch, by the agent's clock.
    """

    task_id: Annotated[str, NAME]
    state: Annotated[str, _STATE]
    message: Annotated[str, utf8(MESSAGE_BYTES)]
    waiting: Annotated[dict[str, Any] | None, or_none(_WAITING)]
    at: Annotated[int, MILLISECONDS]


@dataclass(frozen=True, slots=True)
class ResultBody(_Body):
    """How a task ended (P7), bound to the very envelope that asked for it (R18).

    Attributes:
        task_sha256: `Envelope.sha256` of the task.
    """

    task_id: Annotated[str, NAME]
    task_sha256: Annotated[str, SHA256_HEX]
    state: Annotated[str, _STATE]
    reason: Annotated[str, one_of(Reason)]
    summary: Annotated[str, utf8(SUMMARY_BYTES)]
    at: Annotated[int, MILLISECONDS]

    def __post_init__(self) -> None:
        """Refuse a final state that its reason does not lead to."""
        if final_of(Reason(self.reason))[0] != self.state:
            raise RemoteProtocolError("record.field", field="reason")


@dataclass(frozen=True, slots=True)
class HeadBody(_Body):
    """Where the signer's audit chain stands, and what it holds of the other side's (P6, R58).

    The signature over the envelope makes it two statements: "this is my head", and "this is the
    newest head of yours that I keep".  The second is the countersignature.

    Attributes:
        seq: Number of the signer's newest entry; 0 for an empty chain.
        hash: Its hash, in hex; zeros for an empty chain.
        peer_seq: Number of the newest head that the signer keeps of the other side; 0 for none.
        peer_hash: Its hash, in hex; zeros for none.
        at: When, in milliseconds since the epoch, by the signer's clock.
    """

    seq: Annotated[int, COUNT]
    hash: Annotated[str, SHA256_HEX]
    peer_seq: Annotated[int, COUNT]
    peer_hash: Annotated[str, SHA256_HEX]
    at: Annotated[int, MILLISECONDS]


@dataclass(frozen=True, slots=True)
class RekeyBody(_Body):
    """The signer's next key.  The old one signs the envelope, the new one the proof.

    Attributes:
        public_key: The new key, 32 bytes in base64.
        proof: The new key's signature under `signing.REKEY`, in base64.
    """

    public_key: Annotated[str, raw_bytes(KEY_BYTES)]
    proof: Annotated[str, raw_bytes(SIGNATURE_BYTES)]


Body = TaskBody | CancelBody | TombstoneBody | EventBody | ResultBody | HeadBody | RekeyBody

BODIES: Final[Mapping[str, type[Body]]] = {
    "task": TaskBody,
    "cancel": CancelBody,
    "tombstone": TombstoneBody,
    "event": EventBody,
    "result": ResultBody,
    "head": HeadBody,
    "rekey": RekeyBody,
}
