"""Folders of git that lie outside of a workspace: a linked work tree, a submodule, ``--shared``.

No sandbox shows them unless the person confirmed them at `workspace add` (R41 gives way there).
They are known by path and identity: what a file of the workspace names later is not shown.
Blocking.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from local_agent.sandbox.toolchains import Toolchain, mark_of
from local_agent.workspace.git.opening import borrowed, named_by
from local_agent.workspace.registry import Workspace

KIND = "git"


def find_outside(workspace: Path) -> Iterator[Toolchain]:
    """Give what the person is asked about, if there is any.

    Args:
        workspace: Real path.
    """
    places = sorted(filter(_is_gits, _outside(workspace)), key=lambda place: len(place.parts))
    outer: list[Path] = []
    for place in places:
        if not any(place.is_relative_to(known) for known in outer):
            outer.append(place)
    if outer:
        marks = tuple(map(mark_of, outer))
        yield Toolchain(kind=KIND, paths=tuple(outer), bin_dirs=(), marks=marks)


def unshown(workspace: Workspace) -> Path | None:
    """Return a folder that git needs and that commands do not see, or None."""
    shown = [path for tool in workspace.toolchains for path in tool.shown]
    needed = sorted(_outside(workspace.path))
    return next((one for one in needed if not any(map(one.is_relative_to, shown))), None)


def sockets_in(tool: Toolchain) -> Iterator[Path]:
    """Give the sockets in folders of git, such as those of its fsmonitor."""
    for folder in tool.paths if tool.kind == KIND else ():
        for place, below, names in os.walk(folder):
            below[:] = [name for name in below if name not in ("objects", "refs", "logs")]
            paths = (Path(place, name) for name in names)
            yield from (path for path in paths if path.is_socket() and not path.is_symlink())


def _outside(workspace: Path) -> set[Path]:
    git = workspace / ".git"
    folders = [*named_by(git)] or [git]
    folders += [common for folder in folders for common in named_by(folder / "commondir")]
    stores = (store for folder in folders for store in borrowed(folder / "objects"))
    places = {Path(os.path.realpath(place)) for place in (*folders, *stores)}
    return {place for place in places if not place.is_relative_to(workspace)}


def _is_gits(place: Path) -> bool:
    """Return True for what looks as git leaves it: nobody is asked to open a folder of keys."""
    return (place / "HEAD").is_file() or (place / "pack").is_dir()
