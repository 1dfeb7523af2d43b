"""Colours, fonts and the first moments of the window: Tk without its back doors.

The window manager is asked not to give a new window the focus: the person may be typing elsewhere.
``_NET_WM_USER_TIME`` of 0 says so (Extended Window Manager Hints); Tk has no call for it.  It is a
request: where it is not heard, keys still do nothing until the window has stood still for a while.
"""

from __future__ import annotations

import contextlib
import ctypes
import tkinter as tk
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from tkinter import font as tkfont
from tkinter import ttk
from typing import Any, Final

import sv_ttk

from local_agent.faces.window.wire import Theme

SIZE: Final = (1060, 700)  # pixels at 96 dots per inch
LEAST: Final = (820, 560)

_DPI: Final = 96
_MOST_SCALE: Final = 3.0
# The first that is installed; all of them go with Chinese, or are helped out by the system.
_TEXT: Final = (
    "Noto Sans CJK SC",
    "Source Han Sans SC",
    "PingFang SC",
    "Microsoft YaHei UI",
    "WenQuanYi Micro Hei",
    "Noto Sans",
    "Ubuntu",
    "Cantarell",
    "DejaVu Sans",
)
_MONO: Final = (
    "Noto Sans Mono CJK SC",
    "Sarasa Mono SC",
    "Source Code Pro",
    "Noto Sans Mono",
    "Menlo",
    "DejaVu Sans Mono",
)
_ITEM: Final[list[tuple[str, Any]]] = [  # a line of a list without the arrow of a tree
    (
        "Treeitem.padding",
        {
            "sticky": "nswe",
            "children": [
                ("Treeitem.image", {"side": "left", "sticky": ""}),
                ("Treeitem.text", {"side": "left", "sticky": ""}),
            ],
        },
    )
]
_MOST: Final = 100  # the highest priority; Tk gives resources 60
_NAME, _DEFAULT, _FIELDS = 1, 3, 5  # of what Tk tells of an option; a synonym has fewer fields
# Tk does not take its own default back; `panes` gives it.
_GIVEN: Final = frozenset({"-displaycolumns"})
_KINDS: Final[tuple[Callable[[tk.Misc], tk.Widget], ...]] = (
    *(tk.Frame, tk.Label, tk.Text),
    *(ttk.Button, ttk.Entry, ttk.Scrollbar, ttk.Treeview),
)
_XLIB: Final = "libX11.so.6"
_CARDINAL: Final = 6  # XA_CARDINAL, X11/Xatom.h
_REPLACE: Final = 0  # PropModeReplace
_BITS: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Palette:
    """The colours of one theme; each pair of text and ground has a contrast of 4.5 or more."""

    ground: str
    panel: str
    line: str
    text: str
    dim: str
    red: str
    green: str
    alarm: str
    alarm_text: str
    badge: str
    remote: str
    remote_text: str
    remote_edge: str
    local: str
    local_edge: str
    added: str
    added_number: str
    removed: str
    removed_number: str
    hunk: str
    hunk_text: str
    heading: str
    mark: str
    mark_text: str
    gutter: str
    focus: str


LIGHT: Final = Palette(
    ground="#fafafa",
    panel="#ffffff",
    line="#e2e2e2",
    text="#1c1c1c",
    dim="#636363",
    red="#b3261e",
    green="#1a6b34",
    alarm="#b3261e",
    alarm_text="#ffffff",
    badge="#e8e8e8",
    remote="#fff4ce",
    remote_text="#5c4400",
    remote_edge="#e0a800",
    local="#eef4fb",
    local_edge="#7fb2e5",
    added="#e2f6e8",
    added_number="#c9ecd3",
    removed="#fdeaea",
    removed_number="#f8d3d3",
    hunk="#eef4fb",
    hunk_text="#3d5a80",
    heading="#f0f0f0",
    mark="#b3261e",
    mark_text="#ffffff",
    gutter="#f3f3f3",
    focus="#005fb8",
)
DARK: Final = Palette(
    ground="#1c1c1c",
    panel="#232323",
    line="#3a3a3a",
    text="#fafafa",
    dim="#a8a8a8",
    red="#ff9d94",
    green="#7ddc9a",
    alarm="#c4302b",
    alarm_text="#ffffff",
    badge="#3a3a3a",
    remote="#3b300f",
    remote_text="#ffe08a",
    remote_edge="#c79a1b",
    local="#1d2b3a",
    local_edge="#3f78ad",
    added="#17321f",
    added_number="#1f4a2c",
    removed="#3d1d20",
    removed_number="#57272b",
    hunk="#1d2b3a",
    hunk_text="#9cc3ea",
    heading="#2e2e2e",
    mark="#ff8a80",
    mark_text="#1c1c1c",
    gutter="#2a2a2a",
    focus="#57c8ff",
)


