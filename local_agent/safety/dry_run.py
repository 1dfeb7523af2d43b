"""What a file of answers may decide on: changes of the copy that a dry run acts in (ADR 34).

A copy is this installation's own, and goes away.  Whatever reaches beyond it is for a person.
Blocking: it looks at where the sealed workspace lies.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from common.errors import StateError
from common.seal import Seal
from local_agent.safety.action_facts import Known, parts_of
from local_agent.workspace.dry_runs import RUN_ID

_ACTIONS: Final = frozenset({"apply_diff", "undo", "run_command"})


def check_dry_run(seal: Seal, folder: Path, known: Known) -> None:
    """Return when all that is sealed stays within a copy for a dry run.

    Args:
        folder: Real path of the folder where the copies of this installation lie.
        known: What the actions state of themselves.

    Raises:
        StateError: ``approval.not-dry-run`` with ``why``: ``place``, ``action`` or ``sandbox``.
    """
    if not _is_copy(seal, folder):
        raise StateError("approval.not-dry-run", why="place")
    for part in parts_of(seal, known):
        if why := reaches_beyond(part):
            raise StateError("approval.not-dry-run", why=why)


def reaches_beyond(part: Seal) -> str:
    """Return why an operation in a copy may touch more than that; empty where it cannot.

    Returns:
        ``action``, ``sandbox`` or nothing.
    """
    if part.action == "steps":
        return ""  # a gate that covers nothing: it asks whether to go on
    if part.action not in _ACTIONS:
        return "action"
    return "sandbox" if part.action == "run_command" and not _is_contained(part) else ""


def _is_copy(seal: Seal, folder: Path) -> bool:
    """Tell whether it is sealed for the very folder that lies there now, reached by no link."""
    sealed = seal.workspace
    path = Path(sealed.path)
    own = path.parent
    if str(path) != sealed.path or own.parent != folder or not RUN_ID.fullmatch(own.name):
        return False
    try:
        # Of the real path, too: no folder on the way is a link to another place.
        if path.resolve(strict=True) != path or not path.is_dir():
            return False
        status = path.lstat()
    except OSError:
        return False
    return (status.st_dev, status.st_ino) == (sealed.dev, sealed.ino)


def _is_contained(part: Seal) -> bool:
    payload = part.payload
    level = payload["sandbox"]["level"]
    # A command on another copy, as for a check, would read the workspace that this stands for.
    return level == "bubblewrap" and payload["network"] is False and "copy" not in payload
