"""Looks at the gateway: as the running agent sees it, else as anybody may who dials.

Whoever dials is sent a challenge that names the gateway's keys and its time.  A look reads that and
goes: it proves nothing of this machine, so no connection of its key is taken over.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from typing import Final
from urllib.parse import urlsplit

from websockets.exceptions import (
    InvalidProxy,
    InvalidProxyStatus,
    InvalidStatus,
    ProxyError,
    WebSocketException,
)

from common.clock import SystemClock
from common.doctor import Finding, Tone
from common.errors import CodexBridgeError
from common.protocol.envelope import SKEW_S
from common.protocol.frames import OPENING_BYTES, Challenge, decode_frame
from common.records import read_object
from common.signing import VerifyKey
from local_agent.doctor.installation import Installation
from local_agent.doctor.own import keys_in_use
from local_agent.link.condition import REFUSED, TRANSPORT
from local_agent.link.pairing import Pairing
from local_agent.link.session import DirectConnect, proxy_of

LOOK_S: Final = 6.0
# What kept the agent from its gateway at its last try, and may be over.
_PASSING: Final = TRANSPORT | {"dead", "shutdown", "timeout"}
_OFTEN_S: Final = 8  # so long is waited after some four links that did not last
_CERTIFICATE: Final = {  # X509_V_ERR_…
    **dict.fromkeys((9, 10), "gateway.certificate-expired"),  # or not valid yet
    **dict.fromkeys(
        (18, 19, 20, 21), "gateway.certificate-unknown"
    ),  # self-signed, or by nobody known here
    **dict.fromkeys((62, 64), "gateway.certificate-other"),
}


async def gateway(here: Installation) -> Finding:
    """Look at the connection, or whether there could be one."""
    here.skew_s = None
    if here.pairing is None:
        return Finding("gateway.none")
    facts = {"url": here.pairing.url}
    status = await here.status()
    if status is None or status.gateway.state == "unpaired":
        return await _look(here, here.pairing)
    link = status.gateway
    match link.state:
        case "connected":
            await _look(here, here.pairing)  # a clock may have been set since the link was made
            if link.why:
                return Finding(f"gateway.{link.why}", Tone.WARN, facts)
            return Finding("gateway.connected", facts=facts)
        case "connecting":
            return Finding("gateway.connecting", facts=facts)
    if link.state != "clock" and link.why not in _PASSING:
        return Finding(f"gateway.{link.why or 'protocol'}", Tone.BAD, facts)
    found = await _look(here, here.pairing)  # of each there is more to be known, or less by now
    if found.tone is Tone.BAD or abs(here.skew_s or 0) > SKEW_S:
        return found
    if link.why == "lost" and link.retry_s >= _OFTEN_S:
        return Finding("gateway.breaks", Tone.BAD, facts)
    return Finding("gateway.retrying", Tone.WARN, facts | {"seconds": link.retry_s})


async def clock(here: Installation) -> Finding:
    """Compare the clocks, as `gateway` has seen them."""
    if here.skew_s is None:
        return Finding("clock.unknown")
    if abs(here.skew_s) > SKEW_S:
        return Finding("clock.off", Tone.BAD, {"seconds": abs(here.skew_s)})
    return Finding("clock.ok")


async def _look(here: Installation, pairing: Pairing) -> Finding:
    facts: dict[str, object] = {"url": pairing.url, "host": urlsplit(pairing.url).hostname}
    proxy = None
    try:
        if proxy := proxy_of(pairing.link_url):
            facts["proxy"] = urlsplit(proxy).netloc.rpartition("@")[2]  # without its password
        async with asyncio.timeout(LOOK_S):
            code = await _dial(here, pairing, proxy)
    except (OSError, WebSocketException, CodexBridgeError) as error:
        code = _fault(error, proxy)
        if isinstance(error, InvalidProxyStatus):
            facts["status"] = error.response.status_code
    return Finding(code, Tone.GOOD if code == "gateway.answers" else Tone.BAD, facts)


def _fault(error: Exception, proxy: str | None) -> str:
    """Return what it means that a dial ended so."""
    match error:
        case TimeoutError():
            return "gateway.timeout"
        case ssl.SSLCertVerificationError():
            return _CERTIFICATE.get(error.verify_code, "gateway.tls")
        case ssl.SSLError() if not (proxy or "").startswith("https:"):
            return "gateway.no-tls"
        case InvalidProxy():
            return "gateway.proxy-unread"
        case InvalidProxyStatus():
            return "gateway.proxy-refused"
        case InvalidStatus():
            return f"gateway.{REFUSED.get(error.response.status_code, 'http')}"
        case ProxyError() | OSError() if proxy:
            return "gateway.proxy-away"
        case socket.gaierror():
            return "gateway.name"
        case OSError():
            return "gateway.connect"
    return "gateway.http"


async def _dial(here: Installation, pairing: Pairing, proxy: str | None) -> str:
    tls = None
    if pairing.link_url.startswith("wss:"):
        tls = await asyncio.to_thread(ssl.create_default_context)
    dialling = DirectConnect(
        pairing.link_url,
        ssl=tls,
        proxy=proxy,
        compression=None,
        max_size=OPENING_BYTES,
        user_agent_header=None,
    )
    async with dialling as link:
        frame = decode_frame(await link.recv(), max_bytes=OPENING_BYTES)
    if not isinstance(frame, Challenge):
        return "gateway.http"
    told = read_object(frame.body, max_bytes=OPENING_BYTES)
    if not isinstance(offered := told.get("gw_key_ids"), list):
        return "gateway.http"
    pinned, _ = await asyncio.to_thread(keys_in_use, here.places, pairing)
    if VerifyKey(pinned).key_id not in offered:
        return "gateway.wrong-gateway"
    if isinstance(at := told.get("ts"), int):
        here.skew_s = at - SystemClock().now().wall_s
    return "gateway.answers"
