"""Two halves over a wire that fails: stores outlive everything, ends of a connection nothing.

An `End` does with its `Link` what the real shells do: what came is kept first and acknowledged
afterwards, what is to be sent comes from the store and stays there.  A kill takes the `End` and
leaves the `Half`; a fault takes texts, or silence, or the whole connection.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Literal

from common.clock import Instant, ManualClock
from common.protocol.envelope import (
    SKEW_S,
    Envelope,
    TombstoneBody,
    agent_name,
    gateway_name,
    open_envelope,
)
from common.protocol.link import (
    Acked,
    AgentKnocked,
    Closed,
    Duplicate,
    Link,
    LinkState,
    Ready,
    Received,
)
from tests.unit.common.protocol.wire import (
    AGENT_ID,
    AGENT_KEY,
    GATEWAY_KEY,
    SESSION,
    URL,
    result,
    task,
)

WINDOW = 4  # frames on their way and not acknowledged
Name = Literal["gateway", "agent"]
Fault = Literal["drop", "duplicate", "swap", "truncate"]


@dataclass(eq=False)
class Half:
    """What one half keeps durably; each method is one commit.

    Attributes:
        mail: What it has to say, by number; kept until it is acknowledged.
        kept: What it took in, in order.
        done: Names of what had its effect, in order.
        acked: The last number of ours that the peer is known to keep.
        epoch: Which connection owns it; the commits of older ones are refused.
    """

    name: Name
    mail: dict[int, Envelope] = field(default_factory=dict)
    kept: list[Envelope] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    acked: int = 0
    epoch: int = 0

    @property
    def last_seq(self) -> int:
        """The last number kept."""
        return len(self.kept)

    def put(self, at: Instant, *, life_s: int = 3600) -> None:
        """Number, sign and store one more message."""
        seq = len(self.mail) + 1
        seal = task if self.name == "gateway" else result
        self.mail[seq] = seal(seq, at, exp=at.wall_s + life_s)

    def bury(self, at: Instant) -> None:
        """Replace what expired unacknowledged by tombstones of the same numbers."""
        for seq in range(self.acked + 1, len(self.mail) + 1):
            old = self.mail[seq]
            if old.header.typ == "task" and old.header.exp + SKEW_S < at.wall_s:
                body = TombstoneBody(task_id="task-1").to_dict()
                exp = at.wall_s + 86_400
                self.mail[seq] = task(seq, at, typ="tombstone", jti=f"t-{seq}", exp=exp, body=body)

    def commit(self, envelope: Envelope, *, epoch: int) -> bool:
        """Keep one message and what it leads to; False when the connection owns us no more."""
        if epoch != self.epoch:
            return False
        assert envelope.header.seq == self.last_seq + 1, "a gap, a repeat, or out of order"
        self.kept.append(envelope)
        if not envelope.expired and envelope.header.typ != "tombstone":
            self.done.append(envelope.header.jti)
        return True


@dataclass
class Lane:
    """One way of a wire.

    Attributes:
        stalled: Nothing comes out any more, not even the end: half-open.
        ended: The sender has closed; whoever reads finds out after the last text.
    """

    texts: deque[str] = field(default_factory=deque)
    stalled: bool = False
    ended: bool = False

    def spoil(self, fault: Fault) -> None:
        """Do something to the next texts that a wire should not do."""
        if not self.texts:
            return
        first = self.texts.popleft()
        if fault == "duplicate":
            self.texts.extendleft([first, first])
        elif fault == "truncate":
            self.texts.appendleft(first[: len(first) // 2])
        elif fault == "swap":
            self.texts.insert(1, first)


@dataclass(eq=False)
class Wire:
    """One connection."""

    to_agent: Lane = field(default_factory=Lane)
    to_gateway: Lane = field(default_factory=Lane)

    @property
    def lanes(self) -> tuple[Lane, Lane]:
        """Both ways."""
        return self.to_agent, self.to_gateway


class End:
    """One end of one connection: a Link, the books of a shell, and nothing durable.

    Attributes:
        waiting: Taken in and not yet committed.
        heard: When the last text came in, on the monotonic clock.
    """

    def __init__(self, half: Half, link: Link, clock: ManualClock, *, wire: Wire) -> None:
        self.half = half
        self.link = link
        self.wire = wire
        self.waiting: deque[Envelope] = deque()
        self.heard = clock.now().mono
        self._clock = clock
        self._is_gateway = half.name == "gateway"
        self._epoch = half.epoch
        self._sent: int | None = None
        self.turn()

    @property
    def lane(self) -> Lane:
        """Where its texts come from."""
        return self.wire.to_gateway if self._is_gateway else self.wire.to_agent

    @property
    def out(self) -> Lane:
        """Where its texts go."""
        return self.wire.to_agent if self._is_gateway else self.wire.to_gateway

    @property
    def open(self) -> bool:
        """Whether its link still stands."""
        return self.link.state is not LinkState.CLOSED

    def receive(self) -> bool:
        """Take the next text in, or the end; False when nothing comes."""
        if self.lane.stalled or not self.open:
            return False
        if self.lane.texts:
            self.heard = self._clock.now().mono
            self.link.receive(self.lane.texts.popleft(), self._clock.now())
            self.turn()
            return True
        if self.lane.ended:
            self.lose()
            return True
        return False

    def lose(self) -> None:
        """The socket is gone; what it had not committed is forgotten with it."""
        self.link.close("shutdown")
        self.link.events()
        self.waiting.clear()
        self.out.ended = True

    def commit(self) -> bool:
        """Keep the oldest that waits, then acknowledge it; False when none does."""
        if not self.waiting:
            return False
        envelope = self.waiting.popleft()
        if self.half.commit(envelope, epoch=self._epoch):
            self.link.ack(envelope.header.seq)
        else:
            self.waiting.clear()
            self.link.close("taken-over")
        self.turn()
        return True

    def tick(self) -> None:
        """Let the link do what is due."""
        self.link.tick(self._clock.now())
        self.turn()

    def turn(self) -> None:
        """Act on events, fill the window, send."""
        while events := self.link.events():
            for event in events:
                self._on(event)
        self._fill()
        self.out.texts.extend(self.link.data_to_send())
        if not self.open:
            self.out.ended = True

    def _on(self, event: object) -> None:
        match event:
            case AgentKnocked():
                at = self._clock.now()
                self.link.admit(AGENT_KEY.public, last_seq=self.half.last_seq, at=at)
            case Ready(peer_last_seq=seen):
                self.half.epoch += 1
                self._epoch = self.half.epoch
                self.half.acked = max(self.half.acked, seen)
                self._sent = seen
            case Received(envelope):
                self.waiting.append(envelope)
            case Duplicate(seq):
                assert seq <= self.half.last_seq + len(self.waiting)
            case Acked(seq):
                self.half.acked = max(self.half.acked, seq)
            case Closed():
                self.waiting.clear()

    def _fill(self) -> None:
        if self._sent is None:
            return
        while self._sent < min(len(self.half.mail), self.half.acked + WINDOW):
            self._sent += 1
            self.link.send(self.half.mail[self._sent].frame)


class World:
    """Both halves, every connection that some end still believes in, and the clock."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.gateway = Half("gateway")
        self.agent = Half("agent")
        self.here: End | None = None  # the agent's one end
        self.there: list[End] = []  # the gateway may not know yet that older ones are dead
        self._dialled = 0

    @property
    def ends(self) -> list[End]:
        """Every end of a connection."""
        return [*self.there, *([self.here] if self.here else [])]

    def dial(self) -> None:
        """Make a new connection, unless the agent still believes in one."""
        if self.here is not None and self.here.open:
            return
        self._dialled += 1
        wire, at, nonce = Wire(), self.clock.now(), self._dialled.to_bytes(32, "big")
        link = Link.for_gateway(GATEWAY_KEY, URL, nonce=nonce, session_id=SESSION, at=at)
        self.there.append(End(self.gateway, link, self.clock, wire=wire))
        link = Link.for_agent(
            AGENT_KEY,
            agent_id=AGENT_ID,
            gateway_key=GATEWAY_KEY.public,
            url=URL,
            last_seq=self.agent.last_seq,
            nonce=nonce,
            at=at,
        )
        self.here = End(self.agent, link, self.clock, wire=wire)

    def kill(self, name: Name, *, silently: bool) -> None:
        """End one half as by kill -9, or by a power cut, of which the other hears nothing."""
        gone = self.there if name == "gateway" else [end for end in (self.here,) if end]
        for end in gone:
            end.out.ended = True
            end.out.stalled = end.out.stalled or silently
        if name == "gateway":
            self.there = []
        else:
            self.here = None

    def wait(self, seconds: float) -> None:
        """Let time pass, from deadline to deadline."""
        until = self.clock.now().mono + seconds
        while (now := self.clock.now().mono) < until:
            due = [deadline for end in self.ends if (deadline := end.link.next_deadline())]
            # A hair later, as clocks do: no deadline is met by luck of rounding.
            self.clock.advance(max(min([until, *due]) - now, 0.0) + 0.001)
            for end in self.ends:
                end.tick()

    def sweep(self) -> None:
        """Forget the ends that have closed."""
        self.there = [end for end in self.there if end.open]

    def heal(self) -> None:
        """Let the faults stop, and everything arrive that can."""
        for end in self.ends:
            end.lane.stalled = False
        for _ in range(20):
            self.dial()
            while sum(end.receive() or end.commit() for end in self.ends):
                pass
            self.sweep()
            if not self.owed():
                return
            self.wait(41)

    def owed(self) -> int:
        """Count what has not yet reached the other half and been acknowledged."""
        halves = (self.gateway, self.agent)
        return sum(len(half.mail) - half.acked for half in halves)


def opened(envelope: Envelope, name: Name, at: Instant) -> Envelope:
    """Verify what one half took in, independently of any link."""
    to_agent = name == "agent"
    gateway, agent = gateway_name(GATEWAY_KEY.public), agent_name(AGENT_ID)
    return open_envelope(
        envelope.frame,
        key=(GATEWAY_KEY if to_agent else AGENT_KEY).public,
        iss=gateway if to_agent else agent,
        aud=agent if to_agent else gateway,
        at=at,
    )
