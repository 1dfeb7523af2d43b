"""Reads the labelled messages of this folder; what the fields mean is in its README."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from common.model.intent import TaskKind

Split = Literal[
    "dev", "unseen", "other", "fresh",
    "blind", "daily", "varied", "habits", "voices", "plain", "usual", "common",
    "judge", "verdict",
]  # fmt: skip

RULED: Final[tuple[Split, ...]] = ("dev", "unseen", "other", "fresh")  # rules are written for them
LEARNT: Final[tuple[Split, ...]] = (
    *RULED, "blind", "daily", "varied", "habits", "voices", "plain", "usual", "common",
)  # fmt: skip
JUDGES: Final[tuple[Split, ...]] = ("judge", "verdict")
SPLITS: Final[tuple[Split, ...]] = (*LEARNT, *JUDGES)
NEVER_ACTS: Final = "never-acts"
ACTS: Final = frozenset({TaskKind.CHANGE, TaskKind.RUN, TaskKind.GIT_SYNC})


@dataclass(frozen=True, slots=True)
class Labelled:
    """One message and what it means.

    Attributes:
        text: The message as typed.
        kind: What it asks for.
        also: Other kinds that are accepted.
        tags: The language first.
        files: Paths that an extraction must contain.
        cmd: What the extracted command must contain.
        query: What the extracted query must contain.
    """

    text: str
    kind: TaskKind
    also: frozenset[TaskKind]
    tags: tuple[str, ...]
    files: tuple[str, ...] = ()
    cmd: str | None = None
    query: str | None = None

    def accepts(self, kind: TaskKind) -> bool:
        """Tell whether a fair person would accept this kind."""
        return kind == self.kind or kind in self.also

    def forbids(self, kind: TaskKind) -> bool:
        """Tell whether this kind must never come of the message."""
        return NEVER_ACTS in self.tags and kind in ACTS


def labelled(split: Split) -> tuple[Labelled, ...]:
    """Return the messages of one split, in the order of the file.

    Raises:
        KeyError: A line lacks its text, kind or tags.
        ValueError: A line names a kind that there is not.
        TypeError: A line has a field that is not described.
    """
    path = Path(__file__).parent / f"{split}.jsonl"
    return tuple(_parsed(line) for line in path.read_text(encoding="utf-8").splitlines())


def _parsed(line: str) -> Labelled:
    fields = json.loads(line)
    return Labelled(
        text=fields.pop("text"),
        kind=TaskKind(fields.pop("kind")),
        also=frozenset(TaskKind(kind) for kind in fields.pop("also", ())),
        tags=tuple(fields.pop("tags")),
        files=tuple(fields.pop("files", ())),
        **fields,
    )
