"""The lock of the journal: who holds it is the agent.  Standard library only: ``status`` reads it.

It ends with its process, even by kill -9.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from typing import Final

from common.errors import ConfigError

JOURNAL: Final = "journal.db"

# `is_held` has the lock for an instant: the agent that starts just then is not the second one.
_TRIES: Final = 5
_PAUSE_S: Final = 0.02


def take_lock(journal: Path) -> int:
    """Take the lock of a journal and return its descriptor.  Blocks for at most 0.1 s.

    Raises:
        ConfigError: ``config.agent-running``: another process has it.
    """
    path = journal.with_suffix(".lock")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    for attempt in range(_TRIES):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if attempt < _TRIES - 1:
                time.sleep(_PAUSE_S)
        else:
            return descriptor
    os.close(descriptor)
    raise ConfigError("config.agent-running", path=path)


def is_held(journal: Path) -> bool:
    """Tell whether an agent runs on this journal, whether or not it can be asked."""
    try:
        descriptor = os.open(journal.with_suffix(".lock"), os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False
