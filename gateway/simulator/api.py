"""WeCom's API as one app sees it: tokens, messages, cards (pages 91039, 90236, 94888).

No HTTP here (`gateway.simulator.server`), and no callbacks (`engine`).
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from common.clock import Clock
from common.text import CHAT_BYTES, clip_bytes
from gateway.simulator.cards import card_fault, needs_task_id, text_of
from gateway.simulator.config import AppConfig
from gateway.simulator.faults import NOBODY, NOT_SEEN, SWITCHED_OFF, Switches
from gateway.simulator.feed import Feed, Message, Sender

Answer = dict[str, Any]

TOKEN_SECONDS: Final = 7200
CODE_SECONDS: Final = 72 * 3600
PER_MINUTE: Final = 30  # app to member; more is dropped in silence (page 90454)
PER_HOUR: Final = 1000
MAX_USERS: Final = 1000
MAX_DUPLICATE_S: Final = 4 * 3600
DUPLICATE_S: Final = 1800
MAX_CODES: Final = 10_000
_TEXTCARD: Final = {"title": 128, "description": 512}


def refusal(errcode: int, errmsg: str) -> Answer:
    """Return an answer that something was wrong."""
    return {"errcode": errcode, "errmsg": errmsg}


@dataclass(slots=True)
class _Code:
    """A ``response_code``: leave to change one card once."""

    task_id: str
    until_s: int
    used: bool = False


class SimulatedApp:
    """One self-built app: what WeCom's servers keep of it.

    Args:
        config: The app.
        feed: Gets what its members see.
        clock: Tells the time.
    """

    def __init__(self, config: AppConfig, feed: Feed, *, clock: Clock) -> None:
        self.config = config
        self.switches = Switches()
        self.token_seconds = TOKEN_SECONDS
        self._feed = feed
        self._clock = clock
        self._tokens: dict[str, int] = {}
        self._sent_at: dict[str, deque[int]] = {}
        self._seen: dict[str, int] = {}
        self._codes: dict[str, _Code] = {}
        self._cards: dict[str, list[int]] = {}  # bubbles by task_id
        self._known: set[str] = set()

    # the chat

    def keep(
        self, sender: Sender, user: str, text: str, *, card: dict[str, Any] | None = None
    ) -> Message:
        """Put a bubble into the chat with a member."""
        if sender == "member":
            self._known.add(user)
        number = self._feed.next_number()
        at_ms = self._clock.now().wall_ms
        message = Message(number, number, self.config.name, sender, user, text, at_ms, card)
        self._feed.put(message)
        return message

    def sees(self, user: str) -> bool:
        """Tell whether a member sees the app."""
        members = self.config.members
        return not members or user.lower() in {member.lower() for member in members}

    # tokens

    def new_token(self) -> Answer:
        """Answer ``gettoken``: the same one while it lives (page 91039)."""
        now = self._clock.now().wall_s
        live = [token for token, until in self._tokens.items() if until - now > 60]
        token = live[0] if live else secrets.token_urlsafe(32)
        until = self._tokens.setdefault(token, now + self.token_seconds)
        return refusal(0, "ok") | {"access_token": token, "expires_in": until - now}

    def forget_tokens(self) -> None:
        """Make every token invalid at once (40014), as WeCom may at any time."""
        self._tokens.clear()

    def forget_sent(self) -> None:
        """Take no message for a duplicate of an earlier one."""
        self._seen.clear()

    def expire_tokens(self) -> None:
        """Let every token's time be over (42001)."""
        self._tokens = dict.fromkeys(self._tokens, self._clock.now().wall_s)

    def knows(self, token: str) -> bool:
        """Tell whether a token was made here, live or not."""
        return token in self._tokens

    def token_fault(self, token: str) -> Answer | None:
        """Return why a token does not count."""
        if not token:
            return refusal(41001, "access_token missing")
        if token not in self._tokens:
            return refusal(40014, "invalid access_token")
        if self._tokens[token] <= self._clock.now().wall_s:
            return refusal(42001, "access_token expired")
        return None

    def address_fault(self, address: str) -> Answer | None:
        """Return why an address may not call (企业可信IP)."""
        if self.config.trusted_ip in ("*", address):
            return None
        return refusal(60020, f"not allow to access from your ip, from ip: {address}")

    # calls with a good token

    def describe(self, app_id: str) -> Answer:
        """Answer ``agent/get`` (page 90227)."""
        if not (app_id.isascii() and app_id.isdigit()):
            return refusal(40056, "invalid agentid")
        if app_id != str(self.config.app_id):
            return refusal(301002, "not allow operate another agent with this token")
        now_ms, members = self._clock.now().wall_ms, self.config.members
        is_seen = not self.switches.is_on(NOT_SEEN, now_ms)
        return refusal(0, "ok") | {
            "agentid": self.config.app_id,
            "name": "CodexBridge",
            "allow_userinfos": {"user": [{"userid": one} for one in members if is_seen]},
            # Department 1 is the whole corp.
            "allow_partys": {"partyid": [1] if is_seen and not members else []},
            "allow_tags": {"tagid": []},
            "close": int(self.switches.is_on(SWITCHED_OFF, now_ms)),
        }

    def send(self, body: object, *, is_seen: bool = True) -> Answer:
        """Answer ``message/send``, and put what it sends into the chats (page 90236).

        Args:
            body: The message.
            is_seen: Whether anybody sees the app.
        """
        if not isinstance(body, dict):
            return refusal(40008, "invalid message type")
        text, card, fault = _content_of(body)
        if fault is None:
            fault = self._message_fault(body, card)
        users, lists, nobody = self._recipients(body, is_seen=is_seen)
        if (refused := fault or nobody) is not None:
            return refused
        answer = refusal(0, "ok") | lists | {"msgid": secrets.token_urlsafe(24)}
        if card is not None and needs_task_id(card):
            answer["response_code"] = self.new_code(card["task_id"])
        for user in users:
            if not self._is_duplicate(body, user) and self._within_rate(user):
                self._put(user, text, card)
        return answer

    def update_card(self, body: object, *, is_seen: bool = True) -> Answer:
        """Answer ``message/update_template_card`` (page 94888); ``is_seen`` as for a message."""
        if not isinstance(body, dict):
            return refusal(40058, "invalid Request Parameter")
        if body.get("agentid") != self.config.app_id:
            return refusal(40056, "invalid agentid")
        code = self._codes.get(str(body.get("response_code")))
        if code is None or code.used or code.until_s <= self._clock.now().wall_s:
            return refusal(40058, "invalid Request Parameter: response_code")
        card, button = body.get("template_card"), body.get("button")
        if (card is None) == (button is None):
            return refusal(40058, "invalid Request Parameter: button or template_card")
        if card is not None and (broken := card_fault(card)):
            return refusal(40058, f"invalid Request Parameter: template_card.{broken}")
        chosen = "" if not isinstance(button, dict) else str(button.get("replace_name", ""))
        if card is None and not chosen:
            return refusal(40058, "invalid Request Parameter: button.replace_name")
        userids = body.get("userids", [])
        named = isinstance(userids, list) and (userids or body.get("atall") == 1)
        if not (named and is_seen):
            return refusal(81013, NOBODY)
        code.used = True
        users = None if body.get("atall") == 1 else {str(user).lower() for user in userids}
        invalid = self.change_cards(code.task_id, users, card=card, chosen=chosen)
        return refusal(0, "ok") | {"invaliduser": sorted(invalid)}

    # cards

    def new_code(self, task_id: str) -> str:
        """Return a fresh ``response_code`` for a card."""
        code = secrets.token_urlsafe(32)
        self._codes[code] = _Code(task_id, self._clock.now().wall_s + CODE_SECONDS)
        if len(self._codes) > MAX_CODES:
            del self._codes[next(iter(self._codes))]
        return code

    def change_cards(
        self,
        task_id: str,
        users: set[str] | None,
        *,
        card: dict[str, Any] | None = None,
        chosen: str = "",
    ) -> set[str]:
        """Change a card where some members, or all, see it; returns who does not have it."""
        found = set()
        for number in self._cards.get(task_id, ()):
            message = self._feed.message(number)
            if message is None or not (users is None or message.user.lower() in users):
                continue
            found.add(message.user.lower())
            changed = replace(message, number=self._feed.next_number(), chosen=chosen)
            if card is not None:
                changed = replace(changed, card=card, text=text_of(card))
            self._feed.put(changed)
        return (users or set()) - found

    def _put(self, user: str, text: str, card: dict[str, Any] | None) -> None:
        message = self.keep("app", user, text, card=card)
        if card is not None and "task_id" in card:
            self._cards.setdefault(card["task_id"], []).append(message.id)

    def _message_fault(self, body: dict[str, Any], card: dict[str, Any] | None) -> Answer | None:
        if body.get("agentid") != self.config.app_id:
            return refusal(40056, "invalid agentid")
        interval = body.get("duplicate_check_interval", DUPLICATE_S)
        if not isinstance(interval, int) or not 0 < interval <= MAX_DUPLICATE_S:
            return refusal(40058, "invalid Request Parameter: duplicate_check_interval")
        if card is None:
            return None
        if not self.config.callback_url and needs_task_id(card):
            return refusal(48002, "api forbidden: no callback url")
        if card.get("task_id") in self._cards:
            return refusal(40058, "invalid Request Parameter: template_card.task_id: duplicate")
        return None

    def _recipients(
        self, body: dict[str, Any], *, is_seen: bool
    ) -> tuple[list[str], dict[str, str], Answer | None]:
        named = str(body.get("touser") or "")
        wanted = [user for user in named.split("|") if user]
        if len(wanted) > MAX_USERS:
            return [], {}, refusal(40058, "invalid Request Parameter: touser: 1..1000")
        if wanted == ["@all"]:
            users = sorted(self.config.members or self._known)
        else:
            users = [user for user in dict.fromkeys(wanted) if self.sees(user)]
        if not is_seen:
            users = []
        # There are no departments and no tags here.
        lists = {
            "invaliduser": "|".join(one.lower() for one in wanted if one not in users),
            "invalidparty": str(body.get("toparty") or ""),
            "invalidtag": str(body.get("totag") or ""),
        }
        if not users:
            return [], {}, refusal(81013, NOBODY) | lists
        if wanted == ["@all"]:
            lists = dict.fromkeys(lists, "")
        return users, lists, None

    def _within_rate(self, user: str) -> bool:
        now = self._clock.now().wall_ms
        sent = self._sent_at.setdefault(user.lower(), deque(maxlen=PER_HOUR))
        full = len(sent) == PER_HOUR and now - sent[0] < 3_600_000
        if full or (len(sent) >= PER_MINUTE and now - sent[-PER_MINUTE] < 60_000):
            return False
        sent.append(now)
        return True

    def _is_duplicate(self, body: dict[str, Any], user: str) -> bool:
        # Not documented: what WeCom answers then, and whether a message that was sent without the
        # check counts.  Here it does, and nobody sees the copy.
        now = self._clock.now().wall_s
        key = f"{user.lower()}\0{body['msgtype']}\0{body[body['msgtype']]}"
        last = self._seen.get(key)
        if body.get("enable_duplicate_check") == 1 and last is not None:
            interval = body.get("duplicate_check_interval", DUPLICATE_S)
            if now - last < interval:
                return True
        self._seen[key] = now
        return False


