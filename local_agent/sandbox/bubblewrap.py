"""The sandbox: the bubblewrap profile of R47 and its hash, for commands and for coding agents.

A profile is the exact list of bubblewrap options and the filter of system calls; its hash is over
both, so what was approved is what starts.  Only what takes more away is added at the start: sockets
of others that lie in the workspace come and go without anybody being asked.  The environment is not
among the options (no ``--clearenv --setenv``): a command line can be read by every user of the
machine, and `local_agent.sandbox.process` passes the environment in full.

A coding agent edits a scratch copy and must reach its model.  Its profile has two differences: the
network of this machine is shared, or no model could be asked, and one folder besides the scratch
copy can be written, in which the agent keeps its login.  Of the person's files it reads nothing but
the folder of its own program and those that were named for it.

Which command runs is not known here; see `local_agent.actions.run_command.perform`.  The test at
start (R50) is `local_agent.sandbox.self_test`.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from common.errors import InputError, StateError
from common.home import Home
from common.strict_json import canonical
from local_agent.sandbox import seccomp
from local_agent.sandbox.process import SECCOMP_FD, STATUS_FD
from local_agent.sandbox.toolchains import SYSTEM, Toolchain
from local_agent.sandbox.toolchains import check as check_toolchain

Level = Literal["bubblewrap", "none"]

# Read-only inside even when the workspace is writable: what runs later, outside the sandbox.
PROTECTED: Final = (".git", ".codex", ".codexbridge", ".vscode", ".github")
# The same, but a link among them is the person's own way to lay out a workspace: it is passed over,
# and a change of it is told after the run (R46).
OBEYED: Final = (
    *(".idea", ".husky", ".claude", ".devcontainer", ".envrc", ".mcp.json", ".gitattributes"),
    *(".gitmodules", ".pre-commit-config.yaml", "AGENTS.md", "CLAUDE.md", ".githooks", ".gitlab"),
    *(".circleci", ".zed", ".fleet", ".cursor", ".gemini", ".windsurf", ".continue"),
)
_PROGRAMS: Final = ("/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap")
_ISOLATION: Final = (
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--disable-userns",
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
    "--seccomp",
    str(SECCOMP_FD),
    "--json-status-fd",
    str(STATUS_FD),
)
_MERGED: Final = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC: Final = (
    "/etc/ld.so.cache",
    "/etc/alternatives",
    "/etc/passwd",
    "/etc/group",
    "/etc/nsswitch.conf",
    "/etc/localtime",
    "/etc/hosts",  # or "localhost" does not resolve, and test servers do not start
    "/etc/ssl/certs",
    "/etc/pki/ca-trust/extracted",
    "/etc/pki/tls/certs",
)


# To an agent that runs as root the kernel's own settings are writable files, without any
# capability; bubblewrap covers only folders that are writable themselves, and these are not.
_KERNEL: Final = (
    "/proc/sys",
    "/proc/sysrq-trigger",
    "/proc/irq",
    "/proc/bus",
    "/proc/fs",
    "/proc/acpi",
    "/proc/scsi",
    "/proc/mtrr",
    "/proc/pressure",
)


@dataclass(frozen=True, slots=True)
class Profile:
    """One sandbox, ready to be put in front of a command.

    Attributes:
        level: ``bubblewrap``, or ``none``: NOT SANDBOXED.
        options: bubblewrap and all of its options but the start directory; empty for ``none``.
        seccomp: The filter of system calls that it reads at descriptor `SECCOMP_FD`.
    """

    level: Level
    options: tuple[str, ...] = ()
    seccomp: bytes = b""

    @property
    def sha256(self) -> str:
        """Hash over the canonical description, for the seal."""
        described = {
            "level": self.level,
            "options": list(self.options),
            "seccomp": hashlib.sha256(self.seccomp).hexdigest(),
        }
        return hashlib.sha256(canonical(described)).hexdigest()

    def wrap(self, argv: list[str], *, cwd: Path, closed: Iterable[Path] = ()) -> list[str]:
        """Return the argv that runs ``argv`` in ``cwd`` inside this sandbox.

        Args:
            argv: Program and arguments.
            cwd: Where it starts.
            closed: Sockets that nobody inside may reach; nothing is left of them there.
        """
        if self.level == "none":
            return argv
        covers = [word for path in closed for word in ("--ro-bind", "/dev/null", str(path))]
        return [*self.options, *covers, "--chdir", str(cwd), "--", *argv]


NOT_SANDBOXED: Final = Profile("none")


def find_bubblewrap() -> str | None:
    """Return the path of bubblewrap in the system's own directories, never by PATH (R40)."""
    if sys.platform != "linux":
        return None
    return next((path for path in _PROGRAMS if Path(path).is_file()), None)


