"""A model's answer as a stream: told as it comes, and in fewer pieces to whoever falls behind."""

from __future__ import annotations

from typing import Any

import pytest

from local_agent.flow.run_asking import BEHIND, ModelStream
from local_agent.models.backend import Chosen, ModelEvent, Reply, Usage

MESSAGES = ({"role": "system", "content": "s"}, {"role": "user", "content": "u"})


class Speaker:
    """A backend that says all its pieces at once."""

    def __init__(self, pieces: list[str]) -> None:
        self.pieces = pieces

    async def ask(self, _turn: Any, hear: Any) -> Reply:
        for piece in self.pieces:
            hear(ModelEvent("text", piece))
        return Reply(text="".join(self.pieces), usage=Usage())


@pytest.mark.parametrize("count", [0, 1, BEHIND, BEHIND + 1, BEHIND + 2, 1000])
async def test_all_of_it_is_told_whoever_falls_behind(count: int) -> None:
    pieces = [f"{number} " for number in range(count)]
    chosen: Any = Chosen(Speaker(pieces), whole=False, redacted=False)  # type: ignore[arg-type]
    told = [one async for one in ModelStream(lambda: chosen, "task").chat_completion(MESSAGES)]
    assert "".join(told) == "".join(pieces)
    assert len(told) <= BEHIND + 1
