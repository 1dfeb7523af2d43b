"""Collects what a model may be shown for a request (seed 002 §5.1): bounded, redacted, explained.

listing ─▶ search for names ─┐
state of the repository ─────┼▶ `finding` (what could help) ─▶ `reading` (past the path guard,
what tools printed ──────────┘   within the `budget`) ─▶ pieces, and an account of them
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from local_agent.propose.context import finding, wishes
from local_agent.propose.context.budget import Budget
from local_agent.propose.context.collected import Around as Around  # noqa: PLC0414  # what it takes
from local_agent.propose.context.collected import Collected as Collected  # noqa: PLC0414  # what it gives
from local_agent.propose.context.composing import Gathered, draft, finish, read_reports
from local_agent.workspace.files import Listing, Match, SearchResult
from local_agent.workspace.git.repository import Changes
from local_agent.workspace.registry import Workspace

MAX_NAMES: Final = 5  # identifiers that are searched for

Search = Callable[[Workspace, str], Awaitable[SearchResult]]
SearchAll = Callable[[Workspace, Sequence[str], Listing], Awaitable[Sequence[SearchResult]]]


class Collector:
    """Looks into one workspace through the readers it is given.

    Args:
        list_files: Gives the files that may be read, without secrets and ignored ones.
        search: Looks for a literal text, bounded, past the path guard.
        local_changes: Gives the changes, or None where there is no repository.
        budget: The limits.
        search_all: Looks for several texts in one pass over what is listed; ``search`` is asked
            for each where it is None.
        last_output: Gives what the last approved command printed there, or None.
    """

    def __init__(
        self,
        *,
        list_files: Callable[[Workspace], Awaitable[Listing]],
        search: Search,
        local_changes: Callable[[Path], Awaitable[Changes | None]],
        budget: Budget | None = None,
        search_all: SearchAll | None = None,
        last_output: Callable[[Workspace], Awaitable[bytes | None]] | None = None,
    ) -> None:
        self._list_files = list_files
        self._search = search
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
            given = Gathered(
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
            begun = await asyncio.to_thread(draft, given, self._budget, changes)
            return await asyncio.to_thread(finish, begun, await state)
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
        if self._search_all is not None:
            found = await self._search_all(workspace, terms, listing)
        else:
            found = [await self._search(workspace, term) for term in terms]
        return {term: result.items for term, result in zip(terms, found, strict=True)}

    async def _printed(self, workspace: Workspace, text: str) -> str:
        """Return what tools printed and left on this machine, where the request is about that."""
        if not wishes.about_failure(text):
            return ""
        printed = await asyncio.to_thread(read_reports, workspace)
        last = await self._last_output(workspace) if self._last_output is not None else None
        return b"\n".join((printed, last or b"")).decode("utf-8", "replace")
