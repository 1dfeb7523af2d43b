"""The trusted link: the machine a member chose, rotated keys, heads countersigned by agents."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add what is new; nothing that is there changes."""
    op.add_column("members", sa.Column("chosen_agent_id", sa.Text(), nullable=True))
    op.add_column("agents", sa.Column("sealing_key_id", sa.Text(), nullable=True))
    op.add_column("agents", sa.Column("pinned_key_id", sa.Text(), nullable=True))
    op.create_table(
        "heads",
        sa.Column("agent_id", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("own_seq", sa.BigInteger(), nullable=False),
        sa.Column("own_hash", sa.LargeBinary(), nullable=False),
        sa.Column("public_key", sa.LargeBinary(), nullable=False),
        sa.Column("frame", sa.LargeBinary(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.agent_id"], name=op.f("fk_heads_agent_id")),
        sa.PrimaryKeyConstraint("agent_id", name=op.f("pk_heads")),
    )