def bubblewrap_profile(
    program: str,
    *,
    workspace: Path,
    home: Path,
    read_only: tuple[Path, ...] = (),
    private: tuple[Path, ...] = (),
    repositories: tuple[str, ...] = (),
    hooks: tuple[str, ...] = (),
    network: bool = False,
    strangers: bool = False,
    copy: Path | None = None,
    also_at: Path | None = None,
    own: Path | None = None,
) -> Profile:
    """Return the profile for one workspace as it is on disk now.  Blocks on a few ``lstat``.

    Args:
        program: Absolute path of bubblewrap.
        workspace: Real path; the only place that can be written, apart from empty tmpfs and
            ``own``.
        home: The person's home, empty inside, at its real path.
        read_only: Confirmed toolchain paths, inside or outside of workspace and home.
        private: Our own directories, hidden wherever another bind would show them.
        repositories: The ``.git`` of repositories further down, relative to the workspace.
        hooks: Where git takes hooks from, relative to the workspace.
        network: Whether the host's network is shared (R51).
        strangers: Whether the workspace may hold sockets that will not be closed (`Profile.wrap`);
            then no socket with a name can be made, as where the network is shared.
        copy: Takes the place of the workspace's own files, at their paths; of these nothing but
            the repository and the toolchains among them is shown then.
        also_at: Where the workspace is shown as well: where the folder lies that it is a copy of.
        own: Real path of a folder that the program keeps for itself, written as well.

    Raises:
        InputError: ``sandbox.architecture`` where there is no filter of system calls for it;
            ``sandbox.link`` when what is to be protected or bound is a symbolic link in
            the workspace, which could be turned to any place; ``sandbox.home`` when the home is
            the root directory and cannot be hidden.
    """
    machine = _supported_machine(home)
    mounts = _read_only_mounts(workspace, read_only)
    for inner, place in ((copy, workspace), (workspace, also_at)):
        if inner is not None and place is not None:
            _check_copy(inner, place, mounts)
    mounts += [("--bind", path) for path in (workspace, own) if path is not None]
    # What nobody runs after a copy is gone needs no protection in it.
    names = (*PROTECTED, *OBEYED, *repositories, *hooks) if copy is None else (".git",)
    kept = _protected(workspace, names)
    mounts += [("--ro-bind", path) for path in kept]
    sources = {("--bind", workspace): copy or workspace, **_shown_again(workspace, also_at, kept)}
    mounts += [mount for mount in sources if mount not in mounts]
    mounts += _hidden(private, mounts)
    # The outer before the inner, so that a toolchain in the workspace stays read-only and a
    # workspace under the home, or under /tmp, is not hidden again.
    mounts.sort(key=lambda mount: len(mount[1].parts))
    options = [program, *_ISOLATION, *(() if network else ("--unshare-net",)), *_system(network)]
    options += _mounted(mounts, sources, home=home)
    calls = seccomp.build_filter(machine, network=network or strangers)
    return Profile("bubblewrap", tuple(options), calls)


