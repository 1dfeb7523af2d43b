"""The tables of the gateway's store, once, for every engine (SQLAlchemy Core).

Read by the migrations and by the tests, never on the way of a message: importing SQLAlchemy costs
more than the rest of the gateway's start, so the store functions carry their few statements as
plain SQL, in the part of the language that SQLite and PostgreSQL share.  A test prepares each of
them against this schema, and another compares the schema with the migrations.

Each page that an accepted task touches is written for it, so an index holds no more rows than it is
asked for, and a table that only grows at its end needs no row numbers beside its key.

Columns ``*_at`` are integer milliseconds since 1970.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _when(name: str, *, optional: bool = False) -> Column[int]:
    return Column(name, BigInteger, nullable=optional)


def _partial(name: str, *columns: str, where: str, unique: bool = False) -> Index:
    condition = text(where)
    return Index(name, *columns, unique=unique, sqlite_where=condition, postgresql_where=condition)


def _app(*, primary_key: bool = False) -> Column[str]:
    """Name of the app in the settings; a member's id means somebody only together with it."""
    return Column(
        "app", Text, primary_key=primary_key, nullable=False, server_default=text("'main'")
    )


def _chat(*, primary_key: bool = False) -> Column[str]:
    """Id of the group; empty where a member is alone with the app."""
    return Column("chat", Text, primary_key=primary_key, nullable=False, server_default=text("''"))


# Who may write to which app.  The id is taken exactly as the channel delivers it.
members = Table(
    "members",
    metadata,
    _app(primary_key=True),
    Column("user_id", Text, primary_key=True),
    Column("lang", Text),
    _when("added_at"),
    # The machine that they chose with `use`; None to have it follow from what is bound to them.
    Column("chosen_agent_id", Text),
    # When they were shown what can be asked for, on opening the app.
    _when("welcomed_at", optional=True),
    Column("role", Text, nullable=False, server_default=text("'member'")),
    # How many tasks they asked for since then, the beginning of a day; counted where there is a
    # limit.
    Column("asked", Integer, nullable=False, server_default=text("0")),
    _when("asked_since_at", optional=True),
    # What an admin calls several of them by; None for nobody's.
    Column("group_name", Text),
    _partial("ix_members_role", "app", "user_id", where="role <> 'member'"),
)

# One row for each enrolled key (R11).  A machine's name is free again once its key is revoked.
agents = Table(
    "agents",
    metadata,
    Column("agent_id", Text, primary_key=True),
    Column("machine", Text, nullable=False),
    Column("public_key", LargeBinary, nullable=False, unique=True),
    Column("key_id", Text, nullable=False),
    Column("epoch", BigInteger, nullable=False, server_default=text("0")),
    Column("next_seq", BigInteger, nullable=False, server_default=text("1")),
    Column("recv_seq", BigInteger, nullable=False, server_default=text("0")),
    _when("enrolled_at"),
    _when("connected_at", optional=True),
    _when("last_seen_at", optional=True),
    _when("revoked_at", optional=True),
    # The gateway's key that signs for it, and the one it was last seen to hold as pinned; None for
    # the gateway's first key.
    Column("sealing_key_id", Text),
    Column("pinned_key_id", Text),
    _partial("ix_agents_machine_live", "machine", where="revoked_at IS NULL", unique=True),
    _partial(
        "ix_agents_revoked_online",
        "agent_id",
        where="revoked_at IS NOT NULL AND connected_at IS NOT NULL",
    ),
)

# Which machines work for a member.
bindings = Table(
    "bindings",
    metadata,
    _app(primary_key=True),
    Column("user_id", Text, primary_key=True),
    Column("agent_id", Text, ForeignKey("agents.agent_id"), primary_key=True),
)

# Open pairing codes (R9).  The secret lives at most ten minutes and is wiped on use.
pairings = Table(
    "pairings",
    metadata,
    Column("pairing_id", Text, primary_key=True),
    Column("secret", LargeBinary),
    Column("machine", Text, nullable=False),
    Column("user_id", Text, nullable=False),
    _app(),
    _when("created_at"),
    _when("expires_at"),
    Column("wrong_tries", Integer, nullable=False, server_default=text("0")),
    _when("used_at", optional=True),
    Column("agent_id", Text),
)

# What came from the chat: what names the message and what names its first delivery.  ``created_s``
# is WeCom's own time of it, in seconds.
inbound = Table(
    "inbound",
    metadata,
    _app(primary_key=True),
    Column("user_id", Text, primary_key=True),
    Column("created_s", BigInteger, primary_key=True, autoincrement=False),
    Column("dedupe_key", Text, primary_key=True),
    Column("replay_key", LargeBinary, nullable=False),
    _when("received_at"),
    # 1: an event, which nobody wrote.
    Column("is_event", Integer, nullable=False, server_default=text("0")),
    Index("ix_inbound_received_at", "received_at"),
    sqlite_with_rowid=False,
)

