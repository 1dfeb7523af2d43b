"""Which folders come and go with a set of files, and whether the new names are free.

Folders are no part of a diff: those that lose their last file go with it, as git has it, and those
that a new file needs are made.  Where another file system is mounted the folder stays: it cannot be
removed, and nothing can be renamed out of it.  Blocking: it lists folders.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from common.diff.names import twin_key
from common.errors import InputError
from local_agent.workspace.tree import Parts, Tree


@dataclass(frozen=True, slots=True)
class Layout:
    """What a change does to names and folders.

    Attributes:
        removed: Files that will not be there under these names.
        emptied: Folders that lose everything in them, and go.
        empty: Folders that have nothing in them now, and get something.
    """

    removed: frozenset[Parts]
    emptied: frozenset[Parts]
    empty: frozenset[Parts]

    def is_going(self, parts: Parts) -> bool:
        """Tell whether nothing will be left of what bears this name."""
        return parts in self.removed or parts in self.emptied

    def anchor(self, tree: Tree, parts: Parts) -> Parts:
        """Return the folder nearest to a file that is there before and after the change.

        Raises:
            InputError: as `Tree.folder`.
        """
        for depth in range(1, len(parts)):
            above = parts[:depth]
            if self.is_going(above) or tree.folder(above) is None:
                return above[:-1]
        return parts[:-1]


def lay_out(
    tree: Tree,
    *,
    removed: Collection[Parts],
    added: Collection[Parts],
    kept: Collection[Parts] = (),
) -> Layout:
    """Return what becomes of the folders.

    Args:
        tree: The workspace.
        removed: Files that go.
        added: Files that come.
        kept: Folders that stay, even when they are left empty.

    Raises:
        InputError: as `Tree.folder`.
    """
    needed = {parts[:depth] for parts in added for depth in range(len(parts))}
    gone = set(removed)
    candidates = {parts[:depth] for parts in removed for depth in range(1, len(parts))}
    candidates -= needed | set(kept)
    emptied: set[Parts] = set()
    for folder in sorted(candidates, key=len, reverse=True):
        # Deepest first: a folder is empty when all that is in it goes.
        names = tree.names(folder)
        if all((*folder, name) in gone for name in names) and not _is_mounted(tree, folder):
            gone.add(folder)
            emptied.add(folder)
    above = {parts[:depth] for parts in added for depth in range(1, len(parts))}
    empty = {folder for folder in above if _is_empty(tree, folder, gone)}
    return Layout(frozenset(removed), frozenset(emptied), frozenset(empty))


def _is_mounted(tree: Tree, folder: Parts) -> bool:
    return tree.folder(folder) is not None and tree.is_mounted(folder)


def _is_empty(tree: Tree, folder: Parts, gone: Collection[Parts]) -> bool:
    """Tell whether a folder is there and holds nothing at all."""
    if any(folder[:depth] in gone for depth in range(1, len(folder) + 1)):
        return False
    return tree.folder(folder) is not None and not tree.names(folder)


@dataclass(slots=True)
class FreeNames:
    """Checks that nothing is in the way of new files: no entry, and no twin of one (R34)."""

    tree: Tree
    layout: Layout
    _listed: dict[Parts, dict[str, set[str]]] = field(default_factory=dict)

    def take(self, parts: Parts) -> None:
        """Take the name of a file that is to be added; further ones must differ from it, too.

        Raises:
            InputError: ``change.exists`` or ``change.twin``, with ``path`` and for the latter
                ``twin``; or as `Tree.folder`.
        """
        for depth in range(1, len(parts) + 1):
            self._check_twins(parts[:depth])
        self._check_free(parts)

    def _check_free(self, parts: Parts) -> None:
        if self.layout.is_going(parts) or self._stands_on_going(parts):
            return
        try:
            found = self.tree.find(parts) is not None
        except InputError as error:
            if error.code not in ("change.folder", "change.special", "change.too-large"):
                raise
            found = True
        if found:
            raise InputError("change.exists", path="/".join(parts))

    def _stands_on_going(self, parts: Parts) -> bool:
        return any(self.layout.is_going(parts[:depth]) for depth in range(1, len(parts)))

    def _check_twins(self, parts: Parts) -> None:
        name = parts[-1]
        known = self._names(parts[:-1]).setdefault(twin_key(name), set())
        above = parts[:-1]
        # Where case does not count, the old name is found to stand for the new one (`_check_free`).
        others = {one for one in known - {name} if not self.layout.is_going((*above, one))}
        if others:
            path = "/".join(parts)
            raise InputError("change.twin", path=path, twin="/".join((*above, min(others))))
        known.add(name)

    def _names(self, folder: Parts) -> dict[str, set[str]]:
        if folder not in self._listed:
            going = self._stands_on_going((*folder, ""))
            listed: Iterable[str] = () if going else self.tree.names(folder)
            by_key: dict[str, set[str]] = {}
            for name in listed:
                by_key.setdefault(twin_key(name), set()).add(name)
            self._listed[folder] = by_key
        return self._listed[folder]
