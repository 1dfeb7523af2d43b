"""Whose process is at the other end of a loopback connection, as the kernel tells it.

A port on loopback is open to every user of the machine, and so is what one of them could steal: a
launch link in a list of processes, a cookie that a browser sends to all ports of a host.  Linux
tells the owner of each socket (proc(5), ``/proc/net/tcp``); only the person's own processes, and
root's, are answered.
"""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Final, TypeAlias

Address: TypeAlias = tuple[str, int]

TABLES: Final = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_ESTABLISHED: Final = "01"
_COLUMNS: Final = 9  # from the local address to the inode
_MAPPED: Final = "0000000000000000FFFF0000"  # ::ffff:0:0/96, as the table has it


def is_told() -> bool:
    """Tell whether this system tells the owners of sockets at all."""
    return TABLES[0].exists()


def owner_of(client: Address, server: Address) -> int | None:
    """Return the user id of the client's end of an open connection; None where nobody has it.

    A socket that its process has closed already belongs to nobody: its request is not answered.
    Blocking, for about a millisecond.
    """
    ends = {(_written(client), _written(server)), (_mapped(client), _mapped(server))}
    for table in TABLES:
        try:
            sockets = table.read_text(encoding="ascii")
        except OSError:  # such as no IPv6
            continue
        if (found := _find(sockets, ends)) is not None:
            return found
    return None


def _find(sockets: str, ends: set[tuple[str, str]]) -> int | None:
    for local, remote in ends:
        at = -1
        # No line is taken apart but those that are meant: there may be thousands.
        while (at := sockets.find(f" {local} {remote} {_ESTABLISHED} ", at + 1)) >= 0:
            columns = sockets[at : sockets.find("\n", at)].split(maxsplit=_COLUMNS)
            uid, inode = columns[6], columns[8]
            if inode != "0":
                return int(uid)
    return None


def _written(address: Address) -> str:
    """Return an address as the table has it: words of four bytes, each the wrong way round."""
    raw = _plain(address).packed
    words = (raw[at : at + 4][::-1] for at in range(0, len(raw), 4))
    return f"{b''.join(words).hex().upper()}:{address[1]:04X}"


def _mapped(address: Address) -> str:
    """Return the same for a socket of IPv6 that speaks IPv4."""
    ip = _plain(address)
    return f"{_MAPPED}{_written(address)}" if ip.version == 4 else _written(address)


def _plain(address: Address) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    ip = ipaddress.ip_address(address[0])
    return (ip.ipv4_mapped or ip) if isinstance(ip, ipaddress.IPv6Address) else ip
