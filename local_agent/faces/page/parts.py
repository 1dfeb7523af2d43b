"""What the page is given of the running agent; small, so that an agent that waits stays so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from common.clock import Clock
from common.home import Home
from common.logs import Log
from common.sentences import Lang
from local_agent.faces.control.modelling import Models
from local_agent.faces.control.server import Operations
from local_agent.faces.page.passkeys import Passkeys
from local_agent.faces.window.program import Windows
from local_agent.flow.bus import Bus
from local_agent.flow.gate import Gate
from local_agent.settings import AgentSettings
from local_agent.store.journal import JournalThread
from local_agent.views.question import ApprovalView
from local_agent.workspace.registry import Registry


class Teller(Protocol):
    """Tells an approval as dialogs read it (`faces.telling`)."""

    async def tell(self, approval_id: str) -> ApprovalView:
        """Return everything that is told of one approval."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PageParts:
    """The parts that the page renders and asks.

    Attributes:
        operations: Answers requests; the page asks for none that decides.
        passkeys: Takes approvals by passkey, where the person has set one up.
        read_blob: Gives kept bytes by their SHA-256; blocks.
        windows: Whether questions are shown in windows.
    """

    operations: Operations
    teller: Teller
    db: JournalThread
    bus: Bus
    gate: Gate
    passkeys: Passkeys
    read_blob: Callable[[str], bytes]
    workspaces: Registry
    windows: Windows
    models: Models
    settings: AgentSettings
    settings_file: Path | None
    environ: Mapping[str, str]
    places: Home
    clock: Clock
    log: Log
    lang: Lang
