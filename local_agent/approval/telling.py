"""What the agent tells a dialog about an approval; terminal and window are told the same.

The dialogs build their question from it (`local_agent.approval.dialogs.question`), and believe of
it only what the sealed bytes bear out.  The bytes of a diff are not in here: they go their own way,
under their hash.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from local_agent.approval.gate import Gate
from local_agent.approval.records import PendingApproval
from local_agent.store.approvals import StoredApproval
from local_agent.store.runner import JournalThread
from local_agent.store.tasks import Task


class Teller:
    """Turns an approval, as it stands at the moment, into the mapping that dialogs read.

    Args:
        db: The journal's thread.
        gate: Where approvals wait.
        machine: The name people know this machine by.
        workspaces: Gives the names of the workspaces by their paths; may block.
        can_check: Tells whether the proposed tree can be checked before it is decided on.
    """

    def __init__(
        self,
        db: JournalThread,
        gate: Gate,
        *,
        machine: str,
        workspaces: Callable[[], Mapping[str, str]],
        can_check: Callable[[PendingApproval], bool] = lambda _asked: False,
    ) -> None:
        self._db = db
        self._gate = gate
        self._machine = machine
        self._workspaces = workspaces
        self._can_check = can_check

    async def tell(self, approval_id: str) -> dict[str, Any]:
        """Return everything that is told of one approval.

        Raises:
            StateError: ``approval.unknown``, ``task.unknown``.
            AuthError: ``approval.changed``: the stored bytes were tampered with.
        """
        shown = await self._gate.show(approval_id)
        stored, task = await self._db.run(self._rows, shown.approval)
        names = await asyncio.to_thread(self._workspaces)
        return {
            "approval_id": stored.approval_id,
            "short_id": task.short_id,
            "digest": stored.digest,
            "seal": stored.seal.decode("ascii"),
            "state": shown.state,
            "risk": stored.risk,
            "reasons": list(shown.approval.reasons),
            "blocked": shown.blocked or "",
            "expires_at": stored.expires_at,
            "text": task.text,
            "machine": self._machine,
            "workspace": names.get(shown.approval.seal.workspace.path, ""),
            "can_narrow": _can_narrow(shown.approval),
            "can_check": self._can_check(shown.approval),
        }

    def _rows(self, asked: PendingApproval) -> tuple[StoredApproval, Task]:
        journal = self._db.journal
        return journal.approvals.get(asked.approval_id), journal.tasks.get(asked.task_id)


def _can_narrow(asked: PendingApproval) -> bool:
    """Tell whether the person may accept some of the files and leave the others."""
    return asked.seal.action == "apply_diff" and len(asked.seal.payload["changes"]) > 1
