"""Looks at the machine: the program itself, sandbox, git, desktop, fonts, loopback."""

from __future__ import annotations

import asyncio
import os
import platform
import re
import socket
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import common
import local_agent
from common.doctor import Finding, Tone
from common.home import Home
from local_agent.doctor.installation import Installation
from local_agent.faces.window.display import with_display
from local_agent.faces.window.program import PASSED_ON, WindowProgram
from local_agent.sandbox.process import Limits, run_child
from local_agent.sandbox.self_test import SelfTest, self_test
from local_agent.workspace.git.clean_repository import find_git

OLDEST_GIT: Final = (2, 30)
_VERSION: Final = re.compile(r"(\d+)\.(\d+)")
# How bubblewrap says that it may not, as where namespaces are off, by AppArmor or in a container.
_REFUSED: Final = re.compile(r"permi|namespace|mount", re.IGNORECASE)
_TK: Final = ("-I", "-c", "import tkinter")
_TK_LIMITS: Final = Limits(timeout_s=5.0, grace_s=0.5, output_cap_bytes=4096)
_FC_LIST: Final = "/usr/bin/fc-list"
_INSTALL: Final = {
    "apt": "sudo apt install",
    "dnf": "sudo dnf install",
    "pacman": "sudo pacman -S",
    "brew": "brew install",
}
_MANAGERS: Final = {
    **dict.fromkeys(("debian", "ubuntu"), "apt"),
    **dict.fromkeys(("fedora", "rhel", "centos"), "dnf"),
    "arch": "pacman",
}
_PACKAGES: Final[Mapping[str, Mapping[str, str]]] = {
    "tk": {"apt": "python3-tk", "dnf": "python3-tkinter", "pacman": "tk", "brew": "python-tk"},
    "fonts": {
        "apt": "fonts-noto-cjk",
        "dnf": "google-noto-sans-cjk-fonts",
        "pacman": "noto-fonts-cjk",
        "brew": "font-noto-sans-cjk",
    },
}


def install(package: str) -> str:
    """Return the command that installs a package here; its bare name where that is not known."""
    try:
        told = {} if sys.platform == "darwin" else platform.freedesktop_os_release()
    except OSError:
        told = {}
    names = [told.get("ID", ""), *told.get("ID_LIKE", "").split()]
    manager = next((_MANAGERS[name] for name in names if name in _MANAGERS), "")
    manager = "brew" if sys.platform == "darwin" else manager
    name = _PACKAGES.get(package, {}).get(manager or "apt", package)
    return f"{_INSTALL[manager]} {name}" if manager else name


async def program(_: Installation) -> Finding:
    """Tell which program runs; that its parts are of one place, the launcher has seen to."""
    from importlib.metadata import PackageNotFoundError, version

    folder = Path(common.__file__).parents[1]
    try:
        ours = await asyncio.to_thread(version, "codexbridge")
    except PackageNotFoundError:
        ours = "?"
    facts = {"version": ours, "python": platform.python_version(), "path": folder}
    if Path(local_agent.__file__).parents[1] != folder:
        return Finding("program.mixed", Tone.BAD, facts)
    return Finding("program.ok", facts=facts)


# --- sandbox ---------------------------------------------------------------------------------


async def sandbox(here: Installation) -> Finding:
    """Try the sandbox: since the agent's start it may have gone, or come."""
    if here.sandbox is None:
        here.sandbox = await _tried(here)
    found = here.sandbox
    if found.level != "none":
        return Finding("sandbox.ok", facts={"level": found.level})
    code, facts = found.reason, {"detail": found.detail, "install": install("bubblewrap")}
    if code == "sandbox.cannot-start":
        code = await asyncio.to_thread(why_no_sandbox, _first_line, found.detail)
    return Finding(code, Tone.WARN, facts)


async def _tried(here: Installation) -> SelfTest:
    # In a place of its own: a look leaves nothing behind, and a full disk is another finding.
    with tempfile.TemporaryDirectory(prefix="codexbridge-doctor-") as made:
        root = Path(made)
        places = Home(root / "config", root / "state", root / "run")
        await asyncio.to_thread(places.config.mkdir)
        return await self_test(places, home=here.home)


