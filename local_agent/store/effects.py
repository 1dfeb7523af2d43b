"""Intents and outcomes of what was approved (R59): written before the effect, closed after it.

An approval covers one operation, its part 0, or several: parts from 0 on, begun in their order,
each only after the one before it has completed.  The table itself holds to that.

An intent without an outcome after a restart means that nobody knows.  It is reported as unknown
and never begun again (P3).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from common.clock import Clock
from common.errors import StateError
from local_agent.store.audit_log import AuditLog
from local_agent.store.database import Database

LOOKED_BACK: Final = 20  # effects among which the last command of a workspace is looked for


@dataclass(frozen=True, slots=True)
class Effect:
    """An intent that was written down.

    Attributes:
        opened_at: Milliseconds since the epoch.
        outcome: How it ended (`common.model.state.Reason`), or None while nobody knows.
        closed_at: Milliseconds since the epoch; None as long as ``outcome`` is.
        part: Which of the operations that the approval covers, from 0.
    """

    approval_id: str
    task_id: str
    digest: str
    opened_at: int
    outcome: str | None
    closed_at: int | None = None
    part: int = 0


class Effects:
    """One row for each part of a consumed approval that was begun."""

    def __init__(self, db: Database, clock: Clock, audit: AuditLog) -> None:
        self._db = db
        self._clock = clock
        self._audit = audit

    def open_effect(self, approval_id: str, task_id: str, digest: str, *, part: int = 0) -> None:
        """Write the intent and its audit entry, within the caller's transaction.

        For `local_agent.safety.authority.before_operation` alone.

        Raises:
            sqlite3.IntegrityError: this part has had its effect, or the one before it did not
                complete.
        """
        with self._db.transaction():
            self._db.run(
                "INSERT INTO effects (approval_id, part, task_id, digest, opened_at)"
                " VALUES (?, ?, ?, ?, ?)",
                approval_id,
                part,
                task_id,
                digest,
                self._clock.now().wall_ms,
            )
            self._audit.append(
                "exec.intent",
                approval_id=approval_id,
                task_id=task_id,
                digest=digest,
                **_part_fact(part),
            )

    def is_next(self, approval_id: str, part: int, *, since_ms: int, at_ms: int) -> bool:
        """Tell whether a part was not begun, and that before it completed within these moments."""
        found = self._db.one(
            "SELECT 1 FROM effects WHERE approval_id = ? AND part = ? AND outcome = 'completed'"
            " AND closed_at BETWEEN ? AND ? AND NOT EXISTS"
            " (SELECT 1 FROM effects AS begun WHERE begun.approval_id = ? AND begun.part = ?)",
            approval_id,
            part - 1,
            since_ms,
            at_ms,
            approval_id,
            part,
        )
        return found is not None

    def close_effect(self, approval_id: str, outcome: str, *, part: int = 0) -> None:
        """Write the outcome and its audit entry.

        Raises:
            StateError: ``effect.not-open``: there is none, or its outcome is known.
        """
        with self._db.transaction():
            changed = self._db.run(
                "UPDATE effects SET outcome = ?, closed_at = ?"
                " WHERE approval_id = ? AND part = ? AND outcome IS NULL",
                outcome,
                self._clock.now().wall_ms,
                approval_id,
                part,
            )
            if changed != 1:
                raise StateError("effect.not-open", approval_id=approval_id)
            self._audit.append(
                "exec.result", approval_id=approval_id, outcome=outcome, **_part_fact(part)
            )

    def close_of_task(self, task_id: str, outcome: str) -> bool:
        """Close what the task has open; a task and its effect end in one transaction.

        Returns:
            Whether there was anything.
        """
        effects = self._select("task_id = ? AND outcome IS NULL", task_id)
        for effect in effects:
            self.close_effect(effect.approval_id, outcome, part=effect.part)
        return bool(effects)

    def of_task(self, task_id: str) -> Sequence[Effect]:
        """Return the effects of a task, oldest first."""
        return self._select("task_id = ?", task_id)

    def of_approval(self, approval_id: str) -> Sequence[Effect]:
        """Return the parts of an approval that were begun, in their order."""
        return self._select("approval_id = ?", approval_id)

    def last_log(self, workspace: str) -> str | None:
        """Return the name of the blob with what the last command in a workspace printed, or None.

        Args:
            workspace: Its path, as it is sealed.
        """
        rows = self._db.all(
            "SELECT approvals.seal, tasks.ending_json FROM effects"
            " JOIN approvals USING (approval_id)"
            " JOIN tasks ON tasks.task_id = effects.task_id"
            " WHERE effects.closed_at IS NOT NULL AND tasks.ending_json IS NOT NULL"
            " ORDER BY effects.closed_at DESC LIMIT ?",
            LOOKED_BACK,
        )
        for seal, ending in rows:
            run = json.loads(ending).get("run")
            if run and json.loads(seal)["workspace"]["path"] == workspace:
                log: str | None = run["output"]["log_sha256"]
                return log
        return None

    def unfinished_effects(self) -> Sequence[Effect]:
        """Return every intent without an outcome, oldest first."""
        return self._select("outcome IS NULL")

    def _select(self, condition: str, *values: str) -> Sequence[Effect]:
        rows = self._db.all(
            "SELECT approval_id, task_id, digest, opened_at, outcome, closed_at, part FROM effects"  # noqa: S608  # conditions are the literals above
            f" WHERE {condition} ORDER BY opened_at, part",
            *values,
        )
        return [Effect(*row) for row in rows]


def _part_fact(part: int) -> dict[str, int]:
    # Of a single operation nothing is said: its entries are as they were before there were parts.
    return {"part": part} if part else {}
