"""Alerts on the desktop: they only say that something waits; nothing is decided in them.

Nothing depends on one being shown.  Its text is ours alone, for notifications may be read as markup
and stay on a locked screen: no word of a request is in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from common.errors import CodexBridgeError
from local_agent.sandbox.process import Limits, run_child

_PROGRAMS: Final = ("/usr/bin/notify-send", "/usr/local/bin/notify-send")
_PASSED_ON: Final = ("DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
_LIMITS: Final = Limits(timeout_s=5.0, grace_s=0.5, output_cap_bytes=4096)
_ROOT: Final = Path("/")


class Notifier:
    """Shows alerts through ``notify-send``, where there is one.

    Args:
        environ: The agent's environment, for the desktop's addresses alone.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._env = {name: environ[name] for name in _PASSED_ON if name in environ}

    async def alert(self, title: str, body: str) -> bool:
        """Show an alert, and tell whether the desktop took it."""
        for program in _PROGRAMS if self._env else ():
            argv = [program, "--app-name=CodexBridge", "--", title, body]
            try:
                shown = await run_child(argv, cwd=_ROOT, env=self._env, limits=_LIMITS)
            except (CodexBridgeError, OSError):
                return False
            if shown.errno is None:
                return shown.ok
        return False
