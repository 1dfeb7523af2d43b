"""What the gateway sent: journaled first, acknowledged afterwards, accepted once (R17, P3).

`Inbox.accept` is one transaction: number, message id, task or cancel, events and reports.  When it
returns, the message may be acknowledged; until then it comes again.
"""

from __future__ import annotations

from functools import partial
from typing import Final, Literal, cast

from common.clock import Clock
from common.errors import (
    AuthError,
    InputError,
    LocalProtocolError,
    RemoteProtocolError,
    UnavailableError,
)
from common.ids import minted_by, parse_short_id
from common.model.state import Reason, TaskState, final_of
from common.protocol.bodies import CancelBody, HeadBody, RekeyBody, TaskBody
from common.protocol.envelope import Envelope, announced_key
from common.sentences import Lang, Sentence, say
from local_agent.store.audit_log import AuditLog
from local_agent.store.database import Database
from local_agent.store.endings import write_ending
from local_agent.store.heads import Heads
from local_agent.store.outbox import Outbox, Peer
from local_agent.store.peers import Peers
from local_agent.store.tasks import Change, NewTask, Tasks

SHORT_ID_REFUSED = Sentence(
    en="The ID {short_id} already names another task on the machine. Nothing was done; send it "
    "again.",
    zh="编号 {short_id} 在开发机上已用于其他任务。没有执行任何操作；请重新发送。",
)
MACHINE_FULL = Sentence(
    en="The machine has {limit} open tasks from the chat, the most it takes. Nothing was done; "
    "send it again when some have ended.",
    zh="开发机上来自聊天的未完成任务已达上限（{limit} 个）。没有执行任何操作；请稍后重新发送。",
)
EXPIRED_ON_ARRIVAL = Sentence(
    en="It reached the machine too late, so nothing was done. Send it again.",
    zh="任务送达开发机时已过期，没有执行任何操作。请重新发送。",
)


Accepted = Literal["new", "duplicate", "refused", "expired", "cancel", "noted", "forked"]

MAX_OPEN_TASKS: Final = 200  # of the gateway's at one time; one more is refused
MAX_HOURLY: Final = 2_000  # messages taken in within an hour at any speed …
MAX_HOURLY_CHARS: Final = 4_000_000  # of what is asked in them: it is kept for 90 days
MAX_REKEYS: Final = 10  # of them, that bring another key, within a day; an honest one brings four

_HOUR_MS: Final = 3_600_000
SLOWLY_MS: Final = _HOUR_MS // MAX_HOURLY  # … and from then on one in so long
_DAY_MS: Final = 24 * _HOUR_MS
_KEEP_MS: Final = 30 * 86_400_000  # far beyond the life of any envelope; numbers guard for ever


