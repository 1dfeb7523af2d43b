"""The journal: its parts over one connection, all used from one thread (`runner`).

tasks ─▶ approvals, effects, outbox ─▶ audit        inbox ─▶ tasks
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from common.clock import Clock
from common.signing import SigningKey
from local_agent.store.approvals import Approvals
from local_agent.store.audit_log import AuditLog
from local_agent.store.database import Database
from local_agent.store.disclosures import Disclosures
from local_agent.store.effects import Effects
from local_agent.store.heads import Heads
from local_agent.store.inbox import Inbox
from local_agent.store.outbox import Outbox, Peer
from local_agent.store.peers import Peers
from local_agent.store.tasks import Tasks
from local_agent.store.turns import Turns


class Journal:
    """Everything the agent remembers, except blobs.

    Args:
        path: The SQLite file.
        clock: Stamps what the journal itself notes.
        key: Gives this machine's present key, which signs the end of the audit log.
        peer: The paired gateway, or None while there is none.

    Raises:
        ConfigError: see `Database`.
        AuthError: ``audit.broken``: the newest audit entries do not hold; the agent must not start.
    """

    def __init__(
        self,
        path: Path,
        *,
        clock: Clock,
        key: Callable[[], SigningKey],
        peer: Peer | None = None,
    ) -> None:
        self._db = Database(path)
        try:
            self.peers = Peers(self._db, peer.name if peer else None)
            if peer is not None:
                peer.on_open(self.peers.in_use())
            self.audit = AuditLog(self._db, clock, key)
            self.audit.verify_tail()
            self.audit.sign_end(is_ours=peer.holds if peer else _is_nobodys)
            self.outbox = Outbox(self._db, clock, peer, self.peers)
            self.heads = Heads(self._db, clock, peer=peer, outbox=self.outbox, audit=self.audit)
            self.effects = Effects(self._db, clock, self.audit)
            self.approvals = Approvals(self._db, self.audit)
            self.disclosures = Disclosures(self._db, self.audit)
            self.turns = Turns(self._db)
            self.tasks = Tasks(
                self._db,
                outbox=self.outbox,
                approvals=self.approvals,
                effects=self.effects,
                heads=self.heads,
                audit=self.audit,
            )
            self.inbox = Inbox(
                self._db,
                clock,
                peer=peer,
                tasks=self.tasks,
                peers=self.peers,
                outbox=self.outbox,
                heads=self.heads,
                audit=self.audit,
            )
        except BaseException:
            self._db.close()
            raise

    @property
    def is_whole(self) -> bool:
        """Whether the look at its start saw all of the file."""
        return self._db.is_whole

    def transaction(self) -> AbstractContextManager[None]:
        """Return a context in which several parts change together or not at all."""
        return self._db.transaction()

    def acked(self, seq: int) -> None:
        """Forget the reports up to ``seq``, which the gateway has.

        Raises:
            RemoteProtocolError: ``outbox.ack-unsent`` or ``outbox.ack-lost``.
        """
        self.outbox.acked(seq)
        self.heads.offer_owed()

    def close(self) -> None:
        """Close the file and let another process have it."""
        self._db.close()


def _is_nobodys(_public: bytes) -> bool:
    return False