tasks = Table(
    "tasks",
    metadata,
    Column("task_id", Text, primary_key=True),
    Column("short_id", Text, nullable=False),
    Column("agent_id", Text, ForeignKey("agents.agent_id"), nullable=False),
    Column("user_id", Text, nullable=False),
    Column("channel", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("lang", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("reason", Text),
    # 1: the gateway ended it by its own clock, without word from the agent.
    Column("presumed", Integer, nullable=False, server_default=text("0")),
    # Since when its member wants it stopped; asked for again whenever the machine connects.
    _when("cancel_asked_at", optional=True),
    Column("message", Text),
    Column("seal_code", Text),
    _when("waiting_until", optional=True),
    Column("envelope_sha256", Text, nullable=False),
    _when("created_at"),
    _when("updated_at"),
    _when("expires_at"),
    _app(),
    _chat(),
    UniqueConstraint("agent_id", "short_id", name="uq_tasks_agent_id_short_id"),
    Index("ix_tasks_user_id", "user_id", "app", "short_id"),
    _partial("ix_tasks_open", "user_id", "app", "created_at", where="reason IS NULL"),
    _partial(
        "ix_tasks_to_cancel", "agent_id", where="reason IS NULL AND cancel_asked_at IS NOT NULL"
    ),
    _partial("ix_tasks_ended", "updated_at", where="reason IS NOT NULL"),
)

# Every change of state as the agent signed it, or as the gateway presumed it.
task_events = Table(
    "task_events",
    metadata,
    Column("task_id", Text, ForeignKey("tasks.task_id"), primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("state", Text, nullable=False),
    Column("reason", Text),
    Column("message", Text),
    _when("at"),
    sqlite_with_rowid=False,
)

# Signed frames on their way to an agent, numbered without a hole.
mailbox = Table(
    "mailbox",
    metadata,
    Column("agent_id", Text, ForeignKey("agents.agent_id"), primary_key=True),
    Column("seq", BigInteger, primary_key=True),
    Column("jti", Text, nullable=False, unique=True),
    Column("typ", Text, nullable=False),
    Column("task_id", Text, nullable=False),
    Column("frame", LargeBinary, nullable=False),
    _when("expires_at"),
    _when("acked_at", optional=True),
    # The agent's epoch when the frame was queued while it was away.  For as long as that is its
    # epoch and it is away, the frame cannot have been sent.
    Column("away_epoch", BigInteger),
    _partial("ix_mailbox_unacked", "agent_id", "task_id", where="acked_at IS NULL"),
    _partial("ix_mailbox_expires_at", "expires_at", where="acked_at IS NULL"),
    _partial("ix_mailbox_acked_at", "acked_at", where="acked_at IS NOT NULL"),
)

# Chat messages on their way out.  ``key`` is the idempotency key.
outbox = Table(
    "outbox",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("key", Text, nullable=False, unique=True),
    Column("channel", Text, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("task_id", Text),
    Column("text", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    # 1: an earlier try may have arrived although no answer said so.
    Column("repeated", Integer, nullable=False, server_default=text("0")),
    Column("code", Text),
    _when("created_at"),
    _when("due_at"),
    _when("ended_at", optional=True),
    _app(),
    _chat(),
    # The channel's own number and words of the last try, for an admin; and when the first one was.
    Column("errcode", Integer),
    Column("errmsg", Text),
    _when("tried_at", optional=True),
    Column("card", Text),  # what it shows where its channel has cards, as JSON
    _partial(
        "ix_outbox_open",
        *("user_id", "app", "chat", "state", "kind", "id"),
        where="state IN ('queued', 'sending')",
    ),
    _partial("ix_outbox_ended_at", "ended_at", where="ended_at IS NOT NULL"),
    _partial("ix_outbox_task_id", "task_id", where="task_id IS NOT NULL"),
)

# Which conversation's outbox is looked at when: the moment its next message is due, None while one
# is on its way or nothing waits.  What is held back costs nobody a look.
conversations = Table(
    "conversations",
    metadata,
    _app(primary_key=True),
    _chat(primary_key=True),
    Column("user_id", Text, primary_key=True),
    _when("due_at", optional=True),
    _partial("ix_conversations_due_at", "due_at", where="due_at IS NOT NULL"),
    sqlite_with_rowid=False,
)

# What was put up for a task, and what each card can still be changed with.
cards = Table(
    "cards",
    metadata,
    Column("card_id", Text, primary_key=True),
    Column("task_id", Text, nullable=False),
    Column("handle", Text),
    _when("handle_until", optional=True),
    # 1: it was overtaken, and is to be changed once.
    Column("over", Integer, nullable=False, server_default=text("0")),
    Index("ix_cards_task_id", "task_id"),
    sqlite_with_rowid=False,
)

# What keeps an app from sending at all: a row for each that is, for whoever looks in.
holds = Table(
    "holds",
    metadata,
    Column("app", Text, primary_key=True),
    Column("code", Text, nullable=False),
    Column("errcode", Integer),
    Column("errmsg", Text, nullable=False),
    _when("since_at"),
    _when("until_at"),
    sqlite_with_rowid=False,
)

# The hash-chained audit log (R58).  Append-only.
audit = Table(
    "audit",
    metadata,
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("prev", LargeBinary, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

# The newest head that each agent signed: its own chain's (``seq``, ``hash``), and with it what it
# holds of this one (``own_seq``, ``own_hash``): the countersignature.  ``public_key`` verifies
# ``frame``, also after the agent has rotated its key.
heads = Table(
    "heads",
    metadata,
    Column("agent_id", Text, ForeignKey("agents.agent_id"), primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    Column("own_seq", BigInteger, nullable=False),
    Column("own_hash", LargeBinary, nullable=False),
    Column("public_key", LargeBinary, nullable=False),
    Column("frame", LargeBinary, nullable=False),
    _when("at"),
)

# The newest head of the audit log that this gateway signed: one row.
signed_heads = Table(
    "signed_heads",
    metadata,
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("hash", LargeBinary, nullable=False),
    _when("at"),
    Column("public_key", LargeBinary, nullable=False),
    Column("signature", LargeBinary, nullable=False),
)
