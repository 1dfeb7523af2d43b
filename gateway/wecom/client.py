"""The active API of WeCom: ``gettoken`` and ``message/send`` (pages 91039, 90236, 90313).

One call tries once (twice when the token had died) and says what came of it, as a `SendOutcome`.
It never waits for a better time: queue, order, back-off and truth towards people are the outbox's.
Neither the access token nor the corp secret appears in an outcome, an error or a log (R72).
"""

from __future__ import annotations

import asyncio
import hmac
import re
from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp

from common import strict_json
from common.clock import Clock
from common.errors import CodexBridgeError, ConfigError, UnavailableError
from common.redact import redact, redact_known
from common.text import CHAT_BYTES, one_line
from gateway.base.messages import COPIES_S, Handle, SendOutcome
from gateway.base.settings import is_loopback

TIMEOUT_S: Final = 10.0
MAX_ANSWER_BYTES: Final = 65_536
TOKEN_MARGIN_S: Final = 300.0  # refresh this long before the token ends
UNSAID_LIFETIME_S: Final = 60
MAX_TOKEN_CHARS: Final = 512  # page 91039
# How fast one member may be written to: WeCom drops the excess without a word (page 90454).
PER_MINUTE: Final = 30
PER_HOUR: Final = 1000
# What of it progress leaves to answers, questions and ends: they must never wait for it.
KEPT_PER_MINUTE: Final = 10
KEPT_PER_HOUR: Final = 200
MINUTE_S: Final = 60.0
HOUR_S: Final = 3600.0
MAX_MEMBERS: Final = 10_000
CARD_S: Final = 71 * 3600  # an hour less than WeCom's 72, for what waits to be sent
MAX_ERRMSG_BYTES: Final = 300
BUSY_S: Final = 2.0
LINE_S: Final = 5.0  # the line or the server failed
FREQUENCY_S: Final = 60.0  # 45009 blocks for the rest of its minute at least (page 90313)
BLOCKED_S: Final = 30.0  # an admin mends it in the console, and waits for it to be seen
REFUSED_S: Final = 600.0  # a wrong secret, tried again and again, locks the address for an hour

TOKEN_DEAD: Final = frozenset({40014, 41001, 42001})
BUSY: Final = -1
RETRY_AFTER_S: Final = {BUSY: BUSY_S, 45009: FREQUENCY_S, 45033: LINE_S}
CONFIG_CODES: Final = {
    40001: "wecom.bad-secret",
    40013: "wecom.bad-corp-id",
    40056: "wecom.bad-agent-id",
    40091: "wecom.bad-secret",
    50003: "wecom.app-closed",
    60020: "wecom.untrusted-address",
    48002: "wecom.forbidden",
    301002: "wecom.bad-agent-id",
}

# First character a letter or digit, never "@all"; "|" would address several (page 90195).
_USER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}", re.ASCII)
_RESPONSE_CODE: Final = re.compile(r"[!-~]{1,512}", re.ASCII)
_ERRCODE: Final = re.compile(r"-?[0-9]{1,9}", re.ASCII)


@dataclass(frozen=True, slots=True, repr=False)
class _Token:
    value: str
    expires: float  # monotonic seconds, margin already taken off


@dataclass(frozen=True, slots=True)
class AppView:
    """What WeCom says of an app.

    Attributes:
        is_closed: It is switched off in the console.
        seen_by: Ids of all who see it, as WeCom writes them, by the same in lower case; None where
            departments or tags see it, too.
    """

    is_closed: bool
    seen_by: Mapping[str, str] | None


class _FailedError(Exception):
    """A call ended without what it was made for."""

    def __init__(self, outcome: SendOutcome) -> None:
        super().__init__(outcome.code)
        self.outcome = outcome


