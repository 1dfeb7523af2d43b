"""Starts the window as a program of its own, and takes in its one answer (R27).

The window gets a clean environment: where the display is, and in which language the desktop speaks.
What could put code into Tcl, Tk or Python is never passed on.  Here stands as well what the desktop
is like: whether windows can be opened on it, whether it is light or dark.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from common.errors import CodexBridgeError, UnavailableError
from common.sentences import Lang
from common.strict_json import canonical, loads
from local_agent.faces.window.display import with_display
from local_agent.faces.window.wire import (
    MAX_ANSWER,
    MAX_DIFF,
    MAX_TOLD,
    Answer,
    Order,
    Theme,
    decode_answer,
    encode_order,
)
from local_agent.sandbox.process import Exit, Limits, run_child
from local_agent.views import to_json
from local_agent.views.question import OneTimeCode

Wanted = Literal["auto", "light", "dark"]

_SCHEME: Final = ("/usr/bin/gsettings", "get", "org.gnome.desktop.interface", "color-scheme")
_GSETTINGS_ENV: Final = ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "HOME")
_LIMITS: Final = Limits(timeout_s=3.0, grace_s=0.5, output_cap_bytes=4096)
PASSED_ON: Final = (
    "DISPLAY",
    "XAUTHORITY",
    "WAYLAND_DISPLAY",
    "XDG_RUNTIME_DIR",
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
)
PROBE: Final = b"probe\n"
TRIAL: Final = b"trial\n"  # then language, theme and perhaps a one-time code, as JSON
TRIAL_S: Final = 180
PRESSED: Final = b"pressed\n"
OPENS_WITHIN_S: Final = 30.0

_MODULE: Final = "local_agent.faces.window.child"
_ROOT: Final = Path("/")


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
    env = {name: environ[name] for name in _GSETTINGS_ENV if name in environ}
    try:
        said = await run_child(_SCHEME, cwd=Path("/"), env=env, limits=_LIMITS)
    except (CodexBridgeError, OSError):
        return False
    return b"prefer-dark" in said.stdout.parts()[0]


ShowCode = Callable[[OneTimeCode, asyncio.Event], Coroutine[Any, Any, None]]
Why = Literal["", "setting", "no-screen", "no-window"]


def _show_nothing(_approval_id: str) -> None:
    """Show no window: there are none."""


async def _show_no_code(_shown: OneTimeCode, _over: asyncio.Event) -> None:
    """Show no code: there are no windows."""


@dataclass(slots=True)
class Windows:
    """One fact of this process, changed once: when it has been found out.

    Attributes:
        state: ``looking`` until it is known.
        why: Why there are none: they are switched off, there is no screen, or there is one and a
            window cannot be opened on it.
        show: Opens the window of an approval, for somebody at this machine who asks for it.
        show_code: Shows a one-time code until the event is set.
    """

    state: Literal["looking", "on", "off"] = "looking"
    why: Why = ""
    show: Callable[[str], None] = _show_nothing
    show_code: ShowCode = _show_no_code

    def turn_on(self, show: Callable[[str], None], show_code: ShowCode = _show_no_code) -> None:
        """Note that windows can be opened, and by what."""
        self.state, self.why, self.show, self.show_code = "on", "", show, show_code

    def turn_off(self, why: Why) -> None:
        """Note that there are none, and why."""
        self.state, self.why = "off", why


class WindowProgram:
    """Opens one window for each question.

    Args:
        environ: The agent's environment; of it only `PASSED_ON` reaches a window.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    async def probe(self) -> bool:
        """Tell whether a window can be opened here, by opening a real one that nobody sees."""
        if "DISPLAY" not in await with_display(self._environ) and sys.platform != "darwin":
            return False
        try:
            exit_ = await self._run(PROBE, seconds=OPENS_WITHIN_S)
            return exit_.ok and loads(exit_.stdout.parts()[0], max_bytes=MAX_ANSWER) == {"tk": True}
        except (CodexBridgeError, OSError):
            return False

    async def trial(self, lang: Lang, theme: Theme) -> bool:
        """Show a window that asks nothing, and tell whether a person pressed its one button."""
        said = TRIAL + canonical({"lang": lang, "theme": theme})
        try:
            exit_ = await self._run(said, seconds=TRIAL_S + OPENS_WITHIN_S)
        except (CodexBridgeError, OSError):
            return False
        return exit_.ok and exit_.stdout.parts()[0] == PRESSED

    async def show_code(
        self, shown: OneTimeCode, lang: Lang, theme: Theme, over: asyncio.Event
    ) -> None:
        """Show a one-time code, and what it is for, until ``over`` is set or a person closes it."""
        said = TRIAL + canonical({"lang": lang, "theme": theme, "code": to_json(shown)})
        with suppress(CodexBridgeError, OSError):
            await self._run(said, seconds=TRIAL_S + OPENS_WITHIN_S, cancel=over)

    async def ask(self, order: Order, diff: bytes | None, *, cancel: asyncio.Event) -> Answer:
        """Show one question until it is answered, its time is over, or ``cancel`` is set.

        Args:
            order: What is shown, and for how long.
            diff: The exact bytes of the diff that the seal names.
            cancel: Closes the window.

        Raises:
            UnavailableError: ``window.failed``: it ended in any other way than with an answer.
            RemoteProtocolError: ``window.answer``.
            AuthError: ``window.other``.
        """
        said = encode_order(order, diff)
        if len(said) > MAX_TOLD + MAX_DIFF:
            raise UnavailableError("window.failed", why="size")
        try:
            exit_ = await self._run(said, seconds=order.lasts_s + OPENS_WITHIN_S, cancel=cancel)
        except OSError as error:
            raise UnavailableError("window.failed", why=error.strerror or "") from error
        if not exit_.ok or exit_.stdout.dropped:
            raise UnavailableError("window.failed", why=_why(exit_))
        return decode_answer(exit_.stdout.parts()[0], order)

    async def _run(
        self, said: bytes, *, seconds: float, cancel: asyncio.Event | None = None
    ) -> Exit:
        environ = await with_display(self._environ)
        return await run_child(
            [sys.executable, "-I", "-m", _MODULE],
            said=said,
            cwd=_ROOT,
            env={name: environ[name] for name in PASSED_ON if name in environ},
            limits=Limits(timeout_s=seconds, grace_s=0.5, output_cap_bytes=2 * MAX_ANSWER),
            cancel=cancel,
        )


def _why(exit_: Exit) -> str:
    if exit_.signal is not None:
        return f"signal {exit_.signal}"
    return "time" if exit_.timed_out else f"exit {exit_.code}"
