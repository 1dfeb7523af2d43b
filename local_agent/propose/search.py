"""Searches for what a request names.  To the chat go paths and counts; lines stay on this machine,
but for a workspace whose person lets everything be told (R53).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Final

from common.model.proposal import SearchItem, SearchResults
from common.redact import redact
from common.sentences import say
from common.text import one_line
from local_agent.propose import words
from local_agent.propose.base import CHAT_ROWS, Asked, Proposed, nothing
from local_agent.workspace.registry import Workspace
from local_agent.workspace.searching import Hit, Query, Sighting

LINES_BYTES: Final = 1_700  # of found lines in one message, where all may be told
_QUERY_BYTES: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """How a request is read as a search, and answered.

    Attributes:
        read: Gives what is looked for, out of the whole request and the text found in it.
        search: Looks for it, bounded, past the path guard.
    """

    read: Callable[[str, str], Query]
    search: Callable[[Workspace, Query], Awaitable[Sighting]]


class SearchProposer:
    """Answers "find" and "where is".

    Args:
        lookup: Reads and answers a request as a whole.
    """

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    async def propose(self, asked: Asked) -> Proposed:
        """Return where the text occurs.

        Raises:
            InputError: the text cannot be searched for.
        """
        text = asked.intent.params.query
        if asked.workspace is None:
            return nothing(words.NO_WORKSPACE, asked)
        if not text:
            return nothing(words.SEARCH_WHAT, asked)
        query = self._lookup.read(asked.text, text)
        return _proposed(asked, query, await self._lookup.search(asked.workspace, query))


def _proposed(asked: Asked, query: Query, found: Sighting) -> Proposed:
    items = tuple(
        SearchItem(path=hit.path, preview=f"{hit.line}: {hit.preview}") for hit in found.hits
    )
    head = _head(asked, query, found)
    tail = [say(words.SEARCH_CUT, asked.lang)] if found.truncated else []
    if found.large:
        tail.append(say(words.SEARCH_LARGE, asked.lang, count=found.large))
    if query.paths_only:
        lines = list(_counted(asked, found.hits))
    else:
        lines = [_line(hit) for hit in found.hits]
    return Proposed(
        SearchResults(items=items),
        "\n".join([*head, *_told(asked, query, found), *tail]),
        details="\n".join([*head, *lines, *tail]) if items else None,
    )


def _head(asked: Asked, query: Query, found: Sighting) -> list[str]:
    if found.nowhere:
        where = one_line(redact(found.nowhere), _QUERY_BYTES)
        return [say(words.NO_SUCH_PLACE, asked.lang, place=where)]
    # Secrets first: the beginning of one is not recognised any more.
    shown = one_line(redact(query.phrase), _QUERY_BYTES)
    if not found.hits:
        said = [say(words.FOUND_NOTHING, asked.lang, query=shown)]
    else:
        files = len({hit.path for hit in found.hits})
        facts = {"query": shown, "places": len(found.hits), "files": files}
        said = [say(words.FOUND, asked.lang, **facts)]
    if found.hits and found.found != "phrase":
        said.append(say(words.FOUND_APART[found.found], asked.lang))
    if found.scopes:
        where = one_line(", ".join(found.scopes), _QUERY_BYTES)
        said.append(say(words.LOOKED_IN, asked.lang, place=where))
    return said


def _told(asked: Asked, query: Query, found: Sighting) -> list[str]:
    """Return what of the hits is told: paths and counts, or lines where all may be told."""
    rows = list(_counted(asked, found.hits))
    whole = asked.workspace is not None and asked.workspace.disclosure == "full"
    if whole and not query.paths_only:
        return _within(asked, found.hits)
    shown = rows[:CHAT_ROWS]
    if (rest := len(rows) - CHAT_ROWS) > 0:
        shown.append(say(words.MORE_FILES, asked.lang, count=rest))
    return shown


def _counted(asked: Asked, hits: Iterable[Hit]) -> Iterable[str]:
    hits = list(hits)
    defining = {hit.path for hit in hits if hit.defines}
    for path, count in Counter(hit.path for hit in hits).items():
        row = words.FOUND_ROW_DEFINED if path in defining else words.FOUND_ROW
        yield say(row, asked.lang, path=one_line(path), count=count)


def _within(asked: Asked, hits: tuple[Hit, ...]) -> list[str]:
    room = LINES_BYTES
    shown: list[str] = []
    for hit in hits:
        room -= len(_line(hit).encode()) + 1
        if room < 0:
            shown.append(say(words.MORE_PLACES, asked.lang, count=len(hits) - len(shown)))
            break
        shown.append(_line(hit))
    return shown


def _line(hit: Hit) -> str:
    return f"{one_line(hit.path)}:{hit.line}: {hit.preview}"
