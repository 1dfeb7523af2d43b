"""When the person's hands count: pointer and keys, each armed by `arming`, real events alone.

The pointer counts when it has been over a window that did not move, change or come into view for a
while; the keys when it has also had the focus as long.  What another program sends
(XSendEvent) never counts.  What it plays in through the XTEST extension cannot be told from a
person (SECURITY.md).
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable
from tkinter import ttk
from typing import Final

from common.clock import Clock
from local_agent.faces.window.arming import Arming

_GUARD: Final = "CodexbridgeGuard"
_NORMAL: Final = "NotifyNormal"
_INSIDE: Final = "NotifyInferior"
_CHANGES: Final = ("<Map>", "<Visibility>", "<Configure>")
_KEYS: Final = ("<KeyPress>", "<KeyRelease>")
_BUTTONS: Final = ("<ButtonPress>", "<ButtonRelease>")


class Hands:
    """Watches one window.

    Args:
        root: The window, with all that it holds.
        clock: Tells the time.
    """

    def __init__(self, root: tk.Tk, clock: Clock) -> None:
        self._root = root
        self._clock = clock
        now = self._now
        self._pointer, self._keys = Arming(now), Arming(now)
        for change in _CHANGES:
            root.bind(change, self._on_change, add="+")
        for change in ("<FocusIn>", "<FocusOut>"):
            root.bind(change, self._on_focus, add="+")
        entered = root.register(self._on_enter)
        root.tk.call("bind", str(root), "<Enter>", f"{entered} %W %m %d")
        for event in _KEYS:
            root.bind_class(_GUARD, event, self._on_key)
        for event in _BUTTONS:
            root.bind_class(_GUARD, event, self._on_button)

    def guard(self, widget: tk.Misc) -> None:
        """See each event of a widget, and of all within it, before anything else does."""
        widget.bindtags((_GUARD, *widget.bindtags()))
        for child in widget.winfo_children():
            self.guard(child)

    def disturb(self) -> None:
        """Wait again, with both hands: what can be decided on has changed."""
        self._pointer.disturb(self._now)
        self._keys.disturb(self._now)

    @property
    def pointer_counts(self) -> bool:
        """Whether a click counts now."""
        return self._pointer.armed(self._now)

    @property
    def keys_count(self) -> bool:
        """Whether a key counts now."""
        return self._keys.armed(self._now)

    @property
    def _now(self) -> float:
        return self._clock.now().mono

    def _on_change(self, event: tk.Event[tk.Misc]) -> None:
        if event.widget is self._root:
            self.disturb()

    def _on_focus(self, event: tk.Event[tk.Misc]) -> None:
        if event.widget is self._root:
            self._keys.disturb(self._now)

    def _on_enter(self, widget: str, mode: str, detail: str) -> None:
        # Not from one of its own parts, and not because the window manager held the pointer.
        if widget == str(self._root) and mode == _NORMAL and detail != _INSIDE:
            self._pointer.disturb(self._now)

    def _on_key(self, event: tk.Event[tk.Misc]) -> str | None:
        return "break" if event.send_event or not self.keys_count else None

    def _on_button(self, event: tk.Event[tk.Misc]) -> str | None:
        return "break" if event.send_event else None


class DecisionButton(ttk.Button):
    """A button that only a hand that counts can press; Enter never does.

    Tk's own way to press it leads nowhere: it has no command.

    Args:
        parent: What it stands in.
        text: What it says.
        hands: Tell what counts.
        act: Called when it is pressed.
        accent: Whether it stands out.
    """

    def __init__(
        self,
        parent: tk.Misc,
        text: str,
        *,
        hands: Hands,
        act: Callable[[], None],
        accent: bool = False,
    ) -> None:
        super().__init__(parent, text=text, style="Accent.TButton" if accent else "TButton")
        self._hands = hands
        self._act = act
        self._pressed = False
        self.bind("<ButtonPress-1>", self._on_press)
        self.bind("<ButtonRelease-1>", self._on_release)
        self.bind("<KeyPress-space>", self._on_space)

    def enable(self, *, possible: bool) -> None:
        """Let it be pressed, or not."""
        if possible == self.instate(["disabled"]):
            self.state(["!disabled" if possible else "disabled"])

    def _on_press(self, _event: tk.Event[tk.Misc]) -> None:
        self._pressed = self._counts(pointer=True)

    def _on_release(self, event: tk.Event[tk.Misc]) -> None:
        inside = 0 <= event.x < self.winfo_width() and 0 <= event.y < self.winfo_height()
        if self._pressed and inside and self._counts(pointer=True):
            self._act()
        self._pressed = False

    def _on_space(self, _event: tk.Event[tk.Misc]) -> None:
        if self._counts(pointer=False):
            self._act()

    def _counts(self, *, pointer: bool) -> bool:
        armed = self._hands.pointer_counts if pointer else self._hands.keys_count
        return armed and self.instate(["!disabled"])
