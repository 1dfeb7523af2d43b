"""Canned answers for HTTP clients, where nothing depends on a connection (aioresponses).

What a socket does, such as breaking, stalling or redirecting, is shown by a server on loopback.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import aiohttp
from aioresponses import aioresponses


class CannedResponse(aiohttp.ClientResponse):
    """A response as aioresponses 0.7.9 builds it, with the writer that aiohttp 3.14 asks for."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        sent = SimpleNamespace(output_size=0)  # all of a writer that a response looks at
        super().__init__(*args, **kwargs | {"stream_writer": sent})


class CannedAnswers(aioresponses):
    """Stands in for the network while it is entered; what was not scripted is unreachable."""

    def add(self, *args: Any, **kwargs: Any) -> None:
        """Script one answer."""
        kwargs["response_class"] = CannedResponse
        super().add(*args, **kwargs)
