"""What a command changed in its workspace (R46): the state of every file before and after.

Seen by inode, size, mode and change time, which a program cannot set back; contents are not read.
Rights beside the mode (access lists, capabilities) are kept as they were: `restore_rights`.
Blocking; bounded by the number of entries.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from local_agent.workspace.git.config import is_hook
from local_agent.workspace.paths import is_execution_surface

MAX_ENTRIES: Final = 100_000
MAX_NAMES: Final = 200
# Of git's own folder only what other programs run or obey; objects would drown the list.
_GIT_WATCHED: Final = ("config", "hooks", "info", "HEAD")

# Who else may write a file, and what whoever runs it may do (acl(5), capabilities(7)).
RIGHTS: Final = (
    "security.capability",
    "system.posix_acl_access",
    "system.posix_acl_default",
)
_CAPABILITY, _ACCESS, _DEFAULT = RIGHTS
_ACL: Final = struct.Struct("<HHI")  # an entry: tag, permissions, ID; after 4 bytes of version
_USER, _GROUP = 0x02, 0x08  # tags of the entries that name somebody: linux/posix_acl.h

_Rights = Mapping[str, bytes]  # by its name
_Stamp = tuple[int, int, int, int, int]  # mode, size, ctime in ns, inode, names of the inode


@dataclass(frozen=True, slots=True)
class Manifest:
    """The stamps of one moment, by relative path.

    Attributes:
        stamps: Of files, and of folders that cannot be listed.
        rights: Of files and folders that have any beside their mode.
        truncated: There were more entries than were looked at, or some lie too deep for a path.
    """

    stamps: Mapping[str, _Stamp]
    rights: Mapping[str, _Rights]
    truncated: bool


@dataclass(frozen=True, slots=True)
class Differences:
    """What is not as it was.

    Attributes:
        names: Up to 200 relative paths, with ``+``, ``-`` or ``~`` in front; links and surfaces
            first, so that no crowd of others keeps them out.
        links: Symbolic links that are new or were turned elsewhere, and files that also have a
            name somewhere else: whoever writes one writes both.
        surfaces: Changed paths that other programs run or obey (R38), or that lend their owner's
            rights to whoever runs them.
        rights: Paths that got access lists or capabilities, which were taken back.
        truncated: There were more entries than were looked at, or more names than are listed.
        incomplete: There were more entries than were looked at: more may have changed.
    """

    added: int
    removed: int
    changed: int
    names: tuple[str, ...]
    links: tuple[str, ...]
    surfaces: tuple[str, ...]
    truncated: bool
    rights: tuple[str, ...] = ()
    incomplete: bool = False


def take(workspace: Path, *, max_entries: int = MAX_ENTRIES) -> Manifest:
    """Return the state of the workspace now; links are never followed."""
    stamps: dict[str, _Stamp] = {}
    rights: dict[str, _Rights] = {"": own} if (own := _rights(workspace)) else {}
    folders, seen, truncated = deque([""]), 0, False
    while folders:
        folder = folders.popleft()
        entries, whole = _entries(workspace / folder)
        truncated = truncated or not whole
        for name, status in entries:
            path = f"{folder}{name}"
            if folder == ".git/" and name not in _GIT_WATCHED:
                continue
            if seen >= max_entries:
                return Manifest(stamps, rights, truncated=True)
            seen += 1
            if found := _rights(workspace / path):
                rights[path] = found
            is_folder = stat.S_ISDIR(status.st_mode)
            if is_folder and os.access(workspace / path, os.R_OK | os.X_OK):
                # Those first that matter most: no crowd of other files keeps them out.
                add = folders.appendleft if is_execution_surface(path) else folders.append
                add(f"{path}/")
            else:
                # A folder that cannot be listed as well: by name, others find what lies in it.
                stamps[path] = (
                    status.st_mode,
                    status.st_size,
                    status.st_ctime_ns,
                    status.st_ino,
                    1 if is_folder else status.st_nlink,
                )
    return Manifest(stamps, rights, truncated=truncated)


def restore_rights(
    workspace: Path, before: Manifest, after: Manifest
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Take back the rights that files and folders got between two moments.

    They hold outside of a command's sandbox too.  What is new keeps what its folder's list gives.

    Returns:
        Paths whose rights were taken back, and those of which that was not possible.
    """
    most = dict(before.rights)
    taken: list[str] = []
    left: list[str] = []
    for path, now in sorted(after.rights.items()):  # a folder before what is in it
        if path not in most and path not in before.stamps:
            given = most.get(path.rpartition("/")[0], {}).get(_DEFAULT)
            most[path] = {_ACCESS: given, _DEFAULT: given} if given else {}
        foreign = [name for name in now if not _within(name, now, most.get(path, {}))]
        if foreign:
            restored = _restore(workspace, path, foreign, before.rights.get(path, {}))
            (taken if restored else left).append(path or ".")
    return tuple(taken), tuple(left)


