"""How much of a workspace one proposal may look at (seed 002 §5.1).  Pure: sizes in, shares out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from common.model.intent import MAX_FILES

MAX_FILE_BYTES: Final = 12_000
MAX_TOTAL_BYTES: Final = 60_000


@dataclass(frozen=True, slots=True)
class Share:
    """One file's part of the budget.

    Attributes:
        size: Bytes of the whole file.
        granted: Bytes from its beginning that may be read.
    """

    path: str
    size: int
    granted: int

    @property
    def cut(self) -> bool:
        """Whether the file is longer than what may be read."""
        return self.granted < self.size


@dataclass(frozen=True, slots=True)
class Budget:
    """The three limits of the seed."""

    max_files: int = MAX_FILES
    max_file_bytes: int = MAX_FILE_BYTES
    max_total_bytes: int = MAX_TOTAL_BYTES

    def share(self, files: Iterable[tuple[str, int]]) -> tuple[Share, ...]:
        """Return what may be read of each file, in the order given, each path once.

        A file for which nothing is left is not returned: it is not looked at.

        Args:
            files: ``(path, size in bytes)``, most important first.
        """
        shares: dict[str, Share] = {}
        left = self.max_total_bytes
        for path, size in files:
            if len(shares) >= self.max_files or left <= 0:
                break
            if path not in shares:
                granted = min(size, self.max_file_bytes, left)
                shares[path] = Share(path, size, granted)
                left -= granted
        return tuple(shares.values())
