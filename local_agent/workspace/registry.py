"""Which folders the person has opened to tasks: ``workspaces.json`` in the config directory.

Read from there alone (R3): never from a workspace, an environment variable or a message.  The
functions block on small files; on the event loop they belong into a thread.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal, get_args

from common import encodings, strict_json
from common.errors import ConfigError, InputError, RemoteProtocolError
from common.home import Home, read_private, write_private
from common.seal import Place
from local_agent.sandbox import toolchains
from local_agent.sandbox.toolchains import Toolchain
from local_agent.workspace.paths import Root, check_relative, is_denied, open_root

FILE: Final = "workspaces.json"
MAX_BYTES: Final = 256 * 1024
MAX_WORKSPACES: Final = 64
MAX_COMMAND_BYTES: Final = 20_000  # security limits table, command text
DAILY_READS: Final = 50  # answers to one member a day, unless the person says otherwise
DAILY_BYTES: Final = 100_000  # of them together
MAX_REPORTS: Final = 10  # files of linters
MAX_DAILY_READS: Final = 10_000
MAX_DAILY_BYTES: Final = 10_000_000
COPY_MARK: Final = " (dry run)"  # of the name of a copy; no name that can be given has it
_NAME: Final = re.compile(r"[a-z0-9-]{1,32}")
_NOT_FOLDERS: Final = tuple(map(Path, ("/dev", "/proc", "/sys", "/etc", "/boot", "/run/user")))


# What answers to the chat may hold (R53): an outline, what a person has released, or everything.
DisclosureLevel = Literal["summary", "ask", "full"]
LEVELS: Final[tuple[DisclosureLevel, ...]] = get_args(DisclosureLevel)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """One folder, as the person opened it.

    Attributes:
        name: What it is called in commands, ``[a-z0-9-]{1,32}``.
        path: Its real path.
        test_command: What a bare ``@dev test`` runs; None when none is set.
        toolchains: What the person confirmed besides the system's programs.
        pass_env: Names of the person's variables that commands are given (R43).
        deny: The person's own patterns of what may never be read (R52).
        default: The one that is meant when none is named.
        disclosure: What answers to the chat may hold (R53).
        daily_reads: Questions from the chat that are answered each member a day.
        daily_bytes: Bytes that those answers may have together.
        diagnostics: Files in it that linters write, by relative path.
        encoding: Of its files that are no UTF-8 and declare none; None where they are all UTF-8.
        stands_for: Of a copy for a dry run: the folder that it is a copy of; else None.
    """

    name: str
    path: Path
    test_command: str | None = None
    toolchains: tuple[Toolchain, ...] = ()
    pass_env: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    default: bool = False
    disclosure: DisclosureLevel = "summary"
    daily_reads: int = DAILY_READS
    daily_bytes: int = DAILY_BYTES
    diagnostics: tuple[str, ...] = ()
    encoding: str | None = None
    stands_for: Path | None = None

    @property
    def listed_name(self) -> str:
        """The name in the list, under which the person's rules are kept, also for a copy of it."""
        return self.name.removesuffix(COPY_MARK)

    def opened(self) -> AbstractContextManager[Root]:
        """Give it, opened as the person set it (`paths.open_root`)."""
        return open_root(self.path, deny=self.deny, encoding=self.encoding)


def name_of_copy(workspace: Workspace) -> str:
    """Return what the copy of a workspace for a dry run is called."""
    return workspace.name + COPY_MARK


def is_copy(name: str | None) -> bool:
    """Tell whether a name is that of a copy for a dry run."""
    return name is not None and name.endswith(COPY_MARK)


def place_of(workspace: Workspace) -> Place:
    """Return the folder by name and identity, as it is sealed.  Blocking.

    Raises:
        InputError: ``workspace.gone``.
    """
    try:
        status = workspace.path.lstat()
    except OSError:
        raise InputError("workspace.gone", path=workspace.path) from None
    return Place(str(workspace.path), status.st_dev, status.st_ino)


