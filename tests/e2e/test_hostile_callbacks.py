"""Callbacks that nobody honest sends, at the door of a whole gateway.

Each is refused with an empty body before it is decrypted, or swallowed with an empty 200 after;
none leaves a task or an answer, none says why (R71).  A genuine one is heard after all of them.
"""

from __future__ import annotations

import gzip
import http.client
import re
import secrets
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

import pytest
from Crypto.Cipher import AES

from gateway.wecom.crypto import CallbackCrypto
from tests.e2e.place import Place

PATH: Final = "/wecom/app"
OTHER_KEY: Final = "z" * 43
REFUSED: Final = range(400, 500)
SWALLOWED: Final = range(200, 201)
DTD: Final = '<!DOCTYPE xml [<!ENTITY e "x">]>'


@dataclass(frozen=True)
class Call:
    """One request, and what the gateway may say to it."""

    name: str
    query: str
    body: bytes = b""
    method: str = "POST"
    path: str = PATH
    headers: dict[str, str] = field(default_factory=dict)
    allowed: range = REFUSED


class Forge:
    """Makes calls: a right one with one thing wrong."""

    def __init__(self, place: Place) -> None:
        self.config = place.made.config.first
        self.now = int(time.time())
        self.ours = self.crypto()
        self.good = self.sealed(self.message())

    def crypto(self, **changed: str) -> CallbackCrypto:
        keys = {
            "token": self.config.token,
            "encoding_aes_key": self.config.encoding_aes_key,
            "receive_id": self.config.corp_id,
        }
        return CallbackCrypto(**(keys | changed))

    def message(self, **changed: str | None) -> str:
        fields: dict[str, str | None] = {
            "ToUserName": self.config.corp_id,
            "FromUserName": "zhangwei",
            "CreateTime": str(self.now),
            "MsgType": "text",
            "Content": "@dev status",
            "MsgId": str(secrets.randbits(60)),
            "AgentID": str(self.config.app_id),
        }
        fields |= changed
        inner = (f"<{name}>{value}</{name}>" for name, value in fields.items() if value is not None)
        return f"<xml>{''.join(inner)}</xml>"

    def sealed(self, plain: str | bytes, **changed: str) -> str:
        raw = plain if isinstance(plain, bytes) else plain.encode()
        return self.crypto(**changed).encrypt(raw, random=secrets.token_bytes(16))

    def raw(self, plain: bytes) -> str:
        """Return bytes closed as they are: length, receiver and padding are the caller's."""
        import base64

        key = base64.b64decode(self.config.encoding_aes_key + "=")
        return base64.b64encode(AES.new(key, AES.MODE_CBC, iv=key[:16]).encrypt(plain)).decode()

    def signed(self, sealed: str, *, at: int | None = None, nonce: str = "n0nce") -> dict[str, str]:
        stamp = str(self.now if at is None else at)
        return {
            "msg_signature": self.ours.sign(stamp, nonce, sealed),
            "timestamp": stamp,
            "nonce": nonce,
        }

    def call(self, name: str, sealed: str | None = None, **changed: Any) -> Call:
        """Return a right call for a ciphertext, but for what is changed."""
        sealed = self.good if sealed is None else sealed
        query = urlencode(self.signed(sealed))
        return replace(Call(name, query, envelope(sealed)), **changed)


def envelope(sealed: str) -> bytes:
    return f"<xml><Encrypt><![CDATA[{sealed}]]></Encrypt></xml>".encode()


