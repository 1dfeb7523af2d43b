"""Finding literal text in a workspace, within bounds and behind the path guard (R52).

    listing (our own walk) ──▶ candidates ──▶ ripgrep: "these do not hold it" ──▶ the rest is
    read through guarded handles and matched by Python ──▶ items

ripgrep is believed only when it says that a file does *not* hold the text.  Every hit is read and
matched here, so the result is the same with and without it, and a file that was swapped for a link
in between is never shown.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final, Literal

from common.clock import Clock, SystemClock
from common.encodings import CODECS
from common.errors import InputError
from common.redact import redact
from common.text import one_line
from local_agent.sandbox.process import read_tool
from local_agent.workspace import listing, paths
from local_agent.workspace.listing import Budget, ListingLimits
from local_agent.workspace.listing import Listing as Listing  # noqa: PLC0414  # what it gives
from local_agent.workspace.paths import Reader
from local_agent.workspace.registry import Workspace

Finder = Literal["auto", "python", "ripgrep"]

MAX_QUERY_BYTES: Final = 512
PREVIEW_BYTES: Final = 200
_RIPGREP: Final = ("/usr/bin/rg", "/usr/local/bin/rg", "/bin/rg")
_WORTH_A_CHILD: Final = 1000  # files; below, starting ripgrep takes longer than it saves
_OFTEN: Final = 16  # files between two looks at the clock
_NEAR_BYTES: Final = 512  # of a line, around a hit: enough to tell whether it is a secret
_SHORT_SECRET: Final = 8  # bytes; a shorter one is guessed as it is
_WORD: Final = re.compile(rb"[^\s\"'`,;(){}\[\]<>=:]*")
_DIGIT: Final = re.compile(rb"[0-9]")
_HINT: Final = re.compile(rb"(?i)pass|pwd|secret|token|key|cred|auth|://")
_LOOKED_AT: Final = 5_000  # files, when a workspace is added
_BATCH_BYTES: Final = 1_000_000  # of arguments, below `process.MAX_ARGV_BYTES`


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchLimits:
    """Bounds of one search.

    Attributes:
        listing: Of the files that are looked at.
        matches: Lines that are listed.
        seconds: After which what was found so far is given.  The one bound that falls at another
            place with ripgrep than without.
    """

    listing: ListingLimits = field(default_factory=ListingLimits)
    matches: int = 500
    seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class Match:
    """One line that holds the text; ``preview`` is its beginning on one line, hidden revealed."""

    path: str
    line: int
    preview: str


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What was found.

    Attributes:
        items: By path and line.
        truncated: A limit was reached: there may be more.
    """

    items: tuple[Match, ...]
    truncated: bool


async def search_all(
    workspace: Path,
    queries: Sequence[str],
    *,
    among: Listing | None = None,
    limits: SearchLimits | None = None,
    deny: Sequence[str] = (),
    encoding: str | None = None,
    finder: Finder = "auto",
    clock: Clock | None = None,
) -> tuple[SearchResult, ...]:
    """Return the lines that hold each query literally, in one pass over the files.

    Without a capital ASCII letter in a query, the case of ASCII letters does not matter (the smart
    case of ripgrep).

    Args:
        workspace: Real path.
        queries: Lines of text, each at most 512 UTF-8 bytes.
        among: What to look into, where it is listed already.
        limits: Bounds, those of matches for each query; what is beyond is told by ``truncated``.
        deny: The person's own deny patterns (`Workspace.deny`).
        encoding: Of files that are no UTF-8 (`Workspace.encoding`).
        finder: ``auto`` uses ripgrep where it is installed and the workspace is large.
        clock: For the limit of seconds.

    Raises:
        InputError: ``search.query``; ``path.missing``.
    """
    needles = tuple(map(_needle, queries))
    bounds = limits or SearchLimits()
    budget = _budget(bounds, clock)
    try:
        found = (
            await asyncio.to_thread(_list, workspace, bounds, budget, deny)
            if among is None
            else among
        )
        program = await asyncio.to_thread(_choose, finder, len(found.files))
        candidates: Sequence[str] = found.files
        if program is not None:
            candidates = await _not_excluded(program, workspace, found, needles, bounds, budget)
        opened = paths.open_root(workspace, deny=deny, encoding=encoding)
        hits = await asyncio.to_thread(_match, opened, candidates, needles, bounds, budget)
        cut = budget.truncated or found.truncated
        return tuple(
            SearchResult(tuple(items[: bounds.matches]), cut or len(items) > bounds.matches)
            for items in hits
        )
    finally:
        budget.stop.set()  # when this task was cancelled, its thread ends soon


