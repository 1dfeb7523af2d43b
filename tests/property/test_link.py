"""What holds for a Link whatever the wire and the peer do (P3, R16, R17)."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.clock import ManualClock
from common.protocol.envelope import Envelope
from common.protocol.frames import FRAME_BYTES, encode_frame
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
    AGENT_KEY,
    EVERY_FRAME,
    Ends,
    event_body,
    ready_ends,
    result,
    result_body,
    task,
    task_body,
)

CLOCK = ManualClock()
COUNT = 6
TASKS = {seq: task(seq, CLOCK.now()) for seq in range(1, COUNT + 1)}
RESULTS = {seq: result(seq, CLOCK.now()) for seq in range(1, COUNT + 1)}

# What the wire does to the messages of one connection, in turn: first the three of the handshake,
# which mostly come through, then the envelopes and their acknowledgements, which often do not.
TROUBLE = ["lose", "double", "hold", "spoil", "break"]
FATES = st.builds(
    lambda opening, rest: deque(opening + rest),
    st.lists(st.sampled_from(["deliver"] * 20 + TROUBLE), min_size=3, max_size=3),
    st.lists(st.sampled_from(["deliver"] * 8 + TROUBLE), min_size=8, max_size=24),
)


@dataclass
class Side:
    """One half: what it still has to send, and what it keeps durably, beyond any connection."""

    mailbox: dict[int, Envelope]
    kept: list[int] = field(default_factory=list)
    acked: int = 0

    @property
    def last_seq(self) -> int:
        """The last number kept."""
        return self.kept[-1] if self.kept else 0


class LossyPipe:
    """Carries texts one way, and loses, doubles, swaps and spoils some of them."""

    def __init__(self, fates: deque[str]) -> None:
        self._fates = fates
        self._held: list[str] = []
        self.broken = False

    def carry(self, texts: list[str]) -> list[str]:
        """Return what comes out at the other end."""
        out: list[str] = []
        for text in texts:
            out += self._one(text)
        return out

    def _one(self, text: str) -> list[str]:
        fate = self._fates.popleft() if self._fates else "deliver"
        held, self._held = self._held, []
        if fate == "break":
            self.broken = True
        if fate == "hold":
            self._held = [text]
            return held
        spoilt = text[: len(text) // 2] + "x" + text[len(text) // 2 + 1 :]
        outcome = {"lose": [], "double": [text, text], "spoil": [spoilt], "break": []}
        return [*outcome.get(fate, [text]), *held]


def attend(link: Link, side: Side, enrolled: int) -> None:
    """Do what a shell does with the events of a link: keep first, then acknowledge."""
    for event in link.events():
        match event:
            case AgentKnocked():
                link.admit(AGENT_KEY.public, last_seq=enrolled, at=CLOCK.now())
                attend(link, side, enrolled)
            case Ready(peer_last_seq=seen):
                side.acked = max(side.acked, seen)
                for seq in range(seen + 1, COUNT + 1):
                    link.send(side.mailbox[seq].frame)
            case Received(envelope):
                assert not envelope.expired
                side.kept.append(envelope.header.seq)
                link.ack(envelope.header.seq)
            case Duplicate(seq):
                assert seq <= side.last_seq
            case Acked(seq):
                assert seq > side.acked
                side.acked = seq
            case Closed():
                assert link.state is LinkState.CLOSED


def connect_once(cloud: Side, machine: Side, fates: deque[str]) -> None:
    """Let both halves talk over one connection until it breaks or falls silent."""
    ends = Ends(CLOCK, last_seq=machine.last_seq)
    down, up = LossyPipe(fates), LossyPipe(fates)
    for _ in range(200):
        attend(ends.gateway, cloud, cloud.last_seq)
        attend(ends.agent, machine, 0)
        to_agent = down.carry(ends.gateway.data_to_send())
        to_gateway = up.carry(ends.agent.data_to_send())
        for text in to_agent:
            ends.agent.receive(text, CLOCK.now())
        for text in to_gateway:
            ends.gateway.receive(text, CLOCK.now())
        if down.broken or up.broken or not (to_agent or to_gateway):
            break
    # What was received before the connection broke is still in the socket, and is kept.
    attend(ends.gateway, cloud, cloud.last_seq)
    attend(ends.agent, machine, 0)


@pytest.mark.requirement("P3", "R17")
@settings(max_examples=60, deadline=None)
@given(st.lists(FATES, min_size=1, max_size=5))
def test_whatever_the_wire_does_each_number_arrives_once_and_in_order(
    connections: list[deque[str]],
) -> None:
    cloud, machine = Side(TASKS), Side(RESULTS)
    for fates in connections:
        connect_once(cloud, machine, fates)
        for side, peer in ((cloud, machine), (machine, cloud)):
            assert side.kept == list(range(1, len(side.kept) + 1))
            assert side.acked <= peer.last_seq  # never acknowledged before it was kept
    # Once the wire behaves, one more connection brings everything over.
    connect_once(cloud, machine, deque())
    assert cloud.kept == machine.kept == list(range(1, COUNT + 1))
    assert cloud.acked == machine.acked == COUNT


NAMES = [record["t"] for record in map(json.loads, map(encode_frame, EVERY_FRAME))]
BODIES = [
    json.dumps(body) for body in ({}, task_body(), event_body(), result_body(), {"session_id": "s"})
]
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(BODIES),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)
FRAME_LIKE = st.fixed_dictionaries(
    {"t": st.sampled_from([*NAMES, "approve"])},
    optional={
        "body": JSON_VALUES | st.sampled_from(BODIES),
        "header": JSON_VALUES | st.sampled_from(BODIES),
        "sig": JSON_VALUES | st.just("A" * 86 + "=="),
        "seq": JSON_VALUES | st.integers(-1, 3),
        "n": JSON_VALUES | st.integers(-1, 2**33),
        "code": JSON_VALUES | st.just("auth"),
    },
).map(json.dumps)
ANYTHING = (
    st.binary(max_size=200) | st.text(max_size=200) | FRAME_LIKE | JSON_VALUES.map(json.dumps)
)


def opening_gateway() -> Link:
    """A gateway that waits for a hello."""
    return Ends(CLOCK).gateway


def opening_agent() -> Link:
    """An agent that waits for a challenge."""
    return Ends(CLOCK).agent


def asking_agent() -> Link:
    """An agent that waits for the gateway to prove itself."""
    ends = Ends(CLOCK)
    ends.to_agent()
    return ends.agent


def ready_gateway() -> Link:
    """A gateway with a proven agent."""
    return ready_ends(clock=CLOCK).gateway


def ready_agent() -> Link:
    """An agent with a proven gateway."""
    return ready_ends(clock=CLOCK).agent


@pytest.mark.requirement("R2", "R13", "R19")
@pytest.mark.parametrize(
    "build", [opening_gateway, opening_agent, asking_agent, ready_gateway, ready_agent]
)
@settings(max_examples=60, deadline=None)
@given(st.lists(ANYTHING, min_size=1, max_size=4))
def test_whatever_a_peer_sends_a_link_at_most_closes(
    build: Callable[[], Link], messages: list[str | bytes]
) -> None:
    link = build()
    link.data_to_send()
    for message in messages:
        link.receive(message, CLOCK.now())
    events = link.events()
    assert not any(isinstance(event, Received | Ready | Duplicate) for event in events)
    assert sum(isinstance(event, Closed) for event in events) == (link.state is LinkState.CLOSED)
    assert len(link.data_to_send()) <= len(messages)
    assert link.state is LinkState.CLOSED or link.next_deadline() is not None


@pytest.mark.requirement("R16")
@settings(max_examples=80, deadline=None)
@given(st.data())
def test_an_envelope_with_any_byte_changed_is_never_taken_as_another(data: st.DataObject) -> None:
    ends = ready_ends(clock=CLOCK)
    frame = bytearray(TASKS[1].frame)
    place = data.draw(st.integers(0, len(frame) - 1))
    frame[place] = data.draw(st.integers(0, 255))
    ends.agent.receive(bytes(frame), CLOCK.now())
    for event in ends.agent.events():
        if isinstance(event, Received):
            assert event.envelope.sha256 == TASKS[1].sha256
        else:
            assert isinstance(event, Closed)


@settings(max_examples=20, deadline=None)
@given(st.sampled_from('[{"\\x'), st.integers(1, FRAME_BYTES))
def test_a_large_message_of_one_character_is_refused(char: str, size: int) -> None:
    link = ready_agent()
    link.receive(char * size, CLOCK.now())
    assert link.state is LinkState.CLOSED