def parameters(forge: Forge) -> Iterator[Call]:
    right = forge.signed(forge.good)
    for name, value in right.items():
        rest = {other: kept for other, kept in right.items() if other != name}
        for what, query in (
            ("missing", urlencode(rest)),
            ("empty", urlencode(right | {name: ""})),
            ("twice", urlencode(right) + f"&{name}={value}"),
            ("twice, differently", f"{name}=1&" + urlencode(right)),
            ("as a list", urlencode(rest | {f"{name}[]": value})),
            ("in capitals", urlencode(rest | {name.upper(): value})),
            ("with a NUL", urlencode(rest) + f"&{name}={value}%00"),
            ("with a blank", urlencode(rest) + f"&{name}=%20{value}"),
        ):
            yield forge.call(f"{name} {what}", query=query)
    signature = right["msg_signature"]
    for name, value in (
        ("msg_signature", signature.upper()),
        ("msg_signature", signature[:-1]),
        ("msg_signature", signature + "0"),
        ("msg_signature", "0" * 40),
        ("msg_signature", "g" * 40),
        ("timestamp", "-1"),
        ("timestamp", "+1"),
        ("timestamp", f"{forge.now}.0"),
        ("timestamp", "9" * 13),
        ("timestamp", "١٢٣"),
        ("nonce", "a&b"),
        ("nonce", "一"),
        ("nonce", "n" * 65),
    ):
        yield forge.call(f"{name}={value}", query=urlencode(right | {name: value}))
    for skew in (-400, 400, -86_400, 10**9):
        query = urlencode(forge.signed(forge.good, at=forge.now + skew))
        yield forge.call(f"{skew} seconds off", query=query)
    shifted = {"timestamp": right["timestamp"][:-1], "nonce": right["timestamp"][-1] + "n0nce"}
    yield forge.call("digits moved to the nonce", query=urlencode(right | shifted))
    yield forge.call("a query without end", query=urlencode(right) + "&x=" + "x" * 4096)
    yield forge.call("semicolons", query=urlencode(right).replace("&", ";"))
    yield forge.call("no query", query="")
    stranger = forge.crypto(token="another").sign(right["timestamp"], "n0nce", forge.good)
    yield forge.call("another token", query=urlencode(right | {"msg_signature": stranger}))
    yield forge.call("a signature for another text", body=envelope(forge.sealed("<xml></xml>")))


def envelopes(forge: Forge) -> Iterator[Call]:
    good = envelope(forge.good)
    text = good.decode()
    yield from (
        forge.call(name, body=body)
        for name, body in (
            ("no body", b""),
            ("JSON", b'{"encrypt": "x"}'),
            ("two Encrypt", text.replace("</xml>", "<Encrypt>x</Encrypt></xml>").encode()),
            ("no Encrypt", b"<xml><ToUserName>x</ToUserName></xml>"),
            ("an empty Encrypt", b"<xml><Encrypt></Encrypt></xml>"),
            ("a nested Encrypt", f"<xml><a>{text[5:-6]}</a></xml>".encode()),
            ("Encrypt with fields", b"<xml><Encrypt><a>x</a></Encrypt></xml>"),
            ("an attribute", text.replace("<Encrypt>", '<Encrypt a="b">').encode()),
            ("another root", text.replace("xml>", "XML>").encode()),
            ("a document type", (DTD + text).encode()),
            ("an entity", f"{DTD}<xml><Encrypt>&e;</Encrypt></xml>".encode()),
            (
                "a file of ours",
                b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><xml>&e;</xml>',
            ),
            ("a comment", text.replace("<xml>", "<xml><!-- x -->").encode()),
            ("an instruction", text.replace("<xml>", "<xml><?x y?>").encode()),
            ("UTF-16", text.encode("utf-16")),
            ("Latin-1", b"<xml><a>\xe9</a>" + good[5:]),
            ("a NUL", good.replace(b"<xml>", b"<xml>\0")),
            ("two documents", good + good),
            ("words behind", good + b"x"),
            ("no end", good[:-6]),
            ("depth", b"<xml>" + b"<a>" * 5000 + b"</a>" * 5000 + b"</xml>"),
            ("too large", b"<xml><a>" + b"x" * 65_536 + b"</a>" + good[5:]),
            ("much too large", b"x" * 4_000_000),
        )
    )
    bomb = b"x" * 10**7
    for name, packed in (("gzip", gzip.compress(bomb)), ("deflate", zlib.compress(bomb))):
        yield forge.call(f"{name} that grows", body=packed, headers={"Content-Encoding": name})
    yield forge.call("a coding of no kind", body=good, headers={"Content-Encoding": "br"})


