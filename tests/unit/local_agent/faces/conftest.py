"""The gate of the approval tests, for the faces that show what waits at it."""

from __future__ import annotations

from tests.unit.local_agent.approval.conftest import clock, db, gate

__all__ = ["clock", "db", "gate"]
