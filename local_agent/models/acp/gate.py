"""Judges what an agent asks to do: edits and reads within the scratch copy, and nothing else.

Pure but for the scratch copy.  What is not known to lie inside is not inside, and what would run
something is never allowed: it is kept as a suggestion.

A list with something in it that cannot be read is no list: an edit would be judged by the rest of
its places.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from common.errors import InputError
from common.text import clip_bytes
from local_agent.models.backend import Scratch, Suggestion

MAX_CALLS: Final = 500  # tool calls of one turn that are followed
MAX_PATHS: Final = 500  # of one tool call
ALLOWED: Final = frozenset({"read", "search", "edit", "delete", "move"})
_MAX_PATH_CHARS: Final = 4096
_COMMAND_BYTES: Final = 4096
_REASON_BYTES: Final = 1024


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What an agent has told of one thing that it would do.

    Attributes:
        kind: As of the protocol; ``other`` until it was told.
        paths: All that it has named.
        command: What it would run, where it tells.
        is_whole: Whether all of its paths are known.
    """

    kind: str = "other"
    title: str = ""
    paths: frozenset[str] = frozenset()
    command: str = ""
    is_whole: bool = True

    def told(self, told: Mapping[str, Any]) -> ToolCall:
        """Return it with what was told of it since; a path once named stays named."""
        kind, title = told.get("kind"), told.get("title")
        named = _paths(told)
        paths = self.paths | named if named is not None else self.paths
        return replace(
            self,
            kind=kind if isinstance(kind, str) else self.kind,
            title=title if isinstance(title, str) else self.title,
            paths=paths if len(paths) <= MAX_PATHS else self.paths,
            command=_command(told.get("rawInput")) or self.command,
            is_whole=self.is_whole and named is not None and len(paths) <= MAX_PATHS,
        )

    def suggestion(self) -> Suggestion | None:
        """Return what a person might run instead, if it says so."""
        command = self.command or self.title
        if not command.strip():
            return None
        reason = self.title if self.command else ""
        return Suggestion(clip_bytes(command, _COMMAND_BYTES), clip_bytes(reason, _REASON_BYTES))


@dataclass(slots=True)
class ToolCalls:
    """All tool calls of one turn, as they were told."""

    _known: dict[str, ToolCall] = field(default_factory=dict)

    def told(self, told: Mapping[str, Any]) -> ToolCall:
        """Take in what was told of one, and return all that is known of it."""
        name = told.get("toolCallId")
        if not isinstance(name, str):
            return ToolCall(is_whole=False)
        if name not in self._known and len(self._known) >= MAX_CALLS:
            return ToolCall(is_whole=False)
        call = self._known.get(name, ToolCall()).told(told)
        self._known[name] = call
        return call


def judge(call: ToolCall, scratch: Scratch | None) -> None:
    """Return where this may be done; blocks.

    Raises:
        InputError: ``scratch.*`` or ``path.*``, with the fact ``path``: why not, of the first.
    """
    if scratch is None or call.kind not in ALLOWED:
        raise InputError("scratch.forbidden", path=min(call.paths, default=""))
    if not call.paths or not call.is_whole:
        raise InputError("scratch.unreadable", path="")
    for path in sorted(call.paths):
        try:
            scratch.inside(path)
        except InputError as error:
            raise InputError(error.code, path=path) from error


def _paths(told: Mapping[str, Any]) -> frozenset[str] | None:
    """Return the paths of a message, None where there is one that cannot be read."""
    named: list[object] = []
    for field_, is_place in (("locations", True), ("content", False)):
        listed = told.get(field_)
        if not isinstance(listed, list | None):
            return None
        for item in listed or ():
            if not isinstance(item, dict):
                return None
            if is_place or "path" in item:
                named.append(item.get("path"))
    paths = [path for path in named if isinstance(path, str) and len(path) <= _MAX_PATH_CHARS]
    return frozenset(paths) if len(paths) == len(named) else None


def _command(raw: object) -> str:
    command = raw.get("command") if isinstance(raw, dict) else None
    if isinstance(command, list):
        return " ".join(str(word) for word in command)
    return command if isinstance(command, str) else ""
