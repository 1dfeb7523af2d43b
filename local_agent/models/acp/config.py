"""What is configured about one model that an agent of the Agent Client Protocol is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class AcpModel:
    """One model.

    Attributes:
        name: What the person calls it.
        program: The agent, by its absolute path.
        args: That it is started with.
        read_only: Folders besides that of the program which it must be able to read.
        key_variable: The environment variable in which it looks for its key; None gives it none.
        folder: Ours, for its home, which it may write and which stays.
        deadline_s: For one whole turn, the start of the program included.
        idle_s: Longest silence within a turn.
    """

    name: str
    program: Path
    folder: Path
    args: tuple[str, ...] = ()
    read_only: tuple[Path, ...] = ()
    key_variable: str | None = None
    deadline_s: float = 300.0
    idle_s: float = 60.0

    @property
    def home(self) -> Path:
        """The home that it sees, with its login."""
        return self.folder / "home"


class Contain(Protocol):
    """Puts a program into a sandbox; blocks."""

    def __call__(
        self, argv: Sequence[str], *, scratch: Path, own: Path, read_only: Sequence[Path]
    ) -> tuple[Sequence[str], bytes]:
        """Return the argv that starts it contained, and the filter of its system calls.

        Args:
            argv: What is to be started.
            scratch: Where it works, and may write.
            own: Its home, which it may write.
            read_only: What else it may read.

        Raises:
            StateError: ``sandbox.none``: this machine has no sandbox.
            InputError: ``toolchain.*``, ``sandbox.*``: it would be able to read too much.
        """
        ...
