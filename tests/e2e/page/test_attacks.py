"""Attacks on the local page from outside of it, byte by byte, against the agent as it runs.

Each is the request of the page itself with one thing wrong.  It must be refused, while the same
request, made properly, is answered before and after.
"""

from __future__ import annotations

import base64
import gzip
import json
import multiprocessing
import os
import re
import socket
import stat
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import psutil
import pytest
from _pytest.mark import ParameterSet
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from common.errors import AuthError
from common.page.sessions import IDLE_MS, LASTS_MS, LAUNCH_MS, MAX_SESSIONS, Sessions, has_token
from tests.e2e.place import PATIENCE, Place, wait_until
from tests.e2e.proposing import Shop
from tests.page_asking import Answer, Ask, Visit, connected, enter, launch, receive, redeem, send
from tests.page_desk import link, png, shop_with_page

pytestmark = [
    pytest.mark.needs("git"),
    pytest.mark.requirement("R56"),
    pytest.mark.thorough,
]

OTHER: Final = "http://evil.example"
NOBODY: Final = 65534
HTML: Final = b"<!doctype html><script>window.xss = 1</script>"
SVG: Final = b'<svg xmlns="http://www.w3.org/2000/svg"><script>window.xss = 1</script></svg>'
SECRET: Final = "do-not-show-3f9c"


@dataclass(frozen=True, slots=True)
class Desk:
    """A running installation, and one browser's session with its page."""

    shop: Shop
    visit: Visit

    @property
    def place(self) -> Place:
        """The installation."""
        return self.shop.place

    @property
    def theme(self) -> str:
        """What the harmless request that changes something has changed."""
        kept = json.loads((self.place.root / "state" / "page.json").read_bytes())
        return str(kept["preferences"]["theme"])


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("attacked")
    with shop_with_page(folder) as shop:
        _hide(shop.workspace, folder)
        yield Desk(shop, enter(shop.place))


@pytest.fixture(scope="module")
def waiting(desk: Desk) -> str:
    """A task that waits for its approval."""
    return desk.shop.ask("@dev fix the login retry")


def _hide(workspace: Path, outside: Path) -> None:
    """Write what must not be shown, and what pretends to be something else."""
    (outside / "secret.txt").write_text(SECRET, encoding="utf-8")
    (outside / "other").mkdir()
    (outside / "other" / "secret.txt").write_text(SECRET, encoding="utf-8")
    (workspace / ".env").write_text(f"KEY={SECRET}\n", encoding="utf-8")
    (workspace / "id_rsa").write_text(SECRET, encoding="utf-8")
    (workspace / "out.txt").symlink_to(outside / "secret.txt")
    (workspace / "out").symlink_to(outside / "other")
    (workspace / "in.txt").symlink_to(workspace / "README.md")
    (workspace / "html.png").write_bytes(HTML)
    (workspace / "svg.png").write_bytes(SVG)
    (workspace / "drawing.svg").write_bytes(SVG)
    (workspace / "polyglot.png").write_bytes(png() + HTML)
    os.mkfifo(workspace / "pipe")


def read(desk: Desk) -> Ask:
    """Return a proper request that reads."""
    return desk.visit.get()


def act(desk: Desk, theme: str = "dark") -> Ask:
    """Return a proper request that changes something harmless."""
    return desk.visit.post("/api/preferences", theme=theme)


def assert_refused(answer: Answer) -> None:
    """Nothing was answered, and nothing said but a status."""
    assert answer.status == 0 or 400 <= answer.status < 500, answer
    if answer.status:
        assert "set-cookie" not in answer.headers
        assert_says_nothing(answer)


def assert_says_nothing(answer: Answer) -> None:
    """It is empty, or the page for a person without a session; it names no software."""
    assert answer.body == b"" or b"codexbridge open" in answer.body, answer
    assert not {"server", "allow", "location", "etag", "www-authenticate"} & answer.headers.keys()
    assert not any(name.startswith("access-control") for name in answer.headers), answer
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert answer.headers["cross-origin-opener-policy"] == "same-origin"
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


def leave(visit: Visit) -> None:
    """End a session; only the newest few are kept, and that of the desk is needed."""
    assert visit.post("/api/leave").send().status == 200


Wrong = Callable[[Ask], Ask]


def _host(text: str) -> Wrong:
    return lambda ask: ask.having(Host=text.format(port=ask.port))


def _target(text: str) -> Wrong:
    return lambda ask: ask.to(text.format(port=ask.port))


