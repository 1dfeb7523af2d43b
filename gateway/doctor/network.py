"""Looks at WeCom's API from here, and at the gateway from outside, as WeCom and machines see it.

Every look ends within seconds and says who did not answer.  The way in is tried with what only the
gateway can answer: a URL check signed with its own Token, whose echo must come back decrypted, and
the challenge that its end of the link sends.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import secrets
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlsplit

import aiohttp
from multidict import CIMultiDictProxy
from yarl import URL

from common import strict_json
from common.doctor import Finding, Tone
from common.errors import CodexBridgeError
from common.protocol.frames import Challenge, decode_frame
from gateway.base.addresses import LIVE_PATH, READY_PATH, could_listen, is_within
from gateway.base.identity import KEYS, KeyRing
from gateway.base.messages import SendOutcome
from gateway.base.settings import App, is_served, public_url
from gateway.channels.wecom_app import OWN_CHECK, SEEN_AS
from gateway.doctor.subject import Subject, few, named
from gateway.link.endpoint import LINK_PATH
from gateway.store import members
from gateway.store.runner import open_admin
from gateway.store.sqlite import HEAD, stored_revision
from gateway.wecom.client import WeComClient, errcode_of
from gateway.wecom.crypto import RANDOM_BYTES, CallbackCrypto
from gateway.wecom.egress import open_session, proxy_of, trusting

ANSWER_S: Final = 4.0  # to connect, and to answer
MAX_ANSWER_BYTES: Final = 65_536
MESSAGE_BYTES: Final = 4_096  # more than a text and what surrounds it have
OFF_S: Final = 10  # a clock that far off is kept by nobody
FAR_OFF_S: Final = 60
EXPIRES_DAYS: Final = 14
DAY_S: Final = 86_400
ANY: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  # what settings may say

# What OpenSSL says of a certificate (its x509_vfy.h); anything else is one nobody vouches for.
_CERTIFICATE: Final = {9: "early", 10: "expired", 62: "other-host", 64: "other-host"}
_DIALLED: Final = {401: "elsewhere", 403: "elsewhere", 404: "elsewhere", 429: "too-often"}
_BUSY: Final = frozenset({429, 503})  # our own link, to whom it cannot hear now
_CREDENTIALS: Final = frozenset({40001, 40013, 40091})
_ADDRESS: Final = re.compile(r"from ip: ?([0-9A-Fa-f.:]{2,45})")


T = TypeVar("T")


class _CutOffError(Exception):
    """Nobody answered; ``what`` ends the code of the finding."""

    def __init__(self, what: str, *, why: str = "", late: bool = False) -> None:
        super().__init__(what)
        self.is_late = late  # somebody may be there
        self._what = what
        self._why = why

    @property
    def is_near(self) -> bool:
        """Whether the next one on the way is meant, not who is at its end."""
        return self._what not in {"tls", "untrusted", *_CERTIFICATE.values()}

    def finding(self, check: str, url: str) -> Finding:
        """Return what a check has found by it."""
        facts = {"host": urlsplit(url).netloc, "why": self._why}
        return Finding(f"{check}.{self._what}", Tone.BAD, facts)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that could be had: our address on it, and when the certificate ends, if any."""

    own: str
    expires: float | None  # seconds since the epoch


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    body: bytes
    headers: CIMultiDictProxy[str]


