"""Sends requests to a callback URL as bytes, right or wrong on purpose, and looks at the answers.

Written by hand on a socket: a client library would repair what is to be wrong.
"""

from __future__ import annotations

import http.client
import ipaddress
import re
import secrets
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from typing import Final, TypeAlias
from urllib.parse import quote, urlsplit

from common.clock import Clock
from common.errors import ConfigError, UnavailableError
from common.sentences import LANGS, Lang, Sentence, say
from gateway.simulator import check_words as W  # noqa: N812 - a table of constants
from gateway.simulator.crypto import SimulatedCrypto
from gateway.simulator.documents import envelope_xml, message_xml

PATIENCE_S: Final = 6.0  # WeCom's own is 5
WORTH_TELLING_S: Final = 0.1
MAX_ANSWER: Final = 65_536
TOO_MANY: Final = 429
Told: TypeAlias = dict[Lang, str]
_COMMA: Final[Told] = {"en": ", ", "zh": "，"}
_KEY: Final = re.compile(r"[A-Za-z0-9]{43}", re.ASCII)


def told(sentence: Sentence, **facts: object) -> Told:
    """Return what is said in both languages."""
    return {lang: say(sentence, lang, **facts) for lang in LANGS}


@dataclass(frozen=True, slots=True)
class Seen:
    """An answer.

    Attributes:
        status: 0 when there was none.
        headers: By lower-case name.
        body: The first of it.
        took_s: Until it was whole.
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    took_s: float = 0.0

    def told(self, more: Told | None = None) -> Told:
        """Return what may be shown, nothing of the body; and what else there is to say."""
        parts = [told(W.ANSWERED if self.status else W.SILENT, status=self.status)]
        if self.body:
            parts.append(told(W.SIZE, count=len(self.body)))
        if self.took_s >= WORTH_TELLING_S:
            parts.append(told(W.TOOK, seconds=f"{self.took_s:.1f}"))
        parts += [more] if more else []
        return {lang: _COMMA[lang].join(part[lang] for part in parts) for lang in LANGS}


@dataclass(frozen=True, slots=True)
class Signed:
    """The parameters of a call."""

    msg_signature: str
    timestamp: str
    nonce: str

    def pairs(self) -> list[tuple[str, str]]:
        """Return them as they stand in the query."""
        return [*asdict(self).items()]


@dataclass(frozen=True, slots=True, repr=False)
class CallbackKeys:
    """What a callback URL shares with WeCom."""

    token: str
    encoding_aes_key: str
    corp_id: str
    agent_id: int


class Probe:
    """A callback URL on loopback.

    Args:
        url: The URL.
        keys: What it should know.
        clock: Tells what is in time.
        user: Who writes.

    Raises:
        ConfigError: ``sim.check-url`` (url): it is not http to a literal address of loopback;
            ``sim.check-keys``: one of the keys is missing, or not of the right form.
    """

    def __init__(self, url: str, keys: CallbackKeys, *, clock: Clock, user: str) -> None:
        self._host, self._port, self._path, self._extra = place_of(url)
        if not (keys.token and keys.corp_id and _KEY.fullmatch(keys.encoding_aes_key)):
            raise ConfigError("sim.check-keys")
        self.crypto = SimulatedCrypto(keys.token, keys.encoding_aes_key, keys.corp_id)
        self.clock = clock
        self.corp_id = keys.corp_id
        self.agent_id = keys.agent_id
        self.user = user
        self.refusals: list[Seen] = []
        # A server may stop listening to an address that fails too often: then it judges nothing.
        self._source: tuple[str, int] | None = None
        self._sources = 0
        self._may_move = ":" not in self._host

    def stay_at_first_source(self) -> None:
        """Ask from where it began, also if that is not heard any more."""
        self._source, self._may_move = None, False

    def connect(self) -> None:
        """Return when somebody listens there.

        Raises:
            UnavailableError: ``sim.check-nobody`` (port).
        """
        try:
            socket.create_connection((self._host, self._port), PATIENCE_S).close()
        except OSError:
            raise UnavailableError("sim.check-nobody", port=self._port) from None

    # right requests

    def message(self, text: str = "ping", *, msg_id: str = "") -> bytes:
        """Return the plain XML of a text message."""
        return self.plain("text", Content=text, MsgId=msg_id or str(secrets.randbits(62)))

    def plain(self, kind: str, **fields: str) -> bytes:
        """Return the plain XML of a message or an event."""
        head: dict[str, str | int] = {
            "ToUserName": self.corp_id,
            "FromUserName": self.user,
            "CreateTime": self.clock.now().wall_s,
            "MsgType": kind,
        }
        return message_xml({**head, **fields, "AgentID": self.agent_id})

    def seal(self, plain: bytes) -> str:
        """Return the Encrypt of a message."""
        return self.crypto.encrypt(plain, secrets.token_bytes(16))

    def sign(self, encrypted: str, *, skew_s: int = 0, nonce: str = "") -> Signed:
        """Return the parameters of a call."""
        timestamp = str(self.clock.now().wall_s + skew_s)
        nonce = nonce or str(secrets.randbits(40) + 10**11)
        return Signed(self.crypto.signature(timestamp, nonce, encrypted), timestamp, nonce)

    def envelope(self, encrypted: str) -> bytes:
        """Return the body of a call."""
        return envelope_xml(self.corp_id, self.agent_id, encrypted)

    def post_plain(self, plain: bytes) -> Seen:
        """Send a message as WeCom does."""
        return self.post_sealed(self.seal(plain))

    def post_sealed(self, encrypted: str) -> Seen:
        """Send an Encrypt, signed as it should be."""
        return self.post(self.sign(encrypted).pairs(), self.envelope(encrypted))

    def post_made(self, make: Callable[[Probe, str], bytes], *, method: str = "POST") -> Seen:
        """Send what is made of a good message's Encrypt, with the parameters of that."""
        encrypted = self.seal(self.message())
        return self.post(self.sign(encrypted).pairs(), make(self, encrypted), method=method)

    # requests as they are made up

    def get(self, pairs: Sequence[tuple[str, str]], *, raw_plus: bool = False) -> Seen:
        """Ask by GET; ``raw_plus`` leaves the plus signs of Base64 as they are."""
        return self._ask("GET", self.target(pairs, raw_plus=raw_plus), [])

    def post(self, pairs: Sequence[tuple[str, str]], body: bytes, *, method: str = "POST") -> Seen:
        """Send a body at once."""
        return self._ask(method, self.target(pairs), [body])

    def post_pieces(
        self, pairs: Sequence[tuple[str, str]], pieces: Sequence[bytes], *, chunked: bool = False
    ) -> Seen:
        """Send a body in pieces."""
        return self._ask("POST", self.target(pairs), pieces, chunked=chunked)

    def target(self, pairs: Sequence[tuple[str, str]], *, raw_plus: bool = False) -> str:
        """Return path and query."""
        safe = "+" if raw_plus else ""
        query = "&".join(f"{name}={quote(value, safe=safe)}" for name, value in pairs)
        return f"{self._path}?{'&'.join(part for part in (self._extra, query) if part)}"

    def _ask(
        self, method: str, target: str, pieces: Sequence[bytes], *, chunked: bool = False
    ) -> Seen:
        host = f"[{self._host}]" if ":" in self._host else self._host
        length = sum(len(piece) for piece in pieces)
        size = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {length}"
        head = (
            f"{method} {target} HTTP/1.1\r\nHost: {host}:{self._port}\r\n"
            f"User-Agent: Mozilla/4.0\r\nAccept: */*\r\nContent-Type: text/xml\r\n"
            f"{size}\r\nConnection: close\r\n\r\n"
        )
        sent = [head.encode("utf-8")]
        sent += [b"%x\r\n%s\r\n" % (len(one), one) for one in pieces] if chunked else [*pieces]
        sent += [b"0\r\n\r\n"] if chunked else []
        return self._exchange(method, sent)

    def _exchange(self, method: str, sent: Sequence[bytes]) -> Seen:
        seen = self._exchange_once(method, sent)
        if seen.status == TOO_MANY and self._take_next_source():
            seen = self._exchange_once(method, sent)
        return seen

    def _take_next_source(self) -> bool:
        """Ask from another address of loopback; not where there is only one."""
        if not self._may_move:
            return False
        self._sources += 1
        source = (f"127.0.0.{1 + self._sources}", 0)
        with socket.socket() as trial:
            try:
                trial.bind(source)
            except OSError:  # macOS has 127.0.0.1 alone
                return False
        self._source = source
        return True

    def _exchange_once(self, method: str, sent: Sequence[bytes]) -> Seen:
        begun = self.clock.now().mono
        status, headers, body = 0, {}, b""
        place = (self._host, self._port)
        try:
            with socket.create_connection(place, PATIENCE_S, self._source) as line, _cut_late(line):
                line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                _send(line, sent)
                answer = http.client.HTTPResponse(line, method=method)
                answer.begin()
                status = answer.status
                headers = {name.lower(): value for name, value in answer.getheaders()}
                body = answer.read(MAX_ANSWER)
        except (OSError, http.client.HTTPException):
            pass  # what has come until then is what there is
        return Seen(status, headers, body, self.clock.now().mono - begun)


