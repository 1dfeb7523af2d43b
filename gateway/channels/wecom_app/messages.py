"""Reads the decrypted XML of a self-built app (pages 90239, 90240)."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from common.errors import RemoteProtocolError
from common.text import CHAT_BYTES
from gateway.base.messages import FIRST_APP, TEXT, UNREADABLE, Click, InboundMessage, Part
from gateway.wecom.client import card_handle
from gateway.wecom.xml import cdata, parse_fields

NAME: Final = "wecom_app"
EVENT: Final = "event"
PRESSED: Final = "template_card_event"

# WeCom draws ``<a href=…>`` in a text as a link that hides where it leads (page 90236).
_ANCHOR: Final = re.compile(r"<(?=\s*+/?+\s*+a\b)", re.IGNORECASE)
_DIGITS: Final = re.compile(r"[0-9]{1,12}", re.ASCII)
_TEXT_OPENS: Final = b"<Content><![CDATA["
_TEXT_CLOSES: Final = b"]]></Content>"
_MSG_ID: Final = re.compile(r"[0-9]{1,20}", re.ASCII)  # 64 bits
_WORD: Final = re.compile(r"[A-Za-z_]{1,64}", re.ASCII)
_NAME: Final = re.compile(r"[!-~]{1,128}", re.ASCII)  # corp and member ids are visible ASCII
_CARD_ID: Final = re.compile(r"[0-9A-Za-z_@-]{1,128}", re.ASCII)
_KEY: Final = re.compile(r"[!-~]{1,1024}", re.ASCII)
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
    try:
        fields = parse_fields(document)
    except RemoteProtocolError:
        fields = _fields_around_text(document)
    # The tag is spelled AgentId in taskcard_click alone.
    if "AgentId" in fields:
        fields.setdefault("AgentID", fields["AgentId"])
    msg_type = _matching(fields, "MsgType", _WORD).lower()
    is_event = msg_type == EVENT
    return InboundMessage(
        channel=NAME,
        bot=_matching(fields, "AgentID", _DIGITS),
        user=_matching(fields, "FromUserName", _NAME),
        parts=() if is_event else (_part(msg_type, fields),),
        dedupe_key=_event_key(fields) if is_event else _message_key(fields),
        created_s=int(_matching(fields, "CreateTime", _DIGITS)),
        event=_matching(fields, "Event", _WORD).lower() if is_event else None,
        corp=_matching(fields, "ToUserName", _NAME),
        app=app,
        click=_click(fields) if is_event else None,
        reply=card_handle(fields.get("ResponseCode")) if is_event else None,
    )


def _fields_around_text(document: bytes) -> dict[str, str]:
    """Return the fields of a text message whose words alone are no XML; they are left out (R7).

    Control characters, and ``]]>`` as it was typed, have been seen in the field.  A member writes
    between the first opening and the last close, and nowhere else: no field comes from there.

    Raises:
        RemoteProtocolError: ``xml.malformed``.
    """
    before, _, rest = document.partition(_TEXT_OPENS)
    _, closes, after = rest.rpartition(_TEXT_CLOSES)
    fields = parse_fields(before + after)
    if not closes or "Content" in fields or fields.get("MsgType") != TEXT:
        raise RemoteProtocolError("xml.malformed")
    return fields | {"MsgType": UNREADABLE}


def _part(kind: str, fields: dict[str, str]) -> Part:
    return Part(kind, _matching(fields, "Content", None) if kind == TEXT else "")


def _click(fields: dict[str, str]) -> Click | None:
    """Return what was pressed (page 90240); None for every other event."""
    if fields.get("Event", "").lower() != PRESSED:
        return None
    return Click(
        card_id=_matching(fields, "TaskId", _CARD_ID), key=_matching(fields, "EventKey", _KEY)
    )


def inert(text: str) -> str:
    """Return the text with nothing in it that WeCom would draw as anything but text (R73).

    What fits into a message fits afterwards.
    """
    shown = _ANCHOR.sub("\uff1c", text)
    return shown if len(shown.encode()) <= CHAT_BYTES else _ANCHOR.sub("[", text)


def render_text(text: str, *, to: InboundMessage, at_s: int) -> str:
    """Return a text as a passive reply (page 90241), not yet encrypted."""
    return (
        f"<xml><ToUserName>{cdata(to.user)}</ToUserName>"
        f"<FromUserName>{cdata(to.corp)}</FromUserName>"
        f"<CreateTime>{at_s}</CreateTime><MsgType>{cdata('text')}</MsgType>"
        f"<Content>{cdata(inert(text))}</Content></xml>"
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