class WeComClient:
    """Sends text to members in the name of one self-built app.

    Args:
        api_base: Origin of the API; https, or http to a loopback address.
        corp_id: The corp.
        agent_id: The app.
        corp_secret: The app's secret.
        clock: Tells when a token ends.
        session: Used, not closed.
        timeout_s: Longest time for one request.

    Raises:
        ConfigError: ``config.insecure-url`` (name).
    """

    def __init__(
        self,
        *,
        api_base: str,
        corp_id: str,
        agent_id: int,
        corp_secret: str,
        clock: Clock,
        session: aiohttp.ClientSession,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        _refuse_insecure(api_base)
        self._base = api_base.rstrip("/")
        self._corp_id = corp_id
        self._agent_id = agent_id
        self._corp_secret = corp_secret
        self._clock = clock
        self._session = session
        self._timeout = aiohttp.ClientTimeout(total=timeout_s)
        self._fetching = asyncio.Lock()
        self._token: _Token | None = None
        self._refusal: SendOutcome | None = None
        self._refused_until = 0.0
        self._pace = Pace()

    async def send_text(
        self, user: str, text: str, *, repeated: bool = False, yields: bool = False
    ) -> SendOutcome:
        """Try once to send a text to one member.

        Args:
            user: Member id; anything that would address more than one member is refused.
            text: At most 2048 bytes of UTF-8: WeCom cuts silently beyond that.
            repeated: This very text may have arrived: WeCom shall drop a copy.
            yields: A part of the member's pace is left to what matters more.
        """
        if not 0 < len(text.encode("utf-8", "replace")) <= CHAT_BYTES:
            return not_sendable("wecom.text-size")
        content = text.encode("utf-8", "replace").decode()
        return await self._send(
            user, "text", {"content": content}, repeated=repeated, yields=yields
        )

    async def send_card(
        self, user: str, card: Mapping[str, object], *, repeated: bool = False
    ) -> SendOutcome:
        """Try once to send a template card to one member; the outcome holds its handle."""
        return await self._send(user, "template_card", card, repeated=repeated)

    async def update_card(self, user: str, handle: str, card: Mapping[str, object]) -> SendOutcome:
        """Try once to put a card in the place of the one that a handle was given for."""
        message = {"userids": [user], "response_code": handle, "template_card": card}
        return await self._call_for(user, "message/update_template_card", message)

    async def _send(
        self,
        user: str,
        kind: str,
        content: Mapping[str, object],
        *,
        repeated: bool,
        yields: bool = False,
    ) -> SendOutcome:
        message: dict[str, object] = {"touser": user, "msgtype": kind, kind: content, "safe": 0}
        if repeated:
            message["enable_duplicate_check"] = 1
            message["duplicate_check_interval"] = COPIES_S
        return await self._call_for(user, "message/send", message, yields=yields)

    async def _call_for(
        self, user: str, name: str, message: Mapping[str, object], *, yields: bool = False
    ) -> SendOutcome:
        if not _USER.fullmatch(user):
            return not_sendable("wecom.bad-user")
        wait_s = self._pace.take(user, self._clock.now().mono, yields=yields)
        if wait_s > 0:
            # WeCom's pace leaves no room for it yet.
            return SendOutcome("retry", None, "wecom.pace", wait_s, "wecom.pace", tried=False)
        body = {"agentid": self._agent_id, **message}
        try:
            token = await self._valid_token(dead=None)
            answer = await self._post(token, name, body)
            if errcode_of(answer) in TOKEN_DEAD:
                token = await self._valid_token(dead=token)
                answer = await self._post(token, name, body)
        except _FailedError as failed:
            return failed.outcome
        return judge_send(answer)

    async def renew(self, corp_secret: str) -> None:
        """Use another secret from now on; what was said of the old one is forgotten."""
        async with self._fetching:
            if not hmac.compare_digest(corp_secret.encode(), self._corp_secret.encode()):
                self._corp_secret, self._token, self._refusal = corp_secret, None, None

    def recall(self, user: str, ago_s: float) -> None:
        """Count what went to a member before this process began; the oldest comes first."""
        self._pace.note(user, self._clock.now().mono - ago_s)

    async def check_token(self) -> SendOutcome | None:
        """Fetch a token unless there is one; returns what keeps us from having one."""
        try:
            await self._valid_token(dead=None)
        except _FailedError as failed:
            return failed.outcome
        return None

    async def look_at_app(self) -> AppView | SendOutcome:
        """Ask for the app itself, which changes nothing (page 90227); or say what is wrong."""
        try:
            token = await self._valid_token(dead=None)
            query = {"access_token": token.value, "agentid": str(self._agent_id)}
            answer = await self._call("GET", "agent/get", query=query)
        except _FailedError as failed:
            return failed.outcome
        return _view_of(answer) if errcode_of(answer) == 0 else judge_token(answer)

    async def _valid_token(self, *, dead: _Token | None) -> _Token:
        # Whoever comes second finds the first one's token, or its failure, and asks no more.
        async with self._fetching:
            now = self._clock.now().mono
            token = self._token
            if token is not None and token is not dead and now < token.expires:
                return token
            if self._refusal is not None and now < self._refused_until:
                raise _FailedError(replace(self._refusal, retry_after_s=self._refused_until - now))
            self._token = None
            try:
                self._token = await self._fetch_token()
            except _FailedError as failed:
                refusal = self._refusal = replace(failed.outcome, for_all=True)
                self._refused_until = self._clock.now().mono + refusal.retry_after_s
                raise _FailedError(refusal) from None
            self._refusal = None
            return self._token

    async def _fetch_token(self) -> _Token:
        asked = self._clock.now().mono
        query = {"corpid": self._corp_id, "corpsecret": self._corp_secret}
        answer = await self._call("GET", "gettoken", query=query)
        if errcode_of(answer) != 0:
            raise _FailedError(judge_token(answer))
        value, lifetime = answer.get("access_token"), answer.get("expires_in")
        if not isinstance(value, str) or not 0 < len(value) <= MAX_TOKEN_CHARS:
            raise _FailedError(unreadable(maybe_sent=False))
        if not isinstance(lifetime, int) or lifetime <= 0:
            lifetime = UNSAID_LIFETIME_S
        return _Token(value, asked + max(lifetime - TOKEN_MARGIN_S, lifetime / 2))

    async def _post(self, token: _Token, name: str, message: dict[str, object]) -> dict[str, Any]:
        return await self._call("POST", name, query={"access_token": token.value}, message=message)

    async def _call(
        self,
        method: str,
        name: str,
        *,
        query: Mapping[str, str],
        message: dict[str, object] | None = None,
    ) -> dict[str, Any]:
        sending = message is not None
        try:
            async with self._session.request(
                method,
                f"{self._base}/cgi-bin/{name}",
                params=query,
                json=message,
                allow_redirects=False,
                timeout=self._timeout,
            ) as response:
                if response.status != 200:
                    raise _FailedError(judge_status(response.status, sending=sending))
                answer = strict_json.loads(await _read(response), max_bytes=MAX_ANSWER_BYTES)
        except (aiohttp.ClientConnectorError, aiohttp.ClientHttpProxyError) as error:
            raise _FailedError(cut_off(error)) from None
        except (aiohttp.ClientError, TimeoutError, OSError):
            # The library's own error holds the URL, and the URL holds the token.
            raise _FailedError(unreachable(maybe_sent=sending)) from None
        except CodexBridgeError:
            raise _FailedError(unreadable(maybe_sent=sending)) from None
        if not isinstance(answer, dict):
            raise _FailedError(unreadable(maybe_sent=sending))
        # What the other side says of a failure may repeat what it was given.
        secrets = (self._corp_secret, query.get("access_token", ""))
        return answer | {"errmsg": redact_known(str(answer.get("errmsg", "")), secrets)}


class Pace:
    """Sliding windows of one minute and one hour for each member.

    Counts tries, not successes, since a try whose answer was lost may count at WeCom.
    """

    def __init__(self) -> None:
        self._tries: OrderedDict[str, deque[float]] = OrderedDict()

    def take(self, user: str, now: float, *, yields: bool = False) -> float:
        """Count one try, or say how long to wait for it.

        Args:
            user: Member id; WeCom does not tell upper from lower case in it.
            now: Monotonic seconds.
            yields: It leaves the last part of each window to others.

        Returns:
            0 when the try is counted and may go out, else seconds to wait; nothing was counted.
        """
        tries = self._of(user.lower())
        while tries and tries[0] <= now - HOUR_S:
            tries.popleft()
        per_hour = PER_HOUR - (KEPT_PER_HOUR if yields else 0)
        if len(tries) >= per_hour:
            return tries[-per_hour] + HOUR_S - now
        per_minute = PER_MINUTE - (KEPT_PER_MINUTE if yields else 0)
        if len(tries) >= per_minute and (wait_s := tries[-per_minute] + MINUTE_S - now) > 0:
            return wait_s
        tries.append(now)
        return 0.0

    def note(self, user: str, at: float) -> None:
        """Count a try that was made, at monotonic seconds not before those counted already."""
        self._of(user.lower()).append(at)

    def _of(self, user: str) -> deque[float]:
        tries = self._tries.setdefault(user, deque())
        self._tries.move_to_end(user)
        # Whoever was not written to for longest is forgotten first.
        if len(self._tries) > MAX_MEMBERS:
            self._tries.popitem(last=False)
        return tries


async def _read(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for piece in response.content.iter_chunked(8192):
        body += piece
        if len(body) > MAX_ANSWER_BYTES:
            raise UnavailableError("wecom.unreadable")
    return bytes(body)


def _refuse_insecure(api_base: str) -> None:
    parts = urlsplit(api_base)
    is_safe = parts.scheme == "https" or (
        parts.scheme == "http" and is_loopback(parts.hostname or "")
    )
    if not (parts.hostname and is_safe):
        raise ConfigError("config.insecure-url", name="wecom.api_base")


def errcode_of(answer: Mapping[str, Any]) -> int | None:
    """Return WeCom's number, also where it is written as a string; None when there is none."""
    errcode = answer.get("errcode")
    if isinstance(errcode, str) and _ERRCODE.fullmatch(errcode):
        return int(errcode)
    return errcode if isinstance(errcode, int) and not isinstance(errcode, bool) else None


def _view_of(answer: Mapping[str, Any]) -> AppView:
    def listed(field: str, name: str) -> list[Any] | None:
        found = answer.get(field)
        found = found.get(name) if isinstance(found, dict) else None
        return found if isinstance(found, list) else None

    users = listed("allow_userinfos", "user")
    is_wider = listed("allow_partys", "partyid") or listed("allow_tags", "tagid")
    names = (user.get("userid") for user in users or () if isinstance(user, dict))
    alone = {name.lower(): name for name in names if isinstance(name, str)}
    return AppView(answer.get("close") == 1, None if is_wider or users is None else alone)


def judge_token(answer: Mapping[str, Any]) -> SendOutcome:
    """Return what an answer to ``gettoken`` that holds no token means for all messages."""
    return _judge(answer, asking_token=True)


def judge_send(answer: Mapping[str, Any]) -> SendOutcome:
    """Return what an answer to ``message/send`` means for its one recipient."""
    if errcode_of(answer) != 0:
        return _judge(answer, asking_token=False)
    # One recipient was named, so whatever these lists hold is that one (in lower case).
    for name in ("invaliduser", "unlicenseduser"):
        if answer.get(name):
            return SendOutcome("permanent", 0, name, 0.0, f"wecom.{name}")
    handle = card_handle(answer.get("response_code"))
    return SendOutcome("sent", 0, "ok", 0.0, "wecom.sent", handle=handle)


def card_handle(response_code: object) -> Handle | None:
    """Return what a card can be changed with (page 94888), if WeCom gave something."""
    if not isinstance(response_code, str) or not _RESPONSE_CODE.fullmatch(response_code):
        return None
    return Handle(response_code, CARD_S)


def judge_status(status: int, *, sending: bool) -> SendOutcome:
    """Return what a status other than 200 means; the page with it is not read."""
    if status >= 500 or status in (408, 429):
        wait_s = FREQUENCY_S if status == 429 else LINE_S
        maybe_sent = sending and status != 429
        return SendOutcome(
            "retry", None, f"http {status}", wait_s, "wecom.http", maybe_sent, for_all=True
        )
    # Also a redirect: the address is not that of the API, and nothing is sent elsewhere.
    return SendOutcome("config", None, f"http {status}", REFUSED_S, "wecom.bad-address")


def not_sendable(code: str) -> SendOutcome:
    """Return the outcome of a message that can never be sent, found out before any try."""
    return SendOutcome("permanent", None, code, 0.0, code, tried=False)


def cut_off(error: aiohttp.ClientError) -> SendOutcome:
    """Return the outcome of a call for which no connection could be made: nothing was sent."""
    match error:
        case aiohttp.ClientHttpProxyError():
            code, why = "wecom.proxy-refused", f"the proxy answered {error.status}"
        case aiohttp.ClientProxyConnectionError():
            code, why = "wecom.proxy-away", "the proxy takes no connection"
        case aiohttp.ClientConnectorDNSError():
            code, why = "wecom.no-such-name", "the name is not known"
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientConnectorSSLError():
            code, why = "wecom.no-trust", "its certificate is not trusted, or it speaks no TLS"
        case _:
            code, why = "wecom.no-connection", "it takes no connection"
    return SendOutcome("retry", None, why, LINE_S, code, for_all=True)


def unreachable(*, maybe_sent: bool) -> SendOutcome:
    """Return the outcome of a call that got no answer; not even a line, unless it may be sent."""
    return SendOutcome(
        "retry", None, "no answer", LINE_S, "wecom.unreachable", maybe_sent, for_all=True
    )


def unreadable(*, maybe_sent: bool) -> SendOutcome:
    """Return the outcome of a call whose answer says nothing that can be understood."""
    return SendOutcome(
        "retry", None, "unreadable", LINE_S, "wecom.unreadable", maybe_sent, for_all=True
    )


def _judge(answer: Mapping[str, Any], *, asking_token: bool) -> SendOutcome:
    errcode = errcode_of(answer)
    errmsg = one_line(redact(str(answer.get("errmsg", ""))), MAX_ERRMSG_BYTES)
    if errcode is None:
        return unreadable(maybe_sent=not asking_token)
    if errcode in RETRY_AFTER_S:
        wait_s = RETRY_AFTER_S[errcode]
        # What counts too many calls counts those of all members; one busy answer says nothing yet.
        code, for_all = ("wecom.busy", False) if errcode == BUSY else ("wecom.too-often", True)
        return SendOutcome("retry", errcode, errmsg, wait_s, code, for_all=for_all)
    if errcode in TOKEN_DEAD and not asking_token:
        # A fresh token refused as well: WeCom's own servers may not know it yet.
        return SendOutcome("retry", errcode, errmsg, LINE_S, "wecom.token-refused", for_all=True)
    config = CONFIG_CODES.get(errcode)
    if config is not None or asking_token:
        wait_s = REFUSED_S if asking_token or config == "wecom.bad-secret" else BLOCKED_S
        return SendOutcome("config", errcode, errmsg, wait_s, config or "wecom.refused")
    return SendOutcome("permanent", errcode, errmsg, 0.0, "wecom.refused")
