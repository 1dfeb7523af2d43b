"""A playbook with its hooks, as a run keeps it: whatever becomes of the files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from local_agent.playbooks.definition import (
    StepDefinition,
    TaskDefinition,
    parse_hook,
    parse_playbook,
)
from local_agent.playbooks.library import HOOKS, Found
from local_agent.playbooks.runs import Place


@dataclass(frozen=True)
class Bundle:
    """What a run carries out.

    Attributes:
        in_workspace: A part of it lay in a workspace when the run began, so that whoever can change
            that wrote it.
    """

    definition: TaskDefinition
    hooks: Mapping[str, TaskDefinition]
    in_workspace: bool

    @cached_property
    def steps(self) -> Mapping[Place, StepDefinition]:
        """The steps of the playbook and of its hooks."""
        found = {Place("main", index): step for index, step in enumerate(self.definition.steps)}
        for phase in ("pre", "post"):
            hooks = (self.hooks[name] for name in self.definition.hooks.get(phase, ()))
            steps = [step for hook in hooks for step in hook.steps]
            found |= {Place(phase, index): step for index, step in enumerate(steps)}
        return found


def pack(found: Found, is_workspace: Callable[[Path], bool]) -> bytes:
    """Return a playbook as it is kept.  Blocking.

    Args:
        is_workspace: Tells whether a folder is one.
    """
    bundle = {
        "path": str(found.path),
        "in_workspace": found.origin == "file" and _lies_in(found, is_workspace),
        "playbook": found.raw.decode(),
        "hooks": {name: raw.decode() for name, raw in found.raw_hooks.items()},
    }
    return json.dumps(bundle, sort_keys=True).encode()


def unpack(raw: bytes) -> Bundle:
    """Return what `pack` has kept.  Blocking.

    Raises:
        TaskParseError: it is of another release, whose playbooks were read otherwise.
        ValueError: it is none.
        KeyError: the same.
    """
    bundle = json.loads(raw)
    return Bundle(
        definition=parse_playbook(bundle["playbook"].encode(), bundle["path"]),
        hooks={name: parse_hook(text.encode(), name) for name, text in bundle["hooks"].items()},
        in_workspace=bundle["in_workspace"],
    )


def _lies_in(found: Found, is_workspace: Callable[[Path], bool]) -> bool:
    """Tell whether one of its files does, by the path that was named or where that leads to.

    Where it leads to may be another place by now; the path itself stays what it was.
    """
    hooks = found.path.parent / HOOKS
    files = [found.path, *(hooks / f"{name}.md" for name in found.raw_hooks)]
    return any(
        is_workspace(folder)
        for file in files
        for path in (file.absolute(), file.resolve())
        for folder in path.parents
    )
