"""What a member is told of a task: put into the outbox, and sent from it.

It is told in the conversation in which the task was asked for.  Messages go in order for each
person, at least once, and truthful about failure: rows are claimed in the store before they are
sent and ended after it, so a crash in between sends again rather than not at all.  The channel is
asked to drop the copy, and then the bytes are this message's alone: else it could drop what nobody
has seen, for another message that says the same.  How fast one person may be written to is the
channel's knowledge.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from common.clock import Clock, Instant
from common.errors import StoreError
from common.text import CHAT_BYTES, clip_bytes
from gateway.base.messages import COPIES_S, Card, Deliver, Outgoing, SendOutcome
from gateway.store import Connection, Store, agents, cards, members, outbox
from gateway.store.outbox import Claim, Hold, Message
from gateway.store.tasks import Task

if TYPE_CHECKING:  # an admin's commands come here without a log
    from structlog.typing import FilteringBoundLogger

AT_ONCE: Final = 8  # messages to different people in flight at one time
POLL_SECONDS: Final = 5.0  # the slow poll behind the hints
RECORD_SECONDS: Final = 2.0  # between two tries to note what came of a message
LONGEST_WAIT_MS: Final = 60_000  # so soon it is seen that the line is back
GIVE_UP_MS: Final = 24 * 3600 * 1000  # nobody wants yesterday's progress
NO_HANDLE: Final = SendOutcome("permanent", None, "", 0.0, "channel.card-kept", tried=False)
OFFLINE: Final = "offline"  # how the key of a message begins that says that a machine is gone
OVERTAKEN: Final = replace(NO_HANDLE, code="channel.overtaken", errmsg="")
# The text's own language is not known here.  The number is the one that admins see.
MAY_BE_A_COPY: Final = "（可能重复 / perhaps a copy · {number}）"
LASTING: Final = 3  # tries of one message with the same answer: others would meet it as well


def tell(
    conn: Connection,
    task: Task,
    key: str,
    text: str,
    *,
    at: Instant,
    card: Card | None = None,
    due_at: int | None = None,
) -> None:
    """Queue what came of a task; whoever was removed from the members is told nothing more.

    Args:
        conn: A writing transaction.
        task: Of what.
        key: Idempotency key: the same occasion is told once.
        text: Within the size of one message.
        at: Now.
        card: What is shown instead where the channel has cards.
        due_at: When, if later; it holds nobody up till then.
    """
    if members.look_up(conn, task.person) is None:
        return
    where: dict[str, Any] = {"to": task.conversation, "task_id": task.task_id}
    if due_at is not None:
        key, where = f"progress:{key}", where | {"kind": "progress", "due_at": due_at}
    outbox.put(conn, key, text, at_ms=at.wall_ms, card=card, **where)
    if card is not None:
        cards.put(conn, card.card_id, task_id=task.task_id)


def tell_progress(
    conn: Connection, task: Task, key: str, line: str, *, at: Instant, after_ms: int = 0
) -> None:
    """Queue a progress line, in the place of one that still waits.

    Args:
        conn: A writing transaction.
        task: Of what.
        key: Idempotency key.
        line: The line.
        at: Now.
        after_ms: How long it waits for something truer.
    """
    if members.look_up(conn, task.person) is not None:
        outbox.put_progress(
            conn,
            key,
            line,
            to=task.conversation,
            task_id=task.task_id,
            at_ms=at.wall_ms,
            after_ms=after_ms,
        )


def machine_of(conn: Connection, task: Task) -> str:
    """Return the name of the machine that a task went to."""
    agent = agents.find(conn, task.agent_id)
    return agent.machine if agent else ""


class Outbox:
    """The one sender of a gateway.

    Args:
        store: The store.
        deliver: Sends into a conversation of whichever channel.
        clock: Tells the moment.
        log: For what an admin must see.
        record_seconds: How long to wait before trying again to note what came of a message.

    Attributes:
        held: What keeps an app from sending at all, by its name.  One of its messages at a time
            shows when it goes again; it costs none of them a try.
        newly_held: Set when an app is held, or for another reason than before.
    """

    def __init__(
        self,
        store: Store,
        deliver: Deliver,
        *,
        clock: Clock,
        log: FilteringBoundLogger,
        record_seconds: float = RECORD_SECONDS,
    ) -> None:
        self._store = store
        self._send = deliver
        self._clock = clock
        self._log = log
        self._record_seconds = record_seconds
        self._bell = asyncio.Event()
        self.held: dict[str, Hold] = {}
        self.newly_held = asyncio.Event()

    def wake(self) -> None:
        """Hint that there is something to send."""
        self._bell.set()

    async def run(self) -> None:
        """Send until cancelled; what is in flight then is sent again at the next start."""
        in_flight: set[asyncio.Task[bool]] = set()
        try:
            while True:
                self._bell.clear()
                claim = await self._claim(AT_ONCE - len(in_flight))
                for message in claim.messages:
                    task = asyncio.create_task(self._deliver(message))
                    in_flight.add(task)
                    task.add_done_callback(in_flight.discard)
                    task.add_done_callback(self._go_on)
                await self._rest(claim.next_due_at)
        finally:
            for task in in_flight:
                task.cancel()
            await asyncio.gather(*in_flight, return_exceptions=True)

    def _go_on(self, done: asyncio.Task[bool]) -> None:
        # Nothing to claim is the usual case, and to ask costs a transaction.
        if done.cancelled() or done.exception() is not None or done.result():
            self._bell.set()

    async def _claim(self, limit: int) -> Claim:
        now_ms = self._clock.now().wall_ms
        if limit <= 0:
            return Claim((), None)
        held = {app: hold.until_at for app, hold in self.held.items()}
        try:
            # Lost with the power, a claim is made again, and what was sent is not known as a copy.
            return await self._store.write_unsynced(
                outbox.claim, now_ms=now_ms, limit=limit, held=held
            )
        except StoreError as error:
            self._log.error("outbox-claim-failed", code=error.code)
            return Claim((), None)

    async def _rest(self, next_due_at: int | None) -> None:
        seconds = POLL_SECONDS
        if next_due_at is not None:
            seconds = min(seconds, (next_due_at - self._clock.now().wall_ms) / 1000)
        try:
            async with asyncio.timeout(max(seconds, 0.0)):
                await self._bell.wait()
        except TimeoutError:
            pass

    async def _deliver(self, message: Message) -> bool:
        """Send one message and note what came of it; False when nothing else is queued."""
        outcome = None
        # Until it is noted, the message counts as being sent and holds up all that come after it
        # for the same person.  Not noted before the end, it is sent again, as a copy.
        while True:
            try:
                outcome = outcome or await self._attempt(message)
                return await self._record(message, outcome)
            except StoreError as error:
                self._log.error("outbox-record-failed", id=message.id, code=error.code)
            await asyncio.sleep(self._record_seconds)

    async def _attempt(self, message: Message) -> SendOutcome:
        text = self._text_of(message)
        # Not at the first try that an admin asks for: that one is to arrive whatever did before.
        repeated = bool(message.repeated and message.attempts)
        what = Outgoing(text, repeated=repeated, yields=message.kind == "progress")
        if message.card is not None:
            card = Card.from_json(message.card)
            what = replace(what, card=card, handle=await self._handle_of(card))
        is_news = message.key.startswith(f"{OFFLINE}:")
        if is_news and await self._store.read(_is_overtaken, message):
            return OVERTAKEN
        return NO_HANDLE if _is_lost(what) else await self._send(message.to, what)

    async def _handle_of(self, card: Card) -> str | None:
        if not card.over:
            return None
        now_ms = self._clock.now().wall_ms
        return await self._store.read(cards.handle, card.card_id, now_ms=now_ms)

    def _text_of(self, message: Message) -> str:
        """Return what is sent; what may be a copy says so, unless the channel can drop it.

        It can while the first one is not too old and nothing else reads the same.  What is told of
        a task names it and its occasion; an answer or a progress line may be as one before.
        """
        tried_ms = self._clock.now().wall_ms - (message.tried_at or message.created_at)
        is_alone = message.task_id is not None and message.kind == "reply"
        is_dropped = is_alone and message.repeated == 1 and tried_ms < COPIES_S * 1000
        if not message.repeated or is_dropped:
            return message.text
        again = f".{message.repeated}" if message.repeated > 1 else ""
        number = f"{message.id}{again}"
        return clip_bytes(f"{MAY_BE_A_COPY.format(number=number)}\n{message.text}", CHAT_BYTES)

    async def _record(self, message: Message, outcome: SendOutcome) -> bool:
        now_ms = self._clock.now().wall_ms
        await self._hold_or_release(message, outcome, now_ms)
        if outcome.kind == "sent":
            return await self._store.write_unsynced(_sent, message, outcome, at_ms=now_ms)
        is_card = message.card is not None and not message.text
        if outcome is OVERTAKEN or (outcome.kind == "permanent" and is_card):
            # A card that cannot be changed any more: what it would say is said in words as well.
            return await self._store.write_unsynced(
                outbox.end, message.id, "dropped", outcome, at_ms=now_ms
            )
        if outcome.kind == "permanent" or now_ms - message.created_at >= GIVE_UP_MS:
            self._log.error("message-undeliverable", id=message.id, code=outcome.code)
            return await self._store.write(outbox.end, message.id, "failed", outcome, at_ms=now_ms)
        # What may have arrived is counted whatever the line is like: it may itself break the line.
        blameless = outcome.for_all and not outcome.maybe_sent
        counted = outcome.kind == "retry" and outcome.tried and not blameless
        await self._store.write(
            outbox.put_back,
            message.id,
            outcome,
            due_at=now_ms + _wait_ms(message, outcome, counted=counted),
            counted=counted,
        )
        return True

    async def try_again(self) -> None:
        """Send all that is held: what holds it may be mended.

        Raises:
            StoreError: what is held goes when its time has come.
        """
        now_ms = self._clock.now().wall_ms
        for app in tuple(self.held):
            del self.held[app]
            await self._store.write_unsynced(outbox.release, app, now_ms=now_ms)
        self._bell.set()

    async def _hold_or_release(self, message: Message, outcome: SendOutcome, now_ms: int) -> None:
        app = message.app
        before = self.held.get(app)
        lasts = before is not None or message.attempts + 1 >= LASTING
        is_busy = outcome.kind == "retry" and outcome.tried and lasts
        # Every other message would meet the same.
        if outcome.kind == "config" or outcome.for_all or is_busy:
            hold = Hold(
                app=app,
                code=outcome.code,
                errcode=outcome.errcode,
                errmsg=outcome.errmsg,
                since_at=before.since_at if before else now_ms,
                until_at=now_ms + _hold_ms(before, outcome, now_ms),
            )
            self.held[app] = hold
            await self._store.write_unsynced(outbox.hold, hold)
            if before is None or before.code != hold.code:
                facts = {"errcode": hold.errcode, "why": hold.errmsg}
                self._log.error("outbox-held", app=app, code=hold.code, **facts)
                self.newly_held.set()
        elif before is not None and outcome.tried:
            del self.held[app]  # first: a claim meanwhile would hold back what is let go
            try:
                await self._store.write_unsynced(outbox.release, app, now_ms=now_ms)
            except StoreError:
                self.held[app] = before  # the caller tries again
                raise
            self._log.warning(
                "outbox-released", app=app, seconds=(now_ms - before.since_at) // 1000
            )
            self._bell.set()


def _sent(conn: Connection, message: Message, outcome: SendOutcome, *, at_ms: int) -> bool:
    if message.card is not None:
        # None after a change: a handle serves once.
        cards.give(conn, Card.from_json(message.card).card_id, outcome.handle, at_ms=at_ms)
    return outbox.end(conn, message.id, "sent", outcome, at_ms=at_ms)


def _is_overtaken(conn: Connection, message: Message) -> bool:
    """Tell whether a machine is back of which the message says that it is gone."""
    agent = agents.find(conn, message.key.split(":")[1])
    return agent is not None and (agent.online or f":{agent.epoch}:" not in message.key)


def _is_lost(what: Outgoing) -> bool:
    return what.card is not None and what.card.over and what.handle is None


def _hold_ms(before: Hold | None, outcome: SendOutcome, now_ms: int) -> int:
    """Return how long to hold an app: as told, and longer while the same thing lasts."""
    asked_ms = round(outcome.retry_after_s * 1000)
    lasting_ms = now_ms - before.since_at if before and before.code == outcome.code else 0
    return max(asked_ms, min(lasting_ms, LONGEST_WAIT_MS))


def _wait_ms(message: Message, outcome: SendOutcome, *, counted: bool) -> int:
    """Return how long to leave a message alone: twice as long after each try, as told at least."""
    asked_ms = round(outcome.retry_after_s * 1000)
    if not counted:
        return asked_ms
    doubled_ms: int = 1000 * 2 ** min(message.attempts, 16)
    return max(asked_ms, min(doubled_ms, LONGEST_WAIT_MS))
