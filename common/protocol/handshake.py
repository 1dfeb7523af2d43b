"""Who is on the other side (R12): one challenge, one hello, one ready, then both sides know.

Both signatures cover everything said so far, as received: versions, names, nonces, address.
Nothing can be stripped, replayed or carried over to another gateway.  The three bodies are JSON
object texts, which mark their own end, so joining them before hashing is unambiguous.

    gateway                                            agent
      challenge {v_min, v_max, gw_key_ids, nonce_g, ts}  ──▶
      ◀──  hello {agent_id, v_min, v_max, v, gw_key_id, nonce_a, url, ts, last_seq}, sig_a over both
      ready {session_id, last_seq}, sig_g over challenge, hello, sig_a and ready  ──▶

A gateway that has rotated its key offers several; the agent names the one it pins, and ``sig_g`` is
by that one or the agent takes nothing.

Deadlines, frame sizes and what an error says on the wire are `link`'s matter.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from common import strict_json
from common.clock import Instant
from common.errors import AuthError, LocalProtocolError, RemoteProtocolError
from common.protocol.codec import NONCE, NONCE_BYTES, URL, origin_of
from common.protocol.envelope import SKEW_S
from common.protocol.frames import OPENING_BYTES, Challenge, Hello, Ready
from common.records import (
    COUNT,
    KEY_ID,
    NAME,
    SECONDS,
    Fields,
    closed,
    encode_bytes,
    fields_of,
    integer,
    list_of,
    read_object,
)
from common.signing import AGENT_AUTH, GATEWAY_AUTH, SigningKey, VerifyKey

SUPPORTED: Final = (1, 1)  # oldest and newest version of the link that this side speaks
MAX_GATEWAY_KEYS: Final = 4


_KEY_IDS: Final = list_of(KEY_ID, least=1, most=MAX_GATEWAY_KEYS)
_VERSION: Final = integer(1, 255)
_CHALLENGE: Final[Fields] = {
    "v_min": _VERSION,
    "v_max": _VERSION,
    "gw_key_ids": lambda value: _KEY_IDS(value) and len(set(value)) == len(value),
    "nonce_g": NONCE,
    "ts": SECONDS,
}
_HELLO: Final[Fields] = {
    "agent_id": NAME,
    "v_min": _VERSION,
    "v_max": _VERSION,
    "v": _VERSION,
    "gw_key_id": KEY_ID,
    "nonce_a": NONCE,
    "url": URL,
    "ts": SECONDS,
    "last_seq": COUNT,
}


@dataclass(frozen=True, slots=True)
class Knock:
    """What an agent claims to be.  A claim: only `GatewayHandshake.admit` makes it known."""

    agent_id: str
    last_seq: int


@dataclass(frozen=True, slots=True)
class Admission:
    """What the pinned gateway answered.

    Attributes:
        session_id: The gateway's name for this connection, for both logs.
        last_seq: The last number it holds durably from this agent.
    """

    session_id: Annotated[str, NAME]
    last_seq: Annotated[int, COUNT]


_READY: Final = fields_of(Admission)


class GatewayHandshake:
    """The gateway's part, of one connection.

    Args:
        key: The gateway's current key.
        url: The gateway's public address; only its origin counts.
        nonce: 32 fresh random bytes.
        session_id: A fresh name of this connection.
        at: Now.
        older: Keys before it that some agents still pin, the newest first.

    Attributes:
        key: The one that the agent named; the current one before it knocked.

    Raises:
        InputError: ``input.gateway-url``.
        LocalProtocolError: ``link.invalid``: more than `MAX_GATEWAY_KEYS`.
    """

    __slots__ = (
        "_at",
        "_claims",
        "_hello",
        "_keys",
        "_origin",
        "challenge",
        "key",
        "knocked",
        "session_id",
    )

    def __init__(
        self,
        key: SigningKey,
        url: str,
        *,
        nonce: bytes,
        session_id: str,
        at: Instant,
        older: Sequence[SigningKey] = (),
    ) -> None:
        self._keys = (key, *older)
        self.key = key
        self._origin = origin_of(url)
        self.session_id = session_id
        self._at = at
        self._hello: Hello | None = None
        self._claims: Mapping[str, Any] = {}
        self.knocked = Knock("", 0)
        self.challenge = _written(
            _CHALLENGE,
            v_min=SUPPORTED[0],
            v_max=SUPPORTED[1],
            gw_key_ids=[offered.public.key_id for offered in self._keys],
            nonce_g=_nonce(nonce),
            ts=at.wall_s,
        )

    def knock(self, hello: Hello, at: Instant) -> Knock:
        """Read a hello as far as its signature can be looked up.

        Raises:
            AuthError: ``auth.wrong-gateway``: it names a key that was not offered.
            RemoteProtocolError: it is malformed.
        """
        self._claims = _read(hello.body, _HELLO)
        named = [key for key in self._keys if key.public.key_id == self._claims["gw_key_id"]]
        if not named:
            raise AuthError("auth.wrong-gateway")
        self.key = named[0]
        self._hello, self._at = hello, at
        self.knocked = Knock(self._claims["agent_id"], self._claims["last_seq"])
        return self.knocked

    def admit(self, public_key: VerifyKey, *, last_seq: int) -> Ready:
        """Return the frame that lets the agent in.

        Args:
            public_key: The key enrolled for the agent that knocked.
            last_seq: The last number held durably from that agent.

        Raises:
            AuthError: ``auth.signature`` or ``auth.wrong-url``.
            RemoteProtocolError: ``version`` or ``clock-skew``; raised only to a proven agent.
        """
        if self._hello is None:
            raise LocalProtocolError("link.nobody-knocked")
        hello, claims = self._hello, self._claims
        said = self.challenge.encode() + hello.body.encode()
        public_key.verify(AGENT_AUTH, hashlib.sha256(said).digest(), hello.sig)
        if claims["url"] != self._origin:
            raise AuthError("auth.wrong-url")
        if claims["v"] != (best := highest_common(claims)):
            raise RemoteProtocolError("version", ours=best, theirs=claims["v"])
        _check_skew(claims["ts"], self._at)
        body = _written(_READY, session_id=self.session_id, last_seq=last_seq)
        proof = hashlib.sha256(said + hello.sig + body.encode()).digest()
        return Ready(body, self.key.sign(GATEWAY_AUTH, proof))


class AgentHandshake:
    """The agent's part, of one connection.

    Args:
        key: The agent's own key.
        agent_id: Its name since pairing.
        gateway_key: The gateway's key, pinned since pairing or since its last rotation.
        url: The address that was dialled; only its origin counts.
        last_seq: The last number kept durably from this gateway; 0 for none.
        nonce: 32 fresh random bytes.

    Raises:
        InputError: ``input.gateway-url``.
    """

    __slots__ = ("_agent_id", "_last_seq", "_nonce", "_origin", "_said", "gateway_key", "key")

    def __init__(
        self,
        key: SigningKey,
        *,
        agent_id: str,
        gateway_key: VerifyKey,
        url: str,
        last_seq: int,
        nonce: bytes,
    ) -> None:
        self.key = key
        self._agent_id = agent_id
        self.gateway_key = gateway_key
        self._origin = origin_of(url)
        self._last_seq = last_seq
        self._nonce = _nonce(nonce)
        self._said = b""  # everything said so far, once the challenge is answered

    def answer(self, challenge: Challenge, at: Instant) -> Hello:
        """Return the hello for a challenge.

        Nothing of a challenge is proven yet: whoever sent it can at worst end the connection.

        Raises:
            AuthError: ``auth.wrong-gateway``: it does not offer the pinned key.
            RemoteProtocolError: ``version``, ``clock-skew``, malformed, or a second challenge.
        """
        if self._said:
            raise RemoteProtocolError("frame.unexpected")
        record = _read(challenge.body, _CHALLENGE)
        if self.gateway_key.key_id not in record["gw_key_ids"]:
            raise AuthError("auth.wrong-gateway")
        version = highest_common(record)
        _check_skew(record["ts"], at)
        body = _written(
            _HELLO,
            agent_id=self._agent_id,
            v_min=SUPPORTED[0],
            v_max=SUPPORTED[1],
            v=version,
            gw_key_id=self.gateway_key.key_id,
            nonce_a=self._nonce,
            url=self._origin,
            ts=at.wall_s,
            last_seq=self._last_seq,
        )
        said = challenge.body.encode() + body.encode()
        sig = self.key.sign(AGENT_AUTH, hashlib.sha256(said).digest())
        self._said = said + sig
        return Hello(body, sig)

    def accept(self, ready: Ready) -> Admission:
        """Return what the gateway answered, once it is proven to be the pinned one.

        Raises:
            AuthError: ``auth.signature``.
            RemoteProtocolError: it is malformed, or came before the challenge.
        """
        if not self._said:
            raise RemoteProtocolError("frame.unexpected")
        proof = hashlib.sha256(self._said + ready.body.encode()).digest()
        self.gateway_key.verify(GATEWAY_AUTH, proof, ready.sig)
        return Admission(**_read(ready.body, _READY))


def highest_common(theirs: Mapping[str, Any]) -> int:
    """Return the one version for two sides: the newest that both speak.

    Args:
        theirs: A record with the peer's ``v_min`` and ``v_max``.

    Raises:
        RemoteProtocolError: ``version`` (ours, theirs): the versions that come nearest.
    """
    (oldest, newest), least, most = SUPPORTED, theirs["v_min"], theirs["v_max"]
    if most < oldest or most < least:
        raise RemoteProtocolError("version", ours=oldest, theirs=most)
    if least > newest:
        raise RemoteProtocolError("version", ours=newest, theirs=least)
    return int(min(newest, most))


def _read(body: str, fields: Fields) -> dict[str, Any]:
    return closed(read_object(body, max_bytes=OPENING_BYTES), fields)


def _written(fields: Fields, **record: object) -> str:
    try:
        return strict_json.canonical(closed(record, fields)).decode("ascii")
    except RemoteProtocolError as error:
        raise LocalProtocolError("link.invalid", **error.facts) from None


def _nonce(raw: bytes) -> str:
    if len(raw) != NONCE_BYTES:
        raise LocalProtocolError("link.invalid", field="nonce")
    return encode_bytes(raw)


def _check_skew(theirs: int, at: Instant) -> None:
    # The facts tell how far the peer's clock is ahead of ours; negative when it is behind.
    if abs(seconds := theirs - at.wall_s) > SKEW_S:
        raise RemoteProtocolError("clock-skew", seconds=seconds)
