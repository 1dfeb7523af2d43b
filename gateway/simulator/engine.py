"""The simulated WeCom itself: its apps, and how callbacks reach a gateway (page 90238).

No HTTP server here (`gateway.simulator.server`), only what it shows.
"""

from __future__ import annotations

import asyncio
import ipaddress
import secrets
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlencode

import aiohttp

from common.clock import Clock
from common.errors import InputError
from common.text import clip_bytes
from gateway.simulator.api import SimulatedApp
from gateway.simulator.cards import choices_of, menu_of, questions_of
from gateway.simulator.config import AppConfig, SimulatorConfig, check_loopback
from gateway.simulator.crypto import SimulatedCrypto
from gateway.simulator.documents import (
    CARD_EVENT,
    MAX_REPLY_BYTES,
    PassiveReply,
    ReplyError,
    envelope_xml,
    message_xml,
    read_reply,
)
from gateway.simulator.feed import Exchange, Feed, Message

MAX_INPUT_BYTES: Final = 8192
CALLBACKS_KEPT: Final = 200  # that can be repeated


@dataclass(frozen=True, slots=True)
class Timing:
    """How WeCom calls back.

    Attributes:
        deadline_s: It cuts the line after this.
        deliveries: The first and its retries: the documents leave open whether "three retries in
            total" counts the first.
        retry_s: Pause before a retry.
        renewed: Whether a retry is encrypted and signed anew, which is not documented either.
        check_s: For the URL check.
    """

    deadline_s: float = 5.0
    deliveries: int = 4
    retry_s: float = 1.0
    renewed: bool = False
    check_s: float = 1.0


@dataclass(frozen=True, slots=True)
class Callback:
    """A callback as it was sent, which can be sent again.

    Attributes:
        plain: The message.
        about: What it is: a MsgType, or an Event.
        user: Whose it is.
        query: Signature, timestamp and nonce.
        body: The envelope.
        card: The bubble of a card that it is about; 0 for none.
    """

    app: str
    plain: bytes
    about: str
    user: str
    query: Mapping[str, str]
    body: bytes
    card: int = 0


