"""Alerts on the desktop: that something waits, or was read for the chat (R53).

They only tell; nothing is decided in them, and nothing depends on one being shown.  For alerts may
be read as markup and stay on a locked screen, no word of a request is in one, and of names that
come from outside only letters, digits and a few signs are shown.  Of reads one alert comes at once;
what follows within a minute is told together in the next, so that nobody is worn down.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from common.errors import CodexBridgeError
from common.sentences import Lang, Sentence, say
from local_agent.sandbox.process import Limits, run_child

NOTICE = Sentence(en="CodexBridge: read from afar", zh="CodexBridge：远程读取")
NOTICE_ONE = Sentence(
    en="{who} (not verified) asked about {workspace}; {count} {count:file|files}. "
    "See: codexbridge show {task}",
    zh="{who}（未经核实）查询了 {workspace}，涉及 {count} 个文件。查看：codexbridge show {task}",
)
NOTICE_MORE = Sentence(
    en="{reads} more questions were answered meanwhile, the last one by {who} (not verified) about "
    "{workspace}. See: codexbridge tasks --all",
    zh="期间又有 {reads} 次查询，最近一次是 {who}（未经核实）查询 {workspace}。"
    "查看：codexbridge tasks --all",
)


PAUSE_S: Final = 60.0
MAX_NAME: Final = 32  # characters of a member's name

_SIGNS: Final = frozenset("._-@:")
_PROGRAMS: Final = ("/usr/bin/notify-send", "/usr/local/bin/notify-send")
_PASSED_ON: Final = ("DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
_LIMITS: Final = Limits(timeout_s=5.0, grace_s=0.5, output_cap_bytes=4096)
_ROOT: Final = Path("/")


class Alerts(Protocol):
    """Shows an alert; `local_agent.faces.window.alerts.Notifier`."""

    async def alert(self, title: str, body: str) -> bool:
        """Show an alert."""
        ...


async def _rest() -> None:
    await asyncio.sleep(PAUSE_S)


@dataclass(frozen=True, slots=True)
class _Read:
    who: str
    workspace: str
    files: int
    task: str


class ReadNotice:
    """Tells of reads.

    Args:
        alerts: Shows them.
        lang: Of whoever sits here.
        rest: Waits between two alerts.
    """

    def __init__(
        self, alerts: Alerts, *, lang: Lang, rest: Callable[[], Awaitable[None]] = _rest
    ) -> None:
        self._alerts = alerts
        self._lang = lang
        self._rest = rest
        self._untold: list[_Read] = []
        self._telling: asyncio.Task[None] | None = None

    def tell(self, *, who: str, workspace: str, files: int, task: str) -> None:
        """Tell of a read, now or with the next alert; does not wait for the desktop."""
        self._untold.append(_Read(_name(who), workspace, files, task))
        if self._telling is None or self._telling.done():
            self._telling = asyncio.create_task(self._tell(), name="read notice")

    async def _tell(self) -> None:
        while self._untold:
            body = self._body()
            self._untold.clear()
            await self._alerts.alert(say(NOTICE, self._lang), body)
            await self._rest()

    def _body(self) -> str:
        last = self._untold[-1]
        if len(self._untold) == 1:
            return say(
                NOTICE_ONE,
                self._lang,
                who=last.who,
                workspace=last.workspace,
                count=last.files,
                task=last.task,
            )
        return say(
            NOTICE_MORE,
            self._lang,
            reads=len(self._untold),
            who=last.who,
            workspace=last.workspace,
        )


def _name(claimed: str) -> str:
    return "".join(char if char.isalnum() or char in _SIGNS else "?" for char in claimed[:MAX_NAME])


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
