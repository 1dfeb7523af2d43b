"""What an envelope can say: five closed records, each text bounded in UTF-8 bytes.

The bounds are such that every valid body fits in a frame, even where each byte needs escaping
twice (a control character becomes seven bytes).  A body is words: what they lead to is decided by
the side with authority.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Self

from common.errors import RemoteProtocolError
from common.model.state import Reason, TaskState, final_of
from common.protocol.codec import (
    MACHINE,
    MILLISECONDS,
    NAME,
    SHA256_HEX,
    Check,
    closed,
    matching,
    one_of,
    utf8,
)

TASK_TEXT_BYTES: Final = 30 * 1024
SUMMARY_BYTES: Final = 30 * 1024
MESSAGE_BYTES: Final = 8 * 1024

_SHORT_ID: Final = matching(r"T-[0-9A-Z]{4,5}")
_SEAL_CODE: Final = matching(r"[0-9A-Z]{4}-[0-9A-Z]{4}")
_USER: Final = utf8(128, min_bytes=1)
_STATE: Final = one_of(TaskState)


@dataclass(frozen=True, slots=True)
class _Body:
    """Reads itself from a closed record and writes itself back."""

    CHECKS: ClassVar[Mapping[str, Check]]

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Return the body when the record has exactly its fields.

        Raises:
            RemoteProtocolError: ``record.fields`` or ``record.field``.
        """
        return cls(**closed(record, cls.CHECKS))

    def to_dict(self) -> dict[str, Any]:
        """Return the record."""
        return {name: getattr(self, name) for name in self.CHECKS}


@dataclass(frozen=True, slots=True)
class TaskBody(_Body):
    """What a member asks of a machine.  ``claimed_user`` is the gateway's word alone (P4).

    Attributes:
        received_at: When the gateway took it in, in milliseconds since the epoch.
    """

    task_id: str
    short_id: str
    thread_id: str
    channel: str
    claimed_user: str
    text: str
    lang: str
    received_at: int

    CHECKS: ClassVar[Mapping[str, Check]] = {
        "task_id": NAME,
        "short_id": _SHORT_ID,
        "thread_id": utf8(256, min_bytes=1),
        "channel": matching(r"[a-z][a-z0-9_]{0,31}"),
        "claimed_user": _USER,
        "text": utf8(TASK_TEXT_BYTES),
        "lang": one_of(("en", "zh")),
        "received_at": MILLISECONDS,
    }


@dataclass(frozen=True, slots=True)
class CancelBody(_Body):
    """A member takes a task back."""

    task_id: str
    claimed_user: str

    CHECKS: ClassVar[Mapping[str, Check]] = {"task_id": NAME, "claimed_user": _USER}


@dataclass(frozen=True, slots=True)
class TombstoneBody(_Body):
    """What had this number expired before it could be delivered."""

    task_id: str

    CHECKS: ClassVar[Mapping[str, Check]] = {"task_id": NAME}


def _waiting(value: object) -> bool:
    if value is None:
        return True
    if type(value) is not dict:
        return False
    try:
        closed(value, _WAITING)
    except RemoteProtocolError:
        return False
    return True


_WAITING: Final[Mapping[str, Check]] = {
    "seal_code": _SEAL_CODE,
    "expires_at": MILLISECONDS,
    "machine": MACHINE,
}


@dataclass(frozen=True, slots=True)
class EventBody(_Body):
    """A step of a task on the machine.

    Attributes:
        waiting: ``{seal_code, expires_at, machine}`` while a person must decide, else None.
        at: When it happened, in milliseconds since the epoch, by the agent's clock.
    """

    task_id: str
    state: str
    message: str
    waiting: dict[str, Any] | None
    at: int

    CHECKS: ClassVar[Mapping[str, Check]] = {
        "task_id": NAME,
        "state": _STATE,
        "message": utf8(MESSAGE_BYTES),
        "waiting": _waiting,
        "at": MILLISECONDS,
    }


@dataclass(frozen=True, slots=True)
class ResultBody(_Body):
    """How a task ended (P7), bound to the very envelope that asked for it (R18).

    Attributes:
        task_sha256: `Envelope.sha256` of the task.
    """

    task_id: str
    task_sha256: str
    state: str
    reason: str
    summary: str
    at: int

    CHECKS: ClassVar[Mapping[str, Check]] = {
        "task_id": NAME,
        "task_sha256": SHA256_HEX,
        "state": _STATE,
        "reason": one_of(Reason),
        "summary": utf8(SUMMARY_BYTES),
        "at": MILLISECONDS,
    }

    def __post_init__(self) -> None:
        """Refuse a final state that its reason does not lead to."""
        if final_of(Reason(self.reason))[0] != self.state:
            raise RemoteProtocolError("record.field", field="reason")


Body = TaskBody | CancelBody | TombstoneBody | EventBody | ResultBody

BODIES: Final[Mapping[str, type[Body]]] = {
    "task": TaskBody,
    "cancel": CancelBody,
    "tombstone": TombstoneBody,
    "event": EventBody,
    "result": ResultBody,
}
