"""Where files live.  ``CODEXBRIDGE_HOME`` moves all of it; else the platform's own places.

No pydantic and no keyring here: the quick commands come this way.
"""

from __future__ import annotations

import os
import secrets
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from common import PRODUCT
from common.errors import ConfigError, StateError, UnavailableError
from common.locks import open_lock


@dataclass(frozen=True, slots=True)
class Home:
    """The three roots of one installation.

    Attributes:
        config: What the person decides: settings, workspaces, policy, pairing.
        state: What the product remembers: journal, blobs, keys, logs.
        run: Sockets and locks; lives as long as the login.
    """

    config: Path
    state: Path
    run: Path


def find_home(environ: Mapping[str, str]) -> Home:
    """Return the roots for this environment; creates nothing.

    Raises:
        ConfigError: ``config.home-relative`` when CODEXBRIDGE_HOME is not absolute.
    """
    if moved := environ.get("CODEXBRIDGE_HOME"):
        root = Path(moved)
        if not root.is_absolute():
            raise ConfigError("config.home-relative", path=moved)
        return Home(root / "config", root / "state", root / "run")
    from platformdirs import PlatformDirs

    dirs = PlatformDirs(PRODUCT, appauthor=False)
    state = Path(dirs.user_state_dir)
    runtime = environ.get("XDG_RUNTIME_DIR")
    run = Path(runtime) / PRODUCT if runtime else state / "run"
    return Home(Path(dirs.user_config_dir), state, run)


def private_dir(path: Path) -> Path:
    """Create a directory that only its owner can enter, and return it.

    Raises:
        ConfigError: ``config.not-private`` when it exists and belongs to or admits someone else.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = path.stat()
    if found.st_uid != os.getuid():
        raise ConfigError("config.not-private", path=path)
    if found.st_mode & 0o077:
        path.chmod(0o700)
    return path


@contextmanager
def only_one(path: Path) -> Iterator[None]:
    """Keep others of this person out for as long as the block runs; a kill ends it, too.

    Args:
        path: A file that stays; others cannot open it, so they cannot hold it either.

    Raises:
        UnavailableError: ``init.busy`` (path): somebody is in it.
        ConfigError: ``config.no-locks``.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if (descriptor := open_lock(path)) is None:
        raise UnavailableError("init.busy", path=path.parent)
    try:
        yield
    finally:
        os.close(descriptor)


def close_to_others(path: Path, found: os.stat_result) -> None:
    """Take the rights of all but its owner from what was found, and from nothing else.

    Args:
        path: Its last part is no link that is followed.
        found: What `Path.lstat` said of it.

    Raises:
        StateError: ``doctor.changed``: something else is there now.
        OSError: nothing is, or its rights cannot be changed.
    """
    is_linux = sys.platform == "linux"  # O_PATH opens a socket too, and waits for no FIFO
    how = os.O_PATH if is_linux else os.O_RDONLY | os.O_NONBLOCK
    descriptor = os.open(path, how | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        now = os.fstat(descriptor)
        same = (now.st_dev, now.st_ino, now.st_uid) == (found.st_dev, found.st_ino, found.st_uid)
        if not same or stat.S_ISLNK(now.st_mode):
            raise StateError("doctor.changed", path=path)
        mode = stat.S_IMODE(now.st_mode) & ~0o077
        if is_linux:  # which has no fchmod for what O_PATH opened
            Path(f"/proc/self/fd/{descriptor}").chmod(mode)
        else:
            os.fchmod(descriptor, mode)
    finally:
        os.close(descriptor)


def write_private(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Write a 0600 file whole or not at all: beside, flushed, renamed, directory flushed.

    Folders that are missing are made private; one that is there is left as it is.

    Args:
        path: The file.
        data: All of it.
        mode: What a file that was there has, where others may read it.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Random, not by process: after a kill -9 the next process may well have the same number.
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, mode)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def clear_unfinished(path: Path) -> None:
    """Remove what a `write_private` of this file left beside it when its process was killed."""
    for left in path.parent.glob(f".{path.name}.{'[0-9a-f]' * 16}.tmp"):
        left.unlink(missing_ok=True)


def read_private(path: Path, *, max_bytes: int) -> bytes:
    """Read a small file that nobody else may read or write.

    Raises:
        FileNotFoundError: there is none.
        ConfigError: ``config.file-readable-by-others`` or ``config.file-too-large``.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(file.fileno())
        if found.st_uid not in (os.getuid(), 0) or found.st_mode & 0o077:
            raise ConfigError("config.file-readable-by-others", path=path)
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise ConfigError("config.file-too-large", path=path, limit=max_bytes)
    return data
