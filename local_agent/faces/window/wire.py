"""What agent and window say to each other: one order in, one answer out (R27).  Pure.

    order    LENGTH SP LENGTH LF, then that many bytes of JSON and of diff, and nothing after
    answer   one line of JSON that repeats approval, digest and nonce of the order

Whatever else comes out of the window is no decision.
"""

from __future__ import annotations

import hmac
import re
from dataclasses import asdict, dataclass, fields
from typing import Final, Literal

from common.errors import AuthError, RemoteProtocolError
from common.sentences import Lang
from common.strict_json import canonical, loads
from local_agent.views import from_json
from local_agent.views.question import ApprovalView

Theme = Literal["light", "dark"]
Choice = Literal["approve", "reject", "none", "narrow", "check"]

MAX_TOLD: Final = 8_000_000  # bytes of JSON: the seal of a change of some thousand files
MAX_DIFF: Final = 16_000_000  # bytes; the parser has a bound of its own
MAX_ANSWER: Final = 1_000_000  # bytes: the names of files to keep
MAX_TYPED: Final = 64

_HEAD: Final = re.compile(rb"(0|[1-9][0-9]{0,8}) (0|[1-9][0-9]{0,8}|-)\n")
_HEAD_BYTES: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a window is to show.

    Attributes:
        shown: The approval as `local_agent.faces.telling` tells it; of what explains it, only what
            there is goes over the pipe.
        nonce: Of this one window; an answer must repeat it.
        lasts_s: Seconds after which the window closes undecided.
    """

    shown: ApprovalView
    nonce: str
    lang: Lang
    theme: Theme
    lasts_s: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a person did in the window.

    Attributes:
        digest: Computed in the window, from the bytes that it showed.
        typed: The code as it was typed; empty where none was asked for.
        keep: Paths of the files to keep, for ``narrow``.
    """

    approval_id: str
    digest: str
    nonce: str
    decision: Choice
    typed: str = ""
    keep: tuple[str, ...] = ()


_ANSWERED: Final = frozenset(field.name for field in fields(Answer))


def encode_order(order: Order, diff: bytes | None) -> bytes:
    """Return an order and the diff that belongs to it, as the window reads them."""
    raw = asdict(order)
    raw["shown"] = {name: told for name, told in raw["shown"].items() if told is not None}
    told = canonical(raw)
    size = "-" if diff is None else str(len(diff))
    return f"{len(told)} {size}\n".encode() + told + (diff or b"")


def decode_order(raw: bytes) -> tuple[Order, bytes | None]:
    """Return an order and its diff.

    Raises:
        RemoteProtocolError: ``window.order``.
    """
    head = _HEAD.match(raw[:_HEAD_BYTES])
    if head is None:
        raise RemoteProtocolError("window.order")
    told, diff = raw[head.end() :][: int(head[1])], raw[head.end() + int(head[1]) :]
    none = head[2] == b"-"
    if len(told) != int(head[1]) or len(diff) != (0 if none else int(head[2])):
        raise RemoteProtocolError("window.order")
    try:
        return from_json(Order, loads(told, max_bytes=MAX_TOLD)), None if none else diff
    except RemoteProtocolError:
        raise RemoteProtocolError("window.order") from None


def encode_answer(answer: Answer) -> bytes:
    """Return an answer as one line."""
    return canonical(asdict(answer)) + b"\n"


def decode_answer(raw: bytes, order: Order) -> Answer:
    """Return the answer to an order.

    Args:
        raw: All that the window wrote.
        order: What it was told to show.

    Raises:
        RemoteProtocolError: ``window.answer``: it is not one line, or not in its form.
        AuthError: ``window.other``: it answers something else.
    """
    if raw.count(b"\n") != 1 or not raw.endswith(b"\n"):
        raise RemoteProtocolError("window.answer")
    found = loads(raw, max_bytes=MAX_ANSWER)
    try:
        answer = from_json(Answer, found)
    except RemoteProtocolError:
        raise RemoteProtocolError("window.answer") from None
    if found.keys() != _ANSWERED or len(answer.typed) > MAX_TYPED:
        raise RemoteProtocolError("window.answer")
    wanted = (order.shown.approval_id, order.shown.digest, order.nonce)
    given = (answer.approval_id, answer.digest, answer.nonce)
    if not hmac.compare_digest(canonical(given), canonical(wanted)):
        raise AuthError("window.other")
    return answer
