"""What a callback URL must take: the console's URL check, and messages as WeCom sends them."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Final

from common.errors import UnavailableError
from gateway.simulator import check_words as W  # noqa: N812 - a table of constants
from gateway.simulator.conformance import Check, Finding, Probing, check, flipped, refused, taken
from gateway.simulator.documents import ReplyError, read_reply
from gateway.simulator.probe import Probe, Seen, told

VERIFY_S: Final = 1.0
HOUR_S: Final = 3600
AT_ONCE: Final = 8
_REFUSED: Final = 400

# The console's URL check.


def _echo(
    probe: Probe, *, echo: str = "", plus: bool = False, raw: bool = False
) -> tuple[str, Seen]:
    echo = echo or str(secrets.randbits(63))
    encrypted = probe.seal(echo.encode())
    while plus and "+" not in encrypted:
        encrypted = probe.seal(echo.encode())
    signed = probe.sign(encrypted)
    return echo, probe.get([*signed.pairs(), ("echostr", encrypted)], raw_plus=raw)


def check_keys(probe: Probe) -> None:
    """Return unless the URL refuses whatever is made with these keys: then no check tells anything.

    Raises:
        UnavailableError: ``sim.check-refused`` (echo, message): the HTTP statuses.
    """
    echo = _echo(probe)[1].status
    if echo >= _REFUSED and (message := probe.post_plain(probe.message()).status) >= _REFUSED:
        raise UnavailableError("sim.check-refused", echo=echo, message=message)


def _echoes(*, echo: str = "", plus: bool = False, raw: bool = False) -> Probing:
    def run(probe: Probe) -> Finding:
        wanted, seen = _echo(probe, echo=echo, plus=plus, raw=raw)
        return Finding(seen.status == 200 and wanted.encode() in seen.body, seen.told())

    return run


def _exact(probe: Probe) -> Finding:
    wanted, seen = _echo(probe)
    around = seen.body.replace(wanted.encode(), b"", 1)
    more = {b"": W.EXACT, b"\n": W.NEWLINE, b"\r\n": W.NEWLINE, b'""': W.QUOTES}
    more[b"\xef\xbb\xbf"] = W.BOM
    what = told(more.get(around, W.MORE), count=len(around))
    return Finding(seen.status == 200 and seen.body == wanted.encode(), seen.told(what))


def _verify_in_time(probe: Probe) -> Finding:
    _, seen = _echo(probe)
    return Finding(seen.status != 0 and seen.took_s < VERIFY_S, seen.told())


def _verify_with_parameter(probe: Probe) -> Finding:
    encrypted = probe.seal(b"4711")
    pairs = [("tenant", "x"), *probe.sign(encrypted).pairs(), ("echostr", encrypted)]
    seen = probe.get(pairs)
    return Finding(seen.status == 200 and seen.body.strip() == b"4711", seen.told())


def _verify_type(probe: Probe) -> Finding:
    _, seen = _echo(probe)
    kind = seen.headers.get("content-type", "")
    sniffed = seen.headers.get("x-content-type-options", "").lower() != "nosniff"
    shown = told(W.NAMED, names=kind.partition(";")[0][:40]) if kind else told(W.NONE)
    return Finding(kind.startswith("text/plain") and not sniffed, shown)


def _refuses_echo(change: Callable[[Probe, str], list[tuple[str, str]]]) -> Probing:
    def run(probe: Probe) -> Finding:
        encrypted = probe.seal(b"1616140317555161061")
        seen = probe.get(change(probe, encrypted))
        return refused(probe, seen, b"1616140317555161061")

    return run


def _echo_forged(probe: Probe, encrypted: str) -> list[tuple[str, str]]:
    signed = replace(probe.sign(encrypted), msg_signature=secrets.token_hex(20))
    return [*signed.pairs(), ("echostr", encrypted)]


def _echo_tampered(probe: Probe, encrypted: str) -> list[tuple[str, str]]:
    return [*probe.sign(encrypted).pairs(), ("echostr", flipped(encrypted))]


def _echo_missing(probe: Probe, encrypted: str) -> list[tuple[str, str]]:
    return probe.sign(encrypted).pairs()


def _echo_twice(probe: Probe, encrypted: str) -> list[tuple[str, str]]:
    return [*probe.sign(encrypted).pairs(), ("echostr", encrypted), ("echostr", encrypted)]


def _echo_stale(probe: Probe, encrypted: str) -> list[tuple[str, str]]:
    return [*probe.sign(encrypted, skew_s=-HOUR_S).pairs(), ("echostr", encrypted)]


def _echo_of_message(probe: Probe) -> Finding:
    encrypted = probe.seal(probe.message("confidential"))
    seen = probe.get([*probe.sign(encrypted).pairs(), ("echostr", encrypted)])
    return Finding(b"confidential" not in seen.body, seen.told())


# Messages.


def _takes(make: Callable[[Probe], bytes]) -> Probing:
    def run(probe: Probe) -> Finding:
        return taken(probe.post_plain(make(probe)))

    return run


def _reply(probe: Probe) -> Finding:
    seen = probe.post_plain(probe.message())
    if not seen.body:
        return Finding(seen.status == 200, seen.told(told(W.EMPTY)))
    try:
        kind = read_reply(
            seen.body, probe.crypto, corp_id=probe.corp_id, user=probe.user, event=""
        )[0].kind
    except ReplyError as error:
        return Finding(good=False, seen=seen.told(told(W.BAD_REPLY, why=error)))
    return Finding(seen.status == 200, seen.told(told(W.REPLY, kind=kind)))


def _repeat(probe: Probe) -> Finding:
    encrypted = probe.seal(probe.message())
    pairs, body = probe.sign(encrypted).pairs(), probe.envelope(encrypted)
    return _worst([probe.post(pairs, body) for _ in range(3)])


def _renewed(probe: Probe) -> Finding:
    plain = probe.message()
    return _worst([probe.post_plain(plain) for _ in range(2)])


def _worst(answers: list[Seen]) -> Finding:
    return min((taken(seen) for seen in answers), key=lambda one: one.good)


def _parallel(probe: Probe) -> Finding:
    plains = [probe.message(f"ping {number}") for number in range(AT_ONCE)]
    with ThreadPoolExecutor(AT_ONCE) as threads:
        return _worst([*threads.map(probe.post_plain, plains)])


def _pieces(*, chunked: bool) -> Probing:
    def run(probe: Probe) -> Finding:
        encrypted = probe.seal(probe.message())
        body = probe.envelope(encrypted)
        pieces = [body[:40], body[40:80], body[80:]]
        return taken(probe.post_pieces(probe.sign(encrypted).pairs(), pieces, chunked=chunked))

    return run


def _body(make: Callable[[Probe, str], bytes]) -> Probing:
    """Take a good message in another envelope."""

    def run(probe: Probe) -> Finding:
        return taken(probe.post_made(make))

    return run


def _outer_changed(probe: Probe, encrypted: str) -> bytes:
    body = probe.envelope(encrypted)
    return body.replace(probe.corp_id.encode(), b"ww0000000000000000", 1)


CHECKS: Final[tuple[Check, ...]] = (
    check("verify.answers", "verify", _echoes()),
    check("verify.exact", "exact", _exact),
    check("verify.in-time", "verify-time", _verify_in_time),
    check("verify.plus", "plus", _echoes(plus=True)),
    check("verify.raw-plus", "plus", _echoes(plus=True, raw=True)),
    check("verify.long", "verify", _echoes(echo="7" * 200)),
    check("verify.extra", "extra", _verify_with_parameter, required=False),
    check("verify.type", "type", _verify_type, required=False),
    check("verify.forged", "forged", _refuses_echo(_echo_forged)),
    check("verify.tampered", "forged", _refuses_echo(_echo_tampered)),
    check("verify.stale", "replay", _refuses_echo(_echo_stale)),
    check("verify.missing", "syntax", _refuses_echo(_echo_missing)),
    check("verify.twice", "syntax", _refuses_echo(_echo_twice)),
    check("verify.oracle", "oracle", _echo_of_message),
    check("message.taken", "deadline", _takes(Probe.message)),
    check("message.reply", "reply", _reply),
    check("message.repeat", "repeat", _repeat),
    check("message.renewed", "repeat", _renewed),
    check(
        "message.unicode",
        "deadline",
        _takes(lambda probe: probe.message("你好 🙂 ]]> <b>&amp;")),
    ),
    check(
        "message.long",
        "deadline",
        _takes(lambda probe: probe.message("中" * 680)),
    ),
    check(
        "message.event",
        "after-200",
        _takes(lambda probe: probe.plain("event", Event="enter_agent", EventKey="")),
    ),
    check(
        "message.click",
        "after-200",
        _takes(
            lambda probe: probe.plain(
                "event",
                Event="template_card_event",
                EventKey="approve",
                TaskId=secrets.token_hex(8),
                CardType="button_interaction",
                ResponseCode=secrets.token_hex(16),
            )
        ),
    ),
    check(
        "message.unknown",
        "after-200",
        _takes(lambda probe: probe.plain("something_new", MsgId=str(secrets.randbits(62)))),
    ),
    check("message.no-xml", "after-200", _takes(lambda _probe: b"not XML")),
    check("message.parallel", "deadline", _parallel),
    check("message.pieces", "pieces", _pieces(chunked=False)),
    check("message.chunked", "pieces", _pieces(chunked=True), required=False),
    check(
        "message.plain-field",
        "xml",
        _body(lambda _probe, sealed: f"<xml><Encrypt>{sealed}</Encrypt></xml>".encode()),
    ),
    check("message.outer", "outer", _body(_outer_changed), required=False),
)
