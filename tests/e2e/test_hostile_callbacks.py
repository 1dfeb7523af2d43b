"""Callbacks that nobody honest sends, at the door of a whole gateway.

Each is refused with an empty body before it is decrypted, or swallowed with an empty 200 after;
none leaves a task or an answer, none says why (R71).  A genuine one is heard after all of them.
Each comes from an address of its own, or the gateway would stop listening before the last one.
"""

from __future__ import annotations

import base64
import gzip
import http.client
import itertools
import os
import random
import re
import secrets
import signal
import socket
import sqlite3
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

import pytest
from Crypto.Cipher import AES

from gateway.base.addresses import FAILURES
from gateway.link.pairing import PAIR_PATH
from gateway.wecom.crypto import CallbackCrypto
from tests.e2e.place import Place, wait_until

PATH: Final = "/wecom/app"
OTHER_KEY: Final = "z" * 43
ADDRESSES: Final = (f"127.1.{n // 250}.{n % 250 + 1}" for n in itertools.count())
DTD: Final = '<!DOCTYPE xml [<!ENTITY e "x">]>'


@dataclass(frozen=True)
class Call:
    """One request, and what the gateway says to it."""

    name: str
    query: str
    body: bytes = b""
    method: str = "POST"
    path: str = PATH
    headers: dict[str, str] = field(default_factory=dict)
    status: int = 400


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

    def bytes(self, *lines: str, body: bytes | None = None) -> bytes:
        """Return a genuine request as it stands on the line, but for what is given."""
        fresh = self.sealed(self.message())
        body = envelope(fresh) if body is None else body
        lines = lines or (f"Content-Length: {len(body)}",)
        head = f"POST {PATH}?{urlencode(self.signed(fresh))} HTTP/1.1"
        return "\r\n".join((head, "Host: x", *lines, "", "")).encode() + body


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
        yield forge.call(f"{skew} seconds off", query=query, status=403)
    whole = right["timestamp"] + "7012345"
    signature = forge.ours.sign(whole[:10], whole[10:], forge.good)
    for at in {*range(1, len(whole))} - {10}:
        query = urlencode(
            {"msg_signature": signature, "timestamp": whole[:at], "nonce": whole[at:]}
        )
        status = 403 if at <= 12 else 400
        yield forge.call(f"the nonce from digit {at} on", query=query, status=status)
    yield forge.call("a query without end", query=urlencode(right) + "&x=" + "x" * 4096)
    yield forge.call("semicolons", query=urlencode(right).replace("&", ";"))
    yield forge.call("no query", query="")
    stranger = forge.crypto(token="another").sign(right["timestamp"], "n0nce", forge.good)
    for name, value in (("another token", stranger), ("a signature of noughts", "0" * 40)):
        query = urlencode(right | {"msg_signature": value})
        yield forge.call(name, query=query, status=403)
    other = envelope(forge.sealed("<xml></xml>"))
    yield forge.call("a signature for another text", body=other, status=403)


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
        )
    )
    much = b"<xml><a>" + b"x" * 65_536 + b"</a>" + good[5:]
    yield forge.call("too large", body=much, status=413)
    yield forge.call("much too large", body=b"x" * 4_000_000, status=413)
    bomb = b"x" * 10**7
    for name, packed in (
        ("gzip", gzip.compress(bomb)),
        ("deflate", zlib.compress(bomb)),
        ("br", good),
    ):
        coding = {"Content-Encoding": name}
        yield forge.call(f"{name} that grows", body=packed, headers=coding, status=415)


