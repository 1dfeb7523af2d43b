"""The environment of a command, built from scratch (R43), and what its first word means (R40).

Programs are looked for in the confirmed toolchains and in the system's own directories, in this
order, and nowhere else: never by the agent's PATH, which may hold the workspace.  Blocking.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from common.errors import InputError
from local_agent.actions.run_command.payload import Executable
from local_agent.sandbox.toolchains import SYSTEM
from local_agent.workspace.registry import Workspace

SYSTEM_PATH: Final = tuple(
    map(Path, ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"))
)
MAX_PROGRAM_BYTES: Final = 64 * 1024 * 1024


def build_environment(
    workspace: Workspace, environ: Mapping[str, str], *, home: Path, cwd: Path
) -> dict[str, str]:
    """Return the whole environment of a command.

    HOME is the real path of the home; inside the sandbox it is empty.

    Args:
        workspace: Whose toolchains, and which variables the person passes on.
        environ: The agent's environment, for the passed-on variables alone.
        home: Real path of the person's home.
        cwd: Where the command starts; bubblewrap sets PWD to it, so it is sealed as well.
    """
    env = {name: environ[name] for name in workspace.pass_env if name in environ}
    for toolchain in reversed(workspace.toolchains):
        env |= dict(toolchain.env)
    return env | {
        "PATH": ":".join(map(str, _search_path(workspace))),
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "TMPDIR": "/tmp",  # noqa: S108  # a variable for the child, no file of ours
        "CI": "1",
        "PWD": str(cwd),
    }


def resolve_program(
    word: str, workspace: Workspace, *, cwd: Path, sandboxed: bool, copy: Path | None = None
) -> Executable:
    """Return the program that a command's first word means.

    ``path`` is what is executed, not its target: a venv's ``python`` must be started by the link.
    ``dev`` and ``ino`` are the target's, so that turning the link elsewhere shows.

    Args:
        word: A bare name; a path relative to ``cwd``, with or without ``./``, as in any shell; or
            an absolute path.
        workspace: Whose toolchains are searched.
        cwd: Real path in which the command starts.
        sandboxed: Whether the program must be visible inside the sandbox.
        copy: What takes the place of the workspace's own files inside the sandbox.

    Raises:
        InputError: ``command.not-found``, ``command.not-executable``, ``command.outside`` (a
            relative path that leads out of workspace, toolchains and system),
            ``command.not-visible`` (inside the sandbox), ``command.program-too-large``.
    """
    found = _locate(word, workspace, cwd)
    real = found.resolve()
    held = real if copy is None else _in_copy(real, workspace, copy)
    try:
        status = held.stat()
    except OSError:
        raise InputError("command.not-found", program=word) from None
    if not stat.S_ISREG(status.st_mode) or not os.access(held, os.X_OK):
        raise InputError("command.not-executable", program=word)
    if not any(real.is_relative_to(place) for place in (*SYSTEM, *_open_places(workspace))):
        if sandboxed:
            raise InputError("command.not-visible", program=word, path=real)
        if not word.startswith("/"):
            raise InputError("command.outside", program=word)
    inside = real.is_relative_to(workspace.path)
    return Executable(
        path=str(found),
        dev=status.st_dev,
        ino=status.st_ino,
        sha256=_sha256(held, word) if inside else None,
    )


def _search_path(workspace: Workspace) -> tuple[Path, ...]:
    tools = [place for toolchain in workspace.toolchains for place in toolchain.bin_dirs]
    return tuple(dict.fromkeys([*tools, *SYSTEM_PATH]))


def _open_places(workspace: Workspace) -> tuple[Path, ...]:
    tools = [path for toolchain in workspace.toolchains for path in toolchain.paths]
    return (workspace.path, *tools, *(path.resolve() for path in tools))


def _in_copy(real: Path, workspace: Workspace, copy: Path) -> Path:
    """Return where the bytes lie that bear this name inside a sandbox on a copy."""
    tools = [path for toolchain in workspace.toolchains for path in toolchain.paths]
    if not real.is_relative_to(workspace.path) or any(map(real.is_relative_to, tools)):
        return real
    return copy / real.relative_to(workspace.path)


def _locate(word: str, workspace: Workspace, cwd: Path) -> Path:
    if word.startswith("/"):
        return Path(word)
    if "/" in word:
        # The link itself, as a venv's python is one to the system's; its target is looked at next.
        found = (cwd / word).parent.resolve() / Path(word).name
        if not any(found.is_relative_to(place) for place in _open_places(workspace)):
            raise InputError("command.outside", program=word)
        return found
    for place in _search_path(workspace):
        candidate = place / word
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return candidate
    raise InputError("command.not-found", program=word)


def _sha256(path: Path, word: str) -> str:
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size > MAX_PROGRAM_BYTES:
            raise InputError("command.program-too-large", program=word, limit=MAX_PROGRAM_BYTES)
        return hashlib.file_digest(file, "sha256").hexdigest()
