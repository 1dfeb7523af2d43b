"""THE main flow of one message, inside one durable transaction; the callback answers after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Protocol

from common import dsl
from common.clock import Clock, Instant
from common.errors import AuthError, InputError
from common.protocol.envelope import Envelope
from common.sentences import language_of
from gateway.base.identity import Seal
from gateway.base.messages import UNREADABLE, InboundMessage
from gateway.flow import access, commands
from gateway.flow.access import IntakePolicy
from gateway.flow.alarms import Alarms
from gateway.flow.commands import Answer, MemberRequest
from gateway.flow.replies import Speaker
from gateway.store import Connection, Store, inbound, members, outbox

MAX_TEXT_BYTES: Final = 8192
ENTERED: Final = "enter_agent"  # a member opened the app (page 90240)
# What is said once in a while only, however often it is deserved; in seconds.
_ONCE_IN: Final = {"access.stranger": 86_400, "access.too-fast": 60}


class Sender(Protocol):
    """What intake knows of the outbox."""

    @property
    def held(self) -> Mapping[str, object]:
        """By its name, each app through which nothing can be sent now."""
        ...

    def wake(self) -> None:
        """Hint that there is something to say."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of a message, and what of it is said in the channel's own answer."""

    answer: Answer | None
    said: str | None = None


NOTHING: Final = Taken(None)


class Intake:
    """Takes one message in.

    Args:
        store: Where everything happens, at once or not at all.
        policy: From the settings.
        alarms: Are told of what becomes of an app.
        seal: Signs what goes to a machine.
        clock: Tells the moment.
        wake_agent: Hint that an agent's mailbox holds something new; the thing, if it is at hand.
        sender: What sends answers, and knows through which apps it cannot.
    """

    def __init__(
        self,
        store: Store,
        policy: IntakePolicy,
        alarms: Alarms,
        *,
        seal: Seal,
        clock: Clock,
        wake_agent: Callable[[str, Envelope | None], None],
        sender: Sender,
    ) -> None:
        self._store = store
        self._seal = seal
        self._clock = clock
        self._policy = policy
        self._wake_agent = wake_agent
        self._sender = sender
        self._alarms = alarms

    async def __call__(self, message: InboundMessage, replay_key: bytes) -> str | None:
        """Take a message in; a message that was taken in before changes nothing.

        Where nothing can be sent, the answer is returned, to be said in the channel's own: again
        whenever the message comes again, for then nobody has read it.

        Args:
            message: Verified and decrypted.
            replay_key: Hash of its ciphertext.

        Raises:
            StoreError: nothing was changed; the channel shall deliver it again.
        """
        # A pressed button is answered by a change of its card alone: what is said of it waits.
        held = message.app in self._sender.held and message.click is None
        taken = await self._store.write(self._take, message, replay_key, held, self._clock.now())
        answer = taken.answer
        if answer is not None and answer.agent_id is not None:
            self._wake_agent(answer.agent_id, answer.envelope)
        if taken.said is None and (answer is not None or message.event is not None):
            self._sender.wake()
        return taken.said

    def _take(
        self, conn: Connection, message: InboundMessage, replay_key: bytes, held: bool, at: Instant
    ) -> Taken:
        """THE main flow in, one call per arrow."""
        if not _is_new(conn, message, replay_key, at):
            return Taken(None, outbox.find_said(conn, _passive_key(message)))
        if message.event is not None and message.click is None:
            return self._welcomed(conn, message, at, held=held)
        policy = self._policy
        speaker = Speaker(language_of(message.text or "", policy.lang), policy.zone, at.wall_ms)
        key = f"answer:{at.wall_ms}:{message.dedupe_key}"  # by time: to the end of its index
        try:
            member = access.admit(
                conn, message.conversation.person, at_ms=at.wall_ms, limits=policy.limits
            )
            # Before anything else is refused, so that it is in their language.
            speaker = replace(speaker, lang=member.lang or speaker.lang)
            access.check_pace(member, limits=policy.limits)
            text = _text_of(message) if message.click is None else ""
            request = MemberRequest(conn, message, text, member, speaker, at, self._seal, policy)
            answer = commands.press(request) if message.click else commands.answer(request)
        except (AuthError, InputError) as error:
            # Raised before anything was written but that a choice is forgotten, so the transaction
            # goes on with the answer alone.
            answer = Answer(speaker.refusal(error, prefix=policy.prefix))
            if period := _ONCE_IN.get(error.code):
                # The user last: no id that somebody chose can be taken for another's.
                key, held = f"{error.code}:{message.app}:{message.chat}:{message.user}", False
                outbox.let_say_again(conn, key, before_ms=at.wall_ms - period * 1000)
        return Taken(answer, _queue(conn, key, answer, message, at, held=held))

    def _welcomed(
        self, conn: Connection, message: InboundMessage, at: Instant, *, held: bool
    ) -> Taken:
        """Show a member who opens the app for the first time what can be asked for."""
        self._alarms.announce(conn, message.event or "", app=message.app, at_ms=at.wall_ms)
        if message.event != ENTERED:
            return NOTHING
        member = members.welcome(conn, message.conversation.person, at_ms=at.wall_ms)
        if member is None:
            return NOTHING
        lang = member.lang or self._policy.lang
        answer = Answer(dsl.help_text(lang, prefix=self._policy.prefix))
        key = f"welcome:{at.wall_ms}:{message.dedupe_key}"
        return Taken(answer, _queue(conn, key, answer, message, at, held=held))


def _is_new(conn: Connection, message: InboundMessage, replay_key: bytes, at: Instant) -> bool:
    """Note a message by both of its keys; True when it is a new one."""
    return inbound.remember(
        conn,
        person=message.conversation.person,
        created_s=message.created_s,
        dedupe_key=message.dedupe_key,
        replay_key=replay_key,
        at_ms=at.wall_ms,
        is_event=message.event is not None and message.click is None,
    )


def _text_of(message: InboundMessage) -> str:
    if any(part.kind == UNREADABLE for part in message.parts):
        raise InputError("intake.unreadable")
    if message.text is None:
        raise InputError("intake.not-text")
    if len(message.text.encode()) > MAX_TEXT_BYTES:
        raise InputError("intake.too-long", limit=MAX_TEXT_BYTES)
    return message.text


def _queue(
    conn: Connection,
    key: str,
    answer: Answer,
    message: InboundMessage,
    at: Instant,
    *,
    held: bool,
) -> str | None:
    """Have an answer sent; or return it, to be said at once."""
    receipt = answer.receipt_of is not None and not held
    outbox.put(
        conn,
        _passive_key(message) if held else key,
        answer.text,
        to=message.conversation,
        at_ms=at.wall_ms,
        task_id=answer.receipt_of,
        kind="progress" if receipt else "reply",
        due_at=at.wall_ms + outbox.RECEIPT_MS if receipt else None,
        said=held,
    )
    return answer.text if held else None


def _passive_key(message: InboundMessage) -> str:
    return f"passive:{message.dedupe_key}"