def ciphertexts(forge: Forge) -> Iterator[Call]:
    good, corp = forge.good, forge.config.corp_id.encode()
    inner = forge.message().encode()

    def honest(count: int) -> bytes:
        return bytes((count,)) * count

    def closed(
        *,
        length: int | None = None,
        receiver: bytes = corp,
        padding: Callable[[int], bytes] = honest,
        text: bytes = inner,
    ) -> str:
        size = len(text) if length is None else length
        plain = b"r" * 16 + size.to_bytes(4, "big") + text + receiver
        return forge.raw(plain + padding(32 - len(plain) % 32))

    chinese = forge.message(Content="@dev 状态")
    aligned = inner + b" " * (-(20 + len(inner) + len(corp)) % 32)
    flipped = [good[:at] + ("A" if good[at] != "A" else "B") + good[at + 1 :] for at in (0, -3)]
    yield from (
        forge.call(name, sealed, status=403)
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
            ("padding of two blocks", closed(text=aligned, padding=lambda _: b"@" * 64)),
            ("padding to a block of AES", closed(text=aligned, padding=lambda _: b"\x10" * 16)),
            ("no padding", closed(text=aligned, padding=lambda _: b"")),
            ("a length beyond the end", closed(length=len(inner) + 10_000)),
            ("a length beyond, no receiver", closed(length=len(inner) + 1000, receiver=b"")),
            ("a length over the receiver", closed(length=len(inner) + len(corp))),
            ("a length in characters", closed(text=chinese.encode(), length=len(chinese))),
            ("the greatest length", closed(length=2**32 - 1)),
            ("no length", closed(length=0)),
            ("a length short of one", closed(length=len(inner) - 1)),
            ("another receiver", closed(receiver=b"ww" + b"0" * 16)),
            ("no receiver", closed(receiver=b"")),
            ("half a receiver", closed(receiver=corp[:-1])),
            ("a receiver and more", closed(receiver=corp + b"\0")),
            ("a receiver and a line", closed(receiver=corp + b"\n")),
            ("a receiver in front", closed(receiver=b"x" + corp)),
            ("a receiver in capitals", closed(receiver=corp.upper())),
            ("a receiver twice", closed(receiver=corp * 2)),
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
        yield forge.call(name, forge.sealed(forge.message(**fields)), status=200)
    # Signed, and garbled in the middle: what is closed around it still holds.
    garbled = f"{forge.good[:60]}{'AB'[forge.good[60] == 'A']}{forge.good[61:]}"
    yield forge.call("a bit in the middle", garbled, status=200)
    whole = forge.message()
    for name, plain in (
        ("no XML inside", b"@dev status"),
        ("a document type inside", (DTD + whole).encode()),
        ("a name twice", whole.replace("</xml>", "<FromUserName>li</FromUserName></xml>").encode()),
        ("no UTF-8 inside", whole.encode().replace(b"status", b"\xff\xfe")),
        ("nothing inside", b""),
    ):
        yield forge.call(name, forge.sealed(plain), status=200)


def doors(forge: Forge) -> Iterator[Call]:
    for method in ("PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE", "PROPFIND"):
        yield forge.call(method, method=method, status=405)
    for path in (
        PATH + "/",
        "/wecom//app",
        "/WECOM/app",
        PATH + "%2f",
        PATH + "/../app",
        "//x" + PATH,
    ):
        yield forge.call(f"the path {path}", path=path, status=404)
    echo = forge.sealed("1616140317555161061")
    right = forge.signed(echo)
    for name, query, status in (
        ("a message to be read out", forge.signed(forge.good) | {"echostr": forge.good}, 403),
        ("an echo without a signature", {"echostr": echo}, 400),
        ("no echo", right, 400),
        ("an empty echo", right | {"echostr": ""}, 400),
        ("an echo of words", right | {"echostr": "hello"}, 403),
        ("a long echo", right | {"echostr": "A" * 5000}, 400),
        ("an old echo", forge.signed(echo, at=forge.now - 400) | {"echostr": echo}, 403),
    ):
        yield Call(name, urlencode(query), method="GET", status=status)
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
    line = http.client.HTTPConnection(
        "127.0.0.1", place.gateway_port, timeout=10, source_address=(next(ADDRESSES), 0)
    )
    try:
        line.request(call.method, f"{call.path}?{call.query}", body=call.body, headers=call.headers)
        answer = line.getresponse()
        return answer.status, answer.read(), {name.lower(): v for name, v in answer.getheaders()}
    finally:
        line.close()


def _line(place: Place, address: str | None = None) -> socket.socket:
    source = (address or next(ADDRESSES), 0)
    return socket.create_connection(("127.0.0.1", place.gateway_port), 10, source_address=source)


def _reset(line: socket.socket) -> None:
    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    line.close()


def _statuses(line: socket.socket) -> list[int]:
    """Return the statuses of all answers on a line, until it is closed or nothing more comes."""
    said = b""
    try:
        while piece := line.recv(65_536):
            said += piece
            line.settimeout(0.2)  # a second answer would come at once
    except (TimeoutError, ConnectionError):
        pass
    line.close()
    heads = said.split(b"\r\n\r\n")
    assert heads[-1] == b"", said  # no body anywhere
    assert b"server:" not in said.lower(), said
    return [int(head[9:12]) for head in heads[:-1]]


def refuse_framing(place: Place, forge: Forge) -> None:
    """A request behind one whose end is in doubt is not served, whatever it says of itself."""
    hidden = forge.bytes()
    chunked = "Transfer-Encoding: chunked"
    for lines, body in (
        ((chunked, "Content-Length: 900"), b"0\r\n\r\n"),
        ((chunked, "Content-Length: 4"), b"0\r\n\r\n"),
        *(
            (lines, b"0\r\n\r\n")
            for lines in (
                ("Content-Length: 5", "Content-Length: 900"),
                ("Content-Length: 5, 5",),
                ("Content-Length: +5",),
                ("Content-Length: -5",),
                ("Content-Length: 0x5",),
                ("Content-Length: 99999999999999999999999",),
                ("Content_Length: 3",),
                ("Transfer-Encoding : chunked",),
                ("Transfer-Encoding: xchunked",),
                ("Transfer-Encoding: identity",),
                ("Transfer-Encoding: chunked, gzip",),
                (chunked, "Transfer-Encoding: identity"),
                ("Transfer-Encoding:\x0bchunked",),
                ('Transfer-Encoding: "chunked"',),
            )
        ),
        ((chunked,), b"zz\r\nabc\r\n0\r\n\r\n"),
        ((chunked,), b"-5\r\nabcde\r\n0\r\n\r\n"),
        ((chunked,), b"0x5\r\nabcde\r\n0\r\n\r\n"),
        ((chunked,), b"3\r\nabcdef\r\n0\r\n\r\n"),
        ((chunked,), b"ffffffffffffffffff\r\nabc"),
        (("Content-Length: 1000000",), b""),
    ):
        line = _line(place)
        line.sendall(forge.bytes(*lines, body=body + hidden))
        statuses = _statuses(line)
        assert {*statuses} <= {400, 413}, (lines, body, statuses)
    # Behind the URL check it is a body, of whatever kind, that is not read.
    echo = forge.sealed("4711")
    query = urlencode(forge.signed(echo, at=forge.now - 400) | {"echostr": echo})
    length = f"{len(hidden):x}".encode()
    for header, body in (
        (f"Content-Length: {len(hidden)}", hidden),
        (chunked, length + b"\r\n" + hidden + b"\r\n0\r\n\r\n"),
    ):
        line = _line(place)
        line.sendall(f"GET {PATH}?{query} HTTP/1.1\r\nHost: x\r\n{header}\r\n\r\n".encode() + body)
        assert _statuses(line) == [403], header


def hang_up(place: Place) -> None:
    """Whoever hangs up within a body is refused like others: it ends, and fills no log."""
    before = place.log("gateway").count("\n")
    for path in (PATH, PAIR_PATH):
        address = next(ADDRESSES)
        for number in range(FAILURES + 15):
            line = _line(place, address)
            length, half = (
                ("Content-Length: 900", b"<x"),
                ("Transfer-Encoding: chunked", b"5\r\n<x"),
            )[number % 2]
            head = f"POST {path} HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n{length}\r\n\r\n"
            line.sendall(head.encode())
            assert b" 100 " in line.recv(100)  # the body is waited for
            line.sendall(half)
            if number % 3:
                _reset(line)
            line.close()
    line = _line(place, address)
    line.sendall(f"POST {PAIR_PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n".encode())
    assert _statuses(line) == [429]
    assert place.log("gateway").count("\n") - before <= 2 * (FAILURES + 3)


def answer_what_cannot_be_read(place: Place, forge: Forge) -> None:
    """Words that are no XML get an answer, and nobody writes fields with them (P7, R7)."""
    inside = "x]]></Content><FromUserName>li</FromUserName><Content><![CDATA[@dev status"
    for words in ("@dev \x1b[31mERROR", "@dev a\x02", "@dev a\x0bb", "@dev a[b[i]]>0", inside):
        plain = forge.message(Content=f"<![CDATA[{words}]]>")
        assert _send(place, forge.call(words, forge.sealed(plain)))[:2] == (200, b"")
    wait_until(lambda: len(place.chat()) == 5)
    assert all("control characters" in said for said in place.chat())
    assert place.chat("li") == []


def take_once(place: Place, forge: Forge) -> None:
    """However a genuine message comes, and however often, it is answered, and once."""
    before = len(place.chat())
    key, around = forge.config.encoding_aes_key, 20 + len(forge.config.corp_id)
    # The last two bits of a key's last letter are no part of it.
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    respelled = key[:-1] + letters[letters.index(key[-1]) ^ 1]
    plain = [forge.message() for _ in range(3)]
    for name, sealed in (
        ("padding of one", forge.sealed(plain[0] + " " * ((31 - around - len(plain[0])) % 32))),
        ("padding of 32", forge.sealed(plain[1] + " " * (-(around + len(plain[1])) % 32))),
        ("a key spelled otherwise", forge.sealed(plain[2], encoding_aes_key=respelled)),
    ):
        for _ in range(2):
            assert _send(place, forge.call(name, sealed))[:2] == (200, b""), name
    # Its sender hangs up behind it; the gateway stands still; the store is locked by another.
    made = forge.bytes()
    line = _line(place)
    line.sendall(made)
    _reset(line)
    line = _line(place)
    line.sendall(made)
    assert _statuses(line) == [200]
    made, gateway = forge.bytes(), place.processes["gateway"].pid
    os.kill(gateway, signal.SIGSTOP)
    try:
        line = _line(place)
        line.sendall(made)
        line.close()
        line = _line(place)
        line.sendall(made)
    finally:
        os.kill(gateway, signal.SIGCONT)
    assert _statuses(line) == [200]
    [store] = place.root.rglob("gateway.db")
    locked = sqlite3.connect(store, isolation_level=None)
    locked.execute("BEGIN IMMEDIATE")
    line = _line(place)
    line.sendall(forge.bytes())
    line.settimeout(0.3)
    with pytest.raises(TimeoutError):
        line.recv(1)
    locked.execute("ROLLBACK")
    locked.close()
    line.settimeout(10)
    assert _statuses(line) == [200]
    wait_until(lambda: len(place.chat()) == before + 6)


def garble(place: Place, forge: Forge) -> None:
    """What is garbled at random is never a failure of the gateway's, and never told."""
    chance = random.Random(7)  # the same at each run
    pieces = b"<a> ]]> <![CDATA[ & &#0; <!-- <? \0 </xml> 999999999999999999999".split()

    def garbled(good: bytes) -> bytes:
        at = chance.randrange(5, len(good))
        with_byte = bytes((chance.randrange(256),))
        piece = chance.choice((with_byte, b"", chance.choice(pieces)))
        return good[:at] + piece + good[at + chance.randrange(4) :]

    right, plain = envelope(forge.good), forge.message().encode()
    cipher = base64.b64decode(forge.good)
    for number in range(60):
        at, bit = chance.randrange(len(cipher)), 1 << chance.randrange(8)
        flipped = cipher[:at] + bytes((cipher[at] ^ bit,)) + cipher[at + 1 :]
        for call, allowed in (
            (forge.call("envelope", body=garbled(right)), {200, 400, 403}),
            (forge.call("cipher", base64.b64encode(flipped).decode()), {200, 403}),
            (forge.call("message", forge.sealed(garbled(plain))), {200}),
        ):
            status, body, _ = _send(place, call)
            assert status in allowed, (number, call, status)
            assert body == b"", (number, call, body)


@pytest.mark.requirement("R71")
def test_whatever_is_wrong_is_refused_without_a_word_and_leaves_nothing(place: Place) -> None:
    forge = Forge(place)
    families = (parameters, envelopes, ciphertexts, contents, doors)
    calls = [call for family in families for call in family(forge)]
    assert len(calls) >= 160
    assert len({call.name for call in calls}) == len(calls)
    wrong = {}
    for call in calls:
        status, body, headers = _send(place, call)
        told = {"server", "x-powered-by"} & set(headers)
        if status != call.status or body or told:
            wrong[call.name] = (status, body[:80], told)
    assert wrong == {}, wrong
    refuse_framing(place, forge)
    hang_up(place)
    assert place.chat() == []
    answer_what_cannot_be_read(place, forge)
    take_once(place, forge)
    assert not re.search(r"zhangwei|@dev status", place.log("gateway"))
    garble(place, forge)
    assert place.gateway_tasks() == []
    assert not re.search(r"Traceback|http\.failed", place.log("gateway"))
