"""Reads the decrypted XML of a self-built app (pages 90239, 90240)."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from common.errors import RemoteProtocolError
from gateway.base.messages import EVENT, FIRST_APP, Click, InboundMessage
from gateway.wecom.xml import cdata, parse_fields

NAME: Final = "wecom_app"
PRESSED: Final = "template_card_event"

_DIGITS: Final = re.compile(r"[0-9]{1,12}", re.ASCII)
_MSG_ID: Final = re.compile(r"[0-9]{1,20}", re.ASCII)  # 64 bits
_WORD: Final = re.compile(r"[A-Za-z_]{1,64}", re.ASCII)
_NAME: Final = re.compile(r"[!-~]{1,128}", re.ASCII)  # corp and member ids are visible ASCII
_CARD_ID: Final = re.compile(r"[0-9A-Za-z_@-]{1,128}", re.ASCII)
_KEY: Final = re.compile(r"[!-~]{1,1024}", re.ASCII)
_HANDLE: Final = re.compile(r"[!-~]{1,512}", re.ASCII)
# Two different events of one member in one second differ in at least one of these.
_EVENT_KEYS: Final = ("Event", "EventKey", "ChangeType", "TaskId")


def parse_message(document: bytes, *, app: str = FIRST_APP) -> InboundMessage:
    """Return the message in a decrypted callback of a self-built app.

    Args:
        document: What was decrypted.
        app: Name of the app in the settings.

    Raises:
        RemoteProtocolError: ``xml.malformed``, or ``message.malformed`` (field).
    """
    fields = parse_fields(document)
    # The tag is spelled AgentId in taskcard_click alone.
    if "AgentId" in fields:
        fields.setdefault("AgentID", fields["AgentId"])
    msg_type = _matching(fields, "MsgType", _WORD).lower()
    is_event = msg_type == EVENT
    return InboundMessage(
        channel=NAME,
        bot=_matching(fields, "AgentID", _DIGITS),
        user=_matching(fields, "FromUserName", _NAME),
        msg_type=msg_type,
        text=_matching(fields, "Content", None) if msg_type == "text" else None,
        dedupe_key=_event_key(fields) if is_event else _message_key(fields),
        created_s=int(_matching(fields, "CreateTime", _DIGITS)),
        event=_matching(fields, "Event", _WORD).lower() if is_event else None,
        corp=_matching(fields, "ToUserName", _NAME),
        app=app,
        click=_click(fields) if is_event else None,
    )


def _click(fields: dict[str, str]) -> Click | None:
    """Return what was pressed (page 90240); None for every other event."""
    if fields.get("Event", "").lower() != PRESSED:
        return None
    handle = fields.get("ResponseCode", "")
    return Click(
        card_id=_matching(fields, "TaskId", _CARD_ID),
        key=_matching(fields, "EventKey", _KEY),
        handle=handle if _HANDLE.fullmatch(handle) else None,
    )


def render_text(text: str, *, to: InboundMessage, at_s: int) -> str:
    """Return a text as a passive reply (page 90241), not yet encrypted."""
    return (
        f"<xml><ToUserName>{cdata(to.user)}</ToUserName>"
        f"<FromUserName>{cdata(to.corp)}</FromUserName>"
        f"<CreateTime>{at_s}</CreateTime><MsgType>{cdata('text')}</MsgType>"
        f"<Content>{cdata(text)}</Content></xml>"
    )


def _message_key(fields: dict[str, str]) -> str:
    # MsgId alone has collided between members in the field.
    _matching(fields, "MsgId", _MSG_ID)
    return _hash("message", fields, ("ToUserName", "AgentID", "FromUserName", "MsgId"))


def _event_key(fields: dict[str, str]) -> str:
    names = ("ToUserName", "AgentID", "FromUserName", "CreateTime", *_EVENT_KEYS)
    return _hash(EVENT, fields, names)


def _hash(kind: str, fields: dict[str, str], names: tuple[str, ...]) -> str:
    # XML cannot hold NUL, so joined values cannot be shifted against each other.
    values = "\0".join((NAME, kind, *(fields.get(name, "") for name in names)))
    return hashlib.sha256(values.encode()).hexdigest()


def _matching(fields: dict[str, str], name: str, pattern: re.Pattern[str] | None) -> str:
    value = fields.get(name)
    if value is None or (pattern is not None and not pattern.fullmatch(value)):
        raise RemoteProtocolError("message.malformed", field=name)
    return value