@contextmanager
def _cut_late(line: socket.socket) -> Iterator[None]:
    """Cut a line that has its time and is not at its end, however often something comes."""

    def cut() -> None:
        with suppress(OSError):
            line.shutdown(socket.SHUT_RDWR)

    cutting = threading.Timer(PATIENCE_S, cut)
    cutting.daemon = True
    cutting.start()
    try:
        yield
    finally:
        cutting.cancel()


def _send(line: socket.socket, sent: Sequence[bytes]) -> None:
    try:
        for piece in sent:
            line.sendall(piece)
    except OSError:
        pass  # it has answered before all was sent, as for a body that is too large


def place_of(url: str) -> tuple[str, int, str, str]:
    """Return host, port, path and query of a URL on this machine.

    Raises:
        ConfigError: ``sim.check-url`` (url), ``why`` is ``missing`` where there is none.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        is_ours = parts.scheme == "http" and ipaddress.ip_address(host).is_loopback
        port = parts.port or 80
    except ValueError:
        is_ours = False
    if not is_ours or parts.username is not None or not (parts.path + parts.query).isprintable():
        why = "" if url else "missing"
        raise ConfigError("sim.check-url", url=url.partition("?")[0], why=why)
    return host, port, quote(parts.path or "/", safe="/%"), quote(parts.query, safe="=&%+")