class Simulator:
    """Any number of corps, apps and members.

    Args:
        config: The apps, and where their gateways are.
        session: HTTP client for callbacks.
        clock: Tells the time.
        timing: How it calls back.
    """

    def __init__(
        self,
        config: SimulatorConfig,
        session: aiohttp.ClientSession,
        *,
        clock: Clock,
        timing: Timing | None = None,
    ) -> None:
        self.config = config
        self.feed = Feed()
        self.clock = clock
        self.timing = timing or Timing()
        self.apps = {app.name: SimulatedApp(app, self.feed, clock=clock) for app in config.apps}
        self._session = session
        self._sent: OrderedDict[int, Callback] = OrderedDict()

    def app(self, name: str = "") -> SimulatedApp:
        """Return an app; the first one for an empty name.

        Raises:
            InputError: ``sim.unknown-app`` (name).
        """
        if not name:
            return self.apps[self.config.first.name]
        if name not in self.apps:
            raise InputError("sim.unknown-app", name=name)
        return self.apps[name]

    # what the console has saved

    async def save_callback(self, app: SimulatedApp, url: str, token: str, key: str) -> str:
        """Save these after a URL check, as the console does (page 90238); returns why not, or ''.

        It is ``key``, ``silent``, ``echo`` or the HTTP status that the check was answered with.

        Raises:
            ConfigError: ``config.simulator-not-loopback``.
        """
        check_loopback(url)
        saved = replace(app.config, callback_url=url, token=token, encoding_aes_key=key)
        try:
            crypto = _crypto_of(saved)
        except ValueError:
            return "key"
        echo = str(secrets.randbits(63))
        sealed = crypto.encrypt(echo.encode(), secrets.token_bytes(16))
        query = {**self._signed(crypto, sealed), "echostr": sealed}
        limit = aiohttp.ClientTimeout(total=self.timing.check_s)
        try:
            async with self._session.get(
                url, params=query, timeout=limit, allow_redirects=False
            ) as answer:
                body = await answer.content.read(MAX_INPUT_BYTES)
        except (aiohttp.ClientError, TimeoutError):
            return "silent"
        if answer.status != 200:
            return str(answer.status)
        if body != echo.encode():
            return "echo"
        self._save(app, saved)
        return ""

    def trust(self, app: SimulatedApp, address: str) -> str:
        """Save the address that may call, which the console takes after a URL only.

        Returns:
            Why not, ``no-url`` or ``address``, or ''.
        """
        if not app.config.callback_url:
            return "no-url"
        if not is_address(address):
            return "address"
        self._save(app, replace(app.config, trusted_ip=address))
        return ""

    def _save(self, app: SimulatedApp, saved: AppConfig) -> None:
        app.config = saved
        self.config = self.config.with_app(saved)

    # what members do

    async def say(self, app: SimulatedApp, user: str, text: str) -> int:
        """Let a member write to the app and return the HTTP status of the last delivery."""
        app.keep("member", user, text)
        return await self.deliver(self.callback(app, user, self.text_message(app, user, text)))

    def text_message(
        self, app: SimulatedApp, user: str, text: str, *, msg_id: str | None = None
    ) -> bytes:
        """Return the plain XML of a text message as page 90239 shows it."""
        content = {
            "Content": clip_bytes(text, MAX_INPUT_BYTES),
            "MsgId": msg_id or str(secrets.randbits(62) | 1 << 61),
        }
        return message_xml(self._head(app, user, "text") | content)

    def event(self, app: SimulatedApp, user: str, name: str, **fields: str) -> Callback:
        """Return the callback of an event (page 90240)."""
        plain = message_xml(self._head(app, user, "event") | {"Event": name} | fields)
        return self.callback(app, user, plain, about=name)

    async def click(
        self,
        app: SimulatedApp,
        user: str,
        number: int,
        key: str,
        selected: Mapping[str, Sequence[str]] | None = None,
    ) -> int:
        """Let a member click on a card and return the status of the last delivery.

        Raises:
            InputError: ``sim.no-such-card`` or ``sim.no-such-button`` (key).
        """
        bubble = self._card(app, user, number)
        card, given = bubble.card or {}, selected or {}
        in_menu = key in menu_of(card)
        if bubble.chosen or not (in_menu or key in choices_of(card)):
            raise InputError("sim.no-such-button", key=key)
        asked = questions_of(card)
        if any(not set(options) <= asked.get(name, set()) for name, options in given.items()):
            raise InputError("sim.no-such-button", key=key)
        fields = self._head(app, user, "event") | {
            "Event": "template_card_menu_event" if in_menu else CARD_EVENT,
            "EventKey": key,
            "TaskId": card["task_id"],
            "CardType": card["card_type"],
            "ResponseCode": app.new_code(card["task_id"]),
        }
        about = str(fields["Event"])
        plain = message_xml(fields, given)
        return await self.deliver(self.callback(app, user, plain, about=about, card=number))

    async def repeat(self, number: int, *, renewed: bool) -> int:
        """Send a callback again, as it was or encrypted and signed anew.

        Args:
            number: Of its exchange; 0 for the last one.
            renewed: Encrypt and sign it anew.

        Raises:
            InputError: ``sim.no-such-callback``.
        """
        if number == 0 and self._sent:
            number = next(reversed(self._sent))
        if number not in self._sent:
            raise InputError("sim.no-such-callback")
        callback = self._sent[number]
        return await self.deliver(self._renewed(callback) if renewed else callback, once=True)

    def _card(self, app: SimulatedApp, user: str, number: int) -> Message:
        bubble = self.feed.message(number)
        if bubble is None or bubble.card is None or "task_id" not in bubble.card:
            raise InputError("sim.no-such-card")
        if bubble.app != app.config.name or bubble.user != user:
            raise InputError("sim.no-such-card")
        return bubble

    def _head(self, app: SimulatedApp, user: str, kind: str) -> dict[str, str | int]:
        return {
            "ToUserName": app.config.corp_id,
            "FromUserName": user,
            "CreateTime": self.clock.now().wall_s,
            "MsgType": kind,
            "AgentID": app.config.app_id,
        }

    # callbacks

    def callback(
        self, app: SimulatedApp, user: str, plain: bytes, *, about: str = "text", card: int = 0
    ) -> Callback:
        """Encrypt and sign one callback."""
        new = Callback(app.config.name, plain, about, user, {}, b"", card)
        return self._renewed(new) if app.config.callback_url else new

    async def deliver(self, callback: Callback, *, once: bool = False) -> int:
        """Post a callback; deliver it again until 200, four times in all.

        Returns:
            The last HTTP status; 0 when there was no answer.
        """
        app, timing, status = self.apps[callback.app], self.timing, 0
        for attempt in range(1, (1 if once else timing.deliveries) + 1):
            if attempt > 1:
                await asyncio.sleep(timing.retry_s)
                callback = self._renewed(callback) if timing.renewed else callback
            status = await self._post(app, callback, attempt)
            if status == 200:
                return status
        app.keep("system", callback.user, f"not-taken {status}" if status else "no-answer")
        return status

    def _renewed(self, callback: Callback) -> Callback:
        config = self.apps[callback.app].config
        crypto = _crypto_of(config)
        encrypted = crypto.encrypt(callback.plain, secrets.token_bytes(16))
        body = envelope_xml(config.corp_id, config.app_id, encrypted)
        return replace(callback, query=self._signed(crypto, encrypted), body=body)

    async def _post(self, app: SimulatedApp, callback: Callback, attempt: int) -> int:
        url = app.config.callback_url
        if not url:
            return 0
        begun = self.clock.now()
        status, answered = 0, b""
        try:
            async with self._session.post(
                url,
                params=callback.query,
                data=callback.body,
                headers={"Content-Type": "text/xml"},
                timeout=aiohttp.ClientTimeout(total=self.timing.deadline_s),
                allow_redirects=False,
            ) as answer:
                answered = await _read(answer)
                status = answer.status
        except (aiohttp.ClientError, TimeoutError):
            status = 0
        plain, note = self._take_reply(app, callback, answered) if status == 200 else ("", "")
        ended = self.clock.now()
        number = self.feed.next_number()
        self._sent[number] = callback
        if len(self._sent) > CALLBACKS_KEPT:
            self._sent.popitem(last=False)
        self.feed.put(
            Exchange(
                number=number,
                app=app.config.name,
                kind="callback",
                what=callback.about,
                at_ms=begun.wall_ms,
                took_ms=ended.wall_ms - begun.wall_ms,
                attempt=attempt,
                status=status,
                errcode=None,
                sent=f"POST {url}?{urlencode(callback.query)}\n\n{callback.body.decode()}",
                sent_plain=callback.plain.decode(),
                answered=f"HTTP {status}\n\n{answered.decode('utf-8', 'replace')}"
                if status
                else "",
                answered_plain=plain,
                note=note,
            )
        )
        return status

    def _take_reply(self, app: SimulatedApp, callback: Callback, body: bytes) -> tuple[str, str]:
        """Show what the gateway answered; returns its plain text, and why it does not count."""
        if not body:
            return "", ""
        is_event = b"<MsgType>event</MsgType>" in callback.plain
        try:
            reply, plain = read_reply(
                body,
                _crypto_of(app.config),
                corp_id=app.config.corp_id,
                user=callback.user,
                event=callback.about if is_event else "",
            )
        except ReplyError as error:
            app.keep("system", callback.user, f"wecom-refuses {error}")
            return "", str(error)
        self._show_reply(app, callback, reply)
        return plain, ""

    def _show_reply(self, app: SimulatedApp, callback: Callback, reply: PassiveReply) -> None:
        bubble = self.feed.message(callback.card)
        if reply.kind in ("update_button", "update_template_card"):
            if bubble is not None and bubble.card is not None:  # of who clicked, alone
                chosen = reply.text if reply.card is None else ""
                task_id, user = bubble.card["task_id"], {callback.user.lower()}
                app.change_cards(task_id, user, card=reply.card, chosen=chosen)
        else:
            app.keep("app", callback.user, reply.text)

    def _signed(self, crypto: SimulatedCrypto, encrypted: str) -> dict[str, str]:
        timestamp, nonce = str(self.clock.now().wall_s), secrets.token_hex(8)
        signature = crypto.signature(timestamp, nonce, encrypted)
        return {"msg_signature": signature, "timestamp": timestamp, "nonce": nonce}

    def state(self) -> dict[str, Any]:
        """Return the apps and what is switched on, for the page and the commands."""
        now_ms = self.clock.now().wall_ms
        return {
            "apps": [
                {
                    "name": name,
                    "corp_id": app.config.corp_id,
                    "app_id": app.config.app_id,
                    "callback_url": app.config.callback_url,
                    "trusted_ip": app.config.trusted_ip,
                    "members": list(app.config.members),
                    "faults": app.switches.told(now_ms),
                }
                for name, app in self.apps.items()
            ],
            "renewed": self.timing.renewed,
        }


def is_address(text: str) -> bool:
    """Tell whether it is an IP address."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


async def _read(answer: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for piece in answer.content.iter_any():
        body += piece
        if len(body) > MAX_REPLY_BYTES:
            break
    return bytes(body)


def _crypto_of(config: AppConfig) -> SimulatedCrypto:
    return SimulatedCrypto(config.token, config.encoding_aes_key, config.corp_id)
