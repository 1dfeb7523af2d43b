"""Signed frames for the gateway, numbered without a gap and kept until they are acknowledged.

A frame is signed inside the transaction that numbers it, so what is sent is what was stored.
When to send is `local_agent.relay`'s matter.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from common.clock import Clock
from common.errors import LocalProtocolError, RemoteProtocolError
from common.ids import new_uuid
from common.strict_json import canonical
from local_agent.store.database import Database

Kind = Literal["event", "result"]

LIFE_S: Final = 7 * 86_400  # how long the gateway may take a frame for true
_RENEW_MS: Final = 3_600_000  # re-sign what would expire within the hour


@dataclass(frozen=True, slots=True)
class Peer:
    """The gateway this machine is paired with.

    Attributes:
        name: Names the pairing, both keys included, so that a new pairing counts from 1.
        sign: ``(typ, seq, jti, body, exp) -> frame``; ``exp`` in seconds since the epoch.
    """

    name: str
    sign: Callable[[Kind, int, str, Mapping[str, Any], int], bytes]


class Outbox:
    """What this machine has yet to tell its gateway; nothing at all while it has none."""

    def __init__(self, db: Database, clock: Clock, peer: Peer | None) -> None:
        self._db = db
        self._clock = clock
        self._peer = peer

    def put(self, kind: Kind, task_id: str, body: Mapping[str, Any]) -> int:
        """Number, sign and store one report; return its number, within one transaction.

        Raises:
            LocalProtocolError: ``outbox.unpaired``, or the body is not one the gateway would take.
        """
        if self._peer is None:
            raise LocalProtocolError("outbox.unpaired")
        jti, expires = new_uuid(), self._expires()
        with self._db.transaction():
            row = self._db.one(
                "INSERT INTO peers (peer, sent_seq) VALUES (?, 1) ON CONFLICT (peer)"
                " DO UPDATE SET sent_seq = sent_seq + 1 RETURNING sent_seq",
                self._peer.name,
            )
            seq = int(row[0]) if row else 0
            self._db.run(
                "INSERT INTO outbox (peer, seq, typ, jti, task_id, body, expires_at, frame)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                self._peer.name,
                seq,
                kind,
                jti,
                task_id,
                canonical(dict(body)).decode("ascii"),
                expires,
                self._peer.sign(kind, seq, jti, body, expires // 1000),
            )
        return seq

    def unsent(self, after: int = 0, *, limit: int = 100) -> Sequence[tuple[int, bytes]]:
        """Return ``(seq, frame)`` of what is not acknowledged, in order.

        A machine may be away for longer than a frame lives.  What would come too late is signed
        anew under its old number and name, or the link could never get past it.
        """
        if self._peer is None:
            return []
        with self._db.transaction():
            self._renew(self._peer)
            return [
                (int(seq), bytes(frame))
                for seq, frame in self._db.all(
                    "SELECT seq, frame FROM outbox WHERE peer = ? AND seq > ? ORDER BY seq LIMIT ?",
                    self._peer.name,
                    after,
                    limit,
                )
            ]

    def acked(self, seq: int) -> int:
        """Forget everything up to ``seq``; the gateway has it.  Return how many that were.

        Raises:
            RemoteProtocolError: ``outbox.ack-unsent``: the gateway claims what was never sent.
                This journal is older than the gateway's memory: an alarm, not a detail.
        """
        if self._peer is None:
            return 0
        with self._db.transaction():
            row = self._db.one("SELECT sent_seq FROM peers WHERE peer = ?", self._peer.name)
            if seq > (int(row[0]) if row else 0):
                raise RemoteProtocolError("outbox.ack-unsent", seq=seq)
            return self._db.run(
                "DELETE FROM outbox WHERE peer = ? AND seq <= ?", self._peer.name, seq
            )

    def _expires(self) -> int:
        return self._clock.now().wall_ms + LIFE_S * 1000

    def _renew(self, peer: Peer) -> None:
        for seq, typ, jti, body in self._db.all(
            "SELECT seq, typ, jti, body FROM outbox WHERE peer = ? AND expires_at < ?",
            peer.name,
            self._clock.now().wall_ms + _RENEW_MS,
        ):
            expires = self._expires()
            self._db.run(
                "UPDATE outbox SET expires_at = ?, frame = ? WHERE peer = ? AND seq = ?",
                expires,
                peer.sign(typ, seq, jti, json.loads(body), expires // 1000),
                peer.name,
                seq,
            )
