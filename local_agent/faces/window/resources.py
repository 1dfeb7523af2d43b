"""Takes from the X resources all say in the window (R26).

Any program on the display can set them (``*Label.bitmap: question``), and with them hide what a
label says.  ``option clear`` is no help: Tk reads them anew at the next look.
"""

from __future__ import annotations

import contextlib
import tkinter as tk
from collections.abc import Callable
from tkinter import ttk
from typing import Any, Final

_MOST: Final = 100  # the highest priority; Tk gives resources 60
_NAME, _DEFAULT, _FIELDS = 1, 3, 5  # of what Tk tells of an option; a synonym has fewer fields
# Tk does not take its own default back; `files_pane` gives it.
_GIVEN: Final = frozenset({"-displaycolumns"})
_KINDS: Final[tuple[Callable[[tk.Misc], tk.Widget], ...]] = (
    *(tk.Frame, tk.Label, tk.Text),
    *(ttk.Button, ttk.Entry, ttk.Scrollbar, ttk.Treeview),
)


def ignore_resources(root: tk.Tk) -> None:
    """Give each option of each kind of widget that the window has its own default for good.

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
