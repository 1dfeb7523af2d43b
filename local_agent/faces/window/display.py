"""Where the display is, for an agent that runs as a service.

Such an agent may start before anybody is at the desktop, and outlive a login.  The desktop tells
the person's systemd where its display is when it starts; there it is asked for, anew for each
window.  Of all that is told there, only these three variables are taken.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from common.errors import CodexBridgeError
from local_agent.sandbox.process import read_tool

_ASK: Final = ("/usr/bin/systemctl", "--user", "show-environment")
_ASK_ENV: Final = ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
_ASK_S: Final = 3.0
_CAP_BYTES: Final = 262_144
# A value with other characters would come quoted for a shell; none of these has such.
_TOLD: Final = re.compile(r"(?m)^(DISPLAY|WAYLAND_DISPLAY|XAUTHORITY)=([\w./:@+,=-]+)$", re.ASCII)


def is_service(environ: Mapping[str, str]) -> bool:
    """Tell whether systemd started this process, or what it was started from."""
    return "INVOCATION_ID" in environ


async def with_display(environ: Mapping[str, str]) -> Mapping[str, str]:
    """Return the environment with where the display is now, as far as anybody knows."""
    if "DISPLAY" in environ or not is_service(environ):
        return environ
    env = {name: environ[name] for name in _ASK_ENV if name in environ}
    try:
        code, said = await read_tool(
            _ASK, cwd=Path("/"), env=env, seconds=_ASK_S, cap_bytes=_CAP_BYTES
        )
    except (CodexBridgeError, OSError):
        return environ
    if code != 0:
        return environ
    told = said.parts()[0].decode("utf-8", "replace")
    return {**environ, **dict(_TOLD.findall(told))}
