"""Whether questions are shown in windows here, as `codexbridge status` tells it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Why = Literal["", "setting", "no-screen", "no-window"]


@dataclass(slots=True)
class Windows:
    """One fact of this process, changed once: when it has been found out.

    Attributes:
        state: ``looking`` until it is known.
        why: Why there are none: they are switched off, there is no screen, or there is one and a
            window cannot be opened on it.
    """

    state: Literal["looking", "on", "off"] = "looking"
    why: Why = ""

    def turn_on(self) -> None:
        """Note that windows can be opened."""
        self.state, self.why = "on", ""

    def turn_off(self, why: Why) -> None:
        """Note that there are none, and why."""
        self.state, self.why = "off", why
