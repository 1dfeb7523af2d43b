"""Finds what is to be forgotten, and who is to be cut off, without reading what stays."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_INDEXES = (
    ("ix_mailbox_acked_at", "mailbox", "acked_at", "acked_at IS NOT NULL"),
    (
        "ix_agents_revoked_online",
        "agents",
        "agent_id",
        "revoked_at IS NOT NULL AND connected_at IS NOT NULL",
    ),
)


def upgrade() -> None:
    """Add an index of the acknowledged frames and one of the revoked that are connected."""
    for name, table, column, where in _INDEXES:
        only = sa.text(where)
        op.create_index(name, table, [column], sqlite_where=only, postgresql_where=only)
