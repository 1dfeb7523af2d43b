"""System calls that change a workspace, or keep what a change replaces, named just after them.

Between two of them the disk does not change, so that these are all the states that a death can
leave behind, but for the half of a single write.  Files beside bear the tag of their approval and
blobs that of their content: what differs from run to run is left out of the names.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

Note = Callable[[str, str], None]  # event, phase
Call = Callable[..., Any]

_BY_NAME: Final = ("open", "mkdir", "rmdir", "unlink")
_NOREPLACE: Final = 1  # of renameat2; else it exchanges
_TAG: Final = re.compile("[0-9a-f]{12,}|^[0-9a-f]{2}$")


def watch(note: Note, tree: Path) -> None:
    """Note every such call of this process.

    Args:
        note: Takes the event and its phase.
        tree: The workspace.
    """
    from local_agent.workspace import temporary_files

    told = _Told(note, tree)
    for name in _BY_NAME:
        setattr(os, name, told.by_name(name, getattr(os, name)))
    vars(os)["fsync"] = told.flush(os.fsync)
    vars(os)["rename"] = told.rename(os.rename)
    vars(temporary_files)["_renameat2"] = told.renameat2(vars(temporary_files)["_renameat2"])


class _Told:
    """Wraps calls, each of which works on open folders."""

    def __init__(self, note: Note, tree: Path) -> None:
        self._note = note
        blobs = Path(os.environ["CODEXBRIDGE_HOME"]) / "state" / "blobs"
        self._places = {"tree": tree, "blob": blobs}

    def by_name(self, verb: str, real: Call) -> Call:
        def call(name: Any, *args: Any, dir_fd: int | None = None, **named: Any) -> Any:
            done = real(name, *args, dir_fd=dir_fd, **named)
            if dir_fd is not None and (verb != "open" or args[0] & os.O_CREAT):
                self._tell(verb, _place(dir_fd) / name)
            return done

        return call

    def flush(self, real: Call) -> Call:
        def call(descriptor: int) -> None:
            real(descriptor)
            self._tell("flush", _place(descriptor))

        return call

    def rename(self, real: Call) -> Call:
        def call(old: Any, new: Any, *, src_dir_fd: Any = None, dst_dir_fd: Any = None) -> None:
            real(old, new, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
            if dst_dir_fd is not None:
                self._tell("rename", _place(dst_dir_fd) / new)

        return call

    def renameat2(self, real: Call) -> Call:
        def call(source: Any, target: Any, flags: int) -> None:
            real(source, target, flags)
            verb = "place" if flags == _NOREPLACE else "exchange"
            self._tell(verb, _place(target.folder) / target.name)

        return call

    def _tell(self, verb: str, path: Path) -> None:
        for what, place in self._places.items():
            if path.is_relative_to(place):
                self._note(f"{what} {verb} {_TAG.sub('*', path.name)}", "after-commit")


def _place(descriptor: int) -> Path:
    return Path(f"/proc/self/fd/{descriptor}").readlink()
