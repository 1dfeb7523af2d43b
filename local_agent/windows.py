"""Asking in windows: whether any can be opened here, and if so, showing what waits.

What windows need is imported when a screen was found: without one the agent stays as small, and
starts as fast, as if there were none.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from common.errors import CodexBridgeError

if TYPE_CHECKING:
    from local_agent.assembly import Agent, Ground
    from local_agent.faces.window.desktop import DesktopApprover
    from local_agent.faces.window.program import WindowProgram
    from local_agent.views.question import OneTimeCode

LOOK_S: Final = 15.0  # a service may run long before anybody is at the desktop
AGAIN_S: Final = 30.0  # after the journal refused, as on a full disk


async def run_windows(agent: Agent, ground: Ground) -> None:
    """Show what waits in windows, for ever; where none can be opened, do nothing, for ever.

    One task of the application; cancelled, it closes the window that is open, undecided.
    """
    program = await _find(agent, ground)
    if program is None:
        await asyncio.Event().wait()
        return
    from local_agent.faces.window.program import theme_of

    approver = _approver(agent, ground, program)
    agent.engine.on_checked = approver.show
    agent.engine.when_wanted(approver.remind)

    async def show_code(shown: OneTimeCode, over: asyncio.Event) -> None:
        theme = await theme_of(ground.settings.theme, ground.environ)
        await program.show_code(shown, ground.lang, theme, over)

    agent.windows.turn_on(approver.show, show_code)
    ground.log.info("windows.on")
    while True:
        try:
            await approver.run()
        except (CodexBridgeError, OSError) as error:
            # The terminal can ask as well: no window is worth the end of the agent.
            ground.log.warning("windows.paused", code=getattr(error, "code", "windows.system"))
            await asyncio.sleep(AGAIN_S)


async def _find(agent: Agent, ground: Ground) -> WindowProgram | None:
    """Return what opens windows, or None where that cannot be done."""
    if not ground.settings.windows:
        agent.windows.turn_off("setting")
        return None
    from local_agent.faces.window.display import is_service, with_display

    tried: Mapping[str, str] = {}
    while True:
        environ = await with_display(ground.environ)
        if "DISPLAY" not in environ and sys.platform != "darwin":
            agent.windows.turn_off("no-screen")
        elif environ != tried:
            from local_agent.faces.window.program import WindowProgram

            tried, program = environ, WindowProgram(ground.environ)
            if await program.probe():
                return program
            agent.windows.turn_off("no-window")
            ground.log.info("windows.none")
        if not is_service(ground.environ):
            return None
        await asyncio.sleep(LOOK_S)


def _approver(agent: Agent, ground: Ground, program: WindowProgram) -> DesktopApprover:
    from local_agent.faces.window.alerts import Notifier
    from local_agent.faces.window.desktop import DesktopApprover
    from local_agent.faces.window.program import theme_of

    return DesktopApprover(
        agent.gate,
        agent.teller,
        program,
        entrance=agent.gate.entrance("desktop"),
        desk=agent.engine,
        alerts=Notifier(ground.environ),
        read_diff=agent.blobs.get,
        theme=lambda: theme_of(ground.settings.theme, ground.environ),
        clock=ground.clock,
        log=ground.log,
        lang=ground.lang,
    )