def why_no_sandbox(read: Callable[[str], str | None], said: str) -> str:
    """Return why bubblewrap is there and does not start.

    Args:
        read: Gives the first line of a file of the kernel or the system; None without the file.
        said: By bubblewrap, or by whatever kept it from being started.
    """
    # What is known to be the cause comes before any place that could be one.
    if "unknown option" in said.lower():
        return "sandbox.too-old"
    if "seccomp" in said.lower():
        return "sandbox.seccomp"
    if said and not _REFUSED.search(said):
        return "sandbox.cannot-start"
    if read("/proc/sys/user/max_user_namespaces") == "0":
        return "sandbox.no-namespaces"
    if read("/proc/sys/kernel/unprivileged_userns_clone") == "0":
        return "sandbox.namespaces-off"
    if read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1":
        return "sandbox.apparmor"
    inside = any(read(path) is not None for path in ("/run/.containerenv", "/.dockerenv"))
    if inside and said.startswith("bwrap: "):
        return "sandbox.container"
    return "sandbox.cannot-start"


def _first_line(path: str) -> str | None:
    try:
        with Path(path).open(encoding="utf-8", errors="replace") as file:
            return file.readline(200).strip()
    except OSError:
        return None


async def git(here: Installation) -> Finding:
    """Look for git, which pushes; everything else of repositories is done without it."""
    path = await asyncio.to_thread(find_git)
    if path is None:
        return Finding("git.missing", Tone.WARN, {"install": install("git")})
    found = _VERSION.search(await here.tool(path, "--version") or "")
    facts = {"version": found[0] if found else "?", "install": install("git")}
    if found and (int(found[1]), int(found[2])) < OLDEST_GIT:
        oldest = ".".join(map(str, OLDEST_GIT))
        return Finding("git.old", Tone.WARN, {**facts, "oldest": oldest})
    return Finding("git.ok", facts=facts)


# --- desktop ---------------------------------------------------------------------------------


async def desktop(here: Installation) -> Finding:
    """Open a window that nobody sees, unless the agent has done so."""
    here.shows_windows = False
    if here.settings is not None and not here.settings.windows:
        return Finding("desktop.off")
    status = await here.status()
    state = status.windows.state if status else "looking"
    found = Finding("desktop.ok") if state == "on" else await _own_desktop(here)
    here.shows_windows = found.code == "desktop.ok"
    if here.shows_windows and state == "off":
        return Finding("desktop.agent-without", Tone.WARN)
    return found


async def _own_desktop(here: Installation) -> Finding:
    environ = await with_display(here.environ)
    display = environ.get("DISPLAY")
    facts = {"display": display, "install": install("tk"), "python": sys.executable}
    if not display and sys.platform != "darwin":
        only_wayland = bool(environ.get("WAYLAND_DISPLAY"))
        code = "desktop.only-wayland" if only_wayland else "desktop.no-display"
        return Finding(code, Tone.WARN, facts)
    if await WindowProgram(environ).probe():
        return Finding("desktop.ok")
    env = {name: environ[name] for name in PASSED_ON if name in environ}
    tried = await run_child([sys.executable, *_TK], cwd=Path("/"), env=env, limits=_TK_LIMITS)
    if not tried.ok:
        # A package of the system serves its own Python alone.
        systems = sys.base_prefix == "/usr" or sys.platform == "darwin"
        return Finding("desktop.no-tk" if systems else "desktop.built-without-tk", Tone.WARN, facts)
    rights = environ.get("XAUTHORITY")
    if rights and not await asyncio.to_thread(os.access, rights, os.R_OK):
        return Finding("desktop.no-rights", Tone.WARN, {"path": rights})
    if await _font(here, ":") == "":  # Tk gives up without any
        return Finding("desktop.no-fonts", Tone.WARN, {"install": install("fonts")})
    return Finding("desktop.no-answer", Tone.WARN, facts)


async def fonts(here: Installation) -> Finding:
    """Look for a font that has Chinese, where windows are shown."""
    if not here.shows_windows or sys.platform == "darwin":
        return Finding("fonts.unneeded")
    family = await _font(here, ":lang=zh")
    if family is None:
        return Finding("fonts.unknown")
    if not family:
        return Finding("fonts.no-chinese", Tone.WARN, {"install": install("fonts")})
    return Finding("fonts.ok", facts={"family": family})


async def _font(here: Installation, pattern: str) -> str | None:
    """Return a family that fits, empty where none does; None where nobody can tell."""
    if not await asyncio.to_thread(Path(_FC_LIST).exists):
        return None
    told = await here.tool(_FC_LIST, pattern, "family")
    return None if told is None else min(told.splitlines(), default="")


def _meet_on_loopback() -> None:
    # A port can be had where loopback is down; nobody could reach it.
    with socket.create_server(("127.0.0.1", 0)) as listening:
        socket.create_connection(listening.getsockname(), timeout=2).close()


async def page(_: Installation) -> Finding:
    """Find out whether the local page would have a port to listen at."""
    try:
        await asyncio.to_thread(_meet_on_loopback)
    except OSError as error:
        return Finding("page.no-loopback", Tone.BAD, {"why": error.strerror})
    return Finding("page.ok")
