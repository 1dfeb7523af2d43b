"""Where playbooks are found: those of this person, those that are shipped, and a file.  Blocking.

A person's own stand in ``playbooks/`` beside the settings, where nobody else may write, and are
preferred to shipped ones of the same name.  Hooks stand in ``hooks/`` beside their playbook.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final, Literal

from common.errors import CodexBridgeError, ConfigError, InputError
from common.home import Home
from local_agent.playbooks.definition import (
    MAX_FILE_BYTES,
    NAME,
    TaskDefinition,
    TaskParseError,
    parse_hook,
    parse_playbook,
)

Origin = Literal["own", "shipped", "file"]

FOLDER: Final = "playbooks"
HOOKS: Final = "hooks"
SHIPPED: Final = Path(__file__).with_name("shipped")
NEAR: Final = 3  # names that an unknown one may have been meant for
MAX_LISTED: Final = 1_000  # entries of a folder that are looked at

_SUFFIX: Final = ".md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A playbook as it was read, once.

    Attributes:
        raw: The bytes of its file; a run keeps them and those of its hooks.
        sha256: Of `raw`.
        hooks: Each hook that it names, by name; `raw_hooks` are the bytes of their files.
    """

    definition: TaskDefinition
    raw: bytes
    sha256: str
    origin: Origin
    hooks: Mapping[str, TaskDefinition]
    raw_hooks: Mapping[str, bytes]
    path: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One line of the list.

    Attributes:
        name: What it is asked for by; of a file with another kind of name, that of the file.
        found: The playbook; None where it is broken.
        error: Why it is broken; None where it is not.
        instead: It is the person's own and stands before a shipped one of this name.
    """

    name: str
    origin: Origin
    found: Found | None
    error: CodexBridgeError | None = None
    instead: bool = False


class Phrases:
    """The phrases that ask for playbooks, by name; read again only where a file has changed.

    Args:
        places: This installation.
        shipped: The folder of those that come with the product.
    """

    def __init__(self, places: Home, *, shipped: Path = SHIPPED) -> None:
        self._places = places
        self._shipped = shipped
        self._stamp: object = None
        self._phrases: Mapping[str, tuple[str, ...]] = {}

    def read(self) -> Mapping[str, tuple[str, ...]]:
        """Return them: the same object as long as nothing has changed.  Blocking.

        Of a playbook that cannot be read there are none.  A phrase of the person's own is theirs,
        whichever shipped one has it too.
        """
        folders = (self._places.config / FOLDER, self._shipped)
        stamp = tuple(entry for folder in folders for entry in _stamps(folder))
        if stamp != self._stamp:
            given = [
                (one, one.found.definition.trigger_keywords if one.found else ())
                for one in list_playbooks(self._places, shipped=self._shipped)
            ]
            own = {
                phrase.casefold()
                for one, phrases in given
                if one.origin == "own"
                for phrase in phrases
            }
            self._phrases = {
                one.name: tuple(
                    phrase
                    for phrase in phrases
                    if one.origin == "own" or phrase.casefold() not in own
                )
                for one, phrases in given
            }
            self._stamp = stamp
        return self._phrases


def find_playbook(places: Home, name: str, *, shipped: Path = SHIPPED) -> Found:
    """Return the playbook of a name: the person's own, else the shipped one.

    One of the person's own that is broken is not replaced by a shipped one.

    Raises:
        InputError: ``playbook.name`` (given), ``playbook.unknown`` (name, near) or
            ``playbook.not-a-file`` (path).
        TaskParseError: it or a hook of it cannot be taken.
        ConfigError: ``playbook.not-private`` or ``playbook.unreadable`` (path).
    """
    if not NAME.fullmatch(name):
        raise InputError("playbook.name", given=name)
    folders: tuple[tuple[Path, Origin], ...] = (
        (places.config / FOLDER, "own"),
        (shipped, "shipped"),
    )
    for folder, origin in folders:
        try:
            found = _read_playbook(folder / f"{name}{_SUFFIX}", origin)
        except FileNotFoundError:
            continue
        except OSError as error:
            path = folder / f"{name}{_SUFFIX}"
            raise ConfigError("playbook.unreadable", path=path, why=error.strerror) from None
        if found.definition.name != name:
            given = found.definition.name
            raise TaskParseError(str(found.path), "other-name", given=given, name=name)
        return found
    known = sorted({name for folder, _ in folders for name in _names(folder)})
    if near := get_close_matches(name, known, NEAR):
        raise InputError("playbook.unknown", name=name, near=", ".join(near), why="near")
    raise InputError("playbook.unknown", name=name)


def read_playbook(path: Path) -> Found:
    """Return the playbook in a file that a person named, wherever it lies.

    Raises:
        OSError: there is no such file, or it may not be read.
        InputError: ``playbook.not-a-file`` (path).
        TaskParseError: it or a hook of it cannot be taken.
    """
    return _read_playbook(path, "file")


def list_playbooks(places: Home, *, shipped: Path = SHIPPED) -> tuple[Listed, ...]:
    """Return all playbooks by name; a broken one with its reason, beside the others."""
    own = set(_names(places.config / FOLDER))
    of_product = set(_names(shipped))
    return tuple(
        _listed(places, name, shipped, own=name in own, instead=name in own & of_product)
        for name in sorted(own | of_product)
    )


def _listed(places: Home, name: str, shipped: Path, *, own: bool, instead: bool) -> Listed:
    found: Found | None = None
    broken: CodexBridgeError | None = None
    try:
        found = find_playbook(places, name, shipped=shipped)
    except CodexBridgeError as error:
        broken = error
    origin: Origin = "own" if own else "shipped"
    return Listed(name=name, origin=origin, found=found, error=broken, instead=instead)


def _stamps(folder: Path) -> Iterator[tuple[str, int, int, int, int, int]]:
    """Yield what tells whether a folder, or a file in it or among its hooks, is another one."""
    for place in (folder, folder / HOOKS):
        try:
            with os.scandir(place) as entries:
                for entry, _ in zip(entries, range(MAX_LISTED), strict=False):
                    if entry.name.endswith(_SUFFIX):
                        yield _stamp(entry.path, entry.stat(follow_symlinks=False))
            yield _stamp(str(place), place.stat())
        except OSError:
            continue  # as in `_names`


def _stamp(path: str, found: os.stat_result) -> tuple[str, int, int, int, int, int]:
    # The time of the last change of any kind as well: a copy may keep that of its content.
    return path, found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_mode, found.st_uid


def _names(folder: Path) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            for entry, _ in zip(entries, range(MAX_LISTED), strict=False):
                if entry.name.endswith(_SUFFIX) and not entry.name.startswith("."):
                    yield entry.name.removesuffix(_SUFFIX)
    except OSError:
        return  # no folder, no playbooks; one asked for by name tells what is wrong


def _read_playbook(path: Path, origin: Origin) -> Found:
    raw = _read(path, origin)
    hooks: dict[str, TaskDefinition] = {}
    raw_hooks: dict[str, bytes] = {}

    def load_hook(name: str) -> None:
        if name not in hooks:
            file = path.parent / HOOKS / f"{name}{_SUFFIX}"
            raw_hooks[name] = _read(file, origin)
            hooks[name] = parse_hook(raw_hooks[name], str(file))

    return Found(
        definition=parse_playbook(raw, str(path), load_hook=load_hook),
        raw=raw,
        sha256=hashlib.sha256(raw).hexdigest(),
        origin=origin,
        hooks=hooks,
        raw_hooks=raw_hooks,
        path=path,
    )


def _read(path: Path, origin: Origin) -> bytes:
    """Return an ordinary file, up to a byte more than one may have."""
    own = origin == "own"
    # Looked at before it is opened: to open a device can set it going.
    _check_ordinary(path, path.lstat() if own else path.stat())
    if own:
        _check_owner(path.parent, path.parent.stat())
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (os.O_NOFOLLOW if own else 0)
    descriptor = os.open(path, flags)
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        _check_ordinary(path, found)
        if own:
            _check_owner(path, found)
        # None where there is nothing now but may be later, as with some files of /proc.
        return file.read(MAX_FILE_BYTES + 1) or b""


def _check_ordinary(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise InputError("playbook.not-a-file", path=path)


def _check_owner(path: Path, found: os.stat_result) -> None:
    """Require what nobody else can change."""
    if found.st_uid not in (os.getuid(), 0) or found.st_mode & 0o022:
        raise ConfigError("playbook.not-private", path=path)
