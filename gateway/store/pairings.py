"""Store functions of pairing codes (R9): ten minutes, one use, ten wrong tries.

The code's secret has to be kept while it is open, for the gateway checks a proof made with it.  It
is wiped the moment the code is used, voided or found expired.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from common.errors import InputError, StateError
from common.signing import VerifyKey
from gateway.base.messages import Person
from gateway.store import Connection, agents, as_record, audit, members

LIFETIME_MS: Final = 10 * 60 * 1000
MAX_WRONG_TRIES: Final = 10
NOBODY: Final = "nobody"  # no name of a code: the row in which tries at none are counted
_NEVER_MS: Final = 2**53

MACHINE_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
_CREATE = """
    INSERT INTO pairings (pairing_id, secret, machine, app, user_id, created_at, expires_at)
    VALUES (:pairing_id, :secret, :machine, :app, :user_id, :at, :expires_at)"""
_FIND = "SELECT * FROM pairings WHERE pairing_id = :pairing_id"
# A code that cannot be used and one that never was cost the same write as one that is open.
_WRONG = """
    UPDATE pairings SET wrong_tries = wrong_tries + 1,
    secret = CASE WHEN wrong_tries + 1 >= :limit THEN NULL ELSE secret END
    WHERE pairing_id = COALESCE((
        SELECT pairing_id FROM pairings
        WHERE pairing_id = :pairing_id AND secret IS NOT NULL AND expires_at > :at
    ), :nobody)"""
_USE = """
    UPDATE pairings SET used_at = :at, agent_id = :agent_id, secret = NULL
    WHERE pairing_id = :pairing_id AND used_at IS NULL AND secret IS NOT NULL
    AND expires_at > :at"""
_WIPE = "UPDATE pairings SET secret = NULL WHERE secret IS NOT NULL AND expires_at <= :at"
_PURGE = "DELETE FROM pairings WHERE expires_at < :before"


@dataclass(frozen=True, slots=True)
class Pairing:
    """One pairing code.

    Attributes:
        secret: What the proofs are made with; None once the code is over.
        machine: Name that the admin chose for the machine.
        app: Name of the app that the member writes to.
        user_id: Member that it will work for.
        agent_id: What it became; None until it is used.
    """

    pairing_id: str
    secret: bytes | None
    machine: str
    app: str
    user_id: str
    expires_at: int
    wrong_tries: int
    used_at: int | None
    agent_id: str | None

    def usable_secret(self, at_ms: int) -> bytes | None:
        """Return the secret while the code may still be used."""
        return self.secret if self.expires_at > at_ms else None


def create(
    conn: Connection, pairing_id: str, *, secret: bytes, machine: str, person: Person, at_ms: int
) -> int:
    """Open a code and return when it expires, in milliseconds since the epoch.

    Raises:
        InputError: ``machine.invalid-name`` or ``member.unknown``.
        StateError: ``machine.claimed``: revoke the machine first, a new key never displaces one.
    """
    if not MACHINE_NAME.fullmatch(machine):
        raise InputError("machine.invalid-name", machine=machine[:64])
    if members.look_up(conn, person) is None:
        raise InputError("member.unknown", user=str(person))
    if agents.of_machine(conn, machine) is not None:
        raise StateError("machine.claimed", machine=machine)
    expires_at = at_ms + LIFETIME_MS
    conn.run(
        _CREATE,
        pairing_id=pairing_id,
        secret=secret,
        machine=machine,
        app=person.app,
        user_id=person.user,
        at=at_ms,
        expires_at=expires_at,
    )
    audit.append(
        conn,
        "pairing.opened",
        at_ms,
        pairing=pairing_id,
        machine=machine,
        app=person.app,
        user=person.user,
    )
    return expires_at


def find(conn: Connection, pairing_id: str) -> Pairing | None:
    """Return a code in whatever condition it is."""
    row = conn.one(_FIND, pairing_id=pairing_id)
    return as_record(Pairing, row) if row else None


def count_wrong_try(conn: Connection, pairing_id: str, *, at_ms: int) -> None:
    """Note a proof that did not hold; the tenth voids the code.

    Whether there is such a code cannot be told from the work: one row is changed in any case.
    """
    facts = {"pairing_id": pairing_id, "at": at_ms, "limit": MAX_WRONG_TRIES, "nobody": NOBODY}
    if not conn.run(_WRONG, **facts):  # the first try at none that there ever was
        empty: dict[str, object] = {"secret": None, "machine": "", "app": "", "user_id": ""}
        conn.run(_CREATE, pairing_id=NOBODY, at=at_ms, expires_at=_NEVER_MS, **empty)


def complete(
    conn: Connection,
    pairing_id: str,
    *,
    agent_id: str,
    public_key: VerifyKey,
    at_ms: int,
    gateway_key_id: str | None = None,
) -> Pairing:
    """Use a code: enrol the machine's key and let the machine work for its member.

    Args:
        conn: A writing transaction.
        pairing_id: Names the code.
        agent_id: The name that the machine is given.
        public_key: Its key.
        at_ms: Now, in milliseconds since the epoch.
        gateway_key_id: The gateway's key that it pins; None for the gateway's first.

    Raises:
        StateError: ``pairing.over`` when it was used, voided or has expired; ``machine.claimed``.
        InputError: ``member.unknown`` when the member was removed meanwhile.
    """
    found = find(conn, pairing_id)
    used = conn.run(_USE, pairing_id=pairing_id, agent_id=agent_id, at=at_ms)
    if found is None or not used:
        raise StateError("pairing.over")
    agents.enrol(
        conn,
        agent_id,
        machine=found.machine,
        public_key=public_key,
        at_ms=at_ms,
        gateway_key_id=gateway_key_id,
    )
    members.bind(conn, Person(found.app, found.user_id), agent_id, at_ms=at_ms)
    audit.append(
        conn,
        "agent.enrolled",
        at_ms,
        agent=agent_id,
        machine=found.machine,
        key=public_key.key_id,
        pairing=pairing_id,
    )
    return found


def wipe_expired(conn: Connection, *, at_ms: int) -> int:
    """Forget the secrets of codes whose time is over."""
    return conn.run(_WIPE, at=at_ms)


def purge(conn: Connection, *, before_ms: int) -> int:
    """Forget codes that expired before ``before_ms``."""
    return conn.run(_PURGE, before=before_ms)
