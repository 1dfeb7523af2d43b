"""What is recorded when an agent is broken or hostile: once in a while.

Anyone can claim to be a machine, and a machine can send what it likes: neither must be able to fill
the audit log.
"""

from __future__ import annotations

from typing import Final

from common.clock import Clock
from common.logs import Log
from gateway.store import audit
from gateway.store.port import Connection, Store

QUIET_SECONDS: Final = 600.0


class Alarm:
    """Audits an event at most once in ten minutes for each machine.

    Only ids of enrolled agents come here, so what it remembers is bounded by them.
    """

    def __init__(self, store: Store, *, clock: Clock, log: Log) -> None:
        self._store = store
        self._clock = clock
        self._log = log
        self._quiet_until: dict[tuple[str, str], float] = {}

    async def __call__(self, event: str, agent_id: str) -> None:
        """Record what happened.

        Args:
            event: ``agent.wrong-key`` or ``agent.too-fast``.
            agent_id: Whose key was claimed, or used.

        Raises:
            StoreError: it could not be recorded.
        """
        now = self._clock.now()
        self._log.warning(event, agent=agent_id)
        if now.mono < self._quiet_until.get((event, agent_id), 0.0):
            return
        self._quiet_until[event, agent_id] = now.mono + QUIET_SECONDS
        await self._store.write(_record, event, agent_id, at_ms=now.wall_ms)


def _record(conn: Connection, event: str, agent_id: str, *, at_ms: int) -> None:
    audit.append(conn, event, at_ms, agent=agent_id)
