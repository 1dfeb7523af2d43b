"""Where scratch copies lie, who has which, and how long one that nobody uses is kept.

    STATE/scratch/WORKSPACE/0, 1     trees that are kept, two for each open workspace
    STATE/scratch/once-*             copies that go away after use

A kept tree is used by one task at a time.  It is marked as lent before anything in it changes, so
that one which a kill left behind is never taken for whole.  Blocking.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import sqlite3
import threading
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from common.clock import Clock
from common.errors import InputError, StateError
from common.home import private_dir
from local_agent.propose.scratch.slot import (
    SETTLED_NS,
    Slot,
    mend,
    new_slot,
    old_slot,
    refresh,
)
from local_agent.propose.scratch.source import Source, is_agent_config
from local_agent.propose.scratch.tree import machine_refusals
from local_agent.workspace.folders import remove_folder
from local_agent.workspace.listing import Budget, ListingLimits, list_files
from local_agent.workspace.registry import Workspace

KEPT: Final = 2  # trees of each workspace
KEPT_SECONDS: Final = 7 * 24 * 3600  # that nobody uses
LIST_SECONDS: Final = 30.0
_ONCE: Final = "once-"


class ScratchPool:
    """The copies of one installation.

    Args:
        folder: Where they lie; nothing else may be in it.
        clock: Tells the moment.
        limits: Of the files of a whole tree.
    """

    def __init__(self, folder: Path, clock: Clock, limits: ListingLimits) -> None:
        self._folder = folder
        self._clock = clock
        self._limits = limits
        self._lock = threading.Lock()
        self._lent: set[Path] = set()
        self._checked: set[Path] = set()
        self._unwanted: set[Path] = set()

    def now_ns(self) -> int:
        """Return the moment, in nanoseconds since 1970."""
        return self._clock.now().wall_ms * 1_000_000

    def take_empty(self, *, redacted: bool) -> Slot:
        """Return an empty place.

        Raises:
            StateError: ``scratch.not-made`` with ``why``: the machine refused.
        """
        place = self._claim_once()
        try:
            return self._renewed(place, redacted=redacted)
        except BaseException:
            self._let_go(place)
            raise

    def take_tree(
        self, workspace: Workspace, source: Source, *, redacted: bool, stop: threading.Event
    ) -> Slot:
        """Return a tree of all files that may be read, but for what agents obey.

        Args:
            workspace: What is copied.
            source: The same, open.
            redacted: Take secrets out of it.
            stop: Set to end the work soon.

        Raises:
            InputError: ``scratch.too-many`` with ``limit``: the workspace is too large for it.
            StateError: ``scratch.not-made`` with ``why``: the machine refused.
        """
        files = self._files(workspace, stop)
        place = self._claim(workspace, redacted=redacted)
        try:
            slot = old_slot(place, redacted=redacted) or self._renewed(place, redacted=redacted)
        except BaseException:
            self._let_go(place)
            raise
        try:
            self._bring_up_to_date(slot, source, files, stop)
        except BaseException:
            self.give_back(slot)
            raise
        return slot

    def give_back(self, slot: Slot) -> None:
        """Put a copy right for the next task, or away.

        What cannot be put right is removed; what cannot be removed stays marked as lent, and is
        tried again before it is used.
        """
        try:
            kept = not slot.folder.name.startswith(_ONCE) and self._is_mended(slot)
            slot.close()
            kept = kept and slot.folder not in self._unwanted
            if kept:
                now = self._clock.now().wall_s
                os.utime(slot.folder, (now, now))
                self._checked.add(slot.folder)
            else:
                self._checked.discard(slot.folder)
                remove_folder(slot.folder)
        except OSError:
            self._checked.discard(slot.folder)
        finally:
            self._unwanted.discard(slot.folder)
            self._let_go(slot.folder)

    def tidy(self) -> None:
        """Remove what a kill left behind, and what was not used for seven days."""
        oldest = self._clock.now().wall_s - KEPT_SECONDS
        for place in self._places():
            with contextlib.suppress(OSError):  # the next time
                if place.name.startswith(_ONCE) or place.stat().st_mtime < oldest:
                    self._remove(place)

    def keep_only(self, workspaces: Collection[Path]) -> None:
        """Remove the trees of all other workspaces; one that is lent goes when it is given back.

        Args:
            workspaces: The roots of those that are open.
        """
        kept = {name for root in workspaces for name in _names(root)}
        for place in self._places():
            if place.name.startswith(_ONCE) or place.parent.name in kept:
                continue
            with contextlib.suppress(OSError):  # the next time
                self._remove(place, or_later=True)
                place.parent.rmdir()

    # --- places ---

    def _places(self) -> Iterator[Path]:
        if not self._folder.is_dir():
            return
        for folder in sorted(self._folder.iterdir()):
            if folder.name.startswith(_ONCE):
                yield folder
            else:
                yield from sorted(folder.iterdir())

    def _remove(self, place: Path, *, or_later: bool = False) -> None:
        """Remove what nobody has; with ``or_later`` what somebody has goes after them."""
        with self._lock:
            if place in self._lent:
                self._unwanted |= {place} if or_later else set()
                return
            self._lent.add(place)
        try:
            self._checked.discard(place)
            remove_folder(place)
        finally:
            self._let_go(place)

    def _claim(self, workspace: Workspace, *, redacted: bool) -> Path:
        plain, without_secrets = _names(workspace.path)
        folder = self._folder / (without_secrets if redacted else plain)
        with self._lock:
            for number in range(KEPT):
                place = folder / str(number)
                if place not in self._lent:
                    self._lent.add(place)
                    return place
        return self._claim_once()

    def _claim_once(self) -> Path:
        place = self._folder / f"{_ONCE}{secrets.token_hex(8)}"
        with self._lock:
            self._lent.add(place)
        return place

    def _let_go(self, place: Path) -> None:
        with self._lock:
            self._lent.discard(place)

    # --- trees ---

    def _files(self, workspace: Workspace, stop: threading.Event) -> list[str]:
        deadline = self._clock.now().mono + LIST_SECONDS
        budget = Budget(self._clock, deadline, stop)
        found = list_files(workspace.path, budget, self._limits, deny=workspace.deny)
        if found.truncated:
            raise InputError("scratch.too-many", limit=self._limits.files)
        return [path for path in found.files if not is_agent_config(path.split("/"))]

    def _renewed(self, place: Path, *, redacted: bool) -> Slot:
        private_dir(self._folder)
        self._checked.add(place)
        with machine_refusals():
            return new_slot(place, redacted=redacted)

    def _bring_up_to_date(
        self, slot: Slot, source: Source, files: list[str], stop: threading.Event
    ) -> None:
        # After a loss of power the table may tell more than the disk has: contents are compared
        # once by every agent.
        doubted_ns = self.now_ns() - SETTLED_NS if slot.folder in self._checked else 0
        try:
            with machine_refusals():
                slot.table.keep(lent=True)
                for path in slot.table.rows.keys() - set(files):
                    slot.table.drop(path)
                mend(slot, doubted_ns=doubted_ns)
                refresh(slot, source, files, now_ns=self.now_ns(), stop=stop)
                slot.table.keep(lent=True)
        except sqlite3.Error as error:
            raise StateError("scratch.not-made", why=str(error)) from error

    def _is_mended(self, slot: Slot) -> bool:
        with contextlib.suppress(InputError, OSError, sqlite3.Error):
            mend(slot, doubted_ns=self.now_ns() - SETTLED_NS)
            slot.table.keep(lent=False)
            return True
        return False


def _names(root: Path) -> tuple[str, str]:
    """Return where the trees of a workspace lie: those with its secrets, those without."""
    name = hashlib.sha256(os.fsencode(root)).hexdigest()[:16]
    return name, f"{name}-redacted"
