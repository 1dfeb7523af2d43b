"""Scratch copies: what a coding model edits in place of the workspace, and what became of it.

    Scratches.lend ──▶ ScratchCopy ──▶ inside, read, write, delete   by us, for a model
                            │                                        or by a program in its root
                            └──▶ diff                                compared with what was lent

A copy is either empty, and files come into it as they are read, or a tree of all that may be read.
The workspace is read and never written.  Its files, their limits and their names: `source`; where
copies lie and how they are used again: `pool`.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from common.clock import Clock, SystemClock
from common.errors import InputError, StateError
from common.home import Home
from local_agent.propose.scratch.diffing import ScratchDiff, compare
from local_agent.propose.scratch.pool import ScratchPool
from local_agent.propose.scratch.slot import SETTLED_NS, Slot, bring
from local_agent.propose.scratch.source import Source, check_name, open_source, relative
from local_agent.propose.scratch.tree import Parts, machine_refusals
from local_agent.workspace.listing import ListingLimits
from local_agent.workspace.paths import MAX_FILE_BYTES
from local_agent.workspace.registry import Workspace

MAX_BROUGHT: Final = 500  # files that come into a copy one by one


class ScratchCopy:
    """One copy, while it is lent (`local_agent.models.backend.Scratch`).

    Its methods take turns, in whichever thread; all but `diff` block.  Once it was given back, each
    raises a StateError ``scratch.ended``.
    """

    def __init__(self, pool: ScratchPool, slot: Slot, source: Source) -> None:
        self._pool = pool
        self._slot = slot
        self._source = source
        self._lock = threading.Lock()
        self._brought = 0
        self._has_ended = False
        # What changes later than this may bear the times that it had when it was lent.
        self._doubted_ns = pool.now_ns() - SETTLED_NS

    @property
    def root(self) -> Path:
        """The folder, as a real path; a program may work in it."""
        return self._slot.tree.root

    def inside(self, path: str | Path) -> str:
        """Return the relative name of a path that may be edited.

        Raises:
            InputError: ``scratch.outside``; ``scratch.forbidden``: git's own, or what agents obey;
                ``scratch.mode``; ``path.denied``, ``path.malformed``, ``path.link`` or
                ``path.not-regular``.
        """
        with self._turn():
            return "/".join(self._inside(path))

    def read(self, path: str) -> bytes | None:
        """Return a file as it stands in the copy, None where there is none.

        Raises:
            InputError: as `inside`; ``scratch.withheld``: it exists but may not be read;
                ``scratch.too-large``, ``scratch.too-many``.
        """
        with self._turn():
            return self._read(self._inside(path))

    def write(self, path: str, content: bytes) -> None:
        """Write a file of the copy.

        Raises:
            InputError: as `inside` and `read`; ``scratch.binary``.
        """
        if len(content) > MAX_FILE_BYTES:
            raise InputError("scratch.too-large", limit=MAX_FILE_BYTES)
        if b"\0" in content:
            raise InputError("scratch.binary")
        with self._turn():
            parts = self._inside(path)
            self._read(parts)
            status = self._slot.tree.status(parts)
            row = self._slot.table.rows.get("/".join(parts))
            executable = bool(status.st_mode & 0o100) if status else bool(row and row.executable)
            self._slot.tree.write(parts, content, executable=executable)

    def delete(self, path: str) -> None:
        """Remove a file of the copy.

        Raises:
            InputError: as `inside` and `read`; ``scratch.missing``.
        """
        with self._turn():
            parts = self._inside(path)
            if self._read(parts) is None:
                raise InputError("scratch.missing")
            self._slot.tree.remove(parts)

    async def diff(self) -> ScratchDiff:
        """Compare the copy with what was lent.

        Raises:
            InputError: ``diff.too-large``, ``diff.refused``: it is more than a proposal may be;
                ``scratch.gone``, ``scratch.too-many``: it cannot be looked through.
        """
        return await asyncio.to_thread(self._compare)

    def give_back(self) -> None:
        """End it: no call that comes late does anything."""
        with self._lock:
            self._has_ended = True
            self._pool.give_back(self._slot)

    # --- in a thread ---

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        with self._lock, machine_refusals():
            if self._has_ended:
                raise StateError("scratch.ended")
            try:
                yield
            except sqlite3.Error as error:
                raise StateError("scratch.not-made", why=str(error)) from error

    def _compare(self) -> ScratchDiff:
        with self._turn():
            return compare(self._slot, self._source, doubted_ns=self._doubted_ns)

    def _inside(self, path: str | Path) -> Parts:
        parts = relative(self.root, path)
        check_name(parts, self._source.deny)
        self._slot.tree.status(parts)
        return parts

    def _read(self, parts: Parts) -> bytes | None:
        row = self._slot.table.rows.get("/".join(parts))
        if row is not None and row.copy is None:
            raise InputError("scratch.withheld")
        content = self._slot.tree.read(parts, MAX_FILE_BYTES)
        return self._bring(parts) if content is None and row is None else content

    def _bring(self, parts: Parts) -> bytes | None:
        path = "/".join(parts)
        if not self._source.exists(path):
            return None
        if self._brought >= MAX_BROUGHT:
            raise InputError("scratch.too-many", limit=MAX_BROUGHT)
        try:
            fetched = self._source.fetch(parts)
        except InputError:
            fetched = None
        if fetched is None or self._source.is_ignored(parts):
            raise InputError("scratch.withheld")
        self._brought += 1
        content = bring(self._slot, path, fetched, now_ns=self._pool.now_ns())
        if content is None:
            raise InputError("scratch.withheld")
        return content


class Scratches:
    """Lends scratch copies.

    Args:
        places: They lie below its state folder.
        clock: For the times of files and how long trees are kept.
        limits: Of the files of a whole tree.
    """

    def __init__(
        self, places: Home, *, clock: Clock | None = None, limits: ListingLimits | None = None
    ) -> None:
        folder = places.state / "scratch"
        self._pool = ScratchPool(folder, clock or SystemClock(), limits or ListingLimits())

    @asynccontextmanager
    async def lend(
        self, workspace: Workspace, *, whole: bool, redacted: bool = False
    ) -> AsyncIterator[ScratchCopy]:
        """Lend a copy for the length of a context.

        Args:
            workspace: What may be read into it.
            whole: A tree of all files that may be read; else an empty folder, into which a file
                comes when it is read or written.
            redacted: Secrets are taken out of every file of it.

        Raises:
            InputError: ``path.missing``; ``scratch.too-many`` with ``limit``: the workspace is too
                large for a tree.
            StateError: ``scratch.not-made`` with ``why``: the machine refused.
        """
        closing = contextlib.ExitStack()
        stop = threading.Event()

        def take() -> ScratchCopy:
            source = closing.enter_context(open_source(workspace))
            if whole:
                slot = self._pool.take_tree(workspace, source, redacted=redacted, stop=stop)
            else:
                slot = self._pool.take_empty(redacted=redacted)
            copy = ScratchCopy(self._pool, slot, source)
            closing.callback(copy.give_back)
            return copy

        taking = asyncio.create_task(asyncio.to_thread(take))
        try:
            yield await asyncio.shield(taking)
        finally:
            # Whatever became of us, the thread goes on until it has all or nothing.
            stop.set()
            await asyncio.shield(asyncio.create_task(_closed(taking, closing)))

    async def tidy(self) -> None:
        """Remove what a kill left behind, and trees that were not used for seven days."""
        await asyncio.to_thread(self._pool.tidy)

    async def keep_only(self, workspaces: Collection[Path]) -> None:
        """Remove the trees of all workspaces but these, by their roots."""
        await asyncio.to_thread(self._pool.keep_only, workspaces)


async def _closed(taking: asyncio.Task[ScratchCopy], closing: contextlib.ExitStack) -> None:
    await asyncio.wait([taking])
    await asyncio.to_thread(closing.close)
    if not taking.cancelled():
        taking.exception()  # nobody else may ask for it any more
