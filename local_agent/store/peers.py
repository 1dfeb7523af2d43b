"""Which keys are in use with the paired gateway: those of the pairing, until one is rotated.

A pairing keeps its name and its numbers for good; what changes of its keys stands here, in the same
transaction as the message that changed it.  The keys themselves are `local_agent.link.keys`'.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from common.errors import LocalProtocolError
from common.signing import VerifyKey
from local_agent.store.database import Database

# All keys of the one gateway that `kid` belongs to: each was announced by one of the others.
FAMILY: Final = """
  WITH RECURSIVE family (kid) AS (
    SELECT ?
    UNION
    SELECT new_key_id FROM family CROSS JOIN gateway_rotations ON old_key_id = kid
    UNION
    SELECT old_key_id FROM family CROSS JOIN gateway_rotations ON new_key_id = kid)
  SELECT kid FROM family"""


@dataclass(frozen=True, slots=True)
class KeysInUse:
    """What was rotated since the pairing.

    Attributes:
        gateway: The gateway's public key, pinned now; None for that of the pairing.
        own: Name of this machine's key in the keystore; None for that of the pairing.
        old: Name of its key before, while it has not been thrown away.
        announced: Number of the report that tells the gateway of ``own``; None once that has been
            acknowledged.
        rotated_at: When ``own`` was made, in milliseconds since the epoch.
    """

    gateway: bytes | None = None
    own: str | None = None
    old: str | None = None
    announced: int | None = None
    rotated_at: int | None = None

    @property
    def handing_over(self) -> bool:
        """Whether the gateway may still know only ``old``."""
        return self.announced is not None

    def signer_of(self, seq: int) -> str | None:
        """Return the name of the key that signs the frame of this number; None for the pairing's.

        What was numbered before the announcement of a key, and the announcement itself, is signed
        with the key before: the gateway takes it on a connection that rests on that one.
        """
        return self.old if self.announced is not None and seq <= self.announced else self.own


class Peers:
    """The keys of one pairing.

    Args:
        db: The connection.
        name: Of the pairing; None while there is none.
    """

    def __init__(self, db: Database, name: str | None) -> None:
        self._db = db
        self._peer = name

    def in_use(self) -> KeysInUse:
        """Return which keys are in use."""
        row = self._db.one(
            "SELECT gateway_key, own_key_name, old_key_name, rotated_at FROM peers WHERE peer = ?",
            self._peer,
        )
        if row is None:
            return KeysInUse()
        gateway, own, old, rotated_at = row
        return KeysInUse(gateway, own, old, self._announced(), rotated_at)

    def pin(self, new: VerifyKey, *, old_key_id: str) -> None:
        """Pin the gateway's next key, within the transaction that takes its announcement in."""
        self._db.run("UPDATE peers SET gateway_key = ? WHERE peer = ?", new.raw, self._name)
        self._db.run(
            "INSERT INTO gateway_rotations (old_key_id, new_key_id) VALUES (?, ?)"
            " ON CONFLICT DO NOTHING",
            old_key_id,
            new.key_id,
        )

    def same_gateway(self, key_id: str | None, other: str) -> bool:
        """Tell whether two key names belong to one gateway, by its own announcements."""
        row = self._db.one(f"SELECT ? IN ({FAMILY})", other, key_id)
        return bool(row and row[0])

    def take_up(self, new: str, *, old: str, at_ms: int) -> None:
        """Sign with this machine's next key from here on.

        Args:
            new: Its name in the keystore.
            old: Name of the key before it.
            at_ms: Now, in milliseconds since the epoch.
        """
        self._db.run(
            "UPDATE peers SET own_key_name = ?, old_key_name = ?, rotated_at = ? WHERE peer = ?",
            new,
            old,
            at_ms,
            self._name,
        )

    def spent(self) -> list[str]:
        """Return the names of keys that no gateway needs to see any more.

        The one before a rotation that was acknowledged, and those of pairings that were replaced.
        """
        names: list[str] = []
        for peer, own, old in self._db.all(
            "SELECT peer, own_key_name, old_key_name FROM peers"
            " WHERE own_key_name IS NOT NULL OR old_key_name IS NOT NULL"
        ):
            if peer != self._peer:
                names += [name for name in (own, old) if name]
            elif old and self._announced() is None:
                names.append(old)
        return names

    def forget(self, name: str) -> None:
        """Note that a spent key was thrown away."""
        self._db.run("UPDATE peers SET old_key_name = NULL WHERE old_key_name = ?", name)
        self._db.run(
            "UPDATE peers SET own_key_name = NULL WHERE own_key_name = ? AND peer IS NOT ?",
            name,
            self._peer,
        )

    @property
    def _name(self) -> str:
        if self._peer is None:
            raise LocalProtocolError("outbox.unpaired")
        return self._peer

    def _announced(self) -> int | None:
        row = self._db.one("SELECT seq FROM outbox WHERE peer = ? AND typ = 'rekey'", self._peer)
        return int(row[0]) if row else None