class Network:
    """The checks that ask somebody."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._own_address = ""

    async def wecom_api(self) -> Finding:
        """Look for WeCom's API, and for anything in its place; nothing is asked of it."""
        base = self._subject.settings.wecom.api_base
        facts: dict[str, object] = {"host": urlsplit(base).netloc}
        url = URL(f"{base}/cgi-bin/gettoken")
        settings, environ = self._subject.settings, self._subject.environ
        proxy = proxy_of(settings, environ)
        try:
            if proxy is None:
                await _connect(base, settings.egress.ca_bundle)
            async with await open_session(settings, environ) as session:
                answer = await _answer(session, url)
        except _CutOffError as cut:
            return cut.finding("wecom-api", str(proxy.url) if proxy and cut.is_near else base)
        if answer.status != 200:
            return Finding("wecom-api.status", Tone.BAD, facts | {"status": answer.status})
        if errcode_of(_object(answer.body)) is None:
            return Finding("wecom-api.html", Tone.BAD, facts)
        self._subject.ahead_s = self._ahead(answer.headers.get("Date", ""))
        return Finding("wecom-api.fine", facts=facts)

    def _ahead(self, date: str) -> float | None:
        try:
            said_s = parsedate_to_datetime(date).timestamp()
        except (ValueError, OverflowError, OSError):  # a zone or a year of no calendar
            return None
        return self._subject.clock.now().wall_ms / 1000 - said_s

    async def skew(self) -> Finding:
        """Compare the clock of this machine with WeCom's."""
        ahead = self._subject.ahead_s
        if ahead is None:
            return Finding("clock.unknown")
        facts = {"seconds": round(abs(ahead))}
        if abs(ahead) <= OFF_S:
            return Finding("clock.fine", facts=facts)
        tone = Tone.BAD if abs(ahead) > FAR_OFF_S else Tone.WARN
        return Finding("clock.ahead" if ahead > 0 else "clock.behind", tone, facts)

    async def wecom_token(self, app: str) -> Finding:
        """Fetch a token, as the server does."""
        wecom = self._subject.app(app)
        known = (wecom.corp_id, wecom.corp_secret.get_secret_value())
        refusal = self._subject.refusals.get(known) or await self._ask(
            wecom, WeComClient.check_token
        )
        if refusal is None:
            return Finding("wecom-token.fine")
        if refusal.errcode in _CREDENTIALS:
            self._subject.refusals[known] = refusal
        return refused(app, wecom, refusal)

    async def wecom_app(self, app: str) -> Finding:
        """Ask WeCom for the app, which needs its id, its secret and a trusted address."""
        wecom = self._subject.app(app)
        view = await self._ask(wecom, WeComClient.look_at_app)
        if isinstance(view, SendOutcome):
            return refused(app, wecom, view)
        facts: dict[str, object] = {"app": wecom.agent_id}
        if view.is_closed:
            return Finding("wecom.app-closed", Tone.BAD, facts)
        if view.seen_by is not None:
            everyone = await asyncio.to_thread(_members_of, self._subject.store, app)
            if blind := [user for user in everyone if user.lower() not in view.seen_by]:
                return Finding("wecom-app.not-seen", Tone.WARN, facts | {"names": few(blind)})
            seen = {user: view.seen_by[user.lower()] for user in everyone}
            if other := [user for user in everyone if seen[user] != user]:
                names = {"names": few(other), "theirs": few([seen[user] for user in other])}
                return Finding("wecom-app.other-case", Tone.WARN, facts | names)
        return Finding("wecom-app.fine", facts=facts)

    async def _ask(self, wecom: App, call: Callable[[WeComClient], Awaitable[T]]) -> T:
        settings = self._subject.settings
        async with await open_session(settings, self._subject.environ) as session:
            client = WeComClient(
                api_base=settings.wecom.api_base,
                corp_id=wecom.corp_id,
                agent_id=wecom.agent_id,
                corp_secret=wecom.corp_secret.get_secret_value(),
                clock=self._subject.clock,
                session=session,
                timeout_s=ANSWER_S,
            )
            return await call(client)

    async def port(self) -> Finding:
        """Look for the gateway itself where it listens; where nobody is, whether it could."""
        self._subject.running = False
        listen = self._subject.settings.listen
        facts = {"host": listen.host, "port": listen.port}
        try:
            said = _object((await _get(self._own(LIVE_PATH))).body)
        except _CutOffError as cut:
            free = await asyncio.to_thread(could_listen, listen.host, listen.port)
            if free:
                start = {"start": self._subject.start}
                return Finding("port.not-running", Tone.BAD, facts | start)
            if cut.is_late:
                return Finding("port.silent", Tone.BAD, facts)
            said = {}
        if said != {"status": "live"}:
            return Finding("port.taken", Tone.BAD, facts)
        try:
            is_ours = await self._is_ours(self._own(LINK_PATH))
        except (aiohttp.ClientError, OSError) as error:
            # Whoever is too busy to greet is not taken for somebody else.
            is_busy = isinstance(error, TimeoutError) or getattr(error, "status", 0) in _BUSY
            is_ours = True if is_busy else None
        if is_ours is None:
            return Finding("port.taken", Tone.BAD, facts)
        if not is_ours:
            state = self._subject.state
            return Finding("port.other-gateway", Tone.BAD, {**facts, "state": state})
        self._subject.running = True
        return Finding("port.fine", facts=facts)

    async def ready(self) -> Finding:
        """Ask the running gateway whether it can do its work."""
        try:
            said = _object((await _get(self._own(READY_PATH))).body)
        except _CutOffError:
            said = {}
        parts = said.get("parts", {})
        if said.get("status") == "ready":
            subject = self._subject
            if subject.served is None and not is_served(subject.settings, subject.state):
                return Finding("ready.other-settings", Tone.WARN)
            return Finding("ready.fine")
        ill = [str(name) for name in parts if not parts[name]] if isinstance(parts, dict) else []
        if ill == ["disk"]:
            return Finding("ready.full", Tone.BAD, {"path": self._subject.state})
        return Finding("ready.not", Tone.BAD, {"names": ill})

    async def public_url(self) -> Finding:
        """Go the way that WeCom and machines go, up to the certificate."""
        url = self._public
        try:
            line = await _connect(url)
        except _CutOffError as cut:
            return cut.finding("public-url", url)
        self._own_address = line.own
        if line.expires is None:
            return Finding("public-url.plain", facts={"url": url})
        days = int((line.expires - self._subject.clock.now().wall_s) / DAY_S)
        facts = {"url": url, "days": days}
        if days < EXPIRES_DAYS:
            return Finding("public-url.expires", Tone.WARN, facts)
        return Finding("public-url.fine", facts=facts)

    async def callback(self, app: str) -> Finding:
        """Make WeCom's URL check and send a message, with our own Token and EncodingAESKey."""
        wecom = self._subject.app(app)
        crypto = CallbackCrypto(
            token=wecom.token.get_secret_value(),
            encoding_aes_key=wecom.encoding_aes_key.get_secret_value(),
            receive_id=wecom.corp_id,
        )
        path = f"{self._public}{wecom.callback_path}"
        echo = OWN_CHECK + secrets.token_hex(16).encode()
        query, sealed = self._sealed(crypto, echo)
        post, long = self._sealed(crypto, OWN_CHECK + bytes(MESSAGE_BYTES))
        body = f"<xml><Encrypt><![CDATA[{long}]]></Encrypt></xml>".encode()
        try:
            url = URL(f"{path}?{query}&echostr={quote(sealed, safe='')}", encoded=True)
            answer = await _get(url)
            facts = {"url": path, "status": answer.status}
            if (what := _judge(answer, echo)) is not None:
                return Finding(f"callback.{what}", Tone.BAD, facts)
            taken = await _get(URL(f"{path}?{post}", encoded=True), body=body)
        except _CutOffError as cut:
            return cut.finding("public-url", self._public)
        if taken.status != 200 or taken.body:
            return Finding("callback.no-post", Tone.BAD, facts | {"status": taken.status})
        seen = answer.headers.get(SEEN_AS, "")
        if self._is_proxy(seen):
            return Finding("callback.address", Tone.WARN, facts | {"address": seen})
        return Finding("callback.fine", facts=facts)

    def _sealed(self, crypto: CallbackCrypto, plain: bytes) -> tuple[str, str]:
        """Return the signed query and the ciphertext of a call."""
        at, nonce = str(self._subject.clock.now().wall_s), secrets.token_hex(8)
        sealed = crypto.encrypt(plain, random=secrets.token_bytes(RANDOM_BYTES))
        signature = crypto.sign(at, nonce, sealed)
        return f"msg_signature={signature}&timestamp={at}&nonce={nonce}", sealed

    def _is_proxy(self, seen: str) -> bool:
        """Tell whether the gateway took us, who came by the proxy, for the proxy itself."""
        proxies = self._subject.settings.trusted_proxies
        networks = tuple(ipaddress.ip_network(network) for network in proxies)
        return is_within(seen, networks) and not is_within(self._own_address, networks)

    async def link(self) -> Finding:
        """Dial the address of machines, up to the gateway's challenge."""
        url = f"{self._public}{LINK_PATH}"
        facts: dict[str, object] = {"url": url}
        try:
            is_ours = await self._is_ours(URL(url))
        except aiohttp.ClientResponseError as error:
            what = _DIALLED.get(error.status, "no-upgrade")
            return Finding(f"link.{what}", Tone.BAD, facts | {"status": error.status})
        except TimeoutError:
            return Finding("link.held", Tone.BAD, facts)
        except (aiohttp.ClientError, OSError):
            return Finding("link.no-upgrade", Tone.BAD, facts | {"status": "—"})
        if not is_ours:
            return Finding("link.elsewhere", Tone.BAD, facts)
        return Finding("link.fine", facts=facts)

    async def _is_ours(self, url: URL) -> bool | None:
        """Tell whether the gateway there offers one of our keys; None where it is no gateway."""
        async with (
            asyncio.timeout(2 * ANSWER_S),
            _session() as session,
            session.ws_connect(url, max_msg_size=MAX_ANSWER_BYTES) as wire,
        ):
            first = await wire.receive(timeout=ANSWER_S)
        offered = _offered(str(first.data)) if first.type is aiohttp.WSMsgType.TEXT else None
        ours = await asyncio.to_thread(KeyRing(self._subject.state / KEYS).reload)
        return None if offered is None else any(name in ours for name in offered)

    @property
    def _public(self) -> str:
        settings = self._subject.settings
        return public_url(settings, port=settings.listen.port)

    def _own(self, path: str) -> URL:
        listen = self._subject.settings.listen
        host = ANY.get(listen.host, listen.host)
        return URL.build(scheme="http", host=host, port=listen.port, path=path)


