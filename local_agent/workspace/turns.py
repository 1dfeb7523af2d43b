"""Walks through folders take turns: two threads that make thousands of short system calls each
only wait for one another's hold of the interpreter, and both end later than one after the other.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_PATIENCE_S: Final = 0.1  # a walk that stands still, such as on a lost network, holds nobody up
_WALKING: Final = threading.Lock()


@contextmanager
def own_turn() -> Iterator[None]:
    """Wait for other walks to end, for a moment; then walk in any case.  Blocking."""
    taken = _WALKING.acquire(timeout=_PATIENCE_S)
    try:
        yield
    finally:
        if taken:
            _WALKING.release()
