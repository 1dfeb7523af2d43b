"""What a member may do besides asking, how much they asked for today, and what nobody wrote."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Whoever is there is a plain member; admins of the settings stay what they are."""
    for table, column in (
        ("members", sa.Column("role", sa.Text(), server_default="member", nullable=False)),
        ("members", sa.Column("asked", sa.Integer(), server_default="0", nullable=False)),
        ("members", sa.Column("asked_since_at", sa.BigInteger(), nullable=True)),
        ("inbound", sa.Column("is_event", sa.Integer(), server_default="0", nullable=False)),
    ):
        op.add_column(table, column)
    few = sa.text("role <> 'member'")
    op.create_index(
        "ix_members_role", "members", ["app", "user_id"], sqlite_where=few, postgresql_where=few
    )