class Look:
    """The palette, the fonts and the scale of one window.

    Args:
        root: The window, not yet on the screen.
        theme: Light or dark.
    """

    def __init__(self, root: tk.Tk, theme: Theme) -> None:
        self.palette = DARK if theme == "dark" else LIGHT
        # In quarters: a screen of 100 dots per inch is drawn as one of 96.
        scale = round(root.winfo_fpixels("1i") / _DPI * 4) / 4
        self.scale = min(max(scale, 1.0), _MOST_SCALE)
        installed = frozenset(tkfont.families(root))
        self._text, self._mono = _first(_TEXT, installed), _first(_MONO, installed)
        sv_ttk.set_theme(theme, root)
        self._root = root
        self._fonts: dict[str, tkfont.Font] = {}
        for name, size in (("Caption", 12), ("Body", 14), ("BodyStrong", 14)):
            theirs = tkfont.nametofont(f"SunValley{name}Font", root)
            theirs.configure(family=self._text, size=-self.px(size))
        style = ttk.Style(root)
        style.configure("Treeview", rowheight=self.px(28), indent=0, font=self.font(13))
        style.layout("Treeview.Item", _ITEM)

    def px(self, size: float) -> int:
        """Return a length of the drawing board in pixels of this screen."""
        return round(size * self.scale)

    def font(self, size: int, *, bold: bool = False, mono: bool = False) -> tkfont.Font:
        """Return a font of ``size`` pixels at 96 dots per inch."""
        name = f"cb-{size}-{bold}-{mono}"
        if name not in self._fonts:
            self._fonts[name] = tkfont.Font(
                self._root,
                family=self._mono if mono else self._text,
                size=-self.px(size),
                weight="bold" if bold else "normal",
            )
        return self._fonts[name]


def open_root() -> tk.Tk:
    """Return a Tk that nobody can speak to, with its window not yet on the screen.

    Raises:
        tk.TclError: there is no display.
    """
    # Started with -I, so that no profile script of the home is read; nothing has been drawn and
    # no event been handled before `send`, by which any X client could run code in here, is gone.
    root = tk.Tk(className="Codexbridge")
    root.tk.call("rename", "send", "")
    root.withdraw()
    ignore_resources(root)
    return root


def bring_up(root: tk.Tk, look: Look, size: tuple[int, int] = SIZE) -> None:
    """Put the window in the middle of the screen, above the others, without taking the focus."""
    room = (root.winfo_screenwidth(), root.winfo_screenheight())
    margin = (look.px(40), look.px(80))
    width, height = (
        min(look.px(want), have - edge) for want, have, edge in zip(size, room, margin, strict=True)
    )
    root.minsize(min(look.px(LEAST[0]), width), min(look.px(LEAST[1]), height))
    left, top = (room[0] - width) // 2, max((room[1] - height) // 2 - look.px(16), 0)
    root.geometry(f"{width}x{height}+{left}+{top}")
    root.update_idletasks()
    ask_for_no_focus(root.winfo_id())
    root.attributes("-topmost", True)
    root.bind("<FocusIn>", lambda _event: root.attributes("-topmost", False), add="+")
    root.deiconify()


def _first(wanted: Sequence[str], installed: frozenset[str]) -> str:
    return next((name for name in wanted if name in installed), "TkDefaultFont")


def ignore_resources(root: tk.Tk) -> None:
    """Give each option of each kind of widget that the window has its own default for good (R26).

    Any program on the display can set X resources (``*Label.bitmap: question``), and with them hide
    what a label says.  ``option clear`` is no help: Tk reads them anew at the next look.

    Args:
        root: The window, before there is anything in it.
    """
    for kind in _KINDS:
        widget = kind(root)
        name = widget.winfo_class()
        for option in _options(widget):
            root.option_add(f"*{name}.{option[_NAME]}", option[_DEFAULT], _MOST)
        widget.destroy()
    for option in _options(root):
        # Some were settled with its making: its class, screen, visual and colormap.
        with contextlib.suppress(tk.TclError):
            root.tk.call(str(root), "configure", option[0], option[_DEFAULT])


def _options(widget: tk.Misc) -> list[tuple[Any, ...]]:
    told = widget.tk.call(str(widget), "configure")
    split = (widget.tk.splitlist(option) for option in told)
    return [option for option in split if len(option) == _FIELDS and str(option[0]) not in _GIVEN]


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
