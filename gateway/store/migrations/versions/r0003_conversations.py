"""When each person's outbox is looked at next: a claim costs the same, whatever is held back."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Have everybody looked at once; from then on each row tells when."""
    op.drop_index("ix_outbox_due_at", "outbox")
    op.drop_index("ix_outbox_open", "outbox")
    _partial(
        "ix_outbox_open",
        "outbox",
        ["user_id", "state", "kind", "id"],
        "state IN ('queued', 'sending')",
    )
    op.create_table(
        "conversations",
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_conversations")),
        sqlite_with_rowid=False,
    )
    _partial("ix_conversations_due_at", "conversations", ["due_at"], "due_at IS NOT NULL")
    op.execute(
        "INSERT INTO conversations (user_id, due_at)"
        " SELECT DISTINCT user_id, 0 FROM outbox WHERE state IN ('queued', 'sending')"
    )


def _partial(name: str, table: str, columns: list[str], where: str) -> None:
    op.create_index(
        name, table, columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where)
    )
