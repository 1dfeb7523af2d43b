"""Heads of audit logs across the link: an agent's is checked, kept and answered with ours (P6).

The answer says what we keep of the agent's log, so neither half can change its own log without the
other's frames telling.  A head that contradicts our log, or the agent's own earlier word, is an
alarm: one of the two logs was cut, changed or put back in time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from structlog.typing import FilteringBoundLogger

from common.audit import Head, broken
from common.clock import Instant
from common.errors import AuthError
from common.heads import FORKED, KEPT, contradicts, kept_head, next_body, own_hash_at
from common.protocol.envelope import MAX_LIFE_S, Envelope, HeadBody
from common.signing import SigningKey
from gateway.base.identity import Seal
from gateway.store import Connection, audit, mailbox

HEADS: Final = 60  # of one machine in ten minutes; each leaves an entry and a frame
UNHEARD: Final = 120  # answers that may wait for one machine: it may hear none of them


class Countersigner:
    """Keeps and answers heads.

    Args:
        seal: Signs the answers.
        key: Gives the gateway's present key, for the head of its own log.
        is_ours: Tells whether a public key is one of the gateway's.
        log: For alarms.
    """

    def __init__(
        self,
        *,
        seal: Seal,
        key: Callable[[], SigningKey],
        is_ours: Callable[[bytes], bool],
        log: FilteringBoundLogger,
    ) -> None:
        self._seal = seal
        self._key = key
        self._is_ours = is_ours
        self._floor = Head()  # of our own log; committed, so that it can never be gone
        self._log = log
        self._heads = audit.Allowance(HEADS)

    def sign(self, conn: Connection, at: Instant) -> None:
        """Sign the end of our own log, so that it cannot be cut off unseen.

        Raises:
            AuthError: ``audit.broken``: it no longer holds what was signed before.
        """
        self._check_own(conn)
        self._sign(conn, at)

    def take(
        self, conn: Connection, agent_id: str, envelope: Envelope, said: HeadBody, *, at: Instant
    ) -> None:
        """Keep what an agent signed of its log and ours, and answer it; or raise the alarm.

        Raises:
            AuthError: ``head.too-often``, ``head.too-large`` or ``audit.broken``; nothing was
                written.
        """
        self._check_own(conn)
        if self._heads.take(agent_id, at.wall_ms) < 1:
            raise AuthError("head.too-often")
        if mailbox.unheard_heads(conn, agent_id) >= UNHEARD:
            raise AuthError("head.too-often")
        before = audit.kept_head(conn, agent_id)
        own_hash = own_hash_at(said.peer_seq, audit.hash_at(conn, said.peer_seq))
        kept = kept_head(agent_id, envelope, said, at_ms=at.wall_ms)
        if contradicts(said, kept=before, own_hash=own_hash):
            audit.append(conn, FORKED, at.wall_ms, **kept.facts())
            self._log.error(FORKED, agent=agent_id, seq=kept.seq, own_seq=kept.own_seq)
            return
        audit.keep_head(conn, kept)
        audit.append(conn, KEPT, at.wall_ms, **kept.facts())
        own = self._sign(conn, at)
        mailbox.enqueue(
            conn,
            self._seal,
            "head",
            agent_id=agent_id,
            task_id="",
            body=next_body(own, kept, at.wall_ms).to_dict(),
            at=at,
            life_s=MAX_LIFE_S["head"],
        )

    def _sign(self, conn: Connection, at: Instant) -> Head:
        return audit.sign(conn, self._key(), at_ms=at.wall_ms, is_ours=self._is_ours)

    def _check_own(self, conn: Connection) -> None:
        """Compare our own log with what this process has signed of it."""
        signed, floor = audit.signed_head(conn), self._floor
        if floor.seq and (signed is None or signed.seq < floor.seq):
            raise broken(floor.seq, "end")
        if floor.seq and audit.hash_at(conn, floor.seq) != floor.hash:
            raise broken(floor.seq, "head")
        if signed is not None:
            self._floor = Head(signed.seq, signed.hash)