async def list_files(
    workspace: Path,
    *,
    limits: SearchLimits | None = None,
    deny: Sequence[str] = (),
    clock: Clock | None = None,
) -> Listing:
    """Return the files that may be read.

    Raises:
        InputError: ``path.missing``.
    """
    bounds = limits or SearchLimits()
    budget = _budget(bounds, clock)
    try:
        return await asyncio.to_thread(_list, workspace, bounds, budget, deny)
    finally:
        budget.stop.set()


async def unreadable(workspace: Workspace) -> list[str]:
    """Return the files that are text in no encoding that is declared, of the first 5,000.

    Raises:
        InputError: ``path.missing``.
    """
    found = await list_files(workspace.path, deny=workspace.deny)
    with workspace.opened() as root, Reader(root) as reader:
        contents = ((one, _content(reader, one, paths.MAX_FILE_BYTES)) for one in found.files)
        looked_at = islice(contents, _LOOKED_AT)
        return [path for path, content in looked_at if root.encodings.of(path, content) is None]


def find_ripgrep() -> str | None:
    """Return ripgrep from the system's own directories, never by PATH (R40).  Blocking."""
    return next((path for path in _RIPGREP if os.access(path, os.X_OK)), None)


@dataclass(frozen=True, slots=True)
class _Needle:
    raw: bytes
    ignore_case: bool

    def lines(self, content: bytes) -> Iterator[tuple[int, bytes]]:
        """Give number, from 1, and bytes of each line that holds it where it may be seen."""
        haystack = content.lower() if self.ignore_case else content
        number, counted = 1, 0
        at = haystack.find(self.raw)
        while at >= 0:
            begin = content.rfind(b"\n", 0, at) + 1
            end = content.find(b"\n", at)
            end = len(content) if end < 0 else end
            number += content.count(b"\n", counted, begin)
            counted = begin
            if not _in_secret(self, content[begin:end], at - begin):
                yield number, content[begin:end]
            at = haystack.find(self.raw, end)


_Needles = Sequence[_Needle]


def _in_secret(needle: _Needle, line: bytes, at: int) -> bool:
    """Tell whether a line holds it in a secret alone: by its counts, a search would spell one out.

    To take secrets out is costly, so it is done where there may be one.
    """
    near = line[max(0, at - _NEAR_BYTES) : at + len(needle.raw) + _NEAR_BYTES]
    word = _word_at(near, min(at, _NEAR_BYTES))
    if len(word) < _SHORT_SECRET or not (_DIGIT.search(word) or _HINT.search(near)):
        return False
    shown = redact(near.decode("utf-8", "replace")).encode()
    return needle.raw not in (shown.lower() if needle.ignore_case else shown)


def _word_at(line: bytes, at: int) -> bytes:
    before, behind = _WORD.match(line[at - 1 :: -1] if at else b""), _WORD.match(line, at)
    return (before[0] if before else b"") + (behind[0] if behind else b"")


def _needle(query: str) -> _Needle:
    raw = query.encode("utf-8", "surrogatepass")
    if not query.strip() or len(raw) > MAX_QUERY_BYTES or any(char in query for char in "\n\r\0"):
        raise InputError("search.query", limit=MAX_QUERY_BYTES)
    return _Needle(raw, ignore_case=not any("A" <= char <= "Z" for char in query))


def _budget(bounds: SearchLimits, clock: Clock | None) -> Budget:
    ticking = clock or SystemClock()
    return Budget(ticking, ticking.now().mono + bounds.seconds)


def _list(workspace: Path, bounds: SearchLimits, budget: Budget, deny: Sequence[str]) -> Listing:
    return listing.list_files(workspace, budget, bounds.listing, deny=deny)


def _choose(finder: Finder, candidates: int) -> str | None:
    if finder == "python" or (finder == "auto" and candidates < _WORTH_A_CHILD):
        return None
    return find_ripgrep()


