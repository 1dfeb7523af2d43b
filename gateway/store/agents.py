"""Store functions of the enrolled machines: their keys, their connection, their numbers.

Whoever connects owns the row from then on: `connect` raises its epoch, and everything a session
writes is fenced by the epoch it was given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from common.errors import StateError, StoreError
from common.signing import VerifyKey
from gateway.store import Connection, Row, as_record

_FIND = "SELECT * FROM agents WHERE agent_id = :agent_id"
_OF_MACHINE = "SELECT * FROM agents WHERE machine = :machine AND revoked_at IS NULL"
_ALL = "SELECT * FROM agents ORDER BY machine, enrolled_at"
_ENROL = """
    INSERT INTO agents
    (agent_id, machine, public_key, key_id, enrolled_at, sealing_key_id, pinned_key_id)
    VALUES (:agent_id, :machine, :public_key, :key_id, :at, :gateway_key_id, :gateway_key_id)
    ON CONFLICT DO NOTHING"""
_CONNECT = """
    UPDATE agents SET epoch = epoch + 1, connected_at = :at, last_seen_at = :at,
    pinned_key_id = :gateway_key_id
    WHERE agent_id = :agent_id AND revoked_at IS NULL RETURNING *"""
_DISCONNECT = """
    UPDATE agents SET connected_at = NULL, last_seen_at = :at
    WHERE agent_id = :agent_id AND epoch = :epoch"""
_DISCONNECT_ALL = """
    UPDATE agents SET connected_at = NULL, last_seen_at = :at WHERE connected_at IS NOT NULL"""
_NEXT_SEQ = """
    UPDATE agents SET next_seq = next_seq + 1 WHERE agent_id = :agent_id
    RETURNING next_seq - 1 AS seq, epoch, connected_at, sealing_key_id"""
_ADVANCE = """
    UPDATE agents SET recv_seq = :seq, last_seen_at = :at
    WHERE agent_id = :agent_id AND epoch = :epoch AND recv_seq = :seq - 1"""
_NUMBERS = "SELECT next_seq, recv_seq FROM agents WHERE agent_id = :agent_id AND epoch = :epoch"
_REVOKE = """
    UPDATE agents SET revoked_at = :at WHERE machine = :machine AND revoked_at IS NULL
    RETURNING agent_id"""
_REKEY = """
    UPDATE agents SET public_key = :public_key, key_id = :key_id
    WHERE agent_id = :agent_id
    AND NOT EXISTS (SELECT 1 FROM agents other WHERE other.public_key = :public_key)"""
_LIVE = "SELECT * FROM agents WHERE revoked_at IS NULL ORDER BY machine"
_SEAL_WITH = "UPDATE agents SET sealing_key_id = :key_id WHERE revoked_at IS NULL"
_PINNED = "SELECT DISTINCT pinned_key_id FROM agents WHERE revoked_at IS NULL"
_UNBIND_AGENT = "DELETE FROM bindings WHERE agent_id = :agent_id"
_REVOKED_ONLINE = """
    SELECT agent_id FROM agents WHERE revoked_at IS NOT NULL AND connected_at IS NOT NULL"""


@dataclass(frozen=True, slots=True)
class Agent:
    """One enrolled key (R11).

    Attributes:
        machine: Name that the admin chose for it.
        epoch: Number of the present ownership.
        next_seq: Number of the next frame to it.
        recv_seq: Highest contiguous number received from it.
        connected_at: Since when it is connected, in milliseconds; None while it is away.
        last_seen_at: When it was last heard of, in milliseconds; None before its first connection.
        sealing_key_id: The gateway's key that signs for it; None for the gateway's first.
        pinned_key_id: The one that it was last seen to pin; None for the gateway's first.
    """

    agent_id: str
    machine: str
    public_key: bytes
    key_id: str
    epoch: int
    next_seq: int
    recv_seq: int
    enrolled_at: int
    connected_at: int | None
    last_seen_at: int | None
    revoked_at: int | None
    sealing_key_id: str | None
    pinned_key_id: str | None

    @property
    def online(self) -> bool:
        """Whether it is connected as far as the gateway knows."""
        return self.connected_at is not None


@dataclass(frozen=True, slots=True)
class Turn:
    """What the next frame to an agent is given.

    Attributes:
        seq: Its number.
        epoch: Number of the agent's present or last ownership.
        connected_at: Since when it is connected, in milliseconds; None while it is away.
        sealing_key_id: The gateway's key to sign with; None for the gateway's first.
    """

    seq: int
    epoch: int
    connected_at: int | None
    sealing_key_id: str | None

    @property
    def away_epoch(self) -> int | None:
        """The agent's last epoch when it is away; None while it is connected.

        Not left to the statement: SQLite 3.40 takes ``IS NULL`` after RETURNING for false here.
        """
        return self.epoch if self.connected_at is None else None


def _agent(row: Row | None) -> Agent | None:
    return as_record(Agent, row) if row else None


def find(conn: Connection, agent_id: str) -> Agent | None:
    """Return the agent, also a revoked one."""
    return _agent(conn.one(_FIND, agent_id=agent_id))


def of_machine(conn: Connection, machine: str) -> Agent | None:
    """Return the agent that holds a machine's name."""
    return _agent(conn.one(_OF_MACHINE, machine=machine))