def refused(name: str, wecom: App, refusal: SendOutcome) -> Finding:
    """Return what a refusal of WeCom's API means for these settings."""
    address = _ADDRESS.search(refusal.errmsg)
    facts = named(name) | {
        "errcode": "—" if refusal.errcode is None else refusal.errcode,
        "errmsg": refusal.errmsg,
        "address": address[1] if address else "?",
        "corp": wecom.corp_id,
        "app": wecom.agent_id,
    }
    return Finding(refusal.code, Tone.BAD, facts)


async def _connect(url: str, bundle: Path | None = None) -> _Line:
    """Connect as any client would.

    Raises:
        _CutOffError: somebody on the way, or the other end, does not let us.
    """
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    context = await asyncio.to_thread(trusting, bundle) if secure else None
    port = parts.port or (443 if secure else 80)
    try:
        async with asyncio.timeout(ANSWER_S):
            _, writer = await asyncio.open_connection(parts.hostname, port, ssl=context)
    except TimeoutError:
        raise _CutOffError("silent") from None
    except socket.gaierror as error:
        raise _CutOffError("dns", why=error.strerror or "") from None
    except (ssl.SSLError, ConnectionResetError) as error:
        raise _untrusted(error) from None
    except ConnectionRefusedError:
        raise _CutOffError("refused") from None
    except OSError as error:
        raise _CutOffError("unreachable", why=error.strerror or "") from None
    own = writer.get_extra_info("sockname")[0]
    ends = (writer.get_extra_info("peercert") or {}).get("notAfter")
    writer.close()
    return _Line(own, ssl.cert_time_to_seconds(ends) if ends else None)


