"""Store functions of the outbox: chat messages on their way to people, in order for each of them.

A row is ``queued``, then ``sending``, then ``sent``, ``failed`` or ``dropped``.  A crash while one
is ``sending`` leaves it unknown whether it arrived: it is sent again, marked ``repeated``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Final, Literal

from gateway.base.messages import Card, Conversation, Person, SendOutcome
from gateway.store import Connection, Row, as_record

Kind = Literal["reply", "progress"]

PROGRESS_MS: Final = 15_000  # between two progress lines of one task
# A task that was taken is usually waiting for approval or answered by then, and that says more.
RECEIPT_MS: Final = 2_000
PASSIVE: Final = "channel.passive"  # said in the answer to the very request that brought it
PROBE_MS: Final = 30_000  # within which it is known whether a held app sends again

_NO_ID: Final = 2**62  # above every one that is given

_PUT = """
    INSERT INTO outbox
    (key, channel, app, user_id, chat, kind, task_id, text, card, state, code, created_at, due_at,
    ended_at)
    VALUES
    (:key, :channel, :app, :user_id, :chat, :kind, :task_id, :text, :card, :state, :code, :at,
    :due_at, :ended_at)
    ON CONFLICT (key) DO NOTHING"""
_SAID = "SELECT text FROM outbox WHERE key = :key AND code = :code"
_LET_SAY_AGAIN = """
    UPDATE outbox SET key = key || ':' || id WHERE key = :key AND created_at <= :before"""
_MERGE = """
    UPDATE outbox SET text = :text,
    due_at = CASE WHEN due_at > :due_at THEN :due_at ELSE due_at END
    WHERE task_id = :task_id AND kind = 'progress' AND state = 'queued'"""
_LAST_PROGRESS = """
    SELECT MAX(ended_at) AS at FROM outbox
    WHERE task_id = :task_id AND kind = 'progress' AND state <> 'dropped'"""
_DROP_PROGRESS = """
    UPDATE outbox SET state = 'dropped', ended_at = :at
    WHERE task_id = :task_id AND state = 'queued'
    AND (kind = 'progress' AND key LIKE :keys OR key LIKE 'notice:%')
    RETURNING app, chat, user_id"""
_NOTIFIED = """
    SELECT DISTINCT app, user_id FROM outbox
    WHERE task_id = :task_id AND key LIKE 'notice:%' AND state IN ('sending', 'sent')"""
_TOLD_AT = """
    SELECT COALESCE(MAX(told_at), 0) AS at FROM (
        SELECT :never AS told_at FROM outbox WHERE key = :key
        UNION ALL SELECT created_at FROM outbox
        WHERE task_id = :task_id AND key LIKE :keys AND state <> 'dropped'
    ) AS told"""
_DROP_CARDS = """
    UPDATE outbox SET state = 'dropped', ended_at = :at
    WHERE task_id = :task_id AND card IS NOT NULL AND state = 'queued'
    AND (key LIKE 'waiting:%' OR kind = 'progress')
    RETURNING app, chat, user_id, card, due_at"""
# The replies of a conversation go in order; a progress line waits for its time, and holds nobody up
# till then.  The same condition twice: only where it stands literally is the index of open rows
# taken.
_OF_PERSON = "state IN ('queued', 'sending') AND user_id = :user_id AND app = :app"
_OPEN = f"{_OF_PERSON} AND chat = :chat"
_RECKON = f"""
    INSERT INTO conversations (app, chat, user_id, due_at)
    SELECT :app, :chat, :user_id, CASE
        WHEN EXISTS (SELECT 1 FROM outbox WHERE {_OPEN} AND state = 'sending') THEN NULL
        ELSE (SELECT MIN(due_at) FROM (
            SELECT due_at FROM outbox WHERE id = head.id
            UNION ALL
            SELECT due_at FROM outbox WHERE {_OPEN} AND state = 'queued' AND kind = 'progress'
            AND id < head.id
        ) AS candidates)
    END FROM (
        SELECT COALESCE(MIN(id), {_NO_ID}) AS id FROM outbox
        WHERE {_OPEN} AND state = 'queued' AND kind = 'reply'
    ) AS head WHERE 1 = 1
    ON CONFLICT (app, chat, user_id) DO UPDATE SET due_at = excluded.due_at"""  # noqa: S608  # our own names
_DUE = """
    SELECT app, chat, user_id FROM conversations
    WHERE due_at <= :now ORDER BY due_at LIMIT :limit"""
_NEXT_DUE = "SELECT MIN(due_at) AS due_at FROM conversations WHERE due_at > :now"
_FIRST_REPLY = f"""
    SELECT * FROM outbox WHERE {_OPEN} AND state = 'queued' AND kind = 'reply'
    ORDER BY id LIMIT 1"""  # noqa: S608  # our own names
_FIRST_PROGRESS = f"""
    SELECT * FROM outbox WHERE {_OPEN} AND state = 'queued' AND kind = 'progress'
    AND due_at <= :now ORDER BY id LIMIT 1"""  # noqa: S608  # our own names
_DROP = f"""
    UPDATE outbox SET state = 'dropped', ended_at = :at WHERE {_OF_PERSON} AND state = 'queued'
    RETURNING app, chat, user_id"""  # noqa: S608  # our own names
_DUE_OF = """
    SELECT app, chat, user_id FROM conversations
    WHERE due_at <= :now AND +app = :app ORDER BY due_at LIMIT 1"""
_HOLD_BACK = "UPDATE conversations SET due_at = :until WHERE due_at <= :now AND +app = :app"
_LET_GO = "UPDATE conversations SET due_at = :now WHERE due_at > :now AND +app = :app"
_LET_ALL_GO = "UPDATE conversations SET due_at = 0 WHERE due_at > 0"
_CLAIM = """
    UPDATE outbox SET state = 'sending', attempts = attempts + 1,
    tried_at = COALESCE(tried_at, :now) WHERE id = :id"""
_END = """
    UPDATE outbox SET state = :state, code = :code, errcode = :errcode, errmsg = :errmsg,
    ended_at = :at WHERE id = :id
    RETURNING app, chat, user_id"""
# Once each, however often it was tried: the pace is WeCom's, and it drops the copies itself.
_TRIED = f"""
    SELECT channel, app, user_id, chat, ended_at AS at FROM outbox
    WHERE ended_at > :since AND state = 'sent' AND code <> '{PASSIVE}'
    UNION ALL SELECT channel, app, user_id, chat, tried_at AS at FROM outbox
    WHERE state IN ('queued', 'sending') AND tried_at > :since
    ORDER BY at"""  # noqa: S608  # our own names
_WAITS = "SELECT 1 FROM conversations WHERE due_at IS NOT NULL LIMIT 1"
_PUT_BACK = """
    UPDATE outbox SET state = 'queued', code = :code, errcode = :errcode, errmsg = :errmsg,
    due_at = :due_at,
    attempts = attempts - :uncounted,
    repeated = CASE WHEN :repeated > repeated THEN :repeated ELSE repeated END WHERE id = :id
    RETURNING app, chat, user_id"""
_RECOVER = """
    UPDATE outbox SET state = 'queued', repeated = CASE repeated WHEN 0 THEN 1 ELSE repeated END
    WHERE state IN ('queued', 'sending') AND state = 'sending'
    RETURNING app, chat, user_id"""
_HOLD = """
    INSERT INTO holds (app, code, errcode, errmsg, since_at, until_at)
    VALUES (:app, :code, :errcode, :errmsg, :since_at, :until_at)"""
_RELEASE = "DELETE FROM holds WHERE app = :app"
# What waits for a try of its own too: the last one failed for the reason that is gone now.
_ALL_DUE = """
    UPDATE outbox SET due_at = created_at
    WHERE state IN ('queued', 'sending') AND state = 'queued' AND kind = 'reply'
    AND due_at > created_at"""
_ALL_DUE_OF = f"{_ALL_DUE} AND app = :app"
_RELEASE_ALL = "DELETE FROM holds"
_HOLDS = "SELECT * FROM holds ORDER BY app"
_PURGE = "DELETE FROM outbox WHERE ended_at < :before"
_PURGE_CONVERSATIONS = """
    DELETE FROM conversations WHERE due_at IS NULL AND NOT EXISTS (
        SELECT 1 FROM outbox o WHERE o.user_id = conversations.user_id
        AND o.app = conversations.app AND o.chat = conversations.chat
        AND o.state IN ('queued', 'sending'))"""


@dataclass(frozen=True, slots=True)
class Message:
    """One message to a person.

    Attributes:
        key: Idempotency key: the same occasion never makes two messages.
        attempts: Tries before this one.
        repeated: 0 while no earlier try can have arrived, then 1; one more each time that an admin
            has it sent again.
        card: What it shows where its channel has cards, as JSON.
        tried_at: When it was tried first, milliseconds since the epoch.
        created_at: Milliseconds since the epoch.
        due_at: Not to be sent before, milliseconds since the epoch.
    """

    id: int
    key: str
    channel: str
    app: str
    user_id: str
    chat: str
    kind: Kind
    task_id: str | None
    text: str
    card: str | None
    attempts: int
    repeated: int
    tried_at: int | None
    created_at: int
    due_at: int

    @property
    def to(self) -> Conversation:
        """Where it goes."""
        return Conversation(self.channel, self.app, self.user_id, self.chat)


@dataclass(frozen=True, slots=True)
class Hold:
    """What keeps an app from sending at all.

    Attributes:
        code: Dotted name of what came of the last try.
        errcode: The channel's own number, if it answered.
        errmsg: Its words or ours, on one line.
        since_at: Milliseconds since the epoch.
        until_at: When one message is tried again.
    """

    app: str
    code: str
    errcode: int | None
    errmsg: str
    since_at: int
    until_at: int


@dataclass(frozen=True, slots=True)
class Claim:
    """What is to be sent now, and when to look again; None when nothing waits for its time."""

    messages: tuple[Message, ...]
    next_due_at: int | None


def put(
    conn: Connection,
    key: str,
    text: str,
    *,
    to: Conversation,
    at_ms: int,
    task_id: str | None = None,
    kind: Kind = "reply",
    due_at: int | None = None,
    card: Card | None = None,
    said: bool = False,
) -> bool:
    """Queue a message, or note one that is ``said`` at once; False when there was its key."""
    added = conn.run(
        _PUT,
        key=key,
        channel=to.channel,
        app=to.app,
        user_id=to.user,
        chat=to.chat,
        kind=kind,
        task_id=task_id,
        text=text,
        card=card.to_json() if card else None,
        at=at_ms,
        due_at=at_ms if due_at is None else due_at,
        state="sent" if said else "queued",
        code=PASSIVE if said else None,
        ended_at=at_ms if said else None,
    )
    if added and not said:
        _reckon(conn, to)
    return added == 1


def find_said(conn: Connection, key: str) -> str | None:
    """Return what was said at once under a key."""
    row = conn.one(_SAID, key=key, code=PASSIVE)
    return row["text"] if row else None


def let_say_again(conn: Connection, key: str, *, before_ms: int) -> None:
    """Let a key be used once more when what it was used for is as old as that."""
    conn.run(_LET_SAY_AGAIN, key=key, before=before_ms)


def put_progress(
    conn: Connection,
    key: str,
    text: str,
    *,
    to: Conversation,
    task_id: str,
    at_ms: int,
    after_ms: int = 0,
) -> None:
    """Queue a progress line, in the place of one that still waits, and not too soon after one.

    Args:
        conn: A writing transaction.
        key: Idempotency key.
        text: The line.
        to: Where to.
        task_id: Of what; what is told of its end takes the line back.
        at_ms: The moment, milliseconds since the epoch.
        after_ms: How long it waits for something truer.
    """
    row = conn.one(_LAST_PROGRESS, task_id=task_id)
    last = row["at"] if row else None
    due_at = at_ms + after_ms
    if last is not None:
        due_at = max(due_at, last + PROGRESS_MS)
    if conn.run(_MERGE, task_id=task_id, text=text, due_at=due_at):
        _reckon(conn, to)
        return
    put(
        conn,
        f"progress:{key}",
        text,
        to=to,
        at_ms=at_ms,
        task_id=task_id,
        kind="progress",
        due_at=due_at,
    )


def drop_progress(conn: Connection, task_id: str, *, at_ms: int, told: bool | None) -> None:
    """Take back a progress line, and what approvers are told, that newer news has overtaken.

    Args:
        conn: A writing transaction.
        task_id: Of what.
        at_ms: The moment, milliseconds since the epoch.
        told: Whether the news are told: then nobody needs to hear that the task was taken.  None
            leaves the lines and takes back what approvers are told alone.
    """
    keys = {True: "%", False: "progress:%", None: ""}[told]
    reckon_each(conn, conn.all(_DROP_PROGRESS, task_id=task_id, at=at_ms, keys=keys))


def notified(conn: Connection, task_id: str) -> set[Person]:
    """Return to which approvers it went, or is going, out that a task waits."""
    rows = conn.all(_NOTIFIED, task_id=task_id)
    return {Person(row["app"], row["user_id"]) for row in rows}


def told_at(conn: Connection, task_id: str, key: str, *, prefix: str) -> int:
    """Return when the newest message of a kind was queued for a task; far ahead if of this key."""
    row = conn.one(_TOLD_AT, task_id=task_id, key=key, keys=f"{prefix}:%", never=_NO_ID)
    return int(row["at"]) if row else 0


def drop_cards(conn: Connection, task_id: str, *, at_ms: int) -> dict[str, int]:
    """Take back a card that waits to be sent, and would say what is no longer so, and its end.

    Returns:
        When each was to be sent, by its id.
    """
    dropped = conn.all(_DROP_CARDS, task_id=task_id, at=at_ms)
    reckon_each(conn, dropped)
    found = ((Card.from_json(row["card"]), row["due_at"]) for row in dropped)
    return {card.card_id: due_at for card, due_at in found if not card.over}


def drop(conn: Connection, person: Person, *, at_ms: int) -> None:
    """Take back all that waits for a person, in whichever conversation."""
    reckon_each(conn, conn.all(_DROP, app=person.app, user_id=person.user, at=at_ms))


def claim(
    conn: Connection, *, now_ms: int, limit: int, held: Mapping[str, int] = MappingProxyType({})
) -> Claim:
    """Take up to ``limit`` messages that are due, of each conversation the oldest.

    Args:
        conn: A writing transaction.
        now_ms: The moment, milliseconds since the epoch.
        limit: Of all apps together.
        held: Until when an app's messages are held back; then one of them is taken, to see whether
            it goes again, and the others wait for what comes of it.
    """
    probes = [
        row
        for app, until in held.items()
        if until <= now_ms
        for row in conn.all(_DUE_OF, app=app, now=now_ms)
    ]
    for app, until in held.items():
        back = until if until > now_ms else now_ms + PROBE_MS
        conn.run(_HOLD_BACK, app=app, now=now_ms, until=back)
    due = [*probes, *conn.all(_DUE, now=now_ms, limit=limit)]
    found = [message for row in due if (message := _head(conn, _key(row), now_ms))]
    for message in found:
        conn.run(_CLAIM, id=message.id, now=now_ms)
    reckon_each(conn, due)
    row = conn.one(_NEXT_DUE, now=now_ms)
    return Claim(tuple(found), row["due_at"] if row else None)


def end(
    conn: Connection,
    message_id: int,
    state: Literal["sent", "failed", "dropped"],
    outcome: SendOutcome,
    *,
    at_ms: int,
) -> bool:
    """Note that a message was sent, or never can be; False when nothing else waits."""
    ended = conn.all(_END, id=message_id, state=state, at=at_ms, **_why(outcome))
    reckon_each(conn, ended)
    return conn.one(_WAITS) is not None


def put_back(
    conn: Connection, message_id: int, outcome: SendOutcome, *, due_at: int, counted: bool
) -> None:
    """Queue a claimed message again.

    Args:
        conn: A writing transaction.
        message_id: The message.
        outcome: Of the try.
        due_at: Not to be sent before, milliseconds since the epoch.
        counted: Whether it was a try at all.
    """
    back = conn.all(
        _PUT_BACK,
        id=message_id,
        due_at=due_at,
        repeated=int(outcome.maybe_sent),
        uncounted=int(not counted),
        **_why(outcome),
    )
    reckon_each(conn, back)


def _why(outcome: SendOutcome) -> dict[str, object]:
    return {"code": outcome.code, "errcode": outcome.errcode, "errmsg": outcome.errmsg}


def hold(conn: Connection, hold: Hold) -> None:
    """Note what keeps an app from sending, and have the next of its messages tried in time."""
    conn.run(_RELEASE, app=hold.app)
    conn.run(_LET_GO, app=hold.app, now=hold.until_at)
    conn.run(_HOLD, **{field.name: getattr(hold, field.name) for field in fields(hold)})


def release(conn: Connection, app: str, *, now_ms: int) -> None:
    """Note that an app sends again, and have everything sent that was held back."""
    conn.run(_RELEASE, app=app)
    conn.run(_ALL_DUE_OF, app=app)
    conn.run(_LET_GO, app=app, now=now_ms)


def tried(conn: Connection, *, since_ms: int) -> list[tuple[Conversation, int]]:
    """Return where messages went, or may have gone, since then, and when; the oldest first."""
    rows = conn.all(_TRIED, since=since_ms)
    return [
        (Conversation(row["channel"], row["app"], row["user_id"], row["chat"]), row["at"])
        for row in rows
    ]


def holds(conn: Connection) -> list[Hold]:
    """Return what keeps each app from sending that does not."""
    return [as_record(Hold, row) for row in conn.all(_HOLDS)]


def recover(conn: Connection) -> int:
    """Queue again, at the start of the server, what a crash left half sent; and let all go."""
    conn.run(_RELEASE_ALL)  # what holds now is found out anew
    left = conn.all(_RECOVER)
    conn.run(_ALL_DUE)
    conn.run(_LET_ALL_GO)
    reckon_each(conn, left)
    return len(left)


def purge(conn: Connection, *, before_ms: int) -> int:
    """Forget messages that ended before ``before_ms``, and who has had none since."""
    ended = conn.run(_PURGE, before=before_ms)
    conn.run(_PURGE_CONVERSATIONS)
    return ended


def _head(conn: Connection, key: Mapping[str, str], now_ms: int) -> Message | None:
    rows = (conn.one(_FIRST_REPLY, **key), conn.one(_FIRST_PROGRESS, **key, now=now_ms))
    first = min(
        (as_record(Message, row) for row in rows if row), key=lambda one: one.id, default=None
    )
    return first if first and first.due_at <= now_ms else None


def _reckon(conn: Connection, of: Conversation) -> None:
    """Note when a conversation's outbox is to be looked at next; after every change of it."""
    conn.run(_RECKON, app=of.app, chat=of.chat, user_id=of.user)


def reckon_each(conn: Connection, rows: list[Row]) -> None:
    """Note when each conversation of these rows is to be looked at next."""
    for key in {tuple(_key(row).items()) for row in rows}:
        conn.run(_RECKON, **dict(key))


def _key(row: Row) -> dict[str, str]:
    return {name: row[name] for name in ("app", "chat", "user_id")}
