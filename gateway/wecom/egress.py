"""The way out to WeCom's API: whose proxy, and which certificate authorities are trusted.

Certificates are always verified.  A proxy sees names and sizes: what is said goes through it in
TLS, and an API on loopback, the simulator's, is never reached through one.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]  # not typed

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from common.errors import ConfigError
from gateway.base.settings import GatewaySettings, is_loopback


@dataclass(frozen=True, slots=True)
class Proxy:
    """An HTTP proxy.

    Attributes:
        url: Without a login.
        login: Header with what it asks for; empty for nothing.
    """

    url: URL
    login: str = field(default="", repr=False)


def proxy_of(settings: GatewaySettings, environ: Mapping[str, str]) -> Proxy | None:
    """Return the proxy to WeCom's API; the environment counts where the settings say so.

    Raises:
        ConfigError: ``config.invalid`` (name): the environment names what is no HTTP proxy.
    """
    host = urlsplit(settings.wecom.api_base).hostname or ""
    egress = settings.egress
    if is_loopback(host):
        return None
    if egress.proxy:
        user, _, password = egress.proxy_login.get_secret_value().partition(":")
        return Proxy(URL(egress.proxy), _login(user, password))
    if not egress.use_environment:
        return None
    named = environ.get("https_proxy") or environ.get("HTTPS_PROXY") or ""
    without = environ.get("no_proxy") or environ.get("NO_PROXY") or ""
    if not named or proxy_bypass_environment(host, {"no": without}):
        return None
    try:
        url = URL(named if "://" in named else f"http://{named}")  # as curl reads it
        is_proxy = url.scheme == "http" and url.host and url.port
    except ValueError:  # a login that nobody has encoded, or no port
        is_proxy = None
    if not is_proxy:
        raise ConfigError("config.invalid", name="HTTPS_PROXY", why="proxy", file=None)
    return Proxy(url.with_user(None), _login(url.user or "", url.password or ""))


def _login(user: str, password: str) -> str:
    return aiohttp.encode_basic_auth(user, password) if user else ""


async def open_session(
    settings: GatewaySettings,
    environ: Mapping[str, str],
    *,
    current: Callable[[], GatewaySettings] | None = None,
) -> aiohttp.ClientSession:
    """Return a session for WeCom's API; the caller closes it.

    Args:
        settings: Of the way out.
        environ: The process environment.
        current: Returns the settings with the proxy's login as it is now, where that may change.

    Raises:
        ConfigError: ``config.ca-bundle`` (path), or as `proxy_of`.
    """
    proxy = proxy_of(settings, environ)
    # The system's own are read once for the process, by aiohttp.
    bundle = settings.egress.ca_bundle
    context = await asyncio.to_thread(trusting, bundle) if bundle else True

    async def log_in(
        request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        way = proxy_of(current(), environ) if current else proxy
        if way is not None and way.login:
            request.proxy_headers = CIMultiDict({"Proxy-Authorization": way.login})
        return await handler(request)

    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=context),
        cookie_jar=aiohttp.DummyCookieJar(),
        proxy=proxy.url if proxy else None,
        middlewares=(log_in,),
    )


def trusting(bundle: Path | None) -> ssl.SSLContext:
    """Return what trusts the system's certificate authorities, and those of a company's file.

    Raises:
        ConfigError: ``config.ca-bundle`` (path).
    """
    context = ssl.create_default_context()
    if bundle is not None:
        try:
            context.load_verify_locations(cafile=bundle)
        except (OSError, ssl.SSLError):
            raise ConfigError("config.ca-bundle", path=bundle) from None
    return context
