"""Searches for a literal text.  To the chat go paths and counts; lines stay on this machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable

from common.model.proposal import SearchItem, SearchResults
from common.sentences import say
from common.text import one_line
from local_agent import replies
from local_agent.proposers.base import CHAT_ROWS, Asked, Proposed, answer
from local_agent.workspace.files import SearchResult
from local_agent.workspace.registry import Workspace


class SearchProposer:
    """Answers "find" and "where is".

    Args:
        search: Looks for a literal text, bounded, past the path guard.
    """

    def __init__(self, search: Callable[[Workspace, str], Awaitable[SearchResult]]) -> None:
        self._search = search

    async def propose(self, asked: Asked) -> Proposed:
        """Return where the text occurs.

        Raises:
            InputError: the text cannot be searched for.
        """
        query = asked.intent.params.query
        if asked.workspace is None:
            return answer(say(replies.NO_WORKSPACE, asked.lang))
        if not query:
            return answer(say(replies.SEARCH_WHAT, asked.lang, prefix=asked.prefix))
        return _proposed(asked, query, await self._search(asked.workspace, query))


def _proposed(asked: Asked, query: str, found: SearchResult) -> Proposed:
    counts = Counter(item.path for item in found.items)
    items = tuple(
        SearchItem(path=item.path, preview=f"{item.line}: {item.preview}") for item in found.items
    )
    details = "\n".join(f"{item.path}:{item.preview}" for item in items)
    return Proposed(
        SearchResults(items=items), _summary(asked, query, found, counts), details=details or None
    )


def _summary(asked: Asked, query: str, found: SearchResult, counts: Counter[str]) -> str:
    shown = one_line(query, 100)
    if not counts:
        said = say(replies.FOUND_NOTHING, asked.lang, query=shown)
        return "\n".join([said, *_cut(asked, found)])
    head = say(replies.FOUND, asked.lang, query=shown, places=counts.total(), files=len(counts))
    rows = [
        say(replies.FOUND_ROW, asked.lang, path=one_line(path), count=count)
        for path, count in list(counts.items())[:CHAT_ROWS]
    ]
    if (rest := len(counts) - CHAT_ROWS) > 0:
        rows.append(say(replies.MORE_FILES, asked.lang, count=rest))
    return "\n".join([head, *rows, *_cut(asked, found)])


def _cut(asked: Asked, found: SearchResult) -> list[str]:
    return [say(replies.SEARCH_CUT, asked.lang)] if found.truncated else []