class Registry:
    """The list of workspaces of one installation."""

    def __init__(self, places: Home, *, home: Path) -> None:
        self._places = places
        self._home = home
        self._file = places.config / FILE

    def load(self) -> list[Workspace]:
        """Return all workspaces, by name.

        Raises:
            ConfigError: ``workspace.file`` when the file is not as we write it.
        """
        try:
            data = read_private(self._file, max_bytes=MAX_BYTES)
        except FileNotFoundError:
            return []
        try:
            return _parse(data)
        except (KeyError, TypeError, ValueError, RemoteProtocolError):
            raise ConfigError("workspace.file", file=self._file) from None

    def find(self, name: str | None = None) -> Workspace:
        """Return the named workspace, or the default.

        Raises:
            InputError: ``workspace.unknown`` or, without a name, ``workspace.none``.
        """
        for workspace in self.load():
            if workspace.name == name or (name is None and workspace.default):
                return workspace
        if name is None:
            raise InputError("workspace.none")
        raise InputError("workspace.unknown", name=name)

    def at(self, path: str) -> Workspace | None:
        """Return the workspace of this real path, or None.

        Raises:
            ConfigError: as `load`.
        """
        return next((entry for entry in self.load() if str(entry.path) == path), None)

    def copy(self, run_id: str, name: str) -> Workspace:
        """Return the copy of a workspace for a dry run; for the tasks of that run alone.

        Args:
            name: Of the copy (`name_of_copy`).

        Raises:
            InputError: ``copy.gone``; ``workspace.unknown``.
        """
        from local_agent.workspace.dry_runs import DryRuns

        return DryRuns(self._places).of(run_id, self.find(name.removesuffix(COPY_MARK)))

    def inspect(self, path: Path, environ: Mapping[str, str]) -> list[Toolchain]:
        """Return the toolchains found for a folder, and git's folders, for the person to confirm.

        Raises:
            InputError: as `add` for the folder itself.
        """
        from local_agent.workspace.git.outside import find_outside

        folder = self._folder(path)
        found = toolchains.detect(folder, environ, home=self._home)
        return [*found, *find_outside(folder)]

    def known(self, path: Path, *, name: str | None = None) -> Workspace | None:
        """Return the entry that adding this folder under this name would change; None for none.

        Raises:
            InputError: as `add` for the folder itself, and ``workspace.name-taken`` when the name
                is not given and the one of the folder is that of another folder.
        """
        folder, entries = self._folder(path), self.load()
        if name is not None:
            return next((entry for entry in entries if entry.name == name), None)
        here = [entry for entry in entries if entry.path == folder]
        if here:
            return next((entry for entry in here if entry.default), here[0])
        for entry in entries:
            if entry.name == _name_of(folder):
                raise InputError("workspace.name-taken", name=entry.name, path=entry.path)
        return None

    def add(
        self,
        path: Path,
        *,
        name: str | None = None,
        test_command: str | None = None,
        confirmed: tuple[Toolchain, ...] | None = None,
        pass_env: tuple[str, ...] | None = None,
        deny: tuple[str, ...] | None = None,
    ) -> Workspace:
        """Open a folder, or change the entry that `known` gives.  The first one is the default.

        What is None stays as it was.  Toolchains belong to a folder: under another one of the same
        name none is kept.

        Raises:
            InputError: ``workspace.name``, ``workspace.not-a-folder``, ``workspace.forbidden``,
                ``workspace.nested``, ``workspace.name-taken``, ``workspace.too-many``,
                ``workspace.command``, ``workspace.variable``, ``workspace.overlaps``; and
                those of `toolchains.check`.
        """
        folder = self._folder(path)
        older = self.known(path, name=name)
        chosen = name or (older.name if older else _name_of(folder))
        if not _NAME.fullmatch(chosen):
            raise InputError("workspace.name", name=chosen)
        if test_command is not None and not 0 < len(test_command.encode()) <= MAX_COMMAND_BYTES:
            raise InputError("workspace.command", limit=MAX_COMMAND_BYTES)
        for toolchain in confirmed or ():
            toolchains.check(toolchain, home=self._home, private=self._private())
        for variable in pass_env or ():
            _check_variable(variable)
        others = [entry for entry in self.load() if entry.name != chosen]
        if len(others) >= MAX_WORKSPACES:
            raise InputError("workspace.too-many", limit=MAX_WORKSPACES)
        _check_apart(folder, others)
        begin = older or Workspace(name=chosen, path=folder)
        if confirmed is None and begin.path != folder:
            confirmed = ()
        added = replace(
            begin,
            path=folder,
            test_command=begin.test_command if test_command is None else test_command,
            toolchains=begin.toolchains if confirmed is None else confirmed,
            pass_env=begin.pass_env if pass_env is None else pass_env,
            deny=begin.deny if deny is None else deny,
            default=not any(entry.default for entry in others),
        )
        self._save([*others, added])
        return added

    def set_disclosure(
        self,
        name: str,
        *,
        level: DisclosureLevel | None = None,
        daily_reads: int | None = None,
        daily_bytes: int | None = None,
    ) -> Workspace:
        """Set what the chat may be told of a workspace; what is None stays as it was.

        Raises:
            InputError: ``workspace.unknown``, ``workspace.daily-reads``, ``workspace.daily-bytes``.
        """
        older = self.find(name)
        reads = older.daily_reads if daily_reads is None else daily_reads
        size = older.daily_bytes if daily_bytes is None else daily_bytes
        if not 0 <= reads <= MAX_DAILY_READS:
            raise InputError("workspace.daily-reads", limit=MAX_DAILY_READS)
        if not 0 <= size <= MAX_DAILY_BYTES:
            raise InputError("workspace.daily-bytes", limit=MAX_DAILY_BYTES)
        return self._change(
            older, disclosure=level or older.disclosure, daily_reads=reads, daily_bytes=size
        )

    def set_diagnostics(self, name: str, files: Sequence[str]) -> Workspace:
        """Set which files in a workspace hold what linters say; none takes all back.

        Raises:
            InputError: ``workspace.unknown``, ``workspace.diagnostics``: too many, no relative
                paths, or what may never be read.
        """
        older = self.find(name)
        if len(files) > MAX_REPORTS or not all(map(_may_be_read, files)):
            raise InputError("workspace.diagnostics", limit=MAX_REPORTS)
        return self._change(older, diagnostics=tuple(dict.fromkeys(files)))

    def set_encoding(self, name: str, encoding: str) -> Workspace:
        """Set the encoding of files that are no UTF-8; ``utf-8`` takes it back.

        Raises:
            InputError: ``workspace.unknown``; ``workspace.encoding``: none of the table.
        """
        found = encodings.known(encoding)
        if found is None:
            raise InputError("workspace.encoding", name=encoding)
        kept = None if found == encodings.UTF8 else found
        return self._change(self.find(name), encoding=kept)

    def remove(self, name: str) -> None:
        """Close a folder; nothing in it is touched.  Another one becomes the default if need be.

        Raises:
            InputError: ``workspace.unknown``.
        """
        gone = self.find(name)
        rest = [entry for entry in self.load() if entry.name != name]
        if gone.default and rest:
            rest[0] = replace(rest[0], default=True)
        self._save(rest)

    def make_default(self, name: str) -> Workspace:
        """Let this one be meant when none is named.

        Raises:
            InputError: ``workspace.unknown``.
        """
        self.find(name)
        self._save([replace(entry, default=entry.name == name) for entry in self.load()])
        return self.find(name)

    def _folder(self, path: Path) -> Path:
        try:
            real = path.expanduser().resolve(strict=True)
        except (OSError, RuntimeError):
            raise InputError("workspace.not-a-folder", path=path) from None
        if not real.is_dir():
            raise InputError("workspace.not-a-folder", path=path)
        if len(real.parts) == 1 or any(real.is_relative_to(place) for place in _NOT_FOLDERS):
            raise InputError("workspace.forbidden", path=real)
        if self._home.resolve().is_relative_to(real):
            raise InputError("workspace.forbidden", path=real)
        for place in map(Path.resolve, self._private()):
            if place.is_relative_to(real) or real.is_relative_to(place):
                raise InputError("workspace.nested", path=real, place=place)
        return real

    def _private(self) -> tuple[Path, ...]:
        return (self._places.config, self._places.state, self._places.run)

    def _change(self, older: Workspace, **values: Any) -> Workspace:
        changed = replace(older, **values)
        self._save([changed if entry.name == older.name else entry for entry in self.load()])
        return changed

    def _save(self, entries: list[Workspace]) -> None:
        stored = {"v": 1, "workspaces": [_to_dict(entry) for entry in entries]}
        write_private(self._file, strict_json.canonical(stored))