def compare(
    before: Manifest,
    after: Manifest,
    *,
    hooks: tuple[str, ...] = (),
    rights: tuple[tuple[str, ...], tuple[str, ...]] = ((), ()),
) -> Differences:
    """Return what changed between two moments.

    Args:
        before: The one.
        after: The other.
        rights: From `restore_rights`.
        hooks: Where git takes hooks from (`local_agent.workspace.git.config`).
    """
    old, new = before.stamps, after.stamps
    incomplete = before.truncated or after.truncated
    added = sorted(new.keys() - old.keys())
    # Where the walk was cut, what is not in it may still be there.
    removed = [] if incomplete else sorted(old.keys() - new.keys())
    changed = sorted(path for path in old.keys() & new.keys() if old[path] != new[path])
    present = [*added, *changed]
    names = Counter(stamp[3] for stamp in new.values())
    links = [path for path in present if _leads_out(new[path], names)]
    surfaces = [
        path
        for path in (*present, *removed)
        if is_execution_surface(path) or is_hook(path, hooks) or _lends_rights(new.get(path))
    ]
    taken, left = rights
    surfaces += [path for path in left if path not in surfaces]
    marked = [
        *(f"+ {path}" for path in added),
        *(f"- {path}" for path in removed),
        *(f"~ {path}" for path in changed),
    ]
    notable = {*links, *surfaces}
    marked.sort(key=lambda name: name[2:] not in notable)
    return Differences(
        added=len(added),
        removed=len(removed),
        changed=len(changed),
        names=tuple(marked[:MAX_NAMES]),
        links=tuple(links[:MAX_NAMES]),
        surfaces=tuple(surfaces[:MAX_NAMES]),
        rights=taken[:MAX_NAMES],
        truncated=incomplete or len(marked) > MAX_NAMES,
        incomplete=incomplete,
    )


def _leads_out(stamp: _Stamp, names: Counter[int]) -> bool:
    mode, _, _, inode, count = stamp
    return stat.S_ISLNK(mode) or count > names[inode]


def _lends_rights(stamp: _Stamp | None) -> bool:
    # Whoever runs such a file later does so with its owner's rights.
    return stamp is not None and bool(stamp[0] & (stat.S_ISUID | stat.S_ISGID))


def _rights(path: Path) -> dict[str, bytes]:
    try:
        names = os.listxattr(path, follow_symlinks=False)
        return {
            name: os.getxattr(path, name, follow_symlinks=False) for name in names if name in RIGHTS
        }
    except OSError:
        return {}  # gone, or a file system without any


def _within(name: str, now: _Rights, most: _Rights) -> bool:
    """Tell whether a right gives nobody more than another one of its name: acl(5)."""
    if name == _CAPABILITY:
        return now[name] == most.get(name)
    allowed = _named(most.get(name, b""))
    return all(
        bits | allowed.get(who, 0) == allowed.get(who, 0) for who, bits in _named(now[name]).items()
    )


def _named(access: bytes) -> dict[tuple[int, int], int]:
    """Return what a list gives to accounts and groups by name; the rest are the mode's own bits."""
    entries = _ACL.iter_unpack(access[4:])
    return {(tag, of): bits for tag, bits, of in entries if tag in (_USER, _GROUP)}


def _restore(workspace: Path, path: str, names: list[str], old: _Rights) -> bool:
    try:
        held = _hold(workspace, path)
    except OSError as error:
        return error.errno == errno.ENOENT
    try:
        for name in names:
            if name in old:
                os.setxattr(f"/proc/self/fd/{held}", name, old[name])
            else:
                os.removexattr(f"/proc/self/fd/{held}", name)
    except OSError:
        return False
    finally:
        os.close(held)
    return True


def _hold(workspace: Path, path: str) -> int:
    """Open what a path names through no link: one may have been put there since it was seen."""
    held = os.open(workspace, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    for part in path.split("/") if path else ():
        above = held
        try:
            held = os.open(part, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
        finally:
            os.close(above)
    return held


def _entries(folder: Path) -> tuple[list[tuple[str, os.stat_result]], bool]:
    """Return what lies in a folder, and whether that is all."""
    found = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    found.append((entry.name, entry.stat(follow_symlinks=False)))
                except FileNotFoundError:
                    continue
    except OSError as error:  # gone, not ours to look into, or too deep for a path
        return found, error.errno in (errno.ENOENT, errno.ENOTDIR)
    return sorted(found, key=lambda item: item[0]), True
