"""Asks the window manager not to give a new window the focus: the person may be typing elsewhere.

``_NET_WM_USER_TIME`` of 0 says so (Extended Window Manager Hints); Tk has no call for it.  It is a
request: where it is not heard, keys still do nothing until the window has stood still for a while.
"""

from __future__ import annotations

import ctypes
from typing import Any, Final

_XLIB: Final = "libX11.so.6"
_CARDINAL: Final = 6  # XA_CARDINAL, X11/Xatom.h
_REPLACE: Final = 0  # PropModeReplace
_BITS: Final = 32


def ask_for_no_focus(window: int) -> bool:
    """Ask it for the toplevel that holds ``window``; False where this is no X display.

    Args:
        window: X id of Tk's own window; its parent is what the window manager sees.
    """
    try:
        x11 = _declare(ctypes.CDLL(_XLIB))
    except OSError:
        return False
    display = x11.XOpenDisplay(None)
    if not display:
        return False
    try:
        atom = x11.XInternAtom(display, b"_NET_WM_USER_TIME", 0)
        zero = ctypes.c_long(0)
        holder = _parent(x11, display, window)
        x11.XChangeProperty(
            *(display, holder, atom, _CARDINAL, _BITS, _REPLACE), ctypes.byref(zero), 1
        )
        return True
    finally:
        x11.XCloseDisplay(display)  # sends what was asked


def _declare(x11: Any) -> Any:
    x11.XOpenDisplay.restype = ctypes.c_void_p
    x11.XInternAtom.restype = ctypes.c_ulong
    pointer, number = ctypes.c_void_p, ctypes.c_ulong
    x11.XInternAtom.argtypes = [pointer, ctypes.c_char_p, ctypes.c_int]
    x11.XChangeProperty.argtypes = [
        *(pointer, number, number, number, ctypes.c_int, ctypes.c_int, pointer, ctypes.c_int)
    ]
    x11.XQueryTree.argtypes = [pointer, number, *([pointer] * 4)]
    x11.XFree.argtypes = [pointer]
    x11.XCloseDisplay.argtypes = [pointer]
    return x11


def _parent(x11: Any, display: int, window: int) -> int:
    root, parent, count = ctypes.c_ulong(), ctypes.c_ulong(), ctypes.c_uint()
    children = ctypes.c_void_p()
    found = map(ctypes.byref, (root, parent, children, count))
    if not x11.XQueryTree(display, window, *found):
        return window
    if children:
        x11.XFree(children)
    # Straight below the root there is no holder: the window is the toplevel itself.
    return window if parent.value in (0, root.value) else parent.value
