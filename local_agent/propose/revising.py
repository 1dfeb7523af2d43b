"""Building on an earlier version of a proposal: its change is put into the scratch copy first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from common.diff.model import FileDiff
from common.diff.parse import parse_diff
from common.diff.patching import patched
from common.errors import InputError
from common.redact import redact_lines
from common.text import clip_bytes
from local_agent.models.backend import Scratch
from local_agent.propose.base import Earlier, Piece
from local_agent.propose.prompt import sent_bytes

MAX_FILE_BYTES: Final = 12_000  # seed 002 §5.1, as of every file that a model is shown
MAX_TOTAL_BYTES: Final = 60_000
_LINES_BYTES: Final = 8  # that the number of the last line is longer than one digit


@dataclass(frozen=True, slots=True)
class Seeded:
    """A file as the earlier version has it, for the model to see."""

    path: str
    text: str
    cut: bool
    kind: str = "file"
    first_line: int = 1


@dataclass(frozen=True, slots=True)
class _EarlierVersion:
    """An earlier version, as the prompt has it."""

    text: str
    path: str = ""
    kind: str = "changes"
    first_line: int = 1
    cut: bool = False


def seed(scratch: Scratch, diff: bytes) -> Mapping[str, bytes]:
    """Make an earlier change in the copy, and return the files that it leaves; blocks.

    Where the workspace has moved on since, what no longer fits is left out: the model is shown the
    earlier diff in any case, and makes the change on what stands now.
    """
    seeded: dict[str, bytes] = {}
    for file in parse_diff(diff).files if diff else ():
        try:
            content = _make(scratch, file)
        except InputError:
            continue
        if content is not None:
            seeded[file.path] = content
    return seeded


def with_seeded(pieces: Sequence[Piece], seeded: Mapping[str, bytes]) -> tuple[Piece, ...]:
    """Return the context with these files as they are seeded, within the limits."""
    if not seeded:
        return tuple(pieces)
    shown: list[Piece] = [_seeded(path, content) for path, content in seeded.items()]
    shown += [piece for piece in pieces if piece.path not in seeded]
    kept: list[Piece] = []
    left = MAX_TOTAL_BYTES
    for piece in shown:
        size = sent_bytes(piece, numbered=False)
        if size <= left:
            kept.append(piece)
            left -= size
    return tuple(kept)


def as_shown(earlier: Earlier | None) -> tuple[Piece, ...]:
    """Return what a model saw in an earlier version: its diff holds lines of files, too."""
    return () if earlier is None else (_EarlierVersion(earlier.proposal),)


def _make(scratch: Scratch, file: FileDiff) -> bytes | None:
    old = scratch.read(file.old_path) if file.old_path else b""
    if old is None:
        raise InputError("diff.context", path=file.path)
    if file.op == "delete":
        scratch.delete(file.path)
        return None
    content = patched(file, old)
    scratch.write(file.path, content)
    if file.op == "rename" and file.old_path:
        scratch.delete(file.old_path)
    return content


def _seeded(path: str, content: bytes) -> Seeded:
    text = redact_lines(content.decode("utf-8", "replace"))
    marks = sent_bytes(Seeded(path, "", cut=True), numbered=False) + _LINES_BYTES
    shown = clip_bytes(text, max(MAX_FILE_BYTES - marks, 0), marker="")
    return Seeded(path, shown, shown != text)