def _name_of(folder: Path) -> str:
    plain = re.sub(r"[^a-z0-9]+", "-", folder.name.lower()).strip("-")[:32].strip("-")
    return plain or "workspace"


def _check_apart(folder: Path, others: Sequence[Workspace]) -> None:
    # A command in the outer one could change the inner one's `.git`, which is read-only to its own.
    for entry in others:
        if folder in entry.path.parents or entry.path in folder.parents:
            raise InputError("workspace.overlaps", path=folder, name=entry.name)


def _check_variable(name: str) -> None:
    # LD_PRELOAD and its kin would reach into the sandbox's own starter.
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,127}", name) or name.startswith(("LD_", "DYLD_")):
        raise InputError("workspace.variable", name=name)


def _to_dict(entry: Workspace) -> dict[str, Any]:
    return {
        "name": entry.name,
        "path": str(entry.path),
        "test_command": entry.test_command,
        "toolchains": [
            {
                "kind": toolchain.kind,
                "paths": list(map(str, toolchain.paths)),
                "bin_dirs": list(map(str, toolchain.bin_dirs)),
                "env": [list(pair) for pair in toolchain.env],
                "marks": list(toolchain.marks),
            }
            for toolchain in entry.toolchains
        ],
        "pass_env": list(entry.pass_env),
        "deny": list(entry.deny),
        "default": entry.default,
        "disclosure": entry.disclosure,
        "daily_reads": entry.daily_reads,
        "daily_bytes": entry.daily_bytes,
        "diagnostics": list(entry.diagnostics),
        "encoding": entry.encoding,
    }


