"""The WebSocket to the gateway, bounded where the library trusts the other side.

The library answers pings and puts fragments together by itself, before a `Link` sees anything: a
gateway that sends those without end, or never reads the answers, must cost no memory and no time.
"""

from __future__ import annotations

from typing import Any, Final

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame
from websockets.http11 import Response
from websockets.protocol import State

from common.protocol.flow_control import Meter
from common.protocol.link_events import code_of, websocket_code

CLOSE_SECONDS: Final = 2.0
MAX_UNREAD: Final = 1024 * 1024  # bytes written that the gateway has not read; four whole frames


class BoundedConnection(ClientConnection):
    """Counts every frame, also those that no caller ever sees, against a `Meter`."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._meter = Meter()

    def process_event(self, event: Frame | Response | Any) -> None:
        """Pass a frame on, or end the connection when it is one too many."""
        if isinstance(event, Frame) and not self._meter.spend(
            frames=1, size=len(event.data), mono=self.loop.time()
        ):
            self._fail("too-fast")
        else:
            super().process_event(event)

    def data_received(self, data: bytes) -> None:
        """Take bytes in, unless what they asked for is not read."""
        super().data_received(data)
        if self.transport.get_write_buffer_size() > MAX_UNREAD:
            self.transport.abort()

    def _fail(self, code: str) -> None:
        if self.protocol.state is State.OPEN:  # once, of the thousands that one read may bring
            self.protocol.fail(websocket_code(code))
            self.send_data()
            self.transport.close()  # reads no more from here on …
            self.loop.call_later(CLOSE_SECONDS, self.transport.abort)  # … and waits no longer


class DirectConnect(connect):
    """Follows no redirect (R15): the address was pinned when the machine was paired."""

    def __init__(self, uri: str, **options: Any) -> None:
        super().__init__(uri, create_connection=BoundedConnection, **options)

    def process_redirect(self, exc: Exception) -> Exception | str:
        """Refuse it."""
        return exc


def end_of(error: ConnectionClosed) -> str:
    """Return the code of a connection that the WebSocket ended before the link did.

    Returns:
        One of `link_events.ENDINGS`, or ``lost``.
    """
    for close in (error.rcvd, error.sent):
        if close is not None and (code := code_of(close.code)) is not None:
            return code
    # The library's own verdicts: not text, not UTF-8, too large.
    if error.sent is not None and error.sent.code in (1002, 1003, 1007, 1009):
        return "protocol"
    return "lost"
