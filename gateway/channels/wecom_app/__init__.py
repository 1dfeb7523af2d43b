"""The self-built app of WeCom: messages by callback (page 90238), answers by the active API.

A callback is a URL check by GET or a message by POST.  The order of its checks is the point of this
module (R71): size, syntax of the parameters, envelope, signature, time, decryption; only then is
anything parsed.  Until decryption succeeded every answer is a 4xx with an empty body; afterwards it
is an empty 200, because any other status makes WeCom deliver again, except where the store failed
and a new delivery is wanted: 503.  Replay and duplicates are the intake's: it writes the key in the
transaction that makes the task.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import unquote

import aiohttp
from aiohttp import StreamReader, web

from common.clock import Clock
from common.errors import (
    AuthError,
    CodexBridgeError,
    ConfigError,
    RemoteProtocolError,
    StoreError,
    UnavailableError,
)
from common.logs import Log
from gateway.base.addresses import UNHEARD
from gateway.base.messages import (
    FIRST_APP,
    URL_CHECKED,
    Accept,
    Channel,
    Conversation,
    InboundMessage,
    Note,
    Outgoing,
    SendOutcome,
)
from gateway.base.settings import App, GatewaySettings, setting_of
from gateway.channels.wecom_app.cards import template_card
from gateway.channels.wecom_app.messages import NAME, inert, parse_message, render_text
from gateway.wecom.client import WeComClient, not_sendable
from gateway.wecom.crypto import RANDOM_BYTES, CallbackCrypto, check_token
from gateway.wecom.xml import parse_fields, render_encrypted

__all__ = ["NAME", "callback_routes", "open_channel"]

MAX_BODY_BYTES: Final = 65_536
MAX_QUERY_CHARS: Final = 4_096
READ_S: Final = 5.0  # WeCom itself gives up after 5 s
WINDOW_S: Final = 300
SEEN_AS: Final = "X-Client-Address"
OWN_CHECK: Final = b"codexbridge-"  # how what our own doctor sends begins; nothing of WeCom does

_CARD_TAKEN: Final = re.compile(r"task.?id", re.IGNORECASE)

_SIGNATURE: Final = re.compile(r"[0-9a-f]{40}", re.ASCII)
_TIMESTAMP: Final = re.compile(r"[0-9]{1,12}", re.ASCII)
_NONCE: Final = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]{1,4096}={0,2}", re.ASCII)


def open_channel(
    settings: GatewaySettings, *, session: aiohttp.ClientSession, clock: Clock, log: Log
) -> Channel:
    """Make the channel.

    Raises:
        ConfigError: ``config.insecure-url`` or ``config.encoding-aes-key``.
    """
    apps = settings.wecom.every()
    clients = {
        name: WeComClient(
            api_base=settings.wecom.api_base,
            corp_id=app.corp_id,
            agent_id=app.agent_id,
            corp_secret=app.corp_secret.get_secret_value(),
            clock=clock,
            session=session,
        )
        for name, app in apps.items()
    }
    cryptos = {name: list(cryptos_of(app, name)) for name, app in apps.items()}

    async def deliver(to: Conversation, what: Outgoing) -> SendOutcome:
        client = clients.get(to.app)
        if client is None:  # kept from a time when the settings had it
            return not_sendable("channel.unknown-app")
        return await _send(client, to.user, what)

    async def renew(settings: GatewaySettings) -> None:
        fresh = settings.wecom.every()
        opening = {name: cryptos_of(app, name, strict=True) for name, app in fresh.items()}
        for name, app in fresh.items():
            cryptos[name][:] = opening[name]
            await clients[name].renew(app.corp_secret.get_secret_value())

    def routes(accept: Accept, note: Note) -> list[web.RouteDef]:
        return [
            route
            for name, app in apps.items()
            for route in callback_routes(
                cryptos[name],
                accept,
                note=note,
                clock=clock,
                app=name,
                corp_id=app.corp_id,
                agent_id=app.agent_id,
                log=log,
                path=app.callback_path,
                base=settings.public_url,
            )
        ]

    def recall(to: Conversation, ago_s: float) -> None:
        if client := clients.get(to.app):
            client.recall(to.user, ago_s)

    return Channel(NAME, deliver, routes, renew, recall)


async def _send(client: WeComClient, user: str, what: Outgoing) -> SendOutcome:
    """Send a card where there is one, and its text where WeCom does not take the card."""
    if what.card is not None:
        shown = template_card(what.card)
        if what.card.over:
            outcome = await client.update_card(user, what.handle or "", shown)
            # It holds up nothing: the end that it shows is said in words as well.
            return replace(outcome, kind="permanent") if _is_refused(outcome) else outcome
        outcome = await client.send_card(user, shown, repeated=what.repeated)
        if not _is_refused(outcome):
            return outcome
        if _CARD_TAKEN.search(outcome.errmsg):  # an earlier try arrived, and its answer did not
            return replace(outcome, kind="sent", code="wecom.sent")
    text = inert(what.text)
    return await client.send_text(user, text, repeated=what.repeated, yields=what.yields)


def _is_refused(outcome: SendOutcome) -> bool:
    """Tell whether the card itself may be what is refused."""
    return outcome.tried and outcome.kind in ("permanent", "config") and not outcome.for_all


def cryptos_of(
    app: App, name: str = FIRST_APP, *, strict: bool = False
) -> tuple[CallbackCrypto, ...]:
    """Return what opens the callbacks of an app: its own keys, and the next ones if there are.

    Args:
        app: Its settings.
        name: What it is called there.
        strict: Take no Token that WeCom's console would not.  Served is whatever was set: the
            doctor tells of it at the start, and a server that refused would be no mend.

    Raises:
        ConfigError: ``config.token`` or ``config.encoding-aes-key`` (of).
    """
    token, key = app.token.get_secret_value(), app.encoding_aes_key.get_secret_value()
    pairs = {
        (token, key): None,
        (
            app.next_token.get_secret_value() or token,
            app.next_encoding_aes_key.get_secret_value() or key,
        ): None,
    }
    try:
        for one, _ in pairs if strict else ():
            check_token(one)
        return tuple(
            CallbackCrypto(token=one, encoding_aes_key=other, receive_id=app.corp_id)
            for one, other in pairs
        )
    except ConfigError as error:
        raise ConfigError(error.code, of=".".join(setting_of(name, "")[:-1])) from None


@dataclass(frozen=True, slots=True)
class _Signed:
    """The three parameters of every call, in their strict forms."""

    signature: str
    timestamp: str
    nonce: str


class _RefusedError(Exception):
    """A request ends here.  ``code`` is for the log; the caller sees the status alone."""

    def __init__(self, status: int, code: str, **facts: object) -> None:
        super().__init__(code)
        self.status = status
        self.code = code
        self.facts = facts


def callback_routes(
    cryptos: Sequence[CallbackCrypto],
    accept: Accept,
    *,
    note: Note,
    clock: Clock,
    corp_id: str,
    agent_id: int | str,
    log: Log,
    app: str = FIRST_APP,
    path: str = "/wecom/app",
    base: str = "",
    window_s: int = WINDOW_S,
) -> list[web.RouteDef]:
    """Return the two routes of the callback.

    Args:
        cryptos: Made with the corp id as their receive id; the first that opens a request counts.
        accept: Gets each message, with the SHA-256 of its Encrypt value as the replay key.
        note: Told of each request whose signature, key or receiver is not ours, and of the
            console's URL check.
        clock: Tells how old a signature is.
        corp_id: The corp whose messages are ours.
        agent_id: The app whose messages are ours.
        log: Gets one event for each request that ends early.
        app: Name of the app in the settings.
        path: Where WeCom calls.
        base: What stands before it there, where the settings say that.
        window_s: Greatest distance of a timestamp from our clock, in seconds (R71).
    """
    ours = (corp_id, str(agent_id))
    callback = _AppCallback(cryptos, accept, note, clock, app, base + path, ours, log, window_s)
    return [
        web.get(path, callback.verify_url, allow_head=False),
        web.post(path, callback.receive),
    ]


class _AppCallback:
    def __init__(
        self,
        cryptos: Sequence[CallbackCrypto],
        accept: Accept,
        note: Note,
        clock: Clock,
        app: str,
        url: str,
        ours: tuple[str, str],
        log: Log,
        window_s: int,
    ) -> None:
        self._cryptos = cryptos
        self._accept = accept
        self._note = note
        self._clock = clock
        self._app = app
        self._url = url
        self._ours = ours
        self._log = log
        self._window_s = window_s

    async def verify_url(self, request: web.Request) -> web.Response:
        """Answer the console's check with the decrypted echo and nothing around it."""
        try:
            query = _query_of(request)
            signed = _signed_of(query)
            echo = _echo_of(query)
            plain, _ = self._open(signed, echo)
            _check_echo(plain)
        except _RefusedError as refused:
            return self._refuse(request, refused)
        if not plain.startswith(OWN_CHECK):
            self._note(URL_CHECKED, app=self._app, url=self._url)
        # Whoever holds the Token may know whom we take them for: `gateway.doctor` looks at it.
        headers = {"X-Content-Type-Options": "nosniff", SEEN_AS: request.remote or ""}
        return web.Response(body=plain, content_type="text/plain", headers=headers)

    async def receive(self, request: web.Request) -> web.Response:
        """Take one delivery: THE order of R71, one call a line."""
        try:
            body = await _read(request)
            signed = _signed_of(_query_of(request))
            encrypted = _encrypted_of(body)
            plain, crypto = self._open(signed, encrypted)
            if plain.startswith(OWN_CHECK):
                return web.Response()
        except _RefusedError as refused:
            return self._refuse(request, refused)
        replay_key = hashlib.sha256(encrypted.encode()).digest()
        return await self._take(plain, replay_key, crypto)

    def _open(self, signed: _Signed, sealed: str) -> tuple[bytes, CallbackCrypto]:
        wrong: list[str] = []
        for crypto in self._cryptos:
            try:
                return self._opened(crypto, signed, sealed), crypto
            except AuthError as error:
                wrong.append(error.code)
        # A signature that holds and a key that does not: what the console has is not what we have.
        # A wrong signature anybody can send; see `gateway.doctor`.
        code = next((code for code in wrong if code != "callback.signature"), wrong[0])
        self._note(code, app=self._app)
        raise _RefusedError(403, code)

    def _opened(self, crypto: CallbackCrypto, signed: _Signed, sealed: str) -> bytes:
        crypto.verify(signed.signature, signed.timestamp, signed.nonce, sealed)
        skew_s = int(signed.timestamp) - self._clock.now().wall_s
        if abs(skew_s) > self._window_s:
            # Told only about what verified: then it is this clock or a replay.
            raise _RefusedError(403, "callback.outside-window", skew_s=skew_s)
        return crypto.decrypt(sealed)

    async def _take(self, plain: bytes, replay_key: bytes, crypto: CallbackCrypto) -> web.Response:
        try:
            message = parse_message(plain, app=self._app)
            if (message.corp, message.bot) != self._ours:
                field = "AgentID" if message.corp == self._ours[0] else "ToUserName"
                self._log.warning("callback.not-ours", app=self._app, field=field, bot=message.bot)
                return web.Response()
            said = await self._accept(message, replay_key)
        except (StoreError, UnavailableError) as error:
            self._log.error("callback.not-stored", code=error.code)
            return web.Response(status=503)
        except CodexBridgeError as error:
            where = error.facts.get("field", "—")  # the others may hold what somebody wrote
            self._log.warning("callback.dropped", app=self._app, field=where, code=error.code)
            return web.Response()
        return self._reply(said, message, crypto) if said else web.Response()

    def _reply(self, text: str, to: InboundMessage, crypto: CallbackCrypto) -> web.Response:
        """Return a passive reply (page 90241), closed with the keys of what it answers."""
        now_s, nonce = self._clock.now().wall_s, secrets.token_hex(8)
        plain = render_text(text, to=to, at_s=now_s).encode()
        sealed = crypto.encrypt(plain, random=secrets.token_bytes(RANDOM_BYTES))
        signature = crypto.sign(str(now_s), nonce, sealed)
        body = render_encrypted(encrypted=sealed, signature=signature, timestamp=now_s, nonce=nonce)
        return web.Response(text=body, content_type="application/xml")

    def _refuse(self, request: web.Request, refused: _RefusedError) -> web.Response:
        if not request.get(UNHEARD):  # or whoever goes on and on would fill the log
            facts = {"status": refused.status, "code": refused.code, **refused.facts}
            self._log.info("callback.refused", **facts)
        return web.Response(status=refused.status)


