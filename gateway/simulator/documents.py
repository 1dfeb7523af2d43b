"""The XML of callbacks and of passive replies, as WeCom's side writes and reads it.

Pages 90238 to 90241.  Reading is expat's, which refuses what is no XML; on top of it no document
type, no attribute and no processing instruction is taken.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from xml.parsers import expat
from xml.sax.saxutils import escape

from common.text import CHAT_BYTES, clip_bytes
from gateway.simulator.cards import card_fault
from gateway.simulator.crypto import SimulatedCrypto

MAX_DEPTH: Final = 8
MAX_REPLY_BYTES: Final = 65_536
# Events that a gateway may answer in the response (page 90241).
REPLY_EVENTS: Final = frozenset(
    {"subscribe", "enter_agent", "location", "click", "view", "view_miniprogram"}
    | {"scancode_waitmsg", "template_card_menu_event"}
)
CARD_EVENT: Final = "template_card_event"
_CARD_REPLIES: Final = frozenset({"update_button", "update_template_card"})
_CHAT_REPLIES: Final = frozenset({"text", "image", "voice", "video", "news"})
# Fields of a card that are lists, however many of them there are.
_LISTS: Final = frozenset(
    {"button_list", "horizontal_content_list", "vertical_content_list", "jump_list"}
    | {"action_list", "select_list", "option_list"}
)
_CONTROLS: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

Node: TypeAlias = "str | dict[str, list[Node]]"


class ReplyError(ValueError):
    """A passive reply does not count; ``str()`` says why, in WeCom's terms."""


@dataclass(frozen=True, slots=True)
class PassiveReply:
    """What a gateway answered within the response.

    Attributes:
        kind: Its MsgType.
        text: What is shown of it.
        card: The new card of ``update_template_card``.
    """

    kind: str
    text: str
    card: dict[str, Any] | None = None


def message_xml(
    fields: Mapping[str, str | int], selected: Mapping[str, Sequence[str]] | None = None
) -> bytes:
    """Return a plain callback; ``selected`` is what was chosen on a card, by question."""
    inner = "".join(
        f"<{name}>{escape(_CONTROLS.sub('', str(value)))}</{name}>"
        for name, value in fields.items()
    )
    if selected:
        items = "".join(
            f"<SelectedItem><QuestionKey>{escape(question)}</QuestionKey><OptionIds>"
            + "".join(f"<OptionId>{escape(one)}</OptionId>" for one in options)
            + "</OptionIds></SelectedItem>"
            for question, options in selected.items()
        )
        inner += f"<SelectedItems>{items}</SelectedItems>"
    return f"<xml>{inner}</xml>".encode()


def envelope_xml(corp_id: str, app_id: int, encrypted: str) -> bytes:
    """Return the body of a callback."""
    return (
        f"<xml><ToUserName><![CDATA[{corp_id}]]></ToUserName>"
        f"<AgentID><![CDATA[{app_id}]]></AgentID>"
        f"<Encrypt><![CDATA[{encrypted}]]></Encrypt></xml>"
    ).encode()


def read_tree(document: bytes) -> dict[str, list[Node]]:
    """Return what is below ``<xml>``.

    Raises:
        ReplyError: it is no such document.
    """
    stack: list[tuple[str, dict[str, list[Node]], list[str]]] = []
    root: list[dict[str, list[Node]]] = []

    def refuse(*_: object) -> None:
        raise ReplyError("XML")

    def begin(name: str, attributes: dict[str, str]) -> None:
        if attributes or len(stack) >= MAX_DEPTH or (not stack and (root or name != "xml")):
            raise ReplyError("XML")
        stack.append((name, {}, []))

    def end(_name: str) -> None:
        name, children, texts = stack.pop()
        if not stack:
            root.append(children)
            return
        if children and "".join(texts).strip():
            raise ReplyError("XML")
        node: Node = children or "".join(texts)
        stack[-1][1].setdefault(name, []).append(node)

    def collect(text: str) -> None:
        stack[-1][2].append(text)

    parser = expat.ParserCreate("utf-8")
    parser.StartDoctypeDeclHandler = refuse
    parser.ProcessingInstructionHandler = refuse
    parser.StartElementHandler = begin
    parser.EndElementHandler = end
    parser.CharacterDataHandler = collect
    try:
        parser.Parse(document, True)
    except expat.ExpatError:
        raise ReplyError("XML") from None
    return root[0]