async def _not_excluded(
    program: str,
    workspace: Path,
    among: Listing,
    needles: _Needles,
    bounds: SearchLimits,
    budget: Budget,
) -> Sequence[str]:
    """Return the files that ripgrep does not exclude, in their order."""
    held: set[str] = set()
    folders = {path.rpartition("/")[0] for path in among.files}
    # To look at the size of each file takes ripgrep an eighth longer.
    most = bounds.listing.file_bytes if among.near_large else None
    for batch in _batches(f"./{folder}" for folder in folders):
        left = budget.deadline - budget.clock.now().mono
        if left <= 0:
            budget.truncated = True
            break
        told = await _ask(program, workspace, batch, needles, max_bytes=most, seconds=left)
        if told is None:
            return among.files  # it excluded nothing that can be relied on
        held |= told
    return [path for path in among.files if path in held]


async def _ask(
    program: str,
    workspace: Path,
    folders: Sequence[str],
    needles: _Needles,
    *,
    max_bytes: int | None,
    seconds: float,
) -> set[str] | None:
    """Return which files right in these folders hold one of the texts; None where it failed.

    Folders and not files are named: ripgrep is twice as fast on a file that it came upon.

    Args:
        max_bytes: Larger files are left out; None where there are none, as far as is known.
    """
    # Bytes as they are: no BOM is sniffed, NUL is text, case folds in ASCII alone, as in Python.
    options = "--no-config --files-with-matches --null --fixed-strings --text --no-unicode"
    options += " --encoding=none --no-messages --color=never --no-ignore --hidden --max-depth=1"
    options += f" --max-filesize={max_bytes}" if max_bytes is not None else ""
    case = "--ignore-case" if any(needle.ignore_case for needle in needles) else "--case-sensitive"
    secrets = ("--iglob", f"!{{{','.join(paths.SECRET)}}}")
    queries = [
        word
        for needle in needles
        for raw in _written(needle.raw)
        for word in ("--regexp", os.fsdecode(raw))
    ]
    try:
        code, told = await read_tool(
            [program, *options.split(), case, *secrets, *queries, "--", *folders],
            cwd=workspace,
            env={"LANG": "C.UTF-8"},
            seconds=seconds,
            cap_bytes=4 * _BATCH_BYTES,
        )
    except OSError:
        return None
    if code not in (0, 1) or told.dropped:
        return None
    # Of names that are no UTF-8 none is a candidate.
    names = told.parts()[0].decode("utf-8", "replace").split("\0")
    return {name.removeprefix("./") for name in names}


def _written(raw: bytes) -> set[bytes]:
    """Return a text in each encoding that a file may declare."""
    found = {raw}
    for encoding in () if raw.isascii() else CODECS:
        with contextlib.suppress(UnicodeError):
            found.add(raw.decode().encode(encoding))
    return found


def _batches(folders: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for path in folders:
        batch.append(path)
        size += len(path.encode()) + 1
        if size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _match(
    opened: AbstractContextManager[paths.Root],
    candidates: Sequence[str],
    needles: _Needles,
    bounds: SearchLimits,
    budget: Budget,
) -> list[list[Match]]:
    """Return the lines of each needle, and one more than may be listed where there are more."""
    hits: list[list[Match]] = [[] for _ in needles]
    with opened as root, Reader(root) as reader:
        for number, path in enumerate(candidates):
            if number % _OFTEN == 0 and budget.spent():
                break
            content = _content(reader, path, bounds.listing.file_bytes)
            for needle, items in zip(needles, hits, strict=True):
                room = bounds.matches + 1 - len(items)
                for line, text in islice(needle.lines(content), room):
                    items.append(Match(path, line, _preview(text)))
            if all(len(items) > bounds.matches for items in hits):
                break
    return hits


def _content(reader: Reader, path: str, max_bytes: int) -> bytes:
    try:
        return reader.read(path, max_bytes=max_bytes)
    except InputError:
        return b""  # binary, or changed since it was listed


def _preview(line: bytes) -> str:
    # Cut before decoding: a line of a generated file can be the whole file.
    return one_line(line[: 4 * PREVIEW_BYTES].decode("utf-8", "replace"), PREVIEW_BYTES)