async def _read(request: web.Request) -> bytes:
    if (request.content_length or 0) > MAX_BODY_BYTES:
        raise _RefusedError(413, "callback.too-large")
    try:
        # A small body comes with its head: then there is nothing to wait for, nor to time.
        here = request.content.is_eof()
        body = request.content.read_nowait() if here else await _read_slowly(request.content)
    except TimeoutError:
        raise _RefusedError(408, "callback.too-slow") from None
    except web.RequestPayloadError:
        raise _RefusedError(400, "callback.syntax") from None
    except ConnectionError:  # nobody is there to read the status, but it counts as a failure
        raise _RefusedError(400, "callback.cut-off") from None
    # What was announced is not trusted: a chunked body has no length.
    if len(body) > MAX_BODY_BYTES:
        raise _RefusedError(413, "callback.too-large")
    return body


async def _read_slowly(content: StreamReader) -> bytes:
    body = bytearray()
    async with asyncio.timeout(READ_S):
        async for piece in content.iter_any():
            body += piece
            if len(body) > MAX_BODY_BYTES:
                break
    return bytes(body)


def _query_of(request: web.Request) -> dict[str, list[str]]:
    # Read by hand: the usual decoding turns the raw "+" of Base64 into a blank, and tolerates
    # what a signature must not leave open.
    raw = request.rel_url.raw_query_string
    if len(raw) > MAX_QUERY_CHARS:
        raise _RefusedError(400, "callback.syntax")
    query: dict[str, list[str]] = {}
    for pair in raw.split("&"):
        name, _, value = pair.partition("=")
        query.setdefault(name, []).append(value)
    return query