# What no request may have, whether it reads or changes something.
WRONG: Final[Mapping[str, Wrong]] = {
    # DNS rebinding: the name is another's, the address is ours
    "host-evil": _host("evil.example"),
    "host-evil-with-our-port": _host("evil.example:{port}"),
    "host-begins-as-ours": _host("127.0.0.1.evil.example:{port}"),
    "host-localhost-as-a-part": _host("localhost.evil.example:{port}"),
    "host-below-localhost": _host("evil.localhost:{port}"),
    "host-without-port": _host("localhost"),
    "host-of-another-port": _host("localhost:1"),
    "host-ipv6": _host("[::1]:{port}"),
    "host-every-address": _host("0.0.0.0:{port}"),
    "host-other-loopback": _host("127.0.0.2:{port}"),
    "host-short-form": _host("127.1:{port}"),
    "host-as-a-number": _host("2130706433:{port}"),
    "host-upper-case": _host("LOCALHOST:{port}"),
    "host-trailing-dot": _host("localhost.:{port}"),
    "host-with-user": _host("user@localhost:{port}"),
    "host-ours-as-user": _host("localhost:{port}@evil.example"),
    "host-with-path": _host("localhost:{port}/x"),
    "host-with-comma": _host("localhost:{port}, evil.example"),
    "host-port-with-zero": _host("localhost:0{port}"),
    "host-empty": _host(""),
    "host-twice": lambda ask: ask.adding("Host", "evil.example"),
    "host-twice-alike": lambda ask: ask.adding("Host", f"localhost:{ask.port}"),
    "host-missing": lambda ask: ask.lacking("Host"),
    "host-missing-http-1.0": lambda ask: replace(ask, version="HTTP/1.0").lacking("Host"),
    "host-forwarded-instead": lambda ask: ask.having(Host="evil.example").adding(
        "X-Forwarded-Host", f"localhost:{ask.port}"
    ),
    "target-absolute": _target("http://localhost:{port}/api/status"),
    "target-absolute-evil": _target("http://evil.example/api/status"),
    "target-authority": _target("localhost:{port}"),
    "target-star": _target("*"),
    "target-two-slashes": _target("//api/status"),
    "target-two-slashes-evil": _target("//evil.example/api/status"),
    "target-backslash": _target("\\api\\status"),
    "target-no-slash": _target("api/status"),
    # another site asks: its Origin, or what the browser says of it
    "origin-other": lambda ask: ask.having(Origin=OTHER),
    "origin-null": lambda ask: ask.having(Origin="null"),
    "origin-empty": lambda ask: ask.having(Origin=""),
    "origin-other-port": lambda ask: ask.having(Origin="http://localhost:1"),
    "origin-no-port": lambda ask: ask.having(Origin="http://localhost"),
    "origin-https": lambda ask: ask.having(Origin=f"https://localhost:{ask.port}"),
    "origin-other-name-of-ours": lambda ask: ask.having(Origin=f"http://127.0.0.1:{ask.port}"),
    "origin-begins-as-ours": lambda ask: ask.having(Origin=f"http://localhost:{ask.port}.evil"),
    "origin-with-slash": lambda ask: ask.having(Origin=f"http://localhost:{ask.port}/"),
    "origin-upper-case": lambda ask: ask.having(Origin=f"HTTP://localhost:{ask.port}"),
    "origin-twice": lambda ask: ask.having(Origin=f"http://localhost:{ask.port}").adding(
        "Origin", OTHER
    ),
    "site-cross": lambda ask: ask.having(Sec_Fetch_Site="cross-site"),
    "site-same-site": lambda ask: ask.having(Sec_Fetch_Site="same-site"),
    "site-unknown": lambda ask: ask.having(Sec_Fetch_Site="same-origin, cross-site"),
    "dest-iframe": lambda ask: ask.having(Sec_Fetch_Dest="iframe"),
    "dest-frame": lambda ask: ask.having(Sec_Fetch_Dest="frame"),
    "dest-object": lambda ask: ask.having(Sec_Fetch_Dest="object"),
    "dest-embed": lambda ask: ask.having(Sec_Fetch_Dest="embed"),
    "dest-fencedframe": lambda ask: ask.having(Sec_Fetch_Dest="fencedframe"),
    # methods
    **{
        f"method-{method}": lambda ask, method=method: ask.by(method)  # type: ignore[misc]  # its default names the round of the loop
        for method in (
            *("OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "HEAD", "CONNECT", "PROPFIND"),
            *("get", "Post", "FOO"),
        )
    },
    "preflight": lambda ask: (
        ask.by("OPTIONS")
        .having(Origin=OTHER, Access_Control_Request_Method="POST")
        .having(Access_Control_Request_Headers="content-type,x-csrf-token")
    ),
    "preflight-private-network": lambda ask: ask.by("OPTIONS").having(
        Origin=OTHER, Access_Control_Request_Private_Network="true"
    ),
    # the session
    "no-cookie": lambda ask: ask.lacking("Cookie"),
    "no-token": lambda ask: ask.lacking("X-CSRF-Token"),
    "neither": lambda ask: ask.lacking("Cookie", "X-CSRF-Token"),
    "cookie-empty": lambda ask: ask.having(Cookie=_jar(ask) + "="),
    "cookie-garbage": lambda ask: ask.having(Cookie=_jar(ask) + "=garbage"),
    "cookie-not-text": lambda ask: ask.having(Cookie=_jar(ask) + "=\udcff\udcfe"),
    "cookie-of-another-name": lambda ask: ask.having(Cookie=_cookie(ask).replace("=", "x=", 1)),
    "cookie-upper-case": lambda ask: ask.having(Cookie=_cookie(ask).upper()),
    "cookie-cut": lambda ask: ask.having(Cookie=_cookie(ask)[:-1]),
    "cookie-longer": lambda ask: ask.having(Cookie=_cookie(ask) + "A"),
    "token-empty": lambda ask: ask.having(X_CSRF_Token=""),
    "token-garbage": lambda ask: ask.having(X_CSRF_Token="garbage"),
    "token-not-text": lambda ask: ask.having(X_CSRF_Token="\udcff"),
    "token-cut": lambda ask: ask.having(X_CSRF_Token=_token(ask)[:-1]),
    "token-is-the-cookie": lambda ask: ask.having(X_CSRF_Token=_cookie(ask).split("=")[1]),
    "token-its-own-hash": lambda ask: ask.having(X_CSRF_Token=_kept(ask)),
    "token-in-the-query": lambda ask: ask.to(f"{ask.target}?token={_token(ask)}").lacking(
        "X-CSRF-Token"
    ),
    "token-as-bearer": lambda ask: ask.lacking("X-CSRF-Token").having(
        Authorization=f"Bearer {_token(ask)}"
    ),
    "token-in-a-cookie": lambda ask: ask.lacking("X-CSRF-Token").having(
        Cookie=f"{_cookie(ask)}; X-CSRF-Token={_token(ask)}"
    ),
    # what would skip the token, were it looked at first
    "upgrade-smuggled": lambda ask: ask.lacking("X-CSRF-Token").having(
        Connection="Upgrade", Upgrade="websocket", Origin=f"http://localhost:{ask.port}"
    ),
    "upgrade-whole": lambda ask: ask.lacking("X-CSRF-Token").having(
        Connection="Upgrade",
        Upgrade="websocket",
        Sec_WebSocket_Version="13",
        Sec_WebSocket_Key=base64.b64encode(bytes(16)).decode(),
        Origin=f"http://localhost:{ask.port}",
    ),
    "upgrade-h2c": lambda ask: ask.lacking("X-CSRF-Token").having(
        Connection="Upgrade, HTTP2-Settings", Upgrade="h2c"
    ),
    "path-encoded": lambda ask: ask.lacking("X-CSRF-Token").to(
        ask.target.replace("/api", "/%61pi")
    ),
    "path-slash-encoded": lambda ask: ask.lacking("X-CSRF-Token").to(
        ask.target.replace("/api/", "/api%2f")
    ),
    "path-dotted": lambda ask: ask.lacking("X-CSRF-Token").to("/kit/.." + ask.target),
    "path-dot": lambda ask: ask.lacking("X-CSRF-Token").to("/." + ask.target),
    "path-through-an-open-one": lambda ask: ask.lacking("X-CSRF-Token").to(
        "/launch/.." + ask.target
    ),
    "path-of-live": lambda ask: ask.lacking("X-CSRF-Token").to("/api/live/.." + ask.target[4:]),
    "path-with-parameter": lambda ask: ask.lacking("X-CSRF-Token").to("/launch;" + ask.target),
    "path-upper-case": lambda ask: ask.lacking("X-CSRF-Token").to(ask.target.upper()),
    # HTTP that two readers could read in two ways
    "length-twice": lambda ask: ask.adding("Content-Length", "1").adding("Content-Length", "2"),
    "length-negative": lambda ask: ask.having(Content_Length="-1"),
    "length-signed": lambda ask: ask.having(Content_Length="+1"),
    "length-and-chunks": lambda ask: ask.having(Transfer_Encoding="chunked", Content_Length="3"),
    "space-before-colon": lambda ask: ask.adding("X-A ", "b"),
    "folded-header": lambda ask: ask.adding("X-A", "b\r\n c"),
    "bare-line-feed": lambda ask: ask.adding("X-A", "b\nX-B: c"),
    "nul-in-header": lambda ask: ask.adding("X-A", "b\0c"),
    "http-0.9": lambda ask: replace(ask, version=""),
    "http-3.0": lambda ask: replace(ask, version="HTTP/3.0"),
    "expect-unknown": lambda ask: ask.adding("Expect", "<script>alert(1)</script>"),
}


def _cookie(ask: Ask) -> str:
    return dict(ask.headers)["Cookie"]


def _jar(ask: Ask) -> str:
    return _cookie(ask).split("=")[0]


def _token(ask: Ask) -> str:
    return dict(ask.headers)["X-CSRF-Token"]


def _kept(ask: Ask) -> str:
    """Return what the agent keeps of a token, which its backups may hold."""
    from hashlib import sha256

    return sha256(_token(ask).encode()).hexdigest()


def cases(named: Mapping[str, object]) -> list[ParameterSet]:
    """Return them as parameters."""
    return [pytest.param(one, id=name) for name, one in named.items()]


@pytest.mark.parametrize("wrong", cases(WRONG))
def test_a_request_with_one_thing_wrong_is_refused(desk: Desk, wrong: Wrong) -> None:
    assert read(desk).send().status == 200
    assert act(desk, "light").send().status == 200

    assert_refused(wrong(read(desk)).send())
    assert_refused(wrong(act(desk)).send())

    assert desk.theme == "light"


# What a request that changes something must have besides.
WRONG_ACT: Final[Mapping[str, Wrong]] = {
    "origin-missing": lambda ask: ask.lacking("Origin"),
    "origin-missing-typed-by-hand": lambda ask: ask.lacking("Origin").having(Sec_Fetch_Site="none"),
    "site-none": lambda ask: ask.having(Sec_Fetch_Site="none"),
    "referer-instead": lambda ask: ask.lacking("Origin").having(
        Referer=f"http://localhost:{ask.port}/"
    ),
    "form-text": lambda ask: ask.having(Content_Type="text/plain"),
    "form-urlencoded": lambda ask: ask.having(Content_Type="application/x-www-form-urlencoded"),
    "form-multipart": lambda ask: ask.having(Content_Type="multipart/form-data; boundary=x"),
    "form-multipart-with-json-inside": lambda ask: ask.having(
        Content_Type="multipart/form-data; boundary=x"
    ).carrying(
        b'--x\r\nContent-Disposition: form-data; name="a"\r\nContent-Type: application/json\r\n\r\n'
        + ask.body
        + b"\r\n--x--\r\n"
    ),
    "json-behind-text": lambda ask: ask.having(Content_Type="text/plain; application/json"),
    "json-as-parameter": lambda ask: ask.having(Content_Type="text/plain; a=application/json"),
    "json-of-a-kind": lambda ask: ask.having(Content_Type="application/json+x"),
    "json-other-tree": lambda ask: ask.having(Content_Type="text/json"),
    "json-cut": lambda ask: ask.having(Content_Type="application/jso"),
    "type-missing": lambda ask: ask.lacking("Content-Type"),
    "type-empty": lambda ask: ask.having(Content_Type=""),
    "type-garbage": lambda ask: ask.having(Content_Type="json"),
    "body-gzip": lambda ask: ask.having(Content_Encoding="gzip").carrying(gzip.compress(ask.body)),
    "body-gzip-bomb": lambda ask: ask.having(Content_Encoding="gzip").carrying(
        gzip.compress(bytes(20_000_000))
    ),
    "body-no-deflate": lambda ask: ask.having(Content_Encoding="deflate").carrying(b"\xff" * 99),
    **{
        f"override-{name}": lambda ask, name=name: ask.by("GET").having(**{name: "POST"})  # type: ignore[misc]  # its default names the round of the loop
        for name in ("X_HTTP_Method_Override", "X_HTTP_Method", "X_Method_Override")
    },
    "override-in-the-query": lambda ask: ask.by("GET").to(f"{ask.target}?_method=POST"),
    "get-with-a-body": lambda ask: ask.by("GET"),
    "chunks-that-are-none": lambda ask: ask.lacking("Content-Length").having(
        Transfer_Encoding="chunked"
    ),
}


@pytest.mark.parametrize("wrong", cases(WRONG_ACT))
def test_what_changes_something_needs_more(desk: Desk, wrong: Wrong) -> None:
    assert act(desk, "light").send().status == 200
    assert_refused(wrong(act(desk)).send())
    assert desk.theme == "light"


# Bodies that no reader of ours takes; the person's own page is told why, in our words.
BODIES: Final[Mapping[str, bytes]] = {
    "empty": b"",
    "no-object": b'["theme", "dark"]',
    "twice": b'{"theme": "auto", "theme": "dark"}',
    "nan": b'{"theme": "dark", "n": NaN}',
    "infinite": b'{"theme": "dark", "n": Infinity}',
    "float": b'{"theme": "dark", "n": 1.5}',
    "huge-integer": b'{"theme": "dark", "n": ' + b"9" * 5000 + b"}",
    "lone-surrogate": b'{"theme": "dark", "n": "\\ud800"}',
    "lone-surrogate-as-name": b'{"theme": "dark", "\\udfff": 1}',
    "not-utf-8": b'{"theme": "dark", "n": "\xff"}',
    "utf-16": '{"theme": "dark"}'.encode("utf-16"),
    "byte-order-mark": b'\xef\xbb\xbf{"theme": "dark"}',
    "two-values": b'{"theme": "dark"}{"theme": "dark"}',
    "cut": b'{"theme": "dark"',
    "deep": b"[" * 100_000 + b"]" * 100_000,
    "deep-objects": b'{"a":' * 40_000 + b"1" + b"}" * 40_000,
    "deep-and-open": b"[" * 200_000,
    "escapes": b'{"' + b'\\"' * 100_000,
    "another-name": b'{"theme": "dark", "__proto__": {"theme": "dark"}}',
    "another-value": b'{"theme": "<script>"}',
    "wrong-kind": b'{"theme": {"dark": 1}}',
}


@pytest.mark.parametrize("body", cases(BODIES))
def test_a_body_that_is_not_strict_json_changes_nothing(desk: Desk, body: bytes) -> None:
    assert act(desk, "light").send().status == 200
    begun = time.monotonic()
    answer = act(desk).carrying(body).send()
    assert time.monotonic() - begun < 5
    assert answer.status == 400
    assert answer.json()["error"]["code"] in (
        *("json.malformed", "json.too-deep", "control.malformed"),
    )
    assert desk.theme == "light"


@pytest.mark.parametrize("charset", ["utf-8", "utf-7", "utf-16le", "iso-2022-jp", "x'\"<"])
def test_a_charset_changes_nothing_of_how_a_body_is_read(desk: Desk, charset: str) -> None:
    assert act(desk, "light").send().status == 200
    coded = act(desk).having(Content_Type=f"application/json; charset={charset}")
    assert coded.carrying('{"theme": "dark"}'.encode("utf-16le")).send().status == 400
    assert coded.carrying(b"+AHsAIgB0-").send().status == 400
    assert desk.theme == "light"


EVERYWHERE: Final = (
    *("/", "/launch", "/app.js", "/kit/kit.js", "/kit/launch.js", "/icon.svg", "/kit/kit.css"),
    *("/api/boot", "/api/status", "/api/tasks", "/api/audit", "/api/settings", "/api/live"),
    *("/api/file?path=README.md", "/api/image?path=logo.png", "/api/folder", "/no-such-path"),
)
CROSS: Final[Mapping[str, Wrong]] = {
    "cross-site": WRONG["site-cross"],
    "same-site": WRONG["site-same-site"],
    "rebound": WRONG["host-evil-with-our-port"],
    "framed": WRONG["dest-iframe"],
    "origin": WRONG["origin-other"],
}


@pytest.mark.parametrize("cross", CROSS.values(), ids=CROSS)
def test_no_path_at_all_is_open_to_another_site(desk: Desk, cross: Wrong) -> None:
    for path in EVERYWHERE:
        proper = desk.visit.get(path)
        assert proper.send().status in ((400,) if path == "/api/live" else (200, 404)), path
        assert_refused(cross(proper).send())


@pytest.mark.parametrize("path", [path for path in EVERYWHERE if path.startswith("/api/")])
def test_without_a_session_no_path_tells_whether_it_is_there(desk: Desk, path: str) -> None:
    stranger = desk.visit.get(path).lacking("Cookie", "X-CSRF-Token").send()
    unknown = desk.visit.get("/api/no-such-path").lacking("Cookie", "X-CSRF-Token").send()
    assert_refused(stranger)
    assert (stranger.status, stranger.body) == (unknown.status, unknown.body) == (403, b"")
    dated = {name for name in stranger.headers if name != "date"}
    assert dated == {name for name in unknown.headers if name != "date"}


def test_a_person_without_a_session_is_told_how_to_get_one_and_nothing_else(desk: Desk) -> None:
    shown = desk.visit.get("/").lacking("Cookie").send()
    assert shown.status == 403
    assert_says_nothing(shown)
    assert desk.place.made.config.first.corp_id.encode() not in shown.body
    assert desk.visit.get("/").send().status == 200


NO_HTTP: Final[Mapping[str, bytes]] = {
    "tls": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64),
    "ssh": b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
    "http-2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "nul": bytes(4096) + b"\r\n\r\n",
    "endless-line": b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\n\r\n",
    "huge-query": b"GET /?" + b"a=b&" * 50_000 + b" HTTP/1.1\r\n\r\n",
    "endless-header": b"GET / HTTP/1.1\r\nA: " + b"a" * 200_000 + b"\r\n\r\n",
    "many-headers": b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 20_000 + b"\r\n",
    "cookie-of-no-form": b"GET / HTTP/1.1\r\nCookie: a=\x01" + SECRET.encode() + b"\r\n\r\n",
    "header-of-no-form": b"GET / HTTP/1.1\r\nA\0B: " + SECRET.encode() + b"\r\n\r\n",
    "markup": b"<script>alert(1)</script> / HTTP/1.1\r\n\r\n",
}


