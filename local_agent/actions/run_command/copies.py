"""Copies of workspaces with a proposed change in them, to try the change out on.

A copy holds the workspace's own files (`local_agent.workspace.survey`) as they are, and the change,
made by the code that would make it for good.  Copies lie in a private folder, are bounded, and go
away with the task they belong to.
"""

from __future__ import annotations

import asyncio
import contextlib
import stat
from collections.abc import Collection
from pathlib import Path
from typing import Final

from common.diff.parse import parse_diff
from common.errors import InputError, StateError
from common.home import Home, private_dir
from common.seal import Seal, read_changes
from local_agent.actions.run_command.payload import SealedCopy
from local_agent.actions.run_command.prepare import Copy, copies_folder, copy_folder
from local_agent.store.blobs import Blobs
from local_agent.workspace.folders import copy_files, remove_folder
from local_agent.workspace.git.repository import open_repository
from local_agent.workspace.registry import Workspace
from local_agent.workspace.survey import MAX_BYTES, MAX_FILE_BYTES, own_files
from local_agent.workspace.tree import open_tree

MAX_FILES: Final = 50_000

_TAG: Final = "check"  # in the names of files beside; a copy is written to once


class Copies:
    """Makes copies and removes them, one at a time.

    Args:
        places: They lie below its state folder.
        blobs: Where diffs are kept.
    """

    def __init__(self, places: Home, blobs: Blobs) -> None:
        self._places = places
        self._blobs = blobs
        self._turn = asyncio.Lock()

    async def make(self, task_id: str, workspace: Workspace, seal: Seal) -> Copy:
        """Return a fresh copy for a task; an older one of it goes away.

        Args:
            task_id: Whose copy it is.
            workspace: What is copied.
            seal: Of the change that is made in it.

        Raises:
            InputError: ``check.too-large`` and ``check.too-many`` with ``limit``;
                ``check.moved-on``: the change would not be made as it was sealed, because the
                files have changed since; ``change.*``, ``diff.*``.
            StateError: ``check.not-copied`` with ``why``: the machine refused.
        """
        async with self._turn:
            return await asyncio.to_thread(self._make, task_id, workspace, seal)

    async def remove(self, task_id: str) -> None:
        """Remove the copy of a task; what does not go now goes when the agent starts anew."""
        async with self._turn:
            await asyncio.to_thread(_give_up, copy_folder(self._places, task_id))

    async def clear(self, *, keep: Collection[str]) -> None:
        """Remove what an earlier run of the agent left, but the copies of these tasks."""
        async with self._turn:
            await asyncio.to_thread(self._clear, keep)

    # --- in a thread ---

    def _make(self, task_id: str, workspace: Workspace, seal: Seal) -> Copy:
        place = copy_folder(self._places, task_id)
        try:
            remove_folder(place)
            private_dir(place.parent)
            place.mkdir(mode=0o700)
            copy_files(workspace.path, _wanted(workspace.path, seal), place, limit=MAX_BYTES)
            self._change(place, workspace, seal)
        except OSError as error:
            _give_up(place)
            raise StateError("check.not-copied", why=error.strerror or "") from error
        except BaseException:
            _give_up(place)
            raise
        sha256 = seal.payload["diff_sha256"]
        return Copy(place, SealedCopy(seal.approval_id, seal.short_id, sha256))

    def _change(self, place: Path, workspace: Workspace, seal: Seal) -> None:
        # What waits clears old copies, and makes none.
        from local_agent.actions.changes.describe import describe_change
        from local_agent.workspace.writer import write

        model = parse_diff(self._blobs.get(seal.payload["diff_sha256"]))
        # What git knows it knows of the workspace's files; the copy has no repository.
        repository = open_repository(workspace.path)
        with open_tree(place, deny=workspace.deny) as tree:
            found = describe_change(tree, model, repository=repository)
            if found.changes != read_changes(seal.payload):
                raise InputError("check.moved-on")
            write(tree, found.writes, found.layout, tag=_TAG)

    def _clear(self, keep: Collection[str]) -> None:
        above = copies_folder(self._places)
        for place in above.iterdir() if above.is_dir() else ():
            if place.name not in keep:
                _give_up(place)


def _give_up(place: Path) -> None:
    with contextlib.suppress(OSError):
        remove_folder(place)


def _wanted(workspace: Path, seal: Seal) -> list[str]:
    """Return what is copied: the workspace's own files, and whatever else the change starts from.

    Raises:
        InputError: ``check.too-large``, ``check.too-many``.
    """
    files = own_files(workspace)
    known = {path for path, _ in files}
    sources = {change.old_path for change in read_changes(seal.payload) if change.old_path}
    if len(files) > MAX_FILES:
        raise InputError("check.too-many", limit=MAX_FILES)
    # Beyond these bounds the description of the copy would not be by its content alone.
    sizes = [status.st_size for _, status in files if stat.S_ISREG(status.st_mode)]
    for size, limit in ((max(sizes, default=0), MAX_FILE_BYTES), (sum(sizes), MAX_BYTES)):
        if size > limit:
            raise InputError("check.too-large", limit=limit)
    return [*(path for path, _ in files), *sorted(sources - known)]
