"""The sandbox of a coding agent: a program that edits a scratch copy and must reach its model.

It is the profile of commands (`bubblewrap`) with two differences: the network of
this machine is shared, or no model could be asked, and one folder besides the scratch copy can be
written, in which the agent keeps its login.  Of the person's files it reads nothing but the folder
of its own program and those that were named for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from common.errors import StateError
from common.home import Home
from local_agent.sandbox import toolchains
from local_agent.sandbox.bubblewrap import Level, bubblewrap_profile, find_bubblewrap
from local_agent.sandbox.toolchains import SYSTEM, Toolchain


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
        toolchains.check(
            Toolchain(kind=kind, paths=shown, bin_dirs=()), home=self.home, private=private
        )
        return shown