@pytest.mark.parametrize("raw", cases(NO_HTTP))
def test_what_is_no_http_gets_no_answer_and_no_line_in_the_log(desk: Desk, raw: bytes) -> None:
    before = desk.place.log("agent")
    assert send(desk.visit.port, raw) == Answer(0, {}, b"")
    assert read(desk).send().status == 200
    assert desk.place.log("agent") == before


# -- sessions -------------------------------------------------------------------------------------


def test_the_cookie_is_for_no_script_no_other_site_and_no_other_host(desk: Desk) -> None:
    named, *attributes = desk.visit.granted.split("; ")
    assert set(attributes) == {"HttpOnly", "SameSite=Strict", "Path=/"}
    assert re.fullmatch(r"codexbridge[0-9a-f]{8}=[A-Za-z0-9_-]{43}", named)
    assert re.fullmatch("[A-Za-z0-9_-]{43}", desk.visit.token)
    assert desk.visit.cookie != desk.visit.token


def test_halves_of_two_sessions_make_no_third(desk: Desk) -> None:
    one, two = enter(desk.place), enter(desk.place)
    assert (one.get().send().status, two.get().send().status) == (200, 200)
    assert (one.cookie, one.token) != (two.cookie, two.token)
    assert_refused(replace(one, token=two.token).get().send())
    assert_refused(replace(two, token=one.token).post("/api/preferences", theme="dark").send())
    leave(one)
    leave(two)


