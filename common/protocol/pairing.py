"""How two machines first come to know each other's keys (R9, R10), one request and one answer.

The admin makes a code on the gateway and hands it to the machine.  The 128-bit secret in it
authenticates both public keys and the address before either is trusted; it never travels, and a
proxy that ends TLS in between cannot swap a key.  Each side also proves that it holds its key.
What a code is good for, how long and how often, is for the gateway's store (10 minutes, once, void
after 10 wrong tries).

    agent    {v, pairing, url, key, nonce, mac, sig}            ──▶
    ◀──      {v, key, nonce, agent_id, machine, mac, sig}   gateway

Afterwards two people compare both keys aloud, as six of 256 words: three to eight letters, any two
at least three letters apart, no two of one Soundex code, and none with a common homophone.  The
list is part of the protocol: it never changes, or two versions would show different words for the
same keys.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from common.errors import AuthError, InputError, LocalProtocolError
from common.protocol.codec import NONCE, NONCE_BYTES, URL, framed, origin_of
from common.records import (
    MACHINE,
    NAME,
    Fields,
    decode_bytes,
    encode_bytes,
    first_fault,
    integer,
    matching,
    raw_bytes,
)
from common.signing import KEY_BYTES, PAIR, SIGNATURE_BYTES, SigningKey, VerifyKey

VERSION: Final = 1
SECRET_BYTES: Final = 16
CHECK_WORDS: Final = 6

_PREFIX: Final = "CB1-"
_CODE: Final = re.compile(r"CB1([A-Z2-7]{26})")  # base32 of 128 bits …
_PADDING: Final = "======"  # … without its padding
_REQUEST_LABEL: Final = b"request"
_ANSWER_LABEL: Final = b"answer"
_ID_LABEL: Final = b"pairing-id"
_WORDS_LABEL: Final = b"words"

_KEY: Final = raw_bytes(KEY_BYTES)
_MAC: Final = raw_bytes(hashlib.sha256().digest_size)
_SIG: Final = raw_bytes(SIGNATURE_BYTES)
_REQUEST: Final[Fields] = {
    "v": integer(VERSION, VERSION),
    "pairing": matching(r"[0-9a-f]{16}"),
    "url": URL,
    "key": _KEY,
    "nonce": NONCE,
    "mac": _MAC,
    "sig": _SIG,
}
_ANSWER: Final[Fields] = {
    "v": integer(VERSION, VERSION),
    "key": _KEY,
    "nonce": NONCE,
    "agent_id": NAME,
    "machine": MACHINE,
    "mac": _MAC,
    "sig": _SIG,
}


@dataclass(frozen=True, slots=True)
class Paired:
    """What an agent keeps of its pairing.

    Attributes:
        agent_id: Its name with this gateway.
        machine: What the admin calls the machine.
        gateway_key: The key to pin.
    """

    agent_id: str
    machine: str
    gateway_key: VerifyKey


def new_code(*, randomness: Callable[[int], bytes] = secrets.token_bytes) -> str:
    """Return a fresh code: ``CB1-`` and 26 base32 characters.  It is a secret."""
    raw = randomness(SECRET_BYTES)
    return _PREFIX + base64.b32encode(raw).decode("ascii").removesuffix(_PADDING)


def parse_code(text: str) -> bytes:
    """Return the secret of a code as it was pasted: any case, any dash, stray blanks.

    Raises:
        InputError: ``input.pairing-code``; says nothing of what was given.
    """
    folded = unicodedata.normalize("NFKC", text[:128]).upper()
    match = _CODE.fullmatch("".join(char for char in folded if char.isalnum()))
    if match is None:
        raise InputError("input.pairing-code")
    secret = base64.b32decode(match[1] + _PADDING)
    if base64.b32encode(secret).decode("ascii") != match[1] + _PADDING:  # the two unused bits
        raise InputError("input.pairing-code")
    return secret


def pairing_line(url: str, code: str) -> str:
    """Return what is handed over as one line: ``https://gateway.example.com#CB1-…``; a secret."""
    return f"{url}#{code}"


