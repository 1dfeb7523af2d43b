"""Where git takes the hooks of a workspace from, where that is not its own ``.git/hooks`` (R38).

Whoever writes such a file decides what the person's next `git commit` runs.  Blocking.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from local_agent.workspace import git_config
from local_agent.workspace.git import open_repository

MAX_HOOKS: Final = 256  # entries of the repository's own folder that are looked at


def hook_places(workspace: Path) -> tuple[str, ...]:
    """Return the folders and files of the workspace that hold hooks, as relative paths, sorted.

    These are what ``core.hooksPath`` names, wherever it is configured, and what links in
    ``.git/hooks`` lead to; each by the name that is written and by its real path.  The workspace
    itself is none: then nothing in it could be written.

    Args:
        workspace: Real path.
    """
    repository = open_repository(workspace)
    if repository is None:
        return ()
    named = [*_configured(git_config.hooks_path(repository)), *_linked(Path(repository.path))]
    places = {place for name in named for place in _within(workspace, workspace / name)}
    return tuple(sorted(places))


def is_hook(path: str, places: tuple[str, ...]) -> bool:
    """Tell whether a relative path is one of these places, or lies in one."""
    return any(path == place or path.startswith(f"{place}/") for place in places)


def _configured(value: str) -> Iterator[Path]:
    if value and "\0" not in value:
        yield Path(os.path.expanduser(value))  # noqa: PTH111  # of an unknown user it makes nothing


def _linked(git: Path) -> Iterator[Path]:
    hooks = git / "hooks"
    if hooks.is_symlink():
        yield hooks.parent / hooks.readlink()
    try:
        with os.scandir(hooks) as entries:
            links = [entry.name for entry in islice(entries, MAX_HOOKS) if entry.is_symlink()]
    except OSError:
        return
    for name in links:
        yield hooks / (hooks / name).readlink()


def _within(workspace: Path, place: Path) -> Iterator[str]:
    written = Path(os.path.normpath(place))
    # Not by Path.resolve, which raises where links go round in a circle.
    above, real = Path(os.path.realpath(written.parent)), Path(os.path.realpath(written))
    for path in (above / written.name, real):
        if path.is_relative_to(workspace):
            parts = path.relative_to(workspace).parts
            if parts and parts[0] != ".git":
                yield "/".join(parts)