def test_a_link_is_used_up_by_its_first_use(desk: Desk) -> None:
    visit = enter(desk.place)
    assert visit.get().send().status == 200
    assert_refused(launch(visit.port, visit.secret).send())
    leave(visit)  # nor does the attempt end what was begun


@pytest.mark.parametrize("tries", [2, 12])
def test_of_several_who_use_a_link_at_once_one_gets_a_session(desk: Desk, tries: int) -> None:
    url = link(desk.place)
    raw = launch(desk.visit.port, url.partition("#")[2]).raw()
    with ExitStack() as opened:
        all_of_them = [opened.enter_context(connected(desk.visit.port)) for _ in range(tries)]
        for one in all_of_them:
            one.sendall(raw[:-1])
        for one in all_of_them:
            one.sendall(raw[-1:])
        found = sorted(receive(one).status for one in all_of_them)
    assert found == [200] + [403] * (tries - 1)


LAUNCHES: Final[Mapping[str, Callable[[Ask, str], Ask]]] = {
    "in-the-query": lambda ask, secret: ask.to(f"/api/launch?secret={secret}").carrying(b"{}"),
    "in-the-path": lambda ask, secret: ask.to(f"/api/launch/{secret}"),
    "by-get": lambda ask, secret: ask.by("GET").to(f"/api/launch?secret={secret}").carrying(b""),
    "of-another-site": lambda ask, _: ask.having(Origin=OTHER),
    "of-our-own-host": lambda ask, _: ask.having(Origin="http://localhost:1"),
    "cross-site": lambda ask, _: ask.having(Sec_Fetch_Site="cross-site"),
    "without-origin": lambda ask, _: ask.lacking("Origin"),
    "as-a-form": lambda ask, _: ask.having(Content_Type="text/plain"),
    "rebound": lambda ask, _: ask.having(Host=f"evil.example:{ask.port}"),
    "cut": lambda ask, secret: ask.carrying(json.dumps({"secret": secret[:-1]}).encode()),
    "longer": lambda ask, secret: ask.carrying(json.dumps({"secret": secret + "A"}).encode()),
    "upper-case": lambda ask, secret: ask.carrying(json.dumps({"secret": secret.upper()}).encode()),
    "in-a-list": lambda ask, secret: ask.carrying(json.dumps({"secret": [secret]}).encode()),
    "empty": lambda ask, _: ask.carrying(b'{"secret": ""}'),
    "null": lambda ask, _: ask.carrying(b'{"secret": null}'),
    "lone-surrogate": lambda ask, _: ask.carrying(b'{"secret": "\\ud800"}'),
    "twice": lambda ask, secret: ask.carrying(f'{{"secret": "", "secret": "{secret}"}}'.encode()),
    "in-much-else": lambda ask, secret: ask.carrying(
        json.dumps({"secret": secret, "more": "x" * 2000}).encode()
    ),
    "huge": lambda ask, _: ask.carrying(b"[" * 300_000),
}


@pytest.mark.parametrize("wrong", LAUNCHES.values(), ids=LAUNCHES)
def test_a_link_that_is_used_wrongly_begins_nothing(
    desk: Desk, wrong: Callable[[Ask, str], Ask]
) -> None:
    secret = link(desk.place).partition("#")[2]
    proper = launch(desk.visit.port, secret)
    assert_refused(wrong(proper, secret).send())
    leave(redeem(f"{desk.visit.origin}/launch#{secret}"))  # it is not used up by that


def test_the_page_of_a_link_shows_nothing_of_the_machine(desk: Desk) -> None:
    shown = desk.visit.get("/launch").lacking("Cookie", "X-CSRF-Token").send()
    assert shown.status == 200
    assert b"dev-1" not in shown.body
    assert "set-cookie" not in shown.headers


def test_a_session_that_was_left_is_over_at_once_and_its_tabs_hear_no_more(desk: Desk) -> None:
    visit = enter(desk.place)
    with socket_of(visit) as tab, socket_of(desk.visit) as other:
        hear(tab, visit)
        hear(other, desk.visit)
        assert visit.post("/api/leave").send().status == 200
        with pytest.raises(ConnectionClosed) as closed:
            hear_to_the_end(tab)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4003
        assert act(desk, "light").send().status == 200
        assert "light" in str(other.recv(timeout=PATIENCE))
    assert_refused(visit.get().send())
    assert_refused(visit.post("/api/leave").send())
    assert read(desk).send().status == 200


def test_guessing_links_gets_nobody_in_and_uses_up_none(desk: Desk) -> None:
    url = link(desk.place)
    begun = time.monotonic()
    with connected(desk.visit.port) as connection:
        for _ in range(500):
            guess = base64.urlsafe_b64encode(os.urandom(32)).decode().rstrip("=")
            asked = launch(desk.visit.port, guess).having(Connection="keep-alive")
            connection.sendall(asked.raw())
            assert receive(connection).status == 403
    assert time.monotonic() - begun < 30
    leave(redeem(url))


# -- sessions by the clock ------------------------------------------------------------------------

NOW: Final = 1_700_000_000_000


@pytest.mark.parametrize("late", [0, 1, 10 * LAUNCH_MS])
def test_a_link_lasts_five_minutes(late: int) -> None:
    sessions = Sessions()
    with pytest.raises(AuthError, match=r"page\.launch"):
        sessions.redeem(sessions.new_launch(NOW), NOW + LAUNCH_MS + late)
    assert sessions.redeem(sessions.new_launch(NOW), NOW + LAUNCH_MS - 1).cookie


