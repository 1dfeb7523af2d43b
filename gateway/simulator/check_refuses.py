"""What a callback URL must refuse, and what its refusals may tell."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Final

from common.sentences import Sentence
from gateway.simulator import check_words as W  # noqa: N812 - a table of constants
from gateway.simulator.check_accepts import HOUR_S
from gateway.simulator.conformance import (
    ANSWER_S,
    Check,
    Finding,
    Probing,
    check,
    flipped,
    refused,
    taken,
)
from gateway.simulator.crypto import padded
from gateway.simulator.probe import TOO_MANY, Probe, Seen, told

LARGE: Final = 4 * 1024 * 1024
_TELLTALE: Final = (b"traceback", b"exception", b"expat", b"line 1", b"stack", b"error:", b"<html")

# Refusals.


def _refuses_pairs(
    change: Callable[[list[tuple[str, str]]], list[tuple[str, str]]],
) -> Probing:
    """Refuse a good message whose parameters were changed."""

    def run(probe: Probe) -> Finding:
        encrypted = probe.seal(probe.message())
        pairs = change(probe.sign(encrypted).pairs())
        return refused(probe, probe.post(pairs, probe.envelope(encrypted)))

    return run


def _refuses_sealed(make: Callable[[Probe], str]) -> Probing:
    """Refuse an Encrypt that is signed as it should be, and wrong inside."""

    def run(probe: Probe) -> Finding:
        return refused(probe, probe.post_sealed(make(probe)))

    return run


def _refuses_body(make: Callable[[Probe, str], bytes], *, method: str = "POST") -> Probing:
    """Refuse a body, although its parameters fit the Encrypt that it should hold."""

    def run(probe: Probe) -> Finding:
        return refused(probe, probe.post_made(make, method=method))

    return run


def _without(name: str) -> Probing:
    return _refuses_pairs(lambda pairs: [one for one in pairs if one[0] != name])


def _twice(name: str) -> Probing:
    return _refuses_pairs(lambda pairs: [*pairs, *(one for one in pairs if one[0] == name)])


def _malformed(name: str, make: Callable[[str], str]) -> Probing:
    return _refuses_pairs(
        lambda pairs: [(key, make(value) if key == name else value) for key, value in pairs]
    )


def _signed_oddly(*, skew_s: int = 0, nonce: str = "") -> Probing:
    """Refuse parameters that are signed as they should be, and are not what WeCom sends."""

    def run(probe: Probe) -> Finding:
        encrypted = probe.seal(probe.message())
        signed = probe.sign(encrypted, skew_s=skew_s, nonce=nonce)
        return refused(probe, probe.post(signed.pairs(), probe.envelope(encrypted)))

    return run


def _shifted(probe: Probe) -> Finding:
    encrypted = probe.seal(probe.message())
    signed = probe.sign(encrypted)
    moved = replace(
        signed, timestamp=signed.timestamp[:-1], nonce=signed.timestamp[-1] + signed.nonce
    )
    return refused(probe, probe.post(moved.pairs(), probe.envelope(encrypted)))


def _alike(probe: Probe) -> Finding:
    good = probe.seal(probe.message())
    forged = replace(probe.sign(good), msg_signature=secrets.token_hex(20))
    answers = (
        probe.post(forged.pairs(), probe.envelope(good)),
        probe.post_sealed(_wrong_padding(probe)),
        probe.post_sealed(_of_receiver(b"ww0000000000000000")(probe)),
    )
    shapes = {(seen.status, len(seen.body)) for seen in answers}
    statuses = ", ".join(f"HTTP {status}" for status, _ in sorted(shapes) if status)
    return Finding(len(shapes) == 1, told(W.NAMED, names=statuses) if statuses else Seen(0).told())


def _framed(probe: Probe) -> bytes:
    return probe.crypto.framed(probe.message(), secrets.token_bytes(16))


def _wrong_padding(probe: Probe) -> str:
    plain = padded(_framed(probe))
    spoiled = plain[:-2] + bytes([plain[-2] ^ 1]) + plain[-1:]
    # A padding of one byte has no second one to spoil: then it is too long instead.
    return probe.crypto.encrypt_padded(spoiled if plain[-1] > 1 else plain[:-1] + b"\x21")


def _padding_of(value: int) -> Callable[[Probe], str]:
    def make(probe: Probe) -> str:
        plain = padded(_framed(probe))
        return probe.crypto.encrypt_padded(plain[:-1] + bytes([value]))

    return make


def _length_of(change: int) -> Callable[[Probe], str]:
    def make(probe: Probe) -> str:
        plain = _framed(probe)
        length = int.from_bytes(plain[16:20], "big") + change
        return probe.crypto.encrypt_padded(
            padded(plain[:16] + length.to_bytes(4, "big") + plain[20:])
        )

    return make


def _of_receiver(receiver: bytes) -> Callable[[Probe], str]:
    def make(probe: Probe) -> str:
        plain = probe.crypto.framed(probe.message(), secrets.token_bytes(16), receive_id=receiver)
        return probe.crypto.encrypt_padded(padded(plain))

    return make


def _short(probe: Probe) -> str:
    return probe.crypto.encrypt_padded(padded(b"x" * 8))


def _with_dtd(_probe: Probe, encrypted: str) -> bytes:
    return f"<!DOCTYPE xml><xml><Encrypt>{encrypted}</Encrypt></xml>".encode()


def _with_entity(_probe: Probe, encrypted: str) -> bytes:
    return (f'<!DOCTYPE xml [<!ENTITY e "{encrypted}">]><xml><Encrypt>&e;</Encrypt></xml>').encode()


def _bomb(probe: Probe) -> Finding:
    entities = "".join(f'<!ENTITY e{number} "{f"&e{number - 1};" * 10}">' for number in range(1, 9))
    body = f'<!DOCTYPE xml [<!ENTITY e0 "x">{entities}]><xml><Encrypt>&e8;</Encrypt></xml>'
    seen = probe.post_made(lambda *_: body.encode())
    answer = refused(probe, seen)
    return Finding(answer.good and seen.took_s < ANSWER_S, seen.told())


def _external(probe: Probe) -> Finding:
    with closing(socket.create_server(("127.0.0.1", 0))) as trap:
        trap.settimeout(0.05)
        port = trap.getsockname()[1]
        body = (
            f'<!DOCTYPE xml [<!ENTITY e SYSTEM "http://127.0.0.1:{port}/x">]>'
            "<xml><Encrypt>&e;</Encrypt></xml>"
        )
        seen = probe.post_made(lambda *_: body.encode())
        try:
            trap.accept()[0].close()
            fetched = True
        except TimeoutError:
            fetched = False
    answer = refused(probe, seen)
    return Finding(answer.good and not fetched, seen.told(told(W.FETCHED) if fetched else None))


def _double(*, signed_last: bool) -> Probing:
    def make(probe: Probe, encrypted: str) -> bytes:
        both = [encrypted, probe.seal(probe.message("other"))]
        first, last = reversed(both) if signed_last else both
        # As WeCom writes it: what looks for that by an expression reads it, too.
        return probe.envelope(f"{first}]]></Encrypt><Encrypt><![CDATA[{last}")

    return _refuses_body(make)


def _large(probe: Probe) -> Finding:
    seen = probe.post_made(lambda _, encrypted: probe.envelope(encrypted) + b" " * LARGE)
    # A server may also cut the line while the body is still on its way.
    cut = seen.status == 0 and seen.took_s < ANSWER_S
    return Finding(cut or (400 <= seen.status < 500 and seen.status != TOO_MANY), seen.told())


# What is looked at over all of it.


def _no_traces(probe: Probe) -> Finding:
    telling = [one for one in probe.refusals if any(w in one.body.lower() for w in _TELLTALE)]
    return Finding(not telling, told(W.OF, count=len(telling), all=len(probe.refusals)))


def _no_bodies(probe: Probe) -> Finding:
    longest = max((len(one.body) for one in probe.refusals), default=0)
    return Finding(longest == 0, told(W.UP_TO, count=longest))


def _no_failures(probe: Probe) -> Finding:
    failed = [one for one in probe.refusals if one.status >= 500 or one.status == 0]
    return Finding(not failed, told(W.OF, count=len(failed), all=len(probe.refusals)))


def _no_banner(probe: Probe) -> Finding:
    seen = [probe.post_plain(probe.message()), *probe.refusals]
    named = {name for one in seen for name in ("server", "x-powered-by") if one.headers.get(name)}
    return Finding(
        not named, told(W.NAMED, names=", ".join(sorted(named))) if named else told(W.NONE)
    )


def _still_there(probe: Probe) -> Finding:
    probe.stay_at_first_source()
    return taken(probe.post_plain(probe.message()))


def _syntax() -> Iterator[Check]:
    wrong = {
        "msg_signature": lambda value: value[:-1] + "g",
        "timestamp": lambda value: f"{value}x",
        "nonce": lambda value: f"{value}<",
    }
    for name, make in wrong.items():
        short = name.replace("msg_", "")
        for kind, probe in (
            ("missing", _without(name)),
            ("twice", _twice(name)),
            ("malformed", _malformed(name, make)),
        ):
            what = Sentence(
                en=W.WHAT[kind].en.format(name=name), zh=W.WHAT[kind].zh.format(name=name)
            )
            yield Check(f"refuse.{short}-{kind}", what, W.WHY["syntax"], probe)


CHECKS: Final[tuple[Check, ...]] = (
    check("refuse.alike", "alike", _alike, required=False),
    check("refuse.forged", "forged", _malformed("msg_signature", lambda _: secrets.token_hex(20))),
    check(
        "refuse.tampered",
        "forged",
        _refuses_body(lambda probe, sealed: probe.envelope(flipped(sealed))),
    ),
    *_syntax(),
    check("refuse.stale", "replay", _signed_oddly(skew_s=-HOUR_S)),
    check("refuse.future", "replay", _signed_oddly(skew_s=HOUR_S)),
    check("refuse.shifted", "shifted", _shifted),
    check("refuse.odd-nonce", "syntax", _signed_oddly(nonce="<a b>")),
    check("refuse.padding", "padding", _refuses_sealed(_wrong_padding)),
    check("refuse.padding-0", "padding", _refuses_sealed(_padding_of(0))),
    check("refuse.padding-33", "padding", _refuses_sealed(_padding_of(33))),
    check("refuse.length-over", "length", _refuses_sealed(_length_of(10**6))),
    check("refuse.length-under", "length", _refuses_sealed(_length_of(-4))),
    check("refuse.short", "length", _refuses_sealed(_short)),
    check(
        "refuse.receiver",
        "receiver",
        _refuses_sealed(_of_receiver(b"ww0000000000000000")),
    ),
    check("refuse.no-receiver", "receiver", _refuses_sealed(_of_receiver(b""))),
    check(
        "refuse.cut",
        "length",
        _refuses_sealed(lambda probe: probe.seal(probe.message())[:-24]),
    ),
    check("refuse.no-base64", "length", _refuses_sealed(lambda _: "%%%" * 20)),
    check("refuse.empty", "xml", _refuses_body(lambda *_: b"")),
    check("refuse.no-encrypt", "xml", _refuses_body(lambda *_: b"<xml></xml>")),
    check("refuse.no-xml", "xml", _refuses_body(lambda *_: b"<xml><Encrypt>")),
    check(
        "refuse.no-utf-8",
        "xml",
        _refuses_body(lambda *_: b"<xml><Encrypt>\xff\xfe</Encrypt></xml>"),
    ),
    check("refuse.double", "double", _double(signed_last=False)),
    check("refuse.double-last", "double", _double(signed_last=True)),
    check("refuse.dtd", "dtd", _refuses_body(_with_dtd)),
    check("refuse.entity", "dtd", _refuses_body(_with_entity)),
    check("refuse.bomb", "bomb", _bomb),
    check("refuse.external", "external", _external),
    check("refuse.large", "large", _large),
    check("refuse.put", "method", _refuses_body(Probe.envelope, method="PUT")),
    check("refuse.delete", "method", _refuses_body(Probe.envelope, method="DELETE")),
    check("all.no-failure", "failure", _no_failures),
    check("all.no-traces", "traces", _no_traces),
    check("all.no-body", "traces", _no_bodies, required=False),
    check("all.no-banner", "banner", _no_banner, required=False),
    check("all.still-there", "still-there", _still_there),
)