def _parse(data: bytes) -> list[Workspace]:
    found = strict_json.loads(data, max_bytes=MAX_BYTES)
    if found["v"] != 1:
        raise ValueError("version")
    return sorted(map(_from_dict, found["workspaces"]), key=lambda item: item.name)


def _from_dict(stored: dict[str, Any]) -> Workspace:
    return Workspace(
        name=stored["name"],
        path=Path(stored["path"]),
        test_command=stored["test_command"],
        toolchains=tuple(
            Toolchain(
                kind=item["kind"],
                paths=tuple(map(Path, item["paths"])),
                bin_dirs=tuple(map(Path, item["bin_dirs"])),
                env=tuple((name, value) for name, value in item["env"]),
                marks=tuple(item.get("marks", ())),
            )
            for item in stored["toolchains"]
        ),
        pass_env=tuple(stored["pass_env"]),
        deny=tuple(stored["deny"]),
        default=stored["default"],
        # A file of before there were levels has none of these.
        disclosure=LEVELS[LEVELS.index(stored.get("disclosure", "summary"))],
        daily_reads=_count(stored.get("daily_reads", DAILY_READS), MAX_DAILY_READS),
        daily_bytes=_count(stored.get("daily_bytes", DAILY_BYTES), MAX_DAILY_BYTES),
        diagnostics=tuple(stored.get("diagnostics", ())),
        encoding=encodings.known(stored.get("encoding") or ""),
    )


def _may_be_read(path: str) -> bool:
    try:
        return not is_denied(check_relative(path))
    except InputError:
        return False


def _count(stored: Any, most: int) -> int:
    if type(stored) is not int or not 0 <= stored <= most:
        raise ValueError("count")
    return stored
