"""How this machine was paired: what is kept of it, and the one HTTPS exchange that makes it.

What is kept (``pairing.json``, 0600, in the configuration folder) names no secret: the private key
is in the keystore, under a name of its own for each pairing.  The proofs inside the exchange are in
`common.protocol.pairing`; they, not TLS, are what the pinned key rests on.

Before anything is sent, the key is in the keystore and a record beside it names it by its code
(``pairing-begun`` in the state folder).  So whatever ends this process, the next one uses the same
key for the same code, and no key is left behind that nobody knows of.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import re
import secrets
import socket
import ssl
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from common import strict_json
from common.errors import (
    AuthError,
    ConfigError,
    InputError,
    RemoteProtocolError,
    UnavailableError,
)
from common.home import Home, read_private, write_private
from common.keystore import Keystore, MachineKeystore
from common.protocol import pairing as proofs
from common.protocol.codec import NONCE_BYTES, URL, origin_of
from common.records import (
    KEY_ID,
    MACHINE,
    MILLISECONDS,
    NAME,
    Fields,
    closed,
    integer,
    matching,
    read_object,
)
from common.signing import KEY_BYTES, SigningKey, VerifyKey

FILE: Final = "pairing.json"
LINK_PATH: Final = "/agent/v1/link"
PAIR_PATH: Final = "/agent/v1/pair"
BEGUN: Final = "pairing-begun"  # folder in the agent's state: by the name of a code, its key's
KEYSTORE_SERVICE: Final = "codexbridge-agent"
KEYS: Final = "keys"  # folder in the agent's state: the keys, or which keyring has them
ANSWER_BYTES: Final = 8 * 1024
EXCHANGE_SECONDS: Final = 20.0  # without a word
WHOLE_SECONDS: Final = 60.0
KEY_RECORD: Final = re.compile(r"[0-9a-f]{16}")  # name of a code; nothing that a kill cut off

_VERSION: Final = 1
_RECORD: Final[Fields] = {
    "v": integer(_VERSION, _VERSION),
    "url": URL,
    "agent_id": NAME,
    "machine": MACHINE,
    "gateway_key": matching(rf"[0-9a-f]{{{2 * KEY_BYTES}}}"),
    "agent_key_id": KEY_ID,
    "paired_at": MILLISECONDS,
}


@dataclass(frozen=True, slots=True)
class Pairing:
    """One machine's membership of one gateway.

    Attributes:
        url: Origin of the gateway, ``https://host[:port]``.
        agent_id: This machine's name with it.
        machine: What the admin calls this machine.
        gateway_key: The pinned key.
        agent_key_id: Names this machine's key; the key itself is in the keystore.
        paired_at: Milliseconds since the epoch.
    """

    url: str
    agent_id: str
    machine: str
    gateway_key: VerifyKey
    agent_key_id: str
    paired_at: int

    @property
    def link_url(self) -> str:
        """Where the agent dials."""
        return f"ws{self.url.removeprefix('http')}{LINK_PATH}"

    @property
    def key_name(self) -> str:
        """Name in the keystore of the key that this machine was paired with."""
        return key_name(self.agent_key_id)

    @property
    def peer_name(self) -> str:
        """Names this pairing by both keys, so that a new one counts its messages from 1."""
        return f"{self.gateway_key.key_id}:{self.agent_key_id}"


def gateway_origin(url: str) -> str:
    """Return the origin of a gateway's address, when it may be dialled (R15).

    Raises:
        InputError: ``input.gateway-url``, or ``pair.insecure-url``: without TLS, and not an IP
            literal of this machine's loopback.
    """
    if "://" not in url:
        bare = origin_of(f"https://{url}")
        # On this machine a gateway has no TLS; everywhere else it must have.
        url = bare.replace("https:", "http:") if _is_loopback(bare) else bare
    origin = origin_of(url)
    if origin.startswith("https:"):
        return origin
    if not _is_loopback(origin):
        raise InputError("pair.insecure-url", url=origin)
    return origin


def _is_loopback(origin: str) -> bool:
    try:
        return ipaddress.ip_address(urlsplit(origin).hostname or "").is_loopback
    except ValueError:
        return False  # a name may resolve to anything, "localhost" included


def load_pairing(home: Home) -> Pairing | None:
    """Return how this machine is paired, or None.

    Raises:
        ConfigError: ``pair.file`` when the file is not as we write it, and those of
            `common.home.read_private`.
    """
    path = home.config / FILE
    try:
        data = read_private(path, max_bytes=ANSWER_BYTES)
    except FileNotFoundError:
        return None
    try:
        record = closed(read_object(data, max_bytes=ANSWER_BYTES), _RECORD)
        url = gateway_origin(record["url"])
    except (RemoteProtocolError, InputError):
        raise ConfigError("pair.file", path=path) from None
    return Pairing(
        url=url,
        agent_id=record["agent_id"],
        machine=record["machine"],
        gateway_key=VerifyKey(bytes.fromhex(record["gateway_key"])),
        agent_key_id=record["agent_key_id"],
        paired_at=record["paired_at"],
    )


def save_pairing(home: Home, pairing: Pairing) -> None:
    """Keep it; what was kept before is replaced whole."""
    record: dict[str, Any] = {
        "v": _VERSION,
        "url": pairing.url,
        "agent_id": pairing.agent_id,
        "machine": pairing.machine,
        "gateway_key": pairing.gateway_key.raw.hex(),
        "agent_key_id": pairing.agent_key_id,
        "paired_at": pairing.paired_at,
    }
    write_private(home.config / FILE, strict_json.canonical(record))


def open_keys(home: Home) -> Keystore:
    """Return the keystore of this machine's agent."""
    return MachineKeystore(home.state / KEYS, service=KEYSTORE_SERVICE)


