"""Two Links and what they are made of: keys, envelopes, and a wire that a test can hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from common.clock import Instant, ManualClock
from common.protocol import frames
from common.protocol.codec import framed
from common.protocol.envelope import (
    Envelope,
    EventBody,
    ResultBody,
    TaskBody,
    agent_name,
    gateway_name,
    rekey_body,
    seal_envelope,
)
from common.protocol.link import Closed, Link, LinkEvent, LinkState
from common.signing import ACK, SigningKey, VerifyKey

GATEWAY_KEY = SigningKey(b"\x01" * 32)
AGENT_KEY = SigningKey(b"\x02" * 32)
STRANGER_KEY = SigningKey(b"\x03" * 32)
NEXT_KEY = SigningKey(b"\x04" * 32)
AGENT_ID = "0199c0de-0000-7000-8000-000000000001"
URL = "https://gateway.example.com"
SESSION = "session-1"

_SIG = b"\x07" * 64
EVERY_FRAME: list[frames.Frame] = [
    frames.Challenge("{}"),
    frames.Hello("{}", _SIG),
    frames.Ready("{}", _SIG),
    frames.Sealed("task", "{}", '{"text":"测试 \\u0000"}', _SIG),
    frames.Sealed("cancel", "{}", "{}", _SIG),
    frames.Sealed("tombstone", "{}", "{}", _SIG),
    frames.Sealed("event", "{}", "{}", _SIG),
    frames.Sealed("result", "{}", "{}", _SIG),
    frames.Ack(1, _SIG),
    frames.Ping(0),
    frames.Pong(2**32 - 1),
    frames.ErrorFrame("sequence-gap"),
]


EventT = TypeVar("EventT", bound=LinkEvent)


def task_body(**changed: Any) -> dict[str, Any]:
    """Return the record of a valid task."""
    body = TaskBody(
        task_id="task-1",
        short_id="T-7K3F",
        thread_id="wecom:zhang.san",
        channel="wecom_app",
        claimed_user="zhang.san",
        text="@dev test 测试",
        lang="zh",
        received_at=1_760_000_000_000,
    )
    return body.to_dict() | changed


def event_body(**changed: Any) -> dict[str, Any]:
    """Return the record of a valid event."""
    body = EventBody(
        task_id="task-1",
        state="WAITING_APPROVAL",
        message="waiting",
        waiting={"seal_code": "7K3F-9Q2M", "expires_at": 1_760_000_100_000, "machine": "dev-1"},
        at=1_760_000_000_000,
    )
    return body.to_dict() | changed


def result_body(**changed: Any) -> dict[str, Any]:
    """Return the record of a valid result."""
    body = ResultBody(
        task_id="task-1",
        task_sha256="ab" * 32,
        state="COMPLETED",
        reason="completed",
        summary="3 passed",
        at=1_760_000_000_000,
    )
    return body.to_dict() | changed


def task(seq: int, at: Instant, *, key: SigningKey = GATEWAY_KEY, **changed: Any) -> Envelope:
    """Return a sealed task for the agent; ``changed`` replaces arguments of `seal_envelope`."""
    arguments: dict[str, Any] = {
        "typ": "task",
        "iss": gateway_name(GATEWAY_KEY.public),
        "aud": agent_name(AGENT_ID),
        "jti": f"task-{seq}",
        "seq": seq,
        "iat": at.wall_s,
        "exp": at.wall_s + 8 * 3600,
        "body": task_body(),
    }
    return seal_envelope(key, **arguments | changed)


def rekey(
    seq: int, at: Instant, *, key: SigningKey = GATEWAY_KEY, new: SigningKey = NEXT_KEY
) -> Envelope:
    """Return what hands the gateway's next key to the agent."""
    iss, aud = gateway_name(key.public), agent_name(AGENT_ID)
    body = rekey_body(new, iss=iss, aud=aud, old_key_id=key.public.key_id)
    return task(seq, at, key=key, typ="rekey", iss=iss, jti=f"rekey-{seq}", body=body)