def test_a_session_ends_unused_and_in_the_end_however_used() -> None:
    sessions = Sessions()
    granted = sessions.redeem(sessions.new_launch(NOW), NOW)
    assert sessions.find(granted.cookie, NOW + IDLE_MS - 1)
    assert not sessions.find(granted.cookie, NOW + 2 * IDLE_MS)

    used = sessions.redeem(sessions.new_launch(NOW), NOW)
    for at in range(NOW, NOW + LASTS_MS, IDLE_MS // 2):
        assert sessions.find(used.cookie, at)
    assert not sessions.find(used.cookie, NOW + LASTS_MS)


def test_a_clock_that_goes_back_ends_sessions_and_gives_none_longer() -> None:
    sessions = Sessions()
    granted = sessions.redeem(sessions.new_launch(NOW), NOW)
    assert sessions.find(granted.cookie, NOW - 1000)
    assert not sessions.find(granted.cookie, NOW - IDLE_MS)


def test_a_session_that_gave_way_to_others_is_over() -> None:
    sessions = Sessions()
    all_of_them = [sessions.redeem(sessions.new_launch(NOW), NOW) for _ in range(MAX_SESSIONS + 1)]
    assert not sessions.find(all_of_them[0].cookie, NOW)
    newest = sessions.find(all_of_them[-1].cookie, NOW)
    assert newest
    assert has_token(newest, all_of_them[-1].token)
    assert sessions.lives(newest, NOW)
    sessions.end(newest)
    assert not sessions.lives(newest, NOW)


# -- the socket -----------------------------------------------------------------------------------


def socket_of(visit: Visit, **changed: Any) -> ClientConnection:
    """Open the page's socket, as the page does."""
    options: dict[str, Any] = {
        "origin": Origin(visit.origin),
        "additional_headers": {"Cookie": f"{visit.jar}={visit.cookie}"},
        "compression": None,
        "proxy": None,
        "open_timeout": PATIENCE,
    }
    address = changed.pop("address", "/api/live")
    tab: ClientConnection = connect(f"ws://localhost:{visit.port}{address}", **options | changed)
    return tab


def hear(tab: ClientConnection, visit: Visit) -> None:
    """Say the first words, and hear that they were right."""
    tab.send(json.dumps({"token": visit.token, "life": "", "cursor": 0}))
    assert json.loads(tab.recv(timeout=PATIENCE))["type"] == "hello"


def hear_to_the_end(tab: ClientConnection) -> None:
    """Hear all that comes until the other side closes."""
    while True:
        tab.recv(timeout=PATIENCE)


def say_much(tab: ClientConnection) -> None:
    """Say thousands of words until the other side closes."""
    for n in range(2000):
        tab.send(f"message {n}")
    tab.recv(timeout=PATIENCE)


SOCKETS: Final[Mapping[str, Callable[[Visit], dict[str, Any]]]] = {
    "origin-other": lambda _: {"origin": Origin(OTHER)},
    "origin-null": lambda _: {"origin": Origin("null")},
    "origin-missing": lambda _: {"origin": None},
    "origin-other-port": lambda _: {"origin": Origin("http://localhost:1")},
    "origin-other-name": lambda visit: {"origin": Origin(f"http://127.0.0.1:{visit.port}")},
    "no-cookie": lambda _: {"additional_headers": {}},
    "cookie-garbage": lambda visit: {"additional_headers": {"Cookie": f"{visit.jar}=x"}},
    "token-as-cookie": lambda visit: {
        "additional_headers": {"Cookie": f"{visit.jar}={visit.token}"}
    },
    "site-cross": lambda visit: {
        "additional_headers": {
            "Cookie": f"{visit.jar}={visit.cookie}",
            "Sec-Fetch-Site": "cross-site",
        }
    },
    "site-same-site": lambda visit: {
        "additional_headers": {
            "Cookie": f"{visit.jar}={visit.cookie}",
            "Sec-Fetch-Site": "same-site",
        }
    },
    "another-path": lambda _: {"address": "/api/status"},
    "another-path-of-tasks": lambda _: {"address": "/api/tasks"},
    "encoded-path": lambda _: {"address": "/api/live%2f..%2fstatus"},
}


@pytest.mark.parametrize("wrong", cases(SOCKETS))
def test_a_socket_that_is_not_the_pages_is_not_opened(
    desk: Desk, wrong: Callable[[Visit], dict[str, Any]]
) -> None:
    with pytest.raises(InvalidStatus) as refused:
        socket_of(desk.visit, **wrong(desk.visit))
    assert refused.value.response.status_code in (403, 404)
    assert not refused.value.response.body
    assert "Server" not in refused.value.response.headers
    with socket_of(desk.visit) as tab:
        hear(tab, desk.visit)


FIRST: Final[Mapping[str, Callable[[Visit], str | bytes]]] = {
    "wrong-token": lambda _: '{"token": "wrong", "life": "", "cursor": 0}',
    "no-token": lambda _: '{"life": "", "cursor": 0}',
    "token-is-the-cookie": lambda visit: json.dumps(
        {"token": visit.cookie, "life": "", "cursor": 0}
    ),
    "token-of-no-text": lambda _: '{"token": true, "life": "", "cursor": 0}',
    "token-alone": lambda visit: visit.token,
    "no-json": lambda _: "hello",
    "empty": lambda _: "",
    "binary": lambda visit: json.dumps({"token": visit.token, "life": "", "cursor": 0}).encode(),
    "deep": lambda _: "[" * 4000,
    "huge": lambda visit: json.dumps({"token": visit.token, "life": "x" * 9000, "cursor": 0}),
    "cursor-of-no-number": lambda visit: json.dumps(
        {"token": visit.token, "life": "", "cursor": "0"}
    ),
    "cursor-float": lambda visit: json.dumps({"token": visit.token, "life": "", "cursor": 0.5}),
    "cursor-huge": lambda visit: json.dumps({"token": visit.token, "life": "", "cursor": 10**30}),
    "lone-surrogate": lambda visit: f'{{"token": "{visit.token}", "life": "\\ud800", "cursor": 0}}',
    "twice": lambda visit: f'{{"token": "x", "token": "{visit.token}", "life": "", "cursor": 0}}',
}


@pytest.mark.parametrize("first", cases(FIRST))
def test_a_socket_whose_first_words_are_wrong_hears_nothing(
    desk: Desk, first: Callable[[Visit], str | bytes]
) -> None:
    with socket_of(desk.visit) as tab:
        tab.send(first(desk.visit))
        with pytest.raises(ConnectionClosed):
            tab.recv(timeout=PATIENCE)
    with socket_of(desk.visit) as tab:
        hear(tab, desk.visit)


def test_a_socket_that_says_nothing_hears_nothing_and_is_let_go(desk: Desk) -> None:
    with socket_of(desk.visit) as tab:
        assert act(desk, "light").send().status == 200  # told to who has shown both halves
        with pytest.raises(ConnectionClosed) as closed:
            tab.recv(timeout=PATIENCE)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4003


def test_thousands_of_messages_and_pings_end_one_socket_alone(desk: Desk) -> None:
    with socket_of(desk.visit) as other, socket_of(desk.visit) as tab:
        hear(other, desk.visit)
        hear(tab, desk.visit)
        for _ in range(2000):
            tab.ping()
        with pytest.raises(ConnectionClosed):
            say_much(tab)
        assert act(desk, "light").send().status == 200
        assert "light" in str(other.recv(timeout=PATIENCE))


def test_a_socket_takes_no_compression_and_no_bomb_of_it(desk: Desk) -> None:
    with socket_of(desk.visit, compression="deflate") as tab:
        assert "Sec-WebSocket-Extensions" not in tab.response.headers  # type: ignore[union-attr]  # it is there once connected
    ask = desk.visit.get("/api/live").having(
        Origin=desk.visit.origin,
        Connection="Upgrade",
        Upgrade="websocket",
        Sec_WebSocket_Version="13",
        Sec_WebSocket_Key=base64.b64encode(bytes(16)).decode(),
        Sec_WebSocket_Extensions="permessage-deflate",
    )
    body = gzip.compress(bytes(50_000_000))[10:-8]
    frame = struct.pack(">BBQI", 0xC1, 0xFF, len(body), 0) + body  # RSV1: it is compressed
    with connected(desk.visit.port) as connection:
        connection.sendall(ask.raw() + frame)
        said = b""
        while chunk := _received(connection):
            said += chunk
    assert said.startswith(b"HTTP/1.1 101 ")
    assert b"hello" not in said
    assert read(desk).send().status == 200


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(65536)
    except ConnectionError:
        return b""


# -- bounds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [300_000, 10_000_000])
def test_a_body_that_is_too_large_is_refused(desk: Desk, size: int) -> None:
    assert act(desk, "light").send().status == 200
    large = act(desk).carrying(b" " * size)
    assert large.send().status == 413
    assert_refused(large.having(Origin=OTHER).send())
    assert desk.theme == "light"


def test_a_hundred_open_connections_leave_the_agent_at_work(desk: Desk) -> None:
    with ExitStack() as opened:
        for _ in range(100):
            one = opened.enter_context(connected(desk.visit.port))
            try:
                one.sendall(b"GET / HTTP/1.1\r\nHost: ")  # and no more
            except ConnectionError:  # turned away
                pass
        assert desk.place.status()["connected"]  # over the control socket
        agent = psutil.Process(desk.place.processes["agent"].pid)
        assert len(agent.net_connections()) < 80
    wait_until(lambda: read(desk).send().status == 200)


def test_requests_that_come_byte_by_byte_hold_nobody_up(desk: Desk) -> None:
    raw = read(desk).raw()
    with ExitStack() as opened:
        slow = [opened.enter_context(connected(desk.visit.port)) for _ in range(20)]
        for byte in raw[:60]:
            for one in slow:
                one.sendall(bytes([byte]))
            assert read(desk).send().status == 200


def test_what_is_pipelined_behind_a_refused_request_is_judged_by_itself(desk: Desk) -> None:
    assert act(desk, "light").send().status == 200
    refused = act(desk).having(Origin=OTHER, Connection="keep-alive")
    inner = act(desk).lacking("X-CSRF-Token").having(Connection="keep-alive")
    with connected(desk.visit.port) as connection:
        connection.sendall(refused.raw() + inner.raw() + inner.raw())
        said = connection.recv(65536)
    assert b" 200 " not in said.split(b"\r\n")[0]
    assert desk.theme == "light"


# -- other users of the machine -------------------------------------------------------------------


def _as_nobody(raw: bytes, port: int, kept: int, told: Any) -> None:
    """In a process of another user: send a request, then keep connections open that say nothing."""
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    try:
        answer = send(port, raw)
    except OSError:
        answer = Answer(0, {}, b"")
    told.send((os.getuid(), answer.status, answer.body))
    for ending in (socket.SHUT_WR, socket.SHUT_RDWR) * 10:  # before anybody can look
        with suppress(OSError), connected(port) as connection:
            connection.sendall(raw)
            connection.shutdown(ending)
    with ExitStack() as opened:
        for _ in range(kept):
            try:
                opened.enter_context(connected(port))
            except OSError:
                break
        told.send(kept)
        told.recv()


@pytest.fixture
def nobody() -> Iterator[Callable[..., Any]]:
    """Start a process of another user; gives the end of a pipe to it."""
    if os.getuid() != 0:
        pytest.skip("needs root, to become another user")
    started: list[tuple[Any, Any]] = []

    def begin(raw: bytes, port: int, kept: int = 0) -> Any:
        ours, theirs = multiprocessing.Pipe()
        fork = multiprocessing.get_context("fork")
        process = fork.Process(target=_as_nobody, args=(raw, port, kept, theirs))
        process.start()
        started.append((process, ours))
        return ours

    yield begin
    for process, ours in started:
        ours.send(None)
        process.join(PATIENCE)
        assert process.exitcode == 0


REQUESTS: Final[Mapping[str, Callable[[Desk], Ask]]] = {
    "that-reads": read,
    "that-acts": act,
    "for-the-page": lambda desk: desk.visit.get("/"),
    "for-an-open-path": lambda desk: desk.visit.get("/launch"),
    "with-a-link": lambda desk: launch(desk.visit.port, link(desk.place).partition("#")[2]),
}


@pytest.mark.parametrize("made", cases(REQUESTS))
def test_another_user_is_refused_whatever_they_hold_and_however_they_hang_up(
    desk: Desk, nobody: Callable[..., Any], made: Callable[[Desk], Ask]
) -> None:
    assert act(desk, "light").send().status == 200
    request = made(desk)
    told = nobody(request.raw(), request.port)
    user, status, body = told.recv()
    assert user == NOBODY
    assert status in (0, 403)
    assert body == b""
    assert told.recv() == 0
    assert desk.theme == "light"
    assert request.send().status == 200  # from us, byte for byte the same


def test_another_user_cannot_fill_the_page_with_connections_that_say_nothing(
    desk: Desk, nobody: Callable[..., Any]
) -> None:
    told = nobody(read(desk).raw(), desk.visit.port, 200)
    assert told.recv()[1] in (0, 403)
    assert told.recv() == 200
    wait_until(lambda: read(desk).send().status == 200, seconds=3)
    assert desk.place.log("agent").count("page.foreign-process") <= 1


def test_who_has_gone_already_is_not_answered_and_nothing_is_done(desk: Desk) -> None:
    assert act(desk, "light").send().status == 200
    for _ in range(10):
        with connected(desk.visit.port) as connection:
            option = struct.pack("ii", 1, 0)  # closed with a reset
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, option)
            connection.sendall(act(desk).having(Origin=OTHER).raw())
    assert desk.theme == "light"
    assert "Traceback" not in desk.place.log("agent")


