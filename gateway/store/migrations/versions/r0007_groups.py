"""What an admin calls several members by."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Whoever is there is in no group."""
    op.add_column("members", sa.Column("group_name", sa.Text(), nullable=True))
