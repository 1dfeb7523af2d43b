"""Sockets of other programs in the system's own folders, which every sandbox shows (R47).

Read-only there says nothing about who may connect.  The kernel's list names them by the path at
which they were made, so that nobody has to look through ``/usr`` and ``/opt``; what was made by a
relative path, or in a container, is not in it.  Blocking.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from local_agent.sandbox.toolchains import SYSTEM

MAX_FOUND: Final = 64
_TABLE: Final = Path("/proc/net/unix")
_MAX_BYTES: Final = 4 * 1024 * 1024
_PATH: Final = 7  # fields before it


def system_sockets(*, apart_from: tuple[Path, ...]) -> tuple[Path, ...] | None:
    """Return the real paths of such sockets, in order; None where there may be more than these.

    Args:
        apart_from: Real paths of folders that a sandbox shows in another way, or not at all.
    """
    try:
        with _TABLE.open("rb") as opened:
            listed = opened.read(_MAX_BYTES + 1)
    except OSError:
        return None
    if len(listed) > _MAX_BYTES:
        return None
    named = {
        os.fsdecode(fields[_PATH])
        for line in listed.split(b"\n")
        if len(fields := line.split(None, _PATH)) > _PATH
    }
    found = {path for name in named if (path := _shown(name, apart_from)) is not None}
    return tuple(sorted(found)) if len(found) <= MAX_FOUND else None


def _shown(name: str, apart_from: tuple[Path, ...]) -> Path | None:
    if not name.startswith("/"):
        return None
    try:
        path = Path(name).resolve()
        is_socket = stat.S_ISSOCK(path.lstat().st_mode)
    except (OSError, RuntimeError):
        return None  # gone, or not ours to reach
    inside = any(map(path.is_relative_to, SYSTEM)) and not any(map(path.is_relative_to, apart_from))
    return path if is_socket and inside else None
