"""The person's own policy for one workspace: ``policies/<workspace>.toml`` beside the settings.

Read from the config directory alone (R3).  It only narrows: every word of it refuses something or
asks for more care, and there is none that allows anything.  What cannot be read whole refuses
everything (R4), so a typing error never opens what was meant to be closed.  How the policies stand,
and which files belong to no workspace, is told for a person to look at.  Blocking.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tomllib
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Final, get_args

from common.errors import ConfigError
from common.home import Home, read_private
from common.records import FLAG, Check, fields_of, integer, list_of, one_of
from common.seal import Action
from common.strict_json import canonical
from common.text import one_line
from local_agent.errors import PolicyError
from local_agent.views.status import OpenWorkspace, PolicyStanding
from local_agent.workspace.registry import Workspace

FOLDER: Final = "policies"
MAX_BYTES: Final = 64 * 1024
MAX_ITEMS: Final = 200
MAX_ITEM_CHARS: Final = 255
KEY_BYTES: Final = 64  # of an unknown key, in an error
MAX_FILES: Final = 500  # as many as a diff may have at all
MAX_STRAY: Final = 20  # files that are named
_MAX_SEEN: Final = 1000  # entries of the folder that are looked at


def _items(check: Check) -> Check:
    return list_of(lambda item: _is_item(item) and check(item), most=MAX_ITEMS)


def _is_item(item: object) -> bool:
    return (
        isinstance(item, str)
        and 0 < len(item) <= MAX_ITEM_CHARS
        and item.isprintable()
        and item == item.strip()
    )


_ACTIONS: Final = _items(one_of(get_args(Action)))
# A path of the workspace has no slash in front; such a pattern would never match.
_PATTERNS: Final = _items(lambda item: not item.startswith("/"))
# Programs are compared by their bare names; one with a slash would never match.
_PROGRAMS: Final = _items(lambda item: "/" not in item)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What is refused, or asked for with more care, whatever else is known.

    Attributes:
        refuse_actions: Actions that are refused altogether.
        refuse_paths: Patterns of paths that no change, undo or commit may touch.
        refuse_programs: Names of programs that no command may mention.
        refuse_unsandboxed: Refuse commands that no sandbox holds.
        refuse_network: Refuse what can reach the network.
        refuse_shell: Refuse commands that a shell reads.
        ask_high_paths: Patterns of paths that are high risk.
        max_files: Refuse changes of more files; None where the table's own limit is enough.
        require_typed: Everything is high risk, so that the whole code is typed.
    """

    refuse_actions: Annotated[tuple[str, ...], _ACTIONS] = ()
    refuse_paths: Annotated[tuple[str, ...], _PATTERNS] = ()
    refuse_programs: Annotated[tuple[str, ...], _PROGRAMS] = ()
    refuse_unsandboxed: Annotated[bool, FLAG] = False
    refuse_network: Annotated[bool, FLAG] = False
    refuse_shell: Annotated[bool, FLAG] = False
    ask_high_paths: Annotated[tuple[str, ...], _PATTERNS] = ()
    max_files: Annotated[int | None, integer(1, MAX_FILES)] = None
    require_typed: Annotated[bool, FLAG] = False

    @property
    def sha256(self) -> str:
        """Hash of what it says, for the seal; blanks and comments of the file do not matter."""
        return hashlib.sha256(canonical(asdict(self))).hexdigest()


def load_policy(places: Home, workspace: str) -> Policy:
    """Return the policy of a workspace; where there is no file, the one that adds nothing.

    Raises:
        PolicyError: as by `find_policy`; then nothing may be done in the workspace.
    """
    return find_policy(places, workspace) or Policy()


def find_policy(places: Home, workspace: str) -> Policy | None:
    """Return the policy of a workspace, or None where there is no file.

    Args:
        places: Where the config directory is.
        workspace: Its name in the registry.

    Raises:
        PolicyError: ``policy.unreadable``, ``policy.not-private``, ``policy.syntax``,
            ``policy.unknown-key`` (key) or ``policy.value`` (key), each with ``file``.
    """
    folder = places.config / FOLDER
    name = f"{FOLDER}/{workspace}.toml"  # told to the chat as well, so without the rest of its path
    try:
        _check_folder(folder)
        data = _read(folder / f"{workspace}.toml")
    except FileNotFoundError:
        return None
    except ConfigError as error:
        private = error.code == "config.file-readable-by-others"
        code = "policy.not-private" if private else "policy.unreadable"
        raise PolicyError(code, file=name) from None
    except OSError:
        raise PolicyError("policy.unreadable", file=name) from None
    return _parse(data, name)


def _check_folder(folder: Path) -> None:
    """Require a folder that nobody else can put files into."""
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(folder)
    if found.st_uid not in (os.getuid(), 0) or found.st_mode & 0o022:
        raise ConfigError("config.file-readable-by-others", path=folder)


def _read(file: Path) -> bytes:
    if not stat.S_ISREG(file.lstat().st_mode):
        raise OSError(file)  # a FIFO would read as an empty file, which refuses nothing
    return read_private(file, max_bytes=MAX_BYTES)


def _parse(data: bytes, name: str) -> Policy:
    try:
        found = tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        # Its own message may quote the file, and is in English only.
        raise PolicyError("policy.syntax", file=name) from None
    checks = fields_of(Policy)
    for key, value in found.items():
        if key not in checks:
            raise PolicyError("policy.unknown-key", file=name, key=one_line(key, KEY_BYTES))
        if not checks[key](value):
            raise PolicyError("policy.value", file=name, key=key)
    return Policy(**{key: _frozen(value) for key, value in found.items()})


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def standing(places: Home, workspace: str) -> PolicyStanding:
    """Return how the policy of a workspace stands."""
    try:
        found = find_policy(places, workspace)
    except PolicyError as error:
        key = error.facts.get("key")
        return PolicyStanding(
            state="broken",
            code=error.code,
            file=str(error.facts["file"]),
            key=None if key is None else str(key),
        )
    return PolicyStanding(state="none" if found is None else "in-force")


def open_workspaces(places: Home, workspaces: Iterable[Workspace]) -> tuple[OpenWorkspace, ...]:
    """Return each workspace with its disclosure level and how its policy stands."""
    return tuple(
        OpenWorkspace(
            name=item.name,
            path=str(item.path),
            default=item.default,
            disclosure=item.disclosure,
            policy=standing(places, item.name),
        )
        for item in workspaces
    )


def stray_policies(places: Home, workspaces: Collection[str]) -> tuple[str, ...]:
    """Return the files among the policies that no workspace has the name of: nothing reads them.

    Hidden ones, as editors leave them, are passed over; at most `MAX_STRAY` are named.
    """
    read = {f"{name}.toml" for name in workspaces}
    try:
        with os.scandir(places.config / FOLDER) as entries:
            seen = [entry.name for entry, _ in zip(entries, range(_MAX_SEEN), strict=False)]
    except OSError:
        return ()  # none there; one that cannot be read makes every workspace's policy broken
    stray = sorted(name for name in seen if name not in read and not name.startswith("."))
    return tuple(f"{FOLDER}/{name}" for name in stray[:MAX_STRAY])
