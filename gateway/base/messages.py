"""What a person said, where it was said, and what came of an answer: the same for every channel.

A channel makes an `InboundMessage` of what it takes in and hands it to the `Accept` that it was
given; answers reach it as a `Conversation` and a text.  Nothing else is known of channels by what
decides, and nothing else of what decides by channels.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final, Literal, Protocol, Self, TypeAlias

if TYPE_CHECKING:
    from aiohttp import web

    from gateway.base.settings import GatewaySettings

TEXT: Final = "text"
UNREADABLE: Final = "unreadable"  # text with characters that its channel cannot deliver
COPIES_S: Final = 4 * 3600  # so long a channel can drop copies (the most of WeCom page 90236)
URL_CHECKED: Final = "callback.url-checked"  # noted when a console has saved our address


USER_ID: Final = r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}"  # of a member (WeCom page 90195)
GROUP: Final = r"[a-z][a-z0-9-]{0,31}"  # what an admin calls several members by
FIRST_APP: Final = "main"  # whose app it is that the settings do not name


@dataclass(frozen=True, slots=True)
class Person:
    """One person as one app or bot knows them: the same id under another is somebody else.

    Attributes:
        app: Name of the app or bot in the settings.
        user: Member id exactly as the channel delivers it.
    """

    app: str
    user: str

    def __str__(self) -> str:
        """Return how admins name them: ``zhangwei``, or ``shop:zhangwei`` in another app."""
        return self.user if self.app == FIRST_APP else f"{self.app}:{self.user}"


@dataclass(frozen=True, slots=True)
class Conversation:
    """Where a message came from, and where its answers go.

    Attributes:
        channel: Name of the channel, as its `Channel` has it.
        app: Name of the app or bot in the settings, through which it goes.
        user: Member id exactly as the channel delivers it.
        chat: Id of the group; empty where somebody is alone with the app.
    """

    channel: str
    app: str
    user: str
    chat: str = ""

    @property
    def person(self) -> Person:
        """Who is on the other side."""
        return Person(self.app, self.user)


@dataclass(frozen=True, slots=True)
class Card:
    """What is shown of a task where the channel has cards; the text beside it says the same.

    Attributes:
        card_id: Names it to the channel, once for all: ``[0-9A-Za-z_@-]``, at most 128.
        title: Which task.
        said: Where it stands.
        line: What it is about.
        facts: Label and value, at most six.
        buttons: Key and label.  None approves anything (P1).
        over: It takes the place of the one of that id which is there already.
    """

    card_id: str
    title: str
    said: str
    line: str
    facts: tuple[tuple[str, str], ...]
    buttons: tuple[tuple[str, str], ...]
    over: bool = False

    def to_json(self) -> str:
        """Return it as it is kept."""
        return json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, stored: str) -> Self:
        """Return what `to_json` has written."""
        kept = json.loads(stored)
        pairs = {name: tuple(map(tuple, kept[name])) for name in ("facts", "buttons")}
        return cls(**kept | pairs)


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What is to be said once.

    Attributes:
        text: Within the size of one message; for whoever is shown no card.
        card: What to show instead.
        handle: With what the channel changes the card that is there into this one.
        repeated: These very bytes may have arrived, and nothing else has them: a copy shall be
            dropped.
        yields: It leaves a part of the conversation's pace to what matters more.
    """

    text: str
    card: Card | None = None
    handle: str | None = None
    repeated: bool = False
    yields: bool = False


@dataclass(frozen=True, slots=True)
class Handle:
    """With what the channel lets something be answered or changed, once.

    Attributes:
        value: The channel's own word for it.
        lasts_s: How long it serves, from when it was given.
    """

    value: str
    lasts_s: int


