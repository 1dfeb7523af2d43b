"""What `sim send` and the demo print of a chat."""

from __future__ import annotations

from gateway.simulator.client import bubble_text


def test_what_a_gateway_says_moves_no_cursor_of_the_terminal() -> None:
    for sender, text in (("app", "\x1b[2Jone\ntwo"), ("system", "wecom-refuses \x1b[2Jone\ntwo")):
        told = bubble_text({"sender": sender, "text": text}, "en")
        assert "\x1b" not in told
        assert told.endswith("one\ntwo")