# -- files and paths ------------------------------------------------------------------------------

PATHS: Final = {
    "up": "../secret.txt",
    "up-and-down": "docs/../../secret.txt",
    "up-within": "docs/../README.md",
    "many-up": "../" * 20 + "etc/passwd",
    "encoded-once-more": "%2e%2e/secret.txt",
    "encoded-twice-more": "%252e%252e%252fsecret.txt",
    "overlong": "..%c0%af..%c0%afetc/passwd",
    "absolute": "/etc/passwd",
    "absolute-home": "~/.ssh/id_rsa",
    "drive": "C:\\Windows\\win.ini",
    "url": "file:///etc/passwd",
    "backslash": "..\\secret.txt",
    "nul": "README.md\0.png",
    "nul-first": "\0",
    "dot": ".",
    "dots": "..",
    "dot-part": "./README.md",
    "empty-part": "docs//README.md",
    "trailing-slash": "README.md/",
    "space": " README.md",
    "line": "README.md\n",
    "link-out": "out.txt",
    "link-out-folder": "out/secret.txt",
    "link-in": "in.txt",
    "git": ".git/config",
    "git-upper-case": ".GIT/config",
    "git-folder": ".git",
    "git-hidden": ".g\u200cit/config",
    "environment": ".env",
    "key": "id_rsa",
    "pipe": "pipe",
    "proc": "/proc/self/environ",
    "device": "/dev/zero",
    "too-long": "a/" * 600 + "a",
    "too-long-part": "a" * 300,
    "right-to-left": "\u202egpj.exe",
    "folder-of-it": "README.md/x",
}


