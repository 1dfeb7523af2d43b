"""The sandbox of commands: the bubblewrap profile of R47, its hash, and the test at start (R50).

A profile is the exact list of bubblewrap options; its hash is over that list, so what was approved
is what starts.  The environment is not among them (no ``--clearenv --setenv``): a command line can
be read by every user of the machine, and `local_agent.process` passes the environment in full.

Which command runs is not known here; see `local_agent.execution.command`.
"""

from __future__ import annotations

import hashlib
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from common.errors import InputError
from common.strict_json import canonical
from local_agent.workspace.toolchains import SYSTEM

Level = Literal["bubblewrap", "none"]

# Read-only inside even when the workspace is writable: what runs later, outside the sandbox.
PROTECTED: Final = (".git", ".codex", ".codexbridge", ".vscode", ".github")
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
    """

    level: Level
    options: tuple[str, ...] = ()

    @property
    def sha256(self) -> str:
        """Hash over the canonical description, for the seal."""
        described = {"level": self.level, "options": list(self.options)}
        return hashlib.sha256(canonical(described)).hexdigest()

    def wrap(self, argv: list[str], *, cwd: Path) -> list[str]:
        """Return the argv that runs ``argv`` in ``cwd`` inside this sandbox."""
        if self.level == "none":
            return argv
        return [*self.options, "--chdir", str(cwd), "--", *argv]


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
    network: bool = False,
) -> Profile:
    """Return the profile for one workspace as it is on disk now.  Blocks on a few ``lstat``.

    Args:
        program: Absolute path of bubblewrap.
        workspace: Real path; the only place that can be written, apart from empty tmpfs.
        home: The person's home, empty inside, at its real path.
        read_only: Confirmed toolchain paths, inside or outside of workspace and home.
        private: Our own directories, hidden wherever another bind would show them.
        network: Whether the host's network is shared (R51).

    Raises:
        InputError: ``sandbox.link`` when what is to be protected or bound is a symbolic link in
            the workspace, which could be turned to any place; ``sandbox.home`` when the home is
            the root directory and cannot be hidden.
    """
    if len(home.parts) == 1:
        raise InputError("sandbox.home", path=home)
    mounts = _read_only_mounts(workspace, read_only)
    mounts.append(("--bind", workspace))
    mounts += [("--ro-bind", path) for path in _protected(workspace)]
    shown = [*SYSTEM, *(path for _, path in mounts)]
    mounts += [
        ("--tmpfs", path)
        for path in sorted({path.resolve() for path in private})
        if path.is_dir() and any(path.is_relative_to(other) for other in shown)
    ]
    # The outer before the inner, so that a toolchain in the workspace stays read-only and a
    # workspace under the home, or under /tmp, is not hidden again.
    mounts.sort(key=lambda mount: len(mount[1].parts))
    options = [program, *_ISOLATION, *(() if network else ("--unshare-net",)), *_system(network)]
    for place in ("/tmp", "/run", str(home)):  # noqa: S108  # an empty tmpfs, inside
        options += ["--tmpfs", place]
    for kind, path in mounts:
        options += [kind, str(path)] if kind == "--tmpfs" else [kind, str(path), str(path)]
    return Profile("bubblewrap", (*options, "--remount-ro", "/"))


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
    options += ["--dev", "/dev", "--proc", "/proc"]
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


def _protected(workspace: Path) -> list[Path]:
    found = []
    for name in PROTECTED:
        path = workspace / name
        try:
            mode = path.lstat().st_mode
        except FileNotFoundError:
            # Not bound from /dev/null: that leaves an empty file on the host.  What a command
            # makes here is seen by the comparison after the run (R46).
            continue
        if stat.S_ISLNK(mode):
            raise InputError("sandbox.link", path=name)
        found.append(path)
    return found


def _refuse_links(workspace: Path, path: Path) -> None:
    place = workspace
    for part in path.relative_to(workspace).parts:
        place /= part
        if place.is_symlink():
            raise InputError("sandbox.link", path=place.relative_to(workspace))
