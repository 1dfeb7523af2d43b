"""Looks at changes: the local ones, or those of a range that was named.

Without a model they are summed up: to the chat go paths and counts, never lines.  With one, the
lines are what it is shown (`local_agent.propose.coding`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

from common.model.proposal import Answer
from common.redact import redact, redact_lines
from common.sentences import Lang, say
from common.text import clip_bytes, one_line, reveal
from local_agent.propose import words
from local_agent.propose.base import CHAT_ROWS, Asked, Proposed, answer, nothing
from local_agent.propose.context.collected import MAX_FILE_BYTES, MAX_TOTAL_BYTES, Piece
from local_agent.propose.prompt import sent_bytes
from local_agent.workspace.git.ranges import CommitLine, FileLines, NotFound, Range, RangeChanges
from local_agent.workspace.git.repository import ChangedFile, Changes, begins_above
from local_agent.workspace.registry import Workspace

NAME_BYTES: Final = 100
_LINE_BYTES: Final = 2000  # of one changed line that a model is shown
_SUBJECT_BYTES: Final = 200
_SIGNS: Final = {"added": "A", "deleted": "D", "modified": "M", "renamed": "R", "untracked": "?"}


class Ranges(Protocol):
    """How a named range is found and read."""

    def find(self, text: str) -> Range:
        """Return which changes a text names."""
        ...

    async def read(self, workspace: Workspace, wanted: Range) -> RangeChanges | NotFound | None:
        """Return what differs, or which name there is not; None where there is no repository.

        Raises:
            InputError: ``path.missing``: the folder went away.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What was found.

    Attributes:
        head: Where, how many files and lines.
        rows: One for each file.
        total: Files that differ; more of them than there are rows are only counted.
        pieces: What a model may be shown of a range; empty for the local changes, which are part of
            the context.
        notes: For this machine alone, such as the subjects of commits.
        instead: What is answered where there is nothing to look at.
        of_range: A range was named; nothing else is looked at in its place.
    """

    head: str = ""
    rows: tuple[str, ...] = ()
    total: int = 0
    pieces: tuple[Piece, ...] = ()
    notes: tuple[str, ...] = ()
    instead: Proposed | None = None
    of_range: bool = False


class ReviewProposer:
    """Answers "review my changes" without a model, and tells what one would be shown.

    Args:
        local_changes: Gives the changes, or None where there is no repository.
        ranges: Finds and reads other ones; without it only the local ones are looked at.
    """

    def __init__(
        self,
        local_changes: Callable[[Path], Awaitable[Changes | None]],
        *,
        ranges: Ranges | None = None,
    ) -> None:
        self._local_changes = local_changes
        self._ranges = ranges

    async def propose(self, asked: Asked) -> Proposed:
        """Return the changed files with their counts."""
        return summed_up(await self.look(asked), asked.lang)

    async def look(self, asked: Asked) -> Looked:
        """Return the changes that are meant.

        Raises:
            InputError: ``path.missing``: the folder went away.
        """
        if asked.workspace is None:
            return Looked(instead=answer(say(words.NO_WORKSPACE, asked.lang)))
        wanted = self._ranges.find(asked.text) if self._ranges else Range()
        if self._ranges is None or wanted.kind == "local":
            changes = await self._local_changes(asked.workspace.path)
            return await asyncio.to_thread(_local, asked, asked.workspace.name, changes)
        found = await self._ranges.read(asked.workspace, wanted)
        # Secrets are looked for in up to 48 kB of lines.
        return await asyncio.to_thread(_of_range, asked, asked.workspace.name, wanted, found)


def summed_up(looked: Looked, lang: Lang) -> Proposed:
    """Return what was found as an answer: some files for the chat, all for this machine."""
    if looked.instead is not None:
        return looked.instead
    rows = list(looked.rows[:CHAT_ROWS])
    if (rest := looked.total - len(rows)) > 0:
        rows.append(say(words.MORE_FILES, lang, count=rest))
    text = "\n".join([looked.head, *rows])
    every = list(looked.rows)
    if (rest := looked.total - len(every)) > 0:
        every.append(say(words.MORE_FILES, lang, count=rest))
    details = "\n".join([looked.head, *looked.notes, *every])
    return Proposed(Answer(text=text), text, details=details)


def _local(asked: Asked, name: str, changes: Changes | None) -> Looked:
    if changes is None:
        return Looked(instead=answer(_no_repository(asked, name)))
    branch = changes.branch or say(words.NO_BRANCH, asked.lang)
    where = {"workspace": name, "branch": one_line(branch, NAME_BYTES)}
    if not changes.total:
        return Looked(instead=answer(say(words.NO_CHANGES, asked.lang, **where)))
    counted = {"files": changes.total, "added": changes.added, "deleted": changes.removed}
    head = say(words.CHANGES, asked.lang, **where, **counted)
    return Looked(head=head, rows=_rows(changes.files, asked.lang), total=changes.total)


def _of_range(
    asked: Asked, name: str, wanted: Range, found: RangeChanges | NotFound | None
) -> Looked:
    if found is None:
        return Looked(instead=answer(_no_repository(asked, name)), of_range=True)
    if isinstance(found, NotFound):
        return Looked(instead=_not_found(asked, name, found), of_range=True)
    where = {"workspace": name, "range": _range(wanted, found, asked.lang)}
    if not found.total:
        told = say(words.RANGE_NOTHING, asked.lang, **where)
        return Looked(instead=answer(told), of_range=True)
    counted = {"files": found.total, "added": found.added, "deleted": found.removed}
    return Looked(
        head=say(words.RANGE_CHANGES, asked.lang, **where, **counted),
        rows=_rows(found.files, asked.lang),
        total=found.total,
        pieces=range_pieces(found),
        notes=tuple(f"  {_commit(one)}" for one in found.commits),
        of_range=True,
    )


def _no_repository(asked: Asked, name: str) -> str:
    above = asked.workspace is not None and begins_above(asked.workspace.path)
    told = words.BEGINS_ABOVE if above else words.NOT_A_REPOSITORY
    return say(told, asked.lang, workspace=name)


def _not_found(asked: Asked, name: str, missing: NotFound) -> Proposed:
    if not missing.name:
        return nothing(words.NO_MAIN_BRANCH, asked, workspace=name)
    sentence = words.NAME_AMBIGUOUS if missing.ambiguous else words.NO_SUCH_NAME
    told = nothing(sentence, asked, workspace=name, name=one_line(redact(missing.name), NAME_BYTES))
    if not missing.near:
        return told
    names = ", ".join(one_line(near, NAME_BYTES) for near in missing.near)
    text = f"{told.summary}\n{say(words.NEAR_NAMES, asked.lang, names=names)}"
    return Proposed(Answer(text=text), text, not_done=True)


def _range(wanted: Range, found: RangeChanges, lang: Lang) -> str:
    base, tip = (one_line(name, NAME_BYTES) for name in (wanted.base, wanted.tip))
    count = found.commit_total
    if wanted.kind == "staged":
        return say(words.RANGE_STAGED, lang)
    if wanted.kind == "between":
        base, tip = base or found.base, tip or "HEAD"
        return say(words.RANGE_BETWEEN, lang, base=base, tip=tip, count=count)
    if wanted.kind == "last" and count > 1:
        base = found.base or "∅"
        return say(words.RANGE_LAST, lang, base=base, tip=found.tip, count=count)
    return say(words.RANGE_COMMIT, lang, tip=found.tip)


def _rows(files: Iterable[ChangedFile], lang: Lang) -> tuple[str, ...]:
    return tuple(_row(file, lang) for file in files)


def _row(file: ChangedFile, lang: Lang) -> str:
    if file.added is None or file.removed is None:
        amount = say(words.NOT_COUNTED, lang)
    else:
        amount = f"+{file.added} −{file.removed}"
    sign = _SIGNS.get(file.status, "·")
    return say(words.CHANGES_ROW, lang, status=sign, path=one_line(file.path), amount=amount)


def _commit(one: CommitLine) -> str:
    # Secrets first: of one that is cut, nobody knows the half.
    return f"{one.short_id} {one_line(redact(one.subject), _SUBJECT_BYTES)}"


def range_pieces(found: RangeChanges) -> tuple[Piece, ...]:
    """Return what a model may be shown: the lines, the commits, and what it is not shown."""
    told = [f"{_commit(one)}\n" for one in found.commits]
    told += [f"{say(words.LINES_NOT_SHOWN[one.reason], 'en', path=one_line(one.path))}\n"
             for one in found.lines if one.reason]  # fmt: skip
    shown = [_lines(one) for one in found.lines if one.text]
    overview = [Piece(kind="git", text=redact_lines("".join(told)))] if told else []
    return (*shown, *overview)


def _lines(file: FileLines) -> Piece:
    lines = file.text.decode("utf-8", "replace").removesuffix("\n").split("\n")
    # Secrets first: neither a mark nor the end of a line may stand in the middle of one.
    clean = redact_lines("\n".join(lines)).split("\n")
    text = "".join(f"{clip_bytes(reveal(line), _LINE_BYTES)}\n" for line in clean)
    shown = Piece(
        kind="changes", path=file.path, text=text, first_line=file.first_line, cut=file.cut
    )
    over = sent_bytes(shown, numbered=False) - MAX_FILE_BYTES
    if over <= 0:
        return shown
    kept = text.encode()[: -over - len(" cut")].decode("utf-8", "ignore")
    return replace(shown, text=kept[: kept.rfind("\n") + 1], cut=True)


def to_show(looked: Looked, context: Sequence[Piece]) -> tuple[Piece, ...]:
    """Return what a model is shown for a review: the changes, then as much else as there is room.

    Of a range, the local changes are no part.
    """
    if not looked.pieces:
        return tuple(context)
    others = [piece for piece in context if piece.kind not in ("changes", "git")]
    kept: list[Piece] = []
    room = MAX_TOTAL_BYTES
    for piece in (*looked.pieces, *others):
        room -= sent_bytes(piece, numbered=True)
        if room < 0:
            break
        kept.append(piece)
    return tuple(kept)