def _untrusted(error: Exception) -> _CutOffError:
    if not isinstance(error, ssl.SSLCertVerificationError):
        return _CutOffError("tls")
    return _CutOffError(_CERTIFICATE.get(error.verify_code, "untrusted"), why=error.verify_message)


async def _get(url: URL, *, body: bytes | None = None) -> _Answer:
    """Ask once, by POST where there is a body, and follow nothing.

    Raises:
        _CutOffError: no whole answer came.
    """
    async with _session() as session:
        return await _answer(session, url, body)


async def _answer(session: aiohttp.ClientSession, url: URL, body: bytes | None = None) -> _Answer:
    try:
        timeout = aiohttp.ClientTimeout(total=ANSWER_S)
        method, headers = ("POST", {"Content-Type": "text/xml"}) if body else ("GET", {})
        async with session.request(
            method, url, data=body, headers=headers, allow_redirects=False, timeout=timeout
        ) as response:
            said = await response.content.read(MAX_ANSWER_BYTES)
            return _Answer(response.status, said, response.headers)
    except aiohttp.ClientHttpProxyError as error:
        raise _CutOffError("proxy-refused", why=str(error.status)) from None
    except aiohttp.ClientProxyConnectionError:
        raise _CutOffError("proxy-away") from None
    except aiohttp.ClientConnectorCertificateError as error:
        raise _untrusted(error.certificate_error) from None
    except aiohttp.ClientSSLError:
        raise _CutOffError("tls") from None
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        # The library's own error holds the URL, and the URL may hold a signature.
        raise _CutOffError("silent", late=isinstance(error, TimeoutError)) from None


