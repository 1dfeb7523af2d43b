"""Cards: what a message shows beside its text, and what each can still be changed with."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing has a card yet."""
    op.add_column("outbox", sa.Column("card", sa.Text(), nullable=True))
    op.create_table(
        "cards",
        sa.Column("card_id", sa.Text(), nullable=False),
        sa.Column("task_id", sa.Text(), nullable=False),
        sa.Column("handle", sa.Text(), nullable=True),
        sa.Column("handle_until", sa.BigInteger(), nullable=True),
        sa.Column("over", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("card_id", name=op.f("pk_cards")),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_cards_task_id", "cards", ["task_id"])