def everyone(conn: Connection) -> list[Agent]:
    """Return all agents, revoked ones too."""
    return [as_record(Agent, row) for row in conn.all(_ALL)]


def enrol(
    conn: Connection,
    agent_id: str,
    *,
    machine: str,
    public_key: VerifyKey,
    at_ms: int,
    gateway_key_id: str | None = None,
) -> None:
    """Add a machine's key.

    Args:
        conn: A writing transaction.
        agent_id: The name that it is given.
        machine: What the admin calls it.
        public_key: Its key.
        at_ms: Now, in milliseconds since the epoch.
        gateway_key_id: The gateway's key that it pins; None for the gateway's first.

    Raises:
        StateError: ``machine.claimed``: the name or the key belongs to another record, which stays
            as it is.
    """
    added = conn.run(
        _ENROL,
        agent_id=agent_id,
        machine=machine,
        public_key=public_key.raw,
        key_id=public_key.key_id,
        at=at_ms,
        gateway_key_id=gateway_key_id,
    )
    if not added:
        raise StateError("machine.claimed", machine=machine)


def connect(
    conn: Connection, agent_id: str, *, at_ms: int, gateway_key_id: str | None = None
) -> Agent | None:
    """Give the row to a connection that has just authenticated; None when it was revoked.

    Args:
        conn: A writing transaction.
        agent_id: Who connected.
        at_ms: Now, in milliseconds since the epoch.
        gateway_key_id: The gateway's key that it pins; None for the gateway's first.
    """
    return _agent(conn.one(_CONNECT, agent_id=agent_id, at=at_ms, gateway_key_id=gateway_key_id))


def disconnect(conn: Connection, agent_id: str, *, epoch: int, at_ms: int) -> bool:
    """Note the end of a connection; False when a newer one owns the row."""
    return conn.run(_DISCONNECT, agent_id=agent_id, epoch=epoch, at=at_ms) == 1


def disconnect_all(conn: Connection, *, at_ms: int) -> int:
    """Note, at the start of the server, that nobody is connected to it yet."""
    return conn.run(_DISCONNECT_ALL, at=at_ms)


def next_turn(conn: Connection, agent_id: str) -> Turn:
    """Take the next number of an agent's mailbox; a rollback gives it back, so there is no hole.

    Raises:
        StoreError: ``store.no-agent``.
    """
    row = conn.one(_NEXT_SEQ, agent_id=agent_id)
    if row is None:
        raise StoreError("store.no-agent", agent_id=agent_id)
    return as_record(Turn, row)


def sent_up_to(conn: Connection, agent_id: str, *, epoch: int) -> int | None:
    """Return the highest number given to a frame for the agent; None when ``epoch`` is over."""
    row = conn.one(_NUMBERS, agent_id=agent_id, epoch=epoch)
    return int(row["next_seq"]) - 1 if row else None


def advance(
    conn: Connection, agent_id: str, *, epoch: int, seq: int, at_ms: int
) -> Literal["new", "duplicate", "stale"]:
    """Move the number received from an agent on by one.

    Returns:
        ``duplicate`` when it stood there already, ``stale`` when the epoch is over.

    Raises:
        StoreError: ``store.sequence-gap``.
    """
    if conn.run(_ADVANCE, agent_id=agent_id, epoch=epoch, seq=seq, at=at_ms):
        return "new"
    row = conn.one(_NUMBERS, agent_id=agent_id, epoch=epoch)
    if row is None:
        return "stale"
    if seq <= row["recv_seq"]:
        return "duplicate"
    raise StoreError("store.sequence-gap", agent_id=agent_id, seq=seq, expected=row["recv_seq"] + 1)


def revoke(conn: Connection, machine: str, *, at_ms: int) -> str | None:
    """Take a machine's key out of use and free its name; returns its agent (R14)."""
    row = conn.one(_REVOKE, machine=machine, at=at_ms)
    if row is None:
        return None
    conn.run(_UNBIND_AGENT, agent_id=row["agent_id"])
    return str(row["agent_id"])


def rekey(conn: Connection, agent_id: str, public_key: VerifyKey) -> None:
    """Put an agent's next key in the place of its present one.

    Raises:
        StateError: ``agent.key-in-use``: it is, or was, the key of some record.
    """
    raw, key_id = public_key.raw, public_key.key_id
    if not conn.run(_REKEY, agent_id=agent_id, public_key=raw, key_id=key_id):
        raise StateError("agent.key-in-use", agent=agent_id)


def live(conn: Connection) -> list[Agent]:
    """Return the agents that are not revoked, by name of the machine."""
    return [as_record(Agent, row) for row in conn.all(_LIVE)]


def seal_with(conn: Connection, key_id: str) -> None:
    """Have everything from now on signed with this key of the gateway."""
    conn.run(_SEAL_WITH, key_id=key_id)


def pinned_keys(conn: Connection) -> set[str | None]:
    """Return the gateway's keys that live agents pin; None stands for its first."""
    return {row["pinned_key_id"] for row in conn.all(_PINNED)}


def revoked_online(conn: Connection) -> list[str]:
    """Return the revoked agents that still have a connection."""
    return [row["agent_id"] for row in conn.all(_REVOKED_ONLINE)]
