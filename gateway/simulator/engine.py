"""The simulated WeCom itself: who said what, which tokens live, and how callbacks are delivered.

No HTTP here (`gateway.simulator.server`), only what they show.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal
from xml.sax.saxutils import escape

import aiohttp

from common.clock import Clock
from common.text import CHAT_BYTES, clip_bytes
from gateway.simulator.config import SimulatorConfig, check_loopback
from gateway.simulator.crypto import SimulatedCrypto

KEPT = 500  # messages kept for the page
DEADLINE_SECONDS = 5.0  # WeCom cuts the callback after this (page 90238)
DELIVERIES = 4  # first delivery and three retries (page 90238)
RETRY_SECONDS = 1.0
CHECK_SECONDS = 1.0  # for the URL check
TOKEN_SECONDS = 7200
PER_MINUTE = 30  # app to member; more is dropped in silence (page 90454)
MAX_INPUT_BYTES = 8192


@dataclass(frozen=True, slots=True)
class Message:
    """One bubble of the chat.

    Attributes:
        number: Position in the conversation, from 1.
        sender: ``member`` or ``app``; ``system`` tells what the real client would not.
        user: The member whose conversation it is.
        text: What was said.
        at_ms: When.
    """

    number: int
    sender: Literal["member", "app", "system"]
    user: str
    text: str
    at_ms: int


class Simulator:
    """One corp, one app, any number of members.

    Args:
        config: The corp and where the gateway is.
        session: HTTP client for callbacks.
        clock: Tells the time.
    """

    def __init__(
        self, config: SimulatorConfig, session: aiohttp.ClientSession, *, clock: Clock
    ) -> None:
        self.config = config
        self._crypto = _crypto_of(config) if config.callback_url else None
        self._session = session
        self._clock = clock
        self._messages: deque[Message] = deque(maxlen=KEPT)
        self._count = 0
        self._changed = asyncio.Condition()
        self._tokens: dict[str, int] = {}
        self._sent_at: dict[str, deque[int]] = {}
        self._seen_bodies: dict[str, int] = {}

    # what the console has saved

    async def save_callback(self, url: str, token: str, encoding_aes_key: str) -> str:
        """Save these after a URL check, as the console does (page 90238); returns why not, or ''.

        Raises:
            ConfigError: ``config.simulator-not-loopback``.
        """
        saved = replace(
            self.config, callback_url=url, token=token, encoding_aes_key=encoding_aes_key
        )
        check_loopback(saved)
        try:
            crypto = _crypto_of(saved)
        except ValueError:
            return "EncodingAESKey"
        echo = str(secrets.randbits(63))
        sealed = crypto.encrypt(echo.encode(), secrets.token_bytes(16))
        query = {**self._signed(crypto, sealed), "echostr": sealed}
        limit = aiohttp.ClientTimeout(total=CHECK_SECONDS)
        try:
            async with self._session.get(
                url, params=query, timeout=limit, allow_redirects=False
            ) as answer:
                body = await answer.content.read(MAX_INPUT_BYTES)
        except (aiohttp.ClientError, TimeoutError):
            return "echostr: HTTP 0"
        if answer.status != 200 or body != echo.encode():
            return f"echostr: HTTP {answer.status}"
        self.config, self._crypto = saved, crypto
        return ""

    def trust(self, address: str) -> str:
        """Save the address that may call, which the console takes after a URL only."""
        if not self.config.callback_url:
            return "URL"
        self.config = replace(self.config, trusted_ip=address)
        return ""

    # what the page and the command line use

    async def say(self, user: str, text: str) -> int:
        """Let a member write to the app and return the HTTP status of the last delivery."""
        await self._keep("member", user, text)
        status = await self.deliver(self.text_message(user, text))
        if status != 200:
            await self._keep("system", user, f"callback: HTTP {status}")
        return status

    def text_message(self, user: str, text: str, *, msg_id: str | None = None) -> bytes:
        """Return the plain XML of a text message as page 90239 shows it."""
        return (
            f"<xml><ToUserName><![CDATA[{self.config.corp_id}]]></ToUserName>"
            f"<FromUserName>{escape(user)}</FromUserName>"
            f"<CreateTime>{self._clock.now().wall_s}</CreateTime>"
            "<MsgType><![CDATA[text]]></MsgType>"
            f"<Content>{escape(clip_bytes(text, MAX_INPUT_BYTES))}</Content>"
            f"<MsgId>{msg_id or self._new_msg_id()}</MsgId>"
            f"<AgentID>{self.config.app_id}</AgentID></xml>"
        ).encode()

    async def deliver(self, plain: bytes) -> int:
        """Sign, encrypt and post one callback; deliver again until 200, four times in all.

        Returns:
            The last HTTP status; 0 when there was no answer.
        """
        status = 0
        for attempt in range(DELIVERIES):
            if attempt:
                await asyncio.sleep(RETRY_SECONDS)
            status = await self._post(plain)
            if status == 200:
                break
        return status

    async def messages(self, after: int, *, wait_seconds: float = 0.0) -> list[Message]:
        """Return the bubbles after number ``after``; wait for one when there is none."""

        def fresh() -> list[Message]:
            return [message for message in self._messages if message.number > after]

        async with self._changed:
            if not fresh() and wait_seconds > 0:
                try:
                    async with asyncio.timeout(wait_seconds):
                        await self._changed.wait_for(lambda: bool(fresh()))
                except TimeoutError:
                    pass
            return fresh()

    # what the gateway uses

    def new_token(self, corp_id: str, secret: str) -> dict[str, Any]:
        """Answer ``gettoken`` (page 91039)."""
        if corp_id != self.config.corp_id:
            return {"errcode": 40013, "errmsg": "invalid corpid"}
        if not secrets.compare_digest(secret.encode(), self.config.corp_secret.encode()):
            return {"errcode": 40001, "errmsg": "invalid credential"}
        now = self._clock.now().wall_s
        live = [token for token, until in self._tokens.items() if until - now > 60]
        token = live[0] if live else secrets.token_urlsafe(32)
        self._tokens.setdefault(token, now + TOKEN_SECONDS)
        return {
            "errcode": 0,
            "errmsg": "ok",
            "access_token": token,
            "expires_in": self._tokens[token] - now,
        }

    def forget_tokens(self) -> None:
        """Make every token invalid at once, as WeCom may at any time."""
        self._tokens.clear()

    def app(self, token: str, app_id: str, *, address: str = "127.0.0.1") -> dict[str, Any]:
        """Answer ``agent/get`` (page 90227)."""
        refusal = self._no_token(token) or self._not_trusted(address)
        if refusal is not None:
            return refusal
        if not (app_id.isascii() and app_id.isdigit()):
            return {"errcode": 40056, "errmsg": "invalid agentid"}
        if app_id != str(self.config.app_id):
            return {"errcode": 301002, "errmsg": "not allow operate another agent with this token"}
        return {"errcode": 0, "errmsg": "ok", "agentid": self.config.app_id, "name": "CodexBridge"}

    async def take(self, token: str, body: object, *, address: str = "127.0.0.1") -> dict[str, Any]:
        """Answer ``message/send`` (page 90236) and put the text into the chat."""
        refusal = self._not_trusted(address) or self._refusal(token, body)
        if refusal is not None:
            return refusal
        assert isinstance(body, dict)  # noqa: S101 - checked by _refusal; narrows the type
        user, text = str(body["touser"]), str(body["text"]["content"])
        if self._within_rate(user) and not self._is_duplicate(body, user, text):
            await self._keep("app", user, clip_bytes(text, CHAT_BYTES, marker=""))
        return {"errcode": 0, "errmsg": "ok", "msgid": secrets.token_urlsafe(24)}

    def _no_token(self, token: str) -> dict[str, Any] | None:
        if not token:
            return {"errcode": 41001, "errmsg": "access_token missing"}
        if token not in self._tokens:
            return {"errcode": 40014, "errmsg": "invalid access_token"}
        if self._tokens[token] <= self._clock.now().wall_s:
            return {"errcode": 42001, "errmsg": "access_token expired"}
        return None

    def _not_trusted(self, address: str) -> dict[str, Any] | None:
        if self.config.trusted_ip in ("*", address):
            return None
        return {"errcode": 60020, "errmsg": f"not allow to access from your ip, from ip: {address}"}

    def _refusal(self, token: str, body: object) -> dict[str, Any] | None:
        refusal = self._no_token(token)
        if refusal is not None:
            return refusal
        if not isinstance(body, dict) or body.get("msgtype") != "text":
            return {"errcode": 40008, "errmsg": "invalid message type"}
        if body.get("agentid") != self.config.app_id:
            return {"errcode": 40056, "errmsg": "invalid agentid"}
        content = body.get("text")
        if not isinstance(content, dict) or not str(content.get("content", "")).strip():
            return {"errcode": 44004, "errmsg": "empty content"}
        if not body.get("touser"):
            return {"errcode": 81013, "errmsg": "user & party & tag all invalid"}
        return None

    def _within_rate(self, user: str) -> bool:
        now = self._clock.now().wall_ms
        sent = self._sent_at.setdefault(user, deque(maxlen=PER_MINUTE))
        if len(sent) == PER_MINUTE and now - sent[0] < 60_000:
            return False
        sent.append(now)
        return True

    def _is_duplicate(self, body: dict[str, Any], user: str, text: str) -> bool:
        if body.get("enable_duplicate_check") != 1:
            return False
        now = self._clock.now().wall_s
        interval = int(body.get("duplicate_check_interval", 1800))
        key = f"{user}\0{text}"
        last = self._seen_bodies.get(key)
        self._seen_bodies[key] = now
        return last is not None and now - last < interval

    async def _post(self, plain: bytes) -> int:
        if self._crypto is None:
            return 0
        encrypted = self._crypto.encrypt(plain, secrets.token_bytes(16))
        query = self._signed(self._crypto, encrypted)
        body = (
            f"<xml><ToUserName><![CDATA[{self.config.corp_id}]]></ToUserName>"
            f"<AgentID><![CDATA[{self.config.app_id}]]></AgentID>"
            f"<Encrypt><![CDATA[{encrypted}]]></Encrypt></xml>"
        )
        try:
            async with self._session.post(
                self.config.callback_url,
                params=query,
                data=body.encode(),
                headers={"Content-Type": "text/xml"},
                timeout=aiohttp.ClientTimeout(total=DEADLINE_SECONDS),
                allow_redirects=False,
            ) as answer:
                return answer.status
        except (aiohttp.ClientError, TimeoutError):
            return 0

    def _signed(self, crypto: SimulatedCrypto, encrypted: str) -> dict[str, str]:
        timestamp, nonce = str(self._clock.now().wall_s), secrets.token_hex(8)
        signature = crypto.signature(timestamp, nonce, encrypted)
        return {"msg_signature": signature, "timestamp": timestamp, "nonce": nonce}

    async def _keep(self, sender: Literal["member", "app", "system"], user: str, text: str) -> None:
        async with self._changed:
            self._count += 1
            self._messages.append(
                Message(self._count, sender, user, text, self._clock.now().wall_ms)
            )
            self._changed.notify_all()

    def _new_msg_id(self) -> str:
        return str(secrets.randbits(62) | 1 << 61)


def _crypto_of(config: SimulatorConfig) -> SimulatedCrypto:
    return SimulatedCrypto(config.token, config.encoding_aes_key, config.corp_id)


def as_json(messages: list[Message]) -> list[dict[str, Any]]:
    """Return the bubbles as JSON objects."""
    return [asdict(message) for message in messages]
