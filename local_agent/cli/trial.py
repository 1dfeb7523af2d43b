"""Whether a test command could start in a folder, by the rules by which it will be started."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from common.errors import InputError
from local_agent.sandbox.toolchains import Toolchain
from local_agent.workspace.registry import Workspace

_SAID: Final = {
    "command.not-found": "workspace.test-not-found",
    "command.not-executable": "workspace.test-not-executable",
    "command.outside": "workspace.test-hidden",
    "command.not-visible": "workspace.test-hidden",
    "command.program-too-large": "workspace.test-hidden",
}


def check_start(command: str, folder: Path, toolchains: Sequence[Toolchain]) -> None:
    """Refuse a command whose program cannot be found; what a shell line starts is not known.

    Args:
        command: As given with ``--test``.
        folder: Real path of the workspace.
        toolchains: What is allowed besides the system.

    Raises:
        InputError: ``workspace.test-not-found``, ``workspace.test-not-executable``,
            ``workspace.test-hidden`` or ``workspace.test-unreadable``.
    """
    # Late, so that `workspace --help` does not load what only this needs.
    from local_agent.actions.run_command.command_line import read_command_line
    from local_agent.actions.run_command.environment import resolve_program
    from local_agent.sandbox.bubblewrap import find_bubblewrap

    entry = Workspace(name="trial", path=folder, toolchains=tuple(toolchains))
    try:
        line = read_command_line(command)
        if line.argv is not None:
            sandboxed = find_bubblewrap() is not None
            resolve_program(line.argv[0], entry, cwd=folder, sandboxed=sandboxed)
    except InputError as error:
        code = _SAID.get(error.code, "workspace.test-unreadable")
        raise InputError(code, **error.facts) from None


def starts(command: str, folder: Path, toolchains: Sequence[Toolchain]) -> bool:
    """Tell whether `check_start` would let it pass."""
    try:
        check_start(command, folder, toolchains)
    except InputError:
        return False
    return True