@asynccontextmanager
async def _session() -> AsyncIterator[aiohttp.ClientSession]:
    context = await asyncio.to_thread(ssl.create_default_context)
    following = aiohttp.TraceConfig()
    following.on_request_redirect.append(_stay)
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=context),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=ANSWER_S),
        trace_configs=[following],
    ) as session:
        yield session


async def _stay(
    _session: aiohttp.ClientSession, _context: object, asked: aiohttp.TraceRequestRedirectParams
) -> None:
    """Follow nothing; `ws_connect` has no option for it."""
    answer = asked.response
    raise aiohttp.ClientResponseError(answer.request_info, (), status=answer.status)


def _judge(answer: _Answer, echo: bytes) -> str | None:
    """Return what is wrong with an answer to the URL check.

    The gateway's own refusals have no body; one with a page is of somebody before it.
    """
    if answer.status == 200:
        return None if answer.body == echo else "elsewhere"
    if 300 <= answer.status < 400:
        return "redirected"
    if answer.status in (502, 503, 504):
        return "no-gateway"
    if answer.body:
        return "elsewhere"
    return {400: "query", 403: "refused"}.get(answer.status, "elsewhere")


def _members_of(store: Path, app: str) -> list[str]:
    # What cannot be read as it is, the check of the store tells: nothing is migrated for this.
    with suppress(CodexBridgeError):
        if store.exists() and stored_revision(store) == HEAD:
            with open_admin(store) as opened:
                return [one.user_id for one in opened.read(members.everyone) if one.app == app]
    return []


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = strict_json.loads(body, max_bytes=MAX_ANSWER_BYTES)
    except CodexBridgeError:
        return {}
    return found if isinstance(found, dict) else {}


def _offered(challenge: str) -> list[Any] | None:
    """Return the names of the keys in a gateway's challenge; None for anything else."""
    try:
        frame = decode_frame(challenge)
    except CodexBridgeError:
        return None
    if not isinstance(frame, Challenge):
        return None
    offered = _object(frame.body.encode()).get("gw_key_ids")
    return offered if isinstance(offered, list) else None
