"""Passkeys that may approve, with their audit entries.

How one is registered and what it signs is `local_agent.faces.page.passkeys`' matter.  The audit log
names a passkey by `fingerprint`, which its person has compared, and never by the name it was given.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from common.errors import InputError
from local_agent.store.audit_log import AuditLog
from local_agent.store.database import Database

MOST: Final = 20  # that are of use at once

_LABEL: Final = b"codexbridge passkey v1\0"
_COLUMNS: Final = (
    "credential_id, public_key, sign_count, name, aaguid, created_at, last_used_at, revoked_at"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Passkey:
    """One passkey.

    Attributes:
        public_key: In COSE form.
        sign_count: Of its last use; always 0 from an authenticator that does not count.
        aaguid: Which kind of authenticator it says it is.
        created_at: Milliseconds since the epoch, as the two after it.
        revoked_at: When it was removed; None while it may approve.
    """

    credential_id: bytes
    public_key: bytes
    sign_count: int
    name: str
    aaguid: str
    created_at: int
    last_used_at: int | None = None
    revoked_at: int | None = None

    @property
    def fingerprint(self) -> str:
        """Hash of what makes it this passkey, as hex digits."""
        return fingerprint(self.credential_id, self.public_key)


def fingerprint(credential_id: bytes, public_key: bytes) -> str:
    """Return the SHA-256 over label, credential id and public key, as hex digits."""
    size = len(credential_id).to_bytes(2, "big")  # or bytes could move from the one to the other
    return hashlib.sha256(_LABEL + size + credential_id + public_key).hexdigest()


class Passkeys:
    """The table.  On the journal's thread."""

    def __init__(self, db: Database, audit: AuditLog) -> None:
        self._db = db
        self._audit = audit

    def live(self) -> Sequence[Passkey]:
        """Return those that may approve, oldest first."""
        rows = self._db.all(
            f"SELECT {_COLUMNS} FROM passkeys WHERE revoked_at IS NULL"  # noqa: S608 - a constant
            " ORDER BY created_at, name LIMIT ?",
            MOST,
        )
        return [_passkey(row) for row in rows]

    def find(self, credential_id: bytes) -> Passkey | None:
        """Return one that may approve, or None."""
        row = self._db.one(
            f"SELECT {_COLUMNS} FROM passkeys"  # noqa: S608 - a constant
            " WHERE credential_id = ? AND revoked_at IS NULL",
            credential_id,
        )
        return _passkey(row) if row else None

    def check_new(self, name: str) -> None:
        """Return when one of that name may be added.

        Raises:
            InputError: ``passkey.name-taken``, ``passkey.too-many``.
        """
        live = self.live()
        if any(one.name == name for one in live):
            raise InputError("passkey.name-taken", name=name)
        if len(live) >= MOST:
            raise InputError("passkey.too-many", limit=MOST)

    def add(self, new: Passkey) -> None:
        """Let a passkey approve from now on.

        Raises:
            InputError: ``passkey.name-taken``, ``passkey.too-many``; ``passkey.known``: it was
                added before, and may have been removed.
        """
        with self._db.transaction():
            self.check_new(new.name)
            added = self._db.run(
                "INSERT INTO passkeys (credential_id, public_key, sign_count, name, aaguid,"
                " created_at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                new.credential_id,
                new.public_key,
                new.sign_count,
                new.name,
                new.aaguid,
                new.created_at,
            )
            if not added:
                raise InputError("passkey.known")
            self._audit.append("passkey.added", digest=new.fingerprint)

    def use(self, used: Passkey, sign_count: int, *, approval_id: str, at_ms: int) -> bool:
        """Record that one signed for an approval; False when it may not approve.

        It may not when it was removed meanwhile.  Nor when its counter does not go on: then two
        authenticators have its key, or an answer came twice, and the audit log says so.
        """
        with self._db.transaction():
            found = self.find(used.credential_id)
            if found is None:
                return False
            counts = sign_count > 0 or found.sign_count > 0
            if counts and sign_count <= found.sign_count:
                named = found.fingerprint
                self._audit.append("passkey.cloned", digest=named, approval_id=approval_id)
                return False
            self._db.run(
                "UPDATE passkeys SET sign_count = ?, last_used_at = ? WHERE credential_id = ?",
                sign_count,
                at_ms,
                used.credential_id,
            )
            named = found.fingerprint
            self._audit.append("passkey.used", digest=named, approval_id=approval_id)
            return True

    def revoke(self, name: str, at_ms: int) -> None:
        """Let the passkey of that name approve nothing any more.

        Raises:
            InputError: ``passkey.unknown``.
        """
        with self._db.transaction():
            found = next((one for one in self.live() if one.name == name), None)
            if found is None:
                raise InputError("passkey.unknown", name=name)
            self._db.run(
                "UPDATE passkeys SET revoked_at = ? WHERE credential_id = ?",
                at_ms,
                found.credential_id,
            )
            self._audit.append("passkey.removed", digest=found.fingerprint)


def _passkey(row: tuple[object, ...]) -> Passkey:
    names = _COLUMNS.split(", ")
    return Passkey(**dict(zip(names, row, strict=True)))  # type: ignore[arg-type]  # STRICT columns