def _content_of(body: dict[str, Any]) -> tuple[str, dict[str, Any] | None, Answer | None]:
    """Return what members see of a message: its text and its card; or what is wrong with it."""
    kind = body.get("msgtype")
    content = body.get(kind) if isinstance(kind, str) else None
    match kind:
        case "text" | "markdown":
            text = content.get("content") if isinstance(content, dict) else None
            if not isinstance(text, str) or not text.strip():
                return "", None, refusal(44004, "empty content")
            return clip_bytes(text, CHAT_BYTES, marker=""), None, None
        case "textcard":
            return _textcard(content)
        case "template_card":
            if fault := card_fault(content):
                wrong = f"invalid Request Parameter: template_card.{fault}"
                return "", None, refusal(40058, wrong)
            assert isinstance(content, dict)  # noqa: S101 - card_fault saw to it
            return text_of(content), content, None
        case _:
            return "", None, refusal(40008, "invalid message type")


def _textcard(content: object) -> tuple[str, None, Answer | None]:
    fields = content if isinstance(content, dict) else {}
    for name in ("title", "description", "url"):
        if not isinstance(fields.get(name), str) or not fields[name]:
            return "", None, refusal(40058, f"invalid Request Parameter: textcard.{name}")
    shown: Sequence[str] = [
        clip_bytes(fields[name], most, marker="") for name, most in _TEXTCARD.items()
    ]
    return "\n".join((*shown, fields["url"])), None, None
