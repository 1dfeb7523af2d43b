"""Copies of workspaces in which dry runs of playbooks act; each lies there for its run alone.

    <state>/dry-runs/<run id>/<name of the folder>

Such a copy is a `Workspace` of its own, under the person's rules for the one it was made of, so
that whatever seals, performs and takes back does so there as anywhere.  It is in no list, and
nobody can name it: the tasks of its run are led to it (`Registry.copy`).  Blocking.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Final

from common.errors import InputError
from common.home import Home, private_dir
from local_agent.workspace.folders import Room, copy_tree, remove_folder
from local_agent.workspace.registry import Workspace, name_of_copy

FOLDER: Final = "dry-runs"
RUN_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
MAX_BYTES: Final = 2 * 1024**3
MAX_ENTRIES: Final = 200_000
MAX_DEPTH: Final = 128
SPARED_BYTES: Final = 1024**3  # of the disk are left free: the journal is on it
_MAKING_S: Final = 3600.0  # a copy of no known run may be just being made


class DryRuns:
    """The copies of one installation.

    Args:
        places: They lie below its state folder.
    """

    def __init__(self, places: Home) -> None:
        self._places = places

    @property
    def folder(self) -> Path:
        """Where all of them lie: a real path, whatever leads to the state folder."""
        return self._places.state.resolve() / FOLDER

    def make(self, run_id: str, workspace: Workspace) -> Path:
        """Copy a workspace for a run, and return where the copy lies.

        Raises:
            InputError: ``copy.*``: it is more than is copied or there is room for, or cannot be
                read whole; ``copy.failed`` with ``why``: the machine refused.
        """
        place = self._place(run_id, workspace)
        try:
            self._open_folder()
            free = shutil.disk_usage(self.folder).free - SPARED_BYTES
            place.parent.mkdir(mode=0o700)
            room = Room(size=min(MAX_BYTES, free), entries=MAX_ENTRIES, depth=MAX_DEPTH)
            copy_tree(workspace.path, place, room)
        except OSError as error:
            self.remove(run_id)
            raise InputError("copy.failed", why=error.strerror or "") from error
        except InputError as error:
            self.remove(run_id)
            if error.code == "copy.too-large" and free < MAX_BYTES:
                raise InputError("copy.no-room") from None
            raise
        except BaseException:
            self.remove(run_id)
            raise
        return place

    def of(self, run_id: str, workspace: Workspace) -> Workspace:
        """Return the copy for a run as a workspace of its own.

        Args:
            workspace: What it was made of.

        Raises:
            InputError: ``copy.gone``: it is not there any more, or is not what was made.
        """
        place = self._place(run_id, workspace)
        try:
            same = place.resolve(strict=True) == place and place.is_dir()
            same = same and not place.samefile(workspace.path)
        except OSError:
            same = False
        if not same:
            raise InputError("copy.gone", workspace=workspace.name)
        return replace(
            workspace,
            name=name_of_copy(workspace),
            path=place,
            default=False,
            stands_for=workspace.path,
        )

    def remove(self, run_id: str) -> None:
        """Remove the copy for a run; what does not go now goes in a later round."""
        with contextlib.suppress(OSError):
            remove_folder(self.folder / run_id)

    def prune(self, keep: Collection[str], *, now_s: float) -> int:
        """Remove all but the copies for these runs; return how many went.

        What is not ours by its name, or lies behind a link, stays.
        """
        gone = 0
        if self.folder.is_symlink():
            return gone
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            for entry in list(os.scandir(self.folder)):
                is_ours = RUN_ID.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
                kept = entry.name in keep or not is_ours
                if kept or entry.stat(follow_symlinks=False).st_mtime > now_s - _MAKING_S:
                    continue
                self.remove(entry.name)
                gone += 1
        return gone

    def _open_folder(self) -> None:
        if self.folder.is_symlink():
            raise InputError("copy.failed", why=FOLDER)
        private_dir(self.folder)

    def _place(self, run_id: str, workspace: Workspace) -> Path:
        return self.folder / run_id / workspace.path.name