@pytest.mark.parametrize("path", cases(PATHS))
def test_no_path_leads_out_of_a_workspace_or_to_what_is_denied(desk: Desk, path: str) -> None:
    for what in ("file", "image", "folder"):
        target = f"/api/{what}?path={quote(path, safe='')}"
        answer = desk.visit.get(target).send()
        assert answer.status == 400, (what, answer)
        assert answer.json()["error"]["code"].startswith("files.")
        assert SECRET.encode() not in answer.body
        assert b"root:" not in answer.body
    assert desk.visit.get("/api/file?path=README.md").send().status == 200
    assert desk.visit.get("/api/image?path=logo.png").send().status == 200
    assert desk.visit.get("/api/folder?path=docs").send().status == 200


@pytest.mark.parametrize(
    "name", ["..", ".", "/", "/etc", "../other", "shop-api/..", "<script>alert(1)</script>", "\0"]
)
def test_a_workspace_is_named_and_never_a_path(desk: Desk, name: str) -> None:
    for made in (name, str(desk.shop.workspace), str(desk.shop.workspace.parent)):
        asked = f"/api/file?path=README.md&workspace={quote(made, safe='')}"
        answer = desk.visit.get(asked).send()
        assert answer.status == 400
        assert answer.headers["content-type"] == "application/json; charset=utf-8"
        assert answer.json()["error"]["code"] == "workspace.unknown"
    assert desk.visit.get("/api/file?path=README.md&workspace=shop-api").send().status == 200


ASSETS: Final = (
    *(
        "/../etc/passwd",
        "/kit/../../sessions.py",
        "/kit/..%2f..%2fsessions.py",
        "/%2e%2e/server.py",
    ),
    *("/kit/%2e%2e/guards.py", "/kit%2fkit.js", "/static/app.js", "/server.py", "/views.d.ts"),
    *("/kit/vendor/preact.js", "/app.js/", "/app.js%00", "/APP.JS", "/closed", "/closed.html"),
    *("/index.html", "/kit/", "/.git/config", "/kit\\kit.js", "/app.js/../app.js", "/page.json"),
)


@pytest.mark.parametrize("path", ASSETS)
def test_an_asset_that_is_not_named_is_not_there(desk: Desk, path: str) -> None:
    answer = desk.visit.get(path).send()
    assert answer.status == 404
    assert_says_nothing(answer)
    assert desk.visit.get("/app.js").send().status == 200


@pytest.mark.parametrize("name", ["html.png", "svg.png", "drawing.svg", "README.md", "data.bin"])
def test_an_image_is_one_by_its_bytes(desk: Desk, name: str) -> None:
    answer = desk.visit.get(f"/api/image?path={name}").send()
    assert answer.status == 400
    assert answer.json()["error"]["code"] == "files.not-an-image"
    assert b"script" not in answer.body


@pytest.mark.parametrize("name", ["logo.png", "polyglot.png"])
def test_an_image_is_told_as_no_more_than_that(desk: Desk, name: str) -> None:
    answer = desk.visit.get(f"/api/image?path={name}").send()
    assert answer.status == 200
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert "default-src 'none'" in answer.headers["content-security-policy"]


# -- what no request may bring about --------------------------------------------------------------

OPS: Final = (
    *("approve", "decide", "reject", "apply", "grant", "execute", "confirm", "allow", "accept"),
    *("rotate", "open_page", "shut_page", "workspaces_changed", "models_test", "diff", "refresh"),
    *("show", "status", "APPROVE", "approve%2f", "verb", "__init__", "_decide", "..%2fdecide"),
)


@pytest.mark.requirement("P1")
@pytest.mark.parametrize("op", OPS)
def test_no_guessed_path_approves(desk: Desk, waiting: str, op: str) -> None:
    shown = desk.visit.get(f"/api/tasks/{waiting}").send().json()
    approval, code = shown["approval"]["approval_id"], shown["question"]["code"]
    content = {
        "task": waiting,
        "approval_id": approval,
        "digest": "0" * 64,
        "code": code,
        "typed": code,
        "decision": "approve",
        "approve": True,
        "lang": "en",
    }
    for path in (
        *(f"/api/tasks/{waiting}/{op}", f"/api/{op}", f"/api/approvals/{approval}/{op}"),
        *(f"/api/jobs/{waiting}/{op}", f"/api/tasks/{waiting}/{approval}/{op}"),
    ):
        for ask in (desk.visit.post(path, **content), desk.visit.get(path)):
            answer = ask.send()
            assert answer.status in (404, 405) or path == "/api/status", (path, answer)
    assert_untouched(desk, waiting)


def assert_untouched(desk: Desk, short_id: str) -> None:
    """The task waits still, and nothing was done."""
    (task,) = [one for one in desk.place.tasks() if one["short_id"] == short_id]
    assert task["state"] == "WAITING_APPROVAL"
    assert desk.shop.journal("SELECT * FROM effects") == []
    assert "range(3)" in (desk.shop.workspace / "shop/auth/login.py").read_text(encoding="utf-8")