def _signed_of(query: dict[str, list[str]]) -> _Signed:
    return _Signed(
        _once(query, "msg_signature", _SIGNATURE),
        _once(query, "timestamp", _TIMESTAMP),
        _once(query, "nonce", _NONCE),
    )


def _echo_of(query: dict[str, list[str]]) -> str:
    # Base64 knows no blank: one can only be a "+" that something on the way decoded.
    values = [unquote(value).replace(" ", "+") for value in query.get("echostr", ())]
    return _once({"echostr": values}, "echostr", _BASE64)


def _check_echo(plain: bytes) -> None:
    # A message is signed in the same way: captured on its way, it must not be read out here.
    if plain.lstrip().startswith(b"<"):
        raise _RefusedError(403, "callback.not-an-echo")


def _once(query: dict[str, list[str]], name: str, pattern: re.Pattern[str]) -> str:
    values = query.get(name, ())
    if len(values) != 1 or not pattern.fullmatch(values[0]):
        raise _RefusedError(400, "callback.syntax", parameter=name)
    return values[0]


def _encrypted_of(body: bytes) -> str:
    # The other fields of the envelope are signed by nobody: they are not even looked at.
    try:
        encrypted = parse_fields(body).get("Encrypt")
    except RemoteProtocolError:
        encrypted = None
    if not encrypted:
        raise _RefusedError(400, "callback.envelope")
    return encrypted
