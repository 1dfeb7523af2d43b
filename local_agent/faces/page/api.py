"""All that the page can read and ask, as routes."""

from __future__ import annotations

from collections.abc import Mapping

from aiohttp import web

from local_agent.faces.page.answers import answering
from local_agent.faces.page.asking import PageActs, Prefer
from local_agent.faces.page.live import Live
from local_agent.faces.page.parts import PageParts
from local_agent.faces.page.reading import PageReads


def page_routes(
    parts: PageParts, live: Live, *, preferences: Mapping[str, str], prefer: Prefer
) -> list[web.RouteDef]:
    """Return every path.

    Args:
        parts: Of the agent.
        live: Knows what is said for tasks at work, and tells every tab.
        preferences: Language and colours, as the person last chose them.
        prefer: Keeps them.
    """
    reads, acts = PageReads(parts, live, preferences).paths(), PageActs(parts, live, prefer).paths()
    return [
        *(web.get(path, answering(read)) for path, read in reads.items()),
        *(web.post(path, answering(act)) for path, act in acts.items()),
    ]
