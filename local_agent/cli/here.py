"""Which workspace is meant by whoever sits in a folder of it."""

from __future__ import annotations

from pathlib import Path

from common.home import Home
from local_agent.workspace.registry import Registry, Workspace


def workspace_here(home: Home) -> Workspace | None:
    """Return the workspace that the current folder lies in, or None."""
    try:
        folder = Path.cwd().resolve()
    except FileNotFoundError:
        return None  # somebody removed the folder that this terminal stands in
    for workspace in Registry(home, home=Path.home()).load():
        if folder.is_relative_to(workspace.path):
            return workspace
    return None
