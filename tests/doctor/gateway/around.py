"""What surrounds a gateway under examination: WeCom's API in ill moods, and reverse proxies."""

from __future__ import annotations

import asyncio
import datetime as dt
import ipaddress
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path
from typing import Any, Literal

import aiohttp
from aiohttp import web
from aiohttp.test_utils import TestServer
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from yarl import URL

Tls = Literal["", "good", "expired", "early", "soon", "self-signed", "other-host"]
OK = {"errcode": 0, "errmsg": "ok", "access_token": "t" * 20, "expires_in": 7200}
_DAYS = {"expired": (-90, -1), "early": (1, 90), "soon": (-80, 10.5)}


@dataclass(frozen=True)
class WeCom:
    """What answers as WeCom's API."""

    token: Mapping[str, Any] | None = None
    app: Mapping[str, Any] | None = None
    status: int = 200
    body: str | None = None
    ahead_s: int = 0
    date: str = ""
    silent: bool = False
    scheme: str = ""  # as it is named in the settings, where that is not how it is
    tls: Tls = ""

    def server(self) -> TestServer:
        """Return it, not started yet."""

        async def answer(request: web.Request) -> web.StreamResponse:
            if self.silent:
                await asyncio.sleep(30)
            headers = {"Date": self.date or formatdate(time.time() + self.ahead_s, usegmt=True)}
            if self.body is not None or self.status != 200:
                return web.Response(text=self.body or "", status=self.status, headers=headers)
            is_app = request.path.endswith("/agent/get")
            said = self.app if is_app else self.token if "corpid" in request.query else None
            return web.json_response(said or OK, headers=headers)

        app = web.Application()
        app.router.add_get("/cgi-bin/{name:.*}", answer)
        return TestServer(app, host="127.0.0.1")


@dataclass(frozen=True)
class Front:
    """A reverse proxy."""

    tls: Tls = ""
    answer: tuple[int, str] | None = None
    query: Literal["", "strip", "blank"] = ""
    largest: int = 65_536  # body
    upgrade: bool = True
    moved: bool = False  # the link, to another address
    refuses: int = 0  # the link, with this status
    holds: bool = False
    names_client: bool = True
    host: str = "127.0.0.1"

    def server(self, gateway: str) -> TestServer:
        """Return it, not started yet."""

        async def pass_on(request: web.Request) -> web.StreamResponse:
            if self.answer is not None:
                status, text = self.answer
                return web.Response(text=text, status=status, headers={"Location": "/elsewhere"})
            if self.moved and request.headers.get("Upgrade") == "websocket":
                url = request.url.with_query("moved")
                if request.query_string != url.query_string:
                    return web.Response(status=302, headers={"Location": str(url)})
            headers = {"X-Forwarded-For": request.remote or ""} if self.names_client else {}
            async with aiohttp.ClientSession(gateway, headers=headers) as session:
                if request.headers.get("Upgrade") == "websocket" and self.refuses:
                    return web.Response(status=self.refuses)
                if request.headers.get("Upgrade") == "websocket" and self.upgrade:
                    return await self._bridge(request, session)
                path = request.path if self.query == "strip" else request.raw_path
                if self.query == "blank":
                    path = path.replace("%2B", "%20")
                url = URL(gateway + path, encoded=True)
                if len(body := await request.read()) > self.largest:
                    return web.Response(status=413)
                async with session.request(request.method, url, data=body or None) as answer:
                    body, seen = await answer.read(), answer.headers.get("X-Client-Address", "")
                    headers = {"X-Client-Address": seen}
                    return web.Response(body=body, status=answer.status, headers=headers)

        app = web.Application()
        app.router.add_route("*", "/{path:.*}", pass_on)
        return TestServer(app, host=self.host)

    async def _bridge(
        self, request: web.Request, session: aiohttp.ClientSession
    ) -> web.StreamResponse:
        near = web.WebSocketResponse()
        await near.prepare(request)
        async with session.ws_connect(request.path) as far:
            if self.holds:
                await near.receive()
            else:
                await near.send_str(await far.receive_str())
                await near.receive()
        return near


class Certificates:
    """A certificate authority of a test, and what it issues.

    Attributes:
        trusted: File with the certificate to trust.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test authority")])
        self.trusted = folder / "authority.pem"
        self.trusted.write_bytes(_pem(self._issue(self._key, "authority", (-1, 300), ca=True)))

    def context(self, kind: Tls, host: str = "127.0.0.1") -> ssl.SSLContext:
        """Return what a server of that kind shows."""
        key = ec.generate_private_key(ec.SECP256R1())
        if kind == "other-host":
            host = "192.0.2.1"
        made = self._issue(
            key, host, _DAYS.get(kind, (-1, 90)), signer=key if kind == "self-signed" else None
        )
        file = self._folder / f"{kind}.pem"
        plain = serialization.NoEncryption()
        form = serialization.PrivateFormat.PKCS8
        file.write_bytes(_pem(made) + key.private_bytes(serialization.Encoding.PEM, form, plain))
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(file)
        return context

    def _issue(
        self,
        key: ec.EllipticCurvePrivateKey,
        host: str,
        days: tuple[float, float],
        *,
        signer: ec.EllipticCurvePrivateKey | None = None,
        ca: bool = False,
    ) -> x509.Certificate:
        now = dt.datetime.now(dt.UTC)
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
        builder = (
            x509.CertificateBuilder()
            .subject_name(self._name if ca else subject)
            .issuer_name(subject if signer else self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + dt.timedelta(days=days[0]))
            .not_valid_after(now + dt.timedelta(days=days[1]))
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        )
        if not ca:
            is_name = host.replace(".", "").isalpha()
            named: x509.GeneralName = (
                x509.DNSName(host) if is_name else x509.IPAddress(ipaddress.ip_address(host))
            )
            builder = builder.add_extension(x509.SubjectAlternativeName([named]), critical=False)
        return builder.sign(signer or self._key, hashes.SHA256())


def _pem(made: x509.Certificate) -> bytes:
    return made.public_bytes(serialization.Encoding.PEM)
