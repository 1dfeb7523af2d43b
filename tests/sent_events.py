"""A program that sends a click and a key to a window and to each of its parts (XSendEvent).

Run as ``python -I sent_events.py WINDOW``; for the tests of the window (`tests.screen`).
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from ctypes import POINTER, byref, c_char_p, c_int, c_long, c_uint, c_ulong, c_void_p
from typing import Any, Final

KEY_PRESS, KEY_RELEASE, BUTTON_PRESS, BUTTON_RELEASE = 2, 3, 4, 5
BUTTON_1_HELD: Final = 1 << 8
MASKS: Final = {KEY_PRESS: 1, KEY_RELEASE: 2, BUTTON_PRESS: 4, BUTTON_RELEASE: 8}


class Event(ctypes.Structure):
    """XButtonEvent, and XKeyEvent, which differs in the name of a field (Xlib.h)."""

    _fields_ = (
        ("type", c_int),
        ("serial", c_ulong),
        ("send_event", c_int),
        ("display", c_void_p),
        ("window", c_ulong),
        ("root", c_ulong),
        ("subwindow", c_ulong),
        ("time", c_ulong),
        ("x", c_int),
        ("y", c_int),
        ("x_root", c_int),
        ("y_root", c_int),
        ("state", c_uint),
        ("button", c_uint),
        ("same_screen", c_int),
        ("pad", c_long * 12),
    )


def main(window: int) -> None:
    """Send to every part, and say to how many."""
    x11 = ctypes.CDLL("libX11.so.6")
    x11.XOpenDisplay.restype = c_void_p
    x11.XDefaultRootWindow.restype = c_ulong
    x11.XStringToKeysym.restype = c_ulong
    x11.XStringToKeysym.argtypes = [c_char_p]
    x11.XKeysymToKeycode.argtypes = [c_void_p, c_ulong]
    display = c_void_p(x11.XOpenDisplay(None))
    root = x11.XDefaultRootWindow(display)
    space = x11.XKeysymToKeycode(display, x11.XStringToKeysym(b"space")) & 255
    parts = list(_parts(x11, display, window))
    for part in parts:
        for kind, state, what in (
            (BUTTON_PRESS, 0, 1),
            (BUTTON_RELEASE, BUTTON_1_HELD, 1),
            (KEY_PRESS, 0, space),
            (KEY_RELEASE, 0, space),
        ):
            event = Event(kind, 0, 1, display, part, root, 0, 0, 9, 9, 9, 9, state, what, 1)
            x11.XSendEvent(display, c_ulong(part), 0, c_long(MASKS[kind]), byref(event))
    x11.XSync(display, 0)
    sys.stdout.write(f"{len(parts)}\n")


def _parts(x11: Any, display: c_void_p, window: int) -> Iterator[int]:
    yield window
    root, parent, count = c_ulong(), c_ulong(), c_uint()
    children = POINTER(c_ulong)()
    x11.XQueryTree(
        *(display, c_ulong(window), byref(root), byref(parent), byref(children), byref(count))
    )
    for at in range(count.value):
        yield from _parts(x11, display, children[at])


if __name__ == "__main__":
    main(int(sys.argv[1]))