class Inbox:
    """Counts what one gateway sent, and turns it into tasks."""

    def __init__(
        self,
        db: Database,
        clock: Clock,
        *,
        peer: Peer | None,
        tasks: Tasks,
        peers: Peers,
        outbox: Outbox,
        heads: Heads,
        audit: AuditLog,
    ) -> None:
        self._db = db
        self._clock = clock
        self._peer = peer
        self._tasks = tasks
        self._peers = peers
        self._outbox = outbox
        self._heads = heads
        self._audit = audit

    def last_seq(self) -> int:
        """Return the highest number taken from this gateway; 0 before the first."""
        row = self._db.one("SELECT received_seq FROM peers WHERE peer = ?", self._name)
        return int(row[0]) if row else 0

    def accept(self, envelope: Envelope) -> Accepted:
        """Take one verified envelope, of any type that a gateway sends.

        Returns:
            ``new``: a task to begin.  ``refused`` or ``expired``: a task that was recorded and
            ended, its result on the way back.  ``cancel``: its task is to be cancelled, which the
            row remembers.  ``noted``: nothing to do.  ``forked``: it contradicts the audit log.
            ``duplicate``: known, nothing was changed but the count.

        Raises:
            RemoteProtocolError: ``sequence-gap``: the link let something through that it must not.
            UnavailableError: ``inbox.too-fast``, ``inbox.too-much``, ``inbox.too-many-keys`` or
                ``inbox.unheard``: more than a journal may grow by; nothing was written, and it is
                to be tried again later.
            StoreError: nothing was written; do not acknowledge.
        """
        header = envelope.header
        with self._db.transaction():
            last = self.last_seq()
            if header.seq <= last:
                return "duplicate"
            if header.seq > last + 1:
                raise RemoteProtocolError("sequence-gap", expected=last + 1, seq=header.seq)
            self._check_pace(header.seq)
            if header.typ == "rekey":
                self._check_rekeys()
            fresh = self._note(envelope)
            if not fresh:
                self._audit.append("inbox.repeated-id", seq=header.seq, jti=header.jti)
                return "duplicate"
            content = envelope.content
            if isinstance(content, TaskBody):
                return self._accept_task(envelope, content)
            if isinstance(content, CancelBody):
                return self._accept_cancel(envelope, content)
            if isinstance(content, HeadBody):
                return self._heads.keep(envelope, content)
            if isinstance(content, RekeyBody):
                return self._accept_rekey(envelope)
            self._audit.append("inbox.tombstone", seq=header.seq, task_id=envelope.body["task_id"])
            return "noted"

    def obey_ahead(self, envelope: Envelope) -> bool:
        """Act on a cancel before its turn, while what comes before it has to wait.

        Nothing is counted, so it is taken in once more in its turn.

        Returns:
            Whether its task is in the journal and was to be stopped.
        """
        content = envelope.content
        return isinstance(content, CancelBody) and self._request_cancel(envelope, content)

    def prune(self) -> int:
        """Forget message ids that are long past any envelope's life; return how many."""
        return self._db.run(
            "DELETE FROM inbox WHERE received_at < ?", self._clock.now().wall_ms - _KEEP_MS
        )

    @property
    def _name(self) -> str:
        if self._peer is None:
            raise LocalProtocolError("inbox.unpaired")
        return self._peer.name

    def _check_pace(self, seq: int) -> None:
        # Every message is a row and an audit entry: a gateway must not fill the disk with them.
        now = self._clock.now().wall_ms
        if self._received_at(seq - MAX_HOURLY) <= now - _HOUR_MS:
            return
        # A clock that was put back holds nothing up.
        if now - SLOWLY_MS < self._received_at(seq - 1) <= now:
            raise UnavailableError("inbox.too-fast", limit=MAX_HOURLY)

    def _received_at(self, seq: int) -> int:
        """Return when the last message up to a number came; 0 for none."""
        row = self._db.one(
            "SELECT received_at FROM inbox WHERE peer = ? AND seq <= ? ORDER BY seq DESC LIMIT 1",
            self._name,
            seq,
        )
        return int(row[0]) if row else 0

    def _check_rekeys(self) -> None:
        # Every key stays known for ever, and has all that waits signed anew.
        row = self._db.one(
            "SELECT count(*) FROM inbox WHERE peer = ? AND typ = 'rekey' AND received_at > ?",
            self._name,
            self._clock.now().wall_ms - _DAY_MS,
        )
        if row and row[0] >= MAX_REKEYS:
            raise UnavailableError("inbox.too-many-keys", limit=MAX_REKEYS)

    def _note(self, envelope: Envelope) -> bool:
        """Count the number, and return False when the message id was seen before."""
        header = envelope.header
        self._db.run(
            "INSERT INTO peers (peer, received_seq) VALUES (?, ?)"
            " ON CONFLICT (peer) DO UPDATE SET received_seq = excluded.received_seq",
            self._name,
            header.seq,
        )
        return bool(
            self._db.run(
                "INSERT INTO inbox (peer, seq, jti, typ, task_id, envelope_sha256, received_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (peer, jti) DO NOTHING",
                self._name,
                header.seq,
                header.jti,
                header.typ,
                envelope.body.get("task_id", ""),
                envelope.sha256,
                self._clock.now().wall_ms,
            )
        )

    def _accept_task(self, envelope: Envelope, body: TaskBody) -> Accepted:
        if self._tasks.find(body.task_id) is not None:
            self._audit.append("inbox.task-again", task_id=body.task_id, seq=envelope.header.seq)
            return "duplicate"
        if self._outbox.is_full():
            raise UnavailableError("inbox.unheard")
        now = self._clock.now().wall_ms
        if self._tasks.count_chars_since(now - _HOUR_MS) + len(body.text) > MAX_HOURLY_CHARS:
            raise UnavailableError("inbox.too-much", limit=MAX_HOURLY_CHARS)
        is_room = self._tasks.count_open_remote() < MAX_OPEN_TASKS
        arrival = _arrival(envelope, body)
        nameable = _is_gateways(body.short_id) and self._tasks.name_is_free(body.short_id, now)
        self._tasks.create(arrival, now, named=nameable)
        if not nameable:
            self._end(arrival, now, Reason.REFUSED, SHORT_ID_REFUSED)
            return "refused"
        if envelope.expired:
            self._end(arrival, now, Reason.EXPIRED, EXPIRED_ON_ARRIVAL)
            return "expired"
        if not is_room:
            self._end(arrival, now, Reason.REFUSED, MACHINE_FULL)
            return "refused"
        return "new"

    def _accept_rekey(self, envelope: Envelope) -> Accepted:
        header = envelope.header
        try:
            new = announced_key(envelope)
        except AuthError:
            self._audit.append("gateway.rekey-refused", seq=header.seq, key=header.kid)
            return "noted"
        self._peers.pin(new, old_key_id=header.kid)
        self._outbox.readdress()
        self._audit.append(
            "gateway.rekeyed",
            old=header.kid,
            new=new.key_id,
            public_key=new.raw.hex(),
            envelope=envelope.sha256,
        )
        return "noted"

    def _accept_cancel(self, envelope: Envelope, body: CancelBody) -> Accepted:
        done = self._request_cancel(envelope, body)
        self._audit.append(
            "inbox.cancel",
            task_id=body.task_id,
            claimed_user=body.claimed_user,
            taken=done,
        )
        return "cancel" if done else "noted"

    def _request_cancel(self, envelope: Envelope, body: CancelBody) -> bool:
        task = self._tasks.find(body.task_id)
        # A gateway takes back what it brought itself, in time, and nothing else.
        mine = task is not None and self._peers.same_gateway(
            task.gateway_key_id, envelope.header.kid
        )
        return mine and not envelope.expired and self._tasks.request_cancel(body.task_id)

    def _end(self, task: NewTask, at_ms: int, reason: Reason, sentence: Sentence) -> None:
        state, status = final_of(reason)
        facts = {"short_id": task.short_id, "limit": MAX_OPEN_TASKS}
        summary = say(sentence, task.lang, **facts)
        of_task = {"threadId": task.thread_id, "taskId": task.task_id}
        self._tasks.change(
            Change(
                task_id=task.task_id,
                expected=TaskState.RECEIVED,
                state=state,
                at_ms=at_ms,
                reason=reason,
                summary=summary,
                ending_json=write_ending(partial(say, sentence, **facts)),
                events=(
                    {"type": "task_state", **of_task, "state": state.value, "message": summary},
                    {"type": "task_end", **of_task, "status": status, "reason": reason.value},
                ),
                reports=(
                    (
                        "result",
                        {
                            "task_id": task.task_id,
                            "task_sha256": task.envelope_sha256,
                            "state": state.value,
                            "reason": reason.value,
                            "summary": summary,
                            "at": at_ms,
                        },
                    ),
                ),
            )
        )


def _arrival(envelope: Envelope, body: TaskBody) -> NewTask:
    return NewTask(
        task_id=body.task_id,
        short_id=body.short_id,
        source="wecom",
        channel=body.channel,
        claimed_user=body.claimed_user,
        thread_id=body.thread_id,
        text=body.text,
        lang=cast("Lang", body.lang),
        envelope_sha256=envelope.sha256,
        gateway_key_id=envelope.header.kid,
    )


def _is_gateways(short_id: str) -> bool:
    """Tell whether a gateway may mint it: its half of the alphabet, in the stored form."""
    try:
        return parse_short_id(short_id) == short_id and minted_by(short_id) == "gateway"
    except InputError:
        return False