def split_pairing_line(text: str) -> tuple[str, str]:
    """Return the address and the code of such a line; of a code alone, no address.

    Neither is checked: `parse_code` and whoever dials do that.  Full-width signs are what a Chinese
    keyboard or chat makes of them.
    """
    url, _, code = unicodedata.normalize("NFKC", text[:1024]).strip().rpartition("#")
    return url.strip(), code.strip()


def pairing_id(secret: bytes) -> str:
    """Return the name under which the gateway finds a code: 16 hex digits, of no use without it."""
    return _mac(secret, _ID_LABEL, b"").hex()[:16]


def agent_request(secret: bytes, *, key: SigningKey, nonce: bytes, url: str) -> dict[str, Any]:
    """Return what the agent sends.

    Args:
        secret: Of the code, by `parse_code`.
        key: The agent's own new key.
        nonce: 32 fresh random bytes.
        url: The gateway's address as the person gave it; only its origin counts.

    Raises:
        InputError: ``input.gateway-url``.
    """
    request = {
        "v": VERSION,
        "pairing": pairing_id(secret),
        "url": origin_of(url),
        "key": encode_bytes(key.public.raw),
        "nonce": _nonce(nonce),
    }
    said = _request_said(request)
    return request | _proofs(secret, _REQUEST_LABEL, said, key=key)


def check_request(secret: bytes, request: Mapping[str, Any], *, url: str) -> VerifyKey:
    """Return the agent's key, once the request is proven to be made with the code, for us.

    Args:
        secret: Of the code that the request names by its ``pairing``.
        request: The record as received.
        url: The gateway's own public address.

    Raises:
        AuthError: ``auth.pairing``, whatever is wrong with it.
    """
    _require(request, _REQUEST)
    said = _request_said(request)
    key = _prove(secret, _REQUEST_LABEL, said, request)
    if request["url"] != origin_of(url) or request["pairing"] != pairing_id(secret):
        raise AuthError("auth.pairing")
    return key


def gateway_answer(
    secret: bytes,
    request: Mapping[str, Any],
    *,
    key: SigningKey,
    nonce: bytes,
    agent_id: str,
    machine: str,
) -> dict[str, Any]:
    """Return what the gateway sends back to a request that `check_request` has passed.

    Args:
        secret: The same.
        request: The same.
        key: The gateway's key.
        nonce: 32 fresh random bytes.
        agent_id: The name given to the agent.
        machine: The admin's name of the machine (never the agent's own word, R10).
    """
    answer = {
        "v": VERSION,
        "key": encode_bytes(key.public.raw),
        "nonce": _nonce(nonce),
        "agent_id": agent_id,
        "machine": machine,
    }
    if not NAME(agent_id) or not MACHINE(machine):
        raise LocalProtocolError("pairing.invalid")
    said = _answer_said(request, answer)
    return answer | _proofs(secret, _ANSWER_LABEL, said, key=key)


def check_answer(secret: bytes, request: Mapping[str, Any], answer: Mapping[str, Any]) -> Paired:
    """Return what to keep, once the answer is proven to be made with the code, for our request.

    Args:
        secret: The same.
        request: The very record that was sent.
        answer: The record as received.

    Raises:
        AuthError: ``auth.pairing``, whatever is wrong with it.
    """
    _require(answer, _ANSWER)
    said = _answer_said(request, answer)
    key = _prove(secret, _ANSWER_LABEL, said, answer)
    return Paired(answer["agent_id"], answer["machine"], key)


def check_words(agent_key: VerifyKey, gateway_key: VerifyKey) -> list[str]:
    """Return the six words that both sides show: the same words mean the same two keys."""
    digest = hashlib.sha256(PAIR + framed(_WORDS_LABEL, agent_key.raw, gateway_key.raw)).digest()
    return words_for(digest[:CHECK_WORDS])