ACTS: Final[Mapping[str, tuple[str, dict[str, object]]]] = {
    "narrow-wrong-code": ("narrow", {"code": "0000-0000", "keep": ["shop/auth/login.py"]}),
    "narrow-nothing": ("narrow", {"keep": []}),
    "narrow-unknown-file": ("narrow", {"keep": ["/etc/passwd"]}),
    "narrow-wrong-kinds": ("narrow", {"keep": "all", "hunks": [1]}),
    "narrow-hunks-negative": (
        "narrow",
        {"keep": ["shop/auth/login.py"], "hunks": {"shop/auth/login.py": [-1]}},
    ),
    "narrow-many-hunks": (
        "narrow",
        {
            "keep": ["shop/auth/login.py"],
            "hunks": {"shop/auth/login.py": list(range(100_000 // 6))},
        },
    ),
    "narrow-unknown-approval": ("narrow", {"approval_id": "x"}),
    "check-wrong-code": ("check", {"code": "0000-0000"}),
    "undo-of-no-kind": ("undo", {"only": {"a": 1}}),
    "retry-what-waits": ("retry", {"may_have_run": True}),
    "resume-no-run": ("resume", {}),
    "roll-back-no-run": ("roll_back", {}),
}


@pytest.mark.requirement("P1")
@pytest.mark.parametrize(("verb", "content"), ACTS.values(), ids=ACTS)
def test_no_request_of_the_page_has_a_change_made(
    desk: Desk, waiting: str, verb: str, content: dict[str, object]
) -> None:
    shown = desk.visit.get(f"/api/tasks/{waiting}").send().json()
    named = {
        "approval_id": shown["approval"]["approval_id"],
        "code": shown["question"]["code"],
        "lang": "en",
    }
    answer = desk.visit.post(f"/api/tasks/{waiting}/{verb}", **named | content).send()
    assert 400 <= answer.status < 500, answer
    assert answer.json()["error"]["en"]
    assert_untouched(desk, waiting)


@pytest.mark.requirement("P1")
def test_what_was_not_done_cannot_be_undone(desk: Desk, waiting: str) -> None:
    answer = desk.visit.post(f"/api/tasks/{waiting}/undo", lang="en").send()
    assert answer.status == 200  # it is a task of its own, which fails by itself
    assert desk.place.final(answer.json()["short_id"])["reason"] != "completed"
    assert_untouched(desk, waiting)


@pytest.mark.requirement("P1")
def test_reminding_again_and_again_approves_nothing(desk: Desk, waiting: str) -> None:
    for _ in range(40):
        answer = desk.visit.post(f"/api/tasks/{waiting}/remind", lang="en").send()
        assert answer.status == 200
        assert answer.json()["window"] is False  # there is no screen here
    assert_untouched(desk, waiting)


SAID: Final = (
    "approve {task}",
    "approve {task} {code}",
    "批准 {task}",
    "yes",
    "y",
    "{code}",
    "ok go",
)


@pytest.mark.requirement("P1")
@pytest.mark.parametrize("text", SAID)
def test_no_words_written_on_the_page_approve(desk: Desk, waiting: str, text: str) -> None:
    shown = desk.visit.get(f"/api/tasks/{waiting}").send().json()
    said = text.format(task=waiting, code=shown["question"]["code"])
    for words in (said, f"@dev {said}"):
        answer = desk.visit.post("/api/ask", text=words, workspace="", lang="en").send()
        assert answer.status == 200
        asked = answer.json()["short_id"]
        wait_until(
            lambda asked=asked: [  # type: ignore[misc]  # its default names the round of the loop
                one
                for one in desk.place.tasks()
                if one["short_id"] == asked
                and (one["reason"] or one["state"] == "WAITING_APPROVAL")
            ]
        )
    assert_untouched(desk, waiting)


@pytest.mark.requirement("P1")
def test_cancelling_is_all_that_a_script_can_bring_about(desk: Desk) -> None:
    short_id = desk.shop.ask("@dev fix the login retry, once more")
    assert desk.visit.post(f"/api/tasks/{short_id}/cancel", lang="en").send().status == 200
    wait_until(lambda: desk.place.final(short_id)["reason"] == "cancelled")
    again = desk.visit.post(f"/api/tasks/{short_id}/cancel", lang="en").send()
    assert again.status in (200, 409)
    assert desk.shop.journal("SELECT * FROM effects") == []


@pytest.mark.parametrize("name", ["..%2f..%2fetc%2fpasswd", "%2e%2e", "<script>", "%00", "a" * 300])
def test_a_playbook_is_named_and_never_a_path(desk: Desk, name: str) -> None:
    contents: tuple[dict[str, object], ...] = (
        {},
        {"path": "/etc/passwd"},
        {"dry": "yes"},
        {"dry": 2},
        {"client": []},
    )
    for content in contents:
        answer = desk.visit.post(f"/api/playbooks/{name}/play", **content).send()
        assert answer.status in (400, 404), answer
        assert b"root:" not in answer.body


def test_what_is_told_as_text_is_no_page(desk: Desk, waiting: str) -> None:
    for path in (f"/api/tasks/{waiting}/log", f"/api/tasks/{waiting}/receipt"):
        answer = desk.visit.get(path).send()
        assert answer.headers["x-content-type-options"] == "nosniff"
        kind = answer.headers["content-type"].split(";")[0]
        assert kind == ("text/plain" if answer.status == 200 else "application/json")


# -- what is kept, and what is told ---------------------------------------------------------------


def test_what_is_kept_of_sessions_opens_nothing(desk: Desk) -> None:
    enter(desk.place)  # one beside our own
    secret = link(desk.place).partition("#")[2]
    file = desk.place.root / "state" / "page.json"
    kept = file.read_text(encoding="utf-8")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    hashes = {one["cookie_sha256"] for one in json.loads(kept)["sessions"]}
    assert len(hashes) > 1
    for one in hashes:
        assert_refused(replace(desk.visit, cookie=one).get().send())
    for told in (kept, desk.place.log("agent"), desk.place.log("gateway")):
        for half in (secret, desk.visit.secret, desk.visit.cookie, desk.visit.token):
            assert half not in told
    agent = psutil.Process(desk.place.processes["agent"].pid)
    argv = " ".join(agent.cmdline() + [f"{k}={v}" for k, v in agent.environ().items()])
    assert desk.visit.secret not in argv
    assert desk.visit.jar not in argv
    journal = (desk.place.root / "state" / "journal.db").read_bytes()
    assert desk.visit.token.encode() not in journal


def test_the_page_listens_on_loopback_alone(desk: Desk) -> None:
    agent = psutil.Process(desk.place.processes["agent"].pid)
    listening = [one.laddr for one in agent.net_connections("inet") if one.status == "LISTEN"]
    assert {one.ip for one in listening} <= {"127.0.0.1", "::1"}
    assert {one.port for one in listening} == {desk.visit.port}
    assert replace(read(desk), family=socket.AF_INET6).send().status == 200


def test_nothing_above_has_left_an_error_in_the_log(desk: Desk) -> None:
    log = desk.place.log("agent")
    assert "page.failed" not in log
    assert "Traceback" not in log
    assert " error " not in log


# -- the end of sessions: each of these ends those above -------------------------------------------


def test_shutting_the_page_ends_every_session_link_and_socket(desk: Desk) -> None:
    visit, unused = enter(desk.place), link(desk.place).partition("#")[2]
    with socket_of(visit) as tab:
        hear(tab, visit)
        desk.place.run("open", "--shut")
        with pytest.raises(ConnectionClosed):
            hear_to_the_end(tab)
    with pytest.raises(ConnectionRefusedError), connected(visit.port):
        pass
    new = enter(desk.place)
    assert new.get().send().status == 200
    assert new.jar == visit.jar
    assert_refused(replace(visit, port=new.port).get().send())
    assert_refused(launch(new.port, unused).send())


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6], ids=["ipv4", "ipv6"])
def test_who_takes_the_port_meanwhile_gets_no_session(
    desk: Desk, family: socket.AddressFamily
) -> None:
    visit = enter(desk.place)
    desk.shop.end_agent()
    address = "127.0.0.1" if family is socket.AF_INET else "::1"
    with closing(socket.create_server((address, visit.port), family=family)):
        desk.place.start_agent()
        new = enter(desk.place)
        assert new.port != visit.port
        assert new.get().send().status == 200
        assert_refused(replace(visit, port=new.port).get().send())


def test_a_link_does_not_outlive_the_agent_and_a_session_does_shortly(desk: Desk) -> None:
    visit, unused = enter(desk.place), link(desk.place).partition("#")[2]
    desk.shop.end_agent()
    desk.place.start_agent()
    wait_until(lambda: _status(visit) == 200)
    assert_refused(launch(visit.port, unused).send())
    assert_refused(launch(visit.port, visit.secret).send())


@pytest.mark.parametrize(
    "change",
    [
        lambda kept: kept | {"alive_ms": kept["alive_ms"] - 11 * 60_000},
        lambda kept: kept | {"alive_ms": kept["alive_ms"] + 11 * 60_000},
        lambda kept: kept | {"alive_ms": str(kept["alive_ms"])},
        lambda kept: kept | {"sessions": [one | {"more": 1} for one in kept["sessions"]]},
        lambda kept: kept | {"sessions": [one | {"seen_ms": -1} for one in kept["sessions"]]},
        lambda kept: kept | {"sessions": "all"},
        lambda _: [],
    ],
    ids=["long-ago", "to-come", "no-moment", "unknown-field", "no-number", "no-list", "no-object"],
)
def test_sessions_that_are_not_surely_ours_are_not_taken_up(
    desk: Desk, change: Callable[[dict[str, Any]], object]
) -> None:
    visit = enter(desk.place)
    file = desk.place.root / "state" / "page.json"
    desk.shop.end_agent()
    file.write_text(json.dumps(change(json.loads(file.read_bytes()))), encoding="utf-8")
    desk.place.start_agent()
    new = enter(desk.place)
    assert new.get().send().status == 200
    assert_refused(replace(visit, port=new.port, jar=new.jar).get().send())


def _status(visit: Visit) -> int:
    try:
        return visit.get().send().status
    except OSError:
        return 0
