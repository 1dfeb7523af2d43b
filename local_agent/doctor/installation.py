"""One installation, as a look finds it: its agent runs, and is asked, or it does not."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from common.errors import CodexBridgeError, UnavailableError
from common.home import Home
from local_agent.faces.control.client import call
from local_agent.link.pairing import Pairing
from local_agent.sandbox.process import read_tool
from local_agent.sandbox.self_test import SelfTest
from local_agent.settings import AgentSettings
from local_agent.views import from_json
from local_agent.views.status import StatusView
from local_agent.workspace.registry import Workspace

TOOL_S: Final = 5.0
_TOOL_BYTES: Final = 4096
# Where fontconfig looks, and where systemd is asked.
_TOOL_ENV: Final = (
    *("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"),
    *("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"),
)


@dataclass(slots=True, kw_only=True)
class Installation:
    """What is looked at, and what was found of it so far.

    Attributes:
        places: Its folders.
        home: The person's home.
        environ: Of whoever looks.
        file: Settings file that the command line named.
        sandbox: What a test of the sandbox came to; None until there was one.
        whole_audit: Whether the whole audit log is checked, not its newest entries alone.
        ask_models: Whether each model is asked for itself.
        settings: Once they were read.
        pairing: Once it was read; None as well where there is none.
        workspaces: Once they were read.
        skew_s: Seconds the gateway's clock is ahead; None where it has not told.
        shows_windows: Whether a window can be opened here.
    """

    places: Home
    home: Path
    environ: Mapping[str, str]
    file: Path | None = None
    sandbox: SelfTest | None = None
    whole_audit: bool = False
    ask_models: bool = False
    settings: AgentSettings | None = None
    pairing: Pairing | None = None
    workspaces: Sequence[Workspace] = ()
    skew_s: int | None = None
    shows_windows: bool = False
    _asked: asyncio.Task[StatusView | None] | None = field(default=None, init=False)

    async def status(self) -> StatusView | None:
        """Return what the running agent says of itself, None where none can be asked."""
        try:
            return await self.running()
        except (CodexBridgeError, OSError):
            return None

    async def running(self) -> StatusView | None:
        """Return the same; None where none runs.

        Raises:
            CodexBridgeError: it runs, and cannot be asked.
            OSError: its socket cannot be reached by this user.
        """
        if self._asked is None:
            self._asked = asyncio.create_task(asyncio.to_thread(self._ask))
        return await asyncio.shield(self._asked)

    def forget(self) -> None:
        """Ask anew whatever may have changed."""
        self._asked, self.sandbox = None, None

    async def tool(self, *argv: str) -> str | None:
        """Return what a program of the system prints; None where it fails."""
        env = {name: self.environ[name] for name in _TOOL_ENV if name in self.environ}
        env |= {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}
        code, said = await read_tool(
            argv, cwd=Path("/"), env=env, seconds=TOOL_S, cap_bytes=_TOOL_BYTES
        )
        return said.parts()[0].decode("utf-8", "replace") if code == 0 else None

    def _ask(self) -> StatusView | None:
        try:
            told = call(self.places, self.environ, "status")
        except UnavailableError as error:
            if error.code == "agent.not-running":
                return None
            raise
        # Of whichever version the agent is: after an upgrade the older one still runs.
        return from_json(StatusView, told, loose=True)
