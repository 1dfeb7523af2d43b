"""Reads the labelled messages of this folder; what the fields mean is in its README."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from local_agent.understand.reading import DEEDS, Kind

FOLDER: Final = Path(__file__).parent
NEVER_ACTS: Final = "never-acts"
HELD_OUT: Final = tuple(sorted(file.stem for file in (FOLDER / "held_out").glob("*.jsonl")))
LEARNT: Final = tuple(sorted(file.stem for file in FOLDER.glob("*.jsonl")))
LISTS: Final = (*LEARNT, *HELD_OUT)


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
    kind: Kind
    also: frozenset[Kind]
    tags: tuple[str, ...]
    files: tuple[str, ...] = ()
    cmd: str | None = None
    query: str | None = None

    def accepts(self, kind: Kind) -> bool:
        """Tell whether a fair person would accept this kind."""
        return kind is self.kind or kind in self.also

    def forbids(self, kind: Kind) -> bool:
        """Tell whether this kind must never come of the message."""
        return kind in DEEDS and (
            NEVER_ACTS in self.tags or DEEDS.isdisjoint({self.kind, *self.also})
        )


@cache
def labelled(name: str) -> tuple[Labelled, ...]:
    """Return the messages of one list, in the order of the file.

    Raises:
        KeyError: A line lacks its text, kind or tags.
        ValueError: A line names a kind that there is not.
        TypeError: A line has a field that is not described.
    """
    path = FOLDER / ("held_out" if name in HELD_OUT else "") / f"{name}.jsonl"
    return tuple(map(_parsed, path.read_text(encoding="utf-8").splitlines()))


def _parsed(line: str) -> Labelled:
    fields = json.loads(line)
    return Labelled(
        text=fields.pop("text"),
        kind=Kind(fields.pop("kind")),
        also=frozenset(map(Kind, fields.pop("also", ()))),
        tags=tuple(fields.pop("tags")),
        files=tuple(fields.pop("files", ())),
        **fields,
    )
