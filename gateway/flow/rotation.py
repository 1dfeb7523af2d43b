"""How the gateway changes its own key: every machine is told by the key that it trusts so far.

`begin` is one transaction: the new key, one ``rekey`` envelope for each machine, and from then on
everything is signed with the new key.  A machine that is away finds the envelope in its mailbox in
the order of numbers, so it takes the new key over before it meets anything signed with it.  A key
stays for as long as a machine pins it, or one before it; `retire` drops the rest.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Protocol

from common.clock import Instant
from common.errors import StateError
from common.protocol.envelope import MAX_LIFE_S, agent_name, gateway_name, rekey_body
from common.protocol.handshake import MAX_GATEWAY_KEYS
from common.signing import SigningKey
from gateway.base.identity import sealer
from gateway.flow import withdrawal
from gateway.store import Connection, agents, audit, mailbox
from gateway.store.agents import Agent

LIFE_S: Final = MAX_LIFE_S["rekey"]


class Ring(Protocol):
    """The gateway's keys."""

    def offered(self) -> tuple[SigningKey, ...]:
        """Return the keys that agents are offered, the current one first."""
        ...

    def signing(self, key_id: str | None) -> SigningKey:
        """Return the key of this name; None stands for the very first."""
        ...

    def holds(self, public: bytes) -> bool:
        """Tell whether a public key is one of them."""
        ...

    def add(self) -> SigningKey:
        """Make the next key and keep it durably."""
        ...

    def reload(self) -> Collection[str]:
        """Read again which keys there are."""
        ...

    def unused(self, pinned: Collection[str | None]) -> tuple[str, ...]:
        """Return the names of what is older than the oldest of these."""
        ...

    def drop(self, names: Collection[str]) -> None:
        """Delete keys for good."""
        ...


@dataclass(frozen=True, slots=True)
class Rotation:
    """What was begun.

    Attributes:
        key_id: Names the new key.
        machines: How many were told.
    """

    key_id: str
    machines: int


@dataclass(frozen=True, slots=True)
class Abandoned:
    """What was given up.

    Attributes:
        machines: Revoked; they have to be paired again.
        keys: Names of the keys to drop now.
    """

    machines: tuple[str, ...]
    keys: tuple[str, ...]


def begin(conn: Connection, ring: Ring, at: Instant, *, at_once: bool) -> Rotation:
    """Make the next key and tell every machine of it.

    Args:
        conn: A writing transaction; it also keeps a second rotation from coming between.
        ring: The gateway's keys.  The new one is durable before anything names it: a transaction
            that fails leaves a key behind that nobody was told of.
        at: Now.
        at_once: The old keys are about to be dropped, so that there may be one too many.

    Raises:
        StateError: ``rotation.too-many-keys``: as many are in use as machines can be offered.
        AuthError: ``audit.broken``: the log does not hold what was signed of it.
    """
    ring.reload()
    if len(ring.offered()) >= MAX_GATEWAY_KEYS and not at_once:
        raise StateError("rotation.too-many-keys", limit=MAX_GATEWAY_KEYS)
    old, new = ring.offered()[0], ring.add()
    told = agents.live(conn)
    for agent in told:
        _tell(conn, ring, agent, new, at=at)
    agents.seal_with(conn, new.public.key_id)
    audit.append(
        conn,
        "gateway.rekeyed",
        at.wall_ms,
        old=old.public.key_id,
        new=new.public.key_id,
        machines=len(told),
    )
    # By the new key: the old one may be gone before the server signs again.
    audit.sign(conn, new, at_ms=at.wall_ms, is_ours=ring.holds)
    return Rotation(new.public.key_id, len(told))


def behind(conn: Connection, key_id: str) -> list[Agent]:
    """Return the live agents that do not pin this key yet."""
    return [agent for agent in agents.live(conn) if agent.pinned_key_id != key_id]


def abandon(conn: Connection, ring: Ring, key_id: str, *, at: Instant) -> Abandoned:
    """Revoke the machines that do not know this key, so that no other is needed any more."""
    lost = tuple(agent.machine for agent in behind(conn, key_id))
    for machine in lost:
        withdrawal.revoke(conn, sealer(ring.signing), machine, at=at)
    return Abandoned(lost, retire(conn, ring, at_ms=at.wall_ms))


def retire(conn: Connection, ring: Ring, *, at_ms: int) -> tuple[str, ...]:
    """Record that the keys which no machine needs any more are dropped, and return their names.

    The caller drops them once this is committed: a file that is deleted cannot be rolled back.
    """
    doomed = ring.unused(agents.pinned_keys(conn))
    for key_id in doomed:
        audit.append(conn, "gateway.key-dropped", at_ms, key=key_id)
    return doomed


def _tell(conn: Connection, ring: Ring, agent: Agent, new: SigningKey, *, at: Instant) -> None:
    old = ring.signing(agent.sealing_key_id).public
    body = rekey_body(
        new, iss=gateway_name(old), aud=agent_name(agent.agent_id), old_key_id=old.key_id
    )
    mailbox.enqueue(
        conn,
        sealer(ring.signing),
        "rekey",
        agent_id=agent.agent_id,
        task_id="",
        body=body,
        at=at,
        life_s=LIFE_S,
    )