def ciphertexts(forge: Forge) -> Iterator[Call]:
    good, corp = forge.good, forge.config.corp_id.encode()
    inner = forge.message().encode()

    def closed(
        *, length: int | None = None, receiver: bytes = corp, padding: Callable[[int], bytes]
    ) -> str:
        size = len(inner) if length is None else length
        plain = b"r" * 16 + size.to_bytes(4, "big") + inner + receiver
        return forge.raw(plain + padding(32 - len(plain) % 32))

    def honest(count: int) -> bytes:
        return bytes((count,)) * count

    flipped = [good[:at] + ("A" if good[at] != "A" else "B") + good[at + 1 :] for at in (0, -3)]
    yield from (
        forge.call(name, sealed)
        for name, sealed in (
            ("no Base64", "!" * 64),
            ("Base64 of URLs", good.replace("+", "-").replace("/", "_") + "-_=="),
            ("Base64 with a line end", good[:8] + "\n" + good[8:]),
            ("Base64 and more", good + "===="),
            ("half a block", good[:20] + "=="),
            ("a block of AES alone", forge.raw(b"\x10" * 16)),
            ("cut by a block", good[: len(good) // 2 // 4 * 4]),
            ("first bit", flipped[0]),
            ("last bit", flipped[1]),
            ("padding of none", closed(padding=lambda count: b"\0" * count)),
            ("padding of 33", closed(padding=lambda count: b"!" * count)),
            ("padding that lies", closed(padding=lambda n: b"\1" * (n - 1) + bytes((n,)))),
            ("a length beyond the end", closed(length=len(inner) + 10_000, padding=honest)),
            ("the greatest length", closed(length=2**32 - 1, padding=honest)),
            ("no length", closed(length=0, padding=honest)),
            ("a length short of one", closed(length=len(inner) - 1, padding=honest)),
            ("another receiver", closed(receiver=b"ww" + b"0" * 16, padding=honest)),
            ("no receiver", closed(receiver=b"", padding=honest)),
            ("half a receiver", closed(receiver=corp[:-1], padding=honest)),
            ("a receiver and more", closed(receiver=corp + b"\0", padding=honest)),
            ("another key", forge.sealed(forge.message(), encoding_aes_key=OTHER_KEY)),
        )
    )


def contents(forge: Forge) -> Iterator[Call]:
    """Yield what was rightly closed and makes no sense: swallowed, or it would come again."""
    event = {"MsgType": "event", "Content": None, "MsgId": None}
    pressed = event | {"Event": "template_card_event", "EventKey": "cancel"}
    changed: tuple[tuple[str, dict[str, str | None]], ...] = (
        ("another corp", {"ToUserName": "ww0000000000000000"}),
        ("another app", {"AgentID": "1"}),
        ("an app in letters", {"AgentID": "app"}),
        ("nobody", {"FromUserName": None}),
        ("an empty name", {"FromUserName": ""}),
        ("a name with a blank", {"FromUserName": "zhang wei"}),
        ("a name in Chinese", {"FromUserName": "张伟"}),
        ("a long name", {"FromUserName": "z" * 129}),
        ("no time", {"CreateTime": None}),
        ("a time in words", {"CreateTime": "now"}),
        ("a time before all", {"CreateTime": "-1"}),
        ("no number", {"MsgId": None}),
        ("a long number", {"MsgId": "9" * 21}),
        ("no type", {"MsgType": None}),
        ("a type that is none", {"MsgType": "te xt"}),
        ("a text without one", {"Content": None}),
        ("an event without a name", event),
        ("an event of no name", event | {"Event": "a b"}),
        ("a card of no task", pressed),
        ("a card of an odd task", pressed | {"TaskId": "../../x"}),
        ("fields in the name", {"FromUserName": "<a>zhangwei</a>"}),
    )
    for name, fields in changed:
        yield forge.call(name, forge.sealed(forge.message(**fields)), allowed=SWALLOWED)
    # Signed, and garbled in the middle: what is closed around it still holds.
    garbled = f"{forge.good[:60]}{'AB'[forge.good[60] == 'A']}{forge.good[61:]}"
    yield forge.call("a bit in the middle", garbled, allowed=SWALLOWED)
    whole = forge.message()
    for name, plain in (
        ("no XML inside", b"@dev status"),
        ("a document type inside", (DTD + whole).encode()),
        ("a name twice", whole.replace("</xml>", "<FromUserName>li</FromUserName></xml>").encode()),
        ("no UTF-8 inside", whole.encode().replace(b"status", b"\xff\xfe")),
        ("nothing inside", b""),
    ):
        yield forge.call(name, forge.sealed(plain), allowed=SWALLOWED)


def doors(forge: Forge) -> Iterator[Call]:
    for method in ("PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE", "PROPFIND"):
        yield forge.call(method, method=method)
    for path in (
        PATH + "/",
        "/wecom//app",
        "/WECOM/app",
        PATH + "%2f",
        PATH + "/../app",
        "//x" + PATH,
    ):
        yield forge.call(f"the path {path}", path=path)
    echo = forge.sealed("1616140317555161061")
    right = forge.signed(echo)
    for name, query in (
        ("a message to be read out", forge.signed(forge.good) | {"echostr": forge.good}),
        ("an echo without a signature", {"echostr": echo}),
        ("no echo", right),
        ("an empty echo", right | {"echostr": ""}),
        ("an echo of words", right | {"echostr": "hello"}),
        ("a long echo", right | {"echostr": "A" * 5000}),
        ("an old echo", forge.signed(echo, at=forge.now - 400) | {"echostr": echo}),
    ):
        yield Call(name, urlencode(query), method="GET")
    twice = urlencode(right | {"echostr": echo}) + f"&echostr={quote(echo)}"
    yield Call("an echo twice", twice, method="GET")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place.at(tmp_path)
    try:
        place.start_simulator()
        place.admin("member", "add", "zhangwei")
        place.start_gateway()
        yield place
    finally:
        place.stop()


def _send(place: Place, call: Call) -> tuple[int, bytes, dict[str, str]]:
    line = http.client.HTTPConnection("127.0.0.1", place.gateway_port, timeout=10)
    try:
        line.request(call.method, f"{call.path}?{call.query}", body=call.body, headers=call.headers)
        answer = line.getresponse()
        return answer.status, answer.read(), {name.lower(): v for name, v in answer.getheaders()}
    finally:
        line.close()


@pytest.mark.requirement("R71")
def test_whatever_is_wrong_is_refused_without_a_word_and_leaves_nothing(place: Place) -> None:
    forge = Forge(place)
    families = (parameters, envelopes, ciphertexts, contents, doors)
    calls = [call for family in families for call in family(forge)]
    assert len(calls) >= 130
    assert len({call.name for call in calls}) == len(calls)
    wrong = {}
    for call in calls:
        status, body, headers = _send(place, call)
        told = {"server", "x-powered-by"} & set(headers)
        if status not in call.allowed or body or told:
            wrong[call.name] = (status, body[:80], told)
    assert wrong == {}, wrong
    assert place.chat() == []
    assert place.gateway_tasks() == []
    log = place.log("gateway")
    assert "Traceback" not in log
    assert not re.search(r"zhangwei|@dev status", log)
    assert _send(place, forge.call("a genuine one"))[0] == 200
    place.hears("You have no open task")
