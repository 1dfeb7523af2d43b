"""Signed frames for the gateway, numbered without a gap and kept until they are acknowledged.

A frame is signed inside the transaction that numbers it, so what is sent is what was stored.
When to send is `local_agent.link`'s matter.

It is bounded although nothing in it may be lost.  While the gateway is away a step that only says
again where a task is takes the place of the one before it; so each task leaves a dozen reports at
most, however long it runs.  The tasks are bounded by the inbox, which takes in no new work while
the gateway does not hear of the old (`Outbox.is_full`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

from common.clock import Clock
from common.errors import LocalProtocolError, RemoteProtocolError
from common.ids import new_uuid
from common.strict_json import canonical
from local_agent.store.database import Database
from local_agent.store.peers import KeysInUse, Peers

Kind = Literal["event", "result", "head", "rekey"]
News = Literal["now", "soon"] | None

LIFE_S: Final = 7 * 86_400  # how long the gateway may take a frame for true
_FOR_EVER_MS: Final = 2**62
_RENEW_MS: Final = 3_600_000  # re-sign what would expire within the hour …
_AHEAD_MS: Final = 30_000  # … and what a clock that was put back had dated ahead by so much
# Twice what all the tasks that the inbox lets in at one time can leave behind.
MAX_ROWS: Final = 4_000
MAX_BYTES: Final = 32 * 1024 * 1024


class Sign(Protocol):
    """Signs a frame for the gateway."""

    def __call__(
        self,
        kind: Kind,
        seq: int,
        jti: str,
        body: Mapping[str, Any],
        exp: int,
        *,
        own: str | None,
        gateway: bytes | None,
    ) -> bytes:
        """Return the frame.

        Args:
            kind: What it says.
            seq: Its number.
            jti: Its name.
            body: The record.
            exp: Until when it may be acted upon, in seconds since the epoch.
            own: Name of the key to sign with; None for that of the pairing.
            gateway: The gateway's key that is pinned; None for that of the pairing.
        """
        ...


@dataclass(frozen=True, slots=True)
class Peer:
    """The gateway this machine is paired with.

    Attributes:
        name: Names the pairing, both its keys included, so that a new pairing counts from 1.
        sign: Signs what is told.
        on_open: Called with the keys in use when the journal is opened, before anything is signed.
        holds: Tells whether a public key is one of this machine's.
    """

    name: str
    sign: Sign
    on_open: Callable[[KeysInUse], None] = lambda _used: None
    holds: Callable[[bytes], bool] = lambda _public: False


class Outbox:
    """What this machine has yet to tell its gateway; nothing at all while it has none."""

    def __init__(self, db: Database, clock: Clock, peer: Peer | None, peers: Peers) -> None:
        self._db = db
        self._clock = clock
        self._peer = peer
        self._peers = peers
        # Up to here the gateway may have seen a frame: before this process it is not known.
        self._news: News = None
        self._offered = self._sent_seq()

    def put(self, kind: Kind, task_id: str, body: Mapping[str, Any], *, urgent: bool = True) -> int:
        """Number, sign and store one report; return its number, within one transaction.

        An event that overtakes one which nobody has seen yet gets the number of that one.

        Args:
            urgent: Whether somebody waits for it; else it may leave a moment later, with others.

        Raises:
            LocalProtocolError: ``outbox.unpaired``, or the body is not one the gateway would take.
        """
        if self._peer is None:
            raise LocalProtocolError("outbox.unpaired")
        self._news = "now" if urgent else self._news or "soon"
        jti, expires = new_uuid(), self._expires()
        with self._db.transaction():
            used = self._peers.in_use()
            seq = self._overtaken(kind, task_id, body) or self._next_seq(self._peer)
            self._db.run(
                "INSERT OR REPLACE INTO outbox"
                " (peer, seq, typ, jti, task_id, body, expires_at, frame)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                self._peer.name,
                seq,
                kind,
                jti,
                task_id,
                canonical(dict(body)).decode("ascii"),
                expires,
                _sign(self._peer, used, kind, seq, jti, body, expires // 1000),
            )
        return seq

    def take_news(self) -> News:
        """Tell whether anything was put since this was asked last, and when it should leave."""
        news, self._news = self._news, None
        return news

    def unsent(self, after: int = 0, *, limit: int = 100) -> Sequence[tuple[int, bytes]]:
        """Return ``(seq, frame)`` of what is not acknowledged, in order.

        A machine may be away for longer than a frame lives.  What would come too late is signed
        anew under its old number and name, or the link could never get past it; and so is what is
        dated ahead of our clock, which the gateway would take only when that moment has come.
        """
        if self._peer is None:
            return []
        with self._db.transaction():
            self._renew(self._peer, before_ms=self._clock.now().wall_ms + _RENEW_MS)
            found = [
                (int(seq), bytes(frame))
                for seq, frame in self._db.all(
                    "SELECT seq, frame FROM outbox WHERE peer = ? AND seq > ? ORDER BY seq LIMIT ?",
                    self._peer.name,
                    after,
                    limit,
                )
            ]
        if found:
            # A number that was seen outside and lost with the power would be given out twice.
            self._db.sync()
        self._offered = max([self._offered, *(seq for seq, _ in found)])
        return found

    def acked(self, seq: int) -> int:
        """Forget everything up to ``seq``; the gateway has it.  Return how many that were.

        Raises:
            RemoteProtocolError: ``outbox.ack-unsent``: the gateway claims what was never sent.
                This journal is older than the gateway's memory: an alarm, not a detail.
                ``outbox.ack-lost``: it no longer has what it acknowledged: the same the other way.
        """
        if self._peer is None:
            return 0
        # Lost with the power, it is told again when the link is opened.
        with self._db.transaction(synced=False):
            if seq > self._sent_seq():
                raise RemoteProtocolError("outbox.ack-unsent", seq=seq)
            if seq < (heard := self._heard_seq(self._peer)):
                raise RemoteProtocolError("outbox.ack-lost", seq=seq, heard=heard)
            return self._db.run(
                "DELETE FROM outbox WHERE peer = ? AND seq <= ?", self._peer.name, seq
            )

    def readdress(self) -> None:
        """Sign everything anew for the gateway's key that is pinned now.

        Each frame names the gateway by its key, and the gateway takes none that is for another.
        """
        if self._peer is not None:
            self._renew(self._peer, before_ms=_FOR_EVER_MS)

    def is_full(self) -> bool:
        """Tell whether the gateway owes so many acknowledgements that no new work may begin."""
        row = self._db.one(
            "SELECT count(*), coalesce(sum(length(frame)), 0) FROM outbox WHERE peer = ?",
            self._peer.name if self._peer else "",
        )
        rows, size = map(int, row or (0, 0))
        return rows >= MAX_ROWS or size >= MAX_BYTES

    def _sent_seq(self) -> int:
        name = self._peer.name if self._peer else ""
        row = self._db.one("SELECT sent_seq FROM peers WHERE peer = ?", name)
        return int(row[0]) if row else 0

    def _heard_seq(self, peer: Peer) -> int:
        """Return the number up to which the gateway has acknowledged everything."""
        row = self._db.one("SELECT min(seq) FROM outbox WHERE peer = ?", peer.name)
        return int(row[0]) - 1 if row and row[0] else self._sent_seq()

    def _next_seq(self, peer: Peer) -> int:
        row = self._db.one(
            "INSERT INTO peers (peer, sent_seq) VALUES (?, 1) ON CONFLICT (peer)"
            " DO UPDATE SET sent_seq = sent_seq + 1 RETURNING sent_seq",
            peer.name,
        )
        return int(row[0]) if row else 0

    def _overtaken(self, kind: Kind, task_id: str, body: Mapping[str, Any]) -> int | None:
        """Return the number of the task's newest report when nobody has seen it and this one
        says all of it that still counts.
        """
        if kind != "event" or self._peer is None:
            return None
        row = self._db.one(
            "SELECT seq, typ, body FROM outbox WHERE peer = ? AND seq > ? AND task_id = ?"
            " ORDER BY seq DESC LIMIT 1",
            self._peer.name,
            self._offered,
            task_id,
        )
        if row is None or row[1] != "event" or not _overtakes(body, json.loads(row[2])):
            return None
        return int(row[0])

    def _expires(self) -> int:
        return self._clock.now().wall_ms + LIFE_S * 1000

    def _renew(self, peer: Peer, *, before_ms: int) -> None:
        found = self._db.all(
            "SELECT seq, typ, jti, body FROM outbox"
            " WHERE peer = ? AND (expires_at < ? OR expires_at > ?)",
            peer.name,
            before_ms,
            self._expires() + _AHEAD_MS,
        )
        if not found:
            return
        # Once for all of them: to find a key that is announced, all that waits is looked through.
        used, expires = self._peers.in_use(), self._expires()
        for seq, typ, jti, body in found:
            self._db.run(
                "UPDATE outbox SET expires_at = ?, frame = ? WHERE peer = ? AND seq = ?",
                expires,
                _sign(peer, used, typ, seq, jti, json.loads(body), expires // 1000),
                peer.name,
                seq,
            )


def _sign(
    peer: Peer,
    used: KeysInUse,
    kind: Kind,
    seq: int,
    jti: str,
    body: Mapping[str, Any],
    exp: int,
) -> bytes:
    own = used.signer_of(seq)
    return peer.sign(kind, seq, jti, body, exp, own=own, gateway=used.gateway)


def _overtakes(new: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    """Tell whether an event only says anew where a task is, and leaves out no approval."""
    asks_still = new["waiting"] is not None or old["waiting"] is None
    return new["state"] == old["state"] and bool(new["message"]) and asks_still
