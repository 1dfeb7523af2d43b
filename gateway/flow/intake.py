"""THE main flow of one message, inside one durable transaction; the callback answers after it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import tzinfo
from functools import partial
from typing import Final

from common import dsl
from common.clock import Clock, Instant
from common.dsl import Command, Directed, FreeText, NotAddressed
from common.errors import AuthError, CodexBridgeError, InputError
from common.protocol.envelope import Envelope
from common.sentences import Lang, language_of
from gateway.base.identity import Seal
from gateway.base.messages import EVENT, InboundMessage
from gateway.flow import access, commands
from gateway.flow.access import Limits
from gateway.flow.commands import Answer, Order
from gateway.flow.speaker import Voice
from gateway.store import inbound, outbox
from gateway.store.port import Connection, Store
from gateway.store.visitors import Visitor

MAX_TEXT_BYTES: Final = 8192
# What is said once in a while only, however often it is deserved; in seconds.
_ONCE_IN: Final = {"access.stranger": 86_400, "access.too-fast": 60}


@dataclass(frozen=True, slots=True)
class IntakePolicy:
    """What is taken in and how it is answered, from the settings.

    Attributes:
        prefix: What a message for a machine starts with.
        lang: The language of members who have none set and write no Chinese.
        zone: Time zone of the hours that are told.
        ttl_s: How long a task may wait for its machine, in seconds; at most a day.
        limits: How much one member may ask for.
    """

    prefix: str
    lang: Lang
    zone: tzinfo
    ttl_s: int = 8 * 3600
    limits: Limits = Limits()  # noqa: RUF009 — frozen


class Intake:
    """Takes one message in.

    Args:
        store: Where everything happens, at once or not at all.
        policy: From the settings.
        seal: Signs what goes to a machine.
        clock: Tells the moment.
        wake_agent: Hint that an agent's mailbox holds something new; the thing, if it is at hand.
        wake_outbox: Hint that there is something to say.
    """

    def __init__(
        self,
        store: Store,
        policy: IntakePolicy,
        *,
        seal: Seal,
        clock: Clock,
        wake_agent: Callable[[str, Envelope | None], None],
        wake_outbox: Callable[[], None],
    ) -> None:
        self._store = store
        self._seal = seal
        self._clock = clock
        self._policy = policy
        self._wake_agent = wake_agent
        self._wake_outbox = wake_outbox

    async def __call__(self, message: InboundMessage, replay_key: bytes) -> None:
        """Take a message in; a message that was taken in before changes nothing.

        Args:
            message: Verified and decrypted.
            replay_key: Hash of its ciphertext.

        Raises:
            StoreError: nothing was changed; WeCom shall deliver it again.
        """
        answer = await self._store.write(self._take, message, replay_key, self._clock.now())
        if answer is None:
            return
        if answer.agent_id is not None:
            self._wake_agent(answer.agent_id, answer.envelope)
        self._wake_outbox()

    def _take(
        self, conn: Connection, message: InboundMessage, replay_key: bytes, at: Instant
    ) -> Answer | None:
        user, at_ms = message.user, at.wall_ms
        new = inbound.remember(
            conn,
            user_id=user,
            created_s=message.created_s,
            dedupe_key=message.dedupe_key,
            replay_key=replay_key,
            at_ms=at_ms,
        )
        if not new or message.msg_type == EVENT:
            return None
        lang = language_of(message.text or "", self._policy.lang)
        key = f"answer:{at_ms}:{message.dedupe_key}"  # by time: it goes to the end of its index
        try:
            visitor = access.admit(conn, user, at_ms=at_ms, limits=self._policy.limits)
            lang = visitor.lang or lang  # before anything else is refused, so in their language
            access.check_pace(visitor, limits=self._policy.limits)
            answer = self._answer(self._order(conn, message, visitor, lang=lang, at=at))
        except (AuthError, InputError) as error:
            # Raised before anything was written but that a choice is forgotten, so the transaction
            # goes on with the answer alone.
            answer = Answer(self._voice(lang, at).refusal(error, prefix=self._policy.prefix))
            key = _key(error, message, at) or key
        say = partial(outbox.put, conn, key, answer.text, channel=message.channel, user_id=user)
        if answer.receipt_of is not None:
            due_at = at_ms + outbox.RECEIPT_MS
            say = partial(say, task_id=answer.receipt_of, kind="progress", due_at=due_at)
        say(at_ms=at_ms)
        return answer

    def _answer(self, order: Order) -> Answer:
        said = dsl.parse(order.text, prefix=order.prefix)
        if isinstance(said, Directed):
            order, said = commands.directed(order, said), said.said
        match said:
            case NotAddressed():
                raise InputError("intake.not-addressed")
            case FreeText(text=""):
                return commands.without_request(order) if order.machine else _help(order)
            case FreeText():
                return commands.hand_over(order)
            case Command():
                return _obey(order, said)

    def _order(
        self,
        conn: Connection,
        message: InboundMessage,
        visitor: Visitor,
        *,
        lang: Lang,
        at: Instant,
    ) -> Order:
        if message.text is None:
            raise InputError("intake.not-text")
        if len(message.text.encode()) > MAX_TEXT_BYTES:
            raise InputError("intake.too-long", limit=MAX_TEXT_BYTES)
        return Order(
            conn=conn,
            message=message,
            text=message.text,
            visitor=visitor,
            voice=self._voice(lang, at),
            at=at,
            seal=self._seal,
            limits=self._policy.limits,
            ttl_s=self._policy.ttl_s,
            prefix=self._policy.prefix,
        )

    def _voice(self, lang: Lang, at: Instant) -> Voice:
        return Voice(lang, self._policy.zone, at.wall_ms)


def _obey(order: Order, command: Command) -> Answer:
    match command.name:
        case "help":
            return _help(order)
        case "on":
            return commands.without_request(order)
        case "machines":
            return commands.machines(order)
        case "use":
            return commands.use(order, command)
        case "status":
            return commands.status(order, command)
        case "cancel":
            return commands.cancel(order, command)
        case _:
            return commands.hand_over(order, command)


def _help(order: Order) -> Answer:
    return Answer(dsl.help_text(order.voice.lang, prefix=order.prefix))


def _key(error: CodexBridgeError, message: InboundMessage, at: Instant) -> str | None:
    """Return the idempotency key of something that is said once in a while only."""
    period = _ONCE_IN.get(error.code)
    if period is None:
        return None
    return f"{error.code}:{message.channel}:{message.user}:{at.wall_s // period}"
