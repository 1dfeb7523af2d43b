"""What is recorded when somebody claims a machine and cannot prove its key: once in a while.

Anyone can knock, so knocking must not be able to fill the audit log.
"""

from __future__ import annotations

from typing import Final

from common.clock import Clock
from common.logs import Log
from gateway.store import audit
from gateway.store.port import Connection, Store

QUIET_SECONDS: Final = 600.0


class WrongKeyAlarm:
    """Audits a wrong key, at most once in ten minutes for each machine.

    Only ids of enrolled agents come here, so what it remembers is bounded by them.
    """

    def __init__(self, store: Store, *, clock: Clock, log: Log) -> None:
        self._store = store
        self._clock = clock
        self._log = log
        self._quiet_until: dict[str, float] = {}

    async def __call__(self, agent_id: str) -> None:
        """Record that a key was wrong.

        Raises:
            StoreError: it could not be recorded.
        """
        now = self._clock.now()
        self._log.warning("agent.wrong-key", agent=agent_id)
        if now.mono < self._quiet_until.get(agent_id, 0.0):
            return
        self._quiet_until[agent_id] = now.mono + QUIET_SECONDS
        await self._store.write(_record, agent_id, at_ms=now.wall_ms)


def _record(conn: Connection, agent_id: str, *, at_ms: int) -> None:
    audit.append(conn, "agent.wrong-key", at_ms, agent=agent_id)
