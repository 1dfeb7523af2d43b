"""Store functions of tasks: what was asked of which machine, and what its agent says of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from common.errors import StoreError
from common.ids import new_short_id
from common.model.state import Reason, TaskState
from common.sentences import Lang
from common.text import CHAT_BYTES, clip_bytes
from gateway.base.messages import Conversation, Person
from gateway.store import Connection, Row, as_record

# With 32 letters and 4 places a conflict is rare; after three of them the space is getting full.
SHORT_TRIES: Final = 3
ALL_TRIES: Final = 16

_COLUMNS = (
    "task_id",
    "short_id",
    "agent_id",
    "app",
    "user_id",
    "chat",
    "channel",
    "text",
    "lang",
    "state",
    "envelope_sha256",
    "created_at",
    "updated_at",
    "expires_at",
)
_TAKEN = "SELECT 1 AS one FROM tasks WHERE agent_id = :agent_id AND short_id = :short_id"
_CREATE = """
    INSERT INTO tasks (task_id, short_id, agent_id, app, user_id, chat, channel, text, lang, state,
    envelope_sha256, created_at, updated_at, expires_at)
    VALUES (:task_id, :short_id, :agent_id, :app, :user_id, :chat, :channel, :text, :lang, :state,
    :envelope_sha256, :created_at, :updated_at, :expires_at)"""
_FIND = "SELECT * FROM tasks WHERE task_id = :task_id"
_NAMED = """
    SELECT * FROM tasks WHERE user_id = :user_id AND app = :app AND short_id = :short_id
    ORDER BY created_at DESC"""
_OPEN_OF = """
    SELECT * FROM tasks WHERE user_id = :user_id AND app = :app AND reason IS NULL
    ORDER BY created_at DESC LIMIT :limit"""
# With the plus it reads the open ones of everybody, and not all that the agent ever had.
_OPEN_ON = """
    SELECT * FROM tasks WHERE +agent_id = :agent_id AND reason IS NULL ORDER BY created_at"""
# Queued for an agent by people whom it does not work for, or who are no members any more.
_UNWELCOME = """
    SELECT t.* FROM mailbox m JOIN tasks t ON t.task_id = m.task_id
    WHERE m.agent_id = :agent_id AND m.acked_at IS NULL AND m.typ = 'task' AND NOT EXISTS (
        SELECT 1 FROM bindings b JOIN members p ON p.app = b.app AND p.user_id = b.user_id
        WHERE b.agent_id = m.agent_id AND b.app = t.app AND b.user_id = t.user_id
    ) ORDER BY t.created_at"""
_TO_CANCEL = """
    SELECT * FROM tasks WHERE agent_id = :agent_id AND reason IS NULL
    AND cancel_asked_at IS NOT NULL"""
_ORPHANS = """
    SELECT t.* FROM tasks t JOIN agents a ON a.agent_id = t.agent_id
    WHERE t.reason IS NULL AND a.revoked_at IS NOT NULL LIMIT :limit"""
# The plus keeps SQLite to the index of open tasks: by time it would read all that ever ended.
_SILENT = """
    SELECT t.* FROM tasks t WHERE t.reason IS NULL AND +t.updated_at < :before AND NOT EXISTS (
        SELECT 1 FROM mailbox m
        WHERE m.agent_id = t.agent_id AND m.task_id = t.task_id AND m.typ = 'task'
        AND m.acked_at IS NULL
    ) LIMIT :limit"""
# Read in the order in which it is written: from the few tasks that are open.
_STRANDED = """
    SELECT t.*, a.machine, a.epoch, a.last_seen_at AS since_at, m.seq AS unacked
    FROM tasks t CROSS JOIN agents a LEFT JOIN mailbox m ON m.agent_id = t.agent_id
    AND m.task_id = t.task_id AND m.typ = 'task' AND m.acked_at IS NULL
    WHERE t.reason IS NULL AND t.cancel_asked_at IS NULL AND a.agent_id = t.agent_id
    AND a.connected_at IS NULL AND a.revoked_at IS NULL AND a.last_seen_at <= :before
    AND (m.seq IS NULL OR m.away_epoch IS NULL OR m.away_epoch <> a.epoch)
    ORDER BY t.created_at, t.task_id"""
_LAST_OPEN = """
    SELECT state FROM task_events WHERE task_id = :task_id AND reason IS NULL
    ORDER BY seq DESC LIMIT 1"""
_NEWEST = "SELECT * FROM tasks ORDER BY created_at DESC, task_id DESC LIMIT :limit"
_NEWEST_OPEN = """
    SELECT * FROM tasks WHERE reason IS NULL ORDER BY created_at DESC, task_id DESC LIMIT :limit"""
_CHANGE = """
    UPDATE tasks SET state = :state, reason = :reason, presumed = :presumed, message = :message,
    seal_code = :seal_code, waiting_until = :waiting_until, updated_at = :at
    WHERE task_id = :task_id"""
_FIRST_EVENT = """
    INSERT INTO task_events (task_id, seq, state, at) VALUES (:task_id, 1, :state, :at)"""
_EVENT = """
    INSERT INTO task_events (task_id, seq, state, reason, message, at)
    SELECT :task_id, COALESCE(MAX(seq), 0) + 1, :state, :reason, :message, :at
    FROM task_events WHERE task_id = :task_id"""
_TIMES = """
    SELECT COUNT(*) AS found FROM task_events WHERE task_id = :task_id AND state = :state"""
_SPEAK = """
    UPDATE tasks SET lang = :lang
    WHERE user_id = :user_id AND app = :app AND reason IS NULL AND lang <> :lang"""
_PROGRESS = "UPDATE tasks SET message = :message, updated_at = :at WHERE task_id = :task_id"
_ASK_CANCEL = """
    UPDATE tasks SET cancel_asked_at = :at WHERE task_id = :task_id AND cancel_asked_at IS NULL"""
_OLD = "SELECT task_id FROM tasks WHERE reason IS NOT NULL AND updated_at < :before LIMIT :limit"
_PURGE = (
    "DELETE FROM task_events WHERE task_id = :task_id",
    "DELETE FROM cards WHERE task_id = :task_id",
    "DELETE FROM tasks WHERE task_id = :task_id",
)


@dataclass(frozen=True, slots=True)
class Task:
    """One task.

    Attributes:
        task_id: UUIDv7.
        short_id: Its name for people, unique for its machine.
        app: Name of the app that it was asked through.
        user_id: Who is said to have asked.
        chat: Id of the group that it was asked in; empty where they are alone with the app.
        lang: Language of everything that is told about it.
        envelope_sha256: Names the signed envelope; a result must name the same one (R18).
        expires_at: Until when it may wait for its machine, in milliseconds since the epoch.
        reason: How it ended; None while it is open.
        presumed: The gateway ended it by its own clock, without word from the agent.
        message: The last thing that the agent said of it.
        seal_code: Short code of what waits for approval.
        waiting_until: When that approval expires, in milliseconds since the epoch.
        cancel_asked_at: Since when its member wants it stopped.
    """

    task_id: str
    short_id: str
    agent_id: str
    app: str
    user_id: str
    chat: str
    channel: str
    text: str
    lang: Lang
    state: TaskState
    envelope_sha256: str
    created_at: int
    updated_at: int
    expires_at: int
    reason: Reason | None = None
    presumed: int = 0
    message: str | None = None
    seal_code: str | None = None
    waiting_until: int | None = None
    cancel_asked_at: int | None = None

    def __post_init__(self) -> None:
        """Take the state and the reason from the text in which they are stored."""
        object.__setattr__(self, "state", TaskState(self.state))
        if self.reason is not None:
            object.__setattr__(self, "reason", Reason(self.reason))

    @property
    def conversation(self) -> Conversation:
        """Where it was asked for, and is told of."""
        return Conversation(self.channel, self.app, self.user_id, self.chat)

    @property
    def person(self) -> Person:
        """Who is said to have asked."""
        return Person(self.app, self.user_id)


@dataclass(frozen=True, slots=True)
class Stranded:
    """An unfinished task of a machine that is gone.

    Attributes:
        machine: Its name.
        epoch: Of its last connection: it names the outage.
        since_at: Since when it is gone, in milliseconds since the epoch.
        waits: It did not take the task in.
    """

    task: Task
    machine: str
    epoch: int
    since_at: int
    waits: bool


@dataclass(frozen=True, slots=True)
class Change:
    """What a task becomes.

    Attributes:
        message: Words of the agent; kept within the size of a chat message.
    """

    state: TaskState
    reason: Reason | None = None
    message: str | None = None
    seal_code: str | None = None
    waiting_until: int | None = None
    presumed: bool = False


def _tasks(rows: list[Row]) -> list[Task]:
    return [as_record(Task, row) for row in rows]


def free_short_id(
    conn: Connection, agent_id: str, *, mint: Callable[..., str] = new_short_id
) -> str:
    """Return a short ID that no task of the agent has.

    Raises:
        StoreError: ``store.no-short-id`` when even five characters find none.
    """
    for tried in range(ALL_TRIES):
        short_id = mint("gateway", length=4 if tried < SHORT_TRIES else 5)
        if conn.one(_TAKEN, agent_id=agent_id, short_id=short_id) is None:
            return short_id
    raise StoreError("store.no-short-id", agent_id=agent_id)


def create(conn: Connection, task: Task) -> None:
    """Add a task with its first event."""
    conn.run(_CREATE, **{name: getattr(task, name) for name in _COLUMNS})
    conn.run(_FIRST_EVENT, task_id=task.task_id, state=task.state.value, at=task.created_at)


def find(conn: Connection, task_id: str) -> Task | None:
    """Return a task by its UUID."""
    row = conn.one(_FIND, task_id=task_id)
    return as_record(Task, row) if row else None


def named(conn: Connection, person: Person, short_id: str) -> list[Task]:
    """Return a member's own tasks of that short ID; more than one only across machines."""
    return _tasks(conn.all(_NAMED, app=person.app, user_id=person.user, short_id=short_id))


