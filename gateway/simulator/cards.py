"""Template cards: the documented limits, and what can be clicked on one (pages 90236, 101032).

Pure.  WeCom documents no error code of its own for a card that breaks a rule; the simulator
answers 40058 and names the field.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

TASK_ID: Final = re.compile(r"[0-9A-Za-z_\-@]{1,128}", re.ASCII)
MAX_KEY_BYTES: Final = 1024
TYPES: Final = frozenset(
    {"text_notice", "news_notice", "button_interaction", "vote_interaction"}
    | {"multiple_interaction"}
)
INTERACTIVE: Final = frozenset({"button_interaction", "vote_interaction", "multiple_interaction"})
_MOST: Final = {"horizontal_content_list": 6, "jump_list": 3, "vertical_content_list": 4}


class _BrokenRuleError(Exception):
    """A rule of the documents is broken; ``str()`` names the field."""


def card_fault(card: Any) -> str:
    """Return which field breaks a rule, and how; empty for a good card."""
    try:
        _check(card)
    except _BrokenRuleError as broken:
        return str(broken)
    return ""


def needs_task_id(card: Mapping[str, Any]) -> bool:
    """Tell whether clicks on a card come back."""
    return card.get("card_type") in INTERACTIVE or "action_menu" in card


def choices_of(card: Mapping[str, Any]) -> dict[str, str]:
    """Return what can be clicked, by key, with its text: buttons that call back, and the submit."""
    buttons = {
        str(one["key"]): str(one["text"])
        for one in card.get("button_list", ())
        if one.get("type", 0) == 0
    }
    if submit := card.get("submit_button"):
        buttons[str(submit["key"])] = str(submit["text"])
    return buttons


def menu_of(card: Mapping[str, Any]) -> dict[str, str]:
    """Return the entries of a card's menu, by key."""
    actions = card.get("action_menu", {}).get("action_list", ())
    return {str(one["key"]): str(one["text"]) for one in actions}


def questions_of(card: Mapping[str, Any]) -> dict[str, set[str]]:
    """Return the options of each question of a card, by its key."""
    asked = [*card.get("select_list", ())]
    asked += [card[name] for name in ("checkbox", "button_selection") if name in card]
    return {
        str(one["question_key"]): {str(option["id"]) for option in one["option_list"]}
        for one in asked
    }


def text_of(card: Mapping[str, Any]) -> str:
    """Return a card line by line, for who sees no cards: what it says, its facts, its buttons."""
    title = card.get("main_title", {})
    parts = [title.get("title"), title.get("desc"), card.get("sub_title_text")]
    rows = card.get("horizontal_content_list", ())
    parts += [f"{one['keyname']}  {one.get('value', '')}".rstrip() for one in rows]
    parts.append(" ".join(f"[{text}]" for text in choices_of(card).values()))
    return "\n".join(str(part) for part in parts if part) or str(card.get("card_type"))


def _check(card: Any) -> None:
    kind = _is_record(card, "template_card").get("card_type")
    if kind not in TYPES:
        raise _BrokenRuleError("card_type")
    for name in _RECORDS:
        _check_record(card.get(name, {}), name)
    title = card.get("main_title", {})
    if not title.get("title") and (kind != "text_notice" or not card.get("sub_title_text")):
        raise _BrokenRuleError("main_title.title")
    if not isinstance(card.get("sub_title_text", ""), str):
        raise _BrokenRuleError("sub_title_text")
    task_id = card.get("task_id")
    good = isinstance(task_id, str) and TASK_ID.fullmatch(task_id)
    if not good and (task_id is not None or needs_task_id(card)):
        raise _BrokenRuleError("task_id")
    for name, most in _MOST.items():
        for one in _check_list(card.get(name, []), name, most=most, least=0, needs=()):
            _check_record(one, name)
    for one in card.get("horizontal_content_list", ()):
        _is_text(one, "keyname", "horizontal_content_list")
    # What a type does not need is looked at all the same where it is there: it would be shown.
    for name in [name for name in _PARTS if name in card or name in _NEEDS[kind]]:
        _PARTS[name](card.get(name), name)