def _mounted(
    mounts: Iterable[tuple[str, Path]], sources: Mapping[tuple[str, Path], Path], *, home: Path
) -> list[str]:
    """Return the options that mount these in their order; each from its own path but for a few."""
    options: list[str] = []
    for place, share in (("/tmp", 4), (str(home), 8), ("/run", 64)):  # noqa: S108  # inside
        options += _empty(place, _memory() // share)
    for kind, path in mounts:
        source = sources.get((kind, path), path)
        options += _empty(str(path), 0) if kind == "--tmpfs" else [kind, str(source), str(path)]
    return [*options, "--remount-ro", "/"]


def _supported_machine(home: Path) -> str:
    machine = os.uname().machine
    if not seccomp.supports(machine):
        raise InputError("sandbox.architecture")
    if len(home.parts) == 1:
        raise InputError("sandbox.home", path=home)
    return machine


def _check_copy(copy: Path, workspace: Path, mounts: Iterable[tuple[str, Path]]) -> None:
    for _, path in mounts:
        if path.is_relative_to(workspace):
            _refuse_links(copy, copy / path.relative_to(workspace))


def _shown_again(
    workspace: Path, place: Path | None, kept: Iterable[Path]
) -> dict[tuple[str, Path], Path]:
    """Return the mounts by which a workspace is shown at another place, each with its source."""
    if place is None:
        return {}
    # Its files may name themselves by that path, as editable installs do.
    again = {("--ro-bind", place / path.relative_to(workspace)): path for path in kept}
    return {("--bind", place): workspace, **again}


def _hidden(private: tuple[Path, ...], mounts: list[tuple[str, Path]]) -> list[tuple[str, Path]]:
    shown = [*SYSTEM, *(path for _, path in mounts)]
    return [
        ("--tmpfs", path)
        for path in sorted({path.resolve() for path in private})
        if path.is_dir() and any(path.is_relative_to(other) for other in shown)
    ]


def _empty(place: str, size: int) -> list[str]:
    """Return an empty file system at a place: memory, so of bounded size; read-only without."""
    if not size:
        return ["--size", str(os.sysconf("SC_PAGE_SIZE")), "--tmpfs", place, "--remount-ro", place]
    return ["--size", str(size), "--tmpfs", place]


def _memory() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _system(network: bool) -> list[str]:
    options = ["--ro-bind", "/usr", "/usr"]
    for place in map(Path, _MERGED):
        if place.is_symlink():
            options += ["--symlink", str(place.readlink()), str(place)]
        elif place.is_dir():
            options += ["--ro-bind", str(place), str(place)]
    options += ["--ro-bind-try", "/opt", "/opt"]
    for name in (*_ETC, *(("/etc/resolv.conf",) if network else ())):
        options += ["--ro-bind-try", name, name]
    # bubblewrap's /dev is memory without a bound: only the part that programs share can be written.
    options += ["--dev", "/dev", *_empty("/dev/shm", _memory() // 8)]  # noqa: S108  # inside
    options += ["--remount-ro", "/dev", "--proc", "/proc"]
    for name in _KERNEL:
        options += ["--ro-bind-try", name, name]
    return options


def _read_only_mounts(workspace: Path, paths: tuple[Path, ...]) -> list[tuple[str, Path]]:
    kept: list[Path] = []
    for path in sorted(set(paths), key=lambda path: (len(path.parts), str(path))):
        if path.is_relative_to(workspace):
            _refuse_links(workspace, path)
        elif any(path.is_relative_to(known) for known in (*SYSTEM, *kept)):
            continue
        if path.exists():
            kept.append(path)
    return [("--ro-bind", path) for path in kept]


def _protected(workspace: Path, names: Iterable[str]) -> list[Path]:
    found = []
    for name in names:
        path = workspace / name
        try:
            mode = path.lstat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            # Not bound from /dev/null: that leaves an empty file on the host.  What a command
            # makes here is seen by the comparison after the run (R46).
            continue
        if not stat.S_ISLNK(mode):
            found.append(path)
        elif name in PROTECTED:
            raise InputError("sandbox.link", path=name)
    return found


def _refuse_links(workspace: Path, path: Path) -> None:
    place = workspace
    for part in path.relative_to(workspace).parts:
        place /= part
        if place.is_symlink():
            raise InputError("sandbox.link", path=place.relative_to(workspace))


# --- coding agents ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Containment:
    """Puts coding agents into the sandbox.

    Attributes:
        places: Our own directories; no agent may see them.
        home: The person's home, empty inside.
        level: What the sandbox's test at start proved (`local_agent.sandbox.self_test`).
        workspaces: Gives the real paths of all workspaces, which no agent may see either.
    """

    places: Home
    home: Path
    level: Level
    workspaces: Callable[[], Sequence[Path]]

    def contain(
        self,
        argv: Sequence[str],
        *,
        scratch: Path,
        own: Path,
        read_only: Sequence[Path] = (),
    ) -> tuple[list[str], bytes]:
        """Return the argv that starts a program contained, and the filter of its system calls.

        Blocks.

        Args:
            argv: Program, as an absolute path, and its arguments.
            scratch: Real path that it works in and may write.
            own: Real path of its own folder, written as well.
            read_only: Folders to be read besides that of the program.

        Raises:
            StateError: ``sandbox.none``: nothing contains a program on this machine.
            InputError: ``toolchain.too-wide``, ``toolchain.missing``: what it would have to read
                holds the home or our own folders, or is not there; ``sandbox.*``.
        """
        bubblewrap = find_bubblewrap() if self.level == "bubblewrap" else None
        if bubblewrap is None:
            raise StateError("sandbox.none")
        private = (self.places.config, self.places.state, self.places.run)
        profile = bubblewrap_profile(
            bubblewrap,
            workspace=scratch,
            home=self.home,
            read_only=self._shown(Path(argv[0]), read_only, private),
            private=(*private, *self.workspaces()),
            network=True,
            own=own,
        )
        return profile.wrap(list(argv), cwd=scratch), profile.seccomp

    def _shown(
        self, program: Path, read_only: Sequence[Path], private: tuple[Path, ...]
    ) -> tuple[Path, ...]:
        folders = {program.parent, program.resolve().parent, *read_only}
        wanted = {path for path in folders if not any(map(path.is_relative_to, SYSTEM))}
        shown = tuple(sorted(wanted))
        kind = program.name
        check_toolchain(
            Toolchain(kind=kind, paths=shown, bin_dirs=()), home=self.home, private=private
        )
        return shown


# --- sockets of other programs in the system's own folders -----------------------------------

# Every sandbox shows these folders, and read-only says nothing about who may connect.  The kernel's
# list names sockets by the path at which they were made, so that nobody has to look through
# ``/usr`` and ``/opt``; what was made by a relative path, or in a container, is not in it.

MAX_SOCKETS: Final = 64
_SOCKETS: Final = Path("/proc/net/unix")
_MAX_TABLE_BYTES: Final = 4 * 1024 * 1024
_FIELDS: Final = 7  # fields before it


def system_sockets(*, apart_from: tuple[Path, ...]) -> tuple[Path, ...] | None:
    """Return the real paths of such sockets, in order; None where there may be more than these.

    Args:
        apart_from: Real paths of folders that a sandbox shows in another way, or not at all.
    """
    try:
        with _SOCKETS.open("rb") as opened:
            listed = opened.read(_MAX_TABLE_BYTES + 1)
    except OSError:
        return None
    if len(listed) > _MAX_TABLE_BYTES:
        return None
    named = {
        os.fsdecode(fields[_FIELDS])
        for line in listed.split(b"\n")
        if len(fields := line.split(None, _FIELDS)) > _FIELDS
    }
    found = {path for name in named if (path := _shown_socket(name, apart_from)) is not None}
    return tuple(sorted(found)) if len(found) <= MAX_SOCKETS else None


def _shown_socket(name: str, apart_from: tuple[Path, ...]) -> Path | None:
    if not name.startswith("/"):
        return None
    try:
        path = Path(name).resolve()
        is_socket = stat.S_ISSOCK(path.lstat().st_mode)
    except (OSError, RuntimeError):
        return None  # gone, or not ours to reach
    inside = any(map(path.is_relative_to, SYSTEM)) and not any(map(path.is_relative_to, apart_from))
    return path if is_socket and inside else None
