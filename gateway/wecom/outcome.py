"""What an answer of WeCom means for the one message that was sent (pages 90236, 90313).

Pure.  What to do about it, and when, is the outbox's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from common.redact import redact
from common.text import one_line
from gateway.base.messages import SendOutcome

MAX_ERRMSG_BYTES: Final = 300
BUSY_S: Final = 2.0
LINE_S: Final = 5.0  # the line or the server failed
FREQUENCY_S: Final = 60.0  # 45009 blocks for the rest of its minute at least (page 90313)
REFUSED_S: Final = 600.0  # a wrong secret, tried again and again, locks the address for an hour

TOKEN_DEAD: Final = frozenset({40014, 41001, 42001})
BUSY: Final = -1
RETRY_AFTER_S: Final = {BUSY: BUSY_S, 45009: FREQUENCY_S, 45033: LINE_S}
CONFIG_CODES: Final = {
    40001: "wecom.bad-secret",
    40013: "wecom.bad-corp-id",
    40056: "wecom.bad-agent-id",
    40091: "wecom.bad-secret",
    60020: "wecom.untrusted-address",
}

_ERRCODE: Final = re.compile(r"-?[0-9]{1,9}", re.ASCII)


def errcode_of(answer: Mapping[str, Any]) -> int | None:
    """Return WeCom's number, also where it is written as a string; None when there is none."""
    errcode = answer.get("errcode")
    if isinstance(errcode, str) and _ERRCODE.fullmatch(errcode):
        return int(errcode)
    return errcode if isinstance(errcode, int) and not isinstance(errcode, bool) else None


def judge_token(answer: Mapping[str, Any]) -> SendOutcome:
    """Return what an answer to ``gettoken`` that holds no token means for all messages."""
    return _judge(errcode_of(answer), answer, asking_token=True)


def judge_send(answer: Mapping[str, Any]) -> SendOutcome:
    """Return what an answer to ``message/send`` means for its one recipient."""
    errcode = errcode_of(answer)
    if errcode != 0:
        return _judge(errcode, answer, asking_token=False)
    # One recipient was named, so whatever these lists hold is that one (in lower case).
    for name in ("invaliduser", "unlicenseduser"):
        if answer.get(name):
            return SendOutcome("permanent", 0, name, 0.0, f"wecom.{name}")
    return SendOutcome("sent", 0, "ok", 0.0, "wecom.sent")


def judge_status(status: int, *, sending: bool) -> SendOutcome:
    """Return what a status other than 200 means; the page with it is not read."""
    if status >= 500 or status in (408, 429):
        wait_s = FREQUENCY_S if status == 429 else LINE_S
        return SendOutcome("retry", None, f"http {status}", wait_s, "wecom.http", sending)
    # Also a redirect: the address is not that of the API, and nothing is sent elsewhere.
    return SendOutcome("config", None, f"http {status}", REFUSED_S, "wecom.bad-address")


def not_sendable(code: str) -> SendOutcome:
    """Return the outcome of a message that can never be sent, found out before any try."""
    return SendOutcome("permanent", None, code, 0.0, code)


def too_soon(wait_s: float) -> SendOutcome:
    """Return the outcome of a message for which WeCom's pace leaves no room yet."""
    return SendOutcome("retry", None, "wecom.pace", wait_s, "wecom.pace", tried=False)


def unreachable(*, maybe_sent: bool) -> SendOutcome:
    """Return the outcome of a call that got no answer; not even a line, unless it may be sent."""
    return SendOutcome(
        "retry", None, "no answer", LINE_S, "wecom.unreachable", maybe_sent, for_all=not maybe_sent
    )


def unreadable(*, maybe_sent: bool) -> SendOutcome:
    """Return the outcome of a call whose answer says nothing that can be understood."""
    return SendOutcome("retry", None, "unreadable", LINE_S, "wecom.unreadable", maybe_sent)


def _judge(errcode: int | None, answer: Mapping[str, Any], *, asking_token: bool) -> SendOutcome:
    errmsg = one_line(redact(str(answer.get("errmsg", ""))), MAX_ERRMSG_BYTES)
    if errcode is None:
        return unreadable(maybe_sent=not asking_token)
    if errcode in RETRY_AFTER_S:
        wait_s = RETRY_AFTER_S[errcode]
        # "Busy" does not say how far the message came.
        maybe_sent = errcode == BUSY and not asking_token
        return SendOutcome("retry", errcode, errmsg, wait_s, "wecom.busy", maybe_sent)
    code = CONFIG_CODES.get(errcode)
    if code is None and errcode in TOKEN_DEAD:
        code = "wecom.token-refused"
    if code is not None or asking_token:
        return SendOutcome("config", errcode, errmsg, REFUSED_S, code or "wecom.refused")
    return SendOutcome("permanent", errcode, errmsg, 0.0, "wecom.refused")
