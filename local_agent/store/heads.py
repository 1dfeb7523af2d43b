"""Heads of the audit log across the link: ours is offered, the gateway's is checked and kept (P6).

    an effect ends, or a hundred entries ─▶ offer ─▶ outbox ══▶ gateway ══▶ inbox ─▶ keep

One offer at a time is on its way, and a head that was received is never answered, so the two halves
cannot keep each other talking.  What contradicts this chain, or the gateway's own earlier word, is
an alarm that stays until the machine is paired anew.
"""

from __future__ import annotations

from typing import Final, Literal

from common.audit import Head
from common.clock import Clock
from common.errors import AuthError
from common.heads import (
    FORKED,
    KEPT,
    KeptHead,
    contradicts,
    kept_head,
    next_body,
    own_hash_at,
)
from common.protocol.envelope import Envelope, HeadBody
from local_agent.store.audit_log import AuditLog
from local_agent.store.database import Database
from local_agent.store.outbox import Outbox, Peer
from local_agent.views.status import AuditStanding

EVERY: Final = 100  # entries, at the latest, between two offers

_KEEP: Final = """
  INSERT INTO heads (peer, seq, hash, own_seq, own_hash, public_key, frame, at)
  VALUES (:peer, :seq, :hash, :own_seq, :own_hash, :public_key, :frame, :at)
  ON CONFLICT (peer) DO UPDATE SET seq = excluded.seq, hash = excluded.hash,
    own_seq = excluded.own_seq, own_hash = excluded.own_hash, public_key = excluded.public_key,
    frame = excluded.frame, at = excluded.at"""


class Heads:
    """What is told the gateway of the audit log, and what it tells of its own."""

    def __init__(
        self, db: Database, clock: Clock, *, peer: Peer | None, outbox: Outbox, audit: AuditLog
    ) -> None:
        self._db = db
        self._clock = clock
        self._peer = peer
        self._outbox = outbox
        self._audit = audit
        self._owed = False
        audit.on_append = self._appended

    def offer(self) -> None:
        """Tell the gateway where the chain stands, now or as soon as it has heard of the last."""
        if self._peer is None:
            return
        with self._db.transaction():
            self._owed = self._is_unheard(self._peer)
            if not self._owed:
                body = next_body(self._audit.head(), self.kept(), self._clock.now().wall_ms)
                self._outbox.put("head", "", body.to_dict())

    def offer_owed(self) -> None:
        """Offer what had to wait for an acknowledgement; call it when the gateway has sent one."""
        if self._owed:
            self.offer()

    def catch_up(self) -> None:
        """Offer at the start what the gateway has not signed for: since the last end, or a kill.

        The entry that noted its last head is no news: else each start would make more of them.
        """
        kept = self.kept()
        told = kept.own_seq + 1 if kept else 0
        if self._audit.head().seq > told:
            self.offer()

    def keep(self, envelope: Envelope, said: HeadBody) -> Literal["noted", "forked"]:
        """Check and keep what the gateway signed, within the inbox's transaction."""
        try:
            new = kept_head(self._name, envelope, said, at_ms=self._clock.now().wall_ms)
        except AuthError:
            return "noted"  # padded: no gateway of ours makes such a one
        before = self.kept()
        own_hash = own_hash_at(said.peer_seq, self._audit.hash_at(said.peer_seq))
        if contradicts(said, kept=before, own_hash=own_hash):
            return self._alarm(new)
        # Only an answer to an offer says anything new of our chain; no other leaves an entry.
        if before is None or said.peer_seq > before.own_seq:
            self._db.run(_KEEP, **{name: getattr(new, name) for name in KeptHead.__slots__})
            self._audit.append_at(new.at, KEPT, **new.facts())
        return "noted"

    def kept(self) -> KeptHead | None:
        """Return the newest head that the gateway signed."""
        row = self._db.one(
            "SELECT peer, seq, hash, own_seq, own_hash, public_key, frame, at FROM heads"
            " WHERE peer = ?",
            self._name,
        )
        return KeptHead(*row) if row else None

    def standing(self) -> AuditStanding:
        """Return how the log stands, for ``status``."""
        row = self._db.one("SELECT forked_at FROM peers WHERE peer = ?", self._name)
        return AuditStanding(
            entries=self._audit.head().seq,
            gateway_keeps=self._gateway_keeps(),
            forked_at=row[0] if row else None,
        )

    @property
    def _name(self) -> str:
        return self._peer.name if self._peer else ""

    def _appended(self, head: Head) -> None:
        if head.seq % EVERY == 0:
            self.offer()

    def _is_unheard(self, peer: Peer) -> bool:
        unheard = "SELECT 1 FROM outbox WHERE peer = ? AND typ = 'head' LIMIT 1"
        return self._db.one(unheard, peer.name) is not None

    def _gateway_keeps(self) -> int:
        kept = self.kept()
        return kept.own_seq if kept else 0

    def _alarm(self, told: KeptHead) -> Literal["forked"]:
        # Once: a gateway that goes on must not fill the journal with it.
        first = self._db.run(
            "UPDATE peers SET forked_at = ? WHERE peer = ? AND forked_at IS NULL",
            told.at,
            self._name,
        )
        if first:
            self._audit.append(FORKED, **told.facts())
        return "forked"
