"""Finds codex and makes sure that it is the version whose protocol and whose switches are known.

It is never taken from a workspace (R40): neither by a relative entry of PATH nor by a setting.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from common.text import one_line
from local_agent.errors import ModelError
from local_agent.process import Limits, run_child

VERSION: Final = (0, 169)  # of which each release is taken
PINNED: Final = "0.169.0"
_SAYS: Final = re.compile(r"codex-cli (\d{1,4})\.(\d{1,4})\.(\d{1,4})\s*", re.ASCII)
_LIMITS: Final = Limits(timeout_s=10.0, grace_s=0.5, output_cap_bytes=4096)
# Where npm puts the binary of this machine's kind, seen from the package's own launcher, which is
# a script for node and not what we start.
_LAUNCHER: Final = "codex.js"
_BINARIES: Final = "codex-*/vendor/*/bin/codex"


def find_program(
    configured: Path | None, environ: Mapping[str, str], workspaces: Sequence[Path]
) -> Path:
    """Return the program; blocks.

    Args:
        configured: By the person, or None to look along PATH.
        environ: The agent's environment.
        workspaces: Roots that it must not lie in.

    Raises:
        ModelError: ``model.program`` (why: ``missing``, ``workspace``, ``writable``).
    """
    candidate = configured or _on_path(environ.get("PATH", ""), workspaces)
    if candidate is None or not candidate.is_absolute():
        raise ModelError("model.program", why="missing", wanted=PINNED)
    program = _binary(candidate.resolve())
    if not os.access(program, os.X_OK) or not program.is_file():
        raise ModelError("model.program", why="missing", wanted=PINNED)
    if _is_within(program, workspaces) or _is_within(candidate.parent, workspaces):
        raise ModelError("model.program", why="workspace")
    if program.stat().st_mode & stat.S_IWOTH:
        raise ModelError("model.program", why="writable")
    return program


async def read_version(program: Path, *, cwd: Path, env: Mapping[str, str]) -> str:
    """Return the version of a program, if it is one that we can speak with.

    Raises:
        ModelError: ``model.program`` (why: ``start``, or ``version`` with ``found``, ``wanted``).
    """
    try:
        ended = await run_child([str(program), "--version"], cwd=cwd, env=env, limits=_LIMITS)
    except OSError as error:
        raise ModelError("model.program", why="start") from error
    if not ended.ok:
        raise ModelError("model.program", why="start")
    says = ended.stdout.parts()[0].decode("utf-8", "replace")
    known = _SAYS.fullmatch(says)
    if known is None or (int(known[1]), int(known[2])) != VERSION:
        found = one_line(says, 80)
        raise ModelError("model.program", why="version", found=found, wanted=PINNED)
    return ".".join(known.groups())


def _on_path(path: str, workspaces: Sequence[Path]) -> Path | None:
    trusted = [
        entry
        for entry in path.split(os.pathsep)
        if Path(entry).is_absolute() and not _is_within(Path(entry), workspaces)
    ]
    found = shutil.which("codex", path=os.pathsep.join(trusted)) if trusted else None
    return Path(found) if found else None


def _binary(program: Path) -> Path:
    if program.name != _LAUNCHER:
        return program
    package = program.parents[1]
    for place in (package.parent, package / "node_modules" / "@openai"):
        if found := sorted(place.glob(_BINARIES)):
            return found[0].resolve()
    return program


def _is_within(path: Path, roots: Sequence[Path]) -> bool:
    real = path.resolve()
    return any(real.is_relative_to(root.resolve()) for root in roots)