def key_name(key_id: str) -> str:
    """Return the name in the keystore of a key of this machine: one for each, never used again."""
    return f"agent-{key_id}"


def load_key(name: str, keys: Keystore) -> SigningKey:
    """Return a private key of this machine.

    Raises:
        ConfigError: ``pair.key-missing``: the keystore has none, or another one.
    """
    raw = keys.get(name)
    if raw is None or len(raw) != KEY_BYTES:
        raise ConfigError("pair.key-missing", name=name)
    key = SigningKey(raw)
    if key_name(key.public.key_id) != name:
        raise ConfigError("pair.key-missing", name=name)
    return key


def begin(home: Home, keys: Keystore, code: str) -> tuple[SigningKey, bool]:
    """Return the key to pair with by this code, and whether an earlier try began with it.

    Raises:
        InputError: ``input.pairing-code``.
    """
    record = home.state / BEGUN / proofs.pairing_id(proofs.parse_code(code))
    if record.exists():
        raw = keys.get(_begun(record))
        if raw is not None:
            return SigningKey(raw), True
        _forget_key(home, keys, _begun(record))  # cut off while it was written: nothing was sent
    key = SigningKey.generate()
    name = key_name(key.public.key_id)
    write_private(record, name.encode("ascii"))
    keys.put(name, key.private_bytes())
    return key, False


def forget_begun(home: Home, keys: Keystore, code: str | None = None) -> None:
    """Forget what was begun, with this code or any; its keys too, but for the one that is used."""
    used = load_pairing(home)
    named = proofs.pairing_id(proofs.parse_code(code)) if code else "*"
    for record in sorted((home.state / BEGUN).glob(named)):
        if KEY_RECORD.fullmatch(record.name):
            name = _begun(record)
            if used is None or name != used.key_name:
                _forget_key(home, keys, name)
        record.unlink(missing_ok=True)


def words_are_compared(home: Home, pairing: Pairing) -> bool:
    """Tell whether nothing of a pairing is left to do: its record goes with the last of it."""
    begun = (home.state / BEGUN).glob("*")
    return pairing.key_name not in {_begun(one) for one in begun if KEY_RECORD.fullmatch(one.name)}


def unpair(home: Home, keys: Keystore, pairing: Pairing) -> None:
    """Forget a pairing and its key.  The gateway is told nothing: that is for its admin."""
    (home.config / FILE).unlink(missing_ok=True)
    keys.delete(pairing.key_name)
    forget_begun(home, keys)


