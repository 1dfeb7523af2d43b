"""The only code that changes a workspace: a set of files, all or nothing (R35, R36).

    what the caller keeps, and new content beside, on disk ──▶ each exchanged for what is
    there ──▶ what was displaced is compared with what was expected ──▶ folders on disk ──▶ what
    was displaced is removed

Nothing is ever overwritten: an editor that was faster finds its version back in its place.  Names
of files beside come from the approval, so that after a crash they are found by them
(`local_agent.workspace.temporary_files`).  What is to be written was decided and checked before.
Blocking.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

from common.durable import NewFile, sync_folders, write_files
from common.errors import InputError, StateError
from local_agent.workspace.layout import Layout
from local_agent.workspace.temporary_files import ASIDE, Name, beside_name, exchange, place
from local_agent.workspace.tree import Found, Parts, Tree, read_file

_T = TypeVar("_T")

FOLDER_MODE: Final = 0o755  # of a new folder; the agent's own umask admits nobody else
_AT_ONCE: Final = 128  # files or folders that are open together
# Which errors of a rename say that the workspace was changed meanwhile.
_RACED: Final = frozenset(
    (errno.ENOENT, errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR, errno.EISDIR, errno.ELOOP)
)


@dataclass(frozen=True, slots=True)
class Content:
    """What a file will be.

    Attributes:
        mode: Permission bits.
        owner: User and group, where we may give it away; None leaves it ours.
        access: Access list, empty for none; None leaves what the folder gives.
    """

    data: bytes
    mode: int
    owner: tuple[int, int] | None = None
    access: bytes | None = None


@dataclass(frozen=True, slots=True)
class Write:
    """What becomes of one path: from what was read there to what it will be; None is no file."""

    parts: Parts
    before: Found | None
    after: Content | None


def write(
    tree: Tree,
    writes: Sequence[Write],
    layout: Layout,
    *,
    tag: str,
    folder_modes: Mapping[Parts, int] | None = None,
    keeping: contextlib.AbstractContextManager[None] | None = None,
) -> tuple[str, ...]:
    """Make all the writes, durably, or none.

    Args:
        tree: The workspace, in which every ``before`` was read.
        writes: At most one for each path.
        layout: What becomes of the folders with them (`local_agent.workspace.layout`).
        tag: Goes into the names of the files beside.
        folder_modes: Permission bits of folders that are made again; 0755 for any other.
        keeping: Entered before anything is written, left when the new content is beside and before
            any name changes: by then it has the old content on disk elsewhere.

    Returns:
        Files beside, with the old content, that the machine would not let us remove.

    Raises:
        InputError: ``change.raced``, ``change.moved`` or what `Tree` says, with ``path``: the
            workspace was changed meanwhile; what was there is there.
        OSError: the machine refused; what was there is there.
        StateError: ``change.half-done`` with ``paths``: these are not as they were, because they
            were changed by somebody else in between, or the machine refused again.
    """
    plan = [
        _Planned(item, layout.anchor(tree, item.parts), beside_name(tag, number))
        for number, item in enumerate(writes)
    ]
    return _Transaction(
        tree, layout, plan, folder_modes or {}, keeping or contextlib.nullcontext()
    ).run()


@dataclass(frozen=True, slots=True)
class _Planned:
    """One write, and where its file beside lies."""

    item: Write
    anchor: Parts
    name: str

    @property
    def folder(self) -> Parts:
        return self.item.parts[:-1]

    @property
    def path(self) -> str:
        return "/".join(self.item.parts)


@dataclass(slots=True)
class _Transaction:
    """One set of writes, step by step; each step that was done knows its way back.

    Attributes:
        back: For each step that was done: its path, and what takes it back.
        nodes: Identity of each new file.
        has_begun: Whether a name may mean something else by now.
        path: What is being done now.
        gone: Folders that were removed.
        lost: Paths that could not be brought back, and the files beside that hold their content.
    """

    tree: Tree
    layout: Layout
    plan: Sequence[_Planned]
    folder_modes: Mapping[Parts, int]
    keeping: contextlib.AbstractContextManager[None]
    back: list[tuple[str, Callable[[], None]]] = field(default_factory=list)
    nodes: dict[Parts, tuple[int, int]] = field(default_factory=dict)
    has_begun: bool = False
    path: str = ""
    gone: set[Parts] = field(default_factory=set)
    lost: list[str] = field(default_factory=list)

    def run(self) -> tuple[str, ...]:
        try:
            with self.keeping, self._races_told():
                self._stage()
            with self._races_told():
                self.tree.check_unmoved()
                self.has_begun = True
                self._exchange_all()
                self._verify()
                self._sync()
        except BaseException as error:
            self._roll_back(error)
            raise
        return self._clean_up()

    # --- forward ---

    @contextlib.contextmanager
    def _races_told(self) -> Iterator[None]:
        # What the machine says of the workspace; of another place it says no such thing.
        try:
            yield
        except OSError as error:
            if error.errno in _RACED:
                raise InputError("change.raced", path=self.path) from error
            raise

    def _stage(self) -> None:
        """Write every new content beside its place, where nobody looks."""
        new = [(one, one.item.after) for one in self.plan if one.item.after is not None]
        for first in range(0, len(new), _AT_ONCE):
            some = new[first : first + _AT_ONCE]
            with self.tree.borrow({one.anchor for one, _ in some}) as handles:
                nodes = write_files([_new_file(*pair, handles[pair[0].anchor]) for pair in some])
            self.nodes |= {one.item.parts: node for (one, _), node in zip(some, nodes, strict=True)}

    def _exchange_all(self) -> None:
        """Let every name mean its new content: what goes, what changes, what comes."""
        for one in self.plan:
            if one.item.after is None:
                self._step(one.path, self._take_away, self._give_back, one)
        for one in self.plan:
            if one.item.before is None:
                self._make_room(one.item.parts)
                self._step(one.path, self._put, self._take_out, one)
            elif one.item.after is not None:
                self._step(one.path, self._exchange, self._exchange_back, one)

    def _step(
        self, path: str, act: Callable[[_T], None], back: Callable[[_T], None], what: _T
    ) -> None:
        self.path = path
        act(what)
        self.back.append((path, lambda: back(what)))

    def _verify(self) -> None:
        """Compare what was displaced with what was read, and every folder with its name."""
        for one in self.plan:
            before = one.item.before
            if before is None:
                continue
            found = read_file(self.tree.present(one.anchor), one.name, one.path)
            if found is None or not found.is_like(before):
                raise InputError("change.raced", path=one.path)
        self.tree.check_unmoved()

    def _sync(self) -> None:
        touched = {folder for one in self.plan for folder in _between(one)}
        here = sorted(folder for folder in touched if self._is_there(folder))
        for first in range(0, len(here), _AT_ONCE):
            with self.tree.borrow(here[first : first + _AT_ONCE]) as handles:
                sync_folders(handles.values())

    def _clean_up(self) -> tuple[str, ...]:
        """Remove what was displaced, and the folders that it leaves empty."""
        spare = [one for one in self.plan if one.item.before is not None]
        for _ in range(2):  # a failure that passes must not leave anything
            spare = [one for one in spare if not self._drop(one)]
            for folder in sorted(self.layout.emptied - self.gone, key=len, reverse=True):
                # Somebody may have put something new in: then it stays.
                with contextlib.suppress(OSError, InputError):
                    self._remove_folder(folder)
        # Not flushed: should the power fail now, at worst a spare file is seen again.
        return tuple("/".join((*one.anchor, one.name)) for one in spare)

    # --- files ---

    def _take_away(self, one: _Planned) -> None:
        place(self._target(one), self._beside(one))

    def _give_back(self, one: _Planned) -> None:
        place(self._beside(one), self._target(one))

    def _put(self, one: _Planned) -> None:
        place(self._beside(one), self._target(one))

    def _take_out(self, one: _Planned) -> None:
        place(self._target(one), self._beside(one))
        if not self._is_ours(one):
            place(self._beside(one), self._target(one))
            raise InputError("change.raced", path=one.path)

    def _exchange(self, one: _Planned) -> None:
        exchange(self._beside(one), self._target(one))

    def _exchange_back(self, one: _Planned) -> None:
        self._exchange(one)
        if not self._is_ours(one):
            # Somebody wrote it after us: theirs stands, and the old content is among the backups.
            self._exchange(one)
            raise InputError("change.raced", path=one.path)

    def _is_ours(self, one: _Planned) -> bool:
        found = read_file(self.tree.present(one.anchor), one.name, one.path)
        after = one.item.after
        same = found is not None and after is not None and found.data == after.data
        return same and found is not None and found.node == self.nodes[one.item.parts]

    def _drop(self, one: _Planned) -> bool:
        try:
            os.unlink(one.name, dir_fd=self.tree.present(one.anchor))
        except FileNotFoundError:
            return True
        except (OSError, InputError):
            return False
        return True

    def _drop_spare(self, one: _Planned) -> None:
        """Remove the file beside, unless it holds what nobody else has."""
        if not self.has_begun:
            self._drop(one)
            return
        with contextlib.suppress(OSError, InputError):
            found = read_file(self.tree.present(one.anchor), one.name, one.path)
            known = {side.data for side in (one.item.before, one.item.after) if side is not None}
            if found is not None and found.data in known:
                self._drop(one)

    def _target(self, one: _Planned) -> Name:
        return Name(self.tree.present(one.folder), one.item.parts[-1])

    def _beside(self, one: _Planned) -> Name:
        return Name(self.tree.present(one.anchor), one.name)

    # --- folders ---

    def _make_room(self, parts: Parts) -> None:
        """Remove the emptied folder that bears the name of a new file; make those above it."""
        below = {folder for folder in self.layout.emptied if folder[: len(parts)] == parts}
        for folder in sorted(below - self.gone, key=len, reverse=True):
            mode = self.tree.mode(folder)
            self._remove_folder(folder)
            self.back.append(("/".join(folder), partial(self._restore_folder, folder, mode)))
        for depth in range(1, len(parts)):
            if self.tree.folder(parts[:depth]) is None:
                mode = self.folder_modes.get(parts[:depth], FOLDER_MODE)
                path = "/".join(parts[:depth])
                self.back.append((path, partial(self._remove_made, parts[:depth])))
                self._make_folder(parts[:depth], mode)

    def _make_folder(self, parts: Parts, mode: int) -> None:
        # Somebody else may have made it just now; then it is not for us to say who may enter.
        with contextlib.suppress(FileExistsError):
            os.mkdir(parts[-1], 0o700, dir_fd=self.tree.present(parts[:-1]))
            handle = self.tree.present(parts)
            inherited = os.fstat(handle).st_mode & stat.S_ISGID
            os.fchmod(handle, mode & 0o777 | inherited)

    def _restore_folder(self, parts: Parts, mode: int) -> None:
        self._make_folder(parts, mode)
        self.gone.discard(parts)

    def _remove_made(self, parts: Parts) -> None:
        with contextlib.suppress(FileNotFoundError):
            try:
                self._remove_folder(parts)
            except OSError as error:
                if error.errno != errno.ENOTEMPTY:  # somebody put something in: it stays
                    raise
            self.gone.discard(parts)

    def _remove_folder(self, parts: Parts) -> None:
        os.rmdir(parts[-1], dir_fd=self.tree.present(parts[:-1]))
        self.tree.forget(parts)
        self.gone.add(parts)

    def _is_there(self, parts: Parts) -> bool:
        gone = any(parts[:depth] in self.gone for depth in range(1, len(parts) + 1))
        return not gone and self.tree.folder(parts) is not None

    # --- back ---

    def _roll_back(self, error: BaseException) -> None:
        while self.back:
            path, take_back = self.back.pop()
            try:
                take_back()
            except (OSError, InputError):
                self.lost.append(path)
        self._find_aside()
        for one in self.plan:
            if one.item.parts in self.nodes or one.path in self.lost:
                self._drop_spare(one)
        with contextlib.suppress(OSError, InputError):
            self._sync()
        if self.lost:
            raise StateError("change.half-done", paths=tuple(self.lost)) from error

    def _find_aside(self) -> None:
        """Name what an exchange in steps laid aside and could not put back, and where it lies."""
        for one in self.plan:
            aside = one.name + ASIDE
            with contextlib.suppress(OSError, InputError):
                os.stat(aside, dir_fd=self.tree.present(one.anchor), follow_symlinks=False)
                named = (one.path, "/".join((*one.anchor, aside)))
                self.lost += [path for path in named if path not in self.lost]


def _new_file(one: _Planned, after: Content, folder: int) -> NewFile:
    return NewFile(
        folder=folder,
        name=one.name,
        data=after.data,
        mode=after.mode,
        owner=after.owner,
        access=after.access,
    )


def _between(one: _Planned) -> Iterator[Parts]:
    """Give the folder of a file, that of its file beside, and those between the two."""
    for depth in range(len(one.anchor), len(one.folder) + 1):
        yield one.folder[:depth]
