"""What is known of windows."""

from __future__ import annotations

from local_agent.faces.window.availability import Windows


def test_it_is_looked_for_then_on_or_off_with_the_reason() -> None:
    windows = Windows()
    assert (windows.state, windows.why) == ("looking", "")
    windows.turn_off("no-window")
    assert (windows.state, windows.why) == ("off", "no-window")
    windows.turn_on()
    assert (windows.state, windows.why) == ("on", "")
