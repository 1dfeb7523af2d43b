"""One connection between gateway and agent, sans I/O: who, in which order, and is it still alive.

The shell around a `Link` is one loop.  After every call it sends `data_to_send`, then acts on
`events` (`link_events` tells how), and it calls `tick` no later than `next_deadline`.

The rules, all of them enforced here:
- Before both sides are proven nothing but the handshake is sent or taken, in frames of 8 KiB, each
  within 10 s of the one before; afterwards frames have 256 KiB (R13).
- Numbers run 1, 2, 3 … in each direction.  One seen before is dropped, and acknowledged again when
  it is kept.  A gap ends the link: it is an alarm, never skipped over.
- An acknowledgement is signed, for this very connection: the other side forgets by it.
- A peer's `rekey` is the last envelope that is taken: what follows is signed with another key than
  the one this connection rests on, and is dropped uncounted.  It comes again on the next one.
- A peer not heard for 20 s is pinged, after 40 s it is dead.  Any frame is a sign of life.
- A peer that sends more than its `Meter` allows is sent away before a frame too many is read.
- Whatever the peer does wrong ends in `Closed`; `receive` never raises.  On the wire a failed
  authentication says ``auth`` and nothing else; the true reason is in the event, for the log.

A link forgets everything when it ends.  What must not be lost is in the stores of both halves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from common.clock import Instant
from common.errors import AuthError, LocalProtocolError, RemoteProtocolError
from common.protocol import frames
from common.protocol.codec import framed
from common.protocol.envelope import agent_name, gateway_name, verify_envelope
from common.protocol.flow_control import DEADLINES, Deadlines, Meter, Order, Pulse
from common.protocol.handshake import AgentHandshake, GatewayHandshake
from common.protocol.link_events import (
    NORMAL,
    Acked,
    AgentKnocked,
    Closed,
    Duplicate,
    LinkEvent,
    LinkState,
    Ready,
    Received,
    websocket_code,
)
from common.signing import ACK, SigningKey, VerifyKey

__all__ = [
    "Acked",
    "AgentKnocked",
    "Closed",
    "Duplicate",
    "Link",
    "LinkEvent",
    "LinkState",
    "Ready",
    "Received",
]

_FROM_GATEWAY: Final = frozenset({"task", "cancel", "tombstone", "head", "rekey"})
_FROM_AGENT: Final = frozenset({"event", "result", "head", "rekey"})


class Link:
    """One end of one connection.  Build it with `for_gateway` or `for_agent`.

    Attributes:
        state: Where it is.
        meter: What the peer has sent lately; the caller may put that of the peer's key here.
        close_code: To close the WebSocket with, once the link is closed.
    """

    __slots__ = (
        "_events",
        "_handshake",
        "_judging",
        "_order",
        "_out",
        "_own_key",
        "_own_name",
        "_peer_key",
        "_peer_name",
        "_pulse",
        "_rekeyed",
        "_session_id",
        "_takes",
        "close_code",
        "meter",
        "state",
    )

    def __init__(
        self,
        handshake: GatewayHandshake | AgentHandshake,
        *,
        own_name: str,
        last_seq: int,
        at: Instant,
        deadlines: Deadlines,
    ) -> None:
        self.state = LinkState.OPENING
        self.meter = Meter()
        self.close_code = NORMAL
        self._handshake: GatewayHandshake | AgentHandshake | None = handshake
        self._judging = False  # the peer knocked: it is the caller's turn, the peer must wait
        self._rekeyed = False  # the peer has announced another key
        self._events: list[LinkEvent] = []
        self._out: list[str] = []
        self._own_key = handshake.key
        self._own_name = own_name
        self._peer_name = ""
        self._session_id = ""
        self._peer_key: VerifyKey | None = None
        self._order = Order(kept=last_seq, peer_kept=0)
        self._pulse = Pulse(at.mono, deadlines)
        is_gateway = isinstance(handshake, GatewayHandshake)
        self._takes = _FROM_AGENT if is_gateway else _FROM_GATEWAY

    @classmethod
    def for_gateway(
        cls,
        key: SigningKey,
        url: str,
        *,
        nonce: bytes,
        session_id: str,
        at: Instant,
        older: Sequence[SigningKey] = (),
        deadlines: Deadlines = DEADLINES,
    ) -> Link:
        """Return the gateway's end of a connection just accepted; it has a challenge to send.

        Arguments and errors as of `GatewayHandshake`.
        """
        handshake = GatewayHandshake(
            key, url, nonce=nonce, session_id=session_id, at=at, older=older
        )
        link = cls(
            handshake, own_name=gateway_name(key.public), last_seq=0, at=at, deadlines=deadlines
        )
        link._put(frames.Challenge(handshake.challenge))
        return link

    @classmethod
    def for_agent(
        cls,
        key: SigningKey,
        *,
        agent_id: str,
        gateway_key: VerifyKey,
        url: str,
        last_seq: int,
        nonce: bytes,
        at: Instant,
        deadlines: Deadlines = DEADLINES,
    ) -> Link:
        """Return the agent's end of a connection just made; it waits for the challenge.

        Arguments and errors as of `AgentHandshake`.
        """
        handshake = AgentHandshake(
            key, agent_id=agent_id, gateway_key=gateway_key, url=url, last_seq=last_seq, nonce=nonce
        )
        return cls(
            handshake,
            own_name=agent_name(agent_id),
            last_seq=last_seq,
            at=at,
            deadlines=deadlines,
        )

    @property
    def expected_seq(self) -> int:
        """The number that the next envelope from the peer must carry."""
        return self._order.taken + 1

    # What the shell brings in.

    def receive(self, data: str | bytes, at: Instant) -> None:
        """Take in one WebSocket message.  Never raises on anything a peer may send."""
        if self.state is LinkState.OPENING:
            self.tick(at)  # a first frame that comes too late is not looked at
        if self.state is LinkState.CLOSED:
            return
        handshake = self._handshake  # None from the moment it succeeded
        limit = frames.OPENING_BYTES if handshake else frames.FRAME_BYTES
        if not self.meter.spend(frames=1, size=len(data), mono=at.mono):
            self._fail(RemoteProtocolError("too-fast"))
            return
        try:
            frame = frames.decode_frame(data, max_bytes=limit)
            self._pulse.hear(at.mono)
            if isinstance(frame, frames.ErrorFrame):
                self._end(Closed(frame.code, by_peer=True))
            elif handshake is not None:
                self._shake_hands(handshake, frame, at)
            elif isinstance(frame, frames.Sealed):
                self._take(frame, data, at)
            else:
                self._attend(frame)
        except (AuthError, RemoteProtocolError) as error:
            self._fail(error)

    def admit(self, public_key: VerifyKey, *, last_seq: int, at: Instant) -> None:
        """Answer `AgentKnocked`: this key is enrolled for that agent.  It is tried now.

        `Ready` or `Closed` follows.  On a link that closed meanwhile this does nothing.

        Args:
            public_key: The enrolled key.
            last_seq: The last number kept durably from this agent; 0 for none.
            at: Now.

        Raises:
            LocalProtocolError: ``link.nobody-knocked``.
        """
        if (handshake := self._judged()) is None:
            return
        try:
            ready = handshake.admit(public_key, last_seq=last_seq)
        except (AuthError, RemoteProtocolError) as error:
            self._fail(error)
            return
        knock = handshake.knocked
        self._pulse.hear(at.mono)
        self._put(ready)
        self._own_key = handshake.key
        self._own_name = gateway_name(handshake.key.public)
        self._order = Order(kept=last_seq, peer_kept=knock.last_seq)
        self._become_ready(
            agent_name(knock.agent_id), public_key, handshake.session_id, handshake.key.public
        )

    def refuse(self, at: Instant) -> None:
        """Answer `AgentKnocked`: unknown or revoked.  Outside it looks like a wrong key.

        Raises:
            LocalProtocolError: ``link.nobody-knocked``.
        """
        if self._judged() is not None:
            self._pulse.hear(at.mono)
            self._fail(AuthError("auth.refused"))

    def send(self, frame: bytes) -> None:
        """Queue an envelope's frame as it was sealed: in the order of numbers, each once.

        On a closed link this does nothing: what was not acknowledged is sent on the next one.

        Raises:
            LocalProtocolError: ``link.not-ready``.
        """
        if self.state is LinkState.OPENING:
            raise LocalProtocolError("link.not-ready")
        if self.state is LinkState.READY:
            self._out.append(frame.decode())

    def ack(self, seq: int) -> None:
        """Tell the peer that everything up to and including ``seq`` is kept durably.

        Raises:
            LocalProtocolError: ``link.not-ready``; ``link.ack-ahead`` of what was received.
        """
        if self.state is LinkState.OPENING:
            raise LocalProtocolError("link.not-ready")
        if self._order.keep(seq) and self.state is LinkState.READY:
            self._put(self._signed_ack(seq))

    def close(self, code: str) -> None:
        """End the link and tell the peer why: one of `link_events.ENDINGS`."""
        if self.state is not LinkState.CLOSED:
            self._say_goodbye(code)
            self._end(Closed(code))

    def tick(self, at: Instant) -> None:
        """Do what is due by now: ping, or give the peer up.  Too early is no harm."""
        deadline = self.next_deadline()
        if deadline is None or at.mono < deadline:
            return
        if self.state is LinkState.OPENING:
            self.close("timeout")
        elif self._pulse.is_dead(at.mono):
            self.close("dead")
        else:
            self._pulse.asked = True
            self._put(frames.Ping(self._order.taken % 2**32))

    # What the shell takes out.

    def next_deadline(self) -> float | None:
        """Return by when `tick` must be called, on the monotonic clock; None when closed."""
        if self.state is LinkState.CLOSED:
            return None
        if self.state is LinkState.OPENING:
            return self._pulse.heard + self._pulse.deadlines.opening_s
        return self._pulse.next_deadline()

    def events(self) -> list[LinkEvent]:
        """Return what happened since the last call, in order."""
        events, self._events = self._events, []
        return events

    def data_to_send(self) -> list[str]:
        """Return the messages to send since the last call, in order, each one WebSocket text."""
        out, self._out = self._out, []
        return out

    # Opening.

    def _shake_hands(
        self, handshake: GatewayHandshake | AgentHandshake, frame: frames.Frame, at: Instant
    ) -> None:
        match handshake, frame:
            case GatewayHandshake(), frames.Hello() if not self._judging:
                knock = handshake.knock(frame, at)
                self._judging = True
                self._events.append(AgentKnocked(knock.agent_id, knock.last_seq))
            case AgentHandshake(), frames.Challenge():
                self._put(handshake.answer(frame, at))
            case AgentHandshake(), frames.Ready():
                admission = handshake.accept(frame)
                self._order.peer_keeps(admission.last_seq)
                key = handshake.gateway_key
                self._become_ready(gateway_name(key), key, admission.session_id, key)
            case _:
                raise RemoteProtocolError("frame.unexpected")

    def _judged(self) -> GatewayHandshake | None:
        # The link may have timed out while the caller looked the agent up.
        if self.state is LinkState.CLOSED:
            return None
        if not self._judging or not isinstance(self._handshake, GatewayHandshake):
            raise LocalProtocolError("link.nobody-knocked")
        return self._handshake

    def _become_ready(
        self, peer_name: str, peer_key: VerifyKey, session_id: str, gateway_key: VerifyKey
    ) -> None:
        self.state = LinkState.READY
        self._handshake, self._judging = None, False
        self._peer_name, self._peer_key = peer_name, peer_key
        self._session_id = session_id
        self._events.append(Ready(session_id, self._order.peer_kept, gateway_key.key_id))

    # Ready.

    def _take(self, frame: frames.Sealed, data: str | bytes, at: Instant) -> None:
        if frame.t not in self._takes or self._peer_key is None:
            raise RemoteProtocolError("frame.unexpected")
        if self._rekeyed:
            return
        envelope = verify_envelope(
            frame,
            data.encode() if isinstance(data, str) else data,
            key=self._peer_key,
            iss=self._peer_name,
            aud=self._own_name,
            at=at,
        )
        seq = envelope.header.seq
        if self._order.take(seq):
            self._rekeyed = frame.t == "rekey"
            self._events.append(Received(envelope))
            return
        self._events.append(Duplicate(seq))
        if seq <= self._order.kept:  # else the caller is still writing it, and acknowledges then
            self._put(self._signed_ack(self._order.kept))

    def _attend(self, frame: frames.Frame) -> None:
        if isinstance(frame, frames.Ping):
            self._put(frames.Pong(frame.n))
        elif isinstance(frame, frames.Ack):
            self._verify_ack(frame)
            if self._order.peer_keeps(frame.seq):
                self._events.append(Acked(frame.seq))
        elif not isinstance(frame, frames.Pong):
            raise RemoteProtocolError("frame.unexpected")

    def _signed_ack(self, seq: int) -> frames.Ack:
        said = self._ack_said(self._own_name, self._peer_name, seq)
        return frames.Ack(seq, self._own_key.sign(ACK, said))

    def _verify_ack(self, ack: frames.Ack) -> None:
        if self._peer_key is None:
            raise RemoteProtocolError("frame.unexpected")
        said = self._ack_said(self._peer_name, self._own_name, ack.seq)
        self._peer_key.verify(ACK, said, ack.sig)

    def _ack_said(self, iss: str, aud: str, seq: int) -> bytes:
        return framed(self._session_id.encode(), iss.encode(), aud.encode(), str(seq).encode())

    # Closing.

    def _fail(self, error: AuthError | RemoteProtocolError) -> None:
        closed = Closed.because_of(error)
        # Whoever is not proven cannot tell a malformed hello from a wrong key.
        unproven = self.state is LinkState.OPENING and closed.code == "protocol"
        self._say_goodbye("auth" if unproven else closed.code)
        self._end(closed)

    def _say_goodbye(self, code: str) -> None:
        self.close_code = websocket_code(code)
        self._put(frames.ErrorFrame(code))

    def _end(self, event: Closed) -> None:
        self.state = LinkState.CLOSED
        self._handshake = None
        self._events.append(event)

    def _put(self, frame: frames.Frame) -> None:
        self._out.append(frames.encode_frame(frame))
