"""Access lists of files (POSIX ACLs, acl(5)): read, and handed on to what takes a file's place.

With an access list, what the mode shows as the group's permissions is the most that any entry may
have.  A file that is made anew with the mode alone would open to a group that had no access.
Linux keeps lists in an extended attribute; anywhere else there is none to be seen.  Blocking.
"""

from __future__ import annotations

import errno
import os
import sys
from typing import Final

_ATTRIBUTE: Final = "system.posix_acl_access"
_NONE: Final = frozenset((errno.ENODATA, errno.ENOTSUP, errno.ENOSYS))
_GROUP: Final = 0o070


def access_list(descriptor: int) -> bytes:
    """Return the access list of an open file or folder; empty where it has none.

    Raises:
        OSError: it cannot be read.
    """
    if sys.platform != "linux":
        return b""
    try:
        return os.getxattr(descriptor, _ATTRIBUTE)
    except OSError as error:
        if error.errno not in _NONE:
            raise
        return b""


def set_access_list(descriptor: int, entries: bytes) -> None:
    """Give an open file this access list, or none instead of the one that its folder gave it.

    Raises:
        OSError: the file system keeps no such list, or refuses.
    """
    if sys.platform != "linux":
        return
    if entries:
        os.setxattr(descriptor, _ATTRIBUTE, entries)
        return
    try:
        os.removexattr(descriptor, _ATTRIBUTE)
    except OSError as error:
        if error.errno not in _NONE:
            raise


def without_list(mode: int, entries: bytes) -> int:
    """Return permission bits that give nobody more when they stand without the access list."""
    return mode & ~_GROUP if entries else mode
