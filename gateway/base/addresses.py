"""Addresses: of clients (who is behind a proxy, who failed too often), and where we listen."""

from __future__ import annotations

import errno
import ipaddress
import socket
from collections import OrderedDict
from functools import lru_cache
from typing import Final, TypeAlias

from aiohttp import web

from common.errors import ConfigError

LIVE_PATH: Final = "/health/live"
READY_PATH: Final = "/health/ready"
UNHEARD: Final = web.RequestKey("unheard", bool)  # its address has failed too often
FAILURES: Final = 40  # in a row at full speed
SECONDS_PER_FAILURE: Final = 2.0
MAX_ADDRESSES: Final = 10_000
MAX_HOPS: Final = 16

_LISTEN: Final = {
    errno.EADDRINUSE: "config.port-in-use",
    errno.EACCES: "config.port-forbidden",
    errno.EADDRNOTAVAIL: "config.no-such-address",
}

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network


def cannot_listen(error: OSError, *, host: str, port: int) -> ConfigError:
    """Return what an admin must know about a socket that could not be opened."""
    code = _LISTEN.get(error.errno or 0, "config.cannot-listen")
    return ConfigError(code, host=host, port=port, why=error.strerror or "")


def could_listen(host: str, port: int) -> bool:
    """Tell whether the port is free.

    Raises:
        ConfigError: nobody may, or could, listen there.
    """
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((host, port))
            tried.listen(1)
        except OSError as error:
            refusal = cannot_listen(error, host=host, port=port)
            if refusal.code == "config.port-in-use":
                return False
            raise refusal from None
    return True


class FailureLimit:
    """A bucket of failures for each address, emptied at a steady rate.  Times are monotonic.

    An IPv6 client owns its whole /64 network, which therefore counts as one address.
    """

    def __init__(
        self, *, failures: int = FAILURES, seconds_per_failure: float = SECONDS_PER_FAILURE
    ) -> None:
        self._burst_s = failures * seconds_per_failure
        self._cost_s = seconds_per_failure
        # When the bucket of an address will be empty again.
        self._empty_at: OrderedDict[str, float] = OrderedDict()

    @property
    def counted(self) -> bool:
        """Whether any address failed since the start, so that asking makes sense."""
        return bool(self._empty_at)

    def wait(self, address: str, now: float) -> float:
        """Return how long the address must wait before it is heard again, 0 for not at all."""
        full_s = self._burst_s - self._cost_s
        return max(self._empty_at.get(owner_of(address), now) - now - full_s, 0.0)

    def count(self, address: str, now: float) -> None:
        """Count one failure."""
        owner = owner_of(address)
        self._empty_at[owner] = max(self._empty_at.get(owner, now), now) + self._cost_s
        self._empty_at.move_to_end(owner)
        if len(self._empty_at) > MAX_ADDRESSES:
            self._empty_at.popitem(last=False)


def client_address(peer: str, hops: list[str], trusted: tuple[Network, ...]) -> str:
    """Return the nearest address that no trusted proxy owns.

    Args:
        peer: The other end of the connection, a trusted proxy.
        hops: ``X-Forwarded-For`` in order; only what stands to the right was written by proxies.
        trusted: Networks of the proxies.
    """
    address = peer
    for hop in reversed(hops[-MAX_HOPS:]):
        found = _parse(hop.strip())
        if found is None:
            return address
        address = str(found)
        if not is_within(address, trusted):
            return address
    return address


def _parse(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return None
    # A socket for both families shows IPv4 clients in this disguise.
    return getattr(found, "ipv4_mapped", None) or found


@lru_cache(maxsize=1024)
def is_within(address: str, networks: tuple[Network, ...]) -> bool:
    """Tell whether an address belongs to one of the networks."""
    found = _parse(address)
    return found is not None and any(found in network for network in networks)


@lru_cache(maxsize=1024)
def owner_of(address: str) -> str:
    """Return the network that one client owns: its address, or its /64 of IPv6."""
    found = _parse(address)
    if found is None:
        return address
    if found.version == 4:
        return str(found)
    return str(ipaddress.ip_network((found, 64), strict=False))