def open_of(conn: Connection, person: Person, *, limit: int) -> list[Task]:
    """Return a member's unfinished tasks, the newest first."""
    return _tasks(conn.all(_OPEN_OF, app=person.app, user_id=person.user, limit=limit))


def open_on(conn: Connection, agent_id: str) -> list[Task]:
    """Return an agent's unfinished tasks, the oldest first."""
    return _tasks(conn.all(_OPEN_ON, agent_id=agent_id))


def unwelcome(conn: Connection, agent_id: str) -> list[Task]:
    """Return what is queued for an agent by people who may not ask it any more."""
    return _tasks(conn.all(_UNWELCOME, agent_id=agent_id))


def to_cancel(conn: Connection, agent_id: str) -> list[Task]:
    """Return an agent's unfinished tasks that their members want stopped."""
    return _tasks(conn.all(_TO_CANCEL, agent_id=agent_id))


def orphans(conn: Connection, *, limit: int) -> list[Task]:
    """Return unfinished tasks of agents whose keys were revoked: no word of them can come."""
    return _tasks(conn.all(_ORPHANS, limit=limit))


def silent(conn: Connection, *, before_ms: int, limit: int) -> list[Task]:
    """Return unfinished tasks that their machines hold and have not spoken of since then."""
    return _tasks(conn.all(_SILENT, before=before_ms, limit=limit))


