"""What is sealed of several steps: each as the action that it is seals it, in their order.  Pure.

What each step starts from is known before any of them is done.  So no file is in two steps, and
none stands in a folder that an earlier one makes or may empty.  A command is sealed with the files
of the workspace as the earlier changes leave them; none of these is its program, or a file by which
git ignores others.  A gate that covers no step seals none: whether the run goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from common.diff.names import twin_key
from common.records import COUNT, LIST, RECORD, SHA256_HEX, TEXT, Fields, one_of
from common.seal import SealedChange, check_each, check_record, read_changes, require
from local_agent.actions.changes.payload import check_change, check_undo
from local_agent.actions.run_command.payload import check_command
from local_agent.safety.action_facts import SealedPart

MAX_PARTS: Final = 100
PARTS: Final[Mapping[str, Callable[[Mapping[str, Any]], None]]] = {
    "run_command": check_command,
    "apply_diff": check_change,
    "undo": check_undo,
}
_STEPS: Final[Fields] = {"run": TEXT, "definition_sha256": SHA256_HEX, "steps": LIST}
_STEP: Final[Fields] = {
    "index": COUNT,
    "action": one_of(PARTS),
    "payload": RECORD,
    "base": RECORD,
}


def steps_payload(
    *, run: str, definition_sha256: str, indexes: Sequence[int], parts: Sequence[SealedPart]
) -> dict[str, Any]:
    """Return the sealed form of several steps.

    Args:
        run: Id of the run of the playbook.
        definition_sha256: Of the playbook's file, as the run has it.
        indexes: Which step of the playbook each is, from 0.
        parts: What each would do.
    """
    steps = [
        {
            "index": index,
            "action": part.action,
            "payload": dict(part.payload),
            "base": dict(part.base),
        }
        for index, part in zip(indexes, parts, strict=True)
    ]
    return {"run": run, "definition_sha256": definition_sha256, "steps": steps}


def check_steps(payload: Mapping[str, Any]) -> None:
    """Return when a payload is that of several steps.

    Raises:
        RemoteProtocolError: ``seal.malformed`` with ``field``.
    """
    check_record("payload", payload, _STEPS)
    steps = payload["steps"]
    require("steps", len(steps) <= MAX_PARTS)
    check_each("steps", steps, _STEP)
    for step in steps:
        PARTS[step["action"]](step["payload"])
        require("steps.copy", "copy" not in step["payload"])
    require("steps.index", _are_in_order(steps))
    require("steps.together", find_conflict(sealed_parts(payload)) is None)


def sealed_parts(payload: Mapping[str, Any]) -> Sequence[SealedPart]:
    """Return the operations in a checked payload, in their order."""
    return [SealedPart(step["action"], step["payload"], step["base"]) for step in payload["steps"]]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Why a step cannot be sealed together with an earlier one.

    Attributes:
        why: ``path``: what it changes is changed by the earlier one, or stands in a folder that
            that one makes or may empty; ``command``: the earlier one changes its program, or what
            git ignores.
        path: Which.
    """

    why: Literal["path", "command"]
    part: int
    earlier: int
    path: str


@dataclass(slots=True)
class _Touched:
    """What earlier parts change, each under the number of the part."""

    paths: dict[str, int] = field(default_factory=dict)
    made: dict[str, int] = field(default_factory=dict)  # folders
    emptied: dict[str, int] = field(default_factory=dict)

    def by(self, change: SealedChange) -> tuple[int, str] | None:
        """Return which earlier part a change cannot be sealed together with, and the path."""
        for path in _paths(change):
            name = twin_key(path)
            for key, known in ((name, self.paths), (name, self.made)):
                if key in known:
                    return known[key], path
            for above in _above(name):
                if (part := self.paths.get(above, self.made.get(above))) is not None:
                    return part, path
        if change.op in ("add", "rename", "copy"):
            for above in _above(twin_key(change.path)):
                if above in self.emptied:
                    return self.emptied[above], change.path
        return None

    def under(self, command: Mapping[str, Any]) -> tuple[int, str] | None:
        """Return which earlier part changes what a command depends on unseen, and the path."""
        program = twin_key(command["executable"]["path"])
        for path, number in self.paths.items():
            if path.rpartition("/")[2] == ".gitignore" or program.endswith(f"/{path}"):
                return number, path
        return None

    def add(self, number: int, part: SealedPart) -> None:
        """Take note of what a part changes."""
        there = {twin_key(name[:-1]) for name in part.base if name.endswith("/")}
        for change in read_changes(part.payload):
            for path in _paths(change):
                self.paths.setdefault(twin_key(path), number)
                folders = list(_above(twin_key(path)))
                self.made |= {one: number for one in folders if one not in there}
                if change.op in ("delete", "rename"):
                    self.emptied |= dict.fromkeys(folders, number)


def find_conflict(parts: Sequence[SealedPart]) -> Conflict | None:
    """Return the first part that cannot be sealed together with an earlier one."""
    touched = _Touched()
    for number, part in enumerate(parts):
        if part.action == "run_command":
            if command := touched.under(part.payload):
                return Conflict("command", number, *command)
            continue
        for change in read_changes(part.payload):
            if found := touched.by(change):
                return Conflict("path", number, *found)
        touched.add(number, part)
    return None


def _are_in_order(steps: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether the steps follow one another; what is taken back may go backwards."""
    indexes = [step["index"] for step in steps]
    rising = sorted(set(indexes))
    backwards = all(step["action"] == "undo" for step in steps)
    return indexes == rising or (backwards and indexes == rising[::-1])


def _paths(change: SealedChange) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for path in (change.old_path, change.path) if path))


def _above(path: str) -> Iterator[str]:
    """Give each folder on the way to a path, without the workspace itself."""
    names = path.split("/")
    return ("/".join(names[:end]) for end in range(1, len(names)))