def ack_text(key: SigningKey, seq: int, *, iss: str, aud: str, session_id: str = SESSION) -> str:
    """Return an acknowledgement as whoever holds the key could make it by hand."""
    said = framed(session_id.encode(), iss.encode(), aud.encode(), str(seq).encode())
    return frames.encode_frame(frames.Ack(seq, key.sign(ACK, said)))


def result(seq: int, at: Instant, **changed: Any) -> Envelope:
    """Return a sealed result for the gateway."""
    arguments: dict[str, Any] = {
        "typ": "result",
        "iss": agent_name(AGENT_ID),
        "aud": gateway_name(GATEWAY_KEY.public),
        "jti": f"result-{seq}",
        "seq": seq,
        "iat": at.wall_s,
        "exp": at.wall_s + 86_400,
        "body": result_body(),
    }
    return seal_envelope(AGENT_KEY, **arguments | changed)


class Ends:
    """Both ends of one connection, and the clock that both are told.

    Args:
        agent_skew_s: How far the agent's wall clock is ahead of the gateway's.
        gateway_keys: The gateway's, the current one first.
        others: Replace arguments of `Link.for_agent`.
    """

    def __init__(
        self,
        clock: ManualClock | None = None,
        *,
        agent_skew_s: int = 0,
        gateway_url: str = URL,
        gateway_nonce: bytes = b"g" * 32,
        gateway_keys: Sequence[SigningKey] = (GATEWAY_KEY,),
        **others: Any,
    ) -> None:
        self.clock = clock or ManualClock()
        self._skew_ms = agent_skew_s * 1000
        arguments: dict[str, Any] = {
            "agent_id": AGENT_ID,
            "gateway_key": GATEWAY_KEY.public,
            "url": URL,
            "last_seq": 0,
            "nonce": b"a" * 32,
            "at": self.agent_now,
        }
        key = others.pop("key", AGENT_KEY)
        self.agent = Link.for_agent(key, **arguments | others)
        self.gateway = Link.for_gateway(
            gateway_keys[0],
            gateway_url,
            nonce=gateway_nonce,
            session_id=SESSION,
            at=self.clock.now(),
            older=gateway_keys[1:],
        )

    @property
    def agent_now(self) -> Instant:
        """The moment as the agent's machine tells it."""
        now = self.clock.now()
        return Instant(now.wall_ms + self._skew_ms, now.mono)

    def to_agent(self) -> list[str]:
        """Carry over what the gateway has to say, and return it."""
        said = self.gateway.data_to_send()
        for text in said:
            self.agent.receive(text, self.agent_now)
        return said

    def to_gateway(self) -> list[str]:
        """Carry over what the agent has to say, and return it."""
        said = self.agent.data_to_send()
        for text in said:
            self.gateway.receive(text, self.clock.now())
        return said

    def knock(self) -> None:
        """Carry challenge and hello over."""
        self.to_agent()
        self.to_gateway()

    def admit(self, key: VerifyKey = AGENT_KEY.public, *, last_seq: int = 0) -> None:
        """Let the agent in, and carry the answer over."""
        self.gateway.admit(key, last_seq=last_seq, at=self.clock.now())
        self.to_agent()

    def exchange(self) -> None:
        """Carry everything over, until both are silent."""
        while self.to_agent() or self.to_gateway():
            pass


def ready_ends(**others: Any) -> Ends:
    """Return two ends that have shaken hands, with no events left."""
    ends = Ends(**others)
    ends.knock()
    ends.admit()
    assert ends.agent.state is ends.gateway.state is LinkState.READY
    ends.agent.events()
    ends.gateway.events()
    return ends


def only(events: list[LinkEvent], kind: type[EventT]) -> EventT:
    """Return the one event, which must be of this kind."""
    assert len(events) == 1, events
    assert isinstance(events[0], kind), events
    return events[0]


def closed(link: Link) -> Closed:
    """Return how a link ended."""
    event = link.events()[-1]
    assert isinstance(event, Closed), event
    assert link.state is LinkState.CLOSED
    return event
