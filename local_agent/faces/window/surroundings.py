"""What the desktop is like: whether windows can be opened on it, whether it is light or dark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from common.errors import CodexBridgeError
from local_agent.faces.window.wire import Theme
from local_agent.sandbox.process import Limits, run_child

Wanted = Literal["auto", "light", "dark"]

_SCHEME: Final = ("/usr/bin/gsettings", "get", "org.gnome.desktop.interface", "color-scheme")
_PASSED_ON: Final = ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "HOME")
_LIMITS: Final = Limits(timeout_s=3.0, grace_s=0.5, output_cap_bytes=4096)


async def theme_of(wanted: Wanted, environ: Mapping[str, str]) -> Theme:
    """Return what a window looks like here."""
    if wanted != "auto":
        return wanted
    return "dark" if await is_dark(environ) else "light"


async def is_dark(environ: Mapping[str, str]) -> bool:
    """Tell whether the person's desktop is dark; False where it does not say."""
    theme = environ.get("GTK_THEME", "").lower()
    if theme:
        return theme.endswith((":dark", "-dark"))
    if "DBUS_SESSION_BUS_ADDRESS" not in environ:
        return False
    env = {name: environ[name] for name in _PASSED_ON if name in environ}
    try:
        said = await run_child(_SCHEME, cwd=Path("/"), env=env, limits=_LIMITS)
    except (CodexBridgeError, OSError):
        return False
    return b"prefer-dark" in said.stdout.parts()[0]


Why = Literal["", "setting", "no-screen", "no-window"]


@dataclass(slots=True)
class Windows:
    """One fact of this process, changed once: when it has been found out.

    Attributes:
        state: ``looking`` until it is known.
        why: Why there are none: they are switched off, there is no screen, or there is one and a
            window cannot be opened on it.
    """

    state: Literal["looking", "on", "off"] = "looking"
    why: Why = ""

    def turn_on(self) -> None:
        """Note that windows can be opened."""
        self.state, self.why = "on", ""

    def turn_off(self, why: Why) -> None:
        """Note that there are none, and why."""
        self.state, self.why = "off", why
