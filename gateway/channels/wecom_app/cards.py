"""A card as WeCom draws it: ``button_interaction`` (page 90236), and its change (page 94888).

WeCom recommends how long its parts are and cuts what is longer.  Nothing on a card approves
anything: whatever is clicked comes back as a message of the member.
"""

from __future__ import annotations

from typing import Any, Final

from common.text import clip_bytes, one_line
from gateway.base.messages import Card
from gateway.channels.wecom_app.messages import inert

_FACTS: Final = 6
_TITLE_BYTES: Final = 108  # 36 characters of Chinese
_LABEL_BYTES: Final = 30
_FACT_BYTES: Final = 90
_LINE_BYTES: Final = 480
_BUTTON_BYTES: Final = 30
_SOURCE: Final = {"desc": "CodexBridge", "desc_color": 0}


def template_card(card: Card) -> dict[str, Any]:
    """Return the ``template_card`` of a message."""
    return {
        "card_type": "button_interaction",
        "source": _SOURCE,
        "main_title": {
            "title": _line(card.title, _TITLE_BYTES),
            "desc": _line(card.said, _TITLE_BYTES),
        },
        "sub_title_text": clip_bytes(inert(card.line), _LINE_BYTES),
        "horizontal_content_list": [
            {"keyname": _line(label, _LABEL_BYTES), "value": _line(value, _FACT_BYTES)}
            for label, value in card.facts[:_FACTS]
        ],
        "task_id": card.card_id,
        "button_list": [
            {"text": _line(label, _BUTTON_BYTES), "style": 1 if number == 0 else 2, "key": key}
            for number, (key, label) in enumerate(card.buttons)
        ],
    }


def _line(text: str, limit: int) -> str:
    return one_line(inert(text), limit)