def stranded(conn: Connection, *, before_ms: int) -> list[Stranded]:
    """Return what is open on machines that went before then, but for what was asked since."""
    return [
        Stranded(
            as_record(Task, row),
            row["machine"],
            row["epoch"],
            row["since_at"],
            waits=row["unacked"] is not None,
        )
        for row in conn.all(_STRANDED, before=before_ms)
    ]


def last_open_state(conn: Connection, task_id: str) -> TaskState:
    """Return the state that a task was in before it ended."""
    row = conn.one(_LAST_OPEN, task_id=task_id)
    return TaskState(row["state"]) if row else TaskState.RECEIVED


def newest(conn: Connection, *, limit: int, ended_too: bool = True) -> list[Task]:
    """Return the newest tasks of everybody, for an admin's listing."""
    return _tasks(conn.all(_NEWEST if ended_too else _NEWEST_OPEN, limit=limit))


def change(conn: Connection, task_id: str, to: Change, *, at_ms: int) -> None:
    """Give a task a state and append the event.  Whether it may is for the caller to have asked."""
    conn.run(
        _CHANGE,
        task_id=task_id,
        state=to.state.value,
        reason=to.reason.value if to.reason else None,
        presumed=int(to.presumed),
        message=_clipped(to.message),
        seal_code=to.seal_code,
        waiting_until=to.waiting_until,
        at=at_ms,
    )
    _add_event(conn, task_id, to, at_ms=at_ms)


def note_progress(conn: Connection, task_id: str, message: str, *, at_ms: int) -> None:
    """Keep the last line of a task whose state stays; hours of them make no history."""
    conn.run(_PROGRESS, task_id=task_id, message=_clipped(message), at=at_ms)


def speak(conn: Connection, person: Person, lang: Lang) -> None:
    """Have the open tasks of a person spoken of in another language."""
    conn.run(_SPEAK, app=person.app, user_id=person.user, lang=lang)


def times_in(conn: Connection, task_id: str, state: TaskState) -> int:
    """Return how often a task was said to come into a state."""
    row = conn.one(_TIMES, task_id=task_id, state=state.value)
    return int(row["found"]) if row else 0


def ask_cancel(conn: Connection, task_id: str, *, at_ms: int) -> None:
    """Note that its member wants a task stopped."""
    conn.run(_ASK_CANCEL, task_id=task_id, at=at_ms)


def purge(conn: Connection, *, before_ms: int, limit: int = 500) -> int:
    """Forget tasks that ended before ``before_ms``; their short IDs are free again."""
    old = conn.all(_OLD, before=before_ms, limit=limit)
    for row in old:
        for sql in _PURGE:
            conn.run(sql, task_id=row["task_id"])
    return len(old)


def _add_event(conn: Connection, task_id: str, to: Change, *, at_ms: int) -> None:
    conn.run(
        _EVENT,
        task_id=task_id,
        state=to.state.value,
        reason=to.reason.value if to.reason else None,
        message=_clipped(to.message),
        at=at_ms,
    )


def _clipped(message: str | None) -> str | None:
    return None if message is None else clip_bytes(message, CHAT_BYTES)
