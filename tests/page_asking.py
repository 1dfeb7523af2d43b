"""The local page asked byte by byte: what a request holds, and what came back.

No client library stands between: an attack has to reach the page as it was written.
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from http.client import HTTPException, HTTPResponse
from typing import Any, Final
from urllib.parse import urlsplit

from tests.e2e.place import Place
from tests.page_desk import link

SECONDS: Final = 10.0
JSON: Final = "application/json"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back.

    Attributes:
        status: 0 where the connection was closed without an answer.
        headers: By names in lower case.
    """

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        """Return the body, read."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Ask:
    """A request, header by header."""

    port: int
    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes = b""
    version: str = "HTTP/1.1"
    family: socket.AddressFamily = socket.AF_INET

    def having(self, **headers: str) -> Ask:
        """Return it with these headers instead; ``_`` stands for ``-``."""
        changed = self
        for name, value in headers.items():
            changed = changed.lacking(name).adding(name.replace("_", "-"), value)
        return changed

    def adding(self, name: str, value: str) -> Ask:
        """Return it with one more header, whichever of that name it has."""
        return replace(self, headers=(*self.headers, (name, value)))

    def lacking(self, *names: str) -> Ask:
        """Return it without these headers."""
        gone = {name.replace("_", "-").lower() for name in names}
        return replace(
            self, headers=tuple(one for one in self.headers if one[0].lower() not in gone)
        )

    def to(self, target: str) -> Ask:
        """Return it for another target."""
        return replace(self, target=target)

    def by(self, method: str) -> Ask:
        """Return it with another method."""
        return replace(self, method=method)

    def carrying(self, body: bytes) -> Ask:
        """Return it with another body."""
        return replace(self, body=body).having(Content_Length=str(len(body)))

    def raw(self) -> bytes:
        """Return it as it goes out."""
        lines = [f"{self.method} {self.target} {self.version}"]
        lines += [f"{name}: {value}" for name, value in self.headers]
        return "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape") + self.body

    def send(self) -> Answer:
        """Send it over a connection of its own."""
        return send(self.port, self.raw(), method=self.method, family=self.family)


@dataclass(frozen=True, slots=True)
class Visit:
    """A session with the page, as a browser has it.

    Attributes:
        jar: The name of the cookie.
        granted: The headers with which the session was given.
    """

    port: int
    jar: str
    cookie: str
    token: str
    secret: str
    granted: str

    @property
    def origin(self) -> str:
        """The page's own."""
        return f"http://localhost:{self.port}"

    def get(self, target: str = "/api/status") -> Ask:
        """Return a request as the page makes it."""
        headers = (
            ("Host", f"localhost:{self.port}"),
            ("Cookie", f"{self.jar}={self.cookie}"),
            ("X-CSRF-Token", self.token),
            ("Sec-Fetch-Site", "same-origin"),
            ("Sec-Fetch-Mode", "cors"),
            ("Sec-Fetch-Dest", "empty"),
            ("Connection", "close"),
        )
        return Ask(self.port, "GET", target, headers)

    def post(self, target: str, **content: object) -> Ask:
        """Return a request for something to be done, as the page makes it."""
        made = self.get(target).by("POST").having(Origin=self.origin, Content_Type=JSON)
        return made.carrying(json.dumps(content).encode())


def enter(place: Place) -> Visit:
    """Begin a session with a link of its own."""
    return redeem(link(place))


def redeem(url: str) -> Visit:
    """Begin a session with a link."""
    parts = urlsplit(url)
    port, secret = parts.port or 0, parts.fragment
    answer = launch(port, secret).send()
    assert answer.status == 200, answer
    granted = answer.headers["set-cookie"]
    jar, cookie = granted.split(";")[0].split("=", 1)
    return Visit(port, jar, cookie, answer.json()["token"], secret, granted)


def launch(port: int, secret: str) -> Ask:
    """Return the request that turns the secret of a link into a session."""
    return Visit(port, "none", "", "", "", "").post("/api/launch", secret=secret)


def send(
    port: int,
    raw: bytes,
    *,
    method: str = "GET",
    family: socket.AddressFamily = socket.AF_INET,
) -> Answer:
    """Send bytes over a connection of their own, and read one answer.

    The kernel is to forget the connection at once: the page looks each of the next up among all
    that the machine has, or had within a minute.
    """
    with connected(port, family) as connection:
        try:
            connection.sendall(raw)
        except OSError:  # it was turned away meanwhile; what it said can still be read
            pass
        answer = receive(connection, method=method)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return answer


def receive(connection: socket.socket, *, method: str = "GET") -> Answer:
    """Read one answer."""
    answer = HTTPResponse(connection, method=method)
    with closing(answer):
        try:
            answer.begin()
            headers = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, headers, answer.read())
        except (ConnectionError, HTTPException):
            return Answer(0, {}, b"")


@contextmanager
def connected(port: int, family: socket.AddressFamily = socket.AF_INET) -> Iterator[socket.socket]:
    """Give a connection to a port of loopback."""
    host = "127.0.0.1" if family is socket.AF_INET else "::1"
    with closing(socket.create_connection((host, port), timeout=SECONDS)) as connection:
        yield connection
