"""Collects what a model may be shown for a request (seed 002 §5.1): bounded, redacted, explained.

listing ─▶ search for names ─┐
state of the repository ─────┼▶ `finding` (what could help) ─▶ `reading` (past the path guard,
what tools printed ──────────┘   within the `Budget`) ─▶ pieces, and an account of them
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from common.errors import InputError
from common.redact import redact_lines
from local_agent.propose.context import finding, overview
from local_agent.propose.context.collected import Around, Budget, Collected, LeftOut, Piece, Reason
from local_agent.propose.context.cutting import cut_clean, readable
from local_agent.propose.context.diagnostics import (
    MAX_DIAGNOSTICS,
    MAX_TEXT_BYTES,
    Diagnostic,
    parse_diagnostics,
    render,
)
from local_agent.propose.context.finding import find_named
from local_agent.propose.context.reading import Extra, Read, read, show
from local_agent.workspace import paths
from local_agent.workspace.files import Listing, Match, SearchResult
from local_agent.workspace.git.repository import Changes, read_patches
from local_agent.workspace.registry import Workspace

MAX_NAMES: Final = 5  # identifiers that are searched for
REVIEWED_BYTES: Final = 48_000  # of patches where they are what is asked about
CHANGED_BYTES: Final = 24_000  # of patches where they are what a request is about
MAX_REMARKS_BYTES: Final = 4000
_REASONS: Final[dict[str, Reason]] = {
    "secret": "secret",
    "binary": "binary",
    "too-large": "too-large",
}

SearchAll = Callable[[Workspace, Sequence[str], Listing], Awaitable[Sequence[SearchResult]]]


class Collector:
    """Looks into one workspace through the readers it is given.

    Args:
        list_files: Gives the files that may be read, without secrets and ignored ones.
        search_all: Looks for literal texts in what is listed, bounded, past the path guard.
        local_changes: Gives the changes, or None where there is no repository.
        budget: The limits.
        last_output: Gives what the last approved command printed there, or None.
    """

    def __init__(
        self,
        *,
        list_files: Callable[[Workspace], Awaitable[Listing]],
        search_all: SearchAll,
        local_changes: Callable[[Path], Awaitable[Changes | None]],
        budget: Budget | None = None,
        last_output: Callable[[Workspace], Awaitable[bytes | None]] | None = None,
    ) -> None:
        self._list_files = list_files
        self._local_changes = local_changes
        self._budget = budget or Budget()
        self._search_all = search_all
        self._last_output = last_output

    async def collect(
        self,
        workspace: Workspace,
        *,
        files: Sequence[str],
        names: Sequence[str],
        text: str = "",
        around: Around | None = None,
        review: bool = False,
    ) -> Collected:
        """Return what a model may be shown for a request.

        Args:
            workspace: The folder, and what the person denies in it (R52).
            files: Relative paths, bare file names or folders from the request.
            names: Identifiers from the request.
            text: The request itself, with what was pasted into it.
            around: What the person has in front of them.
            review: The local changes themselves are asked about.

        Raises:
            InputError: ``path.missing``: the folder went away.
        """
        state = asyncio.ensure_future(self._local_changes(workspace.path))
        printed = asyncio.ensure_future(self._printed(workspace, text))
        try:
            await asyncio.sleep(0)  # the state of the repository takes longest: it begins first
            listing = await self._list_files(workspace)
            given = _Gathered(
                workspace=workspace,
                files=tuple(files),
                names=tuple(names),
                text=text,
                around=around or Around(),
                review=review,
                listing=listing,
                hits=await self._hits(workspace, names, listing),
                printed=await printed,
            )
            changes = await state if given.about_changes else None
            begun = await asyncio.to_thread(_draft, given, self._budget, changes)
            return await asyncio.to_thread(_finish, begun, await state)
        finally:
            state.cancel()
            printed.cancel()
            await asyncio.gather(state, printed, return_exceptions=True)

    async def _hits(
        self, workspace: Workspace, names: Sequence[str], listing: Listing
    ) -> Mapping[str, Sequence[Match]]:
        terms = finding.search_terms(names, MAX_NAMES)
        if not terms:
            return {}
        found = await self._search_all(workspace, terms, listing)
        return {term: result.items for term, result in zip(terms, found, strict=True)}

    async def _printed(self, workspace: Workspace, text: str) -> str:
        """Return what tools printed and left on this machine, where the request is about that."""
        if not finding.about_failure(text):
            return ""
        printed = await asyncio.to_thread(_read_reports, workspace)
        last = await self._last_output(workspace) if self._last_output is not None else None
        return b"\n".join((printed, last or b"")).decode("utf-8", "replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gathered:
    """All that is known before a file is read.

    Attributes:
        files: Paths, bare names and folders from the request.
        names: Identifiers from the request.
        text: The request.
        review: The local changes themselves are asked about.
        hits: What was found of each identifier.
        printed: What tools printed before, on this machine.
    """

    workspace: Workspace
    files: tuple[str, ...]
    names: tuple[str, ...]
    text: str
    around: Around
    review: bool
    listing: Listing
    hits: Mapping[str, Sequence[Match]]
    printed: str

    @property
    def about_changes(self) -> bool:
        """Whether the request is about the local changes."""
        return self.review or finding.about_changes(self.text)


@dataclass(frozen=True, slots=True)
class _Draft:
    """A context that lacks the state of the repository."""

    given: _Gathered
    files: Read
    tests: tuple[str, ...]
    extras: tuple[Extra, ...]


def _draft(given: _Gathered, budget: Budget, changes: Changes | None = None) -> _Draft:
    """Read what could help.

    Args:
        given: What is known.
        budget: The limits.
        changes: The local changes, where the request is about them.

    Raises:
        InputError: ``path.missing``: the workspace went away.
    """
    place, known = str(given.workspace.path), given.listing.files
    listed = frozenset(known)
    pasted = parse_diagnostics(given.text, workspace=place)
    told = (*given.around.diagnostics, *parse_diagnostics(given.printed, workspace=place))
    remarks = [one for one in told if one.path in listed][:MAX_DIAGNOSTICS]
    named = {name: find_named(name, known) for name in given.files}
    found = finding.wanted(
        files=[named[name] for name in given.files],
        names=given.names,
        around=given.around,
        hits=given.hits,
        changed=[file.path for file in changes.files] if changes else (),
        diagnostics=(*pasted, *remarks),
        known=known,
        text=given.text,
    )
    missing = [name for name, one in named.items() if not one.files and not one.inside]
    files = read(given.workspace, found, budget=budget, listed=listed, missing=missing)
    tests = tuple(one.path for one in found if one.why == "test-of")
    return _Draft(given, files, tests, (*_remarks(remarks), *_tree(known)))


def _finish(begun: _Draft, changes: Changes | None) -> Collected:
    """Return what may be shown, and the account of it."""
    given, files = begun.given, begun.files
    patches, without = _patches(given, changes)
    shown = show(files, [*patches, *begun.extras, *_state(changes, files.deny)])
    closed = {one.path for one in shown.left_out if not one.why.startswith("over-")}
    return Collected(
        files=tuple(share for share in shown.shares if share.path not in begun.tests),
        pieces=tuple(shown.pieces),
        tests=tuple(path for path in begun.tests if path not in closed),
        branch=changes.branch if changes else None,
        changed=changes.total if changes else 0,
        left_out=(*shown.left_out, *without),
        used=tuple(shown.used),
        skipped=given.listing.skipped,
        truncated=given.listing.truncated,
        budget=files.budget,
    )


def _read_reports(workspace: Workspace) -> bytes:
    """Return what linters left in the files that the person named; what is not there says nothing.

    Whether git ignores them does not matter, for they were named; that they are secrets would.
    """
    found: list[bytes] = []
    with suppress(InputError), workspace.opened() as root:
        for name in workspace.diagnostics:
            with suppress(InputError):
                found.append(paths.read_bytes(root, paths.check_relative(name)))
    return b"\n".join(content[:MAX_TEXT_BYTES] for content in found)


def _patches(given: _Gathered, changes: Changes | None) -> tuple[list[Extra], list[LeftOut]]:
    """Return the local changes line by line, where the request is about them."""
    if changes is None or not given.about_changes:
        return [], []
    limit = REVIEWED_BYTES if given.review else CHANGED_BYTES
    counted = [file.path for file in changes.files if file.added is not None]
    extras: list[Extra] = []
    without: list[LeftOut] = []
    for one in read_patches(given.workspace, counted, limit=limit):
        if one.reason:
            without.append(LeftOut(one.path, _REASONS.get(one.reason, "unreadable")))
            continue
        clean = redact_lines("".join(f"{line}\n" for line in readable(one.patch)))
        if cut := cut_clean(clean, limit):
            limit -= len(cut[0].text.encode())
            piece = Piece(kind="changes", path=one.path, text=cut[0].text, cut=cut[0].cut)
            extras.append(Extra(piece, "changed", first=True))
        elif clean:
            without.append(LeftOut(one.path, "over-bytes", len(clean.encode())))
    return extras, without


def _remarks(told: Sequence[Diagnostic]) -> list[Extra]:
    text = redact_lines(render(told))
    return [
        Extra(Piece(kind="diagnostics", text=cut.text, cut=cut.cut), "printed")
        for cut in cut_clean(text, MAX_REMARKS_BYTES)
    ]


def _tree(known: tuple[str, ...]) -> list[Extra]:
    return [Extra(Piece(kind="tree", text=_drawn(known)), "tree")] if known else []


@lru_cache(maxsize=2)
def _drawn(known: tuple[str, ...]) -> str:
    # From one request to the next there are mostly the same files, and their names in memory.
    return redact_lines(overview.summarise_tree(known))


def _state(changes: Changes | None, deny: Sequence[str]) -> list[Extra]:
    if changes is None:
        return []
    text = redact_lines(overview.describe_repository(changes, deny=deny))
    return [Extra(Piece(kind="git", text=text), "state")]