def _forget_key(home: Home, keys: Keystore, name: str) -> None:
    keys.delete(name)
    for cut_off in (home.state / KEYS).glob(f".{name}.key.*.tmp"):
        cut_off.unlink(missing_ok=True)


def _begun(record: Path) -> str:
    return read_private(record, max_bytes=64).decode("ascii")


def exchange(code: str, url: str, key: SigningKey, *, at_ms: int) -> Pairing:
    """Pair with a gateway: one request, one answer, both proven by the code.  Blocks.

    Args:
        code: As the admin handed it over.
        url: The gateway's address as the person gave it.
        key: A fresh key, already in the keystore.
        at_ms: Now, in milliseconds since the epoch.

    Raises:
        InputError: ``input.pairing-code``, ``input.gateway-url``, ``pair.insecure-url``.
        UnavailableError: ``pair.unreachable`` (why), ``pair.busy``, ``pair.limited``.
        AuthError: ``pair.refused``: no such code, used up, too old; or the answer is not proven.
        RemoteProtocolError: ``pair.not-a-gateway``.
    """
    secret = proofs.parse_code(code)
    origin = gateway_origin(url)
    nonce = secrets.token_bytes(NONCE_BYTES)
    request = proofs.agent_request(secret, key=key, nonce=nonce, url=origin)
    answer = _post(origin, strict_json.canonical(request))
    try:
        paired = proofs.check_answer(secret, request, answer)
    except AuthError:
        raise AuthError("pair.refused") from None
    return Pairing(
        url=origin,
        agent_id=paired.agent_id,
        machine=paired.machine,
        gateway_key=paired.gateway_key,
        agent_key_id=key.public.key_id,
        paired_at=at_ms,
    )


def _post(origin: str, body: bytes) -> dict[str, Any]:
    connection = _connection(origin)
    # Each wait has its own limit; whoever sends a byte now and then would never meet it.
    deadline = threading.Timer(WHOLE_SECONDS, _cut, (connection,))
    deadline.daemon = True
    deadline.start()
    try:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        connection.request("POST", PAIR_PATH, body=body, headers=headers)
        with connection.getresponse() as response:
            status, data = response.status, response.read(ANSWER_BYTES + 1)
    except ssl.SSLError as error:
        raise UnavailableError("pair.unreachable", url=origin, why=_tls_words(error)) from None
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise UnavailableError("pair.unreachable", url=origin, why=why) from None
    except http.client.HTTPException:
        raise RemoteProtocolError("pair.not-a-gateway", url=origin) from None
    finally:
        deadline.cancel()
        connection.close()
    if status in (401, 403, 404, 410) and _is_ours(data):
        raise AuthError("pair.refused")
    if status in (429, 503):
        raise UnavailableError("pair.limited" if status == 429 else "pair.busy", url=origin)
    # A redirect is no answer either (R15).
    if status != http.client.OK:
        raise RemoteProtocolError("pair.not-a-gateway", url=origin)
    try:
        return read_object(data, max_bytes=ANSWER_BYTES)
    except RemoteProtocolError:
        raise RemoteProtocolError("pair.not-a-gateway", url=origin) from None


def _connection(origin: str) -> http.client.HTTPConnection:
    parts = urlsplit(origin)
    host = parts.hostname or ""
    if parts.scheme == "http":
        return http.client.HTTPConnection(host, parts.port, timeout=EXCHANGE_SECONDS)
    context = ssl.create_default_context()
    return http.client.HTTPSConnection(host, parts.port, timeout=EXCHANGE_SECONDS, context=context)


def _cut(connection: http.client.HTTPConnection) -> None:
    with suppress(OSError, AttributeError):  # not connected yet, or no more
        connection.sock.shutdown(socket.SHUT_RDWR)


def _tls_words(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message
    return error.reason or "TLS"


def _is_ours(data: bytes) -> bool:
    try:
        return isinstance(json.loads(data), dict)
    except ValueError:
        return False