def _check_action(action: Any, name: str) -> None:
    kind = _is_record(action, name).get("type")
    if kind not in (1, 2) or (kind == 1 and not action.get("url")):
        raise _BrokenRuleError(name)


def _check_image(image: Any, name: str) -> None:
    if not _is_record(image, name).get("url"):
        raise _BrokenRuleError(f"{name}.url")


def _check_menu(menu: Any, name: str) -> None:
    _check_list(_is_record(menu, name).get("action_list"), f"{name}.action_list", most=3)


def _check_buttons(found: Any, name: str) -> None:
    buttons = _check_list(found, name, most=6, needs=("text",))
    for one in buttons:
        if one.get("type", 0) == 0:
            _check_key(one, "key", name)
        elif one.get("type") != 1 or not one.get("url"):
            raise _BrokenRuleError(f"{name}.type")
    _check_distinct([str(one["key"]) for one in buttons if "key" in one], f"{name}.key")


def _check_selects(found: Any, name: str) -> None:
    asked = _check_list(found, name, most=3, needs=())
    for one in asked:
        _check_question(one, name, most=10)
    _check_distinct([one["question_key"] for one in asked], f"{name}.question_key")


def _check_submit(submit: Any, name: str) -> None:
    _is_text(_is_record(submit, name), "text", name)
    _check_key(submit, "key", name)


def _check_question(asked: Any, name: str, *, most: int) -> None:
    _check_key(_is_record(asked, name), "question_key", name)
    options = _check_list(
        asked.get("option_list"), f"{name}.option_list", most=most, needs=("text",)
    )
    for one in options:
        _check_key(one, "id", f"{name}.option_list")
    _check_distinct([one["id"] for one in options], f"{name}.option_list.id")


def _check_list(
    value: Any, name: str, *, most: int, least: int = 1, needs: Sequence[str] = ("text", "key")
) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not least <= len(value) <= most:
        raise _BrokenRuleError(f"{name}: {least}..{most}")
    for one in value:
        _is_record(one, name)
        for field in needs:
            _is_text(one, field, name)
            if field == "key":
                _check_key(one, field, name)
    return value


def _check_key(one: Mapping[str, Any], field: str, name: str) -> None:
    _is_text(one, field, name)
    if len(one[field].encode("utf-8", "replace")) > MAX_KEY_BYTES:
        raise _BrokenRuleError(f"{name}.{field}: {MAX_KEY_BYTES} bytes")


def _check_distinct(keys: Sequence[str], name: str) -> None:
    if len(set(keys)) < len(keys):
        raise _BrokenRuleError(f"{name}: duplicate")


def _is_text(one: Mapping[str, Any], field: str, name: str) -> None:
    if not isinstance(one.get(field), str) or not one[field]:
        raise _BrokenRuleError(f"{name}.{field}")


def _is_record(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _BrokenRuleError(name)
    return value


def _check_record(value: Any, name: str) -> None:
    """A record of texts and numbers, whatever their names."""
    for field, one in _is_record(value, name).items():
        if not isinstance(one, (str, int)):
            raise _BrokenRuleError(f"{name}.{field}")


_RECORDS: Final = ("source", "main_title", "emphasis_content", "quote_area")
_NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "text_notice": ("card_action",),
    "news_notice": ("card_action", "card_image"),
    "button_interaction": ("button_list",),
    "vote_interaction": ("checkbox", "submit_button"),
    "multiple_interaction": ("select_list", "submit_button"),
}
_PARTS: Final[Mapping[str, Callable[[Any, str], None]]] = {
    "card_action": _check_action,
    "card_image": _check_image,
    "action_menu": _check_menu,
    "button_list": _check_buttons,
    "button_selection": partial(_check_question, most=10),
    "checkbox": partial(_check_question, most=20),
    "select_list": _check_selects,
    "submit_button": _check_submit,
}