def read_reply(
    body: bytes, crypto: SimulatedCrypto, *, corp_id: str, user: str, event: str
) -> tuple[PassiveReply, str]:
    """Verify, decrypt and read the passive reply in a response (page 90241).

    Args:
        body: What came with the 200.
        crypto: Of the app.
        corp_id: Who must have written it.
        user: Whom it must be for.
        event: The event that it answers; empty for a message.

    Returns:
        The reply, and its plain text.

    Raises:
        ReplyError: WeCom would not take it.
    """
    sealed = read_tree(body)
    encrypted, given, timestamp, nonce = (
        _only(sealed, name) for name in ("Encrypt", "MsgSignature", "TimeStamp", "Nonce")
    )
    expected = crypto.signature(timestamp, nonce, encrypted)
    if not hmac.compare_digest(expected.encode(), given.encode()):
        raise ReplyError("MsgSignature")
    try:
        plain = crypto.decrypt(encrypted)
        shown = plain.decode("utf-8")
    except ValueError:
        raise ReplyError("Encrypt") from None
    fields = read_tree(plain)
    if _only(fields, "ToUserName") != user:
        raise ReplyError("ToUserName")
    if _only(fields, "FromUserName") != corp_id:
        raise ReplyError("FromUserName")
    if not re.fullmatch(r"[0-9]{1,12}", _only(fields, "CreateTime"), re.ASCII):
        raise ReplyError("CreateTime")
    return _reply_of(fields, _only(fields, "MsgType"), event.lower()), shown


def _reply_of(fields: dict[str, list[Node]], kind: str, event: str) -> PassiveReply:
    allowed = _CHAT_REPLIES if not event or event in REPLY_EVENTS else frozenset()
    if event == CARD_EVENT:
        allowed = _CARD_REPLIES
    if kind not in allowed:
        raise ReplyError(f"MsgType {kind}")
    match kind:
        case "text":
            return PassiveReply(kind, clip_bytes(_only(fields, "Content"), CHAT_BYTES, marker=""))
        case "update_button":
            return PassiveReply(kind, _only(_below(fields, "Button"), "ReplaceName"))
        case "update_template_card":
            card = _snake(_below(fields, "TemplateCard"))
            if fault := card_fault(card):
                raise ReplyError(fault)
            return PassiveReply(kind, "", card)
        case _:
            return PassiveReply(kind, f"[{kind}]")


def _only(fields: Mapping[str, list[Node]], name: str) -> str:
    found = fields.get(name, [])
    if len(found) != 1 or not isinstance(found[0], str) or not found[0]:
        raise ReplyError(name)
    return found[0]


def _below(fields: Mapping[str, list[Node]], name: str) -> dict[str, list[Node]]:
    found = fields.get(name, [])
    if len(found) != 1 or not isinstance(found[0], dict):
        raise ReplyError(name)
    return found[0]


def _snake(fields: Mapping[str, list[Node]]) -> dict[str, Any]:
    """Return a card in the form that the API has it: the names and numbers of JSON."""
    card: dict[str, Any] = {}
    for name, nodes in fields.items():
        key = _CAMEL.sub("_", name).lower()
        values = [_snake(one) if isinstance(one, dict) else _number(key, one) for one in nodes]
        if key not in _LISTS and len(values) != 1:
            raise ReplyError(name)
        card[key] = values if key in _LISTS else values[0]
    return card


def _number(key: str, text: str) -> str | int:
    is_number = key in ("type", "style", "mode", "disable") and re.fullmatch(r"[0-9]{1,3}", text)
    return int(text) if is_number else text