@dataclass(frozen=True, slots=True)
class Click:
    """A button of a card was pressed."""

    card_id: str
    key: str


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of a message.

    Attributes:
        kind: ``text``, ``image``, … in lower case; or `UNREADABLE`.
        text: What was written; empty for what is no text.
    """

    kind: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class InboundMessage:
    """One message or event.

    Attributes:
        channel: Name of the channel, such as ``wecom_app``.
        bot: Id of what it was sent to, such as the app's in digits.
        user: Member id exactly as received; ``sys`` for some events.
        parts: What it is made of, in order; nothing for an event.
        dedupe_key: Equal for every delivery of the same message, for no other one: 64 hex digits.
        created_s: The channel's own time of it, seconds since 1970.
        event: Name of the event in lower case; None for messages.
        corp: Id of the corp it came from.
        app: Name of the app or bot in the settings that it was sent to.
        chat: Id of the group that it was written in; empty where the sender is alone with the app.
        quote: What of an earlier message it is about, as text: material, and no request.
        click: The button that was pressed, if that is what it tells.
        reply: With what it, or what it is about, can be answered or changed; None where with
            nothing.
    """

    channel: str
    bot: str
    user: str
    parts: tuple[Part, ...]
    dedupe_key: str
    created_s: int
    event: str | None = None
    corp: str = ""
    app: str = FIRST_APP
    chat: str = ""
    quote: str = ""
    click: Click | None = None
    reply: Handle | None = None

    @property
    def text(self) -> str | None:
        """What was written; None where nothing was."""
        written = [part.text for part in self.parts if part.kind == TEXT]
        return "\n".join(written) if written else None

    @property
    def chat_type(self) -> Literal["single", "group"]:
        """Whether others read along."""
        return "group" if self.chat else "single"

    @property
    def conversation(self) -> Conversation:
        """Where it was said, and is answered."""
        return Conversation(self.channel, self.app, self.user, self.chat)


# Takes a message with its replay key (a hash of what was received) and returns once both are
# durable; raises StoreError or UnavailableError when they are not.  What it returns is said in the
# same answer, where the channel can: then it is not sent otherwise.
Accept: TypeAlias = Callable[[InboundMessage, bytes], Awaitable[str | None]]


@dataclass(frozen=True, slots=True)
class SendOutcome:
    """What came of one try to send.

    Attributes:
        kind: ``sent``; ``retry``: try again, not before ``retry_after_s``; ``permanent``: this
            message can never be delivered; ``config``: no message can until an admin acts.
        errcode: The channel's number; None when no readable answer came.
        errmsg: The channel's words or ours, on one line, bounded.
        retry_after_s: Seconds to wait at least before any other try; 0 for sent and permanent.
        code: Dotted name of what happened, to choose a sentence by.
        maybe_sent: The try may have arrived although no answer says so.
        for_all: No other message could be sent either: there is no token, nobody to give it to, or
            the line is broken.  What says nothing of others may still come to mean that by lasting.
        tried: False when the channel's own pace let nothing out.
        handle: With what the card that was sent can be changed.
    """

    kind: Literal["sent", "retry", "permanent", "config"]
    errcode: int | None
    errmsg: str
    retry_after_s: float
    code: str
    maybe_sent: bool = False
    for_all: bool = False
    tried: bool = True
    handle: Handle | None = None


class Note(Protocol):
    """Notes for the admins what keeps a channel from its messages."""

    def __call__(self, event: str, /, *, app: str, url: str = "") -> None:
        """Note what happened to an app: the code of an error, or `URL_CHECKED` (url)."""
        ...


class Deliver(Protocol):
    """Says one thing in one conversation.

    What a channel would draw as a link, a mention or other markup, it makes text of (R73).
    """

    async def __call__(self, to: Conversation, what: Outgoing) -> SendOutcome:
        """Try once; never raises for what the other side does."""
        ...


@dataclass(frozen=True, slots=True)
class Channel:
    """One channel, as ``open_channel`` of its folder returns it.

    Attributes:
        name: Kept with every task and every message on its way: it never changes.
        deliver: Sends into conversations of this channel.
        routes: Returns what it answers on the gateway's own listener, once it knows where to hand
            messages to, and where to note that it cannot read them.
        renew: Takes up the secrets of its settings; raises ConfigError and keeps the old ones.
        recall: Is told, once at the start, where something went not long ago, and for how many
            seconds that was: the pace it keeps must outlive the process.
    """

    name: str
    deliver: Deliver
    routes: Callable[[Accept, Note], Sequence[web.RouteDef]]
    renew: Callable[[GatewaySettings], Awaitable[None]]
    recall: Callable[[Conversation, float], None]
