"""Whose app it is: a member's id means somebody only together with the app that delivers it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Whatever is there came through the one app that there was, from people alone with it."""
    for table in ("tasks", "outbox", "pairings"):
        op.add_column(table, _app())
    for table in ("tasks", "outbox"):
        op.add_column(table, _chat())
    for column in (
        sa.Column("errcode", sa.Integer(), nullable=True),
        sa.Column("errmsg", sa.Text(), nullable=True),
        sa.Column("tried_at", sa.BigInteger(), nullable=True),
    ):
        op.add_column("outbox", column)
    op.create_table(
        "holds",
        sa.Column("app", sa.Text(), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("errcode", sa.Integer(), nullable=True),
        sa.Column("errmsg", sa.Text(), nullable=False),
        sa.Column("since_at", sa.BigInteger(), nullable=False),
        sa.Column("until_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("app", name=op.f("pk_holds")),
        sqlite_with_rowid=False,
    )
    for name, table in (
        ("ix_tasks_user_id", "tasks"),
        ("ix_tasks_open", "tasks"),
        ("ix_outbox_open", "outbox"),
        ("ix_conversations_due_at", "conversations"),
        ("ix_inbound_received_at", "inbound"),
    ):
        op.drop_index(name, table)
    _rebuild("members", "user_id", "lang", "added_at", "chosen_agent_id")
    _rebuild("bindings", "user_id", "agent_id")
    _rebuild("inbound", "user_id", "created_s", "dedupe_key", "replay_key", "received_at")
    _rebuild("conversations", "user_id", "due_at")
    op.create_index("ix_tasks_user_id", "tasks", ["user_id", "app", "short_id"])
    op.create_index("ix_inbound_received_at", "inbound", ["received_at"])
    _partial("ix_tasks_open", "tasks", ["user_id", "app", "created_at"], "reason IS NULL")
    _partial("ix_conversations_due_at", "conversations", ["due_at"], "due_at IS NOT NULL")
    _partial(
        "ix_outbox_open",
        "outbox",
        ["user_id", "app", "chat", "state", "kind", "id"],
        "state IN ('queued', 'sending')",
    )


def _app() -> sa.Column[str]:
    return sa.Column("app", sa.Text(), server_default=sa.text("'main'"), nullable=False)


def _chat() -> sa.Column[str]:
    return sa.Column("chat", sa.Text(), server_default=sa.text("''"), nullable=False)


def _rebuild(table: str, *columns: str) -> None:
    """Make a table anew with the app in its key; nothing refers to any of them."""
    op.rename_table(table, f"{table}_before")
    _create(table)
    listed = ", ".join(columns)
    op.execute(f"INSERT INTO {table} ({listed}) SELECT {listed} FROM {table}_before")  # noqa: S608 — our own names
    op.drop_table(f"{table}_before")


def _create(table: str) -> None:
    user = sa.Column("user_id", sa.Text(), nullable=False)
    match table:
        case "members":
            op.create_table(
                table,
                _app(),
                user,
                sa.Column("lang", sa.Text(), nullable=True),
                sa.Column("added_at", sa.BigInteger(), nullable=False),
                sa.Column("chosen_agent_id", sa.Text(), nullable=True),
                sa.Column("welcomed_at", sa.BigInteger(), nullable=True),
                _key(table, "app", "user_id"),
            )
        case "bindings":
            op.create_table(
                table,
                _app(),
                user,
                sa.Column("agent_id", sa.Text(), nullable=False),
                sa.ForeignKeyConstraint(
                    ["agent_id"], ["agents.agent_id"], name=op.f("fk_bindings_agent_id")
                ),
                _key(table, "app", "user_id", "agent_id"),
            )
        case "inbound":
            op.create_table(
                table,
                _app(),
                user,
                sa.Column("created_s", sa.BigInteger(), autoincrement=False, nullable=False),
                sa.Column("dedupe_key", sa.Text(), nullable=False),
                sa.Column("replay_key", sa.LargeBinary(), nullable=False),
                sa.Column("received_at", sa.BigInteger(), nullable=False),
                _key(table, "app", "user_id", "created_s", "dedupe_key"),
                sqlite_with_rowid=False,
            )
        case "conversations":
            op.create_table(
                table,
                _app(),
                _chat(),
                user,
                sa.Column("due_at", sa.BigInteger(), nullable=True),
                _key(table, "app", "chat", "user_id"),
                sqlite_with_rowid=False,
            )


def _key(table: str, *columns: str) -> sa.PrimaryKeyConstraint:
    return sa.PrimaryKeyConstraint(*columns, name=op.f(f"pk_{table}"))


def _partial(name: str, table: str, columns: list[str], where: str) -> None:
    op.create_index(
        name, table, columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where)
    )
