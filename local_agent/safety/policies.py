"""How the policies of this machine stand: which are in force, and which files belong to nothing.

For a person to look at; what is decided reads `policy` itself.  Blocking.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Final

from common.home import Home
from local_agent.errors import PolicyError
from local_agent.safety.policy import FOLDER, find_policy
from local_agent.views.status import PolicyStanding

MAX_STRAY: Final = 20  # files that are named
_MAX_SEEN: Final = 1000  # entries of the folder that are looked at


def standing(places: Home, workspace: str) -> PolicyStanding:
    """Return how the policy of a workspace stands."""
    try:
        found = find_policy(places, workspace)
    except PolicyError as error:
        key = error.facts.get("key")
        return PolicyStanding(
            state="broken",
            code=error.code,
            file=str(error.facts["file"]),
            key=None if key is None else str(key),
        )
    return PolicyStanding(state="none" if found is None else "in-force")


def stray_policies(places: Home, workspaces: Collection[str]) -> tuple[str, ...]:
    """Return the files among the policies that no workspace has the name of: nothing reads them.

    Hidden ones, as editors leave them, are passed over; at most `MAX_STRAY` are named.
    """
    read = {f"{name}.toml" for name in workspaces}
    try:
        with os.scandir(places.config / FOLDER) as entries:
            seen = [entry.name for entry, _ in zip(entries, range(_MAX_SEEN), strict=False)]
    except OSError:
        return ()  # none there; one that cannot be read makes every workspace's policy broken
    stray = sorted(name for name in seen if name not in read and not name.startswith("."))
    return tuple(f"{FOLDER}/{name}" for name in stray[:MAX_STRAY])
