"""The first schema: members, agents, pairings, dedupe keys, tasks, mailbox, outbox, audit."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create every table."""
    _create_agents()
    _create_audit()
    _create_inbound()
    _create_members()
    _create_outbox()
    _create_pairings()
    _create_bindings()
    _create_mailbox()
    _create_tasks()
    _create_task_events()


def _create_agents() -> None:
    op.create_table(
        "agents",
        sa.Column("agent_id", sa.Text(), nullable=False),
        sa.Column("machine", sa.Text(), nullable=False),
        sa.Column("public_key", sa.LargeBinary(), nullable=False),
        sa.Column("key_id", sa.Text(), nullable=False),
        sa.Column("epoch", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("next_seq", sa.BigInteger(), server_default=sa.text("1"), nullable=False),
        sa.Column("recv_seq", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("enrolled_at", sa.BigInteger(), nullable=False),
        sa.Column("connected_at", sa.BigInteger(), nullable=True),
        sa.Column("last_seen_at", sa.BigInteger(), nullable=True),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("agent_id", name="pk_agents"),
        sa.UniqueConstraint("public_key", name="uq_agents_public_key"),
    )
    op.create_index(
        "ix_agents_machine_live",
        "agents",
        ["machine"],
        unique=True,
        sqlite_where=sa.text("revoked_at IS NULL"),
        postgresql_where=sa.text("revoked_at IS NULL"),
    )


def _create_audit() -> None:
    op.create_table(
        "audit",
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("prev", sa.LargeBinary(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("seq", name="pk_audit"),
    )


def _create_inbound() -> None:
    op.create_table(
        "inbound",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=True),
        sa.Column("received_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_inbound"),
    )
    op.create_index("ix_inbound_received_at", "inbound", ["received_at"], unique=False)
    op.create_index(
        "ix_inbound_user_id",
        "inbound",
        ["user_id", "received_at"],
        unique=False,
        sqlite_where=sa.text("user_id IS NOT NULL"),
        postgresql_where=sa.text("user_id IS NOT NULL"),
    )


def _create_members() -> None:
    op.create_table(
        "members",
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("lang", sa.Text(), nullable=True),
        sa.Column("added_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", name="pk_members"),
    )


def _create_outbox() -> None:
    op.create_table(
        "outbox",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("task_id", sa.Text(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("repeated", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("code", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_outbox"),
        sa.UniqueConstraint("key", name="uq_outbox_key"),
    )
    op.create_index("ix_outbox_ended_at", "outbox", ["ended_at"], unique=False)
    op.create_index(
        "ix_outbox_open",
        "outbox",
        ["user_id", "id"],
        unique=False,
        sqlite_where=sa.text("state IN ('queued', 'sending')"),
        postgresql_where=sa.text("state IN ('queued', 'sending')"),
    )
    op.create_index("ix_outbox_task_id", "outbox", ["task_id"], unique=False)


def _create_pairings() -> None:
    op.create_table(
        "pairings",
        sa.Column("pairing_id", sa.Text(), nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=True),
        sa.Column("machine", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("wrong_tries", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=True),
        sa.Column("agent_id", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("pairing_id", name="pk_pairings"),
    )


def _create_bindings() -> None:
    op.create_table(
        "bindings",
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("agent_id", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.agent_id"], name="fk_bindings_agent_id"),
        sa.PrimaryKeyConstraint("user_id", "agent_id", name="pk_bindings"),
    )


def _create_mailbox() -> None:
    op.create_table(
        "mailbox",
        sa.Column("agent_id", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("jti", sa.Text(), nullable=False),
        sa.Column("typ", sa.Text(), nullable=False),
        sa.Column("task_id", sa.Text(), nullable=False),
        sa.Column("frame", sa.LargeBinary(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("acked_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.agent_id"], name="fk_mailbox_agent_id"),
        sa.PrimaryKeyConstraint("agent_id", "seq", name="pk_mailbox"),
        sa.UniqueConstraint("jti", name="uq_mailbox_jti"),
    )
    op.create_index(
        "ix_mailbox_expires_at",
        "mailbox",
        ["expires_at"],
        unique=False,
        sqlite_where=sa.text("acked_at IS NULL"),
        postgresql_where=sa.text("acked_at IS NULL"),
    )
    op.create_index("ix_mailbox_task_id", "mailbox", ["task_id"], unique=False)
    op.create_index(
        "ix_mailbox_unacked",
        "mailbox",
        ["agent_id", "seq"],
        unique=False,
        sqlite_where=sa.text("acked_at IS NULL"),
        postgresql_where=sa.text("acked_at IS NULL"),
    )


def _create_tasks() -> None:
    op.create_table(
        "tasks",
        sa.Column("task_id", sa.Text(), nullable=False),
        sa.Column("short_id", sa.Text(), nullable=False),
        sa.Column("agent_id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("lang", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("presumed", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("cancel_asked_at", sa.BigInteger(), nullable=True),
        sa.Column("message", sa.Text(), nullable=True),
        sa.Column("seal_code", sa.Text(), nullable=True),
        sa.Column("waiting_until", sa.BigInteger(), nullable=True),
        sa.Column("envelope_sha256", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.agent_id"], name="fk_tasks_agent_id"),
        sa.PrimaryKeyConstraint("task_id", name="pk_tasks"),
        sa.UniqueConstraint("agent_id", "short_id", name="uq_tasks_agent_id_short_id"),
    )
    op.create_index(
        "ix_tasks_open",
        "tasks",
        ["agent_id"],
        unique=False,
        sqlite_where=sa.text("reason IS NULL"),
        postgresql_where=sa.text("reason IS NULL"),
    )
    op.create_index("ix_tasks_updated_at", "tasks", ["updated_at"], unique=False)
    op.create_index("ix_tasks_user_id", "tasks", ["user_id", "created_at"], unique=False)


def _create_task_events() -> None:
    op.create_table(
        "task_events",
        sa.Column("task_id", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("message", sa.Text(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.task_id"], name="fk_task_events_task_id"),
        sa.PrimaryKeyConstraint("task_id", "seq", name="pk_task_events"),
    )
    # ### end Alembic commands ###