def _request_said(request: Mapping[str, Any]) -> bytes:
    return framed(
        request["pairing"].encode(),
        request["url"].encode(),
        decode_bytes(request["key"]),
        decode_bytes(request["nonce"]),
    )


def _answer_said(request: Mapping[str, Any], answer: Mapping[str, Any]) -> bytes:
    return framed(
        _request_said(request),
        decode_bytes(answer["key"]),
        decode_bytes(answer["nonce"]),
        answer["agent_id"].encode(),
        answer["machine"].encode(),
    )


def _proofs(secret: bytes, label: bytes, said: bytes, *, key: SigningKey) -> dict[str, str]:
    return {
        "mac": encode_bytes(_mac(secret, label, said)),
        "sig": encode_bytes(key.sign(PAIR, framed(label, said))),
    }


def _prove(secret: bytes, label: bytes, said: bytes, record: Mapping[str, Any]) -> VerifyKey:
    # First the secret, which authenticates the key; then the key.
    if not hmac.compare_digest(_mac(secret, label, said), decode_bytes(record["mac"])):
        raise AuthError("auth.pairing")
    try:
        key = VerifyKey(decode_bytes(record["key"]))
        key.verify(PAIR, framed(label, said), decode_bytes(record["sig"]))
    except AuthError:
        raise AuthError("auth.pairing") from None
    return key


def _mac(secret: bytes, label: bytes, said: bytes) -> bytes:
    return hmac.digest(secret, PAIR + framed(label, said), "sha256")


def _require(record: Mapping[str, Any], fields: Fields) -> None:
    if first_fault(record, fields) is not None:
        raise AuthError("auth.pairing")


def _nonce(raw: bytes) -> str:
    if len(raw) != NONCE_BYTES:
        raise LocalProtocolError("pairing.invalid")
    return encode_bytes(raw)


# --- the words that stand for bytes ---

_WORD_LIST: Final = """
    acorn album algebra alley almanac amber anchor angel apple apron asphalt atlas attic autumn
    badge bamboo banjo barrel basket beacon beaver bicycle birch bishop blossom boat bonfire
    bottle bracelet branch bread broom bubble butter cabin cactus camel candle canyon captain
    carpet cedar chalk chapter cherry chess chimney circus clover cobweb coconut coffee compass
    copper coral cosmos cotton cousin coyote cricket crown cyclone daisy dancer dentist diamond
    doctor dolphin donkey doorbell dragon drum eagle earth eclipse elbow elephant emerald
    envelope evening fabric factory falcon farmer feather fiddle finger flag flamingo flute
    forest fossil fountain fox galaxy garden garlic gecko geyser giant giraffe glacier goblet
    gorilla guitar hamster harbor helmet hickory horizon hornet hotel iceberg igloo indigo
    insect iris island ivory jaguar jasmine jewel jigsaw jungle juniper kangaroo kayak kimono
    king kitchen koala ladder lagoon lantern lavender lemon leopard library lily lizard lobster
    locket lotus magician magnet marble meadow mermaid meteor mirror mosaic muffin museum
    mustard napkin nectar needle nickel nugget nutmeg oasis oatmeal octopus office olive onion
    opera orchid osprey oxygen palace panda paper parrot parsley pelican pencil pigeon pilgrim
    pillow planet pony postcard potato pudding pumpkin puzzle pyramid quartz queen quilt rabbit
    raccoon radish rainbow rainfall raven rhubarb ruby saffron sailor satchel saturn sawdust
    scarf school sidewalk silver skate sketch snowman spider spinach stable stadium summer
    sunset swan teapot teaspoon temple thunder topaz tornado tractor tripod truffle trumpet
    tulip tunnel turtle tuxedo umbrella unicorn utensil vampire vanilla vessel village vinegar
    violin volcano voyage vulture waffle walnut wardrobe wheat window wolf wombat yacht yogurt
    zebra zenith zigzag
"""
WORDS: Final = tuple(_WORD_LIST.split())


def words_for(data: bytes) -> list[str]:
    """Return one word for each byte."""
    return [WORDS[byte] for byte in data]
