"""Finding literal text in a workspace, within bounds and behind the path guard (R52).

    listing (our own walk) ──▶ candidates ──▶ ripgrep: "these do not hold it" ──▶ the rest is
    read through guarded handles and matched by Python ──▶ items

ripgrep is believed only when it says that a file does *not* hold the text.  Every hit is read and
matched here, so the result is the same with and without it, and a file that was swapped for a link
in between is never shown.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from common.clock import Clock, SystemClock
from common.errors import InputError
from common.text import one_line
from local_agent.process import Limits, run_child
from local_agent.workspace import listing, paths
from local_agent.workspace.listing import Budget, ListingLimits
from local_agent.workspace.listing import Listing as Listing  # noqa: PLC0414  # what it gives
from local_agent.workspace.paths import Root

Finder = Literal["auto", "python", "ripgrep"]

MAX_QUERY_BYTES: Final = 512
PREVIEW_BYTES: Final = 200
_RIPGREP: Final = ("/usr/bin/rg", "/usr/local/bin/rg", "/bin/rg")
_WORTH_A_CHILD: Final = 300  # files; below, starting ripgrep takes longer than it saves
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
        files: Files with at least one listed line.
        matches: Listed lines.
        truncated: A limit was reached: there may be more.
        skipped: Files and folders that were not looked at, by reason (`Listing`).
    """

    items: tuple[Match, ...]
    files: int
    matches: int
    truncated: bool
    skipped: Mapping[str, int]


async def search(
    workspace: Path,
    query: str,
    *,
    limits: SearchLimits | None = None,
    deny: Sequence[str] = (),
    finder: Finder = "auto",
    clock: Clock | None = None,
) -> SearchResult:
    """Return the lines that hold ``query`` literally.

    Without a capital ASCII letter in the query, the case of ASCII letters does not matter (the
    smart case of ripgrep).

    Args:
        workspace: Real path.
        query: One line of text, at most 512 UTF-8 bytes.
        limits: Bounds; what is beyond is told by ``truncated``.
        deny: The person's own deny patterns (`Workspace.deny`).
        finder: ``auto`` uses ripgrep where it is installed and the workspace is large.
        clock: For the limit of seconds.

    Raises:
        InputError: ``search.query``; ``path.missing``.
    """
    needle = _needle(query)
    bounds = limits or SearchLimits()
    budget = _budget(bounds, clock)
    try:
        found = await asyncio.to_thread(_list, workspace, bounds, budget, deny)
        program = await asyncio.to_thread(_choose, finder, len(found.files))
        candidates: Sequence[str] = found.files
        if program is not None:
            candidates = await _not_excluded(program, workspace, candidates, needle, budget)
        items = await asyncio.to_thread(_match, workspace, candidates, needle, bounds, budget, deny)
        return SearchResult(
            items=tuple(items),
            files=len({item.path for item in items}),
            matches=len(items),
            truncated=budget.truncated,
            skipped=found.skipped,
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


def find_ripgrep() -> str | None:
    """Return ripgrep from the system's own directories, never by PATH (R40).  Blocking."""
    return next((path for path in _RIPGREP if os.access(path, os.X_OK)), None)


@dataclass(frozen=True, slots=True)
class _Needle:
    raw: bytes
    ignore_case: bool

    def lines(self, content: bytes) -> Iterator[tuple[int, bytes]]:
        """Give the numbers, from 1, and the bytes of the lines that hold it."""
        haystack = content.lower() if self.ignore_case else content
        number, counted = 1, 0
        at = haystack.find(self.raw)
        while at >= 0:
            begin = content.rfind(b"\n", 0, at) + 1
            end = content.find(b"\n", at)
            end = len(content) if end < 0 else end
            number += content.count(b"\n", counted, begin)
            counted = begin
            yield number, content[begin:end]
            at = haystack.find(self.raw, end)


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
    program: str, workspace: Path, candidates: Sequence[str], needle: _Needle, budget: Budget
) -> list[str]:
    """Return the candidates that ripgrep does not exclude, in their order."""
    kept: list[str] = []
    for batch in _batches(candidates):
        left = budget.deadline - budget.clock.now().mono
        if left <= 0:
            budget.truncated = True
            break
        kept += await _ask(program, workspace, batch, needle, seconds=left)
    return kept


async def _ask(
    program: str, workspace: Path, batch: Sequence[str], needle: _Needle, *, seconds: float
) -> Sequence[str]:
    # Bytes as they are: no BOM is sniffed, NUL is text, case folds in ASCII alone, as in Python.
    options = "--no-config --files-with-matches --null --fixed-strings --text --no-unicode"
    options += " --encoding=none --no-messages --color=never --no-ignore --hidden"
    case = "--ignore-case" if needle.ignore_case else "--case-sensitive"
    query = os.fsdecode(needle.raw)
    named = [f"./{path}" for path in batch]  # a name that begins with a dash is no option
    ended = await run_child(
        [program, *options.split(), case, "--regexp", query, "--", *named],
        cwd=workspace,
        env={"LANG": "C.UTF-8"},
        limits=Limits(timeout_s=seconds, grace_s=0.2, output_cap_bytes=4 * _BATCH_BYTES),
    )
    if ended.code not in (0, 1) or ended.timed_out or ended.stdout.dropped:
        return batch  # it excluded nothing that can be relied on
    told = set(ended.stdout.parts()[0].split(b"\0"))
    return [path for path in batch if f"./{path}".encode() in told]


def _batches(candidates: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for path in candidates:
        batch.append(path)
        size += len(path.encode()) + 3
        if size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _match(
    workspace: Path,
    candidates: Sequence[str],
    needle: _Needle,
    bounds: SearchLimits,
    budget: Budget,
    deny: Sequence[str],
) -> list[Match]:
    items: list[Match] = []
    with paths.open_root(workspace, deny=deny) as root:
        for path in candidates:
            if budget.spent():
                break
            for number, line in needle.lines(_content(root, path, bounds.listing.file_bytes)):
                if len(items) >= bounds.matches:
                    budget.truncated = True
                    return items
                items.append(Match(path, number, _preview(line)))
    return items


def _content(root: Root, path: str, max_bytes: int) -> bytes:
    try:
        return paths.read_bytes(root, tuple(path.split("/")), max_bytes=max_bytes)
    except InputError:
        return b""  # binary, or changed since it was listed


def _preview(line: bytes) -> str:
    # Cut before decoding: a line of a generated file can be the whole file.
    return one_line(line[: 4 * PREVIEW_BYTES].decode("utf-8", "replace"), PREVIEW_BYTES)
