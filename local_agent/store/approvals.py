"""Approvals as rows, and the steps a row may take (R22).

    pending ─▶ approved | rejected | expired | superseded
    approved ─▶ consumed | expired | superseded

Each step is one UPDATE that names the state it starts from, with its audit entry in the same
transaction; triggers keep a seal from changing and a state from going back.  Who may take which
step is `local_agent.flow.gate`'s matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, Literal

from common.errors import StateError
from common.strict_json import canonical
from local_agent.store.audit_log import AuditLog
from local_agent.store.database import Database
from local_agent.store.peers import FAMILY

State = Literal["pending", "approved", "rejected", "expired", "superseded", "consumed"]

START_WITHIN_MS: Final = 60_000  # R22: from approval to start


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredApproval:
    """One row.

    Attributes:
        seal: The stored bytes; whoever shows or runs anything starts from them.
        subject_sha256: Hash of what would be done, equal for a repeated wish.
        gateway: Key id of the gateway that brought the wish; empty when it is local.
        requester: Who is said to have asked.
        risk_reasons: Comma-separated codes.
        statement: The signed words of the decision.
        public_key: What verifies ``signature``; None for a decision of before keys were rotated.
        assertion: What a passkey signed (`common.assertion`); None for any other approver.
    """

    approval_id: str
    task_id: str
    digest: str
    seal: bytes
    subject_sha256: str
    gateway: str
    requester: str
    risk: Literal["normal", "high"]
    risk_reasons: str
    created_at: int
    expires_at: int
    state: State = "pending"
    decided_at: int | None = None
    approver: str | None = None
    decision_reason: str | None = None
    statement: bytes | None = None
    signature: bytes | None = None
    public_key: bytes | None = None
    assertion: bytes | None = None


_COLUMNS: Final = tuple(field.name for field in fields(StoredApproval))
_SELECT: Final = f"SELECT {', '.join(_COLUMNS)} FROM approvals"  # noqa: S608  # our own column names
_INSERT: Final = (
    f"INSERT INTO approvals ({', '.join(_COLUMNS)})"  # noqa: S608  # our own column names
    f" VALUES ({', '.join(f':{name}' for name in _COLUMNS)})"
)
_LIVE: Final = "state IN ('pending', 'approved')"


class Approvals:
    """The rows and the steps they may take."""

    def __init__(self, db: Database, audit: AuditLog) -> None:
        self._db = db
        self._audit = audit

    def add(self, new: StoredApproval) -> Sequence[str]:
        """Store a pending approval; return the ids of those of its task it supersedes (R23)."""
        with self._db.transaction():
            superseded = self.withdraw(new.task_id)
            self._db.run(_INSERT, **{name: getattr(new, name) for name in _COLUMNS})
            self._audit.append(
                "approval.requested",
                approval_id=new.approval_id,
                task_id=new.task_id,
                digest=new.digest,
                gateway=new.gateway,
                requester=new.requester,
                risk=new.risk,
                risk_reasons=new.risk_reasons,
            )
            return superseded

    def get(self, approval_id: str) -> StoredApproval:
        """Return the row.

        Raises:
            StateError: ``approval.unknown``.
        """
        row = self._db.one(f"{_SELECT} WHERE approval_id = ?", approval_id)
        if row is None:
            raise StateError("approval.unknown", name=approval_id)
        return _approval(row)

    def newest_of(self, task_id: str) -> StoredApproval | None:
        """Return the newest approval of a task, whatever its state."""
        row = self._db.one(
            f"{_SELECT} WHERE task_id = ? ORDER BY created_at DESC, rowid DESC LIMIT 1", task_id
        )
        return _approval(row) if row else None

    def first_of(self, task_id: str) -> StoredApproval | None:
        """Return the first approval that a task asked for, whatever its state."""
        row = self._db.one(
            f"{_SELECT} WHERE task_id = ? ORDER BY created_at, rowid LIMIT 1", task_id
        )
        return _approval(row) if row else None

    def completed_undos(self, approval_id: str) -> Sequence[StoredApproval]:
        """Return what took something back and names this approval, oldest first.

        A coarse sieve over the stored bytes; whoever asks reads the seals, and of several
        operations which of them completed.
        """
        undo, steps = (canonical({"action": word})[:-1] for word in ("undo", "steps"))
        rows = self._db.all(  # the action is the first of the sorted keys
            f"{_SELECT} WHERE (substr(seal, 1, ?) = ? OR substr(seal, 1, ?) = ?)"  # noqa: S608  # our own column names
            " AND instr(seal, ?) > 0 AND approval_id IN"
            " (SELECT approval_id FROM effects WHERE outcome = 'completed')"
            " ORDER BY created_at, rowid",
            len(undo),
            undo,
            len(steps),
            steps,
            canonical({"approval_id": approval_id})[1:-1],
        )
        return [_approval(row) for row in rows]

    def pending(self) -> Sequence[StoredApproval]:
        """Return what waits, oldest first."""
        rows = self._db.all(
            f"{_SELECT} WHERE {_LIVE} AND state = 'pending' ORDER BY created_at, rowid"
        )
        return [_approval(row) for row in rows]

    def live(self) -> Sequence[StoredApproval]:
        """Return what waits for a decision, or was approved and waits to begin."""
        return [_approval(row) for row in self._db.all(f"{_SELECT} WHERE {_LIVE}")]

    def decide(
        self,
        approval_id: str,
        digest: str,
        *,
        state: Literal["approved", "rejected"],
        at_ms: int,
        approver: str,
        reason: str | None,
        statement: bytes,
        signature: bytes,
        public_key: bytes,
        assertion: bytes | None = None,
    ) -> bool:
        """Decide a pending, unexpired approval of that digest; False when there is none."""
        with self._db.transaction():
            changed = self._db.run(
                "UPDATE approvals SET state = :state, decided_at = :at, approver = :approver,"
                " decision_reason = :reason, statement = :statement, signature = :signature,"
                " public_key = :public_key, assertion = :assertion"
                " WHERE approval_id = :approval_id AND digest = :digest AND state = 'pending'"
                " AND expires_at > :at",
                state=state,
                at=at_ms,
                approver=approver,
                reason=reason,
                statement=statement,
                signature=signature,
                public_key=public_key,
                assertion=assertion,
                approval_id=approval_id,
                digest=digest,
            )
            if changed == 1:
                self._audit.append(
                    f"approval.{state}",
                    approval_id=approval_id,
                    digest=digest,
                    approver=approver,
                    reason=reason,
                    signature=signature.hex(),
                )
            return changed == 1

    def consume(self, approval_id: str, digest: str, at_ms: int) -> bool:
        """Use an approval up, once, within a minute of its decision; False when it cannot be.

        A wall clock that went back since the decision counts as too late (R4).
        """
        changed = self._db.run(
            "UPDATE approvals SET state = 'consumed' WHERE approval_id = ? AND digest = ?"
            " AND state = 'approved' AND expires_at > ? AND decided_at BETWEEN ? AND ?",
            approval_id,
            digest,
            at_ms,
            at_ms - START_WITHIN_MS,
            at_ms,
        )
        return changed == 1

    def expire(self, approval_ids: Sequence[str]) -> None:
        """Take live approvals to EXPIRED."""
        self._leave(approval_ids, "expired")

    def expire_at_start(self, at_ms: int) -> Sequence[str]:
        """Expire what may not outlive a restart, and return its ids.

        That is every approved one (R22), what ran out meanwhile, and what was made in the future:
        the clock went back, and nobody can tell how long it has waited.
        """
        due = self._ids(
            f"{_LIVE} AND (state = 'approved' OR expires_at <= ? OR created_at > ?)",
            at_ms,
            at_ms,
        )
        self.expire(due)
        return due

    def withdraw(self, task_id: str) -> Sequence[str]:
        """Take the live approvals of a task to SUPERSEDED, and return their ids."""
        live = self._ids(f"{_LIVE} AND task_id = ?", task_id)
        self._leave(live, "superseded")
        return live

    def count_pending(self, gateway: str) -> int:
        """Count what waits of one gateway, by whichever of its keys (R28)."""
        return self._count(f"gateway IN ({FAMILY}) AND state = 'pending'", gateway)

    def count_asked(
        self, gateway: str, since_ms: int, *, besides: str, requester: str | None = None
    ) -> int:
        """Count the tasks that one gateway asked for since a moment, or one of its members (R28).

        All that a run of a playbook asks is one.

        Args:
            gateway: By whichever of its keys.
            since_ms: Milliseconds since the epoch.
            besides: A task that does not count, with its run: what follows of it is this machine's
                doing.
            requester: Who is said to have asked; None for anybody.
        """
        row = self._db.one(
            "SELECT count(DISTINCT coalesce(run, approvals.task_id)) FROM approvals"  # noqa: S608  # our own literals
            " LEFT JOIN tasks ON tasks.task_id = approvals.task_id"
            f" WHERE gateway IN ({FAMILY}) AND approvals.created_at >= ?"
            " AND coalesce(run, approvals.task_id)"
            " <> coalesce((SELECT run FROM tasks WHERE task_id = ?), ?)"
            " AND (? IS NULL OR requester = ?)",
            gateway,
            since_ms,
            besides,
            besides,
            requester,
            requester,
        )
        return int(row[0]) if row else 0

    def count_of_run(self, task_id: str) -> int:
        """Count the other questions of the run that a task asks for; 0 where it is for none."""
        of_it = "SELECT task_id FROM tasks WHERE run = (SELECT run FROM tasks WHERE task_id = ?)"
        row = self._db.one(
            f"SELECT count(DISTINCT task_id) FROM approvals WHERE task_id IN ({of_it})"  # noqa: S608  # a literal
            " AND task_id <> ?",
            task_id,
            task_id,
        )
        return int(row[0]) if row else 0

    def count_rejected(self, gateway: str, since_ms: int, *, subject_sha256: str) -> int:
        """Count how often a person rejected this very wish since a moment (R28)."""
        return self._count(
            f"gateway IN ({FAMILY}) AND state = 'rejected' AND decided_at >= ?"
            " AND subject_sha256 = ?",
            gateway,
            since_ms,
            subject_sha256,
        )

    def _count(self, condition: str, *values: str | int | None) -> int:
        sql = f"SELECT count(*) FROM approvals WHERE {condition}"  # noqa: S608  # conditions are the literals above
        row = self._db.one(sql, *values)
        return int(row[0]) if row else 0

    def _ids(self, condition: str, *values: str | int) -> Sequence[str]:
        sql = f"SELECT approval_id FROM approvals WHERE {condition} ORDER BY created_at"  # noqa: S608  # conditions are the literals above
        return [str(row[0]) for row in self._db.all(sql, *values)]

    def _leave(self, approval_ids: Sequence[str], state: Literal["expired", "superseded"]) -> None:
        with self._db.transaction():
            for approval_id in approval_ids:
                changed = self._db.run(
                    f"UPDATE approvals SET state = ? WHERE approval_id = ? AND {_LIVE}",  # noqa: S608  # a literal
                    state,
                    approval_id,
                )
                if changed == 1:
                    self._audit.append(f"approval.{state}", approval_id=approval_id)


def _approval(row: tuple[Any, ...]) -> StoredApproval:
    return StoredApproval(**dict(zip(_COLUMNS, row, strict=True)))
