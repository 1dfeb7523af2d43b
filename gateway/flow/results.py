"""THE main flow of what an agent says of its tasks, back to the chat; one transaction each.

An agent speaks only of tasks that went to it, ends one only with the hash of the very envelope that
asked for it, and moves it only along the table of states (R18).  Anything else is audited, passes
no further, and is acknowledged all the same: sending it again would not mend it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import tzinfo
from typing import Final

from structlog.typing import FilteringBoundLogger

from common.clock import Clock, Instant
from common.errors import AuthError, CodexBridgeError, ProtocolError, StateError
from common.protocol.envelope import Envelope, EventBody, HeadBody, RekeyBody, ResultBody
from common.protocol.rekey import announced_key
from gateway.base.identity import Seal
from gateway.flow.countersigning import Countersigner
from gateway.flow.task_reports import TaskReports
from gateway.link import Taken
from gateway.store import Connection, Store, agents, audit

REFUSALS: Final = 50  # audited of one machine in ten minutes
REKEYS: Final = 10  # of one machine in ten minutes; an honest one rotates once in that time


class Results:
    """Takes in what agents say.

    Args:
        store: Where everything happens, at once or not at all.
        seal: Signs a cancel for a task that turns out to be alive.
        clock: Tells the moment.
        zone: Time zone of the hours that are told.
        wake_outbox: Hint that there is something to say.
        countersigner: Keeps and answers the heads of their audit logs.
        log: For what is refused.
    """

    def __init__(
        self,
        store: Store,
        *,
        seal: Seal,
        clock: Clock,
        zone: tzinfo,
        wake_outbox: Callable[[], None],
        countersigner: Countersigner,
        log: FilteringBoundLogger,
    ) -> None:
        self._store = store
        self._reports = TaskReports(seal=seal, zone=zone)
        self._clock = clock
        self._wake_outbox = wake_outbox
        self._countersigner = countersigner
        self._log = log
        self._refusals = audit.Allowance(REFUSALS)
        self._rekeys = audit.Allowance(REKEYS)

    async def received(self, agent_id: str, *, epoch: int, envelope: Envelope) -> Taken:
        """Store what a verified envelope says.

        Where a task is on its way is nothing that anybody waits for: it goes to the disk with what
        comes next, and its agent keeps it until it is there.

        Returns:
            As `gateway.link.Deliveries.received`.

        Raises:
            StoreError: nothing was changed.
        """
        content = envelope.content
        synced = not isinstance(content, EventBody) or content.waiting is not None
        write = self._store.write if synced else self._store.write_unsynced
        stored = await write(
            self._take, agent_id, epoch=epoch, envelope=envelope, at=self._clock.now()
        )
        self._wake_outbox()
        if not stored:
            return "stale"
        return "synced" if synced else "unsynced"

    def _take(
        self, conn: Connection, agent_id: str, *, epoch: int, envelope: Envelope, at: Instant
    ) -> bool:
        """THE main flow out, one call per arrow; what is to be said waits in the outbox then."""
        seq = envelope.header.seq
        match agents.advance(conn, agent_id, epoch=epoch, seq=seq, at_ms=at.wall_ms):
            case "stale":
                return False
            case "duplicate":
                return True
        try:
            self._dispatch(conn, agent_id, envelope, at=at)
        # Raised before anything was written, so the number moves on and the refusal is recorded.
        except (AuthError, StateError, ProtocolError) as refusal:
            self._refuse(conn, agent_id, envelope, refusal, at=at)
        return True

    def _dispatch(
        self, conn: Connection, agent_id: str, envelope: Envelope, *, at: Instant
    ) -> None:
        if envelope.expired:
            raise AuthError("result.expired")  # agents sign anew what has waited that long
        match envelope.content:
            case EventBody() as event:
                self._reports.on_event(conn, agent_id, event, jti=envelope.header.jti, at=at)
            case ResultBody() as result:
                self._reports.on_result(conn, agent_id, result, at=at)
            case HeadBody() as head:
                self._countersigner.take(conn, agent_id, envelope, head, at=at)
            case RekeyBody():
                self._on_rekey(conn, agent_id, envelope, at=at)
            case _:
                raise AuthError("result.unexpected", typ=envelope.header.typ)

    def _on_rekey(
        self, conn: Connection, agent_id: str, envelope: Envelope, *, at: Instant
    ) -> None:
        new = announced_key(envelope)
        if self._rekeys.take(agent_id, at.wall_ms) < 1:
            raise AuthError("result.rekeyed-too-often")
        agents.rekey(conn, agent_id, new)
        audit.append(
            conn,
            "agent.rekeyed",
            at.wall_ms,
            agent=agent_id,
            old=envelope.header.kid,
            new=new.key_id,
            public_key=new.raw.hex(),
            envelope=envelope.sha256,
        )

    def _refuse(
        self,
        conn: Connection,
        agent_id: str,
        envelope: Envelope,
        refusal: CodexBridgeError,
        *,
        at: Instant,
    ) -> None:
        left = self._refusals.take(agent_id, at.wall_ms)
        if left < 0:
            return
        facts = {"agent": agent_id, "code": refusal.code, "envelope": envelope.sha256}
        # The last one says that from here on they are no longer counted.
        event = "result.refused" if left else "result.refused-too-often"
        audit.append(conn, event, at.wall_ms, **facts)
        self._log.warning(event, **facts)
