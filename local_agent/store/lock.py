"""The lock of the journal: who holds it is the agent.  Standard library only: ``status`` reads it.

It ends with its process, even by kill -9.  Beside it that of commands: the warden of each holds it,
too, and outlives an agent that was killed for as long as it takes to end what the command began.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

from common.errors import ConfigError
from common.locks import open_lock

JOURNAL: Final = "journal.db"
COMMANDS: Final = "commands.lock"

# `is_held` has the lock for an instant: the agent that starts just then is not the second one.
_TRIES: Final = 5
_PAUSE_S: Final = 0.02


def take_lock(journal: Path) -> int:
    """Take the lock of a journal and return its descriptor.  Blocks for at most 0.1 s.

    Raises:
        ConfigError: ``config.agent-running``: another process has it; ``config.no-locks``.
    """
    path = journal.with_suffix(".lock")
    for attempt in range(_TRIES):
        if (descriptor := open_lock(path)) is not None:
            return descriptor
        if attempt < _TRIES - 1:
            time.sleep(_PAUSE_S)
    raise ConfigError("config.agent-running", path=path)


def is_held(journal: Path) -> bool:
    """Return True if an agent runs on this journal, whether or not it can be asked.

    Raises:
        ConfigError: ``config.no-locks``.
    """
    try:
        descriptor = open_lock(journal.with_suffix(".lock"), shared=True, create=False)
    except OSError:
        return False
    if descriptor is not None:
        os.close(descriptor)
    return descriptor is None


def hold_commands(state: Path) -> int | None:
    """Return the descriptor by which a command is known to live, for its warden to inherit."""
    return open_lock(state / COMMANDS, shared=True)


def any_command_lives(state: Path) -> bool:
    """Return True if a command lives that another agent began.

    Raises:
        ConfigError: ``config.no-locks``.
    """
    if (alone := open_lock(state / COMMANDS)) is not None:
        os.close(alone)
    return alone is None
