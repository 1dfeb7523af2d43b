"""What a person has in front of them when they ask: a file of the workspace, and lines of it.

It is looked at before anything is asked: what is not there would only be left out in silence.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from common.errors import InputError
from local_agent.faces.control.wire import Arguments
from local_agent.workspace import paths
from local_agent.workspace.registry import Workspace

MAX_LINE: Final = 10_000_000  # of a file that lines are named of
_MISSING: Final = "missing"
_WHYS: Final = {
    "path.missing": _MISSING,
    "path.not-regular": _MISSING,
    "path.denied": "denied",
}


@dataclass(frozen=True, slots=True)
class Around:
    """A file, by its path from the top of the workspace.

    Attributes:
        lines: First and last, from 1; None for all of it.
    """

    file: str
    lines: tuple[int, int] | None

    def stored(self) -> str:
        """Return it as it is kept with the task."""
        told: dict[str, object] = {"file": self.file}
        if self.lines is not None:
            told["lines"] = list(self.lines)
        return json.dumps(told, ensure_ascii=False)


def read_around(args: Arguments) -> Around | None:
    """Return what was named; None where nothing was.

    Raises:
        InputError: ``ask.at`` (place): no file of a workspace can have that name.
    """
    if not args.has("file") or not (file := args.text("file")):
        return None
    try:
        paths.check_relative(file)
    except InputError:
        raise InputError("ask.at", place=file) from None
    first, last = args.integer("first", 0, MAX_LINE), args.integer("last", 0, MAX_LINE)
    return Around(file, (first, max(first, last)) if first else None)


def check_there(around: Around, workspace: Workspace) -> None:
    """Return when the file can be read and has these lines; blocks.

    Raises:
        InputError: ``ask.nowhere`` (file, workspace, why: ``missing``, ``denied``, ``unreadable``,
            or ``beyond`` with lines and last).
    """
    facts = {"file": around.file, "workspace": workspace.name}
    try:
        with paths.open_root(workspace.path, deny=workspace.deny) as root:
            content = paths.read_bytes(root, paths.check_relative(around.file))
    except InputError as error:
        why = _WHYS.get(error.code, "unreadable")
        raise InputError("ask.nowhere", **facts, why=why) from None
    lines = content.count(b"\n") + (1 if content and not content.endswith(b"\n") else 0)
    if around.lines is not None and (last := around.lines[1]) > lines:
        raise InputError("ask.nowhere", **facts, why="beyond", lines=lines, last=last)
